"""What the doors, flaps and drawers of furniture sweep as they open, on the plan."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from iwkit.catalogue import interior_size
from iwkit.floorplan import UNIT, Box, size_of
from iwkit.spec.catalogue import Category
from iwkit.spec.recipe import CabinetRecipe, Moving, PartsRecipe, Recipe
from iwkit.spec.scene import Fixture, Point

RASTER = 0.08
"""Between the points of a leaf that are followed, metres."""
STEP = 7.5
"""Between the angles at which a leaf is looked at, degrees."""


class Sweep(NamedTuple):
    """Points that a leaf passes over, on the plan, and the heights between which it is, metres."""

    points: tuple[Point, ...]
    low: float
    high: float

    @property
    def bounds(self) -> Box:
        """The box around the points."""
        xs, ys = zip(*self.points, strict=True)
        return min(xs), min(ys), max(xs), max(ys)


def sweep(fixture: Fixture, category: Category, recipe: Recipe | None) -> Sweep | None:
    """What the door of a fixture of a loaded scene sweeps from closed to open; None for what has none.

    A leaf is followed as the line of its outer face; a flap and a drawer as the floor in front of it.
    """
    width, depth, height = size_of(fixture)
    if isinstance(recipe, CabinetRecipe):
        local = list(_cabinet(recipe, category, (width, depth, height)))
        low, high = recipe.plinth, height - recipe.top
    elif isinstance(recipe, PartsRecipe) and recipe.links:
        name, moving = next(iter(recipe.links.items()))
        corners = [corner for part in recipe.parts if part.link == name and part.box for corner in _corners(part.box)]
        scale = tuple(own / usual for own, usual in zip((width, depth, height), category.size, strict=True))
        local = [(x * scale[0], y * scale[1]) for x, y in _parts(moving, sorted({(x, y) for x, y, _ in corners}))]
        low = min((z for _, _, z in corners), default=0.0) * scale[2]
        high = max((z for _, _, z in corners), default=0.0) * scale[2]
    else:
        return None
    # An asset's front is towards -y; turned so that it looks where the fixture's does.
    fx, fy = UNIT[fixture.facing]
    points = tuple((fixture.at[0] - x * fy - y * fx, fixture.at[1] + x * fx - y * fy) for x, y in local)
    return Sweep(points, fixture.base + low, fixture.base + high) if points else None


def _cabinet(recipe: CabinetRecipe, category: Category, size: tuple[float, float, float]) -> Iterator[Point]:
    """Points before a cabinet's front, in its own frame, over which its door passes."""
    width, depth, height = size
    door = recipe.door
    if door is None:
        return
    left, right, below, above = door.panel
    x0, x1, front = left - width / 2, width / 2 - right, -depth / 2
    if door.opens in ("left", "right"):
        hinge, sign = (x0, 1) if door.opens == "left" else (x1, -1)
        for out, degrees in product(_steps(x1 - x0), _degrees(door.open)):
            angle = math.radians(degrees)
            yield hinge + sign * out * math.cos(angle), front - out * math.sin(angle)
    elif door.opens != "slide":
        out = height - recipe.plinth - recipe.top - below - above
        if door.opens == "drawer":
            out = door.open * interior_size(category, size)[1]
        yield from product((x0 + step for step in _steps(x1 - x0)), (front - step for step in _steps(out)))


def _parts(moving: Moving, corners: Iterable[Point]) -> Iterator[Point]:
    """Points over which the corners of a moving part pass, and those between them and the hinge."""
    ax, ay, az = moving.axis
    if moving.joint == "slide":
        for (x, y), step in product(corners, _steps(moving.open)):
            yield x + ax * step, y + ay * step
    elif az:
        (px, py, _) = moving.anchor
        for (x, y), degrees in product(corners, _degrees(moving.open)):
            angle = math.copysign(math.radians(degrees), az)
            c, s = math.cos(angle), math.sin(angle)
            far_x, far_y = c * (x - px) - s * (y - py), s * (x - px) + c * (y - py)
            for out in _steps(math.hypot(far_x, far_y)):
                share = out / math.hypot(far_x, far_y) if out else 0.0
                yield px + share * far_x, py + share * far_y


def _corners(box: tuple[float, float, float, float, float, float]) -> Iterator[tuple[float, float, float]]:
    return product((box[0], box[3]), (box[1], box[4]), (box[2], box[5]))


def _steps(length: float) -> list[float]:
    count = max(1, math.ceil(length / RASTER))
    return [length * number / count for number in range(count + 1)]


def _degrees(full: float) -> list[float]:
    count = max(1, math.ceil(full / STEP))
    return [full * number / count for number in range(count + 1)]
