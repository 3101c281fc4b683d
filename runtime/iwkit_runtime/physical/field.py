"""How far a point is from the surface of a thing: voxels in the thing's own frame, made once (ACT-9; paper B.2.2).

The surface is what is seen of the thing while its joints are closed and nothing has happened to it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import cKDTree

from iwkit_runtime.body import rotations
from iwkit_runtime.physical.spec import Asset, Floats, Ints, Vector, Visual

Indices = NDArray[np.intp]

VOXEL = 0.004
PADDING = 0.03
"""Metres around a thing that its voxels take in; further off the distance to them is added."""
REACH = 0.12
"""Metres around the point where a thing is taken that the voxels take in of what is larger."""
STEP = 0.05
"""Such points are rounded to so many metres, so that the next grasp finds the voxels again."""
_SPACING = 0.003
"""Metres between the samples of a surface."""
_BAND = 0.025
"""Metres from the surface within which distances are exact; further off only the side of it counts."""
_COARSE = 4
"""Corners so many voxels apart tell on which side those are that are beyond the band."""
_NEIGHBOURS = 5
_KEY = np.array([1 << 40, 1 << 25, 1 << 10, 49, 7, 1])


class Field:
    """Signed distances in metres, negative inside, at the corners of voxels: a grid of `shape` (3,), the first of them
    at `origin` (3,). Each is found when it is first asked for, since fingers come to few of them.

    Args:
        low, high: (3,) the first corner, and the last one or a little before it.
        points, normals: (m, 3) on the surface, and the directions (m, 3) out of the thing there.
    """

    def __init__(self, low: Floats, high: Floats, points: Floats, normals: Floats) -> None:
        self.origin = low
        self._axes = [np.arange(a, b + VOXEL, VOXEL) for a, b in zip(low, high, strict=True)]
        self.shape = tuple(len(axis) for axis in self._axes)
        self._points, self._normals = points, normals
        self._tree = cKDTree(points, balanced_tree=False, compact_nodes=False)
        last = _coarse(np.array(self.shape) - 1)
        coarse = [a + _COARSE * VOXEL * np.arange(n + 1) for a, n in zip(low, last.tolist(), strict=True)]
        corners = np.stack(np.meshgrid(*coarse, indexing="ij"), -1)
        self._sides = _sides(self._distances(corners.reshape(-1, 3)).reshape(corners.shape[:-1]))
        self._values = np.zeros(int(np.prod(self.shape)))
        self._known, self._whole = np.zeros((2, len(self._values)), bool)
        self._steps: Indices = np.asarray(np.ravel_multi_index(np.indices((2, 2, 2)).reshape(3, -1), self.shape))

    def __call__(self, points: Floats) -> Floats:
        """The distances (...) of points (..., 3) in the thing's frame, interpolated between voxels."""
        flat = (points.reshape(-1, 3) - self.origin) / VOXEL
        inside = np.clip(flat, 0, np.array(self.shape) - 1.001)
        beyond = np.linalg.norm((flat - inside) * VOXEL, axis=1)
        corner = inside.astype(np.intp)
        share = inside - corner
        _, height, depth = self.shape
        at = (corner[:, 0] * height + corner[:, 1]) * depth + corner[:, 2]
        self._find(at)
        found = np.zeros(len(flat))
        shares = ((1 - share).T, share.T)
        for n, step in enumerate(self._steps.tolist()):
            weight = shares[n >> 2 & 1][0] * shares[n >> 1 & 1][1] * shares[n & 1][2]
            found += weight * self._values[at + step]
        return np.asarray((found + beyond).reshape(points.shape[:-1]))

    def outwards(self, points: Floats) -> Floats:
        """The directions (..., 3) out of the thing at points (..., 3)."""
        ways = np.stack([self(points + VOXEL * e) - self(points - VOXEL * e) for e in np.eye(3)], -1)
        return np.asarray(ways / np.maximum(np.linalg.norm(ways, axis=-1, keepdims=True), 1e-9))

    def _find(self, voxels: Indices) -> None:
        """Make sure that the corners of voxels (n,) are known; each is given as the number of its first corner."""
        missing = np.unique(voxels[~self._whole[voxels]])
        if not len(missing):
            return
        corners = np.unique(missing[:, None] + self._steps)
        corners = corners[~self._known[corners]]
        at = np.unravel_index(corners, self.shape)
        found = self._distances(np.stack([axis[n] for axis, n in zip(self._axes, at, strict=True)], -1))
        # beyond the band the surface is further than the nearest of the coarse corners, which is on the same side then
        self._values[corners] = np.where(
            np.isnan(found), _BAND * self._sides[tuple(_coarse(np.asarray(axis)) for axis in at)], found
        )
        self._known[corners] = self._whole[missing] = True

    def _distances(self, corners: Floats) -> Floats:
        """Signed distances (n,) of points (n, 3); NaN where they are further from the surface than the band.

        Which side one is on is what most of the nearest samples say: at an edge one face alone can't tell.
        """
        found = np.full(len(corners), np.nan)
        if len(self._points) < _NEIGHBOURS:
            return found
        query = self._tree.query(corners, _NEIGHBOURS, distance_upper_bound=_BAND)
        away, which = np.asarray(query[0]), np.asarray(query[1])
        near = np.isfinite(away[:, 0])
        away, which = away[near], np.minimum(which[near], len(self._points) - 1)
        heights = ((corners[near][:, None] - self._points[which]) * self._normals[which]).sum(-1)
        # between samples the plane through the nearest one is nearer than the sample itself
        aside = np.sqrt(np.maximum(away[:, 0] ** 2 - heights[:, 0] ** 2, 0))
        distance = np.where(aside <= _SPACING, np.abs(heights[:, 0]), away[:, 0])
        weight = 1 / np.maximum(away, 1e-6) ** 2
        found[near] = np.where((weight * heights).sum(1) < 0, -distance, distance)
        return found


def _coarse(corner: Indices) -> Indices:
    """The numbers of the coarse corners nearest to some, along an axis."""
    return (corner + _COARSE // 2) // _COARSE


def field_at(asset: Asset, point: Vector) -> Field:
    """The field of a thing about where it is taken, a point in its frame."""
    return _field(asset, tuple(round(x / STEP) for x in point))


@lru_cache(maxsize=64)
def _field(asset: Asset, cell: tuple[int, ...]) -> Field:
    points, normals = _surface(asset)
    middle = np.array(cell) * STEP
    low = np.maximum(points.min(0) - PADDING, middle - REACH)
    high = np.maximum(np.minimum(points.max(0) + PADDING, middle + REACH), low + VOXEL)
    near = ((points > low - _BAND) & (points < high + _BAND)).all(1)
    return Field(low, high, points[near], normals[near])


def _sides(distances: Floats) -> Floats:
    """What is inside, -1, and what outside, 1, of coarse corners whose distances are so, NaN beyond the band.

    Right wherever no surface is within half a coarse voxel: such corners next to each other are on the same side, and
    those of them that are within the band tell on which.
    """
    parts, count = ndimage.label(~(np.abs(distances) <= _COARSE * VOXEL / 2))
    sums = ndimage.sum(np.nan_to_num(distances), parts, np.arange(count + 1))
    return np.where(sums < 0, -1.0, 1.0)[parts]


@lru_cache(maxsize=64)
def _surface(asset: Asset) -> tuple[Floats, Floats]:
    """Points (m, 3) on what is seen of a thing and the directions (m, 3) out of it there."""
    seen = [visual for link in asset.links for visual in link.visuals if _usual(visual)]
    found = [_sampled(visual.vertices, visual.faces) for visual in seen]
    points, normals = (np.concatenate(parts) for parts in zip(*found, strict=True))
    # faces that share a place and a side count once
    keys = np.column_stack([np.floor(points / (_SPACING / 2)), np.round(2 * normals)]).astype(np.int64)
    _, first = np.unique(keys @ _KEY, return_index=True)
    return points[np.sort(first)], normals[np.sort(first)]


def _usual(visual: Visual) -> bool:
    """Whether a part is seen while nothing has happened to the thing."""
    return visual.when is None or visual.when.startswith("not ")


def _sampled(vertices: Floats, faces: Ints) -> tuple[Floats, Floats]:
    """A grid of points (m, 3) on each triangle, as fine as its sides need, and the directions out of it."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = rotations.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    sides = np.stack([np.linalg.norm(b - a, axis=1), np.linalg.norm(c - a, axis=1)], -1)
    counts = np.maximum(np.ceil(sides / _SPACING), 1).astype(int)
    points, ways = [], []
    for m, n in np.unique(counts, axis=0).tolist():
        rows = np.flatnonzero((counts == (m, n)).all(1))
        # the middles of cells: samples on an edge would belong to two faces
        u, v = (grid.ravel() for grid in np.meshgrid((np.arange(m) + 0.4) / m, (np.arange(n) + 0.4) / n))
        inner = u + v < 1
        u, v = (u[inner], v[inner]) if inner.any() else (np.array([1 / 3]), np.array([1 / 3]))
        on = a[rows, None] + u[:, None] * (b - a)[rows, None] + v[:, None] * (c - a)[rows, None]
        points.append(on.reshape(-1, 3))
        ways.append(np.repeat(normals[rows], len(u), axis=0))
    return np.concatenate(points), np.concatenate(ways)
