"""The command grammar: reading, refusing, rendering."""

from __future__ import annotations

import math
import re

import pytest
from commands import commands, quick
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.commandrules import MAX_NAME
from iwkit.errors import GrammarError
from iwkit.grammar import (
    GRAMMAR_CODES,
    MAX_LENGTH,
    Command,
    Ref,
    parse,
    parse_block,
    render,
    split,
)
from iwkit.structured import from_structured
from iwkit.verbs import PACE, SURFACE, Primitive

# ------------------------------------------------------------------------------------------------------- legal commands


@quick
@given(commands())
def test_rendering_reads_back_as_the_same_command(command: Command) -> None:
    assert parse(render(command)) == command


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
