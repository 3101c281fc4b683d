"""Signs, cards and tags: few words, seen from afar."""

from __future__ import annotations

from collections.abc import Callable

from PIL import Image, ImageDraw

from iwkit_runtime.assets.colours import as_bytes
from iwkit_runtime.assets.inks import TALL, Bytes, Inks, around, inner
from iwkit_runtime.assets.typeset import Box, write

RED: Bytes = (196, 22, 34)
BLACK: Bytes = (16, 16, 18)
FINE = 4
"""Rings and triangles are drawn so many times as large and then reduced, for smooth edges."""
BROAD = 1.15
"""On what is broader than so many times its height, a mark stands beside the words, else above them."""


def sign(image: Image.Image, text: str, inks: Inks) -> Box:
    """A sign in the accent's colour with a thin border."""
    width, height = image.size
    line = max(2, min(width, height) // 50)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, width, height), fill=as_bytes(inks.accent))
    pen.rounded_rectangle(
        (2 * line, 2 * line, width - 1 - 2 * line, height - 1 - 2 * line),
        radius=4 * line,
        outline=inks.on_accent,
        width=line,
    )
    return write(image, text, inner(image, 0.09, 0.12), inks.on_accent, tall=1.4)


def forbid(image: Image.Image, text: str, inks: Inks) -> Box:
    """What is forbidden: a red ring with a bar, and the words."""
    return _marked(image, text, _ring, as_bytes(inks.ink))


def warn(image: Image.Image, text: str, inks: Inks) -> Box:
    """A warning: a triangle on the accent's colour, and the words."""
    ImageDraw.Draw(image).rectangle((0, 0, *image.size), fill=as_bytes(inks.accent))
    return _marked(image, text, _triangle, inks.on_accent)


def _marked(image: Image.Image, text: str, mark: Callable[[int], Image.Image], ink: Bytes) -> Box:
    width, height = image.size
    broad = width > BROAD * height
    side = round(min(0.32 * width, 0.8 * height) if broad else min(0.8 * width, 0.46 * height))
    at = (round(0.05 * width), (height - side) // 2) if broad else ((width - side) // 2, round(0.05 * height))
    drawn = mark(side)
    image.paste(drawn, at, drawn)
    if broad:
        box = (at[0] + side + 0.04 * width, 0.1 * height, 0.96 * width, 0.9 * height)
    else:
        box = (0.05 * width, at[1] + side + 0.03 * height, 0.95 * width, 0.96 * height)
    return write(image, text, box, ink, tall=1.7)


def _ring(side: int) -> Image.Image:
    large = side * FINE
    drawn = Image.new("RGBA", (large, large))
    pen, line = ImageDraw.Draw(drawn), large // 9
    pen.line((large * 0.18, large * 0.18, large * 0.82, large * 0.82), fill=(*RED, 255), width=line)
    pen.ellipse((0, 0, large - 1, large - 1), outline=(*RED, 255), width=line)
    return drawn.resize((side, side), Image.Resampling.BOX)


def _triangle(side: int) -> Image.Image:
    large = side * FINE
    drawn = Image.new("RGBA", (large, large))
    pen, line = ImageDraw.Draw(drawn), large // 12
    corners = [(large * 0.5, large * 0.1), (large * 0.96, large * 0.9), (large * 0.04, large * 0.9)]
    pen.line([*corners, corners[0], corners[1]], fill=(*BLACK, 255), width=line, joint="curve")
    pen.polygon(
        [
            (large * 0.46, large * 0.36),
            (large * 0.54, large * 0.36),
            (large * 0.52, large * 0.66),
            (large * 0.48, large * 0.66),
        ],
        fill=(*BLACK, 255),
    )
    pen.ellipse((large * 0.46, large * 0.71, large * 0.54, large * 0.79), fill=(*BLACK, 255))
    return drawn.resize((side, side), Image.Resampling.BOX)


def plate(image: Image.Image, text: str, inks: Inks) -> Box:
    """A plate with a thin border. Its letters are high: furniture is read from above."""
    width, height = image.size
    line = max(1, min(width, height) // 50)
    ImageDraw.Draw(image).rectangle((0, 0, width - 1, height - 1), outline=as_bytes(inks.ink), width=line)
    return write(image, text, inner(image, 0.05, 0.08), as_bytes(inks.ink), tall=TALL)


def card(image: Image.Image, text: str, inks: Inks) -> Box:
    """White with a coloured strip above and below."""
    width, height = image.size
    pen = ImageDraw.Draw(image)
    for top in (0.0, 0.86):
        pen.rectangle((0, height * top, width, height * (top + 0.14)), fill=as_bytes(inks.accent))
    return write(image, text, inner(image, 0.05, 0.17), as_bytes(inks.ink), tall=TALL)


def answer(image: Image.Image, text: str, inks: Inks) -> Box:
    """An answer or a unit among several: the first line (`A`) large on a tint of the accent, the rest beside it."""
    letter, _, rest = text.partition("\n")
    width, height = image.size
    pen, line, ink = ImageDraw.Draw(image), max(2, min(width, height) // 30), as_bytes(inks.ink)
    edge = width * (0.34 if rest else 1.0)
    pen.rectangle((0, 0, edge, height), fill=inks.pale)
    pen.rectangle((0, 0, width - 1, height - 1), outline=as_bytes(inks.accent), width=line)
    large = write(image, letter, (2 * line, 2 * line, edge - 2 * line, height - 2 * line), ink, tall=1.4)
    if not rest:
        return large
    box = (edge + width * 0.03, height * 0.09, width * 0.96, height * 0.91)
    return around(large, write(image, rest, box, ink, tall=1.7))


def welcome(image: Image.Image, text: str, inks: Inks) -> Box:
    """A card with a double border and slanted letters with serifs."""
    width, height = image.size
    pen, line = ImageDraw.Draw(image), max(1, min(width, height) // 90)
    for inset, thick in ((0.035, 2 * line), (0.065, line)):
        gap = inset * max(width, height)
        pen.rectangle((gap, gap, width - 1 - gap, height - 1 - gap), outline=as_bytes(inks.accent), width=thick)
    return write(image, text, inner(image, 0.11, 0.14), as_bytes(inks.ink), tall=1.4, face="serif")


def tag(image: Image.Image, text: str, inks: Inks) -> Box:
    """A tag with its corners cut and a ring for a string at its left."""
    width, height = image.size
    cut, hole = 0.22 * height, 0.09 * height
    pen = ImageDraw.Draw(image)
    pen.polygon([(0, 0), (cut, 0), (0, cut)], fill=as_bytes(inks.accent))
    pen.polygon([(0, height), (cut, height), (0, height - cut)], fill=as_bytes(inks.accent))
    pen.ellipse(
        (cut, height / 2 - hole, cut + 2 * hole, height / 2 + hole),
        fill=(60, 60, 64),
        outline=as_bytes(inks.accent),
        width=max(2, round(hole / 2)),
    )
    box = (cut + 2.6 * hole, height * 0.08, width * 0.97, height * 0.92)
    return write(image, text, box, as_bytes(inks.ink), tall=1.7)
