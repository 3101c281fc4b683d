"""Movements on one spot: from one posture and arm to another, screened frame by frame (ACT-7, ACT-8, PHY-8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from iwkit_runtime.body.arms import PALM_TILTS, reach
from iwkit_runtime.body.model import Body
from iwkit_runtime.body.pose import HAND, BodyPose, Side, arm_joints, blends, overlay
from iwkit_runtime.body.posture import UPRIGHT, Posture, between, stand
from iwkit_runtime.body.reaching import PosturedReach, reaches
from iwkit_runtime.body.reaching import Stance as Feet
from iwkit_runtime.engines.collision import Allowed, Hit
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import HEAD, Hold, moved, tucked

BRUSH = 0.02
"""Metres by which limbs and trunk may press into something while they move: skin and clothes give way (PHY-10). Head,
eyes and things keep the manipulation tolerance."""
SWING = 0.03
"""The same while the wearer goes, on foot or on wheels: beside the upright body come the sway of the hips and the swing
of the legs."""
ELBOWS = tuple(
    np.radians(angles) for angles in ((0, 0, -40, -80, 0, -90, 0, 0, 0), (0, 0, -60, -10, -40, -90, 0, 0, 0))
)
"""Angles of an arm (see `arms.ANGLES`) near which another solution is looked for: the elbow low, and high."""
ROOF = 0.35
"""Free height, in metres, that a hand needs to come from above."""
JUMP = float(np.radians(30))
"""No angle of an arm that follows something changes by more than this from frame to frame."""
COARSE = (2, 0, 1)
"""Every third frame is screened first: where a movement is blocked, that is soon found out."""
RISING = (0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875)
"""Shares of the way up at which it is asked whether the trunk is free."""
LONG, SHORT = 9, 5
"""Frames of a movement of the whole arm, and of a part of one."""


@dataclass(frozen=True, eq=False)
class Key:
    """A body frame at rest and the posture it is in: what lies between two of them can be filled in."""

    posture: Posture
    body: BodyPose

    def arm(self, side: Side, source: BodyPose) -> Key:
        """The same with an arm of another body frame."""
        return Key(self.posture, self.body._replace(pose=overlay(self.body.pose, source.pose, arm_joints(side))))

    def hand(self, side: Side, pose: Floats) -> Key:
        """The same with the fingers (45,) as given."""
        whole = self.body.pose.copy()
        whole[HAND[side]] = pose
        return Key(self.posture, self.body._replace(pose=whole))

    def tucked(self, body: Body, side: Side) -> Key:
        """The same with an arm drawn in close to the body."""
        return self.arm(side, tucked(body, side, self.posture))

    def head(self, source: BodyPose) -> Key:
        """The same with the neck and head of another body frame."""
        return Key(self.posture, self.body._replace(pose=overlay(self.body.pose, source.pose, ("neck", "head"))))


Move = list[BodyPose]
"""The frames of a movement, the first one after the pose it starts from."""


def filled(body: Body, at: Stand, start: Key, end: Key, frames: int) -> Iterator[BodyPose]:
    """The frames from one key to another: feet planted, arms and head turning evenly."""
    kept = (*arm_joints("left"), *arm_joints("right"), *HEAD)
    shares = [n / frames for n in range(1, frames + 1)]
    for share, mixed in zip(shares, blends(start.body, end.body, shares), strict=True):
        if start.posture == end.posture:
            yield mixed
            continue
        posture = between(start.posture, end.posture, share)
        placed = body.placed(stand(body, posture), *at)
        yield placed._replace(pose=overlay(placed.pose, mixed.pose, kept)) if share < 1 else end.body


class BlockedError(Exception):
    """Raised while a movement is planned: what is in the way of it."""

    def __init__(self, owner: str) -> None:
        super().__init__(owner)
        self.owner = owner


@dataclass(frozen=True, eq=False)
class Screen:
    """What a movement is screened against: the load, contacts that are meant, joints as if they were so, and what those
    joints may touch."""

    hold: Hold | None = None
    allow: Sequence[Allowed] = ()
    joints: Mapping[tuple[str, str], float] | None = None
    touching: Sequence[str] = ()

    def hit(self, stage: Stage, body: BodyPose, *, arms: bool = True) -> Hit | None:
        """What a body frame would run into, with or without its arms and load."""
        return stage.hit(
            body,
            self.hold,
            allow=self.allow,
            joints=self.joints,
            touching=self.touching,
            brush=BRUSH,
            arms=arms,
        )

    def check(self, stage: Stage, *bodies: BodyPose) -> None:
        """Raises BlockedError: a body frame would run into something."""
        for body in bodies:
            hit = self.hit(stage, body)
            if hit is not None:
                raise BlockedError(hit.owner)


@dataclass
class Reasons:
    """Why nothing came of it so far: whether the hand got there at all, and what was in the way then; and from where
    a part of it could be done, in how many frames."""

    reached: bool = False
    blocker: str = ""
    parts: list[tuple[int, Stand]] = field(default_factory=list)

    def blocked(self, owner: str) -> None:
        """Something was in the way of a hand that reaches."""
        self.reached = True
        self.blocker = self.blocker or owner


def straight(stage: Stage, keys: Sequence[Key], frames: Sequence[int], screen: Screen) -> Move:
    """Through keys in turn, all from where the wearer stands.

    Raises:
        BlockedError: a frame runs into something.
    """
    parts = zip(keys, keys[1:], frames, strict=False)
    move = [body for part in parts for body in filled(stage.person.body, stage.wearer.stand, *part)]
    for first in COARSE:
        screen.check(stage, *move[first :: len(COARSE)])
    return move


def bridge(  # noqa: PLR0917 (one movement)
    stage: Stage, start: Key, end: Key, side: Side, screen: Screen, past: Iterable[Key] = ()
) -> Move:
    """From one key to another directly, or past where the hand waits close to the body, or past other keys in the
    posture of either.

    Raises:
        BlockedError: every way runs into something; the first one's obstacle.
    """
    first: BlockedError | None = None
    for way, wide in _bridges(start, end, partial(Key.tucked, body=stage.person.body, side=side), past):
        counts = [LONG if wide or len(way) == 2 else SHORT] * (len(way) - 1)
        try:
            for key in way[1:-1]:
                screen.check(stage, key.body)
            return straight(stage, way, counts, screen)
        except BlockedError as blocked:
            first = first or blocked
    raise first or BlockedError("")


def _bridges(start: Key, end: Key, near: Callable[[Key], Key], past: Iterable[Key]) -> Iterator[tuple[list[Key], bool]]:
    """Ways from one key to another, and whether they lead past others."""
    yield [start, end], False
    yield [start, near(start), end], False
    yield [start, near(start), near(end), end], False
    yield [start, near(end), end], False
    for key in past:
        drawn = near(key)
        yield [start, key, end], True
        yield [start, key, drawn, end] if key.posture == start.posture else [start, drawn, key, end], True


def elbows(
    body: Body,
    at: Stand,
    side: Side,
    target: Floats,
    *,
    point: Floats,
    palm: Floats | None = None,
    fingers: Floats | None = None,
    shelf: bool = False,
    others: bool = True,
    most: float = PALM_TILTS[-1],
    trunk: Callable[[Posture, BodyPose], bool] | None = None,
) -> Iterator[PosturedReach]:
    """Every posture that reaches, the easiest first, each with the arm as is most comfortable, then (`others`) with the
    elbow low and high: one may be free where another is not. Postures in which the `trunk` doesn't fit, asked with the
    body in them, are left out. `most` as for `arms.reach`."""
    hand = partial(reach, point=point, palm=palm, fingers=fingers, most=most)
    for posed in reaches(
        body, Feet(*at), side, target, point=point, palm=palm, fingers=fingers, shelf=shelf, most=most, fits=trunk
    ):
        yield posed
        standing = at_stand(body, at, posed.posture)
        for near in ELBOWS if others else ():
            found = hand(body, standing, side, target, near=near)
            if found is not None:
                yield PosturedReach(posed.posture, found)


@dataclass(frozen=True, eq=False)
class Trunk:
    """Whether legs, trunk and head are free in a posture where the wearer stands: found out once, before any arm is
    solved. Until it is known that the hand gets there and what is in its way, every posture may be tried."""

    stage: Stage
    screen: Screen
    reasons: Reasons

    def __call__(self, posture: Posture, body: BodyPose) -> bool:
        if not self.reasons.reached:
            return True
        return self._free(posture, body)

    def rises(self, posture: Posture) -> bool:
        """Whether they are free all the way from upright, which no arm can help: a head under a board stays there."""
        stage = self.stage
        on_the_way = (between(posture, UPRIGHT, share) for share in RISING)
        return all(self._free(one, at_stand(stage.person.body, stage.wearer.stand, one)) for one in on_the_way)

    def _free(self, posture: Posture, body: BodyPose) -> bool:
        question = "trunk", self.stage.wearer.stand, posture, self.screen.hold
        return self.stage.collision.once(question, lambda: self.screen.hit(self.stage, body, arms=False) is None)


def freed(stage: Stage, screen: Screen, key: Key, idle: Side = "left") -> tuple[BodyPose, Hit | None]:
    """A body frame whose one hand acts, the idle arm drawn in if that is in the way; and what it still runs into."""
    hit = screen.hit(stage, key.body)
    if hit is None or not isinstance(hit.by, int) or not stage.person.rig.names[hit.by].startswith(f"{idle}_"):
        return key.body, hit
    drawn = key.tucked(stage.person.body, idle).body
    return drawn, screen.hit(stage, drawn)


def roofed(stage: Stage, point: ArrayLike) -> bool:
    """Whether something is so close above a point that a hand can't come from there."""
    start = np.asarray(point)
    _, along = stage.collision.rays(start, start[None] + np.array([0.0, 0.0, ROOF]))
    return bool(along[0] <= 1)


@contextmanager
def gazing(stage: Stage, point: Vector) -> Iterator[None]:
    """Within, the wearer looks at a point."""
    before = stage.wearer
    stage.wearer = moved(before, gaze=point)
    try:
        yield
    finally:
        stage.wearer = before


def rest(stage: Stage) -> Key:
    """The wearer as it is between two actions."""
    return Key(UPRIGHT, stage.idle())


def at_stand(body: Body, at: Stand, posture: Posture) -> BodyPose:
    """Standing in a posture, arms hanging."""
    return body.placed(stand(body, posture), *at)
