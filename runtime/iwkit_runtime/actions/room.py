"""Whether the body fits somewhere, and how it gets out of where it can't turn (PHY-4, ACT-5)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import islice

from iwkit_runtime.actions import passing
from iwkit_runtime.actions.motion import BRUSH
from iwkit_runtime.engines.collision import TOLERANCE
from iwkit_runtime.physical.scene_spec import Joints
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import moved

HEADINGS = 24
"""Directions in which the wearer must fit to turn around."""
TIGHT = 0.012
"""Metres that it may press into something in these: less than in walking, which comes by between them."""
BACKWARDS = 0.08
"""Metres a frame that the wearer steps back."""
FARTHEST = 1.3
"""How far it steps back at most, metres."""
WAYS = (180, 135, -135, 90, -90)
"""Directions in which it steps out of where it can't turn, degrees to the left of where it faces: back, if it can."""
ONWARDS = (45, -45, 0)
"""Directions in which it may find room for other things as well."""


def clear(
    stage: Stage,
    stand: Stand,
    brush: float = TOLERANCE,
    joints: Joints | None = None,
    touching: Collection[str] = (),
    *,
    drawn: bool = False,
) -> bool:
    """Whether the wearer fits there, standing, with what it holds; `drawn`: with its arms drawn in."""
    there = moved(stage.wearer, stand=stand)
    hold, upright = stage.wearer.hold, stage.person.upright(there)
    if drawn:
        upright = passing.drawn(stage, upright, hold)
    return stage.hit(upright, hold, joints=joints, touching=touching, brush=brush) is None


def way_out(
    stage: Stage, joints: Joints | None = None, touching: Collection[str] = (), least: int = 0
) -> list[Stand] | None:
    """The first of `ways_out`; None when there is none."""
    return next(ways_out(stage, joints, touching, least), None)


def ways_out(
    stage: Stage, joints: Joints | None = None, touching: Collection[str] = (), least: int = 0
) -> Iterator[list[Stand]]:
    """Steps straight back, else aslant or aside, at `least` so many, to where the wearer can turn around with its arms
    drawn in."""
    for way in WAYS:
        for steps in _steps(stage, math.radians(way), joints, touching):
            if len(steps) > least and _turns(stage, steps[-1], joints, touching):
                yield steps[1:]


def outings(stage: Stage) -> Iterator[list[Stand]]:
    """Steps that the wearer can make facing as it does, back, aslant, aside or on, the fewest first: there may be room
    for what there is none for here. The first of them stand where it stands. Who sits makes none."""
    directions = () if stage.wearer.seat is not None else (*WAYS, *ONWARDS)
    ways = [_steps(stage, math.radians(way), None, ()) for way in directions]
    found = [steps for way in ways for steps in islice(way, 1, None)]
    yield from sorted(found, key=len)


def _steps(stage: Stage, way: float, joints: Joints | None, touching: Collection[str]) -> Iterator[list[Stand]]:
    """From where the wearer stands in one direction from where it faces: no step, one, two, ... as far as it gets."""
    x, y, heading = stage.wearer.stand
    c, s = math.cos(heading + way), math.sin(heading + way)
    steps = [stage.wearer.stand]
    yield [*steps]
    for n in range(1, round(FARTHEST / BACKWARDS) + 1):
        step = Stand(x + n * BACKWARDS * c, y + n * BACKWARDS * s, heading)
        if not any(clear(stage, step, BRUSH, joints, touching, drawn=drawn) for drawn in (True, False)):
            return
        steps.append(step)
        yield [*steps]


def _turns(stage: Stage, at: Stand, joints: Joints | None, touching: Collection[str]) -> bool:
    """Whether the wearer can turn around at a place, with its arms as they are or drawn in."""
    turns = (at._replace(heading=math.tau * k / HEADINGS) for k in range(HEADINGS))
    return all(
        any(clear(stage, turn, TIGHT, joints, touching, drawn=drawn) for drawn in (False, True)) for turn in turns
    )
