"""Where a thing can be put: free places on surfaces and on the boards of interiors (B.3.1, PHY-8)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, product
from typing import NamedTuple

import numpy as np

from iwkit.floorplan import SPAN, stance
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.crowding import Crowd
from iwkit_runtime.physical.kinematics import Frame, frame, link_frames
from iwkit_runtime.physical.placer import APART, RASTER, headroom, regions_for
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.spec import Asset, Floats, Region, Vector
from iwkit_runtime.physical.stage import Stage

GAP = 0.003
"""Metres above its support at which a thing is let go."""
EDGE = 0.02
"""Metres that a thing keeps from the edge of what it is put on."""
EACH = 4
"""Free places that are tried in one region."""
APART_TRIES = 0.10
"""Metres between the places that are tried."""
TURNS = tuple(math.radians(angle) for angle in (0, 90, 45, -45))
"""Turns from facing the wearer, or from along an edge, in which it is asked whether a place is free, where too few were
found in the turns before."""
DEEP = 1.0
"""What is deeper than this share of its width is a bin: things are let go below its rim."""
OVER = 0.5
"""Metres that must be free above it."""
RIMS = (1.0, 0.7)
"""Shares of the way up at which they are."""
EPSILON = 1e-6
UPRIGHT = 0.99
"""Cosine of how far a thing that stands may lean."""
FLOOR_RASTER = 0.1
FLOOR_REACH = 0.8
"""How far from a point free floor is looked for, metres."""


class Spot(NamedTuple):
    """A free place: the middle (3,) of the underside of what goes there, and the turn on the plan in which it was found
    free; `inside` of what it is, if it is shut in; `back`: it was there at the handoff. `board` is the turn on the plan
    of what is below, and `room` how far it reaches from the place to the left, the right, ahead and back; None where it
    has no end."""

    x: float
    y: float
    z: float
    yaw: float = 0.0
    inside: str = ""
    back: bool = False
    board: float = 0.0
    room: tuple[float, float, float, float] | None = None

    def bears(self, asset: Asset, yaw: float) -> bool:
        """Whether a thing that is turned so doesn't reach beyond what is below."""
        if self.room is None:
            return True
        wide, deep = _half(asset, yaw - self.board)
        return bool(wide <= min(self.room[:2]) + EPSILON and deep <= min(self.room[2:]) + EPSILON)


def spots(act: Act, name: str, support: str, kind: str) -> Iterator[Spot]:
    """Free places for a thing on (`surface`) or in (`interior`) another one: by the spot asked for; else where it was
    at the handoff, if that was there; then the nearest to the wearer in each region."""
    yield from _back(act, name, support, kind)
    stage, asset = act.stage, act.stage.placed[support].asset
    high = stage.placed[name].asset.size[2]
    regions = [r for r in _regions(act, regions_for(asset, kind)) if headroom(asset, r) >= high + GAP]
    found = [_in_region(act, name, support, region, kind) for region in regions]
    yield from chain(*_dealt(found))


def thrown(act: Act, name: str, container: str) -> Iterator[Spot]:
    """Places just below the rim of what is open at the top and deeper than wide, such as a bin: no hand goes down to
    its bottom, what is let go there falls in."""
    stage, asset = act.stage, act.stage.placed[container].asset
    high = stage.placed[name].asset.size[2]
    for region in _regions(act, regions_for(asset, "interior")):
        top = region.centre[2] + region.size[2] / 2
        if region.link != asset.links[0].name or region.size[2] < DEEP * max(region.size[:2]) or high > region.size[2]:
            continue
        over = stage.collision.frames(container)[region.link].point((*region.centre[:2], top))
        _, share = stage.collision.rays(over, over[None] + np.array([0.0, 0.0, OVER]))
        if share[0] <= 1.0:
            continue
        for spot in _in_region(act, name, container, region, "interior"):
            fall = region.size[2] - high
            yield from (spot._replace(z=spot.z + share * fall) for share in RIMS)


def _dealt(rows: Sequence[Iterator[Spot]]) -> Iterator[Iterator[Spot]]:
    """Two of each row in turn, until all are empty."""
    for _ in range(0, EACH, 2):
        yield from (islice(row, 2) for row in rows)


def _in_region(act: Act, name: str, support: str, region: Region, kind: str) -> Iterator[Spot]:
    """Free places in one region, the nearest first."""
    stage = act.stage
    here, facing = _from(act, support)
    at, asset = stage.collision.frames(support)[region.link], stage.placed[name].asset
    board = math.atan2(at.turn[1, 0], at.turn[0, 0])
    crowd = Crowd(stage, name, at, region, GAP, frozenset((support, *stage.statics)))
    taken: list[Floats] = []
    square = board + round((facing - board) / (math.pi / 2)) * (math.pi / 2)
    turns = facing, square if abs(square - facing) > EPSILON else facing
    for edge, yaw in product((EDGE, 0.0), dict.fromkeys(turned + turn for turn in TURNS for turned in turns)):
        room = np.array(region.size[:2]) / 2 - _half(asset, yaw - board)
        if (room < 0).any() or len(taken) >= EACH:
            continue
        roomy = np.where(room > edge, room - edge, room)
        bottom = region.centre[2] - region.size[2] / 2
        middle = np.array(region.centre[:2])
        asked = act.command.spot
        start = _asked(act, support, region, asked) if asked else at.local((*here, float(at.at[2])))[:2]
        for spot in crowd.thinned(_nearest(start, middle, roomy), yaw):
            point = at.point((*spot, bottom))
            if any(float(np.hypot(*(point - other)[:2])) < APART_TRIES for other in taken):
                continue
            if not free(stage, name, support, point, yaw):
                crowd.refused += 1
                continue
            taken.append(point)
            x, y, z = point.tolist()
            low, high = middle - np.array(region.size[:2]) / 2, middle + np.array(region.size[:2]) / 2
            margins = (*(spot - low).tolist(), *(high - spot).tolist())
            reach = (margins[0], margins[2], margins[1], margins[3])
            yield Spot(x, y, z, yaw, support if kind == "interior" else "", False, board, reach)
            if len(taken) >= EACH:
                break


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
    yaw = _from(act, support)[1]
    if was.turn[2, 2] > UPRIGHT and free(stage, name, support, point, yaw):
        x, y, z = point.tolist()
        yield Spot(x, y, z, yaw, support if kind == "interior" else "", True)


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


def free(stage: Stage, name: str, support: str, point: Floats, yaw: float) -> bool:
    """Whether a thing can stand there, 2 cm from others, in nothing. What is below a thin support is no matter; a sheet
    that lies on it, thinner than `GAP`, is."""
    x, y, level = point.tolist()
    poses = stage.carried(name, upright((x, y, level + GAP), yaw))
    hits = stage.collision.hits(poses=poses, margin=APART, ignore=stage.floors)
    fine = (support, *stage.statics)
    return not any(hit.depth > 0 or (hit.owner not in fine and hit.point[2] > level) for hit in hits)


def _half(asset: Asset, turn: float) -> Floats:
    """Half the width and depth (2,) of the box around a thing that is turned on the plan."""
    c, s = math.cos(turn), math.sin(turn)
    return np.asarray(np.abs(_outline(asset) @ np.array([[c, s], [-s, c]])).max(0))


@lru_cache(maxsize=256)
def _outline(asset: Asset) -> Floats:
    """All corners of an asset on the plan (n, 2), from the middle of its footprint."""
    return np.concatenate([piece.vertices[:, :2] for link in asset.links for piece in link.pieces])


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
        if open_floor and free(stage, name, "", np.array([x, y, 0.0]), 0.0):
            yield Spot(x, y, 0.0)
