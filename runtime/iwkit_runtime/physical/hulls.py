"""Convex pieces as planes, centres of mass and sample points, many at once: a scene has thousands."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from iwkit.errors import UsageError
from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.spec import Floats, Piece

Indices = NDArray[np.int64]

SAMPLES = 128
"""Sample points in a piece's box."""
KEPT = 4096
"""Links whose shapes are kept for scenes that have them again."""
BOX = np.array(list(product((False, True), repeat=3)))
"""The corners of a box by which of their coordinates are the greater ones."""
_STEPS = np.array([0.8191725133961645, 0.6710436067037893, 0.5497004779019703])
"""Of the sequence that fills a cube most evenly (Roberts' R3): no two points share a coordinate, as on a grid."""
_FLAT = 1e-9
_MANY = 64
"""Planes of a piece from which on it is looked at by itself: what is round has hundreds."""
_BOX_FACES = np.array(
    [int(digit) for digit in "620 640 540 510 564 567 320 310 362 367 351 357".replace(" ", "")], dtype=np.int64
).reshape(-1, 3)
"""The triangles of a box with its corners as in `BOX`, in Qhull's order: points are spread over a surface by it."""
_BOX_SIDES = np.concatenate([-np.eye(3), np.eye(3)])
_BRICK = 6
"""Planes of a box, which most pieces are."""
_FULL = 1 - 1e-9
"""Part of its box from which on a piece fills it."""
_NEAR = 1e-5
"""Metres around a piece's box within which lines are tried: more than rounding can make of it."""


class Chosen(NamedTuple):
    """The numbers (k,) of some pieces, and which thing asks for each: it looks at no others."""

    pieces: Indices
    asker: Indices

    @classmethod
    def of(cls, lists: Sequence[Indices]) -> Chosen:
        """The pieces that each of several things asks for."""
        return cls(np.concatenate(lists), np.repeat(np.arange(len(lists)), [len(some) for some in lists]))


class Columns(NamedTuple):
    """Where vertical lines go through pieces: a line's and a piece's number (k,) and the heights (k,) at which the line
    enters and leaves the piece, by pieces."""

    line: Indices
    piece: Indices
    bottom: Floats
    top: Floats


@dataclass(frozen=True, eq=False)
class Stack:
    """Convex pieces one after the other, so that many can be asked at once.

    `volumes` (n,), `centroids`, `low` and `high` (n, 3) are by piece. `corners` (c, 3), `planes` (p, 4) with
    n . x + d <= 0 inside, and `points` (s, 3) spread inside are those of all pieces, of which each has `counts` (n, 3).
    """

    volumes: Floats
    centroids: Floats
    low: Floats
    high: Floats
    corners: Floats
    planes: Floats
    points: Floats
    counts: Indices

    def __len__(self) -> int:
        return len(self.volumes)

    @classmethod
    def join(cls, stacks: Sequence[Stack]) -> Stack:
        """All pieces of one or more stacks, in their order."""
        if len(stacks) == 1:
            return stacks[0]
        return cls(**{each.name: np.concatenate([getattr(s, each.name) for s in stacks]) for each in fields(cls)})

    def moved(self, at: Frame) -> Stack:
        """The same pieces, moved."""
        normals = self.planes[:, :3] @ at.turn.T
        planes = np.c_[normals, self.planes[:, 3] - normals @ at.at]
        corners, centroids, points = at.point(self.corners), at.point(self.centroids), at.point(self.points)
        low, high = _bounds(corners, self.counts[:, 0])
        return Stack(self.volumes, centroids, low, high, corners, planes, points, self.counts)

    def part(self, start: int, end: int) -> Stack:
        """The pieces from one number up to another."""
        upto = np.concatenate([[[0, 0, 0]], np.cumsum(self.counts[:end], axis=0)])[[start, end]]
        corners, planes, points = (slice(*ends) for ends in upto.T.tolist())
        some = slice(start, end)
        return Stack(
            self.volumes[some],
            self.centroids[some],
            self.low[some],
            self.high[some],
            self.corners[corners],
            self.planes[planes],
            self.points[points],
            self.counts[some],
        )

    def corners_of(self, chosen: Indices) -> tuple[Floats, Floats]:
        """The corners (c, 3) of some pieces, and for each the middle of its piece."""
        counts = self.counts[chosen, 0]
        return self.corners[_runs(self._firsts[chosen, 0], counts)], np.repeat(self.centroids[chosen], counts, axis=0)

    def columns(self, lines: Floats, asker: Indices, below: Floats, chosen: Chosen) -> Columns:
        """Where vertical lines through plan positions (m, 2) go through those pieces chosen by the `asker` (m,) of each
        that begin lower than `below` (m,). What misses a piece is left out."""
        line, piece = self._close(lines, asker, below, chosen)
        bottom, top = np.empty(len(line)), np.empty(len(line))
        sides = self.counts[piece, 1]
        many, bricks = sides > _MANY, sides == _BRICK
        bottom[bricks], top[bricks] = _through_bricks(self.planes, self._firsts[piece[bricks], 1], lines[line[bricks]])
        for one in _alike(np.flatnonzero(many), piece):
            start, count = int(self._firsts[piece[one[0]], 1]), int(sides[one[0]])
            bottom[one], top[one] = _through(self.planes[start : start + count], lines[line[one]])
        few = np.flatnonzero(~(many | bricks))
        if len(few):
            counts = self.counts[piece[few], 1]
            planes = self.planes[_runs(self._firsts[piece[few], 1], counts)]
            bottom[few], top[few] = _through_few(planes, np.repeat(lines[line[few]], counts, axis=0), counts)
        met = bottom <= top + _FLAT
        return Columns(line[met], piece[met], bottom[met], top[met])

    def _close(self, lines: Floats, asker: Indices, below: Floats, chosen: Chosen) -> tuple[Indices, Indices]:
        """The numbers (k,) of lines, and of those chosen pieces whose boxes they may meet; by pieces."""
        low, high = self.low[chosen.pieces] - _NEAR, self.high[chosen.pieces] + _NEAR
        # by asker and then by x, in whole numbers: the rank of an x among all that there are
        ranks, rank = np.unique(np.concatenate([lines[:, 0], low[:, 0], high[:, 0]]), return_inverse=True)
        of_line, of_low, of_high = np.split(rank, [len(lines), len(lines) + len(low)])
        keys, start = asker * len(ranks) + of_line, chosen.asker * len(ranks)
        order = np.argsort(keys)
        first, last = (np.searchsorted(keys[order], start + ends) for ends in (of_low, of_high))
        number, line = np.repeat(np.arange(len(low)), last - first), order[_runs(first, last - first)]
        y = lines[line, 1]
        close = (low[number, 1] <= y) & (y <= high[number, 1]) & (low[number, 2] <= below[line])
        return line[close], chosen.pieces[number[close]]

    @cached_property
    def box_like(self) -> NDArray[np.bool_]:
        """Which pieces (n,) fill the upright boxes around them."""
        return np.asarray(self.volumes >= _FULL * np.prod(self.high - self.low, axis=1))

    @cached_property
    def _firsts(self) -> Indices:
        """The number (n, 3) of each piece's first corner, plane and point."""
        return np.asarray(np.cumsum(self.counts, axis=0) - self.counts)


def _alike(rows: Indices, values: Indices) -> list[Indices]:
    """Those rows, cut where the value of one is not that of the row before."""
    return np.split(rows, np.flatnonzero(np.diff(values[rows])) + 1) if len(rows) else []


def _through(planes: Floats, lines: Floats) -> tuple[Floats, Floats]:
    """Where lines (m, 2) enter and leave a piece with those planes (p, 4): heights (m,), infinite beside it."""
    slope = planes[:, 2]
    up, down = planes[slope > _FLAT], planes[slope < -_FLAT]
    beside = (_level(planes[np.abs(slope) <= _FLAT], lines) < -_FLAT).any(1)
    bottom = (_level(down, lines) / down[:, 2]).max(1)
    return np.where(beside, np.inf, bottom), (_level(up, lines) / up[:, 2]).min(1)


def _level(planes: Floats, lines: Floats) -> Floats:
    """How far lines (m, 2) at height 0 are inside of planes (p, 4): (m, p)."""
    return np.asarray(-(lines[:, :1] * planes[:, 0] + lines[:, 1:] * planes[:, 1] + planes[:, 3]))


def _through_bricks(planes: Floats, first: Indices, lines: Floats) -> tuple[Floats, Floats]:
    """The same for pieces of `_BRICK` planes, by the number (m,) of the first: side by side, since most are such."""
    bottom, top = np.full(len(first), -np.inf), np.full(len(first), np.inf)
    beside = np.zeros(len(first), dtype=bool)
    parts, (x, y) = np.ascontiguousarray(planes.T), np.ascontiguousarray(lines.T)
    for side in range(_BRICK):
        nx, ny, slope, offset = parts[:, first + side]
        level = -(x * nx + y * ny + offset)
        up, down = slope > _FLAT, slope < -_FLAT
        upright = ~(up | down)
        height = level / np.where(upright, 1.0, slope)
        np.maximum(bottom, height, out=bottom, where=down)
        np.minimum(top, height, out=top, where=up)
        beside |= upright & (level < -_FLAT)
    return np.where(beside, np.inf, bottom), top


def _through_few(planes: Floats, lines: Floats, counts: Indices) -> tuple[Floats, Floats]:
    """The same for many pieces of few planes each: a row (p, 2) of `lines` for each of the planes (p, 4) of its piece,
    and of how many planes each piece has."""
    level, slope = -(lines[:, 0] * planes[:, 0] + lines[:, 1] * planes[:, 1] + planes[:, 3]), planes[:, 2]
    up, down = slope > _FLAT, slope < -_FLAT
    height = level / np.where(up | down, slope, 1.0)
    starts = np.cumsum(counts) - counts
    bottom = np.maximum.reduceat(np.where(down, height, -np.inf), starts)
    beside = np.logical_or.reduceat(~(up | down) & (level < -_FLAT), starts)
    return np.where(beside, np.inf, bottom), np.minimum.reduceat(np.where(up, height, np.inf), starts)


def _bounds(corners: Floats, counts: Indices) -> tuple[Floats, Floats]:
    """The lowest and highest corner (n, 3) of each piece's box; so many of the corners (c, 3) are each piece's."""
    starts = np.cumsum(counts) - counts
    return np.minimum.reduceat(corners, starts), np.maximum.reduceat(corners, starts)


def _runs(first: Indices, counts: Indices) -> Indices:
    """The numbers of runs that begin at `first` (n,) and are so long, one after the other."""
    ends = np.cumsum(counts)
    return np.asarray(np.repeat(first - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0))


_NONE = np.zeros((0, 3))
EMPTY = Stack(np.zeros(0), _NONE, _NONE, _NONE, _NONE, np.zeros((0, 4)), _NONE, np.zeros((0, 3), dtype=np.int64))
"""No pieces."""


class Shape(NamedTuple):
    """The hulls of a link's pieces in its frame, and the triangles (m, 3, 3) of their faces."""

    pieces: Stack
    faces: Floats


_shapes: OrderedDict[tuple[bytes, ...], Shape] = OrderedDict()


def shapes(links: Sequence[tuple[str, Sequence[Piece]]]) -> list[Shape]:
    """The shapes of links that are given by their owners' names and at least one piece; the same pieces share one.

    Raises:
        UsageError: a piece is no solid.
    """
    keys = [tuple(np.asarray(piece.vertices, dtype=np.float64).tobytes() for piece in pieces) for _, pieces in links]
    new = {key: link for key, link in zip(keys, links, strict=True) if key not in _shapes}
    if new:
        _shapes.update(zip(new, _built(list(new.values())), strict=True))
    found = [_shapes[key] for key in keys]
    for key in dict.fromkeys(keys):
        _shapes.move_to_end(key)
    while len(_shapes) > KEPT:
        _shapes.popitem(last=False)
    return found


def _built(links: Sequence[tuple[str, Sequence[Piece]]]) -> Iterator[Shape]:
    """All at once: thousands of small arrays would take longer than what is done with them."""
    hulls = _hulls([(owner, piece.vertices) for owner, pieces in links for piece in pieces])
    faces, face_counts, corners, corner_counts = _surfaces(hulls)
    low, high = _bounds(corners, corner_counts)
    centroids = _centroids(corners, corner_counts, faces, face_counts)
    planes, plane_counts = _planes(hulls)
    points = _points(low, high, planes, plane_counts, centroids)
    counts = np.stack([corner_counts, plane_counts, [len(some) for some in points]], axis=1)
    volumes = np.array([hull.volume for hull in hulls])
    whole = Stack(volumes, centroids, low, high, corners, planes, np.concatenate(points), counts)
    ends = np.cumsum([len(pieces) for _, pieces in links]).tolist()
    last = np.cumsum(face_counts)[np.subtract(ends, 1)].tolist()
    for start, end, first, after in zip([0, *ends], ends, [0, *last], last, strict=False):
        yield Shape(whole.part(start, end), faces[first:after])


class _Hull(NamedTuple):
    """Points (n, 3), of which some may lie within; triangles (m, 3) of their numbers; planes (p, 4) of these."""

    points: Floats
    simplices: Indices
    equations: Floats
    volume: float


def _hulls(pieces: Sequence[tuple[str, Floats]]) -> list[_Hull]:
    """The hull of each piece, given with its owner's name; boxes without Qhull, which would give the same."""
    boxes = [n for n, (_, points) in enumerate(pieces) if len(points) == len(BOX)]
    corners = np.array([pieces[n][1] for n in boxes], dtype=np.float64).reshape(-1, len(BOX), 3)
    low, high = corners[:, 0], corners[:, -1]
    sound = (corners == np.where(BOX, high[:, None], low[:, None])).all((1, 2)) & (high - low > _FLAT).all(1)
    offsets = np.concatenate([low, -high], axis=1)
    volumes = np.prod(high - low, axis=1).tolist()
    found = {
        boxes[n]: _Hull(corners[n], _BOX_FACES, np.column_stack([_BOX_SIDES, offsets[n]]), volumes[n])
        for n in np.flatnonzero(sound).tolist()
    }
    return [found.get(n) or _hull(owner, points) for n, (owner, points) in enumerate(pieces)]


def _hull(owner: str, points: Floats) -> _Hull:
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        raise UsageError(
            f"a piece of '{owner}' has no volume: give four or more points that don't lie in a plane"
        ) from None
    return _Hull(hull.points, hull.simplices.astype(np.int64), hull.equations, float(hull.volume))


def _surfaces(hulls: Sequence[_Hull]) -> tuple[Floats, Indices, Floats, Indices]:
    """The triangles (m, 3, 3) of all hulls and how many each has, and their corners (c, 3) likewise."""
    points = np.concatenate([hull.points for hull in hulls])
    sizes, face_counts = (np.array([len(getattr(h, name)) for h in hulls]) for name in ("points", "simplices"))
    first = np.cumsum(sizes) - sizes
    faces = np.concatenate([hull.simplices for hull in hulls]) + np.repeat(first, face_counts)[:, None]
    used = np.zeros(len(points), dtype=bool)
    used[faces] = True
    return points[faces], face_counts, points[used], np.add.reduceat(used, first, dtype=np.int64)


def _planes(hulls: Sequence[_Hull]) -> tuple[Floats, Indices]:
    """The planes (p, 4) of all hulls, and how many each has: the triangles of one face have one plane."""
    planes = np.concatenate([hull.equations for hull in hulls]).round(9)
    number = np.repeat(np.arange(len(hulls)), [len(hull.equations) for hull in hulls])
    order = np.lexsort((*planes.T[::-1], number))
    planes, number = planes[order], number[order]
    fresh = np.r_[True, (number[1:] != number[:-1]) | (planes[1:] != planes[:-1]).any(1)]
    return planes[fresh], np.bincount(number[fresh])


def _centroids(corners: Floats, corner_counts: Indices, faces: Floats, face_counts: Indices) -> Floats:
    """The centre of mass (n, 3) of each hull, from the pyramids over its triangles (m, 3, 3)."""
    middle = np.add.reduceat(corners, np.cumsum(corner_counts) - corner_counts) / corner_counts[:, None]
    starts = np.cumsum(face_counts) - face_counts
    from_middle = faces - np.repeat(middle, face_counts, axis=0)[:, None]
    parts = np.abs(np.linalg.det(from_middle))
    moments = np.add.reduceat(parts[:, None] * from_middle.sum(1), starts)
    return np.asarray(middle + moments / (4 * np.add.reduceat(parts, starts)[:, None]))


def _points(low: Floats, high: Floats, planes: Floats, counts: Indices, centroids: Floats) -> list[Floats]:
    """Points spread evenly over each piece's box, of which those inside the piece are kept."""
    spread = low[:, None] + (np.arange(1, SAMPLES + 1)[:, None] * _STEPS % 1) * (high - low)[:, None]
    found, ends = list(spread), np.cumsum(counts)
    slanted = np.logical_or.reduceat((planes[:, :3] != 0).sum(1) > 1, ends - counts)
    for n in np.flatnonzero(slanted).tolist():
        sides = planes[ends[n] - counts[n] : ends[n]]
        inside = (found[n] @ sides[:, :3].T + sides[:, 3] <= 0).all(1)
        found[n] = found[n][inside] if inside.any() else centroids[n : n + 1]
    return found
