"""Plane geometry of obstacles: the slice of a convex piece, its outline from above, and the cells that it meets."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from iwkit.errors import UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Point = tuple[float, float]

EPSILON = 1e-6
"""Metres by which an outline must reach into a cell to meet it, so that what is flush with a cell's side does not."""


def points(value: object, columns: int, what: str) -> Floats:
    """`value` as a finite (n, columns) array of at least one row, metres.

    Raises:
        UsageError: it is anything else.
    """
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or array.shape[1] != columns or not len(array) or not np.isfinite(array).all():
        raise UsageError(f"{what} must be finite numbers in {columns} columns, one row a point")
    return array


def point(value: object, what: str) -> Point:
    """`value` as a pair of finite numbers, metres.

    Raises:
        UsageError: it is anything else.
    """
    x, y = points([value], 2, what)[0].tolist()
    return x, y


def slice_outline(vertices: Floats, low: float, high: float) -> Floats:
    """The outline, seen from above, of what of a convex hull lies between two heights.

    Args:
        vertices: (n, 3), metres; the piece is their convex hull.

    Returns:
        (k, 2) corners anticlockwise; two for a hull that is a line from above, none when it lies above or below.
    """
    z = vertices[:, 2]
    parts = [vertices[(z >= low) & (z <= high), :2]]
    for plane in (low, high):
        under, over = vertices[z < plane], vertices[z > plane]
        # Segments between all pairs, not only the hull's edges: the others lie inside the hull and change nothing.
        share = (plane - under[:, None, 2]) / (over[None, :, 2] - under[:, None, 2])
        parts.append((under[:, None, :2] + share[..., None] * (over[None, :, :2] - under[:, None, :2])).reshape(-1, 2))
    return convex_hull(np.concatenate(parts))


def convex_hull(flat: Floats) -> Floats:
    """The corners of the convex hull of (n, 2) points, anticlockwise, none on a line between two others."""
    ordered = sorted(set(map(tuple, flat.tolist())))
    if len(ordered) < 3:
        return np.array(ordered, dtype=np.float64).reshape(-1, 2)
    lower, upper = _chain(ordered), _chain(ordered[::-1])
    return np.array(lower[:-1] + upper[:-1], dtype=np.float64)


def _chain(ordered: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    chain: list[tuple[float, ...]] = []
    for p in ordered:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
            chain.pop()
        chain.append(p)
    return chain


def _turn(a: tuple[float, ...], b: tuple[float, ...], c: tuple[float, ...]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def meets_squares(outline: Floats, centres: Floats, side: float) -> Bools:
    """Which axis-aligned squares a convex outline meets, by separating axes: exact for convex shapes.

    Args:
        outline: (k, 2) corners, k at least 1.
        centres: (n, 2) middles of the squares of that side.

    Returns:
        (n,), True where outline and square share more than `EPSILON` along every axis; along an axis where the outline
        is thinner than that, where they touch.
    """
    normals = _normals(outline)
    seen = outline @ normals.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    margin = np.where(high - low > 2 * EPSILON, EPSILON, -EPSILON)
    half = side / 2 * np.abs(normals).sum(axis=1)
    middle = centres @ normals.T
    return np.asarray(((middle + half > low + margin) & (middle - half < high - margin)).all(axis=1))


def _normals(outline: Floats) -> Floats:
    """Unit normals of the outline's sides, and the two axes."""
    sides = np.roll(outline, -1, axis=0) - outline
    lengths = np.hypot(sides[:, 0], sides[:, 1])
    sides = sides[lengths > 0] / lengths[lengths > 0, None]
    return np.concatenate([np.column_stack([sides[:, 1], -sides[:, 0]]), np.eye(2)])


def distance_to_outline(outline: Floats, place: Point) -> float:
    """Metres from a point to a convex outline (k, 2); 0 inside it."""
    ends = np.roll(outline, -1, axis=0)
    sides, to = ends - outline, np.asarray(place) - outline
    if len(outline) > 2 and bool((sides[:, 0] * to[:, 1] - sides[:, 1] * to[:, 0] >= 0).all()):
        return 0.0
    squared = (sides**2).sum(axis=1)
    along = np.clip((to * sides).sum(axis=1) / np.where(squared > 0, squared, 1), 0, 1)
    return float(np.hypot(*(to - along[:, None] * sides).T).min())


def wrap(angle: float) -> float:
    """The same angle in radians, from -pi to pi."""
    return math.remainder(angle, math.tau)
