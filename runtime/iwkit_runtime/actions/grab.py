"""Taking a thing into the right hand: stance, posture, grip, and the way there and back (ACT-6 to ACT-9, PHY-7)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from iwkit.world.state import FLOOR
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.grips import Grasp, grasps
from iwkit_runtime.actions.looking import look_over
from iwkit_runtime.actions.motion import (
    SHORT,
    BlockedError,
    Key,
    Move,
    Reasons,
    Screen,
    Trunk,
    at_stand,
    bridge,
    elbows,
    freed,
    rest,
    roofed,
    straight,
)
from iwkit_runtime.actions.room import way_out
from iwkit_runtime.actions.stances import front_of, go_and
from iwkit_runtime.body.arms import angles_of, reach
from iwkit_runtime.body.hands import Grip, closed, grip_frame, grip_point
from iwkit_runtime.body.pose import HAND, BodyPose, blend
from iwkit_runtime.body.posture import stand
from iwkit_runtime.body.reaching import CARRY, PosturedReach
from iwkit_runtime.engines.collision import Allowed
from iwkit_runtime.physical.kinematics import Frame, frame
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import Hold, moved

POSTURES = 9
"""Postures and elbows tried for one grasp from one stance."""
WAYS = 6
"""Free contacts from one stance for which a way to them and back is looked for."""
CLOSING = 3
"""Frames in which the hand closes, and opens."""
LIFT = 0.02
"""Metres by which a thing is lifted before it is drawn back."""
ABOVE, BACK, FURTHER = (0.0, 0.12), (0.12, 0.015), (0.18, 0.0)
"""Where the hand is before contact: metres back towards the wearer, and up."""
BEFORE = {"top": (ABOVE, (0.08, 0.08), BACK), "side": (BACK, (0.12, 0.08), ABOVE), "roofed": (BACK, FURTHER)}
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
BULKY = 0.5
"""Metres from the body's axis: what comes no further fits wherever the wearer does, and is carried as it is held."""


SETTLE = 4
"""Frames in which the gaze returns to where the thing was."""


@dataclass(frozen=True, eq=False)
class Taking:
    """A planned grab from a stance: the way to the thing, the hand closing, the way back with it."""

    target: Vector
    hold: Hold
    to: Move
    close: Move
    back: Move


def grab(act: Act) -> None:
    """Go to a thing and take it."""
    take(act, act.names[0])
    act.expect = (("held", act.names[0]),)


def take(act: Act, name: str) -> None:
    """Go to a thing and take it, as a command or as the first part of one."""
    source = act.at.support(name)
    reach_for(act, name)
    act.emit("grabbed", object=name, from_=FLOOR if source == "floor" else source)
    act.emit("moved", object=name)


def reach_for(act: Act, name: str) -> None:
    """The movement of taking a thing, there and back."""
    stage = act.stage
    goal = act.at.goal(name)
    x, y, _ = stage.centre(name).tolist()
    place = act.at.state.places[name]
    front = front_of(stage, place.at) if place.how == "inside" and place.at in stage.placed else None
    taking = go_and(act, name, (x, y), lambda at, reasons: plan_grab(stage, name, at, reasons), front=front)
    if goal is not None:
        act.place = goal.at
    look_over(act, act.at.root(name), taking.target)
    for body in taking.to:
        stage.shoot(body, gaze=taking.target)
    act.watch(name, taking.to)
    act.see()
    for body in taking.close:
        stage.shoot(body, gaze=taking.target)
    stage.wearer = moved(stage.wearer, hold=taking.hold, gaze=taking.target)
    for body in taking.back:
        stage.shoot(body, gaze=taking.target)
    upright, idle = taking.back[-1], stage.idle()
    for n in range(1, SETTLE + 1):  # the arm's way back was planned without regard to the gaze, which comes back here
        stage.shoot(blend(upright, idle, n / SETTLE), gaze=taking.target)
    stage.sync()


def plan_grab(stage: Stage, name: str, at: Stand, reasons: Reasons) -> Taking | None:
    """How to take a thing from where the wearer stands; None when it can't be done from there."""
    root = stage.collision.frames(name)[stage.placed[name].asset.links[0].name]
    x, y, z = stage.centre(name).tolist()
    ways, covered = 0, roofed(stage, (x, y, z + stage.placed[name].asset.size[2] / 2 + 0.01))
    trunk = Trunk(stage, Screen(), reasons)
    for grasp in grasps(stage.placed[name].asset.size, root, at):
        x, y, z = grasp.target.tolist()
        screen = Screen(None, [Allowed(name, (x, y, z))])
        for posed in islice(_reaches(stage, at, grasp, covered, trunk), POSTURES):
            body, hit = freed(stage, screen, posed.reach.body)
            if hit is not None:
                reasons.blocked(hit.owner)
                continue
            ways += 1
            before = stage.wearer
            stage.wearer = moved(before, gaze=(x, y, z))
            try:
                key = Key(posed.posture, body)
                return _taking(stage, name, grasp, key, screen, before=BEFORE["roofed" if covered else grasp.way])
            except BlockedError as blocked:
                reasons.blocked(blocked.owner)
            finally:
                stage.wearer = before
            if ways == WAYS:
                return None
    return None


def _reaches(stage: Stage, at: Stand, grasp: Grasp, covered: bool, trunk: Trunk) -> Iterator[PosturedReach]:
    body = stage.person.body
    point = grip_point(body, "right", grasp.grip)
    yield from elbows(body, at, "right", grasp.target, point=point, palm=grasp.palm, shelf=covered, trunk=trunk)


def _taking(
    stage: Stage,
    name: str,
    grasp: Grasp,
    reached: Key,
    screen: Screen,
    *,
    before: Sequence[tuple[float, float]],
) -> Taking:
    """Raises BlockedError: a part of it runs into something."""
    body, at = stage.person.body, stage.wearer.stand
    x, y, z = grasp.target.tolist()
    open_hand, closed_hand = (closed(body, "right", grasp.grip, amount) for amount in (0.0, 1.0))
    looked = stage.person.looking(at_stand(body, at, reached.posture), (x, y, z))
    contact = reached.head(looked).hand("right", open_hand)
    shut = contact.hand("right", closed_hand)
    hold: Hold | None = None
    first: BlockedError | None = None
    for away in before:
        pre = shifted(stage, contact, grasp.grip, away)
        hit = None if pre is None else screen.hit(stage, pre.body)
        if pre is None or hit is not None:
            first = first or (BlockedError(hit.owner) if hit else None)
            continue
        hold = hold or _hold(stage, name, grasp, shut.body)
        lifted = shifted(stage, shut, grasp.grip, (0.0, LIFT))
        drawn = shifted(stage, shut, grasp.grip, (away[0], away[1] + LIFT))
        if drawn is None:
            continue
        try:
            Screen(hold).check(stage, drawn.body)
            to = [*bridge(stage, rest(stage), pre, "right", screen), *straight(stage, [pre, contact], [SHORT], screen)]
            close = straight(stage, [contact, shut], [CLOSING], screen)
            return Taking((x, y, z), hold, to, close, _back(stage, hold, [shut, lifted or drawn, drawn]))
        except BlockedError as blocked:
            first = first or blocked
    raise first or BlockedError(name)


def _back(stage: Stage, hold: Hold, keys: list[Key]) -> Move:
    """From the grip to standing with the thing before the wearer."""
    screen = Screen(hold)
    drawn = straight(stage, keys, [3, SHORT], screen)
    before = stage.wearer
    stage.wearer = moved(before, hold=hold)
    try:
        if way_out(stage) is None:
            raise BlockedError(hold.name)
        return [*drawn, *bridge(stage, keys[-1], rest(stage), "right", screen)]
    finally:
        stage.wearer = before


def shifted(stage: Stage, key: Key, grip: Grip, away: tuple[float, float], aside: float = 0.0) -> Key | None:
    """The same grip, turned the same way, further back and up, and `aside` to where the palm doesn't face, metres; None
    when the arm can't."""
    body = stage.person.body
    x, y, _ = stage.wearer.stand
    at = grip_frame(body, body.forward(*key.body), "right", grip)
    bearing = math.atan2(float(at[1, 3]) - y, float(at[0, 3]) - x)
    offset = np.array([-away[0] * math.cos(bearing), -away[0] * math.sin(bearing), away[1]])
    found = reach(
        body,
        key.body,
        "right",
        at[:3, 3] + offset - aside * at[:3, 1],
        point=grip_point(body, "right", grip),
        palm=at[:3, 1],
        fingers=at[:3, 0],
        near=angles_of(key.body.pose, "right"),
    )
    return None if found is None else Key(key.posture, found.body)


def _hold(stage: Stage, name: str, grasp: Grasp, body: BodyPose) -> Hold:
    """What is held how, for a body whose closed hand is at the thing: as it is held if it is then near the body, else
    as near as can be. Raises BlockedError when it can't be carried."""
    person = stage.person
    at = grip_frame(person.body, person.body.forward(*body), "right", grasp.grip)
    grip = Frame(at[:3, :3], at[:3, 3])
    offset = grip.inverse().then(frame(stage.engine.poses()[name])).pose
    fingers = closed(person.body, "right", grasp.grip)
    found: list[tuple[float, Hold]] = []
    for carry in _carries(stage, grasp, grip.turn):
        pose = carry.copy()
        pose[HAND["right"]] = fingers
        hold = Hold(name, grasp.grip, offset, tuple(pose.tolist()))
        upright = person.upright(moved(stage.wearer, hold=hold))
        far = _extent(stage, upright, hold)
        if (found and far >= found[0][0]) or stage.hit(upright, hold) is not None:
            continue
        found = [(far, hold)]
        if far <= BULKY:
            break
    if not found:
        raise BlockedError(name)
    return found[0][1]


def _extent(stage: Stage, body: BodyPose, hold: Hold) -> float:
    """How far a held thing comes from the axis of the body, in metres."""
    at = frame(stage.person.held_pose(stage.person.body.forward(*body), hold))
    x, y, _ = stage.wearer.stand
    pieces = (piece.vertices for link in stage.placed[hold.name].asset.links for piece in link.pieces)
    return max(float(np.hypot(*(at.point(vertices)[:, :2] - (x, y)).T).max()) for vertices in pieces)


def _carries(stage: Stage, grasp: Grasp, turn: Floats) -> Iterator[Floats]:
    """Poses (156,) in which the hand, turned against the wearer as it is now, holds a thing before it: level as it is,
    then turned inwards, and then tilted if there is no other way."""
    body, heading = stage.person.body, stage.wearer.stand.heading
    upright = body.placed(stand(body), 0, 0, 0)
    point = grip_point(body, "right", grasp.grip)
    spare = []
    for inwards in INWARDS:
        c, s = math.cos(heading - inwards), math.sin(heading - inwards)
        turned = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) @ turn
        for place in CARRIES:
            found = reach(body, upright, "right", place, point=point, palm=turned[:, 1], fingers=turned[:, 0])
            if found is not None and found.palm_error == 0:
                yield found.body.pose
            elif found is not None:
                spare.append((found.palm_error, found.body.pose))
    yield from (pose for _, pose in sorted(spare, key=lambda pair: pair[0]))
