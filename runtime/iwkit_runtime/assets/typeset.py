"""Text as large as fits a rectangle, drawn with Pillow's own layout: the same pixels on every machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Literal

import matplotlib
from PIL import Image, ImageDraw, ImageFont

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""
Face = Literal["sans", "mono", "serif"]
Measure = Callable[[str], float]
"""The width in pixels of a text."""
Script = Callable[[int], Measure]
"""How wide a text is at a size."""
LEADING = 1.28
"""Distance of lines, as a multiple of the font's size."""
WRAP_GAIN = 1.3
"""A line is broken only where letters grow by this."""
SMALLEST = 4
INDENT = "   "
"""Before the rest of a line that was broken, where the text has several lines."""
FILES: dict[Face, str] = {
    "sans": "DejaVuSans-Bold",
    "mono": "DejaVuSansMono-Bold",
    "serif": "DejaVuSerif-BoldItalic",
}


@lru_cache(maxsize=1024)
def font(size: int, face: Face = "sans") -> ImageFont.FreeTypeFont:
    """A bold DejaVu face, from the files that matplotlib carries. `size` is in pixels."""
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{FILES[face]}.ttf"
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


def script(face: Face) -> Script:
    """The widths of a face's letters."""
    return lambda size: font(size, face).getlength


SANS = script("sans")


def wrap(line: str, measure: Measure, width: float, indent: str = "") -> list[str] | None:
    """The line broken at spaces into pieces that fit, later ones indented; None where a word is too wide."""
    lines, current = list[str](), ""
    for word in line.split():
        longer = f"{current} {word}" if current else word
        if measure(longer) <= width:
            current = longer
        elif not current or measure(indent + word) > width:
            return None
        else:
            lines.append(current)
            current = indent + word
    return [*lines, current]


def _set(text: list[str], size: int, width: float, height: float, how: Script) -> list[str] | None:
    """The lines at this size, or None where they don't fit."""
    lines: list[str] = []
    for line in text:
        pieces = wrap(line, how(size), width, INDENT if len(text) > 1 else "")
        if pieces is None:
            return None
        lines += pieces
    return lines if len(lines) * size * LEADING <= height else None


def largest(height: float, fits: Callable[[int], bool]) -> int:
    """The largest size in pixels that fits, or the smallest there is."""
    low, high = SMALLEST, max(SMALLEST, int(height))
    while low < high:
        size = (low + high + 1) // 2
        low, high = (size, high) if fits(size) else (low, size - 1)
    return low


def _largest(text: list[str], width: float, height: float, how: Script, breaks: bool) -> tuple[int, list[str]]:
    def fits(size: int) -> bool:
        lines = _set(text, size, width, height, how)
        return lines is not None and (breaks or len(lines) == len(text))

    size = largest(height, fits)
    return size, _set(text, size, width, height, how) or text


def fit(text: str, width: float, height: float, how: Script = SANS) -> tuple[int, list[str]]:
    """The largest size in pixels at which the text fits, and its lines.

    Line breaks in the text are kept; more are added only where letters become much larger by it.
    """
    given = text.split("\n")
    size, lines = _largest(given, width, height, how, breaks=False)
    broken_size, broken = _largest(given, width, height, how, breaks=True)
    return (broken_size, broken) if broken_size >= WRAP_GAIN * size else (size, lines)


def write(
    image: Image.Image,
    text: str,
    box: Box,
    ink: tuple[int, int, int],
    *,
    largest: int = 1024,
    tall: float = 1,
    face: Face = "sans",
) -> Box:
    """Write the text into the middle of `box`, as large as fits; returns the rectangle of its letters.

    Letters are made up to `tall` times as high where there is room: what is read from above is seen foreshortened.
    """
    left, top, right, bottom = box
    size, lines = fit(text, right - left, bottom - top, script(face))
    size = min(size, largest)
    stretch = max(1.0, min(tall, (bottom - top) / (size * LEADING * len(lines))))
    mask = Image.new("L", (max(1, round(right - left)), max(1, round((bottom - top) / stretch))))
    return paste(image, mask, _lines(mask, lines, size, face), box, ink)


def paste(image: Image.Image, mask: Image.Image, drawn: Box, box: Box, ink: tuple[int, int, int]) -> Box:
    """Print a mask into `box`, stretched to its height; `drawn` is the rectangle of letters in it, returned as it
    then lies in the image."""
    at, height = (round(box[0]), round(box[1])), max(1, round(box[3] - box[1]))
    stretch = height / mask.height
    image.paste(ink, at, mask.resize((mask.width, height), Image.Resampling.BICUBIC))
    x0, y0, x1, y1 = drawn
    return at[0] + x0, at[1] + y0 * stretch, at[0] + x1, at[1] + y1 * stretch


def _lines(mask: Image.Image, lines: list[str], size: int, face: Face) -> Box:
    """The lines in white in the middle of a mask, and the rectangle of their letters."""
    draw, letters = ImageDraw.Draw(mask), font(size, face)
    pitch, first = size * LEADING, mask.height / 2 - size * LEADING * (len(lines) - 1) / 2
    # What was broken starts at the left, so that one sees which lines go on.
    x, anchor = (0.0, "lm") if any(line.startswith(INDENT) for line in lines) else (mask.width / 2, "mm")
    boxes: list[Box] = []
    for number, line in enumerate(lines):
        place = (x, first + number * pitch)
        draw.text(place, line, font=letters, fill=255, anchor=anchor)
        if line.strip():
            boxes.append(draw.textbbox(place, line, font=letters, anchor=anchor))
    if not boxes:
        return x, first, x, first
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
