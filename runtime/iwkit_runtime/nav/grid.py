"""The occupancy grid: 0.10 m cells with layers for walls, furniture, door leaves and floor (B.2.1, ACT-2)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy import ndimage

from iwkit.errors import UsageError
from iwkit_runtime.nav.geometry import (
    EPSILON,
    Bools,
    Floats,
    Ints,
    Point,
    distance_to_outline,
    meets_squares,
    point,
    points,
    slice_outline,
)

CELL = 0.10
"""Side of a cell in metres, r in equation 2."""
LADDER = (0.20, 0.15, 0.10)
"""Radii in metres by which obstacles are inflated, the largest first."""
AVOID = 0.20
"""Radius in metres of the disk around a place where a trajectory failed its check: the wearer's middle stays out."""
ESCAPE = 0.30
"""Who starts closer to an obstacle than the smallest radius may use any free cell within these metres to get away."""

Layer = Literal["wall", "furniture", "door"]
BANDS: Mapping[Layer, tuple[float, float]] = {"wall": (0.20, 1.90), "furniture": (0.05, 1.90), "door": (0.05, 1.90)}
"""Layer -> heights above the floor, in metres, between which a piece is in the wearer's way."""


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A convex piece in the world frame: the hull of `vertices` (n, 3), metres. `owner` is what it belongs to."""

    owner: str
    layer: Layer
    vertices: Floats


@dataclass(frozen=True, eq=False)
class Footprint:
    """The cells that a piece blocks (flat indices) and its outline from above (k, 2)."""

    owner: str
    layer: Layer
    cells: Ints
    outline: Floats


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells over the floor, row by row from (x0, y0), with an unsupported margin around. Made by `build_grid`.

    `supported` (rows, columns) is True where there is floor. A cell's flat index is row * columns + column.
    """

    x0: float
    y0: float
    supported: Bools = field(repr=False)
    footprints: tuple[Footprint, ...] = field(repr=False)

    @property
    def columns(self) -> int:
        return int(self.supported.shape[1])

    @cached_property
    def blocked(self) -> Bools:
        """(rows, columns), True where there is no floor or where the cell's square meets a piece."""
        return ~self.supported | self.layer("wall") | self.layer("furniture") | self.layer("door")

    @cached_property
    def clearance(self) -> Floats:
        """(rows, columns): D in equation 2, metres from a cell's middle to the nearest middle of a blocked one."""
        return np.asarray(ndimage.distance_transform_edt(~self.blocked, sampling=CELL), dtype=np.float64)

    def layer(self, name: Layer) -> Bools:
        """(rows, columns), True where a piece of this layer is."""
        return self._cells_of([f.cells for f in self.footprints if f.layer == name])

    def owned(self, owner: str) -> Bools:
        """(rows, columns), True where a piece of this owner is."""
        return self._cells_of([f.cells for f in self.footprints if f.owner == owner])

    def cell(self, place: Point) -> int:
        """The flat index of the cell of a place.

        Raises:
            UsageError: it lies outside of the grid.
        """
        x, y = point(place, "a place")
        if not self.covers((x, y)):
            raise UsageError(f"the place ({x:g}, {y:g}) is nowhere near the floor: give one inside a room")
        return int((y - self.y0) // CELL) * self.columns + int((x - self.x0) // CELL)

    def covers(self, place: Point) -> bool:
        """Whether a place lies in the grid, its margin left out."""
        row, column = (place[1] - self.y0) / CELL, (place[0] - self.x0) / CELL
        rows, columns = self.supported.shape
        # The margin doesn't count: search takes it that every cell has eight neighbours.
        return bool(1 <= row < rows - 1 and 1 <= column < columns - 1)

    def centres(self, cells: Ints | Sequence[int]) -> Floats:
        """(n, 2): the middles of cells, metres in the world frame."""
        return self._lattice.centres(np.asarray(cells, dtype=np.int64))

    @property
    def _lattice(self) -> Lattice:
        rows, columns = self.supported.shape
        return Lattice(self.x0, self.y0, int(rows), int(columns))

    def all_centres(self) -> Floats:
        """(rows * columns, 2): the middles of all cells."""
        return self.centres(np.arange(self.supported.size))

    def without(self, *owners: str) -> Grid:
        """The grid with all pieces of these owners taken away."""
        return replace(self, footprints=tuple(f for f in self.footprints if f.owner not in owners))

    def with_pieces(self, obstacles: Iterable[Obstacle]) -> Grid:
        """The grid with pieces added. To move a thing: `grid.without(name).with_pieces(...)`."""
        return replace(self, footprints=self.footprints + tuple(filter(None, map(self._footprint, obstacles))))

    def nearest_owner(self, place: Point, layers: Collection[Layer] = tuple(BANDS)) -> str | None:
        """What of these layers is closest to a place, seen from above; the first by name of those equally close."""
        pieces = [f for f in self.footprints if f.layer in layers]
        if not pieces:
            return None
        boxes = np.array([(*f.outline.min(axis=0), *f.outline.max(axis=0)) for f in pieces])
        least = np.hypot(*np.maximum(np.maximum(boxes[:, :2] - place, place - boxes[:, 2:]), 0.0).T)
        best = (math.inf, "")
        for n in np.argsort(least, kind="stable").tolist():
            if least[n] > best[0] + EPSILON:
                break
            best = min(best, (round(distance_to_outline(pieces[n].outline, place), 6), pieces[n].owner))
        return best[1]

    def _cells_of(self, groups: Sequence[Ints]) -> Bools:
        mask = np.zeros(self.supported.shape, dtype=bool)
        if groups:
            mask.reshape(-1)[np.concatenate(groups)] = True
        return mask

    def _footprint(self, obstacle: Obstacle) -> Footprint | None:
        if obstacle.layer not in BANDS:
            raise UsageError(f"{obstacle.owner} is in layer {obstacle.layer!r}: layers are {', '.join(BANDS)}")
        vertices = points(obstacle.vertices, 3, f"the vertices of a piece of {obstacle.owner}")
        outline, cells = _met(self._lattice, vertices.tobytes(), obstacle.layer)
        return Footprint(obstacle.owner, obstacle.layer, cells, outline) if len(outline) else None


class Lattice(NamedTuple):
    """Where the cells of a grid are: the corner of the first one, and how many there are."""

    x0: float
    y0: float
    rows: int
    columns: int

    def centres(self, cells: Ints) -> Floats:
        """(n, 2): the middles of cells, metres in the world frame."""
        rows, columns = np.divmod(cells, self.columns)
        return np.column_stack([self.x0 + (columns + 0.5) * CELL, self.y0 + (rows + 0.5) * CELL])


@lru_cache(maxsize=16384)
def _met(lattice: Lattice, vertices: bytes, layer: Layer) -> tuple[Floats, Ints]:
    """The outline (k, 2) of what of a piece lies in the heights of a layer, and the cells (n,) that it meets: found out
    once, for much in a scene never moves, and doors are open or closed."""
    outline = slice_outline(np.frombuffer(vertices).reshape(-1, 3), *BANDS[layer])
    if not len(outline):
        return outline, np.empty(0, np.int64)
    low = np.floor((outline.min(axis=0) - lattice[:2]) / CELL - EPSILON).astype(int)
    high = np.floor((outline.max(axis=0) - lattice[:2]) / CELL + EPSILON).astype(int)
    row, column = np.mgrid[
        max(low[1], 0) : min(high[1] + 1, lattice.rows), max(low[0], 0) : min(high[0] + 1, lattice.columns)
    ]
    cells = (row * lattice.columns + column).ravel().astype(np.int64)
    cells = cells[meets_squares(outline, lattice.centres(cells), CELL)]
    outline.flags.writeable = cells.flags.writeable = False
    return outline, cells


def build_grid(floors: object, obstacles: Iterable[Obstacle]) -> Grid:
    """The grid over floor rectangles at z = 0.

    A cell is blocked when its square meets what of a piece lies in the heights of its layer (`BANDS`), or when a corner
    of it has no floor.

    Args:
        floors: (n, 4) rectangles x0, y0, x1, y1 in metres. Cell sides lie at multiples of 0.10 m in the world frame.

    Raises:
        UsageError: no floor, or numbers that aren't finite, or a rectangle inside out.
    """
    boxes = points(floors, 4, "floor rectangles")
    if (boxes[:, :2] >= boxes[:, 2:]).any():
        raise UsageError("a floor rectangle is x0, y0, x1, y1 with x0 < x1 and y0 < y1")
    low = np.floor(boxes[:, :2].min(axis=0) / CELL + EPSILON).astype(int) - 1
    high = np.ceil(boxes[:, 2:].max(axis=0) / CELL - EPSILON).astype(int) + 1
    across, along = (np.arange(low[axis], high[axis] + 1) * CELL for axis in (0, 1))
    # A corner counts as on the floor a little inside its cell: floors end at cell sides.
    corners = [_on_floor(boxes, xs, ys) for xs in _insides(across) for ys in _insides(along)]
    bare = Grid(float(low[0] * CELL), float(low[1] * CELL), np.logical_and.reduce(corners), ())
    return bare.with_pieces(obstacles)


def _insides(edges: Floats) -> tuple[Floats, Floats]:
    return edges[:-1] + 2 * EPSILON, edges[1:] - 2 * EPSILON


def _on_floor(boxes: Floats, xs: Floats, ys: Floats) -> Bools:
    """(len(ys), len(xs)): whether each point of the lattice lies in some rectangle."""
    in_x = (xs >= boxes[:, :1] - EPSILON) & (xs <= boxes[:, 2:3] + EPSILON)
    in_y = (ys >= boxes[:, 1:2] - EPSILON) & (ys <= boxes[:, 3:4] + EPSILON)
    return np.asarray((in_y[:, :, None] & in_x[:, None, :]).any(axis=0))


@dataclass(frozen=True, eq=False)
class Space:
    """Where the middle of the wearer may be: cells with more than `radius` of clearance, and no avoidance disk on them.

    Where the cell of `start` has no more clearance than the smallest radius, it and the free cells within `ESCAPE` of
    it are among them, for the wearer is there. `avoid` are middles of disks (`AVOID`); they leave the cells of `start`
    and `goal` alone.
    """

    grid: Grid
    radius: float
    start: Point
    goal: Point | None = None
    avoid: tuple[Point, ...] = ()

    @cached_property
    def passable(self) -> Bools:
        """(rows, columns)"""
        clearance, origin = self.grid.clearance, self.grid.cell(self.start)
        mask = clearance > self.radius + EPSILON
        middles = self.grid.all_centres()
        if clearance.flat[origin] <= LADDER[-1] + EPSILON:
            near = np.hypot(*(middles - middles[origin]).T) <= ESCAPE
            mask |= near.reshape(mask.shape) & (clearance > 0)
            mask.reshape(-1)[origin] = True
        avoided = np.zeros_like(mask)
        for disk in self.avoid:
            avoided |= (np.hypot(*(middles - disk).T) <= AVOID).reshape(mask.shape)
        if self.goal is not None:
            avoided.reshape(-1)[self.grid.cell(self.goal)] = False
        avoided.reshape(-1)[origin] = False
        return np.asarray(mask & ~avoided)

    @cached_property
    def reachable(self) -> Bools:
        """(rows, columns), True where a way leads from `start`."""
        # Diagonal steps need both cells beside them, so what eight neighbours connect four do as well.
        parts, _ = ndimage.label(self.passable)
        return np.asarray(self.passable & (parts == parts.flat[self.grid.cell(self.start)]))

    def reaches(self, goal: Point) -> bool:
        return bool(self.reachable.flat[self.grid.cell(goal)])


def widest_space(grid: Grid, start: Point, goal: Point, avoid: tuple[Point, ...] = ()) -> Space | None:
    """The space of the largest radius of the ladder that keeps start and goal connected (ACT-2), or None."""
    rungs = (Space(grid, radius, start, goal, avoid) for radius in LADDER)
    return next((space for space in rungs if space.reaches(goal)), None)
