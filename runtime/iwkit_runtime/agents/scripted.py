"""The control agents: a pack's scripts by rote, and a human that follows the pack's expected grounding (BENCH-5).

They are privileged on purpose (they are given the episode), and exist to prove tasks sound, never to be scored.
"""

from __future__ import annotations

from iwkit.compile import CompiledTask, Script, ScriptLine
from iwkit.families import families
from iwkit.goals.evaluate import Judge
from iwkit.goals.terms import EventPattern, Handoff, Word
from iwkit.goals.timeline import END, Span
from iwkit_runtime.loop.answers import write_human
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.loop.legend import Legend
from iwkit_runtime.loop.views import AssistantView, HumanView

ASK_BACK = "I am not sure what you mean. Which one, and where?"
"""What the scripted human says where the pack expects it to ask back."""
REPORT = "Done. What is next?"
"""What it says when there is nothing left to do."""


_SPOKEN = EventPattern("said", (("by", Word("assistant")),))


class SilentAssistant:
    """Never speaks: what happens without help."""

    def answer(self, view: AssistantView) -> str:  # noqa: ARG002
        return "$silent$"


class ScriptedAssistant:
    """Speaks the lines of a script when they are due, and is silent otherwise."""

    def __init__(self, script: Script, episode: Episode) -> None:
        self._script, self._episode = script, episode

    def answer(self, view: AssistantView) -> str:
        spoken = sum(1 for s in view.dialogue if s.by == "assistant")
        if spoken >= len(self._script.lines):
            return "$silent$"
        line = self._script.lines[spoken]
        if not self._due(line):
            return "$silent$"
        return "$done$" if line.say is None else f"$interrupt$ {line.say}"

    def _due(self, line: ScriptLine) -> bool:
        if line.when is None:
            return self._episode.drained
        if isinstance(line.when, Handoff):
            return True
        task = self._episode.task
        judge = Judge(self._episode.recorder.trace(), task.vocabulary, task.pack.physical.windows)
        looks_back = isinstance(line.when, EventPattern) and line.when.kind == "after"
        spoken = judge.matches(_SPOKEN, Span(0, END - 1))
        since = spoken[-1].pos + 1 if spoken and not looks_back else 0
        return bool(judge.matches(line.when, Span(since, END - 1)))


class ScriptedHuman:
    """Does what the line just spoken expects, one command a turn; under WATCH goes on with the plan. Checks wiring."""

    def __init__(self, task: CompiledTask) -> None:
        self._legend = Legend(task, families()[task.pack.source_family].human)
        self._lines: dict[str, ScriptLine] = {
            line.say: line
            for name in ("early", "wrong", "oracle")  # a text that several scripts share means what the oracle means
            for line in task.scripts[name].lines
            if line.say is not None
        }

    def answer(self, view: HumanView) -> str:
        latest = view.instructions[-1] if view.instructions else None
        line = self._lines.get(latest.text) if latest else None
        if view.notice or (latest is not None and latest.new and (line is None or line.reply == "asks")):
            return write_human(speak=ASK_BACK)
        refused = latest is not None and bool(latest.done) and not latest.done[-1].ok
        if latest is not None and line is not None and not refused and len(latest.done) < len(line.do):
            return write_human(action=self._legend.text(line.do[len(latest.done)]))
        if view.plan is not None:
            return write_human(action=view.plan)
        if latest is not None:
            return write_human(speak=latest.done[-1].text if refused else REPORT)
        return write_human()
