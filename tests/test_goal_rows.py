"""Rows decided by hand from the page of the goal language: two evaluators can share a mistake."""

from __future__ import annotations

from typing import Any

import naive_goals as naive
import pytest
from goal_comparison import compare_label, compare_score, vocabulary, windows

from iwkit.goals.evaluate import judge
from iwkit.goals.syntax import parse_condition
from iwkit.trace import Event, State, Step, Trace


def step(*kinds: str, state: State = frozenset(), at: int = 0) -> Step:
    return Step(tuple(Event(at + i, kind, {"object": "cup"}) for i, kind in enumerate(kinds)), state)


def command(do: str) -> Step:
    return Step((Event(0, "commanded", {"do": do, "by": "assistant", "result": "ok"}),), frozenset())


ON, ON_BOTH = frozenset({("on", "cup", "table")}), frozenset({("on", "cup", "table"), ("on", "mug_2", "table")})
PILED, MIXED = ON | {("on", "cup", "mug_2")}, frozenset({("received", "cup", "vodka", "juice")})
GRABBED, OPENED, ON_TABLE = {"grabbed": "cup"}, {"opened": "any"}, {"on": ["cup", "table"]}
A_MUG, PLAIN = {"category": "mug"}, {"that": {"on": [{"category": "mug"}, "table"]}}
CLOSED = {"closed": "any"}
WINDOWS = (
    {"id": "w", "opens": OPENED, "closes": CLOSED},
    {"id": "v", "opens": OPENED, "closes": OPENED},
    {"id": "stowed", "opens": {"after": "o1"}},
)


@pytest.mark.parametrize(
    ("data", "steps", "expected"),
    [
        ({"before": [GRABBED, OPENED]}, [step("grabbed", "opened")], True),
        ({"before": [GRABBED, OPENED]}, [step("opened", "grabbed")], False),
        ({"before": [GRABBED, OPENED]}, [], False),
        ({"before": [GRABBED, GRABBED]}, [step("grabbed")], True),
        ({"before": [{"becomes": ON_TABLE}, GRABBED]}, [step("grabbed", state=ON)], False),
        ({"before": [GRABBED, {"becomes": ON_TABLE}]}, [step("grabbed", state=ON)], True),
        ({"sequence": [GRABBED, GRABBED]}, [step("grabbed")], False),
        ({"sequence": [GRABBED, OPENED]}, [step("grabbed"), step("opened", at=1)], True),
        ({"multiset": [OPENED, GRABBED]}, [step("grabbed", "opened")], True),
        ({"multiset": [GRABBED, GRABBED]}, [step("grabbed")], False),
        ({"multiset": [{"becomes": ON_TABLE}, {"becomes": {"on": ["mug_2", "table"]}}]}, [step(state=ON_BOTH)], True),
        ({"sequence": [{"becomes": ON_TABLE}, {"becomes": {"on": ["mug_2", "table"]}}]}, [step(state=ON_BOTH)], False),
        ({"until": [{"not": ON_TABLE}, OPENED]}, [step("opened", state=ON)], True),
        ({"until": [{"not": ON_TABLE}, OPENED]}, [step(state=ON), step("opened")], False),
        ({"until": [ON_TABLE, OPENED]}, [step("opened", state=ON)], False),
        ({"within": {"that": GRABBED, "until": OPENED}}, [step("opened", "grabbed")], False),
        ({"within": {"that": GRABBED, "after": OPENED}}, [step("opened", "grabbed")], True),
        ({"within": {"that": GRABBED, "after": OPENED}}, [step("grabbed")], False),
        ({"within": {"that": OPENED, "after": GRABBED, "until": OPENED}}, [step("grabbed", "opened")], False),
        ({"within": {"that": OPENED, "window": "w"}}, [step("opened")], True),
        ({"within": {"that": {"closed": "cup"}, "window": "w"}}, [step("opened", "closed")], True),
        ({"within": {"that": GRABBED, "window": "w"}}, [step("opened", "closed", "grabbed")], False),
        ({"within": {"that": GRABBED, "window": "w"}}, [step("opened", "closed", "opened", "grabbed")], False),
        ({"within": {"that": GRABBED, "window": "v"}}, [step("opened", "grabbed")], True),
        ({"within": {"that": GRABBED, "after": OPENED, "until": CLOSED}}, [step("closed", "opened", "grabbed")], True),
        ({"within": {"that": GRABBED, "window": "w"}}, [step("opened", "closed", "grabbed", "closed")], False),
        ({"not": {"within": {"that": GRABBED, "window": "nowhere"}}}, [], False),
        ({"happened": {"closed": {"during": "w"}}}, [step("opened", "closed")], True),
        ({"happened": {"grabbed": {"outside": "w"}}}, [step("opened", "grabbed")], False),
        ({"count": {**PLAIN, "is": 1}}, [step(state=ON)], True),
        ({"count": {**PLAIN, "at_least": 2}}, [step(state=ON)], False),
        ({"count": {**PLAIN, "at_most": 1}}, [step(state=ON_BOTH)], False),
        ({"exactly": {"on": "table", "are": [A_MUG]}}, [step(state=ON)], True),
        ({"exactly": {"on": "table", "are": [A_MUG]}}, [step(state=ON_BOTH)], False),
        ({"exactly": {"on": "table", "are": [A_MUG, A_MUG]}}, [step(state=ON)], False),
        ({"exactly": {"on": "table", "are": [A_MUG, "cup"]}}, [step(state=ON_BOTH)], True),
        ({"exactly": {"on": "table", "are": ["cup"], "among": ["cup"]}}, [step(state=ON_BOTH)], True),
        ({"exactly": {"on": "table", "are": ["mug_2"]}}, [step(state=ON)], False),
        ({"partition": {"by": "on", "into": {"table": ["cup"]}, "of": ["cup", "mug_2"]}}, [step(state=ON)], False),
        (
            {"partition": {"by": "on", "into": {"table": ["cup"], "mug_2": ["cup"]}, "of": ["cup"]}},
            [step(state=PILED)],
            False,
        ),
        ({"received": ["cup", ["vodka", "juice"]]}, [step(state=MIXED)], True),
        ({"received": ["cup", ["vodka"]]}, [step(state=MIXED)], False),
        ({"match": {"each": ["cup", "mug_2"], "by": "on", "to": ["table", "cup"]}}, [step(state=ON_BOTH)], False),
        ({"not": {"on": [A_MUG, "table"]}}, [step(state=ON)], False),
        ({"happened": {"commanded": {"do": "[open]  <cup> (1)"}}}, [command("[Open] <cup>")], True),
        ({"happened": {"commanded": {"do": "[Open] <cup> (2)"}}}, [command("[Open] <cup>")], False),
        ({"happened": {"commanded": {"do": "[TurnLeft]"}}}, [command("[TurnRight]")], False),
        ({"happened": {"commanded": {"do": "[Open]"}}}, [command("[Open] <cup> (2)")], True),
        (
            {"happened": {"commanded": {"do": "[PutOn] <cup> <table>"}}},
            [command("[Put] <cup> <table> @place_spot=0:0")],
            True,
        ),
        (
            {"happened": {"commanded": {"do": "[Put] <cup> <table> @place_spot=0:0"}}},
            [command("[Put] <cup> <table>")],
            False,
        ),
    ],
)
def test_rows_of_the_page(data: Any, steps: list[Step], expected: bool) -> None:
    agree_with_hand(data, Trace(frozenset(), tuple(steps), 0, frozenset()), expected)


def agree_with_hand(data: Any, trace: Trace, expected: bool) -> None:
    pack = naive.Pack({"cup": "mug", "mug_2": "mug", "table": "table"}, frozenset({"cup", "mug_2"}), WINDOWS)
    assert naive.holds(data, trace, pack, "goal") is expected
    assert judge(parse_condition(data), trace, vocabulary(pack), windows(pack), "interaction").ok is expected


AT_HANDOFF = frozenset({("at_baseline", "cup")})


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"happened": {"after": "o1"}}, False),
        ({"within": {"that": GRABBED, "window": "stowed"}}, True),
        ({"within": {"that": GRABBED, "window": "w"}}, False),
        ({"happened": {"becomes": {"at_baseline": "cup"}}}, False),
        ({"until": [{"at_baseline": "cup"}, OPENED]}, True),
    ],
)
def test_rows_with_an_opening(data: Any, expected: bool) -> None:
    """A step of the opening may open a window, another event of it may not; effort there earns nothing."""
    opening = Step((Event(0, "opened", {"object": "cup"}), Event(1, "after", {"step": "o1"})), frozenset())
    agree_with_hand(
        data, Trace(frozenset(), (opening, step("grabbed", state=AT_HANDOFF, at=2)), 1, AT_HANDOFF), expected
    )


@pytest.mark.parametrize(
    ("kinds", "limits", "expected"),
    [
        (("opened", "closed", "grabbed"), {"opens": "handoff"}, "clean_pass"),
        (("closed", "opened"), {"opens": "handoff"}, "wrong"),
        (("opened", "closed"), {"opens": CLOSED}, "wrong"),
        (("flipped",), {"opens": {"after": "o1"}}, "unobserved"),
        (("opened",), {"opens": CLOSED}, "unobserved"),
        (("closed", "opened"), {"opens": "handoff", "closes": CLOSED}, "wrong"),
    ],
)
def test_rows_of_labels(kinds: tuple[str, ...], limits: Any, expected: str) -> None:
    """Passed by opening or grabbing, failed by closing; the cup is opened in the opening too, which does not count."""
    opening = Step((Event(0, "after", {"step": "o1"}), Event(1, "opened", {"object": "cup"})), frozenset())
    trace = Trace(frozenset(), (opening, step(*kinds, at=2)), 1, frozenset())
    atom = {"id": "a", "capability": "C1", **limits, "pass": [GRABBED, OPENED], "wrong": CLOSED}
    pack = naive.Pack({"cup": "mug"}, frozenset({"cup"}))
    assert naive.label(atom, trace, pack, void=False) == expected
    compare_label((atom, trace, pack, False))


def test_what_cannot_be_judged_earns_nothing() -> None:
    goal = {"score": "state", "achieve": [{"id": "a", "that": {"not": {"within": {"that": OPENED, "window": "none"}}}}]}
    trace, pack = Trace(frozenset(), (), 0, frozenset()), naive.Pack({"cup": "mug"}, frozenset())
    assert (naive.completion(goal, trace, pack), naive.passed(goal, trace, pack)) == (0.0, False)
    compare_score((goal, trace, pack))
