"""Pressing: switches, keyboards, and the phone at the ear (ACT-7, ACT-8; paper Table 5)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from iwkit.world.checks import SEAT_NEAR
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.looking import look_over
from iwkit_runtime.actions.motion import (
    LONG,
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
from iwkit_runtime.actions.posture import go_to_seat, scoot, sit_down, stand_up
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
SWITCH, KEYBOARD = "power", "keyboard"
"""Names of control points of assets."""
PRESS, TYPE, CALL = 4, 48, 24
"""Frames for which a switch is pressed, a keyboard used, a phone is at the ear."""
BEFORE = 0.10
"""Metres before a control from which the hand goes straight to it."""
POSTURES = 8
"""Postures and elbows tried from one stance."""
TAP, TAPPING = 0.012, 4
"""How far the hand rises between two strokes, metres, and the frames of one."""
ROLL, FARTHEST = 0.06, 20
"""Metres of a step in which the wearer rolls up to a desk on its seat, and the most steps."""
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
    pressing = _go_and_plan(act, act.names[0], SWITCH, PRESS)
    look_over(act, act.at.root(act.names[0]), pressing.point)
    act.see()
    _press(act, pressing, on=on)


def use_computer(act: Act) -> None:
    """Sit down before a computer where there is a seat for it, type, and get up again; else type standing."""
    name, sits = act.names[0], act.stage.wearer.seat is not None
    seat = None if sits else act.at.seat_near(name, SEAT_NEAR)
    running = act.at.has(name, "device") and act.at.is_(name, "running")
    if seat is not None:
        sit_down(act, *go_to_seat(act, seat))
    if seat is not None or sits:
        pressing, steps = _roll_up(act, name)
    else:
        steps = 0
        pressing = _go_and_plan(act, name, KEYBOARD, TYPE)
        act.see()
    starts = act.at.has(name, "device") and not running
    if starts:
        act.emit("started", device=name)
    _press(act, pressing, on=True if starts else None)
    act.emit("used", object=name)
    if steps:
        act.stage.glance(None)
    for _ in range(steps):
        scoot(act, -ROLL)
    if seat is not None:
        stand_up(act)


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


def _go_and_plan(act: Act, name: str, control: str, frames: int) -> Pressing:
    """Go where a control can be touched."""
    stage, hold = act.stage, act.stage.wearer.hold
    goal = act.at.goal(name)
    point = control_at(stage, name, control)
    if hold is not None and act.at.in_hand(name):
        reasons = Reasons()
        pressing = plan_press(stage, name, point, frames, reasons)
        if pressing is None:
            raise _refused(act, name, reasons)
        return pressing

    def plan(_at: Stand, reasons: Reasons) -> Pressing | None:
        return plan_press(stage, name, point, frames, reasons)

    pressing = go_and(act, name, point[:2], plan)
    if goal is not None:
        act.place = goal.at
    return pressing


def _roll_up(act: Act, name: str) -> tuple[Pressing, int]:
    """Plan typing from where the wearer sits; a seat on wheels is rolled up to the desk for it, by so many steps.

    Raises:
        RefusedError: the keyboard is out of reach all the same.
    """
    seat = act.stage.wearer.seat
    reasons, rolls = Reasons(), seat is not None and act.at.has(seat.name, "wheeled")
    for steps in range(FARTHEST + 1):
        pressing = plan_press(act.stage, name, control_at(act.stage, name, KEYBOARD), TYPE, reasons)
        if pressing is not None:
            return pressing, steps
        if not rolls or not scoot(act, ROLL):
            break
    raise _refused(act, name, reasons)


def _refused(act: Act, name: str, reasons: Reasons) -> RefusedError:
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
            there = _strokes(stage, pressed, point, tips, frames)
            return Pressing(point, to, there, [*reversed(to[:-1]), rest(stage).body])
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
    pre = _shifted(stage, key, point, tips, BEFORE)
    if pre is None:
        return bridge(stage, rest(stage), key, "left", screen)
    return [*bridge(stage, rest(stage), pre, "left", screen), *straight(stage, [pre, key], [SHORT], screen)]


def _shifted(stage: Stage, key: Key, point: Vector, tips: Floats, away: float) -> Key | None:
    """The same hand a little nearer to the wearer, and up."""
    x, y, _ = stage.wearer.stand
    target = np.array(point)
    back = np.array((x, y)) - target[:2]
    back = back / max(float(np.linalg.norm(back)), 1e-6)
    goal = target + away * np.array([0.8 * back[0], 0.8 * back[1], 0.6])
    near = angles_of(key.body.pose, "left")
    found = reach(stage.person.body, key.body, "left", goal, point=tips, near=near)
    return None if found is None else Key(key.posture, key.arm("left", found.body).body).hand("left", _fist(stage))


def _fist(stage: Stage) -> Floats:
    return closed(stage.person.body, "left", FINGERTIPS)


def _strokes(stage: Stage, key: Key, point: Vector, tips: Floats, frames: int) -> Move:
    """The hand at the point, tapping on it if it is there for long."""
    up = _shifted(stage, key, point, tips, TAP) if frames > LONG else None
    return [key.body if up is None or n // TAPPING % 2 == 0 else up.body for n in range(frames)]


# --- doing ------------------------------------------------------------------------------------------------------------


def _press(act: Act, pressing: Pressing, on: bool | None) -> None:
    """Film it. From the touch on the thing shows that it is `on` or off; None: as before."""
    stage = act.stage
    stage.glance(pressing.point)
    for body in pressing.to:
        stage.shoot(body, gaze=pressing.point)
    if on is not None:
        stage.switch(act.names[0], on=on)
    for body in (*pressing.there, *pressing.back):
        stage.shoot(body, gaze=pressing.point)
    stage.sync()
