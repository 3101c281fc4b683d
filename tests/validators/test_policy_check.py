"""The checker of human policies: every code at its place, and which guards are proved exclusive."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.codes import CODES
from iwkit.compile import load_task
from iwkit.errors import Problems
from iwkit.goals.syntax import parse_condition
from iwkit.problems import Pos
from iwkit.spec.policy import ACTS
from iwkit.verbs import BY_NAME
from iwkit_validators.guards import exclusive, implies
from iwkit_validators.policy import load_policy
from iwkit_validators.suite import validate

DATA = Path(__file__).parents[1] / "data"
SOUND = (DATA / "policies" / "W7.yaml").read_text("utf-8")
CASES = yaml.safe_load((DATA / "bad_policies" / "cases.yaml").read_text("utf-8"))
TASKPACKS = Path(__file__).parents[2] / "taskpacks"
W7 = load_task(TASKPACKS / "prevention" / "W7.yaml")


def place(text: str, wanted: str) -> Pos:
    """The line and column of the first time that a text stands in another."""
    before = text[: text.index(wanted)]
    return Pos(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


@pytest.mark.parametrize("path", sorted((DATA / "policies").glob("*.yaml")), ids=lambda p: p.stem)
def test_sound_policies(path: Path) -> None:
    assert [str(p) for p in validate(path).problems] == []


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case['code']}" for i, case in enumerate(CASES)])
def test_bad_policies(tmp_path: Path, case: dict[str, Any]) -> None:
    old, new = case["change"]
    assert old in SOUND
    text = SOUND.replace(old, new, 1)
    path = tmp_path / "policy.yaml"
    path.write_text(text, "utf-8")
    if case["code"] == "H801":
        problems = validate(path).problems
    else:
        with pytest.raises(Problems) as caught:
            load_policy(path, W7)
        problems = tuple(caught.value.problems)
    assert (case["code"], place(text, case["at"])) in [(p.code, p.pos) for p in problems], problems
    assert all(p.hint for p in problems if p.code[0] != "S")


def test_a_pack_with_problems_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "X1.yaml").write_text('taskpack: "1.0"\nid: X1\n', "utf-8")
    path = tmp_path / "policy.yaml"
    path.write_text(SOUND.replace("task: W7", "task: X1"), "utf-8")
    assert [p.code for p in validate(path).problems] == ["H802"]


def test_a_plan_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    text = (DATA / "policies" / "F10.yaml").read_text("utf-8")
    path.write_text(text.replace("    say: I have it.", "    meanwhile: plan"), "utf-8")
    assert [p.code for p in validate(path).problems] == ["H816"]


def test_a_policy_of_another_task() -> None:
    with pytest.raises(Problems) as caught:
        load_policy(DATA / "policies" / "W7.yaml", load_task(TASKPACKS / "finding" / "F10.yaml"))
    assert [p.code for p in caught.value.problems] == ["H803"]


def test_every_code_of_policies_is_shown() -> None:
    elsewhere = {"H802", "H803", "H816"}
    assert {c["code"] for c in CASES} | elsewhere >= {code for code in CODES if code[0] == "H"}


def test_a_project_of_its_own_is_looked_in_first(tmp_path: Path) -> None:
    pack = (TASKPACKS / "prevention" / "W7.yaml").read_text("utf-8").replace("id: W7", "id: W70")
    (tmp_path / "prevention").mkdir()
    (tmp_path / "lock.json").write_text("{}", "utf-8")
    (tmp_path / "prevention" / "W70.yaml").write_text(pack, "utf-8")
    path = tmp_path / "policies" / "mine.yaml"
    path.parent.mkdir()
    path.write_text(SOUND.replace("task: W7", "task: W70"), "utf-8")
    assert [str(p) for p in validate(path).problems] == []


def test_every_act_is_a_primitive() -> None:
    assert set(BY_NAME) >= ACTS
    assert not {"turn", "forward", "wait", "attach"} & ACTS, "a tuple of things does not tell these apart"


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ({"open": "a"}, {"closed": "a"}, True),
        ({"open": "a"}, {"closed": "b"}, False),
        ({"open": {"category": "a"}}, {"closed": {"category": "a"}}, False),
        ({"running": "a"}, {"off": "a"}, True),
        ({"held": "a"}, {"not": {"held": "a"}}, True),
        ({"held": "a"}, {"not": {"held": "b"}}, False),
        ({"on": ["a", "b"]}, {"on": ["a", "c"]}, False),
        ({"all": [{"held": "a"}, {"open": "b"}]}, {"closed": "b"}, True),
        ({"any": [{"held": "a"}, {"open": "b"}]}, {"closed": "b"}, False),
        ({"any": [{"held": "a"}, {"open": "b"}]}, {"all": [{"closed": "b"}, {"not": {"held": "a"}}]}, True),
        ({"not": {"any": [{"held": "a"}, {"open": "b"}]}}, {"held": "a"}, True),
        ({"not": {"closed": "a"}}, {"all": [{"closed": "a"}, {"held": "b"}]}, True),
        ({"not": {"closed": "a"}}, {"open": "a"}, False),
        (
            {"count": {"that": {"inside": [{"category": "c"}, "b"]}, "is": 1}},
            {"count": {"that": {"inside": [{"category": "c"}, "b"]}, "at_least": 2}},
            True,
        ),
        (
            {"count": {"that": {"inside": [{"category": "c"}, "b"]}, "at_most": 2}},
            {"count": {"that": {"inside": [{"category": "c"}, "b"]}, "at_least": 2}},
            False,
        ),
    ],
)
def test_exclusive_conditions(first: Any, second: Any, apart: bool) -> None:
    one, other = parse_condition(first), parse_condition(second)
    assert exclusive(one, other) == exclusive(other, one) == apart


# --- whatever the file ------------------------------------------------------------------------------------------------

ODD = st.sampled_from(
    [None, True, 0, -1, "", "laying", "fridge", "done", [], {}, ["fridge"], {"open": "fridge"}, "é" * 99]
)


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in nested data but the whole."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [found for key, value in items for found in ((*path, key), *places(value, (*path, key)))]


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_damaged_policy_raises_nothing_but_problems(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    policy = yaml.safe_load(SOUND)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(policy) or [()]))
        parent = policy
        for key in path[:-1]:
            parent = parent[key]
        if data.draw(st.booleans()):
            parent[path[-1]] = copy.deepcopy(data.draw(ODD))
        elif len(parent) > 1:
            del parent[path[-1]]
    file = tmp_path_factory.getbasetemp() / "damaged.yaml"
    file.write_text(yaml.safe_dump(policy, allow_unicode=True), "utf-8")
    try:
        load_policy(file, W7)
    except Problems as error:
        assert all(problem.code in CODES for problem in error.problems)


# --- what is proved is so ---------------------------------------------------------------------------------------------

ATOMS = [{"open": "a"}, {"closed": "a"}, {"held": "b"}, {"running": "c"}, {"off": "c"}]
CONDITIONS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.builds(lambda c: {"not": c}, inner),
        st.builds(lambda cs: {"all": cs}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda cs: {"any": cs}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=8,
)


def true_in(condition: Any, world: tuple[bool, bool, bool]) -> bool:
    """A naive reading: whether `a` stands open, `b` is held and `c` runs."""
    (key, value), (opened, held, running) = next(iter(condition.items())), world
    match key:
        case "not":
            return not true_in(value, world)
        case "all":
            return all(true_in(c, world) for c in value)
        case "any":
            return any(true_in(c, world) for c in value)
    return {"open": opened, "closed": not opened, "held": held, "running": running, "off": not running}[key]


@settings(max_examples=300, deadline=None)
@given(CONDITIONS, CONDITIONS)
def test_what_is_proved_exclusive_or_implied_is_so_in_every_world(first: Any, second: Any) -> None:
    worlds = [(a, b, c) for a in (True, False) for b in (True, False) for c in (True, False)]
    one, other = parse_condition(first), parse_condition(second)
    if exclusive(one, other):
        assert not any(true_in(first, w) and true_in(second, w) for w in worlds)
    if implies(one, other):
        assert all(true_in(second, w) for w in worlds if true_in(first, w))
