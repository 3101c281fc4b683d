"""Turning over what is held, and things that fall without anyone's doing (spec Table 5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product

import numpy as np

from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import JUMP, BlockedError, Key, Move, Screen, bridge, rest, straight
from iwkit_runtime.actions.pacing import where_there_is_room
from iwkit_runtime.actions.passing import Stuck
from iwkit_runtime.actions.refusals import RefusedError
from iwkit_runtime.actions.spots import GAP
from iwkit_runtime.actions.tools import follow
from iwkit_runtime.body.arms import angles_of
from iwkit_runtime.body.pose import BodyPose
from iwkit_runtime.body.posture import UPRIGHT
from iwkit_runtime.body.reaching import CARRY
from iwkit_runtime.physical.kinematics import Frame, about, frame
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.wearer import Hold, moved

BEFORE_EYES = ((0.42, -0.08, 1.28), (0.40, -0.16, 1.22), (0.48, -0.04, 1.36), (0.45, -0.25, 1.10), (0.30, 0.0, 1.30))
"""Where a thing is turned over, metres: ahead, to the left, above the floor."""
AXES = (0.0, 180.0, 45.0, 225.0, -45.0, 135.0)
"""Axes about which it is turned, degrees to the left of straight ahead; the first two are the roll of the forearm."""
AROUND = (0.0, 40.0, -40.0, 80.0, -80.0)
"""How far it is first turned about the upright, degrees to the left: the forearm rolls further from some of these."""
WAYS_TRIED = 8
"""So many ways that the arm can are tried in one place."""
Way = tuple[float, tuple[float, float, float], float]
"""How far a thing is turned about the upright first, where it is, and the axis (`AROUND`, `BEFORE_EYES`, `AXES`)."""
STEPS = 18
"""Frames of half a turn: 10 degrees each."""
LEAN = math.radians(16)
"""By how much the end of the turn may miss half a turn."""
SHOWN = 8
"""Frames for which the other side is looked at."""
SLIDE = 0.06
"""Metres a frame that a thing slides before it falls."""
WAYS = 16
"""Directions in which an edge is looked for."""
FARTHEST = 2.0
"""How far off an edge is looked for, metres."""
TIPPING = 0.03
"""Metres beyond the edge at which the middle of a thing no longer rests on anything."""
DOWN = 0.12
"""Metres between the heights at which the way down is looked at."""


def flip(act: Act) -> None:
    """Turn what is held over before the eyes; it stays so in the hand, where it can be carried so."""
    stage, name = act.stage, act.names[0]
    hold = stage.wearer.hold
    if hold is None:
        raise RefusedError("OUT_OF_REACH", name)
    riding = stage.engine.riders(name)
    if riding:
        raise RefusedError("TRAJECTORY_COLLISION", act.public(name), act.public(riding[0]))
    able: list[Way] = []
    planned = _plan_flip(stage, hold, product(AROUND, BEFORE_EYES, AXES), able)
    if not able:
        raise RefusedError("OUT_OF_REACH", name)
    if isinstance(planned, Stuck):
        planned = where_there_is_room(act, partial(_plan_flip, stage, hold, tuple(able), []), act.public(name))
    move, carry = planned
    middle = stage.centre(name)
    for n, body in enumerate(move):
        if n % 2 == 0:
            x, y, z = _middle(stage, hold, body).tolist()
            middle = np.array([x, y, z])
        looking = Key(UPRIGHT, body).head(stage.person.looking(body, tuple(middle.tolist()))).body
        stage.shoot(looking if 0 < n < len(move) - 1 else body, gaze=stage.wearer.gaze)
    stage.wearer = moved(stage.wearer, hold=carry)
    stage.sync()
    act.emit("flipped", object=name)


def _plan_flip(stage: Stage, hold: Hold, ways: Iterable[Way], able: list[Way]) -> tuple[Move, Hold] | Stuck:
    """The frames, and how the thing is carried afterwards, from where the wearer stands; what is in the way there. The
    first of the ways that the arm can are added to `able`."""
    blocked_by = hold.name
    start = rest(stage)
    screen = Screen(hold)
    for way in ways:
        found = _turned(stage, hold, start.body, way)
        if found is None:
            continue
        if len(able) == WAYS_TRIED:
            break
        able.append(way)
        turned, over = found
        first, last = Key(UPRIGHT, turned[0]), Key(UPRIGHT, turned[-1])
        try:
            screen.check(stage, *turned)
            there = bridge(stage, start, first, "right", screen)
            shown = [*there, *turned[1:], *[turned[-1]] * SHOWN]
            carried = _carried(stage, hold, turned[-1], over)
            if carried is None:
                back = [*reversed(turned[:-1]), *bridge(stage, first, start, "right", screen)]
                return [*shown, *back], hold
            now = Key(UPRIGHT, stage.person.idle(moved(stage.wearer, hold=carried)))
            return [*shown, *straight(stage, [last, now], [SHOWN], screen)], carried
        except BlockedError as blocked:
            blocked_by = blocked.owner if blocked_by == hold.name else blocked_by
    return Stuck(stage.wearer.stand, blocked_by)


def _turned(stage: Stage, hold: Hold, start: BodyPose, way: Way) -> tuple[Move, Floats] | None:
    """The thing turned by half a turn before the eyes, frame by frame, and how it is turned (3, 3) when that is done
    exactly; None when the arm can't."""
    around, place, axis = math.radians(way[0]), way[1], math.radians(way[2])
    x, y, heading = stage.wearer.stand
    c, s = math.cos(heading), math.sin(heading)
    at = np.array([x + c * place[0] - s * place[1], y + s * place[0] + c * place[1], place[2]])
    level = frame(stage.person.held_pose(stage.person.body.forward(*start), hold)).turn
    turn = about((0, 0, 1), around) @ level
    middle = np.array([0, 0, stage.placed[hold.name].asset.size[2] / 2])
    line = (math.cos(heading + axis), math.sin(heading + axis), 0.0)
    now, near, move = start, angles_of(start.pose, "right"), []
    for n in range(STEPS + 1):
        turned = about(line, math.pi * n / STEPS) @ turn
        found = follow(stage, hold, now, Frame(turned, at - turned @ middle), near)
        if found is None or (n and float(np.abs(found.angles - near).max()) > JUMP):
            return None
        now, near = found.body, found.angles
        move.append(now)
    return (move, turned) if found is not None and found.palm_error <= LEAN else None


def _carried(stage: Stage, hold: Hold, last: BodyPose, turn: Floats) -> Hold | None:
    """The hold with the arm as it carries the thing turned over (3, 3); None where it can't be carried so."""
    x, y, heading = stage.wearer.stand
    c, s = math.cos(heading), math.sin(heading)
    upright = stage.person.upright(stage.wearer)
    near = angles_of(last.pose, "right")
    middle = np.array([0, 0, stage.placed[hold.name].asset.size[2] / 2])
    for place in (CARRY, (0.38, -0.22, 1.05), (0.34, -0.10, 1.18), (0.42, -0.18, 1.20)):
        at = np.array([x + c * place[0] - s * place[1], y + s * place[0] + c * place[1], place[2]])
        found = follow(stage, hold, upright, Frame(turn, at - turn @ middle), near)
        if found is None or found.palm_error > LEAN:
            continue
        turned = Hold(hold.name, hold.grip, hold.offset, tuple(found.body.pose.tolist()))
        if stage.hit(stage.person.upright(moved(stage.wearer, hold=turned)), turned) is None:
            return turned
    return None


def _middle(stage: Stage, hold: Hold, body: BodyPose) -> Floats:
    at = frame(stage.person.held_pose(stage.person.body.forward(*body), hold))
    return at.point((0, 0, stage.placed[hold.name].asset.size[2] / 2))


# --- falling ----------------------------------------------------------------------------------------------------------


def fall(act: Act) -> None:
    """A thing slides off the nearest free edge of what it stands on and falls: nobody's doing, so the wearer stands.

    Raises:
        RefusedError: NO_ROOM, there is no edge with free floor below.
    """
    stage, (name, anchor) = act.stage, act.names
    for beyond, (way, far) in product((0.0, 1.0), list(_edges(stage, name))):
        before = stage.state()
        _slide(stage, name, way, far + beyond * max(stage.placed[name].asset.size))
        stage.engine.release(name)
        stage.settle(stage.idle(), stage.wearer.gaze)
        if stage.relations.at(stage.moment()).on_floor(name):
            act.emit("fell", object=name, from_=anchor)
            act.emit("moved", object=name)
            act.expect = (("on_floor", name),)
            return
        stage.restore(before)
    raise RefusedError("NO_ROOM", name, "the floor")


def _slide(stage: Stage, name: str, way: Floats, far: float) -> None:
    (x, y, z), turn = stage.engine.poses()[name]
    count = max(1, math.ceil(far / SLIDE))
    for n in range(1, count + 1):
        dx, dy = (way * far * n / count).tolist()
        stage.engine.hold(name, ((x + dx, y + dy, z + GAP), turn))
        stage.shoot(stage.idle(), gaze=stage.wearer.gaze)


def _edges(stage: Stage, name: str) -> Iterator[tuple[Floats, float]]:
    """Directions (2,) in which a thing slides off what it is on onto free floor, and how far: the nearest first."""
    middle, found = stage.centre(name), []
    steps = np.arange(0.0, FARTHEST, SLIDE / 2)
    for n in range(WAYS):
        way = np.array([math.cos(math.tau * n / WAYS), math.sin(math.tau * n / WAYS), 0.0])
        points = middle + steps[:, None] * way
        over = next((m for m, point in enumerate(points) if _below(stage, point) in stage.floors), None)
        if over is not None and _free_way(stage, name, way, float(steps[over]) + TIPPING):
            found.append((round(float(steps[over]) + TIPPING, 6), n, way[:2]))
    yield from ((way, far) for far, _, way in sorted(found, key=lambda edge: edge[:2]))


def _below(stage: Stage, point: Floats) -> str | None:
    owners, _ = stage.collision.rays(point, point[None] - np.array([0.0, 0.0, 1.0]))
    return owners[0]


def _free_way(stage: Stage, name: str, way: Floats, far: float) -> bool:
    """Whether a thing meets nothing on its way over the edge and down."""
    at, turn = stage.engine.poses()[name]
    start = np.add(at, (0.0, 0.0, GAP))
    along = [start + way * share for share in np.arange(SLIDE, far, SLIDE)]
    off = start + way * (far + max(stage.placed[name].asset.size))
    down = [np.array([*off[:2], height]) for height in np.arange(GAP, off[2], DOWN)]
    for point in (*along, *down):
        x, y, z = point.tolist()
        pose: Pose = ((x, y, z), turn)
        hits = stage.collision.hits(poses=stage.carried(name, pose), ignore=stage.floors)
        if any(hit.depth > 0 for hit in hits):
            return False
    return True
