"""Hands as 45-D poses: open, relaxed, and closed on a cylinder, a ball or between fingertips (ACT-6, ACT-9; paper B.2).

Families are files of the atlas. How far each finger bends is found on the bones of the hand against the primitive that
the grip is for, so that a grip fits the opening it was asked for: the prototype that `wrap` fits to the shape of a
thing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body import rotations
from iwkit_runtime.body.atlas import GripFamily, families
from iwkit_runtime.body.legs import SIGN
from iwkit_runtime.body.model import Body, joint
from iwkit_runtime.body.pose import FINGERS, INDEX, Side

Array = NDArray[np.float64]
Family = str
"""The name of a grip family of the atlas."""

FINGER_RADIUS = 0.009
"""Half the thickness of a finger, metres."""
PALM_DEPTH = 0.024
"""From the wrist joint's plane to the skin of the palm, metres."""
_BENDS = np.deg2rad(np.arange(0, 121, 2.0))
_THUMB_BACK = np.deg2rad(36)
"""The thumb's bend is counted from this far behind its rest, so that it opens wider than flat."""
RESTING: Family = "cylindrical"
"""The family that a free hand is ready for."""
_SAMPLES = np.linspace(0, 1, 5)
_LONG = ("index", "middle", "ring", "pinky")


class Grip(NamedTuple):
    """How a hand is closed: the family, and the width in metres of what it holds (a diameter, or the distance between
    the fingertips)."""

    family: Family
    opening: float


OPENINGS: Mapping[Family, tuple[float, float]] = {name: family.openings for name, family in families().items()}
"""The widths in metres that each grip can hold."""


class _Hand(NamedTuple):
    """A hand at rest in the frame of its wrist joint: unit vectors along the fingers and out of the palm; points
    (5, 4, 3) of the fingers from knuckle to tip and the axes (5, 3, 3) they bend about; the axis about which the thumb
    opposes."""

    along: Array
    palm: Array
    bones: Array
    axes: Array
    oppose: Array


class _Fit(NamedTuple):
    """A closed hand: bends (5,) of the fingers in the order of `FINGERS`, and the centre (3,) of what it holds."""

    bends: Array
    centre: Array


@cache
def _hand(body: Body, side: Side) -> _Hand:
    wrist = body.joints[INDEX[f"{side}_wrist"]]
    bones = np.empty((len(FINGERS), 4, 3))
    for f, finger in enumerate(FINGERS):
        numbers = [INDEX[f"{side}_{finger}{k}"] for k in (1, 2, 3)]
        bones[f, :3], bones[f, 3] = body.joints[numbers] - wrist, body.tips[numbers[-1]] - wrist
    first = dict(zip(FINGERS, bones[:, 0], strict=True))
    along = rotations.unit(first["middle"])
    across = rotations.unit(first["index"] - first["pinky"])
    palm = rotations.unit(np.cross(along, across)) * SIGN[side]
    directions = rotations.unit(np.diff(bones, axis=1))
    axes = np.cross(directions, palm)
    axes[-1] = np.cross(directions[-1], along)
    return _Hand(along, palm, bones, rotations.unit(axes), rotations.unit(np.cross(across, palm)))


def relaxed(side: Side) -> Array:
    """A hand at rest, fingers slightly bent (45,)."""
    pose = np.zeros((len(FINGERS), 3, 3))
    pose[[FINGERS.index(f) for f in _LONG], :, 2] = -SIGN[side] * np.deg2rad(families()[RESTING].relaxed)
    return pose.ravel()


def closed(body: Body, side: Side, grip: Grip, amount: float = 1.0) -> Array:
    """The hand (45,) closed for a grip; an `amount` of 0 is open with the thumb opposed, 1 closed.

    Raises:
        UsageError: an unknown family, an opening that it can't hold (see `OPENINGS`), or an amount outside 0 to 1.
    """
    if not 0 <= amount <= 1:
        raise UsageError(f"a hand closes by an amount from 0 to 1, not {amount}")
    fit, style = _fit(body, side, grip), families()[grip.family]
    hand = _hand(body, side)
    turns = [_turns(hand, f, amount * fit.bends[[f]], style)[0] for f in range(len(FINGERS))]
    return rotations.vector(np.array(turns)).ravel()


def grip_point(body: Body, side: Side, grip: Grip) -> Array:
    """The centre (3,) of what the grip holds, in the frame of the wrist joint: the `point` for `arms.reach`."""
    return _fit(body, side, grip).centre.copy()


def grip_frame(body: Body, frames: Array, side: Side, grip: Grip) -> Array:
    """The world frame (4, 4) in which a held thing sits, for joint frames (52, 4, 4).

    The origin is the centre of what the grip holds, x points along the fingers and z towards the thumb; y points out of
    the palm of a right hand, and out of the back of a left one. With the thumb up, an upright thing stays upright.
    """
    return np.asarray(joint(frames, f"{side}_wrist") @ _grip(body, side, grip))


def aims(body: Body, side: Side, grip: Grip, turns: Array) -> tuple[Array, Array]:
    """The directions (..., 3) of palm and fingers to ask `arms.reach` for, so that the frame of a grip is turned as in
    (..., 3, 3): that frame is not quite square to the hand's."""
    local = _grip(body, side, grip)[:3, :3]
    return turns @ -local[1], turns @ (local[0] * SIGN[side])


@lru_cache(maxsize=256)
def _grip(body: Body, side: Side, grip: Grip) -> Array:
    """The frame (4, 4) in which a held thing sits, in the frame of the wrist joint."""
    hand = _hand(body, side)
    thumb = np.cross(hand.along, hand.palm) * -SIGN[side]
    local = np.eye(4)
    local[:3, :3] = np.stack([hand.along, np.cross(thumb, hand.along), thumb], -1)
    local[:3, 3] = _fit(body, side, grip).centre
    return local


@lru_cache(maxsize=256)
def _fit(body: Body, side: Side, grip: Grip) -> _Fit:
    """The bends that hold the primitive of the grip."""
    if grip.family not in OPENINGS:
        raise UsageError(f"no grip is called {grip.family!r}; there are {', '.join(OPENINGS)}")
    style = families()[grip.family]
    low, high = style.openings
    if not low <= grip.opening <= high:
        raise UsageError(f"a {grip.family} grip holds {low} to {high} m, not {grip.opening} m")
    hand = _hand(body, side)
    return _pinch(hand, style, grip.opening) if style.holds == "tips" else _wrap(hand, style, grip)


def _wrap(hand: _Hand, style: GripFamily, grip: Grip) -> _Fit:
    """Each finger bends until its bones touch the cylinder across the palm, or the ball."""
    radius = grip.opening / 2
    middle = hand.bones[FINGERS.index("middle"), 0]
    centre = style.along * (middle @ hand.along) * hand.along + (PALM_DEPTH + radius) * hand.palm
    axis = np.cross(hand.along, hand.palm)
    bends = []
    for f in range(len(FINGERS)):
        points = _points(hand, f, style)
        between = points[:, :-1, None] + _SAMPLES[:, None] * (points[:, 1:, None] - points[:, :-1, None])
        away = between.reshape(len(points), -1, 3) - centre
        if style.holds == "cylinder":
            away = away - (away @ axis)[..., None] * axis
        bends.append(_first(np.linalg.norm(away, axis=-1).min(-1) - radius - FINGER_RADIUS))
    return _Fit(np.array(bends), centre)


def _pinch(hand: _Hand, style: GripFamily, opening: float) -> _Fit:
    """Thumb and the first two fingers bend together until their tips are the opening apart; the others curl in."""
    tips = {finger: _points(hand, f, style)[:, -1] for f, finger in enumerate(FINGERS)}
    fingers = (tips["index"] + tips["middle"]) / 2
    bend = _first(np.linalg.norm(fingers - tips["thumb"], axis=-1) - opening - 2 * FINGER_RADIUS)
    place = np.array([[np.interp(bend, _BENDS, t[:, k]) for k in range(3)] for t in (fingers, tips["thumb"])])
    return _Fit(np.full(len(FINGERS), bend), place.mean(0))


def _first(gap: Array) -> float:
    """The smallest bend at which a gap (n,) over `_BENDS` closes, or where it is narrowest."""
    closed_at = np.flatnonzero(gap <= 0)
    if not len(closed_at):
        return float(_BENDS[gap.argmin()])
    k = int(closed_at[0])
    if k == 0:
        return float(_BENDS[0])
    share = gap[k - 1] / (gap[k - 1] - gap[k])
    return float(_BENDS[k - 1] + share * (_BENDS[k] - _BENDS[k - 1]))


def prototype_bends(body: Body, side: Side, grip: Grip) -> Array:
    """How far each finger (5,) is bent to hold the primitive of a grip, radians."""
    return _fit(body, side, grip).bends


def turns_of(body: Body, side: Side, family: Family, finger: int, bends: Array) -> Array:
    """Local rotations (n, 3, 3, 3) of the three joints of a finger (its number) at bends (n,) in a family's grip."""
    return _turns(_hand(body, side), finger, bends, families()[family])


def _turns(hand: _Hand, finger: int, bends: Array, style: GripFamily) -> Array:
    """Local rotations (n, 3, 3, 3) of the three joints of a finger at bends (n,)."""
    thumb = FINGERS[finger] == "thumb"
    shares = np.array(style.thumb if thumb else style.finger)
    angles = (bends - (_THUMB_BACK if thumb else 0))[:, None] * shares
    turns = rotations.matrix(angles[..., None] * hand.axes[finger])
    if thumb:
        turns[:, 0] = rotations.matrix(np.deg2rad(style.oppose) * hand.oppose) @ turns[:, 0]
    return turns


def _points(hand: _Hand, finger: int, style: GripFamily) -> Array:
    """Points (n, 4, 3) of a finger from knuckle to tip at every bend of `_BENDS`, in the wrist frame."""
    turns = _turns(hand, finger, _BENDS, style)
    bones = hand.bones[finger]
    points = np.empty((len(_BENDS), 4, 3))
    points[:, 0] = bones[0]
    turned = np.broadcast_to(np.eye(3), turns[:, 0].shape)
    for k in range(3):
        turned = turned @ turns[:, k]
        points[:, k + 1] = points[:, k] + turned @ (bones[k + 1] - bones[k])
    return points
