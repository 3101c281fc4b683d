"""The free floor of a scene: where one can walk between what stands there, whatever doors are shut."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from iwkit.floorplan import CLEAR, FLAT, HEAD, WALL, Box, floor, footprint, size_of, wall_of
from iwkit.spec.scene import Decor, Point, Scene, Standing

CELL = 0.05
"""Side of a cell of the raster, metres."""
WALKER = 0.18
"""Half the width that a walker needs."""

Cell = tuple[int, int]


def stands(scene: Scene) -> Iterator[tuple[str, Standing]]:
    """Everything of a loaded scene that has a place of its own: fixtures, and decor that isn't on or in one."""
    yield from scene.fixtures.items()
    yield from standing_decor(scene)


def standing_decor(scene: Scene) -> Iterator[tuple[str, Decor]]:
    """The decor that is neither on nor inside a fixture."""
    return ((name, decor) for name, decor in scene.decor.items() if decor.on is None and decor.inside is None)


def in_the_way(thing: Standing) -> bool:
    """Whether a walker has to go around it: it is neither flat nor above the head."""
    return thing.base < HEAD and thing.base + size_of(thing)[2] > FLAT


def obstacles(scene: Scene) -> list[Box]:
    """The footprints of what a walker has to go around."""
    return [footprint(thing) for _, thing in stands(scene) if in_the_way(thing)]


def fixed_obstacles(scene: Scene) -> list[Box]:
    """Those that no one can move: the footprints of decor."""
    return [footprint(it) for _, it in standing_decor(scene) if in_the_way(it)]


def largest(scene: Scene, starts: Iterable[Point]) -> frozenset[Cell]:
    """The cells of the largest part of the floor that a walker gets to from any of some points, over every door."""
    free = _free(scene)
    parts: list[set[Cell]] = [set()]
    for start in map(cell, starts):
        if start in free and not any(start in part for part in parts):
            parts.append(_filled(free, start))
    best = max(parts, key=len)
    return frozenset(best)


def _filled(free: set[Cell], start: Cell) -> set[Cell]:
    found, fresh = {start}, [start]
    while fresh:
        x, y = fresh.pop()
        for near in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if near in free and near not in found:
                found.add(near)
                fresh.append(near)
    return found


def cell(point: Point) -> Cell:
    """The cell in which a point lies."""
    return math.floor(point[0] / CELL + 1e-6), math.floor(point[1] / CELL + 1e-6)


def _free(scene: Scene) -> set[Cell]:
    """Cells whose middle has the walker's half width free all around."""
    free: set[Cell] = set()
    for room in scene.rooms:
        x0, y0, x1, y1 = floor(scene, room)
        free.update(_cells((x0 + WALKER, y0 + WALKER, x1 - WALKER, y1 - WALKER)))
    free.update(cell_ for opening in _openings(scene) for cell_ in _cells(opening))
    for x0, y0, x1, y1 in obstacles(scene):
        free.difference_update(_cells((x0 - WALKER, y0 - WALKER, x1 + WALKER, y1 + WALKER)))
    return free


def _openings(scene: Scene) -> Iterable[Box]:
    for door in scene.doors.values():
        wall = wall_of(scene, door)
        if wall is not None:
            along, across = door.width / 2 - WALKER, WALL / 2 + CLEAR
            dx, dy = (across, along) if wall.axis == 0 else (along, across)
            yield door.at[0] - dx, door.at[1] - dy, door.at[0] + dx, door.at[1] + dy


def _cells(box: Box) -> Iterator[Cell]:
    """The cells whose middle lies within a box."""
    low = [math.ceil(edge / CELL - 0.5 + 1e-6) for edge in box[:2]]
    high = [math.floor(edge / CELL - 0.5 - 1e-6) for edge in box[2:]]
    for x in range(low[0], high[0] + 1):
        for y in range(low[1], high[1] + 1):
            yield x, y
