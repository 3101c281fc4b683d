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
    """Steps straight back, at `least` so many, to where the wearer can turn around with its arms drawn in; None when
    there is no such place."""
    x, y, heading = stage.wearer.stand
    steps = [
        Stand(x - n * BACKWARDS * math.cos(heading), y - n * BACKWARDS * math.sin(heading), heading)
        for n in range(round(FARTHEST / BACKWARDS) + 1)
    ]
    for n, step in enumerate(steps):
        if n and not any(clear(stage, step, BRUSH, joints, touching, drawn=drawn) for drawn in (True, False)):
            return None
        if n < least:
            continue
        ways = (step._replace(heading=math.tau * k / HEADINGS) for k in range(HEADINGS))
        if all(clear(stage, way, TIGHT, joints, touching, drawn=True) for way in ways):
            return steps[1 : n + 1]
    return None
