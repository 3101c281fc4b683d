"""What is seen of an imported model: fewer triangles where there are too many, edges sharp where they should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from iwkit.errors import UsageError
from iwkit_authoring.importing.model import Surface, triangles
from iwkit_authoring.importing.pieces import welded
from iwkit_runtime.assets.mesh import SHARP
from iwkit_runtime.physical.spec import Floats, Ints

FEW = 64
"""Triangles of a surface that is never simplified."""


def simplified(surfaces: Sequence[Surface], most: int) -> list[Surface]:
    """The surfaces with about `most` triangles in all, each reduced by the same share.

    Raises:
        UsageError: there are more, and the library that reduces them isn't installed.
    """
    total = triangles(surfaces)
    if total <= most:
        return list(surfaces)
    try:
        import fast_simplification  # noqa: PLC0415  an extra
    except ImportError:
        raise UsageError(
            f"this model has {total:,} triangles, more than --max-triangles {most:,}, and reducing them needs "
            "fast-simplification: pip install 'iwkit[meshes]'"
        ) from None
    return [_reduced(surface, most / total, fast_simplification.simplify) for surface in surfaces]


def _reduced(surface: Surface, share: float, reduce: Callable[..., Any]) -> Surface:
    """The surface with a share of its triangles. Its texture goes with the nearest of its old vertices."""
    vertices, faces = surface.vertices, surface.faces
    if surface.uv is None:
        vertices, faces = welded(vertices, faces)
    if len(faces) <= FEW:
        return surface
    few = max(FEW, round(len(faces) * share))
    points, corners = reduce(vertices.astype(np.float32), faces, target_count=few)
    uv = None if surface.uv is None else surface.uv[cKDTree(vertices).query(points)[1]]
    return replace(surface, vertices=points.astype(np.float64), faces=corners.astype(np.int32), uv=uv)


def drawable(surface: Surface) -> Surface:
    """The surface with its vertices doubled at sharp edges, faces without area left out, and a back if it needs one."""
    vertices, faces = surface.vertices, surface.faces
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1)
    kept = length > 1e-14
    if not kept.any():
        return replace(surface, faces=faces[:0])
    faces, normals = faces[kept], normals[kept] / length[kept][:, None]
    used, corners = _split(vertices, faces, normals, surface.uv)
    uv = None if surface.uv is None or surface.texture is None else surface.uv[used]
    vertices = vertices[used]
    if surface.two_sided:
        corners = np.concatenate([corners, corners[:, ::-1] + len(vertices)])
        vertices = np.concatenate([vertices, vertices])
        uv = None if uv is None else np.concatenate([uv, uv])
    return replace(surface, vertices=vertices, faces=np.ascontiguousarray(corners, dtype=np.int32), uv=uv)


def _split(vertices: Floats, faces: Ints, normals: Floats, uv: Floats | None) -> tuple[Ints, Ints]:
    """Which vertex each new one comes from, and the faces of the new ones: corners of one place stay together where the
    surface is smooth across the edge and its texture goes on."""
    grid = max(float(np.ptp(vertices, axis=0).max()), 1e-9) * 1e-6
    place = np.unique(np.round(vertices / grid).astype(np.int64), axis=0, return_inverse=True)[1].reshape(-1)
    count = len(faces)
    corner = np.arange(count * 3).reshape(-1, 3)
    first, second = corner, np.roll(corner, -1, 1)
    start, end = place[faces].ravel(), place[np.roll(faces, -1, 1)].ravel()
    turned = start > end
    one = np.where(turned, second.ravel(), first.ravel())
    two = np.where(turned, first.ravel(), second.ravel())
    order = np.lexsort((np.maximum(start, end), np.minimum(start, end)))
    low, high = np.minimum(start, end)[order], np.maximum(start, end)[order]
    same = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    left, right = order[:-1][same], order[1:][same]
    smooth = np.einsum("ij,ij->i", normals[left // 3], normals[right // 3]) > SHARP
    left, right = left[smooth], right[smooth]
    pairs = np.concatenate([np.stack([one[left], one[right]], -1), np.stack([two[left], two[right]], -1)])
    source = faces.ravel()
    if uv is not None:
        pairs = pairs[np.abs(uv[source[pairs[:, 0]]] - uv[source[pairs[:, 1]]]).max(1) < 1e-5]
    graph = coo_array((np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], pairs[:, 1])), shape=(count * 3, count * 3))
    labels = connected_components(graph, directed=False)[1]
    _, at = np.unique(labels, return_index=True)
    return source[at].astype(np.int32), labels.reshape(-1, 3).astype(np.int32)
