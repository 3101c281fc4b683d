"""Letting go of what is held where one stands: it falls, clear of the feet (ACT-8, PHY-8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.grab import CLOSING
from iwkit_runtime.actions.looking import middle
from iwkit_runtime.actions.lowering import around
from iwkit_runtime.actions.motion import BlockedError, Key, Move, Screen, bridge, rest
from iwkit_runtime.actions.passing import Stuck
from iwkit_runtime.actions.place import released
from iwkit_runtime.actions.refusals import RefusedError
from iwkit_runtime.actions.room import outings
from iwkit_runtime.actions.walking import film, walked
from iwkit_runtime.body.arms import reach
from iwkit_runtime.body.hands import grip_frame, grip_point, relaxed
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.wearer import Hold, moved

CLEAR = ((0.50, -0.20, 1.0), (0.45, -0.35, 0.95), (0.30, -0.50, 0.95), (0.10, -0.55, 0.9), (0.55, -0.15, 1.1))
"""Where the hand lets go of what would fall on the feet, metres: ahead of the wearer, to the left, above the floor."""
SEATED = (0.3, 0.25)
"""So far back and down that is for who sits, whose hips are behind the feet, metres."""
STEPS = (4, 8)
"""So many places of a step aside are tried where nothing falls clear from here."""


def drop(act: Act) -> None:
    """Let go of what is held where one stands; with the arm stretched out when it would come to lie on the feet,
    or a few steps aside.

    Raises:
        BlockedError: wherever it is let go, the hand or the feet are in it.
    """
    stage, hold = act.stage, act.stage.wearer.hold
    if hold is None:
        raise RefusedError("OUT_OF_REACH", "anything")
    before, first = stage.state(), None
    for steps in ([], *(steps for steps in outings(stage) if len(steps) in STEPS)):
        way = walked(stage, np.array(steps)) if steps else []
        if isinstance(way, Stuck):
            continue
        if way:
            film(act, way)
            act.glance(middle(stage, hold.name))
        stood = stage.state()
        for key in _keys(stage, hold):
            try:
                _let_go(stage, hold, key)
            except BlockedError as blocked:
                first = first or blocked
                stage.restore(stood)
            else:
                released(act, hold.name)
                return
        stage.restore(before)
    raise first or BlockedError(hold.name)


def _keys(stage: Stage, hold: Hold) -> Iterator[Key]:
    """As the thing is carried; then with the arm further out, as level as it can."""
    start, body = rest(stage), stage.person.body
    yield start
    turn = grip_frame(body, body.forward(*start.body), "right", hold.grip)[:3, :3]
    x, y, heading = stage.wearer.stand
    c, s = np.cos(heading), np.sin(heading)
    back, down = (0.0, 0.0) if stage.wearer.seat is None else SEATED
    for ahead, aside, up in ((ahead - back, aside, up - down) for ahead, aside, up in CLEAR):
        place = (x + c * ahead - s * aside, y + s * ahead + c * aside, up)
        point = grip_point(body, "right", hold.grip)
        hand = partial(reach, body, start.body, "right", place, point=point)
        found = hand(palm=turn[:, 1], fingers=turn[:, 0]) or hand(palm=turn[:, 1]) or hand()
        if found is not None:
            yield replace(start, body=found.body).hand("right", hold.fingers)


def _let_go(stage: Stage, hold: Hold, key: Key) -> None:
    """Film it: the arm goes out, the fingers open, the thing falls, the hand comes back.

    Raises:
        BlockedError: something is in the way, or the thing has come to lie on the feet.
    """
    start = rest(stage)
    out: Move = [] if key.body is start.body else bridge(stage, start, key, "right", Screen(hold))
    for body in out:
        stage.shoot(body)
    stage.sync()
    stage.wearer = moved(stage.wearer, hold=None)
    stage.engine.release(hold.name)
    opened = relaxed("right")
    for n in range(1, CLOSING + 1):
        stage.shoot(key.hand("right", hold.fingers + n / CLOSING * (opened - hold.fingers)).body)
    stage.settle(key.body)
    for body in bridge(stage, key, rest(stage), "right", Screen(None, [around(stage, hold)])):
        stage.shoot(body)
    stage.sync()
