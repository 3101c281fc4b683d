"""Hand-written traces, matching, and the judge as a whole."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwkit.goals.evaluate import Judge, judge
from iwkit.goals.syntax import GoalSyntaxError, parse_condition
from iwkit.goals.tracebook import load_trace
from iwkit.goals.truth import assign
from iwkit.goals.vocabulary import Entity, Vocabulary
from iwkit.spec.goal import Window


def test_a_trace_is_what_its_lines_say() -> None:
    trace = load_trace(
        {
            "initial": [["closed", "fridge"], ["received", "pot", "rice", "water"]],
            "opening": [
                {"events": [{"opened": "fridge"}], "add": [["open", "fridge"]], "remove": [["closed", "fridge"]]}
            ],
            "baseline": [["at_baseline", "cup"]],
            "steps": [
                {"events": [{"grabbed": {"from": "table", "object": "cup"}}, {"moved": "cup", "assisted": True}]},
                {
                    "events": [{"cycle_started": {"device": "washer", "contents": ["cup"]}}],
                    "remove": [["at_baseline", "cup"]],
                },
            ],
        }
    )
    pot, opened = ("received", "pot", "rice", "water"), ("open", "fridge")
    assert trace.initial == {("closed", "fridge"), pot}
    assert (trace.handoff, trace.opening[0].state) == (1, {opened, pot})
    assert trace.baseline == trace.steps[1].state == {opened, pot, ("at_baseline", "cup")}
    assert trace.end == {opened, pot}
    assert [(e.seq, e.kind, dict(e.roles), e.assisted) for e in trace.events()] == [
        (1, "opened", {"object": "fridge"}, False),
        (2, "grabbed", {"object": "cup", "from": "table"}, False),
        (3, "moved", {"object": "cup"}, True),
        (4, "cycle_started", {"device": "washer", "contents": ("cup",)}, False),
    ]
    assert load_trace({}) == load_trace({"initial": [], "steps": []})


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ([], ()),
        ({"step": []}, ()),
        ({"steps": {}}, ("steps",)),
        ({"steps": [{"event": []}]}, ("steps", 0)),
        ({"steps": [{"events": [{}]}]}, ("steps", 0, "events", 0)),
        ({"steps": [{"events": ["opened"]}]}, ("steps", 0, "events", 0)),
        ({"steps": [{"events": [{"opend": "fridge"}]}]}, ("steps", 0, "events", 0)),
        ({"steps": [{"events": [{"opened": "fridge", "closed": "fridge"}]}]}, ("steps", 0, "events", 0)),
        ({"steps": [{"events": [{"opened": "fridge", "assisted": 1}]}]}, ("steps", 0, "events", 0)),
        ({"steps": [{"events": [{"opened": {"objekt": "fridge"}}]}]}, ("steps", 0, "events", 0, "opened")),
        ({"steps": [{"events": [{"opened": 3}]}]}, ("steps", 0, "events", 0, "opened", "object")),
        ({"steps": [{"remove": [["open", "fridge"]]}]}, ("steps", 0, "remove")),
        ({"initial": ["open"]}, ("initial", 0)),
        ({"initial": [[]]}, ("initial", 0)),
        ({"initial": [["opne", "fridge"]]}, ("initial", 0)),
        ({"initial": [["on", "cup"]]}, ("initial", 0)),
        ({"initial": [["received", "pot"]]}, ("initial", 0)),
        ({"baseline": [["open", 1]]}, ("baseline", 0, 1)),
    ],
)
def test_a_trace_in_another_form_is_refused(data: Any, path: tuple[Any, ...]) -> None:
    with pytest.raises(GoalSyntaxError) as caught:
        load_trace(data)
    assert (caught.value.code, caught.value.path) == ("G540", path)


@given(st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=5))
def test_matching_agrees_with_trying_everything(options: list[list[int]]) -> None:
    chosen = assign(options)
    possible = any(len(set(choice)) == len(choice) for choice in itertools.product(*options))
    assert (chosen is not None) == possible
    if chosen is not None:
        assert len(set(chosen)) == len(options)
        assert all(value in option for value, option in zip(chosen, options, strict=True))


VOCABULARY = Vocabulary({"cup": Entity("cup", "mug", frozenset({"movable"}))}, frozenset({"v", "w"}))


def test_a_window_that_depends_on_itself_is_never_open() -> None:
    windows = [
        Window.model_validate({"id": "v", "opens": {"said": {"during": "w"}}}),
        Window.model_validate({"id": "w", "opens": "handoff", "closes": {"said": {"outside": "v"}}}),
    ]
    trace = load_trace({"steps": [{"events": [{"said": "assistant"}]}]})
    verdict = judge(parse_condition({"never": {"said": {"during": "v"}}}), trace, VOCABULARY, windows, "interaction")
    assert (verdict.ok, verdict.why) == (False, "it cannot be judged: the window v depends on itself")
    assert Judge(trace, VOCABULARY, windows).window("w") is None


def test_conditions_at_the_handoff_see_an_empty_interaction() -> None:
    trace = load_trace(
        {"initial": [["held", "cup"]], "steps": [{"events": [{"moved": "cup"}], "remove": [["held", "cup"]]}]}
    )
    held, moved = parse_condition({"held": "cup"}), parse_condition({"happened": {"moved": "cup"}})

    def verdicts(judged: Any) -> list[bool]:
        return [judge(c, judged, VOCABULARY, [], "interaction").ok for c in (held, moved)]

    assert verdicts(trace) == [False, True]
    assert verdicts(trace.at_handoff()) == [True, False]


def test_events_are_ordered_within_a_step_and_across_steps() -> None:
    trace = load_trace({"steps": [{"events": [{"moved": "cup"}, {"said": "wearer"}]}, {"events": [{"moved": "cup"}]}]})
    said_between = parse_condition({"sequence": [{"moved": "cup"}, {"said": "wearer"}, {"moved": "cup"}]})
    twice_before = parse_condition({"sequence": [{"moved": "cup"}, {"moved": "cup"}, {"said": "wearer"}]})
    assert judge(said_between, trace, VOCABULARY, [], "interaction").ok
    assert not judge(twice_before, trace, VOCABULARY, [], "interaction").ok
