"""How things begin: that they fit where they begin, and are in states that their kind can be in (BENCH-4: geometry).

What fits is what the symbolic world would let a wearer put there; nothing is measured a second time in another way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final

from iwkit.compile import CompiledTask, Thing
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.world.checks import FULL_INTERIOR, FULL_SURFACE
from iwkit_validators.places import commands, named

HIGHEST: Final = 2.0
"""Metres above the floor up to which a standing wearer reaches (docs/body.md)."""
TAKEN: Final = frozenset({"pick", "place", "place_inside", "open", "close", "turn_on", "turn_off", "wipe", "attach"})
"""Primitives for which a hand goes to the thing that is named first or, where one is put down, second."""
NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "open": ("openable",),
    "running": ("device",),
    "cut": ("cuttable",),
    "cooked": ("cookable",),
    "contains": ("vessel", "container", "pourer"),
}
"""A state to begin in -> traits of which one is needed. Anything may be dirty, wet, used, broken or mouldy."""


def check(doc: Document, task: CompiledTask) -> list[Problem]:
    """Things that don't fit where they begin (A407, A408), begin in a state they cannot have (A409), carry a label
    where nothing can be written (A410), or lie out of reach (A411)."""
    return [problem for rule in _RULES for problem in rule(doc, task)]


def _path(thing: Thing, *field: str) -> tuple[str, ...]:
    return ("physical", "entities", thing.name, *field)


def _objects(task: CompiledTask) -> Iterator[tuple[Thing, Thing]]:
    """Each object that begins on or inside another thing, with that thing."""
    for thing in task.things.values():
        support = task.things.get(thing.at or "")
        if thing.place in ("on", "inside") and support is not None and thing.name not in task.awaited:
            yield thing, support


def _too_big(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    for thing, support in _objects(task):
        room = support.surface if thing.place == "on" else support.interior
        if room is not None and not _fits(thing, room):
            message = (
                f"{thing.name!r} is too big to begin {thing.place} {support.name!r}: "
                f"{_metres(thing.size)} does not fit {_metres(room)}"
            )
            yield doc.problem(_path(thing, str(thing.place)), "A407", message, "put it somewhere larger")


def _fits(thing: Thing, room: tuple[float, ...]) -> bool:
    size = thing.size[: len(room)]
    return all(a <= b for a, b in zip(sorted(size), sorted(room), strict=True))


def _metres(size: tuple[float, ...]) -> str:
    return " x ".join(f"{length:g}" for length in size) + " m"


def _too_full(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    """At the first object, in the pack's order, for which there is no room left beside those before it."""
    used: dict[tuple[str, str], float] = {}
    full: set[tuple[str, str]] = set()
    for thing, support in _objects(task):
        room = support.surface if thing.place == "on" else support.interior
        place = (str(thing.place), support.name)
        if room is None or place in full or not _fits(thing, room):
            continue
        share = FULL_SURFACE if thing.place == "on" else FULL_INTERIOR
        used[place] = used.get(place, 0.0) + math.prod(thing.size[: len(room)])
        if used[place] > share * math.prod(room):
            full.add(place)
            message = f"there is no room left for {thing.name!r} {thing.place} {support.name!r}: it is full"
            yield doc.problem(_path(thing, str(thing.place)), "A408", message, "put fewer or smaller things there")


def _states(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    for name, entity in task.pack.physical.entities.items():
        thing = task.things[name]
        states: list[tuple[str, tuple[str | int, ...]]] = [
            *((field, (field,)) for field in ("open", "running") if getattr(entity, field) and thing.kind != "door"),
            *((state, ("is", i)) for i, state in enumerate(entity.is_)),
            *((("contains", ("contains",)),) if entity.contains else ()),
        ]
        for state, field in states:
            needs = NEEDS.get(state, ())
            if needs and not thing.traits & set(needs):
                said = (
                    f"{name!r} cannot hold what it begins with"
                    if state == "contains"
                    else f"{name!r} cannot be {state}"
                )
                affords = ", ".join(sorted(thing.traits))
                hint = f"leave it out, or take another category; a {thing.category} is {affords}"
                yield doc.problem((*_path(thing), *field), "A409", f"{said}: it is no {' or '.join(needs)}", hint)


def _labels(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    for name, entity in task.pack.physical.entities.items():
        thing = task.things[name]
        if entity.label is None or thing.kind not in ("object", "fixture"):
            continue
        recipe = task.library.recipes.get(thing.category)
        if recipe is not None and all(print_.fixed for print_ in recipe.prints):
            message = f"nothing is written on a {thing.nouns[0]}: {name!r} has no place for its label"
            hint = "leave the label out, and tell it apart by `colour` or `public`"
            yield doc.problem(_path(thing, "label"), "A410", message, hint)


def _reach(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    """At the first command for each thing that hangs or begins higher than a hand reaches."""
    told: set[str] = set()
    for path, command in commands(task):
        if command.primitive not in TAKEN:
            continue
        for name in named(command):
            height = _height(task.things[name], task)
            if height > HIGHEST and name not in told:
                told.add(name)
                message = f"{name!r} is {height:g} m above the floor, and a hand reaches {HIGHEST:g} m"
                yield doc.problem(path, "A411", message, "hang it lower in the scene, or begin somewhere else")


def _height(thing: Thing, task: CompiledTask) -> float:
    """Of the underside of the fixture that a thing is, or begins on or in, above the floor."""
    seen: set[str] = set()
    while thing.kind == "object" and (below := task.things.get(thing.at or "")) and thing.name not in seen:
        seen.add(thing.name)
        thing = below
    if thing.kind != "fixture" or thing.scene_id is None:
        return 0.0
    return task.scene.fixtures[thing.scene_id].base


_Rule = Callable[[Document, CompiledTask], Iterator[Problem]]
_RULES: Final[tuple[_Rule, ...]] = (_too_big, _too_full, _states, _labels, _reach)
