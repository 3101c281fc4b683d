"""Pass rate and mean completion as pure functions of closing records: void is never zero and never missing (MET-1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iwkit.metrics.cells import CellResult, cell_result
from iwkit.metrics.proactive import Proactive
from iwkit.metrics.rates import Rates, by_family, rates

CELL = {"task": "F10", "seed": 0, "family": "finding", "freeze": "frozen"}
SCORE: dict[str, Any] = {"completion": 0.5, "cfss": None, "stg_cfss": None, "atoms": []}


def result(status: str, completion: float | None = None, family: str = "finding") -> CellResult:
    if status == "void":
        return CellResult("T", 0, family, "frozen", "void", None, None, None, reason="not finished")
    return CellResult("T", 0, family, "frozen", status, completion, 3, 7, reason="done")  # type: ignore[arg-type]


def as_if(results: list[CellResult], status: str) -> list[CellResult]:
    """The cells with every void one measured after all."""
    completion = 1.0 if status == "pass" else 0.0
    return [result(status, completion, r.family) if r.status == "void" else r for r in results]


families = st.sampled_from(["finding", "guidance", "planning"])
results = st.lists(
    st.one_of(
        st.builds(result, st.just("void"), family=families),
        st.builds(result, st.just("pass"), st.just(1.0), family=families),
        st.builds(result, st.just("fail"), st.sampled_from([0.0, 0.25, 0.5, 1.0]), family=families),
    )
)


@given(results)
def test_voids_are_in_the_denominator(cells: list[CellResult]) -> None:
    figures = rates(cells)
    assert figures.cells == len(cells)
    assert figures.passed + figures.void <= figures.cells
    if figures.void or not cells:
        assert (figures.pass_rate, figures.mcr) == (None, None)
    else:
        assert figures.pass_rate == figures.low == figures.high == figures.valid_pass_rate


@given(results.filter(bool))
def test_the_bounds_are_the_rates_if_all_voids_failed_or_passed(cells: list[CellResult]) -> None:
    figures = rates(cells)
    assert figures.low is not None
    assert figures.high is not None
    assert 0 <= figures.low <= figures.high <= 1
    assert figures.low == rates(as_if(cells, "fail")).pass_rate
    assert figures.high == rates(as_if(cells, "pass")).pass_rate


@given(results)
def test_a_void_cell_changes_no_rate_over_the_valid_ones(cells: list[CellResult]) -> None:
    more = rates([*cells, result("void")])
    assert more.valid_pass_rate == rates(cells).valid_pass_rate
    assert more.pass_rate is None
    assert more.low == rates([*cells, result("fail", 0.0)]).low


@given(results, st.randoms(use_true_random=False))
def test_order_does_not_count(cells: list[CellResult], chance: Any) -> None:
    shuffled = list(cells)
    chance.shuffle(shuffled)
    assert rates(shuffled) == replace(rates(cells), mcr=rates(shuffled).mcr)
    assert rates(shuffled).mcr == pytest.approx(rates(cells).mcr)


@given(results)
def test_families_make_up_the_whole(cells: list[CellResult]) -> None:
    parts, whole = by_family(cells), rates(cells)
    assert list(parts) == sorted({r.family for r in cells})
    for field in ("cells", "passed", "void"):
        assert sum(getattr(part, field) for part in parts.values()) == getattr(whole, field)


@given(results.map(lambda cells: as_if(cells, "fail")).filter(bool))
def test_every_cell_weighs_the_same(cells: list[CellResult]) -> None:
    mcr = rates(cells).mcr
    assert mcr == pytest.approx(sum(r.completion or 0 for r in cells) / len(cells))
    assert 0 <= (mcr or 0) <= 1


def test_figures_by_hand() -> None:
    cells = [result("pass", 1.0), result("fail", 0.5), result("void"), result("fail", 0.0)]
    assert rates(cells) == Rates(
        cells=4, passed=1, void=1, pass_rate=None, low=0.25, high=0.5, valid_pass_rate=pytest.approx(1 / 3), mcr=None
    )
    assert rates([cells[0], cells[1]]) == Rates(2, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.75)
    assert rates([]) == Rates(0, 0, 0, None, None, None, None, None)
    assert rates([cells[2]]) == Rates(1, 0, 1, None, 0.0, 1.0, None, None)


def test_a_cell_without_a_closing_record_is_void() -> None:
    found = cell_result(CELL, [])
    assert (found.status, found.reason) == ("void", "not finished")
    assert (found.completion, found.actions, found.ticks, found.cfss) == (None, None, None, None)


def test_a_void_cell_has_no_measurement_though_its_record_has_counts() -> None:
    end = {
        "kind": "end",
        "status": "void",
        "void": "the world broke",
        "actions": 4,
        "ticks": 9,
        "stop_reason": "x",
        "score": SCORE,
    }
    found = cell_result(CELL, [end])
    assert (found.status, found.reason) == ("void", "the world broke")
    assert (found.completion, found.actions, found.ticks) == (None, None, None)


def test_a_measured_cell() -> None:
    end = {
        "kind": "end",
        "status": "fail",
        "void": None,
        "actions": 4,
        "ticks": 9,
        "stop_reason": "tick budget",
        "score": SCORE,
    }
    assert cell_result(CELL, [end]) == CellResult(
        "F10", 0, "finding", "frozen", "fail", 0.5, 4, 9, None, None, "tick budget", proactive=Proactive()
    )
    narrated = {**end, "status": "pass", "score": {**SCORE, "completion": 1.0, "cfss": 1.0, "stg_cfss": 0.0}}
    assert cell_result(CELL, [narrated]).stg_cfss == 0.0


def test_a_measured_zero_is_a_zero() -> None:
    end = {
        "kind": "end",
        "status": "fail",
        "void": None,
        "actions": 0,
        "ticks": 1,
        "stop_reason": "done",
        "score": SCORE,
    }
    found = cell_result(CELL, [{**end, "score": {**SCORE, "completion": 0.0}}])
    assert (found.completion, found.actions) == (0.0, 0)
    assert rates([found]).mcr == 0.0
