"""Mutation testing of a pack: small changes of the oracle, each of which the goal must notice (NEXT-5).

A mutant is the oracle with one change, given word for word to a wearer that does exactly what it is told, in the
symbolic world. It is killed when the score tells it from the oracle. What is not told apart although something else
was done shows a hole in the goal, or a freedom that the task leaves on purpose; only people can say which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import Final, Literal

from iwkit.compile import CompiledTask, ScriptLine
from iwkit.compile.things import Thing
from iwkit.errors import UsageError
from iwkit.grammar import Command, render
from iwkit.spec.review import Reason
from iwkit.verbs import BY_NAME
from iwkit.world.base import World
from iwkit.world.symbolic import SymbolicWorld
from iwkit_authoring.rehearsal import Rehearsal, rehearse
from iwkit_validators.affordance import Probe

Operator = Literal["drop", "duplicate", "swap", "move", "retarget", "leave open", "look-alike", "stop"]
Verdict = Literal["killed", "equivalent", "marked", "survived"]

VERDICTS: Final[tuple[Verdict, ...]] = ("killed", "equivalent", "marked", "survived")
OPERATORS: Final[dict[Operator, str]] = {
    "drop": "nothing asks for this step",
    "duplicate": "doing it twice is as good as once",
    "swap": "the order of the two steps does not count",
    "move": "when this step is done does not count",
    "retarget": "which thing or place is meant here does not count",
    "leave open": "nothing asks to close, or to switch off, what was opened or switched on",
    "look-alike": "the goal cannot tell the two apart",
    "stop": "the goal is reached before the oracle ends",
}
"""Operator -> the hole that a survivor shows."""

UNDONE_BY: Final = frozenset({"close", "close_door", "turn_off"})


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of the oracle. `id` names it in words, so that a mark in `review` cannot come to mean another."""

    operator: Operator
    id: str
    lines: tuple[ScriptLine, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutant: `why` is what killed it, the reason for which it is marked, or the hole it shows."""

    mutant: str
    operator: Operator
    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True)
class Mutation:
    """All mutants of one pack. `stale` are marks in its review that name no survivor."""

    pack: str
    digest: str
    results: tuple[Result, ...]
    stale: tuple[str, ...]

    @property
    def survivors(self) -> tuple[Result, ...]:
        return tuple(r for r in self.results if r.verdict == "survived")

    @property
    def clean(self) -> bool:
        """Whether every mutant is killed, equivalent or marked, and no mark is stale."""
        return not self.survivors and not self.stale


def mutate(task: CompiledTask, world: World | None = None) -> Mutation:
    """Play every mutant of a pack's oracle.

    Raises:
        UsageError: the oracle itself does not pass, so that nothing can be said of its mutants.
    """
    world = world or SymbolicWorld()
    lines = task.scripts["oracle"].lines
    oracle = rehearse(task, lines, world)
    if missing := (*oracle.failed, *oracle.unshown):
        raise UsageError(f"{task.id}: the oracle does not pass ({', '.join(missing)}): mend it first")
    marks: dict[str, Reason] = {mark.mutant: mark.reason for mark in task.pack.review.survivors}
    results = []
    for mutant in mutants(task):
        result = _judged(mutant, rehearse(task, mutant.lines, world), oracle)
        reason = marks.get(mutant.id)
        if result.verdict == "survived" and reason is not None:
            result = replace(result, verdict="marked", why=reason)
        results.append(result)
    used = {r.mutant for r in results if r.verdict == "marked"}
    return Mutation(task.id, task.digest, tuple(results), tuple(sorted(marks.keys() - used)))


def _judged(mutant: Mutant, outcome: Rehearsal, oracle: Rehearsal) -> Result:
    if outcome.failed or outcome.unshown:
        return Result(mutant.id, mutant.operator, "killed", ", ".join((*outcome.failed, *outcome.unshown)))
    if (outcome.end, outcome.events) == (oracle.end, oracle.events):
        return Result(mutant.id, mutant.operator, "equivalent", "the same events and the same end")
    return Result(mutant.id, mutant.operator, "survived", OPERATORS[mutant.operator])


# The mutants


@dataclass(frozen=True, slots=True)
class _Step:
    """One command of the oracle: `line` and `place` say where it stands in the script."""

    line: int
    place: int
    command: Command


def mutants(task: CompiledTask) -> Iterator[Mutant]:
    """Every mutant of a pack's oracle, in a fixed order, each program once; programs equal to the oracle's are left
    out."""
    lines = task.scripts["oracle"].lines
    steps = [_Step(i, j, c) for i, line in enumerate(lines) for j, c in enumerate(line.do)]
    known = {_program(lines)}
    for make in (_drops, _duplicates, _swaps, _moves, _stops, _left_open):
        for mutant in make(lines, steps):
            if _program(mutant.lines) not in known:
                known.add(_program(mutant.lines))
                yield mutant
    for mutant in (*_retargets(task, lines, steps), *_look_alikes(task, lines, steps)):
        if _program(mutant.lines) not in known:
            known.add(_program(mutant.lines))
            yield mutant


Lines = Sequence[ScriptLine]
Steps = Sequence[_Step]


def _program(lines: Lines) -> tuple[object, ...]:
    return tuple((line.when, line.do, line.reply, line.say is None) for line in lines)


def _with(lines: Lines, do: Callable[[int, tuple[Command, ...]], tuple[Command, ...]]) -> tuple[ScriptLine, ...]:
    """The lines with other commands. A line that had some and has none left is not said at all."""
    changed = [replace(line, do=do(i, line.do)) for i, line in enumerate(lines)]
    return tuple(new for new, old in zip(changed, lines, strict=True) if new.do or not old.do)


def _mapped(lines: Lines, change: Callable[[Command], Command]) -> tuple[ScriptLine, ...]:
    return _with(lines, lambda _, do: tuple(map(change, do)))


def _edited(lines: Lines, at: _Step, commands: tuple[Command, ...]) -> tuple[ScriptLine, ...]:
    """The lines with one command replaced by others, or by none."""
    return _with(lines, lambda i, do: (*do[: at.place], *commands, *do[at.place + 1 :]) if i == at.line else do)


def _named(number: int, step: _Step) -> str:
    return f"{number} {render(step.command)}"


def _drops(lines: Lines, steps: Steps) -> Iterator[Mutant]:
    for n, step in enumerate(steps, 1):
        yield Mutant("drop", f"drop {_named(n, step)}", _edited(lines, step, ()))
    for i, line in enumerate(lines):
        if not line.do and line.say is not None:
            yield Mutant("drop", f'drop "{line.say}"', (*lines[:i], *lines[i + 1 :]))


def _duplicates(lines: Lines, steps: Steps) -> Iterator[Mutant]:
    for n, step in enumerate(steps, 1):
        twice = _edited(lines, step, (step.command, step.command))
        yield Mutant("duplicate", f"duplicate {_named(n, step)}", twice)


def _placed(lines: Lines, steps: Steps, commands: Sequence[Command]) -> tuple[ScriptLine, ...]:
    """The lines with all commands replaced, in order."""
    new = {(step.line, step.place): command for step, command in zip(steps, commands, strict=True)}
    return _with(lines, lambda i, do: tuple(new[i, j] for j in range(len(do))))


def _swaps(lines: Lines, steps: Steps) -> Iterator[Mutant]:
    commands = [step.command for step in steps]
    for n in range(len(steps) - 1):
        other = [*commands[:n], commands[n + 1], commands[n], *commands[n + 2 :]]
        yield Mutant("swap", f"swap {_named(n + 1, steps[n])} with the next", _placed(lines, steps, other))


def _moves(lines: Lines, steps: Steps) -> Iterator[Mutant]:
    commands = [step.command for step in steps]
    for n, step in enumerate(steps):
        rest = [*commands[:n], *commands[n + 1 :]]
        for where, other in (("first", [step.command, *rest]), ("last", [*rest, step.command])):
            yield Mutant("move", f"move {_named(n + 1, step)} to be the {where}", _placed(lines, steps, other))


def _stops(lines: Lines, steps: Steps) -> Iterator[Mutant]:
    end = tuple(line for line in lines if line.say is None)
    for n, step in enumerate(steps[:-1], 1):
        kept = replace(lines[step.line], do=lines[step.line].do[: step.place + 1])
        yield Mutant("stop", f"stop after {_named(n, step)}", (*lines[: step.line], kept, *end))


def _left_open(lines: Lines, steps: Steps) -> Iterator[Mutant]:
    if any(step.command.primitive in UNDONE_BY for step in steps):
        less = _with(lines, lambda _, do: tuple(c for c in do if c.primitive not in UNDONE_BY))
        yield Mutant("leave open", "leave everything open and on", less)


def _retargets(task: CompiledTask, lines: Lines, steps: Steps) -> Iterator[Mutant]:
    probe = Probe(task)
    for n, step in enumerate(steps, 1):
        for position, ref in enumerate(step.command.args):
            if position in BY_NAME[step.command.primitive].connectors:
                continue
            for other in _others(task, ref.name):
                command = _renamed(step.command, {ref.name: other}, only=position)
                if probe.asked_wrongly(command) is None:
                    text = f"retarget {_named(n, step)} to {render(command)}"
                    yield Mutant("retarget", text, _edited(lines, step, (command,)))


def _look_alikes(task: CompiledTask, lines: Lines, steps: Steps) -> Iterator[Mutant]:
    used = {ref.name for step in steps for ref in step.command.args}
    things = [t for t in task.things.values() if t.kind in ("object", "fixture")]
    for one, other in permutations(things, 2):
        if one.name in used and one.category == other.category and (one.declared or other.declared):
            mistaken = partial(_renamed, names={one.name: other.name})
            yield Mutant("look-alike", f"take {other.name} for {one.name}", _mapped(lines, mistaken))


def _others(task: CompiledTask, name: str) -> list[str]:
    """What else the pack names of the same kind, and every like thing of the scene."""
    this = task.things[name]

    def comparable(thing: Thing) -> bool:
        return thing.kind == this.kind and (thing.declared or thing.category == this.category)

    return [t.name for t in task.things.values() if t.name != name and comparable(t)]


def _renamed(command: Command, names: dict[str, str], only: int | None = None) -> Command:
    args = tuple(
        replace(ref, name=names.get(ref.name, ref.name)) if only is None or i == only else ref
        for i, ref in enumerate(command.args)
    )
    return replace(command, args=args)
