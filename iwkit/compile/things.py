"""What a compiled task knows about each thing of its world: the pack's entity, its category, its place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from iwkit.spec.catalogue import Process
from iwkit.spec.pack import Entity

ThingKind = Literal["object", "fixture", "room", "door"]
Placing = Literal["on", "inside", "beside"]


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing. `name` is how commands call it; `scene_id` the scene's own key for fixtures, rooms and doors.

    `public` tells it apart in speech, `nouns` are the names people use for its kind. Sizes are width, depth and height
    in metres. `place` and `at` say where an object begins, `process` what a device does to its contents while it runs.
    `declared` is False for what only the scene knows.
    """

    name: str
    kind: ThingKind
    category: str
    traits: frozenset[str]
    public: str
    nouns: tuple[str, ...]
    scene_id: str | None = None
    declared: bool = True
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)
    surface: tuple[float, float] | None = None
    interior: tuple[float, float, float] | None = None
    connectors: tuple[str, ...] = ()
    place: Placing | None = None
    at: str | None = None
    spot: tuple[float, float] | None = None
    colour: str | None = None
    label: str | None = None
    open: bool = False
    running: bool = False
    states: frozenset[str] = frozenset()
    contains: tuple[str, ...] = ()
    process: Process | None = None

    def called(self, name: str, entity: Entity) -> Thing:
        """The same thing of the scene under the name and with the particulars that a pack gives it."""
        return replace(
            self,
            name=name,
            declared=True,
            public=entity.public or self.public,
            label=entity.label,
            colour=entity.colour,
            open=self.open if entity.open is None else entity.open,
            running=self.running if entity.running is None else entity.running,
            states=frozenset(entity.is_),
            contains=entity.contains,
        )


@dataclass(frozen=True, slots=True)
class Handle:
    """What the human calls a thing: `<nightstand> (2)`. The index is a permutation seeded by the physical digest."""

    noun: str
    index: int

    def __str__(self) -> str:
        return f"<{self.noun}> ({self.index})"
