"""Schema problems: each kind of mismatch, at its place, with its path and its hint."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, field_validator
from pydantic_core import PydanticCustomError

from iwkit.codes import CODES
from iwkit.errors import Problems
from iwkit.source import fields
from iwkit.source.check import check
from iwkit.source.reader import read_text

AS_TUPLE = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Walk(Strict):
    verb: Literal["walk"]
    target: str


class PutIn(Strict):
    verb: Literal["put_in"]
    item: str
    container: str


class After(Strict):
    after: str
    window: str = ""


def _condition(value: Any) -> Any:
    """Stands for a nested language with a validator of its own."""
    if isinstance(value, dict) and "all" in value:
        for index, part in enumerate(value["all"]):
            if not isinstance(part, dict):
                raise PydanticCustomError("condition", "F10 wants a mapping", {"path": ("all", index), "code": "G501"})
            if "opend" in part:
                context = {"path": ("all", index, "opend"), "hint": "did you mean 'opened'?", "key": True}
                raise PydanticCustomError("condition", "unknown state {state}", {"state": "opend", **context})
    return value


class Named(Strict):
    id: str
    that: Annotated[Any, PlainValidator(_condition)]
    needs: Annotated[tuple[str, ...], AS_TUPLE] = ()


class Goal(Strict):
    score: Literal["state", "binary"] = "state"
    achieve: Annotated[tuple[Named, ...], AS_TUPLE] = ()


class Pack(Strict):
    id: str
    ticks: Annotated[int, Field(ge=1)] = 1
    size: float = 1.0
    done: bool = False
    is_: Annotated[tuple[str, ...], AS_TUPLE] = Field(default=(), alias="is")
    goal: Goal = Goal()
    steps: list[Annotated[Walk | PutIn, Field(discriminator="verb")]] = []
    when: Literal["handoff"] | After = "handoff"
    at: str | After = ""
    walks: dict[Annotated[str, Field(pattern="^[a-z]+$")], Walk] = {}
    box: Annotated[tuple[float, float], AS_TUPLE] | None = None

    @field_validator("id")
    @classmethod
    def _known(cls, value: str) -> str:
        if value == "F11":
            raise ValueError("F11 is retired")
        if value == "F12":
            raise AssertionError("F12 is not a task")
        return value


# YAML below `id: F10` (line 1), and what is said of it
CASES = {
    "unknown field": (
        "titel: x",
        "2:1: S101 unknown field 'titel'",
        "leave it out; known here: at, box, done, goal, id, is, size, steps, ticks, walks, when",
    ),
    "unknown, close": ("tick: 3", "2:1: S101 unknown field 'tick'", "did you mean `ticks`?"),
    "unknown, alias": ("iss: [a]", "2:1: S101 unknown field 'iss'", "did you mean `is`?"),
    "unknown, another word": (
        "goal: {achieve: [{id: a, that: 1, requires: [b]}]}",
        "2:35: S101 goal.achieve[1 a]: unknown field 'requires'",
        "did you mean `needs`?",
    ),
    "unknown, nested": (
        "goal: {achieve: [{id: a, that: 1}, {id: opened, that: 1, neds: [a]}]}",
        "2:58: S101 goal.achieve[2 opened]: unknown field 'neds'",
        "did you mean `needs`?",
    ),
    "unknown, in a union's branch": (
        "steps:\n  - {verb: put_in, item: a, container: b, contaner: c}",
        "3:43: S101 steps[1]: unknown field 'contaner'",
        "did you mean `container`?",
    ),
    "unknown, in a mapping": (
        "walks: {go: {verb: walk, target: a, targets: b}}",
        "2:37: S101 walks.go: unknown field 'targets'",
        "did you mean `target`?",
    ),
    "missing": (
        "goal:\n  achieve:\n    - id: left_opened",
        "4:7: S102 goal.achieve[1 left_opened]: missing field 'that'",
        "add that: VALUE",
    ),
    "missing tag": ("steps: [{item: a}]", "2:9: S102 steps[1]: missing field 'verb'", "add verb: walk or put_in"),
    "text, not a number": ("at: 1.10", "2:5: S103 at: expected text or a mapping, got the number 1.1", 'write "1.10"'),
    "text, not true": ("at: true", "2:5: S103 at: expected text or a mapping, got true", 'write "true"'),
    "text, not nothing": ("at:", "2:4: S103 at: expected text or a mapping, got nothing", ""),
    "number, not text": (
        'ticks: "5"',
        "2:8: S103 ticks: expected a whole number, got the text '5'",
        "write 5 without quotes",
    ),
    "number, not a word": ("ticks: many", "2:8: S103 ticks: expected a whole number, got the text 'many'", ""),
    "whole number": ("ticks: 1.5", "2:8: S103 ticks: expected a whole number, got the number 1.5", ""),
    "number": ("size: '0.5'", "2:7: S103 size: expected a number, got the text '0.5'", "write 0.5 without quotes"),
    "true, not yes": ("done: yes", "2:7: S103 done: expected true or false, got the text 'yes'", "write true"),
    "list, not text": ("is: wet", "2:5: S103 is: expected a list, got the text 'wet'", "put it in square brackets"),
    "list, not a mapping": ("steps: {a: 1, b: 2}", "2:8: S103 steps: expected a list, got a mapping with a, b", ""),
    "mapping, not a list": ("goal: [a]", "2:7: S103 goal: expected a mapping, got a list of 1", ""),
    "mapping, empty list": ("walks: []", "2:8: S103 walks: expected a mapping, got a list of 0", ""),
    "element": ("is: [wet, 5]", "2:11: S103 is[2]: expected text, got the number 5", 'write "5"'),
    "step": ("steps: [5]", "2:9: S103 steps[1]: expected a mapping, got the number 5", ""),
    "literal": (
        "goal: {score: stat}",
        "2:15: S104 goal.score: expected 'state' or 'binary', got the text 'stat'",
        "did you mean `state`?",
    ),
    "literal, far": ("goal: {score: 7}", "2:15: S104 goal.score: expected 'state' or 'binary', got the number 7", ""),
    "tag": (
        "steps:\n  - {item: a, verb: putin}",
        "3:21: S104 steps[1].verb: expected 'walk' or 'put_in', got the text 'putin'",
        "did you mean `put_in`?",
    ),
    "union: word": (
        "when: handof",
        "2:7: S104 when: expected 'handoff', got the text 'handof'",
        "did you mean `handoff`?",
    ),
    "union: inside": ("when: {after: 5}", "2:15: S103 when.after: expected text, got the number 5", 'write "5"'),
    "union: neither": (
        "at: [a]",
        "2:5: S103 at: expected text or a mapping, got a list of 1",
        'quote it if it is text: "[a]"',
    ),
    "constraint": ("ticks: 0", "2:8: S105 ticks: input should be greater than or equal to 1", ""),
    "key": ("walks: {Go: {verb: walk, target: a}}", "2:9: S105 walks.Go: string should match pattern '^[a-z]+$'", ""),
    "too long": (
        "box: [1, 2, 3]",
        "2:6: S105 box: tuple should have at most 2 items after validation, not 3",
        "",
    ),
    "custom: key": (
        "goal: {achieve: [{id: a, that: {all: [{opened: x}, {opend: y}]}}]}",
        "2:53: S105 goal.achieve[1 a].that.all[2].opend: unknown state opend",
        "did you mean 'opened'?",
    ),
    "custom: code": (
        "goal: {achieve: [{id: a, that: {all: [{opened: x}, y]}}]}",
        "2:52: G501 goal.achieve[1 a].that.all[2]: F10 wants a mapping",
        "",
    ),
}  # fmt: skip


def problems(text: str, base: tuple[str | int, ...] = (), model: type[BaseModel] = Pack) -> Problems:
    with pytest.raises(Problems) as caught:
        check(read_text(text, "f"), model, base)
    return caught.value


@pytest.mark.parametrize(("text", "said", "hint"), CASES.values(), ids=CASES)
def test_mismatch(text: str, said: str, hint: str) -> None:
    expected = f"f:{said}" + (f"\n    hint: {hint}" if hint else "")
    assert str(problems(f"id: F10\n{text}\n")) == expected


def test_codes_raised_here() -> None:
    """Every code of the schema is shown by a case above."""
    assert {code for code in CODES if code[0] == "S"} == {
        said.split()[1] for _, said, _ in CASES.values() if said.split()[1][0] == "S"
    }


def test_good_data_becomes_a_model() -> None:
    text = "id: F10\nsize: 2\nis: [wet]\nwhen: {after: p1}\nsteps: [{verb: walk, target: a}]\nbox: [1, 2.5]\n"
    pack = check(read_text(text, "f"), Pack)
    expected = {"id": "F10", "size": 2, "is": ("wet",), "when": After(after="p1"), "box": (1, 2.5)}
    assert pack == Pack(steps=[Walk(verb="walk", target="a")], **expected)


def test_validators_words_keep_names() -> None:
    assert str(problems("id: F11")) == "f:1:5: S105 id: F11 is retired"
    assert str(problems("id: F12")) == "f:1:5: S105 id: F12 is not a task"


def test_top_level_missing_field() -> None:
    assert str(problems("ticks: 1")).startswith("f:1:1: S102 missing field 'id'\n")


def test_every_mismatch_at_once_and_sorted() -> None:
    text = "ticks: 0\nid: 5\ngoal: {scor: state, achieve: [{id: a}]}\nwhen: {afterr: x}\n"
    assert [(p.pos, p.code) for p in problems(text).problems] == [
        ((1, 8), "S105"), ((2, 5), "S103"), ((3, 8), "S101"), ((3, 31), "S102"), ((4, 7), "S102"), ((4, 8), "S101"),
    ]  # fmt: skip


def test_base_checks_a_part() -> None:
    text = "a:\n  - goal: {score: state}\n  - goal: {scor: state}\n"
    assert check(read_text(text, "f"), Goal, ("a", 0, "goal")) == Goal(score="state")
    error = problems(text, ("a", 1, "goal"), Goal)
    assert str(error) == "f:3:12: S101 a[2].goal: unknown field 'scor'\n    hint: did you mean `score`?"


@pytest.mark.parametrize(
    ("loc", "expected"),
    [
        (("goal",), ["achieve", "score"]),
        (("goal", "achieve", 3), ["id", "needs", "that"]),
        (("steps", 0), ["container", "item", "target", "verb"]),
        (("steps", 0, "walk"), ["target", "verb"]),
        (("when", "After"), ["after", "window"]),
        (("walks", "go"), ["target", "verb"]),
        (("box", 0), []),
        (("id", "x"), []),
    ],
)
def test_field_names(loc: tuple[str | int, ...], expected: list[str]) -> None:
    assert fields.names(Pack, loc) == expected


LEAVES = st.sampled_from(["walk", "put_in", "handoff", "x", 0, 5, 1.5, True, None])
KEYS = st.sampled_from(
    ["id", "goal", "achieve", "that", "all", "opend", "steps", "verb", "item", "after", "when", "zz"]
)
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))


@given(st.dictionaries(st.sampled_from([*Pack.model_fields, "is", "zz"]), TREES))
def test_no_data_breaks_it(tree: dict[str, Any]) -> None:
    text = json.dumps(tree, indent=1)
    if tree:
        try:
            check(read_text(text, "f"), Pack)
        except Problems as error:
            assert error.problems
            lines = text.split("\n")
            assert all(p.pos.col <= len(lines[p.pos.line - 1]) for p in error.problems)
