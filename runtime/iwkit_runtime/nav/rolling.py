"""The way of someone who pushes or pulls a cart: A* over places and headings of both as one rigid pair (ACT-2)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from iwkit_runtime.nav.clearance import Clearance
from iwkit_runtime.nav.geometry import Floats, Point, wrap
from iwkit_runtime.nav.grid import CELL, Grid

STEP = 0.18
"""Metres of one move straight on or aside."""
TURN = math.radians(22.5)
"""Turn of one move, about the cart or about the wearer."""
FRAME_STEP, FRAME_TURN = 0.09, math.radians(9)
"""Metres and radians of a frame at most."""
LONGEST = 40000
"""Places and headings looked at before a way is given up."""
SCREENED, AGAIN = 6000, 500
"""Places and headings screened before a way is given up, and so many more for each time that it is planned again."""
EAGER = 3.0
"""What is left counts for so much more than what was gone: a good way soon rather than the best one late."""
SQUEEZING = 1.5
"""A move in a narrow place costs so many times as much."""
CLOSE = 0.12
"""Metres around a pose at which something was in the way that are kept out of."""
ASIDE, AGAINST, TURNING = 2.5, 3.0, 0.6
"""Cost of a metre aside, of one in the other direction than meant, and of a radian, against one in the meant one."""


Cell = tuple[int, int, int]
"""A place and a heading, rounded."""


class Disc(NamedTuple):
    """A disc of the pair: its middle ahead of the wearer and to its left, the radius with which it surely fits, and the
    one without which it surely doesn't, metres: in between the pair is screened."""

    ahead: float
    aside: float
    radius: float
    core: float


class Pose(NamedTuple):
    """Where the wearer is: metres, and radians anticlockwise from +x."""

    x: float
    y: float
    heading: float

    def at(self, ahead: float, aside: float) -> Point:
        """A place given from the wearer, in the world."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        return self.x + ahead * c - aside * s, self.y + ahead * s + aside * c


@dataclass(frozen=True)
class Pair:
    """A wearer and a cart before it: `discs` cover both, `middle` is that of the cart, ahead and to the left."""

    discs: tuple[Disc, ...]
    middle: Point

    def room(self, clearance: Clearance, pose: Pose) -> float:
        """How much room there is: at least 1 where the pair surely fits, below 0 where it surely doesn't."""
        c, s = math.cos(pose.heading), math.sin(pose.heading)
        return min(
            (clearance.at(pose.x + ahead * c - aside * s, pose.y + ahead * s + aside * c) - core) / (radius - core)
            for ahead, aside, radius, core in self.discs
        )

    def moves(self, pose: Pose, forwards: bool) -> Iterator[tuple[float, Pose]]:
        """What can come next, with its cost."""
        onward, back = (1.0, AGAINST) if forwards else (AGAINST, 1.0)
        for ahead, aside, cost in ((STEP, 0.0, onward), (-STEP, 0.0, back), (0.0, STEP, ASIDE), (0.0, -STEP, ASIDE)):
            yield cost * STEP, Pose(*pose.at(ahead, aside), pose.heading)
        x, y = pose.at(*self.middle)
        for turn in (TURN, -TURN):
            yield TURNING * TURN, Pose(pose.x, pose.y, pose.heading + turn)
            c, s = math.cos(turn), math.sin(turn)
            dx, dy = pose.x - x, pose.y - y
            round_it = Pose(x + c * dx - s * dy, y + s * dx + c * dy, pose.heading + turn)
            yield math.dist(round_it[:2], pose[:2]) + TURNING * TURN, round_it


@dataclass(frozen=True, eq=False)
class Rolling:
    """One question: from where, to where the cart shall be, and which way round.

    `screen` tells whether the pair fits somewhere, where the discs are too rough to tell.
    """

    grid: Grid
    pair: Pair
    start: Pose
    goal: Point
    forwards: bool
    screen: Callable[[Pose], bool]
    barred: list[Pose] = field(default_factory=list)
    """Poses at which something was in the way: the pair does not come close to one of them, turned alike."""
    _screened: dict[Pose, bool] = field(default_factory=dict)

    def way(self, done: Callable[[Pose], bool]) -> Floats | None:
        """The wearer's poses (n, 3), one a frame, from the start to the first place that is `done`; None if none is."""
        before: dict[Cell, tuple[Cell | None, Pose]] = {}
        first = self._key(self.start)
        best = {first: 0.0}
        queue: list[tuple[float, float, Cell, Cell | None, Pose]] = [
            (self._left(self.start), 0.0, first, None, self.start)
        ]
        if math.isinf(queue[0][0]):
            return None
        while queue and len(before) < LONGEST:
            _, cost, key, came, pose = heapq.heappop(queue)
            if key in before:
                continue
            if came is not None and not self._screens(before[came][1], pose):
                continue
            before[key] = (came, pose)
            if done(pose):
                return _frames(self.pair, _traced(before, key))
            for extra, after in self.pair.moves(pose, self.forwards):
                there = self._key(after)
                if there in before or cost + extra >= best.get(there, math.inf):
                    continue
                left = self._left(after)
                so_far = math.inf if math.isinf(left) else cost + extra * self._cost(pose, after)
                if so_far < best.get(there, math.inf):
                    best[there] = so_far
                    heapq.heappush(queue, (so_far + EAGER * left, so_far, there, key, after))
        return None

    def _cost(self, pose: Pose, after: Pose) -> float:
        """How many times its length a move costs; infinite where something is surely in the way."""
        if any(_alike(after, bad) for bad in self.barred):
            return math.inf
        room = min(self.pair.room(self._clearance, at) for at in (after, _middle(pose, after)))
        return 1.0 if room >= 1 else SQUEEZING if room >= 0 else math.inf

    def _screens(self, pose: Pose, after: Pose) -> bool:
        """Whether a move is free, screened where the discs don't tell: asked only of what the search goes on from."""
        frames = [Pose(*row) for row in _frames(self.pair, [pose, after])[:0:-1].tolist()]
        return all(self.pair.room(self._clearance, at) >= 1 or self._fits(at) for at in frames)

    def _fits(self, pose: Pose) -> bool:
        """Whether the pair fits in a narrow place, asked once for all that are no millimetre apart."""
        x, y, heading = pose
        near = Pose(round(x, 3), round(y, 3), round(wrap(heading), 3))
        if near not in self._screened:
            if len(self._screened) >= SCREENED + AGAIN * len(self.barred):
                return False
            self._screened[near] = self.screen(near)
        return self._screened[near]

    @cached_property
    def _clearance(self) -> Clearance:
        return Clearance.of(self.grid)

    def _key(self, pose: Pose) -> Cell:
        turns = round((pose.heading - self.start.heading) / TURN) % round(math.tau / TURN)
        return round((pose.x - self.start.x) / STEP * 2), round((pose.y - self.start.y) / STEP * 2), turns

    def _left(self, pose: Pose) -> float:
        """Metres that the cart has yet to go, at least."""
        x, y = place = pose.at(*self.pair.middle)
        row, column = int((y - self.grid.y0) // CELL), int((x - self.grid.x0) // CELL)
        return self._lengths.item(row, column) if self.grid.covers(place) else math.inf

    @cached_property
    def _lengths(self) -> Floats:
        """(rows, columns): the length of the way from the goal to each cell; walls count, what is near them doesn't."""
        rows, columns = self.grid.supported.shape
        lengths = np.full((rows, columns), np.inf)
        middles = self.grid.all_centres()
        near = np.hypot(middles[:, 0] - self.goal[0], middles[:, 1] - self.goal[1]) < 1
        slim = min(disc.core for disc in self.pair.discs)
        open_ = (self._clearance.coarse() > slim) | near.reshape(lengths.shape)
        queue = [(0.0, self.grid.cell(self.goal))]
        while queue:
            length, cell = heapq.heappop(queue)
            row, column = divmod(cell, columns)
            if length >= lengths[row, column]:
                continue
            lengths[row, column] = length
            for down in (-1, 0, 1):
                for right in (-1, 0, 1):
                    r, c = row + down, column + right
                    if 0 <= r < rows and 0 <= c < columns and open_[r, c] and lengths[r, c] == np.inf:
                        heapq.heappush(queue, (length + CELL * math.hypot(down, right), r * columns + c))
        return lengths


def _middle(pose: Pose, after: Pose) -> Pose:
    return Pose((pose.x + after.x) / 2, (pose.y + after.y) / 2, (pose.heading + after.heading) / 2)


def _alike(pose: Pose, other: Pose) -> bool:
    return math.dist(pose[:2], other[:2]) < CLOSE and abs(wrap(pose.heading - other.heading)) < TURN


def _traced(before: dict[Cell, tuple[Cell | None, Pose]], key: Cell | None) -> list[Pose]:
    poses = []
    while key is not None:
        key, pose = before[key]
        poses.append(pose)
    return poses[::-1]


def _frames(pair: Pair, poses: list[Pose]) -> Floats:
    """Between two places evenly: straight on, or turning about what stays where it is."""
    rows = [tuple(poses[0])]
    for pose, after in pairwise(poses):
        turn = after.heading - pose.heading
        parts = max(1, math.ceil(math.dist(pose[:2], after[:2]) / FRAME_STEP - 1e-9), math.ceil(abs(turn) / FRAME_TURN))
        x, y = pose.at(*pair.middle)
        for n in range(1, parts + 1):
            share = n / parts
            heading = pose.heading + share * turn
            if turn and math.dist(pose[:2], after[:2]) > 1e-9:
                c, s = math.cos(share * turn), math.sin(share * turn)
                dx, dy = pose.x - x, pose.y - y
                rows.append((x + c * dx - s * dy, y + s * dx + c * dy, heading))
            else:
                rows.append((pose.x + share * (after.x - pose.x), pose.y + share * (after.y - pose.y), heading))
    return np.array([(x, y, wrap(heading)) for x, y, heading in rows])
