"""The floor plan as the wearer walks on it: lines, free places, the way straight ahead. Metres and degrees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from iwkit.floorplan import EPSILON, Box, floor, overlaps, within
from iwkit.floorspace import fixed_obstacles
from iwkit.spec.scene import Door, Scene

Point = tuple[float, float]

FACED = 30.0
"""What one stands at is before one's eyes when its middle is no further aside than this, degrees (ours)."""
SIDE, DRAWN = 0.3, 0.2
"""Half the width of a body on the plan that walks past furniture, and of one that draws its arms in for a door,
metres."""
GRID = 0.25
"""Raster in which free floor is looked for (ours)."""


class Ahead(NamedTuple):
    """What straight walking comes to: the doors passed and the room reached, or that something is in the way."""

    blocked: bool
    doors: tuple[str, ...] = ()
    room: str = ""


def gap(a: Box, b: Box) -> float:
    """Distance between two boxes, edge to edge."""
    dx = max(a[0] - b[2], b[0] - a[2], 0.0)
    dy = max(a[1] - b[3], b[1] - a[3], 0.0)
    return math.hypot(dx, dy)


def direction(start: Point, goal: Point) -> float | None:
    """Heading from one point to another in [0, 360), None when they are the same."""
    dx, dy = goal[0] - start[0], goal[1] - start[1]
    return math.degrees(math.atan2(dy, dx)) % 360 if math.hypot(dx, dy) > EPSILON else None


def faced(point: Point, heading: float, box: Box) -> bool:
    """Whether one who stands before a box, and looks that way, has it before oneself."""
    ahead = direction(point, ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
    return ahead is None or abs(math.remainder(ahead - heading, 360)) <= FACED


def step(start: Point, heading: float, distance: float) -> Point:
    """The point so far away in a direction, to a tenth of a millimetre."""
    angle = math.radians(heading)
    return round(start[0] + distance * math.cos(angle), 4), round(start[1] + distance * math.sin(angle), 4)


def crossing(start: Point, goal: Point, box: Box) -> tuple[float, float] | None:
    """The part (t0, t1) of the line through `start` (t = 0) and `goal` (t = 1) that lies in a box."""
    low, high = -math.inf, math.inf
    for axis in (0, 1):
        way = goal[axis] - start[axis]
        if abs(way) < 1e-12:
            if not box[axis] < start[axis] < box[axis + 2]:
                return None
            continue
        first, second = sorted(((box[axis] - start[axis]) / way, (box[axis + 2] - start[axis]) / way))
        low, high = max(low, first), min(high, second)
    return (low, high) if low < high else None


def free_point(scene: Scene, room: str, obstacles: Sequence[Box], clear: float) -> Point:
    """The point of a room nearest to its middle that has no obstacle within `clear`; the middle when there is none."""
    x0, y0, x1, y1 = scene.rooms[room].box
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    area, boxes = floor(scene, room), [*obstacles, *fixed_obstacles(scene)]

    def free(x: float, y: float) -> bool:
        spot = (x - clear, y - clear, x + clear, y + clear)
        return within(spot, area) and not any(overlaps(spot, box) for box in boxes)

    nearest = sorted(_raster(middle, area), key=lambda p: (math.dist(p, middle), p))
    return next((p for p in nearest if free(*p)), middle)


def free_boxes(scene: Scene, room: str, size: Point, obstacles: Sequence[Box], target: Box) -> Iterator[Box]:
    """Places for a box of `size` on the free floor of a room, those nearest to the target first."""
    width, depth = size
    middle = ((target[0] + target[2]) / 2, (target[1] + target[3]) / 2)
    area, boxes = floor(scene, room), [*obstacles, *fixed_obstacles(scene)]
    places = [(x - width / 2, y - depth / 2, x + width / 2, y + depth / 2) for x, y in _raster(middle, area)]
    places = [place for place in places if within(place, area)]
    for place in sorted(places, key=lambda box: (round(gap(box, target), 6), box)):
        if not any(overlaps(place, box) for box in boxes):
            yield place


def first_free(scene: Scene, room: str, points: Sequence[Point], obstacles: Iterable[Box]) -> Point:
    """The first of the points that is on free floor, else the last one."""
    area, boxes = floor(scene, room), [*obstacles, *fixed_obstacles(scene)]

    def free(x: float, y: float) -> bool:
        spot = (x - EPSILON, y - EPSILON, x + EPSILON, y + EPSILON)
        return within(spot, area) and not any(overlaps(spot, box) for box in boxes)

    return next((p for p in points if free(*p)), points[-1])


def ahead(scene: Scene, room: str, line: tuple[Point, Point], obstacles: Iterable[Box], shut: frozenset[str]) -> Ahead:
    """Walk a line that starts in `room` with a body of some width: not through walls, the doors that are `shut`, or
    obstacles, other than one that it brushes at the start and doesn't come into."""
    start, goal = line
    for box in (*obstacles, *fixed_obstacles(scene)):
        if _runs_into(start, goal, box):
            return Ahead(blocked=True)
    passed: list[str] = []
    while len(passed) <= len(scene.doors):
        part = crossing(start, goal, scene.rooms[room].box)
        if part is None or part[1] >= 1:
            x, y = goal
            on_floor = within((x - DRAWN, y - DRAWN, x + DRAWN, y + DRAWN), floor(scene, room))
            return Ahead(not (on_floor or any(_in_opening(d, goal) for d in scene.doors.values())), tuple(passed), room)
        at = (start[0] + part[1] * (goal[0] - start[0]), start[1] + part[1] * (goal[1] - start[1]))
        door = next((n for n, d in scene.doors.items() if room in d.between and _in_opening(d, at)), None)
        if door is None or door in shut:
            break
        first, second = scene.doors[door].between
        room = second if room == first else first
        passed.append(door)
    return Ahead(blocked=True)


def _runs_into(start: Point, goal: Point, box: Box) -> bool:
    """Whether a body that goes from one point to another runs into a box; one that it brushes it may come closer to."""
    wide = (box[0] - SIDE, box[1] - SIDE, box[2] + SIDE, box[3] + SIDE)
    part = crossing(start, goal, wide)
    if part is None or part[1] <= EPSILON or part[0] >= 1:
        return False
    if part[0] >= 0:
        return True
    inner = crossing(start, goal, box)
    return inner is not None and 0 <= inner[0] < 1


def _in_opening(door: Door, point: Point) -> bool:
    """Whether one who stands at a point gets through a door: within its width along the wall, half the wall across."""
    dx, dy = abs(point[0] - door.at[0]), abs(point[1] - door.at[1])
    return min(dx, dy) <= 0.05 + EPSILON and max(dx, dy) <= door.width / 2 - DRAWN


def _raster(middle: Point, area: Box) -> list[Point]:
    """Points of the raster through `middle` that lie in an area."""
    ticks = []
    for axis in (0, 1):
        low = math.ceil((area[axis] - middle[axis]) / GRID)
        high = math.floor((area[axis + 2] - middle[axis]) / GRID)
        ticks.append([round(middle[axis] + n * GRID, 4) for n in range(low, high + 1)])
    return [(x, y) for x in ticks[0] for y in ticks[1]]
