"""Standing, leaning and squatting with planted feet and the weight over them; the posture ladder (ACT-7; paper B.2).

A posture is two numbers, so what lies between two postures is a posture too: the body moves from one to another by
running through them, and the feet stay where they are.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body import rotations
from iwkit_runtime.body.hands import relaxed
from iwkit_runtime.body.legs import SIDES, SIGN, highest_pelvis, leg_of, neutral, plant, rolled, standing_height
from iwkit_runtime.body.model import TO_WORLD, Body, Placement, joint
from iwkit_runtime.body.pose import ARM, INDEX, Side, arm_joints, pack

Array = NDArray[np.float64]

MAX_LEAN = np.deg2rad(86)
MAX_CROUCH = 0.50


class Posture(NamedTuple):
    """How the body stands: `lean` of the chest forwards, radians; `crouch` by which the pelvis is lower, metres; and
    how far the knees then go apart, from 0, straight ahead, to 1."""

    lean: float = 0.0
    crouch: float = 0.0
    apart: float = 1.0


UPRIGHT = Posture()
SQUAT = Posture(np.deg2rad(24), 0.47)
"""What the command `squat` does."""


def between(a: Posture, b: Posture, share: float) -> Posture:
    """The posture on the way from a to b: share 0 gives a, 1 gives b."""
    return Posture(*(one + share * (other - one) for one, other in zip(a, b, strict=True)))


class Rung(NamedTuple):
    """A posture and the heights of targets above the floor, in metres, for which it is tried."""

    posture: Posture
    lowest: float
    highest: float


def _rung(lean: float, crouch: float, lowest: float, highest: float) -> Rung:
    return Rung(Posture(float(np.deg2rad(lean)), crouch), lowest, highest)


LADDER: tuple[Rung, ...] = (
    _rung(0, 0.00, 0.70, 9.9),
    _rung(8, 0.00, 0.65, 9.9),
    _rung(16, 0.00, 0.60, 9.9),
    _rung(24, 0.00, 0.55, 9.9),
    _rung(32, 0.02, 0.50, 1.5),
    _rung(40, 0.04, 0.40, 1.3),
    _rung(50, 0.08, 0.20, 0.85),
    _rung(60, 0.14, 0.10, 0.80),
    _rung(70, 0.20, -0.1, 0.75),
    _rung(78, 0.26, -0.1, 0.70),
    _rung(86, 0.33, -0.1, 0.65),
    _rung(80, 0.42, -0.1, 0.40),
    _rung(72, 0.50, -0.1, 0.40),
)
"""Upright and mild lean for counters; a deep lean with flexed hips, knees and ankles for what is low."""
SHELF_LADDER: tuple[Rung, ...] = (
    _rung(0, 0.00, 0.70, 9.9),
    _rung(6, 0.10, 0.60, 1.3),
    _rung(10, 0.18, 0.50, 1.2),
    _rung(14, 0.26, 0.40, 1.1),
    _rung(18, 0.34, 0.30, 1.0),
    _rung(22, 0.42, 0.15, 0.9),
    _rung(26, 0.50, -0.1, 0.8),
    _rung(40, 0.50, -0.1, 0.6),
)
"""Flexed legs and a torso as upright as may be, so that the head stays out of the shelf."""

NARROW = tuple(
    Posture(float(np.deg2rad(lean)), crouch, 0.0)
    for lean, crouch in ((40, 0.5), (60, 0.5), (80, 0.38), (20, 0.5), (40, 0.25), (60, 0.25), (80, 0.25), (20, 0.25))
)
"""Knees together, for where a door or a leaf is beside them."""


def ladder(height: float, *, shelf: bool = False, narrow: bool = False) -> tuple[Posture, ...]:
    """The postures to try for a target at a height above the floor, the easiest first.

    Args:
        height: metres above the floor on which the wearer stands.
        shelf: the target is under or inside something; after the shelf's postures the others follow.
        narrow: those with the knees together follow after these.

    Raises:
        UsageError: the height is not a finite number.
    """
    if not np.isfinite(height):
        raise UsageError(f"the height of a target is a number of metres, not {height}")
    rungs = (*SHELF_LADDER, *LADDER) if shelf else (*LADDER, *SHELF_LADDER)
    fitting = (rung.posture for rung in rungs if rung.lowest <= height <= rung.highest)
    return tuple(dict.fromkeys((*fitting, *(NARROW if narrow else ()))))


# --- the body in a posture -----------------------------------------------------------------------------------------

_SPINE_SHARE, _SPINE_LIMIT = 0.45, np.deg2rad(40)
_SPINE = {"spine1": 0.35, "spine2": 0.35, "spine3": 0.30}
_NECK_SHARE, _NECK_LIMIT = 0.25, np.deg2rad(25)
_KNEES_BENT = 0.006
"""The pelvis of someone who stands is this much lower than in the T-pose."""
_HEEL_RISE = np.deg2rad(95)
"""How far the heels rise for each metre of crouch beyond `_FLAT_CROUCH`, with an upright torso."""
_FLAT_CROUCH = 0.14
_HEELS_UP = np.deg2rad(6)
_ROUNDS = 20
_SETTLED = 1e-4
ELBOW = np.deg2rad(12)
_ARM_DOWN = np.deg2rad(72)
ARM_FORWARD = np.deg2rad(-3)
_COLLAR_DOWN = np.deg2rad(4)
_CROUCH_ARM = np.deg2rad(115)
"""How far forward the arms hang for each metre of crouch, clear of the knees."""
_CROUCH_SPLAY = 0.5

# Share of the body's mass and the two joints, or a joint's tip, between which its centre is taken to lie halfway
# (rounded from de Leva 1996); `*` stands for a side.
_MASSES = (
    (0.07, "neck", "head"),
    (0.16, "spine3", "neck"),
    (0.16, "spine1", "spine3"),
    (0.11, "pelvis", "spine1"),
    (0.028, "*_shoulder", "*_elbow"),
    (0.016, "*_elbow", "*_wrist"),
    (0.006, "*_wrist", "*_middle1"),
    (0.142, "*_hip", "*_knee"),
    (0.044, "*_knee", "*_ankle"),
    (0.014, "*_ankle", "*_foot"),
)


def centre_of_mass(frames: Array) -> Array:
    """The centre of mass (3,) in the world for joint frames (52, 4, 4), from the shares of body segments."""
    total, moment = 0.0, np.zeros(3)
    for share, start, end in _MASSES:
        for side in SIDES if "*" in start else ("",):
            ends = (joint(frames, name.replace("*", side))[:3, 3] for name in (start, end))
            total += share
            moment += share * sum(ends) / 2
    return np.asarray(moment / total)


@lru_cache(maxsize=1024)
def stand(body: Body, posture: Posture = UPRIGHT) -> Placement:
    """The body in a posture, arms hanging, feet planted side by side under the origin. The arrays are read-only.

    Raises:
        UsageError: a lean outside 0 to 86 degrees or a crouch outside 0 to 0.5 m.
    """
    if not (0 <= posture.lean <= MAX_LEAN + 1e-9 and 0 <= posture.crouch <= MAX_CROUCH + 1e-9):
        raise UsageError(f"a posture leans 0 to 86 degrees and crouches 0 to {MAX_CROUCH} m, not {posture}")
    upper = _upper_body(posture)
    rotation = rotations.matrix(upper["pelvis"])
    splay = 0.12 + _CROUCH_SPLAY * posture.apart * posture.crouch
    pelvis = np.array([0.0, standing_height(body) - _KNEES_BENT - posture.crouch, 0.0])
    upright = 1 - posture.lean / MAX_LEAN
    pitch = -_HEEL_RISE * max(0.0, posture.crouch * upright - _FLAT_CROUCH)
    feet = {side: rolled(body, side, neutral(body, side), pitch) for side in SIDES}
    for _ in range(_ROUNDS):  # shift the pelvis until the weight is over the middle of the soles
        height = min(pelvis[1], highest_pelvis(body, pelvis, rotation, feet))
        at = np.array([pelvis[0], height, pelvis[2]])
        pose = pack({**upper, **plant(body, at, rotation, feet, splay)})
        frames = _frames(body, Placement(pose, at))
        shift = _forward(centre_of_mass(frames)) - _support(body, pitch)
        if abs(shift) < _SETTLED:
            break
        pelvis[2] -= 1.2 * shift
    pose.flags.writeable = at.flags.writeable = False
    return Placement(pose, at)


def _frames(body: Body, placement: Placement) -> Array:
    """The joint frames of someone who stands at the origin and faces -y, so that x is to the left as in a placement."""
    shift = TO_WORLD @ (placement.pelvis - body.joints[0])
    return body.forward(placement.pose, shift)


def _forward(point: Array) -> float:
    return -float(point[1])


def _support(body: Body, pitch: float) -> float:
    """Where the weight should be (z): over the middle of the soles, or between balls and toes once the heels are up."""
    leg, toes = leg_of(body, "left"), body.tips[INDEX["left_foot"]] - body.joints[INDEX["left_ankle"]]
    middle, front = (leg.heel[2] + leg.ball[2]) / 2, (leg.ball[2] + toes[2]) / 2
    return float(leg.ankle[2] + middle + (front - middle) * min(1.0, -pitch / _HEELS_UP))


def _upper_body(posture: Posture) -> dict[str, Array]:
    """Pelvis, spine, head and hanging arms."""
    spine = min(_SPINE_SHARE * posture.lean, _SPINE_LIMIT)
    neck = -min(_NECK_SHARE * posture.lean, _NECK_LIMIT)
    joints = {"pelvis": np.array([posture.lean - spine, 0, 0]), "neck": np.array([neck, 0, 0])}
    joints |= {name: np.array([share * spine, 0, 0]) for name, share in _SPINE.items()}
    forward = posture.lean + ARM_FORWARD + _CROUCH_ARM * posture.crouch
    for side in SIDES:
        joints |= hanging_arm(side, forward)
    return joints


def hanging_arm(side: Side, forward: float, elbow: float = ELBOW) -> dict[str, Array]:
    """A hanging arm with relaxed fingers, `forward` radians in front of straight down against the chest."""
    sign = SIGN[side]
    shoulder = rotations.about("x", -forward) @ rotations.about("z", -sign * _ARM_DOWN)
    joints = {
        f"{side}_collar": np.array([0, 0, -sign * _COLLAR_DOWN]),
        f"{side}_shoulder": rotations.vector(shoulder),
        f"{side}_elbow": np.array([0, -sign * elbow, 0]),
    }
    return joints | _fingers(side)


@cache
def _fingers(side: Side) -> dict[str, Array]:
    """Relaxed fingers."""
    return dict(zip(arm_joints(side)[len(ARM) :], relaxed(side).reshape(-1, 3), strict=True))
