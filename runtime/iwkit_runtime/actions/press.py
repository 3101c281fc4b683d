"""Pressing: switches, and the phone at the ear (ACT-7, ACT-8; paper Table 5)."""

from __future__ import annotations

from collections.abc import Callable
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
    rest,
    straight,
)
from iwkit_runtime.actions.refusals import RefusedError
from iwkit_runtime.actions.room import way_out
from iwkit_runtime.actions.stances import go_and
from iwkit_runtime.body.arms import angles_of, reach
from iwkit_runtime.body.hands import Grip, closed, grip_point
from iwkit_runtime.body.model import joint
from iwkit_runtime.body.posture import UPRIGHT
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
    body, at, hold = stage.person.body, stage.wearer.stand, stage.wearer.hold
    tips, fingers = grip_point(body, "left", FINGERTIPS), closed(body, "left", FINGERTIPS)
    screen = Screen(hold, [Allowed(name, point)])
    before = stage.wearer
    stage.wearer = moved(before, gaze=point)
    try:
        for key in _keys(stage, point, tips):
            looked = stage.idle() if before.seat is not None else at_stand(body, at, key.posture)
            looked = looked if before.seat is not None else stage.person.looking(looked, point)
            pressed = Key(key.posture, carrying(key.body, hold)).head(looked).hand("left", fingers)
            hit = screen.hit(stage, pressed.body)
            if hit is not None and hold is None:
                free, hit = freed(stage, screen, pressed.body, "right")
                pressed = Key(key.posture, free)
            if hit is not None:
                reasons.blocked(hit.owner)
                continue
            try:
                if before.seat is None and way_out(stage) is None:
                    raise BlockedError(name)
                to = _to(stage, pressed, point, tips, screen)
            except BlockedError as blocked:
                reasons.blocked(blocked.owner)
                continue
            return Pressing(point, to, [pressed.body] * frames, [*reversed(to[:-1]), rest(stage).body])
        return None
    finally:
        stage.wearer = before


def _keys(stage: Stage, point: Vector, tips: Floats) -> list[Key]:
    """Bodies whose left fingertips are at a point: the hand straight before the wearer, level with its palm down or to
    the right, so that no more than the fingers touch; else as is most comfortable."""
    body, target = stage.person.body, np.array(point)
    if stage.wearer.seat is not None:
        found = reach(body, stage.idle(), "left", target, point=tips)
        return [] if found is None else [Key(UPRIGHT, found.body)]
    at = stage.wearer.stand
    ahead = np.array([point[0] - at.x, point[1] - at.y, 0.0])
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-6)
    aside = np.array([ahead[1], -ahead[0], 0.0])
    ways = [
        elbows(body, at, "left", target, point=tips, palm=palm, fingers=ahead, others=False)
        for palm in (np.array([0.0, 0.0, -1.0]), aside)
    ]
    ways.append(elbows(body, at, "left", target, point=tips))
    return [Key(p.posture, p.reach.body) for way in ways for p in islice(way, POSTURES // 2)]


def _to(stage: Stage, key: Key, point: Vector, tips: Floats, screen: Screen) -> Move:
    """To the point, the last bit straight towards it if the arm can.

    Raises:
        BlockedError: there is no free way.
    """
    pre = _before(stage, key, point, tips)
    if pre is None:
        return bridge(stage, rest(stage), key, "left", screen)
    return [*bridge(stage, rest(stage), pre, "left", screen), *straight(stage, [pre, key], [SHORT], screen)]


def _before(stage: Stage, key: Key, point: Vector, tips: Floats) -> Key | None:
    """The same hand a little nearer to the wearer, and up."""
    goal = np.array(point) + nearer(stage, point, BEFORE)
    near = angles_of(key.body.pose, "left")
    found = reach(stage.person.body, key.body, "left", goal, point=tips, near=near)
    if found is None:
        return None
    return key.arm("left", found.body).hand("left", closed(stage.person.body, "left", FINGERTIPS))


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
