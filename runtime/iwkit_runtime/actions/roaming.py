"""A way for an arm around what is in the way, where neither a direct one nor one close to the body is free: two trees
of poses that grow towards each other (RRT-Connect; Kuffner and LaValle 2000). The same question has the same answer."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from iwkit_runtime.actions.motion import BlockedError, Key, Move, Screen, at_stand, bridge
from iwkit_runtime.actions.search import Effort
from iwkit_runtime.body.arms import ANGLES, angles_of, limits, posed
from iwkit_runtime.body.pose import HAND, BodyPose, Side, arm_joints, blend, overlay
from iwkit_runtime.body.posture import between
from iwkit_runtime.physical.kinematics import frame
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.wearer import HEAD

RISE = 12
"""Postures between that of the start and that of the end."""
WORTH = 1.5
"""Radians that the whole change of posture counts for."""
STRIDE = 0.5
"""Radians by which a tree grows at most at once."""
STEP = math.radians(14)
"""No angle changes by more from frame to frame, radians; every frame is screened."""
SPREAD = 0.7
"""Radians by which poses are drawn beside the straight way."""
CLOSE = 0.25
"""Share of draws with the hand close to the body."""
CHECKS, CHECK = 1000, 6
"""Poses that are screened before it is given up, and the work for one (see `search`)."""
LEVERS = np.array([0.75, 0.75, 0.6, 0.6, 0.4, 0.4, 0.1, 0.2, 0.2])
"""Metres that the fingers move at most for each radian of an angle of the arm."""
MOVE = 0.3
"""Metres that they may move from frame to frame."""
LEVEL = math.cos(math.radians(55))
"""A held thing is not tilted further than this (cosine)."""
SHORTCUTS = 40

Node = tuple[Floats, int]
"""Nine angles and the posture (10,), and the number of the node that it grew from."""


def bridge_or_roam(  # noqa: PLR0917 (as `bridge`)
    stage: Stage, start: Key, end: Key, screen: Screen, past: Iterable[Key], effort: Effort | None
) -> Move:
    """As `motion.bridge` for the right arm, and then, if there is any `effort` for it, as `roam`.

    Raises:
        BlockedError: every way that was tried runs into something.
    """
    try:
        return bridge(stage, start, end, "right", screen, past)
    except BlockedError:
        if effort is None or effort.spent:
            raise
    return roam(stage, start, end, "right", screen, effort)


def roam(  # noqa: PLR0917 (as `bridge`)
    stage: Stage, start: Key, end: Key, side: Side, screen: Screen, effort: Effort
) -> Move:
    """Frames from one key to another, from where the wearer stands.

    Raises:
        BlockedError: no way was found.
    """
    screen.check(stage, end.body)
    goal = np.append(angles_of(end.body.pose, side), 1.0)
    first = np.append(angles_of(start.body.pose, side), 0.0)
    within = limits(first[:-1], goal[:-1])
    space = _Space(stage, start, end, side, screen, within, min(CHECKS, max(1, int(effort.left / CHECK))))
    try:
        path = _connected(space, first, goal)
        if path is None:
            raise BlockedError(space.blocker)
        return [*space.frames(_shortened(space, path)), end.body]
    finally:
        effort.spend(CHECK * len(space.known))


@dataclass
class _Space:
    """The poses of an arm in the postures between two keys. A point (10,) is nine angles and a share of the rise."""

    stage: Stage
    start: Key
    end: Key
    side: Side
    screen: Screen
    limits: tuple[Floats, Floats]
    left: int
    blocker: str = ""
    _bases: dict[int, BodyPose] = field(default_factory=dict)
    known: dict[bytes, bool] = field(default_factory=dict)

    def body(self, point: Floats) -> BodyPose:
        base = self._base(round(float(point[-1]) * RISE))
        return base._replace(pose=posed(base.pose, self.side, point[:-1]))

    def _base(self, level: int) -> BodyPose:
        if level not in self._bases:
            share = level / RISE
            mixed = blend(self.start.body, self.end.body, share)
            placed = at_stand(
                self.stage.person.body, self.stage.wearer.stand, between(self.start.posture, self.end.posture, share)
            )
            other: Side = "left" if self.side == "right" else "right"
            kept = (*arm_joints(other), *HEAD)
            pose = overlay(placed.pose, mixed.pose, kept)
            pose[HAND[self.side]] = mixed.pose[HAND[self.side]]
            self._bases[level] = placed._replace(pose=pose)
        return self._bases[level]

    def free(self, point: Floats) -> bool:
        """Whether a pose is within the limits and runs into nothing."""
        key = point.tobytes()
        if key not in self.known:
            self.left -= 1
            self.known[key] = self._is_free(point)
        return self.known[key]

    def _is_free(self, point: Floats) -> bool:
        low, high = self.limits
        if (point[:-1] < low - 1e-6).any() or (point[:-1] > high + 1e-6).any():
            return False
        body = self.body(point)
        hold = self.screen.hold
        if hold is not None:
            person = self.stage.person
            if frame(person.held_pose(person.body.forward(*body), hold)).turn[2, 2] < LEVEL:
                return False
        hit = self.screen.hit(self.stage, body)
        if hit is not None:
            self.blocker = self.blocker or hit.owner
        return hit is None

    def clear(self, one: Floats, other: Floats) -> bool:
        """Whether all on the way from one pose to another is free, the ends left out."""
        count = math.ceil(_far(one, other, STEP))
        order = sorted(range(1, count), key=lambda n: (n * 0.618) % 1)
        return all(self.left > 0 and self.free(one + (other - one) * (n / count)) for n in order)

    def frames(self, path: list[Floats]) -> Iterator[BodyPose]:
        """The frames of a path, the first and the last point left out."""
        for n, (one, other) in enumerate(pairwise(path)):
            count = max(1, math.ceil(_far(one, other, STEP)))
            last = count if n == len(path) - 2 else count + 1
            yield from (self.body(one + (other - one) * (k / count)) for k in range(1, last))


def _far(one: Floats, other: Floats, step: float) -> float:
    """How many steps a change takes; the whole change of posture takes all of its levels."""
    apart = np.abs(other - one)
    return max(float(apart[:-1].max()) / step, float(apart[:-1] @ LEVERS) / MOVE, float(apart[-1]) * RISE, 1e-9)


def _distance(points: Floats, point: Floats) -> Floats:
    apart = points - point
    apart[:, -1] *= WORTH
    return np.asarray(np.sqrt((apart * apart).sum(1)))


def _connected(space: _Space, first: Floats, goal: Floats) -> list[Floats] | None:
    dice = random.Random(0)  # noqa: S311 (no secret)
    trees: list[list[Node]] = [[(first, -1)], [(goal, -1)]]
    near = angles_of(space.start.tucked(space.stage.person.body, space.side).body.pose, space.side)
    low, high = space.limits
    near = np.clip(near, low, high)
    target = goal
    turn = 0
    while space.left > 0:
        grown = _grow(space, trees[turn], target, once=True)
        if grown is not None:
            met = _grow(space, trees[1 - turn], grown, once=False)
            if met is not None and np.array_equal(met, grown):
                halves = [_branch(tree) for tree in trees]
                forth, back = halves
                return [*reversed(forth), *back[1:]]
        turn = 1 - turn
        share = dice.random()
        middle = near if dice.random() < CLOSE else first[:-1] + dice.random() * (goal - first)[:-1]
        noise = np.array([dice.gauss(0, SPREAD) for _ in ANGLES])
        target = np.append(np.clip(middle + noise, low, high), share)
    return None


def _grow(space: _Space, tree: list[Node], target: Floats, *, once: bool) -> Floats | None:
    """Grow a tree from its nearest node towards a point, by one stride or as far as it goes; the last new node."""
    points = np.array([point for point, _ in tree])
    nearest = int(_distance(points, target).argmin())
    last: Floats | None = None
    while space.left > 0:
        point = tree[nearest][0]
        far = float(_distance(point[None].copy(), target)[0])
        new = target if far <= STRIDE else point + (target - point) * (STRIDE / far)
        if far < 1e-9:
            if last is None:
                tree.append((target, nearest))
            return target
        if not space.free(new) or not space.clear(point, new):
            return last
        tree.append((new, nearest))
        nearest, last = len(tree) - 1, new
        if once or new is target:
            return last
    return last


def _branch(tree: list[Node]) -> list[Floats]:
    """From a tree's last node to its root."""
    found, n = [], len(tree) - 1
    while n >= 0:
        point, n = tree[n]
        found.append(point)
    return found


def _shortened(space: _Space, path: list[Floats]) -> list[Floats]:
    """The path with detours left out that are not needed."""
    dice = random.Random(0)  # noqa: S311 (no secret)
    space.left = max(space.left, CHECKS // 2)
    for _ in range(SHORTCUTS):
        if len(path) < 3:
            break
        i, j = sorted(dice.sample(range(len(path)), 2))
        if j - i > 1 and space.clear(path[i], path[j]):
            path = path[: i + 1] + path[j:]
    return path
