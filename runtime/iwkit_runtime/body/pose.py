"""The 156-D pose of PHY-1: 52 joint rotations as axis-angle, by joint name.

Order: root 3, body 63, left hand 45 (66:111), right hand 45 (111:156). A rotation is relative to the parent joint, in
axes that at rest are those of the model: x to the wearer's left, y up, z forward. All zeros is the T-pose, hands flat.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body import rotations

Array = NDArray[np.float64]
Side = Literal["left", "right"]

POSE_SIZE = 156
ROOT = slice(0, 3)
HAND: Mapping[Side, slice] = {"left": slice(66, 111), "right": slice(111, 156)}
FINGERS = ("index", "middle", "pinky", "ring", "thumb")
"""In the order of the pose."""

_TRUNK = (
    "pelvis left_hip right_hip spine1 left_knee right_knee spine2 left_ankle right_ankle spine3 left_foot right_foot "
    "neck left_collar right_collar head left_shoulder right_shoulder left_elbow right_elbow left_wrist right_wrist"
)
JOINTS: tuple[str, ...] = (
    *_TRUNK.split(),
    *(f"{side}_{finger}{k}" for side in ("left", "right") for finger in FINGERS for k in (1, 2, 3)),
)
INDEX: Mapping[str, int] = {name: i for i, name in enumerate(JOINTS)}
ARM = ("collar", "shoulder", "elbow", "wrist")
"""The joints of an arm, without their side."""


class BodyPose(NamedTuple):
    """One frame of the body (PHY-1).

    `pose` (156,) radians; `translation` (3,) is added in the world, in metres: the pelvis joint stands at the rest
    pelvis, turned into the z-up world, plus `translation`.
    """

    pose: Array
    translation: Array


def checked(pose: ArrayLike) -> Array:
    """A pose as a (156,) array.

    Raises:
        UsageError: it has another shape or holds something that is not a finite number.
    """
    array = numbers("a pose", pose)
    if array.shape != (POSE_SIZE,):
        raise UsageError(f"a pose has {POSE_SIZE} numbers, this one has the shape {array.shape}")
    if not _finite(array):
        first = int(np.flatnonzero(~np.isfinite(array))[0])
        raise UsageError(f"the pose is not finite at number {first} ({JOINTS[first // 3]})")
    return array


def vector(name: str, value: ArrayLike) -> Array:
    """Three finite numbers as a (3,) array.

    Raises:
        UsageError: it is something else; the message calls it `name`.
    """
    array = numbers(name, value)
    if array.shape != (3,) or not _finite(array):
        raise UsageError(f"{name} must be three finite numbers, not {value!r}")
    return array


def _finite(array: Array) -> bool:
    """Whether numbers (n,) are all finite. The sum of their squares tells, but where it is too large for a float."""
    return math.isfinite(array.dot(array)) or bool(np.isfinite(array).all())


def numbers(name: str, value: ArrayLike) -> Array:
    """An array of numbers of any shape.

    Raises:
        UsageError: it is something else; the message calls it `name`.
    """
    try:
        return np.asarray(value, float)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} must be numbers, not {value!r}") from error


def joint_slice(name: str) -> slice:
    """Where a joint's three numbers stand in a pose.

    Raises:
        UsageError: no joint has that name.
    """
    if name not in INDEX:
        raise UsageError(f"no joint is called {name!r}; the joints are {', '.join(JOINTS)}")
    at = 3 * INDEX[name]
    return slice(at, at + 3)


def pack(joints: Mapping[str, ArrayLike], onto: ArrayLike | None = None) -> Array:
    """A pose from axis-angle rotations (3,) by joint name; the other joints stay as in `onto`, or at rest.

    Raises:
        UsageError: an unknown joint, a rotation that is not three finite numbers, or a wrong `onto`.
    """
    pose = np.zeros(POSE_SIZE) if onto is None else checked(onto).copy()
    rows = _rows(tuple(joints))
    try:
        turns = np.array([*joints.values()], float)
    except (TypeError, ValueError):
        turns = np.zeros(0)
    if turns.shape != (len(rows), 3) or not _finite(turns.ravel()):
        turns = np.array([vector(f"the rotation of {name}", rotation) for name, rotation in joints.items()])
    pose.reshape(-1, 3)[rows] = turns.reshape(-1, 3)
    return pose


def unpack(pose: ArrayLike) -> dict[str, Array]:
    """Every joint's axis-angle rotation (3,) by name."""
    return dict(zip(JOINTS, checked(pose).reshape(-1, 3).copy(), strict=True))


def overlay(pose: ArrayLike, source: ArrayLike, joints: Iterable[str]) -> Array:
    """`pose` with the named joints taken from `source`."""
    out, other, rows = checked(pose).copy(), checked(source), _rows(tuple(joints))
    out.reshape(-1, 3)[rows] = other.reshape(-1, 3)[rows]
    return out


@lru_cache(maxsize=256)
def _rows(names: tuple[str, ...]) -> NDArray[np.intp]:
    """The rows of joints in a pose (52, 3)."""
    return np.array([joint_slice(name).start // 3 for name in names], np.intp)


@cache
def arm_joints(side: Side) -> tuple[str, ...]:
    """The joints of an arm and its hand."""
    fingers = (f"{finger}{k}" for finger in FINGERS for k in (1, 2, 3))
    return tuple(f"{side}_{name}" for name in (*ARM, *fingers))


def blend(a: BodyPose, b: BodyPose, share: float) -> BodyPose:
    """Between two frames, each joint along its shortest arc: share 0 gives a, 1 gives b."""
    return blends(a, b, (share,))[0]


def blends(a: BodyPose, b: BodyPose, shares: Sequence[float]) -> list[BodyPose]:
    """The same for many shares at once, which is hardly slower than for one."""
    poses = _blends(checked(a.pose).tobytes(), checked(b.pose).tobytes(), tuple(shares))
    return [
        BodyPose(pose, (1 - share) * a.translation + share * b.translation)
        for pose, share in zip(poses, shares, strict=True)
    ]


@lru_cache(maxsize=512)
def _blends(a: bytes, b: bytes, shares: tuple[float, ...]) -> Array:
    """The poses (n, 156) between two, read-only: a movement is asked for again when what it must pass has changed."""
    start, end = (np.frombuffer(pose).reshape(-1, 3) for pose in (a, b))
    moving = (start != end).any(1)
    poses = np.empty((len(shares), *start.shape))
    poses[:] = start
    poses[:, moving] = rotations.blend(start[moving], end[moving], np.array(shares)[:, None, None])
    poses.flags.writeable = False
    return poses.reshape(len(shares), POSE_SIZE)
