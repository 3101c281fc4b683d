"""What the events of a pack do in a symbolic world: one table. Those that only mark a thing do so in every world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from iwkit.spec.pack import Incident
from iwkit.world.act import Act
from iwkit.world.state import WEARER, Place

Does = Callable[[Act, str], bool]
"""Lets it happen to a thing; False when it can't as things are."""


def marks(flag: str, kind: str) -> Does:
    """A flag is set, and an event tells of it."""

    def does(act: Act, name: str) -> bool:
        if act.at.away(name):
            return False
        act.at.mark(name, flag)
        act.emit(kind, object=name)
        return True

    return does


def falls(act: Act, name: str) -> bool:
    """From what it stands on to the floor beside it; not out of a hand or a container."""
    place = act.at.state.places[name]
    if place.how != "on" or place.at is None or act.at.away(name):
        return False
    if act.at.root(name) == WEARER or any(p.how in ("inside", "held") for _, p in act.at.chain(name)):
        return False
    act.at.move(name, act.at.floor_beside(place.at))
    act.seconds += FALL
    act.emit("fell", object=name, from_=place.at)
    act.emit("moved", object=name)
    return True


def arrives(act: Act, name: str) -> bool:
    """It is now at the place where its entity says it is."""
    thing = act.at.things[name]
    if thing.at is None or act.at.away(thing.at):
        return False
    if thing.place is None or thing.place == "beside":
        act.at.move(name, act.at.floor_beside(thing.at))
    else:
        act.at.move(name, Place(thing.place, thing.at, spot=thing.spot))
    act.emit("arrived", object=name)
    return True


FALL = 1.0
"""Seconds that a fall takes, as one by `FallToFloor` does."""

MARKS: Final[Mapping[Incident, Does]] = {
    "rings": marks("ringing", "rang"),
    "spills": marks("wet", "spilled"),
    "breaks": marks("broken", "broke"),
}
"""The events that change no place."""
INCIDENTS: Final[Mapping[Incident, Does]] = {**MARKS, "falls": falls, "arrives": arrives}
"""Event -> what it does."""
