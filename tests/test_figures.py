"""Capability scores, efficiency, proactive requests, paired tests, grids and agreement against figures computed by
hand, and against scipy and numpy (MET-2, MET-3, MET-7, MET-9)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from iwkit.errors import UsageError
from iwkit.metrics.cells import CellResult, Point
from iwkit.metrics.grids import RunResults, executors, grid, kind_of
from iwkit.metrics.horizon import TaskOutcome, horizons, outcomes, slope
from iwkit.metrics.paired import compare, compare_families, pair
from iwkit.metrics.proactive import Proactive, proactive
from iwkit.metrics.rates import cap_scores, efficiency, proactive_total, rates
from iwkit.metrics.route import route
from iwkit.metrics.stats import cohen_kappa, mcnemar_exact, sign_flip_exact, task_bootstrap


def cell(task: str, status: str = "pass", completion: float | None = None, **more: Any) -> CellResult:
    if status == "void":
        return CellResult(task, more.pop("seed", 0), more.pop("family", "finding"), "frozen", "void", None, None, None)
    share = {"pass": 1.0, "fail": 0.0}[status] if completion is None else completion
    seed, family = more.pop("seed", 0), more.pop("family", "finding")
    return CellResult(task, seed, family, "frozen", status, share, 3, 7, **more)  # type: ignore[arg-type]


def points(*labels: str, capability: str = "C1") -> tuple[Point, ...]:
    return tuple(Point(f"p{n}", capability, label) for n, label in enumerate(labels))


# Capability scores


def test_points_are_pooled_and_only_a_clean_pass_counts() -> None:
    """Eq. 7: 1 of 4 and 1 of 1 are 2 of 5, not the mean of 25 and 100 %. A failed task can have passed points."""
    cells = [
        cell("A", "fail", points=points("clean_pass", "wrong", "abstain", "unobserved")),
        cell("B", points=points("clean_pass")),
        cell("C", points=points("assisted", capability="C9")),
    ]
    scores = cap_scores(cells)
    assert (scores["C1"].points, scores["C1"].passed, scores["C1"].score) == (5, 2, 0.4)
    assert (scores["C9"].points, scores["C9"].passed, scores["C9"].score) == (1, 0, 0.0)
    assert list(scores) == ["C1", "C9"]


def test_void_cells_are_in_no_score() -> None:
    void = CellResult("V", 0, "finding", "frozen", "void", None, None, None, points=points("void", "void"))
    assert cap_scores([void]) == {}
    assert cap_scores([void, cell("A", points=points("clean_pass"))])["C1"].points == 1


# Efficiency


def test_ratios_are_taken_per_task_and_then_averaged() -> None:
    """6 of 3 and 4 of 4 are 1.5 on average; the ratio of the sums would be 10 / 7."""
    cells = [
        cell("A", stable_actions=6, reference=3),
        cell("B", stable_actions=4, reference=4),
        cell("C", "fail", stable_actions=None, reference=2),
        cell("D", stable_actions=9, reference=None),
        cell("E", "void"),
    ]
    found = efficiency(cells)
    assert (found.cells, found.ratio) == (2, 1.5)
    assert efficiency(cells[2:]).ratio is None


# Route length


def walked(*metres: float | None, world: str = "physical") -> list[dict[str, Any]]:
    """Records of an episode whose opening took 9 m; a command of None took no time."""
    steps = [{"kind": "step", "receipt": {"frames": 12}, "walked": 9.0}, {"kind": "handoff"}]
    for way in metres:
        more = {} if way is None else {"walked": way}
        steps += [{"kind": "speech"}, {"kind": "step", "receipt": {"frames": 0 if way is None else 12}, **more}]
    return [{"kind": "header", "world": world}, *steps]


def test_a_route_is_what_was_walked_until_the_goal_held() -> None:
    assert route(walked(1.5, None, 0.25, 7.0), 3) == 1.75
    assert route(walked(1.5, None, 0.25, 7.0), 0) == 0.0


def test_a_route_that_was_not_measured_is_none_and_never_zero() -> None:
    assert route(walked(1.5), None) is None
    assert route(walked(1.5, world="symbolic"), 1) is None
    older = walked(1.5, 2.5)
    del older[-1]["walked"]
    assert route(older, 2) is None
    assert route(older, 1) == 1.5


# Proactive requests


def said(text: str, by: str = "assistant") -> dict[str, Any]:
    return {"kind": "speech", "by": by, "text": text}


def did(command: str, by: str = "assistant") -> dict[str, Any]:
    return {"kind": "step", "by": by, "command": command}


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([said("Look around, please."), did("[LookAround]")], Proactive(look=1)),
        ([said("Look around and turn left."), did("[LookScan]"), did("[TurnLeft] 90")], Proactive(look=1)),
        ([said("Look."), did("[LookAround]"), said("Again."), did("[LookAround]")], Proactive(look=2)),
        ([said("Turn the box over."), did("[TurnOver] <box>")], Proactive(flip=1)),
        ([said("Is the red box left of the sink?")], Proactive(ask=1)),
        ([said("Stop! Which shelf is it on? And what is near it?")], Proactive(ask=1)),
        ([said("Shall I go on?")], Proactive()),
        ([said("The box is left of the sink.")], Proactive()),
        ([said("Where is it?", by="wearer")], Proactive()),
        (
            [did("[LookAround]", by="opening"), did("[LookAround]", by="plan"), did("[Flip] <x>", by="human")],
            Proactive(),
        ),
        ([said("Take the cup."), did("[Grab] <cup>")], Proactive()),
        ([], Proactive()),
    ],
)
def test_proactive_requests(records: list[dict[str, Any]], expected: Proactive) -> None:
    assert proactive(records) == expected


def test_proactive_requests_of_valid_cells_together() -> None:
    cells = [cell("A", proactive=Proactive(1, 2, 3)), cell("B", proactive=Proactive(4, 0, 1)), cell("C", "void")]
    assert proactive_total(cells) == Proactive(5, 2, 4)


# Intervals


def test_no_interval_where_resampling_says_nothing() -> None:
    assert task_bootstrap([]) is None
    assert task_bootstrap([(1, 1)]) is None
    assert task_bootstrap([(1, 1)] * 10) is None
    assert task_bootstrap([(1, 2), (2, 4), (0, 0)]) is None


def test_the_interval_is_that_of_scipy() -> None:
    """The percentile bootstrap of a mean, within the error of resampling."""
    passes = [1.0] * 13 + [0.0] * 27
    ours = task_bootstrap([(p, 1) for p in passes])
    generator = np.random.default_rng(1)
    theirs = reference.bootstrap((passes,), np.mean, n_resamples=20_000, method="percentile", rng=generator)
    assert ours is not None
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.026)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.026)


def test_tasks_are_drawn_whole() -> None:
    """Ten seeds of a task are no ten tasks: the interval is as wide as without them."""
    once = rates([cell("A"), cell("B", "fail"), cell("C", "fail")]).pass_interval
    many = rates([cell(t, s, seed=n) for t, s in (("A", "pass"), ("B", "fail"), ("C", "fail")) for n in range(10)])
    assert once == many.pass_interval
    assert once is not None


def test_voids_leave_no_interval() -> None:
    assert rates([cell("A"), cell("B", "fail"), cell("C", "void")]).pass_interval is None


# Paired tests


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_binomial_test(first: int, second: int) -> None:
    n = first + second
    tail = sum(Fraction(comb(n, k), 2**n) for k in range(min(first, second) + 1))
    assert mcnemar_exact(first, second) == pytest.approx(float(min(Fraction(1), 2 * tail)), rel=1e-9)


def test_mcnemar_by_hand() -> None:
    assert mcnemar_exact(0, 6) == pytest.approx(2 / 64)
    assert mcnemar_exact(0, 5) == pytest.approx(2 / 32)
    assert mcnemar_exact(3, 3) == 1.0
    assert mcnemar_exact(0, 0) == 1.0


gains = st.lists(st.fractions(-1, 1, max_denominator=4), max_size=8)


@given(gains)
def test_the_permutation_test_counts_every_way(differences: list[Fraction]) -> None:
    found = abs(sum(differences, Fraction()))
    ways = [
        abs(sum((s * d for s, d in zip(signs, differences, strict=True)), Fraction()))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert sign_flip_exact(differences) == pytest.approx(sum(w >= found for w in ways) / len(ways))


def test_the_permutation_test_is_exact_at_the_size_of_the_benchmark() -> None:
    assert sign_flip_exact([Fraction(1, 4)] * 120) == 2 / 2**120
    mixed = [Fraction(1, n % 6 + 1) * (-1) ** n for n in range(120)]
    z = float(sum(mixed)) / sum(float(d * d) for d in mixed) ** 0.5
    assert sign_flip_exact(mixed) == pytest.approx(2 * reference.norm.sf(abs(z)), rel=0.05)


def test_a_comparison_by_hand() -> None:
    first = [cell("A"), cell("B", "fail", 0.5), cell("C", "fail"), cell("D"), cell("E"), cell("G", digest="x")]
    second = [cell("A"), cell("B"), cell("C"), cell("D", "fail", 0.5), cell("F"), cell("G", digest="y")]
    pairing = pair([*first, cell("H", "void")], [*second, cell("H")])
    assert pairing.left_out == {
        "E-s0": "only in the first run",
        "F-s0": "only in the second run",
        "G-s0": "another version of the pack",
        "H-s0": "void in the first run",
    }
    found = compare(pairing.pairs)
    assert (found.cells, found.both, found.first_only, found.second_only, found.neither) == (4, 1, 1, 2, 0)
    assert found.pass_difference == 0.25
    assert found.pass_p == 1.0
    assert found.mcr_difference == 0.25  # 0 + 0.5 + 1 - 0.5 over four
    assert found.mcr_p == 6 / 8  # of the 8 ways of signing 0.5, 1 and 0.5, only a sum of 0 is nearer than 1: 2 ways


def test_comparing_a_run_with_itself_finds_nothing() -> None:
    run = [cell("A"), cell("B", "fail", 0.5, family="planning")]
    found = compare(pair(run, run).pairs)
    assert (found.pass_difference, found.mcr_difference, found.pass_p, found.mcr_p) == (0, 0, 1, 1)
    assert list(compare_families(pair(run, run).pairs)) == ["finding", "planning"]


def test_nothing_to_compare() -> None:
    assert compare(()).pass_difference is None


# Grids


def run(assistant: str, human: str, *cells: CellResult, **config: Any) -> RunResults:
    return RunResults(f"{assistant}-{human}", {"assistant": assistant, "human": human, **config}, cells)


def test_a_grid_by_hand() -> None:
    guided, planned, found = (cell(t, family=f) for t, f in (("G1", "guidance"), ("P1", "planning"), ("F1", "finding")))
    half = cell("G1", "fail", 0.5, family="guidance")
    runs = [
        run("a", "x", guided, planned, found),
        run("a", "y", half, planned, found),
        run("b", "x", half, planned, found),
    ]
    laid = grid(runs, "assistant", "human", frozenset({"guidance", "planning"}))
    assert (laid.rows, laid.columns) == (("a", "b"), ("x", "y"))
    assert {place: figures.mcr for place, figures in laid.figures.items()} == {
        ("a", "x"): 1,
        ("a", "y"): 0.75,
        ("b", "x"): 0.75,
    }


def test_memory_on_and_off_is_a_grid_too() -> None:
    runs = [run("a", "x", cell("F1"), memory=True), run("a", "x", cell("F1", "fail"), memory=False)]
    laid = grid(runs, "assistant", "memory", frozenset())
    assert {column: laid.figures["a", column].pass_rate for column in laid.columns} == {"on": 1, "off": 0}


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([run("a", "x", cell("F1")), run("a", "x", cell("F1"))], "same assistant and human"),
        ([run("a", "x", cell("F1")), run("b", "x", cell("F1"), world="symbolic")], "also differ in world"),
        ([run("a", "x", cell("F1")), run("b", "x", cell("F2"))], "differ in F1, F2"),
        ([run("a", "x", cell("F1", digest="1")), run("b", "x", cell("F1", digest="2"))], "differ in F1"),
    ],
)
def test_what_makes_no_grid(runs: Sequence[RunResults], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        grid(runs, "assistant", "human", frozenset())


def test_a_field_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="has no colour in its configuration: it has assistant, human"):
        grid([run("a", "x", cell("F1"))], "colour", "human", frozenset())


# Executors


def test_agreement_as_in_the_paper() -> None:
    """D.5 quotes 30, 33 and 28 of 36 between an agent and three people, mean 84.3 %. Outcomes with such distances are
    made up here; the mean then follows."""
    agent = [True] * 18 + [False] * 18
    people = [flipped(agent, range(6)), flipped(agent, (5, 6, 7)), flipped(agent, (0, 1, 2, 3, 6, 8, 9, 10))]
    runs = [
        run("m", name, *(cell(f"T{n}", "pass" if ok else "fail") for n, ok in enumerate(row)))
        for name, row in (("rules", agent), ("person:1", people[0]), ("person:2", people[1]), ("person:3", people[2]))
    ]
    (found,) = executors(runs)
    agreed = {(a.first, a.second): a.agreed for a in found.agreements}
    assert [agreed["rules", f"person:{n}"] for n in (1, 2, 3)] == [30, 33, 28]
    assert f"{100 * (found.mean('model', 'person') or 0):.1f}" == "84.3"
    between = [a.agreed for a in found.agreements if a.first != "rules"]
    assert found.mean("person", "person") == pytest.approx(sum(between) / 3 / 36)
    assert found.mean("model", "model") is None


def flipped(row: list[bool], at: Sequence[int]) -> list[bool]:
    return [ok != (n in at) for n, ok in enumerate(row)]


def test_voids_are_no_agreement() -> None:
    (found,) = executors([run("m", "a", cell("T"), cell("U", "void")), run("m", "b", cell("T"), cell("U"))])
    assert [(a.agreed, a.cells) for a in found.agreements] == [(1, 1)]


def test_who_is_a_person() -> None:
    assert [kind_of(h) for h in ("person", "person:ada", "rules", "openai:x", "personas:X")] == [
        "person",
        "person",
        *["model"] * 3,
    ]


def test_kappa_by_hand() -> None:
    """The usual example: 20 and 15 agreed yes and no, 5 and 10 apart, of 50: 0.7 observed, 0.5 by chance."""
    first = [True] * 25 + [False] * 25
    second = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert cohen_kappa([True, True], [True, True]) is None
    assert cohen_kappa([], []) is None


# Horizon


def test_the_slope_is_that_of_least_squares_with_a_level_for_each_family() -> None:
    generator = np.random.default_rng(7)
    tasks = [
        TaskOutcome(f"{f}{n}", f, int(generator.integers(1, 30)), float(generator.integers(0, 9) / 8))
        for f in "ABC"
        for n in range(12)
    ]
    length = horizons(tasks)
    design = np.array([[length[t.task], *(float(t.family == f) for f in "ABC")] for t in tasks])
    expected = np.linalg.lstsq(design, np.array([t.success for t in tasks]), rcond=None)[0][0]
    found = slope(tasks)
    assert found is not None
    assert found.slope == pytest.approx(expected)
    assert found.interval.low < found.slope < found.interval.high


def test_what_a_slope_means() -> None:
    """-0.431 is 43.1 percentage points from the shortest to the longest task of a family (D.4)."""
    tasks = [
        TaskOutcome(f"{f}{n}", f, 3 + n, base - 0.431 * n / 19)
        for f, base in (("A", 0.9), ("B", 0.5))
        for n in range(20)
    ]
    found = slope(tasks)
    assert found is not None
    assert f"{found.slope:.3f}" == "-0.431"
    assert found.p == pytest.approx(1 / 10_001)
    assert (horizons(tasks)["A0"], horizons(tasks)["B19"]) == (0, 1)


def test_outcomes_of_a_task_are_one() -> None:
    runs = [
        [cell("A", reference=4), cell("B", "fail", reference=9)],
        [cell("A", "fail", reference=4), cell("B", "void")],
    ]
    assert outcomes(runs) == [TaskOutcome("A", "finding", 4, 0.5), TaskOutcome("B", "finding", 9, 0.0)]
    assert slope(outcomes([[cell("A", reference=4), cell("B", reference=4)]])) is None
