"""Depth and distance of the audit's own geometry, beside MuJoCo's."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from iwkit_runtime.audit.shapes import Hull, depths, distances, hull, overlap

RNG = np.random.default_rng(7)


def cloud() -> np.ndarray:
    """Corners of a random piece of some decimetres."""
    return RNG.uniform(-1, 1, (12, 3)) * RNG.uniform(0.05, 0.3, 3)


def distance(first: np.ndarray | float, second: np.ndarray, at: np.ndarray) -> float:
    """MuJoCo's signed distance of a ball of a radius, or a hull, at a place from a hull at the origin."""
    spec = mujoco.MjSpec()
    for name, points in (("a", first), ("b", second)):
        body = spec.worldbody.add_body(pos=at if name == "a" else [0, 0, 0])
        if isinstance(points, float):
            body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[points, 0, 0])
        else:
            spec.add_mesh(name=name, uservert=points.ravel())
            body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    one, two = (mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) for name in "ab")
    return float(mujoco.mj_geomDistance(model, data, one, two, 1.0, None))


def moved(piece: Hull, at: np.ndarray) -> Hull:
    return piece.moved(np.eye(3), at)


def test_balls_in_a_piece_as_deep_as_mujoco_says() -> None:
    deep = 0
    for _ in range(60):
        points, at, radius = cloud(), RNG.uniform(-0.3, 0.3, 3), float(RNG.uniform(0.02, 0.15))
        mine = float(depths(hull(points), at[None], np.array([radius]))[0])
        other = -distance(radius, points, at)
        if other > 0 or mine > 0:
            assert mine == pytest.approx(other, abs=1e-4)
            deep += 1
    assert deep > 10


def test_pieces_overlap_as_far_as_mujoco_says() -> None:
    deep = 0
    for _ in range(60):
        first, second, at = cloud(), cloud(), RNG.uniform(-0.25, 0.25, 3)
        mine, other = overlap(moved(hull(first), at), hull(second)), -distance(first, second, at)
        assert mine == pytest.approx(max(other, 0.0), abs=1e-4)
        deep += mine > 0
    assert deep > 10


def test_points_are_as_far_from_a_piece_as_mujoco_says() -> None:
    for _ in range(30):
        points, at = cloud(), RNG.uniform(-0.6, 0.6, 3)
        mine = float(distances(hull(points), at[None])[0])
        assert mine == pytest.approx(max(distance(1e-6, points, at) + 1e-6, 0.0), abs=1e-4)


def test_a_turned_piece_is_the_piece_of_its_turned_corners() -> None:
    points, turn, at = cloud(), Rotation.random(random_state=3).as_matrix(), RNG.uniform(-1, 1, 3)
    one, other = hull(points).moved(turn, at), hull(points @ turn.T + at)
    probes = RNG.uniform(-1.5, 1.5, (50, 3))
    assert distances(one, probes) == pytest.approx(distances(other, probes), abs=1e-9)
    assert overlap(one, other) > 0
