"""Pushing and pulling what has wheels: both hands at its edge, the cart rigid before the wearer (ACT-2, ACT-8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from iwkit.world.act import Act as MindAct
from iwkit.world.checks import parking
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.looking import look_over, middle
from iwkit_runtime.actions.motion import (
    LONG,
    SWING,
    BlockedError,
    Key,
    Move,
    Reasons,
    Screen,
    at_stand,
    filled,
    rest,
)
from iwkit_runtime.actions.operate import (
    Swing,
    closed_leaves,
    execute_swing,
    handle_at,
    moving_link,
    plan_swing,
    swing_stances,
)
from iwkit_runtime.actions.refusals import NoWayError, RefusedError
from iwkit_runtime.actions.stances import go_and
from iwkit_runtime.actions.walking import blocker, enter
from iwkit_runtime.body import gait
from iwkit_runtime.body.arms import angles_of, reach
from iwkit_runtime.body.hands import Grip, closed, grip_point
from iwkit_runtime.body.legs import SIDES, SIGN
from iwkit_runtime.body.pose import BodyPose, arm_joints, overlay
from iwkit_runtime.body.posture import UPRIGHT
from iwkit_runtime.engines.collision import TOLERANCE, Allowed
from iwkit_runtime.nav.geometry import Floats
from iwkit_runtime.nav.rolling import Disc, Pair, Pose, Rolling
from iwkit_runtime.nav.stance import Stance
from iwkit_runtime.physical.kinematics import Frame, frame
from iwkit_runtime.physical.scene_spec import Poses
from iwkit_runtime.physical.spec import Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.tolerances import limit
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import turned_head

BAR = Grip("cylindrical", 0.03)
PALM = (0.0, 0.0, -1.0)
"""Hands are laid on it from above."""
AWAY = (0.42, 0.36, 0.48, 0.30)
"""Metres from the edge that is held to where the wearer stands."""
APART = 0.17
"""Metres from the middle of the edge to each hand."""
LOWEST = 0.5
"""An edge that is lower than this is held at this height, metres."""
WIDE = 0.26
"""Radius of the wearer with the arms at a cart, metres."""
PACE = 0.2
"""Metres of a step at a cart: with longer ones a foot stays behind in a turn, where the cart comes round."""
MARGINS = (0.06, 0.0, -0.05)
"""Room beside the pair that is asked for, metres, most first: the floor plan is coarse, and each frame is screened."""
REPAIRS = 4
"""How often a way is planned again around what was in the way of the last one."""
DOORS = 4
"""Closed doors on the way, at most."""
ARRIVED = 0.2
"""The cart is at its place within this distance, metres."""
BEYOND = 1.4
"""Whoever pushes looks at the floor so far beyond the cart, metres: it stays in view with what is on it."""


@dataclass(frozen=True, eq=False)
class Towing:
    """A planned grip on a cart: the hands go to its edge, there they are; where the cart is from the wearer; the body
    from which the head is turned to where the wearer looks on the way."""

    to: Move
    hands: dict[str, Vector]
    offsets: dict[str, Frame]
    looking: BodyPose


def push(act: Act) -> None:
    """Push a cart to a thing."""
    _roll(act, forwards=True)


def pull(act: Act) -> None:
    """Pull a cart to a thing, going backwards."""
    _roll(act, forwards=False)


def _roll(act: Act, *, forwards: bool) -> None:
    name, target = act.names
    spot = parking(MindAct(act.at, act.command, act.names))
    if spot is None:
        raise RefusedError("NO_ROOM", act.public(name), act.public(target))
    for _ in range(DOORS + 1):
        towing = _take(act, name, forwards=forwards)
        act.place = name
        look_over(act, name, middle(act.stage, name))
        act.see()
        rows, door = _way(act, towing, (spot.x, spot.y), forwards)
        if door is None:
            _film(act, towing, rows)
            break
        _open(act, door)
    else:
        raise NoWayError("PATH_BLOCKED", f"to {act.public(target)}", act.public(door or target))
    look_over(act, name, middle(act.stage, name))
    act.see()
    act.emit("pushed", fixture=name, to=target)
    act.emit("moved", object=name)
    if not _arrived(act, name, target):
        act.expect = (("near", name, target),)


def _arrived(act: Act, name: str, target: str) -> bool:
    """Whether a cart is near a thing, or in a room, as measured; relations tell only of what a pack names."""
    measured = act.stage.relations.at(act.stage.moment())
    if act.at.kind(target) == "room":
        return measured.room_gaps(name)[target] == 0
    return measured.gap(name, act.at.root(target)) <= limit("near")


def _take(act: Act, name: str, *, forwards: bool) -> Towing:
    """Go to a cart, to where its edge is in reach."""
    stage, family = act.stage, act.at.layout.family(name)
    x, y, _ = stage.centre(name).tolist()

    def plan(_at: Stand, reasons: Reasons) -> Towing | None:
        return plan_towing(stage, name, family, reasons, forwards=forwards)

    return go_and(act, name, (x, y), plan, among=list(_stances(stage, name)))


def _open(act: Act, door: str) -> None:
    """Open a door for the cart, which waits where it is."""
    stage = act.stage
    link = moving_link(stage.placed[door])
    if link is None:
        raise NoWayError("PATH_BLOCKED", f"to {act.public(act.names[1])}", act.public(door))
    handle = handle_at(stage, door, link, stage.engine.joints()[door, link.name])

    def plan(at: Stand, reasons: Reasons) -> Swing | None:
        swing = plan_swing(stage, door, at, opening=True, reasons=reasons)
        return swing if swing is not None and swing.whole else None

    execute_swing(act, go_and(act, door, handle[:2], plan, among=swing_stances(stage, door, opening=True)))
    act.emit("opened", object=door)


# --- planning ---------------------------------------------------------------------------------------------------------


def _edges(stage: Stage, name: str) -> Iterator[tuple[Vector, float]]:
    """Where a cart can be held in its own frame, and the direction out of it: at its handle, else at the middle of
    each edge."""
    placed = stage.placed[name]
    wide, deep, high = placed.asset.size
    handle = placed.asset.links[0].handle
    if handle is not None:
        x, y, _ = handle
        yield handle, (0.0 if x > 0 else math.pi) if abs(x) / wide > abs(y) / deep else math.copysign(math.pi / 2, y)
    height = max(LOWEST, high)
    for out in (-math.pi / 2, math.pi / 2, 0.0, math.pi):
        yield (wide / 2 * round(math.cos(out)), deep / 2 * round(math.sin(out)), height), out


def _stances(stage: Stage, name: str) -> Iterator[Stance]:
    """Where to stand to take hold of a cart."""
    at = frame(stage.engine.poses()[name])
    yaw = math.atan2(at.turn[1, 0], at.turn[0, 0])
    for edge, out in _edges(stage, name):
        x, y, _ = at.point(edge).tolist()
        for away in AWAY:
            ahead = yaw + out
            yield Stance(x + away * math.cos(ahead), y + away * math.sin(ahead), ahead + math.pi, 0.0)


def plan_towing(stage: Stage, name: str, family: tuple[str, ...], reasons: Reasons, *, forwards: bool) -> Towing | None:
    """How to take hold of a cart from where the wearer stands; None when its hands don't get there."""
    at = stage.wearer.stand
    hands = _hands(stage, name)
    body = _holding(stage, at_stand(stage.person.body, at, UPRIGHT), hands, at)
    if body is None:
        return None
    here, poses = _frame(at).inverse(), stage.engine.poses()
    offsets = {part: here.then(frame(poses[part])) for part in family}
    body = _ahead(stage, body, offsets[name], at, forwards=forwards)
    start = rest(stage)
    move = list(filled(stage.person.body, at, start, Key(UPRIGHT, body), LONG))
    screen = Screen(None, [Allowed(name, _world(at, hand)) for hand in hands.values()])
    try:
        screen.check(stage, *move)
    except BlockedError as blocked:
        reasons.blocked(blocked.owner)
        return None
    return Towing(move, hands, offsets, body)


def _ahead(stage: Stage, body: BodyPose, cart: Frame, at: Stand, *, forwards: bool) -> BodyPose:
    """A body frame at a cart with its head turned down: to the floor before the cart, or to the cart that follows."""
    x, y, z = cart.at.tolist()
    point = (x + BEYOND, y, 0.0) if forwards else (x, y, z + LOWEST)
    return turned_head(body, stage.person.looking(body, _world(at, point)))


def _hands(stage: Stage, name: str) -> dict[str, Vector]:
    """Where the hands are from the wearer, on the edge that it stands before."""
    x, y, _ = stage.wearer.stand
    at = frame(stage.engine.poses()[name])
    edges = [at.point(edge).tolist() for edge, _ in _edges(stage, name)]
    edge = min(edges, key=lambda point: round(math.dist(point[:2], (x, y)), 6))
    ahead = math.dist(edge[:2], (x, y))
    return {side: (ahead, SIGN[side] * APART, edge[2]) for side in SIDES}


def _frame(at: Stand) -> Frame:
    c, s = math.cos(at.heading), math.sin(at.heading)
    return Frame(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([at.x, at.y, 0.0]))


def _world(at: Stand, point: Vector) -> Vector:
    x, y, z = _frame(at).point(point).tolist()
    return x, y, z


def _holding(stage: Stage, body: BodyPose, hands: dict[str, Vector], at: Stand) -> BodyPose | None:
    """A body frame whose hands are at a cart; None when they don't get there."""
    for side in SIDES:
        near = angles_of(body.pose, side)
        point = grip_point(stage.person.body, side, BAR)
        found = reach(stage.person.body, body, side, _world(at, hands[side]), point=point, palm=PALM, near=near)
        if found is None:
            return None
        body = Key(UPRIGHT, found.body).hand(side, closed(stage.person.body, side, BAR)).body
    return body


def _way(act: Act, towing: Towing, spot: tuple[float, float], forwards: bool) -> tuple[Floats, str | None]:
    """The wearer's poses (n, 3) frame by frame, every frame of body and cart screened; and the closed door that is on
    the way, if there is one.

    Raises:
        RefusedError: PATH_BLOCKED or TRAJECTORY_COLLISION.
    """
    stage, name = act.stage, act.names[0]
    pair = _pair(stage, name, towing)
    grid = stage.grid().without(*towing.offsets)
    shut = [leaf.name for leaf in closed_leaves(stage, grid)]
    grid = grid.without(*shut)
    start = Pose(*stage.wearer.stand)
    hit = ""

    def done(pose: Pose) -> bool:
        return math.dist(pose.at(*pair.middle), spot) <= ARRIVED

    barred: list[Pose] = []
    for margin in MARGINS:
        while len(barred) <= REPAIRS:
            rows = Rolling(grid, pair, start, spot, forwards, margin, tuple(barred)).way(done)
            if rows is None:
                break
            rows = gait.paced(stage.person.body, rows, PACE)
            found = _hit(stage, towing, rows)
            if found is None:
                return rows, None
            number, owner = found
            if owner in shut:
                return rows, owner
            hit = hit or owner
            barred.append(Pose(*rows[number].tolist()))
    if hit:
        raise NoWayError("TRAJECTORY_COLLISION", act.public(act.names[1]), act.public(hit))
    raise NoWayError("PATH_BLOCKED", f"to {act.public(act.names[1])}", blocker(act, spot))


def _pair(stage: Stage, name: str, towing: Towing) -> Pair:
    """The pair as discs: the wearer, and a row of them along the longer side of the cart."""
    wide, deep, _ = stage.placed[name].asset.size
    at = towing.offsets[name]
    short, long = min(wide, deep), max(wide, deep)
    count = max(2, math.ceil(long / short * 1.5))
    discs = [Disc(0.0, 0.0, WIDE)]
    for n in range(count):
        along = (n / (count - 1) - 0.5) * (long - short)
        x, y, _ = at.point((along, 0.0, 0.0) if wide >= deep else (0.0, along, 0.0)).tolist()
        discs.append(Disc(x, y, short / 2 + 0.04))
    x, y, _ = at.at.tolist()
    return Pair(tuple(discs), (x, y))


def _hit(stage: Stage, towing: Towing, rows: Floats) -> tuple[int, str] | None:
    """What body or cart would run into first on a way, and at which pose."""
    engine, names = stage.engine, [*towing.offsets]
    now = engine.poses()
    riders: list[str] = []
    for part in names:
        engine.hold(part, now[part])
        riders += engine.held()[part]
        engine.release(part)
    rides = {rider: frame(now[rider]) for rider in riders}
    here = {part: frame(now[part]) for part in names}
    own = {*names, *riders}
    for number, (row, body) in enumerate(zip(rows.tolist(), _bodies(stage, towing, rows), strict=True)):
        at = Stand(*row)
        poses: Poses = {part: _frame(at).then(offset).pose for part, offset in towing.offsets.items()}
        moves = frame(poses[names[0]]).then(here[names[0]].inverse())
        poses |= {rider: moves.then(place).pose for rider, place in rides.items()}
        found = stage.collision.hits(poses=poses, ignore=(*stage.floors, *own))
        if found and found[0].depth > TOLERANCE:
            return number, found[0].owner
        allow = [Allowed(names[0], _world(at, hand)) for hand in towing.hands.values()]
        hit = stage.hit(body, brush=SWING, moved=poses, allow=allow)
        if hit is not None:
            return number, hit.owner
    return None


def _bodies(stage: Stage, towing: Towing, rows: Floats) -> list[BodyPose]:
    """The bodies of a walk whose hands stay at the cart."""
    bodies = []
    last = at_stand(stage.person.body, Stand(*rows[0].tolist()), UPRIGHT)
    both = (*arm_joints("left"), *arm_joints("right"))
    for row, walking in zip(rows.tolist(), gait.walk(stage.person.body, rows, step=PACE), strict=True):
        body = turned_head(walking._replace(pose=overlay(walking.pose, last.pose, both)), towing.looking)
        holding = _holding(stage, body, towing.hands, Stand(*row))
        last = body if holding is None else holding
        bodies.append(last)
    return bodies


# --- doing ------------------------------------------------------------------------------------------------------------


def _film(act: Act, towing: Towing, rows: Floats) -> None:
    """Take hold, walk with the cart, let go; what is on it settles."""
    stage = act.stage
    if stage.wearer.gaze is not None:
        stage.glance(None)
    for body in towing.to:
        stage.shoot(body)
    act.leave()
    events = len(act.happenings)
    now = stage.engine.poses()
    for part in towing.offsets:
        stage.engine.hold(part, now[part])
    for n, (row, body) in enumerate(zip(rows.tolist(), _bodies(stage, towing, rows), strict=True)):
        if n == 0:
            continue
        at = Stand(*row)
        for part, offset in towing.offsets.items():
            stage.engine.hold(part, _frame(at).then(offset).pose)
        enter(act, (at.x, at.y))
        stage.shoot(body, at)
    for part in towing.offsets:
        stage.engine.release(part)
    stage.sync()
    back = list(filled(stage.person.body, stage.wearer.stand, Key(UPRIGHT, stage.idle()), Key(UPRIGHT, body), LONG))
    for away in (*reversed(back[:-1]), stage.idle()):
        stage.shoot(away)
    stage.settle(stage.idle())
    act.arrive(events)
