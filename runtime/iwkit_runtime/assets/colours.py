"""Colour words, and what a thing's state does to its colours."""

from __future__ import annotations

from collections.abc import Iterable

from iwkit.errors import UsageError
from iwkit.spec.recipe import Colour

RGBA = tuple[float, float, float, float]

WORDS: dict[str, tuple[int, int, int]] = {
    "black": (28, 28, 30),
    "white": (244, 244, 241),
    "grey": (140, 143, 147),
    "gray": (140, 143, 147),
    "silver": (190, 193, 198),
    "red": (200, 36, 40),
    "orange": (240, 130, 24),
    "yellow": (248, 205, 40),
    "gold": (205, 165, 60),
    "green": (52, 148, 68),
    "teal": (20, 135, 135),
    "turquoise": (60, 190, 185),
    "blue": (36, 86, 190),
    "navy": (26, 40, 90),
    "purple": (118, 62, 150),
    "violet": (118, 62, 150),
    "pink": (238, 130, 165),
    "brown": (120, 75, 42),
    "beige": (222, 205, 175),
    "cream": (246, 236, 208),
    "wood": (186, 140, 92),
    "oak": (205, 168, 120),
    "walnut": (110, 72, 48),
    "cardboard": (190, 148, 100),
    "steel": (170, 174, 180),
    "leather": (96, 58, 36),
}
"""Colour words of recipes and tasks, as red, green, blue from 0 to 255; a word of `SHADES` may stand before each."""

SHADES: dict[str, tuple[float, float]] = {
    "light": (1.0, 0.5),
    "dark": (0.0, 0.4),
    "bright": (1.0, 0.15),
    "pale": (1.0, 0.65),
}
"""Word before a colour -> the grey it is mixed with, and how much of that."""

TINTS: dict[str, tuple[tuple[float, float, float], float]] = {
    "cooked": ((0.36, 0.2, 0.08), 0.55),
    "mouldy": ((0.33, 0.47, 0.33), 0.55),
    "dirty": ((0.36, 0.29, 0.2), 0.4),
    "wet": ((0.16, 0.2, 0.27), 0.3),
    "used": ((0.6, 0.57, 0.52), 0.3),
}
"""State -> the colour that tints a thing while it lasts, and how strongly. What else shows a state is in recipes."""


def mix(base: RGBA, other: tuple[float, float, float], share: float) -> RGBA:
    """`base` with `share` of another colour; its opacity stays."""
    red, green, blue = ((1 - share) * a + share * b for a, b in zip(base, other, strict=False))
    return red, green, blue, base[3]


def rgba(colour: Colour) -> RGBA:
    """Red, green, blue and opacity from 0 to 1.

    Raises:
        UsageError: no such colour word.
    """
    if isinstance(colour, tuple):
        return (*colour[:3], colour[3] if len(colour) == 4 else 1.0)
    shade, _, word = colour.lower().rpartition(" ")
    if word not in WORDS or (shade and shade not in SHADES):
        known = ", ".join(WORDS)
        raise UsageError(
            f"no colour is called '{colour}': use {known}, with {' or '.join(SHADES)} before it if you like"
        )
    red, green, blue = (value / 255 for value in WORDS[word])
    plain = (red, green, blue, 1.0)
    if not shade:
        return plain
    level, share = SHADES[shade]
    return mix(plain, (level, level, level), share)


def tinted(colour: RGBA, states: Iterable[str]) -> RGBA:
    """The colour as the states leave it, applied in the order of `TINTS`; other states leave it as it is."""
    wanted = frozenset(states)
    for state, (tint, share) in TINTS.items():
        if state in wanted:
            colour = mix(colour, tint, share)
    return colour


def luminance(colour: RGBA) -> float:
    """Perceived lightness from 0 (black) to 1 (white)."""
    return 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]


def as_bytes(colour: RGBA) -> tuple[int, int, int]:
    """Red, green, blue from 0 to 255."""
    red, green, blue = (round(255 * value) for value in colour[:3])
    return red, green, blue
