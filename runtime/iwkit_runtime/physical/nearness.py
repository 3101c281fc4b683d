"""Gaps between things on the plan, edge to edge of their boxes. Metres."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.spatial import ConvexHull

from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.spec import Floats, Vector

CORNERS = 8
"""Corners of an outline; those with fewer repeat the last."""
_BOX = np.array(list(product((-0.5, 0.5), (-0.5, 0.5), (0.0, 1.0))))
_POINT = 1e-9


def outline(size: Vector, root: Frame) -> Floats:
    """The outline (8, 2) on the plan of a box of that size around an asset's frame, anticlockwise."""
    corners = root.point(_BOX * size)[:, :2]
    if root.turn[2, 2] > 1 - _POINT:
        return corners[[0, 4, 6, 2, 2, 2, 2, 2]]
    ring = corners[ConvexHull(corners).vertices]
    return np.asarray(np.concatenate([ring, np.repeat(ring[-1:], CORNERS - len(ring), 0)]))


def gaps(first: Floats, second: Floats) -> Floats:
    """Distances (m,) of outlines (m, 8, 2) from one another; 0 where they overlap."""
    apart = np.maximum(_separation(first, second), _separation(second, first)) > 0
    distance = np.minimum(_from_edges(first, second), _from_edges(second, first))
    return np.where(apart, distance, 0.0)


def _edges(outlines: Floats) -> Floats:
    return np.roll(outlines, -1, axis=1) - outlines


def _separation(first: Floats, second: Floats) -> Floats:
    """The widest gap (m,) that an edge of the first leaves; not above 0 for those without any between."""
    edges = _edges(first)
    length = np.linalg.norm(edges, axis=2)
    normals = np.stack([edges[..., 1], -edges[..., 0]], 2) / np.maximum(length, _POINT)[..., None]
    mine = np.einsum("mea,mca->mec", normals, first).max(2)
    other = np.einsum("mea,mca->mec", normals, second).min(2)
    return np.asarray(np.where(length > _POINT, other - mine, -np.inf).max(1))


def _from_edges(first: Floats, second: Floats) -> Floats:
    """The least distance (m,) of a corner of the second from an edge of the first."""
    edges = _edges(first)[:, :, None]
    ways = second[:, None] - first[:, :, None]
    square = np.maximum((edges**2).sum(-1), _POINT**2)
    along = np.clip((ways * edges).sum(-1) / square, 0, 1)
    return np.asarray(np.linalg.norm(ways - along[..., None] * edges, axis=-1).min((1, 2)))
