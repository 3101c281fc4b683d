"""Pass rate, mean completion, capability scores and efficiency of a set of cells (MET-1 to MET-3, MET-9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from iwkit.metrics.cells import CellResult
from iwkit.metrics.proactive import Proactive
from iwkit.metrics.stats import Interval, task_bootstrap


@dataclass(frozen=True, slots=True)
class Rates:
    """Figures of a set of cells. The denominator is every planned cell.

    While cells are void, `pass_rate` and `mcr` are None; `low` and `high` bound the pass rate (all voids failed, all
    voids passed), and `valid_pass_rate` is the rate over the valid cells, to be shown under that name only. The
    intervals are of the two rates, by resampling tasks.
    """

    cells: int
    passed: int
    void: int
    pass_rate: float | None
    low: float | None
    high: float | None
    valid_pass_rate: float | None
    mcr: float | None
    pass_interval: Interval | None = None
    mcr_interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class CapScore:
    """The score of one capability (eq. 7): `passed` of `points` over the valid cells, and their share."""

    points: int
    passed: int
    score: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Mean ratio of actions to the shortest known way, over the `cells` that passed and have one (MET-3)."""

    cells: int
    ratio: float | None
    interval: Interval | None


def rates(results: Iterable[CellResult]) -> Rates:
    """PassRate and MCR (eq. 6): every cell has the same weight."""
    cells = list(results)
    void = sum(r.status == "void" for r in cells)
    passed = sum(r.status == "pass" for r in cells)
    valid = len(cells) - void
    completions = [r.completion for r in cells if r.completion is not None]
    whole = bool(cells) and not void
    return Rates(
        cells=len(cells),
        passed=passed,
        void=void,
        pass_rate=passed / len(cells) if whole else None,
        low=passed / len(cells) if cells else None,
        high=(passed + void) / len(cells) if cells else None,
        valid_pass_rate=passed / valid if valid else None,
        mcr=sum(completions) / len(cells) if whole else None,
        pass_interval=_interval(cells, lambda r: (r.status == "pass", 1)) if whole else None,
        mcr_interval=_interval(cells, lambda r: (r.completion or 0, 1)) if whole else None,
    )


def by_family(results: Iterable[CellResult]) -> dict[str, Rates]:
    """Reported family -> its figures, in order of name."""
    return {family: rates(cells) for family, cells in families(results).items()}


def families(results: Iterable[CellResult]) -> dict[str, list[CellResult]]:
    """Reported family -> its cells, in order of name."""
    groups: dict[str, list[CellResult]] = defaultdict(list)
    for result in results:
        groups[result.family].append(result)
    return {family: groups[family] for family in sorted(groups)}


def cap_scores(results: Sequence[CellResult]) -> dict[str, CapScore]:
    """Capability -> its score, points pooled over the valid cells; only `clean_pass` counts (MET-2, eq. 7)."""
    names = sorted({p.capability for r in results for p in r.points if p.label != "void"})
    return {name: _cap_score(results, name) for name in names}


def _cap_score(results: Sequence[CellResult], capability: str) -> CapScore:
    def share(result: CellResult) -> tuple[int, int]:
        labels = [p.label for p in result.points if p.capability == capability]
        return labels.count("clean_pass"), len(labels)

    valid = [r for r in results if r.status != "void"]
    passed, points = (sum(column) for column in zip(*map(share, valid), strict=True)) if valid else (0, 0)
    return CapScore(points, passed, passed / points if points else None, _interval(valid, share))


def efficiency(results: Sequence[CellResult]) -> Efficiency:
    """Ratios are taken per cell and then averaged; cells that did not pass or have no reference are left out."""
    ratios = [r for r in results if r.efficiency is not None]
    mean = sum(r.efficiency or 0 for r in ratios) / len(ratios) if ratios else None
    return Efficiency(len(ratios), mean, _interval(ratios, lambda r: (r.efficiency or 0, 1)))


def proactive_total(results: Iterable[CellResult]) -> Proactive:
    """Proactive requests of the valid cells together."""
    counts = [r.proactive for r in results if r.proactive is not None]
    return Proactive(sum(c.look for c in counts), sum(c.flip for c in counts), sum(c.ask for c in counts))


def _interval(results: Iterable[CellResult], share: Callable[[CellResult], tuple[float, float]]) -> Interval | None:
    """The cells of a task stay together: they are drawn as one."""
    tasks: dict[str, tuple[float, float]] = {}
    for result in results:
        before, now = tasks.get(result.task, (0.0, 0.0)), share(result)
        tasks[result.task] = before[0] + now[0], before[1] + now[1]
    return task_bootstrap([tasks[name] for name in sorted(tasks)])
