"""Where the links of a thing are: rigid frames along its joints. Metres, radians, quaternions w, x, y, z."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from iwkit_runtime.physical.scene_spec import Joints, Placed, Pose, Quaternion
from iwkit_runtime.physical.spec import Asset, Floats, Joint

_ONE = np.eye(3)


class Frame(NamedTuple):
    """A rigid motion: a point p (3,) of the asset lies at `turn` (3, 3) p + `at` (3,) in the world."""

    turn: Floats
    at: Floats

    def point(self, points: ArrayLike) -> Floats:
        """Points (3,) or (n, 3) in the world."""
        return np.asarray(np.asarray(points, dtype=np.float64) @ self.turn.T + self.at)

    def local(self, points: ArrayLike) -> Floats:
        """World points (3,) or (n, 3) in this frame."""
        return np.asarray((np.asarray(points, dtype=np.float64) - self.at) @ self.turn)

    def then(self, inner: Frame) -> Frame:
        """The motion that does `inner` first, then this one."""
        return Frame(self.turn @ inner.turn, self.turn @ inner.at + self.at)

    def inverse(self) -> Frame:
        """The motion back."""
        return Frame(self.turn.T, -self.turn.T @ self.at)

    @property
    def pose(self) -> Pose:
        """Position and quaternion."""
        x, y, z = self.at.tolist()
        return (x, y, z), quaternion(self.turn)


def matrix(quaternion_: Quaternion) -> Floats:
    """The rotation matrix (3, 3) of a quaternion of any length but zero."""
    length = math.hypot(*quaternion_)
    w, x, y, z = quaternion_
    w, x, y, z = w / length, x / length, y / length, z / length
    first = (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y))
    second = (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x))
    third = (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))
    return np.array((*first, *second, *third)).reshape(3, 3)


def quaternion(turn: Floats) -> Quaternion:
    """The unit quaternion of a rotation matrix (3, 3), its largest part positive."""
    # Each column is the quaternion times four times one of its parts; the longest one is the best conditioned.
    (a, b, c), (d, e, f), (g, h, i) = turn.tolist()
    longest = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)
    columns = (
        (longest[0], h - f, c - g, d - b),
        (h - f, longest[1], b + d, c + g),
        (c - g, b + d, longest[2], f + h),
        (d - b, c + g, f + h, longest[3]),
    )
    w, x, y, z = columns[longest.index(max(longest))]
    length = math.hypot(w, x, y, z)
    return w / length, x / length, y / length, z / length


def about(axis: ArrayLike, angle: float) -> Floats:
    """The rotation matrix (3, 3) about an axis (3,) by an angle in radians."""
    along = np.asarray(axis, dtype=np.float64)
    x, y, z = (along / math.sqrt(along.dot(along))).tolist()
    cross = np.array((0.0, -z, y, z, 0.0, -x, -y, x, 0.0)).reshape(3, 3)
    return np.asarray(_ONE + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross)


def frame(pose: Pose) -> Frame:
    """The frame of a pose."""
    return Frame(matrix(pose[1]), np.array(pose[0], dtype=np.float64))


def root_frame(placed: Placed) -> Frame:
    """Where a thing stands at reset."""
    return Frame(_upright(placed.yaw), np.array(placed.position, dtype=np.float64))


def values_at_start(placed: Placed) -> Joints:
    """The value of each joint of a thing at reset."""
    links = placed.asset.links
    return {(placed.name, k.name): float(placed.joints.get(k.name, k.joint.low)) for k in links if k.joint}


@lru_cache(maxsize=1024)
def _upright(yaw: float) -> Floats:
    turn = about((0, 0, 1), yaw)
    turn.setflags(write=False)
    return turn


def joint_motion(joint: Joint, value: float) -> Frame:
    """How a joint's value moves its link, in the asset's frame."""
    if joint.kind == "slide":
        return Frame(np.eye(3), value * np.asarray(joint.axis, dtype=np.float64) / np.linalg.norm(joint.axis))
    turn, anchor = about(joint.axis, value), np.array(joint.anchor, dtype=np.float64)
    return Frame(turn, anchor - turn @ anchor)


def link_frames(asset: Asset, root: Frame, values: Mapping[str, float]) -> dict[str, Frame]:
    """The frame of every link by name, for the root's frame and the value of each joint by link (0 where not given)."""
    found: dict[str, Frame] = {}
    for link in asset.links:
        above = root if link.parent is None else found[link.parent]
        found[link.name] = (
            above if link.joint is None else above.then(joint_motion(link.joint, values.get(link.name, 0.0)))
        )
    return found
