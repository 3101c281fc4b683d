"""The relations of a physical world: docs/goal-language.md section 3, measured from geometry (SEM-6; paper B.3.2).

Names and tuples are those of the symbolic world, so that states compare. States of their own (`running`, `clean`, ...)
are not measured. docs/relations.md has the rules in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np

from iwkit.compile import CompiledTask
from iwkit.errors import UsageError
from iwkit.floorplan import Box
from iwkit.trace import Relation, State
from iwkit.world.layout import Layout
from iwkit.world.state import WEARER
from iwkit_runtime.physical.connectors import Fit, fit
from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.nearness import CORNERS, gaps, outline
from iwkit_runtime.physical.places import LASTING, Drift, Kept, Moment, Place, Places, drift
from iwkit_runtime.physical.scene_spec import SceneSpec
from iwkit_runtime.physical.solids import Solids
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.tolerances import limit

__all__ = ["Facts", "Measured", "Moment", "Relations", "lasting"]


@dataclass(frozen=True)
class Facts:
    """What relations need to know besides geometry: rooms on the plan (metres), names that the pack declares, carriers,
    whose load is also on what they are on, the openings of doors on the plan, however a leaf swings, what is sat on,
    what is raised, and the connectors of parts."""

    rooms: Mapping[str, Box]
    declared: frozenset[str]
    carriers: frozenset[str]
    doors: Mapping[str, Box] = field(default_factory=dict)
    seats: frozenset[str] = frozenset()
    erectable: frozenset[str] = frozenset()
    connectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, task: CompiledTask) -> Facts:
        """The facts of a compiled task."""
        things = task.things.values()
        rooms = {t.name: task.scene.rooms[t.scene_id].box for t in things if t.kind == "room" and t.scene_id}
        declared = frozenset(t.name for t in things if t.declared and t.kind != "room")
        layout = Layout(task)
        doors = {door: layout.door_box(door) for door in layout.door_ids}
        carriers, seats, erectable = (
            frozenset(t.name for t in things if trait in t.traits) for trait in ("carrier", "seat", "erectable")
        )
        connectors = {t.name: t.connectors for t in things if t.connectors}
        return cls(rooms, declared, carriers, doors, seats, erectable, connectors)


class Relations:
    """Measures moments of one scene. `state` is the state of a trace; `at` also answers why.

    Raises:
        UsageError: a piece is no solid.
    """

    def __init__(self, spec: SceneSpec, facts: Facts) -> None:
        self.facts, self.solids = facts, Solids(spec)
        self._now: dict[str, Kept] = {}
        self._then: tuple[Moment, Mapping[str, Place]] | None = None

    def state(self, now: Moment, baseline: Moment | None = None) -> State:
        """All measured relations. `at_baseline` and `unmoved` hold against the moment of the handoff, if it is given.

        Raises:
            UsageError: a moment lacks the pose of a thing.
        """
        return self.at(now, baseline).state

    def at(self, now: Moment, baseline: Moment | None = None) -> Measured:
        """The scene at a moment, to be asked about."""
        return Measured(self.facts, self.solids, Places(self.solids, now, self._now), self._baseline(baseline))

    def _baseline(self, moment: Moment | None) -> Mapping[str, Place] | None:
        if moment is None:
            return None
        if self._then is None or self._then[0] != moment:
            places = Places(self.solids, moment, {})
            self._then = (moment, {name: places.of(name) for name in places.posed})
        return self._then[1]


class Measured:
    """One moment of a scene. `then` is where everything was at the handoff; None before it."""

    def __init__(self, facts: Facts, solids: Solids, places: Places, then: Mapping[str, Place] | None) -> None:
        self.facts, self.solids, self.places, self.then = facts, solids, places, then
        self.moment = places.moment
        self._kinds = {name: placed.kind for name, placed in solids.placed.items()}
        self._known = facts.declared | {WEARER}
        self._inside: dict[str, tuple[str, ...]] = {}

    @cached_property
    def state(self) -> State:
        """Every relation that holds."""
        self.places.find(self.places.posed)
        return frozenset(self._all())

    def _all(self) -> Iterator[Relation]:
        for name in self.names("object"):
            yield from self._placed(name)
        for name in self._kinds:
            yield from ((word, name) for word in ("open", "closed") if self.is_(word, name))
        yield from (("raised", name) for name in self._kinds if self.raised(name))
        if (seat := self.seat()) is not None:
            yield ("sitting", seat)
        yield from self._rooms()
        yield from self._near()
        yield from (("visible", name) for name in self.moment.visible)
        yield from self._kept()

    def names(self, *kinds: Literal["object", "fixture", "door"]) -> Iterator[str]:
        """The things of these kinds, in the order of the scene."""
        return (name for name, kind in self._kinds.items() if kind in kinds)

    # --- places ---------------------------------------------------------------------------------------------------

    def _placed(self, name: str) -> Iterator[Relation]:
        if name == self.moment.held:
            yield ("held", name)
        yield from (("on", name, below) for below in self.on(name))
        yield from (("inside", name, around) for around in self.inside(name))
        if self.on_floor(name):
            yield ("on_floor", name)
        if (other := self.attached(name)) is not None:
            yield ("attached", name, other)

    def bearers(self, name: str) -> tuple[str, ...]:
        """The things that a thing rests on directly, as parts of it or as a container's floor too."""
        supports = self.places.of(name).rest.supports
        return tuple(dict.fromkeys(s.name for s in supports if s.name in self._kinds))

    def on(self, name: str) -> tuple[str, ...]:
        """What a thing is on: what bears it unless that holds it inside, and what carriers among these are on."""
        found: dict[str, None] = {}
        queue = [name]
        while queue:
            above = queue.pop(0)
            holders = (*self.places.of(above).containers, self.attached(above))
            below = [b for b in self.bearers(above) if b not in holders and b not in found and b != name]
            found |= dict.fromkeys(below)
            queue += [b for b in below if b in self.facts.carriers]
        return tuple(found)

    def inside(self, name: str) -> tuple[str, ...]:
        """What a thing is inside, by itself or with what bears or contains it."""
        if name not in self._inside:
            self._inside[name] = ()  # things that bear each other end here
            direct = self.places.of(name).containers
            if self.in_hand(name):  # a bowl held in a fridge is not inside it, so neither are its contents
                direct = tuple(around for around in direct if self.in_hand(around))
            below = [b for b in (*direct, *self.bearers(name)) if self._kinds[b] == "object"]
            found = (*direct, *(around for b in below for around in self.inside(b)))
            self._inside[name] = tuple(around for around in dict.fromkeys(found) if around != name)
        return self._inside[name]

    def in_hand(self, name: str) -> bool:
        """Whether a thing is held, or goes with what is held, on or inside it."""
        reached, queue = {name}, [name]
        while queue:
            last = queue.pop()
            if last == self.moment.held:
                return True
            if self._kinds[last] == "object":
                more = {*self._carried_by(last), *self.places.of(last).containers} - reached
                reached |= more
                queue += more
        return False

    def on_floor(self, name: str) -> bool:
        """Whether a thing rests on the floor itself."""
        supports = self.places.of(name).rest.supports
        return self.attached(name) is None and any(self.solids.layers.get(s.name) == "floor" for s in supports)

    def _carried_by(self, name: str) -> tuple[str, ...]:
        """What a thing goes along with: what it rests on, and what it is joined to."""
        joined = self.moment.joined.get(name)
        return (*(() if joined is None else (joined,)), *self.bearers(name))

    # --- parts, seats, what stands upright ------------------------------------------------------------------------

    def attached(self, name: str) -> str | None:
        """What a part is attached to: joined to it by a connector of each, at its place and not crookedly."""
        other = self.moment.joined.get(name)
        if other is None or name == self.moment.held:
            return None
        fit = self.fit(name, other)
        good = fit is not None and fit.distance <= limit("mated") and fit.angle <= limit("crooked")
        return other if good else None

    def fit(self, name: str, other: str) -> Fit | None:
        """How the nearest connectors of two parts meet; None if one of them has none."""
        return fit(*((self.facts.connectors.get(n, ()), self.solids.placed[n], self._root(n)) for n in (name, other)))

    def seat(self) -> str | None:
        """The seat that the wearer's hips are on, also through a cushion."""
        below = None if self.moment.hips is None else self.places.below(self.moment.hips)
        if below is None or below[1] > limit("seat"):
            return None
        name, seen = below[0], set[str]()
        while name in self._kinds and name not in self.facts.seats and name not in seen:
            seen.add(name)
            name = next(iter(self.bearers(name)), "")
        return name if name in self.facts.seats else None

    def raised(self, name: str) -> bool:
        """Whether a thing that can be raised stands upright on something."""
        stands = name in self.facts.erectable and bool(self.places.of(name).rest.supports)
        return stands and self.lean(name) >= limit("raised")

    def lean(self, name: str) -> float:
        """Degrees by which a thing leans away from how it lies flat."""
        return math.degrees(math.acos(min(1.0, max(-1.0, float(self._root(name).turn[2, 2])))))

    def _root(self, name: str) -> Frame:
        return self.places.posed[name].frames[self.solids.placed[name].asset.links[0].name]

    # --- joints ---------------------------------------------------------------------------------------------------

    def joints(self, name: str) -> dict[str, float]:
        """How far the joints of a thing are open, by link: 0 at the closed limit, 1 at the open one."""
        found = {}
        for link in self.solids.placed[name].asset.links:
            joint = link.joint
            if joint and joint.high > joint.low:
                value = self.moment.joints.get((name, link.name), joint.low)
                found[link.name] = (value - joint.low) / (joint.high - joint.low)
        return found

    def is_(self, word: str, name: str) -> bool:
        """Whether a thing is `open`, with some joint at its open limit, or `closed`, with all at the closed one."""
        shares = self.joints(name).values()
        if word == "open":
            return any(share >= limit("open") for share in shares)
        return bool(shares) and all(share <= limit("closed") for share in shares)

    # --- rooms and nearness ---------------------------------------------------------------------------------------

    def _rooms(self) -> Iterator[Relation]:
        for name in self.names("object", "fixture"):
            if self._kinds[name] == "object" or name in self.facts.declared:
                yield from self._in_room(name)
        yield from self._in_room(WEARER)

    def _in_room(self, name: str) -> Iterator[Relation]:
        if self.facts.rooms:
            yield ("in_room", name, min(self.room_gaps(name).items(), key=lambda item: item[1])[0])

    def room_gaps(self, name: str) -> dict[str, float]:
        """Distance of a thing's centre of mass, or of the wearer, from each room on the plan; 0 within."""
        x, y = self.moment.wearer if name == WEARER else self.places.posed[name].centre[:2].tolist()
        found = {}
        for room, (x0, y0, x1, y1) in self.facts.rooms.items():
            found[room] = math.hypot(max(x0 - x, 0.0, x - x1), max(y0 - y, 0.0, y - y1))
        return found

    def _near(self) -> Iterator[Relation]:
        """Pairs both ways, of which one is an entity of the pack or the wearer."""
        roots = {name: self.root(name) for name in (*self._kinds, *self.facts.doors)} | {WEARER: WEARER}
        names = list(dict.fromkeys(roots.values()))
        loads: dict[str, list[str]] = {root: [] for root in names}
        for name, root in roots.items():
            loads[root].append(name)
        outlines = np.array([self._outline(name) for name in names])
        low, high = outlines.min(1), outlines.max(1)
        reach = limit("near") + limit("wearer")
        beside = ((low[:, None] <= high[None] + reach) & (high[:, None] >= low[None] - reach)).all(2)
        first, second = np.nonzero(np.triu(beside))
        apart = self._apart(outlines[first], outlines[second], [names[n] for n in first], [names[n] for n in second])
        for n in np.flatnonzero(apart <= limit("near")):
            for one, other in product(loads[names[first[n]]], loads[names[second[n]]]):
                if one != other and not self._known.isdisjoint((one, other)):
                    yield ("near", one, other)
                    yield ("near", other, one)

    def root(self, name: str) -> str:
        """What carries a thing in the end: a fixture, a thing on the floor, the wearer; for a door, itself."""
        seen = {name}
        if name in self.facts.doors:
            return name
        while name != self.moment.held:
            containers = self.places.of(name).containers if self._kinds[name] == "object" else ()
            below = next((b for b in (*containers, *self._carried_by(name)) if b not in seen), None)
            if below is None:
                return name
            name = below
            seen.add(name)
        return WEARER

    def gap(self, one: str, other: str) -> float:
        """The gap on the plan between what carries two things in the end, or is the wearer, in metres."""
        first, second = (WEARER if name == WEARER else self.root(name) for name in (one, other))
        return float(self._apart(self._outline(first)[None], self._outline(second)[None], [first], [second])[0])

    @staticmethod
    def _apart(first: Floats, second: Floats, names: Sequence[str], others: Sequence[str]) -> Floats:
        wearer = np.array([WEARER in pair and pair[0] != pair[1] for pair in zip(names, others, strict=True)])
        return np.asarray(np.maximum(gaps(first, second) - limit("wearer") * wearer, 0.0))

    def _outline(self, name: str) -> Floats:
        if name == WEARER:
            return np.tile(np.array(self.moment.wearer), (CORNERS, 1))
        if name in self.facts.doors:
            x0, y0, x1, y1 = self.facts.doors[name]
            return np.array([(x0, y0), (x1, y0), (x1, y1), *[(x0, y1)] * (CORNERS - 3)])
        return outline(self.solids.placed[name].asset.size, self._root(name))

    # --- the baseline ---------------------------------------------------------------------------------------------

    def _kept(self) -> Iterator[Relation]:
        if self.then is not None:
            for name in self.names("object", "fixture"):
                yield from ((word, name) for word in ("at_baseline", "unmoved") if self.stayed(word, name))

    def stayed(self, word: str, name: str) -> bool:
        """Whether a thing is `at_baseline`, or `unmoved`. False before the handoff."""
        if self.then is None or self._was_held(name) != (name == self.moment.held):
            return False
        was = (word, name) in self.moment.before
        if word == "unmoved":
            return self.drift(name, None).stayed(was=was)
        if self._was_held(name):
            return True
        return self.drift(name, self.reference(name)).stayed(was=was) and self._still_on(name)

    def reference(self, name: str) -> tuple[str, str] | None:
        """The thing and link that bore a thing at the handoff; None for the building, or when nothing did."""
        supports = () if self.then is None else self.then[name].rest.supports
        return next(((s.name, s.link) for s in supports if s.name in self._kinds), None)

    def drift(self, name: str, reference: tuple[str, str] | None) -> Drift:
        """How far a thing is from where it was at the handoff, relative to a link of another thing or in the world.

        Raises:
            UsageError: the handoff hasn't been.
        """
        if self.then is None:
            raise UsageError("nothing has a baseline before the handoff: give the moment of the handoff")
        root = self.solids.placed[name].asset.links[0].name
        before, after = None, None
        if reference is not None:
            before, after = (
                p.frames[reference[1]] for p in (self.then[reference[0]].posed, self.places.posed[reference[0]])
            )
        return drift(self.then[name].posed, self.places.posed[name], root, before, after)

    def _still_on(self, name: str) -> bool:
        """Whether an object rests on what it rested on; a fixture is where it is, whatever is under it."""
        if self._kinds[name] != "object" or self.then is None:
            return True
        before = _names(self.then[name])
        return not before or not before.isdisjoint(_names(self.places.of(name)))

    def _was_held(self, name: str) -> bool:
        return self.then is not None and self.then[name].held


def lasting(state: State) -> State:
    """Of a state what the next moment has as `before`: the relations with hysteresis."""
    return frozenset(relation for relation in state if relation[0] in LASTING)


def _names(place: Place) -> frozenset[str]:
    return frozenset(support.name for support in place.rest.supports)
