"""How things begin: what does not fit, cannot be so, bears no writing, or hangs too high."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from iwkit.compile import CompiledTask, load_task
from iwkit.errors import UsageError
from iwkit.library import Library
from iwkit.source.reader import read
from iwkit_runtime.assets import build_asset
from iwkit_validators import fit
from iwkit_validators.suite import Report, validate

ROOT = Path(__file__).parents[2]
PATH = ROOT / "taskpacks" / "finding" / "F10.yaml"
LIBRARY = Library()
TASK = load_task(PATH, LIBRARY)
DOC = read(PATH)

Check = Callable[..., Report]


def hung(fixture: str, base: float) -> CompiledTask:
    """F10 in a ward where that fixture hangs so high."""
    fixtures = dict(TASK.scene.fixtures)
    fixtures[fixture] = fixtures[fixture].model_copy(update={"base": base})
    return replace(TASK, scene=TASK.scene.model_copy(update={"fixtures": fixtures}))


def test_what_hangs_too_high_is_told_at_the_first_command_for_it() -> None:
    found = fit.check(DOC, hung("medicine_cabinet_1", 2.1))
    assert [(p.code, p.message) for p in found] == [
        ("A411", "'medicine_cabinet' is 2.1 m above the floor, and a hand reaches 2 m")
    ]
    line = DOC.text.splitlines()[found[0].pos.line - 1]
    assert line[found[0].pos.col - 1 :].startswith('"[Open] <medicine_cabinet>"')


def test_what_hangs_within_reach_is_not() -> None:
    assert fit.check(DOC, hung("medicine_cabinet_1", 2.0)) == []
    assert fit.check(DOC, hung("bed_1", 2.5)) == [], "walking to it and looking at it takes no hand"


def test_what_lies_in_what_hangs_too_high_is_out_of_reach_as_well() -> None:
    found = fit.check(DOC, hung("trolley_1", 2.2))
    assert {p.message.split("'")[1] for p in found} == {"thermometer", "soda", "bandages"}


def test_every_frozen_task_and_every_scene_is_within_reach() -> None:
    for path in (ROOT / "taskpacks").glob("*/*.yaml"):
        assert fit.check(read(path), load_task(path, LIBRARY)) == []
    for scene in LIBRARY.scene_ids():
        assert max(fixture.base for fixture in LIBRARY.scene(scene).fixtures.values()) <= fit.HIGHEST


def test_what_is_full_is_told_once_for_each_place(report: Check) -> None:
    pots = "".join(f"    pot_{i}: {{category: cooking_pot, inside: left_cabinet}}\n" for i in range(6))
    found = report("F10", ("    pen: {", f"{pots}    pen: {{")).problems
    assert [p.code for p in found] == ["A408", "A403"]
    assert found[0].message == "there is no room left for 'pot_3' inside 'left_cabinet': it is full"


def test_what_does_not_fit_by_itself_takes_no_room(report: Check) -> None:
    big = "    tray: {category: serving_tray, inside: left_cabinet}\n"
    found = report("F10", ("    pen: {", f"{big}    pen: {{")).problems
    assert [p.code for p in found] == ["A407"]
    assert found[0].message == (
        "'tray' is too big to begin inside 'left_cabinet': 0.45 x 0.32 x 0.03 m does not fit 0.42 x 0.35 x 0.4 m"
    )


@pytest.mark.parametrize(
    ("entity", "says"),
    [
        ("open: true", "'pen' cannot be open: it is no openable"),
        ("running: true", "'pen' cannot be running: it is no device"),
        ("is: [cut]", "'pen' cannot be cut: it is no cuttable"),
        ("is: [dirty, cooked]", "'pen' cannot be cooked: it is no cookable"),
        ("contains: [ink]", "'pen' cannot hold what it begins with: it is no vessel or container or pourer"),
        ("open: false", None),
        ("is: [dirty, wet, used, broken, mouldy]", None),
    ],
)
def test_states_that_a_kind_cannot_have(report: Check, entity: str, says: str | None) -> None:
    pen = "pen: {category: pen, on: desk, spot: [0, 0.3]"
    found = report("F10", (pen, f"{pen}, {entity}")).problems
    assert [(p.code, p.message) for p in found] == ([("A409", says)] if says else [])
    if found:
        assert "a pen is movable" in found[0].hint


def test_every_label_that_is_taken_can_be_built_and_no_other(tmp_path: Path) -> None:
    """What is told agrees with what builds the things."""

    text = PATH.read_text("utf-8")
    for category in ("pen", "tissue_box", "mug", "book", "folder", "apple", "milk_carton", "towel"):
        path = tmp_path / "F10.yaml"
        path.write_text(
            text.replace("pen: {category: pen, on: desk,", f"pen: {{category: {category}, on: desk, label: HELLO,")
        )
        told = "A410" in {p.code for p in validate(path, LIBRARY).problems}
        kind = LIBRARY.catalogue.categories[category]
        try:
            build_asset(category, kind, LIBRARY.recipes.get(category), label="HELLO")
            refused = False
        except UsageError:
            refused = True
        assert told is refused, category
