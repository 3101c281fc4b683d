"""The head camera between the eyes, and turning neck and head towards a point (PHY-1; paper B.1).

A camera frame is 4x4 in the world with x to the right of the picture, y up, looking along -z.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body import rotations
from iwkit_runtime.body.model import Body, joint
from iwkit_runtime.body.pose import INDEX, BodyPose, checked, joint_slice, pack, vector

Array = NDArray[np.float64]

HEAD_PITCH = (math.radians(-70), math.radians(40))
"""How far neck and head together look down and up, against the chest."""
HEAD_YAW = math.radians(70)
HEAD_ROLL = math.radians(25)
"""How far the head tilts to keep the horizon level."""
TORSO_PITCH = (math.radians(-25), math.radians(10))
"""What the spine adds, when neck and head can't."""
TORSO_YAW = math.radians(35)
NECK_SHARE = 0.4

# x right, y up, looking along -z, out of the head's x left, y up, z forward
_LENS = np.diag([-1.0, 1.0, -1.0])
_SPINE: Mapping[str, float] = {"spine1": 0.3, "spine2": 0.35, "spine3": 0.35}
_TOO_NEAR = 0.05
_ROUNDS = 10
_STILL = 1e-6
_STEEP = (0.8, 0.97)


class Gaze(NamedTuple):
    """A body frame that looks at a point; `residual` is the angle in radians still left between the line of sight and
    the point: 0 unless the limits of neck and spine were met."""

    body: BodyPose
    residual: float


def camera_frame(body: Body, frames: Array) -> Array:
    """The head camera (4, 4) in the world, from the joint frames (52, 4, 4)."""
    head = joint(frames, "head")
    out = np.eye(4)
    out[:3, :3] = head[:3, :3] @ _LENS
    out[:3, 3] = head[:3, 3] + head[:3, :3] @ (body.eye - body.joints[INDEX["head"]])
    return out


def look_at(body: Body, at: BodyPose, point: ArrayLike) -> Gaze:
    """Turn neck and head so that the camera looks at a world point (3,); what they can't do, the spine takes.

    Turning the spine takes the arms along, so look first and then solve the arms.

    Raises:
        UsageError: the point is not three finite numbers or is closer than 5 cm to the eyes.
    """
    target = vector("the point to look at", point)
    place = vector("the translation", at.translation)
    return _look_at(body, checked(at.pose).tobytes(), place.tobytes(), target.tobytes())


@lru_cache(maxsize=256)
def _look_at(body: Body, pose: bytes, translation: bytes, point: bytes) -> Gaze:
    """`look_at` for the bytes of its arguments: who tries one arm after another looks at the same point every time."""
    at, target = BodyPose(np.frombuffer(pose), np.frombuffer(translation)), np.frombuffer(point)
    if np.linalg.norm(target - camera_frame(body, body.forward(*at))[:3, 3]) < _TOO_NEAR:
        raise UsageError("a point to look at must be at least 5 cm from the eyes")
    neutral = pack({"neck": (0, 0, 0), "head": (0, 0, 0)}, onto=at.pose)
    frames = body.forward(neutral, at.translation)
    chest, pelvis = joint(frames, "spine3")[:3, :3], joint(frames, "pelvis")
    spine = {name: rotations.matrix(neutral[joint_slice(name)]) for name in _SPINE}
    straight = reduce(np.matmul, spine.values())
    turns = {**spine, "neck": np.eye(3), "head": np.eye(3)}
    eye = np.full(3, np.inf)
    for _ in range(_ROUNDS):  # the eyes move as the head turns, so the direction is found again from where they get to
        before, eye = eye, _eye(body, pelvis, turns)
        if np.linalg.norm(eye - before) < _STILL:
            break
        aim = chest.T @ _level(rotations.unit(target - eye), chest[:, 1])
        turns = _turned(spine, straight, aim)
    joints = {name: rotations.vector(turn) for name, turn in turns.items()}
    turned = BodyPose(pack(joints, onto=neutral), at.translation)
    turned.pose.flags.writeable = False
    lens = camera_frame(body, body.forward(*turned))
    sight = rotations.unit(target - lens[:3, 3])
    residual = np.arctan2(np.linalg.norm(rotations.cross(-lens[:3, 2], sight)), -lens[:3, 2] @ sight)
    return Gaze(turned, float(residual))


def _level(sight: Array, above: Array) -> Array:
    """The head's axes (3, 3) in the world that look along `sight` with the horizon level; `above` is up for someone who
    looks straight down or up."""
    x, y, z = sight.tolist()
    share = _clip((abs(z) - _STEEP[0]) / (_STEEP[1] - _STEEP[0]), 0.0, 1.0)
    p, q, r = (share * part for part in above.tolist())
    p, q, r = _unit(p, q, r + (1 - share))
    p, q, r = _unit(q * z - r * y, r * x - p * z, p * y - q * x)
    return np.array((p, y * r - z * q, x, q, z * p - x * r, y, r, x * q - y * p, z)).reshape(3, 3)


def _eye(body: Body, pelvis: Array, turns: Mapping[str, Array]) -> Array:
    """The point between the eyes (3,) for the frame (4, 4) of the pelvis and the rotations of spine, neck and head."""
    turn, place = pelvis[:3, :3], pelvis[:3, 3]
    for name, rotation in turns.items():
        place = place + turn @ body.offsets[INDEX[name]]
        turn = turn @ rotation
    return np.asarray(place + turn @ (body.eye - body.joints[INDEX["head"]]))


def _turned(spine: Mapping[str, Array], straight: Array, aim: Array) -> dict[str, Array]:
    """The rotations of spine, neck and head, from the pelvis up, that give the head the axes `aim` (3, 3) against the
    chest as it is with `spine`, all of which together is `straight`, within the limits."""
    yaw, pitch, _ = _angles(aim)
    rest_yaw = _clip(yaw - _clip(yaw, -HEAD_YAW, HEAD_YAW), -TORSO_YAW, TORSO_YAW)
    rest_pitch = _clip(pitch - _clip(pitch, *HEAD_PITCH), *TORSO_PITCH)
    turns = {name: spine[name] @ _direction(share * rest_yaw, share * rest_pitch) for name, share in _SPINE.items()}
    yaw, pitch, roll = _angles(reduce(np.matmul, turns.values()).T @ straight @ aim)
    yaw, pitch = _clip(yaw, -HEAD_YAW, HEAD_YAW), _clip(pitch, *HEAD_PITCH)
    neck = _direction(NECK_SHARE * yaw, NECK_SHARE * pitch)
    tilt = rotations.about("z", _clip(roll, -HEAD_ROLL, HEAD_ROLL))
    return {**turns, "neck": neck, "head": neck.T @ _direction(yaw, pitch) @ tilt}


def _direction(yaw: float, pitch: float) -> Array:
    """The rotation (3, 3) to a yaw (left) and a pitch (up), without roll."""
    c, s = math.cos(yaw), math.sin(yaw)
    level, up = math.cos(pitch), math.sin(pitch)
    return np.array((c, -s * up, s * level, 0.0, level, up, -s, -c * up, c * level)).reshape(3, 3)


def _angles(axes: Array) -> tuple[float, float, float]:
    """Yaw, pitch and roll with `axes` = `_direction(yaw, pitch)` @ Rz(roll)."""
    x, y, z = axes[:, 2].tolist()
    yaw, pitch = float(np.arctan2(x, z)), float(np.arcsin(_clip(y, -1.0, 1.0)))
    rest = _direction(yaw, pitch).T @ axes
    return yaw, pitch, float(np.arctan2(rest[1, 0], rest[0, 0]))


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _unit(x: float, y: float, z: float) -> tuple[float, float, float]:
    """A vector scaled to length 1."""
    length = max(math.hypot(x, y, z), rotations.TINY)
    return x / length, y / length, z / length
