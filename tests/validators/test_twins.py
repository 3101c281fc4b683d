"""Packs that mean the same although nothing in them is written alike, and packs that look alike and differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwkit.compile import CompiledTask, load_task
from iwkit.library import Library
from iwkit_validators.suite import validate_many
from iwkit_validators.twins import what_it_means

ROOT = Path(__file__).parents[2]
F10 = (ROOT / "taskpacks" / "finding" / "F10.yaml").read_text("utf-8").split("review:")[0]
LIBRARY = Library()
PEN = "    pen: {category: pen, on: desk, spot: [0, 0.3]}\n"
SODA = "      - {id: soda_stays, that: {at_baseline: soda}}\n"
OWN = (("id: F10", "id: F77"), ("6b0f6f3e", "6b0f6f3f"))


def written(folder: Path, *edits: tuple[str, str]) -> Path:
    text = F10
    for old, new in (*OWN, *edits):
        assert old in text, f"F10 no longer holds {old!r}"
        text = text.replace(old, new)
    path = folder / "F77.yaml"
    path.write_text(text, "utf-8")
    return path


SAME = {
    "another spot": [("spot: [-0.5, 0.4], label: Visits today", "spot: [-0.2, 0.4], label: Visits today")],
    "other ids of conditions": [("soda_stays", "can_stays"), ("retrieved", "on_desk")],
    "other ids of steps": [("id: o3,", "id: take_it,")],
    "another order of things": [
        (PEN, ""),
        ("    bed: {fixture: bed_1}\n", "    bed: {fixture: bed_1}\n" + PEN),
    ],
    "another order of conditions": [
        (SODA, ""),
        ("    gates:\n", SODA + "    gates:\n"),
    ],
    "other names": [("bandages", "plasters")],
    "another verb of the same meaning": [('"[Walk] <desk>"', '"[Run] <desk>"')],
    "other words": [("title: Thermometer in one of two like bedside cabinets", "title: Something else")],
}  # fmt: skip

OTHER = {
    "another place": [("pen, on: desk, spot: [0, 0.3]", "pen, on: bed")],
    "another colour": [("colour: red, label: COLA", "colour: blue, label: COLA")],
    "one thing more": [("    towel:", "    mug: {category: mug, on: basin}\n    towel:")],
    "another opening": [('"[LookAround]"', '"[LookScan]"')],
    "another order of the opening": [
        ('{id: o10, do: "[Grab] <bandages>"}', '{id: o10, do: "[Wait] 3"}'),
        ('{id: o11, do: "[Open] <medicine_cabinet>"}', '{id: o11, do: "[Grab] <bandages>"}'),
    ],
    "another goal": [("{at_baseline: bandages}", "{never_moved: bandages}")],
    "other evidence": [("{not: {visible: thermometer}}", "{not: {visible: soda}}")],
    "another start": [("wearer: {at: trolley, facing: bed}", "wearer: {at: trolley}")],
}


@pytest.mark.parametrize("edits", SAME.values(), ids=SAME)
def test_the_same_task_said_otherwise(edits: list[tuple[str, str]], tmp_path: Path) -> None:
    (report,) = validate_many([written(tmp_path, *edits)], LIBRARY)
    codes = [p.code for p in report.problems]
    assert codes in (["I643"], ["I642"]), report.problems
    problem = report.problems[0]
    assert "F10, which ships with iwkit" in problem.message
    assert (tmp_path / "F77.yaml").read_text("utf-8").splitlines()[problem.pos.line - 1] == "physical:"


@pytest.mark.parametrize("edits", OTHER.values(), ids=OTHER)
def test_another_task_that_looks_like_it(edits: list[tuple[str, str]], tmp_path: Path) -> None:
    path = written(tmp_path, *edits)
    assert "I643" not in {p.code for p in validate_many([path], LIBRARY)[0].problems}
    assert what_it_means(task(path)) != what_it_means(task(ROOT / "taskpacks" / "finding" / "F10.yaml"))


def task(path: Path) -> CompiledTask:
    return load_task(path, LIBRARY)


def test_of_two_own_packs_the_later_one_is_told(tmp_path: Path) -> None:
    paths = []
    for name, extra in (("one", ()), ("two", (("bandages", "plasters"),))):
        (tmp_path / name).mkdir()
        edits = [("pen, on: desk, spot: [0, 0.3]", "pen, on: bed"), *extra]
        paths.append(written(tmp_path / name, *edits))
    text = paths[1].read_text("utf-8").replace("id: F77", "id: F78").replace("6b0f6f3f", "6b0f6f3a")
    paths[1].unlink()
    paths[1] = tmp_path / "two" / "F78.yaml"
    paths[1].write_text(text, "utf-8")
    first, second = validate_many(paths, LIBRARY)
    assert first.problems == ()
    assert [(p.code, p.message) for p in second.problems] == [
        ("I643", f"but for names, spots and order the physical part is that of {paths[0]}")
    ]
