"""Where the connectors of parts are, and how those of two parts meet (spec Table 5, attach).

Connectors have names, but no places in the catalogue: those of a thing are spread evenly along its longer side, on its
underside as a child and on its top as a parent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from iwkit_runtime.physical.kinematics import Frame, about
from iwkit_runtime.physical.scene_spec import Placed
from iwkit_runtime.physical.spec import Floats, Vector

Part = tuple[Sequence[str], Placed, Frame]
"""The connectors of a thing by name, the thing, and where it is."""


class Fit(NamedTuple):
    """How two parts meet: metres between the nearest pair of their connectors, and degrees by which the child is turned
    away from the nearest way in which it can be joined."""

    distance: float
    angle: float


def connector(size: Vector, count: int, number: int, *, top: bool) -> Floats:
    """Where the connector (3,) with a number, from 0, of so many is on a thing of a size (metres), in its frame."""
    point = np.array([0.0, 0.0, size[2] if top else 0.0])
    longer = 0 if size[0] >= size[1] else 1
    point[longer] = ((number + 0.5) / count - 0.5) * size[longer]
    return point


def fit(child: Part, parent: Part) -> Fit | None:
    """How two parts meet; None if one of them has no connector."""
    (mine, part, at), (others, base, below) = child, parent
    pairs = [
        float(np.linalg.norm(at.point(one) - below.point(other)))
        for one, other in product(_all(mine, part, top=False), _all(others, base, top=True))
    ]
    return Fit(min(pairs), _angle(below.turn.T @ at.turn)) if pairs else None


def _all(names: Sequence[str], placed: Placed, *, top: bool) -> list[Floats]:
    return [connector(placed.asset.size, len(names), number, top=top) for number in range(len(names))]


def _angle(turn: Floats) -> float:
    """Degrees of a rotation (3, 3) from the nearest quarter turn about the vertical."""
    cosines = [(float(np.trace(turn @ about((0, 0, 1), -n * math.pi / 2))) - 1) / 2 for n in range(4)]
    return math.degrees(math.acos(min(1.0, max(cosines))))
