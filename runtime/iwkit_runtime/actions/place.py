"""Putting down what is held: lowered, let go, settled; what comes of it is measured (ACT-8, PHY-8, PHY-9)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from iwkit.world.checks import NEAR
from iwkit.world.state import FLOOR
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.grab import CLOSING, WAYS, shifted
from iwkit_runtime.actions.grips import FLAT
from iwkit_runtime.actions.looking import look_over
from iwkit_runtime.actions.motion import (
    BRUSH,
    SHORT,
    BlockedError,
    Key,
    Move,
    Reasons,
    Screen,
    Trunk,
    at_stand,
    bridge,
    elbows,
    freed,
    rest,
    roofed,
    straight,
)
from iwkit_runtime.actions.refusals import RefusedError
from iwkit_runtime.actions.spots import GAP, Spot, floor_spots, shuts, spots, upright
from iwkit_runtime.actions.stances import front_of, go_and
from iwkit_runtime.body.hands import closed, grip_frame, grip_point, relaxed
from iwkit_runtime.body.pose import INDEX, JOINTS
from iwkit_runtime.engines.collision import TOLERANCE, Allowed, Capsules, Hit
from iwkit_runtime.physical.kinematics import Frame, frame
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import Hold, moved

YAWS = tuple(math.radians(angle) for angle in (0, 25, -25, 55, -55))
"""How far from the way it is carried a thing is turned when it is put down."""
WIDER = tuple(math.radians(angle) for angle in (80, -80, 110, -110))
"""The same where that is no good."""
FACING = math.radians(60)
"""A thing is turned to face the wearer when that takes no more than this."""
LEAN, DROP = math.radians(16), 0.015
"""A flat thing may lean so much when it is let go, so far above its place: it falls flat."""
PASSES = ((False, 12), (True, 36), (False, 36))
"""How each place is tried in turn: whether with all elbows, and from how many stances."""
POSTURES = 12
AGAIN = 3
"""How often a place is tried again when the hand doesn't get away from it."""
TRIES = 6
"""Places that are tried."""
OVER = ((0.0, 0.08), (0.06, 0.05), (0.14, 0.03))
"""Where the hand is before it lowers a thing, and after: metres back, and up."""
AWAY = (
    (0.12, 0.0, 0.0),
    (0.0, 0.12, 0.0),
    (0.10, 0.08, 0.0),
    (0.05, 0.03, 0.0),
    (0.08, 0.0, 0.06),
    (0.04, 0.0, 0.04),
    (0.0, 0.04, 0.04),
)
"""Where the empty hand goes first: metres back, up, and to where its palm doesn't face."""


@dataclass(frozen=True, eq=False)
class Putting:
    """A planned way to put a thing down from a stance."""

    spot: Spot
    to: Move
    last: Key


def put_on(act: Act) -> None:
    """Put the held thing on a support."""
    name, support = act.names
    _put(act, support, spots(act, name, support, "surface"), "on")


def put_inside(act: Act) -> None:
    """Put the held thing into a container."""
    name, container = act.names[:2]
    _put(act, container, spots(act, name, container, "interior"), "inside")


def put_on_floor(act: Act) -> None:
    """Put the held thing on the floor beside something."""
    name, anchor = act.names
    place = act.at.floor_beside(anchor)
    x, y = place.point or act.stage.wearer.stand[:2]
    found = (spot for spot in floor_spots(act, name, (x, y, 0.0)) if _beside(act.stage, anchor, spot))
    _put(act, anchor, found, "floor")


def _beside(stage: Stage, anchor: str, spot: Spot) -> bool:
    """Whether a place on the floor is near a thing; in a room and by a door any place will do."""
    placed = stage.placed.get(anchor)
    if placed is None or placed.kind == "door":
        return True
    here = stage.collision.frames(anchor)[placed.asset.links[0].name].local((spot.x, spot.y, 0.0))[:2]
    return float(np.hypot(*np.maximum(np.abs(here) - np.array(placed.asset.size[:2]) / 2, 0.0))) <= NEAR


def drop(act: Act) -> None:
    """Let go of what is held where one stands: it falls."""
    stage, hold = act.stage, act.stage.wearer.hold
    if hold is None:
        raise RefusedError("OUT_OF_REACH", "anything")
    body = stage.idle()
    fingers = closed(stage.person.body, "right", hold.grip), relaxed("right")
    stage.wearer = moved(stage.wearer, hold=None)
    stage.engine.release(hold.name)
    for n in range(1, CLOSING + 1):
        share = n / CLOSING
        stage.shoot(Key(rest(stage).posture, body).hand("right", (1 - share) * fingers[0] + share * fingers[1]).body)
    stage.settle(body)
    for frame_ in bridge(
        stage, Key(rest(stage).posture, body), rest(stage), "right", Screen(None, [_around(stage, hold)])
    ):
        stage.shoot(frame_)
    _released(act, hold.name)


def _put(act: Act, support: str, places: Iterable[Spot], how: str) -> None:
    stage = act.stage
    hold = stage.wearer.hold
    if hold is None:
        raise RefusedError("OUT_OF_REACH", support)
    goal, first = act.at.goal(support), None
    for thorough, tries, spot in _trials(places):
        refused = _attempted(act, support, hold, spot, thorough, tries, how)
        if refused is None:
            if goal is not None:
                act.place = goal.at
            _released(act, hold.name)
            act.expect = (("on_floor", hold.name),) if how == "floor" else ((how, hold.name, support),)
            return
        first = first or refused
        if refused.code == "PATH_BLOCKED" and not spot.back:
            break
    raise first if first else RefusedError("NO_ROOM", hold.name, support)


def _trials(places: Iterable[Spot]) -> list[tuple[bool, int, Spot]]:
    """The places to be tried, each with how: where a thing came from before any other one is."""
    chosen = list(islice(places, TRIES))
    back, others = [s for s in chosen if s.back], [s for s in chosen if not s.back]
    return [(*how, spot) for group in (back, others) for how, spot in product(PASSES, group)]


def _attempted(  # noqa: PLR0917 (one trial)
    act: Act, support: str, hold: Hold, spot: Spot, thorough: bool, tries: int, how: str
) -> RefusedError | None:
    """Put a thing at a place; when that fails, everything is as before and the reason is given. Stances from which the
    hand doesn't get away again are left out the next time."""
    stage = act.stage
    front = front_of(stage, support) if how == "inside" else None
    barred: set[Stand] = set()

    def plan(at: Stand, reasons: Reasons) -> Putting | None:
        return None if at in barred else plan_put(stage, hold, spot, thorough, at, reasons)

    refused: RefusedError | None = None
    for _ in range(AGAIN):
        before, events, seen = stage.state(), len(act.happenings), (act.room, act.shown, act.looked, act.lost_at)
        try:
            found = go_and(act, support, (spot.x, spot.y), plan, front=front, tries=tries)
            look_over(act, support, (spot.x, spot.y, spot.z))
            _lower(act, support, hold, found)
        except (RefusedError, BlockedError) as failed:
            stuck_at = stage.wearer.stand
            stage.restore(before)
            del act.happenings[events:]
            act.room, act.shown, act.looked, act.lost_at = seen
            if isinstance(failed, RefusedError):
                return refused or failed
            barred.add(stuck_at)
            refused = refused or RefusedError("TRAJECTORY_COLLISION", support, act.public(failed.owner))
        else:
            return None
    return refused


def plan_put(  # noqa: PLR0917 (bound one by one)
    stage: Stage, hold: Hold, spot: Spot, thorough: bool, at: Stand, reasons: Reasons
) -> Putting | None:
    """How to lower a thing onto a place from where the wearer stands; None when it can't be done from there."""
    body = stage.person.body
    point = grip_point(body, "right", hold.grip)
    fist, screen, ways = closed(body, "right", hold.grip), Screen(hold), 0
    covered = roofed(stage, np.array([spot.x, spot.y, spot.z + 2 * GAP]))
    trunk = Trunk(stage, screen, reasons)
    flat = stage.placed[hold.name].asset.size[2] <= FLAT
    lean, gap = (LEAN, DROP) if flat else (0.0, GAP)
    for yaw in _yaws(stage, hold, at, (*WIDER, *YAWS) if thorough else YAWS):
        thing = frame(upright((spot.x, spot.y, spot.z + gap), yaw))
        if spot.inside and not shuts(stage, spot.inside, hold.name, thing.pose):
            continue
        hit = None if flat or not reasons.reached else _in_the_way(stage, hold, thing)
        if hit is not None:
            reasons.blocked(hit.owner)
            continue
        grip = thing.then(frame(hold.offset).inverse())
        palm, fingers = grip.turn[:, 1], grip.turn[:, 0]
        found = elbows(
            body,
            at,
            "right",
            grip.at,
            point=point,
            palm=palm,
            fingers=fingers,
            shelf=covered,
            others=thorough,
            most=lean,
            trunk=trunk,
        )
        for posed in islice(found, POSTURES):
            freed_body, hit = freed(stage, screen, posed.reach.body)
            if hit is not None:
                reasons.blocked(hit.owner)
                continue
            ways += 1
            looked = stage.person.looking(at_stand(body, at, posed.posture), (spot.x, spot.y, spot.z))
            key = Key(posed.posture, freed_body).head(looked).hand("right", fist)
            before = stage.wearer
            stage.wearer = moved(before, gaze=(spot.x, spot.y, spot.z))
            try:
                return Putting(spot, lowering(stage, hold, key), key)
            except BlockedError as blocked:
                reasons.blocked(blocked.owner)
            finally:
                stage.wearer = before
            if ways == WAYS:
                return None
    return None


def _in_the_way(stage: Stage, hold: Hold, thing: Frame) -> Hit | None:
    """What a held thing at a frame, or the hand at it, would be in, whatever the arm does: asked first."""
    x, y, z = thing.point((0, 0, stage.placed[hold.name].asset.size[2] / 2)).tolist()
    hand = _hand(stage, hold, thing.then(frame(hold.offset).inverse()))
    poses = stage.carried(hold.name, thing.pose)
    found = stage.collision.hits(hand, poses=poses, allow=[Allowed(hold.name, (x, y, z))])
    return next((hit for hit in found if hit.depth > (BRUSH if isinstance(hit.by, int) else TOLERANCE)), None)


def _hand(stage: Stage, hold: Hold, grip: Frame) -> Capsules:
    """The capsule of the right hand when what it grips is at a frame."""
    body, rig = stage.person.body, stage.person.rig
    local = grip_frame(body, np.broadcast_to(np.eye(4), (len(JOINTS), 4, 4)), "right", hold.grip)
    wrist = grip.then(Frame(local[:3, :3], local[:3, 3]).inverse())
    start, end = (body.joints[INDEX[f"right_{name}"]] for name in ("wrist", "middle1"))
    ends = wrist.point(np.stack([start, end]) - start)
    return Capsules(ends[None], rig.radii[[rig.names.index("right_hand")]])


def _yaws(stage: Stage, hold: Hold, at: Stand, turns: Iterable[float]) -> Iterator[float]:
    """How to turn a thing: its front to the wearer if that is near to how it is carried, else as it is carried."""
    turn = frame(stage.person.held_pose(stage.person.body.forward(*stage.person.upright(stage.wearer)), hold)).turn
    carried = math.atan2(turn[1, 0], turn[0, 0])
    facing = at.heading - math.pi / 2
    if abs(math.remainder(facing - carried, math.tau)) <= FACING:
        yield facing
    yield from (carried + yaw for yaw in turns)


def lowering(stage: Stage, hold: Hold, key: Key) -> Move:
    """Raises BlockedError: every way runs into something."""
    screen = Screen(hold)
    first: BlockedError | None = None
    for over in OVER:
        pre = shifted(stage, key, hold.grip, over)
        if pre is None:
            continue
        try:
            screen.check(stage, pre.body)
            return [*bridge(stage, rest(stage), pre, "right", screen), *straight(stage, [pre, key], [SHORT], screen)]
        except BlockedError as blocked:
            first = first or blocked
    raise first or BlockedError(hold.name)


def _lower(act: Act, support: str, hold: Hold, plan: Putting) -> None:
    """Film it: down, let go, settle, the hand away. Raises BlockedError when the hand can't get away."""
    stage, gaze = act.stage, (plan.spot.x, plan.spot.y, plan.spot.z)
    for body in plan.to:
        stage.shoot(body, gaze=gaze)
    stage.sync()
    act.watch(support, plan.to)
    act.see()
    stage.wearer = moved(stage.wearer, hold=None, gaze=gaze)
    open_key = plan.last.hand("right", closed(stage.person.body, "right", hold.grip, 0.0))
    stage.engine.release(hold.name)
    stage.sync()
    for body in straight(stage, [plan.last, open_key], [CLOSING], Screen(None, [_around(stage, hold)])):
        stage.shoot(body, gaze=gaze)
    stage.settle(open_key.body, gaze)
    for body in withdrawn(stage, hold, open_key):
        stage.shoot(body, gaze=gaze)
    stage.sync()


def withdrawn(stage: Stage, hold: Hold, key: Key) -> Move:
    """The empty hand goes back from a thing, and down. Raises BlockedError when it can't."""
    screen = Screen(None, [_around(stage, hold)])
    first: BlockedError | None = None
    for back_by, up, aside in AWAY:
        back = shifted(stage, key, hold.grip, (back_by, up), aside)
        if back is None:
            continue
        try:
            return [*straight(stage, [key, back], [SHORT], screen), *bridge(stage, back, rest(stage), "right", screen)]
        except BlockedError as blocked:
            first = first or blocked
    raise first or BlockedError(hold.name)


def _around(stage: Stage, hold: Hold) -> Allowed:
    """The hand may still touch what it has let go of."""
    x, y, z = stage.centre(hold.name).tolist()
    return Allowed(hold.name, (x, y, z))


def _released(act: Act, name: str) -> None:
    """Report where a thing has come to rest: what bears or contains it, as measured."""
    measured = act.stage.relations.at(act.stage.moment())
    holders = measured.places.of(name).containers or measured.bearers(name)
    wanted = act.names[1] if len(act.names) > 1 and act.names[1] in holders else None
    act.emit("released", object=name, to=wanted or (holders[0] if holders else FLOOR))
    act.emit("moved", object=name)
