"""Setting down what is held and taking it in another grip, where it can't be put away as it is held (ACT-6, ACT-8).

Which grips would do is found out first, at the places where the thing is to go: nothing is set down in vain.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from iwkit.grammar import Command
from iwkit_runtime.actions import grab
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.grips import Shape, goals, one_way
from iwkit_runtime.actions.lowering import LOOKS, Search, attempted
from iwkit_runtime.actions.motion import Reasons, Screen, roofed
from iwkit_runtime.actions.refusals import NoWayError, RefusedError
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
ROUNDS = 3
"""So many of them it is taken in, one after the other, until it can be put away."""
SAME, TURNED = 0.02, math.radians(20)
"""Metres and radians by which a grip may differ from the one that was meant."""
WORK = 12_000
"""Work for finding them at one place (see `search`)."""
STANCES = 40
YAWS = ((0.0, math.pi), (math.pi / 2, -math.pi / 2))
"""How a thing may be turned at a place, against how it was found free there: first along the same line."""
NEAR = 2.5
"""Metres from the wearer within which a thing is set down."""
HEIGHTS = (0.35, 1.15)
"""Heights at which a thing is set down on something, metres; else on the floor."""
DOWN, ON_FLOOR, ELSEWHERE = 4, 3, 4
"""Places tried for setting it down: on what is handy, on the floor, and on anything else."""
LOST = 2
"""Places on something, and on the floor, to which the wearer doesn't get, after which no more of them are tried."""
FAR = 5.0
"""Metres from the wearer within which that is."""
AHEAD = 0.6
"""Metres ahead of the wearer around which that is on the floor."""
AGAIN = (Look(1, 4, 48, 15_000, broad=True), Look(1, 4, 200, 20_000, broad=True, anywhere=True))


class Held(NamedTuple):
    """A grip, its frame in that of the thing, and for which place and from where it was found."""

    grip: Grip
    at: Frame
    spot: Spot
    stand: Stand


def retaken(act: Act, support: str, places: Sequence[Spot]) -> Iterator[list[Held]]:
    """Set the held thing down near by and take it in a grip in which it can be put at one of some places: the grips
    that were found for that, while it is held in one of them. Whoever asks for more, as it couldn't be put away after
    all, has it held in another one; at the end it is for the caller to put everything back."""
    hold = act.stage.wearer.hold
    wanted = [] if hold is None else list(islice(_suitable(act, hold, support, places), GRIPS))
    if hold is None or not wanted or not _set_down(act, hold):
        return
    down = act.mark()
    for _ in range(ROUNDS):
        if not wanted or not _taken(act, hold.name, wanted):
            return
        used = act.stage.wearer.hold
        yield wanted
        wanted = [one for one in wanted if used is not None and not _held_so(used, one)]
        act.undo(down)


def _held_so(hold: Hold, one: Held) -> bool:
    """Whether a thing is held as it was found that it might be, but for what the hand turns to close on it."""
    at = frame(hold.offset).inverse()
    turned = (float(np.trace(at.turn.T @ one.at.turn)) - 1) / 2
    return hold.grip == one.grip and float(np.linalg.norm(at.at - one.at.at)) < SAME and turned > math.cos(TURNED)


# --- which grips would do ---------------------------------------------------------------------------------------------


def _suitable(act: Act, hold: Hold, support: str, places: Sequence[Spot]) -> Iterator[Held]:
    """Grips in which an arm gets a thing to a place, the most natural first at each turn of it."""
    for turns, spot in product(YAWS, places[:PLACES]):
        search = Search(act.stage, hold, spot, support)
        effort, reasons = Effort(WORK), Reasons(reached=True)
        stands = list(islice(standing(act.stage, (spot.x, spot.y), spread(act.stage, (spot.x, spot.y))), STANCES))
        for yaw in (spot.yaw + turn for turn in turns):
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
    for style in goals(shape, calibration(asset.category), thing):
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
    for contact in contacts(stage, at, style, search.covered, Screen(), reasons, effort, broad=True, usual=True):
        grip = Frame(contact.goals.frames[contact.number], np.array(contact.target))
        as_held = replace(search.hold, grip=contact.goals.grip, offset=grip.inverse().then(thing).pose)
        effort.spend(ARM)
        if next(search.held_as(as_held).ways(contact, at, reasons), None) is not None:
            return Held(contact.goals.grip, thing.inverse().then(grip), search.spot, at)
    return None


# --- set down, and taken ----------------------------------------------------------------------------------------------


def _set_down(act: Act, hold: Hold) -> bool:
    """Set what is held down, on the nearest of what is free and near, on the floor, or elsewhere; whether that went."""
    on_floor: list[Spot] = []
    lost: Counter[bool] = Counter()
    for support, spot in _near(act, hold.name):
        if lost[bool(support)] == LOST:
            continue
        refused = _laid(act, hold, support, spot, LOOKS[0])
        if refused is None:
            return True
        lost[bool(support)] += isinstance(refused, NoWayError)
        on_floor += [] if support else [spot]
    broadly = on_floor[:1] if lost[False] < LOST else []
    return any(_laid(act, hold, "", spot, LOOKS[1]) is None for spot in broadly)


def _laid(act: Act, hold: Hold, support: str, spot: Spot, look: Look) -> RefusedError | None:
    return attempted(act, support or act.room, hold, spot, look, "on" if support else "floor")


def _near(act: Act, name: str) -> Iterator[tuple[str, Spot]]:
    """Where a thing can be set down, and on what; nothing on the floor."""
    stage = act.stage
    asked = replace(act, command=Command("confirm", "Confirm"), handoff=None)
    x, y, heading = stage.wearer.stand
    ahead = x + AHEAD * math.cos(heading), y + AHEAD * math.sin(heading)
    apart = {n: math.dist(ahead, stage.centre(n)[:2]) for n, placed in stage.placed.items() if placed.kind == "fixture"}
    order = sorted(apart, key=lambda n: (apart[n], n))

    def tops(far: float, *, handy: bool) -> Iterator[tuple[str, Spot]]:
        near = ((n, s) for n in order if apart[n] <= far for s in spots(asked, name, n, "surface"))
        return (top for top in near if (apart[top[0]] <= NEAR and _handy(stage, top[1])) == handy)

    yield from islice(tops(NEAR, handy=True), DOWN)
    yield from (("", spot) for spot in islice(floor_spots(asked, name, (*ahead, 0.0)), ON_FLOOR))
    yield from islice(tops(FAR, handy=False), ELSEWHERE)


def _handy(stage: Stage, spot: Spot) -> bool:
    return HEIGHTS[0] <= spot.z <= HEIGHTS[1] and not roofed(stage, (spot.x, spot.y, spot.z + 2 * GAP))


def _taken(act: Act, name: str, wanted: Sequence[Held]) -> bool:
    """Take a thing in one of some grips; whether that went."""
    stage = act.stage
    search = grab.Search(stage, name)
    thing = frame(stage.engine.poses()[name])
    search.styles = [[Level(stage, one_way(one.grip, thing.then(one.at)), name)] for one in wanted]
    x, y, _ = stage.centre(name).tolist()
    try:
        taking = look_and_go(act, name, (x, y), AGAIN, search.plan)
    except RefusedError:
        return False
    grab.filmed(act, name, name, taking)
    return True
