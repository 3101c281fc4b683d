"""Going somewhere: routes through doors, every pose of the way screened (ACT-2 to ACT-5, PHY-4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, product

import numpy as np

from iwkit.floorplan import REACH, rooms_at
from iwkit.world.layout import Goal
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import BRUSH
from iwkit_runtime.actions.operate import Swing, closed_leaves, execute_swing, open_grid, plan_swing
from iwkit_runtime.actions.passing import EASE, Step, Stuck, passing
from iwkit_runtime.actions.refusals import NoWayError, RefusedError
from iwkit_runtime.actions.room import BACKWARDS, clear, way_out, ways_out
from iwkit_runtime.body import gait, rotations
from iwkit_runtime.body.pose import BodyPose, blend, joint_slice
from iwkit_runtime.nav.astar import Costs
from iwkit_runtime.nav.doors import OpenLeg, find_blocker, plan_route
from iwkit_runtime.nav.geometry import Floats, Point
from iwkit_runtime.nav.grid import LADDER, Grid
from iwkit_runtime.nav.route import Failure
from iwkit_runtime.nav.stance import Stance, snapped
from iwkit_runtime.nav.walk import Pose, walk
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
HANDLES_MISSED, MISSED = 4, 0.15
"""So many of them to which no walk leads are given up, with what is so near to them, metres."""
BESIDE, ASIDE = (0.3, 0.45, 0.6, 0.8), tuple(math.radians(angle) for angle in (90, -90, 45, -45, 0, 135, -135))
"""From so far beside a place, metres, and in these directions from how one will face there, one may sidle into it."""
OPENING = ("open", "open_door")
"""On the way to open something it is not opened to get there."""
APART = 0.25
"""Metres between places tried for the end of a way: where one fails, its neighbours do."""
AROUND = 8
"""Further places tried on all sides of a thing."""
SIGHT, SIDEWAYS, DOWNWARDS = 1.5, math.radians(45), math.radians(14)
"""A walker looks at its way so many metres ahead, with its head turned so far to the side at most, and so far down."""
NECK = ("neck", "head")
BACK = (1, 3)
"""Steps that the wearer goes straight back, at least, where it doesn't get away: feet and arms swing in a turn."""
OUTS = 6
"""Ways out of where it doesn't get away that are tried."""
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
    for stand in chain(islice(_spaced(_ends(act, goal)), TRIES), islice(_spaced(_sides(act, goal)), AROUND)):
        refused = attempt(act, stand, f"to {act.public(name)}")
        if refused is None:
            act.place = goal.at
            return
        first = first or refused
    raise first or NoWayError("PATH_BLOCKED", f"to {act.public(name)}", blocker(act, (goal.x, goal.y)))


def attempt(act: Act, end: Stand, whither: str, *, name: str | None = None) -> RefusedError | None:
    """Go somewhere; when that fails, everything is as before and the reason is given. Who goes to another place
    at the same thing (`name`) still has in mind what is there."""
    before, events, room = act.stage.state(), len(act.happenings), act.room
    looked = act.looked
    if name is None or act.at.root(name) != act.place:
        act.leave()
    refused: RefusedError | None = None
    for way in (travel, sidle):
        try:
            way(act, end, whither)
        except RefusedError as failed:
            act.stage.restore(before)
            del act.happenings[events:]
            act.room = room
            refused = refused or failed
        else:
            act.arrive(events)
            return None
    act.looked = looked
    return refused


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
    contact = (goal.x + REACH * math.cos(ahead), goal.y + REACH * math.sin(ahead))
    found = snapped(open_grid(stage), (goal.x, goal.y), contact, here[:2], lambda s: clear(stage, Stand(*s[:3])))
    yield from (Stand(s.x, s.y, s.heading) for s in found)


def _spaced(ends: Iterable[Stand]) -> Iterator[Stand]:
    """Those that are not close to one that came before."""
    taken: list[Stand] = []
    for stand in ends:
        if all(math.dist(stand[:2], other[:2]) >= APART for other in taken):
            taken.append(stand)
            yield stand


def _sides(act: Act, goal: Goal) -> Iterator[Stand]:
    """Places on the other sides of a fixture, in the same room: one goes round a table whose front can't be got to."""
    stage, layout = act.stage, act.at.layout
    placed = stage.placed.get(goal.at or "")
    if placed is None or placed.kind != "fixture":
        return
    (x, y, _), (wide, deep, _) = stage.centre(placed.name).tolist(), placed.asset.size
    x0, y0, x1, y1 = layout.scene.rooms[layout.room_ids[goal.room]].box
    for turn in (0.0, math.pi / 2, -math.pi / 2, math.pi):
        out = placed.yaw - math.pi / 2 + turn
        along, across = (wide, deep) if turn in (0.0, math.pi) else (deep, wide)
        for share in (0.0, 0.3, -0.3):
            c, s = math.cos(out), math.sin(out)
            edge = x + across / 2 * c - share * along * s, y + across / 2 * s + share * along * c
            nominal = edge[0] + REACH * c, edge[1] + REACH * s
            grid = open_grid(stage)
            if grid.covers(nominal):
                found = snapped(grid, nominal, edge, stage.wearer.stand[:2], lambda s: clear(stage, Stand(*s[:3])))
                for place in islice(found, 1):
                    # What stands against a wall can't be got at through it.
                    if x0 <= place.x <= x1 and y0 <= place.y <= y1:
                        yield Stand(place.x, place.y, place.heading)


def _around(middle: Point) -> Iterator[Point]:
    for radius in RING:
        for n in range(8):
            yield middle[0] + radius * math.cos(n * math.pi / 4), middle[1] + radius * math.sin(n * math.pi / 4)


def blocker(act: Act, goal: Point) -> str:
    """What is in the way to a place, as the wearer calls it."""
    failure = find_blocker(open_grid(act.stage), act.stage.wearer.stand[:2], goal)
    return "something" if failure.blocker is None else act.public(failure.blocker)


def travel(act: Act, end: Stand, whither: str) -> None:
    """Walk to a place, opening the closed doors on the way; events as they fall due. Where no walk leads to a place
    from which a door could be opened, another one is looked for.

    Raises:
        RefusedError: PATH_BLOCKED or TRAJECTORY_COLLISION, with what is in the way.
    """
    stage, missed, first = act.stage, set[tuple[str, Stance]](), None
    before, events, room = stage.state(), len(act.happenings), act.room
    while len(missed) <= HANDLES_MISSED:
        known = len(missed)
        try:
            _travel(act, end, whither, missed)
            return
        except NoWayError as refused:
            first = first or refused
        if len(missed) == known:
            break
        stage.restore(before)
        del act.happenings[events:]
        act.room = room
    raise first or NoWayError("PATH_BLOCKED", whither, "something")


def sidle(act: Act, end: Stand, whither: str) -> None:
    """Walk to beside a place to which the floor plan leaves no way, or where one can't turn, and go straight on from
    there, facing as one will.

    Raises:
        RefusedError: PATH_BLOCKED or TRAJECTORY_COLLISION, with what is in the way.
    """
    stage, grid = act.stage, open_grid(act.stage)
    first: NoWayError | None = None
    for far, turn in product(BESIDE, ASIDE):
        way = end.heading + turn
        beside = end.x + far * math.cos(way), end.y + far * math.sin(way)
        if not grid.covers(beside) or grid.clearance.flat[grid.cell(beside)] <= LADDER[0]:
            continue
        steps = math.ceil(far / BACKWARDS)
        shares = np.linspace(1.0, 0.0, steps + 1).tolist()
        rows = np.array(
            [(end.x + s * far * math.cos(way), end.y + s * far * math.sin(way), end.heading) for s in shares]
        )
        stands = [Stand(*row) for row in rows.tolist()]
        if not all(clear(stage, at, BRUSH) or clear(stage, at, BRUSH, drawn=True) for at in stands):
            continue
        try:
            travel(act, stands[0], whither)
        except NoWayError as refused:
            first = first or refused
            break
        stride(act, rows, whither)
        return
    raise first or NoWayError("PATH_BLOCKED", whither, "something")


def _travel(act: Act, end: Stand, whither: str, missed: set[tuple[str, Stance]]) -> None:
    """The same with places at doors that are not to be tried; one to which no walk leads is added to them."""
    stage = act.stage
    grid = stage.grid()
    swings: dict[tuple[str, Stance], Swing] = {}
    tried: dict[str, int] = {}

    def accept(door: str, stance: Stance) -> bool:
        if any(door == other and math.dist(stance[:2], at[:2]) < MISSED for other, at in missed):
            return False
        tried[door] = tried.get(door, 0) + 1
        if tried[door] > HANDLE_TRIES:
            return False
        swing = plan_swing(stage, door, Stand(*stance[:3]), opening=True)
        if swing is None or not swing.whole:
            return False
        swings[door, stance] = swing
        return True

    itself = act.names[:1] if act.command.primitive in OPENING else ()
    leaves = [leaf for leaf in closed_leaves(stage, grid) if leaf.name not in itself]
    route = plan_route(grid, leaves, stage.wearer.stand[:2], end[:2], accept=accept, costs=COSTS)
    if isinstance(route, Failure):
        raise _failed(act, route, whither)
    handles = [leg for leg in route.legs if isinstance(leg, OpenLeg)]
    for leg in route.legs:
        if isinstance(leg, OpenLeg):
            execute_swing(act, swings[leg.door, leg.stance])
            act.emit("opened", object=leg.door)
            continue
        handle = handles.pop(0) if handles else None
        try:
            _walk(act, leg.grid, end if handle is None else Stand(*handle.stance[:3]), whither)
        except NoWayError:
            if handle is not None:
                missed.add((handle.door, handle.stance))
            raise


def _failed(act: Act, failure: Failure, whither: str) -> NoWayError:
    by = "something" if failure.blocker is None else act.public(failure.blocker)
    about = (whither, by) if failure.code == "PATH_BLOCKED" else (whither.removeprefix("to "), by)
    return NoWayError(failure.code, *about)


def _walk(act: Act, grid: Grid, end: Stand, whither: str) -> None:
    stage = act.stage
    if end == stage.wearer.stand:
        return
    way = way_to(stage, grid, end)
    for least in BACK:
        back = _outwards(stage, least) if isinstance(way, Failure) else None
        if back:
            stride(act, np.array([stage.wearer.stand, *back]), whither)
            way = way_to(stage, grid, end)
    if isinstance(way, Failure):
        raise _failed(act, way, whither)
    film(act, way)


def _outwards(stage: Stage, least: int) -> list[Stand] | None:
    """The first of the ways out that can be walked; the first one of all, for what is in the way of it, when there is
    none."""
    found = list(islice(ways_out(stage, least=least), OUTS))
    free = (steps for steps in found if not isinstance(walked(stage, np.array([stage.wearer.stand, *steps])), Stuck))
    return next(free, found[0] if found else None)


def way_to(stage: Stage, grid: Grid, end: Stand) -> list[Step] | Failure:
    """The frames of a walk to a place, around what they would run into."""

    def fits(x: float, y: float, heading: float) -> bool:
        stand = Stand(x, y, heading)
        return clear(stage, stand, BRUSH) or clear(stage, stand, BRUSH, drawn=True)

    stuck: list[Stuck] = []
    while len(stuck) <= REPAIRS:
        avoid = tuple(at[:2] for at, _ in stuck)
        found = walk(grid, Pose(*stage.wearer.stand), Pose(*end), fits, COSTS, avoid)
        if isinstance(found, Failure) and not stuck:
            return found
        if isinstance(found, Failure):
            break
        passed = walked(stage, found.poses)
        if not isinstance(passed, Stuck):
            return passed
        stuck.append(passed)
    at, owner = stuck[0]
    return Failure("TRAJECTORY_COLLISION", owner, at[:2], at.heading)


def walked(stage: Stage, rows: Floats) -> list[Step] | Stuck:
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
    metres = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(rows[:, :2], axis=0).T))])
    ahead = np.stack([np.interp(metres + SIGHT, metres, rows[:, k]) for k in (0, 1)], -1) - rows[:, :2]
    aside = np.remainder(np.arctan2(ahead[:, 1], ahead[:, 0]) - rows[:, 2] + np.pi, math.tau) - np.pi
    left = (metres[-1] - metres) / SIGHT
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
        if not isinstance(walked(stage, rows), Stuck):
            return True
    return False


def film(act: Act, steps: Sequence[Step]) -> None:
    """Film the frames of a walk; the rooms that are entered on it are told."""
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
    passed = walked(act.stage, rows)
    if isinstance(passed, Stuck):
        raise NoWayError("TRAJECTORY_COLLISION", whither.removeprefix("to "), act.public(passed.owner))
    film(act, passed)


def enter(act: Act, place: Point) -> None:
    """Report the room when a step leads over its threshold."""
    layout = act.at.layout
    rooms = [layout.rooms[room] for room in rooms_at(layout.scene, place)]
    if rooms and act.room not in rooms:
        act.room = rooms[0]
        act.emit("entered", room=act.room)
