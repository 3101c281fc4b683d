"""Pushing and pulling what has wheels: both hands at its edge, the cart rigid before the wearer (ACT-2, ACT-8)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from iwkit.world.act import Act as MindAct
from iwkit.world.checks import parking
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.looking import look_over, middle
from iwkit_runtime.actions.motion import (
    LONG,
    SWING,
    Key,
    Reasons,
    at_stand,
    filled,
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
from iwkit_runtime.actions.towing import Towing, footing, grips, holding, in_world, plan_towing
from iwkit_runtime.actions.walking import blocker, enter
from iwkit_runtime.body import gait
from iwkit_runtime.body.pose import BodyPose, arm_joints, overlay
from iwkit_runtime.body.posture import UPRIGHT
from iwkit_runtime.engines.collision import TOLERANCE, Allowed
from iwkit_runtime.nav.doors import Leaf
from iwkit_runtime.nav.geometry import Floats
from iwkit_runtime.nav.grid import Obstacle
from iwkit_runtime.nav.rolling import Disc, Pair, Pose, Rolling
from iwkit_runtime.physical.scene_spec import Joints, Poses
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.tolerances import limit
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import turned_head

WEARER = ((0.0, 0.0, 0.24, 0.11), (0.1, 0.18, 0.17, 0.04), (0.1, -0.18, 0.17, 0.04))
"""The wearer with the arms at a cart as discs (`rolling.Disc`): the trunk, and the elbows."""
ROUGH = 0.02
"""By how much more and less is asked for where a cart surely fits and surely doesn't, metres."""
BOTH = (*arm_joints("left"), *arm_joints("right"))
"""The joints of both arms."""
PACE = 0.2
"""Metres of a step at a cart: with longer ones a foot stays behind in a turn, where the cart comes round."""
REPAIRS = 8
"""How often a way is planned again around what was in the way of the last one."""
EDGES = 2
"""Edges by which a cart is held from which a way is looked for."""
DOORS = 4
"""Closed doors on the way, at most."""
ARRIVED = 0.2
"""The cart is at its place within this distance, metres."""


class Plan(NamedTuple):
    """A grip, the wearer's poses (n, 3) frame by frame from there, and the closed door that is on the way."""

    towing: Towing
    rows: Floats
    door: str | None


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
        towing, rows, door = _take(act, name, (spot.x, spot.y), forwards=forwards)
        act.place = name
        look_over(act, name, middle(act.stage, name))
        act.see()
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


def _take(act: Act, name: str, spot: tuple[float, float], *, forwards: bool) -> Plan:
    """Go to a cart, to where its edge is in reach and from where it can be brought to a spot.

    Raises:
        RefusedError: nobody gets there, or gets the cart away from there.
    """
    stage, family = act.stage, act.at.layout.family(name)
    x, y, _ = stage.centre(name).tolist()
    riders = _riders(stage, family)
    failed: dict[float, NoWayError] = {}

    def plan(at: Stand, reasons: Reasons) -> Plan | None:
        edge = round(math.remainder(at.heading, math.tau), 3)
        if edge in failed or len(failed) == EDGES:
            return None
        towing = plan_towing(stage, name, family, riders, reasons, forwards=forwards)
        if towing is None:
            return None
        try:
            return Plan(towing, *_way(act, towing, spot, forwards))
        except NoWayError as refused:
            failed[edge] = refused
            return None

    before = stage.engine.joints()
    try:
        planned = go_and(act, name, (x, y), plan, among=list(grips(stage, name)))
    except RefusedError as refused:
        raise next(iter(failed.values()), refused) from None
    if planned.door is None and stage.engine.joints() != before:
        hit = _hit(stage, planned.towing, planned.rows)
        if hit is not None:
            raise NoWayError("TRAJECTORY_COLLISION", act.public(act.names[1]), act.public(hit[1]))
    return planned


def _riders(stage: Stage, family: Collection[str]) -> list[str]:
    """What rides on the parts of a cart."""
    engine, riders = stage.engine, list[str]()
    now = engine.poses()
    for part in family:
        engine.hold(part, now[part])
        riders += engine.held()[part]
        engine.release(part)
    return riders


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


# --- the way ----------------------------------------------------------------------------------------------------------


def _way(act: Act, towing: Towing, spot: tuple[float, float], forwards: bool) -> tuple[Floats, str | None]:
    """The wearer's poses (n, 3) frame by frame, every frame of body and cart screened; and the closed door that is on
    the way, if there is one.

    Raises:
        RefusedError: PATH_BLOCKED or TRAJECTORY_COLLISION.
    """
    stage, name = act.stage, act.names[0]
    pair = _pair(stage, name, towing)
    grid = stage.grid().without(*towing.offsets, *towing.rides)
    shut = closed_leaves(stage, grid)
    for leaf in shut:
        opened = (Obstacle(leaf.name, "door", piece) for piece in leaf.poses[-1])
        grid = grid.without(leaf.name).with_pieces(opened)
    start, joints, hit = Pose(*stage.wearer.stand), _opened(stage, shut), ""
    standing = at_stand(stage.person.body, stage.wearer.stand, UPRIGHT)
    held = holding(stage, standing, towing.hands, stage.wearer.stand) or standing

    def fits(pose: Pose) -> bool:
        at = Stand(*pose)
        placed = at_stand(stage.person.body, at, UPRIGHT)
        body = placed._replace(pose=overlay(placed.pose, held.pose, BOTH))
        return _met(stage, towing, at, body, joints, TOLERANCE) is None

    def done(pose: Pose) -> bool:
        return math.dist(pose.at(*pair.middle), spot) <= ARRIVED

    rolling = Rolling(grid, pair, start, spot, forwards, fits)
    while len(rolling.barred) <= REPAIRS:
        rows = rolling.way(done)
        if rows is None:
            break
        rows = gait.paced(stage.person.body, rows, PACE)
        found = _hit(stage, towing, rows)
        if found is None:
            return rows, None
        number, owner = found
        if any(owner == leaf.name for leaf in shut):
            return rows, owner
        hit = hit or owner
        rolling.barred.append(Pose(*rows[number].tolist()))
    if hit:
        raise NoWayError("TRAJECTORY_COLLISION", act.public(act.names[1]), act.public(hit))
    raise NoWayError("PATH_BLOCKED", f"to {act.public(act.names[1])}", blocker(act, spot))


def _opened(stage: Stage, shut: Collection[Leaf]) -> Joints:
    """The joints of closed doors as if they were open."""
    links = [(leaf.name, moving_link(stage.placed[leaf.name])) for leaf in shut]
    return {(name, link.name): link.joint.high for name, link in links if link is not None and link.joint is not None}


def _pair(stage: Stage, name: str, towing: Towing) -> Pair:
    """The pair as discs: the wearer with its elbows, and rows of them over the cart."""
    wide, deep, _ = stage.placed[name].asset.size
    at = towing.offsets[name]
    half = min(wide, deep) / 4
    radii = half * math.sqrt(2) + ROUGH, half - ROUGH
    xs, ys = (np.linspace(half - side / 2, side / 2 - half, math.ceil(side / half / 2)) for side in (wide, deep))
    places = [at.point((x, y, 0.0)).tolist() for x, y in product(xs.tolist(), ys.tolist())]
    x, y, _ = at.at.tolist()
    return Pair((*(Disc(*disc) for disc in WEARER), *(Disc(x, y, *radii) for x, y, _ in places)), (x, y))


def _hit(stage: Stage, towing: Towing, rows: Floats) -> tuple[int, str] | None:
    """What body or cart would run into first on a way, and at which pose."""
    for number, (row, body) in enumerate(zip(rows.tolist(), _bodies(stage, towing, rows), strict=True)):
        owner = _met(stage, towing, Stand(*row), body)
        if owner is not None:
            return number, owner
    return None


def _met(  # noqa: PLR0917 (one question)
    stage: Stage, towing: Towing, at: Stand, body: BodyPose, joints: Joints | None = None, brush: float = SWING
) -> str | None:
    """What body, cart or load would run into where the wearer stands, with joints as if they were so."""
    here = footing(at)
    poses: Poses = {name: here.then(offset).pose for name, offset in (*towing.offsets.items(), *towing.rides.items())}
    found = stage.collision.hits(poses=poses, joints=joints, ignore=(*stage.floors, *poses))
    if found and found[0].depth > TOLERANCE:
        return found[0].owner
    cart = next(iter(towing.offsets))
    allow = [Allowed(cart, in_world(at, hand)) for hand in towing.hands.values()]
    hit = stage.hit(body, brush=brush, moved=poses, allow=allow, joints=joints)
    return None if hit is None else hit.owner


def _bodies(stage: Stage, towing: Towing, rows: Floats) -> Iterator[BodyPose]:
    """The bodies of a walk whose hands stay at the cart."""
    last = at_stand(stage.person.body, Stand(*rows[0].tolist()), UPRIGHT)
    for row, walking in zip(rows.tolist(), gait.walk(stage.person.body, rows, step=PACE), strict=True):
        body = turned_head(walking._replace(pose=overlay(walking.pose, last.pose, BOTH)), towing.looking)
        there = holding(stage, body, towing.hands, Stand(*row))
        last = body if there is None else there
        yield last


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
            stage.engine.hold(part, footing(at).then(offset).pose)
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
