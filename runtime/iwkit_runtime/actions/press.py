"""Pressing: switches, and the phone at the ear (ACT-7, ACT-8; paper Table 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.looking import look_over
from iwkit_runtime.actions.motion import (
    SHORT,
    BlockedError,
    Key,
    Move,
    Reasons,
    Screen,
    at_stand,
    bridge,
    elbows,
    freed,
    gazing,
    rest,
    straight,
)
from iwkit_runtime.actions.refusals import RefusedError
from iwkit_runtime.actions.room import way_out
from iwkit_runtime.actions.stances import go_and
from iwkit_runtime.body.arms import angles_of, reach
from iwkit_runtime.body.hands import Grip, closed, grip_point
from iwkit_runtime.body.model import joint
from iwkit_runtime.body.pose import BodyPose, Side
from iwkit_runtime.body.posture import UPRIGHT, Posture
from iwkit_runtime.engines.collision import Allowed
from iwkit_runtime.physical.kinematics import frame, link_frames
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.stage import HEAD_CAPSULE, Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import carrying, moved

FINGERTIPS = Grip("pinch", 0.0)
"""Thumb and first fingers together: their tips press."""
SWITCH = "power"
"""The control point of an asset that a finger presses."""
PRESS, CALL = 4, 24
"""Frames for which a switch is pressed, a phone is at the ear."""
BEFORE = 0.10
"""Metres before a control from which the hand goes straight to it."""
POSTURES = 8
"""Postures and elbows tried from one stance."""
DOWN = np.array([0.0, 0.0, -1.0])
EAR = (0.0, 0.13, -0.03)
"""Where a held phone is, from the middle of the head: ahead, to the right, up, metres."""


class Pressing(NamedTuple):
    """A planned touch: the hand goes to a point, is there for some frames, and comes back."""

    point: Vector
    to: Move
    there: Move
    back: Move


def turn_on(act: Act) -> None:
    """Go to a device and press its switch."""
    _switch(act, on=True)
    act.emit("started", device=act.names[0])


def turn_off(act: Act) -> None:
    """Go to a device and press its switch."""
    _switch(act, on=False)
    act.emit("stopped", device=act.names[0])


def _switch(act: Act, *, on: bool) -> None:
    name = act.names[0]

    def touch(point: Vector, reasons: Reasons) -> Pressing | None:
        return plan_press(act.stage, name, point, PRESS, reasons)

    pressing = go_and_touch(act, name, SWITCH, touch)
    look_over(act, act.at.root(name), pressing.point)
    act.see()
    press(act, pressing, on=on)


def answer_phone(act: Act) -> None:
    """Hold the phone to the ear, where it stays until it is put somewhere (Table 5).

    Raises:
        RefusedError: OUT_OF_REACH or TRAJECTORY_COLLISION; there is no room for the arm.
    """
    stage, name, hold = act.stage, act.names[0], act.stage.wearer.hold
    if hold is None:
        raise RefusedError("OUT_OF_REACH", name)
    if stage.wearer.gaze is not None:
        stage.glance(None)
    start = rest(stage)
    target, left = _ear(stage)
    point = grip_point(stage.person.body, "right", hold.grip)
    arm = partial(reach, stage.person.body, start.body, "right", target, point=point)
    tries = (arm(palm=left, fingers=(0.0, 0.0, 1.0)), arm(palm=left), arm())
    found = next((found for found in tries if found is not None), None)
    if found is None:
        raise RefusedError("OUT_OF_REACH", "your ear")
    key = Key(UPRIGHT, found.body).hand("right", hold.fingers)
    try:
        to = bridge(stage, start, key, "right", Screen(hold))
    except BlockedError as blocked:
        raise RefusedError("TRAJECTORY_COLLISION", "your ear", act.public(blocked.owner)) from None
    for body in (*to, *[key.body] * CALL):
        stage.shoot(body)
    stage.wearer = moved(stage.wearer, hold=replace(hold, carry=tuple(key.body.pose.tolist())))
    stage.sync()
    act.emit("answered", object=name)


def _ear(stage: Stage) -> tuple[Floats, Floats]:
    """Where the phone goes (3,), and the direction to the wearer's left (3,)."""
    body = stage.idle()
    shape = stage.person.shape(body)
    head = shape.capsules.ends[HEAD_CAPSULE].mean(0)
    turned = joint(shape.joints, "head")[:3, :3]
    left, up, ahead = turned[:, 0], turned[:, 1], turned[:, 2]
    return head + EAR[0] * ahead - EAR[1] * left + EAR[2] * up, left


# --- planning ---------------------------------------------------------------------------------------------------------


def control_at(stage: Stage, name: str, control: str) -> Vector:
    """Where a control of a thing is in the world, the middle of its top where it has none of that name."""
    asset = stage.placed[name].asset
    joints = stage.engine.joints()
    values = {link.name: joints[name, link.name] for link in asset.links if link.joint}
    frames = link_frames(asset, frame(stage.engine.poses()[name]), values)
    found = asset.controls.get(control)
    link, point = (asset.links[0].name, (0.0, 0.0, asset.size[2])) if found is None else found
    x, y, z = frames[link].point(point).tolist()
    return x, y, z


def go_and_touch(act: Act, name: str, control: str, touch: Callable[[Vector, Reasons], Pressing | None]) -> Pressing:
    """Go where a control can be touched, as `touch` plans it for where it is.

    Raises:
        RefusedError: PATH_BLOCKED, OUT_OF_REACH or TRAJECTORY_COLLISION.
    """
    goal, point = act.at.goal(name), control_at(act.stage, name, control)
    if act.stage.wearer.hold is not None and act.at.in_hand(name):
        reasons = Reasons()
        pressing = touch(point, reasons)
        if pressing is None:
            raise refused(act, name, reasons)
        return pressing

    def plan(_at: Stand, reasons: Reasons) -> Pressing | None:
        return touch(point, reasons)

    pressing = go_and(act, name, point[:2], plan)
    if goal is not None:
        act.place = goal.at
    return pressing


def refused(act: Act, name: str, reasons: Reasons) -> RefusedError:
    """Why nothing came of reaching for a thing."""
    if reasons.reached:
        return RefusedError("TRAJECTORY_COLLISION", act.public(name), act.public(reasons.blocker))
    return RefusedError("OUT_OF_REACH", act.public(name))


def plan_press(stage: Stage, name: str, point: Vector, frames: int, reasons: Reasons) -> Pressing | None:
    """How to touch a point of a thing with the left hand from where the wearer is; None when it can't be done."""
    hold = stage.wearer.hold
    touch = Touch(name, point, Screen(hold, [Allowed(name, point)]))
    with gazing(stage, point):
        found = touched(
            stage,
            touch,
            _keys(stage, point),
            partial(_before, stage, point),
            reasons,
            idle="right" if hold is None else None,
        )
        return found and found.pressing([found.key.body] * frames, rest(stage).body)


class Touch(NamedTuple):
    """What is to be touched and where, and what everything on the way there is screened against."""

    name: str
    point: Vector
    screen: Screen


class Touched(NamedTuple):
    """A body that touches a point, and the way to it."""

    point: Vector
    key: Key
    to: Move

    def pressing(self, there: Move, after: BodyPose) -> Pressing:
        """The whole of it: what is done `there`, and back the same way to a body frame `after` it."""
        return Pressing(self.point, self.to, there, [*reversed(self.to[:-1]), after])


def touched(
    stage: Stage,
    touch: Touch,
    keys: Iterable[Key],
    before: Callable[[Key], Key | None],
    reasons: Reasons,
    *,
    idle: Side | None = None,
) -> Touched | None:
    """The first of some bodies at a point that is free and can be come to and left again: by way of what is `before`
    it, the last bit straight from there, if the arms can. The `idle` arm is drawn in if it is in the way."""
    for key in keys:
        body, hit = (
            (key.body, touch.screen.hit(stage, key.body)) if idle is None else freed(stage, touch.screen, key, idle)
        )
        if hit is not None:
            reasons.blocked(hit.owner)
            continue
        free = Key(key.posture, body)
        try:
            return Touched(touch.point, free, _to(stage, touch, free, before(free)))
        except BlockedError as blocked:
            reasons.blocked(blocked.owner)
    return None


def _to(stage: Stage, touch: Touch, key: Key, pre: Key | None) -> Move:
    """To the point, by way of what is before it.

    Raises:
        BlockedError: there is no free way, or none back out.
    """
    leaves = stage.wearer.seat is not None or stage.collision.once(
        ("way out", stage.wearer), lambda: way_out(stage) is not None
    )
    if not leaves:
        raise BlockedError(touch.name)
    if pre is None:
        return bridge(stage, rest(stage), key, "left", touch.screen)
    return [*bridge(stage, rest(stage), pre, "left", touch.screen), *straight(stage, [pre, key], [SHORT], touch.screen)]


def _keys(stage: Stage, point: Vector) -> Iterator[Key]:
    """Bodies whose left fingertips are at a point, looking there unless they sit."""
    body, at, hold, seated = stage.person.body, stage.wearer.stand, stage.wearer.hold, stage.wearer.seat is not None
    fingers = closed(body, "left", FINGERTIPS)
    for posture, reached in _reaching(stage, point):
        looked = stage.idle() if seated else stage.person.looking(at_stand(body, at, posture), point)
        yield Key(posture, carrying(reached, hold)).head(looked).hand("left", fingers)


def _reaching(stage: Stage, point: Vector) -> Iterator[tuple[Posture, BodyPose]]:
    """Postures, and in them arms at a point: the hand straight before the wearer, level with its palm down or to the
    right, so that no more than the fingers touch; else as is most comfortable."""
    body, target, tips = stage.person.body, np.array(point), grip_point(stage.person.body, "left", FINGERTIPS)
    if stage.wearer.seat is not None:
        found = reach(body, stage.idle(), "left", target, point=tips)
        yield from [] if found is None else [(UPRIGHT, found.body)]
        return
    at = stage.wearer.stand
    ahead = np.array([point[0] - at.x, point[1] - at.y, 0.0])
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-6)
    hand = partial(elbows, body, at, "left", target, point=tips)
    ways = [hand(palm=palm, fingers=ahead, others=False) for palm in (DOWN, np.array([ahead[1], -ahead[0], 0.0]))]
    for way in (*ways, hand()):
        yield from ((p.posture, p.reach.body) for p in islice(way, POSTURES // 2))


def _before(stage: Stage, point: Vector, key: Key) -> Key | None:
    """The same hand a little nearer to the wearer, and up."""
    body, goal = stage.person.body, np.array(point) + nearer(stage, point, BEFORE)
    tips, near = grip_point(body, "left", FINGERTIPS), angles_of(key.body.pose, "left")
    found = reach(body, key.body, "left", goal, point=tips, near=near)
    return None if found is None else key.arm("left", found.body).hand("left", closed(body, "left", FINGERTIPS))


def nearer(stage: Stage, point: Vector, away: float) -> Floats:
    """A way (3,) of a length from a point towards the wearer, and up."""
    x, y, _ = stage.wearer.stand
    back = np.array((x - point[0], y - point[1]))
    back = back / max(float(np.linalg.norm(back)), 1e-6)
    return away * np.array([0.8 * back[0], 0.8 * back[1], 0.6])


# --- doing ------------------------------------------------------------------------------------------------------------


def press(act: Act, pressing: Pressing, on: bool | None) -> None:
    """Film it. From the touch on the thing shows that it is `on` or off; None: as before."""
    stage = act.stage
    stage.glance(pressing.point)
    for body in pressing.to:
        stage.shoot(body, gaze=pressing.point)
    if on is not None:
        stage.mark(act.names[0], "running", on=on)
    for body in (*pressing.there, *pressing.back):
        stage.shoot(body, gaze=pressing.point)
    stage.sync()
