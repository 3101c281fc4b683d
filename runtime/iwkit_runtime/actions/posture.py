"""Sitting down, standing up, squatting: the feet stay, the body goes down and up (ACT-7, ACT-8, PHY-8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from iwkit.errors import UsageError
from iwkit_runtime.actions import passing
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import BRUSH, LONG, SWING, Key, Move, Reasons, Screen, at_stand, filled, rest
from iwkit_runtime.actions.pacing import where_there_is_room
from iwkit_runtime.actions.passing import Step, Stuck
from iwkit_runtime.actions.refusals import NoWayError, RefusedError
from iwkit_runtime.actions.stances import go_and
from iwkit_runtime.body.pose import arm_joints, blend, overlay
from iwkit_runtime.body.posture import SQUAT, UPRIGHT, Posture
from iwkit_runtime.body.seated import Seated, lowering
from iwkit_runtime.engines.collision import TOLERANCE
from iwkit_runtime.nav.stance import Stance
from iwkit_runtime.physical.scene_spec import Poses
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import Seat, moved

SITTING = 18
"""Frames in which one sits down, and stands up."""
BENT = Posture(math.radians(70), 0.2)
"""Someone whose thighs are before the belly, as they are on the way down: the arms are half-way to where they then are.
"""
RAISED, LAID = 0.35, 0.6
"""By which share of the way down the forearms are before the chest, to pass between arm rests and above the thighs, and
from which on they are laid in the lap."""
DEPTHS = (0.30, 0.26, 0.22, 0.18, 0.14, 0.10, 0.06)
"""How far behind the edge of a seat the hips are, metres: as far as its back lets them."""
ALONG = (0.0, 0.026, -0.026, -0.2, 0.2, -0.45, 0.45)
"""Where along the edge one sits down, metres from its middle."""
FEET = 0.38
"""Feet are so far before the hips, metres."""
LOW = 0.36
"""Nothing lower is sat on: the gap between two cushions, say; metres."""
FLESH = 0.11
"""Height of the pelvis joint above what one sits on, metres."""
SIDES = (0.0, math.pi, math.pi / 2, -math.pi / 2)
"""Edges of a seat on which one sits down, the front one first, radians from it."""
LOOKED_FROM = 1.2
"""The height of a seat is felt for from above, from this height, metres."""
SQUATS = tuple(Posture(SQUAT.lean, share * SQUAT.crouch) for share in (1.0, 0.75, 0.5))
"""How low one squats: with something bulky in the arms not as low."""
DOWN = 6
"""Frames for which a squat is held."""


def sit(act: Act) -> None:
    """Go to a seat, turn the back to it and sit down."""
    seat, move = go_to_seat(act, act.names[0])
    act.see()
    sit_down(act, seat, move)


def go_to_seat(act: Act, name: str) -> tuple[Seat, Move]:
    """Go to a seat and turn the back to it; how one then sits down.

    Raises:
        RefusedError: nobody gets there, or can sit there.
    """
    stage = act.stage
    goal = act.at.goal(name)
    perches = dict(_perches(stage, name))
    x, y, _ = stage.centre(name).tolist()

    def plan(at: Stand, reasons: Reasons) -> tuple[Seat, Move] | None:
        return _sit_there(stage, perches[at], reasons)

    among = [Stance(*stand, 0.0) for stand in perches]
    seat, move = go_and(act, name, (x, y), plan, among=among, tries=len(among))
    if goal is not None:
        act.place = goal.at
    return seat, move


def sit_down(act: Act, seat: Seat, move: Move) -> None:
    """Film it, and tell."""
    stage = act.stage
    if stage.wearer.gaze is not None:
        stage.glance(None)
    for body in move:
        stage.shoot(body)
    stage.wearer = moved(stage.wearer, seat=seat)
    act.emit("sat", seat=seat.name)


def stand_up(act: Act) -> None:
    """Get up from the seat, the arms drawn in where they are in the way.

    Raises:
        RefusedError: PATH_BLOCKED; there is no room above the feet.
    """
    stage, seat = act.stage, act.stage.wearer.seat
    if seat is None:
        raise RefusedError("PATH_BLOCKED", "up", "nothing")
    if stage.wearer.gaze is not None:
        stage.glance(None)
    move = lowered(stage, seat.seated)
    up = [*reversed(move[:-1]), stage.person.upright(moved(stage.wearer, seat=None))]
    passed = passing.passing(stage, [Step(stage.wearer.stand, body) for body in up])
    if isinstance(passed, Stuck):
        raise NoWayError("PATH_BLOCKED", "up", act.public(passed.owner))
    for step in passed:
        stage.shoot(step.body)
    stage.wearer = moved(stage.wearer, seat=None)
    act.emit("stood", seat=seat.name)


def squat(act: Act) -> None:
    """Bend the knees until one sits on the heels, and stand up again, the arms and what is held drawn in if they are in
    the way; a few steps aside first where knees need room.

    Raises:
        RefusedError: PATH_BLOCKED; there is no room for the knees.
    """
    stage = act.stage
    try:
        down = where_there_is_room(act, partial(_squatted, stage), "down")
    except NoWayError as refused:
        raise NoWayError("PATH_BLOCKED", *refused.about) from None
    for body in (*down, *[down[-1]] * DOWN, *reversed(down[:-1]), rest(stage).body):
        stage.shoot(body, gaze=stage.wearer.gaze)


def _squatted(stage: Stage) -> Move | Stuck:
    """The frames down to the heels from where the wearer stands."""
    start, hold = rest(stage), stage.wearer.hold
    screen, blocker = Screen(hold), ""
    for posture in SQUATS:
        low = at_stand(stage.person.body, stage.wearer.stand, posture)
        key = Key(posture, low)
        if hold is not None:
            key = key.arm("right", start.body)
        drawn = [Key(posture, passing.drawn(stage, key.body, hold))] if hold is not None else []
        for end in (key, key.tucked(stage.person.body, "left"), *drawn):
            down = list(filled(stage.person.body, stage.wearer.stand, start, end, LONG))
            hit = next((hit for body in down if (hit := screen.hit(stage, body)) is not None), None)
            if hit is None:
                return down
            blocker = blocker or hit.owner
    return Stuck(stage.wearer.stand, blocker)


def scoot(act: Act, step: float) -> bool:
    """Roll a little on the seat, forwards or (a negative step) backwards, metres; whether there was room for it."""
    stage, seat = act.stage, act.stage.wearer.seat
    if seat is None:
        return False
    before = stage.wearer
    x, y, heading = before.stand
    dx, dy = step * math.cos(heading), step * math.sin(heading)
    (sx, sy, sz), turn = stage.engine.poses()[seat.name]
    there = moved(before, stand=Stand(x + dx, y + dy, heading))
    poses: Poses = {seat.name: ((sx + dx, sy + dy, sz), turn)}
    around = stage.collision.hits(poses=poses, ignore=stage.floors)
    body = stage.person.idle(there)
    if (around and around[0].depth > TOLERANCE) or stage.hit(body, there.hold, brush=SWING, moved=poses):
        return False
    stage.engine.hold(seat.name, poses[seat.name])
    stage.shoot(body, there.stand, gaze=there.gaze)
    stage.engine.release(seat.name)
    stage.sync()
    return True


# --- planning ---------------------------------------------------------------------------------------------------------


def lowered(stage: Stage, seated: Seated) -> Move:
    """The frames of sitting down from where the wearer stands, the last one that of sitting.

    Raises:
        UsageError: the feet don't reach the floor.
    """
    person, at = stage.person, stage.wearer.stand
    standing = person.upright(moved(stage.wearer, seat=None))
    resting = person.upright(moved(stage.wearer, seat=Seat("", seated)))
    low, high = (person.drawn(standing, stage.wearer.hold, posture) for posture in (UPRIGHT, BENT))
    ready = blend(low, high, 0.5)
    arms = (*arm_joints("left"), *arm_joints("right"))
    move = []
    for n in range(1, SITTING):
        share = n / SITTING
        share = share * share * (3 - 2 * share)
        body = person.body.placed(lowering(person.body, seated, share), *at)
        if share < LAID:
            mixed = blend(standing, ready, min(1.0, share / RAISED))
        else:
            mixed = blend(ready, resting, (share - LAID) / (1 - LAID))
        move.append(body._replace(pose=overlay(body.pose, mixed.pose, arms)))
    return [*move, resting]


def _perches(stage: Stage, name: str) -> Iterator[tuple[Stand, Seat]]:
    """Where to stand before a seat, the back to it, and how one then sits: its front first, as deep as may be."""
    placed = stage.placed[name]
    root = stage.collision.frames(name)[placed.asset.links[0].name]
    region = next((r for r in placed.asset.regions if r.kind == "surface"), None)
    middle, size = (region.centre, region.size) if region else ((0.0, 0.0, 0.0), placed.asset.size)
    for turn in SIDES:
        facing = placed.yaw - math.pi / 2 + turn
        deep, wide = (size[1], size[0]) if turn in (0.0, math.pi) else (size[0], size[1])
        x, y, _ = root.point((middle[0], middle[1], 0.0)).tolist()
        ahead = np.array([math.cos(facing), math.sin(facing)])
        aside = np.array([-ahead[1], ahead[0]])
        for along in (a for a in ALONG if abs(a) <= max(wide / 2 - 0.2, 0.03)):
            edge = np.array([x, y]) + deep / 2 * ahead + along * aside
            for depth in (d for d in DEPTHS if d <= deep - 0.05):
                hips = edge - depth * ahead
                height = _height(stage, name, (float(hips[0]), float(hips[1])))
                if height is None or height < LOW:
                    continue
                px, py = (hips + FEET * ahead).tolist()
                yield Stand(px, py, math.remainder(facing, math.tau)), Seat(name, Seated(height + FLESH, FEET))


def _height(stage: Stage, name: str, at: tuple[float, float]) -> float | None:
    """How high a seat is at a place, felt from above; None where it is something else that is met."""
    names, along = stage.collision.rays((*at, LOOKED_FROM), np.array([[*at, 0.0]]))
    return LOOKED_FROM * (1 - float(along[0])) if names[0] == name else None


def _sit_there(stage: Stage, seat: Seat, reasons: Reasons) -> tuple[Seat, Move] | None:
    """How to sit down from where the wearer stands; None when it can't be done from there."""
    try:
        move = lowered(stage, seat.seated)
    except UsageError:  # the legs are too short for it
        return None
    for body in move:
        hit = stage.hit(body, stage.wearer.hold, brush=BRUSH, seat=seat.name)
        if hit is not None:
            reasons.blocked(hit.owner)
            return None
    return seat, move
