"""The primitives of the physical world as one table: what the body does for each (ACT; spec Table 5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from iwkit.world.ground import faced
from iwkit_runtime.actions import (
    assembly,
    cart,
    dropping,
    grab,
    keyboard,
    looking,
    opening,
    pacing,
    place,
    posture,
    press,
    tools,
    turnover,
    walking,
)
from iwkit_runtime.actions.act import Act

TURN_SIGN = {"TurnLeft": 1.0, "TurnRight": -1.0, "TurnAround": 1.0}


@dataclass(frozen=True, slots=True)
class Row:
    """How a primitive is done. `keeps_view`: what a look has shown stays in view, as in the symbolic world."""

    do: Callable[[Act], None]
    keeps_view: bool = False


def _walk(act: Act) -> None:
    walking.approach(act, act.names[0])
    if act.names[0] in act.stage.placed:
        point = looking.focus(act, act.names[0])
        looking.face(act, point)
        looking.look_over(act, act.names[0], point)


def _turn(act: Act) -> None:
    """Turn on the spot; the eyes return to the fixture at hand if it is still before them."""
    act.leave()
    pacing.turn_by(act, TURN_SIGN[act.command.verb] * math.radians(act.command.scalar or 0.0))
    x, y, heading = act.stage.wearer.stand
    if act.place in act.at.layout.fixtures and faced((x, y), math.degrees(heading), act.at.boxes[act.place]):
        act.glance(looking.focus(act, act.place))
        act.take_in(act.place, act.stage.idle())


def _wait(act: Act) -> None:
    body = act.stage.idle()
    for _ in range(math.ceil(round((act.command.scalar or 0.0) * 12, 6))):
        act.stage.shoot(body, gaze=act.stage.wearer.gaze)


def _confirm(act: Act) -> None:
    act.emit("confirmed", by="wearer")


ACTIONS: Final[dict[str, Row]] = {
    "navigate_to": Row(_walk),
    "forward": Row(pacing.forward),
    "turn": Row(_turn),
    "sit": Row(posture.sit),
    "standup": Row(posture.stand_up),
    "squat": Row(posture.squat),
    "push": Row(cart.push),
    "pull": Row(cart.pull),
    "turn_on": Row(press.turn_on),
    "turn_off": Row(press.turn_off),
    "use_computer": Row(keyboard.use_computer),
    "answer_phone": Row(press.answer_phone),
    "pick": Row(grab.grab),
    "release": Row(dropping.drop),
    "place": Row(place.put_on),
    "place_inside": Row(place.put_inside),
    "place_on_floor": Row(place.put_on_floor),
    "open": Row(opening.open_thing),
    "close": Row(opening.close_thing),
    "open_door": Row(opening.open_thing),
    "close_door": Row(opening.close_thing),
    "flip": Row(turnover.flip),
    "fall_to_floor": Row(turnover.fall, keeps_view=True),
    "attach": Row(assembly.attach),
    "detach": Row(assembly.detach),
    "raise": Row(assembly.raise_up),
    "cook": Row(tools.cook),
    "cut": Row(tools.cut),
    "stir": Row(tools.stir),
    "pour": Row(tools.pour),
    "wipe": Row(tools.wipe),
    "look_around": Row(looking.look_around, keeps_view=True),
    "look_scan": Row(looking.look_scan, keeps_view=True),
    "look_at": Row(looking.look_at, keeps_view=True),
    "wait": Row(_wait, keeps_view=True),
    "confirm": Row(_confirm, keeps_view=True),
}
"""Primitive -> what is done. A primitive that is not here is refused with NOT_BUILT."""
