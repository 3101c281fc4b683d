"""The strip below the pictures of a film: who says what, and what is done now."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from iwkit_runtime.physical.spec import Pixels
from iwkit_runtime.render.telling import Caption

PAPER, INK, FAINT, WARNING = (24, 26, 30), (236, 236, 232), (150, 154, 160), (255, 176, 96)
SPEAKER = {"Wearer": (140, 200, 255), "Assistant": (150, 226, 150)}
LINES = 4
"""Lines of what is said; what is longer is cut, the older utterance first."""
LEADING = 1.28
"""Distance of lines, as a multiple of the font's size."""
PER_STRIP = 6.4
"""Font sizes in the height of the strip."""
PART = 0.26
"""The strip's height as a part of that of the pictures."""


def strip_height(picture_height: int) -> int:
    """The strip's height in pixels, an even number."""
    return max(48, 2 * round(PART * picture_height / 2))


@lru_cache(maxsize=8)
def strip(caption: Caption, width: int, height: int) -> Pixels:
    """The strip (height, width, 3): what was said last on the left, what is done on the right."""
    image = Image.new("RGB", (width, height), PAPER)
    pen = ImageDraw.Draw(image)
    size = max(9, round(height / PER_STRIP))
    margin, middle = size, round(width * 0.64)
    top = size // 2
    for newest, (who, lines) in _spoken(caption, size, middle - 2 * margin):
        for number, line in enumerate(lines):
            pen.text((margin, top), line, INK if newest else FAINT, _font(size))
            if number == 0:
                pen.text((margin, top), f"{who}: ", SPEAKER.get(who, INK), _font(size))
            top += round(LEADING * size)
        top += size // 3
    top = size // 2
    for text, colour in ((caption.doing, INK), (caption.note, WARNING)):
        for line in _wrapped(text, size, width - middle - margin, 2):
            pen.text((middle, top), line, colour, _font(size))
            top += round(LEADING * size)
    return np.asarray(image)


def _spoken(caption: Caption, size: int, width: float) -> list[tuple[bool, tuple[str, list[str]]]]:
    """Whether it is the newest, who, and the lines of each utterance, the oldest first."""
    found: list[tuple[bool, tuple[str, list[str]]]] = []
    room = LINES
    for who, text in reversed(caption.said):
        name = who.capitalize()
        most = room - 1 if not found and len(caption.said) > 1 else room
        lines = _wrapped(f"{name}: {text}", size, width, most)
        room -= len(lines)
        found.insert(0, (not found, (name, lines)))
    return found


@lru_cache(maxsize=16)
def _font(size: int) -> ImageFont.FreeTypeFont:
    """DejaVu Sans, from the files that matplotlib carries."""
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


def _wrapped(text: str, size: int, width: float, most: int) -> list[str]:
    """The text in lines that fit, at most so many; a word that is too wide is broken."""
    face, lines = _font(size), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if face.getlength(longer) <= width:
            lines[-1] = longer
            continue
        lines.append("")
        for letter in word:
            if lines[-1] and face.getlength(lines[-1] + letter) > width:
                lines.append("")
            lines[-1] += letter
    lines = [line for line in lines if line]
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][:-1]}…"]
