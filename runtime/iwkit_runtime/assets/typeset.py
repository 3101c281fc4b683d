"""Text as large as fits a rectangle, drawn with Pillow's own layout: the same pixels on every machine."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""
LEADING = 1.28
"""Distance of lines, as a multiple of the font's size."""
WRAP_GAIN = 1.3
"""A line is broken only where letters grow by this."""
SMALLEST = 4
INDENT = "   "
"""Before the rest of a line that was broken, where the text has several lines."""


@lru_cache(maxsize=512)
def font(size: int) -> ImageFont.FreeTypeFont:
    """DejaVu Sans Bold, from the files that matplotlib carries. `size` is in pixels."""
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans-Bold.ttf"
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


def wrap(line: str, size: int, width: float, indent: str = "") -> list[str] | None:
    """The line broken at spaces into pieces that fit, later ones indented; None where a word is too wide."""
    face, lines, current = font(size), list[str](), ""
    for word in line.split():
        longer = f"{current} {word}" if current else word
        if face.getlength(longer) <= width:
            current = longer
        elif not current or face.getlength(indent + word) > width:
            return None
        else:
            lines.append(current)
            current = indent + word
    return [*lines, current]


def _set(text: list[str], size: int, width: float, height: float) -> list[str] | None:
    """The lines at this size, or None where they don't fit."""
    lines: list[str] = []
    for line in text:
        pieces = wrap(line, size, width, INDENT if len(text) > 1 else "")
        if pieces is None:
            return None
        lines += pieces
    return lines if len(lines) * size * LEADING <= height else None


def _largest(text: list[str], width: float, height: float, breaks: bool) -> tuple[int, list[str]]:
    low, high, best = SMALLEST, max(SMALLEST, int(height)), text
    while low < high:
        size = (low + high + 1) // 2
        lines = _set(text, size, width, height)
        if lines is not None and (breaks or len(lines) == len(text)):
            low, best = size, lines
        else:
            high = size - 1
    return low, best


def fit(text: str, width: float, height: float) -> tuple[int, list[str]]:
    """The largest size in pixels at which the text fits, and its lines.

    Line breaks in the text are kept; more are added only where letters become much larger by it.
    """
    given = text.split("\n")
    size, lines = _largest(given, width, height, breaks=False)
    broken_size, broken = _largest(given, width, height, breaks=True)
    return (broken_size, broken) if broken_size >= WRAP_GAIN * size else (size, lines)


def write(
    image: Image.Image, text: str, box: Box, ink: tuple[int, int, int], *, largest: int = 1024, tall: float = 1
) -> Box:
    """Write the text into the middle of `box`, as large as fits; returns the rectangle of its letters.

    Letters are made up to `tall` times as high where there is room: what is read from above is seen foreshortened.
    """
    left, top, right, bottom = box
    size, lines = fit(text, right - left, bottom - top)
    size = min(size, largest)
    stretch = max(1.0, min(tall, (bottom - top) / (size * LEADING * len(lines))))
    mask = Image.new("L", (round(right - left), round((bottom - top) / stretch)))
    drawn = _lines(mask, lines, size)
    mask = mask.resize((mask.width, round(bottom - top)), Image.Resampling.BICUBIC)
    at = (round(left), round(top))
    image.paste(ink, at, mask)
    x0, y0, x1, y1 = drawn
    return at[0] + x0, at[1] + y0 * stretch, at[0] + x1, at[1] + y1 * stretch


def _lines(mask: Image.Image, lines: list[str], size: int) -> Box:
    """The lines in white in the middle of a mask, and the rectangle of their letters."""
    draw, face = ImageDraw.Draw(mask), font(size)
    pitch, first = size * LEADING, mask.height / 2 - size * LEADING * (len(lines) - 1) / 2
    # What was broken starts at the left, so that one sees which lines go on.
    x, anchor = (0.0, "lm") if any(line.startswith(INDENT) for line in lines) else (mask.width / 2, "mm")
    boxes: list[Box] = []
    for number, line in enumerate(lines):
        place = (x, first + number * pitch)
        draw.text(place, line, font=face, fill=255, anchor=anchor)
        if line.strip():
            boxes.append(draw.textbbox(place, line, font=face, anchor=anchor))
    if not boxes:
        return x, first, x, first
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
