"""What libyaml's errors mean to an author: a message that says where the broken part began, and a hint."""

from __future__ import annotations

import re
from typing import Final

import yaml

from iwkit.problems import Pos

MAX_DEPTH: Final = 64
TOO_DEEP: Final = ("Y016", f"nested more than {MAX_DEPTH} deep", "flatten it, or quote text with brackets in it")

_CLOSE: Final = "close the bracket, or quote the text if , : [ ] { } belong to it"
# How many characters of a line to either side of the place are looked at.
_NEAR: Final = 200
# (what the parser says, what the line holds near the place, the hint); the first row that fits is used.
_HINTS: Final = tuple(
    (re.compile(said), re.compile(line), hint)
    for said, line, hint in (
        ("", r"^[ ]*\t", "indent with spaces, not tabs"),
        ("cannot start any token", r"^[ ]*-\t", "write a space after the dash, not a tab"),
        ("mapping values are not allowed", "", "quote the text: it holds ': '"),
        ("cannot start any token", "", "quote the text: @ ` % and tabs can't begin it"),
        ("unexpected end of stream|unexpected document", "", "close the quote"),
        ("escape", "", r"write \\ for a backslash, or use single quotes"),
        ("", r"(?:[:\[]|^\s*-)\s*\[\w+\]\s*[<\d]", 'quote the text: "[Open] <fridge>"'),
        ("expected ',' or", "", _CLOSE),
        ("", r":\s*\[[^\]]*\]\s*[^\s#]|-\s+\[[^\]]*\]\s*[^\s#]", 'quote the text: "[Open] <fridge>"'),
        ("", r"[:-] +'", "text with a ' in it goes in double quotes"),
        ("", r'[:-] +"', r'write \" for a " inside double quotes'),
        ("could not find expected ':'", "", "write 'key: value' with a space after the colon"),
        ("", "", "check the indentation and the quotes of this line and the one before"),
    )
)


def explain(error: yaml.MarkedYAMLError, lines: list[str]) -> tuple[Pos, str, str, str]:
    """The place, code, message and hint for an error of the YAML parser."""
    mark, begun = error.problem_mark, error.context_mark
    last = max((number for number, line in enumerate(lines) if line.strip()), default=0)
    # What is never closed is noticed at the end of the file; where it began is of more use.
    place = begun if begun and (mark is None or mark.line > last) else mark
    line, column = (place.line, place.column) if place else (0, 0)
    if line > last:
        line, column = last, len(lines[last].rstrip())
    pos = Pos(line + 1, column + 1)
    said = error.problem or "unreadable"
    if "nesting depth" in said:  # libyaml's own limit, met while it looks ahead
        return pos, *TOO_DEEP
    near = lines[line][max(0, column - _NEAR) : column + _NEAR]
    hint = next(hint for says, holds, hint in _HINTS if says.search(said) and holds.search(near))
    context = ""
    if error.context and begun and "block" not in error.context and begun.line + 1 != pos.line:
        context = f" {error.context} begun on line {begun.line + 1}"
    return pos, "Y010", f"not valid YAML: {said}{context}", hint
