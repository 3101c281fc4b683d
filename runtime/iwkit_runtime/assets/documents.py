"""Styles of sheets: pages, tables, bills, tickets, floor plans and calendars, with titles and lines (`sheets.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image, ImageDraw

from iwkit_runtime.assets.colours import as_bytes
from iwkit_runtime.assets.inks import RULE, TALLISH, Bytes, Inks, around
from iwkit_runtime.assets.sheets import body
from iwkit_runtime.assets.typeset import Box, fit, write

STRIPE = 0.03
"""Width of the stripe down a headed sheet, as a part of the sheet's."""


def _titled(text: str) -> tuple[str, str]:
    """The first line, and the rest."""
    title, _, rest = text.partition("\n")
    return title, rest


def _frame(image: Image.Image) -> None:
    width, height = image.size
    ImageDraw.Draw(image).rectangle((0, 0, width - 1, height - 1), outline=(170, 170, 170), width=max(1, width // 200))


def _share(image: Image.Image, rest: str) -> float:
    """The part of a page's height for its title: less where much is below it, more on a broad page, where letters are
    low rather than narrow."""
    if image.width > image.height:
        return min(0.34, max(0.2, 0.95 / (rest.count("\n") + 2)))
    return 0.24 if rest.count("\n") < 3 else 0.2


def page(image: Image.Image, text: str, inks: Inks) -> Box:
    """A page of writing with a thin frame and a rule under its first line."""
    return _page_with(image, text, inks, grid=False)


def table(image: Image.Image, text: str, inks: Inks) -> Box:
    """The same with lines around the cells of its tables."""
    return _page_with(image, text, inks, grid=True)


def _page_with(image: Image.Image, text: str, inks: Inks, *, grid: bool) -> Box:
    width, height = image.size
    _frame(image)
    title, rest = _titled(text)
    if not rest:
        return write(image, text, (width * 0.05, height * 0.06, width * 0.95, height * 0.94), as_bytes(inks.ink))
    share = _share(image, rest)
    top = write(image, title, (width * 0.04, height * 0.04, width * 0.96, height * share), as_bytes(inks.ink))
    rule = height * (share + 0.01)
    ImageDraw.Draw(image).rectangle(
        (width * 0.05, rule, width * 0.95, rule + max(2, height // 160)), fill=as_bytes(inks.ink)
    )
    below = (width * 0.04, rule + height * 0.03, width * 0.96, height * 0.97)
    return around(top, body(image, rest, below, inks, grid=grid))


def headed(image: Image.Image, text: str, inks: Inks) -> Box:
    """A sheet with a stripe of the accent's colour down its left edge, and a rule of it under the first line."""
    return _headed(image, text, inks)[0]


def _headed(image: Image.Image, text: str, inks: Inks) -> tuple[Box, Box]:
    """The rectangle of all that is written, and that of what is below the rule."""
    width, height = image.size
    title, rest = _titled(text)
    share = _share(image, rest) if rest else 1.0
    pen, accent, left = ImageDraw.Draw(image), as_bytes(inks.accent), width * STRIPE * 1.4
    _frame(image)
    pen.rectangle((0, 0, width * STRIPE, height), fill=accent)
    top = write(image, title, (left, height * 0.04, width * 0.96, height * share), as_bytes(inks.ink))
    if not rest:
        return top, top
    rule = height * (share + 0.01)
    pen.rectangle((left, rule, width * 0.96, rule + max(2, height // 160)), fill=accent)
    below = body(image, rest, (left, rule + height * 0.03, width * 0.96, height * 0.97), inks)
    return around(top, below), below


def bill(image: Image.Image, text: str, inks: Inks) -> Box:
    """A sheet for amounts: the same, with a double line above its last row, the sum."""
    used, below = _headed(image, text, inks)
    rows = [row for row in text.split("\n")[1:] if not row.startswith("*")]
    if len(rows) > 1:
        pen, line = ImageDraw.Draw(image), max(1, image.height // 300)
        y = below[3] - (below[3] - below[1]) / len(rows) - 2 * line
        for offset in (0, 3 * line):
            pen.rectangle(
                (image.width * STRIPE * 1.4, y + offset, image.width * 0.95, y + offset + line - 1), fill=RULE
            )
    return used


def ticket(image: Image.Image, text: str, inks: Inks) -> Box:
    """A slip as a till prints it: letters of one width, a broken line under the first, a torn edge below."""
    width, height = image.size
    pen, tooth = ImageDraw.Draw(image), max(4, width // 24)
    for x in range(0, width, tooth):
        pen.polygon([(x, height), (x + tooth / 2, height - tooth * 0.6), (x + tooth, height)], fill=(120, 120, 118))
    title, rest = _titled(text)
    ink = as_bytes(inks.ink)
    if not rest:
        return write(image, text, (width * 0.05, height * 0.06, width * 0.95, height * 0.9), ink, face="mono")
    top = write(image, title, (width * 0.04, height * 0.03, width * 0.96, height * 0.2), ink, face="mono")
    y, dash = height * 0.215, max(3, width // 40)
    for x in range(round(width * 0.05), round(width * 0.95), 2 * dash):
        pen.rectangle((x, y, x + dash, y + max(1, height // 200)), fill=ink)
    box = (width * 0.04, height * 0.24, width * 0.96, height - tooth * 1.2)
    return around(top, body(image, rest, box, inks, face="mono"))


def plan(image: Image.Image, text: str, inks: Inks) -> Box:
    """A floor plan: the first line as title, every other line a row of rooms between `|`."""
    title, rest = _titled(text)
    rows = [[cell.strip() for cell in row.split("|")] for row in rest.split("\n")] if rest else []
    width, height = image.size
    used = [write(image, title, (width * 0.04, height * 0.03, width * 0.96, height * 0.17), as_bytes(inks.ink))]
    pen, line = ImageDraw.Draw(image), max(2, width // 150)
    rooms = list(_cells(rows, (width * 0.03, height * 0.2, width * 0.97, height * 0.96)))
    for _, box in rooms:
        pen.rectangle(box, outline=RULE, fill=(240, 245, 250), width=line)
    inside = [(text, (x0 + 3 * line, y0 + 2 * line, x1 - 3 * line, y1 - 2 * line)) for text, (x0, y0, x1, y1) in rooms]
    return around(*used, *_alike(image, inside, as_bytes(inks.ink)))


def calendar(image: Image.Image, text: str, inks: Inks) -> Box:
    """A calendar: the first line is the month, the second its days between `|`, every other a week."""
    title, rest = _titled(text)
    rows = [[cell.strip() for cell in row.split("|")] for row in rest.split("\n")] if rest else []
    width, height = image.size
    pen, line, ink = ImageDraw.Draw(image), max(1, width // 220), as_bytes(inks.ink)
    pen.rectangle((0, 0, width, height * 0.04), fill=as_bytes(inks.accent))
    used = [write(image, title, (width * 0.04, height * 0.05, width * 0.96, height * 0.18), ink)]
    days = list(_cells(rows[:1], (width * 0.02, height * 0.19, width * 0.98, height * 0.36)))
    weeks = list(_cells(rows[1:], (width * 0.02, height * 0.36, width * 0.98, height * 0.97)))
    for _, box in days:
        pen.rectangle(box, fill=inks.pale)
    for _, box in weeks:
        pen.rectangle(box, outline=RULE, width=line)
    for cells, pad in ((days, 5 * line), (weeks, 3 * line)):
        used += _alike(image, [(text, (a + pad, b + pad, c - pad, d - pad)) for text, (a, b, c, d) in cells], ink)
    return around(*used)


def _cells(rows: list[list[str]], box: Box) -> Iterator[tuple[str, Box]]:
    """Texts and rectangles of rows that fill a box, each divided evenly."""
    left, top, right, bottom = box
    pitch = (bottom - top) / max(1, len(rows))
    for number, cells in enumerate(rows):
        wide, y = (right - left) / len(cells), top + number * pitch
        for column, cell in enumerate(cells):
            yield cell, (left + column * wide, y, left + (column + 1) * wide, y + pitch)


def _alike(image: Image.Image, cells: list[tuple[str, Box]], ink: Bytes) -> list[Box]:
    """Write every text into the middle of its rectangle, all in one size."""
    written = [(text, box) for text, box in cells if text]
    size = min((fit(text, box[2] - box[0], box[3] - box[1])[0] for text, box in written), default=0)
    return [write(image, text, box, ink, largest=size, tall=TALLISH) for text, box in written]
