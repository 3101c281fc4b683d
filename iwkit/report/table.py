"""A table as plain data, and the forms in which it can be printed."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import RenderableType

Align = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    align: Align = "left"


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` are texts, one a column; `totals` come last, apart from the others. `title` and `note` may be empty."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    totals: tuple[tuple[str, ...], ...] = ()
    title: str = ""
    note: str = ""


def columns(*names: str, right: str = "") -> tuple[Column, ...]:
    """Columns by name; those among the comma-separated `right` hold numbers."""
    numbers = {name.strip() for name in right.split(",")}
    return tuple(Column(name, "right" if name in numbers else "left") for name in names)


MARKS = {"pass": "green", "fail": "red", "void": "yellow"}
"""Words that have a colour in a terminal."""


def to_rich(table: Table) -> RenderableType:
    """For a terminal."""
    # rich is slow to import and only people need it
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415

    made = RichTable(
        title=escape(table.title) or None,
        title_justify="left",
        caption=escape(table.note) or None,
        caption_justify="left",
    )
    for number, column in enumerate(table.columns):
        made.add_column(column.name, justify=column.align, no_wrap=not number)  # what a row is about stays whole
    for row in table.rows:
        made.add_row(*(f"[{MARKS[cell]}]{cell}[/]" if cell in MARKS else escape(cell) for cell in row))
    if table.totals:
        made.add_section()
    for row in table.totals:
        made.add_row(*map(escape, row))
    return made


def to_csv(table: Table) -> str:
    """RFC 4180 with a line of names, without title and note."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([column.name for column in table.columns])
    writer.writerows([*table.rows, *table.totals])
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """A pipe table as GitHub shows it."""
    rules = ["---:" if column.align == "right" else "---" for column in table.columns]
    lines = [[column.name for column in table.columns], rules, *table.rows, *table.totals]
    # the line of rules is the one that must stay as it is
    body = [
        "| " + " | ".join(cell if number == 1 else _in_markdown(cell) for cell in line) + " |"
        for number, line in enumerate(lines)
    ]
    head = [f"**{_in_markdown(table.title)}**", ""] if table.title else []
    foot = ["", _in_markdown(table.note)] if table.note else []
    return "\n".join([*head, *body, *foot]) + "\n"


def to_latex(table: Table) -> str:
    """A `tabular` in the manner of `booktabs`, with title and note as comments."""
    shape = "".join("r" if column.align == "right" else "l" for column in table.columns)
    lines = [f"% {line}" for line in (table.title, table.note) if line]
    lines += [rf"\begin{{tabular}}{{{shape}}}", r"\toprule"]
    lines += [_latex_row(tuple(column.name for column in table.columns)), r"\midrule"]
    lines += [_latex_row(row) for row in table.rows]
    if table.totals:
        lines += [r"\midrule", *(_latex_row(row) for row in table.totals)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {"csv": to_csv, "markdown": to_markdown, "latex": to_latex}
"""Form -> how a table is written in it as text."""

_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#|"} | {"\n": " "})
_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}
    | {"✓": r"$\checkmark$", "✗": r"$\times$", "\n": " "}
)


def _in_markdown(text: str) -> str:
    return text.translate(_MARKDOWN)


def _latex_row(row: tuple[str, ...]) -> str:
    return " & ".join(cell.translate(_LATEX) for cell in row) + r" \\"
