"""The analytic solver of an arm: the elbow from the distance, its swivel sampled and refined (ACT-7; paper B.2).

All is of a left arm in the frame of the chest; `arms.py` mirrors right ones.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.body import rotations

Array = NDArray[np.float64]

ANGLES = (
    "collar forward",
    "collar up",
    "shoulder forward",
    "shoulder up",
    "shoulder roll",
    "elbow",
    "forearm roll",
    "wrist deviation",
    "wrist bend",
)
"""What the nine angles of an arm are, in order; of a left arm about y z, y z x, y, x y z."""
LOW: Array = np.deg2rad([-25, -10, -130, -89, -80, -145, -85, -25, -75])
HIGH: Array = np.deg2rad([15, 25, 40, 80, 80, 0, 85, 35, 70])
WIDE_LOW, WIDE_HIGH = (
    np.where([name == "shoulder roll" for name in ANGLES], np.deg2rad(150) * sign, box)
    for sign, box in ((-1, LOW), (1, HIGH))
)
"""The same where the shoulder may turn further, as long as the upper arm isn't wound up: see `WOUND`."""
WOUND = np.deg2rad([-90, 70])
"""How far an upper arm turns about itself, outwards and inwards, from how the shortest turn of a hanging arm with the
forearm ahead brings it there: the normal range of motion of the American Academy of Orthopaedic Surgeons. The roll of
`ANGLES` says little of that for an arm that is not held aside."""

EXACT = 1e-6
_LOWEST, _HIGHEST = LOW - EXACT, HIGH + EXACT
_MIDDLE: list[float] = ((LOW + HIGH) / 2).tolist()

COMFORT = np.deg2rad([0, 0, -40, -50, 0, -60, 0, 0, 0])
_EFFORT = np.array([2, 2, 0.3, 0.3, 0.6, 0.05, 0.15, 0.4, 0.3])
_STEADY = 4.0
_NEAR_COLLARS = np.deg2rad([(y, z) for y in (0, -2, 2) for z in (0, -2, 2)])
_FEW_SWIVELS = np.linspace(-np.pi, np.pi, 24, endpoint=False)
_APART = 8
"""Parts of a full turn of the elbow of each of which `solutions` gives one arm."""
_SWIVELS = np.linspace(-np.pi, np.pi, 36, endpoint=False)
_FINER = tuple(np.linspace(-width, width, 21) for width in np.deg2rad([10, 1.5]))
_SHOULDER = np.array([3, 6, 0, 5, 4])
"""The entries of the flat rotation of an upper arm that tell its angles, in the order of `_yzx`."""


class Arm(NamedTuple):
    """Bones (3,) of an arm as a left one, each from its joint to the next: from chest to collar, to shoulder, to elbow,
    to wrist."""

    collar: Array
    clavicle: Array
    upper: Array
    lower: Array


class Aim(NamedTuple):
    """Targets in the chest frame: wrist or effector (k, 3), hands (k, 3, 3) or None for a straight wrist, and the bone
    (3,) from the elbow to what must arrive."""

    points: Array
    hands: Array | None
    bone: Array


class _Collars(NamedTuple):
    """Collars to try: their angles (c, 2), and the rotations (c, 3, 3) of the girdle."""

    angles: Array
    girdle: Array


def _collars(angles: Array) -> _Collars:
    return _Collars(angles, rotations.about("y", angles[:, 0]) @ rotations.about("z", angles[:, 1]))


_GRID = [(y, z) for y in (0, -12, -24) for z in (0, 12, 24)]
_COLLARS = _collars(np.deg2rad([*_GRID, (12, 0), (12, -9), (0, -9), (-24, -9)]))
_FEW_COLLARS = _collars(np.deg2rad([*_GRID, (-24, -9)]))


def spread(arm: Arm, aim: Aim, *, wide: bool = False) -> tuple[NDArray[np.intp], Array]:
    """Goals (m,) and angles (m, 9) that reach them, the most comfortable first, spread over the turns of the elbow;
    `wide`: within `WIDE_LOW` and `WIDE_HIGH`, too."""
    rig = _rig(arm, aim, _FEW_COLLARS)
    found = None if rig is None else _candidates(rig, _FEW_SWIVELS, None, wide)
    if rig is None or found is None:
        return np.zeros(0, np.intp), np.zeros((0, len(ANGLES)))
    goal = rig.target[found.row]
    sector = np.floor((found.swivel + np.pi) / (2 * np.pi) * _APART).astype(np.intp)
    order = np.argsort(found.cost, kind="stable")
    best = order[np.sort(np.unique((goal * _APART + sector)[order], return_index=True)[1])]
    return goal[best], found.angles[best]


def solve(arm: Arm, aim: Aim, near: Array | None) -> Array | None:
    """The best angles (9,) within the limits, the wide ones for an arm that is beyond the others, near those of the
    frame before if that can be, or None."""
    if near is None:
        return _best(_rig(arm, aim, _COLLARS), near, wide=False)
    wide = strained(near)
    close = np.minimum(np.maximum(near[:2] + _NEAR_COLLARS, LOW[:2]), HIGH[:2])
    found = _best(_rig(arm, aim, _collars(close)), near, wide)
    return _best(_rig(arm, aim, _COLLARS), near, wide) if found is None else found


def strained(angles: Array) -> bool:
    """Whether the roll of the shoulder among angles (9,) is one of the wide ones."""
    return bool(not _LOWEST[4] <= angles[4] <= _HIGHEST[4])


def limits(*arms: Array) -> tuple[Array, Array]:
    """The least and the greatest angles (9,) of a movement between arms with angles (9,)."""
    return (WIDE_LOW, WIDE_HIGH) if any(strained(angles) for angles in arms) else (LOW, HIGH)


def cost(angles: Array, near: Array | None) -> Array:
    """How uncomfortable angles (k, 9) are, and how far from those of the frame before: (k,)."""
    effort = (_EFFORT * (angles - COMFORT) ** 2).sum(-1)
    return np.asarray(effort if near is None else effort + _STEADY * ((angles - near) ** 2).sum(-1))


class _Rig(NamedTuple):
    """The r pairs of a target and a collar that some elbow within its limits suits. Of each: the target's number, the
    angles (r, 9) that are already known, whether the bones can be turned to the target (r, 1), the hands (r, 3, 3) that
    are asked for against the girdle, the rotations (r, 3, 3) back from the forearm, and three flat matrices
    (3, r, 9) of which the first, with the second times the cosine and the third times the sine of a swivel, is the
    rotation of the upper arm (Rodrigues)."""

    target: NDArray[np.intp]
    angles: Array
    meets: NDArray[np.bool_]
    hands: Array | None
    back: Array
    turns: Array

    def only(self, row: int) -> _Rig:
        """One of the pairs."""
        one = slice(row, row + 1)
        hands = None if self.hands is None else self.hands[one]
        return _Rig(self.target[one], self.angles[one], self.meets[one], hands, self.back[one], self.turns[:, one])


def _rig(arm: Arm, aim: Aim, collars: _Collars) -> _Rig | None:
    """What there is to know of an arm before it is swivelled; None when no elbow suits."""
    girdle = collars.girdle
    line = ((aim.points[:, None] - arm.collar - girdle @ arm.clavicle)[:, :, None] @ girdle)[:, :, 0]
    elbow, possible = _elbow(arm.upper, aim.bone, np.add.reduce(line * line, -1))
    target, collar = possible.nonzero()
    if not len(target):
        return None
    line, elbow = line[possible], elbow[possible]
    forearm = rotations.about("y", elbow)
    straight, sight = rotations.unit(arm.upper + forearm @ aim.bone), rotations.unit(line)
    base = rotations.between(straight, sight)
    miss = (base @ straight[..., None])[..., 0] - sight
    meets = np.sqrt(np.add.reduce(miss * miss, -1, keepdims=True)) <= EXACT
    along = sight[:, :, None] * (sight[:, None] @ base)
    turns = np.array((along, base - along, rotations.cross_matrix(sight) @ base)).reshape(3, -1, 9)
    angles = np.zeros((len(target), len(ANGLES)))
    angles[:, :2], angles[:, 5] = collars.angles[collar], elbow
    hands = None if aim.hands is None else girdle[collar].swapaxes(-1, -2) @ aim.hands[target]
    return _Rig(target, angles, meets, hands, forearm.swapaxes(-1, -2), turns)


def _best(rig: _Rig | None, near: Array | None, wide: bool) -> Array | None:
    """The best angles (9,): first a coarse search of swivels, then finer ones about the best."""
    swivels, best = _SWIVELS, None
    for about in (*_FINER, None):
        found = None if rig is None else _candidates(rig, swivels, near, wide)
        if rig is None or found is None:
            break
        chosen = int(found.cost.argmin())
        best = found.angles[chosen]
        if about is not None:
            swivels, rig = found.swivel[chosen] + about, rig.only(int(found.row[chosen]))
    return best


class _Found(NamedTuple):
    """The k candidates within the limits: the row of each in the rig (k,), its swivel (k,), angles (k, 9) and cost
    (k,)."""

    row: NDArray[np.intp]
    swivel: Array
    angles: Array
    cost: Array


def _candidates(rig: _Rig, swivels: Array, near: Array | None, wide: bool) -> _Found | None:
    """What is within the limits among the rows at every swivel (s,); None when nothing is."""
    cosine, sine = np.cos(swivels), np.sin(swivels)
    first, second, third = rig.turns.take(_SHOULDER, -1).swapaxes(-1, -2)[..., None].copy()
    upper = first + cosine * second + sine * third
    row, column = (rig.meets & _may(upper, wide)).nonzero()
    shoulder = np.array(_yzx(*upper[:, row, column])).T
    allowed = ((shoulder >= _LOWEST[2:5]) & (shoulder <= _HIGHEST[2:5])).all(-1)
    if wide:
        further = ((shoulder >= WIDE_LOW[2:5]) & (shoulder <= WIDE_HIGH[2:5])).all(-1)
        allowed |= further & _unwound(shoulder)
    row, column, shoulder = row[allowed], column[allowed], shoulder[allowed]
    angles = rig.angles[row]
    angles[:, 2:5] = shoulder
    if rig.hands is not None:
        first, second, third = rig.turns[:, row]
        turned = first + cosine[column, None] * second + sine[column, None] * third
        wrist = rig.back[row] @ (turned.reshape(-1, 3, 3).swapaxes(-1, -2) @ rig.hands[row])
        angles[:, 6], angles[:, 7], angles[:, 8] = xyz(wrist)
        kept = ((angles[:, 6:] >= _LOWEST[6:]) & (angles[:, 6:] <= _HIGHEST[6:])).all(-1)
        row, column, angles = row[kept], column[kept], angles[kept]
    return _Found(row, swivels[column], angles, cost(angles, near)) if len(row) else None


def _may(upper: Array, wide: bool) -> NDArray[np.bool_]:
    """Where entries (5, r, s) of upper arms can be within the limits: what points away from the middle of a range, none
    of which is half a turn wide but the wide roll, can't be. It spares most of the angles."""
    _, back, ahead, under, over = upper
    forward, roll = _MIDDLE[2], _MIDDLE[4]
    in_front = math.cos(forward) * ahead >= math.sin(forward) * back
    if wide:
        return np.asarray(in_front)
    return np.asarray(in_front & (math.cos(roll) * over >= math.sin(roll) * under))


def _unwound(shoulder: Array) -> NDArray[np.bool_]:
    """Whether upper arms aren't wound up with angles (k, 3) of the shoulder."""
    about = rotations.about
    upper = about("y", shoulder[:, 0]) @ about("z", shoulder[:, 1]) @ about("x", shoulder[:, 2])
    along, hinge = upper[..., 0], -upper[..., 1]
    # the shortest turn of a hanging arm to there is about (-z, 0, x) of its direction; its hinge was at -x
    x, cosine, z = along[..., 0], -along[..., 1], along[..., 2]
    bend = 1 / np.maximum(1 + cosine, EXACT)
    rest = np.stack([-cosine - bend * z * z, -x, bend * x * z], -1)
    inwards = np.arctan2((np.cross(rest, hinge) * along).sum(-1), (rest * hinge).sum(-1))
    return np.asarray((WOUND[0] <= inwards) & (inwards <= WOUND[1]))


def _elbow(upper: Array, bone: Array, square: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Elbow angles (...) that bring the end of `bone` to the square of a distance (...) from the shoulder, and where
    there is one within the limits."""
    # |upper + Ry(e) bone|^2 = constant + a cos e + b sin e
    constant = upper.dot(upper) + bone.dot(bone) + 2 * upper[1] * bone[1]
    a = 2 * (upper[0] * bone[0] + upper[2] * bone[2])
    b = 2 * (upper[0] * bone[2] - upper[2] * bone[0])
    cosine = (square - constant) / np.hypot(a, b)
    turn = np.arccos(_sine(cosine))
    both = np.arctan2(b, a) + np.array((-turn, turn))
    both = (both + np.pi) % (2 * np.pi) - np.pi
    fits = (both >= _LOWEST[5]) & (both <= _HIGHEST[5]) & (np.abs(cosine) <= 1)
    return np.where(fits[0], both[0], both[1]), fits.any(0)


def yzx(r: Array) -> tuple[Array, Array, Array]:
    """Angles with r = Ry Rz Rx."""
    return _yzx(r[..., 1, 0], r[..., 2, 0], r[..., 0, 0], r[..., 1, 2], r[..., 1, 1])


def _yzx(rise: Array, back: Array, ahead: Array, under: Array, over: Array) -> tuple[Array, Array, Array]:
    """The same from the entries that tell them."""
    return np.arctan2(-back, ahead), np.arcsin(_sine(rise)), np.arctan2(-under, over)


def xyz(r: Array) -> tuple[Array, Array, Array]:
    """Angles with r = Rx Ry Rz."""
    y = np.arcsin(_sine(r[..., 0, 2]))
    return np.arctan2(-r[..., 1, 2], r[..., 2, 2]), y, np.arctan2(-r[..., 0, 1], r[..., 0, 0])


def _sine(value: Array) -> Array:
    """A sine or cosine without the rounding that takes it beyond 1."""
    return np.minimum(np.maximum(value, -1.0), 1.0)
