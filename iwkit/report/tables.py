"""The tables of a run, each a row a cell, a family, a capability or a point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple

from iwkit.metrics.cells import CellResult, Status
from iwkit.metrics.rates import Rates, by_family, cap_scores, efficiency, families, proactive_total
from iwkit.metrics.stats import Interval
from iwkit.report.calls import totals
from iwkit.report.manifest import AS_WRITTEN, manifest
from iwkit.report.summary import Summary, caution, title
from iwkit.report.table import Table, columns
from iwkit.runfolder import cell_name

CAPABILITIES = {
    "C1": "object recognition",
    "C2": "spatial grounding",
    "C3": "reading text",
    "C4": "long-horizon memory",
    "C5": "planning",
    "C6": "knowledge",
    "C7": "error detection",
    "C8": "proactivity",
    "C9": "communication",
}
"""Capability -> its name (MET-2)."""

NONE = "–"
"""A figure that there is none of."""
STATUS_SIGNS: dict[Status, str] = {"pass": "✓", "fail": "✗", "void": "–"}


def ended(result: CellResult) -> str:
    malformed = f"{result.malformed} malformed answer{'' if result.malformed == 1 else 's'}" if result.malformed else ""
    return "; ".join(part for part in (result.reason, malformed) if part)


def percent(value: float | None) -> str:
    """A share as a percentage; a missing one is a dash."""
    return NONE if value is None else f"{100 * value:.1f} %"


def interval_text(interval: Interval | None) -> str:
    """An interval of shares, in percent."""
    return NONE if interval is None else f"{100 * interval.low:.1f}–{100 * interval.high:.1f}"


def rate_text(figures: Rates) -> str:
    """The pass rate, or its bounds while cells are void."""
    if figures.pass_rate is not None:
        return percent(figures.pass_rate)
    if figures.low is None:
        return NONE
    return f"{percent(figures.low)} to {percent(figures.high)} ({figures.void} void)"


def number(value: int | None) -> str:
    return NONE if value is None else str(value)


def ratio(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def _cells(summary: Summary) -> Table:
    rows = (
        (name, r.family, r.status, percent(r.completion), number(r.actions), number(r.ticks), ended(r))
        for name, r in zip(_called(summary), summary.results, strict=True)
    )
    names = ("task", "family", "status", "completion", "actions", "ticks", "ended by")
    right = "completion, actions, ticks"
    return Table(columns(*names, right=right), tuple(rows), title=title(summary), note=_note(summary))


def _called(summary: Summary) -> list[str]:
    """What a table calls each cell: its task, with the seed where there are several."""
    several = len({r.seed for r in summary.results}) > 1
    return [cell_name(r.task, r.seed) if several else r.task for r in summary.results]


def _note(summary: Summary) -> str:
    """What a reader must know before anything is made of the figures."""
    mute = [r.task for r in summary.results if r.malformed and r.malformed == r.ticks]
    told = f"Every answer of {', '.join(dict.fromkeys(mute))} was malformed: see docs/answers.md." if mute else ""
    return " ".join(part for part in (told, caution(summary)) if part)


def _families(summary: Summary) -> Table:
    names = ("family", "passed", "pass rate", "95 %", "mean completion", "95 % of completion")

    def row(name: str, figures: Rates) -> tuple[str, ...]:
        passed = f"{figures.passed} of {figures.cells}"
        intervals = interval_text(figures.pass_interval), interval_text(figures.mcr_interval)
        return name, passed, rate_text(figures), intervals[0], percent(figures.mcr), intervals[1]

    rows = tuple(row(*item) for item in by_family(summary.results).items())
    return Table(columns(*names, right=", ".join(names[1:])), rows, (row("all", summary.total),))


def _capabilities(summary: Summary) -> Table:
    names = ("capability", "name", "points", "passed", "score", "95 %")
    rows = tuple(
        (name, CAPABILITIES[name], str(s.points), str(s.passed), percent(s.score), interval_text(s.interval))
        for name, s in cap_scores(summary.results).items()
    )
    return Table(columns(*names, right="points, passed, score, 95 %"), rows)


def _efficiency(summary: Summary) -> Table:
    names = ("family", "passed cells", "actions over the shortest way", "95 %")

    def row(name: str, cells: list[CellResult]) -> tuple[str, ...]:
        found = efficiency(cells)
        bounds = found.interval
        spread = NONE if bounds is None else f"{bounds.low:.2f}–{bounds.high:.2f}"
        return name, str(found.cells), ratio(found.ratio), spread

    rows = tuple(row(*item) for item in families(summary.results).items())
    return Table(columns(*names, right=", ".join(names[1:])), rows, (row("all", list(summary.results)),))


def _proactive(summary: Summary) -> Table:
    names = ("family", "looks asked for", "things turned", "questions about space")

    def row(name: str, cells: list[CellResult]) -> tuple[str, ...]:
        return name, *map(str, astuple(proactive_total(cells)))

    rows = tuple(row(*item) for item in families(summary.results).items())
    return Table(columns(*names, right=", ".join(names[1:])), rows, (row("all", list(summary.results)),))


def _routes(summary: Summary) -> Table:
    """Each task that was passed with a body: how far the wearer walked."""
    found: dict[str, list[float]] = {}
    for r in summary.results:
        if r.status == "pass" and r.route is not None:
            found.setdefault(r.task, []).append(r.route)
    rows = tuple((task, str(len(ways)), f"{sum(ways) / len(ways):.1f}") for task, ways in found.items())
    note = "" if rows else "No way was measured: that takes a task passed in the physical world."
    return Table(columns("task", "passed cells", "metres walked", right="passed cells, metres walked"), rows, note=note)


def _points(summary: Summary) -> Table:
    rows = ((r.task, str(r.seed), p.id, p.capability, p.label) for r in summary.results for p in r.points)
    return Table(columns("task", "seed", "point", "capability", "label", right="seed"), tuple(rows))


def _seeds(summary: Summary) -> Table:
    """Each variant of each task: the seeds that played it, and how many of these passed."""
    found: dict[tuple[str, str], list[CellResult]] = {}
    for r in summary.results:
        found.setdefault((r.task, r.variant or AS_WRITTEN), []).append(r)
    rows = []
    for (task, variant), cells in found.items():
        passed = sum(r.status == "pass" for r in cells)
        rows.append((task, variant, ", ".join(str(r.seed) for r in cells), f"{passed} of {len(cells)}"))
    return Table(columns("task", "variant", "seeds", "passed", right="passed"), tuple(rows))


def _manifest(summary: Summary) -> Table:
    rows = manifest(summary.folder)
    names = tuple(rows[0]) if rows else ()
    return Table(columns(*names), tuple(tuple(str(v) for v in row.values()) for row in rows))


def dollars(value: float | None) -> str:
    """US dollars; what is unknown is a dash."""
    return NONE if value is None else f"${value:.4f}"


def _models(summary: Summary) -> Table:
    names = ("model", "calls", "answered", "tokens in", "tokens out", "cost", "of unknown cost", "at most")
    rows = tuple(
        (t.model, str(t.calls), str(t.answered), f"{t.input:,}", f"{t.output:,}", dollars(t.cost), str(t.unknown),
         dollars(t.at_most))
        for t in totals(summary.folder)
    )  # fmt: skip
    return Table(columns(*names, right=", ".join(names[1:])), rows)


TABLES: dict[str, Callable[[Summary], Table]] = {
    "cells": _cells,
    "families": _families,
    "capabilities": _capabilities,
    "efficiency": _efficiency,
    "proactive": _proactive,
    "routes": _routes,
    "points": _points,
    "seeds": _seeds,
    "manifest": _manifest,
    "models": _models,
}
"""Name -> how the table of a run is made."""
SHOWN = ("cells", "families")
"""The tables that are shown unless others are named."""


def tables(summary: Summary, names: tuple[str, ...] = SHOWN) -> list[Table]:
    """Tables of a run by name."""
    return [TABLES[name](summary) for name in names]
