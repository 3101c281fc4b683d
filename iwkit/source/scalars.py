"""What an unquoted word of YAML means here: the core schema of YAML 1.2, and a complaint where readers disagree.

Only `true`, `false`, `null`, nothing at all, integers and decimals are not text. What another reader of YAML would take
for a number, a boolean or a null is refused unless it is quoted: a part number `010` must not become 8 or 10.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

Scalar = str | int | float | bool | None

MAX_INTEGER: Final = 2**53 - 1
"""The largest integer of RFC 8785's canonical JSON, which the digests are taken over."""

_WORDS: Final[dict[str, Scalar]] = {"": None, "null": None, "true": True, "false": False}
_VARIANTS: Final = {
    "True": "true",
    "TRUE": "true",
    "False": "false",
    "FALSE": "false",
    "Null": "null",
    "NULL": "null",
    "~": "null",
}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?")
# Whatever YAML 1.1 or 1.2 reads as a number. No two neighbouring parts can match the same character, so that a long
# word costs linear time.
_LIKE_NUMBER: Final = re.compile(
    r"""[-+]?(?:
        0x[0-9a-f_]+ | 0o[0-7_]+ | 0b[01_]+
      | [0-9][0-9_]*(?::[0-9]+)+(?:\.[0-9_]*)?
      | (?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:e[-+]?[0-9]+)?
      | \.(?:inf|nan)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LONG_WORD: Final = 40


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a word has no agreed meaning, and what to write instead."""

    code: str
    message: str
    hint: str


def resolve(word: str) -> Scalar | Complaint:
    """The value of an unquoted `word`."""
    if word in _WORDS:
        return _WORDS[word]
    if word in _VARIANTS:
        hint = f'write "{word}" for text, or {_VARIANTS[word]}'
        return Complaint("Y041", f"{word} is text to some readers and {_VARIANTS[word]} to others", hint)
    if word[0] not in "-+.0123456789":
        return word
    number = _NUMBER.fullmatch(word)
    if number:
        return _number(word, decimal=number[1] is not None)
    if _LIKE_NUMBER.fullmatch(word):
        plain = _plain(word)
        hint = f'write "{shorten(word)}" for text' + (f", or {plain} for a number" if plain else "")
        return Complaint("Y040", f"ambiguous number {shorten(word)}", hint)
    return word


def shorten(word: str) -> str:
    """`word` on one line, cut to a length that fits in a message."""
    word = " ".join(word.split())
    return word if len(word) <= _LONG_WORD else word[: _LONG_WORD - 3] + "..."


def _number(word: str, *, decimal: bool) -> Scalar | Complaint:
    # float() first: int() refuses very long words, and a float is enough to tell whether the word is in range.
    approximate = float(word)
    if decimal and math.isfinite(approximate):
        return approximate
    if not decimal and abs(approximate) <= MAX_INTEGER and abs(int(word)) <= MAX_INTEGER:
        return int(word)
    hint = f"use a number between -{MAX_INTEGER} and {MAX_INTEGER}, or quote it if it is text"
    return Complaint("Y042", f"{shorten(word)} is out of range", hint)


def _plain(word: str) -> str:
    """The plain decimal that an ambiguous number most likely stands for; empty where there is no good guess."""
    bare = word.replace("_", "").lower()
    try:
        value = float(int(bare, 0)) if re.match(r"[-+]?0[xob]", bare) else float(bare)
    except (ValueError, OverflowError):  # 1:30, 0x_, .inf, an endless 0xFFF...
        return ""
    if not math.isfinite(value) or abs(value) > MAX_INTEGER:
        return ""
    text = str(int(value)) if value.is_integer() else repr(value)
    return text if _NUMBER.fullmatch(text) else ""
