"""Using a computer: seated at it where there is a seat, both hands at its keyboard (ACT-7, ACT-8; paper Table 5)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from iwkit.world.checks import SEAT_NEAR
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import (
    Key,
    Move,
    Reasons,
    Screen,
    at_stand,
    gazing,
    rest,
)
from iwkit_runtime.actions.posture import go_to_seat, scoot, sit_down, stand_up
from iwkit_runtime.actions.press import (
    BEFORE,
    DOWN,
    Pressing,
    Touch,
    control_at,
    go_and_touch,
    nearer,
    plan_press,
    press,
    refused,
    touched,
)
from iwkit_runtime.body.arms import angles_of, reach
from iwkit_runtime.body.hands import Grip, closed, grip_point
from iwkit_runtime.body.legs import SIDES, SIGN
from iwkit_runtime.body.pose import Side
from iwkit_runtime.body.posture import LADDER, UPRIGHT, Posture
from iwkit_runtime.engines.collision import Allowed
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.stage import Stage

KEYBOARD = "keyboard"
"""The control point of an asset at which one types."""
TYPE = 48
"""Frames for which a keyboard is used."""
FINGERS = Grip("pinch", 0.06)
"""Hands that type: the fingers bent, thumb and tips apart."""
APART = 0.07
"""Metres from the middle of a keyboard to each hand."""
TAP, TAPPING = 0.012, 4
"""How far a hand rises between two strokes, metres, and the frames of one; the hands take turns."""
BENDS = 8
"""Postures in which one types standing: so many of the ladder's, the easiest first."""
ROLL, FARTHEST = 0.06, 20
"""Metres of a step in which the wearer rolls up to a desk on its seat, and the most steps."""


def use_computer(act: Act) -> None:
    """Sit down before a computer where there is a seat for it, type, and get up again; else type standing.

    Raises:
        RefusedError: PATH_BLOCKED, OUT_OF_REACH or TRAJECTORY_COLLISION.
    """
    name, sits = act.names[0], act.stage.wearer.seat is not None
    seat = None if sits else act.at.seat_near(name, SEAT_NEAR)
    running = act.at.has(name, "device") and act.at.is_(name, "running")
    if seat is not None:
        sit_down(act, *go_to_seat(act, seat))
    if seat is not None or sits:
        typing, steps = _roll_up(act, name)
    else:
        steps = 0
        typing = go_and_touch(act, name, KEYBOARD, lambda point, reasons: plan_typing(act.stage, name, point, reasons))
        act.see()
    starts = act.at.has(name, "device") and not running
    if starts:
        act.emit("started", device=name)
    press(act, typing, on=True if starts else None)
    act.emit("used", object=name)
    if steps:
        act.stage.glance(None)
    for _ in range(steps):
        scoot(act, -ROLL)
    if seat is not None:
        stand_up(act)


def _roll_up(act: Act, name: str) -> tuple[Pressing, int]:
    """Plan typing from where the wearer sits; a seat on wheels is rolled up to the desk for it, by so many steps.

    Raises:
        RefusedError: the keyboard is out of reach all the same.
    """
    seat = act.stage.wearer.seat
    reasons, rolls = Reasons(), seat is not None and act.at.has(seat.name, "wheeled")
    for steps in range(FARTHEST + 1):
        typing = plan_typing(act.stage, name, control_at(act.stage, name, KEYBOARD), reasons)
        if typing is not None:
            return typing, steps
        if not rolls or not scoot(act, ROLL):
            break
    raise refused(act, name, reasons)


# --- planning ---------------------------------------------------------------------------------------------------------


def plan_typing(stage: Stage, name: str, point: Vector, reasons: Reasons) -> Pressing | None:
    """How to type with both hands, or with the left one, from where the wearer is; None when it can't be done."""
    both = _both(stage, name, point, reasons) if stage.wearer.hold is None else None
    return plan_press(stage, name, point, TYPE, reasons) if both is None else both


def _both(stage: Stage, name: str, point: Vector, reasons: Reasons) -> Pressing | None:
    """The same with both hands."""
    hands = _hands(stage, point)
    touch = Touch(name, point, Screen(None, [Allowed(name, hand) for hand in hands.values()]))

    def before(key: Key) -> Key | None:
        return _reached(stage, key, _shifted(hands, nearer(stage, point, BEFORE)), key)

    with gazing(stage, point):
        found = touched(stage, touch, _keys(stage, point, hands), before, reasons)
        return found and found.pressing(_strokes(stage, found.key, hands), rest(stage).body)


def _hands(stage: Stage, point: Vector) -> dict[Side, Vector]:
    """Where the fingers of each hand are, beside one another before the wearer."""
    x, y, heading = stage.wearer.stand
    ahead = np.array((point[0] - x, point[1] - y)) if stage.wearer.seat is None else _direction(heading)
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-6)
    return {
        side: (point[0] - SIGN[side] * APART * ahead[1], point[1] + SIGN[side] * APART * ahead[0], point[2])
        for side in SIDES
    }


def _direction(heading: float) -> Floats:
    return np.array((np.cos(heading), np.sin(heading)))


def _keys(stage: Stage, point: Vector, hands: dict[Side, Vector]) -> Iterator[Key]:
    """Bodies whose fingers are at a keyboard, seated or in the easiest postures."""
    at, seated = stage.wearer.stand, stage.wearer.seat is not None
    postures: list[Posture] = [UPRIGHT] if seated else [rung.posture for rung in LADDER[:BENDS]]
    for posture in postures:
        key = Key(posture, stage.idle() if seated else at_stand(stage.person.body, at, posture))
        found = _reached(stage, key, hands)
        if found is not None:
            yield found if seated else found.head(stage.person.looking(key.body, point))


def _reached(stage: Stage, key: Key, hands: dict[Side, Vector], near: Key | None = None) -> Key | None:
    """The same body with its fingers there, the palms down if the arms can; `near` the arms of another one."""
    for side, target in hands.items():
        tips = grip_point(stage.person.body, side, FINGERS)
        angles = None if near is None else angles_of(near.body.pose, side)
        hand = partial(reach, stage.person.body, key.body, side, target, point=tips, near=angles)
        found = hand(palm=DOWN) or hand()
        if found is None:
            return None
        key = key.arm(side, found.body).hand(side, closed(stage.person.body, side, FINGERS))
    return key


def _shifted(hands: dict[Side, Vector], by: Floats) -> dict[Side, Vector]:
    """The hands elsewhere."""
    dx, dy, dz = by.tolist()
    return {side: (x + dx, y + dy, z + dz) for side, (x, y, z) in hands.items()}


def _strokes(stage: Stage, key: Key, hands: dict[Side, Vector]) -> Move:
    """The hands at the keyboard, one after the other going up a little."""
    raised = _shifted(hands, np.array([0.0, 0.0, TAP]))
    keys = [_reached(stage, key, hands | {side: raised[side]}, key) or key for side in SIDES]
    return [keys[n // TAPPING % len(keys)].body for n in range(TYPE)]
