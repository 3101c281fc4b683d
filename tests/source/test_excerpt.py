"""A problem with the line that it is about, and a mark under the very character."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iwkit.problems import Pos, Problem
from iwkit.source.excerpt import WIDTH, shown


def problem(path: Path, line: int, col: int, hint: str = "mend it") -> Problem:
    return Problem(str(path), Pos(line, col), "Y040", "ambiguous", hint)


def file(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "f.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "pos", "line", "mark"),
    [
        ("a: 1\nb: 010\n", (2, 4), "2 | b: 010", "  |    ^"),
        ("a: 1\r\nb: 010\r\n", (2, 4), "2 | b: 010", "  |    ^"),
        (b"\xef\xbb\xbfa: 010", (1, 4), "1 | a: 010", "  |    ^"),
        ("a: x\u202ey\n", (1, 5), "1 | a: x\\u202ey", "  |     ^"),
        ("a\x1b: 010\n", (1, 5), "1 | a\\x1b: 010", "  |        ^"),
        ("茶: 010\n", (1, 4), "1 | 茶: 010", "  |     ^"),
        ("a:\t010\n", (1, 4), "1 | a:    010", "  |       ^"),
        (b"a: caf\xe9 1\n", (1, 7), "1 | a: caf\ufffd 1", "  |       ^"),
        ("a: 1", (1, 5), "1 | a: 1", "  |     ^"),
    ],
)
def test_the_line_is_shown_with_a_mark(
    tmp_path: Path, text: str | bytes, pos: tuple[int, int], line: str, mark: str
) -> None:
    path = file(tmp_path, text)
    lines = shown(problem(path, *pos)).split("\n")
    assert lines == [f"{path}:{pos[0]}:{pos[1]}: Y040 ambiguous", f"    {line}", f"    {mark}", "    hint: mend it"]


def test_a_long_line_is_cut_to_what_is_around_the_place(tmp_path: Path) -> None:
    path = file(tmp_path, "a: " + "x" * 5000 + "! " + "y" * 5000)
    head, line, mark = shown(problem(path, 1, 5004, "")).split("\n")
    assert head.endswith("Y040 ambiguous")
    assert len(line) < WIDTH + 20
    assert line[mark.index("^")] == "!"
    assert line.endswith("...")
    assert "| ..." in line


@pytest.mark.parametrize(("text", "line"), [("", 1), ("a: 1\n", 2), ("   \n", 1)])
def test_without_a_line_the_problem_stands_alone(tmp_path: Path, text: str, line: int) -> None:
    told = problem(file(tmp_path, text), line, 1)
    assert shown(told) == str(told)
    missing = problem(tmp_path / "none.yaml", 1, 1)
    assert shown(missing) == str(missing)
    nul = Problem("a\0b", Pos(1, 1), "Y001", "cannot be read")
    assert shown(nul) == str(nul)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.integers(1, 8), st.integers(1, 400))
def test_whatever_is_in_the_file_it_is_shown_without_what_does_not_show(
    tmp_path: Path, raw: bytes, line: int, col: int
) -> None:
    text = shown(problem(file(tmp_path, raw), line, col))
    assert 2 <= len(text.split("\n")) <= 4
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)
