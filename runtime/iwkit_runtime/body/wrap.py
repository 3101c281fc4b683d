"""Fitting a hand to the shape of a thing: fingers curl until they touch, else the wrist is turned (ACT-9; paper B.2.2).

The shape is asked as a signed distance, so that this module knows no scene. All points are in the frame of the wrist
joint of the hand that is fitted; where the thing is in it moves with the wrist.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.body import rotations
from iwkit_runtime.body.atlas import families
from iwkit_runtime.body.hands import Family, Grip, grip_point, prototype_bends, turns_of
from iwkit_runtime.body.model import Body
from iwkit_runtime.body.pose import FINGERS, INDEX, Side

Array = NDArray[np.float64]
Distance = Callable[[Array], Array]
"""Signed distances (...) in metres of points (..., 3) in the thing's frame; negative inside."""

BAND, DEPTH = 0.006, 0.004
"""A finger touches when it is no further than this from the surface, and no deeper in it, metres."""
CURL = np.deg2rad(np.arange(0, 121, 6.0))
"""Bends at which fingers are looked at; between two of them the touch is found by guessing from the gaps."""
HALVINGS = 6
TOUCH, NEARLY = 0.0005, 0.00028
"""Metres from the surface at which a finger stops, and by how much sooner it may."""
GUESSES = 6
"""Bends that are tried to find where it does."""
YAWS, ROLLS = np.deg2rad((0, 10, -10, 20, -20)), np.deg2rad((0, 15, -15))
"""How the wrist is turned when fingers miss: about the direction of the palm, and about that of the fingers."""
OPPOSED = -0.2
"""Cosine between the directions out of the thing where thumb and a finger touch: no larger, and they hold it."""
SEAT = (-0.08, 0.08)
"""How far along the palm's direction a hand is moved to lay its palm on a thing, metres."""
_SKIN = 0.6
"""A vertex whose weights on a finger are more than this is that finger's."""


_EVERY = 2
"""Of a finger's vertices, which lie 2 to 3 mm apart, every so many are looked at."""


class Wrap(NamedTuple):
    """A fitted hand. `pose` (45,); `touching` (5,) which fingers touch, in the order of `FINGERS`; `gaps` (5,) metres;
    `opposed`: whether thumb and fingers press against each other; `thing`: where the thing's frame (4, 4) then is in
    the frame of the wrist; `holds`: whether enough fingers touch, opposed; `grasps`: whether the least touches without
    which nobody would say that the hand has hold of it: thumb and a finger, or the palm and fingers."""

    pose: Array
    touching: NDArray[np.bool_]
    gaps: Array
    opposed: bool
    thing: Array
    holds: bool
    grasps: bool


class _Finger(NamedTuple):
    """The skin of a finger at rest: vertices (v, 3), and weights (v, 4) of palm and three joints."""

    vertices: Array
    weights: Array


class _Skin(NamedTuple):
    """The skin of a hand at rest: the fingers in their order, and the palm's vertices (p, 3)."""

    fingers: tuple[_Finger, ...]
    palm: Array


@cache
def _skin(body: Body, side: Side) -> _Skin:
    wrist = INDEX[f"{side}_wrist"]
    table, vertices = body.weight_table, body.vertices - body.joints[wrist]
    fingers = []
    for finger in FINGERS:
        joints = [INDEX[f"{side}_{finger}{k}"] for k in (1, 2, 3)]
        mine = np.flatnonzero(table[:, joints].sum(1) > _SKIN)[::_EVERY]
        weights = table[mine][:, joints]
        fingers.append(_Finger(vertices[mine], np.column_stack([1 - weights.sum(1), weights])))
    palm = vertices[table[:, wrist] > 1 - _SKIN / 2]
    return _Skin(tuple(fingers), palm)


def finger_points(body: Body, side: Side, family: Family, finger: int, bends: Array) -> Array:
    """The skin (n, v, 3) of a finger at bends (n,) in a family's grip: forward kinematics and skinning of many hands at
    once."""
    skin, first = _skin(body, side).fingers[finger], INDEX[f"{side}_{FINGERS[finger]}1"]
    joints = body.joints[first : first + 3] - body.joints[INDEX[f"{side}_wrist"]]
    turns = turns_of(body, side, family, finger, bends)
    turned, at = np.broadcast_to(np.eye(3), (len(bends), 3, 3)), np.zeros((len(bends), 3))
    points = skin.weights[:, 0, None] * skin.vertices
    before = np.zeros(3)
    out = np.broadcast_to(points, (len(bends), *points.shape)).copy()
    for k in range(3):
        at = at + turned @ (joints[k] - before)
        turned, before = turned @ turns[:, k], joints[k]
        moved = at[:, None] + (skin.vertices - joints[k]) @ np.swapaxes(turned, -1, -2)
        out += skin.weights[:, k + 1, None] * moved
    return out


@cache
def _table(body: Body, side: Side, family: Family) -> tuple[Array, ...]:
    """The skin of each finger at every bend of `CURL`."""
    return tuple(finger_points(body, side, family, f, CURL) for f in range(len(FINGERS)))


def wrapped(body: Body, side: Side, grip: Grip, thing: Array, distance: Distance) -> Wrap:
    """The hand fitted to a thing whose frame (4, 4) is at `thing` in the frame of the wrist.

    First as the hand is; when too few fingers touch, laid onto the thing and turned about what it holds, and the best
    of these: with the most fingers touching, then the smallest gaps.
    """
    family = families()[grip.family]
    best = curled(body, side, grip, thing, distance)
    if best.holds:
        return best
    centre = grip_point(body, side, grip)
    palm, along = _directions(side)
    for roll, yaw in product(ROLLS, YAWS):
        turn = rotations.matrix(yaw * palm) @ rotations.matrix(roll * along)
        moved = thing.copy()
        moved[:3, :3] = turn @ thing[:3, :3]
        moved[:3, 3] = centre + turn @ (thing[:3, 3] - centre)
        if family.seat is not None:
            moved[:3, 3] += palm * _seat(body, side, family.seat, moved, distance)
        found = curled(body, side, grip, moved, distance)
        if _score(found) > _score(best):
            best = found
        if best.holds:
            break
    return best


def _score(wrap: Wrap) -> tuple[bool, int, bool, float]:
    return wrap.holds, int(wrap.touching.sum()), wrap.opposed, -float(np.abs(wrap.gaps).sum())


def _directions(side: Side) -> tuple[Array, Array]:
    """Out of the palm and along the fingers of a hand at rest, in the frame of its wrist."""
    return np.array([0, -1.0, 0]), np.array([1.0 if side == "left" else -1.0, 0, 0])


def _seat(body: Body, side: Side, gap: float, thing: Array, distance: Distance) -> float:
    """How far a thing is moved along the palm's direction so that the palm's skin is a gap from it; 0 when it is
    nowhere before the palm."""
    palm, _ = _directions(side)
    skin = _skin(body, side).palm
    away = np.linspace(*SEAT, 33)
    nearest = _away(skin, thing, distance, shifts=away[:, None] * palm)
    # the thing moves by `away`: where it first comes within the gap on its way towards the palm
    close = np.flatnonzero(nearest < gap)
    if not len(close) or close[-1] == len(away) - 1:
        return 0.0
    low, high = away[close[-1]], away[close[-1] + 1]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        inside = _away(skin, thing, distance, shifts=np.array([middle * palm]))[0] < gap
        low, high = (middle, high) if inside else (low, middle)
    return float(high)


def _away(skin: Array, thing: Array, distance: Distance, shifts: Array) -> Array:
    """The distances (n,) of the nearest of points (p, 3) from a thing that is shifted (n, 3)."""
    local = (skin - thing[:3, 3] - shifts[:, None]) @ thing[:3, :3]
    return np.asarray(distance(local).min(-1))


def curled(body: Body, side: Side, grip: Grip, thing: Array, distance: Distance) -> Wrap:
    """The hand on a thing where it is, each finger bent until it touches, or to where it is nearest; as `wrapped`."""
    table = _table(body, side, grip.family)
    turn, at = thing[:3, :3], thing[:3, 3]

    def nearest(points: Array) -> Array:
        return np.asarray(distance((points - at) @ turn).min(-1))

    def gap_of(finger: int, bend: float) -> float:
        return float(nearest(finger_points(body, side, grip.family, finger, np.array([bend])))[0])

    bends, gaps, nearest_at = prototype_bends(body, side, grip).copy(), np.zeros(len(FINGERS)), []
    for f in range(len(FINGERS)):
        gap = nearest(table[f])
        touched = np.flatnonzero(gap <= TOUCH)
        if not len(touched):
            k = int(gap.argmin())
            gaps[f] = gap[k]
            if gap[k] <= BAND:  # else it is as far from the thing as can be: it bends as the prototype does
                bends[f] = CURL[k]
        elif touched[0] == 0:  # it is in the thing while it is open: perhaps not any more when it is bent
            good = np.flatnonzero((gap <= BAND) & (gap >= -DEPTH))
            k = int(good[0]) if len(good) else int(gap.argmax())
            bends[f], gaps[f] = CURL[k], gap[k]
        else:
            at_touch = slice(touched[0] - 1, touched[0] + 1)
            bends[f], gaps[f] = _met(CURL[at_touch], gap[at_touch], partial(gap_of, f))
        points = finger_points(body, side, grip.family, f, bends[[f]])[0]
        local = (points - at) @ turn
        nearest_at.append(local[distance(local).argmin()])
    touching = (gaps <= BAND) & (gaps >= -DEPTH)
    opposed = _opposed(np.array(nearest_at), touching, distance)
    turns = [turns_of(body, side, grip.family, f, bends[[f]])[0] for f in range(len(FINGERS))]
    pose = rotations.vector(np.array(turns)).ravel()
    holds = bool(touching.sum() >= families()[grip.family].touching and opposed)
    return Wrap(
        pose, touching, gaps, opposed, thing, holds, holds or _grasps(body, side, grip, touching, thing, distance)
    )


def _grasps(  # noqa: PLR0917 (part of `curled`)
    body: Body, side: Side, grip: Grip, touching: NDArray[np.bool_], thing: Array, distance: Distance
) -> bool:
    """Whether the thumb and a finger touch, or the palm and as many fingers as the family wants then."""
    least = families()[grip.family].least
    if touching[FINGERS.index("thumb")] and touching.sum() >= least.with_thumb:
        return True
    if touching.sum() < least.with_palm:
        return False
    return bool(_away(_skin(body, side).palm, thing, distance, np.zeros((1, 3)))[0] <= BAND)


def _met(span: Array, gaps: Array, gap: Callable[[float], float]) -> tuple[float, float]:
    """The bend in a span (2,) at which a finger comes to touch, and its gap there, from its gaps (2,) at both ends: the
    first is more than a touch, the second is not."""
    low, high = span.tolist()
    least, most = gaps.tolist()
    for _ in range(GUESSES):
        if least <= TOUCH + NEARLY:
            break
        share = (least - TOUCH - NEARLY / 2) / (least - most)
        middle = low + float(np.clip(share, 0.05, 0.95)) * (high - low)
        found = gap(middle)
        low, least, high, most = (low, least, middle, found) if found <= TOUCH else (middle, found, high, most)
    return low, least


def _opposed(points: Array, touching: NDArray[np.bool_], distance: Distance) -> bool:
    """Whether thumb and a finger that touch at points (5, 3) press from opposite sides."""
    thumb = FINGERS.index("thumb")
    others = touching & (np.arange(len(FINGERS)) != thumb)
    if not touching[thumb] or not others.any():
        return False
    step = BAND / 2
    ways = np.stack([distance(points + step * e) - distance(points - step * e) for e in np.eye(3)], -1)
    ways = rotations.unit(ways)
    return bool((ways[others] @ ways[thumb]).min() <= OPPOSED)
