"""What the rules human makes of what people say: totals over two files of utterances, and spoken corrections."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwkit.grammar import parse
from iwkit_runtime.english.clauses import understand
from iwkit_runtime.english.corrections import corrected
from iwkit_runtime.english.order import at_place, place_in_row
from iwkit_runtime.english.phrases import phrase
from iwkit_runtime.loop.views import LegendEntry

ROOT = Path(__file__).parents[2]
KINDS = {"imperative", "polite", "pronoun", "side", "ordinal", "colour", "label", "steps", "negation", "correction"}
HEAP = "no|sorry|,|.|-|...|the|a|mug|red|one|take|put|it|on|in|wait|er|I mean|two|not|but".split("|")  # noqa: SIM905
KINDS |= {"irrelevant", "language", "indirect", "passive", "question"}


@pytest.fixture(scope="module")
def measure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("utterances", ROOT / "benchmarks" / "utterances.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def everything(measure: ModuleType) -> dict[str, list[Any]]:
    return {name: measure.measure(name) for name in measure.FILES}


@pytest.mark.parametrize(("name", "least"), [("tuned", 600), ("held_out", 300)])
def test_wrong_actions_are_rare_and_most_is_understood(
    measure: ModuleType, everything: dict[str, list[Any]], name: str, least: int
) -> None:
    taken = everything[name]
    assert len(taken) >= least
    assert measure.wrong_share(taken) <= 0.01
    assert measure.understood_share(taken) >= 0.85


@pytest.mark.parametrize("name", ["tuned", "held_out"])
def test_every_kind_is_there_and_every_reading_names_things_of_its_situation(measure: ModuleType, name: str) -> None:
    views = measure.load_situations()
    said = measure.load_utterances(name)
    kinds = Counter(u.kind for u in said)
    assert kinds.keys() == KINDS
    assert min(kinds.values()) >= 15
    for u in said:
        handles = {e.handle for e in views[u.where].legend}
        for command in (c for reading in u.readings for c in reading):
            assert {f"<{r.name}> ({r.index})" for r in command.args} <= handles, u.say


def test_no_utterance_is_in_both_files(measure: ModuleType) -> None:
    tuned, held_out = ({(u.where, u.say) for u in measure.load_utterances(name)} for name in ("tuned", "held_out"))
    assert not tuned & held_out


def test_the_page_says_the_totals_that_are_measured(measure: ModuleType, everything: dict[str, list[Any]]) -> None:
    page = (ROOT / "docs" / "rules-human.md").read_text("utf-8")
    for name, taken in everything.items():
        counts = Counter(t.outcome for t in taken)
        numbers = " | ".join(str(n) for n in (len(taken), *(counts[o] for o in measure.OUTCOMES)))
        assert f"| {name}, now | {numbers} |" in page


@pytest.mark.parametrize(
    ("commands", "outcome"),
    [
        (["[Grab] <mug> (2)"], "first part"),
        (["[Walk] <worktop> (1)", "[Grab] <mug> (2)", "[PutInside] <mug> (2) <sink> (1)"], "right"),
        (["[Walk] <fridge> (1)", "[Grab] <mug> (2)"], "wrong"),
        (["[Grab] <mug> (3)"], "wrong"),
        (["[Grab] <mug> (2)", "[Put] <mug> (2) <table> (1)"], "wrong"),
        (["[Grab] <mug> (2)", "[PutIn] <mug> (2) <sink> (1)", "[Open] <fridge> (1)"], "wrong"),
        ([], "asked"),
    ],
)
def test_a_command_that_no_reading_has_is_wrong(measure: ModuleType, commands: list[str], outcome: str) -> None:
    reading = (parse("[Grab] <mug> (2)"), parse("[PutIn] <mug> (2) <sink> (1)"))
    utterance = measure.Utterance("kitchen", "steps", "", (reading,))
    view = measure.load_situations()["kitchen"]
    assert measure.judge(utterance, [parse(c) for c in commands], view) == outcome


def test_acting_where_nothing_was_asked_for_is_wrong(measure: ModuleType) -> None:
    view = measure.load_situations()["kitchen"]
    nothing = measure.Utterance("kitchen", "irrelevant", "", ((),))
    assert measure.judge(nothing, [parse("[Walk] <sink> (1)")], view) == "wrong"
    assert measure.judge(nothing, [], view) == "right"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Take the red cup, no, the blue one.", "take the blue cup."),
        ("Turn the radio on - I mean off.", "turn the radio off."),
        ("Put it on the shelf. Sorry, in the box.", "put it in the box."),
        ("Open the left, no wait, the right door.", "open the right door."),
        ("Take the key for 3, ah, no, 5.", "take the key for 5."),
        ("Open the lid. No, take the cup.", "take the cup."),
        ("Take the cup - the glass, sorry.", "take the glass."),
        ("Don't take the red cup but the blue one.", "take the blue cup."),
        ("Put the lid in the left... in the right box.", "put the lid in the right box."),
    ],
)
def test_a_correction_leaves_what_was_meant(said: str, meant: str) -> None:
    assert corrected(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "No, put it back.",
        "Take the cup, no need to hurry.",
        "Take the cup. Sorry, I can't see it.",
        "The cup is blue, no, wait, it is green.",
        "Go to the door, wait for me, then open it.",
        "Take the cup and, uh, the plate.",
        "",
        "No. No. No.",
        "Open the lid... carefully now.",
    ],
)
def test_what_corrects_nothing_stays(said: str) -> None:
    assert corrected(said) == said


@given(st.lists(st.sampled_from(HEAP), max_size=14))
def test_no_heap_of_words_and_marks_is_too_much(said: list[str]) -> None:
    assert isinstance(understand(" ".join(said)), tuple)


def _row(*descriptions: str, bearings: tuple[str, ...] = ()) -> list[LegendEntry]:
    seen = bearings or ("ahead",) * len(descriptions)
    return [
        LegendEntry(f"<box> ({i})", ("box",), text, place=False, visible=True, bearing=bearing)
        for i, (text, bearing) in enumerate(zip(descriptions, seen, strict=True), start=1)
    ]


@pytest.mark.parametrize(
    ("said", "which"),
    [("the second box from the top", [2]), ("the first box from the bottom", [3]), ("the last box", [3])],
)
def test_ordinals_count_along_what_is_told(said: str, which: list[int]) -> None:
    found = place_in_row(phrase(said.split()))
    assert found is not None
    row = _row("the top box", "the middle box", "the bottom box")
    assert [e.handle for e in at_place(found[0], row)] == [f"<box> ({i})" for i in which]


def test_ordinals_count_by_what_is_seen_and_not_beyond_it() -> None:
    row = _row("the box", "the box", bearings=("on your right", "ahead"))
    second, third = (place_in_row(phrase(f"the {n} box from the left".split())) for n in ("second", "third"))
    assert second and [e.handle for e in at_place(second[0], row)] == ["<box> (1)"]
    assert third and at_place(third[0], row) == ()


def test_where_no_order_is_known_all_are_left() -> None:
    found = place_in_row(phrase(["the", "first", "box"]))
    assert found is not None
    assert len(at_place(found[0], _row("the box", "the box"))) == 2
