"""Commands that ask of a thing what its kind cannot do (BENCH-4: affordances).

The symbolic world's own table decides: a command that it refuses in the initial state for what was asked, and not for
how the world is, is refused in every state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from iwkit.compile import CompiledTask
from iwkit.grammar import Command, Ref, render
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.verbs import BY_NAME
from iwkit.world.base import Receipt
from iwkit.world.symbolic import SymbolicWorld
from iwkit_validators.places import commands

INSTEAD: Final = {
    "place": "place_inside",
    "place_inside": "place",
    "open_door": "open",
    "close_door": "close",
    "open": "turn_on",
    "close": "turn_off",
    "turn_on": "open",
    "turn_off": "close",
}
"""Primitive -> the one that people mean when it does not fit the thing."""
SOME: Final = 3
"""How many other things a hint names."""


def check(doc: Document, task: CompiledTask, world: SymbolicWorld) -> list[Problem]:
    """A402 at each command of the opening, the plan and the scripts that no state of the world allows."""
    probe = Probe(task, world)
    found = []
    for path, command in commands(task):
        receipt = probe.asked_wrongly(command)
        if receipt is not None:
            message = f"{render(command)}: {receipt.text}"
            found.append(doc.problem(path, "A402", message, _hint(task, probe, command)))
    return found


class Probe:
    """Tries single commands in the initial state of a task. The world is reset to that, and given back in any state."""

    def __init__(self, task: CompiledTask, world: SymbolicWorld | None = None) -> None:
        self._world = world or SymbolicWorld()
        self._world.reset(task)
        self._start = self._world.snapshot()
        self._known: dict[Command, Receipt | None] = {}

    def asked_wrongly(self, command: Command) -> Receipt | None:
        """The refusal when it is for what was asked."""
        if command not in self._known:
            receipt = self._world.execute(command)
            if receipt.ok:
                self._world.restore(self._start)
            self._known[command] = receipt if receipt.fault == "request" else None
        return self._known[command]


def _hint(task: CompiledTask, probe: Probe, command: Command) -> str:
    other_verb = _other_verb(probe, command)
    others = _other_things(task, probe, command)
    position = next(iter(others), 0)
    thing = task.things[command.args[position].name]
    affords = f"a {thing.category} is {', '.join(sorted(thing.traits))}"
    if other_verb is not None:
        return f"{affords}; did you mean {other_verb}?"
    fitting = ", ".join(others.get(position, [])[:SOME])
    return f"{affords}; it could be done with {fitting}" if fitting else affords


def _other_verb(probe: Probe, command: Command) -> str | None:
    primitive = INSTEAD.get(command.primitive)
    if primitive is None:
        return None
    row = BY_NAME[primitive]
    other = replace(command, primitive=primitive, verb=row.verbs[0], args=command.args[: len(row.args) - row.optional])
    return None if probe.asked_wrongly(other) else render(other)


def _other_things(task: CompiledTask, probe: Probe, command: Command) -> dict[int, list[str]]:
    """Position of an argument -> the entities of the pack that would do in its place, where there are any."""
    connectors = BY_NAME[command.primitive].connectors
    found: dict[int, list[str]] = {}
    for position, name in _swaps(task, command):
        args = tuple(Ref(name) if i == position else ref for i, ref in enumerate(command.args))
        if position not in connectors and probe.asked_wrongly(replace(command, args=args)) is None:
            found.setdefault(position, []).append(name)
    return found


def _swaps(task: CompiledTask, command: Command) -> Iterator[tuple[int, str]]:
    used = [ref.name for ref in command.args]
    names = [thing.name for thing in task.things.values() if thing.declared and thing.name not in used]
    return ((position, name) for position in range(len(command.args)) for name in names)
