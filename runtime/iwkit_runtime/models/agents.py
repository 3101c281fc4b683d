"""A model as the assistant or the human of an episode (EVAL-1, EVAL-2, EVAL-6, EVAL-10).

Both are made from a family and a seat, never from a task: what they can tell a model is what their views hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from iwkit_runtime.loop.answers import without_memory
from iwkit_runtime.loop.views import AssistantView, HumanView, Picture
from iwkit_runtime.models.history import selected
from iwkit_runtime.models.images import encode, within
from iwkit_runtime.models.prompts import render
from iwkit_runtime.models.settings import ModelSpec
from iwkit_runtime.models.wire import Image, Message, Prompt


class Seat(Protocol):
    """A place at a model: asks it on behalf of one role of one cell."""

    @property
    def spec(self) -> ModelSpec: ...

    def ask(self, prompt: Prompt, tick: int) -> str:
        """The model's answer. See `Caller.ask` for what it raises."""

    def account(self) -> dict[str, Any] | None:
        """What the last answer took, or None before the first."""


NO_ANSWER = "(no answer)"
"""Stands for an empty answer in the conversation: providers refuse empty messages."""


@dataclass(frozen=True, slots=True)
class _Turn:
    view: AssistantView
    answer: str


class ModelAssistant:
    """A model that keeps the dialogue: every request holds the whole conversation, with pictures as `history` selects
    them. Under the memory treatment the newest turn holds all entries that it made so far."""

    def __init__(self, seat: Seat, family: str) -> None:
        self._seat, self._family = seat, family
        self._turns: list[_Turn] = []

    def answer(self, view: AssistantView) -> str:
        """Answer one turn."""
        text = self._seat.ask(self.prompt(view), view.tick)
        self.recall(view, text)
        return text

    def recall(self, view: AssistantView, text: str) -> None:
        """Take a turn into the conversation that was answered before."""
        self._turns.append(_Turn(view, text))

    def account(self) -> dict[str, Any] | None:
        """What the last answer took."""
        return self._seat.account()

    def prompt(self, view: AssistantView) -> Prompt:
        """What the model is sent in a turn."""
        views = [*(turn.view for turn in self._turns), view]
        shown = _fitting([v.frames for v in views], self._seat.spec)
        messages: list[Message] = []
        for number, (seen, images) in enumerate(zip(views, shown, strict=True)):
            now = number == len(self._turns)
            text = render("assistant_turn.md.j2", view=seen, first=number == 0, now=now, shown=len(images))
            messages.append(Message("user", text, tuple(images)))
            if not now:
                messages.append(Message("assistant", without_memory(self._turns[number].answer) or NO_ANSWER))
        system = render(f"{self._family}/assistant.md.j2", memory=view.memory is not None)
        return Prompt(system, tuple(messages))


class ModelHuman:
    """A model that plays the wearer, without a memory: every request holds one turn and nothing of those before."""

    def __init__(self, seat: Seat, family: str) -> None:
        self._seat, self._family = seat, family

    def answer(self, view: HumanView) -> str:
        """Answer one turn."""
        return self._seat.ask(self.prompt(view), view.tick)

    def account(self) -> dict[str, Any] | None:
        """What the last answer took."""
        return self._seat.account()

    def prompt(self, view: HumanView) -> Prompt:
        """What the model is sent in a turn."""
        (images,) = _fitting([view.frames], self._seat.spec)
        text = render("human_turn.md.j2", view=view, shown=len(images))
        system = render(f"{self._family}/human.md.j2", role=view.role, grammar=view.grammar)
        return Prompt(system, (Message("user", text, tuple(images)),))


def _fitting(turns: Sequence[Sequence[Picture]], spec: ModelSpec) -> list[list[Image]]:
    """The pictures of each turn that are sent, encoded, within the limits of the loop and of the provider."""
    kept = [[turn[i] for i in chosen] for turn, chosen in zip(turns, selected([len(t) for t in turns]), strict=True)]
    spare = sum(map(len, kept)) - spec.limits.count
    for turn in kept:  # a provider that takes fewer is sent the newest
        gone = min(len(turn), max(0, spare))
        del turn[:gone]
        spare -= gone
    encoded = [[encode(picture, spec.settings.images, spec.limits) for picture in turn] for turn in kept]
    return within(encoded, spec.limits.total_bytes)


class Front(Protocol):
    """What makes agents that are models: the desk of a run, or its stand-in in a worker process."""

    def assistant(self, name: str, family: str, cell: str) -> ModelAssistant:
        """A model as assistant; see `Desk.assistant`."""

    def human(self, name: str, family: str, cell: str) -> ModelHuman:
        """A model as human."""
