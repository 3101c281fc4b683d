"""Both hands at the edge of what has wheels: where one stands for it, and the body that holds it (ACT-2, ACT-8)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from iwkit_runtime.actions.motion import (
    LONG,
    BlockedError,
    Key,
    Move,
    Reasons,
    Screen,
    at_stand,
    filled,
    rest,
)
from iwkit_runtime.body.arms import angles_of, reach
from iwkit_runtime.body.hands import Grip, closed, grip_point
from iwkit_runtime.body.legs import SIDES, SIGN
from iwkit_runtime.body.pose import BodyPose
from iwkit_runtime.body.posture import UPRIGHT
from iwkit_runtime.engines.collision import Allowed
from iwkit_runtime.nav.stance import Stance
from iwkit_runtime.physical.kinematics import Frame, frame
from iwkit_runtime.physical.spec import Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import turned_head

BAR = Grip("cylindrical", 0.03)
PALM = (0.0, 0.0, -1.0)
"""Hands are laid on it from above."""
AWAY = (0.42, 0.36, 0.48, 0.30)
"""Metres from the edge that is held to where the wearer stands."""
APART = 0.17
"""Metres from the middle of the edge to each hand."""
LOWEST = 0.5
"""An edge that is lower than this is held at this height, metres."""
BEYOND = 1.4
"""Whoever pushes looks at the floor so far beyond the cart, metres: it stays in view with what is on it."""


@dataclass(frozen=True, eq=False)
class Towing:
    """A planned grip on a cart: the hands go to its edge, there they are; where the parts of the cart are from the
    wearer, and what rides on it; the body from which the head is turned to where the wearer looks on the way."""

    to: Move
    hands: dict[str, Vector]
    offsets: dict[str, Frame]
    rides: dict[str, Frame]
    looking: BodyPose


def _edges(stage: Stage, name: str) -> Iterator[tuple[Vector, float]]:
    """Where a cart can be held in its own frame, and the direction out of it: at its handle, else at the middle of
    each edge."""
    placed = stage.placed[name]
    wide, deep, high = placed.asset.size
    handle = placed.asset.links[0].handle
    if handle is not None:
        x, y, _ = handle
        yield handle, (0.0 if x > 0 else math.pi) if abs(x) / wide > abs(y) / deep else math.copysign(math.pi / 2, y)
    height = max(LOWEST, high)
    for out in (-math.pi / 2, math.pi / 2, 0.0, math.pi):
        yield (wide / 2 * round(math.cos(out)), deep / 2 * round(math.sin(out)), height), out


def grips(stage: Stage, name: str) -> Iterator[Stance]:
    """Where to stand to take hold of a cart."""
    at = frame(stage.engine.poses()[name])
    yaw = math.atan2(at.turn[1, 0], at.turn[0, 0])
    for edge, out in _edges(stage, name):
        x, y, _ = at.point(edge).tolist()
        for away in AWAY:
            ahead = yaw + out
            yield Stance(x + away * math.cos(ahead), y + away * math.sin(ahead), ahead + math.pi, 0.0)


def plan_towing(
    stage: Stage, name: str, parts: Iterable[str], riders: Iterable[str], reasons: Reasons, *, forwards: bool
) -> Towing | None:
    """How to take hold of a cart from where the wearer stands, and where its parts and what rides on it are then; None
    when its hands don't get there."""
    at = stage.wearer.stand
    hands = _hands(stage, name)
    body = holding(stage, at_stand(stage.person.body, at, UPRIGHT), hands, at)
    if body is None:
        return None
    here, poses = footing(at).inverse(), stage.engine.poses()
    offsets, rides = ({thing: here.then(frame(poses[thing])) for thing in things} for things in (parts, riders))
    body = _ahead(stage, body, offsets[name], at, forwards=forwards)
    start = rest(stage)
    move = list(filled(stage.person.body, at, start, Key(UPRIGHT, body), LONG))
    screen = Screen(None, [Allowed(name, in_world(at, hand)) for hand in hands.values()])
    try:
        screen.check(stage, *move)
    except BlockedError as blocked:
        reasons.blocked(blocked.owner)
        return None
    return Towing(move, hands, offsets, rides, body)


def _ahead(stage: Stage, body: BodyPose, cart: Frame, at: Stand, *, forwards: bool) -> BodyPose:
    """A body frame at a cart with its head turned down: to the floor before the cart, or to the cart that follows."""
    x, y, z = cart.at.tolist()
    point = (x + BEYOND, y, 0.0) if forwards else (x, y, z + LOWEST)
    return turned_head(body, stage.person.looking(body, in_world(at, point)))


def _hands(stage: Stage, name: str) -> dict[str, Vector]:
    """Where the hands are from the wearer, on the edge that it stands before."""
    x, y, _ = stage.wearer.stand
    at = frame(stage.engine.poses()[name])
    edges = [at.point(edge).tolist() for edge, _ in _edges(stage, name)]
    edge = min(edges, key=lambda point: round(math.dist(point[:2], (x, y)), 6))
    ahead = math.dist(edge[:2], (x, y))
    return {side: (ahead, SIGN[side] * APART, edge[2]) for side in SIDES}


def footing(at: Stand) -> Frame:
    """The frame of who stands there: ahead, to the left, up."""
    c, s = math.cos(at.heading), math.sin(at.heading)
    return Frame(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([at.x, at.y, 0.0]))


def in_world(at: Stand, point: Vector) -> Vector:
    """A point given from who stands there, in the world."""
    x, y, z = footing(at).point(point).tolist()
    return x, y, z


def holding(stage: Stage, body: BodyPose, hands: dict[str, Vector], at: Stand) -> BodyPose | None:
    """A body frame whose hands are at a cart; None when they don't get there."""
    for side in SIDES:
        near = angles_of(body.pose, side)
        point = grip_point(stage.person.body, side, BAR)
        found = reach(stage.person.body, body, side, in_world(at, hands[side]), point=point, palm=PALM, near=near)
        if found is None:
            return None
        body = Key(UPRIGHT, found.body).hand(side, closed(stage.person.body, side, BAR)).body
    return body
