"""Why a command is refused: every code with who is to blame and what the wearer is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from iwkit.world.base import Fault


class Reason(NamedTuple):
    """`template` is filled with the public names of the things concerned."""

    fault: Fault
    template: str


class Refusal(NamedTuple):
    """One refusal. `about` holds names of things, or words that stand for themselves."""

    code: str
    about: tuple[str, ...] = ()


REFUSALS: Final[dict[str, Reason]] = {
    # what was asked for makes no sense of these things
    "UNKNOWN_THING": Reason("request", "There is no {0} here."),
    "SAME_THING": Reason("request", "{0} cannot be used with itself."),
    "NOT_MOVABLE": Reason("request", "{0} cannot be picked up."),
    "NO_SURFACE": Reason("request", "Nothing can be put on {0}."),
    "NO_INTERIOR": Reason("request", "Nothing can be put into {0}."),
    "TOO_BIG": Reason("request", "{0} is too big for {1}."),
    "WOULD_CONTAIN_ITSELF": Reason("request", "{0} cannot go on, in or beside something that it carries."),
    "NOT_A_SEAT": Reason("request", "{0} is not for sitting on."),
    "NO_CONNECTOR": Reason("request", "{0} has no connector called {1}."),
    "NOT_ERECTABLE": Reason("request", "{0} cannot be stood upright."),
    "NOT_WHEELED": Reason("request", "{0} cannot be pushed or pulled along."),
    "NOT_OPENABLE": Reason("request", "{0} cannot be opened or closed."),
    "NOT_A_DOOR": Reason("request", "{0} is not a door."),
    "NOT_A_DEVICE": Reason("request", "{0} cannot be switched on or off."),
    "NOT_COOKABLE": Reason("request", "{0} cannot be cooked."),
    "NOT_CUTTABLE": Reason("request", "{0} cannot be cut."),
    "NOT_A_CUTTER": Reason("request", "{0} does not cut."),
    "NOT_STIRRABLE": Reason("request", "There is nothing to stir in {0}."),
    "NOT_A_STIRRER": Reason("request", "{0} is no good for stirring."),
    "NOT_A_VESSEL": Reason("request", "Nothing can be poured into {0}."),
    "NOT_A_POURER": Reason("request", "{0} cannot be poured from."),
    "NOT_A_WIPER": Reason("request", "{0} is no good for wiping."),
    "NOT_WIPEABLE": Reason("request", "{0} cannot be wiped."),
    "NOT_A_WORKSTATION": Reason("request", "{0} is not a computer."),
    "NOT_A_PHONE": Reason("request", "{0} is not a phone."),
    # it makes sense, but not as the world is now
    "HAND_FULL": Reason("world", "Your hand is full: you are holding {0}."),
    "ALREADY_HELD": Reason("world", "You are already holding {0}."),
    "NOT_HELD": Reason("world", "You are not holding {0}."),
    "NOTHING_HELD": Reason("world", "You are not holding anything."),
    "IN_HAND": Reason("world", "You are holding {0}: put it down first."),
    "CONTAINER_CLOSED": Reason("world", "{0} is closed."),
    "NO_ROOM": Reason("world", "There is no room left for {0}: {1} is full."),
    "NO_FLOOR": Reason("world", "There is no free floor for {0} by {1}."),
    "WRONG_SUPPORT": Reason("world", "{0} is not standing free on {1}."),
    "ATTACHED": Reason("world", "{0} is attached to {1}."),
    "NOT_ATTACHED": Reason("world", "{0} is not attached to {1}."),
    "CONNECTOR_TAKEN": Reason("world", "The connector {1} of {0} is taken."),
    "ALREADY_RAISED": Reason("world", "{0} already stands upright."),
    "ALREADY_OPEN": Reason("world", "{0} is already open."),
    "ALREADY_CLOSED": Reason("world", "{0} is already closed."),
    "ALREADY_ON": Reason("world", "{0} is already on."),
    "ALREADY_OFF": Reason("world", "{0} is already off."),
    "ALREADY_COOKED": Reason("world", "{0} is already cooked."),
    "ALREADY_CUT": Reason("world", "{0} is already cut."),
    "NO_HEAT": Reason("world", "{0} is not on or in anything that is hot."),
    "EMPTY": Reason("world", "{0} is empty."),
    "SITTING": Reason("world", "You are sitting on {0}: stand up first."),
    "NOT_SITTING": Reason("world", "You are not sitting."),
    "SEAT_TAKEN": Reason("world", "There are too many things on {0} to sit down."),
    "NOT_VISIBLE": Reason("world", "You cannot see {0} from here."),
    "PATH_BLOCKED": Reason("world", "The way {0} is blocked."),
}
"""Code -> reason. docs/symbolic-world.md explains each; a test checks that none is missing there."""


def sentence(code: str, words: Iterable[str]) -> str:
    """What the wearer is told, with public names: `The fridge is already closed.`"""
    text = REFUSALS[code].template.format(*words)
    return text[0].upper() + text[1:]
