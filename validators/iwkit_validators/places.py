"""Where the programs and texts of a pack stand in its file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from iwkit.compile import CompiledTask
from iwkit.compile.programs import ScriptName
from iwkit.goals.terms import EventPattern, Pattern, When, Word
from iwkit.grammar import Command
from iwkit.source.document import Path
from iwkit.spec.pack import SourceFamily
from iwkit.verbs import BY_NAME

SCRIPTS: Final[dict[ScriptName, Path]] = {
    "oracle": ("interaction", "oracle"),
    "wrong": ("interaction", "wrong", "lines"),
    "early": ("interaction", "early", "lines"),
}
"""Script -> the path of its lines."""

WATCH: Final[SourceFamily] = "WATCH"
ANY_TIME: Final = frozenset({"locomotion", "perception"})
"""Groups of primitives that only move or look: they change nothing and do not count as an action of a line."""


def commands(task: CompiledTask) -> Iterator[tuple[Path, Command]]:
    """Every command of the opening, the plan and the scripts with the path of its text."""
    for program, cursors in (("opening", task.opening), ("plan", task.plan)):
        for i, cursor in enumerate(cursors):
            yield ("physical", program, i, "do"), cursor.command
    yield from script_commands(task)


def script_commands(task: CompiledTask) -> Iterator[tuple[Path, Command]]:
    """Every command of the scripts with the path of its text."""
    for name, path in SCRIPTS.items():
        for i, line in enumerate(task.scripts[name].lines):
            for j, command in enumerate(line.do):
                yield (*path, i, "do", j), command


def before_help(task: CompiledTask) -> Iterator[tuple[Path, str]]:
    """What is told without the assistant's doing: public text, the human's context, the wearer's cues."""
    talk = task.pack.interaction
    yield ("interaction", "public"), talk.public
    yield ("interaction", "human", "context"), talk.human.context
    yield ("interaction", "handoff"), talk.handoff
    for program, cues in (("opening", talk.opening), ("plan", talk.plan)):
        for i, cue in enumerate(cues):
            yield ("interaction", program, i, "say"), cue.say


def lines(task: CompiledTask) -> Iterator[tuple[Path, str]]:
    """What the scripts have the assistant say."""
    for name, path in SCRIPTS.items():
        for i, line in enumerate(task.scripts[name].lines):
            if line.say is not None:
                yield (*path, i, "say"), line.say


def descriptions(task: CompiledTask) -> Iterator[tuple[Path, str]]:
    """The public descriptions that a pack gives to its entities."""
    for name, entity in task.pack.physical.entities.items():
        if entity.public is not None:
            yield ("physical", "entities", name, "public"), entity.public


def after(when: When | Pattern | None) -> str | None:
    """The step of an `{after: step}`, else None."""
    if isinstance(when, EventPattern) and when.kind == "after":
        test = dict(when.roles).get("step")
        return test.text if isinstance(test, Word) else None
    return None


def acts(command: Command) -> bool:
    """Whether a command does more than move and look."""
    return BY_NAME[command.primitive].group not in ANY_TIME


def named(command: Command) -> tuple[str, ...]:
    """The things that a command names; connectors and regions are none."""
    connectors = BY_NAME[command.primitive].connectors
    return tuple(ref.name for i, ref in enumerate(command.args) if i not in connectors)
