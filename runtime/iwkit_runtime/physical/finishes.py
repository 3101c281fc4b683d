"""How rooms look: what the words of a scene for floors and walls mean, drawn by our own code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from iwkit.spec.scene import Flooring, Room, Walling
from iwkit_runtime.physical.spec import Floats, Material

RGB = tuple[int, int, int]
TILE = 256
"""Pixels of one repeat of a pattern, each way."""
HIGH = 9.0
"""A height that no wall has, metres."""


@dataclass(frozen=True)
class Floor:
    """A pattern that repeats every `period` metres, from a base colour and the colour of its joints."""

    pattern: str
    base: RGB
    joint: RGB
    period: float


@dataclass(frozen=True)
class Lining:
    """A pattern on walls from the floor up to `height` metres; otherwise as a floor's."""

    pattern: str
    base: RGB
    joint: RGB
    period: float
    height: float


@dataclass(frozen=True)
class Finish:
    """What a room is lined with. `wall` and `skirting` are colours, `lining` is what covers the walls' lower part."""

    floor: Floor
    wall: RGB
    skirting: RGB = (236, 234, 228)
    lining: Lining | None = None


FLOORS: dict[Flooring, Floor] = {
    "wood": Floor("planks", (186, 148, 106), (140, 106, 72), 1.2),
    "dark_wood": Floor("planks", (150, 112, 80), (108, 78, 54), 1.2),
    "chequer": Floor("chequer", (226, 222, 212), (150, 158, 158), 0.8),
    "tiles": Floor("tiles", (176, 196, 202), (228, 232, 232), 0.4),
    "stone": Floor("tiles", (190, 184, 172), (150, 146, 136), 1.0),
    "carpet": Floor("carpet", (104, 116, 132), (92, 102, 118), 1.0),
    "red_carpet": Floor("pile", (132, 54, 56), (164, 122, 78), 1.0),
    "vinyl": Floor("speckle", (190, 206, 200), (160, 180, 174), 1.0),
    "concrete": Floor("speckle", (172, 170, 164), (150, 148, 142), 1.0),
    "grass": Floor("blades", (98, 142, 62), (62, 104, 40), 1.6),
    "paving": Floor("slabs", (176, 170, 160), (120, 116, 104), 1.2),
}
"""A scene's word for a floor -> how it looks."""
PAINTS: dict[Walling, RGB] = {
    "white": (236, 234, 226),
    "cream": (226, 220, 202),
    "sand": (222, 208, 186),
    "sage": (212, 216, 198),
    "mint": (216, 228, 224),
    "blue": (204, 212, 224),
    "grey": (222, 224, 224),
    "rose": (228, 208, 202),
    "tiles": (222, 230, 230),
    "panels": (226, 220, 206),
    "brick": (206, 196, 184),
    "hedge": (66, 102, 48),
    "fence": (146, 112, 78),
}
"""A scene's word for walls -> their paint, or what shows of them where nothing else is."""
LINED: dict[Walling, Lining] = {
    "tiles": Lining("tiles", (238, 242, 242), (178, 186, 186), 0.4, 1.5),
    "panels": Lining("boards", (150, 112, 78), (112, 80, 54), 0.8, 1.0),
    "brick": Lining("bricks", (164, 92, 70), (202, 194, 182), 0.96, HIGH),
    "hedge": Lining("leaves", (74, 116, 52), (42, 74, 30), 0.8, HIGH),
    "fence": Lining("boards", (158, 122, 84), (110, 82, 56), 0.8, HIGH),
}
"""A scene's word for walls -> what covers them from the floor up; those that aren't here are painted."""
FACADE = Lining("bricks", (178, 120, 96), (214, 206, 194), 0.96, HIGH)
"""What the wall of a house looks like from a room outdoors."""


def finish(room: Room) -> Finish:
    """How the floor and the walls of a room look."""
    return Finish(FLOORS[room.floor], PAINTS[room.walls], lining=LINED.get(room.walls))


@cache
def patterned(of: Floor | Lining, emission: float = 0.0) -> Material:
    """A floor or a lining as a material whose image repeats; the same pixels on every machine."""
    image = _PATTERNS[of.pattern](np.array(of.base, float), np.array(of.joint, float), _noise())
    name = f"{of.pattern}-{bytes((*of.base, *of.joint)).hex()}"
    return Material(name, (1.0, 1.0, 1.0, 1.0), np.clip(np.round(image), 0, 255).astype(np.uint8), emission)


@cache
def _noise() -> Floats:
    return np.random.default_rng(7).standard_normal((TILE, TILE))


@cache
def plain(name: str, colour: RGB, emission: float = 0.0) -> Material:
    """A colour without a pattern; what has an `emission` is as bright as if more light fell on it."""
    red, green, blue = (channel / 255 for channel in colour)
    return Material(f"{name}-{bytes(colour).hex()}", (red, green, blue, 1.0), emission=emission)


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


def _pile(base: Floats, joint: Floats, noise: Floats) -> Floats:
    """A carpet with small lozenges."""
    rows, columns = np.mgrid[:TILE, :TILE]
    lozenge = (np.abs(rows % 64 - 32) + np.abs(columns % 64 - 32)) < 9
    return np.where(lozenge[..., None], joint, base) + 7 * noise[..., None]


def _blades(base: Floats, joint: Floats, noise: Floats) -> Floats:
    """Grass: short strokes, lighter and darker."""
    long = sum(np.roll(noise, shift, 0) for shift in range(5)) / 2.2
    patch = _smooth(noise, 24)
    mix = np.clip(0.5 + 0.32 * long + 0.9 * patch, 0, 1)[..., None]
    return np.asarray(joint + (base - joint) * mix)


def _leaves(base: Floats, joint: Floats, noise: Floats) -> Floats:
    """A hedge: clumps of leaves with dark between them."""
    clump, leaf = _smooth(noise, 10), _smooth(np.roll(noise, 61, 1), 3)
    mix = np.clip(0.55 + 0.8 * clump + 0.35 * leaf, 0, 1)[..., None]
    return np.asarray(joint + (base * 1.15 - joint) * mix)


def _slabs(base: Floats, joint: Floats, noise: Floats) -> Floats:
    """Paving in courses of slabs of two lengths."""
    rows, columns = np.mgrid[:TILE, :TILE]
    lane = rows // 64
    across = (columns + np.array([0, 40, 96, 20])[lane]) % TILE
    slab = (across > 150).astype(int) + 2 * lane
    tint = np.array([0, 9, -7, 4, -3, 10, -10, 2], float)[slab]
    image = base + tint[..., None] + 3 * _smooth(noise, 2)[..., None] * 4
    seam = (rows % 64 < 3) | (across < 3) | (np.abs(across - 151) < 2)
    return np.where(seam[..., None], joint, image)


def _boards(base: Floats, joint: Floats, noise: Floats) -> Floats:
    """Upright boards with grain."""
    columns = np.mgrid[:TILE, :TILE][1]
    board = columns // 32
    tint = np.array([0, 8, -6, 4, -9, 6, -3, 10], float)[board]
    grain = np.cumsum(noise, axis=0)
    grain -= np.linspace(0, 1, TILE)[:, None] * grain[-1:]
    image = base + tint[..., None] + 0.3 * grain[..., None]
    return np.where((columns % 32 < 2)[..., None], joint, image)


def _bricks(base: Floats, joint: Floats, noise: Floats) -> Floats:
    rows, columns = np.mgrid[:TILE, :TILE]
    course = rows // 16
    across = (columns + 32 * (course % 2)) % TILE
    tint = np.array([0, 10, -12, 5, -5, 14, -9, 3, 7, -14], float)[(across // 64 * 3 + course * 7) % 10]
    image = base + tint[..., None] + 3 * noise[..., None]
    return np.where(((rows % 16 < 2) | (across % 64 < 2))[..., None], joint, image)


def _smooth(noise: Floats, reach: int) -> Floats:
    """Noise that repeats at the edges, averaged over so many pixels each way, about as strong as before."""
    for axis in (0, 1):
        noise = sum((np.roll(noise, shift, axis) for shift in range(-reach, reach + 1)), np.zeros_like(noise))
        noise = noise / np.sqrt(2 * reach + 1)
    return noise


_PATTERNS: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "planks": _planks,
    "tiles": _tiles,
    "chequer": _chequer,
    "carpet": _carpet,
    "speckle": _speckle,
    "pile": _pile,
    "blades": _blades,
    "slabs": _slabs,
    "boards": _boards,
    "bricks": _bricks,
    "leaves": _leaves,
}
