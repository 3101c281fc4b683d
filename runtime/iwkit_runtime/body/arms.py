"""Analytic arm IK: the elbow from the distance, the swivel of the elbow sampled, joint limits kept (ACT-7; paper B.2).

The chain is collar, shoulder, elbow, wrist. The elbow is a hinge; what turns the forearm about its own length is shared
by the elbow and the wrist joint, so that the skin doesn't pinch at the wrist. Arms are solved as left arms: a right one
is mirrored on the way in and out. A body whose `solver` is `ccd` uses the paper's descent instead (`ccd.py`).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body import ccd, rotations
from iwkit_runtime.body.model import Body, joint
from iwkit_runtime.body.pose import ARM, INDEX, BodyPose, Side, joint_slice, pack, vector

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

PALM_TILTS = tuple(np.deg2rad((0, 15, 30, 45)))
"""By how much the palm may miss the direction asked for, tried in this order."""

_COMFORT = np.deg2rad([0, 0, -40, -50, 0, -60, 0, 0, 0])
_STARTS = (
    _COMFORT,
    np.deg2rad([0, 0, -40, -80, 0, -90, 0, 0, 0]),
    np.deg2rad([0, 0, -60, -10, -40, -90, 0, 0, 0]),
)
"""Where the descent starts from when several arms are wanted: at ease, with the elbow low, and high."""
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
_FINGERS = np.linspace(-np.pi, np.pi, 12, endpoint=False)
_TILT_AXES = np.linspace(-np.pi, np.pi, 6, endpoint=False)
_EXACT = 1e-6
_MIRROR = np.array([-1.0, 1, 1])
_MIRROR_TURN = np.array([1.0, -1, -1])


class Reach(NamedTuple):
    """An arm that reaches: the body frame, the nine angles (see `ANGLES`) in radians, and the angle between the palm's
    direction and the one asked for."""

    body: BodyPose
    angles: Array
    palm_error: float


class _Arm(NamedTuple):
    """Bones (3,) of an arm as a left one, each from its joint to the next: from chest to collar, to shoulder, to elbow,
    to wrist."""

    collar: Array
    clavicle: Array
    upper: Array
    lower: Array


class _Aim(NamedTuple):
    """Targets in the chest frame: wrist or effector (k, 3), hands (k, 3, 3) or None for a straight wrist, and the bone
    (3,) from the elbow to what must arrive."""

    points: Array
    hands: Array | None
    bone: Array


@cache
def _arm(body: Body, side: Side) -> _Arm:
    names = ("spine3", *(f"{side}_{name}" for name in ARM))
    places = body.joints[[INDEX[name] for name in names]]
    bones = np.diff(places, axis=0) * (_MIRROR if side == "right" else 1)
    return _Arm(*bones)


def arm_length(body: Body, side: Side) -> float:
    """From the shoulder to the wrist of a straight arm, metres: the cheap bound before any solving."""
    arm = _arm(body, side)
    return float(np.linalg.norm(arm.upper) + np.linalg.norm(arm.lower))


def reach(
    body: Body,
    at: BodyPose,
    side: Side,
    target: ArrayLike,
    *,
    point: ArrayLike = (0, 0, 0),
    palm: ArrayLike | None = None,
    fingers: ArrayLike | None = None,
    near: Array | None = None,
    most: float = PALM_TILTS[-1],
) -> Reach | None:
    """Bring a point of the hand to a target; the rest of the body stays as it is. None when no arm pose does it.

    It gets there exactly, or within 1 mm when the body's `solver` is `ccd`.

    Args:
        target: (3,) world metres.
        point: (3,) in the frame of the wrist joint, by default the joint itself; see `hands.grip_frame`.
        palm: (3,) world direction that the palm faces, kept to `most`, the smallest deviation first. Without
            one the hand goes on straight from the forearm.
        fingers: (3,) world direction that the fingers point in; only with `palm`, and normal to it.
        near: angles of the frame before, so that an arm that follows a curve doesn't jump.
        most: by how much the palm may miss its direction, radians; 0 where an exact one is wanted, which is found, or
            found missing, much sooner.

    Raises:
        UsageError: vectors that are not three finite numbers, no direction, or fingers without or along the palm.
    """
    directions = _directions(palm, fingers)
    goal, grip = vector("the target", target), vector("the point", point)
    chest = joint(body.forward(*at), "spine3")
    turn = chest[:3, :3].T
    mirror = _MIRROR if side == "right" else np.ones(3)
    goal, grip = mirror * (turn @ (goal - chest[:3, 3])), mirror * grip
    aims = [mirror * (turn @ d) for d in directions]
    arm = _arm(body, side)
    for tilt in (tilt for tilt in PALM_TILTS if tilt <= most) if aims else (0.0,):
        if aims:
            hands = _hands(aims, tilt)
            aim = _Aim(goal - hands @ grip, hands, arm.lower)
        else:
            aim = _Aim(goal[None], None, arm.lower + grip)
        angles = (_descended if body.solver == "ccd" else _solve)(arm, aim, near)
        if angles is not None:
            return Reach(BodyPose(posed(at.pose, side, angles), at.translation), angles, float(tilt))
    return None


class Solutions(NamedTuple):
    """Arms that reach, the most comfortable first: the number of the goal (m,), the nine angles (m, 9), and the joints
    (m, 4, 3) collar, shoulder, elbow and wrist in the world."""

    goal: NDArray[np.intp]
    angles: Array
    joints: Array


def solutions(  # noqa: PLR0917 (what there is to say of many hands)
    body: Body, at: BodyPose, side: Side, targets: Array, points: Array, palms: Array, fingers: Array
) -> Solutions:
    """Arms that bring the hand exactly to each of k goals: of each the most comfortable one at every `_APART`th part of
    a turn of the elbow. Coarser than `reach`, and for many goals at once.

    Args:
        targets, points, palms, fingers: (k, 3), as the arguments of `reach`; palms and fingers of length 1 and normal
            to each other.
    """
    chest = joint(body.forward(*at), "spine3")
    mirror = _MIRROR if side == "right" else np.ones(3)
    goals = mirror * ((targets - chest[:3, 3]) @ chest[:3, :3])
    hands = rotations.frame(mirror * (fingers @ chest[:3, :3]), -mirror * (palms @ chest[:3, :3]))
    arm = _arm(body, side)
    aim = _Aim(goals - (hands @ (mirror * points)[..., None])[..., 0], hands, arm.lower)
    goal, angles = (_descents if body.solver == "ccd" else _spread)(arm, aim)
    girdle = rotations.about("y", angles[:, 0]) @ rotations.about("z", angles[:, 1])
    shoulder = arm.collar + girdle @ arm.clavicle
    upper = girdle @ rotations.about("y", angles[:, 2]) @ rotations.about("z", angles[:, 3])
    elbow = shoulder + (upper @ rotations.about("x", angles[:, 4])) @ arm.upper
    joints = np.stack([np.broadcast_to(arm.collar, elbow.shape), shoulder, elbow, aim.points[goal]], 1)
    return Solutions(goal, angles, (mirror * joints) @ chest[:3, :3].T + chest[:3, 3])


def _spread(arm: _Arm, aim: _Aim) -> tuple[NDArray[np.intp], Array]:
    """Goals (m,) and angles (m, 9) that reach them, the most comfortable first, spread over the turns of the elbow."""
    few, goals = len(_FEW_COLLARS), len(aim.points)
    rows = _Rows(np.repeat(np.arange(goals), few), np.tile(np.arange(few), goals))
    found = _candidates(_Search(arm, aim, _FEW_COLLARS, None), rows, _FEW_SWIVELS) if goals else None
    if found is None:
        return np.zeros(0, np.intp), np.zeros((0, len(ANGLES)))
    goal = found.rows.target[found.row]
    sector = np.floor((found.swivel + np.pi) / (2 * np.pi) * _APART).astype(np.intp)
    order = np.argsort(found.cost, kind="stable")
    best = order[np.sort(np.unique((goal * _APART + sector)[order], return_index=True)[1])]
    return goal[best], found.angles[best]


def _descents(arm: _Arm, aim: _Aim) -> tuple[NDArray[np.intp], Array]:
    """The same by the paper's descent, from a few arms."""
    found = [_descent(arm, aim, start) for start in _STARTS]
    goal = np.concatenate([np.flatnonzero(kept) for _, kept in found])
    angles = np.concatenate([one[kept] for one, kept in found])
    order = np.argsort(_cost(angles, None), kind="stable")
    return goal[order], angles[order]


def _directions(palm: ArrayLike | None, fingers: ArrayLike | None) -> list[Array]:
    """Unit vectors: none, the palm's, or the palm's and the fingers'."""
    if palm is None:
        if fingers is not None:
            raise UsageError("a direction for the fingers needs one for the palm too")
        return []
    found = [vector("the palm's direction", palm)] + (
        [] if fingers is None else [vector("the fingers' direction", fingers)]
    )
    if any(np.linalg.norm(v) < _EXACT for v in found):
        raise UsageError("palm and fingers are directions: they must not be zero")
    out = [rotations.unit(v) for v in found]
    if fingers is not None:
        out[1] = out[1] - out[0] * (out[0] @ out[1])
        if np.linalg.norm(out[1]) < 0.1:
            raise UsageError("the fingers must not point along the direction of the palm")
        out[1] = rotations.unit(out[1])
    return out


def _hands(aims: list[Array], tilt: float) -> Array:
    """Hand rotations (k, 3, 3) in the chest frame that face the palm (-y of a left hand at rest) as asked, or `tilt`
    away from it, with the fingers (x) as asked or all round."""
    palm = aims[0]
    if len(aims) > 1:
        base = rotations.frame(aims[1], -palm)[None]
    else:
        across = rotations.unit(np.cross(palm, np.eye(3)[np.abs(palm).argmin()]))
        base = rotations.matrix(palm * _FINGERS[:, None]) @ rotations.frame(across, -palm)
    if tilt == 0:
        return base
    axes = np.stack([np.cos(_TILT_AXES), np.zeros(len(_TILT_AXES)), np.sin(_TILT_AXES)], -1)
    return np.asarray((base[:, None] @ rotations.matrix(tilt * axes)).reshape(-1, 3, 3))


def _solve(arm: _Arm, aim: _Aim, near: Array | None) -> Array | None:
    """The best angles (9,) within the limits, near those of the frame before if that can be, or None."""
    searches = [_Search(arm, aim, _COLLARS, near)]
    if near is not None:
        searches.insert(0, _Search(arm, aim, np.clip(near[:2] + _NEAR_COLLARS, LOW[:2], HIGH[:2]), near))
    found = (_best(search) for search in searches)
    return next((angles for angles in found if angles is not None), None)


def _descended(arm: _Arm, aim: _Aim, near: Array | None) -> Array | None:
    """The same by the paper's descent: from the angles of the frame before, else from an arm that leads there."""
    for start in _STARTS if near is None else (near, *_STARTS):
        angles, kept = _descent(arm, aim, start)
        if kept.any():
            return np.asarray(angles[kept][_cost(angles[kept], near).argmin()])
    return None


def _descent(arm: _Arm, aim: _Aim, start: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Angles (k, 9) to which the descent from angles (9,) leads, and which of them arrive within the limits."""
    bones = np.stack([arm.collar, arm.clavicle, arm.upper, aim.bone])
    found = ccd.descend(bones, aim.points, start[:6], LOW[:6], HIGH[:6])
    angles = np.zeros((len(aim.points), len(ANGLES)))
    angles[:, :6] = found.angles
    if aim.hands is not None:
        about = rotations.about
        turned = np.broadcast_to(np.eye(3), aim.hands.shape)
        for axis, angle in zip("yzyzxy", found.angles.T, strict=True):
            turned = turned @ about(axis, angle)
        angles[:, 6], angles[:, 7], angles[:, 8] = _xyz(np.swapaxes(turned, -1, -2) @ aim.hands)
    within = ((angles >= LOW - _EXACT) & (angles <= HIGH + _EXACT)).all(-1)
    return angles, (found.error <= ccd.TOLERANCE) & within


def _cost(angles: Array, near: Array | None) -> Array:
    """How uncomfortable angles (k, 9) are, and how far from those of the frame before: (k,)."""
    cost = (_EFFORT * (angles - _COMFORT) ** 2).sum(-1)
    return np.asarray(cost if near is None else cost + _STEADY * ((angles - near) ** 2).sum(-1))


class _Search(NamedTuple):
    """What is searched: the collar angles (c, 2) to try, and the angles (9,) to stay near to, if any."""

    arm: _Arm
    aim: _Aim
    collars: Array
    near: Array | None


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
    arm, aim, collars, near = search
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
    meets = np.linalg.norm((base @ straight[..., None])[..., 0] - sight, axis=-1) <= _EXACT
    upper = _swivelled(base, sight, swivels)
    shoulder = np.stack(_yzx(upper), -1)
    allowed = ((shoulder >= LOW[2:5] - _EXACT) & (shoulder <= HIGH[2:5] + _EXACT)).all(-1) & meets[:, None]
    row, column = np.nonzero(allowed)
    angles = np.zeros((len(row), len(ANGLES)))
    angles[:, :2], angles[:, 5] = collars[rows.collar[row]], elbow[row]
    angles[:, 2:5] = shoulder[row, column]
    if aim.hands is not None:
        hands = np.swapaxes(girdle, -1, -2) @ aim.hands[rows.target]
        wrist = np.swapaxes(forearm, -1, -2)[row] @ (np.swapaxes(upper[row, column], -1, -2) @ hands[row])
        angles[:, 6], angles[:, 7], angles[:, 8] = _xyz(wrist)
    kept = ((angles >= LOW - _EXACT) & (angles <= HIGH + _EXACT)).all(-1)
    if not kept.any():
        return None
    angles = angles[kept]
    return _Found(rows, row[kept], swivels[column[kept]], angles, _cost(angles, near))


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
    fits = (both >= LOW[5] - _EXACT) & (both <= HIGH[5] + _EXACT) & (np.abs(cosine) <= 1)
    return np.where(fits[0], both[0], both[1]), fits.any(0)


def _yzx(r: Array) -> tuple[Array, Array, Array]:
    """Angles with r = Ry Rz Rx."""
    z = np.arcsin(np.clip(r[..., 1, 0], -1, 1))
    return np.arctan2(-r[..., 2, 0], r[..., 0, 0]), z, np.arctan2(-r[..., 1, 2], r[..., 1, 1])


def _xyz(r: Array) -> tuple[Array, Array, Array]:
    """Angles with r = Rx Ry Rz."""
    y = np.arcsin(np.clip(r[..., 0, 2], -1, 1))
    return np.arctan2(-r[..., 1, 2], r[..., 2, 2]), y, np.arctan2(-r[..., 0, 1], r[..., 0, 0])


def posed(pose: Array, side: Side, angles: Array) -> Array:
    """The pose (156,) with an arm at its nine angles, see `ANGLES`."""
    about, roll = rotations.about, angles[6] / 2
    turns = (
        about("x", (0, 0, 0, roll))
        @ about("y", angles[[0, 2, 5, 7]])
        @ about("z", (angles[1], angles[3], 0, angles[8]))
        @ about("x", (0, angles[4], roll, 0))
    )
    found = rotations.vector(turns) * (_MIRROR_TURN if side == "right" else 1)
    return pack({f"{side}_{name}": turn for name, turn in zip(ARM, found, strict=True)}, onto=pose)


def angles_of(pose: Array, side: Side) -> Array:
    """The nine angles (9,) of an arm in a pose that `posed` or `posture.stand` made: where a reach starts from."""
    mirror = _MIRROR_TURN if side == "right" else 1
    turns = [rotations.matrix(mirror * pose[joint_slice(f"{side}_{name}")]) for name in ARM]
    collar, shoulder, elbow = (_yzx(turn) for turn in turns[:3])
    wrist = _xyz(turns[3])
    return np.array([*collar[:2], *shoulder, elbow[0], elbow[2] + wrist[0], *wrist[1:]])
