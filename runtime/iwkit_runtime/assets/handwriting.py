"""Notes written by hand: no two letters alike, lines that don't stay level. The same text always looks the same."""

from __future__ import annotations

import random
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw

from iwkit.errors import UsageError
from iwkit_runtime.assets.colours import as_bytes
from iwkit_runtime.assets.inks import TALLISH, Bytes, Inks, around, inner
from iwkit_runtime.assets.strokes import STROKES
from iwkit_runtime.assets.typeset import LEADING, Box, Measure, fit

Points = tuple[tuple[float, float], ...]
UNIT = 0.072
"""A unit of the strokes, as a part of the size of letters: capitals are 0.72 of it high, as print is."""
SLANT = 0.12
"""By how much a stroke leans to the right for each unit of its height."""
SPACE, APART = 4.2, 1.9
"""Width of a space, and between letters, in units."""
WOBBLE = 0.22
"""By so many units points are off."""
CLIMB = 0.012
"""Slope of a line, at most."""
PEN = 1.05
"""Breadth of the pen in units."""
FINE = 3
"""Drawn so many times as large and then reduced, for smooth edges."""
LOOSE = 1.7
"""Lines are at most so much further apart than they need to be."""
STEPS = 6
"""Straight pieces between two points of a curve."""
LINE: Bytes = (196, 208, 226)


@lru_cache(maxsize=256)
def glyph(letter: str) -> tuple[Points, ...]:
    """The strokes of a letter.

    Raises:
        UsageError: nobody has shown how it is written.
    """
    plain = letter if letter in STROKES else unicodedata.normalize("NFKD", letter)[:1]
    if plain not in STROKES:
        raise UsageError(f"handwriting has no {letter!r}: write the note with other letters")
    return tuple(_stroke(part) for part in STROKES[plain].split(";"))


def _stroke(part: str) -> Points:
    numbers = [tuple(map(float, point.split(","))) for point in part.removeprefix("~").split()]
    points = tuple((x, y) for x, y in numbers)
    return _curve(points) if part.startswith("~") else points


def _curve(points: Points) -> Points:
    """A curve through the points (Catmull and Rom's)."""
    around = (points[0], *points, points[-1])
    found = [points[0]]
    for a, b, c, d in zip(around, around[1:], around[2:], around[3:], strict=False):
        for step in range(1, STEPS + 1):
            t = step / STEPS
            x, y = (
                0.5 * (2 * q + (r - p) * t + (2 * p - 5 * q + 4 * r - s) * t**2 + (3 * q - p - 3 * r + s) * t**3)
                for p, q, r, s in zip(a, b, c, d, strict=True)
            )
            found.append((x, y))
    return tuple(found)


def _advance(letter: str) -> float:
    """The width of a letter with the space after it, in units."""
    if letter == " ":
        return SPACE
    return max(x for stroke in glyph(letter) for x, _ in stroke) + APART


def measure(size: int) -> Measure:
    """The widths of texts written by hand at a size."""
    return lambda text: sum(_advance(letter) for letter in text) * UNIT * size


@dataclass
class _Hand:
    """Who writes: on which mask, how large, how much higher than usual, and with which unsteadiness."""

    mask: Image.Image
    size: int
    tall: float
    chance: random.Random

    def write(self, line: str, left: float, base: float) -> Box:
        """Write one line from its left end; the rectangle of its letters in the image's pixels."""
        pen, unit, chance = ImageDraw.Draw(self.mask), UNIT * self.size, self.chance
        breadth = max(1, round(PEN * unit * FINE))
        climb, x = chance.uniform(-CLIMB, CLIMB), left
        for letter in line:
            lift, grow = chance.uniform(-0.3, 0.3), chance.uniform(0.95, 1.05)
            for stroke in glyph(letter) if letter != " " else ():
                dx, dy = chance.uniform(-WOBBLE, WOBBLE), chance.uniform(-WOBBLE, WOBBLE)
                low = base - climb * (x - left) - (dy + lift) * unit * self.tall
                points = [
                    ((x + (px * grow + dx + SLANT * py) * unit) * FINE, (low - py * grow * unit * self.tall) * FINE)
                    for px, py in stroke
                ]
                pen.line(points, fill=255, width=breadth, joint="curve")
                for px, py in (points[0], points[-1]):
                    pen.ellipse((px - breadth / 2, py - breadth / 2, px + breadth / 2, py + breadth / 2), fill=255)
            x += _advance(letter) * unit
        return (
            left,
            max(0, base - 10.5 * unit * self.tall),
            x,
            min(self.mask.height / FINE, base + 4 * unit * self.tall),
        )


def note(image: Image.Image, text: str, inks: Inks) -> Box:
    """Ruled paper with handwriting on it."""
    width, height = image.size
    left, top, right, bottom = inner(image, 0.06, 0.06)
    size, lines = fit(text, right - left, bottom - top, measure)
    pitch = min((bottom - top) / len(lines), LOOSE * size * LEADING)
    _rule(image, top, pitch)
    tall = min(TALLISH, pitch / (size * LEADING))
    hand = _Hand(Image.new("L", (width * FINE, height * FINE)), size, tall, random.Random(text))  # noqa: S311  nothing to hide
    boxes = [
        hand.write(line, left, top + (number + 1) * pitch - 0.18 * size * tall) for number, line in enumerate(lines)
    ]
    image.paste(as_bytes(inks.ink), (0, 0), hand.mask.resize(image.size, Image.Resampling.BOX))
    return around(*boxes)


def _rule(image: Image.Image, top: float, pitch: float) -> None:
    pen, y = ImageDraw.Draw(image), top + pitch
    while y < image.height:
        pen.rectangle((0, y, image.width, y + max(1, image.height // 400)), fill=LINE)
        y += pitch
