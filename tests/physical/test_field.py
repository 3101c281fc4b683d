"""Distances from the shapes of things, in voxels."""

from __future__ import annotations

import numpy as np
import pytest

from iwkit.library import Library
from iwkit_runtime.assets import mesh
from iwkit_runtime.assets.build import build_asset
from iwkit_runtime.physical.field import REACH, VOXEL, field_at
from iwkit_runtime.physical.spec import Asset, Link, Material, Visual

CARD = Material("card", (1, 1, 1, 1))


def solid(*meshes: mesh.Mesh, when: str | None = None) -> Asset:
    visuals = tuple(Visual(m.vertices, m.faces, None, CARD, when) for m in meshes)
    return Asset("thing", (0.1, 0.1, 0.1), 1.0, (Link("body", None, visuals, ()),))


def box_distance(points: np.ndarray, half: np.ndarray) -> np.ndarray:
    away = np.abs(points) - half
    return np.linalg.norm(np.maximum(away, 0), axis=-1) + np.minimum(away.max(-1), 0)


def random_points(half: float, count: int = 3000) -> np.ndarray:
    return np.random.default_rng(0).uniform(-half, half, (count, 3))


def test_distances_from_a_box_are_right_to_a_millimetre() -> None:
    half = np.array([0.03, 0.04, 0.05])
    field = field_at(solid(mesh.box(-half, half)), (0, 0, 0))
    points = random_points(0.06)
    exact = box_distance(points, half)
    near = np.abs(exact) < 0.012
    error = np.abs(field(points) - exact)[near]
    assert near.sum() > 500
    assert np.median(error) < 2e-4
    assert np.quantile(error, 0.99) < 1.5e-3


def test_far_off_only_the_side_counts() -> None:
    half = np.array([0.08, 0.08, 0.08])
    field = field_at(solid(mesh.box(-half, half)), (0, 0, 0))
    assert field(np.zeros((1, 3)))[0] < -0.02
    assert field(np.array([[0.4, 0, 0]]))[0] > 0.25, "beyond the voxels the way to them is added"
    out = field.outwards(np.array([[0.081, 0.0, 0.0], [0.0, -0.079, 0.0]]))
    assert out[0] == pytest.approx([1, 0, 0], abs=0.05)
    assert out[1] == pytest.approx([0, -1, 0], abs=0.05)


def test_a_mug_is_hollow() -> None:
    library = Library()
    mug = build_asset("mug", library.catalogue.categories["mug"], library.recipes.get("mug"))
    field = field_at(mug, (0, 0, mug.size[2] / 2))
    body = np.concatenate([v.vertices for link in mug.links for v in link.visuals if v.when is None or "not" in v.when])
    middle = (body.min(0) + body.max(0)) / 2
    inside = np.array([[middle[0] - 0.015, 0.0, mug.size[2] / 2]])
    assert field(inside)[0] > 0.01
    surface = body[:: max(1, len(body) // 500)]
    assert np.median(np.abs(field(surface))) < 1e-3


def test_a_large_thing_is_voxels_only_where_it_is_taken() -> None:
    half = np.array([0.5, 0.5, 0.5])
    large = solid(mesh.box(-half, half))
    field = field_at(large, (0.5, 0.0, 0.0))
    assert max(field.shape) <= 2 * REACH / VOXEL + 3
    assert field(np.array([[0.51, 0.02, 0.03]]))[0] == pytest.approx(0.01, abs=1e-3)
    assert field_at(large, (0.505, 0.01, 0.0)) is field, "the next grasp finds it again"
    assert field_at(large, (-0.5, 0.0, 0.0)) is not field


def test_what_shows_only_when_something_happened_is_no_part_of_it() -> None:
    half = np.array([0.03, 0.03, 0.03])
    plain, split = mesh.box(-half, half), mesh.box(-2 * half, 2 * half)
    both = Asset(
        "thing",
        (0.1, 0.1, 0.1),
        1.0,
        (
            Link(
                "body",
                None,
                (
                    Visual(plain.vertices, plain.faces, None, CARD, "not cut"),
                    Visual(split.vertices, split.faces, None, CARD, "cut"),
                ),
                (),
            ),
        ),
    )
    assert field_at(both, (0, 0, 0))(np.array([[0.04, 0.0, 0.0]]))[0] == pytest.approx(0.01, abs=1e-3)
