"""The command grammar: reading, refusing, rendering, the structured form, names, the prompt text and its page."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.commandrules import MAX_INDEX, MAX_NAME
from iwkit.errors import GrammarError
from iwkit.grammar import (
    GRAMMAR_CODES,
    MAX_LENGTH,
    Command,
    Ref,
    describe_grammar,
    normalise_name,
    parse,
    parse_block,
    render,
    resolve,
    split,
)
from iwkit.structured import from_structured, to_structured
from iwkit.verbs import PACE, PRIMITIVES, SURFACE, Primitive

PAGE = Path(__file__).parents[1] / "docs" / "grammar.md"
quick = settings(max_examples=100, deadline=None)

# ------------------------------------------------------------------------------------------------------- legal commands

NAMES = st.from_regex(r"[a-z0-9]{1,6}(_[a-z0-9]{1,6}){0,3}", fullmatch=True)


def _numbers(row: Primitive, verb: str) -> st.SearchStrategy[float | None]:
    scalar = row.scalar
    if scalar is None:
        return st.none()
    if row.scalar_verbs is not None and verb not in row.scalar_verbs:
        return st.just(180.0)
    if scalar.whole:
        return st.integers(int(scalar.low), int(scalar.high)).map(float)
    return st.floats(scalar.low, scalar.high, exclude_min=scalar.low_open)


@st.composite
def commands(draw: st.DrawFn) -> Command:
    row, verb = draw(st.sampled_from(list(SURFACE.values())))
    count = draw(st.integers(len(row.args) - row.optional, len(row.args)))
    low = [0 if position in row.connectors else 1 for position in range(count)]
    refs = tuple(Ref(draw(NAMES), draw(st.integers(first, MAX_INDEX))) for first in low)
    spot = draw(st.none() | st.tuples(st.floats(-1, 1), st.floats(0, 1))) if row.spot else None
    return Command(row.name, verb, refs, draw(_numbers(row, verb)), spot)


@quick
@given(commands())
def test_rendering_reads_back_as_the_same_command(command: Command) -> None:
    assert parse(render(command)) == command


@quick
@given(commands())
def test_structured_form_reads_back_as_the_same_command(command: Command) -> None:
    assert from_structured(to_structured(command)) == command


@quick
@given(commands())
def test_canonical_text_is_a_fixed_point_and_has_no_exponent(command: Command) -> None:
    text = render(command)
    assert render(parse(text)) == text
    assert len(text) <= MAX_LENGTH
    assert not re.search(r"[0-9]e[-+0-9]", re.sub(r"<[^>]*>", "", text))


@quick
@given(st.lists(commands(), max_size=5), st.sampled_from(["\n", "\r\n", "\r", ", ", ",\n", "\n\n  \n", " , "]))
def test_a_block_is_its_commands_and_offsets_point_at_them(some: list[Command], between: str) -> None:
    text = between.join(map(render, some))
    assert parse_block(text) == some
    pieces = split(text)
    assert [piece for _, piece in pieces] == [render(c) for c in some]
    assert all(text.startswith(piece, at) for at, piece in pieces)


@pytest.mark.parametrize(("row", "verb"), SURFACE.values(), ids=[verb for _, verb in SURFACE.values()])
def test_every_surface_verb_in_any_case_reads_as_its_primitive(row: Primitive, verb: str) -> None:
    refs = " ".join(f"<{arg}>" for arg in row.args)
    for spelling in (verb, verb.lower(), verb.upper(), re.sub(r"(?<=[a-z])(?=[A-Z])", "_", verb)):
        command = parse(f"[{spelling}] {refs}")
        assert (command.primitive, command.verb) == (row.name, verb)
        assert [ref.name for ref in command.args] == list(row.args)
        assert [ref.index for ref in command.args] == [0 if n in row.connectors else 1 for n in range(len(row.args))]


def test_the_example_of_the_paper() -> None:
    text = "[Walk] <red_mug> (2)\n[Grab] <red_mug> (2)\n[PutIn] <red_mug> (2) <drawer> (1)"
    mug = Ref("red_mug", 2)
    assert parse_block(text) == [
        Command("navigate_to", "Walk", (mug,)),
        Command("pick", "Grab", (mug,)),
        Command("place_inside", "PutIn", (mug, Ref("drawer"))),
    ]


@pytest.mark.parametrize(
    ("text", "scalar", "canonical"),
    [
        ("[Forward]", 0.6, "[Forward]"),
        ("[Forward] 1", 0.6, "[Forward]"),
        ("[Forward] 2", 1.2, "[Forward] 1.2m"),
        ("[Forward] 3", 1.8, "[Forward] 1.8m"),
        ("[WalkForward] 1.5m", 1.5, "[WalkForward] 1.5m"),
        ("[Forward] 1.5 M", 1.5, "[Forward] 1.5m"),
        ("[Forward] 20m", 20.0, "[Forward] 20m"),
        ("[Forward] 33", 19.8, "[Forward] 19.8m"),
        ("[TurnLeft]", 90.0, "[TurnLeft]"),
        ("[TurnLeft] 45", 45.0, "[TurnLeft] 45"),
        ("[TurnRight] 360 deg", 360.0, "[TurnRight] 360"),
        ("[TurnRight] .5°", 0.5, "[TurnRight] 0.5"),
        ("[TurnAround]", 180.0, "[TurnAround]"),
        ("[Wait]", 3.0, "[Wait]"),
        ("[Wait] 0.1", 0.1, "[Wait] 0.1"),
        ("[Wait] 5 s", 5.0, "[Wait] 5"),
        ("[Wait] 600s", 600.0, "[Wait] 600"),
        ("[Attach] <leg> <plug> <top> <socket>", 0.0, "[Attach] <leg> <plug> <top> <socket>"),
        ("[Attach] <leg> <plug> <top> <socket> (2) -15", -15.0, "[Attach] <leg> <plug> <top> <socket> (2) -15"),
        ("[Attach] <leg> <plug> <top> <socket> 15.0°", 15.0, "[Attach] <leg> <plug> <top> <socket> 15"),
        ("[Grab] <mug>", None, "[Grab] <mug>"),
    ],
)
def test_numbers_units_and_defaults(text: str, scalar: float | None, canonical: str) -> None:
    command = parse(text)
    assert command.scalar == scalar
    assert render(command) == canonical


def test_one_pace_is_the_default_distance() -> None:
    assert parse("[Forward]").scalar == parse("[Forward] 1").scalar == PACE


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("  [ walk ]<Red   Mug>( 2 )  ", "[Walk] <red_mug> (2)"),
        ("[put-in] <a> (1) <b> (1) <Upper Shelf> (0)", "[PutIn] <a> <b> <upper_shelf>"),
        ("[Insert] <a> <b> <c> (1)", "[Insert] <a> <b> <c> (1)"),
        ("[Put] <a> <b> @PLACE_SPOT=-0.50:.25", "[Put] <a> <b> @place_spot=-0.5:0.25"),
        ("[PutOnFloor] <a> <b> (2) @place_spot=-0:1", "[PutOnFloor] <a> <b> (2) @place_spot=0:1"),
        ("[Drop]", "[Drop]"),
        ("[Release] <mug>", "[Release] <mug>"),
        ("[Confirm],", "[Confirm]"),
        ("[Walk] <mug> (02)", "[Walk] <mug> (2)"),
    ],
)
def test_tolerant_in_form(text: str, canonical: str) -> None:
    assert render(parse(text)) == canonical


def test_splitting_respects_every_kind_of_bracket() -> None:
    text = "[a, b] <c, d> (e, f), [g]\n\n [h],[i]"
    assert split(text) == [(0, "[a, b] <c, d> (e, f)"), (22, "[g]"), (28, "[h],[i]")]


def test_a_blank_block_has_no_commands() -> None:
    assert parse_block(" \n\t\r\n ") == []


# ------------------------------------------------------------------------------------------------------------- refusals

REFUSED = [
    ("C301", 0, "[Grb] <mug>", "[Grab]"),
    ("C301", 0, "[pick] <mug>", "[Grab]"),
    ("C301", 0, "[place_on_floor] <mug> <bed>", "PutOnFloor"),
    ("C301", 0, "[\u212alk] <mug>", ""),
    ("C301", 0, "[Wal\u212a] <mug>", "[Walk]"),
    ("C301", 0, "[] <mug>", ""),
    ("C302", 0, "Walk <mug>", "[Walk] <table>"),
    ("C302", 1, " <mug> [Walk]", "[Walk] <table>"),
    ("C302", 0, "[Walk <mug>", "']'"),
    ("C302", 7, "[Walk] <mug", "'>'"),
    ("C302", 7, "[Walk] <mug\n[Grab] <cup>", "'>'"),
    ("C302", 7, "[Walk] <red\nmug>", "'>'"),
    ("C302", 7, "[Walk] <<mug>>", "'>'"),
    ("C302", 7, "[Walk] <mug (2)>", "'>'"),
    ("C302", 13, "[Walk] <mug> (2", "')'"),
    ("C302", 10, "[Walk] mug>", "pairs"),
    ("C303", 6, "[Grab]", "<object>"),
    ("C303", 13, "[PutIn] <mug>", "<object> <container> optional <region>"),
    ("C303", 13, "[Grab] <mug> <cup>", "<object>"),
    ("C303", 13, "[LookAround] <mug>", "no entity"),
    ("C303", 27, "[Attach] <leg> <plug> <top> ", "<parent_connector>"),
    ("C304", 13, "[Walk] <mug> (0)", "from 1"),
    ("C304", 13, "[Walk] <mug> (-1)", "whole number"),
    ("C304", 13, "[Walk] <mug> (1.2)", "whole number"),
    ("C304", 13, "[Walk] <mug> (\u0662)", "whole number"),
    ("C304", 13, "[Walk] <mug> (99999)", "9999"),
    ("C304", 13, "[Walk] <mug> ()", "whole number"),
    ("C304", 17, "[Walk] <mug> (1) (2)", "<entity_name>"),
    ("C304", 7, "[Walk] (2) <mug>", "<entity_name>"),
    ("C304", 13, "[TurnAround] (90)", "<entity_name>"),
    ("C305", 7, "[Wait] (5)", "[Wait] 5"),
    ("C305", 7, "[Wait] nan", "seconds"),
    ("C305", 7, "[Wait] inf", "seconds"),
    ("C305", 7, "[Wait] 5 min", "seconds"),
    ("C305", 7, "[Wait] 1e5", "seconds"),
    ("C305", 7, "[Wait] 5.", "seconds"),
    ("C305", 7, "[Wait] 1,5", "seconds"),
    ("C305", 7, "[Wait] \u0665", "seconds"),
    ("C305", 10, "[Forward] 2 feet", "paces"),
    ("C305", 10, "[Forward] 90deg", "paces"),
    ("C305", 30, "[Attach] <l> <p> <top> <sock> 1.5", "whole degrees"),
    ("C306", 10, "[Forward] 34", "20 m"),
    ("C306", 10, "[Forward] 20.001m", "20 m"),
    ("C306", 10, "[Forward] 0", "more than 0"),
    ("C306", 10, "[Forward] -1m", "more than 0"),
    ("C306", 11, "[TurnLeft] 0", "360 deg"),
    ("C306", 11, "[TurnLeft] 360.5", "360 deg"),
    ("C306", 7, "[Wait] 0.09", "0.1 to 600 s"),
    ("C306", 7, "[Wait] 601", "0.1 to 600 s"),
    ("C306", 7, "[Wait] " + "9" * 400, "0.1 to 600 s"),
    ("C306", 30, "[Attach] <l> <p> <top> <sock> 181", "-180 to 180 deg"),
    ("C306", 14, "[Put] <a> <b> @place_spot=1.1:0", "u from -1"),
    ("C306", 14, "[Put] <a> <b> @place_spot=0:-0.1", "v from 0"),
    ("C307", 13, "[Grab] <mug> @place_spot=0:0", "[Put]"),
    ("C308", 7, "[Walk] mug", "<mug>"),
    ("C308", 13, "[Walk] <mug> please", "newline"),
    ("C308", 12, "[Walk] <mug>,[Grab] <mug>", "newline"),
    ("C308", 9, "[Wait] 5 <mug>", "entities"),
    ("C308", 30, "[Put] <a> <b> @place_spot=0:0 <c>", "entities"),
    ("C308", 11, "[Attach] 5 <leg> <plug> <top> <socket>", "entities"),
    ("C308", 30, "[Put] <a> <b> @place_spot=0:0 now", "newline"),
    ("C309", 0, "", "[Verb]"),
    ("C309", 0, " \r\n , \t", "[Verb]"),
    ("C310", 14, "[Walk] <mug>, [Grab] <mug>", "one"),
    ("C310", 13, "[Walk] <mug>\n[Grab] <mug>", "one"),
    ("C310", 13, "[Walk] <mug> [Grab] <mug>", "one"),
    ("C311", 7, "[Walk] <caf\u00e9>", "a to z"),
    ("C311", 7, "[Walk] <mug.1>", "a to z"),
    ("C311", 7, "[Walk] <\u212a>", "a to z"),
    ("C311", 7, "[Walk] <a, b>", "a to z"),
    ("C311", 7, "[Walk] <>", "entity_name"),
    ("C311", 7, "[Walk] < _-_ >", "entity_name"),
    ("C311", 7, f"[Walk] <{'a' * (MAX_NAME + 1)}>", str(MAX_NAME)),
    ("C312", 1, " [Walk] <" + "a" * MAX_LENGTH + ">", str(MAX_LENGTH)),
    ("C313", 13, "[Grab] <mug> 2", "parentheses"),
    ("C313", 13, "[TurnAround] 90", "180 deg"),
    ("C313", 13, "[LookAround] 2", "leave it out"),
    ("C314", 14, "[Put] <a> <b> @spot=0:0", "@place_spot=u:v"),
    ("C314", 14, "[Put] <a> <b> @place_spot=0", "@place_spot=u:v"),
    ("C314", 14, "[Put] <a> <b> @place_spot=0:nan", "@place_spot=u:v"),
    ("C314", 14, "[Put] <a> <b> @place_spot = 0:0", "no spaces"),
    ("C314", 30, "[Put] <a> <b> @place_spot=0:0 @place_spot=0:0", "at most one"),
    ("C314", 14, "[Put] <a> <b> @", "@place_spot=u:v"),
]


@pytest.mark.parametrize(("code", "at", "text", "hint"), REFUSED, ids=[f"{r[0]} {r[2][:32]!r}" for r in REFUSED])
def test_refused_with_code_place_and_hint(code: str, at: int, text: str, hint: str) -> None:
    with pytest.raises(GrammarError) as caught:
        parse(text)
    assert caught.value.code == code
    assert hint in caught.value.hint
    assert caught.value.at == at
    assert len(str(caught.value)) < 300


def test_the_offset_of_a_bad_command_counts_from_the_start_of_the_block() -> None:
    with pytest.raises(GrammarError) as caught:
        parse_block("[Walk] <mug>\r\n  [Grb] <mug>")
    assert (caught.value.code, caught.value.at) == ("C301", 16)


def test_every_code_is_raised_by_some_case_here() -> None:
    elsewhere = {"C315", "C316", "C317"}  # the structured form and resolve, below
    assert {code for code, *_ in REFUSED} | elsewhere == set(GRAMMAR_CODES)


# Text that is mostly grammar, so that fuzzing gets past the first bracket.
PUNCTUATION = ["[", "]", "<", ">", "(", ")", ", ", ",", "\n", " ", "@", ":", "-", ".", "\u2028", "\x00", "\ud800"]
PIECES = [
    "[Walk]",
    "[Put]",
    "[Wait]",
    "[Attach]",
    "<mug>",
    "<a b>",
    "(1)",
    "@place_spot=",
    "0:1",
    "5",
    "1e9",
    "nan",
    "m",
]
SCRAPS = st.sampled_from(PUNCTUATION + PIECES)
FUZZ = st.text(max_size=60) | st.lists(SCRAPS | st.characters(), max_size=25).map("".join)


@settings(max_examples=300, deadline=None)
@given(FUZZ)
def test_any_text_is_read_or_refused_with_a_known_code_inside_it(text: str) -> None:
    for read in (parse, parse_block, split):
        try:
            read(text)
        except GrammarError as error:
            assert error.code in GRAMMAR_CODES
            assert 0 <= error.at <= len(text)


@quick
@given(FUZZ)
def test_what_is_read_renders_to_the_same_command(text: str) -> None:
    try:
        command = parse("[Put] <a> <b> " + text)
    except GrammarError:
        return
    assert parse(render(command)) == command


@pytest.mark.parametrize("unit", ["[", "<", "(", "5", " ", "5 ", "@", ".", "<a> ", "(1)", "-", "a ", "_", "\n", ", "])
def test_long_repetitions_are_settled_at_once(unit: str) -> None:
    """A backtracking pattern would take minutes on these; no time is asserted, the run would simply not end."""
    for text in (unit * 200_000 + "!", "[Wait] " + unit * 200_000 + "!", "[Wait] " + unit * 900 + "!"):
        with pytest.raises(GrammarError):
            parse(text)
    with pytest.raises(GrammarError):
        from_structured({"verb": "Wait", "scalar_arg": "5" * 200_000 + unit * 2 + " ! !"})


# ------------------------------------------------------------------------------------------- commands and refs by hand


@pytest.mark.parametrize(
    ("code", "make"),
    [
        ("C311", lambda: Ref("Red Mug")),
        ("C311", lambda: Ref("")),
        ("C311", lambda: Ref("a" * (MAX_NAME + 1))),
        ("C304", lambda: Ref("mug", -1)),
        ("C304", lambda: Ref("mug", 10**5000)),
        ("C301", lambda: Command("pick", "Put", (Ref("mug"),))),
        ("C301", lambda: Command("fly", "Grab", (Ref("mug"),))),
        ("C303", lambda: Command("pick", "Grab")),
        ("C304", lambda: Command("pick", "Grab", (Ref("mug", 0),))),
        ("C313", lambda: Command("pick", "Grab", (Ref("mug"),), 1.0)),
        ("C313", lambda: Command("wait", "Wait")),
        ("C313", lambda: Command("turn", "TurnAround", scalar=90.0)),
        ("C306", lambda: Command("wait", "Wait", scalar=math.nan)),
        ("C306", lambda: Command("wait", "Wait", scalar=math.inf)),
        ("C306", lambda: Command("forward", "Forward", scalar=0.0)),
        ("C307", lambda: Command("wait", "Wait", scalar=3.0, spot=(0.0, 0.0))),
        ("C306", lambda: Command("place", "Put", (Ref("a"), Ref("b")), spot=(math.nan, 0.0))),
    ],
)
def test_an_illegal_command_cannot_be_made(code: str, make: object) -> None:
    assert callable(make)
    with pytest.raises(GrammarError) as caught:
        make()
    assert caught.value.code == code


# ------------------------------------------------------------------------------------------------------ structured form


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
