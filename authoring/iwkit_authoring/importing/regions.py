"""Where things can stand on and in an imported model, found from its convex pieces.

Upright lines through a raster of the footprint meet the pieces in intervals; the gaps between these are where something
could be. Pieces count as half a cell wider than they are, so that no region reaches into a thin wall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from iwkit_runtime.assets.builder import FREE, SPARE
from iwkit_runtime.physical.spec import Floats

COLUMNS = 48
"""Cells of the raster each way."""
LEVELS = 40
FLAT = 0.005
"""A surface's height may differ by this, in metres."""
HEADROOM = 0.05
"""Metres (or half the thing's height, if that is less) that a surface has above it."""
WIDE = 0.15
"""The share of the footprint that a surface has at least."""
LESS = 0.2
"""The share of the largest interior that a further one has at least."""
MOST = 6
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Spot:
    """A box where things can be on or in a link, by its corners; a surface's bottom lies on the surface."""

    link: str
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class _Raster:
    """x and y of the lines; the pieces' intervals on them (k, columns, columns), NaN where one is missed; owners."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    owner: Sequence[str]
    top: float


def find_regions(pieces: Mapping[str, Sequence[Floats]]) -> tuple[list[Spot], list[Spot]]:
    """The surfaces and the interiors of a thing whose links are closed, the largest first."""
    raster = _rastered(pieces)
    interiors = _interiors(raster)
    return _surfaces(raster, interiors), interiors


def _rastered(pieces: Mapping[str, Sequence[Floats]]) -> _Raster:
    flat = [(link, piece) for link, found in pieces.items() for piece in found]
    points = np.concatenate([piece for _, piece in flat])
    start, end = points.min(0), points.max(0)
    cell = (end[:2] - start[:2]) / COLUMNS
    x, y = (start[i] + cell[i] * (np.arange(COLUMNS) + 0.5) for i in (0, 1))
    gx, gy = np.meshgrid(x, y, indexing="ij")
    found = [_met(ConvexHull(piece).equations, gx, gy, cell) for _, piece in flat]
    low, high = (np.stack([one[i] for one in found]) for i in (0, 1))
    return _Raster(x, y, low, high, [link for link, _ in flat], float(end[2]))


def _met(planes: Floats, gx: Floats, gy: Floats, cell: Floats) -> tuple[Floats, Floats]:
    """Where upright lines enter and leave a convex piece that is half a cell wider each way."""
    room = -planes[:, 3] + np.abs(planes[:, :2]) @ (cell / 2)
    left = room[:, None, None] - planes[:, 0, None, None] * gx - planes[:, 1, None, None] * gy
    rise = planes[:, 2]
    up, down, side = rise > 1e-9, rise < -1e-9, np.abs(rise) <= 1e-9
    high = np.min(left[up] / rise[up, None, None], axis=0)
    low = np.max(left[down] / rise[down, None, None], axis=0)
    bounds = -planes[:, 3]
    high = np.minimum(high, bounds[rise > 1 - 1e-6].min(initial=np.inf))
    missed = (high <= low) | (left[side] < 0).any(0)
    return np.where(missed, np.nan, low), np.where(missed, np.nan, high)


def _solid(raster: _Raster, levels: Floats) -> Mask:
    """Which cells (columns, columns, levels) something reaches into."""
    half = (levels[1] - levels[0]) / 2
    solid = np.zeros((COLUMNS, COLUMNS, len(levels)), dtype=bool)
    for low, high in zip(raster.low, raster.high, strict=True):
        solid |= (levels > low[..., None] - half) & (levels < high[..., None] + half)
    return solid


def _interiors(raster: _Raster) -> list[Spot]:
    """Boxes with a floor and walls around them: on all sides, or on three and above."""
    step = raster.top / LEVELS
    levels: Floats = np.asarray(step * (np.arange(LEVELS) + 0.5), dtype=np.float64)
    solid = _solid(raster, levels)

    def seen(axis: int, *, backwards: bool) -> Mask:
        turned = np.flip(solid, axis) if backwards else solid
        found = np.maximum.accumulate(turned, axis=axis)
        return np.flip(found, axis) if backwards else found

    sides = sum(seen(axis, backwards=backwards).astype(int) for axis in (0, 1) for backwards in (False, True))
    under, over = seen(2, backwards=False), seen(2, backwards=True)
    enclosed = ~solid & under & ((sides == 4) | ((sides == 3) & over))
    found: list[Spot] = []
    largest = 0.0
    while len(found) < MOST:
        box, volume = _largest_box(enclosed)
        if not volume or volume < LESS * largest:
            break
        largest = largest or volume
        (x0, x1), (y0, y1), (z0, z1) = box
        enclosed[x0:x1, y0:y1, z0:z1] = False
        if min(x1 - x0, y1 - y0, z1 - z0) < 3:
            continue
        found.append(_interior(raster, box, levels, step))
    return found


Span = tuple[int, int]


def _interior(raster: _Raster, box: tuple[Span, Span, Span], levels: Floats, step: float) -> Spot:
    """The box of cells, its floor and its ceiling moved to where the pieces are."""
    (x0, x1), (y0, y1), (z0, z1) = box
    cell = np.array([raster.x[1] - raster.x[0], raster.y[1] - raster.y[0]]) / 2
    low = np.array([raster.x[x0] - cell[0], raster.y[y0] - cell[1], levels[z0] - step / 2])
    high = np.array([raster.x[x1 - 1] + cell[0], raster.y[y1 - 1] + cell[1], levels[z1 - 1] + step / 2])
    window = (slice(None), slice(x0, x1), slice(y0, y1))
    tops, bottoms = raster.high[window], raster.low[window]
    middle = (low[2] + high[2]) / 2
    under = np.where(tops <= middle, tops, np.nan)
    floor = float(np.nanmax(under, initial=-np.inf))
    over = float(np.nanmin(np.where(bottoms >= middle, bottoms, np.nan), initial=np.inf))
    low[2] = floor if np.isfinite(floor) else low[2]
    high[2] = min(over if over < high[2] + 2 * step else high[2], raster.top)
    owner = int(np.nanargmax(np.where(np.isnan(under), -np.inf, under).max(axis=(1, 2))))
    return Spot(raster.owner[owner], low + SPARE * np.array([1, 1, 1]), high - SPARE)


def _largest_box(cells: Mask) -> tuple[tuple[Span, Span, Span], float]:
    """The box of the most cells all of which are set; its volume is their number."""
    best: tuple[tuple[Span, Span, Span], float] = (((0, 0), (0, 0), (0, 0)), 0.0)
    depth = cells.shape[2]
    for low in range(depth):
        mask = cells[:, :, low].copy()
        for high in range(low + 1, depth + 1):
            mask &= cells[:, :, high - 1]
            count = int(mask.sum())
            if not count:
                break
            if count * (depth - low) <= best[1]:
                break
            if count * (high - low) <= best[1]:
                continue
            rows, columns, area = largest_rectangle(mask)
            if area * (high - low) > best[1]:
                best = ((rows, columns, (low, high)), float(area * (high - low)))
    return best


def largest_rectangle(mask: Mask) -> tuple[Span, Span, int]:
    """Rows, columns and area of the largest rectangle of a mask that is set throughout."""
    best: tuple[Span, Span, int] = ((0, 0), (0, 0), 0)
    heights = np.zeros(mask.shape[1], dtype=int)
    for row in range(mask.shape[0]):
        heights = np.where(mask[row], heights + 1, 0)
        stack: list[tuple[int, int]] = []
        for column, height in enumerate([*heights.tolist(), 0]):
            start = column
            while stack and stack[-1][1] >= height:
                start, tall = stack.pop()
                if tall * (column - start) > best[2]:
                    best = ((row + 1 - tall, row + 1), (start, column), tall * (column - start))
            stack.append((start, height))
    return best


def _surfaces(raster: _Raster, interiors: Sequence[Spot]) -> list[Spot]:
    """Flat places with room above them that aren't the floor of an interior."""
    need = min(HEADROOM, raster.top / 2)
    tops, above = _free_tops(raster)
    free = ~np.isnan(tops) & (above >= need)
    found: list[Spot] = []
    while len(found) < MOST and free.any():
        height = _commonest(tops[free])
        level = free & (np.abs(tops - height) <= FLAT)
        free &= ~level
        mask: Mask = np.asarray(level.any(0))
        (x0, x1), (y0, y1), area = largest_rectangle(mask)
        if area < WIDE * COLUMNS**2:
            if mask.sum() < WIDE * COLUMNS**2:
                break
            continue
        spot = _surface(raster, (x0, x1), (y0, y1), _Tops(tops, above, level))
        if not any(_inside(spot, interior) for interior in interiors):
            found.append(spot)
    return sorted(found, key=lambda spot: -spot.low[2])


@dataclass(frozen=True, eq=False)
class _Tops:
    """Upper ends of intervals, the free height above each, and which are at one height; all (k, columns, columns)."""

    height: Floats
    above: Floats
    level: Mask


def _surface(raster: _Raster, xs: Span, ys: Span, tops: _Tops) -> Spot:
    window = (slice(None), slice(*xs), slice(*ys))
    here = tops.level[window]
    cell = (raster.x[1] - raster.x[0], raster.y[1] - raster.y[0])
    bottom = float(tops.height[window][here].max())
    room = min(float(tops.above[window][here].min()), FREE)
    low = np.array([raster.x[xs[0]] - cell[0] / 2, raster.y[ys[0]] - cell[1] / 2, bottom])
    high = np.array([raster.x[xs[1] - 1] + cell[0] / 2, raster.y[ys[1] - 1] + cell[1] / 2, bottom + room])
    owners = here.sum(axis=(1, 2))
    return Spot(raster.owner[int(np.argmax(owners))], low, high)


def _free_tops(raster: _Raster) -> tuple[Floats, Floats]:
    """Upper ends of the pieces' intervals that no other piece covers, and the free height above each; NaN elsewhere."""
    tops = raster.high.copy()
    above = np.full_like(tops, np.inf)
    for low, high in zip(raster.low, raster.high, strict=True):
        with np.errstate(invalid="ignore"):
            tops[(low <= tops + 1e-6) & (high > tops + 1e-6)] = np.nan
            above = np.fmin(above, np.where(low > tops, low - tops, np.inf))
    return tops, above


def _commonest(heights: Floats) -> float:
    """The height around which most of them lie."""
    order = np.sort(heights)
    count = np.searchsorted(order, order + FLAT, "right") - np.arange(len(order))
    at = int(np.argmax(count))
    return float(np.median(order[at : at + count[at]]))


def _inside(spot: Spot, interior: Spot) -> bool:
    middle = (spot.low + spot.high) / 2
    middle[2] = spot.low[2] + SPARE
    return bool((middle > interior.low - FLAT).all() and (middle < interior.high + FLAT).all())
