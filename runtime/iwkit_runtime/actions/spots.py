"""Where a thing can be put: free places on surfaces and on the boards of interiors (B.3.1, PHY-8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from iwkit.floorplan import SPAN, stance
from iwkit_runtime.actions.act import Act
from iwkit_runtime.physical.kinematics import Frame, frame, link_frames
from iwkit_runtime.physical.layout import APART, RASTER, headroom, regions_for
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.spec import Floats, Region, Vector
from iwkit_runtime.physical.stage import Stage

GAP = 0.003
"""Metres above its support at which a thing is let go."""
EDGE = 0.02
"""Metres that a thing keeps from the edge of what it is put on."""
EACH = 4
"""Free places that are tried in one region."""
APART_TRIES = 0.10
"""Metres between the places that are tried."""
UPRIGHT = 0.99
"""Cosine of how far a thing that stands may lean."""
FLOOR_RASTER = 0.1
FLOOR_REACH = 0.8
"""How far from a point free floor is looked for, metres."""


class Spot(NamedTuple):
    """A free place: the middle (3,) of the underside of what goes there; `inside` of what it is, if it is shut in;
    `back`: it was there at the handoff."""

    x: float
    y: float
    z: float
    inside: str = ""
    back: bool = False


def spots(act: Act, name: str, support: str, kind: str) -> Iterator[Spot]:
    """Free places for a thing on (`surface`) or in (`interior`) another one: by the spot asked for; else where it was
    at the handoff, if that was there; then the nearest to the wearer, region by region."""
    yield from _back(act, name, support, kind)
    stage, asset = act.stage, act.stage.placed[support].asset
    frames = stage.collision.frames(support)
    asked = act.command.spot
    here, yaw = _from(act, support)
    size = stage.placed[name].asset.size
    for region in _regions(act, regions_for(asset, kind)):
        if headroom(asset, region) < size[2] + GAP:
            continue
        at = frames[region.link]
        turn = yaw - math.atan2(at.turn[1, 0], at.turn[0, 0])
        c, s = abs(math.cos(turn)), abs(math.sin(turn))
        half = np.array([c * size[0] + s * size[1], s * size[0] + c * size[1]]) / 2
        room = np.array(region.size[:2]) / 2 - half
        if (room < 0).any():
            continue
        roomy = np.where(room > EDGE, room - EDGE, room)
        bottom = region.centre[2] - region.size[2] / 2
        middle = np.array(region.centre[:2])
        start = _asked(act, support, region, asked) if asked else at.local((*here, float(at.at[2])))[:2]
        found = (at.point((*spot, bottom)) for spot in _nearest(start, middle, roomy))
        free = (p for p in found if _free(stage, name, support, p, yaw))
        inside = support if kind == "interior" else ""
        yield from (Spot(*p.tolist())._replace(inside=inside) for p in islice(_apart(free), EACH))


def _back(act: Act, name: str, support: str, kind: str) -> Iterator[Spot]:
    """Where a thing was on or in another one at the handoff: who is to put it back puts it back there."""
    stage, then = act.stage, act.handoff
    if then is None or name == then.held or act.command.spot is not None or len(act.command.args) > 2:
        return
    measured = stage.relations.at(then)
    place, posed = measured.places.of(name), measured.places.posed
    if support not in (place.containers or measured.bearers(name)):
        return
    root = stage.placed[support].asset.links[0].name
    link = next((s.link for s in place.rest.supports if s.name == support), root)
    was = posed[name].frames[stage.placed[name].asset.links[0].name]
    point = stage.collision.frames(support)[link].point(posed[support].frames[link].local(was.at))
    if was.turn[2, 2] > UPRIGHT and _free(stage, name, support, point, _from(act, support)[1]):
        yield Spot(*point.tolist())._replace(inside=support if kind == "interior" else "", back=True)


def _apart(points: Iterator[Floats]) -> Iterator[Floats]:
    """Those that are not too near to one before: if that was no good, they won't be either."""
    taken: list[Floats] = []
    for point in points:
        if all(float(np.hypot(*(point - other)[:2])) >= APART_TRIES for other in taken):
            taken.append(point)
            yield point


def _regions(act: Act, regions: list[Region]) -> list[Region]:
    """The regions to be tried: all, or the one that the command names by its number."""
    if len(act.command.args) < 3:
        return regions
    index = act.command.args[2].index
    return regions[index : index + 1] or regions


def _from(act: Act, support: str) -> tuple[tuple[float, float], float]:
    """From where the wearer will put a thing, and the yaw at which the thing's front faces it."""
    x, y, heading = act.stage.wearer.stand
    goal = act.at.goal(support)
    if goal is not None:
        x, y = goal.x, goal.y
        heading = heading if goal.heading is None else math.radians(goal.heading)
    elif support in act.at.layout.fixtures:
        heading = math.radians(stance(act.at.fixture(support)).heading)
    return (x, y), heading - math.pi / 2


def _asked(act: Act, support: str, region: Region, spot: tuple[float, float]) -> Floats:
    """The point that u:v names, in the region's frame: as one faces the side from which the fixture is used."""
    across, along = SPAN / 2 * spot[0], SPAN * (spot[1] - 0.5)
    turn = 0.0
    if support in act.at.layout.fixtures:
        fixture = act.at.fixture(support)
        turn = math.radians(stance(fixture).heading - (fixture.facing + 180))
    c, s = round(math.cos(turn)), round(math.sin(turn))
    offset = np.array([c * across - s * along, s * across + c * along])
    return np.asarray(region.centre[:2] + offset * region.size[:2])


def _nearest(start: Floats, middle: Floats, room: Floats) -> Iterator[Floats]:
    """The point itself, moved to within `room` of the middle, then a raster around it, the nearest first."""
    first = np.clip(start, middle - room, middle + room)
    ticks = [
        np.linspace(m - r, m + r, max(1, math.ceil(2 * r / RASTER)) + 1) for m, r in zip(middle, room, strict=True)
    ]
    raster = np.array([(x, y) for x in ticks[0] for y in ticks[1]])
    away = np.round(np.hypot(*(raster - first).T), 6)
    yield first
    yield from raster[np.argsort(away, kind="stable")]


def _free(stage: Stage, name: str, support: str, point: Floats, yaw: float) -> bool:
    """Whether a thing can stand there, 2 cm from others, in nothing."""
    poses = stage.carried(name, upright((point[0], point[1], point[2] + GAP), yaw))
    hits = stage.collision.hits(poses=poses, margin=APART, ignore=stage.floors)
    return not any(hit.depth > 0 or hit.owner not in (support, *stage.statics) for hit in hits)


def shuts(stage: Stage, container: str, name: str, pose: Pose) -> bool:
    """Whether the doors of a container shut when a thing is at a pose in it."""
    placed = stage.placed[container]
    root = stage.collision.frames(container)[placed.asset.links[0].name].inverse().then(frame(pose))
    links = stage.placed[name].asset.links
    points = np.concatenate([root.point(piece.vertices) for link in links for piece in link.pieces])
    low, high = points.min(0), points.max(0)
    shut = link_frames(placed.asset, Frame(np.eye(3), np.zeros(3)), {k.name: 0.0 for k in placed.asset.links})
    for link in placed.asset.links:
        for piece in link.pieces if link.joint is not None and link.joint.kind == "hinge" else ():
            leaf = shut[link.name].point(piece.vertices)
            if (leaf.min(0) < high).all() and (leaf.max(0) > low).all():
                return False
    return True


def upright(position: tuple[float, float, float], yaw: float) -> Pose:
    """The pose of a thing that stands upright."""
    x, y, z = (float(v) for v in position)
    return (x, y, z), (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))


def floor_spots(act: Act, name: str, middle: Vector) -> Iterator[Spot]:
    """Free places on the floor, the nearest to a point first."""
    stage = act.stage
    count = round(FLOOR_REACH / FLOOR_RASTER)
    steps = [(i * FLOOR_RASTER, j * FLOOR_RASTER) for i in range(-count, count + 1) for j in range(-count, count + 1)]
    grid = stage.grid()
    for dx, dy in sorted(steps, key=lambda step: (round(math.hypot(*step), 6), step)):
        x, y = middle[0] + dx, middle[1] + dy
        open_floor = grid.covers((x, y)) and not grid.blocked.flat[grid.cell((x, y))]
        if open_floor and _free(stage, name, "", np.array([x, y, 0.0]), 0.0):
            yield Spot(x, y, 0.0)
