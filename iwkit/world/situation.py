"""A layout together with a state: what one can ask of a world, and the only ways in which it is changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from iwkit.floorplan import UNIT, Box, footprint, stance
from iwkit.spec.scene import Fixture
from iwkit.world.ground import Point, direction, faced, first_free, gap
from iwkit.world.layout import Goal, Layout
from iwkit.world.state import HELD, WEARER, Cycle, Place, Spot, State

RIM = "rim"
"""The connector of a container by which a lid closes it."""
REACH = 0.80
"""A thing on the floor is taken from where one stands when it is no further away than this (ours)."""
STEP = 0.45
"""How far from a thing on the floor one stops."""
BEYOND = 0.20
"""How far from a thing on the floor another one is put down beside it."""


class Situation:
    """Queries and elementary changes. `version` grows with every change, so that what is derived can be kept."""

    def __init__(self, layout: Layout, state: State) -> None:
        self.layout, self.things = layout, layout.things
        self.state = state
        self.version = 0
        self.boxes: dict[str, Box] = dict(layout.boxes)
        self._moved_fixtures: dict[str, Fixture] = {}
        self.children: dict[str, dict[str, None]] = {}
        for name, spot in state.fixtures.items():
            self._stand(name, spot)
        self.absent = {name for name, place in state.places.items() if place.how == "away"}
        for name, place in state.places.items():
            if place.at is not None and place.how != "floor":
                self.children.setdefault(place.at, {})[name] = None
        self._seen: tuple[int, frozenset[str]] = (-1, frozenset())

    # --- things ---------------------------------------------------------------------------------------------------

    def public(self, name: str) -> str:
        """The public name of a thing; any other word stands for itself."""
        thing = self.things.get(name)
        return name.replace("_", " ") if thing is None else thing.public

    def kind(self, name: str) -> str:
        return self.things[name].kind

    def has(self, name: str, trait: str) -> bool:
        return trait in self.things[name].traits

    def is_(self, name: str, flag: str) -> bool:
        return flag in self.state.flags.get(name, ())

    def hides(self, name: str) -> bool:
        """Whether what is inside can neither be seen nor reached: it can be opened and is not open, or has a lid on."""
        return (self.has(name, "openable") and not self.is_(name, "open")) or self._covered(name)

    def _covered(self, name: str) -> bool:
        """Whether something is attached to the rim of a container."""
        joints = (self.state.joints.get(child) for child in self.children.get(name, ()))
        return any(joint is not None and joint[1].startswith(f"{RIM}:") for joint in joints)

    @property
    def held(self) -> str | None:
        return self.state.wearer.held

    # --- where things are -----------------------------------------------------------------------------------------

    def fixture(self, name: str) -> Fixture:
        """A fixture as it stands now."""
        return self._moved_fixtures.get(name) or self.layout.fixtures[name]

    def fixture_at(self, name: str, spot: Spot) -> Fixture:
        """A fixture as it would stand elsewhere."""
        room = self.layout.room_ids[spot.room]
        return self.layout.fixtures[name].model_copy(update={"at": (spot.x, spot.y), "room": room})

    def chain(self, name: str) -> Iterator[tuple[str, Place]]:
        """An object and, in turn, each object that carries it, with their places."""
        while (place := self.state.places.get(name)) is not None:
            yield name, place
            if place.how == "floor" or place.at is None:
                return
            name = place.at

    def root(self, name: str) -> str:
        """What carries a thing in the end: a fixture, a thing on the floor, the wearer; for a room or door, itself."""
        for link, place in self.chain(name):
            if place.how == "held":
                return WEARER
            if place.how == "floor":
                return link
            name = place.at or link
        return self.layout.bases.get(name, name)

    def support(self, name: str) -> str:
        """What an object is directly on, in or attached to; `floor` for the floor, `wearer` for the hand."""
        place = self.state.places[name]
        return place.how if place.how == "floor" or place.at is None else place.at

    def in_hand(self, name: str) -> bool:
        """Whether it is held, or comes along with what is held."""
        return self.root(name) == WEARER

    def away(self, name: str) -> bool:
        """Whether it has not arrived yet, or comes with something that has not."""
        return bool(self.absent) and self.root(name) in self.absent

    def carries(self, carrier: str, name: str) -> bool:
        """Whether `name` is `carrier` or is on, in or attached to it, directly or not."""
        if name == carrier:
            return True
        last = name
        for link, place in self.chain(name):
            last = link if place.how == "floor" or place.at is None else place.at
            if carrier in (link, last):
                return True
        below: str | None = self.layout.under.get(last)
        while below is not None:
            if below == carrier:
                return True
            below = self.layout.under[below]
        return False

    def lid(self, name: str) -> str | None:
        """The outermost closed container around a thing."""
        found = None
        for _, place in self.chain(name):
            if place.how == "inside" and place.at is not None and self.hides(place.at):
                found = place.at
        return found

    def room(self, name: str) -> str:
        """The room in which a thing is; for a door the one the wearer is in or would reach it from."""
        root = self.root(name)
        if root == WEARER:
            return self.state.wearer.room
        place = self.state.places.get(root)
        if place is not None:
            return place.room or self.state.wearer.room
        if root in self.layout.fixtures:
            return self.layout.rooms[self.fixture(root).room]
        if root in self.layout.door_ids:
            return self.door_side(root).room
        return root

    def point(self, name: str) -> Point:
        """Where a thing is on the plan: on a fixture by its spot, else the middle."""
        wearer, root = self.state.wearer, self.root(name)
        if root == WEARER:
            return wearer.x, wearer.y
        place = self.state.places.get(root)
        if place is not None and place.point is not None:
            return place.point
        if root in self.layout.fixtures:
            return self._on_fixture(name)
        if root in self.layout.door_ids:
            return self.layout.scene.doors[self.layout.door_ids[root]].at
        return self.layout.middle(root)

    def _on_fixture(self, name: str) -> Point:
        top, spot = name, None
        for _, place in self.chain(name):
            top, spot = place.at or top, place.spot
        fixture = self.fixture(top)
        if spot is None:
            return fixture.at
        x0, y0, x1, y1 = self.boxes[top]
        dx, dy = UNIT[stance(fixture).heading]  # the way one looks; (dy, -dx) is to the right
        across, along = spot[0] * 0.4, (spot[1] - 0.5) * 0.8  # the middle four fifths: things do not hang over the edge
        return (
            fixture.at[0] + (x1 - x0) * (across * dy + along * dx),
            fixture.at[1] + (y1 - y0) * (along * dy - across * dx),
        )

    # --- where the wearer goes ------------------------------------------------------------------------------------

    def door_side(self, door: str, seen_from: str = WEARER) -> Goal:
        """The side from which the wearer, or a fixture, comes to a door: that of its own room, else the nearer one."""
        room, point = self.room(seen_from), self.point(seen_from)
        sides = self.layout.door_sides(door)
        for side in sides:
            if side.room == room:
                return side
        routes = [(self.layout.route(point, (s.x, s.y)), s) for s in sides]
        known = [(route.length, i, side) for i, (route, side) in enumerate(routes) if route is not None]
        return min(known)[2] if known else sides[0]

    def goal(self, name: str) -> Goal | None:
        """Where the wearer goes to reach a thing; None when it is within reach already."""
        wearer, root = self.state.wearer, self.root(name)
        if root in (WEARER, wearer.at):
            return None
        if root in self.layout.fixtures:
            fixture = self.fixture(root)
            x, y, heading = stance(fixture)
            return Goal(x, y, heading, root, self.layout.rooms[fixture.room])
        if root in self.layout.door_ids:
            return self.door_side(root)
        here = (wearer.x, wearer.y)
        place = self.state.places.get(root)
        if place is None or place.point is None:
            there = self.layout.middle(root)
            return None if there == here else Goal(*there, None, None, root)
        if place.room == wearer.room and math.dist(here, place.point) <= REACH:
            return None
        there = self.layout.around(place.point, STEP, here, self.boxes)
        return Goal(*there, direction(there, place.point), None, place.room or wearer.room)

    def seat_near(self, name: str, distance: float) -> str | None:
        """The nearest seat of the room that faces a thing, within that distance edge to edge; of equals the first by
        name."""
        point, room = self.point(name), self.room(name)
        box = self.boxes.get(self.root(name)) or (*point, *point)
        near = []
        for seat, fixture in ((n, self.fixture(n)) for n in self.layout.fixtures if self.has(n, "seat")):
            ahead = direction(fixture.at, point)
            facing = ahead is not None and abs((ahead - fixture.facing + 180) % 360 - 180) <= 30
            if facing and self.room(seat) == room and gap(self.boxes[seat], box) <= distance:
                near.append((round(gap(self.boxes[seat], box), 4), seat))
        return min(near)[1] if near else None

    def floor_beside(self, anchor: str) -> Place:
        """The place on the floor beside a thing."""
        wearer, root = self.state.wearer, self.root(anchor)
        room = self.room(anchor)
        if root in self.layout.fixtures:
            point = self.layout.beside(self.fixture(root), self.boxes)
        elif root in self.layout.door_ids:
            side = self.door_side(root)
            point = (side.x, side.y)
        elif root == WEARER:
            point = (wearer.x, wearer.y)
        else:
            there = self.point(root)
            ring = [(there[0] + dx, there[1] + dy) for dx, dy in ((BEYOND, 0), (0, BEYOND), (-BEYOND, 0), (0, -BEYOND))]
            point = first_free(self.layout.scene, self.layout.room_ids[room], [*ring, there], self.boxes.values())
        return Place("floor", anchor, point=point, room=room)

    # --- the view -------------------------------------------------------------------------------------------------

    def view(self) -> frozenset[str]:
        """The names of what the wearer sees."""
        if self._seen[0] != self.version:
            found: dict[str, None] = {}
            for name in self._looked_over():
                self._expose(name, found)
            self._seen = (self.version, frozenset(found))
        return self._seen[1]

    def _looked_over(self) -> Iterator[str]:
        """What is in view with all that is openly on or in it."""
        wearer, look = self.state.wearer, self.state.look
        if wearer.held is not None:
            yield wearer.held
        if wearer.at in self.layout.fixtures and self.faces(wearer.at):
            yield wearer.at
        if look.around:
            for name, place in self.state.places.items():
                if place.point is not None and place.room == wearer.room:
                    yield name
            room = self.layout.room_ids[wearer.room]
            yield from (name for name in self.layout.fixtures if self.fixture(name).room == room)
        yield from look.at

    def faces(self, fixture: str) -> bool:
        """Whether the wearer has a fixture at which it stands before its eyes, or looks at something on it. Who sits
        has the seat behind."""
        wearer = self.state.wearer
        if wearer.seat is not None:
            return False
        ahead = faced((wearer.x, wearer.y), wearer.heading, self.boxes[self.layout.bases[fixture]])
        return ahead or any(self.carries(fixture, name) for name in self.state.look.at)

    def _expose(self, name: str, found: dict[str, None]) -> None:
        if name in found:
            return
        if self.kind(name) in ("object", "fixture"):
            found[name] = None
        hides = self.hides(name)
        for child in self.children.get(name, ()):
            if not hides or self.state.places[child].how != "inside":
                self._expose(child, found)
        for stacked in self.layout.upon.get(name, ()):
            self._expose(stacked, found)

    # --- changes --------------------------------------------------------------------------------------------------

    def move(self, name: str, place: Place) -> None:
        """Put an object somewhere else; what is on, in or attached to it comes along."""
        old = self.state.places[name]
        if old.at is not None and old.how != "floor":
            self.children[old.at].pop(name)
        if place.at is not None and place.how != "floor":
            self.children.setdefault(place.at, {})[name] = None
        self.state.places[name] = place
        self.absent.discard(name)
        if old.how == "attached":
            self.state.joints.pop(name)
        if old.how == "held":
            self.state.wearer.held = None
        if place.how == "held":
            self.state.wearer.held = name
        self.version += 1

    def take(self, name: str) -> None:
        self.move(name, HELD)

    def shift(self, name: str, spot: Spot) -> None:
        """Stand a fixture somewhere else, with the fixtures that stand on it."""
        old = self.fixture(name).at
        dx, dy = spot.x - old[0], spot.y - old[1]
        for link in self.layout.family(name):
            x, y = self.fixture(link).at
            moved = Spot(round(x + dx, 4), round(y + dy, 4), spot.room)
            self.state.fixtures[link] = moved
            self._stand(link, moved)
        self.version += 1

    def _stand(self, name: str, spot: Spot) -> None:
        self._moved_fixtures[name] = self.fixture_at(name, spot)
        self.boxes[name] = footprint(self._moved_fixtures[name])

    def mark(self, name: str, flag: str, on: bool = True) -> None:
        """Set or clear a flag of a thing."""
        flags = self.state.flags.get(name, frozenset())
        flags = flags | {flag} if on else flags - {flag}
        if flags:
            self.state.flags[name] = flags
        else:
            self.state.flags.pop(name, None)
        self.version += 1

    def run(self, machine: str, cycle: Cycle) -> None:
        """Begin, go on with or end a cycle."""
        self.state.cycles[machine] = cycle
        self.version += 1

    def fill(self, name: str, substances: Iterable[str]) -> None:
        """Add substances to a vessel, in order."""
        for substance in substances:
            contents = self.state.contents.get(name, ())
            if substance not in contents:
                self.state.contents[name] = (*contents, substance)
            self.state.received[name] = (*self.state.received.get(name, ()), substance)
        self.version += 1

    def empty(self, name: str) -> tuple[str, ...]:
        """Take everything out of a vessel."""
        self.version += 1
        return self.state.contents.pop(name, ())

    def stand(self, goal: Goal) -> None:
        """Put the wearer at a goal."""
        wearer = self.state.wearer
        wearer.x, wearer.y, wearer.at, wearer.room = goal.x, goal.y, goal.at, goal.room
        if goal.heading is not None:
            wearer.heading = float(goal.heading) % 360
        self.version += 1

    def face(self, heading: float) -> None:
        """Turn on the spot; degrees anticlockwise from +x."""
        self.state.wearer.heading = round(heading % 360, 4) % 360
        self.version += 1

    def sit(self, seat: str | None) -> None:
        """Sit down with one's back to the seat, or stand up from it."""
        self.state.wearer.seat = seat
        if seat is not None:
            self.state.wearer.heading = float(self.fixture(seat).facing)
        self.version += 1

    def look(self, *, around: bool = False, at: str | None = None) -> None:
        """Widen the view."""
        old = self.state.look
        looked = old.at if at is None or at in old.at else (*old.at, at)
        self.state.look = replace(old, around=old.around or around, at=looked)
        self.version += 1

    def attend(self, name: str) -> None:
        """Look at what carries a thing if that lies on the floor: no fixture at hand stands for it."""
        root = self.root(name)
        if root in self.state.places and root not in self.state.look.at:
            self.look(at=root)

    def look_ahead(self) -> None:
        """Back to the view from where one stands."""
        look = self.state.look
        if look.around or look.at:
            self.state.look = type(look)()
            self.version += 1
