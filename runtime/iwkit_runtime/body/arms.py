"""Arms that reach, within their limits: what is asked for, and the poses that come of it (ACT-7; paper B.2).

The chain is collar, shoulder, elbow, wrist. The elbow is a hinge; what turns the forearm about its own length is shared
by the elbow and the wrist joint, so that the skin doesn't pinch at the wrist. Arms are solved as left arms: a right one
is mirrored on the way in and out. They are solved in `swivel.py`, or by the paper's descent (`ccd.py`) for a body
whose `solver` is `ccd`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body import ccd, rotations
from iwkit_runtime.body.model import Body, joint
from iwkit_runtime.body.pose import ARM, INDEX, BodyPose, Side, checked, joint_slice, pack, vector
from iwkit_runtime.body.swivel import (
    ANGLES,
    COMFORT,
    EXACT,
    HIGH,
    LOW,
    Aim,
    Arm,
    cost,
    limits,
    solve,
    spread,
    strained,
    xyz,
    yzx,
)

__all__ = [
    "ANGLES",
    "HIGH",
    "LOW",
    "PALM_TILTS",
    "Reach",
    "Solutions",
    "angles_of",
    "arm_length",
    "limits",
    "posed",
    "reach",
    "solutions",
    "strained",
]

Array = NDArray[np.float64]

PALM_TILTS = tuple(np.deg2rad((0, 15, 30, 45)))
"""By how much the palm may miss the direction asked for, tried in this order."""

_STARTS = (
    COMFORT,
    np.deg2rad([0, 0, -40, -80, 0, -90, 0, 0, 0]),
    np.deg2rad([0, 0, -60, -10, -40, -90, 0, 0, 0]),
)
"""Where the descent starts from when several arms are wanted: at ease, with the elbow low, and high."""
_FINGERS = np.linspace(-np.pi, np.pi, 12, endpoint=False)
_TILT_AXES = np.linspace(-np.pi, np.pi, 6, endpoint=False)
_MIRROR = np.array([-1.0, 1, 1])
_MIRROR_TURN = np.array([1.0, -1, -1])


class Reach(NamedTuple):
    """An arm that reaches: the body frame, the nine angles (see `ANGLES`) in radians, and the angle between the palm's
    direction and the one asked for."""

    body: BodyPose
    angles: Array
    palm_error: float


@cache
def _arm(body: Body, side: Side) -> Arm:
    names = ("spine3", *(f"{side}_{name}" for name in ARM))
    places = body.joints[[INDEX[name] for name in names]]
    bones = np.diff(places, axis=0) * (_MIRROR if side == "right" else 1)
    return Arm(*bones)


def arm_length(body: Body, side: Side) -> float:
    """From the shoulder to the wrist of a straight arm, metres: the cheap bound before any solving."""
    arm = _arm(body, side)
    return float(np.linalg.norm(arm.upper) + np.linalg.norm(arm.lower))


def reach(
    body: Body,
    at: BodyPose,
    side: Side,
    target: ArrayLike,
    *,
    point: ArrayLike = (0, 0, 0),
    palm: ArrayLike | None = None,
    fingers: ArrayLike | None = None,
    near: Array | None = None,
    most: float = PALM_TILTS[-1],
) -> Reach | None:
    """Bring a point of the hand to a target; the rest of the body stays as it is. None when no arm pose does it.

    It gets there exactly, or within 1 mm when the body's `solver` is `ccd`.

    Args:
        target: (3,) world metres.
        point: (3,) in the frame of the wrist joint, by default the joint itself; see `hands.grip_frame`.
        palm: (3,) world direction that the palm faces, kept to `most`, the smallest deviation first. Without
            one the hand goes on straight from the forearm.
        fingers: (3,) world direction that the fingers point in; only with `palm`, and normal to it.
        near: angles of the frame before, so that an arm that follows a curve doesn't jump.
        most: by how much the palm may miss its direction, radians; 0 where an exact one is wanted, which is found, or
            found missing, much sooner.

    Raises:
        UsageError: vectors that are not three finite numbers, no direction, or fingers without or along the palm.
    """
    directions = tuple(direction.tobytes() for direction in _directions(palm, fingers))
    goal, grip = vector("the target", target).tobytes(), vector("the point", point).tobytes()
    place, close = (
        vector("the translation", at.translation).tobytes(),
        None if near is None else np.asarray(near, float).tobytes(),
    )
    return _reach(body, side, checked(at.pose).tobytes(), place, goal, grip, directions, close, most)


@lru_cache(maxsize=1024)
def _reach(  # noqa: PLR0917 (as `reach`)
    body: Body,
    side: Side,
    pose: bytes,
    translation: bytes,
    target: bytes,
    point: bytes,
    directions: tuple[bytes, ...],
    close: bytes | None,
    most: float,
) -> Reach | None:
    """`reach` for the bytes of its arguments: what was tried for one purpose is often asked again for the next."""
    at, near = (
        BodyPose(np.frombuffer(pose), np.frombuffer(translation)),
        None if close is None else np.frombuffer(close),
    )
    goal, grip = np.frombuffer(target), np.frombuffer(point)
    chest = joint(body.forward(*at), "spine3")
    turn = chest[:3, :3].T
    mirror = _MIRROR if side == "right" else np.ones(3)
    goal, grip = mirror * (turn @ (goal - chest[:3, 3])), mirror * grip
    aims = [mirror * (turn @ np.frombuffer(direction)) for direction in directions]
    arm = _arm(body, side)
    for tilt in (tilt for tilt in PALM_TILTS if tilt <= most) if aims else (0.0,):
        if aims:
            hands = _hands(aims, tilt)
            aim = Aim(goal - hands @ grip, hands, arm.lower)
        else:
            aim = Aim(goal[None], None, arm.lower + grip)
        angles = (_descended if body.solver == "ccd" else solve)(arm, aim, near)
        if angles is not None:
            found = Reach(BodyPose(posed(at.pose, side, angles), at.translation), angles, float(tilt))
            found.body.pose.flags.writeable = found.angles.flags.writeable = False
            return found
    return None


class Solutions(NamedTuple):
    """Arms that reach, the most comfortable first: the number of the goal (m,), the nine angles (m, 9), and the joints
    (m, 4, 3) collar, shoulder, elbow and wrist in the world."""

    goal: NDArray[np.intp]
    angles: Array
    joints: Array


def solutions(  # noqa: PLR0917 (what there is to say of many hands)
    body: Body,
    at: BodyPose,
    side: Side,
    targets: Array,
    points: Array,
    palms: Array,
    fingers: Array,
    *,
    wide: bool = False,
) -> Solutions:
    """Arms that bring the hand exactly to each of k goals: of each the most comfortable one at every `_APART`th part of
    a turn of the elbow. Coarser than `reach`, and for many goals at once.

    Args:
        targets, points, palms, fingers: (k, 3), as the arguments of `reach`; palms and fingers of length 1 and normal
            to each other.
        wide: within the wide limits of the shoulder, too.
    """
    chest = joint(body.forward(*at), "spine3")
    mirror = _MIRROR if side == "right" else np.ones(3)
    goals = mirror * ((targets - chest[:3, 3]) @ chest[:3, :3])
    hands = rotations.frame(mirror * (fingers @ chest[:3, :3]), -mirror * (palms @ chest[:3, :3]))
    arm = _arm(body, side)
    aim = Aim(goals - (hands @ (mirror * points)[..., None])[..., 0], hands, arm.lower)
    goal, angles = _descents(arm, aim) if body.solver == "ccd" else spread(arm, aim, wide=wide)
    girdle = rotations.about("y", angles[:, 0]) @ rotations.about("z", angles[:, 1])
    shoulder = arm.collar + girdle @ arm.clavicle
    upper = girdle @ rotations.about("y", angles[:, 2]) @ rotations.about("z", angles[:, 3])
    elbow = shoulder + (upper @ rotations.about("x", angles[:, 4])) @ arm.upper
    joints = np.stack([np.broadcast_to(arm.collar, elbow.shape), shoulder, elbow, aim.points[goal]], 1)
    return Solutions(goal, angles, (mirror * joints) @ chest[:3, :3].T + chest[:3, 3])


def _descents(arm: Arm, aim: Aim) -> tuple[NDArray[np.intp], Array]:
    """The same by the paper's descent, from a few arms."""
    found = [_descent(arm, aim, start) for start in _STARTS]
    goal = np.concatenate([np.flatnonzero(kept) for _, kept in found])
    angles = np.concatenate([one[kept] for one, kept in found])
    order = np.argsort(cost(angles, None), kind="stable")
    return goal[order], angles[order]


def _directions(palm: ArrayLike | None, fingers: ArrayLike | None) -> list[Array]:
    """Unit vectors: none, the palm's, or the palm's and the fingers'."""
    if palm is None:
        if fingers is not None:
            raise UsageError("a direction for the fingers needs one for the palm too")
        return []
    found = [vector("the palm's direction", palm)] + (
        [] if fingers is None else [vector("the fingers' direction", fingers)]
    )
    if any(np.linalg.norm(v) < EXACT for v in found):
        raise UsageError("palm and fingers are directions: they must not be zero")
    out = [rotations.unit(v) for v in found]
    if fingers is not None:
        out[1] = out[1] - out[0] * (out[0] @ out[1])
        if np.linalg.norm(out[1]) < 0.1:
            raise UsageError("the fingers must not point along the direction of the palm")
        out[1] = rotations.unit(out[1])
    return out


def _hands(aims: list[Array], tilt: float) -> Array:
    """Hand rotations (k, 3, 3) in the chest frame that face the palm (-y of a left hand at rest) as asked, or `tilt`
    away from it, with the fingers (x) as asked or all round."""
    palm = aims[0]
    if len(aims) > 1:
        base = rotations.frame(aims[1], -palm)[None]
    else:
        across = rotations.unit(np.cross(palm, np.eye(3)[np.abs(palm).argmin()]))
        base = rotations.matrix(palm * _FINGERS[:, None]) @ rotations.frame(across, -palm)
    if tilt == 0:
        return base
    axes = np.stack([np.cos(_TILT_AXES), np.zeros(len(_TILT_AXES)), np.sin(_TILT_AXES)], -1)
    return np.asarray((base[:, None] @ rotations.matrix(tilt * axes)).reshape(-1, 3, 3))


def _descended(arm: Arm, aim: Aim, near: Array | None) -> Array | None:
    """The same by the paper's descent: from the angles of the frame before, else from an arm that leads there."""
    for start in _STARTS if near is None else (near, *_STARTS):
        angles, kept = _descent(arm, aim, start)
        if kept.any():
            return np.asarray(angles[kept][cost(angles[kept], near).argmin()])
    return None


def _descent(arm: Arm, aim: Aim, start: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Angles (k, 9) to which the descent from angles (9,) leads, and which of them arrive within the limits."""
    bones = np.stack([arm.collar, arm.clavicle, arm.upper, aim.bone])
    found = ccd.descend(bones, aim.points, start[:6], LOW[:6], HIGH[:6])
    angles = np.zeros((len(aim.points), len(ANGLES)))
    angles[:, :6] = found.angles
    if aim.hands is not None:
        about = rotations.about
        turned = np.broadcast_to(np.eye(3), aim.hands.shape)
        for axis, angle in zip("yzyzxy", found.angles.T, strict=True):
            turned = turned @ about(axis, angle)
        angles[:, 6], angles[:, 7], angles[:, 8] = xyz(np.swapaxes(turned, -1, -2) @ aim.hands)
    within = ((angles >= LOW - EXACT) & (angles <= HIGH + EXACT)).all(-1)
    return angles, (found.error <= ccd.TOLERANCE) & within


def posed(pose: Array, side: Side, angles: Array) -> Array:
    """The pose (156,) with an arm at its nine angles, see `ANGLES`."""
    about, roll = rotations.about, angles[6] / 2
    turns = (
        about("x", (0, 0, 0, roll))
        @ about("y", angles[[0, 2, 5, 7]])
        @ about("z", (angles[1], angles[3], 0, angles[8]))
        @ about("x", (0, angles[4], roll, 0))
    )
    found = rotations.vector(turns) * (_MIRROR_TURN if side == "right" else 1)
    return pack({f"{side}_{name}": turn for name, turn in zip(ARM, found, strict=True)}, onto=pose)


def angles_of(pose: Array, side: Side) -> Array:
    """The nine angles (9,) of an arm in a pose that `posed` or `posture.stand` made: where a reach starts from."""
    mirror = _MIRROR_TURN if side == "right" else 1
    turns = [rotations.matrix(mirror * pose[joint_slice(f"{side}_{name}")]) for name in ARM]
    collar, shoulder, elbow = (yzx(turn) for turn in turns[:3])
    wrist = xyz(turns[3])
    return np.array([*collar[:2], *shoulder, elbow[0], elbow[2] + wrist[0], *wrist[1:]])
