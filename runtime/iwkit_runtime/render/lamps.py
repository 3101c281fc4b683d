"""Lamps that are switched on: where their light comes from, and walls and floors fine enough to show it (PHY-11).

The driver reckons light at the corners of triangles. A wall is two of them, so that a lamp in the middle of a room
would leave no trace on it. What belongs to a lamp's own room is therefore cut up around it. Other rooms aren't, as no
light comes through a wall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from iwkit_runtime.assets.mesh import rowwise_cross
from iwkit_runtime.physical.kinematics import link_frames, root_frame
from iwkit_runtime.physical.scene_spec import Placed, SceneSpec, Static
from iwkit_runtime.physical.spec import Floats, Vector, Visual

SHINES = "running"
"""The state in which things give light."""
LEAST = 0.3
"""What shines over less than this, in square metres, is a pilot light or a burner: it lights nothing else."""
REACH = 2.2
"""Metres up to which a lamp lights what is around it."""
FINE, COARSER = 0.2, 0.4
"""Longest side of a triangle at a lamp, metres, and by how much it may be longer with every metre from it."""
OFF = 0.35
"""The light hangs so far from the wall at least, metres, or there would be but a small bright spot on it."""


class Lamp(NamedTuple):
    """A thing that lights what is near while it runs: its room, where its light comes from, and the colour of it."""

    name: str
    room: str
    at: Vector
    colour: Vector


def lamps(spec: SceneSpec) -> tuple[Lamp, ...]:
    """All lamps of a scene, where they stand at the beginning: they are fixtures."""
    floors = [static for static in spec.statics if static.layer == "floor" and static.pieces]
    return tuple(lamp for placed in spec.placed for lamp in _lamp(placed, floors))


def _lamp(placed: Placed, floors: list[Static]) -> list[Lamp]:
    frames = link_frames(placed.asset, root_frame(placed), placed.joints)
    shining = [
        (frames[link.name].point(visual.vertices)[visual.faces], visual.material)
        for link in placed.asset.links
        for visual in link.visuals
        if visual.when == SHINES and visual.material.emission > 0
    ]
    hollow = any(region.kind == "interior" for region in placed.asset.regions)  # an oven is lit inside alone
    if placed.kind != "fixture" or not shining or hollow:
        return []
    sizes = [_areas(triangles) for triangles, _ in shining]
    share = np.array([size.sum() for size in sizes])
    if share.sum() < LEAST:
        return []
    middles = np.concatenate([triangles.mean(1) for triangles, _ in shining])
    at = np.average(middles, axis=0, weights=np.concatenate(sizes))
    red, green, blue = np.average([material.rgba[:3] for _, material in shining], axis=0, weights=share).tolist()
    for floor in floors:
        low, high = _bounds(floor)
        if (low <= at[:2]).all() and (at[:2] <= high).all():
            x, y = np.clip(at[:2], low + OFF, high - OFF).tolist()
            return [Lamp(placed.name, floor.name.removeprefix("floor_"), (x, y, float(at[2])), (red, green, blue))]
    return []


def walls(spec: SceneSpec) -> Floats:
    """Lowest and highest corner (n, 2, 3) of every piece of wall."""
    pieces = [piece.vertices for static in spec.statics if static.layer == "wall" for piece in static.pieces]
    return np.array([(points.min(0), points.max(0)) for points in pieces]).reshape(-1, 2, 3)


def is_before(lamp: Lamp, eye: Floats, boxes: Floats) -> bool:
    """Whether no wall stands between the eye (3,) and a lamp: then its light falls on what is seen."""
    way = np.array(lamp.at) - eye
    way[np.abs(way) < 1e-9] = 1e-9
    ends = (boxes - eye) / way
    enters, leaves = ends.min(1).max(1), ends.max(1).min(1)
    return not ((enters < leaves) & (leaves > 0) & (enters < 1)).any()


def _areas(triangles: Floats) -> Floats:
    a, b, c = (triangles[:, corner] for corner in range(3))
    sizes: Floats = np.linalg.norm(rowwise_cross(b - a, c - a), axis=1) / 2
    return sizes


def _bounds(floor: Static) -> tuple[Floats, Floats]:
    points = np.concatenate([piece.vertices for piece in floor.pieces])[:, :2]
    return points.min(0), points.max(0)


def lit(static: Static, found: tuple[Lamp, ...]) -> Sequence[Visual]:
    """What is drawn of a part of the building: cut up finely around the lamps of its room."""
    near = np.array([lamp.at for lamp in found if static.name in (f"floor_{lamp.room}", f"wall_{lamp.room}")])
    return tuple(_cut_up(visual, near) for visual in static.visuals) if len(near) else static.visuals


def _cut_up(visual: Visual, near: Floats) -> Visual:
    """The same mesh with every triangle within reach of a point (n, 3) halved until it is fine."""
    points = visual.vertices if visual.uv is None else np.column_stack([visual.vertices, visual.uv])
    coarse, done = points[visual.faces], []
    while len(coarse):
        sides = np.linalg.norm(coarse[:, [1, 2, 0], :3] - coarse[:, :, :3], axis=2)
        middle = coarse[:, :, :3].mean(1)
        radius = np.linalg.norm(coarse[:, :, :3] - middle[:, None], axis=2).max(1)
        away = np.linalg.norm(middle[:, None] - near, axis=2).min(1) - radius
        split = (sides.max(1) > FINE + COARSER * np.maximum(away, 0)) & (away < REACH)
        done.append(coarse[~split])
        coarse = _halved(coarse[split], sides[split].argmax(1))
    corners = np.concatenate(done).reshape(-1, points.shape[1])
    faces = np.arange(len(corners), dtype=np.int32).reshape(-1, 3)
    return Visual(corners[:, :3], faces, None if visual.uv is None else corners[:, 3:], visual.material, visual.when)


def _halved(triangles: Floats, longest: Floats) -> Floats:
    """Triangles (n, 3, k) cut in two across the side that begins at corner `longest` (n,)."""
    rows = np.arange(len(triangles))
    a, b, c = (triangles[rows, (longest + step) % 3] for step in range(3))
    half = (a + b) / 2
    return np.concatenate([np.stack([a, half, c], 1), np.stack([half, b, c], 1)])
