"""How a thing is taken: grip family, point of contact and direction of the palm, from its box (ACT-6)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from iwkit_runtime.body.hands import OPENINGS, Family, Grip
from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.trajectory import Stand

FLAT = 0.04
"""A thing that is no higher is flat, metres."""
TALL = 1.15
"""A thing that is so many times higher than it is wide is taken around the middle (ACT-6)."""
HAND = 0.05
"""Metres above a support at which the middle of a hand that comes from the side is, at least."""
RIM = 0.02
"""Width of a rim or edge that is pinched, and how far below the top, metres."""
ASIDE = tuple(math.radians(angle) for angle in (20, 0, 45, -20, 70))
"""How far the palm of a hand that comes from the side is turned towards the wearer."""

Way = Literal["side", "top"]


class Grasp(NamedTuple):
    """One way to take a thing: where the middle of the grip goes (3,), where the palm faces (3,), and from where the
    hand comes."""

    grip: Grip
    target: Floats
    palm: Floats
    way: Way


class Style(NamedTuple):
    """A grip, from where the hand comes, whether it takes the near edge, and the height of its middle on the thing."""

    family: Family
    opening: float
    way: Way
    edge: bool
    height: float


def styles(size: Vector) -> tuple[Style, ...]:
    """How a thing of this size can be taken, the best first."""
    narrow, wide, high = min(size[:2]), max(size[:2]), size[2]
    rim = Style("pinch", min(RIM, high), "top", True, max(high - RIM, high / 2))
    if high <= FLAT:
        whole = Style("pinch", narrow, "top", False, high / 2)
        edge = Style("pinch", high, "top", True, high / 2)
        return (whole, edge) if narrow <= OPENINGS["pinch"][1] else (edge,)
    around = Style("cylindrical", narrow, "side", False, max(high / 2, min(HAND, high)))
    above = Style("round", narrow, "top", False, max(high / 2, high - HAND))
    if narrow > OPENINGS["round"][1]:
        return (rim,)
    if narrow > OPENINGS["cylindrical"][1]:
        return (above, rim)
    return (around, above, rim) if high > TALL * wide or wide > OPENINGS["round"][1] else (above, around, rim)


def grasps(size: Vector, at: Frame, stand: Stand) -> Iterator[Grasp]:
    """Ways to take a thing of this size at a frame from where one stands, the best first."""
    for style in styles(size):
        low, high = OPENINGS[style.family]
        grip = Grip(style.family, round(min(max(style.opening, low), high), 3))
        middle = _edge(size, at, stand) if style.edge else np.zeros(2)
        target = at.point((*middle, style.height))
        for palm in _palms(style.way, math.atan2(target[1] - stand.y, target[0] - stand.x)):
            yield Grasp(grip, target, palm, style.way)


def _palms(way: Way, bearing: float) -> list[Floats]:
    if way == "top":
        return [np.array([0.0, 0.0, -1.0])]
    ways = [bearing + math.pi / 2 + aside for aside in ASIDE]
    return [np.array([math.cos(angle), math.sin(angle), 0.0]) for angle in ways]


def _edge(size: Vector, at: Frame, stand: Stand) -> Floats:
    """The point of the edge nearest to the wearer, on the plan in the thing's frame: on the ellipse in its box."""
    towards = at.local((stand.x, stand.y, float(at.at[2])))[:2]
    length = float(np.hypot(*(towards / (np.array(size[:2]) / 2))))
    edge = towards / max(length, 1e-9)
    inset = 1 - RIM / 2 / max(float(np.hypot(*edge)), 1e-9)
    return np.asarray(edge * max(inset, 0.0))
