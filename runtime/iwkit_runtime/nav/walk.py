"""Walking: a polyline becomes a pose a frame, checked in space and mended where the body does not fit (ACT-5)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from iwkit.errors import UsageError
from iwkit_runtime.nav.astar import PAPER, Costs
from iwkit_runtime.nav.doors import find_blocker
from iwkit_runtime.nav.geometry import Floats, Point, points, wrap
from iwkit_runtime.nav.grid import Grid
from iwkit_runtime.nav.route import Failure, plan_path

FPS = 12
STEP = 1.1 / FPS
"""Metres a frame at the nominal 1.1 m/s."""
YAW = math.radians(9.9)
"""Turn a frame: the limit of 10 degrees, less what rounding poses may add."""
LOOK_AHEAD = 1.2
"""Metres along the way to the point that the wearer heads for."""
BLEND = 1.5
"""Metres before the end over which the heading goes over to the final one."""
OFFSET = math.radians(35)
"""Heading and travel are never further apart while the wearer moves."""
AIM = math.radians(30)
"""The heading that is aimed for stays this close to the travel, so that a bend rarely makes the wearer stop."""
APPROACH = 0.10
"""Metres of the last few frames."""
APPROACH_STEP = APPROACH / 5
"""Metres a frame during the approach."""
REPAIRS = 8
"""How often a way is planned again after a pose on it failed its check."""
_SIDES = (0.0, math.radians(30), -math.radians(30))
_NEAR = 0.25
"""A pose that fails so close to the goal, metres, asks for another last bit rather than for another way."""
_LASTS: tuple[tuple[float, ...], ...] = (_SIDES, (math.radians(70),), (-math.radians(70),), ())
"""How far off the final heading the last 0.10 m lead to the goal: what is tried in turn. None: however the way does."""
_STILL = 1e-9


class Pose(NamedTuple):
    """Where the wearer stands: metres, and radians anticlockwise from +x."""

    x: float
    y: float
    heading: float


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A pose a frame at 12 fps. `poses` (n, 3) are x, y, heading; row 0 is the pose at the start.

    `distance` (n,) is the metres walked up to each frame: what the phase of the gait follows.
    """

    poses: Floats
    distance: Floats


Clear = Callable[[float, float, float], bool]
"""Whether the wearer's body, arms and eyes are free at x, y, heading."""


class _Line:
    """A polyline by arc length."""

    def __init__(self, corners: Floats) -> None:
        moved = np.hypot(*np.diff(corners, axis=0).T) > _STILL
        kept = corners[np.concatenate([[True], moved])]
        self.corners: list[Point] = [(x, y) for x, y in kept.tolist()]
        steps = np.hypot(*np.diff(kept, axis=0).T).tolist()
        self.marks: list[float] = list(accumulate(steps, initial=0.0))
        self.length = self.marks[-1]

    def at(self, s: float) -> Point:
        """The point `s` metres along, the last one beyond the end."""
        if s >= self.length:
            return self.corners[-1]
        i = bisect_right(self.marks, s) - 1
        share = (s - self.marks[i]) / (self.marks[i + 1] - self.marks[i])
        (x0, y0), (x1, y1) = self.corners[i], self.corners[i + 1]
        return x0 + share * (x1 - x0), y0 + share * (y1 - y0)


def trajectory(way: object, heading: float, final: float | None = None) -> Trajectory:
    """Walk a polyline: the heading controller of B.2.1.

    The wearer follows the line exactly and heads for the point 1.2 m ahead on it, over the last 1.5 m more and more for
    the final heading; stops to turn where heading and travel would be more than 35 degrees apart; walks the last 0.10 m
    in five frames, once turned as far towards the final heading as that allows; and turns the rest at the end.

    Args:
        way: (n, 2) points in metres.
        heading: radians at the start.
        final: radians at the end; None to keep the heading of the walk.

    Raises:
        UsageError: the points or headings aren't finite numbers.
    """
    corners = points(way, 2, "the points of a way")
    if not math.isfinite(heading) or not (final is None or math.isfinite(final)):
        raise UsageError("headings are finite numbers in radians")
    walker = _Walker(_Line(corners), heading, final)
    while walker.left > _STILL:
        walker.go()
    while final is not None and abs(wrap(final - walker.heading)) > _STILL:
        walker.turn(final)
    rows = np.array(walker.rows)
    walked = np.hypot(*np.diff(rows[:, :2], axis=0).T)
    return Trajectory(rows, np.concatenate([[0.0], np.cumsum(walked)]))


class _Walker:
    """Where the wearer is on the line, and the rows so far."""

    def __init__(self, line: _Line, heading: float, final: float | None) -> None:
        self.line, self.heading, self.final = line, wrap(heading), final
        self.s = 0.0
        self.place = line.at(0.0)
        self.rows: list[tuple[float, float, float]] = [(*self.place, self.heading)]

    @property
    def left(self) -> float:
        return self.line.length - self.s

    def go(self) -> None:
        """One frame: a step if the heading allows it, else a turn on the spot."""
        step = self._step()
        onwards = self.line.at(self.s + step)
        travel = _bearing(self.place, onwards)
        # At the tip of a line that turns back a step may end where it began.
        if travel is None:
            self.s += step
            return
        aim = self._aim(travel)
        # The approach begins when the turn towards the final heading is done, not during it.
        waits = abs(self.left - APPROACH) < _STILL and abs(wrap(aim - self.heading)) > _STILL
        ready = abs(wrap(self.heading - travel)) <= OFFSET and not waits
        self.heading = self._towards(aim)
        if ready:
            self.s, self.place = self.s + step, onwards
        self.rows.append((*self.place, self.heading))

    def turn(self, aim: float) -> None:
        """One frame of turning on the spot."""
        self.heading = self._towards(aim)
        self.rows.append((*self.place, self.heading))

    def _step(self) -> float:
        before = self.left - APPROACH
        if before > _STILL:
            return min(STEP, before)
        return self.left / max(1, math.ceil(self.left / APPROACH_STEP - _STILL))

    def _aim(self, travel: float) -> float:
        ahead = _bearing(self.place, self.line.at(self.s + LOOK_AHEAD))
        aim = travel if ahead is None else ahead
        if self.final is not None:
            # Done a step before the approach, so that it needn't wait for the last degree.
            ahead_of_it = max(0.0, self.left - APPROACH - STEP)
            aim += max(0.0, 1 - ahead_of_it / BLEND) * wrap(self.final - aim)
        return travel + max(-AIM, min(AIM, wrap(aim - travel)))

    def _towards(self, aim: float) -> float:
        return wrap(self.heading + max(-YAW, min(YAW, wrap(aim - self.heading))))


def _bearing(a: Point, b: Point) -> float | None:
    """The direction from a to b in radians, None where they are the same."""
    return None if math.dist(a, b) < _STILL else math.atan2(b[1] - a[1], b[0] - a[0])


def walk(  # noqa: PLR0917 (two ends, and how to get from one to the other)
    grid: Grid,
    start: Pose,
    goal: Pose,
    clear: Clear | None = None,
    costs: Costs = PAPER,
    avoid: tuple[Point, ...] = (),
) -> Trajectory | Failure:
    """Walk from pose to pose, doors being as they are, each pose screened by `clear`.

    Where a pose fails, the way is planned again around a disk of 0.20 m there, at most eight times; `avoid` are middles
    of such disks to begin with.

    Returns:
        The trajectory, or PATH_BLOCKED when no way leads there, or TRAJECTORY_COLLISION with the last place where the
        body did not fit; its blocker is what is nearest on the plan.

    Raises:
        UsageError: a pose isn't finite or lies outside of the grid.
    """
    start, goal = (Pose(*points([pose], 3, "a pose")[0].tolist()) for pose in (start, goal))
    failed = [pose for pose in (start, goal) if clear is not None and not clear(*pose)]
    hopeless = bool(failed)
    last = 0
    while not hopeless:
        around = (*avoid, *((pose.x, pose.y) for pose in failed if math.dist(pose[:2], goal[:2]) > _NEAR))
        way = _way(grid, start, goal, costs, around, _LASTS[last])
        if way is None:
            break
        walked = trajectory(way, start.heading, goal.heading)
        bad = None if clear is None else _first_unclear(walked, clear)
        if bad is None:
            return walked
        failed.append(bad)
        if math.dist(bad[:2], goal[:2]) <= _NEAR:
            last += 1
            if last == len(_LASTS):
                break
        # No detour helps where the wearer can't even turn.
        hopeless = len(failed) > REPAIRS or bad[:2] == start[:2]
    if not failed and avoid:
        return Failure("TRAJECTORY_COLLISION", grid.nearest_owner(avoid[-1]), avoid[-1])
    if not failed:
        return find_blocker(grid, start[:2], goal[:2])
    place = failed[-1][:2]
    return Failure("TRAJECTORY_COLLISION", grid.nearest_owner(place), place, failed[-1].heading)


def _first_unclear(walked: Trajectory, clear: Clear) -> Pose | None:
    return next((Pose(*row) for row in walked.poses.tolist() if not clear(*row)), None)


def _way(  # noqa: PLR0917 (as `walk`)
    grid: Grid, start: Pose, goal: Pose, costs: Costs, avoid: tuple[Point, ...], sides: tuple[float, ...]
) -> Floats | None:
    """The polyline to the goal, its last 0.10 m in the direction that the wearer will face, or so far beside it, if
    there is room for that."""
    end = goal[:2]
    if math.dist(start[:2], end) > 2 * APPROACH:
        for bearing in (goal.heading + side for side in sides):
            before = end[0] - APPROACH * math.cos(bearing), end[1] - APPROACH * math.sin(bearing)
            path = plan_path(grid, start[:2], before, costs, avoid) if grid.covers(before) else None
            if path is not None:
                return np.concatenate([path.points, [end]])
    path = plan_path(grid, start[:2], end, costs, avoid)
    return None if path is None else path.points
