"""Comparisons, grids and agreement as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iwkit.metrics.grids import Executors, Grid, RunResults
from iwkit.metrics.horizon import Slope, TaskOutcome, horizons
from iwkit.metrics.paired import Comparison, Pairing, compare, compare_families
from iwkit.metrics.rates import Rates
from iwkit.metrics.stats import Interval
from iwkit.report.summary import summarise
from iwkit.report.table import Table, columns
from iwkit.report.tables import NONE, STATUS_SIGNS, percent, rate_text, ratio


def load(folders: Sequence[Path]) -> list[RunResults]:
    """Read run folders.

    Raises:
        LedgerError: one holds no run, or a damaged one.
    """
    summaries = [summarise(folder) for folder in folders]
    return [RunResults(str(s.folder), s.config, s.results) for s in summaries]


# Two runs


def comparison_tables(pairing: Pairing, first: RunResults, second: RunResults) -> list[Table]:
    """Who passed what by family, the differences with their tests, and the cells that were left out with the reason."""
    found = {**compare_families(pairing.pairs), "all": compare(pairing.pairs)}
    counts = ("family", "cells", "both", "first only", "second only", "neither")
    figures = ("family", "of", "difference", "95 %", "p")
    passed = [(name, *map(str, _counts(figure))) for name, figure in found.items()]
    differences = [row for name, figure in found.items() for row in _differences(name, figure)]
    shown = [
        Table(
            columns(*counts, right=", ".join(counts[1:])),
            tuple(passed[:-1]),
            (passed[-1],),
            title=f"first: {first.name} ({_who(first)})\nsecond: {second.name} ({_who(second)})",
        ),
        Table(
            columns(*figures, right="difference, 95 %, p"),
            tuple(differences[:-2]),
            tuple(differences[-2:]),
            note="Second less first, in percentage points. The p are of the exact McNemar and the exact paired "
            "permutation test.",
        ),
    ]
    if pairing.left_out:
        shown.append(Table(columns("left out", "why"), tuple(sorted(pairing.left_out.items()))))
    return shown


def comparison_json(pairing: Pairing) -> dict[str, Any]:
    """The paired figures, whole."""
    return {
        **asdict(compare(pairing.pairs)),
        "families": {name: asdict(figures) for name, figures in compare_families(pairing.pairs).items()},
        "left_out": dict(pairing.left_out),
    }


def _counts(figures: Comparison) -> tuple[int, ...]:
    return figures.cells, figures.both, figures.first_only, figures.second_only, figures.neither


def _differences(name: str, figures: Comparison) -> list[tuple[str, ...]]:
    rates = (name, "pass rate", _points(figures.pass_difference), _spread(figures.pass_interval), _p(figures.pass_p))
    completion = (_points(figures.mcr_difference), _spread(figures.mcr_interval), _p(figures.mcr_p))
    return [rates, (name, "mean completion", *completion)]


def _who(run: RunResults) -> str:
    return f"{run.config['assistant']} with {run.config['human']}"


def _points(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:+.1f}"


def _spread(interval: Interval | None) -> str:
    return NONE if interval is None else f"{100 * interval.low:+.1f} to {100 * interval.high:+.1f}"


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


# Grids


FIGURES: dict[str, Callable[[Rates], str]] = {
    "mcr": lambda figures: percent(figures.mcr),
    "pass": rate_text,
    "passed": lambda figures: f"{figures.passed} of {figures.cells}",
}
"""What a grid shows in each place."""


def grid_table(grid: Grid, rows: str, figure: str) -> Table:
    """A grid with one figure in each place; a dash where there is no run, or no figure while cells are void."""
    body = tuple(
        (row, *(_place(grid.figures.get((row, column)), figure) for column in grid.columns)) for row in grid.rows
    )
    return Table(columns(rows, *grid.columns, right=", ".join(grid.columns)), body)


def _place(figures: Rates | None, figure: str) -> str:
    return NONE if figures is None else FIGURES[figure](figures)


def grid_json(grid: Grid) -> list[dict[str, Any]]:
    """One entry for each place that has a run."""
    return [
        {"row": row, "column": column, **asdict(figures)} for (row, column), figures in sorted(grid.figures.items())
    ]


# Executors


def executor_tables(found: Sequence[Executors]) -> list[Table]:
    """For each assistant: outcomes task by task, pairs of executors, and the means by kind of pair."""
    return [table for executors in found for table in (_outcomes(executors), _agreements(executors))]


def _outcomes(executors: Executors) -> Table:
    names = tuple(executors.kinds)
    cells = sorted(next(iter(executors.outcomes.values())))
    seeds = {seed for _, seed in cells}
    rows = tuple(
        (
            task if len(seeds) == 1 else f"{task}-s{seed}",
            executors.outcomes[names[0]][task, seed].family,
            *(STATUS_SIGNS[executors.outcomes[name][task, seed].status] for name in names),
        )
        for task, seed in cells
    )
    passes = (sum(r.status == "pass" for r in executors.outcomes[name].values()) for name in names)
    total = ("passed", f"of {len(cells)}", *map(str, passes))
    heads = (f"{name} ({kind})" for name, kind in executors.kinds.items())
    return Table(columns("task", "family", *heads), rows, (total,), title=f"{executors.assistant}, by executor")


def _agreements(executors: Executors) -> Table:
    rows = tuple(
        (a.first, a.second, f"{a.agreed} of {a.cells}", percent(a.share), ratio(a.kappa)) for a in executors.agreements
    )
    kinds = (("model", "person"), ("person", "person"), ("model", "model"))
    means = (("mean of", f"{a} and {b}", "", percent(executors.mean(a, b)), "") for a, b in kinds)  # type: ignore[arg-type]
    return Table(
        columns("executor", "executor ", "same outcome", "share", "kappa", right="same outcome, share, kappa"),
        rows,
        tuple(row for row in means if row[3] != NONE),
        note="Sameness counts shared failures too. It describes these tasks; it is no test of equivalence.",
    )


def executors_json(found: Sequence[Executors]) -> list[dict[str, Any]]:
    """For each assistant: kinds of executors, status by executor and cell, agreements."""
    return [
        {
            "assistant": e.assistant,
            "executors": dict(e.kinds),
            "outcomes": {
                name: {f"{task}-s{seed}": r.status for (task, seed), r in sorted(cells.items())}
                for name, cells in e.outcomes.items()
            },
            "agreements": [asdict(a) | {"share": a.share} for a in e.agreements],
        }
        for e in found
    ]


# Horizon


def horizon_tables(tasks: Sequence[TaskOutcome], found: Slope) -> list[Table]:
    """The tasks by length, and the slope."""
    length = horizons(tasks)
    rows = tuple(
        (t.task, t.family, str(t.steps), ratio(length.get(t.task)), percent(t.success))
        for t in sorted(tasks, key=lambda t: (t.family, t.steps, t.task))
    )
    spread = f"{found.interval.low:.3f} to {found.interval.high:.3f}"
    return [
        Table(
            columns("task", "family", "shortest way", "horizon", "passed", right="shortest way, horizon, passed"), rows
        ),
        Table(
            columns("tasks", "slope", "95 %", "one-sided p", right="tasks, slope, 95 %, one-sided p"),
            ((str(found.tasks), f"{found.slope:.3f}", spread, _p(found.p)),),
            note="From the shortest to the longest task of a family; the families' own levels are taken off. "
            "That they go together does not say that length is the cause.",
        ),
    ]
