"""The same grip a little elsewhere: before contact, lifted, drawn back, further out (ACT-8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iwkit_runtime.actions.motion import Key
from iwkit_runtime.body.arms import angles_of, reach
from iwkit_runtime.body.hands import Grip, aims, grip_frame, grip_point
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand

MOST = float(np.radians(15))
"""The hand may turn by so much on a way."""
OUTER = ((0.2, 0.0), (0.2, 0.15), (0.35, 0.05), (0.1, 0.25))
"""Where the hand may be on its way to before contact: metres further back, and up."""


class Away(NamedTuple):
    """Metres back towards the wearer, or `askew` of that (radians), and up; and `aside` to where the palm doesn't
    face."""

    back: float = 0.0
    up: float = 0.0
    askew: float = 0.0
    aside: float = 0.0

    def offset(self, hand: Floats, at: Stand) -> Floats:
        """The same as a vector (3,) for a hand (3,) of someone who stands there, but for what is `aside`."""
        bearing = math.atan2(float(hand[1]) - at.y, float(hand[0]) - at.x) + self.askew
        return np.array([-self.back * math.cos(bearing), -self.back * math.sin(bearing), self.up])


def shifted(stage: Stage, key: Key, grip: Grip, away: Away) -> Key | None:
    """The same grip, turned the same way, elsewhere; None when the arm can't."""
    body = stage.person.body
    at = grip_frame(body, body.forward(*key.body), "right", grip)
    palm, fingers = aims(body, "right", grip, at[:3, :3])
    found = reach(
        body,
        key.body,
        "right",
        at[:3, 3] + away.offset(at[:3, 3], stage.wearer.stand) - away.aside * at[:3, 1],
        point=grip_point(body, "right", grip),
        palm=palm,
        fingers=fingers,
        near=angles_of(key.body.pose, "right"),
        most=MOST,
    )
    return None if found is None else Key(key.posture, found.body)


def between(stage: Stage, key: Key, grip: Grip, away: Away) -> list[Key]:
    """The grip halfway to elsewhere, so that the hand goes straight there: none where the arm can't."""
    half = shifted(stage, key, grip, Away(away.back / 2, away.up / 2, away.askew, away.aside / 2))
    return [] if half is None else [half]


def outer(stage: Stage, key: Key, grip: Grip, askew: float) -> Iterator[Key]:
    """The same grip further out, as far as the arm can."""
    for back, up in OUTER:
        found = shifted(stage, key, grip, Away(back, up, askew))
        if found is not None:
            yield found
