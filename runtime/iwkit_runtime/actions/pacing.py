"""Straight ahead and on the spot: a few steps aside where there is no room for it (ACT-2, ACT-5, PHY-4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeVar

import numpy as np

from iwkit.floorplan import rooms_at
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.passing import Step, Stuck
from iwkit_runtime.actions.refusals import NoWayError
from iwkit_runtime.actions.room import clear, outings
from iwkit_runtime.actions.walking import TURN, blocker, film, walked, way_to
from iwkit_runtime.nav.geometry import wrap
from iwkit_runtime.nav.route import Failure
from iwkit_runtime.nav.walk import STEP
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import moved

SWERVE, DETOUR = (0.0, 0.12, 0.24, 0.36), 1.4
"""Who walks straight ahead comes out so far aside at most, metres, on a way that is so many times as long at most."""

Planned = TypeVar("Planned")


def forward(act: Act) -> None:
    """Walk straight ahead by the distance of the command, around what is small and stands there."""
    stage = act.stage
    x, y, heading = stage.wearer.stand
    distance = act.command.scalar or 0.0
    steps = max(1, math.ceil(distance / STEP - 1e-9))
    shares = np.linspace(0, distance, steps + 1)
    rows = np.array([(x + far * math.cos(heading), y + far * math.sin(heading), heading) for far in shares.tolist()])
    end = Stand(*rows[-1].tolist())
    passed = walked(stage, rows) if clear(stage, end) else Stuck(end, "")
    if isinstance(passed, Stuck):
        passed = _swerving(act, end, distance) or passed
    if isinstance(passed, Stuck):
        by = blocker(act, end[:2]) if not passed.owner else act.public(passed.owner)
        raise NoWayError(*("TRAJECTORY_COLLISION", "ahead", by) if passed.owner else ("PATH_BLOCKED", "ahead", by))
    events = len(act.happenings)
    act.leave()
    film(act, passed)
    act.place = None
    act.arrive(events)


def _swerving(act: Act, end: Stand, distance: float) -> list[Step] | None:
    """A walk that ends near a place, in the same room, and is not much longer than straight on."""
    stage, scene = act.stage, act.at.layout.scene
    grid, rooms = stage.grid(), rooms_at(scene, end[:2])
    for radius, n in product(SWERVE, range(8)):
        turn = end.heading + n * math.pi / 4
        stand = Stand(end.x + radius * math.cos(turn), end.y + radius * math.sin(turn), end.heading)
        if not grid.covers(stand[:2]) or rooms_at(scene, stand[:2]) != rooms or not clear(stage, stand):
            continue
        way = way_to(stage, grid, stand)
        if not isinstance(way, Failure) and _metres(way) <= DETOUR * distance:
            return way
    return None


def _metres(steps: Sequence[Step]) -> float:
    places = np.array([step.at[:2] for step in steps])
    return float(np.hypot(*np.diff(places, axis=0).T).sum())


def turn_by(act: Act, angle: float) -> None:
    """Turn on the spot by an angle in radians, anticlockwise; a few steps aside first where there is no room for it.

    Raises:
        RefusedError: TRAJECTORY_COLLISION, with what is in the way.
    """
    stage = act.stage

    def turned() -> list[Step] | Stuck:
        x, y, heading = stage.wearer.stand
        steps = max(1, math.ceil(abs(angle) / TURN - 1e-9))
        return walked(stage, np.array([(x, y, heading + angle * n / steps) for n in range(steps + 1)]))

    film(act, where_there_is_room(act, turned, "there"))
    end = stage.wearer.stand
    stage.wearer = moved(stage.wearer, stand=end._replace(heading=wrap(end.heading)))


def where_there_is_room(act: Act, plan: Callable[[], Planned | Stuck], whither: str) -> Planned:
    """What is planned from where the wearer stands; or, where there is no room for it, from a few steps away, to which
    it goes.

    Raises:
        RefusedError: TRAJECTORY_COLLISION, with what is in the way here.
    """
    stage, here = act.stage, plan()
    if not isinstance(here, Stuck):
        return here
    before = stage.wearer
    for steps in outings(stage):
        way = walked(stage, np.array(steps))
        if isinstance(way, Stuck):
            continue
        stage.wearer = moved(before, stand=steps[-1], gaze=None)
        there = plan()
        stage.wearer = before
        if not isinstance(there, Stuck):
            film(act, way)
            return there
    raise NoWayError("TRAJECTORY_COLLISION", whither.removeprefix("to "), act.public(here.owner))
