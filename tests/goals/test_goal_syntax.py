"""Reading conditions, patterns and `when`: what is refused, where, and with which advice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, TypeAdapter, ValidationError

from iwkit.events import EVENT_KINDS
from iwkit.goals.codes import GOAL_CODES
from iwkit.goals.parsers import MAX_DEPTH, OPERATORS
from iwkit.goals.syntax import (
    ConditionField,
    GoalSyntaxError,
    PatternField,
    PatternsField,
    WhenField,
    parse_condition,
    parse_pattern,
    parse_patterns,
    parse_when,
)
from iwkit.goals.terms import EventPattern, Handoff, Name
from iwkit.predicates import PREDICATES
from iwkit.spec.goal import Atom, Goal, Window

S = {"open": "fridge"}
E = {"opened": "fridge"}
MUGS = {"on": [{"category": "mug"}, "table"]}


def nested(depth: int) -> Any:
    data: Any = S
    for _ in range(depth - 1):
        data = {"not": data}
    return data


BAD_CONDITIONS: list[tuple[Any, str, tuple[Any, ...], str]] = [
    ("open fridge", "G501", (), "such as"),
    (None, "G501", (), ""),
    ([], "G501", (), ""),
    ({}, "G501", (), ""),
    ({"open": "fridge", "closed": "washer"}, "G501", (), ""),
    ({True: "fridge"}, "G501", (), ""),
    ({"opn": "fridge"}, "G502", ("opn",), "did you mean `open`?"),
    ({"all": [S, {"sequense": [E]}]}, "G502", ("all", 1, "sequense"), "did you mean `sequence`?"),
    ({"opened": "fridge"}, "G502", ("opened",), "write {happened: {opened: ...}}"),
    ({"zzz": 1}, "G502", ("zzz",), ""),
    ({"happened": {"oppened": "fridge"}}, "G503", ("happened", "oppened"), "did you mean `opened`?"),
    ({"never": {"on": ["cup", "table"]}}, "G503", ("never", "on"), "write {becomes: {on: ...}}"),
    ({"happened": {"wiped": {"objekt": "table"}}}, "G504", ("happened", "wiped", "objekt"), "did you mean `object`?"),
    ({"count": {"that": MUGS, "as": 1}}, "G504", ("count", "as"), ""),
    ({"match": {"each": ["a"], "by": "on", "two": ["b"]}}, "G504", ("match", "two"), ""),
    ({"on": ["cup"]}, "G505", ("on",), ""),
    ({"on": "cup"}, "G505", ("on",), ""),
    ({"on": ["cup", "table", "x"]}, "G505", ("on",), ""),
    ({"open": ["fridge"]}, "G505", ("open",), "write it bare"),
    ({"received": ["pot", "rice"]}, "G505", ("received", 1), ""),
    ({"before": E}, "G505", ("before",), ""),
    ({"before": [E, E, E]}, "G505", ("before",), ""),
    ({"count": 3}, "G505", ("count",), ""),
    ({"count": {"that": {"not": MUGS}, "is": 1}}, "G505", ("count", "that"), ""),
    ({"match": {"each": ["a"], "by": "onn", "to": ["b"]}}, "G505", ("match", "by"), "did you mean `on`?"),
    ({"partition": {"by": "near", "into": {"box": ["a"]}, "of": ["a"]}}, "G505", ("partition", "by"), "one of"),
    ({"partition": {"by": "on", "into": ["box"], "of": ["a"]}}, "G505", ("partition", "into"), ""),
    ({"open": 5}, "G506", ("open",), "write it in quotes"),
    ({"open": "Big Fridge"}, "G506", ("open",), "lower_snake"),
    ({"open": {"categroy": "fridge"}}, "G506", ("open", "categroy"), "did you mean `category`?"),
    ({"in_room": ["cup", {"category": "room"}]}, "G506", ("in_room", 1), ""),
    ({"happened": {"cycle_started": {"valid": True}}}, "G506", ("happened", "cycle_started", "valid"), "in quotes"),
    ({"open": "any"}, "G507", ("open",), "name the entity"),
    ({"never_moved": "any"}, "G507", ("never_moved",), ""),
    ({"exactly": {"in": "any", "are": ["a"]}}, "G507", ("exactly", "in"), ""),
    ({"all": []}, "G508", ("all",), ""),
    ({"sequence": []}, "G508", ("sequence",), ""),
    ({"before": [E]}, "G508", ("before",), ""),
    ({"open": {"any_of": []}}, "G508", ("open", "any_of"), ""),
    ({"received": ["pot", []]}, "G508", ("received", 1), ""),
    ({"partition": {"by": "on", "into": {}, "of": ["a"]}}, "G508", ("partition", "into"), ""),
    ({"open": {"any_of": ["a", "b", "a"]}}, "G509", ("open", "any_of", 2), ""),
    ({"match": {"each": ["a", "a"], "by": "on", "to": ["b"]}}, "G509", ("match", "each", 1), ""),
    ({"count": {"is": 1}}, "G510", ("count",), "",),
    ({"count": {"that": MUGS}}, "G510", ("count",), ""),
    ({"count": {"that": MUGS, "is": 1, "at_least": 1}}, "G510", ("count",), ""),
    ({"exactly": {"in": "box", "on": "table", "are": ["a"]}}, "G510", ("exactly",), ""),
    ({"exactly": {"are": ["a"]}}, "G510", ("exactly",), ""),
    ({"partition": {"by": "on", "into": {"box": ["a"]}}}, "G510", ("partition",), ""),
    ({"within": {"that": E, "window": "w", "until": E}}, "G510", ("within",), ""),
    ({"count": {"that": MUGS, "is": -1}}, "G511", ("count", "is"), ""),
    ({"count": {"that": MUGS, "is": True}}, "G511", ("count", "is"), ""),
    ({"count": {"that": MUGS, "at_most": 1.5}}, "G511", ("count", "at_most"), ""),
    ({"count": {"that": {"on": ["cup", "table"]}, "is": 1}}, "G512", ("count",), "category or any_of"),
    ({"until": [{"happened": E}, E]}, "G513", ("until", 0), ""),
    ({"until": [{"all": [S, {"not": {"never_moved": "cup"}}]}, E]}, "G513", ("until", 0), ""),
    ({"happened": {"becomes": {"any": [{"never": E}]}}}, "G513", ("happened", "becomes"), ""),
    (nested(MAX_DEPTH + 1), "G514", ("not",) * MAX_DEPTH, ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "code", "path", "hint"), BAD_CONDITIONS, ids=[f"{c}-{d!r:.40}" for d, c, *_ in BAD_CONDITIONS]
)
def test_a_bad_condition_is_refused_at_its_place(data: Any, code: str, path: tuple[Any, ...], hint: str) -> None:
    with pytest.raises(GoalSyntaxError) as caught:
        parse_condition(data)
    error = caught.value
    assert (error.code, error.path) == (code, path), str(error)
    assert hint in error.hint
    assert code in str(error)


def test_every_syntax_code_is_raised() -> None:
    raised = {code for _, code, *_ in BAD_CONDITIONS}
    assert raised == {code for code in GOAL_CODES if code < "G520"}


def test_nesting_up_to_the_limit_is_read() -> None:
    parse_condition(nested(MAX_DEPTH))


def test_endless_data_is_refused() -> None:
    data: dict[str, Any] = {}
    data["not"] = data
    with pytest.raises(GoalSyntaxError, match="G514"):
        parse_condition(data)


def test_one_pattern_has_one_form() -> None:
    short = parse_pattern({"grabbed": "cup"})
    assert (
        short
        == parse_pattern({"grabbed": {"object": "cup"}})
        == parse_pattern({"grabbed": {"object": "cup", "from": "any"}})
    )
    assert short == EventPattern("grabbed", (("object", Name("cup")),))
    assert parse_pattern({"grabbed": "any"}) == parse_pattern({"grabbed": {}}) == EventPattern("grabbed")
    assert parse_pattern({"wiped": {"with": "sponge", "object": "table"}}).to_data() == {
        "wiped": {"object": "table", "with": "sponge"}
    }


def test_a_when_is_the_handoff_or_a_pattern() -> None:
    assert parse_when("handoff") == Handoff()
    assert parse_when({"after": "p1"}) == parse_pattern({"after": "p1"})
    with pytest.raises(GoalSyntaxError, match="did you mean `handoff`"):
        parse_when("handof")
    with pytest.raises(GoalSyntaxError, match="G501"):
        parse_when(3)


def test_patterns_are_one_or_a_list() -> None:
    assert parse_patterns(E) == parse_patterns([E]) == (parse_pattern(E),)
    with pytest.raises(GoalSyntaxError) as caught:
        parse_patterns([E, {"opned": "fridge"}])
    assert caught.value.path == (1, "opned")


# Any data whatever

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 4)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["cup", "any", "handoff"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [*OPERATORS, *PREDICATES, *EVENT_KINDS, "that", "is", "are", "in", "by", "to", "category", "any_of"]
            ),
            inner,
            max_size=2,
        )
    ),
    max_leaves=8,
)


@given(plain)
def test_any_data_is_read_or_refused(data: Any) -> None:
    for parse in (parse_condition, parse_pattern, parse_patterns, parse_when):
        try:
            parse(data)
        except GoalSyntaxError as error:
            assert error.code in GOAL_CODES


names = st.sampled_from(["cup", "mug_2", "table"])
targets = st.one_of(
    names,
    st.builds(lambda n: {"category": n}, names),
    st.builds(lambda n: {"any_of": n}, st.lists(names, min_size=1, unique=True)),
)
ARGS = {"room": names, "substance": names, "substances": st.lists(names, min_size=1, max_size=2)}


@st.composite
def states(draw: st.DrawFn) -> Any:
    predicate = draw(st.sampled_from(sorted(PREDICATES)))
    args = [draw(ARGS.get(kind, targets)) for kind in PREDICATES[predicate].args]
    return {predicate: args[0] if len(args) == 1 else args}


@st.composite
def patterns(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(sorted(EVENT_KINDS)))
    if draw(st.booleans()):
        return {kind: "any"}
    long = {role: "any" for role, _ in EVENT_KINDS[kind].roles if draw(st.booleans())}
    return {kind: long | draw(st.fixed_dictionaries({}, optional={"during": names, "outside": names}))}


conditions = st.recursive(
    states() | st.builds(lambda p: {"happened": p}, patterns()),
    lambda inner: (
        st.builds(lambda c: {"not": c}, inner)
        | st.builds(lambda k, c: {k: c}, st.sampled_from(["all", "any"]), st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda a, b: {"before": [a, b]}, patterns(), patterns())
    ),
    max_leaves=6,
)
FIELDS: dict[str, Any] = {
    "Condition": ConditionField,
    "Pattern": PatternField,
    "Patterns": PatternsField,
    "When": WhenField,
}
SCHEMAS = {name: Draft202012Validator(TypeAdapter(field).json_schema()) for name, field in FIELDS.items()}


@given(conditions)
def test_what_is_read_is_written_back_and_fits_the_schema(data: Any) -> None:
    condition = parse_condition(data)
    assert parse_condition(condition.to_data()) == condition
    assert not list(SCHEMAS["Condition"].iter_errors(data))
    assert not list(SCHEMAS["Condition"].iter_errors(condition.to_data()))


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name].schema)


ONLY_PARSER = {"G509", "G510", "G512", "G513", "G514"}
"""What JSON Schema is not asked to know: most of it needs two places at once."""


@pytest.mark.parametrize(
    ("data", "code"), [(d, c) for d, c, *_ in BAD_CONDITIONS if c not in ONLY_PARSER and d != {True: "fridge"}]
)
def test_the_schema_refuses_what_is_malformed(data: Any, code: str) -> None:
    accepted = not list(SCHEMAS["Condition"].iter_errors(data))
    # `any` is a name by its letters, and an operator belongs where a state is wanted only by the parser
    assert not accepted or code == "G507" or data == {"count": {"that": {"not": MUGS}, "is": 1}}


def test_the_schema_of_patterns_and_when() -> None:
    assert SCHEMAS["When"].is_valid("handoff")
    assert not SCHEMAS["When"].is_valid("handof")
    assert SCHEMAS["Patterns"].is_valid([E, {"grabbed": "any"}])
    assert not SCHEMAS["Patterns"].is_valid([])
    assert SCHEMAS["Pattern"].is_valid({"said": "assistant"})
    assert not SCHEMAS["Pattern"].is_valid({"said": "asistant"})


# As fields of the models


def errors_of(model: type[BaseModel], data: Any) -> list[Any]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(data)
    return caught.value.errors()


def test_a_field_says_where_inside_it_the_mistake_is() -> None:
    goal = {"score": "state", "achieve": [{"id": "a", "that": {"all": [S, {"opn": "fridge"}]}}]}
    (error,) = errors_of(Goal, goal)
    assert error["loc"] == ("achieve", 0, "that")
    assert error["msg"] == "there is no operator or predicate `opn`"
    context = error["ctx"]
    assert (context["path"], context["code"], context["key"]) == (("all", 1, "opn"), "G502", True)
    assert context["hint"] == "did you mean `open`?"


ATOM = {"id": "a", "capability": "C1", "pass": E}


@pytest.mark.parametrize(
    "extra", [{}, {"window": "w", "opens": "handoff"}, {"window": "w", "closes": E}, {"closes": E}]
)
def test_an_atom_has_a_window_or_edges(extra: dict[str, Any]) -> None:
    (error,) = errors_of(Atom, ATOM | extra)
    assert error["ctx"]["code"] == "G535"


@pytest.mark.parametrize(
    "extra", [{"window": "w"}, {"opens": "handoff"}, {"opens": E, "closes": {"after": "p1"}, "wrong": [E, E]}]
)
def test_a_legal_atom_is_written_back(extra: dict[str, Any]) -> None:
    atom = Atom.model_validate(ATOM | extra)
    data = atom.model_dump(mode="json", by_alias=True)
    assert data.items() >= (ATOM | extra).items()
    assert Atom.model_validate(data) == atom
    assert Draft202012Validator(Atom.model_json_schema()).is_valid(data)


def test_models_take_no_python_name_and_no_unknown_field() -> None:
    assert {e["type"] for e in errors_of(Atom, {"id": "a", "capability": "C1", "opens": "handoff", "passes": E})} == {
        "missing",
        "extra_forbidden",
    }
    assert errors_of(Window, {"id": "w", "opens": "handoff", "close": E})[0]["type"] == "extra_forbidden"
