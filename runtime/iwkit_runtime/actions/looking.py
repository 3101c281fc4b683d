"""Looking around, over the floor, at something: what is seen meanwhile stays in mind until the wearer moves on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np

from iwkit.compile import CompiledTask
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import LONG, Key, Move, Screen, at_stand, filled, rest
from iwkit_runtime.actions.operate import moving_link, open_grid
from iwkit_runtime.actions.pacing import turn_by, where_there_is_room
from iwkit_runtime.actions.passing import Step, Stuck, passing
from iwkit_runtime.actions.reading import show
from iwkit_runtime.actions.room import clear
from iwkit_runtime.actions.walking import approach, attempt
from iwkit_runtime.body import gait
from iwkit_runtime.body.pose import BodyPose
from iwkit_runtime.body.posture import SQUAT, Posture
from iwkit_runtime.nav.geometry import wrap
from iwkit_runtime.nav.stance import snapped
from iwkit_runtime.physical.sight import in_picture
from iwkit_runtime.physical.spec import Floats, Label, Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import moved, turned_head

ROUND = 36
"""Frames of a look around: 10 degrees each, less what rounding may add, and one more to close the circle."""
SAMPLE = 3
"""Every so many frames of a look, what is in view is taken note of."""
DOWN = math.radians(18)
"""A look around goes slightly down, where things stand."""
FEET, INTO = 1.0, math.radians(25)
"""Metres within which a look around goes down to what would be below the picture; so far below the middle of the
picture its middle then is."""
FULL, NOD, LOWEST = math.radians(15), math.radians(50), math.radians(50)
"""How far from facing such a thing one looks down to it, begins to do so, and how far down one looks at most."""
SWEEP = tuple(math.radians(angle) for angle in (-55, 0, 55))
"""Where a scan of the floor looks, from the heading."""
AROUND = tuple(math.radians(angle) for angle in (-100, -50, 0, 50, 100))
"""The same for who looks around while sitting."""
LOW = 0.85
"""To look into something whose middle is lower than this, in metres, the wearer bends down."""
BOWS = (SQUAT, Posture(math.radians(50), 0.08), Posture(math.radians(32), 0.02))
"""Postures in which one looks into what is low, the lowest first."""
AWAY, FRONTS, OVER = (0.75, 1.0, 1.2), 3, 0.03
"""How far before a thing it is looked into, the knees clear of its leaf at the latest, and above its boards, metres."""
AJAR = 0.3
"""A joint that is further open than this, radians or metres, lets one look in."""
HOLD = 12
"""Frames for which a look at something is held."""
NEAR_LEAN, SLIGHT = Posture(math.radians(30), 0.0), Posture(math.radians(15), 0.0)
CLOSER = ((1.25, ()), (0.85, (NEAR_LEAN, SLIGHT)), (-math.inf, (BOWS[1], NEAR_LEAN, SLIGHT)))
"""To read what is no higher than so many metres, the wearer bends towards it: the first of these postures that is free
and loses nothing out of the picture. Counters are the middle row; tables, benches and beds the last."""
FACING = math.radians(30)
"""The wearer turns towards what it looks at if that is further to the side than this."""


def look_around(act: Act) -> None:
    """Turn once around, looking slightly down, and further down at what stands close by; with the arms drawn in where
    they would run into something. Who sits turns the head as far as it goes.

    Raises:
        RefusedError: TRAJECTORY_COLLISION; there is no room to turn.
    """
    stage = act.stage
    if stage.wearer.seat is not None:
        _sweep(act, 2.0, AROUND)
        stage.glance(None, 6)
        return
    steps = where_there_is_room(act, partial(_around, act), "there")
    x, y, heading = stage.wearer.stand
    for at, body in steps:
        stage.shoot(body, at._replace(heading=wrap(at.heading)))
        if len(stage.film) % SAMPLE == 0:
            act.remember(stage.visible(body))
    stage.wearer = moved(stage.wearer, stand=Stand(x, y, heading), gaze=None)
    stage.glance(None)
    stage.sync()


def _around(act: Act) -> list[Step] | Stuck:
    """The frames of turning once around where the wearer stands, after the first one."""
    stage, hold = act.stage, act.stage.wearer.hold
    x, y, heading = stage.wearer.stand
    rows = np.array([(x, y, heading + math.tau * n / (ROUND + 1)) for n in range(ROUND + 2)])
    gaited = gait.walk(stage.person.body, rows, None if hold is None else np.array(hold.carry))
    tilts = _tilts(act, rows[1:, 2])
    bodies = [
        turned_head(body, _looking_down(stage, tilt), ("neck", "head"))
        for body, tilt in zip(gaited[1:], tilts, strict=True)
    ]
    return passing(stage, [Step(Stand(*row), body) for row, body in zip(rows[1:].tolist(), bodies, strict=True)])


def _looking_down(stage: Stage, tilt: float) -> BodyPose:
    """The wearer as it stands, looking ahead and down by an angle."""
    heading = stage.wearer.stand.heading
    eyes = stage.person.camera(stage.idle())[:3, 3]
    ahead = eyes + 2 * np.array([math.cos(heading), math.sin(heading), -math.tan(tilt)])
    return stage.person.looking(stage.person.upright(stage.wearer), _vector(ahead))


def _tilts(act: Act, headings: Floats) -> list[float]:
    """How far down one looks in each frame of a look around (n,): `DOWN`, but a bit more towards each thing at one's
    feet that would be below the picture."""
    stage, view = act.stage, act.view()
    eyes = stage.person.camera(stage.idle())[:3, 3]
    tilts = np.full(len(headings), DOWN)
    for name, placed in stage.placed.items():
        way = stage.centre(name) - eyes
        far = float(np.hypot(*way[:2]))
        needed = math.atan2(-float(way[2]), far) - INTO
        if placed.kind == "door" or name in view or far > FEET or needed <= DOWN:
            continue
        off = np.abs(np.remainder(headings - math.atan2(way[1], way[0]) + math.pi, math.tau) - math.pi)
        share = np.clip((NOD - off) / (NOD - FULL), 0, 1)
        tilts = np.maximum(tilts, DOWN + (min(needed, LOWEST) - DOWN) * share)
    return tilts.tolist()


def look_scan(act: Act) -> None:
    """Sweep the gaze over the floor ahead, from right to left."""
    for distance in (1.2, 3.0):
        _sweep(act, distance, SWEEP)
    act.stage.glance(None)


def _sweep(act: Act, distance: float, angles: Sequence[float]) -> None:
    """Look at points on the floor at these angles from the heading."""
    x, y, heading = act.stage.wearer.stand
    for angle in angles:
        way = heading + angle
        act.glance((x + distance * math.cos(way), y + distance * math.sin(way), 0.0), frames=6)
        act.remember(act.stage.visible(act.stage.idle()))


def look_at(act: Act) -> None:
    """Go to where the thing is if that is elsewhere in the room, turn to it, look at it and into it."""
    name = act.names[0]
    sits = act.stage.wearer.seat is not None
    if act.at.kind(name) in ("object", "fixture") and act.at.goal(name) is not None and not sits:
        approach(act, name)
    face(act, focus(act, name))
    if not (gaze_at(act, name, HOLD) or show(act, name, HOLD) or _closer(act, name)):
        for _ in range(HOLD):
            act.stage.shoot(act.stage.idle(), gaze=act.stage.wearer.gaze)
    act.see()
    act.emit("looked_at", object=name)


def face(act: Act, point: Vector) -> None:
    """Turn on the spot to a point that is too far aside to be looked at over the shoulder."""
    x, y, heading = act.stage.wearer.stand
    aside = wrap(math.atan2(point[1] - y, point[0] - x) - heading)
    if act.stage.wearer.seat is None and abs(aside) > FACING and math.dist((x, y), point[:2]) > 0.2:
        turn_by(act, aside)


def gaze_at(act: Act, name: str, hold: int = 1) -> bool:
    """Rest the gaze on a thing; bend down to look for `hold` frames into what is open and low, from before it if need
    be. Whether the wearer has bent down."""
    point = focus(act, name)
    act.glance(point)
    act.take_in(name, act.stage.idle())
    if act.stage.wearer.seat is not None or name not in act.stage.placed:
        return False
    if _inside(act.stage, name) is None:
        return False
    if point[2] >= LOW:
        _face_inside(act, name, point)
        return False
    bent, whole = _bow(act, name, point, hold)
    for stand in [] if whole else _before(act.stage, name):
        if attempt(act, stand, f"to {act.public(name)}", name=name) is None:
            act.glance(point)
            again, whole = _bow(act, name, point, hold)
            bent = bent or again
            if whole:
                break
    return bent


def look_over(act: Act, name: str, point: Vector) -> None:
    """Rest the gaze on a point of a thing, after it has passed over what of the thing is not in the picture then: its
    top and its open inside from end to end, unless the wearer hasn't moved since it did so."""
    stage = act.stage
    came = act.lost_at is not None
    act.glance(point)
    if not came or name not in stage.placed or stage.wearer.seat is not None:
        return
    act.take_in(name, stage.idle())
    missed = [end for end in _ends(stage, name) if not in_picture(stage.person.camera(stage.idle()), end)]
    while missed:
        act.glance(missed[0])
        act.take_in(name, stage.idle())
        camera = stage.person.camera(stage.idle())
        missed = [end for end in missed[1:] if not in_picture(camera, end)]
        if not missed:
            act.glance(point)


def _ends(stage: Stage, name: str) -> list[Vector]:
    """Where things can be near both ends of each board and of the top of a thing, if they aren't shut in."""
    placed = stage.placed[name]
    joints = stage.engine.joints()
    shut = any(link.joint and joints[name, link.name] <= link.joint.low + AJAR for link in placed.asset.links)
    found = []
    for region in placed.asset.regions:
        if region.kind == "surface" or not shut:
            at = stage.collision.frames(name)[region.link]
            x, y, z = region.centre
            low = z - region.size[2] / 2 + OVER
            found += [_vector(at.point((x + side * region.size[0], y, low))) for side in (-0.4, 0.4)]
    return found


def _face_inside(act: Act, name: str, point: Vector) -> None:
    """Go before what is open and look into it, if nothing of its inside is seen from where the wearer has opened it."""
    stage = act.stage
    boards = _boards(stage, name)
    for stand in [] if _seen(stage, stage.idle(), boards) else _before(stage, name):
        if attempt(act, stand, f"to {act.public(name)}", name=name) is None:
            act.glance(point)
            act.take_in(name, stage.idle())
            if _seen(stage, stage.idle(), boards):
                return


def _bow(act: Act, name: str, point: Vector, hold: int) -> tuple[bool, bool]:
    """Bend down, look at a point, and stand up again, in the posture in which most of the inside is seen.

    Returns:
        Whether the wearer did so, and whether all of the inside was seen.
    """
    stage = act.stage
    best, most = None, 0
    boards = _boards(stage, name)
    for bend in _bends(act, BOWS, point):
        seen = _seen(stage, bend[-1], boards)
        if seen > most:
            best, most = bend, seen
    if best is not None:
        _film(act, name, best, point, hold)
    return best is not None, best is not None and most == len(boards)


def _closer(act: Act, name: str) -> bool:
    """Bend towards what one looks at, hold, and come up again; whether there is a posture for it.

    Nothing on it that is in the picture may get out of it, in part or behind something.
    """
    stage, point = act.stage, focus(act, name)
    postures = next(row for height, row in CLOSER if point[2] >= height)
    held = stage.wearer.hold is not None and stage.wearer.hold.name == name
    if name not in stage.placed or stage.wearer.seat is not None or held or not postures:
        return False
    there = [thing for thing, place in act.at.state.places.items() if place.at == name]
    names = [name] if stage.placed[name].kind == "object" else there
    before = stage.sight.look(stage.person.camera(stage.idle()), names)
    for bend in _bends(act, postures, point):
        now = stage.sight.look(stage.person.camera(bend[-1]), names)
        if all(now[n].visible and now[n].rays >= before[n].rays for n in names if before[n].visible):
            _film(act, name, bend, point, HOLD)
            return True
    return False


def _bends(act: Act, postures: Iterable[Posture], point: Vector) -> Iterator[Move]:
    """The frames of bending down into each of the postures in which nothing is in the way, the eyes on a point. Arms
    are drawn in where they would be."""
    stage = act.stage
    start, screen = rest(stage), Screen(stage.wearer.hold)
    for posture in postures if stage.wearer.seat is None else ():
        low = at_stand(stage.person.body, stage.wearer.stand, posture)
        key = Key(posture, stage.person.looking(low, point))
        if stage.wearer.hold is not None:
            key = key.arm("right", start.body)
        for body in (key.body, stage.person.drawn(key.body, stage.wearer.hold, key.posture)):
            there = list(filled(stage.person.body, stage.wearer.stand, start, Key(posture, body), LONG))
            if all(screen.hit(stage, frame) is None for frame in there):
                yield there
                break


def _film(act: Act, name: str, bend: Move, point: Vector, hold: int) -> None:
    """Bend down, stay for some frames, and come up again."""
    stage = act.stage
    for body in (*bend, *[bend[-1]] * (hold - 1), *reversed(bend[:-1]), stage.idle()):
        stage.shoot(body, gaze=point)
    act.take_in(name, bend[-1])


def _before(stage: Stage, name: str) -> Iterator[Stand]:
    """Places right in front of a thing from which to look into it, the nearest first."""
    placed = stage.placed[name]
    x, y, _ = stage.centre(name).tolist()
    front = placed.yaw - math.pi / 2
    for away in AWAY:
        far = placed.asset.size[1] / 2 + away
        nominal = (x + far * math.cos(front), y + far * math.sin(front))
        found = snapped(open_grid(stage), nominal, (x, y), stage.wearer.stand[:2])
        stands = (Stand(*s[:3]) for s in found)
        yield from islice((stand for stand in stands if clear(stage, stand)), FRONTS)


def _boards(stage: Stage, name: str) -> list[Vector]:
    """The middles of the boards inside a thing."""
    placed = stage.placed[name]
    root = placed.asset.links[0].name
    at = stage.collision.frames(name)[root]
    inside = [r for r in placed.asset.regions if r.kind == "interior" and r.link == root]
    return [
        _vector(at.point((r.centre[0], r.centre[1] - 0.2 * r.size[1], r.centre[2] - r.size[2] / 2 + OVER)))
        for r in inside
    ]


def _seen(stage: Stage, body: BodyPose, points: list[Vector]) -> int:
    """To how many points the eyes have a line that is free, or free but for an object: that is what is looked for."""
    owners, along = stage.collision.rays(stage.person.camera(body)[:3, 3], points)
    return sum(
        way >= 1 - 1e-3 or (owner in stage.placed and stage.placed[owner].kind == "object")
        for owner, way in zip(owners, along.tolist(), strict=True)
    )


def first_gaze(stage: Stage, task: CompiledTask) -> Vector | None:
    """Where the wearer looks at reset: at what the pack says it faces, else at what it stands before."""
    start = task.pack.physical.wearer
    name = start.facing or start.at
    return middle(stage, name) if name in stage.placed else None


def focus(act: Act, name: str) -> Vector:
    """The point of a thing that one looks at, as `middle`; of a room or a door without a leaf, at eye level."""
    if name not in act.stage.placed:
        x, y = act.at.point(name)
        return x, y, 1.2
    return middle(act.stage, name)


def middle(stage: Stage, name: str) -> Vector:
    """The point of a thing that one looks at: the inside of what is open, the top of what things stand on, what a task
    has written on other furniture or a door, the middle of anything else."""
    inside = _inside(stage, name)
    if inside is not None:
        return inside
    placed = stage.placed[name]
    root = stage.collision.frames(name)[placed.asset.links[0].name]
    _wide, _deep, high = placed.asset.size
    closed = moving_link(placed) is not None and placed.kind == "fixture"
    if placed.kind == "fixture" and not closed and any(r.kind == "surface" for r in placed.asset.regions):
        region = next(r for r in placed.asset.regions if r.kind == "surface")
        x, y, z = region.centre
        return _vector(root.point((x, y, z - region.size[2] / 2)))
    return _writing(stage, name) or _vector(root.point((0, 0, high / 2)))


def _writing(stage: Stage, name: str) -> Vector | None:
    """The middle of what a task has written on furniture or a door, on the side that looks most towards the eyes."""
    placed, frames = stage.placed[name], stage.collision.frames(name)
    given = [label for label in placed.asset.labels if label.given and placed.kind != "object"]
    if not given:
        return None
    eyes = stage.person.camera(stage.idle())[:3, 3]

    def towards(label: Label) -> float:
        at = frames[label.link]
        return float(at.turn @ np.array(label.normal) @ (eyes - at.point(label.centre)))

    label = max(given, key=towards)
    return _vector(frames[label.link].point(label.centre))


def _inside(stage: Stage, name: str) -> Vector | None:
    """The middle of the interiors of an open thing."""
    placed = stage.placed[name]
    link = moving_link(placed)
    regions = [r for r in placed.asset.regions if r.kind == "interior" and r.link == placed.asset.links[0].name]
    if link is None or link.joint is None or not regions:
        return None
    joint = link.joint
    if stage.engine.joints()[name, link.name] < (joint.low + joint.high) / 2:
        return None
    root = stage.collision.frames(name)[placed.asset.links[0].name]
    return _vector(root.point(np.mean([region.centre for region in regions], axis=0)))


def _vector(values: np.ndarray) -> Vector:
    x, y, z = np.asarray(values).tolist()
    return x, y, z
