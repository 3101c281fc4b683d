"""Which of many places are certainly taken: what stands there, cut level with a thing that would go there (PHY-8).

The collision world has the last word on a place that is free. It is slow to ask on a crowded board, where hundreds of
places are not: most of these are told from outlines on the plan, of all places at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.placer import APART
from iwkit_runtime.physical.spec import Floats, Region
from iwkit_runtime.physical.stage import Stage

CROWDED = 24
"""Places found taken one by one before the others are told from outlines."""
CUTS = (0.5, 0.1, 0.9)
"""Shares of its height at which a thing and what is around it are cut."""
SLACK = 0.001
"""Metres by which outlines and cuts must reach into one another: what only touches is left to the collision world."""
DIRECTIONS = np.stack([f(math.tau / 16 * np.arange(16)) for f in (np.cos, np.sin)], -1)
"""In which the corners (k, 2) of outlines are looked for: these lie within the true ones."""
EPSILON = 1e-9


class Cut(NamedTuple):
    """Outlines (k, 2) at one height above where things are put down: those of the thing, from its middle, and those of
    what is around, the world's."""

    mine: list[Floats]
    others: list[Floats]


@dataclass(eq=False)
class Crowd:
    """What stands where a thing may be put: on the underside of a region in the frame `at` of a board, so far `lifted`
    off it. Others than the `near` ones must be `APART` from it."""

    stage: Stage
    name: str
    at: Frame
    region: Region
    lifted: float
    near: frozenset[str]
    refused: int = 0
    """Places that were found taken one by one."""

    def thinned(self, places: Iterable[Floats], yaw: float) -> Iterator[Floats]:
        """The places (2,) on the board that may be free for the thing with that turn on the plan."""
        left = iter(places)
        while self.refused < CROWDED:
            place = next(left, None)
            if place is None:
                return
            yield place
        rest = list(left)
        if rest:
            taken = self._taken(np.array(rest), yaw)
            yield from (place for place, sure in zip(rest, taken.tolist(), strict=True) if not sure)

    def _taken(self, places: Floats, yaw: float) -> NDArray[np.bool_]:
        """Which of the places (n, 2) are certainly taken."""
        points = self.at.point(np.column_stack([places, np.full(len(places), self._bottom)]))[:, :2]
        c, s = math.cos(yaw), math.sin(yaw)
        turn = np.array([[c, s], [-s, c]])
        taken = np.zeros(len(points), dtype=bool)
        for mine, others in self._cuts:
            for outline in (part @ turn for part in mine):
                for other in others:
                    left = np.flatnonzero(~taken)
                    taken[left] = _overlap(outline, other, points[left])
        return taken

    @property
    def _bottom(self) -> float:
        return self.region.centre[2] - self.region.size[2] / 2

    @cached_property
    def _cuts(self) -> list[Cut]:
        """The thing and what is around it, cut at several heights."""
        asset = self.stage.placed[self.name].asset
        load = {self.name, *self.stage.engine.riders(self.name), *self.stage.floors}
        around = [s for s in self.stage.collision.solids() if s.owner not in load and self._beside(s.vertices)]
        level = float(self.at.point((0.0, 0.0, self._bottom))[2])
        found = []
        for share in CUTS:
            height = share * asset.size[2]
            mine = [_cut(piece.vertices, height) for piece in asset.links[0].pieces]
            others = []
            for solid in around:
                outline = _cut(solid.vertices, level + self.lifted + height)
                stands = solid.vertices[:, 2].min() >= level - SLACK
                if len(outline):
                    apart = APART - SLACK if stands and solid.owner not in self.near else 0.0
                    others.append(outline + apart * DIRECTIONS)
            found.append(Cut([outline for outline in mine if len(outline)], others))
        return found

    def _beside(self, vertices: Floats) -> bool:
        """Whether a piece may be in the way of the thing somewhere in the region: by its box on the plan."""
        wide, deep, _ = self.stage.placed[self.name].asset.size
        x, y, _ = self.region.size
        farthest = math.hypot(x, y) / 2 + math.hypot(wide, deep) / 2 + APART
        middle = self.at.point(self.region.centre)[:2]
        low, high = vertices[:, :2].min(0), vertices[:, :2].max(0)
        return bool(np.hypot(*np.maximum(np.maximum(low - middle, middle - high), 0.0)) <= farthest)


def _cut(vertices: Floats, height: float) -> Floats:
    """The farthest points (k, 2) of a convex piece in each direction at a height; none where it hardly reaches it."""
    z = vertices[:, 2]
    if not z.min() < height - SLACK < height + SLACK < z.max():
        return np.empty((0, 2))
    under, over = vertices[z < height], vertices[z > height]
    share = (height - under[:, None, 2]) / (over[None, :, 2] - under[:, None, 2])
    points = (under[:, None, :2] + share[..., None] * (over[None, :, :2] - under[:, None, :2])).reshape(-1, 2)
    return np.asarray(points[(points @ DIRECTIONS.T).argmax(0)])


def _overlap(mine: Floats, other: Floats, places: Floats) -> NDArray[np.bool_]:
    """At which places (n, 2) one convex outline, moved there, overlaps another: no line of a side keeps them apart."""
    sides = np.concatenate([np.roll(outline, -1, axis=0) - outline for outline in (mine, other)])
    sides = sides[np.hypot(*sides.T) > EPSILON]
    normals = np.stack([sides[:, 1], -sides[:, 0]]) / np.hypot(*sides.T)
    here, there, moved = mine @ normals, other @ normals, places @ normals
    deep = np.minimum(there.max(0) - here.min(0) - moved, here.max(0) - there.min(0) + moved)
    return np.asarray((deep > SLACK).all(1))
