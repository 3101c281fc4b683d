"""A person at this terminal, as the assistant or as the human of an episode."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from iwkit.errors import RunStopped
from iwkit_runtime.loop.answers import write_human
from iwkit_runtime.loop.views import AssistantView, HumanView, LegendEntry, Picture

Ask = Callable[[str], str]
"""Shows a prompt and reads a line, as `input` does; raises EOFError where there is none."""
Say = Callable[[str], Any]

ASSISTANT_HELP = (
    "Enter a line to say it to the wearer; nothing to stay silent; /error TEXT to point out a mistake; "
    "/done when the task is finished."
)
HUMAN_HELP = (
    "Enter a command such as [Open] <fridge> (1), or a line to say it aloud, or both: [Open] <fridge> (1) / On it."
)


class Desktop:
    """The terminal, and a folder beside it in which the pictures of a turn and a page with all of them lie as long as
    the episode goes on."""

    def __init__(self, ask: Ask = input, say: Say = print) -> None:
        self._ask, self.say = ask, say
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def line(self, prompt: str) -> str:
        """What the person enters.

        Raises:
            RunStopped: nothing more will come.
        """
        try:
            return self._ask(prompt).strip()
        except EOFError:
            raise RunStopped("nobody is at the terminal any more: the same command goes on where it stopped") from None

    def show(self, pictures: Iterable[Picture], tick: int) -> None:
        """Write the pictures of a turn to files, and tell where they and a page with them lie."""
        shown = list(pictures)
        if not shown:
            return
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="iwkit-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        names = [f"turn-{tick:03}-{n:02}.png" for n in range(1, len(shown) + 1)]
        for name, picture in zip(names, shown, strict=True):
            (folder / name).write_bytes(picture.png)
        body = "".join(f'<p><img src="{name}" alt="{name}"></p>' for name in names)
        page = folder / "turn.html"
        page.write_text(f"<!doctype html><meta charset=utf-8><title>Turn {tick}</title>{body}\n", "utf-8")
        self.say(f"{len(shown)} picture{'s' * (len(shown) > 1)}, oldest first: {page}")


class PersonAssistant:
    """A person who advises. Sees what any assistant is shown."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop

    def answer(self, view: AssistantView) -> str:
        """Answer one turn."""
        say = self._desktop.say
        say(f"\n--- turn {view.tick} ---")
        if view.tick == 1:
            say(f"{view.public}\n({ASSISTANT_HELP})")
        if view.notice:
            say(f"! your last answer could not be read: {view.notice}")
        for text in view.memory or ():
            say(f"  memory: {text}")
        for text in view.speech:
            say(f"wearer: {text}")
        self._desktop.show(view.frames, view.tick)
        text = spoken(self._desktop.line("assistant> "))
        if view.memory is not None and (kept := self._desktop.line("remember> ")):
            text += f"\n$memory$ {kept}"
        return text


def spoken(line: str) -> str:
    """The answer that a line stands for. A control token typed out is left as it is."""
    if not line:
        return "$silent$"
    if line.startswith(("$", "<")):
        return line
    word, _, rest = line.partition(" ")
    short = {"/done": "$done$", "/silent": "$silent$", "/error": f"$error$ {rest}"}
    return short.get(word.lower(), f"$interrupt$ {line}")


class PersonHuman:
    """A person who wears the glasses: sees the legend, enters a command, says something, or both."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop

    def answer(self, view: HumanView) -> str:
        """Answer one turn."""
        say = self._desktop.say
        say(f"\n--- turn {view.tick} ---")
        if view.tick == 1:
            say(f"{view.public}\n{view.context}\n{view.role}\n({HUMAN_HELP})\n{view.grammar}")
        for entry in view.legend:
            say(f"  {described(entry)}")
        if view.held:
            say(f"in your hand: {view.held}")
        if view.last:
            say(f"last: {view.last.command}: {view.last.text}")
        if view.notice:
            say(f"! {view.notice}")
        if view.plan:
            say(f"your own next step: {view.plan}")
        for instruction in view.instructions:
            say(f"assistant{' (new)' if instruction.new else ''}: {instruction.text}")
        self._desktop.show(view.frames, view.tick)
        return acted(self._desktop.line("wearer> "))


def acted(line: str) -> str:
    """The answer that a line stands for: what begins with a bracket is a command, and what follows ` / ` is said."""
    command, slash, speech = line.partition(" / ")
    if not command.startswith("["):
        return write_human(speak=line)
    return write_human(action=command, speak=speech if slash else "")


def described(entry: LegendEntry) -> str:
    """One line of the legend."""
    told = [entry.description, entry.support, entry.bearing, entry.colour, entry.label and f'it says "{entry.label}"']
    marks = [word for word, holds in (("in view", entry.visible), ("in your hand", entry.held)) if holds]
    return f"{entry.handle}: " + ", ".join(part for part in (*told, *marks) if part)
