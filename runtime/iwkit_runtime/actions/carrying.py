"""How a thing that has been taken is carried (ACT-9; paper B.2.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from iwkit_runtime.actions.motion import BlockedError
from iwkit_runtime.body import rotations
from iwkit_runtime.body.arms import posed, solutions
from iwkit_runtime.body.atlas import calibration
from iwkit_runtime.body.covering import uncovered
from iwkit_runtime.body.hands import Grip, aims, grip_frame, grip_point
from iwkit_runtime.body.pose import HAND, BodyPose
from iwkit_runtime.body.posture import stand
from iwkit_runtime.body.reaching import CARRY
from iwkit_runtime.physical.kinematics import Frame, frame
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.wearer import Hold, moved

CARRIES = (
    CARRY,
    (0.38, -0.22, 1.05),
    (0.34, -0.10, 1.18),
    (0.42, -0.18, 1.20),
    (0.30, -0.30, 1.02),
    (0.45, -0.12, 1.0),
)
"""Where a held thing is carried, metres: ahead, to the left, above the floor."""
INWARDS = tuple(math.radians(angle) for angle in (0, 30, 60, 90))
"""By how much the hand may turn to the left about the vertical, so that a long thing lies across before the body."""
TILTS = tuple(math.radians(angle) for angle in (15, 30, 45))
"""By how much a thing is tilted to be carried where the arm can't keep it as it was taken."""
AXES = 6
"""Axes on the plan about which it is."""
CHUNK = 48
"""Ways to tilt it for which arms are solved at once."""
LOOKED = 40
"""So many corners of a thing are looked at, to find out whether the hand hides it."""
SEEN = 0.3
"""The share of a thing that the hand must leave open to the wearer's eyes."""
ROLLS = tuple(math.radians(angle) for angle in (60, 90, 35))
"""By how much a hand that hides what it holds is rolled, its thumb up."""
PALM_DOWN = -0.5
"""The palm of such a hand points down by at least this much of its direction."""
BULKY = 0.5
"""Metres from the body's axis: what comes no further fits wherever the wearer does, and is carried as it is held."""


def held(stage: Stage, name: str, grip: Grip, body: BodyPose) -> Hold:
    """What is held how, for a body whose closed hand is at the thing: as it is held if it is then near the body, else
    as near as can be. Raises BlockedError when it can't be carried."""
    person = stage.person
    at = grip_frame(person.body, person.body.forward(*body), "right", grip)
    here = Frame(at[:3, :3], at[:3, 3])
    offset = here.inverse().then(frame(stage.engine.poses()[name])).pose
    fingers = body.pose[HAND["right"]]
    found: list[tuple[float, bool, Hold]] = []
    for carry in _level(stage, grip, here.turn):
        hold = _free(stage, name, grip, offset, carry, fingers)
        if hold is None:
            continue
        far = max(_extent(stage, person.upright(moved(stage.wearer, hold=hold)), hold), BULKY)
        hidden = far <= BULKY and _seen(stage, hold) < SEEN  # what comes further is looked at by how far it comes
        found.append((far, hidden, hold))
        if far <= BULKY and not hidden:
            break
    least = min((far for far, _, _ in found), default=math.inf)
    for far, carry in _tilted(stage, grip, here.turn, name, offset) if least > BULKY else ():
        hold = None if far >= least else _free(stage, name, grip, offset, carry, fingers)
        if hold is not None:  # those that follow come further
            return _turned_up(stage, hold, here.turn)
    if not found:
        raise BlockedError(name)
    return _turned_up(stage, min(found, key=lambda way: way[:2])[2], here.turn)


def _free(  # noqa: PLR0917 (as `Hold`, and where)
    stage: Stage, name: str, grip: Grip, offset: Pose, carry: Floats, fingers: Floats
) -> Hold | None:
    """A hold that is carried in a pose, if that runs into nothing."""
    carry[HAND["right"]] = fingers
    hold = Hold(name, grip, offset, tuple(carry.tolist()))
    return None if stage.hit(stage.person.upright(moved(stage.wearer, hold=hold)), hold) else hold


def _turned_up(stage: Stage, hold: Hold, turn: Floats) -> Hold:
    """A hold whose hand is rolled, thumb up, where it would hide a thing that may be any way up from the wearer's
    eyes."""
    if not calibration(stage.placed[hold.name].asset.category).any_way_up or _seen(stage, hold) >= SEEN:
        return hold
    level = rotations.about("z", -stage.wearer.stand.heading) @ turn
    if level[2, 1] > PALM_DOWN:
        return hold
    rolled = np.array([level @ rotations.about("x", roll) for roll in ROLLS])
    for _, carry in _poses(stage, hold.grip, *_everywhere(rolled)):
        other = _free(stage, hold.name, hold.grip, hold.offset, carry, hold.fingers)
        if other is not None and _seen(stage, other) >= SEEN:
            return other
    return hold


def _seen(stage: Stage, hold: Hold) -> float:
    """The share of a held thing that the hand leaves open to the eyes of the wearer, who looks at it."""
    person = stage.person
    body = person.upright(moved(stage.wearer, hold=hold))
    at = frame(person.held_pose(person.body.forward(*body), hold))
    links = stage.placed[hold.name].asset.links
    corners = np.concatenate([piece.vertices for link in links for piece in link.pieces])
    points = at.point(corners[:: max(1, len(corners) // LOOKED)])
    x, y, z = points.mean(0).tolist()
    return uncovered(person.body, body, points, person.camera(person.looking(body, (x, y, z)))[:3, 3])


def _extent(stage: Stage, body: BodyPose, hold: Hold) -> float:
    """How far a held thing comes from the axis of the body, in metres."""
    at = frame(stage.person.held_pose(stage.person.body.forward(*body), hold))
    x, y, _ = stage.wearer.stand
    pieces = (piece.vertices for link in stage.placed[hold.name].asset.links for piece in link.pieces)
    return max(float(np.hypot(*(at.point(vertices)[:, :2] - (x, y)).T).max()) for vertices in pieces)


def _level(stage: Stage, grip: Grip, turn: Floats) -> Iterator[Floats]:
    """Poses (156,) in which the hand, turned against the wearer as it is now, holds a thing before the wearer: level as
    it is, then turned inwards."""
    yield from (pose for _, pose in _poses(stage, grip, *_everywhere(_inwards(stage, turn))))


def _tilted(stage: Stage, grip: Grip, turn: Floats, name: str, offset: Pose) -> Iterator[tuple[float, Floats]]:
    """How far a thing then comes from the body's axis, `BULKY` at least, and poses (156,) in which it is tilted: those
    in which it comes least far first, and of these those in which it is tilted least."""
    level = _inwards(stage, turn)
    axes = np.array([(math.cos(a), math.sin(a), 0.0) for a in np.arange(AXES) * math.tau / AXES])
    turns, places = _everywhere(
        np.concatenate([rotations.matrix(tilt * axes) @ one for tilt in TILTS for one in level])
    )
    points = np.concatenate([piece.vertices for link in stage.placed[name].asset.links for piece in link.pieces])
    plan = turns[:, :2] @ frame(offset).point(points).T + places[:, :2, None]
    far = np.maximum(np.hypot(plan[:, 0], plan[:, 1]).max(1), BULKY)
    order = np.argsort(far, kind="stable")
    for first in range(0, len(order), CHUNK):
        some = order[first : first + CHUNK]
        for n, pose in _poses(stage, grip, turns[some], places[some]):
            yield float(far[some[n]]), pose


def _inwards(stage: Stage, turn: Floats) -> Floats:
    """The hand's turns (k, 3, 3) against the wearer: as now, and further inwards."""
    heading = stage.wearer.stand.heading
    return np.array([rotations.about("z", -(heading - inwards)) @ turn for inwards in INWARDS])


def _everywhere(turns: Floats) -> tuple[Floats, Floats]:
    """Each of the turns (k, 3, 3) at each of the places (m, 3): both (k m, ...)."""
    return np.repeat(turns, len(CARRIES), 0), np.tile(CARRIES, (len(turns), 1))


def _poses(stage: Stage, grip: Grip, turns: Floats, places: Floats) -> Iterator[tuple[int, Floats]]:
    """Poses (156,) that hold a grip turned so (k, 3, 3) at places (k, 3), with their numbers and in this order; none
    where the arm can't."""
    body = stage.person.body
    upright = body.placed(stand(body), 0, 0, 0)
    points = np.broadcast_to(grip_point(body, "right", grip), places.shape)
    palms, fingers = aims(body, "right", grip, turns)
    found = solutions(body, upright, "right", places, points, palms, fingers)
    goals, first = np.unique(found.goal, return_index=True)
    for n, angles in zip(goals.tolist(), found.angles[first], strict=True):
        yield n, posed(upright.pose, "right", angles)
