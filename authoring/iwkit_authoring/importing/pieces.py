"""From triangles to the convex pieces that are touched: each connected part as its hull where that is close enough,
what is hollow or bent cut up by V-HACD (PHY-9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError, cKDTree

from iwkit.errors import UsageError
from iwkit_authoring.importing.model import Surface
from iwkit_runtime.physical.spec import Floats, Ints

MOST_PIECES = 40
"""Convex pieces of one link. More make planning slow and show nothing that a hand would feel."""
MOST_BENT = 8
"""Parts that are cut up one by one; a link with more is cut up as a whole."""
CUTS, FEWEST_CUTS = 20, 8
"""Pieces into which V-HACD cuts a part as large as the whole, and any part at least."""
VOXELS = 50_000
CLOSE = (0.002, 0.02, 0.012)
"""A hull may lie away from its part by this share of the part's size (the middle number), between these metres."""
SMALL = 0.05
"""Parts smaller than this share of the whole are taken as their hulls."""
THIN = 0.0005
"""Half the thickness that what is flat is given, metres."""
MOST_CORNERS = 64
SAMPLES = 2000


def welded(vertices: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """Vertices at the same place (to a millionth of the size) made one, and faces without area left out."""
    grid = max(float(np.ptp(vertices, axis=0).max(initial=0.0)), 1e-9) * 1e-6
    _, first, same = np.unique(
        np.round(vertices / grid).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    corners = np.asarray(same).reshape(-1)[faces].astype(np.int32)
    whole = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    return vertices[first], corners[whole]


def parts(faces: Ints) -> list[Ints]:
    """The faces of each connected part of a welded mesh, in order of their first face. Where more than two faces meet
    in an edge, parts only touch, as the boards of a shelf do."""
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    faces = faces[np.sort(first)]
    ends = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    owner = np.tile(np.arange(len(faces)), 3)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    _, start, count = np.unique(ends[order], axis=0, return_index=True, return_counts=True)
    pairs = start[count == 2]
    one, two = owner[order][pairs], owner[order][pairs + 1]
    graph = coo_array((np.ones(len(one), dtype=np.int8), (one, two)), shape=(len(faces), len(faces)))
    _, labels = connected_components(graph, directed=False)
    _, first = np.unique(labels, return_index=True)
    by_part = np.argsort(labels, kind="stable")
    split = np.split(faces[by_part], np.cumsum(np.bincount(labels))[:-1])
    return [split[labels[at]] for at in np.sort(first)]


def convex_pieces(surfaces: Sequence[Surface]) -> list[Floats]:
    """The corners (n, 3) of each convex piece of a link, in metres; the same surfaces give the same pieces.

    Raises:
        UsageError: something has to be cut up, and V-HACD isn't installed.
    """
    used = [surface for surface in surfaces if len(surface.faces)]
    if not used:
        return []
    starts = np.cumsum([0, *(len(surface.vertices) for surface in used[:-1])])
    faces = np.concatenate([surface.faces + start for surface, start in zip(used, starts, strict=True)])
    vertices, faces = welded(np.concatenate([surface.vertices for surface in used]), faces.astype(np.int32))
    whole = float(np.ptp(vertices, axis=0).max(initial=0.0))
    found: list[Floats] = []
    bent: list[Ints] = []
    for part in parts(faces):
        hull = hull_corners(vertices[np.unique(part)])
        if np.ptp(hull, axis=0).max() < SMALL * whole or _is_close(hull, vertices, part):
            found.append(hull)
        else:
            bent.append(part)
    if len(bent) > MOST_BENT:
        return _cut(vertices, faces, MOST_PIECES)
    for part in bent:
        share = float(np.ptp(vertices[np.unique(part)], axis=0).max()) / whole
        found += _cut(vertices, part, max(FEWEST_CUTS, round(CUTS * share)))
    kept = _without_covered(found)
    return kept if len(kept) <= MOST_PIECES else _cut(vertices, faces, MOST_PIECES)


def hull_corners(points: Floats) -> Floats:
    """The corners of the hull of some points, at most some 64; what is flat is given a thickness of a millimetre."""
    try:
        hull = ConvexHull(points)
        flat = hull.volume < 2 * THIN * 1e-2 * max(hull.area, 1e-9)
    except (QhullError, ValueError):
        flat = True
    if flat:
        offsets = THIN * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        points = (points[:, None] + offsets).reshape(-1, 3)
        hull = ConvexHull(points)
    corners = points[np.sort(hull.vertices)]
    return corners if len(corners) <= MOST_CORNERS else _fewer(corners)


def _fewer(corners: Floats) -> Floats:
    """The outermost corners in evenly spread directions, and around the faces that look along an axis: a base stays
    flat."""
    k = np.arange(MOST_CORNERS) + 0.5
    up, turn = 1 - 2 * k / MOST_CORNERS, np.pi * (1 + 5**0.5) * k
    ring = np.sqrt(1 - up**2)
    directions = np.stack([ring * np.cos(turn), ring * np.sin(turn), up], -1)
    kept = set(np.argmax(corners @ directions.T, axis=0).tolist())
    size = float(np.ptp(corners, axis=0).max())
    for axis in range(3):
        others = [i for i in range(3) if i != axis]
        for sign in (-1, 1):
            height = sign * corners[:, axis]
            face = np.flatnonzero(height > height.max() - 1e-3 * size)
            around = np.linspace(0, 2 * np.pi, 16, endpoint=False)
            best = np.argmax(corners[face][:, others] @ np.stack([np.cos(around), np.sin(around)]), axis=0)
            kept |= set(face[best].tolist())
    return corners[sorted(kept)]


def _is_close(hull: Floats, vertices: Floats, part: Ints) -> bool:
    """Whether the hull's surface lies everywhere near the part's."""
    outer = ConvexHull(hull)
    on_hull = _sampled(hull, outer.simplices, SAMPLES // 4)
    on_part = _sampled(vertices, part, SAMPLES)
    area = float(_areas(vertices, part).sum())
    size = float(np.ptp(hull, axis=0).max())
    allowed = min(max(CLOSE[0], CLOSE[1] * size), CLOSE[2]) + (area / SAMPLES) ** 0.5
    return bool(np.max(cKDTree(on_part).query(on_hull)[0]) <= allowed)


def _areas(vertices: Floats, faces: Ints) -> Floats:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return np.asarray(np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2)


def _sampled(vertices: Floats, faces: Ints, count: int) -> Floats:
    """About `count` points spread over triangles by their area, the same each time, and the vertices."""
    share = _areas(vertices, faces)
    total = float(share.sum())
    if total <= 0:
        return vertices[np.unique(faces)]
    chosen = np.searchsorted(np.cumsum(share) / total, (np.arange(count) + 0.5) / count)
    a, b, c = (vertices[faces[np.minimum(chosen, len(faces) - 1)][:, i]] for i in range(3))
    u, v = (np.modf(np.arange(count) * step)[0] for step in (0.7548776662466927, 0.5698402909980532))
    u, v = np.where(u + v > 1, 1 - u, u)[:, None], np.where(u + v > 1, 1 - v, v)[:, None]
    return np.concatenate([a + u * (b - a) + v * (c - a), vertices[np.unique(faces)]])


def _without_covered(pieces: list[Floats]) -> list[Floats]:
    """The pieces, the largest first, without those that lie within another."""
    by_size = sorted(pieces, key=lambda piece: -ConvexHull(piece).volume)
    kept: list[tuple[Floats, Floats]] = []
    for piece in by_size:
        if not any((planes[:, :3] @ piece.T + planes[:, 3:] < 1e-4).all() for _, planes in kept):
            kept.append((piece, ConvexHull(piece).equations))
    return [piece for piece, _ in kept]


def _cut(vertices: Floats, faces: Ints, most: int) -> list[Floats]:
    try:
        import vhacdx  # noqa: PLC0415  an extra
    except ImportError:
        raise UsageError(
            "this model is hollow or bent, and cutting it into convex pieces needs vhacdx: pip install 'iwkit[meshes]'"
        ) from None
    used, corners = np.unique(faces, return_inverse=True)
    count = np.full((len(faces), 1), 3)
    flat = np.concatenate([count, corners.reshape(-1, 3)], axis=1).astype(np.uint32).ravel()
    hulls: list[Any] = vhacdx.compute_vhacd(vertices[used], flat, maxConvexHulls=most, resolution=VOXELS)
    return [hull_corners(np.asarray(points, dtype=np.float64)) for points, _ in hulls]


def volume(pieces: Sequence[Floats]) -> float:
    """Cubic metres of all pieces, what overlaps counted twice."""
    return float(sum(ConvexHull(piece).volume for piece in pieces))
