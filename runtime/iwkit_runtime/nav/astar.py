"""Path search on the grid: eight-connected A* without corner cutting (equation 2, ACT-3)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from iwkit.errors import UsageError
from iwkit_runtime.nav.geometry import Bools, Floats, Ints, Point
from iwkit_runtime.nav.grid import CELL, Space

ROOT2 = math.sqrt(2)


@dataclass(frozen=True)
class Costs:
    """The parameters of equation 2. `weight` is lambda, `safe` is d_safe in metres, `door` is c_door.

    The defaults of `weight` and `safe` are the paper's. It gives no c_door; ours makes a closed leaf as dear as 0.2 m
    for each cell of its thickness, so that the wearer walks around one only where that is hardly longer.
    """

    weight: float = 8.0
    safe: float = 0.35
    door: float = 2.0

    def __post_init__(self) -> None:
        for name, value in (("weight", self.weight), ("safe", self.safe), ("door", self.door)):
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"the path cost {name} is {value}: it must be a number that is not negative")


PAPER = Costs()


@dataclass(frozen=True, eq=False)
class Found:
    """A way over the grid: flat indices from start to goal, and its cost by equation 2 (metres and more)."""

    cells: tuple[int, ...]
    cost: float


@dataclass(frozen=True, eq=False)
class CostMap:
    """What equation 2 needs: where one may be, and what entering a cell costs on top of the step.

    `toll` (rows, columns) is True on the cells of closed door leaves that the way may go through.
    """

    space: Space
    costs: Costs = PAPER
    toll: Bools | None = None

    @cached_property
    def extra(self) -> Floats:
        """(rows, columns): lambda max(0, d_safe - D) + c_door, without unit."""
        near = self.costs.weight * np.maximum(0, self.costs.safe - self.space.grid.clearance)
        return near if self.toll is None else near + self.costs.door * self.toll

    def find(self, goal: Point) -> Found | None:
        """The cheapest way from the space's start to a goal, None when there is none."""
        if not self.space.reaches(goal):
            return None
        cell = self.space.grid.cell(goal)
        x, y = self.space.grid.centres([cell])[0].tolist()
        cost, parent = self._search([cell], (x, y), 0.0)
        return Found(tuple(_trace(parent, cell)), cost[cell] * CELL)

    def lengths(self, centre: Point, within: float, cells: Iterable[int]) -> dict[int, float]:
        """The length in metres of the cheapest way to each of these cells that can be reached.

        Each must hold a place within `within` metres of `centre`: that steers the search.
        """
        reachable = self.space.reachable.reshape(-1)
        targets = sorted({c for c in cells if reachable[c]})
        _, parent = self._search(targets, centre, within + ROOT2 / 2 * CELL)
        return {cell: path_length(_trace(parent, cell), self.space.grid.columns) for cell in targets}

    def _search(self, targets: list[int], centre: Point, within: float) -> tuple[list[float], list[int]]:
        """A* until all targets are settled: cost in cells and parent of every cell.

        The estimate, octile distance to `centre` less `within`, is never more than the way to a target, and consistent:
        a settled cell is final.
        """
        columns, start = self.space.grid.columns, self.space.grid.cell(self.space.start)
        # Costs are read in one dimension; the grid's margin, never passable, keeps steps from wrapping around.
        free = bytearray(np.ascontiguousarray(self.space.passable, dtype=np.uint8).tobytes())
        unsettled, extra = bytearray(free), self.extra.ravel().tolist()
        estimate = self._estimate(centre, within)
        cost, parent = [math.inf] * len(free), [-1] * len(free)
        cost[start], heap, waiting = 0.0, [(0.0, start)], set(targets)
        straight, diagonal = (1, -1, columns, -columns), ((1, columns), (1, -columns), (-1, columns), (-1, -columns))
        push, pop = heapq.heappush, heapq.heappop
        while heap and waiting:
            here = pop(heap)[1]
            if not unsettled[here]:
                continue
            unsettled[here] = 0
            waiting.discard(here)
            so_far = cost[here]
            for step in straight:
                there = here + step
                if unsettled[there]:
                    total = so_far + 1.0 + extra[there]
                    if total < cost[there]:
                        cost[there], parent[there] = total, here
                        push(heap, (total + estimate[there], there))
            for across, along in diagonal:
                there = here + across + along
                if unsettled[there] and free[here + across] and free[here + along]:
                    total = so_far + ROOT2 + extra[there]
                    if total < cost[there]:
                        cost[there], parent[there] = total, here
                        push(heap, (total + estimate[there], there))
        return cost, parent

    def _estimate(self, centre: Point, within: float) -> list[float]:
        """For every cell, at most the cost in cells to any cell that holds a place within `within` of `centre`."""
        grid = self.space.grid
        rows, columns = grid.supported.shape
        along = np.abs(np.arange(rows) + 0.5 - (centre[1] - grid.y0) / CELL)[:, None]
        across = np.abs(np.arange(columns) + 0.5 - (centre[0] - grid.x0) / CELL)[None, :]
        octile = np.maximum(along, across) + (ROOT2 - 1) * np.minimum(along, across)
        # Octile distance is at most 1.0824 times the straight one.
        # Less a hair, so that rounding can't lift the estimate above the true cost.
        estimate: list[float] = (np.maximum(0, octile - 1.0824 * within / CELL) * (1 - 1e-12)).ravel().tolist()
        return estimate


def _trace(parent: list[int], cell: int) -> list[int]:
    way = [cell]
    while (cell := parent[cell]) >= 0:
        way.append(cell)
    return way[::-1]


def path_length(cells: Iterable[int], columns: int) -> float:
    """Metres along the middles of neighbouring cells."""
    indices: Ints = np.fromiter(cells, dtype=np.int64)
    rows, cols = np.divmod(indices, columns)
    return float(np.hypot(np.diff(rows), np.diff(cols)).sum() * CELL)
