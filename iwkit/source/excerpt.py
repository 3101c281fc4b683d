"""A problem as it is shown to a person: with the line that it is about, and a mark under the place."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Final

from iwkit.problems import Problem
from iwkit.source.document import LINE_BREAK
from iwkit.source.reader import MAX_BYTES

WIDTH: Final = 100
"""How many characters of the line are shown, the place among them."""
_BEFORE: Final = 60
"""How many of them at most stand before the place, where the line is longer."""
_UNSHOWN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of characters that do not show, or change how others are shown."""


def shown(problem: Problem) -> str:
    """The problem with its line of the file, where there is one that can be read.

    What does not show is written as `\\u202e`: a line can neither hide a part of itself nor steer a terminal.
    """
    line = _line(problem)
    if line is None:
        return str(problem)
    head, _, hint = str(problem).partition("\n")
    start = max(0, problem.pos.col - 1 - _BEFORE) if len(line) > WIDTH else 0
    before, after = _visible(line[start : problem.pos.col - 1]), _visible(line[problem.pos.col - 1 : start + WIDTH])
    number = str(problem.pos.line)
    cut = "..." if start else ""
    rest = "..." if len(line) > start + WIDTH else ""
    quoted = f"    {number} | {cut}{before}{after}{rest}\n    {' ' * len(number)} | {' ' * _columns(cut + before)}^"
    return "\n".join([head, quoted, *([hint] if hint else [])])


def _line(problem: Problem) -> str | None:
    """The line of the file; None where the file cannot be read, has no such line, or the line says nothing."""
    try:
        lines = _lines(problem.file, Path(problem.file).stat().st_mtime_ns)
    except (OSError, ValueError):
        return None
    line = lines[problem.pos.line - 1] if problem.pos.line <= len(lines) else ""
    return line if line and not line.isspace() else None


@lru_cache(maxsize=4)
def _lines(file: str, _saved: int) -> list[str]:
    """The lines of a file as it was saved at that time: a file with many problems is read once."""
    with Path(file).open("rb") as stream:
        return LINE_BREAK.split(stream.read(MAX_BYTES).decode("utf-8-sig", "replace"))


def _visible(text: str) -> str:
    return "".join("    " if c == "\t" else _escaped(c) if unicodedata.category(c) in _UNSHOWN else c for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _columns(text: str) -> int:
    """How many columns of a terminal the text takes: wide characters two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
