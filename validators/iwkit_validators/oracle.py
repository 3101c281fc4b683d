"""The oracle's script, played to its end in the symbolic world and scored: what it does not bring about, nobody is
known to be able to (BENCH-4: goal states). The controls do the same in the loop (BENCH-5)."""

from __future__ import annotations

from dataclasses import dataclass, field

from iwkit.compile import CompiledTask, Cursor, ScriptLine
from iwkit.goals.terms import Handoff
from iwkit.grammar import Command
from iwkit.problems import Problem
from iwkit.recorder import Recorder, executed
from iwkit.score import score
from iwkit.source.document import Document, Path
from iwkit.trace import Happening, Trace
from iwkit_validators.opening import AtHandoff, asks_for_states
from iwkit_validators.places import WATCH, after


def check(doc: Document, task: CompiledTask, played: AtHandoff) -> list[Problem]:
    """Conditions that are false after the oracle (G560) and atoms that it does not pass (G561).

    Nothing is told where the play depends on more than the script says: on events that wait for a time or for speech.
    """
    trace = oracle_trace(task, played)
    if trace is None:
        return []
    physical, family = task.pack.physical, task.pack.source_family
    found = score(physical.goal, (), physical.atoms, physical.windows, trace, task.vocabulary, source_family=family)
    places = _places(task)
    conditions = [
        doc.problem(
            places[result.id],
            "G560",
            f"'{result.id}' is false when the oracle is done: {result.why}",
            "mend the oracle, or the condition: what the oracle cannot do nobody is known to",
        )
        for result in found.conditions
        if not result.ok
    ]
    atoms = [
        doc.problem(
            ("physical", "atoms", i, "pass"),
            "G561",
            f"the oracle does not pass the atom '{result.id}': {result.why}",
            "mend the oracle, or when the atom is open and what passes it",
        )
        for i, result in enumerate(found.atoms)
        if result.label != "clean_pass"
    ]
    return [*conditions, *atoms]


def oracle_trace(task: CompiledTask, played: AtHandoff) -> Trace | None:
    """What happens when every word of the oracle is followed; None where that cannot be told."""
    return _Play(task, played).trace()


def _places(task: CompiledTask) -> dict[str, Path]:
    goal = task.pack.physical.goal
    blocks = (("achieve", goal.achieve), ("keep", goal.keep), ("gates", goal.gates))
    return {
        named.id: ("physical", "goal", block, i, "that")
        for block, conditions in blocks
        for i, named in enumerate(conditions)
    }


@dataclass
class _Play:
    """The episode of an oracle whose every word is followed."""

    task: CompiledTask
    played: AtHandoff
    _record: Recorder = field(default_factory=Recorder)

    def trace(self) -> Trace | None:
        """What happens; None where that cannot be told."""
        self.played.world.restore(self.played.state)
        self._plan = list(self.task.plan)
        self._done = {cursor.id for cursor in self.task.opening}
        self._states = asks_for_states(self.task)
        self._record.reset(self.played.trace.baseline)
        self._say("wearer")
        if self.task.events or not all(self._spoken(line) for line in self.task.scripts["oracle"].lines):
            return None
        self._record.step("end", {}, [], self.played.world.relations())
        before = self.played.trace
        return Trace(before.initial, before.steps + self._record.trace().steps, before.handoff, before.baseline)

    def _spoken(self, line: ScriptLine) -> bool:
        """Play one line, and the plan up to it. False where that cannot be told."""
        if not self._reach(line):
            return False
        if line.say is None:
            self._record.step("declared", {}, [Happening("declared", {"by": "assistant"})], self._record.state)
            return True
        self._say("assistant")
        if line.reply == "asks":
            self._say("wearer", Happening("asked", {"by": "wearer"}))
            return True
        ok = all(self._follow(command) for command in line.do)
        self._say("wearer")
        return ok is (line.reply == "does")

    def _reach(self, line: ScriptLine) -> bool:
        """Whether the time of a line is one that the script and the plan tell."""
        if isinstance(line.when, Handoff):
            return True
        step = after(line.when)
        if step is None:
            return line.when is None and self.task.pack.source_family != WATCH
        while step not in self._done:
            if not self._plan or not self._step(self._plan[0]):
                return False
        return True

    def _follow(self, command: Command) -> bool:
        """Carry out what was asked for: a step of the plan that is due is one, whoever asks for it."""
        if self._plan and command == self._plan[0].command:
            return self._step(self._plan[0])
        return self._execute(command, "assistant", None)

    def _step(self, cursor: Cursor) -> bool:
        self._plan.pop(0)
        self._done.add(cursor.id)
        return self._execute(cursor.command, "plan", cursor.id)

    def _execute(self, command: Command, by: str, step: str | None) -> bool:
        receipt = self.played.world.execute(command)
        happened = executed(command, receipt, by=by, step=step)
        state = self.played.world.relations() if self._states else self._record.state
        self._record.step("step", {}, happened, state)
        return receipt.ok

    def _say(self, by: str, *more: Happening) -> None:
        self._record.step("speech", {}, [Happening("said", {"by": by}), *more], self._record.state)
