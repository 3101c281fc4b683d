"""The same grip a little elsewhere: before contact, lifted, drawn back, further out (ACT-8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iwkit_runtime.actions.motion import BlockedError, Key, Screen
from iwkit_runtime.actions.search import ARM, Effort
from iwkit_runtime.body.arms import angles_of, posed, reach, solutions, strained
from iwkit_runtime.body.hands import Grip, aims, grip_frame, grip_point
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand

MOST = float(np.radians(15))
"""The hand may turn by so much on a way."""
OTHERS, FURTHEST = 16, float(np.radians(70))
"""So many other arms are tried on a way, none of whose angles differs by more."""
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


def shifted(stage: Stage, key: Key, grip: Grip, away: Away, near: Floats | None = None) -> Key | None:
    """The same grip, turned the same way, elsewhere, the arm near to angles (9,), by default to those it has; None when
    the arm can't."""
    body = stage.person.body
    target, palm, fingers = _aimed(stage, key, grip, away)
    found = reach(
        body,
        key.body,
        "right",
        target,
        point=grip_point(body, "right", grip),
        palm=palm,
        fingers=fingers,
        near=angles_of(key.body.pose, "right") if near is None else near,
        most=MOST,
    )
    return None if found is None else Key(key.posture, found.body)


def cleared(  # noqa: PLR0917 (as `shifted`)
    stage: Stage, key: Key, grip: Grip, away: Away, screen: Screen, effort: Effort | None, near: Floats | None = None
) -> Key:
    """As `shifted`, and free: if there is any `effort` for it, with the elbow and the collar elsewhere if need be.

    Raises:
        BlockedError: the arm can't, or is in something.
    """
    first = shifted(stage, key, grip, away, near)
    hit = None if first is None else screen.hit(stage, first.body)
    if first is not None and hit is None:
        return first
    if effort is not None and not effort.spent:
        for other in _others(stage, key, grip, away, near):
            effort.spend(ARM)
            if screen.hit(stage, other.body) is None:
                return other
    raise BlockedError("" if hit is None else hit.owner)


def _others(stage: Stage, key: Key, grip: Grip, away: Away, near: Floats | None) -> Iterator[Key]:
    """The same with other angles of the arm, the nearest first."""
    body = stage.person.body
    target, palm, fingers = _aimed(stage, key, grip, away)
    start = angles_of(key.body.pose, "right") if near is None else near
    point = grip_point(body, "right", grip)
    aims_ = (np.asarray(v)[None] for v in (target, point, palm, fingers))
    found = solutions(body, key.body, "right", *aims_, wide=strained(start))
    apart = np.abs(found.angles - start).max(1, initial=0.0)
    for n in np.argsort(apart, kind="stable")[:OTHERS]:
        if apart[n] <= FURTHEST:
            yield Key(key.posture, key.body._replace(pose=posed(key.body.pose, "right", found.angles[n])))


def _aimed(stage: Stage, key: Key, grip: Grip, away: Away) -> tuple[Floats, Floats, Floats]:
    """Where the middle of the grip then is, and where palm and fingers point."""
    body = stage.person.body
    at = grip_frame(body, body.forward(*key.body), "right", grip)
    palm, fingers = aims(body, "right", grip, at[:3, :3])
    return at[:3, 3] + away.offset(at[:3, 3], stage.wearer.stand) - away.aside * at[:3, 1], palm, fingers


def between(stage: Stage, key: Key, grip: Grip, away: Away, end: Key) -> list[Key]:
    """The grip halfway to where it is elsewhere, so that the hand goes straight there: none where the arm can't."""
    middle = (angles_of(key.body.pose, "right") + angles_of(end.body.pose, "right")) / 2
    half = shifted(stage, key, grip, Away(away.back / 2, away.up / 2, away.askew, away.aside / 2), middle)
    return [] if half is None else [half]


def outer(stage: Stage, key: Key, grip: Grip, askew: float) -> Iterator[Key]:
    """The same grip further out, as far as the arm can."""
    for back, up in OUTER:
        found = shifted(stage, key, grip, Away(back, up, askew))
        if found is not None:
            yield found
