"""Sheets of writing. A few signs in the text say what a line is, so that the text of a document is all it takes:

`a | b` is a row of a table, `[ ] a` and `[x] a` are boxes to tick, `a:` has a line to write on, `*a*` is a stamp across
the sheet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from PIL import Image, ImageDraw

from iwkit_runtime.assets.colours import as_bytes
from iwkit_runtime.assets.inks import RULE, TALLISH, Bytes, Inks, around
from iwkit_runtime.assets.typeset import INDENT, LEADING, Box, Face, font, largest, paste, wrap, write

AMOUNT = re.compile(r"[-+]?[$€£]?\d[\d.,:]*( ?\S{1,4})?")
"""What stands at the right of its column."""
GAP = 0.8
"""Between the columns of a table, as a multiple of the font's size."""
TICK = 1.25
"""Width that a box to tick takes, as a multiple of the font's size."""
LOOSE = 1.5
"""Lines of a sheet with room to spare are at most so much further apart."""
WHITE: Bytes = (255, 255, 255)
STAMP: Bytes = (190, 30, 40)
STAMPED = 0.48
"""Part of the height that is left free for a stamp."""
TILT = 4
"""Degrees by which a stamp is askew."""


@dataclass(frozen=True)
class Row:
    """One line of a document: its cells (one where it isn't a table's), and what stands before or after."""

    cells: tuple[str, ...]
    box: bool = False
    ticked: bool = False
    blank: bool = False

    @property
    def indent(self) -> float:
        """Width before the text, as a multiple of the font's size."""
        return TICK if self.box else 0.0


@dataclass
class Page:
    """Rows at a size, each with the left edges of its cells in pixels; and whether all of them fit."""

    size: int
    rows: list[tuple[Row, list[float]]] = field(default_factory=list)
    fits: bool = True


def parse(text: str) -> tuple[list[Row], list[str]]:
    """The rows of a text, and its stamps."""
    rows, stamps = list[Row](), list[str]()
    for line in text.split("\n"):
        if found := re.fullmatch(r"\*(.+)\*", line.strip()):
            stamps.append(found[1])
        elif found := re.fullmatch(r"\[([ xX])\] ?(.*)", line.strip()):
            rows.append(Row((found[2],), box=True, ticked=found[1] != " "))
        elif "|" in line:
            rows.append(Row(tuple(cell.strip() for cell in line.split("|"))))
        else:
            rows.append(Row((line.strip(),), blank=line.rstrip().endswith(":")))
    return rows, stamps


def _is_plain(rows: Sequence[Row]) -> bool:
    return all(len(row.cells) == 1 and not row.box and not row.blank for row in rows)


def body(
    image: Image.Image,
    text: str,
    box: Box,
    inks: Inks,
    *,
    grid: bool = False,
    face: Face = "sans",
    tall: float = TALLISH,
) -> Box:
    """Write a document's rows into a box, as large as fits; the rectangle that they fill."""
    rows, stamps = parse(text)
    ink = as_bytes(inks.ink)
    marks: list[Box] = []
    for stamp in stamps:
        share = STAMPED if rows else 1.0
        below = (box[0], box[3] - share * (box[3] - box[1]), box[2], box[3])
        marks.append(stamped(image, stamp, below))
        box = (box[0], box[1], box[2], below[1])
    if not rows:
        return around(*marks)
    if _is_plain(rows):
        used = write(image, "\n".join(row.cells[0] for row in rows), box, ink, tall=tall, face=face)
    else:
        used = _structured(image, rows, box, inks, grid=grid, face=face)
    return around(used, *marks)


def _structured(image: Image.Image, rows: list[Row], box: Box, inks: Inks, *, grid: bool, face: Face) -> Box:
    width, height = box[2] - box[0], box[3] - box[1]

    def fits(size: int) -> bool:
        page = _page(rows, size, width, face)
        return page.fits and len(page.rows) * size * LEADING <= height

    size = largest(height, fits)
    page = _page(rows, size, width, face)
    count = len(page.rows)
    stretch = max(1.0, min(TALLISH, height / (size * LEADING * count)))
    pitch = min(height, size * LEADING * stretch * LOOSE * count) / count
    filled = (box[0], box[1], box[2], box[1] + pitch * count)
    if grid:
        _grid(image, page, filled, pitch, inks)
    mask = Image.new("L", (max(1, round(width)), max(1, round(pitch * count / stretch))))
    drawn = _drawn(mask, page, face)
    return paste(image, mask, drawn, filled, as_bytes(inks.ink))


def _page(rows: list[Row], size: int, width: float, face: Face) -> Page:
    """The rows at this size; what is too wide for its column or its line runs over."""
    page = Page(size)
    for is_table, group in groupby(rows, lambda row: len(row.cells) > 1):
        members = list(group)
        if is_table:
            edges, spare = _columns(members, size, width, face)
            page.rows += [(row, edges) for row in members]
            page.fits = page.fits and spare >= 0
        else:
            for row in members:
                _add_line(page, row, width, face)
    return page


def _add_line(page: Page, row: Row, width: float, face: Face) -> None:
    """A row that isn't a table's, broken where it is too long."""
    text, left = row.cells[0], row.indent * page.size
    pieces = wrap(text, font(page.size, face).getlength, width - left, INDENT)
    page.fits = page.fits and pieces is not None
    lines = pieces or [text]
    for number, piece in enumerate(lines):
        box, blank = row.box and number == 0, row.blank and number == len(lines) - 1
        page.rows.append((Row((piece,), box, row.ticked, blank), [left]))


def _columns(rows: list[Row], size: int, width: float, face: Face) -> tuple[list[float], float]:
    """Left edges of a table's columns, with what room is left spread between them; and that room."""
    number = max(len(row.cells) for row in rows)
    measure = font(size, face).getlength
    widths = [max(measure(row.cells[n]) if n < len(row.cells) else 0.0 for row in rows) for n in range(number)]
    spare = (width - sum(widths) - GAP * size * number) / number
    edges = [0.0]
    for column in widths:
        edges.append(edges[-1] + column + GAP * size + max(0.0, spare))
    return edges, spare


def _drawn(mask: Image.Image, page: Page, face: Face) -> Box:
    """The rows in white on a mask, spread over its height, and the rectangle of what is written."""
    draw, letters, pitch = ImageDraw.Draw(mask), font(page.size, face), mask.height / len(page.rows)
    pen = max(1, page.size // 12)
    boxes: list[Box] = []
    amounts = _amounts(page)
    for number, (row, edges) in enumerate(page.rows):
        y = (number + 0.5) * pitch
        if row.box:
            boxes.append(_tick(draw, page.size, y, pen, ticked=row.ticked))
        for column, cell in enumerate(row.cells):
            if not cell:
                continue
            right = (number, column) in amounts
            x = edges[column + 1] - GAP / 2 * page.size if right else edges[column] + _inset(row, page.size)
            anchor = "rm" if right else "lm"
            draw.text((x, y), cell, font=letters, fill=255, anchor=anchor)
            boxes.append(draw.textbbox((x, y), cell, font=letters, anchor=anchor))
        if row.blank:
            start, under = boxes[-1][2] + 0.4 * page.size, y + 0.45 * page.size
            if start < mask.width - page.size:
                draw.rectangle((start, under, mask.width - 1, under + pen - 1), fill=150)
    return around(*boxes) if boxes else (0.0, 0.0, float(mask.width), float(mask.height))


def _inset(row: Row, size: int) -> float:
    return GAP / 2 * size if len(row.cells) > 1 else 0.0


def _tick(draw: ImageDraw.ImageDraw, size: int, y: float, pen: int, *, ticked: bool) -> Box:
    """A box at the left edge, perhaps with a tick."""
    side = 0.72 * size
    box = (0.05 * size, y - side / 2, 0.05 * size + side, y + side / 2)
    draw.rectangle(box, outline=255, width=pen)
    if ticked:
        points = [(box[0] + side * 0.2, y), (box[0] + side * 0.45, y + side * 0.3), (box[2] + side * 0.15, box[1] - 2)]
        draw.line(points, fill=255, width=2 * pen, joint="curve")
    return box


def _amounts(page: Page) -> set[tuple[int, int]]:
    """Which cells stand at the right: those of columns that hold amounts in every row but the first."""
    found: set[tuple[int, int]] = set()
    numbers = [n for n, (row, _) in enumerate(page.rows) if len(row.cells) > 1]
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        table = [n for _, n in run]
        for column in range(1, max(len(page.rows[n][0].cells) for n in table)):
            held = [n for n in table if column < len(page.rows[n][0].cells)]
            values = [page.rows[n][0].cells[column] for n in held]
            body_values = [value for value in values[1:] or values if value]
            if body_values and all(AMOUNT.fullmatch(value) for value in body_values):
                found |= {(n, column) for n in held}
    return found


def _grid(image: Image.Image, page: Page, box: Box, pitch: float, inks: Inks) -> None:
    """Lines around the cells of tables, the first row of each on a tint."""
    pen, line = ImageDraw.Draw(image), max(1, image.width // 260)
    before = False
    for number, (row, edges) in enumerate(page.rows):
        table, top = len(row.cells) > 1, box[1] + number * pitch
        if table:
            right = min(box[2], box[0] + edges[-1])
            fill = inks.pale if not before else None
            pen.rectangle((box[0], top, right, top + pitch), fill=fill, outline=RULE, width=line)
            for edge in edges[1:-1]:
                pen.rectangle((box[0] + edge, top, box[0] + edge + line - 1, top + pitch), fill=RULE)
        before = table


def stamped(image: Image.Image, text: str, box: Box) -> Box:
    """A rubber stamp askew in a box: what doesn't count any more is marked like this. The rectangle that it fills."""
    width, height = round(box[2] - box[0]), round(box[3] - box[1])
    rise = math.sin(math.radians(TILT))
    wide = min(0.94 * width, 0.94 * height / (rise + 0.2))
    tall = min(0.94 * height - rise * wide, 0.34 * wide)
    plate = Image.new("RGB", (max(8, round(wide)), max(8, round(tall))))
    line = max(1, plate.height // 14)
    ImageDraw.Draw(plate).rectangle((0, 0, plate.width - 1, plate.height - 1), outline=WHITE, width=line)
    write(plate, text, (4 * line, 2 * line, plate.width - 4 * line, plate.height - 2 * line), WHITE)
    askew = plate.convert("L").rotate(TILT, Image.Resampling.BICUBIC, expand=True)
    x, y = round((box[0] + box[2] - askew.width) / 2), round((box[1] + box[3] - askew.height) / 2)
    image.paste(STAMP, (x, y), askew)
    return x, y, x + askew.width, y + askew.height
