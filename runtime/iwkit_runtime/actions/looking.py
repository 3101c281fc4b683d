"""Looking around, over the floor, at something: what is seen meanwhile stays in mind until the wearer moves on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np

from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import LONG, Key, Screen, at_stand, filled, rest
from iwkit_runtime.actions.operate import moving_link, open_grid
from iwkit_runtime.actions.room import clear
from iwkit_runtime.actions.walking import approach, attempt, turn_by
from iwkit_runtime.body import gait
from iwkit_runtime.body.pose import overlay
from iwkit_runtime.body.posture import SQUAT, Posture
from iwkit_runtime.nav.geometry import wrap
from iwkit_runtime.nav.stance import snapped
from iwkit_runtime.physical.spec import Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import moved

ROUND = 36
"""Frames of a look around: 10 degrees each, less what rounding may add, and one more to close the circle."""
SAMPLE = 3
"""Every so many frames of a look, what is in view is taken note of."""
DOWN = math.radians(18)
"""A look around goes slightly down, where things stand."""
SWEEP = tuple(math.radians(angle) for angle in (-55, 0, 55))
"""Where a scan of the floor looks, from the heading."""
LOW = 0.85
"""To look into something whose middle is lower than this, in metres, the wearer bends down."""
BOWS = (SQUAT, Posture(math.radians(50), 0.08), Posture(math.radians(32), 0.02))
"""Postures in which one looks into what is low, the lowest first."""
FRONTS, AWAY, OVER = 3, 0.75, 0.03
"""Places in front of a thing from which it is looked into, how far from it, and how far above its boards, metres."""
HOLD = 12
"""Frames for which a look at something is held."""
FACING = math.radians(30)
"""The wearer turns towards what it looks at if that is further to the side than this."""


def look_around(act: Act) -> None:
    """Turn once around, looking slightly down."""
    stage, hold = act.stage, act.stage.wearer.hold
    x, y, heading = stage.wearer.stand
    rows = np.array([(x, y, heading + math.tau * n / (ROUND + 1)) for n in range(ROUND + 2)])
    eyes = stage.person.camera(stage.idle())[:3, 3]
    ahead = eyes + 2 * np.array([math.cos(heading), math.sin(heading), -math.tan(DOWN)])
    down = stage.person.looking(stage.person.upright(stage.wearer), _vector(ahead))
    frames = gait.walk(stage.person.body, rows, None if hold is None else np.array(hold.carry))
    for n, (row, body) in enumerate(zip(rows.tolist(), frames, strict=True)):
        looking = body._replace(pose=overlay(body.pose, down.pose, ("neck", "head")))
        if n:
            stage.shoot(looking, Stand(row[0], row[1], wrap(row[2])))
        if n % SAMPLE == 0:
            act.remember(stage.visible(looking))
    stage.wearer = moved(stage.wearer, stand=Stand(x, y, heading), gaze=None)
    stage.glance(None)
    stage.sync()


def look_scan(act: Act) -> None:
    """Sweep the gaze over the floor ahead, from right to left."""
    x, y, heading = act.stage.wearer.stand
    for distance in (1.2, 3.0):
        for angle in SWEEP:
            way = heading + angle
            act.glance((x + distance * math.cos(way), y + distance * math.sin(way), 0.0), frames=6)
            act.remember(act.stage.visible(act.stage.idle()))
    act.stage.glance(None)


def look_at(act: Act) -> None:
    """Go to where the thing is if that is elsewhere in the room, turn to it, look at it and into it."""
    name = act.names[0]
    if act.at.kind(name) in ("object", "fixture") and act.at.goal(name) is not None:
        approach(act, name)
        act.see()
    face(act, focus(act, name))
    gaze_at(act, name)
    for _ in range(HOLD):
        act.stage.shoot(act.stage.idle(), gaze=act.stage.wearer.gaze)
    act.see()
    act.emit("looked_at", object=name)


def face(act: Act, point: Vector) -> None:
    """Turn on the spot to a point that is too far aside to be looked at over the shoulder."""
    x, y, heading = act.stage.wearer.stand
    aside = wrap(math.atan2(point[1] - y, point[0] - x) - heading)
    if abs(aside) > FACING and math.dist((x, y), point[:2]) > 0.2:
        turn_by(act, aside)


def gaze_at(act: Act, name: str) -> None:
    """Rest the gaze on a thing; bend down to look into what is open and low, from before it if need be."""
    point = focus(act, name)
    act.glance(point)
    act.remember(act.stage.visible(act.stage.idle()))
    if name not in act.stage.placed or point[2] >= LOW or _inside(act.stage, name) is None or _bow(act, name, point):
        return
    for stand in islice(_before(act.stage, name), FRONTS):
        if attempt(act, stand, f"to {act.public(name)}") is None:
            act.glance(point)
            if _bow(act, name, point):
                return


def _bow(act: Act, name: str, point: Vector) -> bool:
    """Bend down, look at a point, and stand up again, in the posture in which most of the inside is seen.

    Returns:
        Whether all of it was seen.
    """
    stage = act.stage
    start, best, most = rest(stage), None, 0
    boards = _boards(stage, name)
    for posture in BOWS:
        low = at_stand(stage.person.body, stage.wearer.stand, posture)
        key = Key(posture, stage.person.looking(low, point))
        if stage.wearer.hold is not None:
            key = key.arm("right", start.body)
        there = list(filled(stage.person.body, stage.wearer.stand, start, key, LONG))
        seen = _seen(stage, key, boards)
        if seen > most and not any(Screen(stage.wearer.hold).hit(stage, body) for body in there):
            best, most = (key, there), seen
    if best is None:
        return False
    key, there = best
    for body in (*there, *reversed(there[:-1]), start.body):
        stage.shoot(body, gaze=point)
    act.remember(stage.visible(key.body))
    return most == len(boards)


def _before(stage: Stage, name: str) -> Iterator[Stand]:
    """Places right in front of a thing from which to look into it."""
    placed = stage.placed[name]
    x, y, _ = stage.centre(name).tolist()
    front = placed.yaw - math.pi / 2
    away = placed.asset.size[1] / 2 + AWAY
    nominal = (x + away * math.cos(front), y + away * math.sin(front))
    found = snapped(open_grid(stage), nominal, (x, y), stage.wearer.stand[:2])
    yield from (Stand(*s[:3]) for s in found if clear(stage, Stand(*s[:3])))


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


def _seen(stage: Stage, key: Key, points: list[Vector]) -> int:
    """To how many points the eyes have a free line."""
    eye = stage.person.camera(key.body)[:3, 3]
    _, along = stage.collision.rays(eye, points)
    return int((along >= 1 - 1e-3).sum())


def focus(act: Act, name: str) -> Vector:
    """The point of a thing that one looks at: the inside of what is open, the top of what things stand on, the middle
    of anything else."""
    stage = act.stage
    if name not in stage.placed:
        x, y = act.at.point(name)
        return x, y, 1.2
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
    return _vector(root.point((0, 0, high / 2)))


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
