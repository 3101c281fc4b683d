"""A recipe's parts as meshes to be seen and convex pieces to be touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise, product

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
    """What is seen, the corners of each convex piece that is touched, and how far it reaches: made when asked for."""

    def __init__(
        self,
        draw: Callable[[], Mesh],
        pieces: Callable[[], Sequence[Floats]],
        bounds: Callable[[], Floats] | None = None,
    ) -> None:
        self._draw, self._pieces, self._bounds = draw, pieces, bounds

    @cached_property
    def mesh(self) -> Mesh:
        return self._draw()

    @cached_property
    def pieces(self) -> tuple[Floats, ...]:
        return tuple(self._pieces())

    @cached_property
    def bounds(self) -> Floats:
        """The lowest and the highest corner (2, 3) of the box around the mesh; few shapes must be drawn to tell."""
        return spanned(self.mesh.vertices) if self._bounds is None else self._bounds()

    def mapped(self, matrix: Floats, offset: Floats) -> Shape:
        """The shape under x -> matrix x + offset."""
        return Shape(
            lambda: mesh.mapped(self.mesh, matrix, offset), lambda: [p @ matrix.T + offset for p in self.pieces]
        )

    def facing(self, matrix: Floats, offset: Floats) -> Shape:
        """The same where the matrix only exchanges axes."""
        found = self.mapped(matrix, offset)
        return Shape(lambda: found.mesh, lambda: found.pieces, lambda: self.bounds @ matrix.T + offset)

    def scaled(self, scale: Floats, offset: Floats) -> Shape:
        """The shape under x -> scale x + offset, axis by axis."""
        return Shape(
            lambda: mesh.scaled(self.mesh, scale, offset),
            lambda: [p * scale + offset for p in self.pieces],
            lambda: np.sort(self.bounds * scale + offset, axis=0),
        )


def spanned(points: Floats) -> Floats:
    """The lowest and the highest corner (2, 3) of the box around points (n, 3)."""
    return np.array([points.min(0), points.max(0)])


def shapes(part: Part, *, filled: bool = False) -> Iterator[Shape]:
    """The part and its mirror images, what is hollow perhaps `filled` to the touch. Things of all sizes and colours
    share them, so nobody may write to them."""
    return iter(_images(part, filled and part.inner is not None))


@lru_cache(maxsize=4096)
def _images(part: Part, filled: bool) -> tuple[Shape, ...]:
    name = next(name for name in MAKERS if getattr(part, name) is not None)
    shape = _turned(_lathe(part, filled=True) if filled else MAKERS[name](part), part.turn)
    if not part.mirror:
        return (shape,)
    return tuple(shape.scaled(np.array([x, y, 1.0]), np.zeros(3)) for x, y in IMAGES[part.mirror])


def box_shape(low: Floats, high: Floats, radius: float = 0) -> Shape:
    """A box between two corners, with rounded edges where `radius` is above 0."""

    def pieces() -> list[Floats]:
        return [mesh.corners(low, high)]

    if not radius:
        return Shape(lambda: mesh.box(low, high), pieces, lambda: np.array([low, high]))
    return Shape(
        lambda: mesh.rounded_box(low, high, radius), pieces, lambda: mesh.rounded_box_bounds(low, high, radius)
    )


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
    centre = shape.bounds.sum(0) / 2
    return shape.mapped(matrix, centre - matrix @ centre)


def _box(part: Part) -> Shape:
    ends = np.array(part.box, dtype=np.float64)
    return box_shape(ends[:3], ends[3:], part.round)


def _lathe(part: Part, *, filled: bool = False) -> Shape:
    outer = np.array(part.lathe, dtype=np.float64)
    if part.smooth:
        outer = np.maximum(mesh.smoothed(outer), [0, -np.inf])
    inner = np.array(part.inner or np.empty((0, 2)), dtype=np.float64)
    outline = np.concatenate([outer, inner[::-1]])
    shape = Shape(
        lambda: mesh.lathe(outline.tolist()),
        lambda: _wall_pieces(outer, inner) if part.inner and not filled else [_rings(outer, 16)],
        lambda: _turned_bounds(outline),
    )
    return shape.facing(AXES[part.axis], np.array(part.at, dtype=np.float64))


def _turned_bounds(outline: Floats) -> Floats:
    (_, bottom), (radius, top) = outline.min(0), outline.max(0)
    return np.array([[-radius, -radius, bottom], [radius, radius, top]])


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


def _wall_pieces(outer: Floats, inner: Floats) -> list[Floats]:
    """The base under the hollow, and the wall around it cut into sectors and levels."""
    floor = float(inner[:, 1].min())
    below = np.append(outer[outer[:, 1] < floor, 1], floor)
    base = [_rings(np.column_stack([_radius_at(outer, below), below]), 16)] if len(below) > 1 else []
    levels = np.unique(np.concatenate([[floor], outer[outer[:, 1] > floor, 1], inner[:, 1]]))
    angle = np.arange(SECTORS + 1) * 2 * np.pi / SECTORS
    arms = np.stack([np.cos(angle), np.sin(angle)], -1)
    around = np.stack([_radius_at(outer, levels), _radius_at(inner, levels)], -1)[:, :, None, None] * arms
    corners = np.empty((len(levels), 2, SECTORS + 1, 3))
    corners[..., :2], corners[..., 2] = around, levels[:, None, None]
    walls = product(range(SECTORS), range(len(levels) - 1))
    return base + [corners[i : i + 2, :, k : k + 2].reshape(8, 3) for k, i in walls]


def _tube(part: Part) -> Shape:
    points = np.array(part.tube, dtype=np.float64)
    radii = np.broadcast_to(np.asarray(part.radius, dtype=np.float64), (len(points),))
    if part.smooth:
        curve = mesh.smoothed(np.column_stack([points, radii]))
        points, radii = curve[:, :3], np.maximum(curve[:, 3], 1e-4)
    rings = mesh.tube_rings(points, radii)
    return Shape(lambda: mesh.tube(rings), lambda: _lengths(rings), lambda: spanned(rings.reshape(-1, 3)))


def _lengths(rings: Floats) -> list[Floats]:
    """A tube's rings cut into at most `MOST_TUBE_PIECES`."""
    cuts = np.unique(np.linspace(0, len(rings) - 1, min(len(rings), MOST_TUBE_PIECES + 1)).round().astype(int))
    return [rings[a : b + 1].reshape(-1, 3) for a, b in pairwise(cuts)]


def _extrude(part: Part) -> Shape:
    outline = mesh.anticlockwise(np.array(part.extrude, dtype=np.float64))
    low, high = part.span
    bounds = np.column_stack([(outline.min(0), outline.max(0)), (low, high)])
    shape = Shape(lambda: mesh.extrude(outline, low, high), lambda: _prisms(outline, low, high), lambda: bounds)
    return shape.facing(PLANES[part.plane], np.zeros(3))


def _prisms(outline: Floats, low: float, high: float) -> list[Floats]:
    """An anticlockwise outline, cut into triangles unless it is convex, thickened."""
    before, after = outline - np.roll(outline, 1, 0), np.roll(outline, -1, 0) - outline
    convex = bool((before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] >= -1e-12).all())
    ears = () if convex else mesh.triangles(outline)
    parts = [outline] if convex else [outline[list(three)] for three in ears if not _sliver(outline, three)]
    return [np.concatenate([np.column_stack([p, np.full(len(p), z)]) for z in (low, high)]) for p in parts]


def _sliver(outline: Floats, three: tuple[int, int, int]) -> bool:
    """Whether three corners are as good as in one line: no hull can be made of such a piece."""
    (ax, ay), (bx, by), (cx, cy) = outline[list(three)]
    return bool(abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) < SLIVER)


def _ellipsoid(part: Part) -> Shape:
    numbers = np.array(part.ellipsoid, dtype=np.float64)
    centre, radii = numbers[:3], numbers[3:]
    return Shape(
        lambda: mesh.ellipsoid(centre, radii),
        lambda: [mesh.ball(6, 10) * radii + centre],
        lambda: np.array([centre - radii, centre + radii]),
    )


MAKERS: dict[str, Callable[[Part], Shape]] = {
    "box": _box,
    "lathe": _lathe,
    "tube": _tube,
    "extrude": _extrude,
    "ellipsoid": _ellipsoid,
}
