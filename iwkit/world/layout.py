"""What of a task's world never changes: names of rooms, doors and fixtures, what stands on what, where one stands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from iwkit.compile.things import Thing
from iwkit.errors import CompileError, UsageError
from iwkit.floorplan import REACH, WALL, Box, Route, footprint, room_at, route, size_of, stance, wall_of, within
from iwkit.spec.scene import Fixture, Scene
from iwkit.world.ground import Point, direction, first_free, free_point, step

CLEARANCE = 0.20
"""Half the width that the wearer needs to stand in the middle of a room."""
BESIDE = 0.25
"""What is put on the floor beside a fixture lies this far to the side of the stance."""
STACKED = 0.02
"""A fixture whose underside is this close to the top of another one stands on it."""


class Goal(NamedTuple):
    """Where the wearer goes: pose, the fixture or door it is then at, and the room."""

    x: float
    y: float
    heading: float | None
    at: str | None
    room: str


class Furnished(Protocol):
    """A scene and what is in it: a compiled task, or a scene without any pack. `things` are by name."""

    @property
    def id(self) -> str: ...

    @property
    def scene(self) -> Scene: ...

    @property
    def things(self) -> Mapping[str, Thing]: ...


class Layout:
    """Geometry and names of one task. Rooms, doors and fixtures are called by their names in the task.

    Raises CompileError for a scene that has not been loaded by `iwkit.scenes.load_scene`.
    """

    def __init__(self, task: Furnished) -> None:
        self.scene = task.scene
        self.things = task.things
        self.processes = {name: t.process for name, t in task.things.items() if t.process is not None}
        names = {(t.kind, t.scene_id): name for name, t in task.things.items()}
        try:
            self.rooms = {key: names["room", key] for key in self.scene.rooms}
            self.doors = {key: names["door", key] for key in self.scene.doors}
            self.fixtures: dict[str, Fixture] = {names["fixture", key]: f for key, f in self.scene.fixtures.items()}
        except KeyError as missing:
            raise CompileError(f"task {task.id}: the compiled task lacks {missing.args[0]} of its scene") from None
        self.room_ids = {name: key for key, name in self.rooms.items()}
        self.door_ids = {name: key for key, name in self.doors.items()}
        self.boxes = {name: footprint(fixture) for name, fixture in self.fixtures.items()}
        self.under = {name: self._support(name) for name in self.fixtures}
        self.upon: dict[str, tuple[str, ...]] = dict.fromkeys(self.fixtures, ())
        for name, below in self.under.items():
            if below is not None:
                self.upon[below] = (*self.upon[below], name)
        self.bases = {name: self._base(name) for name in self.fixtures}
        self._routes: dict[tuple[Point, Point], Route | None] = {}
        self._middles: dict[str, Point] = {}

    def _support(self, name: str) -> str | None:
        """The fixture on whose top this one stands."""
        fixture = self.fixtures[name]
        if fixture.base == 0:
            return None
        for other, below in self.fixtures.items():
            if abs(below.base + size_of(below)[2] - fixture.base) <= STACKED and within(
                (*fixture.at, *fixture.at), self.boxes[other]
            ):
                return other
        return None

    def _base(self, name: str) -> str:
        """The fixture on the floor (or the wall) that carries this one in the end: itself, for most."""
        while (below := self.under[name]) is not None:
            name = below
        return name

    def family(self, name: str) -> tuple[str, ...]:
        """A fixture and the fixtures that stand on it, one upon the other."""
        return (name, *(link for upon in self.upon[name] for link in self.family(upon)))

    def middle(self, room: str) -> Point:
        """The free point nearest to the middle of a room, as the scene is at the start."""
        if room not in self._middles:
            boxes = [self.boxes[n] for n, f in self.fixtures.items() if f.room == self.room_ids[room]]
            self._middles[room] = free_point(self.scene, self.room_ids[room], boxes, CLEARANCE)
        return self._middles[room]

    def door_sides(self, door: str) -> tuple[Goal, Goal]:
        """The places 0.45 m before a door, one in each of its rooms, facing it."""
        spec = self.scene.doors[self.door_ids[door]]
        wall = wall_of(self.scene, spec)
        if wall is None:
            raise CompileError(f"scene {self.scene.id}: door {self.door_ids[door]} is not between two rooms that touch")
        sides = []
        for room in spec.between:
            beyond = abs(self.scene.rooms[room].box[wall.axis] - wall.at) <= WALL / 2
            shift = REACH if beyond else -REACH
            x, y = (spec.at[0] + shift, spec.at[1]) if wall.axis == 0 else (spec.at[0], spec.at[1] + shift)
            sides.append(Goal(x, y, direction((x, y), spec.at), door, self.rooms[room]))
        return sides[0], sides[1]

    def door_box(self, door: str) -> Box:
        """The opening of a door: its width along the wall, the wall across."""
        spec = self.scene.doors[self.door_ids[door]]
        wall = wall_of(self.scene, spec)
        along, across = spec.width / 2, WALL / 2
        dx, dy = (across, along) if wall is not None and wall.axis == 0 else (along, across)
        return spec.at[0] - dx, spec.at[1] - dy, spec.at[0] + dx, spec.at[1] + dy

    def route(self, start: Point, goal: Point) -> Route | None:
        """The way between two points, None when there is none."""
        key = (start, goal)
        if key not in self._routes:
            if len(self._routes) >= 10_000:
                self._routes.clear()
            try:
                self._routes[key] = route(self.scene, start, goal)
            except UsageError:
                self._routes[key] = None
        return self._routes[key]

    def beside(self, fixture: Fixture, boxes: dict[str, Box]) -> Point:
        """Where a thing lies that is put on the floor beside a fixture: next to where one stands to use it."""
        x, y, heading = stance(fixture)
        sideways = [step((x, y), heading + turn, BESIDE) for turn in (-90, 90)]
        return first_free(self.scene, fixture.room, [*sideways, (x, y)], boxes.values())

    def around(self, point: Point, distance: float, start: Point, boxes: dict[str, Box]) -> Point:
        """A free point at that distance from a point, the one nearest to `start`."""
        room = room_at(self.scene, point)
        if room is None:
            return point
        ring = [step(point, turn, distance) for turn in range(0, 360, 45)]
        ring.sort(key=lambda p: (math.dist(p, start), p))
        return first_free(self.scene, room, [*ring, point], boxes.values())
