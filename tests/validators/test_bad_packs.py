"""Every code that a pack can earn, shown by one small change to a good pack, at its line and column."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from iwkit.codes import CODES
from iwkit.library import Library
from iwkit_validators.suite import validate

ROOT = Path(__file__).parents[2]
PACKS = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "taskpacks").glob("*/*.yaml"))}
CASES: list[dict[str, Any]] = yaml.safe_load((ROOT / "tests/data/bad_packs/cases.yaml").read_text("utf-8"))
LIBRARY = Library()

NOT_BY_A_CHANGE = {
    "C312": "the schema refuses a text of that length first",
    "C315": "packs hold no structured commands",
    "C316": "names of packs are N201",
    "C317": "names of packs are never ambiguous",
    "G514": "shown in the tests of the goal language: it takes a page",
    "G533": "shown below: it takes everything away",
    "G540": "only for traces written by hand",
    "A411": "a scene of its own: test_fit.py",
    "I640": "two packs: test_suite.py",
    "I641": "two packs: test_suite.py",
    "I642": "two packs: test_suite.py",
    "I643": "two packs: test_twins.py",
}


def changed(case: dict[str, Any]) -> tuple[str, int]:
    """The text of the bad pack, and the offset of the place that must be shown."""
    text = PACKS[case["pack"]]
    for old, new in [*case.get("edits", []), (case["old"], case["new"])]:
        assert old in text, f"{case['pack']} no longer holds {old!r}"
        start = text.index(old)
        text = text[:start] + new + text[start + len(old) :]
    begin = case.get("from")
    start = 0 if begin == "top" else text.index(begin) if begin else start
    return text, text.index(case["at"], start)


def place(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize("case", CASES, ids=[f"{case['code']}-{case['new']:.40}" for case in CASES])
def test_bad_pack(case: dict[str, Any], tmp_path: Path) -> None:
    text, offset = changed(case)
    path = tmp_path / case.get("folder", "") / f"{case['pack']}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    problems = validate(path, LIBRARY).problems
    assert sorted({p.code for p in problems}) == sorted({case["code"], *case.get("also", [])}), problems
    first = next(p for p in problems if p.code == case["code"])
    assert (first.pos.line, first.pos.col) == place(text, offset), first
    assert first.hint or case["code"][:3] in ("G50", "G51"), first


@pytest.mark.parametrize("pack", PACKS)
def test_good_packs_are_clean(pack: str) -> None:
    path = next((ROOT / "taskpacks").glob(f"*/{pack}.yaml"))
    report = validate(path, LIBRARY)
    assert report.problems == ()
    assert report.task is not None
    assert report.task.id == pack


def test_every_code_of_a_pack_is_shown() -> None:
    shown = {case["code"] for case in CASES}
    of_packs = {code for code in CODES if code[0] in "NCAGI"}
    assert shown | set(NOT_BY_A_CHANGE) == of_packs
    assert not shown & set(NOT_BY_A_CHANGE)


def test_every_code_in_the_sources_is_in_the_table() -> None:
    used: set[str] = set()
    for package in ("iwkit", "validators"):
        for path in (ROOT / package).rglob("*.py"):
            used |= set(re.findall(r'"([YSNCAGHIL]\d{3})"(?!: ")', path.read_text("utf-8")))
    assert used == set(CODES)
