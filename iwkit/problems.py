"""A located complaint about a file, printed as `file:line:col: CODE message` with one hint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Pos(NamedTuple):
    """A place in a file; line and column count from 1, the column in characters."""

    line: int
    col: int


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """What is wrong, where, and what to do. `code` is stable and documented in docs/problem-codes.md."""

    file: str
    pos: Pos
    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f"\n    hint: {self.hint}" if self.hint else ""
        return f"{self.file}:{self.pos.line}:{self.pos.col}: {self.code} {self.message}{hint}"
