"""How a thing can be taken: grip families, points of contact and turns of the hand, from its shape (ACT-6)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from iwkit_runtime.body import rotations
from iwkit_runtime.body.atlas import AUTO, Calibration, InHand, Side
from iwkit_runtime.body.hands import OPENINGS, Family, Grip
from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.spec import Floats

Bools = NDArray[np.bool_]
Numbers = NDArray[np.intp] | Bools | list[int]

FLAT = 0.04
"""A thing that is no higher is flat, metres."""
TALL = 1.15
"""A thing that is so many times higher than it is wide is taken around the middle (ACT-6)."""
HAND = 0.05
"""Metres above a support at which the middle of a hand that comes from the side is, at least."""
RIM = 0.02
"""Width of a rim or edge that is pinched, and how far below the top, metres."""
ROUND = 12
"""Directions on the plan in which a hand comes, a palm faces, or an edge is taken."""
INWARDS = (0, 50, -50)
"""Degrees by which the fingers at an edge point aside from straight inwards."""
WAISTS = (0.5, 0.65, 0.35, 0.8, 0.2)
"""Shares of a thing's height at which it is looked for where it is narrower."""
LONG = 1.6
"""What is so many times longer than it is wide is pinched across."""
SIDES: Mapping[Side, float] = {"right": 0.0, "back": math.pi / 2, "left": math.pi, "front": -math.pi / 2}
"""Where the sides of a thing look on the plan, against its turn, radians."""
FACING = 0.25
"""An edge is before the wearer that looks towards it by so much (cosine)."""
ORIGIN = Frame(np.eye(3), np.zeros(3))
"""The frame of a thing that lies where it was made."""
Turns = tuple[tuple[tuple[float, float], ...], ...]
ABOVE: Turns = (
    ((0, 0),),
    ((20, 0), (-20, 0), (0, 20), (0, -20)),
    ((40, 0), (-40, 0), (0, 40), (0, -35), (25, 30)),
    ((0, 60), (0, 80), (25, 60), (60, 0), (85, 0), (-60, 0)),
)
"""Turns of a hand whose palm looks down, degrees: the fingers up, and the palm to the left. Those that are more natural
come first; those that lie flat, or come from the front, are for what is under a board."""
ASIDE: Turns = (
    ((0, 0), (25, 0), (-25, 0)),
    ((0, 20), (0, -20), (50, 0)),
    ((-50, 0), (90, 0), (25, 20), (0, 40)),
    ((70, 0), (50, 25), (25, -20), (0, -40)),
)
"""Turns of a hand whose thumb is up, degrees: the fingers down, and the palm down."""


class Style(NamedTuple):
    """A grip, from where the hand comes, whether it takes an edge, and the height of its middle on the thing."""

    family: Family
    opening: float
    above: bool
    edge: bool
    height: float


@dataclass(frozen=True, eq=False)
class Goals:
    """k ways for the hand to be, with one grip: where the middle of the grip goes, where the palm faces, and where the
    fingers point, (k, 3) each; palm and fingers are of length 1 and normal to each other. At an edge, `outwards` (k, 3)
    is where that looks."""

    grip: Grip
    targets: Floats
    palms: Floats
    fingers: Floats
    outwards: Floats | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def chosen(self, which: Numbers) -> Goals:
        """Those of a mask or of numbers."""
        outwards = None if self.outwards is None else self.outwards[which]
        return Goals(self.grip, self.targets[which], self.palms[which], self.fingers[which], outwards)

    def before(self, x: float, y: float) -> Bools:
        """Which of them are not at an edge that looks away from a place on the floor (k,)."""
        if self.outwards is None:
            return np.ones(len(self), dtype=np.bool_)
        towards = np.array([x, y, 0.0]) - self.targets
        towards[:, 2] = 0
        return np.asarray((rotations.unit(towards) * self.outwards).sum(1) > FACING)

    @property
    def frames(self) -> Floats:
        """The frames (k, 3, 3) of the grips, see `hands.grip_frame`."""
        return np.stack([self.fingers, self.palms, rotations.cross(self.fingers, self.palms)], -1)


def styles(width: float, depth: float, high: float) -> tuple[Style, ...]:
    """How a thing of this size can be taken, the best first."""
    narrow, wide = min(width, depth), max(width, depth)
    rim = Style("pinch", min(RIM, high), True, True, max(high - RIM, high / 2))
    if high <= FLAT:
        whole = Style("pinch", narrow, True, False, high / 2)
        edge = Style("pinch", high, True, True, high / 2)
        return (whole, edge) if narrow <= OPENINGS["pinch"][1] else (edge,)
    around = Style("cylindrical", narrow, False, False, max(high / 2, min(HAND, high)))
    above = Style("round", narrow, True, False, max(high / 2, high - HAND))
    if narrow > OPENINGS["round"][1]:
        return (rim,)
    if narrow > OPENINGS["cylindrical"][1]:
        return (above, rim)
    return (around, above, rim) if high > TALL * wide or wide > OPENINGS["round"][1] else (above, around, rim)


class Shape:
    """A thing as it lies: the planes around its convex pieces, and the box around it, turned as it is on the plan."""

    def __init__(self, pieces: Sequence[Floats], yaw: float) -> None:
        """`pieces` are corners (n, 3) in the world; `yaw` is the thing's turn on the plan."""
        self.yaw = yaw
        self._planes = [ConvexHull(points).equations for points in pieces]
        points = np.concatenate(pieces)
        c, s = math.cos(yaw), math.sin(yaw)
        local = points[:, :2] @ np.array([[c, -s], [s, c]])
        low, high = local.min(0), local.max(0)
        self.bottom, self.top = float(points[:, 2].min()), float(points[:, 2].max())
        self.size = (float(high[0] - low[0]), float(high[1] - low[1]), self.top - self.bottom)
        self.middle: Floats = np.array([[c, -s], [s, c]]) @ ((low + high) / 2)

    def chords(self, start: Floats, ways: Floats) -> Floats:
        """Where lines from a point (3,) along unit vectors (k, 3) are in the thing: from the first (k, 2) to the last
        metre along them; NaN where they never are."""
        first, last = np.full(len(ways), np.inf), np.full(len(ways), -np.inf)
        for planes in self._planes:
            slope, above = ways @ planes[:, :3].T, planes[:, :3] @ start + planes[:, 3]
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                cuts = -above / slope
            low = np.where(slope < -1e-9, cuts, -np.inf).max(1)
            high = np.where(slope > 1e-9, cuts, np.inf).min(1)
            inside = (high > low) & ~((np.abs(slope) <= 1e-9) & (above > 0)).any(1)
            first = np.where(inside, np.minimum(first, low), first)
            last = np.where(inside, np.maximum(last, high), last)
        return np.where((last > first)[:, None], np.stack([first, last], -1), np.nan)

    def core(self, height: float) -> Floats:
        """The point (3,) in the thing, so far above its bottom or as near to that as may be, and in its middle."""
        heights = self.bottom + np.concatenate([[height], np.linspace(0.03, 0.97, 13) * self.size[2]])
        heights = heights[np.argsort(np.abs(heights - heights[0]), kind="stable")]
        for z in heights.tolist():
            start = np.array([*self.middle, z])
            for _ in range(2):  # to the middle of what is there, across and along
                for turn in (0.0, math.pi / 2):
                    way = _level(np.array([self.yaw + turn]))
                    chord = self.chords(start, way)[0]
                    if np.isfinite(chord).all():
                        start = start + chord.mean() * way[0]
            if np.isfinite(self.chords(start, _level(np.array([self.yaw])))).all():
                return np.asarray(start)
        return np.array([*self.middle, float(heights[0])])


def waist(shape: Shape) -> Style | None:
    """How a thing that is too wide for a hand is taken around where it is narrower, if it is anywhere."""
    angles: Floats = shape.yaw + np.arange(ROUND, dtype=np.float64) * (math.tau / ROUND)
    ways = _level(angles)
    for share in WAISTS:
        core = shape.core(share * shape.size[2])
        widths = np.diff(shape.chords(core, ways))[:, 0]
        if not np.isnan(widths).all() and np.nanmin(widths) <= OPENINGS["cylindrical"][1]:
            return Style("cylindrical", float(np.nanmin(widths)), False, False, float(core[2]) - shape.bottom)
    return None


def calibrated(found: Sequence[Style], hint: Calibration, high: float) -> list[Style]:
    """Styles in the order in which a calibration wants them, at its height and with its clearance; none is lost."""
    least = min(hint.clearance or 0.0, high)
    ways = [
        style
        if style.edge
        else style._replace(height=max(least, style.height if hint.height is None else hint.height * high))
        for style in found
    ]
    if hint.family == "pinch" and hint.region == "center" and ways[0].family != "pinch":
        ways.insert(0, Style("pinch", ways[0].opening, True, False, max(least, (hint.height or 0.5) * high)))
    return sorted(ways, key=lambda style: _unlike(style, hint))


def _unlike(style: Style, hint: Calibration) -> int:
    """In how many respects a style is not what a calibration asks for."""
    family = {"auto": True, "pinch": style.family == "pinch", "wrap": style.family != "pinch"}[hint.family]
    region = {
        "auto": True,
        "edge": style.edge,
        "body": not style.edge and not style.above,
        "center": not style.edge and style.above,
    }[hint.region]
    return 2 - family - region


def one_way(grip: Grip, at: Frame) -> Goals:
    """The hand in one way only: the frame of its grip is there."""
    return Goals(grip, at.at[None], at.turn[None, :, 1], at.turn[None, :, 0])


def goals(shape: Shape, hint: Calibration = AUTO, thing: Frame = ORIGIN) -> Iterator[list[Goals]]:
    """Ways to take a thing: style by style, the best first, each with its levels, the most natural turns first.

    `thing` is its frame, for a calibration that says where exactly it is in the hand: that way comes before all.
    """
    if hint.in_hand is not None:
        yield [one_way(Grip(hint.in_hand.family, hint.in_hand.opening), thing.then(_in_hand(hint.in_hand).inverse()))]
    found = calibrated(styles(*shape.size), hint, shape.size[2])
    narrower = None if shape.size[2] <= FLAT or any(not style.above for style in found) else waist(shape)
    for style in found if narrower is None else (*found, narrower):
        low, high = OPENINGS[style.family]
        core = shape.core(style.height)
        angles: Floats = np.arange(ROUND, dtype=np.float64) * (math.tau / ROUND)
        if style.edge:
            grip = Grip(style.family, round(min(max(style.opening, low), high), 3))
            for some in _by_side(angles, shape.yaw, hint.edges):
                yield [_at_edges(shape, core, grip, some, turns) for turns in ABOVE]
            continue
        ways: Floats = shape.yaw + angles
        widths = np.diff(shape.chords(core, _level(ways)))[:, 0]
        opening = style.opening if np.isnan(widths).all() else float(np.nanmin(widths))
        grip = Grip(style.family, round(min(max(opening, low), high), 3))
        if style.above:
            yield _from_above(shape, core, grip, ways, widths)
        else:
            yield [_turned(grip, core[None], _level(ways), _UP, turns, side=True) for turns in ASIDE]


def _in_hand(place: InHand) -> Frame:
    """The frame of a thing in that of the grip."""
    return Frame(rotations.matrix(np.radians(place.turn)), np.array(place.at))


def _by_side(angles: Floats, yaw: float, preferred: Sequence[Side]) -> list[Floats]:
    """Directions on the plan (k,) of a thing turned so: those to the sides preferred, then the others."""
    if not preferred:
        return [angles]
    looks = [np.cos(angles - yaw - SIDES[side]) for side in preferred]
    first = np.max(looks, axis=0) >= math.cos(math.pi / 4)
    return [angles[first], angles[~first]]


_UP = np.array([0.0, 0.0, 1.0])


def _level(angles: Floats) -> Floats:
    return np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], -1)


def _from_above(shape: Shape, core: Floats, grip: Grip, ways: Floats, widths: Floats) -> list[Goals]:
    """Levels of a grip over a thing's middle; what is long is taken across first."""
    long = max(shape.size[:2]) > LONG * min(shape.size[:2])
    across = np.ones(len(ways), dtype=np.bool_)
    if long and not np.isnan(widths).all():
        across = widths <= max(1.3 * float(np.nanmin(widths)), grip.opening)
    levels = [_turned(grip, core[None], _level(ways[across]), _UP, turns) for turns in ABOVE]
    if across.all():
        return levels
    return [*levels, *(_turned(grip, core[None], _level(ways[~across]), _UP, turns) for turns in ABOVE[:-1])]


def _at_edges(shape: Shape, core: Floats, grip: Grip, angles: Floats, turns: tuple[tuple[float, float], ...]) -> Goals:
    """A grip at a thing's edges, all around, at the height of its core."""
    ends = shape.chords(core, _level(angles))[:, 1]
    good = np.isfinite(ends)
    angles, ends = angles[good], np.maximum(ends[good] - RIM / 2, 0.0)
    points = core + ends[:, None] * _level(angles)
    parts = []
    for aside in INWARDS:
        inwards = _level(angles + math.pi + math.radians(aside))
        parts.append(_turned(grip, points, inwards, _UP, turns, each=True))
    outwards = np.tile(_level(angles), (len(INWARDS) * len(turns), 1))
    targets, palms, fingers = (
        np.concatenate(rows) for rows in zip(*((p.targets, p.palms, p.fingers) for p in parts), strict=True)
    )
    return Goals(grip, targets, palms, fingers, outwards)


def _turned(
    grip: Grip,
    points: Floats,
    ways: Floats,
    up: Floats,
    turns: tuple[tuple[float, float], ...],
    *,
    side: bool = False,
    each: bool = False,
) -> Goals:
    """The hand at points (1, 3) or, with `each`, (k, 3): its fingers along level ways (k, 3) and its palm down, or
    (`side`) its palm along the ways and its thumb up; then turned by each of the turns."""
    if side:
        base = np.stack(
            [rotations.cross(ways, np.broadcast_to(up, ways.shape)), ways, np.broadcast_to(up, ways.shape)], -1
        )
    else:
        palms = np.broadcast_to(-up, ways.shape)
        base = np.stack([ways, palms, rotations.cross(ways, palms)], -1)
    frames, targets = [], []
    for first, second in np.radians(turns).tolist():
        # of a hand from above: about the thumb's direction, then about the fingers'; of one from the side: about the
        # palm's, then about the fingers'
        one = rotations.about("y", first) if side else rotations.about("z", -first)
        frames.append(base @ one @ rotations.about("x", -second if side else second))
        targets.append(points if each else np.repeat(points, len(ways), 0))
    turned = np.concatenate(frames)
    return Goals(grip, np.concatenate(targets), turned[..., 1], turned[..., 0])
