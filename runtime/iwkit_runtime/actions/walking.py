"""Going somewhere: routes through doors, every pose of the way screened (ACT-2 to ACT-5, PHY-4)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from iwkit.floorplan import rooms_at
from iwkit.world.layout import Goal
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import BRUSH
from iwkit_runtime.actions.operate import Swing, closed_leaves, execute_swing, open_grid, plan_swing
from iwkit_runtime.actions.passing import EASE, Step, Stuck, passing
from iwkit_runtime.actions.refusals import NoWayError, RefusedError
from iwkit_runtime.actions.room import clear, way_out
from iwkit_runtime.body import gait, rotations
from iwkit_runtime.body.pose import BodyPose, blend, joint_slice
from iwkit_runtime.nav.astar import Costs
from iwkit_runtime.nav.doors import OpenLeg, WalkLeg, find_blocker, plan_route
from iwkit_runtime.nav.geometry import Floats, Point, wrap
from iwkit_runtime.nav.grid import Grid
from iwkit_runtime.nav.route import Failure
from iwkit_runtime.nav.stance import Stance, snapped
from iwkit_runtime.nav.walk import STEP, Pose, walk
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import moved, turned_head

COSTS = Costs(safe=0.5)
"""The paper's 0.35 m from obstacles suits a body without arms: with them hanging, ours is 0.75 m wide."""
REPAIRS = 3
"""How often a way is planned again after a frame of the walk along it has run into something."""
TURN = math.radians(9.9)
"""Turn a frame on the spot."""
TRIES = 6
"""Places tried for the end of a way before the first reason to fail is given."""
HANDLE_TRIES = 24
"""Stances tried at a door's handle."""
SIGHT, SIDEWAYS, DOWNWARDS = 1.5, math.radians(45), math.radians(14)
"""A walker looks at its way so many metres ahead, with its head turned so far to the side at most, and so far down."""
NECK = ("neck", "head")
BACK = (1, 3)
"""Steps that the wearer goes straight back, at least, where it doesn't get away: feet and arms swing in a turn."""
RING = (0.15, 0.3, 0.45, 0.6)
"""Metres from the middle of a room at which other places to stop are looked for."""


def approach(act: Act, name: str) -> None:
    """Go where a thing is within reach in the mind's sense: to its fixture, its door, its room."""
    goal = act.at.goal(name)
    if goal is not None:
        go_to(act, goal, name)


def go_to(act: Act, goal: Goal, name: str) -> None:
    """Go to a place of the mind's plan, or to the nearest one where the body fits.

    Raises:
        RefusedError: PATH_BLOCKED or TRAJECTORY_COLLISION, with what is in the way.
    """
    first: RefusedError | None = None
    for stand in islice(_ends(act, goal), TRIES):
        refused = attempt(act, stand, f"to {act.public(name)}")
        if refused is None:
            act.place = goal.at
            return
        first = first or refused
        if refused.code == "PATH_BLOCKED":
            break
    raise first or NoWayError("PATH_BLOCKED", f"to {act.public(name)}", blocker(act, (goal.x, goal.y)))


def attempt(act: Act, end: Stand, whither: str, *, name: str | None = None) -> RefusedError | None:
    """Go somewhere; when that fails, everything is as before and the reason is given. Who goes to another place
    at the same thing (`name`) still has in mind what is there."""
    before, events, room = act.stage.state(), len(act.happenings), act.room
    looked = act.looked
    if name is None or act.at.root(name) != act.place:
        act.leave()
    try:
        travel(act, end, whither)
    except RefusedError as refused:
        act.stage.restore(before)
        del act.happenings[events:]
        act.room, act.looked = room, looked
        return refused
    act.arrive(events)
    return None


def _ends(act: Act, goal: Goal) -> Iterator[Stand]:
    """Places to stop: the mind's, then near ones."""
    stage = act.stage
    here = stage.wearer.stand
    if goal.at is None:
        for x, y in [(goal.x, goal.y), *_around((goal.x, goal.y))]:
            heading = math.radians(goal.heading) if goal.heading is not None else math.atan2(y - here.y, x - here.x)
            if clear(stage, Stand(x, y, heading)):
                yield Stand(x, y, heading)
        return
    ahead = math.radians(goal.heading or 0.0)
    contact = (goal.x + 0.45 * math.cos(ahead), goal.y + 0.45 * math.sin(ahead))
    found = snapped(open_grid(stage), (goal.x, goal.y), contact, here[:2], lambda s: clear(stage, Stand(*s[:3])))
    yield from (Stand(s.x, s.y, s.heading) for s in found)


def _around(middle: Point) -> Iterator[Point]:
    for radius in RING:
        for n in range(8):
            yield middle[0] + radius * math.cos(n * math.pi / 4), middle[1] + radius * math.sin(n * math.pi / 4)


def blocker(act: Act, goal: Point) -> str:
    """What is in the way to a place, as the wearer calls it."""
    failure = find_blocker(open_grid(act.stage), act.stage.wearer.stand[:2], goal)
    return "something" if failure.blocker is None else act.public(failure.blocker)


def travel(act: Act, end: Stand, whither: str) -> None:
    """Walk to a place, opening the closed doors on the way; events as they fall due.

    Raises:
        RefusedError: PATH_BLOCKED or TRAJECTORY_COLLISION, with what is in the way.
    """
    stage = act.stage
    grid = stage.grid()
    swings: dict[tuple[str, Stance], Swing] = {}
    tried: dict[str, int] = {}

    def accept(door: str, stance: Stance) -> bool:
        tried[door] = tried.get(door, 0) + 1
        if tried[door] > HANDLE_TRIES:
            return False
        swing = plan_swing(stage, door, Stand(*stance[:3]), opening=True)
        if swing is None or not swing.whole:
            return False
        swings[door, stance] = swing
        return True

    route = plan_route(grid, closed_leaves(stage, grid), stage.wearer.stand[:2], end[:2], accept=accept, costs=COSTS)
    if isinstance(route, Failure):
        raise _failed(act, route, whither)
    ends = [Stand(*leg.stance[:3]) for leg in route.legs if isinstance(leg, OpenLeg)] + [end]
    for leg in route.legs:
        if isinstance(leg, WalkLeg):
            _walk(act, leg.grid, ends.pop(0), whither)
        else:
            execute_swing(act, swings[leg.door, leg.stance])
            act.emit("opened", object=leg.door)


def _failed(act: Act, failure: Failure, whither: str) -> NoWayError:
    by = "something" if failure.blocker is None else act.public(failure.blocker)
    about = (whither, by) if failure.code == "PATH_BLOCKED" else (whither.removeprefix("to "), by)
    return NoWayError(failure.code, *about)


def _walk(act: Act, grid: Grid, end: Stand, whither: str) -> None:
    stage = act.stage
    if end == stage.wearer.stand:
        return
    way = _way(stage, grid, end)
    for least in BACK:
        back = way_out(stage, least=least) if isinstance(way, Failure) else None
        if back:
            stride(act, np.array([stage.wearer.stand, *back]), whither)
            way = _way(stage, grid, end)
    if isinstance(way, Failure):
        raise _failed(act, way, whither)
    _film(act, way)


def _way(stage: Stage, grid: Grid, end: Stand) -> list[Step] | Failure:
    """The frames of a walk to a place, around what they would run into."""

    def fits(x: float, y: float, heading: float) -> bool:
        stand = Stand(x, y, heading)
        return clear(stage, stand, BRUSH) or clear(stage, stand, BRUSH, drawn=True)

    stuck: list[Stuck] = []
    while len(stuck) <= REPAIRS:
        avoid = tuple(at[:2] for at, _ in stuck)
        walked = walk(grid, Pose(*stage.wearer.stand), Pose(*end), fits, COSTS, avoid)
        if isinstance(walked, Failure) and not stuck:
            return walked
        if isinstance(walked, Failure):
            break
        passed = _passed(stage, walked.poses)
        if not isinstance(passed, Stuck):
            return passed
        stuck.append(passed)
    at, owner = stuck[0]
    return Failure("TRAJECTORY_COLLISION", owner, at[:2], at.heading)


def _passed(stage: Stage, rows: Floats) -> list[Step] | Stuck:
    """The frames of a walk along poses (n, 3), the first of them where the wearer stands: looking where it goes, or
    straight ahead where there is no room for the head to turn."""
    hold, before = stage.wearer.hold, stage.idle()
    rows = gait.paced(stage.person.body, rows)
    frames = gait.walk(stage.person.body, rows, None if hold is None else np.array(hold.carry))
    passed: list[Step] | Stuck = []
    for heads in (looking_along(frames, rows), frames):
        steps = []
        for n, (row, gaited) in enumerate(zip(rows.tolist(), heads, strict=True)):
            body = turned_head(gaited, blend(before, gaited, n / EASE)) if n < EASE else gaited
            steps.append(Step(Stand(*row), body))
        passed = passing(stage, steps)
        if not isinstance(passed, Stuck):
            return passed[1:]
    return passed


def looking_along(frames: Sequence[BodyPose], rows: Floats) -> list[BodyPose]:
    """The frames of a walk along poses (n, 3) with the head turned to the way ahead and a little down; at its end it
    looks straight ahead."""
    walked = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(rows[:, :2], axis=0).T))])
    ahead = np.stack([np.interp(walked + SIGHT, walked, rows[:, k]) for k in (0, 1)], -1) - rows[:, :2]
    aside = np.remainder(np.arctan2(ahead[:, 1], ahead[:, 0]) - rows[:, 2] + np.pi, math.tau) - np.pi
    left = (walked[-1] - walked) / SIGHT
    share = np.clip(left, 0, 1) * np.clip((len(rows) - 1 - np.arange(len(rows))) / EASE, 0, 1)
    turn, nod = share * np.clip(aside, -SIDEWAYS, SIDEWAYS) / len(NECK), share * DOWNWARDS / len(NECK)
    turns = rotations.about("y", turn) @ rotations.about("x", nod)
    found = []
    for gaited, turned in zip(frames, turns, strict=True):
        pose = gaited.pose.copy()
        for name in NECK:
            at = joint_slice(name)
            pose[at] = rotations.vector(rotations.matrix(pose[at]) @ turned)
        found.append(gaited._replace(pose=pose))
    return found


def leaves(stage: Stage) -> bool:
    """Whether the wearer gets away from where it stands with what it holds: to where it can turn around, or turning on
    the spot."""
    here = stage.wearer.stand
    for least in (0, *BACK):
        steps = way_out(stage, least=least)
        if steps is None:
            return False
        rows = np.array([here, *(steps or [here._replace(heading=here.heading + TURN)])])
        if not isinstance(_passed(stage, rows), Stuck):
            return True
    return False


def _film(act: Act, steps: list[Step]) -> None:
    stage = act.stage
    stage.wearer = moved(stage.wearer, gaze=None)
    for at, body in steps:
        enter(act, at[:2])
        stage.shoot(body, at)
    stage.sync()


def stride(act: Act, rows: Floats, whither: str) -> None:
    """Film a walk along poses (n, 3), the first of them where the wearer stands.

    Raises:
        RefusedError: TRAJECTORY_COLLISION, with what is in the way.
    """
    passed = _passed(act.stage, rows)
    if isinstance(passed, Stuck):
        raise NoWayError("TRAJECTORY_COLLISION", whither.removeprefix("to "), act.public(passed.owner))
    _film(act, passed)


def enter(act: Act, place: Point) -> None:
    """Report the room when a step leads over its threshold."""
    layout = act.at.layout
    rooms = [layout.rooms[room] for room in rooms_at(layout.scene, place)]
    if rooms and act.room not in rooms:
        act.room = rooms[0]
        act.emit("entered", room=act.room)


def forward(act: Act) -> None:
    """Walk straight ahead by the distance of the command."""
    x, y, heading = act.stage.wearer.stand
    distance = act.command.scalar or 0.0
    steps = max(1, math.ceil(distance / STEP - 1e-9))
    rows = np.array(
        [
            (x + distance * n / steps * math.cos(heading), y + distance * n / steps * math.sin(heading), heading)
            for n in range(steps + 1)
        ]
    )
    if not clear(act.stage, Stand(*rows[-1].tolist())):
        raise NoWayError("PATH_BLOCKED", "ahead", blocker(act, (float(rows[-1][0]), float(rows[-1][1]))))
    events = len(act.happenings)
    act.leave()
    stride(act, rows, "ahead")
    act.place = None
    act.arrive(events)


def turn_by(act: Act, angle: float) -> None:
    """Turn on the spot by an angle in radians, anticlockwise."""
    x, y, heading = act.stage.wearer.stand
    steps = max(1, math.ceil(abs(angle) / TURN - 1e-9))
    rows = np.array([(x, y, heading + angle * n / steps) for n in range(steps + 1)])
    stride(act, rows, "there")
    end = act.stage.wearer.stand
    act.stage.wearer = moved(act.stage.wearer, stand=end._replace(heading=wrap(end.heading)))
