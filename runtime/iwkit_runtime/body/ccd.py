"""Cyclic coordinate descent for an arm: the paper's solver, for comparison with the analytic one (ACT-7; paper B.2.2).

Each of the six angles in turn is set to what brings the end nearest to its target while the others stay, in closed form
and within the limits: elbow first, then shoulder, then collar, as often as `ITERATIONS` allows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.body import rotations

Array = NDArray[np.float64]

ITERATIONS = 28
TOLERANCE = 1e-3
"""Metres from the target at which the end has arrived."""
_AXES = "yzyzxy"
"""What the six angles turn about: collar twice, shoulder three times, elbow."""
_AXIS = {"x": np.array([1.0, 0, 0]), "y": np.array([0, 1.0, 0]), "z": np.array([0, 0, 1.0])}
_BONE_BEFORE = {0: 0, 2: 1, 5: 2}
"""Angle -> the bone that leads to its joint."""


class Descent(NamedTuple):
    """Angles (k, 6), the distances (k,) in metres that are left, and the rounds (k,) that it took."""

    angles: Array
    error: Array
    rounds: NDArray[np.intp]


def descend(bones: Array, targets: Array, start: Array, low: Array, high: Array) -> Descent:
    """Angles that bring the end of an arm to targets, as far as that goes.

    Args:
        bones: (4, 3) of a left arm, from chest to collar, to shoulder, to elbow, to the end.
        targets: (k, 3) in the chest frame.
        start: (6,) angles that the descent starts from, the same for all.
        low, high: (6,) limits of the angles.
    """
    angles = np.tile(np.clip(start, low, high), (len(targets), 1))
    error = np.linalg.norm(_chain(bones, angles)[2] - targets, axis=-1)
    rounds = np.where(error > TOLERANCE, ITERATIONS, 0)
    for n in range(ITERATIONS):
        going = np.flatnonzero(error > TOLERANCE)
        if not len(going):
            break
        now = angles[going]
        for k in reversed(range(len(_AXES))):
            axes, pivots, end = _chain(bones, now)
            turn = _towards(axes[:, k], end - pivots[:, k], targets[going] - pivots[:, k])
            now[:, k] = np.clip(now[:, k] + turn, low[k], high[k])
        angles[going] = now
        error[going] = np.linalg.norm(_chain(bones, now)[2] - targets[going], axis=-1)
        rounds[going[error[going] <= TOLERANCE]] = n + 1
    return Descent(angles, error, rounds)


def _chain(bones: Array, angles: Array) -> tuple[Array, Array, Array]:
    """Axes (k, 6, 3) of the angles and points (k, 6, 3) on them, and where the end (k, 3) is."""
    turned = np.broadcast_to(np.eye(3), (len(angles), 3, 3))
    at = np.zeros((len(angles), 3))
    axes, pivots = np.empty((2, len(angles), len(_AXES), 3))
    for k, name in enumerate(_AXES):
        if k in _BONE_BEFORE:
            at = at + turned @ bones[_BONE_BEFORE[k]]
        axes[:, k], pivots[:, k] = turned @ _AXIS[name], at
        turned = turned @ rotations.about(name, angles[:, k])
    return axes, pivots, at + turned @ bones[3]


def _towards(axis: Array, arm: Array, target: Array) -> Array:
    """By how much (k,) an arm (k, 3) turns about an axis to point, seen along it, to a target."""
    across = (axis * rotations.cross(arm, target)).sum(-1)
    along = (arm * target).sum(-1) - (axis * arm).sum(-1) * (axis * target).sum(-1)
    return np.asarray(np.arctan2(across, along))
