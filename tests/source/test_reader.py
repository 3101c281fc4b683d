"""The strict YAML reader: a corpus of files with the place and code of every problem, and properties."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iwkit.errors import Problems
from iwkit.problems import Problem
from iwkit.source import reader
from iwkit.source.document import Document
from iwkit.source.reader import MAX_BYTES, read, read_text

CORPUS = Path(__file__).parent.parent / "data" / "yaml"
EXPECTED = (CORPUS / "expected.txt").read_text("utf-8").splitlines()
FILES = sorted(path.name for path in CORPUS.glob("*.yaml"))

# Where libyaml and its Python twin see the same error a column apart.
APART = {"bad_escape.yaml"}

# What can't be kept as a file: odd bytes, sizes, line ends. Each with its problems as line:col: CODE.
BYTES = {
    "too large": (b"#" * (MAX_BYTES + 1), ["1:1: Y002"]),
    "latin-1": ("a: 1\nb: café\n".encode("latin-1"), ["2:7: Y003"]),
    "utf-16": ("a: 1\n".encode("utf-16"), ["1:1: Y003"]),
    "after a byte order mark": (b"\xef\xbb\xbfa: \xff", ["1:4: Y003"]),
    "two byte order marks": (b"\xef\xbb\xbf\xef\xbb\xbfa: 1", ["1:1: Y005"]),
    "NUL": (b"a: 1\nb: \x00\n", ["2:4: Y004"]),
    "next line": ("a: 1\nb: x\x85y\nc: 010\n".encode(), ["2:5: Y004", "3:4: Y040"]),
    "line separator": ("a: x\u2028y\nb: 010\n".encode(), ["1:5: Y004", "2:4: Y040"]),
    "carriage returns": (b"a: 1\r\nb: 010\r\nc:\r  d: 1_0\r\n", ["2:4: Y040", "4:6: Y040"]),
    "brackets": (b"[" * 100_000, ["Y016"]),
    "braces": (b"{a: " * 60_000, ["1:257: Y016"]),
    "dashes": (b"- " * 100_000, ["1:129: Y016"]),
}


def problems(text: str | bytes) -> list[Problem]:
    with pytest.raises(Problems) as caught:
        read_text(text, "f")
    return caught.value.problems


def data(text: str | bytes) -> Any:
    return read_text(text, "f").data


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """libyaml, and what takes its place where PyYAML was built without it."""
    monkeypatch.setattr(reader, "_LOADER", getattr(yaml, request.param))
    return str(request.param)


@pytest.mark.parametrize("name", FILES)
def test_corpus(name: str, loader: str) -> None:
    expected = [line for line in EXPECTED if line.startswith(f"{name}:")]
    try:
        read(CORPUS / name)
        found = []
    except Problems as error:
        found = [f"{name}:{p.pos.line}:{p.pos.col}: {p.code}" for p in error.problems]
        assert [p.file for p in error.problems] == [str(CORPUS / name)] * len(found)
    if loader == "SafeLoader" and name in APART:
        expected, found = ([line.split()[-1] for line in lines] for lines in (expected, found))
    assert found == expected


def test_corpus_is_complete() -> None:
    assert {line.split(":")[0] for line in EXPECTED} <= set(FILES)
    assert len(FILES) > 30


@pytest.mark.parametrize(("raw", "expected"), BYTES.values(), ids=BYTES)
def test_bytes(raw: bytes, expected: list[str], loader: str) -> None:
    found = [f"{p.pos.line}:{p.pos.col}: {p.code}" for p in problems(raw)]
    assert len(found) == len(expected)
    assert all(line.endswith(end) for line, end in zip(found, expected, strict=True))


def test_unreadable(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(Problems, match="Y001 cannot be read"):
            read(path)


def test_largest_file_is_read() -> None:
    text = "a: 1\n#" + "x" * (MAX_BYTES - 6)
    assert data(text) == {"a": 1}
    assert problems(text + "x")[0].code == "Y002"
    assert problems("#" + "é" * (MAX_BYTES // 2))[0].code == "Y002"


def test_depth_limit(loader: str) -> None:
    assert data("a: " + "[" * 63 + "]" * 63)
    assert [p.code for p in problems("a: " + "[" * 64 + "]" * 64)] == ["Y016"]
    assert problems("? " * 100_000)[-1].code == "Y016"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("true", True), ("false", False), ("null", None), ("", None), ("0", 0), ("-0", 0), ("-12", -12), ("0.50", 0.5),
        ("-0.25", -0.25), ("9007199254740991", 2**53 - 1), ("yes", "yes"), ("No", "No"), ("on", "on"), ("off", "off"),
        ("nUll", "nUll"), ("2024-05-01", "2024-05-01"), ("1.2.3", "1.2.3"), ("5m", "5m"), ("1:30pm", "1:30pm"),
        ("12e", "12e"), ("0x", "0x"), (".", "."), ("-", None), ("3/4", "3/4"), ("１２", "１２"), ("<<", "<<"),
    ],
)  # fmt: skip
def test_words(word: str, value: Any, loader: str) -> None:
    """What a word without quotes is; a lone dash is a list of nothing."""
    expected = [value] if word == "-" else value
    found = data(f"a:\n  {word}\n")["a"]
    assert found == expected
    assert type(found) is type(expected)


def test_quoted_words_are_text(loader: str) -> None:
    for word in ("true", "null", "~", "010", "1_000", "12e5", "0.5", "1", "&x", "!!int 1", "pick #3", "a: b", "<<", ""):
        assert data(f"a: '{word}'\nb: \"{word}\"\n") == {"a": word, "b": word}


def test_keys_keep_their_spelling(loader: str) -> None:
    assert data("on: 1\nno: 2\nYes: 3\n'true': 4\n\"010\": 5\n'<<': 6\n") == {
        "on": 1, "no": 2, "Yes": 3, "true": 4, "010": 5, "<<": 6,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a: 010", 'write "010" for text, or 10 for a number'),
        ("a: 0x1F", 'write "0x1F" for text, or 31 for a number'),
        ("a: .5", 'write ".5" for text, or 0.5 for a number'),
        ("a: 1:30", 'write "1:30" for text'),
        ("a: 1e999", 'write "1e999" for text'),
        ("a: True", 'write "True" for text, or true'),
        ("{say: Stop, wait, please}", 'quote text that holds a comma: say: "Stop, wait"'),
        ("a: {b:1}", "write a space after the colon"),
        ("a:\n\tb: 1", "indent with spaces, not tabs"),
        ("say: Note: late", "quote the text: it holds ': '"),
        ("do: [Open] <fridge>", 'quote the text: "[Open] <fridge>"'),
        ("a: [{id: o1, do: [Grab] <x>}]", 'quote the text: "[Open] <fridge>"'),
        ("do: [[Grab] <x>, [Wait] 5]", 'quote the text: "[Open] <fridge>"'),
        ("do: [a, b}", "close the bracket, or quote the text if , : [ ] { } belong to it"),
        ("a: 'it's'", "text with a ' in it goes in double quotes"),
        ('a: "say "x""', r'write \" for a " inside double quotes'),
        ("a: 'x", "close the quote"),
        ("a: @x", "quote the text: @ ` % and tabs can't begin it"),
        ("a: 1\nb:1\n", "write 'key: value' with a space after the colon"),
        ("a: é".encode("utf-16"), "save the file as UTF-8, not UTF-16"),
    ],
)
def test_hints(text: str | bytes, hint: str, loader: str) -> None:
    assert problems(text)[0].hint == hint


def test_duplicate_names_both_lines() -> None:
    assert str(problems("a: 1\nb: 2\na: 3\n")[0]) == (
        "f:3:1: Y032 duplicate key 'a': on line 1 and again on line 3\n    hint: keep one of them"
    )


def test_every_problem_at_once_and_sorted() -> None:
    text = "b: 010\na: {x: 1, x: ~}\n1: z\u200bz\nc: pick #3\nd: [\n"
    found = problems(text)
    assert [(p.pos.line, p.code) for p in found] == [
        (1, "Y040"), (2, "Y032"), (2, "Y041"), (3, "Y030"), (3, "Y005"), (4, "Y043"), (5, "Y010"),
    ]  # fmt: skip
    assert found == sorted(found)


HALF = MAX_BYTES // 2
WORDS = [
    "1" * HALF,
    "0x" + "f" * HALF,
    "1_" * (HALF // 2),
    "1:1" * (HALF // 3),
    "1" * HALF + "x",
    "." * HALF,
    "a" * HALF,
]


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word[:3])
def test_long_words_stay_cheap_and_out_of_messages(word: str) -> None:
    """Words that make a careless pattern, or int(), take for ever."""
    try:
        assert data(f"a: {word}") == {"a": word}
    except Problems as error:
        assert len(str(error)) < 300


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{a: b" + ", c" * 80_000 + "}", "Y044"),
        ("\r\n" * (HALF - 20) + "a: 010", "Y040"),
        ("%\n" * (HALF - 20), "Y014"),
        ('a: "' + ":[" * (HALF - 20) + '" b', "Y010"),
        ("a: [" + "&x *x " * (HALF // 4), "Y011"),
        ("a: " + "#" * (HALF - 20) + "\nb: 010", "Y040"),
        ("a: x #" + "#" * (HALF - 20) + "y", "Y043"),
        ("\u200b\n" * (HALF // 2), "Y005"),
        ("a: [" + "{b: " * 40_000, "Y016"),
    ],
    ids=range(9),
)
def test_large_files_cost_linear_time(text: str, code: str) -> None:
    """Each would take minutes if any step were quadratic."""
    assert len(text.encode()) <= MAX_BYTES
    assert code in {problem.code for problem in problems(text)}


def test_message_stays_on_one_line() -> None:
    for text in ('"a\\nb": 1\n"a\\nb": 2\n', '{"x": 1, "a\n b"}', "a: {say: one\n  two, three\n  four}"):
        for problem in problems(text):
            assert "\n" not in problem.message + problem.hint


def check_read(text: str | bytes) -> None:
    try:
        document = read_text(text, "f")
    except Problems as error:
        assert error.problems
        lines = len(text) + 1
        assert all(1 <= p.pos.line <= lines and p.pos.col >= 1 and p.code and p.hint for p in error.problems)
    else:
        assert isinstance(document.data, dict)


PIECES = (
    ["a", "b: ", "- ", "? ", ": ", "{", "}", "[", "]", ", ", "&x ", "*x ", "!!str ", "! ", "|\n", ">-\n", "'", '"'],
    ["\n", "\n  ", "\t", " #", "# ", "%YAML 1.1\n", "---\n", "...\n", "010", "~", "<<", "\\", "\\U00110000", "\r\n"],
    ["\ufeff", "\u2028", "é", "😀", "@", "\\ud800", "null", "1.5", "\0", "\x85"],
)
TOKENS = st.lists(st.sampled_from([piece for row in PIECES for piece in row]), max_size=40).map("".join)


@given(st.binary(max_size=200))
def test_no_bytes_break_it(raw: bytes) -> None:
    check_read(raw)


@given(st.text(max_size=100))
def test_no_text_breaks_it(text: str) -> None:
    check_read(text)


@given(TOKENS)
def test_no_yaml_breaks_it(text: str) -> None:
    check_read(text)


@given(TOKENS)
def test_no_yaml_breaks_the_twin(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_LOADER", yaml.SafeLoader)
        check_read(text)


SEEDS = st.lists(
    st.sampled_from([*"[]{}:,-?&*!|>'\"#%@`\\ \n\t", "a", "0", "\u200b", "é", "<<"]), min_size=1, max_size=6
)


@given(SEEDS.map("".join), st.sampled_from(["", "a: ", "a: [", "a: " + "[" * 60, "- "]), st.integers(1, 3000))
def test_memory_is_bounded_by_the_size_of_the_file(piece: str, start: str, times: int) -> None:
    """Whatever is said over and over: no more than some multiple of what is read, and an end."""
    text = start + piece * times
    tracemalloc.start()
    try:
        check_read(text)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000 + 800 * len(text.encode())
    finally:
        tracemalloc.stop()


def test_lone_surrogates_are_named() -> None:
    assert [p.code for p in problems("a: \ud800")] == ["Y004"]


VISIBLE = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x24FF, exclude_categories=("C", "Zl", "Zp")), max_size=12
)
CLEAN = VISIBLE.filter(lambda text: not reader._UNSEEN.search(text))
SCALARS = st.one_of(
    CLEAN,
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(-1e6, 1e6).map(lambda x: round(x, 4)).filter(lambda x: "e" not in repr(x)),
    st.booleans(),
    st.none(),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(CLEAN.filter(bool), inner, max_size=4),
    max_leaves=12,
)


def scalars(document: Document) -> list[tuple[tuple[str | int, ...], Any]]:
    return [(path, document.at(path)) for path in document.values if not isinstance(document.at(path), dict | list)]


class Quoting(yaml.SafeDumper):
    """Writes every text, keys too, in double quotes."""


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))
Quoting.ignore_aliases = lambda self, data: True  # type: ignore[method-assign]


@given(st.dictionaries(CLEAN.filter(bool), TREES, min_size=1, max_size=4), st.booleans())
def test_what_yaml_writes_is_found_at_its_place(tree: dict[str, Any], flow: bool) -> None:
    text = yaml.dump(tree, Dumper=Quoting, allow_unicode=True, default_flow_style=flow, width=10_000)
    document = read_text(text, "f")
    assert document.data == tree
    lines = text.split("\n")
    for path, value in scalars(document):
        line, col = document.where(path)
        rest = lines[line - 1][col - 1 :]
        if isinstance(value, str):
            first = next(event for event in yaml.parse(rest, yaml.SafeLoader) if isinstance(event, yaml.ScalarEvent))
            assert first.value == value
            columns = [document.inside(path, offset).col for offset in range(len(value) + 1)]
            assert columns == sorted(set(columns))
            shown = [lines[line - 1][at - 1] for at in columns]
            assert all(mark in ("\\", character) for mark, character in zip(shown, value + '"', strict=True))
        else:
            assert rest.startswith(json.dumps(value))


@given(st.dictionaries(CLEAN.filter(bool), TREES, min_size=1, max_size=4), st.booleans())
def test_plain_text_starts_at_its_place(tree: dict[str, Any], flow: bool) -> None:
    text = yaml.safe_dump(tree, allow_unicode=True, default_flow_style=flow, width=10_000)
    try:
        document = read_text(text, "f")
    except Problems as error:  # PyYAML leaves bare what YAML 1.2 takes for a number
        assert {p.code for p in error.problems} <= {"Y030", "Y040"}
        return
    for path, value in scalars(document):
        line, col = document.where(path)
        rest = text.split("\n")[line - 1][col - 1 :]
        if isinstance(value, str) and rest[0] not in "'\"":
            assert rest.startswith(value)
