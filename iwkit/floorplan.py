"""Plane geometry of a scene: footprints, where the wearer stands, door openings, and the way between two points.

Positions are metres in the world frame (x right, y up on the plan), headings degrees anticlockwise from +x. All
functions expect a scene from `iwkit.scenes.load_scene`, which has every size filled in.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

from iwkit.errors import UsageError
from iwkit.spec.scene import Door, Fixture, Scene, Standing

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1"""

WALL = 0.10
"""Thickness of every wall; half of it lies in each of the two rooms."""
REACH = 0.45
"""From the side of a fixture to the middle of the wearer who uses it."""
STAND = 0.50
"""Side of the square that the wearer needs free to stand in."""
CLEAR = 0.40
"""What stays free on either side of a door opening."""
CEILING = 2.5
"""From floor to ceiling."""
HEAD = 1.9
"""What hangs higher is in nobody's way."""
FLAT = 0.02
"""What is no higher can be walked on, and other things stand on it: a rug."""
SPAN = 0.8
"""A spot's u and v span this part of a surface: things don't hang over the edge."""
EPSILON = 1e-3

UNIT = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}
_TURN = {"front": 0, "left": 90, "back": 180, "right": 270}


class Stance(NamedTuple):
    """Where the wearer stands to use a fixture, and the heading that faces it."""

    x: float
    y: float
    heading: int


class Route(NamedTuple):
    """The doors on the way, in order, and the length of the way in metres."""

    doors: tuple[str, ...]
    length: float


class _Node(NamedTuple):
    """A point on the way and the rooms it is reached from."""

    at: tuple[float, float]
    rooms: set[str]


class Wall(NamedTuple):
    """The stretch of wall that two rooms share: at x = `at` (axis 0) or y = `at` (axis 1), from `low` to `high`."""

    axis: int
    at: float
    low: float
    high: float


def size_of(fixture: Standing) -> tuple[float, float, float]:
    """Width, depth, height of a fixture or a piece of decor of a loaded scene."""
    if fixture.size is None:
        raise UsageError(f"a {fixture.category} has no size yet: get scenes from iwkit.scenes.load_scene")
    return fixture.size


def footprint(fixture: Standing) -> Box:
    """The floor area under a fixture or a piece of decor."""
    width, depth, _ = size_of(fixture)
    across, along = (depth, width) if fixture.facing in (0, 180) else (width, depth)
    x, y = fixture.at
    return x - across / 2, y - along / 2, x + across / 2, y + along / 2


def stance(fixture: Fixture) -> Stance:
    """0.45 m before the middle of the side from which the fixture is used (`approach`), facing it."""
    outward = (fixture.facing + _TURN[fixture.approach]) % 360
    x0, y0, x1, y1 = footprint(fixture)
    (dx, dy), (x, y) = UNIT[outward], fixture.at
    reach = (x1 - x0 if dx else y1 - y0) / 2 + REACH
    return Stance(x + dx * reach, y + dy * reach, (outward + 180) % 360)


def standing_room(fixture: Fixture) -> Box:
    """The square around its stance that must be free."""
    x, y, _ = stance(fixture)
    return x - STAND / 2, y - STAND / 2, x + STAND / 2, y + STAND / 2


def overlaps(a: Box, b: Box) -> bool:
    """Whether two boxes share more than a millimetre of width and depth."""
    return min(a[2], b[2]) - max(a[0], b[0]) > EPSILON and min(a[3], b[3]) - max(a[1], b[1]) > EPSILON


def within(inner: Box, outer: Box) -> bool:
    """Whether `inner` lies in `outer`, to a millimetre."""
    return all(inner[i] >= outer[i] - EPSILON and inner[i + 2] <= outer[i + 2] + EPSILON for i in (0, 1))


def collide(a: Standing, b: Standing) -> bool:
    """Whether two things are in the same place. One may stand on the other (`base`)."""
    low, high = max(a.base, b.base), min(a.base + size_of(a)[2], b.base + size_of(b)[2])
    return high - low > EPSILON and overlaps(footprint(a), footprint(b))


def floor(scene: Scene, room: str) -> Box:
    """What of a room lies between its walls."""
    x0, y0, x1, y1 = scene.rooms[room].box
    return x0 + WALL / 2, y0 + WALL / 2, x1 - WALL / 2, y1 - WALL / 2


def shared_wall(a: Box, b: Box) -> Wall | None:
    """The wall between two rooms that touch."""
    for axis in (0, 1):
        low, high = max(a[1 - axis], b[1 - axis]), min(a[3 - axis], b[3 - axis])
        if high - low <= EPSILON:
            continue
        for one, other in ((a, b), (b, a)):
            if abs(one[axis + 2] - other[axis]) <= EPSILON:
                return Wall(axis, one[axis + 2], low, high)
    return None


def wall_of(scene: Scene, door: Door) -> Wall | None:
    """The wall between the two rooms of a door, None when they don't touch."""
    first, second = door.between
    return shared_wall(scene.rooms[first].box, scene.rooms[second].box)


def opening_fits(door: Door, wall: Wall) -> bool:
    """Whether a door's opening lies in a wall, clear of the walls that meet it at its ends."""
    middle, half = door.at[1 - wall.axis], (door.width + WALL) / 2
    return (
        abs(door.at[wall.axis] - wall.at) <= EPSILON
        and middle - half >= wall.low - EPSILON
        and middle + half <= wall.high + EPSILON
    )


def clear_zones(scene: Scene, door: Door) -> tuple[Box, ...]:
    """What must stay free on both sides of a door, in the order of `between`: 0.4 m, the width where a leaf swings."""
    wall = wall_of(scene, door)
    if wall is None:
        return ()
    along = (door.at[1 - wall.axis] - door.width / 2, door.at[1 - wall.axis] + door.width / 2)
    zones: list[Box] = []
    for index, room in enumerate(door.between):
        depth = door.width if door.leaf and index == 0 else CLEAR
        beyond = abs(scene.rooms[room].box[wall.axis] - wall.at) <= EPSILON  # the room lies on the far side of the wall
        across = (wall.at, wall.at + depth) if beyond else (wall.at - depth, wall.at)
        (x0, x1), (y0, y1) = (across, along) if wall.axis == 0 else (along, across)
        zones.append((x0, y0, x1, y1))
    return tuple(zones)


def rooms_at(scene: Scene, point: tuple[float, float]) -> list[str]:
    """The rooms a point lies in, in the scene's order: one, or those that meet there."""
    x, y = point
    return [name for name, room in scene.rooms.items() if within((x, y, x, y), room.box)]


def room_at(scene: Scene, point: tuple[float, float]) -> str | None:
    """The room a point lies in; on a wall, the first of those that meet there."""
    return next(iter(rooms_at(scene, point)), None)


def route(scene: Scene, start: tuple[float, float], goal: tuple[float, float]) -> Route:
    """The shortest way between two points: straight to the middle of a door, from door to door, straight to the goal.

    Furniture is not walked around; doors count whether open or closed. Of ways equally long the one with the fewest
    doors is taken, then the one whose door names come first.

    Raises:
        UsageError: a point lies in no room, or there is no way.
    """
    here, there = (set(_rooms_of(scene, point)) for point in (start, goal))
    if here & there:
        return Route((), math.dist(start, goal))
    nodes = {"": _Node(goal, there)} | {name: _Node(it.at, set(it.between)) for name, it in scene.doors.items()}
    heap: list[tuple[float, int, tuple[str, ...], float]] = []
    arrived: set[str] = set()
    last, length = _Node(start, here), 0.0
    done: tuple[str, ...] = ()
    while True:
        for name, node in nodes.items():
            if name not in arrived and last.rooms & node.rooms:
                far = length + math.dist(last.at, node.at)
                # Rounded, so that adding in another order doesn't decide between ways equally long.
                heapq.heappush(heap, (round(far, 9), len(done), (*done, name), far))
        if not heap:
            break
        _, _, done, length = heapq.heappop(heap)
        if done[-1] == "":
            return Route(done[:-1], length)
        arrived.add(done[-1])
        last = nodes[done[-1]]
    raise UsageError(f"scene {scene.id} has no way from {start} to {goal}")


def _rooms_of(scene: Scene, point: tuple[float, float]) -> list[str]:
    rooms = rooms_at(scene, point)
    if not rooms:
        raise UsageError(f"point {point} lies in no room of scene {scene.id}")
    return rooms
