"""How far one is from everything, finely: for what rolls through gaps, for which the grid is too coarse (ACT-2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import ndimage

from iwkit_runtime.nav.geometry import Bools, Floats, meets_squares
from iwkit_runtime.nav.grid import CELL, Footprint, Grid

PARTS = 4
"""Fine cells along a side of one of the occupancy grid."""
FINE = CELL / PARTS
"""Side of a fine cell, metres."""


@dataclass(frozen=True, eq=False)
class Clearance:
    """Metres to the nearest thing or end of the floor, to some 2 cm: `metres` (rows, columns) from (x0, y0)."""

    x0: float
    y0: float
    metres: Floats = field(repr=False)

    @classmethod
    def of(cls, grid: Grid) -> Clearance:
        """That of an occupancy grid, measured from the outlines of its pieces."""
        blocked = np.repeat(np.repeat(~grid.supported, PARTS, axis=0), PARTS, axis=1)
        for footprint in grid.footprints:
            _fill(blocked, grid, footprint)
        away = ndimage.distance_transform_edt(~blocked, sampling=FINE) - FINE / 2
        return cls(grid.x0, grid.y0, np.maximum(away, 0.0))

    def at(self, x: float, y: float) -> float:
        """How far a place is from everything; nothing, where it lies outside."""
        row, column = int((y - self.y0) / FINE), int((x - self.x0) / FINE)
        rows, columns = self.metres.shape
        return self.metres.item(row, column) if 0 <= row < rows and 0 <= column < columns else 0.0

    def coarse(self) -> Floats:
        """(rows, columns) of the occupancy grid: the most clearance in each of its cells."""
        rows, columns = (side // PARTS for side in self.metres.shape)
        return np.asarray(self.metres.reshape(rows, PARTS, columns, PARTS).max(axis=(1, 3)))


def _fill(blocked: Bools, grid: Grid, footprint: Footprint) -> None:
    """Block the fine cells that a piece meets."""
    low, high = footprint.outline.min(axis=0), footprint.outline.max(axis=0)
    first = np.maximum(np.floor((low - (grid.x0, grid.y0)) / FINE).astype(int), 0)
    last = np.minimum(np.floor((high - (grid.x0, grid.y0)) / FINE).astype(int) + 1, blocked.shape[::-1])
    row, column = np.mgrid[first[1] : last[1], first[0] : last[0]]
    centres = np.stack([grid.x0 + (column.ravel() + 0.5) * FINE, grid.y0 + (row.ravel() + 0.5) * FINE], -1)
    inside = meets_squares(footprint.outline, centres, FINE).reshape(row.shape)
    blocked[first[1] : last[1], first[0] : last[0]] |= inside
