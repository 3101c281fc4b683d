"""The table of problem codes against its page and against what the reader's corpus shows."""

from __future__ import annotations

import re
from pathlib import Path

from iwkit.codes import CODES

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "problem-codes.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([A-Z]\d{3}) \|(.*)\|$", PAGE, re.MULTILINE)

# Shown in test_reader.py by what can't be kept as a file.
NOT_IN_CORPUS = {"Y001", "Y002"}


def test_every_code_is_documented_once() -> None:
    assert sorted(code for code, _ in ROWS) == sorted(CODES)


def test_every_row_has_meaning_example_and_mend() -> None:
    for code, row in ROWS:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)]
        assert len(cells) == 3, code
        assert all(cells), code


def bare(meaning: str) -> str:
    return re.sub("[`']", "", meaning).strip()


def test_page_and_table_say_the_same() -> None:
    for code, row in ROWS:
        assert bare(row.split("|")[0]) == bare(CODES[code])


def test_codes_are_well_formed_and_sorted_in_their_family() -> None:
    assert all(re.fullmatch(r"[A-Z]\d{3}", code) and meaning for code, meaning in CODES.items())
    for letter in {code[0] for code in CODES}:
        family = [code for code in CODES if code[0] == letter]
        assert family == sorted(family)


def test_corpus_shows_every_reading_code() -> None:
    expected = (ROOT / "tests" / "data" / "yaml" / "expected.txt").read_text("utf-8")
    shown = set(re.findall(r": (Y\d{3})$", expected, re.MULTILINE))
    assert shown | NOT_IN_CORPUS == {code for code in CODES if code[0] == "Y"}
    assert not shown & NOT_IN_CORPUS
