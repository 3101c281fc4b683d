"""Programs in VirtualHome's form: the mapping of indices, what is refused for which reason, and the page's table."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from iwkit.grammar import Command, Ref, parse
from iwkit.verbs import SURFACE

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "benchmarks" / "virtualhome_programs.py"
SAMPLE = ROOT / "tests" / "data" / "virtualhome"


@pytest.fixture(scope="module")
def measure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("virtualhome_programs", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_first_number_becomes_the_instance(measure: ModuleType) -> None:
    line = measure.mapped("[PUTIN] <cup> (2.302) <sink> (1.44)")
    assert parse(line) == Command("place_inside", "PutIn", (Ref("cup", 2), Ref("sink", 1)))
    assert measure.mapped("[STANDUP]") == "[STANDUP]"


@pytest.mark.parametrize(
    "lines",
    [
        ["[GRAB] <cup> (1.301)", "[GRAB] <cup> (1.302)"],  # two nodes, one name and instance
        ["[GRAB] <cup> (1.301)", "[GRAB] <cup> (2.301)"],  # one node, two instances
        ["[GRAB] <cup> (1.301)", "[GRAB] <mug> (1.301)"],  # one node, two names
    ],
)
def test_a_program_that_the_mapping_would_garble_is_noticed(measure: ModuleType, lines: list[str]) -> None:
    assert not measure.told_apart(lines)
    assert measure.told_apart(lines[:1]) and measure.told_apart(lines[1:])
    assert measure.count([("garbled", lines)]).lost == ["garbled"]


def test_each_line_with_a_known_verb_is_read_unless_it_lacks_an_entity(measure: ModuleType) -> None:
    tally = measure.count(measure.programs(SAMPLE))
    assert (tally.programs, tally.whole, tally.lines, tally.known, tally.lost) == (2, 1, 15, 13, [])
    assert tally.read.total() == 12
    assert {code: dict(verbs) for code, verbs in tally.refused.items()} == {
        "C301": {"FIND": 1, "RINSE": 1},
        "C303": {"PUTOBJBACK": 1},
    }


def test_the_page_has_the_tables_of_the_script_and_agrees_with_the_verbs_there_are() -> None:
    page = (ROOT / "docs" / "grammar.md").read_text("utf-8").split("## Programs of others")[1]
    done = subprocess.run([sys.executable, SCRIPT, SAMPLE], capture_output=True, text=True, check=True)
    heads = [line for line in done.stdout.splitlines() if line.startswith(("| verb |", "| refused as |"))]
    assert len(heads) == 2 and all(head in page for head in heads)
    lines, known, read = (int(n.replace(",", "")) for n in re.findall(r"([\d,]+) (?:lines:|have|are read)", page)[:3])
    rows = [(verb, int(count)) for verb, count in re.findall(r"^\| `\[(\w+)\]` \| (\d+) \|$", page, re.M)]
    refused = {
        code: [(verb, int(count)) for verb, count in re.findall(r"`(\w+)` (\d+)", verbs)]
        for code, verbs in re.findall(r"^\| (C\d+) [^|]*\| \d+ \| (.*) \|$", page, re.M)
    }
    assert set(refused) == {"C301", "C303"}
    assert all(verb.lower() in SURFACE for verb, _ in [*rows, *refused["C303"]])
    assert not any(verb.lower() in SURFACE for verb, _ in refused["C301"])
    assert sum(count for _, count in rows) == read
    assert sum(count for _, count in [*rows, *refused["C303"]]) == known
    assert sum(count for some in (rows, *refused.values()) for _, count in some) == lines


def test_a_folder_without_programs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("[GRAB] no program\n", "utf-8")
    for folder in (tmp_path, tmp_path / "none"):
        done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "no program file in VirtualHome's form here" in done.stderr
