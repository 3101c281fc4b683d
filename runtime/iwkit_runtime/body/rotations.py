"""Rotations as axis-angle vectors (radians) and 3x3 matrices; every function takes leading batch axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_TINY = 1e-12
_AXES = {"x": 0, "y": 1, "z": 2}


def matrix(axis_angle: ArrayLike) -> Array:
    """Axis-angle (..., 3) to rotation matrices (..., 3, 3) (Rodrigues)."""
    w = np.asarray(axis_angle, float)
    square = (w * w).sum(-1)
    angle = np.sqrt(square)
    small = square < _TINY
    safe = np.where(small, 1.0, square)
    a = np.where(small, 1 - square / 6, np.sin(angle) / np.sqrt(safe))[..., None, None]
    b = np.where(small, 0.5 - square / 24, (1 - np.cos(angle)) / safe)[..., None, None]
    k = cross_matrix(w)
    return np.asarray(np.eye(3) + a * k + b * (k @ k))


def vector(rotation: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) to axis-angle (..., 3) with angles in [0, pi]."""
    r = np.asarray(rotation, float)
    # Through the quaternion with the largest component, which is stable at every angle, pi included.
    trace = r[..., 0, 0] + r[..., 1, 1] + r[..., 2, 2]
    diagonal = np.stack([trace, r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]], -1)
    x, y, z = (r[..., 2, 1] - r[..., 1, 2]), (r[..., 0, 2] - r[..., 2, 0]), (r[..., 1, 0] - r[..., 0, 1])
    xy, xz, yz = (r[..., 0, 1] + r[..., 1, 0]), (r[..., 0, 2] + r[..., 2, 0]), (r[..., 1, 2] + r[..., 2, 1])
    d = 1 + 2 * diagonal - trace[..., None]
    rows = np.stack(
        [
            np.stack([1 + trace, x, y, z], -1),
            np.stack([x, d[..., 1], xy, xz], -1),
            np.stack([y, xy, d[..., 2], yz], -1),
            np.stack([z, xz, yz, d[..., 3]], -1),
        ],
        -2,
    )
    q = np.take_along_axis(rows, diagonal.argmax(-1)[..., None, None], -2)[..., 0, :]
    q = q * np.where(q[..., :1] < 0, -1.0, 1.0)
    length = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(length, q[..., :1])
    norm = np.linalg.norm(q, axis=-1, keepdims=True)
    scale = np.where(length < _TINY, 2 / norm, angle / np.maximum(length, _TINY))
    return np.asarray(q[..., 1:] * scale)


def about(axis: str, angle: ArrayLike) -> Array:
    """Rotation by `angle` (...) radians about the axis "x", "y" or "z": (..., 3, 3)."""
    turn = np.asarray(angle, float)
    out = np.zeros((*turn.shape, 3))
    out[..., _AXES[axis]] = turn
    return matrix(out)


def cross_matrix(v: ArrayLike) -> Array:
    """The matrices K (..., 3, 3) with K @ u = v x u."""
    w = np.asarray(v, float)
    out = np.zeros((*w.shape, 3))
    out[..., 2, 1], out[..., 0, 2], out[..., 1, 0] = w[..., 0], w[..., 1], w[..., 2]
    return out - np.swapaxes(out, -1, -2)


def unit(v: ArrayLike) -> Array:
    """Vectors (..., 3) scaled to length 1; a zero vector stays zero."""
    w = np.asarray(v, float)
    return np.asarray(w / np.maximum(np.linalg.norm(w, axis=-1, keepdims=True), _TINY))


def between(a: ArrayLike, b: ArrayLike) -> Array:
    """The smallest rotations (..., 3, 3) that turn the unit vectors a into b. Undefined where b = -a."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    k = cross_matrix(np.cross(a, b))
    cosine = (a * b).sum(-1)[..., None, None]
    return np.asarray(np.eye(3) + k + k @ k / np.maximum(1 + cosine, 1e-9))


def frame(x: ArrayLike, y: ArrayLike) -> Array:
    """Right-handed frames (..., 3, 3) whose columns are x, the part of y normal to x, and their cross product."""
    first = unit(x)
    other = np.asarray(y, float)
    second = unit(other - first * (first * other).sum(-1, keepdims=True))
    return np.stack([first, second, np.cross(first, second)], -1)


def blend(a: ArrayLike, b: ArrayLike, share: float) -> Array:
    """From axis-angle a (..., 3) to b along the shortest arc: share 0 gives a, 1 gives b."""
    start = matrix(a)
    turn = vector(np.swapaxes(start, -1, -2) @ matrix(b))
    return vector(start @ matrix(share * turn))


def twist(rotation: ArrayLike, axis: int) -> Array:
    """The angle (...) of the part of rotations (..., 3, 3) that turns about a coordinate axis (swing-twist)."""
    v = vector(rotation)
    half = np.linalg.norm(v, axis=-1) / 2
    along = unit(v)[..., axis] * np.sin(half)
    return np.asarray(2 * np.arctan2(along, np.cos(half)))
