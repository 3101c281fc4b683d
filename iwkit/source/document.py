"""A YAML file as plain data, with the place of every key and value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iwkit.problems import Pos, Problem

Path = tuple[str | int, ...]
"""Keys and list indices (from 0) that lead from the top of a document to a value."""

LINE_BREAK = re.compile(r"\r\n|\n|\r")

# One match is one character of the value; a backslash at the end of a line, which continues it, matches nothing.
_UNITS = {
    "'": re.compile(r"''|[^']"),
    '"': re.compile(r'\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^xuU])|[^"\\]'),
}
_PLAIN_UNIT = re.compile(r".")
_NO_UNIT = re.compile(r"(?!)")
_WORD = re.compile(r"[^\s,\]}]*")


@dataclass(frozen=True, slots=True)
class Document:
    """The data of one file and where each part of it is written.

    `data` holds dict, list, str, int, float, bool and None. `values` and `keys` map a path to the place where its value
    starts and where its key is written; the top of the file is the path `()` of `values`.
    """

    file: str
    data: Any
    text: str
    values: Mapping[Path, Pos] = field(default_factory=lambda: {(): Pos(1, 1)}, repr=False)
    keys: Mapping[Path, Pos] = field(default_factory=dict, repr=False)

    def known(self, path: Sequence[str | int]) -> Path:
        """`path` without the parts that name nothing here, such as the tags pydantic puts in for a union's branch."""
        found: Path = ()
        for part in path:
            if (*found, part) in self.values:
                found = (*found, part)
        return found

    def where(self, path: Sequence[str | int], key: bool = False) -> Pos:
        """The place of the deepest known part of `path`: of its value, or of its key where `key` and it has one."""
        found = self.known(path)
        value = self.values[found]
        return self.keys.get(found, value) if key else value

    def inside(self, path: Sequence[str | int], offset: int) -> Pos:
        """The place of character `offset` (from 0) of the text at `path`.

        Quotes and escapes are counted. Where the character can't be told from the first line (block scalars, text
        folded over lines, an offset past the end) it is the start of the text.
        """
        start = self.where(path)
        columns = list(self._columns(path, start))
        return Pos(start.line, columns[offset]) if 0 <= offset < len(columns) else start

    def problem(self, path: Sequence[str | int], code: str, message: str, hint: str = "", key: bool = False) -> Problem:
        """A problem at the place of `path`, as `where` finds it."""
        return Problem(self.file, self.where(path, key), code, message, hint)

    def at(self, path: Sequence[str | int]) -> Any:
        """The value at the deepest known part of `path`."""
        value = self.data
        for part in self.known(path):
            value = value[part]
        return value

    def written(self, path: Sequence[str | int]) -> str:
        """The unquoted number or word at `path` as the author wrote it (`1.10` where the value is 1.1)."""
        line, col = self.where(path)
        found = _WORD.match(self._line(line), col - 1)
        return found.group() if found else ""

    def _columns(self, path: Sequence[str | int], start: Pos) -> Iterator[int]:
        """The column of each character of the text at `path`, and of the place after the last one."""
        value = self.at(path)
        if not isinstance(value, str):
            return
        line, at = self._line(start.line), start.col - 1
        opener = line[at : at + 1]
        unit = _UNITS.get(opener, _NO_UNIT if opener in "|>" else _PLAIN_UNIT)
        at += opener in _UNITS
        for _ in value:
            found = unit.match(line, at)
            if found is None:
                return
            yield at + 1
            at = found.end()
        yield at + 1

    def _line(self, number: int) -> str:
        lines = LINE_BREAK.split(self.text)
        return lines[number - 1] if number <= len(lines) else ""
