"""Putting down what is held where it is wanted; what comes of it is measured (ACT-8, PHY-8, PHY-9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice, product

import numpy as np

from iwkit.world.checks import NEAR
from iwkit.world.state import FLOOR
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.lowering import LOOKS, attempted
from iwkit_runtime.actions.refusals import NoWayError, RefusedError
from iwkit_runtime.actions.retaking import Held, retaken
from iwkit_runtime.actions.search import (
    Look,
)
from iwkit_runtime.actions.spots import Spot, floor_spots, spots, thrown
from iwkit_runtime.nav.stance import Stance
from iwkit_runtime.physical.stage import Stage

TRIES = 8
"""Places that are tried."""
BROADLY = 3
"""Places that are tried broadly, when no place is any good from the nearest stances."""
FROM_THERE = Look(2, 4, 1, 8_000, broad=True, anywhere=True)
"""How a place is tried from the stance that was found for it."""
LOST = 2
"""Places to which the wearer doesn't get, after which the others are not tried in the same way."""
OTHERWISE = ("TRAJECTORY_COLLISION", "OUT_OF_REACH")
"""Why a thing can't be put somewhere as it is held, though perhaps in another grip."""


def put_on(act: Act) -> None:
    """Put the held thing on a support."""
    name, support = act.names
    _put(act, support, spots(act, name, support, "surface"), "on")


def put_inside(act: Act) -> None:
    """Put the held thing into a container."""
    name, container = act.names[:2]
    _put(act, container, chain(thrown(act, name, container), spots(act, name, container, "interior")), "inside")


def put_on_floor(act: Act) -> None:
    """Put the held thing on the floor beside something."""
    name, anchor = act.names
    place = act.at.floor_beside(anchor)
    x, y = place.point or act.stage.wearer.stand[:2]
    found = (spot for spot in floor_spots(act, name, (x, y, 0.0)) if _beside(act.stage, anchor, spot))
    _put(act, anchor, found, "floor")


def _beside(stage: Stage, anchor: str, spot: Spot) -> bool:
    """Whether a place on the floor is near a thing; in a room and by a door any place will do."""
    placed = stage.placed.get(anchor)
    if placed is None or placed.kind == "door":
        return True
    here = stage.collision.frames(anchor)[placed.asset.links[0].name].local((spot.x, spot.y, 0.0))[:2]
    return float(np.hypot(*np.maximum(np.abs(here) - np.array(placed.asset.size[:2]) / 2, 0.0))) <= NEAR


def _put(act: Act, support: str, places: Iterable[Spot], how: str) -> None:
    """Put the held thing at one of some places; where it can't as it is held, it is taken anew."""
    goal, chosen = act.at.goal(support), list(islice(places, TRIES))
    hold = act.stage.wearer.hold
    if hold is None:
        raise RefusedError("OUT_OF_REACH", support)
    refused = _somewhere(act, support, chosen, how)
    if refused is not None and (refused.code not in OTHERWISE or not _anew(act, support, chosen, how)):
        raise refused
    if goal is not None:
        act.place = goal.at
    released(act, hold.name)
    act.expect = (("on_floor", hold.name),) if how == "floor" else ((how, hold.name, support),)


def _anew(act: Act, support: str, places: Sequence[Spot], how: str) -> bool:
    """Set the held thing down, take it as it can be put at one of some places, and put it there; whether that went.
    Else everything is as before."""
    before = act.mark()
    for number, ways in enumerate(retaken(act, "" if how == "floor" else support, places)):
        if any(_as_found(act, support, way, how) for way in ways):
            return True
        if number == 0 and _somewhere(act, support, places, how) is None:
            return True
    act.undo(before)
    return False


def _as_found(act: Act, support: str, way: Held, how: str) -> bool:
    """Put the held thing where and from where it was found that it can be put in a grip, before it was taken so."""
    hold, stand = act.stage.wearer.hold, way.stand
    among = [Stance(*stand, 0.0)]
    return hold is not None and attempted(act, support, hold, way.spot, FROM_THERE, how, among) is None


def _somewhere(act: Act, support: str, places: Sequence[Spot], how: str) -> RefusedError | None:
    """Put the held thing at the first of some places where it can be put; why it can't, if it can't."""
    hold, first = act.stage.wearer.hold, None
    lost: Counter[Look] = Counter()
    for look, spot in _trials(places):
        if lost[look] == LOST:
            continue
        refused = None if hold is None else attempted(act, support, hold, spot, look, how)
        if refused is None:
            return None
        first = refused if first is None or first.code == "PATH_BLOCKED" else first
        unreached = isinstance(refused, NoWayError)
        if unreached and hold is not None and act.public(hold.name) in refused.about[1:]:
            break  # it is in its own way on every walk
        lost[look] += (unreached or refused.code == "PATH_BLOCKED") and not spot.back
    return first or RefusedError("NO_ROOM", act.names[0], support)


def _trials(places: Sequence[Spot]) -> list[tuple[Look, Spot]]:
    """The places to be tried, each with how: where a thing came from before any other one is."""
    near, broad = LOOKS
    back, others = [s for s in places if s.back], [s for s in places if not s.back]
    nearly, broadly = ([(look, spot) for spot in others] for look in (near, broad))
    return [*product(LOOKS, back), *nearly, *broadly[:BROADLY]]


def released(act: Act, name: str) -> None:
    """Report where a thing has come to rest: what bears or contains it, as measured."""
    measured = act.stage.relations.at(act.stage.moment())
    holders = measured.places.of(name).containers or measured.bearers(name)
    wanted = act.names[1] if len(act.names) > 1 and act.names[1] in holders else None
    act.emit("released", object=name, to=wanted or (holders[0] if holders else FLOOR))
    act.emit("moved", object=name)
