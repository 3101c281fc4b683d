"""What the evaluator of the goal language says, compared with the naive one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import naive_goals as naive
import pytest
from goal_worlds import OPENING_STEPS, PLAN_STEPS

from iwkit.goals.evaluate import Scope, judge
from iwkit.goals.syntax import parse_condition
from iwkit.goals.vocabulary import Entity, Vocabulary
from iwkit.score import score
from iwkit.spec.goal import Atom, Goal, Window
from iwkit.trace import Trace

SCOPES: dict[str, Scope] = {"evidence": "opening", "goal": "interaction"}


def ends(trace: Trace) -> list[Trace]:
    """The trace, and what it were had the episode ended sooner: drawing one costs as much as judging thirty."""
    return [replace(trace, steps=trace.steps[:end]) for end in range(len(trace.steps), trace.handoff - 1, -1)]


def vocabulary(pack: Any) -> Vocabulary:
    entities = {
        name: Entity(name, category, frozenset({"movable"} if name in pack.movable else ()))
        for name, category in pack.entities.items()
    }
    names = frozenset(window["id"] for window in pack.windows)
    return Vocabulary(entities, names, frozenset(OPENING_STEPS + PLAN_STEPS))


def windows(pack: Any) -> tuple[Window, ...]:
    return tuple(Window.model_validate(window) for window in pack.windows)


def compare_verdict(example: tuple[Any, Trace, Any, str]) -> None:
    data, whole, pack, scope = example
    condition, words, spans = parse_condition(data), vocabulary(pack), windows(pack)
    for trace in ends(whole):
        verdict = judge(condition, trace, words, spans, SCOPES[scope])
        assert verdict.ok is naive.holds(data, trace, pack, scope), verdict.why
        assert verdict.why


def compare_score(example: tuple[Any, Trace, Any]) -> None:
    data, whole, pack = example
    goal = Goal.model_validate(data)
    for trace in ends(whole):
        result = score(goal, (), (), windows(pack), trace, vocabulary(pack), source_family="NARRATE")
        assert result.passed is naive.passed(data, trace, pack)
        assert result.completion == pytest.approx(naive.completion(data, trace, pack))
        assert (result.cfss, result.stg_cfss) == pytest.approx(naive.cfss(data, trace, pack))


def compare_label(example: tuple[Any, Trace, Any, bool]) -> None:
    data, whole, pack, void = example
    goal = Goal.model_validate({"score": "state", "achieve": [{"id": "x", "that": {"happened": {"opened": "any"}}}]})
    atom = Atom.model_validate(data)
    reason = "the harness failed" if void else None
    for trace in ends(whole):
        result = score(goal, (), (atom,), windows(pack), trace, vocabulary(pack), source_family="WATCH", void=reason)
        assert result.atoms[0].label == naive.label(data, trace, pack, void), result.atoms[0].why
