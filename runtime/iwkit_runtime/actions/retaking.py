"""Setting down what is held and taking it in another grip, where it can't be put away as it is held (ACT-6, ACT-8).

Which grips would do is found out first, at the places where the thing is to go: nothing is set down in vain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

import numpy as np

from iwkit.grammar import Command
from iwkit_runtime.actions import grab
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.grips import Goals, Shape, goals
from iwkit_runtime.actions.lowering import LOOKS, Search, attempted
from iwkit_runtime.actions.motion import Reasons, Screen, roofed
from iwkit_runtime.actions.refusals import RefusedError
from iwkit_runtime.actions.search import ARM, Effort, Level, Look, contacts
from iwkit_runtime.actions.spots import GAP, Spot, floor_spots, spots, upright
from iwkit_runtime.actions.stances import as_if_at, look_and_go, spread, standing
from iwkit_runtime.body.atlas import calibration
from iwkit_runtime.body.hands import Grip
from iwkit_runtime.physical.kinematics import Frame, frame
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import Hold

PLACES = 4
"""Places at which it is asked which grips would do."""
GRIPS = 8
"""Grips that are enough to choose from."""
WORK = 12_000
"""Work for finding them at one place (see `search`)."""
STANCES = 40
NEAR = 2.5
"""Metres from the wearer within which a thing is set down."""
HEIGHTS = (0.35, 1.15)
"""Heights at which a thing is set down on something, metres; else on the floor."""
DOWN, ON_FLOOR = 4, 3
"""Places tried for setting it down."""
AHEAD = 0.6
"""Metres ahead of the wearer around which that is on the floor."""
AGAIN = (Look(1, 4, 48, 15_000, broad=True), Look(1, 4, 200, 20_000, broad=True, anywhere=True))

Held = tuple[Grip, Frame]
"""A grip, and its frame in that of the thing."""


def retaken(act: Act, support: str, places: Sequence[Spot]) -> bool:
    """Set the held thing down near by and take it in a grip in which it can be put at one of some places; whether that
    went. If not, the caller puts everything back."""
    hold = act.stage.wearer.hold
    if hold is None:
        return False
    wanted = list(islice(_suitable(act, hold, support, places), GRIPS))
    return bool(wanted) and _set_down(act, hold) and _taken(act, hold.name, wanted)


# --- which grips would do ---------------------------------------------------------------------------------------------


def _suitable(act: Act, hold: Hold, support: str, places: Sequence[Spot]) -> Iterator[Held]:
    """Grips in which an arm gets a thing to a place, the most natural first at each."""
    for spot in places[:PLACES]:
        search = Search(act.stage, hold, spot, support)
        effort, reasons = Effort(WORK), Reasons(reached=True)
        stands = list(islice(standing(act.stage, (spot.x, spot.y), spread(act.stage, (spot.x, spot.y))), STANCES))
        for yaw in (spot.yaw, spot.yaw + math.pi):
            gap = search.gap(yaw)
            if gap is None:
                continue
            thing = frame(upright((spot.x, spot.y, spot.z + gap), yaw))
            for style in _styles(act.stage, hold.name, thing, yaw):
                found = _first(act.stage, search, style, thing, stands, effort, reasons)
                if found is not None:
                    yield found


def _styles(stage: Stage, name: str, thing: Frame, yaw: float) -> Iterator[list[Level]]:
    """How a thing would be taken if it were there."""
    asset = stage.placed[name].asset
    shape = Shape([thing.point(piece.vertices) for piece in asset.links[0].pieces], yaw)
    for style in goals(shape, calibration(asset.category)):
        yield [Level(stage, level, None) for level in style]


def _first(  # noqa: PLR0917 (part of one search)
    stage: Stage,
    search: Search,
    style: Sequence[Level],
    thing: Frame,
    stands: Sequence[Stand],
    effort: Effort,
    reasons: Reasons,
) -> Held | None:
    """The first grip of a style that has a way down to the place."""
    for stand in stands:
        if effort.spent:
            return None
        found = as_if_at(stage, stand, partial(_from, stage, search, style, thing, stand, effort, reasons))
        if found is not None:
            return found
    return None


def _from(  # noqa: PLR0917 (part of one search)
    stage: Stage, search: Search, style: Sequence[Level], thing: Frame, at: Stand, effort: Effort, reasons: Reasons
) -> Held | None:
    for contact in contacts(stage, at, style, search.covered, Screen(), reasons, effort, broad=True):
        grip = Frame(contact.goals.frames[contact.number], np.array(contact.target))
        as_held = replace(search.hold, grip=contact.goals.grip, offset=grip.inverse().then(thing).pose)
        effort.spend(ARM)
        if next(search.held_as(as_held).ways(contact, at, reasons), None) is not None:
            return contact.goals.grip, thing.inverse().then(grip)
    return None


# --- set down, and taken ----------------------------------------------------------------------------------------------


def _set_down(act: Act, hold: Hold) -> bool:
    """Set what is held down, on the nearest of what is free and near, else on the floor; whether that went."""
    places = list(_near(act, hold.name))
    on_floor = [place for place in places if not place[0]]
    trials = [*((LOOKS[0], place) for place in places), *((LOOKS[1], place) for place in on_floor[:1])]
    return any(
        attempted(act, support or act.room, hold, spot, look, "on" if support else "floor") is None
        for look, (support, spot) in trials
    )


def _near(act: Act, name: str) -> Iterator[tuple[str, Spot]]:
    """Where a thing can be set down, and on what; nothing on the floor."""
    stage = act.stage
    asked = replace(act, command=Command("confirm", "Confirm"), handoff=None)
    x, y, heading = stage.wearer.stand
    ahead = x + AHEAD * math.cos(heading), y + AHEAD * math.sin(heading)
    apart = {n: math.dist(ahead, stage.centre(n)[:2]) for n, placed in stage.placed.items() if placed.kind == "fixture"}
    nearest = sorted((n for n in apart if apart[n] <= NEAR), key=lambda n: (apart[n], n))
    tops = chain.from_iterable(((n, s) for s in spots(asked, name, n, "surface")) for n in nearest)
    high = ((n, s) for n, s in tops if HEIGHTS[0] <= s.z <= HEIGHTS[1] and not roofed(stage, (s.x, s.y, s.z + 2 * GAP)))
    yield from islice(high, DOWN)
    yield from (("", spot) for spot in islice(floor_spots(asked, name, (*ahead, 0.0)), ON_FLOOR))


def _taken(act: Act, name: str, wanted: Sequence[Held]) -> bool:
    """Take a thing in one of some grips; whether that went."""
    stage = act.stage
    search = grab.Search(stage, name)
    thing = frame(stage.engine.poses()[name])
    search.styles = [[Level(stage, _goals(thing, one), name)] for one in wanted]
    x, y, _ = stage.centre(name).tolist()
    try:
        taking = look_and_go(act, name, (x, y), AGAIN, search.plan)
    except RefusedError:
        return False
    grab.filmed(act, name, name, taking)
    return True


def _goals(thing: Frame, one: Held) -> Goals:
    """Where the hand goes to take a thing in a grip."""
    at = thing.then(one[1])
    return Goals(one[0], at.at[None], at.turn[None, :, 1], at.turn[None, :, 0])
