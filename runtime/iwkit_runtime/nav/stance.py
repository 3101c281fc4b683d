"""Where to stand: poses around a contact point, facing it (B.2.1, ACT-1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from iwkit_runtime.nav.astar import PAPER, CostMap, Costs
from iwkit_runtime.nav.geometry import EPSILON, Bools, Floats, Point, point
from iwkit_runtime.nav.grid import LADDER, Grid, Space
from iwkit_runtime.nav.route import is_free

RING = (0.35, 0.45, 0.55, 0.65, 0.75)
"""Distances in metres of a stance from its contact point."""
DIRECTIONS = 32
"""Stances tried on each ring."""
AT_WALL = 0.20
"""A contact point this close to a wall, in metres, may be on it: what is nearer to it doesn't hide it."""
SNAP = 0.60
"""How far in metres from a blocked stance another one may be taken instead."""


class Stance(NamedTuple):
    """A standing pose: metres, radians anticlockwise from +x, and the length of the way there in metres."""

    x: float
    y: float
    heading: float
    length: float


Accept = Callable[[Stance], bool]
"""What the caller asks of a stance beyond the floor plan: reach, camera, collisions idle and on arrival."""


def stances(
    grid: Grid,
    contact: Point,
    start: Point,
    accept: Accept | None = None,
    *,
    costs: Costs = PAPER,
    standing: Grid | None = None,
    rings: Sequence[float] = RING,
) -> Iterator[Stance]:
    """Poses at some distances around a contact point, the nearest to walk to first.

    Where the wearer already stands is one of them if it lies within the ring. A pose has floor under it, clearance, a
    way from `start`, and no wall before the contact point. All poses that keep the largest radius of the inflation
    ladder come before those that need a smaller one.

    Args:
        accept: poses for which it is False are left out. It is asked one pose at a time, as they are taken.
        standing: a grid on which a pose must have the same clearance as well: with the sweep of a door, say.

    Raises:
        UsageError: a place isn't a pair of finite numbers, or `start` lies outside of the grid.
    """
    contact, start = point(contact, "the contact point"), point(start, "the start")
    angles = np.arange(DIRECTIONS) * (math.tau / DIRECTIONS)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    places = np.concatenate([contact + radius * directions for radius in rings])
    if rings[0] <= math.dist(start, contact) <= rings[-1]:
        places = np.concatenate([[start], places])
    request = _Request(grid, standing or grid, contact, start, accept, costs)
    return request.answer(places, nearest_first=True)


def snapped(
    grid: Grid, nominal: Point, contact: Point, start: Point, accept: Accept | None = None, *, costs: Costs = PAPER
) -> Iterator[Stance]:
    """Poses within 0.60 m of a wished one that face the contact point: first itself, then the nearest to it.

    The rest is as in `stances`.
    """
    nominal = point(nominal, "the wished stance")
    contact, start = point(contact, "the contact point"), point(start, "the start")
    middles = grid.all_centres()
    away = np.hypot(*(middles - nominal).T)
    order = np.argsort(away, kind="stable")
    places = np.concatenate([[nominal], middles[order[away[order] <= SNAP]]])
    request = _Request(grid, grid, contact, start, accept, costs)
    return request.answer(places, nearest_first=False)


@dataclass(frozen=True, eq=False)
class _Request:
    """What a stance is wanted for."""

    grid: Grid
    standing: Grid
    contact: Point
    start: Point
    accept: Accept | None
    costs: Costs

    def answer(self, places: Floats, *, nearest_first: bool) -> Iterator[Stance]:
        """Those places that pass, by rung, then by the length of the way there or in the order given."""
        points = [(x, y) for x, y in places.tolist() if self.grid.covers((x, y)) and self._same_side((x, y))]
        left = [(place, self.grid.cell(place)) for place in points]
        within = max((math.dist(place, self.contact) for place in points), default=0.0)
        for radius in LADDER:
            space = Space(self.grid, radius, self.start)
            stands = (space.reachable & (self.standing.clearance > radius + EPSILON)).reshape(-1)
            good = [(place, cell) for place, cell in left if stands[cell]]
            left = [(place, cell) for place, cell in left if not stands[cell]]
            lengths = CostMap(space, self.costs).lengths(self.contact, within, [cell for _, cell in good])
            facing = [self._facing(place, lengths[cell]) for place, cell in good]
            if nearest_first:
                facing.sort(key=lambda stance: round(stance.length, 6))
            yield from (stance for stance in facing if self.accept is None or self.accept(stance))

    def _same_side(self, place: Point) -> bool:
        """Whether no wall stands between a place and the contact point."""
        far = math.dist(place, self.contact)
        share = max(0.0, 1 - AT_WALL / far) if far else 0.0
        x, y = (a + share * (b - a) for a, b in zip(place, self.contact, strict=True))
        return self.grid.covers((x, y)) and is_free(self._no_wall, self.grid, place, (x, y))

    @cached_property
    def _no_wall(self) -> Bools:
        return ~self.grid.layer("wall")

    def _facing(self, place: Point, length: float) -> Stance:
        (x, y), (to_x, to_y) = place, self.contact
        return Stance(x, y, math.atan2(to_y - y, to_x - x), length)
