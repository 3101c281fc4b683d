"""Opening and closing: the left hand follows the handle while the joint moves (ACT-4, PHY-7)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import (
    JUMP,
    SHORT,
    BlockedError,
    Key,
    Move,
    Reasons,
    Screen,
    at_stand,
    bridge,
    filled,
    rest,
    straight,
)
from iwkit_runtime.actions.room import way_out
from iwkit_runtime.body.arms import Reach, angles_of, reach
from iwkit_runtime.body.hands import Grip, closed, grip_point
from iwkit_runtime.body.pose import BodyPose, arm_joints, overlay
from iwkit_runtime.body.reaching import PosturedReach, reaches
from iwkit_runtime.body.reaching import Stance as Feet
from iwkit_runtime.engines.collision import Allowed
from iwkit_runtime.nav.doors import Leaf
from iwkit_runtime.nav.grid import Grid, Obstacle
from iwkit_runtime.nav.stance import Stance, snapped, stances
from iwkit_runtime.physical.kinematics import Frame, frame, link_frames
from iwkit_runtime.physical.scene_spec import Joints, Placed
from iwkit_runtime.physical.spec import Floats, Link, Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import carrying, moved

TURN, SLIDE = 0.14, 0.06
"""How far a joint moves a frame: radians about a hinge, metres along a slide."""
PARTS = (1, 3)
"""In so many frames the hand goes along with one of these, the fewest first."""
SHARE = 0.1
"""The least part of the movement that the hand must go along; then the leaf goes on by itself."""
LEAST = 0.15
"""The least part of a movement that is worth going back for another one."""
GRIP = Grip("cylindrical", 0.03)
FAR = 0.85
"""Metres before a handle around which a stance is looked for where there is none nearer."""
TURNED = tuple(math.radians(angle) for angle in (0, -30, 30))
"""How far the wearer is turned from facing the handle: its left hand gets further when it is turned to the right."""
POSTURES = 4
"""Postures tried from one stance."""
BEFORE = 0.10
"""Metres before the handle from which the hand goes straight to it."""
POSES = 9
"""Steps by which the sweep of a leaf is taken up."""
GLIMPSES = (1.0, 0.8, 0.6, 0.4)
"""Shares of a leaf's way at which it is asked whether the wearer stands in it."""
OUT = 0.05
"""A door's lever stands off its face by so much."""


@dataclass(frozen=True, eq=False)
class Swing:
    """A joint being moved: the hand goes to the handle, along with it for a while, and back. `whole`: to its limit."""

    name: str
    link: str
    values: tuple[float, ...]
    to: Move
    along: Move
    back: Move
    look: Vector
    whole: bool


# --- what moves -------------------------------------------------------------------------------------------------------


def moving_link(placed: Placed) -> Link | None:
    """The link that one opens: the first that has a joint and a handle."""
    return next((link for link in placed.asset.links if link.joint and link.handle), None)


def handle_at(stage: Stage, name: str, link: Link, value: float, beyond: bool = False) -> Vector:
    """Where the handle is in the world when the joint has a value; `beyond`: that on the other face of a door."""
    point = np.array(link.handle)
    if beyond:
        point[1] = max(float(piece.vertices[:, 1].max()) for piece in link.pieces) + OUT
    x, y, z = _link_frame(stage, name, link, value).point(point).tolist()
    return x, y, z


def _link_frame(stage: Stage, name: str, link: Link, value: float) -> Frame:
    placed, joints = stage.placed[name], stage.engine.joints()
    values = {part.name: joints[name, part.name] for part in placed.asset.links if part.joint} | {link.name: value}
    return link_frames(placed.asset, frame(stage.engine.poses()[name]), values)[link.name]


def leaf_at(stage: Stage, name: str, value: float) -> tuple[Floats, ...]:
    """The pieces (n, 3) of what one opens, in the world, when its joint has a value."""
    link = moving_link(stage.placed[name])
    return () if link is None else _leaf_pieces(stage, name, link, value)


def _leaf_pieces(stage: Stage, name: str, link: Link, value: float) -> tuple[Floats, ...]:
    at = _link_frame(stage, name, link, value)
    return tuple(at.point(piece.vertices) for piece in link.pieces)


def closed_leaves(stage: Stage, grid: Grid) -> list[Leaf]:
    """The closed doors of the scene, as navigation knows them."""
    leaves = []
    joints = stage.engine.joints()
    for placed in stage.spec.placed:
        link = moving_link(placed) if placed.kind == "door" else None
        if link is None or link.joint is None or joints[placed.name, link.name] > link.joint.low + 0.02:
            continue
        values = np.linspace(link.joint.low, link.joint.high, POSES + 1).tolist()
        poses = tuple(_leaf_pieces(stage, placed.name, link, value) for value in values)
        leaves.append(Leaf(placed.name, poses, handle_at(stage, placed.name, link, link.joint.low)[:2]))
    return [leaf for leaf in leaves if grid.owned(leaf.name).any()]


def open_grid(stage: Stage, but: str | None = None) -> Grid:
    """The occupancy as if every closed door (but one) were gone: routes open them."""
    grid = stage.grid()
    names = [leaf.name for leaf in closed_leaves(stage, grid) if leaf.name != but]
    return grid.without(*names) if names else grid


# --- planning ---------------------------------------------------------------------------------------------------------


def swing_stances(stage: Stage, name: str, *, opening: bool) -> Iterator[Stance]:
    """Where to stand to move a joint: near the handle, out of the sweep; then wherever there is room in front."""
    link = moving_link(stage.placed[name])
    if link is None or link.joint is None:
        return
    grid, here, start = open_grid(stage, name), stage.wearer.stand[:2], stage.engine.joints()[name, link.name]
    handle = handle_at(stage, name, link, start)[:2]
    swept = grid
    for value in np.linspace(start, link.joint.high if opening else link.joint.low, POSES + 1).tolist():
        swept = swept.with_pieces(
            Obstacle(f"sweep of {name}", "door", v) for v in _leaf_pieces(stage, name, link, value)
        )
    front = _link_frame(stage, name, link, link.joint.low).turn @ (0.0, -1.0, 0.0)
    off = handle[0] + FAR * float(front[0]), handle[1] + FAR * float(front[1])
    for found in (stances(grid, handle, here, standing=swept), snapped(grid, off, handle, here)):
        for stance in found:
            yield from (stance._replace(heading=stance.heading + turn) for turn in TURNED)


def plan_swing(
    stage: Stage, name: str, at: Stand, *, opening: bool, reasons: Reasons | None = None, part: bool = False
) -> Swing | None:
    """How to open or close a thing from a stance, to the limit of the joint, or for a `part` of the way as well; None
    when it can't be done from there. Parts that aren't asked for are only noted."""
    placed = stage.placed[name]
    link = moving_link(placed)
    if link is None or link.joint is None:
        return None
    there = stage.wearer if at == stage.wearer.stand else moved(stage.wearer, stand=at, gaze=None)
    if stage.hit(stage.person.upright(there), there.hold) is not None:
        return None
    before, stage.wearer = stage.wearer, there
    try:
        return _plan(stage, name, link, opening, reasons or Reasons(), part)
    finally:
        stage.wearer = before


def _plan(  # noqa: PLR0917 (bound one by one)
    stage: Stage, name: str, link: Link, opening: bool, reasons: Reasons, part: bool
) -> Swing | None:
    """From where the wearer stands now."""
    joint = link.joint
    if joint is None:
        return None
    start = stage.engine.joints()[name, link.name]
    end = joint.high if opening else joint.low
    step = TURN if joint.kind == "hinge" else SLIDE
    count = max(2, math.ceil(abs(end - start) / step))
    values = tuple(float(v) for v in np.linspace(start, end, count + 1)[1:])
    body, beyond = stage.person.body, _behind(stage, name, link)
    handle = handle_at(stage, name, link, start, beyond)
    hand, touching = grip_point(body, "left", GRIP), _resting_on(stage, name, link)
    palm = _palm(stage, name, link, start, beyond)
    found = reaches(body, Feet(*stage.wearer.stand), "left", handle, point=hand, palm=palm)
    stage.wearer = moved(stage.wearer, gaze=handle)
    first = Screen(stage.wearer.hold, [Allowed(name, handle)])
    for posed in islice(found, POSTURES):
        gripping = _gripping(stage, posed)
        try:
            first.check(stage, gripping.body)
            key = gripping.head(stage.person.looking(at_stand(body, stage.wearer.stand, posed.posture), handle))
            first.check(stage, key.body)
            far = len(values) if part else _swung(stage, (name, link.name), values, key.body, touching)
            if far < len(values):
                reasons.parts.append((far, stage.wearer.stand))
                continue
            along, taken, reached = _along(stage, name, link, values, key, beyond=beyond)
            whole = taken[-1] == values[-1]
            if not whole and not part:
                reasons.parts.append((len(along), stage.wearer.stand))
                continue
            to = _to(stage, name, key, handle, palm)
            joints: Joints = {(name, link.name): taken[-1]}
            screen = Screen(stage.wearer.hold, [Allowed(name, reached)], joints, touching)
            back = bridge(stage, Key(posed.posture, along[-1]), rest(stage), "left", screen)
            if way_out(stage, joints, touching) is None:
                raise BlockedError(name)
        except BlockedError as blocked:
            reasons.blocked(blocked.owner)
            continue
        return Swing(name, link.name, tuple(taken), to, along, back, handle, whole)
    return None


def _gripping(stage: Stage, posed: PosturedReach) -> Key:
    """A body whose left hand grips a handle, the load in the right one."""
    key = Key(posed.posture, carrying(posed.reach.body, stage.wearer.hold))
    return key.hand("left", closed(stage.person.body, "left", GRIP))


def _to(stage: Stage, name: str, key: Key, handle: Vector, palm: Floats) -> Move:
    """To the handle, the last bit straight towards it if the arm can.

    Raises:
        BlockedError: there is no free way.
    """
    x, y, _ = stage.wearer.stand
    far = max(math.dist((x, y), handle[:2]), 1e-6)
    before = np.array([*(np.array(handle[:2]) + BEFORE * (np.array((x, y)) - handle[:2]) / far), handle[2]])
    followed = _followed(stage, key.body, before, palm, angles_of(key.body.pose, "left"))
    screen = Screen(stage.wearer.hold, [Allowed(name, handle)])
    if followed is None:
        return bridge(stage, rest(stage), key, "left", screen)
    pre = Key(key.posture, followed.body)
    return [*bridge(stage, rest(stage), pre, "left", screen), *straight(stage, [pre, key], [SHORT], screen)]


def _behind(stage: Stage, name: str, link: Link) -> bool:
    """Whether the wearer is on the inner side of a leaf that swings; a lid, which lies, is always moved by its rim."""
    if link.joint is None or link.joint.kind != "hinge" or _lies(link):
        return False
    value = stage.engine.joints()[name, link.name]
    local = _link_frame(stage, name, link, value).local((*stage.wearer.stand[:2], 1.0))
    return bool(local[1] > np.array(link.handle)[1])


def _lies(link: Link) -> bool:
    """Whether a leaf lies flat when it is closed."""
    _, deep, high = np.ptp(np.concatenate([piece.vertices for piece in link.pieces]), axis=0)
    return bool(high < deep)


def _along(
    stage: Stage, name: str, link: Link, values: tuple[float, ...], key: Key, *, beyond: bool
) -> tuple[Move, list[float], Vector]:
    """The body frame by frame, the joint's value in each, and where the hand let go of the handle: where it can't
    follow any more, or the arm would get into the leaf. From there the arm is drawn in while the leaf goes on. A leaf
    that swings away from the wearer needs no more than a push. Where the leaf would run into something, it stops.

    Raises:
        BlockedError: that is too early, or the hand has to let go too early.
    """
    now, away = key.body, None
    touching = _resting_on(stage, name, link)
    before = stage.engine.joints()[name, link.name]
    reached, last = (handle_at(stage, name, link, value, beyond) for value in (values[0], values[-1]))
    here = stage.wearer.stand[:2]
    needed = SHARE * len(values) if math.dist(here, last[:2]) < math.dist(here, reached[:2]) else 0
    move: Move = []
    taken: list[float] = []
    for n, value in enumerate(values):
        handle, joints = handle_at(stage, name, link, value, beyond), {(name, link.name): value}
        screen = Screen(stage.wearer.hold, [Allowed(name, handle), Allowed(name, reached)], joints, touching)
        followed = _gone_along(stage, name, link, (before, value), now, touching, beyond) if away is None else None
        before = value
        if followed is not None:
            now, reached = followed[-1][0], handle
            move += [body for body, _ in followed[:-1]]
            taken += [between for _, between in followed[:-1]]
        else:
            away = _drawn_in(stage, Key(key.posture, now)) if away is None else away
            drawn = away[0] if away else now
            hit = screen.hit(stage, drawn)
            if hit is None:
                now, away = drawn, away[1:]
            else:
                hit = screen.hit(stage, now)
            if hit is not None and n >= max(needed, LEAST * len(values), 2):
                return move[:-1], taken[:-1], reached
            if hit is not None or n < needed:
                raise BlockedError(name if hit is None else hit.owner)
        move.append(now)
        taken.append(value)
    return move, taken, reached


def _swung(
    stage: Stage, joint: tuple[str, str], values: tuple[float, ...], body: BodyPose, touching: Sequence[str]
) -> int:
    """Up to which of the joint's values, by number, legs, trunk and head are out of the way of what moves, which no arm
    can help: asked of a few from the last one on, before any arm follows the handle."""
    for share in GLIMPSES:
        n = math.ceil(share * len(values)) - 1
        if Screen(None, (), {joint: values[n]}, touching).hit(stage, body, arms=False) is not None:
            return n
    return len(values)


def _gone_along(  # noqa: PLR0917 (bound one by one)
    stage: Stage,
    name: str,
    link: Link,
    values: tuple[float, float],
    now: BodyPose,
    touching: Sequence[str],
    beyond: bool,
) -> list[tuple[BodyPose, float]] | None:
    """The body whose hand stays at the handle while the joint goes from one value to another, at once or, where an
    angle of the arm changes too fast for that, in some frames; None where it can't."""
    for count in PARTS:
        found: list[tuple[BodyPose, float]] = []
        here, near = now, angles_of(now.pose, "left")
        for value in np.linspace(*values, count + 1)[1:].tolist():
            handle = handle_at(stage, name, link, value, beyond)
            followed = _followed(stage, here, handle, _palm(stage, name, link, value, beyond), near)
            if followed is None:
                return None
            if float(np.abs(followed.angles - near).max()) > JUMP:
                break
            screen = Screen(stage.wearer.hold, [Allowed(name, handle)], {(name, link.name): value}, touching)
            if screen.hit(stage, followed.body) is not None:
                return None
            here, near = followed.body, followed.angles
            found.append((here, value))
        else:
            return found
    return None


def _drawn_in(stage: Stage, key: Key) -> Move:
    """The left arm drawn in from where it let go."""
    end = key.tucked(stage.person.body, "left")
    return list(filled(stage.person.body, stage.wearer.stand, key, end, SHORT))


def _palm(stage: Stage, name: str, link: Link, value: float, beyond: bool) -> Floats:
    """Where the palm of a hand at the handle faces (3,): to the leaf, which it is before, or `beyond`."""
    return np.asarray(_link_frame(stage, name, link, value).turn @ (0.0, -1.0 if beyond else 1.0, 0.0))


def _followed(stage: Stage, now: BodyPose, handle: ArrayLike, palm: Floats, near: Floats) -> Reach | None:
    """The body with its left hand at a place of the handle, the fingers as they are."""
    body = stage.person.body
    found = reach(body, now, "left", handle, point=grip_point(body, "left", GRIP), palm=palm, near=near)
    if found is None:
        return None
    pose = overlay(now.pose, found.body.pose, arm_joints("left")[:4])
    return found._replace(body=now._replace(pose=pose))


def _resting_on(stage: Stage, name: str, link: Link) -> list[str]:
    """Things that touch what moves as it is: they come along, or did not mind so far."""
    joints = {(name, link.name): stage.engine.joints()[name, link.name]}
    ask = partial(stage.collision.hits, joints=joints, margin=0.01)
    return sorted({hit.owner for hit in stage.collision.once(("resting on", name, link.name), ask)})


# --- doing ------------------------------------------------------------------------------------------------------------


def execute_swing(act: Act, swing: Swing) -> None:
    """Film a planned movement of a joint from the stance it was planned for."""
    stage = act.stage
    stage.glance(swing.look)
    for body in swing.to:
        stage.shoot(body, gaze=swing.look)
    for body, value in zip(swing.along, swing.values, strict=True):
        stage.engine.set_joint(swing.name, swing.link, value)
        stage.shoot(body, gaze=swing.look)
    for body in swing.back:
        stage.shoot(body, gaze=swing.look)
    stage.sync()
