"""Putting things together and taking them apart, and raising what lies (spec Table 5).

Where connectors are: `iwkit_runtime.physical.connectors`. What is attached moves as one with its partner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice, product

import numpy as np

from iwkit.grammar import Ref
from iwkit.world.checks import MATED
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.grab import CLOSING, reach_for, take
from iwkit_runtime.actions.looking import look_over
from iwkit_runtime.actions.lowering import lowering, withdrawn
from iwkit_runtime.actions.motion import (
    BRUSH,
    JUMP,
    BlockedError,
    Key,
    Move,
    Reasons,
    Screen,
    at_stand,
    bridge,
    elbows,
    rest,
    straight,
)
from iwkit_runtime.actions.operate import GRIP
from iwkit_runtime.actions.refusals import RefusedError
from iwkit_runtime.actions.stances import go_and
from iwkit_runtime.body.arms import reach
from iwkit_runtime.body.hands import closed, grip_point
from iwkit_runtime.body.pose import Side
from iwkit_runtime.body.posture import Posture, between
from iwkit_runtime.body.reaching import Stance as Feet
from iwkit_runtime.body.reaching import reaches
from iwkit_runtime.engines.collision import Allowed
from iwkit_runtime.physical.connectors import connector
from iwkit_runtime.physical.kinematics import Frame, about, frame
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import Hold, carrying, moved

SEAM = 0.001
"""Metres between two parts that are attached."""
LEAN = math.radians(16)
"""By how much the hand may miss how a part should lie: it clicks in."""
POSTURES = 6
RUNGS = 2
"""Postures at the beginning and at the end of raising that are tried."""
STANCES = 36
RISE = math.radians(6)
"""How far a thing is raised in a frame."""
STANDING = math.radians(75)
"""What leans back from lying by at least this much has been raised."""


@dataclass(frozen=True, eq=False)
class Mating:
    """A planned way to bring a part to its place: the place, the way there, the body with the part in it."""

    pose: Pose
    to: Move
    last: Key


# --- attaching --------------------------------------------------------------------------------------------------------


def attach(act: Act) -> None:
    """Take a part, bring its connector to that of another thing, and join the two."""
    stage, (child, parent) = act.stage, act.names
    if act.at.held != child:
        take(act, child)
        act.see()
    hold, goal = stage.wearer.hold, act.at.goal(parent)
    if hold is None:
        raise RefusedError("OUT_OF_REACH", child)
    poses = list(_mated(act))
    x, y, _ = poses[0].at.tolist()
    plan = go_and(act, parent, (x, y), partial(_plan_mating, stage, hold, poses), tries=STANCES)
    act.place = act.at.state.wearer.at if goal is None else goal.at
    look_over(act, act.at.root(parent), plan.pose[0])
    act.see()
    try:
        _join(stage, hold, parent, plan)
    except BlockedError as blocked:
        raise RefusedError("TRAJECTORY_COLLISION", parent, act.public(blocked.owner)) from None
    act.emit("released", object=child, to=parent)
    act.emit("attached", object=child, parent=parent)
    act.emit("moved", object=child)
    if abs(math.remainder(act.command.scalar or 0.0, 90.0)) <= MATED:
        act.expect = (("attached", child, parent),)


def detach(act: Act) -> None:
    """Take a part off what it is attached to, into the hand."""
    child, parent = act.names
    reach_for(act, child)
    act.emit("detached", object=child, parent=parent)
    act.emit("grabbed", object=child, from_=parent)
    act.emit("moved", object=child)
    act.expect = (("held", child),)


def _mated(act: Act) -> Iterator[Frame]:
    """Where a part can be attached by the connectors named, with the angle error asked for, any way round."""
    stage, (child, parent) = act.stage, act.names
    mine, other = (_connector(act, act.names[n], act.command.args[2 * n + 1], top=n == 1) for n in (0, 1))
    along = [stage.placed[name].asset.size[0] >= stage.placed[name].asset.size[1] for name in (child, parent)]
    across = 0.0 if along[0] == along[1] else math.pi / 2
    base = frame(stage.engine.poses()[parent])
    for way in (0.0, math.pi, math.pi / 2, -math.pi / 2):
        turn = about((0, 0, 1), across + way + math.radians(act.command.scalar or 0.0))
        yield base.then(Frame(turn, np.add(other, (0.0, 0.0, SEAM)) - turn @ mine))


def _connector(act: Act, name: str, ref: Ref, *, top: bool) -> Floats:
    """Where a connector is on a thing (3,)."""
    names = act.at.things[name].connectors
    number = [n for n, kind in enumerate(names) if kind == ref.name][ref.index]
    return connector(act.stage.placed[name].asset.size, len(names), number, top=top)


def _plan_mating(stage: Stage, hold: Hold, poses: list[Frame], at: Stand, reasons: Reasons) -> Mating | None:
    """How to bring a part to one of these places from where the wearer stands; None when that can't be done."""
    body = stage.person.body
    point, fist = grip_point(body, "right", hold.grip), hold.fingers
    screen = Screen(hold)
    for thing in poses:
        grip = thing.then(frame(hold.offset).inverse())
        found = elbows(
            body, at, "right", grip.at, point=point, palm=grip.turn[:, 1], fingers=grip.turn[:, 0], others=False
        )
        for posed in (p for p in islice(found, POSTURES) if p.reach.palm_error <= LEAN):
            x, y, z = thing.at.tolist()
            looked = stage.person.looking(at_stand(body, at, posed.posture), (x, y, z))
            key = (
                Key(posed.posture, stage.person.drawn(posed.reach.body, hold, posed.posture))
                .head(looked)
                .hand("right", fist)
            )
            before = stage.wearer
            stage.wearer = moved(before, gaze=(x, y, z))
            try:
                screen.check(stage, key.body)
                return Mating(thing.pose, lowering(stage, hold, key), key)
            except BlockedError as blocked:
                reasons.blocked(blocked.owner)
            finally:
                stage.wearer = before
    return None


def _join(stage: Stage, hold: Hold, parent: str, plan: Mating) -> None:
    """Film it: the part brought to its place, joined, let go, the hand away. Raises BlockedError when it can't get
    away."""
    gaze = plan.pose[0]
    for body in plan.to:
        stage.shoot(body, gaze=gaze)
    stage.wearer = moved(stage.wearer, hold=None, gaze=gaze)
    stage.engine.hold(hold.name, plan.pose)
    stage.engine.release(hold.name)
    stage.engine.fasten(hold.name, parent)
    stage.sync()
    open_key = plan.last.hand("right", closed(stage.person.body, "right", hold.grip, 0.0))
    x, y, z = stage.centre(hold.name).tolist()
    around = [Allowed(hold.name, (x, y, z)), Allowed(parent, (x, y, z))]
    for body in straight(stage, [plan.last, open_key], [CLOSING], Screen(None, around)):
        stage.shoot(body, gaze=gaze)
    stage.settle(open_key.body, gaze)
    for body in withdrawn(stage, hold, open_key):
        stage.shoot(body, gaze=gaze)
    stage.sync()


# --- raising ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Raising:
    """A planned way to raise a thing: to its edge, up with it, and back; the poses of the thing, and where to look."""

    to: Move
    up: Move
    back: Move
    poses: list[Pose]
    look: Vector


def raise_up(act: Act) -> None:
    """Lift the near edge of what lies until it stands on the far one.

    Raises:
        RefusedError: it can't be done, or NO_ROOM, it would not stay upright.
    """
    stage, name, goal = act.stage, act.names[0], act.at.goal(act.names[0])
    x, y, _ = stage.centre(name).tolist()
    lying = frame(stage.engine.poses()[name])
    plan = go_and(act, name, (x, y), partial(_plan_raising, stage, name), tries=STANCES // 2)
    act.place = act.at.state.wearer.at if goal is None else goal.at
    look_over(act, act.at.root(name), plan.look)
    act.see()
    for body in plan.to:
        stage.shoot(body, gaze=plan.look)
    for body, pose in zip(plan.up, plan.poses, strict=True):
        stage.engine.hold(name, pose)
        stage.shoot(body, gaze=plan.look)
    stage.engine.release(name)
    stage.settle(plan.up[-1], plan.look)
    for body in plan.back:
        stage.shoot(body, gaze=plan.look)
    stage.sync()
    leaned = float(frame(stage.engine.poses()[name]).turn[:, 2] @ lying.turn[:, 2])
    if leaned > math.cos(STANDING):
        raise RefusedError("NO_ROOM", name, "the floor")
    act.emit("raised", object=name)
    act.expect = (("raised", name),)


def _plan_raising(stage: Stage, name: str, at: Stand, reasons: Reasons) -> Raising | None:
    """How to raise a thing from where the wearer stands, by the middle of the edge before it, with the free hand; None
    when it can't be done from there."""
    lying = frame(stage.engine.poses()[name])
    size = np.array(stage.placed[name].asset.size)
    local = lying.local((at.x, at.y, float(lying.at[2])))
    deep = int(np.argmax(np.abs(local[:2]) / size[:2]))
    near = math.copysign(size[deep] / 2, float(local[deep]))
    edge, foot, axis = np.array([0, 0, size[2]]), np.zeros(3), np.zeros(3)
    edge[deep], foot[deep] = near, -near
    axis[1 - deep] = math.copysign(1.0, near) * (1 if deep == 1 else -1)
    count = math.ceil(math.pi / 2 / RISE)
    frames = []
    for n in range(1, count + 1):
        angle = math.pi / 2 * n / count
        turn, heel = about(axis, angle), foot.copy()
        heel[deep] += math.copysign(size[2] * math.sin(angle), near)  # it takes no floor beyond where it lay
        frames.append(lying.then(Frame(turn, heel - turn @ foot)))
    inwards = np.zeros(3)
    inwards[deep] = -math.copysign(1.0, near)
    x, y, z = lying.point(edge).tolist()
    before = stage.wearer
    stage.wearer = moved(before, gaze=(x, y, z))
    try:
        return _lifted(stage, name, at, (edge, inwards), [lying, *frames])
    except BlockedError as blocked:
        reasons.blocked(blocked.owner)
        return None
    finally:
        stage.wearer = before


def _lifted(stage: Stage, name: str, at: Stand, edge: tuple[Floats, Floats], frames: list[Frame]) -> Raising | None:
    """`edge`: the point that is held, and where the palm faces there. Raises BlockedError: something is in the way."""
    points, palms = [thing.point(edge[0]) for thing in frames], [thing.turn @ edge[1] for thing in frames]
    first = None
    for side, postures in _ends(stage, at, points, palms):
        keys = _following(stage, at, side, points, palms, postures)
        if keys is None:
            continue
        try:
            return _screened(stage, name, side, keys, points, frames)
        except BlockedError as blocked:
            first = first or blocked
    if first is not None:
        raise first
    return None


def _ends(
    stage: Stage, at: Stand, points: list[Floats], palms: list[Floats]
) -> Iterator[tuple[Side, tuple[Posture, Posture]]]:
    """Free hands, and postures in which they reach the first point and the last one."""
    body = stage.person.body
    sides: tuple[Side, ...] = ("right", "left") if stage.wearer.hold is None else ("left",)
    for side in sides:
        hand = grip_point(body, side, GRIP)
        starts, ends = (
            [p.posture for p in islice(reaches(body, Feet(*at), side, points[n], point=hand, palm=palms[n]), RUNGS)]
            for n in (0, -1)
        )
        yield from ((side, pair) for pair in product(starts, ends))


def _following(  # noqa: PLR0917 (what is followed, and by what)
    stage: Stage, at: Stand, side: Side, points: list[Floats], palms: list[Floats], postures: tuple[Posture, Posture]
) -> list[Key] | None:
    """The body whose hand is at each point in turn, straightening up between two postures; None where it can't."""
    body, near = stage.person.body, None
    other: Side = "left" if side == "right" else "right"
    deepest = max(postures, key=lambda posture: posture.lean)
    hand, fist, keys = grip_point(body, side, GRIP), closed(body, side, GRIP), []
    for n, point in enumerate(points):
        posture = between(*postures, n / (len(points) - 1))
        standing = at_stand(body, at, posture)
        found = reach(body, standing, side, point, point=hand, palm=palms[n], near=near)
        if found is None or (near is not None and float(np.abs(found.angles - near).max()) > JUMP):
            return None
        near = found.angles
        drawn = Key(deepest, found.body).tucked(body, other).body
        looked = stage.person.looking(standing, (float(point[0]), float(point[1]), float(point[2])))
        keys.append(Key(posture, carrying(drawn, stage.wearer.hold)).head(looked).hand(side, fist))
    return keys


def _screened(  # noqa: PLR0917 (the parts of one plan)
    stage: Stage, name: str, side: Side, keys: list[Key], points: list[Floats], frames: list[Frame]
) -> Raising:
    """Raises BlockedError: something is in the way."""
    hold = stage.wearer.hold
    contacts: list[Vector] = [(float(x), float(y), float(z)) for x, y, z in points]
    riders = stage.engine.riders(name)
    for key, thing, contact in zip(keys, frames, contacts, strict=True):
        allow = [Allowed(owner, contact) for owner in (name, *riders)]
        things = stage.carried(name, thing.pose)
        hit = stage.hit(key.body, hold, allow=allow, moved=things, touching=stage.floors, brush=BRUSH)
        if hit is not None:
            raise BlockedError(hit.owner)
    first, last = (Screen(hold, [Allowed(owner, contacts[n], 0.3) for owner in (name, *riders)]) for n in (0, -1))
    to = bridge(stage, rest(stage), keys[0], side, first)
    back = bridge(stage, keys[-1], rest(stage), side, last)
    return Raising(to, [key.body for key in keys[1:]], back, [thing.pose for thing in frames[1:]], contacts[0])
