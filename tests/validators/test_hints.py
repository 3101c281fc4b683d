"""What an author who does not know the words yet is told: a hint that leads on, once, at the culprit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from iwkit.events import EVENT_KINDS
from iwkit.goals.parsers import OPERATORS
from iwkit.predicates import PREDICATES
from iwkit.source.patterns import FORMS, GUID, NAME, PACK_ID, hint_for
from iwkit.suggest import FOR_CONDITIONS, FOR_EVENTS, FOR_VERBS, closest, did_you_mean
from iwkit.verbs import SURFACE
from iwkit_validators.suite import Report

Check = Callable[..., Report]

KEEP = "{at_baseline: bandages}"
WALK = 'do: "[Walk] <desk>"'
PEN = "pen: {category: pen, on: desk, spot: [0, 0.3]}"

CASES: list[tuple[str, str, str, str]] = [
    # other words for operators and predicates
    (KEEP, "{and: [{open: desk}]}", "G502", "did you mean `all`?"),
    (KEEP, "{or: [{open: desk}]}", "G502", "did you mean `any`?"),
    (KEEP, "{in: [pen, left_cabinet]}", "G502", "did you mean `inside`?"),
    (KEEP, "{wet: towel}", "G502", "did you mean {not: {dry: ...}}?"),
    (KEEP, "{dirty: towel}", "G502", "did you mean {not: {clean: ...}}?"),
    # and for events, parts and verbs
    (KEEP, "{never: {put: pen}}", "G503", "did you mean `released`?"),
    (KEEP, "{never: {taken: pen}}", "G503", "did you mean `grabbed`?"),
    (KEEP, "{never: {open: left_cabinet}}", "G503", "write {becomes: {open: ...}}, or the event `opened`"),
    (KEEP, "{count: {that: {on: [{category: pen}, desk]}, equals: 1}}", "G504", "did you mean `is`?"),
    (WALK, 'do: "[Take] <pen>"', "C301", "did you mean [Grab]?"),
    (WALK, 'do: "[GoTo] <desk>"', "C301", "did you mean [Walk]?"),
    (WALK, 'do: "[Place] <pen> <desk>"', "C301", "did you mean [Put]?"),
    (WALK, 'do: "[Wait] 10min"', "C305", "give the seconds, such as [Wait] 3"),
    (PEN, "pen: {type: pen, on: desk}", "S101", "did you mean `category`?"),
    # what has another name here
    (KEEP, "{at_baseline: desk_1}", "G520", "it is called `desk` in this pack"),
    (WALK, 'do: "[Walk] <desk_1>"', "N201", "it is called `desk` in this pack"),
    (WALK, 'do: "[LookAt] <bandage_box>"', "N201", "it is called `bandages` in this pack"),
    (KEEP, "{at_baseline: {category: can_of_soda}}", "G521", "did you mean `soda_can`?"),
    (KEEP, "{held: {category: unicorn}}", "G521", "the pack's things are of bandage_box, clipboard"),
    (KEEP, "{sitting: wearer}", "G520", "here name the seat itself"),
    (KEEP, "{on: [pen, floor]}", "G520", "write {on_floor: x}"),
    (PEN, "pen: {category: pen, on: floor}", "N201", "for the floor write beside:"),
    (PEN, "pen: {category: pill_bottle, on: desk}", "N204", "mean `medicine_bottle`? `iwkit catalogue bottle` lists"),
    ("{fixture: desk_1}", "{fixture: unicorn}", "N203", "`iwkit scene show infirmary` names what is there"),
    ("fails: [left_opened, retrieved, soda_stays]", "fails: [zz]", "N214", "its conditions are left_opened, retr"),
    ("{before: o2, say", "{before: zz, say", "N210", "its steps are o1, o2, o3"),
    # forms in words
    ("id: F10\n", "id: 10 F\n", "S105", "write it like F21"),
    ("guid: 6b0f6f3e", "guid: x", "S105", "uuid.uuid4()"),
    ("pen: {category", "Red Pen: {category", "S105", "write red_pen"),
    ("scene: infirmary", "scene: scenes/study.yaml", "S105", "write study"),
    ("scene: infirmary", "scene: zz", "N202", "your own go into the folder scenes of the project"),
    # what is missing, and what may stand there
    ("    score: state\n", "", "S102", "add score: state or binary"),
    ('taskpack: "1.0"\n', "", "S102", 'add taskpack: "1.0"'),
    ("family: finding\n", "", "S102", "add family: guidance or planning or accessibility or"),
    ("guid: 6b0f6f3e", "gid: 6b0f6f3e", "S102", "add guid: VALUE; make one: python -c"),
    ("source_family: FIND", "source_family: WATCH", "N213", "add physical.plan"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "code", "hint"), CASES, ids=[f"{c}-{n!r:.40}" for _, n, c, _ in CASES])
def test_the_hint_leads_on(report: Check, old: str, new: str, code: str, hint: str) -> None:
    found = [p for p in report("F10", (old, new)).problems if p.code == code]
    assert found, report("F10", (old, new)).problems
    assert hint in found[0].hint
    assert "did you mean" not in found[0].message, "a hint is given once, and not in the message"
    assert "pattern" not in found[0].message, "a form is explained in words"


def test_ids_that_are_used_twice_are_all_shown_at_the_second(report: Check) -> None:
    found = report(
        "F10", ("id: o14", "id: o13"), ("id: out_of_sight", "id: soda_seen"), ("id: soda_stays", "id: soda_seen")
    )
    lines = [p.pos.line for p in found.problems if p.code == "G530"]
    assert [p.code for p in found.problems if p.code != "N214"] == ["G530"] * 3
    assert len(set(lines)) == 3


def test_things_without_a_spot_find_a_place_of_their_own(report: Check) -> None:
    assert report("F10", ("spot: [-0.5, 0.4]}\n", "spot: [0, 0]}\n"), (", spot: [0, 0.3]}", "}")).problems == ()
    second = ("thermometer: {category: thermometer, on: trolley", "thermometer: {category: thermometer, on: desk")
    assert report("F10", second, ("on: desk, spot: [-0.5, 0.4]", "on: trolley, spot: [-0.5, 0.4]")).problems == ()


@pytest.mark.parametrize(
    ("table", "known"),
    [
        (FOR_CONDITIONS, {*OPERATORS, *PREDICATES}),
        (FOR_EVENTS, {*EVENT_KINDS, "becomes"}),
        (FOR_VERBS, {f"[{verb}]" for _, verb in SURFACE.values()}),
    ],
    ids=["conditions", "events", "verbs"],
)
def test_the_tables_lead_to_words_that_there_are(table: dict[str, str], known: set[str]) -> None:
    targets = {target for target in table.values() if target[0] != "{"}
    assert targets <= known
    assert not {word for word in table if word in known or f"[{word}]" in {name.lower() for name in known}}


def test_closest_words() -> None:
    assert closest("f1", ["F10", "G10", "F11"], most=2) == ["F11", "F10"]
    assert closest("x" * 10_000, ["y"]) == []
    assert did_you_mean("put", ["cut"], {"put": "released"}) == "did you mean `cut`?", "only what is known is named"
    assert did_you_mean("unicorn", ["desk"]) == ""
    assert did_you_mean([1], ["desk"]) == ""


def test_forms_say_how_to_write_them() -> None:
    assert hint_for(NAME, "Coffee-Mug") == "write coffee_mug"
    assert hint_for(NAME, "1234") == FORMS[NAME].hint
    assert hint_for(PACK_ID, "10 F") == FORMS[PACK_ID].hint
    assert hint_for(GUID, "6B0F6F3E-0000-4000-8000-00000000000A") == "write 6b0f6f3e-0000-4000-8000-00000000000a"
