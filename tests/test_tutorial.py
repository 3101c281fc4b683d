"""The tutorial is followed as it stands: every command is run, every edit made, and all that it shows is printed."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from iwkit.cli.main import main

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
PACK = Path("finding/F21.yaml")
PART = re.compile(r"^```(\w+)\n(.*?)^```$|^<!-- (\w+)(?:: (.*?))? -->$", re.MULTILINE | re.DOTALL)
"""A fenced block, or a note to this test of what becomes of the blocks before it."""


def parts(text: str) -> list[tuple[str, str]]:
    """Kind and content of every block and note, in order; those of a note begin with `!`."""
    return [(m[1], m[2]) if m[1] else (f"!{m[3]}", m[4] or "") for m in PART.finditer(text)]


def shown(text: str) -> list[str]:
    """Lines as they are compared: without trailing space, and on any day."""
    return [re.sub(r"\d{4}-\d\d-\d\d", "DAY", line.rstrip()) for line in text.splitlines() if line.strip()]


class Reader:
    """Somebody who does what the page says, in a folder of their own."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch
        self.blocks: list[str] = []
        self.ran = 0

    def follow(self, kind: str, content: str) -> None:
        do: dict[str, Callable[[str], object]] = {
            "console": self.console,
            "yaml": self.blocks.append,
            "python": self.blocks.append,
            "!every": self.every,
            "!replace": self.replace,
            "!append": self.append,
            "!write": self.write,
        }
        do[kind](content)

    def console(self, content: str) -> None:
        assert not self.blocks, "a block before this is used by no note"
        for session in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
            command, _, expected = session.partition("\n")
            self.compare(command, shown(self.run(command)), shown(expected))
            self.ran += 1

    def run(self, command: str) -> str:
        words = shlex.split(command)
        if words[0] == "PYTHONPATH=.":
            self.patch.syspath_prepend(str(Path.cwd()))
            words = words[1:]
        if words[0] == "cd":
            self.patch.chdir(words[1])
            return ""
        if words[0] == "rm":
            Path(words[1]).unlink()
            return ""
        assert words[0] == "iwkit", command
        self.patch.setattr(sys, "argv", words)
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as errors, pytest.raises(SystemExit):
            main()
        return out.getvalue() + errors.getvalue()

    @staticmethod
    def compare(command: str, printed: list[str], expected: list[str]) -> None:
        """What stands between two `...` was printed in one piece, and in this order; without any it is all of it."""
        pieces: list[list[str]] = [[]]
        for line in expected:
            if line == "...":
                pieces.append([])
            else:
                pieces[-1].append(line)
        if len(pieces) == 1:
            assert printed == expected, command
        at = 0
        for piece in pieces:
            found = next((i for i in range(at, len(printed) + 1) if printed[i : i + len(piece)] == piece), None)
            assert found is not None, f"{command} does not print {piece} but {printed}"
            at = found + len(piece)

    def every(self, content: str) -> None:
        old, new = content.split(", ")
        self.edit(lambda text: text.replace(old, new))

    def replace(self, _: str) -> None:
        old, new = self.blocks
        assert PACK.read_text("utf-8").count(old) == 1, old
        self.edit(lambda text: text.replace(old, new))

    def append(self, _: str) -> None:
        (new,) = self.blocks
        self.edit(lambda text: text + new)

    def write(self, name: str) -> None:
        (text,) = self.blocks
        Path(name).write_text(text, "utf-8")
        self.blocks.clear()

    def edit(self, change: Callable[[str], str]) -> None:
        PACK.write_text(change(PACK.read_text("utf-8")), "utf-8")
        self.blocks.clear()


def split() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """What is quick, and what takes the physical world."""
    found = parts(PAGE.read_text("utf-8"))
    at = found.index(("!slow", ""))
    return found[:at], found[at + 1 :]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Somebody who has got as far as the physical world."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("tutorial"))
        patch.setenv("COLUMNS", "100")
        patch.delitem(sys.modules, "mine", raising=False)
        found = Reader(patch)
        for part in split()[0]:
            found.follow(*part)
        yield found


def test_the_tutorial_up_to_the_physical_world(reader: Reader) -> None:
    assert reader.ran >= 12


@pytest.mark.slow
def test_the_whole_tutorial(reader: Reader) -> None:
    for part in split()[1]:
        reader.follow(*part)
    assert not reader.blocks
    assert Path("revisions/F21@1.json").is_file()
    assert sorted(path.name for path in Path("runs").iterdir()) == ["draft", "oracle", "searcher"]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (["a", "b"], ["a"]),
        (["a", "b"], ["b", "a"]),
        (["a", "b"], ["...", "c"]),
        (["a", "b", "c"], ["a", "c", "..."]),
        (["a", "b"], ["b", "...", "a"]),
    ],
)
def test_what_is_not_printed_like_that_is_noticed(printed: list[str], expected: list[str]) -> None:
    with pytest.raises(AssertionError):
        Reader.compare("x", printed, expected)
    Reader.compare("x", printed, [printed[0], "...", *printed[-1:]])
