"""Walking along a path with planted feet (PHY-3, ACT-5; paper B.1): a licence-clean cycle, authored by hand, or
one of the user's recorded motion (`cycle.py`).

The footprints are laid down along the whole path first. A foot stays on its footprint from landing to lifting, rolling
over heel and ball, and the pelvis follows the path, so nothing slides in curves, on the spot, or at start and stop. The
phase advances with the distance walked, never with time.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body import rotations
from iwkit_runtime.body.legs import SIDES, SIGN, Foot, Footprint, highest_pelvis, leg_of, neutral, plant, rolled
from iwkit_runtime.body.model import Body, Cycle, Placement
from iwkit_runtime.body.pose import ARM, INDEX, BodyPose, Side, arm_joints, numbers, overlay, pack, unpack
from iwkit_runtime.body.posture import ARM_FORWARD, ELBOW, hanging_arm, stand

Array = NDArray[np.float64]

STEP = 0.60
"""Metres from one footprint to the next at most; the steps of a walk are equal."""
TURN_STEP = 0.8
"""Metres of walking to which a turn of one radian on the spot amounts, for the number of steps."""
ASIDE_STEP = 2.0
"""How many times as long as it is a way to the side counts: the feet don't overtake each other on it."""
MOST = 0.36
"""The largest part of a step in a frame: each swing has a frame in which the foot is well in the air."""
_FULL_STRIDE = 1.25
DOUBLE_SUPPORT = 0.24
"""Share of a step in which both feet are down."""

# Pitch of a foot in degrees, toes up positive, over its own cycle of two steps from landing to landing, for a full
# stride; shorter ones roll less. It lands on the heel at 0, is flat between `_FLAT`, and lifts off the ball at `_LIFT`.
_CYCLE = (0, 0.05, 0.10, 0.36, 0.50, 0.62, 0.70, 0.80, 0.90, 0.96, 1)
_PITCH = (15, 7, 0, 0, -14, -48, -44, -14, 8, 14, 15)
_SLOPE = (-170, -149, 0, 0, -150, 0, 84, 254, 133, 38, 0)
_FLAT = (0.10, 0.36)
_LIFT = 0.62
_CLEARANCE = 0.055
"""Height in metres to which the ball of a swinging foot rises in a full stride."""
_ARM_SWING, _ELBOW_SWING = np.deg2rad(20), np.deg2rad(14)
_LEAN = np.deg2rad(2)
_PELVIS_YAW, _PELVIS_ROLL = np.deg2rad(4), np.deg2rad(1.5)
_SWAY, _DROP, _BOB = 0.018, 0.026, 0.016
_RECORDED = (
    *("pelvis", "spine1", "spine2", "spine3", "neck", "head"),
    *(f"{side}_{part}" for side in SIDES for part in ARM),
)
"""What a recorded cycle moves; legs are planted, fingers stay relaxed."""


_APART = 0.10
"""Metres between the middle lines of two feet, standing or passing: shins and shoes find room."""
_INWARDS = np.deg2rad(12)
"""How far a foot may turn its toes in against the standing one."""
_FOOT, _MIDDLE = np.array([-0.02, 0.07, 0.16]), np.array([0.07])
"""Points on the middle line of a foot, metres ahead of the ankle, between which distances are measured; its middle."""
_PASSING = np.linspace(0.1, 0.9, 9)
"""Shares of a swing at which it is asked how far the foot is from the standing one."""
_MOST_ASIDE = 0.20
"""Metres by which it swings around that at most."""
_AGAIN = 3
"""How many steps more one takes at most, in which the feet come together, before they are put as they should be."""
_OTHER: dict[Side, Side] = {"left": "right", "right": "left"}


class _Step(NamedTuple):
    """One swing: the foot, the footprints in the world (x, y, heading) that it leaves and lands on, how far (x, y) it
    swings around the standing foot, and how long the stride is against a full one."""

    side: Side
    start: Array
    end: Array
    around: Array
    size: float


def walk(body: Body, path: ArrayLike, carry: Array | None = None, step: float = STEP) -> list[BodyPose]:
    """The body frames of a walk, one for each point of the path; the first and the last stand upright.

    Args:
        path: (n, 3) x, y in metres and heading in radians of the wearer, frame by frame, on a floor at z = 0.
        carry: a pose (156,) whose right arm and hand are kept, when something is carried; else both arms swing.
        step: metres from one footprint to the next at most.

    Raises:
        UsageError: a path that is not an (n, 3) array of finite numbers with n >= 1.
    """
    way = numbers("the path", path)
    if way.ndim != 2 or way.shape[1] != 3 or not len(way) or not np.isfinite(way).all():
        raise UsageError(f"a path is a list of (x, y, heading), not an array of the shape {way.shape}")
    way = np.column_stack([way[:, :2], np.unwrap(way[:, 2])])
    phase, steps = _plan(body, way, step)
    frames = []
    for place, at in zip(way, phase, strict=True):
        placement = _frame(body, place, steps, float(at))
        if carry is not None:
            placement = placement._replace(pose=overlay(placement.pose, carry, arm_joints("right")))
        frames.append(body.placed(placement, *map(float, place)))
    return frames


def paced(body: Body, path: ArrayLike, step: float = STEP) -> Array:
    """A path (n, 3) with more frames where a foot would have none in the air: at the ends of turns, and in walks of a
    step or two. Without them a foot that is down would slide."""
    way = numbers("the path", path)
    phase, _ = _plan(body, np.column_stack([way[:, :2], np.unwrap(way[:, 2])]), step)
    rows = [way[:1]]
    for start, end, advance in zip(way, way[1:], np.diff(phase), strict=False):
        count = max(1, int(np.ceil(advance / MOST - 1e-9)))
        turn = np.array([*(end - start)[:2], np.remainder(end[2] - start[2] + np.pi, 2 * np.pi) - np.pi])
        rows += [start + np.arange(1, count)[:, None] / count * turn, end[None]]
    return np.concatenate(rows)


def _plan(body: Body, way: Array, longest: float = STEP) -> tuple[Array, list[_Step]]:
    """Phase (n,) of each point of the path, in steps, and the steps themselves."""
    moves = np.diff(way, axis=0)
    ahead = np.stack([np.cos(way[:-1, 2]), np.sin(way[:-1, 2])], 1)
    forward, aside = (moves[:, :2] * ahead).sum(1), moves[:, 1] * ahead[:, 0] - moves[:, 0] * ahead[:, 1]
    lengths = np.maximum(np.hypot(forward, ASIDE_STEP * aside), TURN_STEP * np.abs(moves[:, 2]))
    walked = np.concatenate([[0.0], np.cumsum(lengths)])
    whole = float(walked[-1])
    if whole < 1e-6:
        return np.zeros(len(way)), []
    count = int(np.ceil(whole / longest - 1e-9))
    stops = np.minimum(np.arange(1, count + 2) * whole / count, whole)
    places = [np.array([np.interp(stop, walked, way[:, column]) for column in range(3)]) for stop in stops]
    steps = _steps(body, way[0], places)
    # The pelvis goes from midway between two footprints to midway between the next two: half a step first and last.
    marks = np.concatenate([[0.0], (np.arange(count) + 0.5) * whole / count, [whole]])
    phase = np.interp(walked, marks, [*range(count + 1), len(steps)])
    return phase, steps


def _beginning(start: Array, place: Array) -> Side:
    """The foot that steps first: the one that is ahead in a step aside or a turn."""
    dx, dy, turn = place - start
    return "left" if dy * np.cos(start[2]) - dx * np.sin(start[2]) + turn >= 0 else "right"


def _steps(body: Body, start: Array, places: Sequence[Array]) -> list[_Step]:
    """Step by step from a place to others, one foot after the other, until both feet are at the last place."""
    at = {side: _print(body, side, start) for side in SIDES}
    last = {side: _print(body, side, places[-1]) for side in SIDES}
    side, steps = _beginning(start, places[0]), list[_Step]()
    while len(steps) < len(places) or any((at[one] != last[one]).any() for one in SIDES):
        standing = at[_OTHER[side]]
        if len(steps) < len(places) + _AGAIN:
            end = _beside(body, side, places[min(len(steps), len(places) - 1)], standing)
        else:
            end = last[side]
        stride = float(np.hypot(*(end - at[side])[:2]))
        around = _around(side, at[side], end, standing)
        steps.append(_Step(side, at[side], end, around, min(1.0, stride / _FULL_STRIDE)))
        at[side], side = end, _OTHER[side]
    return steps


def _beside(body: Body, side: Side, place: Array, standing: Array) -> Array:
    """The footprint of someone at a place, beside the standing foot: on its own side of that, and with the toes turned
    in against it no further than they have room."""
    mark = _print(body, side, place)
    inwards = SIGN[side] * float(standing[2] - mark[2]) - _INWARDS
    if inwards > 0:
        mark = _print(body, side, place + np.array([0, 0, SIGN[side] * inwards]))
    outwards = _outwards(side, mark, standing)
    aside = float(((_middle_line(mark, _MIDDLE) - _middle_line(standing, _MIDDLE)) @ outwards)[0])
    short = max(_APART - aside, float(_missing(mark, standing, outwards)))
    return mark if short <= 0 else mark + np.append(short * outwards, 0)


def _around(side: Side, start: Array, end: Array, standing: Array) -> Array:
    """How far (2,) a foot swings outwards between two footprints, so as not to go through the standing one."""
    outwards = _outwards(side, standing, standing)
    missing = _missing(start + _PASSING[:, None] * (end - start), standing, outwards)
    return min(max(float((missing / _bulge(_PASSING)).max()), 0.0), _MOST_ASIDE) * outwards


def _missing(marks: Array, standing: Array, outwards: Array) -> Array:
    """How far (...) footprints (..., 3) would have to be moved in a direction, to be beside the standing foot; at most
    0 where they needn't."""
    apart = _middle_line(marks, _FOOT)[..., :, None, :] - _middle_line(standing, _FOOT)
    along = apart @ np.array([outwards[1], -outwards[0]])
    missing = np.sqrt(np.maximum(_APART**2 - along**2, 0)) - apart @ outwards
    return np.asarray(np.where(np.abs(along) < _APART, missing, 0).max((-1, -2)))


def _outwards(side: Side, one: Array, other: Array) -> Array:
    """The direction (2,) on the plan to the own side of a foot, between those of two footprints."""
    yaw = (one[2] + other[2]) / 2
    return SIGN[side] * np.array([-np.sin(yaw), np.cos(yaw)])


def _middle_line(marks: Array, along: Array) -> Array:
    """Points (..., n, 2) on the plan, so far ahead of the ankles of footprints (..., 3)."""
    ahead = np.stack([np.cos(marks[..., 2]), np.sin(marks[..., 2])], -1)
    return np.asarray(marks[..., None, :2] + along[:, None] * ahead[..., None, :])


def _bulge(moved: Any) -> Any:
    """How much of its way around a foot has made that has made so much of its way."""
    return 4 * moved * (1 - moved)


def _print(body: Body, side: Side, place: Array) -> Array:
    """The footprint (x, y, heading) in the world of someone who stands at a place (x, y, heading)."""
    foot, (x, y, heading) = neutral(body, side), place
    c, s = np.cos(heading), np.sin(heading)
    return np.array([x + c * foot.z - s * foot.x, y + s * foot.z + c * foot.x, heading + foot.yaw])


def _local(place: Array, mark: Array) -> Footprint:
    """A world footprint as seen by someone at a place."""
    dx, dy = mark[:2] - place[:2]
    c, s = np.cos(place[2]), np.sin(place[2])
    return Footprint(float(-s * dx + c * dy), float(c * dx + s * dy), float(mark[2] - place[2]))


# --- one frame -----------------------------------------------------------------------------------------------------


def _frame(body: Body, place: Array, steps: list[_Step], phase: float) -> Placement:
    """The body at a place of the path, its feet where the steps want them at a phase."""
    rest = stand(body)
    if not steps:
        return rest
    end = len(steps)
    steady = np.interp(phase, np.arange(end) + 0.5, [step.size for step in steps])
    size = float(steady) * _smooth(min(phase, end - phase))
    # The angle whose cosine is 1 with the left foot in front and -1 with the right one.
    angle = np.pi * (phase + (steps[0].side == "left"))
    if body.cycle is None:
        upper = _upper_body(angle, size)
        sway, bob = _SWAY * size * np.sin(angle), size * (_DROP + _BOB * size * np.cos(2 * angle))
    else:
        upper, sway, rise = _recorded(body.cycle, rest.pose, angle, size)
        bob = size * _DROP - rise
    rotation = rotations.matrix(upper["pelvis"])
    feet = {side: _foot(body, side, place, steps, phase) for side in SIDES}
    pelvis = rest.pelvis + np.array([sway, -bob, 0])
    pelvis[1] = min(pelvis[1], highest_pelvis(body, pelvis, rotation, feet))
    return Placement(pack({**upper, **plant(body, pelvis, rotation, feet)}), pelvis)


def _upper_body(angle: float, size: float) -> dict[str, Array]:
    """Pelvis and shoulders turn against each other, the head stays level, each arm swings against its leg."""
    front = size * np.cos(angle)
    yaw, roll, lean = _PELVIS_YAW * front, _PELVIS_ROLL * size * np.sin(angle), _LEAN * size
    about = rotations.about
    joints = {"pelvis": rotations.vector(about("y", -yaw) @ about("z", -roll) @ about("x", lean / 2))}
    for name, share in (("spine1", 0.35), ("spine2", 0.35), ("spine3", 0.4)):
        joints[name] = np.array([lean / 4, 2 * yaw * share, roll * share])
    joints["neck"] = np.array([-lean / 2, -0.4 * yaw, 0])
    joints["head"] = np.array([-lean / 2, -0.5 * yaw, 0])
    for side in SIDES:
        forward = -SIGN[side] * front
        elbow = ELBOW + _ELBOW_SWING * max(0.0, forward)
        joints |= hanging_arm(side, ARM_FORWARD + _ARM_SWING * forward, elbow)
    return joints


def _recorded(cycle: Cycle, rest: Array, angle: float, size: float) -> tuple[dict[str, Array], float, float]:
    """Trunk and arms of a recorded cycle, and how far the pelvis is to the left and up; the shorter a stride is than
    the recorded one, the more of it is standing."""
    share = min(1.0, size * _FULL_STRIDE / cycle.stride)
    at = angle / (2 * np.pi) % 1 * len(cycle.poses)
    before, after = int(at) % len(cycle.poses), (int(at) + 1) % len(cycle.poses)
    rows = [INDEX[name] for name in _RECORDED]
    standing, start, end = (pose.reshape(-1, 3)[rows] for pose in (rest, cycle.poses[before], cycle.poses[after]))
    walking = rotations.blend(start, end, np.full((len(rows), 1), at - int(at)))
    taken = rotations.blend(standing, walking, np.full((len(rows), 1), share))
    left, up = share * (cycle.pelvis[before] + (at - int(at)) * (cycle.pelvis[after] - cycle.pelvis[before]))
    return unpack(rest) | dict(zip(_RECORDED, taken, strict=True)), float(left), float(up)


def _foot(body: Body, side: Side, place: Array, steps: list[_Step], phase: float) -> Foot:
    """A foot at a phase, as seen from the place of the wearer."""
    mine = [k for k, step in enumerate(steps) if step.side == side]
    swinging = next((k for k in mine if _lifts(k) < phase < _lands(k)), None)
    before = max((k for k in mine if _lands(k) <= phase), default=None)
    after = min((k for k in mine if _lifts(k) >= phase), default=None)
    if swinging is None:
        mark = steps[mine[0]].start if before is None else steps[before].end
        return rolled(body, side, _local(place, mark), _roll(steps, before, after, phase))
    step = steps[swinging]
    earlier = max((k for k in mine if k < swinging), default=None)
    return _swung(body, step, place, _roll(steps, earlier, swinging, _lifts(swinging)), _share(swinging, phase))


def _lifts(step: int) -> float:
    return step + DOUBLE_SUPPORT / 2


def _lands(step: int) -> float:
    return step + 1 - DOUBLE_SUPPORT / 2


def _share(step: int, phase: float) -> float:
    """How much of a step's swing is over."""
    return (phase - _lifts(step)) / (1 - DOUBLE_SUPPORT)


def _roll(steps: list[_Step], before: int | None, after: int | None, phase: float) -> float:
    """Pitch of a foot that is down: it comes down from its heel and goes up over its ball, in less time at the ends of
    the walk, where it rolls up less too."""
    landed = 0.0 if before is None else _lands(before)
    lifted = float(len(steps)) if after is None else _lifts(after)
    pitch = 0.0
    if before is not None:
        took = min(2 * _FLAT[0], lifted - landed)
        pitch += steps[before].size * _pitch(min(1.0, (phase - landed) / took) * _FLAT[0])
    if after is not None:
        full = 2 * (_LIFT - _FLAT[1])
        took = min(full, lifted - landed)
        share = max(0.0, 1 - (lifted - phase) / took)
        pitch += steps[after].size * (took / full) * _pitch(_FLAT[1] + share * (_LIFT - _FLAT[1]))
    return pitch


def _swung(body: Body, step: _Step, place: Array, start: float, share: float) -> Foot:
    """A foot in the air: the ball of the foot goes from where it left to where it will be on landing."""
    ball = leg_of(body, step.side).ball
    marks = [_local(place, mark) for mark in (step.start, step.end)]
    ends = []
    for mark, pitch in zip(marks, (start, step.size * _PITCH[-1] * np.pi / 180), strict=True):
        foot = rolled(body, step.side, mark, pitch)
        ends.append(foot.ankle + _sole(foot.yaw, pitch) @ ball)
    moved = _smooth(share)
    yaw = marks[0].yaw + moved * (marks[1].yaw - marks[0].yaw)
    missing = start - step.size * _pitch(_LIFT)
    pitch = step.size * _pitch(_LIFT + (1 - _LIFT) * share) + missing * (1 - _smooth(share / 0.4))
    rise = _CLEARANCE * min(1.0, 0.35 + 0.8 * step.size) * np.sin(np.pi * share**0.75) ** 2
    c, s, (dx, dy) = math.cos(place[2]), math.sin(place[2]), (_bulge(moved) * step.around).tolist()
    at = ends[0] + moved * (ends[1] - ends[0]) + [c * dy - s * dx, rise, c * dx + s * dy]
    toe = max(0.0, -pitch) * max(0.0, 1 - share / 0.32)
    return Foot(at - _sole(yaw, pitch) @ ball, yaw, pitch, toe)


def _sole(yaw: float, pitch: float) -> Array:
    return rotations.about("y", yaw) @ rotations.about("x", -pitch)


def _pitch(cycle: float) -> float:
    """The authored pitch of a foot, radians: a cubic from knot to knot."""
    k = min(max(bisect_right(_CYCLE, cycle) - 1, 0), len(_CYCLE) - 2)
    width = _CYCLE[k + 1] - _CYCLE[k]
    s = (cycle - _CYCLE[k]) / width
    return float(np.deg2rad(_hermite(s, (_PITCH[k], _SLOPE[k] * width), (_PITCH[k + 1], _SLOPE[k + 1] * width))))


def _hermite(s: float, start: tuple[float, float], end: tuple[float, float]) -> float:
    """The cubic over 0 to 1 with these values and slopes at its ends."""
    rise = end[0] - start[0]
    return start[0] + s * (start[1] + s * (3 * rise - 2 * start[1] - end[1] + s * (start[1] + end[1] - 2 * rise)))


def _smooth(share: float) -> float:
    """From 0 to 1 without a jerk at either end."""
    s = min(max(share, 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s * s)
