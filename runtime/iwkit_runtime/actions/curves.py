"""The ways that tools take, in the frame of what they are used on: one table (ACT-8; spec Table 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal, NamedTuple

import numpy as np

from iwkit_runtime.physical.kinematics import Frame, about
from iwkit_runtime.physical.spec import Floats, Vector

UP = np.array([0.0, 0.0, 1.0])
AZIMUTHS = tuple(math.radians(angle) for angle in (0, 30, -30, 60, -60, 90, -90))
"""How far a tool is turned from where it points when it is carried."""
REACH = 1e-3
"""Metres above a surface at which what touches it is."""


class Patch(NamedTuple):
    """The part of a target that a tool is used on: its middle with x to the right, y ahead and z out of it, and half
    its width and depth, metres."""

    at: Frame
    half: tuple[float, float]


class Row(NamedTuple):
    """A key of a curve: across and ahead as shares of the half sizes, metres above the patch, degrees by which the tool
    is tilted ahead, and frames for which it stays."""

    across: float
    ahead: float
    up: float
    tilt: float = 0.0
    stay: int = 0


class Attitude(NamedTuple):
    """How a tool is held: degrees by which its working end (+y) points down, and by which it is rolled about itself."""

    pitch: float
    roll: float


FLAT = Attitude(0, 0)


@dataclass(frozen=True)
class Curve:
    """How a tool is used.

    `ground`: where the patch is. `touch`: the point of the tool that goes along the curve, as a share of its half
    length from its middle, or the `lip`, about which it is tilted. `attitudes` are tried in order, then the `variants`:
    metres by which all is higher, and the share of each tilt. `turns`: degrees by which "ahead" is turned to the left
    of how the wearer looks. `lean`: radians by which the hand may miss how the tool should be held. `pace` and `turn`:
    metres and degrees a frame.
    """

    rows: tuple[Row, ...]
    ground: Literal["top", "inside"]
    touch: float | Literal["lip"]
    attitudes: tuple[Attitude, ...]
    variants: tuple[tuple[float, float], ...] = ((0.0, 1.0),)
    turns: tuple[float, ...] = (0.0,)
    lean: float = math.radians(31)
    pace: float = 0.03
    turn: float = 8.0


def _strokes(*across: float) -> tuple[Row, ...]:
    """Straight down and up again, at each place."""
    return tuple(Row(x, 0, up) for x in across for up in (0.08, 0.0, 0.08))


def _circles(rounds: int, steps: int = 12) -> tuple[Row, ...]:
    angles = [math.tau * n / steps for n in range(rounds * steps + 1)]
    over = Row(0, 0, 0.2)
    return (over, *(Row(0.5 * math.cos(a), 0.5 * math.sin(a), 0.02) for a in angles), over)


def _raster(lines: int) -> tuple[Row, ...]:
    """To and fro, line after line, towards the wearer."""
    rows = [Row(0, 1, 0.06)]
    for n in range(lines):
        side = 1 if n % 2 else -1
        rows += [Row(x, 1 - 2 * n / (lines - 1), 0.0) for x in (side, -side)]
    return (*rows, Row(0, -1, 0.06))


CURVES: Final[Mapping[str, Curve]] = {
    "cut": Curve(
        _strokes(-0.35, 0.0, 0.35),
        "top",
        0.55,
        (Attitude(0, 90), Attitude(15, 90), Attitude(0, -90), FLAT),
        ((0.0, 1.0), (0.02, 1.0)),
    ),
    "stir": Curve(
        _circles(3),
        "inside",
        1.0,
        (Attitude(70, 0), Attitude(50, 0), Attitude(85, 0)),
        ((0.0, 1.0), (0.05, 1.0), (0.10, 1.0), (0.15, 1.0)),
    ),
    "pour": Curve(
        (Row(0, -0.2, 0.15), Row(0, -0.2, 0.05, 110, 14), Row(0, -0.2, 0.15)),
        "top",
        "lip",
        (FLAT,),
        ((0.0, 1.0), (0.03, 0.9), (0.03, 0.75), (0.06, 0.75)),
        (90, 65, 115, 40, 0),
    ),
    "wipe": Curve(_raster(4), "top", 0.0, (FLAT,), lean=math.radians(1), pace=0.05),
}
"""Primitive -> how its tool goes."""


def ways(curve: Curve, size: Vector, patch: Patch, first: float) -> Iterator[list[Frame]]:
    """Where a tool of a size (metres) is from frame to frame, for each way of holding it; `first` is the direction in
    which it points at rest, radians in the world: it is turned no further than need be."""
    for (lift, share), turn in product(curve.variants, curve.turns):
        ahead = Patch(Frame(patch.at.turn @ about(UP, math.radians(turn)), patch.at.at), patch.half)
        x, y = ahead.at.turn[:2, 0]
        start = first - math.atan2(y, x)
        for azimuth, attitude in product(AZIMUTHS, curve.attitudes):
            yield [ahead.at.then(f) for f in _along(curve, size, ahead.half, attitude, start + azimuth, lift, share)]


def _along(  # noqa: PLR0917 (the parts of one choice)
    curve: Curve, size: Vector, half: tuple[float, float], attitude: Attitude, azimuth: float, lift: float, share: float
) -> Iterator[Frame]:
    """Frames of the tool against the patch."""
    turned = (
        about(UP, azimuth - math.pi / 2)
        @ about((1, 0, 0), -math.radians(attitude.pitch))
        @ about((0, 1, 0), math.radians(attitude.roll))
    )
    for row in _dense(curve, half):
        tilt = math.radians(share * row.tilt)
        turn = about((-1, 0, 0), tilt) @ turned  # what was up goes ahead
        point, low = _touch(curve, size, turned, tilt)
        at = np.array([row.across * half[0], row.ahead * half[1], row.up + lift + low + REACH])
        yield Frame(turn, at - turn @ point)


def _touch(curve: Curve, size: Vector, turned: Floats, tilt: float) -> tuple[Floats, float]:
    """The point of the tool (3,) that goes along the curve, and how far the tool reaches below it."""
    if curve.touch == "lip":
        ahead = turned.T @ (0.0, 1.0, 0.0)
        return np.asarray(ahead * min(size[:2]) / 2 + (0, 0, size[2])), size[2] * max(0.0, math.cos(tilt))
    wide, long, high = (length / 2 for length in size)
    below = abs(turned[2, 0]) * wide + abs(turned[2, 2]) * high
    return np.array([0, curve.touch * long, high]), float(below)


def _dense(curve: Curve, half: tuple[float, float]) -> Iterator[Row]:
    """The keys and what lies between them, frame by frame."""
    before = curve.rows[0]
    yield before
    for row in curve.rows[1:]:
        way = math.dist(
            (before.across * half[0], before.ahead * half[1], before.up),
            (row.across * half[0], row.ahead * half[1], row.up),
        )
        count = max(1, math.ceil(way / curve.pace - 1e-9), math.ceil(abs(row.tilt - before.tilt) / curve.turn - 1e-9))
        for n in range(1, count + 1):
            across, ahead, up, tilt = (a + (b - a) * n / count for a, b in zip(before[:4], row[:4], strict=True))
            yield Row(across, ahead, up, tilt)
        yield from (row for _ in range(row.stay))
        before = row
