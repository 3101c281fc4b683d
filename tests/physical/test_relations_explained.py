"""Why a relation holds or not, in words and numbers; and the table of tolerances."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from iwkit.compile import load_task
from iwkit.errors import UsageError
from iwkit.library import Library
from iwkit.predicates import PREDICATES
from iwkit_runtime.physical.explain import explain
from iwkit_runtime.physical.relations import Facts, Moment
from iwkit_runtime.physical.tolerances import TOLERANCES

STILL = (1.0, 0.0, 0.0, 0.0)
TOP = 0.75
ROOMS = {"hall": (-4.0, -4.0, 4.0, 4.0), "den": (4.0, -4.0, 8.0, 4.0)}


# --- explaining -------------------------------------------------------------------------------------------------------


def test_every_relation_is_explained_as_it_is(kitchen: Any) -> None:
    start = kitchen.moment(seen=("milk",))
    at = kitchen.at(start, seen=("milk",), held="apple", juice=(0.5, -0.6, 0))
    state = at.state
    names = [*at.places.posed, "wearer"]
    asked = {
        (word, *pair) for word in ("on", "inside", "near") for pair in ((a, b) for a in names[:-1] for b in names[:-1])
    }
    asked |= {("in_room", a, room) for a in names for room in ROOMS}
    asked |= {
        (word, a)
        for word in ("held", "on_floor", "open", "closed", "visible", "at_baseline", "unmoved")
        for a in names[:-1]
    }
    for relation in sorted(asked | state):
        text = explain(at, relation)
        assert text.startswith(f"{relation[0]}({', '.join(relation[1:])}) ")
        assert (" holds: " in text) == (relation in state)
        assert " does not hold: " in text or relation in state


@pytest.mark.parametrize(
    ("relation", "where", "words"),
    [
        (
            ("on", "cup", "table"),
            {"cup": (0, 0, TOP + 0.016)},
            ["does not hold", "least gap 16.0 mm (at most 15.0 mm)"],
        ),
        (
            ("on", "cup", "table"),
            {"cup": (0.63, 0, TOP)},
            ["touches table", "centre of mass is over floor_hall", "rests on nothing"],
        ),
        (("on", "cup", "table"), {"held": "cup"}, ["cup is held"]),
        (("near", "cup", "wearer"), {"wearer": (1, 0)}, ["0.200 m (at most 0.5 m)"]),
        (("in_room", "cup", "den"), {}, ["4.000 m from den", "nearest room is hall"]),
        (("open", "cup"), {}, ["no joint"]),
        (("at_baseline", "cup"), {"cup": (0.05, 0, TOP)}, ["5.0 cm (at most 3 cm)", "relative to table (body)"]),
        (("unmoved", "cup"), {"cup": (0.05, 0, TOP)}, ["5.0 cm", "in the world"]),
        (("held", "cup"), {}, ["holds nothing, not cup"]),
    ],
)
def test_explanations_give_the_numbers(cup_on_table: Any, relation: Any, where: Any, words: list[str]) -> None:
    text = explain(cup_on_table.at(cup_on_table.moment(), **where), relation)
    for word in words:
        assert word in text


@pytest.mark.parametrize(
    ("relation", "complaint"),
    [
        (("running", "cup"), "running\\(cup\\) is not measured"),
        (("on", "cup"), "on\\(cup\\) is not measured"),
        (("on", "spoon", "table"), "no 'spoon'"),
        (("on", "cup", "hall"), "'hall' has no place"),
        (("on", "wearer", "table"), "'wearer' has no place"),
        (("in_room", "cup", "table"), "'table' has no place"),
    ],
)
def test_what_can_not_be_explained_is_named(cup_on_table: Any, relation: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        explain(cup_on_table.at(), relation)


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_all_names_are_those_of_the_language(kitchen: Any) -> None:
    state = kitchen.state(kitchen.moment(), seen=("milk",), held="apple")
    for word, *names in state:
        assert PREDICATES[word].source == "geometry"
        assert len(PREDICATES[word].args) == len(names)


def test_a_missing_pose_is_named(kitchen: Any) -> None:
    with pytest.raises(UsageError, match="no pose for 'milk'"):
        kitchen.relations.state(Moment({"fridge": ((0, 0, 0), STILL)}, {}))


def test_a_piece_that_is_no_solid_is_named(blocks: SimpleNamespace) -> None:
    flat = blocks.thing((1, 1, 0), ((0, 0, 0), (1, 1, 0)))
    with pytest.raises(UsageError, match="a piece of 'rug' has no volume"):
        blocks.world(blocks.put("rug", flat, (0, 0, 0)))


def test_facts_of_a_pack() -> None:
    task = load_task(Path(__file__).parents[2] / "taskpacks" / "prevention" / "W7.yaml", Library())
    facts = Facts.of(task)
    assert facts.declared == {t.name for t in task.things.values() if t.declared and t.kind != "room"}
    assert {tuple(box) for box in facts.rooms.values()} == {tuple(r.box) for r in task.scene.rooms.values()}
    assert all("carrier" in task.things[name].traits for name in facts.carriers)


def test_the_page_tells_every_tolerance() -> None:
    page = (Path(__file__).parents[2] / "docs" / "relations.md").read_text("utf-8")
    for name, tolerance in TOLERANCES.items():
        then = "" if tolerance.ends is None else f", then {tolerance.ends:g}"
        value = f"{tolerance.value:g} {tolerance.unit}{then}"
        assert f"| `{name}` | {value} | {tolerance.bounds} | {tolerance.why} |" in page
