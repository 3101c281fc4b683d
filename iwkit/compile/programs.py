"""The commands, cues, scripts and conditions of a pack, parsed and checked against its names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from iwkit.compile.bind import unknown
from iwkit.compile.things import Thing
from iwkit.errors import GrammarError
from iwkit.goals.check import check_goal, check_ids, check_when
from iwkit.goals.syntax import When
from iwkit.goals.vocabulary import Vocabulary
from iwkit.grammar import Command, parse
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.spec.pack import CommandStep, Control, Cue, Line, Pack
from iwkit.suggest import did_you_mean, listed
from iwkit.verbs import BY_NAME

ScriptName = Literal["oracle", "wrong", "early"]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Cursor:
    """One step of the opening or the wearer's plan, with the speech authored before and after it."""

    id: str
    command: Command
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """One line of a script. `say` is None in the line that declares the task done."""

    when: When | None
    say: str | None
    do: tuple[Command, ...]
    reply: Literal["does", "asks", "refused"]


@dataclass(frozen=True, slots=True)
class Script:
    """A scripted assistant; `fails` names the conditions that must be false at its end (none for the oracle)."""

    name: ScriptName
    lines: tuple[ScriptLine, ...]
    fails: tuple[str, ...] = ()


class Programs:
    """Parses one pack's programs; problems are collected, not raised."""

    def __init__(
        self,
        doc: Document,
        pack: Pack,
        things: Mapping[str, Thing],
        vocabulary: Vocabulary,
        broken: Collection[str] = (),
    ) -> None:
        self.doc, self.pack, self.things, self.vocabulary = doc, pack, things, vocabulary
        self._broken = broken
        self.problems: list[Problem] = []

    def opening(self) -> tuple[Cursor, ...]:
        return self._cursors(
            self.pack.physical.opening,
            self.pack.interaction.opening,
            ("physical", "opening"),
            ("interaction", "opening"),
        )

    def plan(self) -> tuple[Cursor, ...]:
        return self._cursors(
            self.pack.physical.plan, self.pack.interaction.plan, ("physical", "plan"), ("interaction", "plan")
        )

    def scripts(self) -> dict[ScriptName, Script]:
        talk = self.pack.interaction
        path = ("interaction",)
        self._wearer()
        return {
            "oracle": Script("oracle", self._lines(talk.oracle, (*path, "oracle"))),
            "wrong": self._control("wrong", talk.wrong, (*path, "wrong")),
            "early": self._control("early", talk.early, (*path, "early")),
        }

    def check_goal(self) -> list[Problem]:
        """The conditions, windows and atoms against the pack's names, and the ids of the steps that they speak of."""
        physical = self.pack.physical
        programs: tuple[tuple[str, tuple[CommandStep, ...]], ...] = (
            ("opening", physical.opening),
            ("plan", physical.plan),
        )
        steps: list[tuple[Path, str]] = [((at, i, "id"), s.id) for at, all_ in programs for i, s in enumerate(all_)]
        findings = [
            *check_ids("step", steps),
            *check_goal(physical.goal, physical.evidence, physical.windows, physical.atoms, self.vocabulary),
        ]
        return [self.doc.problem(("physical", *f.path), f.code, f.message, f.hint) for f in findings]

    def _wearer(self) -> None:
        wearer = self.pack.physical.wearer
        for field, name in (("at", wearer.at), ("facing", wearer.facing)):
            if name is not None and name not in self.things:
                self._unknown(("physical", "wearer", field), name)
        start = self.things.get(wearer.at)
        if start is not None and start.kind not in ("fixture", "room"):
            self.problems.append(
                self.doc.problem(
                    ("physical", "wearer", "at"),
                    "N209",
                    f"the wearer starts at a fixture or in a room, not at a {start.kind}",
                    "name one of the scene's",
                )
            )

    def _cursors(
        self, steps: tuple[CommandStep, ...], cues: tuple[Cue, ...], at: Path, cue_at: Path
    ) -> tuple[Cursor, ...]:
        ids = [s.id for s in steps]
        for i, cue in enumerate(cues):
            field, cursor = ("before", cue.before) if cue.before else ("after", cue.after)
            if cursor not in ids:
                hint = did_you_mean(cursor, ids) or f"its steps are {listed(ids)}"
                self.problems.append(
                    self.doc.problem((*cue_at, i, field), "N210", f"no step {cursor!r} in this program", hint)
                )
        found = []
        for i, step in enumerate(steps):
            command = self._command(step.do, (*at, i, "do"))
            before = tuple(c.say for c in cues if c.before == step.id)
            after = tuple(c.say for c in cues if c.after == step.id)
            if command is not None:
                found.append(Cursor(step.id, command, before, after))
        return tuple(found)

    def _lines(self, lines: Iterable[Line], at: Path) -> tuple[ScriptLine, ...]:
        found = []
        for i, line in enumerate(lines):
            do = [self._command(text, (*at, i, "do", j)) for j, text in enumerate(line.do)]
            if line.when is not None:
                for f in check_when(line.when, self.vocabulary):
                    self.problems.append(self.doc.problem((*at, i, "when", *f.path), f.code, f.message, f.hint))
            found.append(ScriptLine(line.when, line.say, tuple(c for c in do if c is not None), line.reply))
        return tuple(found)

    def _control(self, name: ScriptName, control: Control, at: Path) -> Script:
        goal = self.pack.physical.goal
        ids = [c.id for c in (*goal.achieve, *goal.keep, *goal.gates)]
        for i, condition in enumerate(control.fails):
            if condition not in ids:
                hint = did_you_mean(condition, ids) or f"its conditions are {listed(ids)}"
                message = f"no condition {condition!r} in the goal"
                self.problems.append(self.doc.problem((*at, "fails", i), "N214", message, hint))
        return Script(name, self._lines(control.lines, (*at, "lines")), control.fails)

    def _command(self, text: str, path: Path) -> Command | None:
        try:
            command = parse(text)
        except GrammarError as error:
            pos = self.doc.inside(path, error.at)
            self.problems.append(Problem(self.doc.file, pos, error.code, error.message, error.hint))
            return None
        primitive = BY_NAME[command.primitive]
        for i, ref in enumerate(command.args):
            if i in primitive.connectors:
                continue
            if ref.name not in self.things:
                self._unknown(path, ref.name)
            elif ref.index != 1:
                self.problems.append(
                    self.doc.problem(
                        path, "N215", f"{ref.name!r} is one entity and takes no index", f"write <{ref.name}>"
                    )
                )
        return command

    def _unknown(self, path: Path, name: str) -> None:
        if name not in self._broken:
            self.problems.append(self.doc.problem(path, "N201", f"no entity {name!r}", unknown(name, self.things)))
