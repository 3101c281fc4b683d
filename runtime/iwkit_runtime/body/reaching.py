"""Which postures reach a target from a stance, and how a thing is carried (ACT-7; paper B.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body.arms import PALM_TILTS, Reach, arm_length, reach
from iwkit_runtime.body.model import Body, joint
from iwkit_runtime.body.pose import BodyPose, Side
from iwkit_runtime.body.posture import Posture, ladder, stand

Array = NDArray[np.float64]
Vector = tuple[float, float, float]

CARRY = (0.32, -0.18, 1.10)
"""Where a carried thing is, metres: ahead, to the left (negative: to the right) and above the floor."""
SHRUG = 0.10
"""Metres by which the collar can bring the shoulder closer to a target."""


class Stance(NamedTuple):
    """Where someone stands: metres, and the heading in radians from the world's +x."""

    x: float
    y: float
    heading: float
    floor: float = 0.0


class PosturedReach(NamedTuple):
    """A posture and the arm that reaches in it."""

    posture: Posture
    reach: Reach


def reaches(
    body: Body,
    stance: Stance,
    side: Side,
    target: ArrayLike,
    *,
    shelf: bool = False,
    point: ArrayLike = (0, 0, 0),
    palm: ArrayLike | None = None,
    fingers: ArrayLike | None = None,
    most: float = PALM_TILTS[-1],
    fits: Callable[[Posture, BodyPose], bool] | None = None,
) -> Iterator[PosturedReach]:
    """Every posture of the ladder in which the arm reaches, the easiest first; none means OUT_OF_REACH.

    The caller takes the first that collides with nothing. Arguments as for `arms.reach` and `posture.ladder`. No
    arm is solved in a posture for which `fits`, asked with the body in it, says no.

    Raises:
        UsageError: as `arms.reach`.
    """
    goal = np.asarray(target, float)
    bound = arm_length(body, side) + float(np.linalg.norm(point)) + SHRUG
    for posture in ladder(float(goal[2]) - stance.floor, shelf=shelf):
        if math.dist(goal, shoulder(body, stance, posture, side)) > bound:
            continue
        at = body.placed(stand(body, posture), *stance)
        if fits is not None and not fits(posture, at):
            continue
        found = reach(body, at, side, target, point=point, palm=palm, fingers=fingers, most=most)
        if found is not None:
            yield PosturedReach(posture, found)


def shoulder(body: Body, stance: Stance, posture: Posture, side: Side) -> Vector:
    """Where a shoulder is in a posture of someone who stands there, in the world."""
    return _from(stance, _shoulder(body, posture, side))


@lru_cache(maxsize=1024)
def _shoulder(body: Body, posture: Posture, side: Side) -> Vector:
    """Where a shoulder is in a posture: metres ahead, to the left, and above the floor."""
    frames = body.forward(*body.placed(stand(body, posture), 0, 0, 0))
    x, y, z = joint(frames, f"{side}_shoulder")[:3, 3].tolist()
    return x, y, z


def _from(stance: Stance, point: Vector) -> Vector:
    """A point ahead, to the left and above the floor of someone who stands there, in the world."""
    c, s = math.cos(stance.heading), math.sin(stance.heading)
    ahead, left, up = point
    return stance.x + c * ahead - s * left, stance.y + s * ahead + c * left, stance.floor + up


def carrying(
    body: Body,
    *,
    at: ArrayLike = CARRY,
    point: ArrayLike = (0, 0, 0),
    palm: ArrayLike = (0, 1, 0),
    fingers: ArrayLike = (1, 0, 0),
) -> Array:
    """The upright pose (156,) of someone who holds a thing before them in the right hand: `carry` for `gait.walk`.

    Args:
        at: (3,) where the thing is, as `CARRY`.
        point: (3,) what of the hand is there, in the frame of the wrist joint.
        palm, fingers: (3,) directions ahead, to the left, and up; by default palm inwards and fingers ahead, so that
            an upright thing stays upright.

    Raises:
        UsageError: the arm can't hold it there.
    """
    upright = body.placed(stand(body), 0, 0, 0)
    found = reach(body, upright, "right", at, point=point, palm=palm, fingers=fingers)
    if found is None:
        raise UsageError(f"the right hand can't hold a thing at {at!r}: take a place nearer to {CARRY}")
    return found.body.pose
