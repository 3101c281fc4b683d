"""The relations of a symbolic world: docs/goal-language.md section 3, read off a situation."""

from __future__ import annotations

import math
from collections.abc import Iterator

from iwkit.floorplan import Box
from iwkit.trace import Relation, State
from iwkit.world.checks import MATED, NEAR
from iwkit.world.ground import gap
from iwkit.world.layout import CLEARANCE
from iwkit.world.situation import Situation
from iwkit.world.state import WEARER, Baseline

OWN = ("used", "cut", "cooked", "broken", "mouldy", "raised", "ringing")
"""Flags that are relations under the same name."""
OPPOSITE = {"clean": "dirty", "dry": "wet"}
"""Relations that hold unless a flag is set."""

KEPT = 4000
"""Entries in a memory of near pairs before it is emptied."""


class Relations:
    """Derives the full state. Parts that only a few commands change are kept between steps."""

    def __init__(self, at: Situation) -> None:
        self.at = at
        layout = at.layout
        self._declared = frozenset(t.name for t in at.things.values() if t.declared and t.kind != "room") | {WEARER}
        self._doors = {door: layout.door_box(door) for door in layout.door_ids}
        self._families = {n: layout.family(n) for n, base in layout.bases.items() if n == base}
        self._families |= {door: (door,) for door in self._doors}
        self._own: dict[str, tuple[object, State]] = {}
        self._near_kept: tuple[object, State] = (None, frozenset())
        self._solids: tuple[object, dict[tuple[Box, float], tuple[str, ...]]] = (None, {})
        self._pairs: dict[tuple[tuple[str, ...], tuple[str, ...]], State] = {}

    def all(self) -> State:
        """The full state now."""
        visible = (("visible", name) for name in self.at.view())
        own = (*self._own_states(), self._cycles())
        return frozenset().union(*own, self._placed(), self._near(), visible, self._kept())

    # --- states of their own --------------------------------------------------------------------------------------

    def _own_states(self) -> Iterator[State]:
        state = self.at.state
        for name in self.at.things:
            key = (state.flags.get(name), state.contents.get(name), state.received.get(name))
            kept = self._own.get(name)
            if kept is None or kept[0] != key:
                kept = self._own[name] = (key, frozenset(self._own_state(name)))
            yield kept[1]

    def _own_state(self, name: str) -> Iterator[Relation]:
        at, flags = self.at, self.at.state.flags.get(name, frozenset())
        if at.has(name, "openable"):
            yield ("open" if "open" in flags else "closed", name)
        if at.has(name, "device"):
            yield ("running" if "running" in flags else "off", name)
        if at.kind(name) in ("object", "fixture"):
            yield from ((word, name) for word in OWN if word in flags)
            yield from ((word, name) for word, flag in OPPOSITE.items() if flag not in flags)
        yield from (("contains", name, substance) for substance in at.state.contents.get(name, ()))
        received = at.state.received.get(name)
        if received:
            yield ("received", name, *received)

    def _cycles(self) -> Iterator[Relation]:
        """The contents that the cycle of a machine began with, and whether that was a valid start."""
        for machine, cycle in self.at.state.cycles.items():
            yield from (("in_cycle", name, machine) for name in cycle.contents)
            if cycle.valid:
                yield ("cycle_valid", machine)

    # --- places ---------------------------------------------------------------------------------------------------

    def _placed(self) -> Iterator[Relation]:
        at, wearer = self.at, self.at.state.wearer
        for name in at.state.places:
            if at.away(name):
                continue
            yield from self._place(name)
            yield ("in_room", name, at.room(name))
        for name in self._declared:
            if name in at.layout.fixtures:
                yield ("in_room", name, at.room(name))
        yield ("in_room", WEARER, wearer.room)
        if wearer.seat is not None:
            yield ("sitting", wearer.seat)

    def _place(self, name: str) -> Iterator[Relation]:
        at, resting = self.at, True
        for link, place in at.chain(name):
            resting = resting and place.how == "on" and (link == name or at.has(link, "carrier"))
            if place.how == "inside":
                yield ("inside", name, place.at or "")
            elif resting:
                yield ("on", name, place.at or "")
            elif link == name:
                how = "on" if self._crooked(name) else "attached"
                yield {"attached": (how, name, place.at or ""), "floor": ("on_floor", name)}.get(
                    place.how, ("held", name)
                )

    def _crooked(self, name: str) -> bool:
        """Whether a part was joined to another with a wrong angle, and so is not attached as it should be."""
        joint = self.at.state.joints.get(name)
        return joint is not None and abs(math.remainder(joint[2], 90.0)) > MATED

    # --- near -----------------------------------------------------------------------------------------------------

    def _near(self) -> State:
        """Pairs both ways, of which one is an entity of the pack or the wearer. Things with the same root are near."""
        state, wearer = self.at.state, self.at.state.wearer
        roots = {name: self.at.root(name) for name in state.places if not self.at.away(name)}
        loose = {n: p.point for n, p in state.places.items() if p.how == "floor"}
        key = (tuple(roots.items()), tuple(loose.items()), wearer.x, wearer.y, tuple(state.fixtures.items()))
        if self._near_kept[0] != key:
            self._near_kept = (key, self._find_near(roots))
        return self._near_kept[1]

    def _find_near(self, roots: dict[str, str]) -> State:
        groups = {root: list(members) for root, members in self._families.items()}
        groups[WEARER] = [WEARER]
        for name, root in roots.items():
            groups.setdefault(root, []).append(name)
        members = {root: tuple(sorted(names)) for root, names in groups.items()}
        lively = [r for r in members if r == WEARER or r in roots]
        boxes = {root: self._box(root) for root in lively}
        found = []
        for root, names in members.items():
            if root in boxes or not self._declared.isdisjoint(names):
                box = boxes.get(root) or self._solid_box(root)
                reach = NEAR + CLEARANCE * (root == WEARER)
                near = [o for o in boxes if o != root and gap(box, boxes[o]) <= reach + CLEARANCE * (o == WEARER)]
                found += [self._pairs_of(names, members[other]) for other in (root, *near, *self._beside(box, reach))]
        return frozenset().union(*found)

    def _box(self, root: str) -> Box:
        """The floor area of a thing on the floor, or the point where the wearer stands."""
        (x, y), half = self.at.point(root), (0.0, 0.0)
        if root != WEARER:
            width, depth, _ = self.at.things[root].size
            half = (width / 2, depth / 2)
        return x - half[0], y - half[1], x + half[0], y + half[1]

    def _solid_box(self, root: str) -> Box:
        return self.at.boxes[root] if root in self.at.boxes else self._doors[root]

    def _beside(self, box: Box, reach: float) -> tuple[str, ...]:
        """The fixtures on the floor and the doors at most so far from an area."""
        fixtures = tuple(self.at.state.fixtures.items())
        if self._solids[0] != fixtures:
            self._solids = (fixtures, {})
        known, key = self._solids[1], (box, reach)
        if key not in known:
            if len(known) >= KEPT:
                known.clear()
            known[key] = tuple(root for root in self._families if gap(box, self._solid_box(root)) <= reach)
        return known[key]

    def _pairs_of(self, a: tuple[str, ...], b: tuple[str, ...]) -> State:
        if (a, b) not in self._pairs:
            if len(self._pairs) >= KEPT:
                self._pairs.clear()
            pairs = [(x, y) for x in a for y in b if x != y and (x in self._declared or y in self._declared)]
            self._pairs[a, b] = frozenset([("near", x, y) for x, y in pairs] + [("near", y, x) for x, y in pairs])
        return self._pairs[a, b]

    # --- the baseline ---------------------------------------------------------------------------------------------

    def _kept(self) -> Iterator[Relation]:
        """`at_baseline` and `unmoved`, from the handoff on."""
        base = self.at.state.baseline
        if base is None:
            return
        yield from self._kept_fixtures(base)
        for name, place in self.at.state.places.items():
            if base.places[name] == place and not self.at.away(name):
                yield ("at_baseline", name)
                if self._still(name, base):
                    yield ("unmoved", name)

    def _kept_fixtures(self, base: Baseline) -> Iterator[Relation]:
        fixtures = self.at.state.fixtures
        for name, below in self.at.layout.under.items():
            moved = base.fixtures.get(name) != fixtures.get(name)
            if not moved or below is not None:
                yield ("at_baseline", name)
            if not moved:
                yield ("unmoved", name)

    def _still(self, name: str, base: Baseline) -> bool:
        """Whether nothing that carries a thing has moved since the handoff."""
        last = name
        for link, place in self.at.chain(name):
            if base.places[link] != place:
                return False
            last = link if place.how == "floor" else place.at or link
        if last == WEARER:
            wearer = self.at.state.wearer
            return base.pose == (wearer.x, wearer.y, wearer.heading)
        return base.fixtures.get(last) == self.at.state.fixtures.get(last)
