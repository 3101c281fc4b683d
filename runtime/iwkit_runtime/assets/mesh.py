"""Triangle meshes of simple solids: closed, wound counter-clockwise from outside, in metres.

Vertices are doubled at sharp edges, so that a renderer that averages normals shows them sharp.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product

import numpy as np
from numpy.typing import ArrayLike

from iwkit.errors import UsageError
from iwkit_runtime.physical.spec import Floats, Ints

SHARP = np.cos(np.radians(40))
"""Edges of an outline that turn by more than this are drawn sharp."""
ROUND = 28
"""Sides of a round thing."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """vertices (n, 3), faces (m, 3), uv (n, 2) or None."""

    vertices: Floats
    faces: Ints
    uv: Floats | None = None


def make(vertices: ArrayLike, faces: ArrayLike, uv: ArrayLike | None = None) -> Mesh:
    """A mesh without the triangles that have no area."""
    points = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
    corners = np.asarray(faces, dtype=np.int32).reshape(-1, 3)
    a, b, c = points.T[:, corners.T].swapaxes(0, 1)
    (ax, ay, az), (bx, by, bz) = b - a, c - a
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    keep = np.sqrt(x * x + y * y + z * z) > 1e-12
    return Mesh(points, corners[keep], None if uv is None else np.asarray(uv, dtype=np.float64))


def rowwise_cross(a: Floats, b: Floats) -> Floats:
    """Row by row, like `np.cross`, whose care for axes takes longer than the work on meshes as small as these."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.column_stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def join(meshes: Iterable[Mesh]) -> Mesh:
    """One mesh of several without uv."""
    parts = list(meshes)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    faces = [part.faces + start for part, start in zip(parts, starts, strict=True)]
    return Mesh(np.concatenate([part.vertices for part in parts]), np.concatenate(faces).astype(np.int32))


def scaled(mesh: Mesh, scale: Floats, offset: ArrayLike = (0, 0, 0)) -> Mesh:
    """The mesh under x -> scale x + offset, axis by axis. A mirror image keeps its outside outside."""
    faces = mesh.faces if np.prod(scale) > 0 else np.ascontiguousarray(mesh.faces[:, ::-1])
    return Mesh(mesh.vertices * scale + np.asarray(offset, dtype=np.float64), faces, mesh.uv)


def mapped(mesh: Mesh, matrix: Floats, offset: ArrayLike = (0, 0, 0)) -> Mesh:
    """The mesh under x -> matrix x + offset. A mirror image keeps its outside outside."""
    vertices = mesh.vertices @ matrix.T + np.asarray(offset, dtype=np.float64)
    faces = mesh.faces if np.linalg.det(matrix) > 0 else np.ascontiguousarray(mesh.faces[:, ::-1])
    return Mesh(vertices, faces, mesh.uv)


def volume(mesh: Mesh) -> float:
    """Signed volume in cubic metres: positive for a closed mesh whose faces look outwards."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->", a, rowwise_cross(b, c)) / 6)


@lru_cache(maxsize=256)
def grid(rows: int, columns: int, *, ring: bool) -> Ints:
    """Faces of a grid of vertices (row by row); the rows go up and the columns anticlockwise seen from above."""
    last = columns if ring else columns - 1
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(last), indexing="ij")
    a, b = (i * columns + j).ravel(), (i * columns + (j + 1) % columns).ravel()
    c, d = b + columns, a + columns
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).astype(np.int32)
    faces.setflags(write=False)
    return faces


def corners(low: ArrayLike, high: ArrayLike) -> Floats:
    """The eight corners of a box, (8, 3)."""
    ends = np.array([low, high], dtype=np.float64)
    return np.asarray(ends[_CORNERS, [0, 1, 2]])


_CORNERS = np.array(list(product((0, 1), repeat=3)))
_BOX_SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
_BOX_FACES = (np.arange(6)[:, None, None] * 4 + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)


def box(low: ArrayLike, high: ArrayLike) -> Mesh:
    """A box between two corners, each side with vertices of its own."""
    points = corners(low, high)
    return make(points[_BOX_SIDES], _BOX_FACES)


def rounded_box(low: ArrayLike, high: ArrayLike, radius: float, steps: int = 3) -> Mesh:
    """A box whose edges and corners are rounded: a sphere, cut in eight, each piece moved to a corner."""
    middle, half, radius = _rounded(low, high, radius)
    quarter = np.linspace(0, np.pi / 2, steps + 1)
    around = np.concatenate([quarter + k * np.pi / 2 for k in range(4)])
    side = np.repeat([[1, 1], [-1, 1], [-1, -1], [1, -1]], steps + 1, axis=0)
    up = np.concatenate([quarter - np.pi / 2, quarter])
    rise = np.repeat([-1, 1], steps + 1)
    flat = np.stack([np.cos(around), np.sin(around)], -1)[None] * np.cos(up)[:, None, None] * radius
    plan = flat + side[None] * (half[:2] - radius)
    height = np.sin(up) * radius + rise * (half[2] - radius)
    vertices = np.concatenate([plan, np.broadcast_to(height[:, None, None], (*plan.shape[:2], 1))], -1)
    columns, rows = len(around), len(up)
    bottom, top = np.arange(4) * (steps + 1), (rows - 1) * columns + np.arange(4) * (steps + 1)
    caps = [bottom[[0, 2, 1]], bottom[[0, 3, 2]], top[[0, 1, 2]], top[[0, 2, 3]]]
    faces = np.concatenate([grid(rows, columns, ring=True), np.array(caps, dtype=np.int32)])
    return make(vertices.reshape(-1, 3) + middle, faces)


def rounded_box_bounds(low: ArrayLike, high: ArrayLike, radius: float) -> Floats:
    """The lowest and the highest of its vertices (2, 3), to the last bit, without making it."""
    middle, half, radius = _rounded(low, high, radius)
    reach = radius + (half - radius)
    return np.array([middle - reach, middle + reach])


def _rounded(low: ArrayLike, high: ArrayLike, radius: float) -> tuple[Floats, Floats, float]:
    """The middle (3,) of a box, half its size (3,), and by how much its edges can be rounded."""
    start, end = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    half = (end - start) / 2
    return (start + end) / 2, half, min(radius, float(half.min()) * 0.999)


@lru_cache(maxsize=16)
def _circle(sides: int) -> Floats:
    """Points (sides, 2) on the unit circle, anticlockwise."""
    angle = np.arange(sides) * 2 * np.pi / sides
    points = np.stack([np.cos(angle), np.sin(angle)], -1)
    points.setflags(write=False)
    return points


def _strips(outline: Floats) -> list[Floats]:
    """The outline cut at its sharp corners."""
    edges = np.diff(outline, axis=0)
    edges /= np.maximum(np.linalg.norm(edges, axis=1, keepdims=True), 1e-12)
    turns = np.einsum("ij,ij->i", edges[:-1], edges[1:])
    cuts = [0, *(np.flatnonzero(turns < SHARP) + 1), len(outline) - 1]
    return [outline[a : b + 1] for a, b in pairwise(cuts)]


def lathe(outline: Sequence[Sequence[float]], sides: int = ROUND) -> Mesh:
    """An outline of (radius, height) turned about z. It runs up the outside; an open end is closed towards the axis."""
    points = np.asarray(outline, dtype=np.float64)
    first, last = points[0], points[-1]
    if first[0] > 0:
        points = np.concatenate([[[0, first[1]]], points])
    if last[0] > 0:
        points = np.concatenate([points, [[0, last[1]]]])
    return join(make(_turned(strip, sides), grid(len(strip), sides, ring=True)) for strip in _strips(points))


def _turned(points: Floats, sides: int) -> Floats:
    """Points (n, 2) of radius and height turned about z: (n, sides, 3)."""
    heights = np.broadcast_to(points[:, None, 1:], (len(points), sides, 1))
    return np.concatenate([points[:, None, :1] * _circle(sides)[None], heights], -1)


@lru_cache(maxsize=16)
def ball(rows: int, sides: int) -> Floats:
    """Points (n, 3) on a ball of radius 1, row by row from below."""
    up = np.linspace(-np.pi / 2, np.pi / 2, rows + 1)
    outline = np.stack([np.cos(up), np.sin(up)], -1)
    outline[[0, -1], 0] = 0
    points = _turned(outline, sides).reshape(-1, 3)
    points.setflags(write=False)
    return points


def ellipsoid(centre: ArrayLike, radii: ArrayLike, rows: int = 10, sides: int = 20) -> Mesh:
    """An ellipsoid with half axes `radii`."""
    mesh = make(ball(rows, sides), grid(rows + 1, sides, ring=True))
    return scaled(mesh, np.asarray(radii, dtype=np.float64), centre)


def smoothed(points: Floats, steps: int = 4) -> Floats:
    """A Catmull-Rom curve through the points (n, k), with `steps` pieces between two."""
    padded = np.concatenate([[2 * points[0] - points[1]], points, [2 * points[-1] - points[-2]]])
    t = np.linspace(0, 1, steps, endpoint=False)[:, None]
    pieces = []
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        pieces.append(((2 * b) + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3) / 2)
    return np.concatenate([*pieces, points[-1:]])


def tube_rings(points: Floats, radii: Floats, sides: int = 10) -> Floats:
    """Circles around a path, (n, sides, 3), turned as little as possible from one to the next."""
    along = np.gradient(points, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    angle = np.arange(sides) * 2 * np.pi / sides
    side = np.eye(3)[int(np.argmin(np.abs(along[0])))]
    rings = np.empty((len(points), sides, 3))
    for i, direction in enumerate(along):
        side = side - direction * (side @ direction)
        side = side / np.linalg.norm(side)
        other = rowwise_cross(direction[None], side[None])[0]
        rings[i] = points[i] + radii[i] * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * other)
    return rings


def tube(rings: Floats) -> Mesh:
    """A tube through circles (n, sides, 3), with flat ends."""
    rows, sides, _ = rings.shape
    meshes = [make(rings, grid(rows, sides, ring=True))]
    fan = np.array([[0, i, i + 1] for i in range(1, sides - 1)])
    return join([*meshes, make(rings[-1], fan), make(rings[0], fan[:, ::-1])])


def anticlockwise(outline: Floats) -> Floats:
    """The outline (n, 2) in anticlockwise order."""
    x, y = outline[:, 0], outline[:, 1]
    area = float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
    return outline if area > 0 else outline[::-1]


def triangles(outline: Floats) -> list[tuple[int, int, int]]:
    """An anticlockwise outline without holes cut into triangles, ear by ear.

    Raises:
        UsageError: it touches itself.
    """
    left = list(range(len(outline)))
    found: list[tuple[int, int, int]] = []
    while len(left) > 3:
        for k, b in enumerate(left):
            a, c = left[k - 1], left[(k + 1) % len(left)]
            if _is_ear(outline, a, b, c, left):
                found.append((a, b, c))
                left.pop(k)
                break
        else:
            raise UsageError("an outline touches itself: move its corners apart")
    return [*found, (left[0], left[1], left[2])]


def _cross(o: Floats, a: Floats, b: Floats) -> float:
    return float((a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]))


def _is_ear(outline: Floats, a: int, b: int, c: int, left: list[int]) -> bool:
    pa, pb, pc = outline[a], outline[b], outline[c]
    if _cross(pa, pb, pc) <= 0:
        return False
    others = (outline[i] for i in left if i not in (a, b, c))
    return not any(_cross(pa, pb, p) >= 0 and _cross(pb, pc, p) >= 0 and _cross(pc, pa, p) >= 0 for p in others)


def extrude(outline: Floats, low: float, high: float) -> Mesh:
    """An anticlockwise outline in x and y, thickened from z = low to z = high."""
    n = len(outline)
    caps = np.array(triangles(outline), dtype=np.int32)
    bottom = np.column_stack([outline, np.full(n, low)])
    top = np.column_stack([outline, np.full(n, high)])
    walls = []
    for strip in _strips(np.concatenate([outline, outline[:1]])):
        sides = np.stack([np.column_stack([strip, np.full(len(strip), z)]) for z in (low, high)])
        walls.append(make(sides, grid(2, len(strip), ring=False)))
    return join([make(bottom, caps[:, ::-1]), make(top, caps), *walls])
