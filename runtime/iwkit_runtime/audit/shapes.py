"""Convex pieces as half-spaces: how deep balls and other pieces are in them, and how far points. Metres."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Hull:
    """normals (k, 3) and offsets (k,), inside where normal . x + offset <= 0; corners (n, 3); triangles (m, 3, 3);
    edges (e, 3) directions."""

    normals: Floats
    offsets: Floats
    corners: Floats
    triangles: Floats
    edges: Floats

    def moved(self, turn: Floats, at: Floats) -> Hull:
        """The same piece turned (3, 3), then shifted (3,)."""
        normals = self.normals @ turn.T
        return Hull(
            normals, self.offsets - normals @ at, self.corners @ turn.T + at, self.triangles @ turn.T + at,
            self.edges @ turn.T,
        )  # fmt: skip


def hull(vertices: Floats) -> Hull:
    """The hull of points (n, 3) that don't lie in a plane."""
    return _hull(np.ascontiguousarray(vertices, dtype=np.float64).tobytes())


@lru_cache(maxsize=8192)
def _hull(data: bytes) -> Hull:
    found = ConvexHull(np.frombuffer(data).reshape(-1, 3))
    planes = np.unique(found.equations.round(9), axis=0)
    triangles = found.points[found.simplices]
    edges = (triangles - np.roll(triangles, 1, axis=1)).reshape(-1, 3)
    edges /= np.linalg.norm(edges, axis=1, keepdims=True)
    edges *= np.where((edges @ (1.0, 1e-3, 1e-6)) < 0, -1, 1)[:, None]
    return Hull(planes[:, :3], planes[:, 3], found.points[found.vertices], triangles, np.unique(edges.round(4), axis=0))


def depths(piece: Hull, centres: Floats, radii: Floats) -> Floats:
    """How far balls (n, 3), (n,) are in a piece; negative or zero where they are apart (then only a bound)."""
    beyond = (centres @ piece.normals.T + piece.offsets).max(1)
    found = radii - beyond
    # beside an edge the planes alone make a ball seem nearer than it is
    unsure = (beyond > 0) & (found > 0)
    if unsure.any():
        found[unsure] = radii[unsure] - distances(piece, centres[unsure])
    return np.asarray(found)


def distances(piece: Hull, points: Floats) -> Floats:
    """How far points (n, 3) are from a piece (n,); 0 inside."""
    inside = (points @ piece.normals.T + piece.offsets).max(1) <= 0
    a, b, c = (piece.triangles[None, :, k] for k in range(3))
    point = points[:, None]
    normal = np.cross(b - a, c - a)
    normal = normal / np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-15)
    height = ((point - a) * normal).sum(-1)
    foot = point - height[..., None] * normal
    over = np.ones(height.shape, bool)
    nearest = np.full(height.shape, np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        over &= (np.cross(end - start, foot - start) * normal).sum(-1) >= 0
        line = end - start
        share = ((point - start) * line).sum(-1) / np.maximum((line * line).sum(-1), 1e-15)
        gap = point - start - np.clip(share, 0, 1)[..., None] * line
        nearest = np.minimum(nearest, np.linalg.norm(gap, axis=-1))
    found = np.where(over, np.abs(height), nearest).min(1)
    return np.where(inside, 0.0, found)


def overlap(one: Hull, other: Hull) -> float:
    """How far a piece must move to be clear of another one, 0 when they are apart (separating axes)."""
    least = _along(one, other, np.concatenate([one.normals, other.normals]))
    if least <= 0:
        return 0.0
    across = np.cross(one.edges[:, None], other.edges[None]).reshape(-1, 3)
    length = np.linalg.norm(across, axis=1)
    keep = length > 1e-3
    return max(0.0, min(least, _along(one, other, across[keep] / length[keep, None])))


def _along(one: Hull, other: Hull, axes: Floats) -> float:
    if not len(axes):
        return np.inf
    mine, its = one.corners @ axes.T, other.corners @ axes.T
    return float(np.minimum(mine.max(0) - its.min(0), its.max(0) - mine.min(0)).min())
