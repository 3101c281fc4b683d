"""The analytic solver of an arm: the elbow from the distance, its swivel sampled and refined (ACT-7; paper B.2).

All is of a left arm in the frame of the chest; `arms.py` mirrors right ones.
"""

from __future__ import annotations

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

COMFORT = np.deg2rad([0, 0, -40, -50, 0, -60, 0, 0, 0])
_EFFORT = np.array([2, 2, 0.3, 0.3, 0.6, 0.05, 0.15, 0.4, 0.3])
_STEADY = 4.0
_COLLARS = np.deg2rad([(y, z) for y in (0, -12, -24) for z in (0, 12, 24)] + [(12, 0), (12, -9), (0, -9), (-24, -9)])
_NEAR_COLLARS = np.deg2rad([(y, z) for y in (0, -2, 2) for z in (0, -2, 2)])
_FEW_COLLARS = np.deg2rad([(y, z) for y in (0, -12, -24) for z in (0, 12, 24)] + [(-24, -9)])
_FEW_SWIVELS = np.linspace(-np.pi, np.pi, 24, endpoint=False)
_APART = 8
"""Parts of a full turn of the elbow of each of which `solutions` gives one arm."""
_SWIVELS = np.linspace(-np.pi, np.pi, 36, endpoint=False)
_FINER = (np.deg2rad(10), np.deg2rad(1.5))
EXACT = 1e-6


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


def spread(arm: Arm, aim: Aim, *, wide: bool = False) -> tuple[NDArray[np.intp], Array]:
    """Goals (m,) and angles (m, 9) that reach them, the most comfortable first, spread over the turns of the elbow;
    `wide`: within `WIDE_LOW` and `WIDE_HIGH`, too."""
    few, goals = len(_FEW_COLLARS), len(aim.points)
    rows = _Rows(np.repeat(np.arange(goals), few), np.tile(np.arange(few), goals))
    found = _candidates(_Search(arm, aim, _FEW_COLLARS, None, wide), rows, _FEW_SWIVELS) if goals else None
    if found is None:
        return np.zeros(0, np.intp), np.zeros((0, len(ANGLES)))
    goal = found.rows.target[found.row]
    sector = np.floor((found.swivel + np.pi) / (2 * np.pi) * _APART).astype(np.intp)
    order = np.argsort(found.cost, kind="stable")
    best = order[np.sort(np.unique((goal * _APART + sector)[order], return_index=True)[1])]
    return goal[best], found.angles[best]


def solve(arm: Arm, aim: Aim, near: Array | None) -> Array | None:
    """The best angles (9,) within the limits, the wide ones for an arm that is beyond the others, near those of the
    frame before if that can be, or None."""
    wide = near is not None and strained(near)
    searches = [_Search(arm, aim, _COLLARS, near, wide)]
    if near is not None:
        searches.insert(0, _Search(arm, aim, np.clip(near[:2] + _NEAR_COLLARS, LOW[:2], HIGH[:2]), near, wide))
    found = (_best(search) for search in searches)
    return next((angles for angles in found if angles is not None), None)


def strained(angles: Array) -> bool:
    """Whether the roll of the shoulder among angles (9,) is one of the wide ones."""
    return bool(not LOW[4] - EXACT <= angles[4] <= HIGH[4] + EXACT)


def limits(*arms: Array) -> tuple[Array, Array]:
    """The least and the greatest angles (9,) of a movement between arms with angles (9,)."""
    return (WIDE_LOW, WIDE_HIGH) if any(strained(angles) for angles in arms) else (LOW, HIGH)


def _unwound(upper: Array) -> NDArray[np.bool_]:
    """Whether upper arms turned by (..., 3, 3) from where they are held aside aren't wound up."""
    along, hinge = upper[..., 0], -upper[..., 1]
    # the shortest turn of a hanging arm to there is about (-z, 0, x) of its direction; its hinge was at -x
    x, cosine, z = along[..., 0], -along[..., 1], along[..., 2]
    bend = 1 / np.maximum(1 + cosine, EXACT)
    rest = np.stack([-cosine - bend * z * z, -x, bend * x * z], -1)
    inwards = np.arctan2((np.cross(rest, hinge) * along).sum(-1), (rest * hinge).sum(-1))
    return np.asarray((WOUND[0] <= inwards) & (inwards <= WOUND[1]))


def cost(angles: Array, near: Array | None) -> Array:
    """How uncomfortable angles (k, 9) are, and how far from those of the frame before: (k,)."""
    effort = (_EFFORT * (angles - COMFORT) ** 2).sum(-1)
    return np.asarray(effort if near is None else effort + _STEADY * ((angles - near) ** 2).sum(-1))


class _Search(NamedTuple):
    """What is searched: the collar angles (c, 2) to try, the angles (9,) to stay near to, if any, and whether within
    the wide limits."""

    arm: Arm
    aim: Aim
    collars: Array
    near: Array | None
    wide: bool


class _Rows(NamedTuple):
    """Which target goes with which collar, by number (r,)."""

    target: NDArray[np.intp]
    collar: NDArray[np.intp]


def _best(search: _Search) -> Array | None:
    """The best angles (9,): first a coarse search of swivels, then finer ones about the best."""
    targets, collars = len(search.aim.points), len(search.collars)
    rows = _Rows(np.repeat(np.arange(targets), collars), np.tile(np.arange(collars), targets))
    swivels = _SWIVELS
    best = None
    for width in (*_FINER, None):
        found = _candidates(search, rows, swivels)
        if found is None:
            break
        chosen = int(found.cost.argmin())
        best, row = found.angles[chosen], int(found.row[chosen])
        if width is not None:
            swivels = found.swivel[chosen] + np.linspace(-width, width, 21)
            rows = _Rows(found.rows.target[[row]], found.rows.collar[[row]])
    return best


class _Found(NamedTuple):
    """The k candidates within the limits: the rows left over, and for each candidate its row among them (k,), its
    swivel (k,), angles (k, 9) and cost (k,)."""

    rows: _Rows
    row: NDArray[np.intp]
    swivel: Array
    angles: Array
    cost: Array


def _candidates(search: _Search, rows: _Rows, swivels: Array) -> _Found | None:
    """What is within the limits among the rows at every swivel (s,); None when nothing is."""
    arm, aim, collars, near, wide = search
    low, high = (WIDE_LOW, WIDE_HIGH) if wide else (LOW, HIGH)
    girdle = (rotations.about("y", collars[:, 0]) @ rotations.about("z", collars[:, 1]))[rows.collar]
    line = ((aim.points[rows.target] - arm.collar - girdle @ arm.clavicle)[:, None] @ girdle)[:, 0]
    elbow, possible = _elbow(arm.upper, aim.bone, (line * line).sum(-1))
    if not possible.any():
        return None
    rows = _Rows(rows.target[possible], rows.collar[possible])
    girdle, line, elbow = girdle[possible], line[possible], elbow[possible]
    forearm = rotations.about("y", elbow)
    straight = rotations.unit(arm.upper + forearm @ aim.bone)
    sight = rotations.unit(line)
    base = rotations.between(straight, sight)
    meets = np.linalg.norm((base @ straight[..., None])[..., 0] - sight, axis=-1) <= EXACT
    upper = _swivelled(base, sight, swivels)
    shoulder = np.stack(yzx(upper), -1)
    allowed = ((shoulder >= low[2:5] - EXACT) & (shoulder <= high[2:5] + EXACT)).all(-1) & meets[:, None]
    if wide:
        allowed &= (np.abs(shoulder[..., 2]) <= HIGH[4] + EXACT) | _unwound(upper)
    row, column = np.nonzero(allowed)
    angles = np.zeros((len(row), len(ANGLES)))
    angles[:, :2], angles[:, 5] = collars[rows.collar[row]], elbow[row]
    angles[:, 2:5] = shoulder[row, column]
    if aim.hands is not None:
        hands = np.swapaxes(girdle, -1, -2) @ aim.hands[rows.target]
        wrist = np.swapaxes(forearm, -1, -2)[row] @ (np.swapaxes(upper[row, column], -1, -2) @ hands[row])
        angles[:, 6], angles[:, 7], angles[:, 8] = xyz(wrist)
    kept = ((angles >= low - EXACT) & (angles <= high + EXACT)).all(-1)
    if not kept.any():
        return None
    angles = angles[kept]
    return _Found(rows, row[kept], swivels[column[kept]], angles, cost(angles, near))


def _swivelled(base: Array, axis: Array, angles: Array) -> Array:
    """Rotations (r, 3, 3) turned further about unit axes (r, 3) by every angle (s,): (r, s, 3, 3) (Rodrigues)."""
    along = axis[:, :, None] * (axis[:, None] @ base)
    across = rotations.cross_matrix(axis) @ base
    c, s = np.cos(angles)[:, None, None], np.sin(angles)[:, None, None]
    return np.asarray(along[:, None] + c * (base - along)[:, None] + s * across[:, None])


def _elbow(upper: Array, bone: Array, square: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Elbow angles (r,) that bring the end of `bone` to the square of a distance (r,) from the shoulder, and where
    there is one within the limits."""
    # |upper + Ry(e) bone|^2 = constant + a cos e + b sin e
    constant = upper @ upper + bone @ bone + 2 * upper[1] * bone[1]
    a = 2 * (upper[0] * bone[0] + upper[2] * bone[2])
    b = 2 * (upper[0] * bone[2] - upper[2] * bone[0])
    cosine = (square - constant) / np.hypot(a, b)
    turn = np.arccos(np.clip(cosine, -1, 1))
    both = np.arctan2(b, a) + np.stack([-turn, turn])
    both = (both + np.pi) % (2 * np.pi) - np.pi
    fits = (both >= LOW[5] - EXACT) & (both <= HIGH[5] + EXACT) & (np.abs(cosine) <= 1)
    return np.where(fits[0], both[0], both[1]), fits.any(0)


def yzx(r: Array) -> tuple[Array, Array, Array]:
    """Angles with r = Ry Rz Rx."""
    z = np.arcsin(np.clip(r[..., 1, 0], -1, 1))
    return np.arctan2(-r[..., 2, 0], r[..., 0, 0]), z, np.arctan2(-r[..., 1, 2], r[..., 1, 1])


def xyz(r: Array) -> tuple[Array, Array, Array]:
    """Angles with r = Rx Ry Rz."""
    y = np.arcsin(np.clip(r[..., 0, 2], -1, 1))
    return np.arctan2(-r[..., 1, 2], r[..., 2, 2]), y, np.arctan2(-r[..., 0, 1], r[..., 0, 0])
