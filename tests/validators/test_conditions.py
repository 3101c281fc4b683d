"""What the form of a goal proves: it is told, and the 120 rows of the paper's tables raise no alarm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.goals.evaluate import Judge
from iwkit.goals.syntax import parse_condition
from iwkit.goals.vocabulary import Entity, Vocabulary
from iwkit.source.reader import read
from iwkit.spec.goal import Atom, Goal, Named, Window
from iwkit.trace import Event, Relation, State, Step, Trace
from iwkit_validators.conditions import Blocks, Proof, check_blocks
from iwkit_validators.guards import exclusive

ROWS = sorted((Path(__file__).parents[1] / "data" / "rows").glob("*.yaml"))
TRAITS: dict[str, frozenset[str]] = {
    "cup": frozenset({"movable"}),
    "mug": frozenset({"movable"}),
    "table": frozenset({"fixture", "surface"}),
    "desk": frozenset({"fixture", "surface"}),
    "fridge": frozenset({"fixture", "container", "openable"}),
    "oven": frozenset({"fixture", "container", "openable", "device"}),
    "tray": frozenset({"movable", "surface", "carrier"}),
    "kitchen": frozenset({"room"}),
    "hall": frozenset({"room"}),
}
WORDS = Vocabulary(
    {n: Entity(n, n, t) for n, t in TRAITS.items()}, frozenset({"w"}), frozenset({"o1", "o2", "p1", "p2"})
)  # type: ignore[arg-type]
FIXTURES = frozenset(n for n, t in TRAITS.items() if t & {"fixture", "room"})


def blocks(achieve: list[Any] | None = None, **parts: Any) -> Blocks:
    goal = Goal.model_validate(
        {
            "score": "state",
            "achieve": [{"id": f"a{i}", "that": that} for i, that in enumerate(achieve or [{"on": ["cup", "table"]}])],
            "keep": [{"id": f"k{i}", "that": that} for i, that in enumerate(parts.pop("keep", []))],
        }
    )
    windows = [Window.model_validate({"id": f"w{i}", **window}) for i, window in enumerate(parts.pop("windows", []))]
    atoms = [
        Atom.model_validate({"id": f"t{i}", "capability": "C1", **a}) for i, a in enumerate(parts.pop("atoms", []))
    ]
    return Blocks(goal, windows, atoms, WORDS, ("o1", "o2"), ("p1", "p2"))


def codes(given: Blocks) -> list[str]:
    return [finding.code for finding in check_blocks(given)]


# --- rows -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [p for p in ROWS if p.stem != "plays"], ids=lambda p: p.stem)
def test_the_rows_of_the_paper_raise_no_alarm(path: Path) -> None:
    rows = read(path).data["rows"]
    assert len(rows) == 20
    for row in rows:
        things = {n: Entity(n, t["category"], frozenset(t["traits"])) for n, t in row["entities"].items()}
        windows = [Window.model_validate(w) for w in row.get("windows", [])]
        words = Vocabulary(things, frozenset(w.id for w in windows), frozenset(row.get("steps", [])))
        atoms = [Atom.model_validate(a) for a in row["atoms"]]
        goal, evidence = Goal.model_validate(row["goal"]), [Named.model_validate(e) for e in row.get("evidence", [])]
        given = Blocks(goal, windows, atoms, words, (), tuple(row.get("steps", [])), evidence)
        assert [f"{row['id']} {f.code} {f.message}" for f in check_blocks(given)] == []


# --- conditions -------------------------------------------------------------------------------------------------------

CUP_ON = {"on": ["cup", "table"]}


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ({"any": [{"open": "fridge"}, {"closed": "fridge"}]}, "G555"),
        ({"any": [CUP_ON, {"not": CUP_ON}]}, "G555"),
        ({"not": {"all": [{"open": "fridge"}, {"closed": "fridge"}]}}, "G555"),
        ({"count": {"that": {"on": [{"any_of": ["cup", "mug"]}, "table"]}, "at_least": 0}}, "G555"),
        ({"count": {"that": {"on": [{"any_of": ["cup", "mug"]}, "table"]}, "at_most": 2}}, "G555"),
        ({"never": {"grabbed": {"object": "cup", "during": "w", "outside": "w"}}}, "G555"),
        ({"all": [{"open": "fridge"}, {"closed": "fridge"}]}, "G556"),
        ({"not": {"any": [{"running": "oven"}, {"off": "oven"}]}}, "G556"),
        ({"all": [CUP_ON, {"not": CUP_ON}]}, "G556"),
        ({"happened": {"after": "o2"}}, "G556"),
        ({"sequence": [{"grabbed": "cup"}, {"after": "o1"}]}, "G556"),
        ({"before": [{"after": "o1"}, {"grabbed": "cup"}]}, "G556"),
        ({"within": {"that": {"after": "o1"}, "after": {"grabbed": "cup"}}}, "G556"),
        ({"any": [{"open": "fridge"}, {"closed": "oven"}]}, None),
        ({"any": [CUP_ON, {"on": ["cup", "desk"]}]}, None),
        ({"count": {"that": {"on": [{"any_of": ["cup", "mug"]}, "table"]}, "at_most": 1}}, None),
        ({"never": {"grabbed": {"object": "cup", "during": "w"}}}, None),
        ({"happened": {"after": "p1"}}, None),
        ({"before": [{"grabbed": "cup"}, {"after": "o1"}]}, None),
        ({"until": [{"closed": "fridge"}, {"grabbed": "cup"}]}, None),
    ],
)
def test_conditions_that_come_out_the_same_in_any_case(condition: Any, code: str | None) -> None:
    assert codes(blocks(keep=[condition])) == ([code] if code else [])


@pytest.mark.parametrize(
    ("one", "other", "exclude"),
    [
        (CUP_ON, {"on": ["cup", "desk"]}, True),
        (CUP_ON, {"inside": ["cup", "fridge"]}, True),
        (CUP_ON, {"held": "cup"}, True),
        (CUP_ON, {"on_floor": "cup"}, True),
        ({"held": "cup"}, {"on_floor": "cup"}, True),
        (CUP_ON, {"not": CUP_ON}, True),
        (CUP_ON, {"all": [{"open": "fridge"}, {"on": ["cup", "desk"]}]}, True),
        ({"any": [CUP_ON, {"held": "cup"}]}, {"on": ["cup", "desk"]}, True),
        ({"in_room": ["cup", "kitchen"]}, {"in_room": ["cup", "hall"]}, True),
        ({"never": {"grabbed": "cup"}}, {"happened": {"grabbed": "cup"}}, True),
        ({"never_moved": "cup"}, {"happened": {"moved": "cup"}}, True),
        (CUP_ON, {"on": ["mug", "desk"]}, False),
        (CUP_ON, {"on": ["cup", "tray"]}, False),
        (CUP_ON, {"in_room": ["cup", "kitchen"]}, False),
        (CUP_ON, {"any": [{"on": ["cup", "desk"]}, CUP_ON]}, False),
        ({"on": [{"any_of": ["cup", "mug"]}, "table"]}, {"on": [{"any_of": ["cup", "mug"]}, "desk"]}, False),
        ({"never": {"grabbed": "cup"}}, {"happened": {"grabbed": "mug"}}, False),
    ],
)
def test_pairs_that_exclude_each_other(one: Any, other: Any, exclude: bool) -> None:
    for pair in ([one, other], [other, one]):
        assert codes(blocks(pair)) == (["G554"] if exclude else [])
    assert exclusive(parse_condition(one), parse_condition(other), FIXTURES) is exclude


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ({"any": [{"open": "fridge"}, {"closed": "fridge"}]}, True),
        ({"never": {"after": "p1"}}, True),
        ({"never": {"after": "o1"}}, False),
        ({"happened": {"after": "o1"}}, False),
        ({"not": {"visible": "cup"}}, False),
    ],
)
def test_evidence_that_every_opening_gives(condition: Any, told: bool) -> None:
    named = Named.model_validate({"id": "shown", "that": condition})
    found = check_blocks(replace(blocks(), evidence=[named]))
    assert [(f.code, f.path) for f in found] == ([("G555", ("evidence", 0, "that"))] if told else [])


# --- windows and atoms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "told"),
    [
        ({"opens": {"after": "p1"}, "closes": {"after": "p2"}}, False),
        ({"opens": {"after": "o1"}, "closes": {"after": "p1"}}, False),
        ({"opens": {"after": "p1"}}, False),
        ({"opens": "handoff", "closes": {"opened": "fridge"}}, False),
        ({"opens": {"opened": "fridge"}, "closes": {"after": "p1"}}, False),
        ({"opens": {"after": "p2"}, "closes": {"after": "p1"}}, True),
        ({"opens": {"after": "p1"}, "closes": {"after": "p1"}}, True),
        ({"opens": "handoff", "closes": {"after": "o2"}}, True),
        ({"opens": {"after": "p1"}, "closes": "handoff"}, True),
        ({"opens": {"after": "o1"}, "closes": {"after": "o2"}}, True),
        ({"opens": {"grabbed": {"object": "cup", "during": "w", "outside": "w"}}}, True),
    ],
)
def test_windows_that_cannot_be_open(window: Any, told: bool) -> None:
    assert codes(blocks(windows=[window])) == (["G559"] if told else [])
    atom = {"pass": {"grabbed": "cup"}, **window}
    assert codes(blocks(atoms=[atom])) == (["G559"] if told else [])


@pytest.mark.parametrize(
    ("pass_", "wrong", "code"),
    [
        ({"grabbed": "cup"}, {"grabbed": "any"}, None),
        ({"grabbed": "any"}, {"grabbed": "cup"}, "G557"),
        ({"grabbed": "cup"}, {"grabbed": "cup"}, "G557"),
        ({"grabbed": {"any_of": ["cup", "mug"]}}, [{"grabbed": "mug"}, {"grabbed": "cup"}], "G557"),
        ({"grabbed": {"any_of": ["cup", "mug"]}}, [{"grabbed": "mug"}, {"grabbed": "tray"}], None),
        ([{"grabbed": "cup"}, {"opened": "any"}], {"opened": "fridge"}, "G557"),
        ({"released": {"object": "cup", "to": "table"}}, {"released": "cup"}, None),
        ({"released": "cup"}, {"released": {"object": "cup", "to": "table"}}, "G557"),
        ({"said": {"by": "assistant", "during": "w"}}, {"said": {"by": "assistant"}}, None),
        ({"after": "o1"}, None, "G558"),
        ([{"after": "o1"}, {"grabbed": "cup"}], None, None),
    ],
)
def test_atoms_that_cannot_be_passed_or_failed(pass_: Any, wrong: Any, code: str | None) -> None:
    atom = {"opens": "handoff", "pass": pass_, **({"wrong": wrong} if wrong else {})}
    assert codes(blocks(atoms=[atom])) == ([code] if code else [])


# --- what is proved holds in every trace ------------------------------------------------------------------------------

PLACES: list[Relation] = [("on", "cup", "table"), ("on", "cup", "desk"), ("inside", "cup", "fridge"), ("held", "cup")]
LEAVES = st.sampled_from(
    [
        {"on": ["cup", "table"]},
        {"on": ["cup", "desk"]},
        {"inside": ["cup", "fridge"]},
        {"held": "cup"},
        {"open": "fridge"},
        {"closed": "fridge"},
        {"happened": {"grabbed": "cup"}},
        {"never": {"grabbed": "cup"}},
        {"happened": {"after": "o1"}},
        {"never": {"opened": {"object": "fridge", "during": "w", "outside": "w"}}},
        {"count": {"that": {"on": [{"any_of": ["cup", "mug"]}, "table"]}, "at_most": 1}},
        {"count": {"that": {"on": [{"any_of": ["cup", "mug"]}, "table"]}, "at_least": 2}},
    ]
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3, unique_by=repr).map(lambda parts: {"all": parts}),
        st.lists(inner, min_size=2, max_size=3, unique_by=repr).map(lambda parts: {"any": parts}),
        inner.map(lambda part: {"not": part}),
    ),
    max_leaves=5,
)


def states(place: Relation, is_open: bool, mug: bool) -> State:
    door = ("open", "fridge") if is_open else ("closed", "fridge")
    return frozenset({place, door, *([("on", "mug", "table")] if mug else [])})


STATES = st.builds(states, st.sampled_from(PLACES), st.booleans(), st.booleans())
EVENTS = st.lists(
    st.sampled_from([("grabbed", {"object": "cup"}), ("opened", {"object": "fridge"}), ("after", {"step": "p1"})]),
    max_size=2,
)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    steps = [
        Step(tuple(Event(10 * i + j, kind, roles) for j, (kind, roles) in enumerate(draw(EVENTS))), draw(STATES))
        for i in range(draw(st.integers(0, 3)))
    ]
    opening = Step((Event(0, "after", {"step": "o1"}),), draw(STATES))
    return Trace(opening.state, (opening, *steps), 1, opening.state)


@settings(max_examples=200)
@given(CONDITIONS, CONDITIONS, traces())
def test_what_is_proved_is_so_in_every_trace(one: Any, other: Any, trace: Trace) -> None:
    first, second = parse_condition(one), parse_condition(other)
    judge = Judge(trace, WORDS, [Window.model_validate({"id": "w", "opens": "handoff"})])
    proof = Proof(WORDS, ("o1", "o2"))
    holds = [judge.holds(condition, "interaction") for condition in (first, second)]
    assert not (proof.always(first) and not holds[0])
    assert not (proof.never(first) and holds[0])
    assert not (exclusive(first, second, FIXTURES) and all(holds))
