"""Rotations as axis-angle vectors (radians) and 3x3 matrices; every function takes leading batch axes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

TINY = 1e-12
"""Lengths and angles below this count as zero."""
_ONE = np.eye(3)
_AXES = {"x": 0, "y": 1, "z": 2}

_CROSS = np.array([0, 2, 1, 2, 0, 0, 1, 0, 0])
_CROSS_SIGN = np.array([0.0, -1, 1, 1, 0, -1, -1, 1, 0])
"""Which part of a vector each entry of its cross matrix is, and times what."""

# A quaternion w, x, y, z times four times one of its parts, row by row: a sum or a difference of two entries of its
# flat matrix, or one of the four numbers that `vector` puts behind them (9 to 12) and the 0 behind those (13).
_FIRST = np.array([[9, 7, 2, 3], [7, 10, 1, 2], [2, 1, 11, 5], [3, 2, 5, 12]])
_OTHER = np.array([[13, 5, 6, 1], [5, 13, 3, 6], [6, 3, 13, 7], [1, 6, 7, 13]])
_OTHER_SIGN = np.array([[-1.0, -1, -1, -1], [-1, 1, 1, 1], [-1, 1, 1, 1], [-1, 1, 1, 1]])


def matrix(axis_angle: ArrayLike) -> Array:
    """Axis-angle (..., 3) to rotation matrices (..., 3, 3) (Rodrigues)."""
    w = np.asarray(axis_angle, float)
    if w.ndim == 1:
        return _matrix(*w.tolist())
    square = np.maximum(np.add.reduce(w * w, -1), TINY)[..., None, None]  # below, the difference drowns in rounding
    angle = np.sqrt(square)
    k = cross_matrix(w)
    return np.asarray(_ONE + np.sin(angle) / angle * k + (1 - np.cos(angle)) / square * (k @ k))


def _matrix(x: float, y: float, z: float) -> Array:
    """The same for one vector, for which arrays would be slow."""
    square = max(x * x + y * y + z * z, TINY)
    angle = math.sqrt(square)
    a, b = math.sin(angle) / angle, (1 - math.cos(angle)) / square
    bx, by, bz = b * x, b * y, b * z
    first = (1 - by * y - bz * z, bx * y - a * z, bx * z + a * y)
    second = (bx * y + a * z, 1 - bx * x - bz * z, by * z - a * x)
    third = (bx * z - a * y, by * z + a * x, 1 - bx * x - by * y)
    return np.array((*first, *second, *third)).reshape(3, 3)


def vector(rotation: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) to axis-angle (..., 3) with angles in [0, pi]."""
    r = np.asarray(rotation, float)
    if r.ndim == 2:
        return _vector(r)
    # Through the quaternion with the largest component, which is stable at every angle, pi included.
    entries = np.zeros((r.size // 9, 14))
    entries[:, :9] = r.reshape(-1, 9)
    parts = entries[:, (0, 0, 4, 8)]
    trace = parts[:, 0] = parts[:, 1] + parts[:, 2] + parts[:, 3]
    entries[:, 9] = 1 + trace
    entries[:, 10:13] = 1 + 2 * parts[:, 1:] - trace[:, None]
    largest, start = parts.argmax(-1), np.arange(0, entries.size, 14)[:, None]
    q = entries.take(_FIRST[largest] + start) + _OTHER_SIGN[largest] * entries.take(_OTHER[largest] + start)
    q *= np.where(q[:, :1] < 0, -1.0, 1.0)
    squares = q * q
    length = np.sqrt(np.add.reduce(squares[:, 1:], -1, keepdims=True))
    angle = 2 * np.arctan2(length, q[:, :1])
    norm = np.sqrt(np.add.reduce(squares, -1, keepdims=True))
    scale = np.where(length < TINY, 2 / norm, angle / np.maximum(length, TINY))
    return np.asarray((q[:, 1:] * scale).reshape(r.shape[:-1]))


def _vector(rotation: Array) -> Array:
    """The same for one matrix (3, 3), for which arrays would be slow."""
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    largest = max(a + e + i, a, e, i)
    if largest == a + e + i:
        w, x, y, z = 1 + a + e + i, h - f, c - g, d - b
    elif largest == a:
        w, x, y, z = h - f, 1 + a - e - i, b + d, c + g
    elif largest == e:
        w, x, y, z = c - g, b + d, 1 - a + e - i, f + h
    else:
        w, x, y, z = d - b, c + g, f + h, 1 - a - e + i
    if w < 0:
        w, x, y, z = -w, -x, -y, -z
    length = math.sqrt(x * x + y * y + z * z)
    scale = 2 / abs(w) if length < TINY else 2 * math.atan2(length, w) / length
    return np.array([x * scale, y * scale, z * scale])


def about(axis: str, angle: ArrayLike) -> Array:
    """Rotation by `angle` (...) radians about the axis "x", "y" or "z": (..., 3, 3)."""
    k = _AXES[axis]
    if isinstance(angle, float):
        return _about(k, math.sin(angle), math.cos(angle))
    turn = np.asarray(angle, float)
    if turn.ndim == 0:
        return _about(k, math.sin(turn), math.cos(turn))
    out = np.zeros((*turn.shape, 3, 3))
    i, j = (k + 1) % 3, (k + 2) % 3
    sine = np.sin(turn)
    out[..., k, k] = 1
    out[..., i, i] = out[..., j, j] = np.cos(turn)
    out[..., j, i] = sine
    out[..., i, j] = -sine
    return out


def _about(axis: int, s: float, c: float) -> Array:
    """The same for one angle of that sine and cosine, for which arrays would be slow."""
    if axis == 0:
        flat = (1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c)
    elif axis == 1:
        flat = (c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c)
    else:
        flat = (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
    return np.array(flat).reshape(3, 3)


def cross(a: Array, b: Array) -> Array:
    """The cross products (..., 3) of vectors that broadcast; `np.cross` does the same more slowly."""
    if a.ndim == b.ndim == 1:
        (x, y, z), (u, v, w) = a.tolist(), b.tolist()
        return np.array([y * w - z * v, z * u - x * w, x * v - y * u])
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        out[..., k] = a[..., i] * b[..., j] - a[..., j] * b[..., i]
    return out


def cross_matrix(v: ArrayLike) -> Array:
    """The matrices K (..., 3, 3) with K @ u = v x u."""
    w = np.asarray(v, float)
    return np.asarray((w.take(_CROSS, -1) * _CROSS_SIGN).reshape(*w.shape, 3))


def unit(v: ArrayLike) -> Array:
    """Vectors (..., 3) scaled to length 1; a zero vector stays zero."""
    w = np.asarray(v, float)
    if w.ndim == 1:
        return np.asarray(w / max(math.hypot(*w.tolist()), TINY))
    return np.asarray(w / np.maximum(np.sqrt(np.add.reduce(w * w, -1, keepdims=True)), TINY))


def between(a: ArrayLike, b: ArrayLike) -> Array:
    """The smallest rotations (..., 3, 3) that turn the unit vectors a into b. Undefined where b = -a."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    k = cross_matrix(cross(a, b))
    cosine = np.add.reduce(a * b, -1)[..., None, None]
    return np.asarray(_ONE + k + k @ k / np.maximum(1 + cosine, 1e-9))


def frame(x: ArrayLike, y: ArrayLike) -> Array:
    """Right-handed frames (..., 3, 3) whose columns are x, the part of y normal to x, and their cross product."""
    first, other = np.asarray(x, float), np.asarray(y, float)
    if first.ndim == other.ndim == 1:
        return _frame(first, other)
    first = unit(first)
    second = unit(other - first * (first * other).sum(-1, keepdims=True))
    return np.stack([first, second, cross(first, second)], -1)


def _frame(first: Array, other: Array) -> Array:
    """The same for one pair of vectors, for which arrays would be slow."""
    (x, y, z), (u, v, w) = first.tolist(), other.tolist()
    length = max(math.hypot(x, y, z), TINY)
    x, y, z = x / length, y / length, z / length
    along = x * u + y * v + z * w
    u, v, w = u - x * along, v - y * along, w - z * along
    length = max(math.hypot(u, v, w), TINY)
    u, v, w = u / length, v / length, w / length
    return np.array((x, u, y * w - z * v, y, v, z * u - x * w, z, w, x * v - y * u)).reshape(3, 3)


def blend(a: ArrayLike, b: ArrayLike, share: ArrayLike) -> Array:
    """From axis-angle a (..., 3) to b along the shortest arc: share 0 gives a, 1 gives b. Shares broadcast with a."""
    start = matrix(a)
    turn = vector(np.swapaxes(start, -1, -2) @ matrix(b))
    return vector(start @ matrix(np.asarray(share) * turn))


def twist(rotation: ArrayLike, axis: int) -> Array:
    """The angle (...) of the part of rotations (..., 3, 3) that turns about a coordinate axis (swing-twist)."""
    v = vector(rotation)
    half = np.linalg.norm(v, axis=-1) / 2
    along = unit(v)[..., axis] * np.sin(half)
    return np.asarray(2 * np.arctan2(along, np.cos(half)))
