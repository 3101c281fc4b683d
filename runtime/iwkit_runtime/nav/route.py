"""From cells to a polyline: string pulling where the shortcut is free and not dearer (ACT-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

import numpy as np

from iwkit_runtime.nav.astar import PAPER, CostMap, Costs, Found
from iwkit_runtime.nav.geometry import EPSILON, Bools, Floats, Point, point
from iwkit_runtime.nav.grid import CELL, Grid, widest_space

SLACK = 1e-9
"""Metres by which rounding may make a shortcut look dearer."""
INSET = 0.02
"""What lies on the side between two cells is taken to be this share of a cell inside its own."""


@dataclass(frozen=True, eq=False)
class Path:
    """A way as a polyline.

    `points` (n, 2) are metres in the world frame, from exactly the start to exactly the goal; one when they are the
    same. `cells` is the grid path that was pulled straight, `cost` the polyline's by equation 2, `length` its metres,
    `radius` the rung of the inflation ladder.
    """

    points: Floats
    cells: tuple[int, ...]
    cost: float
    length: float
    radius: float


@dataclass(frozen=True)
class Failure:
    """Why a way can't be walked: PATH_BLOCKED or TRAJECTORY_COLLISION.

    `blocker` is the owner of what is in the way, `at` where (metres), `heading` that of the wearer whose body met it.
    """

    code: Literal["PATH_BLOCKED", "TRAJECTORY_COLLISION"]
    blocker: str | None
    at: Point
    heading: float | None = None


def plan_path(
    grid: Grid, start: Point, goal: Point, costs: Costs = PAPER, avoid: tuple[Point, ...] = ()
) -> Path | None:
    """The cheapest way between two places, doors being as they are; None when there is none.

    Args:
        avoid: middles of disks of 0.20 m that the way stays out of.

    Raises:
        UsageError: a place lies outside of the grid.
    """
    start, goal = point(start, "the start"), point(goal, "the goal")
    space = widest_space(grid, start, goal, avoid)
    if space is None:
        return None
    costmap = CostMap(space, costs)
    found = costmap.find(goal)
    return None if found is None else pull(costmap, found, goal)


def pull(costmap: CostMap, found: Found, goal: Point) -> Path:
    """A grid path made a polyline from exactly the space's start to exactly `goal`, which lie in its end cells."""
    chain = _chain(costmap, found, goal)
    so_far = list(accumulate((segment_cost(costmap, a, b) for a, b in pairwise(chain)), initial=0.0))
    kept, last = [0], len(chain) - 1
    while (here := kept[-1]) < last:
        beyond = range(last, here + 1, -1)
        shortcuts = (there for there in beyond if _pays(costmap, chain, so_far, here, there))
        kept.append(next(shortcuts, here + 1))
    points = [chain[i] for i in kept]
    cost = sum(segment_cost(costmap, a, b) for a, b in pairwise(points))
    array = np.array(points)
    length = float(np.hypot(*np.diff(array, axis=0).T).sum())
    return Path(array, found.cells, cost, length, costmap.space.radius)


def _chain(costmap: CostMap, found: Found, goal: Point) -> list[Point]:
    """The corners of the grid path between the exact ends."""
    grid = costmap.space.grid
    middles: list[Point] = [(x, y) for x, y in grid.centres(_corners(found.cells)).tolist()]
    chain = [costmap.space.start, *middles, goal]
    # The ends lie beside the middles of their cells: going there first would be a detour of a few centimetres, whatever
    # the cost says.
    if is_free(costmap.space.passable, grid, chain[0], chain[2]):
        del chain[1]
    if len(chain) > 2 and is_free(costmap.space.passable, grid, chain[-3], chain[-1]):
        del chain[-2]
    return chain if chain[0] != chain[-1] or len(chain) > 2 else chain[:1]


def _corners(cells: Sequence[int]) -> list[int]:
    """The cells where the way begins, ends or changes its direction."""
    if len(cells) < 3:
        return list(cells)
    bends = [b for a, b, c in zip(cells, cells[1:], cells[2:], strict=False) if b - a != c - b]
    return [cells[0], *bends, cells[-1]]


def _pays(costmap: CostMap, chain: list[Point], so_far: list[float], here: int, there: int) -> bool:
    a, b = chain[here], chain[there]
    free = is_free(costmap.space.passable, costmap.space.grid, a, b)
    return free and segment_cost(costmap, a, b) <= so_far[there] - so_far[here] + SLACK


def is_free(passable: Bools, grid: Grid, a: Point, b: Point) -> bool:
    """Whether every cell that the segment meets is passable; meeting a corner counts, so no corner is cut."""
    (u0, v0), (u1, v1) = _inset(grid, a), _inset(grid, b)
    steep = abs(v1 - v0) > abs(u1 - u0)
    if steep:
        u0, v0, u1, v1 = v0, u0, v1, u1
    if u0 > u1:
        u0, v0, u1, v1 = u1, v1, u0, v0
    major = np.arange(np.floor(u0), np.floor(u1) + 1)
    slope = (v1 - v0) / (u1 - u0) if u1 > u0 else 0.0
    ends = v0 + slope * (np.clip([major, major + 1], u0, u1) - u0)
    low = np.floor(ends.min(axis=0) - EPSILON).astype(int)
    high = np.floor(ends.max(axis=0) + EPSILON).astype(int)
    # At most 45 degrees steep, it meets at most three cells of a column.
    minor, column = np.concatenate([low, (low + high) // 2, high]), np.tile(major.astype(int), 3)
    return bool((passable[column, minor] if steep else passable[minor, column]).all())


def _inset(grid: Grid, place: Point) -> tuple[float, float]:
    u, v = (place[0] - grid.x0) / CELL, (place[1] - grid.y0) / CELL
    column, row = float(np.floor(u)), float(np.floor(v))
    return min(max(u, column + INSET), column + 1 - INSET), min(max(v, row + INSET), row + 1 - INSET)


def segment_cost(costmap: CostMap, a: Point, b: Point) -> float:
    """Equation 2 along a straight line: its length, and what entering the cells costs, once for each step of a cell.

    Between the middles of cells the latter is interpolated. Along a row, a column or a diagonal from middle to middle
    it is exactly the cost of the grid path.
    """
    grid, extra = costmap.space.grid, costmap.extra
    u0, v0 = (a[0] - grid.x0) / CELL - 0.5, (a[1] - grid.y0) / CELL - 0.5
    du, dv = (b[0] - a[0]) / CELL, (b[1] - a[1]) / CELL
    span = max(abs(du), abs(dv))
    steps = max(1, int(np.ceil(span - EPSILON)))
    share = np.arange(1, steps + 1) / steps
    u, v = u0 + share * du, v0 + share * dv
    column, row = np.floor(u + EPSILON).astype(int), np.floor(v + EPSILON).astype(int)
    right, up = u - column, v - row
    lower = (1 - right) * extra[row, column] + right * extra[row, column + 1]
    upper = (1 - right) * extra[row + 1, column] + right * extra[row + 1, column + 1]
    entered = float(((1 - up) * lower + up * upper).sum()) * span / steps
    return CELL * (float(np.hypot(du, dv)) + entered)
