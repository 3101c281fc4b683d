"""The evaluator of the goal language against the naive one (tests/support/naive_goals.py) on random traces and
conditions."""

from __future__ import annotations

from typing import Any

import pytest
from goal_comparison import compare_label, compare_score, compare_verdict
from goal_conditions import FOCUS, labelled, scored
from hypothesis import HealthCheck, given, settings

from iwkit.trace import Trace

default = settings(max_examples=200, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
focused = settings(default, max_examples=60)
many = settings(default, max_examples=700)
focused_many = settings(default, max_examples=150)


@pytest.mark.parametrize("focus", FOCUS)
def test_verdicts_agree(focus: str) -> None:
    focused(given(FOCUS[focus])(compare_verdict))()


@default
@given(scored())
def test_scores_agree(example: tuple[Any, Trace, Any]) -> None:
    compare_score(example)


@default
@given(labelled())
def test_labels_agree(example: tuple[Any, Trace, Any, bool]) -> None:
    compare_label(example)


@pytest.mark.slow
@pytest.mark.parametrize("focus", FOCUS)
def test_verdicts_agree_on_many(focus: str) -> None:
    focused_many(given(FOCUS[focus])(compare_verdict))()


@pytest.mark.slow
@many
@given(scored())
def test_scores_agree_on_many(example: tuple[Any, Trace, Any]) -> None:
    compare_score(example)


@pytest.mark.slow
@many
@given(labelled())
def test_labels_agree_on_many(example: tuple[Any, Trace, Any, bool]) -> None:
    compare_label(example)
