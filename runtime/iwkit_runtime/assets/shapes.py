"""A recipe's parts as meshes to be seen and convex pieces to be touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from iwkit.spec.recipe import Axis, Part
from iwkit_runtime.assets import mesh
from iwkit_runtime.assets.mesh import Mesh
from iwkit_runtime.physical.spec import Floats

SECTORS = 12
"""Convex pieces around the wall of a hollow round thing."""
MOST_TUBE_PIECES = 8

SLIVER = 1e-9
"""Twice the area in square metres below which a triangle is no piece."""
AXES: dict[Axis, Floats] = {
    "z": np.eye(3),
    "x": np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    "y": np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
}
"""Rotations that turn z into the axis."""
PLANES: dict[str, Floats] = {
    "xy": np.eye(3),
    "xz": np.array([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]]),
    "yz": np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
}
"""Maps of an outline's two coordinates and its thickness to x, y, z."""
IMAGES: dict[str, tuple[tuple[int, int], ...]] = {
    "x": ((1, 1), (-1, 1)),
    "y": ((1, 1), (1, -1)),
    "xy": ((1, 1), (-1, 1), (1, -1), (-1, -1)),
}
"""Signs of x and y for each mirror image."""


class Shape:
    """What is seen, meshed when it is first asked for, and the corners of each convex piece."""

    def __init__(
        self, draw: Callable[[], Mesh], pieces: tuple[Floats, ...], span: Callable[[], Floats] | None = None
    ) -> None:
        self._draw, self.pieces, self._span = draw, pieces, span

    @cached_property
    def mesh(self) -> Mesh:
        return self._draw()

    @property
    def span(self) -> Floats:
        """Points (n, 3) that reach as far as the mesh does: its vertices, or such as are quicker to come by."""
        return self.mesh.vertices if self._span is None else self._span()

    def mapped(self, matrix: Floats, offset: Floats) -> Shape:
        """The shape under x -> matrix x + offset."""
        pieces = tuple(p @ matrix.T + offset for p in self.pieces)
        return Shape(lambda: mesh.mapped(self.mesh, matrix, offset), pieces)

    def scaled(self, scale: Floats, offset: Floats) -> Shape:
        """The shape under x -> scale x + offset, axis by axis."""
        pieces = tuple(p * scale + offset for p in self.pieces)
        return Shape(lambda: mesh.scaled(self.mesh, scale, offset), pieces, lambda: self.span * scale + offset)


def shapes(part: Part) -> Iterator[Shape]:
    """The part and its mirror images. Things of all sizes and colours share them, so nobody may write to them."""
    return iter(_images(part))


@lru_cache(maxsize=4096)
def _images(part: Part) -> tuple[Shape, ...]:
    name = next(name for name in MAKERS if getattr(part, name) is not None)
    shape = _turned(MAKERS[name](part), part.turn)
    if not part.mirror:
        return (shape,)
    return tuple(shape.scaled(np.array([x, y, 1.0]), np.zeros(3)) for x, y in IMAGES[part.mirror])


def box_shape(low: Floats, high: Floats, radius: float = 0) -> Shape:
    """A box between two corners, with rounded edges where `radius` is above 0."""
    pieces = (mesh.corners(low, high),)
    return Shape(lambda: mesh.rounded_box(low, high, radius) if radius else mesh.box(low, high), pieces)


def _turned(shape: Shape, degrees: tuple[float, float, float]) -> Shape:
    if not any(degrees):
        return shape
    matrix = np.eye(3)
    for axis, angle in enumerate(np.radians(degrees)):
        turn = np.eye(3)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn[[i, j], [i, j]] = np.cos(angle)
        turn[j, i], turn[i, j] = np.sin(angle), -np.sin(angle)
        matrix = turn @ matrix
    centre = (shape.mesh.vertices.min(0) + shape.mesh.vertices.max(0)) / 2
    return shape.mapped(matrix, centre - matrix @ centre)


def _box(part: Part) -> Shape:
    ends = np.array(part.box, dtype=np.float64)
    return box_shape(ends[:3], ends[3:], part.round)


def _lathe(part: Part) -> Shape:
    outer = np.array(part.lathe, dtype=np.float64)
    if part.smooth:
        outer = np.maximum(mesh.smoothed(outer), [0, -np.inf])
    if part.inner:
        inner = np.array(part.inner, dtype=np.float64)
        outline, pieces = np.concatenate([outer, inner[::-1]]), tuple(_wall_pieces(outer, inner))
    else:
        outline, pieces = outer, (_rings(outer, 16),)
    matrix, at = AXES[part.axis], np.array(part.at, dtype=np.float64)
    shape = Shape(lambda: mesh.lathe(outline.tolist()), pieces).mapped(matrix, at)
    return Shape(lambda: shape.mesh, shape.pieces, lambda: mesh.lathe_span(outline) @ matrix.T + at)


def _rings(outline: Floats, sides: int) -> Floats:
    angle = np.arange(sides) * 2 * np.pi / sides
    circle = np.stack([np.cos(angle), np.sin(angle)], -1)
    wide = outline[outline[:, 0] > 0]
    heights = np.broadcast_to(wide[:, None, 1:], (len(wide), sides, 1))
    return np.concatenate([wide[:, None, :1] * circle, heights], -1).reshape(-1, 3)


def _radius_at(outline: Floats, heights: Floats) -> Floats:
    """The outline's largest radius at each of these heights."""
    levels = np.unique(outline[:, 1])
    widest = np.array([outline[outline[:, 1] == level, 0].max() for level in levels])
    return np.asarray(np.interp(heights, levels, widest), dtype=np.float64)


def _wall_pieces(outer: Floats, inner: Floats) -> Iterator[Floats]:
    """The base under the hollow, and the wall around it cut into sectors and levels."""
    floor = float(inner[:, 1].min())
    below = np.append(outer[outer[:, 1] < floor, 1], floor)
    if floor > outer[:, 1].min():
        yield _rings(np.column_stack([_radius_at(outer, below), below]), 16)
    levels = np.unique(np.concatenate([[floor], outer[outer[:, 1] > floor, 1], inner[:, 1]]))
    wide, hollow = _radius_at(outer, levels), _radius_at(inner, levels)
    for k in range(SECTORS):
        angle = np.array([k, k + 1]) * 2 * np.pi / SECTORS
        circle = np.stack([np.cos(angle), np.sin(angle)], -1)
        for i in range(len(levels) - 1):
            ends = [(r[i + j], levels[i + j]) for j in (0, 1) for r in (wide, hollow)]
            yield np.array([[*(radius * arm), height] for radius, height in ends for arm in circle])


def _tube(part: Part) -> Shape:
    points = np.array(part.tube, dtype=np.float64)
    radii = np.broadcast_to(np.asarray(part.radius, dtype=np.float64), (len(points),))
    if part.smooth:
        curve = mesh.smoothed(np.column_stack([points, radii]))
        points, radii = curve[:, :3], np.maximum(curve[:, 3], 1e-4)
    rings = mesh.tube_rings(points, radii)
    cuts = np.unique(np.linspace(0, len(rings) - 1, min(len(rings), MOST_TUBE_PIECES + 1)).round().astype(int))
    pieces = tuple(rings[a : b + 1].reshape(-1, 3) for a, b in pairwise(cuts))
    return Shape(lambda: mesh.tube(rings), pieces)


def _extrude(part: Part) -> Shape:
    outline = mesh.anticlockwise(np.array(part.extrude, dtype=np.float64))
    low, high = part.span
    before, after = outline - np.roll(outline, 1, 0), np.roll(outline, -1, 0) - outline
    convex = bool((before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] >= -1e-12).all())
    ears = () if convex else mesh.triangles(outline)
    parts = [outline] if convex else [outline[list(three)] for three in ears if not _sliver(outline, three)]
    pieces = (np.concatenate([np.column_stack([p, np.full(len(p), z)]) for z in (low, high)]) for p in parts)
    return Shape(lambda: mesh.extrude(outline, low, high), tuple(pieces)).mapped(PLANES[part.plane], np.zeros(3))


def _sliver(outline: Floats, three: tuple[int, int, int]) -> bool:
    """Whether three corners are as good as in one line: no hull can be made of such a piece."""
    (ax, ay), (bx, by), (cx, cy) = outline[list(three)]
    return bool(abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) < SLIVER)


def _ellipsoid(part: Part) -> Shape:
    numbers = np.array(part.ellipsoid, dtype=np.float64)
    centre, radii = numbers[:3], numbers[3:]
    return Shape(lambda: mesh.ellipsoid(centre, radii), (mesh.ellipsoid(centre, radii, 6, 10).vertices,))


MAKERS: dict[str, Callable[[Part], Shape]] = {
    "box": _box,
    "lathe": _lathe,
    "tube": _tube,
    "extrude": _extrude,
    "ellipsoid": _ellipsoid,
}
