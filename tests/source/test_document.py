"""Places of values, keys and characters within a document."""

from __future__ import annotations

import pytest

from iwkit.problems import Pos
from iwkit.source.document import Document
from iwkit.source.reader import read_text

TEXT = """\
id: F10
opening:
  - {id: o1, do: "[Open] <fridge>"}
  - {id: o2, do: '[Say] it''s <x>', n: 1.10}
  - id: o3
    do: [Grab, cup]
note: |
  two
  lines
folded: one
  two
escaped: "a\\tb \\u00e9 \\\\ \\"q\\""
bare: plain text   # a comment
none:
"""


@pytest.fixture(scope="module")
def doc() -> Document:
    return read_text(TEXT, "f.yaml")


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ((), (1, 1), (1, 1)),
        (("id",), (1, 5), (1, 1)),
        (("opening",), (3, 3), (2, 1)),
        (("opening", 0), (3, 5), (3, 5)),
        (("opening", 0, "do"), (3, 18), (3, 14)),
        (("opening", 2, "do", 1), (6, 16), (6, 16)),
        (("opening", 7, "do"), (3, 3), (2, 1)),
        (("opening", "tag", 0, "function-after[f(), Step]", "do"), (3, 18), (3, 14)),
        (("nowhere", "at", "all"), (1, 1), (1, 1)),
        (("none",), (14, 6), (14, 1)),
    ],
)
def test_where(doc: Document, path: tuple[str | int, ...], value: tuple[int, int], key: tuple[int, int]) -> None:
    assert doc.where(path) == value
    assert doc.where(path, key=True) == key


@pytest.mark.parametrize(
    ("path", "offset", "found"),
    [
        (("id",), 0, "F"),
        (("id",), 2, "0"),
        (("opening", 0, "do"), 0, "["),
        (("opening", 0, "do"), 7, "<"),
        (("opening", 1, "do"), 8, "'"),
        (("opening", 1, "do"), 9, "s"),
        (("opening", 1, "do"), 11, "<"),
        (("escaped",), 2, "b"),
        (("escaped",), 4, "\\"),
        (("escaped",), 6, "\\"),
        (("escaped",), 9, "q"),
        (("bare",), 6, "t"),
    ],
)
def test_inside(doc: Document, path: tuple[str | int, ...], offset: int, found: str) -> None:
    line, col = doc.inside(path, offset)
    assert TEXT.split("\n")[line - 1][col - 1] == found
    assert line == doc.where(path).line


def test_inside_just_past_the_end(doc: Document) -> None:
    assert doc.inside(("opening", 0, "do"), 15) == Pos(3, 34)
    assert doc.inside(("id",), 3) == Pos(1, 8)


@pytest.mark.parametrize(
    ("path", "offset"),
    [
        (("note",), 0), (("note",), 5), (("folded",), 5), (("id",), 4), (("id",), -1), (("none",), 0),
        (("opening",), 1), (("opening", 1, "n"), 1),
    ],
)  # fmt: skip
def test_inside_falls_back_to_the_start(doc: Document, path: tuple[str | int, ...], offset: int) -> None:
    assert doc.inside(path, offset) == doc.where(path)


def test_written(doc: Document) -> None:
    assert doc.at(("opening", 1, "n")) == 1.1
    assert doc.written(("opening", 1, "n")) == "1.10"


def test_problem(doc: Document) -> None:
    problem = doc.problem(("opening", 0, "do"), "C301", "no such verb", "did you mean Open?", key=True)
    assert str(problem) == "f.yaml:3:14: C301 no such verb\n    hint: did you mean Open?"


def test_document_by_hand() -> None:
    assert Document("f", {"a": 1}, "a: 1").where(("a",)) == Pos(1, 1)
