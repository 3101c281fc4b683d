"""The command grammar: the structured form, names, the prompt text and its page."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from commands import NAMES, commands, quick
from hypothesis import given
from hypothesis import strategies as st

from iwkit.errors import GrammarError
from iwkit.grammar import (
    GRAMMAR_CODES,
    MAX_LENGTH,
    Command,
    describe_grammar,
    normalise_name,
    parse,
    resolve,
)
from iwkit.structured import from_structured, to_structured
from iwkit.verbs import PRIMITIVES, SURFACE, Primitive

PAGE = Path(__file__).parents[1] / "docs" / "grammar.md"

# ------------------------------------------------------------------------------------------------------ structured form


@quick
@given(commands())
def test_structured_form_reads_back_as_the_same_command(command: Command) -> None:
    assert from_structured(to_structured(command)) == command


def test_structured_form_reads_as_the_text_does() -> None:
    given_form = {"verb": "putin", "args": ["Red Mug", "drawer"], "indices": [2, None], "place_spot": [-0.5, 1]}
    assert from_structured(given_form) == parse("[PutIn] <red_mug> (2) <drawer> @place_spot=-0.5:1")
    assert from_structured({"verb": "Forward", "scalar_arg": 2}) == parse("[Forward] 2")
    assert from_structured({"verb": "Forward", "scalar_arg": " 1.5 m "}) == parse("[Forward] 1.5m")
    assert from_structured({"verb": "Wait", "scalar_arg": 0.1, "indices": None}) == parse("[Wait] 0.1")


def test_structured_form_leaves_defaults_out() -> None:
    assert to_structured(parse("[Grab] <mug> (1)")) == {"verb": "Grab", "args": ["mug"]}
    assert to_structured(parse("[Forward] 2")) == {"verb": "Forward", "args": [], "scalar_arg": "1.2m"}
    assert to_structured(parse("[Wait] 5s")) == {"verb": "Wait", "args": [], "scalar_arg": 5.0}
    assert to_structured(parse("[Install] <a> <b> <c> <d> (1)")) == {
        "verb": "Install",
        "args": ["a", "b", "c", "d"],
        "indices": [1, 0, 1, 1],
    }


STRUCTURED_REFUSED = [
    ("C315", {}, ""),
    ("C315", {"verb": 3}, ""),
    ("C315", {"verb": "Grab", "arg": ["mug"]}, "args"),
    ("C315", {"verb": "Grab", "args": "mug"}, ""),
    ("C315", {"verb": "Grab", "args": [1]}, ""),
    ("C315", {"verb": "Grab", "args": ["mug"], "indices": []}, "null"),
    ("C315", {"verb": "Grab", "args": ["mug"], "indices": [1, 2]}, "null"),
    ("C315", {"verb": "Put", "args": ["a", "b"], "place_spot": "0:0"}, ""),
    ("C315", {"verb": "Put", "args": ["a", "b"], "place_spot": [0]}, "[u, v]"),
    ("C315", {"verb": "Put", "args": ["a", "b"], "place_spot": [0, True]}, ""),
    ("C315", {"verb": "Wait", "scalar_arg": True}, ""),
    ("C315", {"verb": "Wait", "scalar_arg": [5]}, ""),
    ("C301", {"verb": "Walk] <a> [Grab"}, ""),
    ("C304", {"verb": "Grab", "args": ["mug"], "indices": ["2"]}, "9999"),
    ("C304", {"verb": "Grab", "args": ["mug"], "indices": [True]}, "9999"),
    ("C304", {"verb": "Grab", "args": ["mug"], "indices": [10**5000]}, "9999"),
    ("C304", {"verb": "Grab", "args": ["mug"], "indices": [0]}, "from 1"),
    ("C305", {"verb": "Wait", "scalar_arg": "5 <mug>"}, "unit"),
    ("C305", {"verb": "Wait", "scalar_arg": "5m"}, "seconds"),
    ("C306", {"verb": "Wait", "scalar_arg": math.nan}, "finite"),
    ("C306", {"verb": "Wait", "scalar_arg": 10**5000}, "finite"),
    ("C306", {"verb": "Put", "args": ["a", "b"], "place_spot": [math.inf, 0]}, "finite"),
    ("C311", {"verb": "Grab", "args": ["mug> <cup"]}, "a to z"),
    ("C312", {"verb": "Grab", "args": ["mug"] * 500}, str(MAX_LENGTH)),
    ("C313", {"verb": "Grab", "args": ["mug"], "scalar_arg": 2}, "parentheses"),
]


@pytest.mark.parametrize(("code", "form", "hint"), STRUCTURED_REFUSED)
def test_structured_form_refused(code: str, form: dict[str, object], hint: str) -> None:
    with pytest.raises(GrammarError) as caught:
        from_structured(form)
    assert caught.value.code == code
    assert hint in caught.value.hint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), st.lists, max_leaves=6
)
FORM_FIELDS = st.sampled_from(["verb", "args", "indices", "scalar_arg", "place_spot"])


@quick
@given(st.dictionaries(FORM_FIELDS, JSON | st.sampled_from(["Put", "Wait", "Grab"]), max_size=5))
def test_any_structured_form_is_read_or_refused(form: dict[str, object]) -> None:
    try:
        command = from_structured(form)
    except GrammarError as error:
        assert error.code in GRAMMAR_CODES
    else:
        assert from_structured(to_structured(command)) == command


# ---------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("text", "name"),
    [("Red Mug", "red_mug"), ("red-mug", "red_mug"), ("__red - _mug ", "red_mug"), ("2nd\tCup", "2nd_cup")],
)
def test_names_become_lower_snake(text: str, name: str) -> None:
    assert normalise_name(text) == name


@quick
@given(NAMES)
def test_normalising_a_normal_name_changes_nothing(name: str) -> None:
    assert normalise_name(name) == name


def test_resolve_takes_the_exact_key_before_a_like_one() -> None:
    assert resolve("Mug", ["mug", "Mug"]) == "Mug"
    assert resolve("Red Mug", ["RED_MUG", "red_mug"]) == "red_mug"
    assert resolve("RED_mug", ["Red_Mug", "cup"]) == "Red_Mug"


def test_resolve_asks_the_describer_only_when_no_key_fits() -> None:
    def never(_: str) -> list[str]:
        raise AssertionError("asked")

    assert resolve("mug", ["mug"], never) == "mug"
    assert resolve("the blue one", ["mug", "cup"], lambda _: ["cup", "cup", "not here"]) == "cup"


@pytest.mark.parametrize(
    ("code", "name", "described", "hint"),
    [
        ("C316", "mugg", None, "mug"),
        ("C316", "elephant", None, ""),
        ("C316", "the blue one", [], ""),
        ("C316", "the blue one", ["not here"], ""),
        ("C317", "the blue one", ["mug", "cup"], "cup, mug"),
        ("C317", "BIN", None, "Bin, bIN"),
    ],
)
def test_resolve_refuses_none_and_several(code: str, name: str, described: list[str] | None, hint: str) -> None:
    with pytest.raises(GrammarError) as caught:
        resolve(name, ["mug", "cup", "Bin", "bIN"], None if described is None else lambda _: described)
    assert caught.value.code == code
    assert hint in caught.value.hint


# ------------------------------------------------------------------------------------------------- prompt text and page


def test_prompt_text_shows_every_verb_by_default_and_only_those_asked_for() -> None:
    everything = describe_grammar()
    assert all(f"[{verb}]" in everything for _, verb in SURFACE.values())
    some = describe_grammar(["wait", "Grab", "TurnAround"])
    assert re.findall(r"^- \[(\w+)\]", some, re.M) == ["TurnAround", "Grab", "Wait"]
    assert "place_spot" not in some
    assert "place_spot" in describe_grammar(["Put"])
    assert "Connectors" in describe_grammar(["Attach"])
    assert parse("[Put] <a> <b>").verb == "Put"


def test_prompt_text_gives_numbers_only_to_the_verbs_that_take_one() -> None:
    lines = describe_grammar(["TurnLeft", "TurnAround"]).splitlines()
    assert "- [TurnAround]" in lines
    assert any(line.startswith("- [TurnLeft], optional angle") and "360" in line for line in lines)


def test_prompt_text_refuses_an_unknown_verb() -> None:
    with pytest.raises(GrammarError, match="C301"):
        describe_grammar(["Fly"])


def test_each_line_of_the_prompt_text_is_a_command_that_parses() -> None:
    lines = [line for line in describe_grammar().splitlines() if line.startswith("- ")]
    read = set()
    for line in lines:
        head = line[2:].split(",")[0].replace("optional ", "")
        verbs, args = re.findall(r"\[(\w+)\]", head), " ".join(re.findall(r"<\w+>", head))
        read |= {parse(f"[{verb}] {args}").verb for verb in verbs}
    assert read == {verb for _, verb in SURFACE.values()}


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


@pytest.mark.parametrize("row", PRIMITIVES, ids=lambda row: row.name)
def test_the_page_lists_every_primitive_with_its_verbs_and_arguments(page: str, row: Primitive) -> None:
    (line,) = re.findall(rf"^\| {row.name} \|.*$", page, re.M)
    _, _, verbs, args, _ = map(str.strip, line.split("|", 4))
    assert re.findall(r"\[(\w+)\]", verbs) == list(row.verbs)
    assert re.findall(r"<(\w+)>", args) == list(row.args)
    assert ("@place_spot" in args) == row.spot
    if row.scalar:
        assert f"{row.scalar.default:g} {row.scalar.unit}" in args


def test_the_page_has_every_code_with_an_example_that_raises_it(page: str) -> None:
    rows = re.findall(r"^\| (C3\d\d) \| ([^|]+) \| (.+) \|$", page, re.M)
    assert {code: meaning for code, meaning, _ in rows} == GRAMMAR_CODES
    for code, _, example in rows:
        if command := re.fullmatch(r"`(.*)`", example):
            with pytest.raises(GrammarError, match=code):
                parse(command[1].replace("↵", "\n"))
    assert sum(example.startswith("`") for *_, example in rows) >= 13
