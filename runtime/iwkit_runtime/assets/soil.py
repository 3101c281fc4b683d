"""What is spilled on furniture, and what dirt on it looks like: drawn on its top while it is `wet` or `dirty`."""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from iwkit.spec.catalogue import Category
from iwkit.spec.recipe import Part
from iwkit_runtime.assets.builder import Builder
from iwkit_runtime.assets.colours import RGBA
from iwkit_runtime.assets.shapes import Shape, shapes
from iwkit_runtime.physical.spec import Region


class _Blot(NamedTuple):
    """A flat round patch: its middle and half axes as shares of half the patch's area, and its turn in degrees."""

    x: float
    y: float
    wide: float
    deep: float
    turn: float


PUDDLE: Final = (
    _Blot(-0.10, 0.05, 0.62, 0.50, 10),
    _Blot(0.38, -0.20, 0.44, 0.34, -25),
    _Blot(-0.55, -0.38, 0.24, 0.18, 30),
    _Blot(0.80, 0.32, 0.12, 0.09, 0),
    _Blot(0.20, 0.72, 0.16, 0.11, 45),
)
"""A pool with two bays and two drops beside it."""
SMEARS: Final = (
    _Blot(-0.62, 0.40, 0.34, 0.10, 25),
    _Blot(-0.20, -0.45, 0.42, 0.08, -15),
    _Blot(0.45, 0.30, 0.26, 0.14, 50),
    _Blot(0.72, -0.35, 0.15, 0.12, 0),
    _Blot(0.05, 0.08, 0.10, 0.08, 0),
    _Blot(-0.78, -0.20, 0.07, 0.06, 0),
)
"""Strokes and spots."""
GRIME: Final[RGBA] = (0.30, 0.21, 0.11, 1.0)
LARGEST: Final = (0.42, 0.28)
"""Half width and depth of the area that is soiled, at most, metres."""
HEIGHTS: Final = {"dirty": 0.0006, "wet": 0.0012}
"""Metres above the top: what is wet lies on the dirt."""


def soiled(build: Builder, category: Category) -> None:
    """Add to furniture that is wiped what shows on its highest surface while it is wet or dirty."""
    top = build.top()
    if category.kind != "fixture" or not {"surface", "wipeable"} <= set(category.affords) or top is None:
        return
    build.materials = {"grime": GRIME, **build.materials}
    for when, material, blots in (("wet", "water", PUDDLE), ("dirty", "grime", SMEARS)):
        build.seen(material, when, partial(_shapes, top, when, material, blots))


def _shapes(top: Region, when: str, material: str, blots: tuple[_Blot, ...]) -> list[Shape]:
    return [shape for part in _parts(top, when, material, blots) for shape in shapes(part)]


def _parts(top: Region, when: str, material: str, blots: tuple[_Blot, ...]) -> list[Part]:
    x, y, z = top.centre
    half = [min(limit, 0.42 * size) for limit, size in zip(LARGEST, top.size[:2], strict=True)]
    height = z - top.size[2] / 2 + HEIGHTS[when]
    least = min(half)
    return [
        Part(
            when=when,
            ellipsoid=(x + b.x * half[0], y + b.y * half[1], height, b.wide * least, b.deep * least, 0.0009),
            turn=(0, 0, b.turn),
            material=material,
            solid=False,
        )
        for b in blots
    ]
