"""The suite: stages, several packs, and that no file whatever makes it raise."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from iwkit.compile import CompiledTask, load_task
from iwkit.errors import GrammarError
from iwkit.grammar import Command, Ref, render
from iwkit.library import Library
from iwkit.verbs import PRIMITIVES, Primitive
from iwkit.world.symbolic import SymbolicWorld
from iwkit_validators.affordance import Probe
from iwkit_validators.suite import Report, validate, validate_many

ROOT = Path(__file__).parents[2]
PACKS = sorted((ROOT / "taskpacks").glob("*/*.yaml"))
DATA = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in PACKS}
TASKS = {path.stem: load_task(path) for path in PACKS}
LIBRARY = Library()


# --- stages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "Y001"),
        (b"", "Y020"),
        (b"\xff\xfe\x00", "Y003"),
        (b"- a\n", "Y021"),
        (b"a: [1\n", "Y010"),
        (b'taskpack: "1.0"\n', "S102"),
        (b"title: [[[[]]]]\n", "S103"),
    ],
)
def test_files_that_are_no_packs(tmp_path: Path, content: bytes | None, code: str) -> None:
    path = tmp_path / "X.yaml"
    if content is not None:
        path.write_bytes(content)
    report = validate(path, LIBRARY)
    assert report.task is None
    assert code in {p.code for p in report.problems}


def test_a_folder_is_no_pack(tmp_path: Path) -> None:
    assert [p.code for p in validate(tmp_path).problems] == ["Y001"]


def test_each_stage_tells_all_its_problems(report: Callable[..., Report]) -> None:
    schema, name, rule = (
        ("title: Ther", "titel: Ther"),
        ("scene: infirmary", "scene: infirmry"),
        ("actions: 15", "actions: 1"),
    )
    assert {p.code for p in report("F10", schema, name, rule).problems} == {"S101", "S102"}
    assert {p.code for p in report("F10", name, rule).problems} == {"N202"}
    both = report("F10", rule, ("ticks: 30", "ticks: 1"), ("{on: [thermometer, desk]}", "{on: [pen, desk]}"))
    assert {p.code for p in both.problems} == {"I610", "I611", "G550"}
    assert both.task is not None
    assert list(both.problems) == sorted(both.problems)


def test_a_scene_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "ward.yaml").write_text(
        (ROOT / "runtime/scenes/infirmary.yaml").read_text("utf-8").replace("id: infirmary", "id: ward"), "utf-8"
    )
    text = next(p for p in PACKS if p.stem == "F10").read_text("utf-8")
    pack = tmp_path / "F10.yaml"
    pack.write_text(text.replace("scene: infirmary", "scene: ward"), "utf-8")
    assert [p.code for p in validate(pack, LIBRARY).problems] == ["N202"]
    assert validate(pack, Library(scenes=[tmp_path])).problems == ()


def test_a_bad_scene_is_told_as_its_own_problem(tmp_path: Path) -> None:
    (tmp_path / "ward.yaml").write_text("scene: ward\n", "utf-8")
    text = next(p for p in PACKS if p.stem == "F10").read_text("utf-8")
    pack = tmp_path / "F10.yaml"
    pack.write_text(text.replace("scene: infirmary", "scene: ward"), "utf-8")
    report = validate(pack, Library(scenes=[tmp_path]))
    assert {Path(p.file).name for p in report.problems} == {"ward.yaml"}


# --- several packs --------------------------------------------------------------------------------------------------


def test_the_packs_of_the_benchmark_differ() -> None:
    reports = validate_many(PACKS, LIBRARY)
    assert [report.path for report in reports] == PACKS
    assert not any(report.problems for report in reports)


@pytest.mark.parametrize(
    ("edits", "codes"),
    [
        ([], ["I640", "I641", "I642"]),
        ([("id: F10", "id: Z1"), ("6b0f6f3e", "6b0f6f3f")], ["I642"]),
        ([("6b0f6f3e", "6b0f6f3f"), ("pen, on: desk", "pen, on: trolley")], ["I640"]),
        ([("id: F10", "id: Z1"), ("pen, on: desk", "pen, on: trolley")], ["I641"]),
        ([("id: F10", "id: Z1"), ("6b0f6f3e", "6b0f6f3f"), ("pen, on: desk", "pen, on: trolley")], []),
    ],
)
def test_packs_that_are_the_same(tmp_path: Path, edits: list[tuple[str, str]], codes: list[str]) -> None:
    first = next(p for p in PACKS if p.stem == "F10")
    text = first.read_text("utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    second = tmp_path / ("Z1.yaml" if "id: Z1" in text else "F10.yaml")
    second.write_text(text, "utf-8")
    reports = validate_many([first, second], LIBRARY)
    assert reports[0].problems == ()
    assert sorted(p.code for p in reports[1].problems) == codes
    assert all("F10, which ships with iwkit" in p.message for p in reports[1].problems)
    assert validate_many([second])[0].problems == reports[1].problems, "iwkit's own packs count without being named"
    assert validate_many([second, first])[0].problems == reports[1].problems, "and come before all others"
    lines = text.splitlines()
    keys = {"I640": "id:", "I641": "guid:", "I642": "physical:"}
    assert all(lines[p.pos.line - 1].startswith(keys[p.code]) for p in reports[1].problems)


def test_twins_are_told_of_packs_with_other_problems_too(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "X.yaml").write_text("id: X\nguid: g\n", "utf-8")
    first, second = validate_many(sorted(tmp_path.glob("*/X.yaml")), LIBRARY)
    assert {"I640", "I641"} & {p.code for p in first.problems} == set()
    assert {"I640", "I641"} <= {p.code for p in second.problems}
    assert list(second.problems) == sorted(second.problems)


def test_a_file_named_twice_is_checked_once() -> None:
    path = PACKS[0]
    reports = validate_many([path, PACKS[1], path.parent / ".." / path.parent.name / path.name], LIBRARY)
    assert [report.path.name for report in reports] == [path.name, PACKS[1].name]
    assert not any(report.problems for report in reports)


# --- whatever the file ----------------------------------------------------------------------------------------------

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from(
        ["", "any", "floor", "wearer", "handoff", "fridge", "thermometer", "[Open] <fridge>", "[Sit] <bed>"]
    ),
    st.sampled_from([[], {}, ["soda"], {"on": ["soda", "desk"]}, {"until": [{"open": "fridge"}, {"opened": "any"}]}]),
)


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in nested data."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(found for key, value in items for found in places(value, (*path, key)))]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_pack_never_raises(tmp_path: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(DATA)))
    pack = copy.deepcopy(DATA[name])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(pack) if p]))
        parent = pack
        for key in path[:-1]:
            parent = parent[key]
        action = data.draw(st.sampled_from(["delete", "replace", "swap", "word"]))
        if action == "delete":
            del parent[path[-1]]
        elif action == "replace":
            parent[path[-1]] = data.draw(ODD)
        elif action == "swap":
            parent[path[-1]] = copy.deepcopy(_at(pack, data.draw(st.sampled_from(places(pack)))))
        else:
            like = [p for p in places(pack) if isinstance(_at(pack, p), str) and p[-1] == path[-1]]
            parent[path[-1]] = _at(pack, data.draw(st.sampled_from(like or [path])))
        assume(pack)
    file = tmp_path / f"{name}.yaml"
    file.write_text(yaml.safe_dump(pack, sort_keys=False, allow_unicode=True), "utf-8")
    report = validate(file, LIBRARY)
    assert all(problem.file == str(file) for problem in report.problems)
    assert report.task is not None or report.problems


def _at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


# --- affordance is about what never works ---------------------------------------------------------------------------


def _command(row: Primitive, names: list[str]) -> Command:
    scalar = row.scalar.default if row.scalar else None
    args = tuple(Ref(n, 0 if i in row.connectors else 1) for i, n in enumerate(names[: len(row.args)]))
    return Command(row.name, row.verbs[0], args, scalar)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_what_does_not_fit_is_refused_in_every_state(data: st.DataObject) -> None:
    """A command told as A402 is refused wherever the opening, the plan and the oracle lead."""
    task: CompiledTask = TASKS[data.draw(st.sampled_from(sorted(TASKS)))]
    row = data.draw(st.sampled_from([p for p in PRIMITIVES if p.args and not p.scalar_verbs]))
    names = data.draw(st.lists(st.sampled_from(sorted(task.things)), min_size=len(row.args), max_size=len(row.args)))
    try:
        command = _command(row, names)
    except GrammarError:
        assume(False)
    wrong = Probe(task).asked_wrongly(command) is not None
    world = SymbolicWorld()
    world.reset(task)
    oracle = [c for line in task.scripts["oracle"].lines for c in line.do]
    for step in (None, *(c.command for c in (*task.opening, *task.plan)), *oracle):
        if step is not None:
            world.execute(step)
        before = world.snapshot()
        receipt = world.execute(command)
        assert not (wrong and receipt.ok), render(command)
        world.restore(before)
