"""What is printed on things: one small drawing function a style (`iwkit.spec.recipe.Print.style`)."""

from __future__ import annotations

from collections.abc import Callable

from PIL import Image, ImageDraw

from iwkit_runtime.assets import documents, handwriting, sheets, signs
from iwkit_runtime.assets.colours import as_bytes
from iwkit_runtime.assets.inks import TALL, Bytes, Inks, inner
from iwkit_runtime.assets.typeset import Box, write

PIXEL = 0.0004
"""Metres a pixel, for prints of up to `MOST` pixels."""
MOST, LEAST = 1024, 16


def pixels(width: float, height: float) -> tuple[int, int]:
    """Size in pixels of a print of this size in metres."""
    scale = min(1 / PIXEL, MOST / max(width, height))
    return max(LEAST, round(width * scale)), max(LEAST, round(height * scale))


def draw(style: str, size: tuple[int, int], text: str, inks: Inks) -> tuple[Image.Image, Box]:
    """The print as an image of `size` pixels, and the rectangle in it that the writing fills."""
    image = Image.new("RGB", size, as_bytes(inks.paper))
    return image, STYLES[style](image, text, inks)


def _plain(image: Image.Image, text: str, inks: Inks) -> Box:
    """The text alone, or with a stamp over it."""
    return sheets.body(image, text, inner(image, 0.06, 0.06), inks, tall=1)


def _band(image: Image.Image, text: str, inks: Inks) -> Box:
    """A broad band of the accent's colour across the middle, with the text on it."""
    width, height = image.size
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, height * 0.22, width, height * 0.78), fill=as_bytes(inks.accent))
    for y in (0.15, 0.83):
        pen.rectangle((0, height * y, width, height * (y + 0.02)), fill=as_bytes(inks.accent))
    return write(image, text, inner(image, 0.03, 0.25), inks.on_accent, tall=TALL)


def _cover(image: Image.Image, text: str, inks: Inks) -> Box:
    """A cover: a title above a picture of hills and a sun."""
    width, height = image.size
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, width, height), fill=as_bytes(inks.accent))
    top, low = height * 0.36, height * 0.9
    pen.rectangle((width * 0.08, top, width * 0.92, low), fill=(176, 214, 238))
    pen.ellipse((width * 0.6, top * 1.12, width * 0.78, top * 1.12 + width * 0.18), fill=(252, 220, 90))
    pen.polygon([(width * 0.08, low), (width * 0.36, top * 1.5), (width * 0.66, low)], fill=(70, 130, 84))
    pen.polygon([(width * 0.4, low), (width * 0.7, top * 1.8), (width * 0.92, low)], fill=(44, 100, 70))
    return write(image, text, (width * 0.06, height * 0.04, width * 0.94, height * 0.32), inks.on_accent)


def _bars(pen: ImageDraw.ImageDraw, box: Box, pitch: float, colour: Bytes, short: int = 5) -> None:
    """Lines of writing too small to read, as bars."""
    left, top, right, bottom = box
    number = 0
    while top + pitch * 0.5 < bottom:
        number += 1
        end = left + (right - left) * (0.6 if number % short == 0 else 1)
        pen.rectangle((left, top, end, top + pitch * 0.45), fill=colour)
        top += pitch


def _news(image: Image.Image, text: str, inks: Inks) -> Box:
    """A newspaper: title, rule, a picture and columns."""
    width, height = image.size
    pen, grey = ImageDraw.Draw(image), (120, 120, 118)
    pen.rectangle((width * 0.05, height * 0.17, width * 0.95, height * 0.176), fill=as_bytes(inks.ink))
    pen.rectangle((width * 0.36, height * 0.22, width * 0.95, height * 0.5), fill=(165, 165, 160))
    pen.polygon(
        [(width * 0.36, height * 0.5), (width * 0.6, height * 0.3), (width * 0.85, height * 0.5)], fill=(110, 110, 106)
    )
    for column, start in enumerate((0.22, 0.53, 0.53)):
        left = width * (0.05 + 0.31 * column)
        _bars(pen, (left, height * start, left + width * 0.28, height * 0.96), height * 0.02, grey)
    return write(image, text, (width * 0.05, height * 0.03, width * 0.95, height * 0.15), as_bytes(inks.ink))


def _screen(image: Image.Image, text: str, inks: Inks) -> Box:
    """A telephone's screen: time on top and rows of icons."""
    width, height = image.size
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, width, height), fill=as_bytes(inks.paper))
    hues = ((230, 70, 60), (250, 180, 40), (70, 180, 90), (60, 130, 230), (150, 90, 200), (240, 240, 245))
    size = width * 0.17
    for row in range(4):
        for column in range(4):
            x, y = width * (0.08 + 0.225 * column), height * 0.4 + row * size * 1.45
            if y + size < height * 0.98:
                pen.rounded_rectangle(
                    (x, y, x + size, y + size), radius=size * 0.25, fill=hues[(row * 5 + column * 2) % 6]
                )
    return write(image, text, (width * 0.1, height * 0.08, width * 0.9, height * 0.32), as_bytes(inks.ink))


def _display(image: Image.Image, text: str, inks: Inks) -> Box:
    """A small liquid-crystal display."""
    width, height = image.size
    pen = ImageDraw.Draw(image)
    pen.rectangle(
        (0, 0, width - 1, height - 1),
        fill=(190, 205, 180),
        outline=as_bytes(inks.ink),
        width=max(1, min(width, height) // 20),
    )
    return write(image, text, inner(image, 0.06, 0.08), (20, 26, 20))


def _keys(image: Image.Image, text: str, inks: Inks) -> Box:
    """Rows of keys: `text` is the number of columns and rows, as in 12x5."""
    width, height = image.size
    columns, rows = map(int, text.split("x"))
    pen = ImageDraw.Draw(image)
    wide, high = width / columns, height / rows
    for row in range(rows):
        for column in range(columns):
            x, y = column * wide, row * high
            box = (x + wide * 0.12, y + high * 0.12, x + wide * 0.88, y + high * 0.88)
            pen.rounded_rectangle(box, radius=min(wide, high) * 0.15, fill=as_bytes(inks.accent))
    return 0, 0, width, height


def _ruled(image: Image.Image, text: str, inks: Inks) -> Box:
    """A title above lines of writing too small to read."""
    width, height = image.size
    _bars(
        ImageDraw.Draw(image),
        (width * 0.08, height * 0.28, width * 0.92, height * 0.94),
        height * 0.05,
        (150, 152, 158),
    )
    return write(image, text, (width * 0.06, height * 0.05, width * 0.94, height * 0.24), as_bytes(inks.ink))


STYLES: dict[str, Callable[[Image.Image, str, Inks], Box]] = {
    "plain": _plain,
    "band": _band,
    "card": signs.card,
    "plate": signs.plate,
    "tag": signs.tag,
    "answer": signs.answer,
    "welcome": signs.welcome,
    "sign": signs.sign,
    "forbid": signs.forbid,
    "warn": signs.warn,
    "page": documents.page,
    "table": documents.table,
    "headed": documents.headed,
    "bill": documents.bill,
    "ticket": documents.ticket,
    "plan": documents.plan,
    "calendar": documents.calendar,
    "note": handwriting.note,
    "ruled": _ruled,
    "cover": _cover,
    "news": _news,
    "screen": _screen,
    "display": _display,
    "keys": _keys,
}
