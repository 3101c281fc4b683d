"""Bringing the mind in line with the world: places, lids and the wearer's pose as measured (design: PhysicalWorld)."""

from __future__ import annotations

import math

from iwkit.floorplan import room_at
from iwkit.spec.recipe import SHOWN
from iwkit.world.situation import Situation
from iwkit.world.state import HELD, Place, Spot, State
from iwkit_runtime.physical.relations import Measured
from iwkit_runtime.physical.scene_spec import States
from iwkit_runtime.physical.stage import Stage

SHIFTED = 0.01
"""A fixture that stands further from where the mind knows it has been moved, metres."""
AJAR = 0.5
"""A joint that is further than this share of its range from closed no longer hides what is behind it."""


def synced(state: State, stage: Stage, at: Situation) -> None:
    """Change a mind's state so that it agrees with what is measured. A place that agrees is kept with its spot."""
    measured = stage.relations.at(stage.moment())
    x, y, heading = stage.wearer.stand
    wearer = state.wearer
    wearer.x, wearer.y = round(x, 4), round(y, 4)
    wearer.heading = round(math.degrees(heading) % 360, 4) % 360
    absent = stage.absent()
    for name in measured.names("object"):
        if name in absent:
            continue
        found = _place(name, measured, at)
        known = state.places[name]
        if (found.how, found.at) != (known.how, known.at) or (found.how == "floor" and found.point != known.point):
            state.places[name] = found if known.how != "attached" else known
    hold = stage.wearer.hold
    wearer.held = None if hold is None else hold.name
    wearer.seat = measured.seat()
    for name in at.layout.fixtures:
        _stood(state, stage, at, name)
    for name in measured.names("object", "fixture", "door"):
        _flags(state, measured, name)


def states_shown(state: State) -> States:
    """What of a mind's state is to be seen on things; whether a joint is open is seen by itself."""
    found = {}
    for name in sorted(state.flags.keys() | state.contents.keys()):
        words = state.flags.get(name, frozenset()) | ({"filled"} if state.contents.get(name) else frozenset())
        seen = (words & frozenset(SHOWN)) - {"open"}
        if seen:
            found[name] = tuple(sorted(seen))
    return found


def _place(name: str, measured: Measured, at: Situation) -> Place:
    """Where a thing is by itself, in the mind's terms."""
    if name == measured.moment.held:
        return HELD
    known = at.state.places[name]
    containers = measured.places.of(name).containers
    if containers:
        return Place("inside", known.at if known.at in containers else containers[0])
    bearers = measured.bearers(name)
    if bearers:
        return Place("on", known.at if known.at in bearers else bearers[0])
    x, y, _ = measured.places.posed[name].centre.tolist()
    point = (round(x, 4), round(y, 4))
    room = room_at(at.layout.scene, point)
    beside = known.at if known.how == "floor" else None
    return Place("floor", beside, point=point, room=at.state.wearer.room if room is None else at.layout.rooms[room])


def _stood(state: State, stage: Stage, at: Situation, name: str) -> None:
    """Where a fixture stands that has been moved."""
    x, y, _ = stage.centre(name).tolist()
    if math.dist((x, y), at.fixture(name).at) > SHIFTED:
        room = room_at(at.layout.scene, (x, y))
        known = at.layout.rooms[at.fixture(name).room]
        state.fixtures[name] = Spot(round(x, 4), round(y, 4), known if room is None else at.layout.rooms[room])


def _flags(state: State, measured: Measured, name: str) -> None:
    """Whether a thing is open, or stands upright."""
    shares = measured.joints(name).values()
    flags = known = state.flags.get(name, frozenset())
    if shares:
        flags = flags | {"open"} if max(shares) > AJAR else flags - {"open"}
    if name in measured.facts.erectable:
        flags = flags | {"raised"} if measured.raised(name) else flags - {"raised"}
    if flags == known:
        return
    state.flags.pop(name, None)
    if flags:
        state.flags[name] = flags
