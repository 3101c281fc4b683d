"""Whether the body fits somewhere, and how it gets out of where it can't turn (PHY-4, ACT-5)."""

from __future__ import annotations

import math
from collections.abc import Collection

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
FARTHEST = 0.8
"""How far it steps back at most, metres."""
WAYS = (180, 135, -135, 90, -90)
"""Directions in which it steps out of where it can't turn, degrees to the left of where it faces: back, if it can."""


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
    """Steps straight back, else aslant or aside, at `least` so many, to where the wearer can turn around with its arms
    drawn in; None when there is no such place."""
    ways = (_steps_out(stage, math.radians(way), joints, touching, least) for way in WAYS)
    return next((steps for steps in ways if steps is not None), None)


def _steps_out(
    stage: Stage, way: float, joints: Joints | None, touching: Collection[str], least: int
) -> list[Stand] | None:
    """The same in one direction, from where the wearer faces."""
    x, y, heading = stage.wearer.stand
    c, s = math.cos(heading + way), math.sin(heading + way)
    steps = [
        Stand(x + n * BACKWARDS * c, y + n * BACKWARDS * s, heading) for n in range(round(FARTHEST / BACKWARDS) + 1)
    ]
    for n, step in enumerate(steps):
        if n and not any(clear(stage, step, BRUSH, joints, touching, drawn=drawn) for drawn in (True, False)):
            return None
        if n < least:
            continue
        turns = (step._replace(heading=math.tau * k / HEADINGS) for k in range(HEADINGS))
        if all(clear(stage, turn, TIGHT, joints, touching, drawn=True) for turn in turns):
            return steps[1 : n + 1]
    return None
