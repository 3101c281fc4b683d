"""What is wrong with variants, each at its place in the file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from iwkit_validators.suite import Report

Check = Callable[..., Report]
LEMON = "physical.entities.soda.label: LEMON"
COLOUR = "          physical.entities.soda.colour: yellow\n"


def test_what_varies_in_a_shipped_pack_is_clean(report: Check) -> None:
    assert report("A1").problems == ()


@pytest.mark.parametrize(
    ("new", "code", "said", "hint"),
    [
        ("physical.entities.sodas.label: LEMON", "N220", "physical.entities has no 'sodas'", "did you mean `soda`?"),
        ("physical.goal.keep.soda_stay.that: {at_baseline: soda}", "N220", "has no 'soda_stay'", "`soda_stays`?"),
        ("interaction.oracle.9.say: Stop.", "N220", "interaction.oracle has no '9'", "there: 1, 2, 3"),
        ("interaction.oracle.0.say: Stop.", "N220", "interaction.oracle has no '0'", "there: 1, 2, 3"),
        ("interaction.handoff.say: Help.", "N220", "interaction.handoff has no 'say'", "set what is above it"),
        ("physical.entities.sofa: null", "N220", "physical.entities has no 'sofa'", "`soda`?"),
        ("physical.opening.o9: look", "N220", "physical.opening has no 'o9'", "there: o1, o2, o3"),
        ("physical..scene: flat", "N220", "physical has no ''", "there: scene"),
        ("capabilities: [C1]", "N221", "'capabilities' is no part of a pack that varies", "write title, or a path in"),
        ("review.notes: [x]", "N221", "'review.notes' is no part", "contract, physical, interaction"),
        ("physicl.scene: flat", "N221", "'physicl.scene' is no part", "did you mean `physical`?"),
        ("interaction: {}", "N221", "'interaction' is no part", "such as physical.entities.mug.label"),
        ("vary.can: 1", "N221", "'vary.can' is no part", "write title"),
        ("interaction.handoff: Help me.", "N222", "'interaction.handoff' is set twice: on line 95 too", "one entry"),
        ("physical.entities.juice: null", "N222", "'physical.entities.juice' is set twice", "one entry"),
    ],
)
def test_a_path_that_cannot_be_set(report: Check, new: str, code: str, said: str, hint: str) -> None:
    (first, *others) = report("A1", (LEMON, new)).problems
    assert first.code == code
    assert said in first.message
    assert hint in first.hint
    assert {p.code for p in others} <= {code}
    lines = report("A1", (LEMON, new)).path.read_text("utf-8").splitlines()
    assert lines[first.pos.line - 1][first.pos.col - 1 :] == new


@pytest.mark.parametrize(
    ("old", "new", "code", "at", "said"),
    [
        (LEMON, "physical.entities.soda.labell: LEMON", "S101", "physical.entities.soda.labell", "unknown field"),
        (LEMON, "physical.entities.soda.on: couter", "N201", "couter", "no entity 'couter'"),
        (LEMON, 'physical.opening.o3.do: "[LookAt] <mugg>"', "N201", '"[LookAt] <mugg>"', "no entity 'mugg'"),
        (LEMON, "physical.goal.achieve.juice_on_table.that: {on: [plate, breakfast_table]}", "G550", "{on:", "is true"),
        (LEMON, "physical.entities.soda.category: banana", "A410", "COLA", "nothing is written on a banana"),
        ("swap: [[juice, water]]", "swap: [[juice, watre]]", "N201", "watre]]", "no entity 'watre'"),
        ("swap: [[juice, water]]", "swap: [[juice, juice]]", "N222", "[juice, juice]", "is swapped with itself"),
        ("label: LEMON\n", "label: COLA\n", "N223", "id: lemon", "seed 4 (can: lemon) plays and scores the same"),
        ("swap: [[juice, water]]", "swap: [[juice, water, mug]]", "S105", "", ""),
        ("- id: juice_right", "- id: juice_left", "S105", "", "two alternatives are called 'juice_left'"),
        ("- id: can\n", "- id: task\n", "S105", "", "two things that vary are called 'task'"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_variant(report: Check, old: str, new: str, code: str, at: str, said: str) -> None:
    edits = [(old, new)]
    if "COLA" in new:
        edits.append(("soda.colour: yellow", "soda.colour: red"))
    found = report("A1", *edits)
    first = next((p for p in found.problems if p.code == code), None)
    assert first is not None, found.problems
    assert said in first.message
    line = found.path.read_text("utf-8").splitlines()[first.pos.line - 1]
    assert line[first.pos.col - 1 :].startswith(at)


def test_a_problem_of_several_variants_is_told_once_and_of_the_least_changed(report: Check) -> None:
    (only,) = report("A1", (LEMON, "physical.entities.soda.on: couter")).problems
    assert only.message.startswith("seed 4 (can: lemon): ")


def test_variants_of_an_unsound_pack_wait(report: Check) -> None:
    found = report("A1", (LEMON, "physical.entities.soda.on: couter"), ("[LookAt] <counter>", "[Open] <banana>"))
    assert {p.code for p in found.problems} == {"A402"}


def test_too_many_variants(report: Check) -> None:
    axes = "".join(
        f"  - id: v{n}\n    among:\n      - {{id: a, set: {{physical.entities.mug.label: {n}}}}}\n" for n in range(5)
    )
    (only,) = report("A1", ("vary:\n", f"vary:\n{axes}")).problems
    assert (only.code, "this makes 256 variants, and there may be 100" in only.message) == ("S105", True)


def test_an_alternative_that_changes_nothing_at_all(report: Check) -> None:
    (only,) = report("A1", ("        swap: [[juice, water]]\n        set:", "        set: {}\n        x:")).problems[:1]
    assert only.code in ("S101", "S105")
