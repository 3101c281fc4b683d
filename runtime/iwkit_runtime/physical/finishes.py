"""How rooms look: floor patterns and wall colours, chosen by what a room is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from iwkit_runtime.physical.spec import Floats, Material

RGB = tuple[int, int, int]
TILE = 256
"""Pixels of one repeat of a floor pattern, each way."""


@dataclass(frozen=True)
class Floor:
    """A pattern that repeats every `period` metres, from a base colour and the colour of its joints."""

    pattern: str
    base: RGB
    joint: RGB
    period: float


@dataclass(frozen=True)
class Finish:
    """What a room is lined with. `wall` and `skirting` are colours; `tiled` is the height of wall tiles in metres."""

    floor: Floor
    wall: RGB
    skirting: RGB = (236, 234, 228)
    tiled: float = 0.0


OAK = Floor("planks", (186, 148, 106), (140, 106, 72), 1.2)
WALNUT = Floor("planks", (150, 112, 80), (108, 78, 54), 1.2)
CHEQUER = Floor("chequer", (226, 222, 212), (150, 158, 158), 0.8)
SMALL_TILES = Floor("tiles", (176, 196, 202), (228, 232, 232), 0.4)
STONE = Floor("tiles", (190, 184, 172), (150, 146, 136), 1.0)
CARPET = Floor("carpet", (104, 116, 132), (92, 102, 118), 1.0)
VINYL = Floor("speckle", (190, 206, 200), (160, 180, 174), 1.0)
CONCRETE = Floor("speckle", (172, 170, 164), (150, 148, 142), 1.0)

PLAIN = Finish(OAK, (226, 218, 202))
FINISHES: tuple[tuple[str, Finish], ...] = (
    ("kitchen", Finish(CHEQUER, (224, 220, 200))),
    ("bath", Finish(SMALL_TILES, (214, 226, 228), tiled=1.5)),
    ("wash", Finish(SMALL_TILES, (222, 230, 230), tiled=1.5)),
    ("dining", Finish(OAK, (222, 208, 186))),
    ("living", Finish(OAK, (214, 216, 200))),
    ("bedroom", Finish(WALNUT, (204, 212, 224))),
    ("utility", Finish(STONE, (222, 222, 216))),
    ("hall", Finish(STONE, (230, 222, 206))),
    ("corridor", Finish(VINYL, (226, 230, 226))),
    ("office", Finish(CARPET, (222, 224, 226))),
    ("meeting", Finish(CARPET, (208, 216, 222))),
    ("reception", Finish(WALNUT, (228, 226, 220))),
    ("break", Finish(CHEQUER, (228, 224, 206))),
    ("stock", Finish(CONCRETE, (220, 220, 216))),
    ("supply", Finish(CONCRETE, (220, 224, 222))),
    ("copy", Finish(CARPET, (224, 224, 220))),
    ("ward", Finish(VINYL, (214, 228, 226))),
    ("treatment", Finish(VINYL, (220, 230, 224))),
    ("waiting", Finish(CARPET, (224, 220, 206))),
)
"""A word in a room's name -> its finish; the first that fits."""


def finish(room: str) -> Finish:
    """The finish of a room by its name, a plain one when no word of the table is in it."""
    return next((found for word, found in FINISHES if word in room), PLAIN)


@cache
def floor_material(floor: Floor) -> Material:
    """A floor as a material whose image repeats; the same pixels on every machine."""
    noise = np.random.default_rng(7).standard_normal((TILE, TILE))
    image = _PATTERNS[floor.pattern](np.array(floor.base, float), np.array(floor.joint, float), noise)
    name = f"{floor.pattern}-{bytes((*floor.base, *floor.joint)).hex()}"
    return Material(name, (1.0, 1.0, 1.0, 1.0), np.clip(np.round(image), 0, 255).astype(np.uint8))


@cache
def wall_tiles(finish_: Finish) -> Material:
    """White tiles of 0.2 m with grey joints, for the lower part of a wet room's walls."""
    noise = np.random.default_rng(7).standard_normal((TILE, TILE))
    image = _tiles(np.array((238.0, 242, 242)), np.array(finish_.wall, float) - 45, noise, 2)
    return Material("wall-tiles", (1.0, 1.0, 1.0, 1.0), np.clip(np.round(image), 0, 255).astype(np.uint8))


@cache
def plain(name: str, colour: RGB) -> Material:
    """A colour without a pattern."""
    red, green, blue = (channel / 255 for channel in colour)
    return Material(f"{name}-{bytes(colour).hex()}", (red, green, blue, 1.0))


def _planks(base: Floats, joint: Floats, noise: Floats) -> Floats:
    """Six courses along u, each of one or two boards shifted against its neighbours, with grain."""
    course = TILE // 6 + 1
    rows, columns = np.mgrid[:TILE, :TILE]
    lane = rows // course
    shift = (lane * 101) % TILE
    board = ((columns + shift) % TILE) // (TILE // 2) + 2 * lane
    shade = np.array([-10, 6, -2, 12, 3, -7, 9, -12, 0, 5, -5, 8, -3, 4], float)[board % 14]
    grain = np.cumsum(noise, axis=1)
    grain -= np.linspace(0, 1, TILE) * grain[:, -1:]
    image = base + shade[..., None] + 0.35 * grain[..., None]
    seam = (rows % course < 2) | ((columns + shift) % (TILE // 2) < 2)
    return np.where(seam[..., None], joint, image)


def _tiles(base: Floats, joint: Floats, noise: Floats, across: int = 2) -> Floats:
    side = TILE // across
    rows, columns = np.mgrid[:TILE, :TILE]
    tint = np.array([0, 5, -4, 2], float)[(rows // side * across + columns // side) % 4]
    image = base + tint[..., None] + 1.2 * noise[..., None]
    return np.where(((rows % side < 4) | (columns % side < 4))[..., None], joint, image)


def _chequer(base: Floats, joint: Floats, noise: Floats) -> Floats:
    side = TILE // 2
    rows, columns = np.mgrid[:TILE, :TILE]
    dark = (rows // side + columns // side) % 2 == 1
    image = np.where(dark[..., None], joint, base) + 1.2 * noise[..., None]
    return np.where(((rows % side < 2) | (columns % side < 2))[..., None], (base + joint) / 2 - 30, image)


def _carpet(base: Floats, joint: Floats, noise: Floats) -> Floats:
    side = TILE // 2
    rows, columns = np.mgrid[:TILE, :TILE]
    other = (rows // side + columns // side) % 2 == 1
    return np.where(other[..., None], joint, base) + 6 * noise[..., None]


def _speckle(base: Floats, joint: Floats, noise: Floats) -> Floats:
    soft = (noise + np.roll(noise, 1, 0) + np.roll(noise, 1, 1)) / 3
    return np.where((soft > 0.9)[..., None], joint, base + 2 * soft[..., None])


_PATTERNS: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "planks": _planks,
    "tiles": _tiles,
    "chequer": _chequer,
    "carpet": _carpet,
    "speckle": _speckle,
}
