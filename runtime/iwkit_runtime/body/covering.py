"""What the right arm hides from the wearer's own eyes."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.body.model import Body
from iwkit_runtime.body.pose import ARM, INDEX, BodyPose, arm_joints

Array = NDArray[np.float64]

SKIN = 0.008
"""Metres from a vertex of the skin within which it hides what is behind it."""


def uncovered(body: Body, at: BodyPose, points: Array, eye: Array) -> float:
    """The share of points (n, 3) between which and the eye (3,) there is nothing of the right arm."""
    skin = body.skin(body.forward(*at), _arm(body)) - eye
    ways = points - eye
    far = np.linalg.norm(ways, axis=1)
    along = skin @ (ways / far[:, None]).T
    aside = np.sqrt(np.maximum((skin**2).sum(1)[:, None] - along**2, 0))
    hidden = ((aside < SKIN) & (along > 0) & (along < far - SKIN)).any(0)
    return float(1 - hidden.mean())


@cache
def _arm(body: Body) -> NDArray[np.int32]:
    """The numbers of the vertices that the right arm is made of."""
    joints = arm_joints("right")[ARM.index("shoulder") :]
    return np.flatnonzero(body.weight_table[:, [INDEX[name] for name in joints]].sum(1) > 0.5).astype(np.int32)
