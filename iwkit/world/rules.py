"""The 36 primitives of Table 5 as one table: what must hold, what must be within reach, what then happens, how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from iwkit.world import checks as c
from iwkit.world import effects as do
from iwkit.world.act import Act
from iwkit.world.checks import Check
from iwkit.world.effects import Effect


@dataclass(frozen=True, slots=True)
class Rule:
    """How a primitive works.

    `needs` are asked in order; the first refusal counts. `reach` are the positions of the things that the wearer must
    get its hands on: it navigates there first, unless it is there. `seconds` is the time of the motion itself.
    `keeps_view`: a look around stays in force. `swap`: the two things named may come in the other order, by this trait
    of the first one. `instant`: it takes no time at all; everything else takes a frame at least.
    """

    effect: Effect
    seconds: float
    needs: tuple[Check, ...] = ()
    reach: tuple[int, ...] = ()
    keeps_view: bool = False
    swap: str | None = None
    instant: bool = False

    def checks(self) -> Iterator[Check]:
        yield from self.needs
        yield from map(c.can_reach, self.reach)

    def run(self, act: Act) -> None:
        """Carry out a command that no check refuses."""
        act.see()
        if not self.keeps_view:
            act.at.look_ahead()
        for n in self.reach:
            act.approach(act.names[n])
        act.see()
        self.effect(act)
        act.see()
        act.seconds += self.seconds


_MOVABLE = c.is_kind(0, "object", "NOT_MOVABLE")
_OPENABLE = c.affords(0, "openable", "NOT_OPENABLE")
_OPEN = (_OPENABLE, c.flag_is(0, "open", False, "ALREADY_OPEN"))
_CLOSE = (_OPENABLE, c.flag_is(0, "open", True, "ALREADY_CLOSED"))
_DEVICE = c.affords(0, "device", "NOT_A_DEVICE")
_ROLL = (c.on_wheels, c.hand_empty, c.different, c.not_onto_itself, c.can_reach(0), c.can_approach(1), c.floor_free)
_open = do.mark("open", True, "opened")
_close = do.mark("open", False, "closed")

RULES: Final[dict[str, Rule]] = {
    # locomotion and posture
    "navigate_to": Rule(do.walk, 0.0, (c.standing, c.can_approach(0))),
    "forward": Rule(do.forward, 0.0, (c.standing, c.way_ahead)),
    "turn": Rule(do.turn, 0.0, (c.standing,)),
    "sit": Rule(
        do.sit, 2.0, (c.affords(0, "seat", "NOT_A_SEAT"), c.standing, c.not_in_hand(0), c.room_to_sit, c.can_reach(0))
    ),
    "standup": Rule(do.stand_up, 2.0, (c.sitting,)),
    "squat": Rule(do.nothing, 2.0, (c.standing,)),
    # grasping and placement
    "pick": Rule(do.grab, 1.5, (_MOVABLE, c.not_held_yet, c.hand_empty, c.loose(0)), (0,)),
    "release": Rule(do.drop, 1.0, (c.something_held,)),
    "flip": Rule(do.event("flipped", "object"), 1.5, (c.held(0),)),
    "place": Rule(
        do.put_on,
        1.5,
        (c.affords(1, "surface", "NO_SURFACE"), c.held(0), c.different, c.not_onto_itself, c.fits_on),
        (1,),
    ),
    "place_inside": Rule(
        do.put_inside,
        2.0,
        (
            c.affords(1, "container", "NO_INTERIOR"),
            c.held(0),
            c.different,
            c.not_onto_itself,
            c.can_reach(1),
            c.lid_open(1),
            c.fits_in,
        ),
        (1,),
    ),
    "place_on_floor": Rule(do.put_on_floor, 2.0, (c.held(0), c.different, c.not_onto_itself, c.can_approach(1))),
    "fall_to_floor": Rule(do.fall, 1.0, (c.standing_free_on,), keeps_view=True),
    # assembly
    "attach": Rule(
        do.attach,
        4.0,
        (
            _MOVABLE,
            c.different,
            c.connector_free(0, 1),
            c.connector_free(1, 3),
            c.loose(0),
            c.not_onto_itself,
            c.held_or_takable(0),
            c.can_reach(1),
        ),
    ),
    "detach": Rule(do.detach, 3.0, (c.attached_to, c.hand_empty), (0,)),
    "raise": Rule(
        do.mark("raised", True, "raised"),
        4.0,
        (c.affords(0, "erectable", "NOT_ERECTABLE"), c.not_in_hand(0), c.flag_is(0, "raised", False, "ALREADY_RAISED")),
        (0,),
    ),
    # fixtures and articulated objects
    "push": Rule(do.roll, 2.0, _ROLL, (0,)),
    "pull": Rule(do.roll, 2.0, _ROLL, (0,)),
    "open": Rule(_open, 2.0, _OPEN, (0,)),
    "close": Rule(_close, 2.0, _CLOSE, (0,)),
    "open_door": Rule(_open, 2.0, (c.is_door, *_OPEN), (0,)),
    "close_door": Rule(_close, 2.0, (c.is_door, *_CLOSE), (0,)),
    # devices and tools
    "turn_on": Rule(
        do.mark("running", True, "started", "device"),
        1.0,
        (_DEVICE, c.flag_is(0, "running", False, "ALREADY_ON")),
        (0,),
    ),
    "turn_off": Rule(
        do.mark("running", False, "stopped", "device"),
        1.0,
        (_DEVICE, c.flag_is(0, "running", True, "ALREADY_OFF")),
        (0,),
    ),
    "cook": Rule(
        do.cook,
        5.0,
        (
            c.affords(0, "cookable", "NOT_COOKABLE"),
            c.flag_is(0, "cooked", False, "ALREADY_COOKED"),
            c.heated,
            c.can_approach(0),
        ),
    ),
    "cut": Rule(
        do.cut,
        4.0,
        (
            c.affords(0, "cuttable", "NOT_CUTTABLE"),
            c.affords(1, "cutter", "NOT_A_CUTTER"),
            c.held(1),
            c.different,
            c.flag_is(0, "cut", False, "ALREADY_CUT"),
        ),
        (0,),
    ),
    "stir": Rule(do.stir, 4.0, (c.stirrable, c.affords(1, "stirrer", "NOT_A_STIRRER"), c.held(1), c.different), (0,)),
    "pour": Rule(
        do.pour,
        3.0,
        (
            c.affords(0, "vessel", "NOT_A_VESSEL"),
            c.affords(1, "pourer", "NOT_A_POURER"),
            c.held(1),
            c.different,
            c.not_empty,
        ),
        (0,),
    ),
    "wipe": Rule(
        do.wipe,
        5.0,
        (
            c.affords(0, "wiper", "NOT_A_WIPER"),
            c.affords(1, "wipeable", "NOT_WIPEABLE"),
            c.different,
            c.held_or_takable(0),
            c.can_reach(1),
        ),
        swap="wiper",
    ),
    "use_computer": Rule(
        do.use_computer,
        6.0,
        (c.affords(0, "workstation", "NOT_A_WORKSTATION"), c.hand_empty, c.lid_open(0), c.can_use),
    ),
    "answer_phone": Rule(do.answer, 2.0, (c.affords(0, "phone", "NOT_A_PHONE"), c.held(0))),
    # perception and control
    "look_around": Rule(do.look_around, 6.0, keeps_view=True),
    "look_scan": Rule(do.look_scan, 3.0, keeps_view=True),
    "look_at": Rule(do.look_at, 1.5, (c.in_sight,), keeps_view=True),
    "wait": Rule(do.wait, 0.0, keeps_view=True),
    "confirm": Rule(do.confirm, 0.0, keeps_view=True, instant=True),
}
"""Primitive -> rule."""
