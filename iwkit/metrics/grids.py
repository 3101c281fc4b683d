"""Many runs beside one another: assistant by human, memory on and off, and how far executors agree (MET-7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from iwkit.errors import UsageError
from iwkit.metrics.cells import CellResult
from iwkit.metrics.rates import Rates, rates
from iwkit.metrics.stats import cohen_kappa

Executor = Literal["person", "model"]


@dataclass(frozen=True, slots=True)
class RunResults:
    """A run as the grids see it: its folder's name, its configuration, and its cells."""

    name: str
    config: Mapping[str, Any]
    results: tuple[CellResult, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Figures by two fields of the configuration. `figures` has (row, column) -> the figures of that run."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    figures: Mapping[tuple[str, str], Rates]


def grid(runs: Sequence[RunResults], rows: str, columns: str, families: frozenset[str]) -> Grid:
    """Runs laid out by two fields of their configuration, over the cells of some families (none: all).

    Raises:
        UsageError: two runs fall on one place, runs differ in something else, or they were not of the same tasks.
    """
    same_tasks(runs)
    apart = {rows, columns}
    places: dict[tuple[str, str], RunResults] = {}
    for run in runs:
        _like(runs[0], run, apart)
        place = _value(run, rows), _value(run, columns)
        other = places.setdefault(place, run)
        if other is not run:
            raise UsageError(f"{other.name} and {run.name} have the same {rows} and {columns}: leave one out")
    figures = {
        place: rates(r for r in run.results if not families or r.family in families) for place, run in places.items()
    }
    return Grid(_distinct(row for row, _ in places), _distinct(column for _, column in places), figures)


def same_tasks(runs: Sequence[RunResults]) -> None:
    """Check that runs are of the very same cells.

    Raises:
        UsageError: they are not.
    """
    cells = [{(r.task, r.seed, r.digest) for r in run.results} for run in runs]
    for run, own in zip(runs, cells, strict=True):
        odd = sorted({task for task, _, _ in own ^ cells[0]})
        if odd:
            raise UsageError(
                f"{runs[0].name} and {run.name} are not of the same tasks: they differ in {', '.join(odd)}; "
                "a comparison needs the same tasks, in the same version"
            )


def _like(first: RunResults, other: RunResults, apart: set[str]) -> None:
    """Figures that differ in a third thing say nothing about the two that are laid out."""
    a, b = first.config, other.config
    along = apart | {f"{name}_{part}" for name in apart for part in ("code", "model")}
    differ = sorted(k for k in a.keys() | b.keys() if k not in along and a.get(k) != b.get(k))
    if differ:
        raise UsageError(f"{first.name} and {other.name} also differ in {', '.join(differ)}")


def _value(run: RunResults, name: str) -> str:
    if name not in run.config:
        raise UsageError(f"{run.name} has no {name} in its configuration: it has {', '.join(sorted(run.config))}")
    value = run.config[name]
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _distinct(values: Any) -> tuple[str, ...]:
    return tuple(sorted(set(values)))


# Agreement of executors (paper D.5)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two executors under one assistant: on how many of the `cells` valid under both the outcome was the same."""

    first: str
    second: str
    agreed: int
    cells: int
    kappa: float | None

    @property
    def share(self) -> float | None:
        return self.agreed / self.cells if self.cells else None


@dataclass(frozen=True, slots=True)
class Executors:
    """The executors of one assistant, models before people. `outcomes` has executor -> its cells by (task, seed)."""

    assistant: str
    kinds: Mapping[str, Executor]
    outcomes: Mapping[str, Mapping[tuple[str, int], CellResult]]
    agreements: tuple[Agreement, ...]

    def mean(self, first: Executor, second: Executor) -> float | None:
        """The mean share of agreement over the pairs of two kinds of executor; None if there is no such pair."""
        kinds = self.kinds
        shares = [
            a.share
            for a in self.agreements
            if sorted((kinds[a.first], kinds[a.second])) == sorted((first, second)) and a.share is not None
        ]
        return sum(shares) / len(shares) if shares else None


def executors(runs: Sequence[RunResults]) -> list[Executors]:
    """The runs by assistant, each with its executors and how far these agree, task by task. Agreement counts shared
    failures as well as shared successes; it says nothing about what was done or said, and is no test of equivalence.

    Raises:
        UsageError: two runs have the same assistant and human, or they were not of the same tasks.
    """
    same_tasks(runs)
    found: dict[str, dict[str, RunResults]] = {}
    for run in runs:
        assistant, human = _value(run, "assistant"), _value(run, "human")
        other = found.setdefault(assistant, {}).setdefault(human, run)
        if other is not run:
            raise UsageError(f"{other.name} and {run.name} have the same assistant and human: leave one out")
    return [_executors(assistant, humans) for assistant, humans in sorted(found.items())]


def kind_of(human: str) -> Executor:
    """Whether a human of a run is a person (`person`, `person:NAME`) or a program."""
    return "person" if human.split(":", maxsplit=1)[0] == "person" else "model"


def _executors(assistant: str, humans: Mapping[str, RunResults]) -> Executors:
    kinds = {name: kind_of(name) for name in sorted(humans, key=lambda name: (kind_of(name), name))}
    outcomes = {name: {(r.task, r.seed): r for r in humans[name].results} for name in kinds}
    pairs = tuple(_agreement(a, b, outcomes) for a, b in combinations(kinds, 2))
    return Executors(assistant, kinds, outcomes, pairs)


def _agreement(a: str, b: str, outcomes: Mapping[str, Mapping[tuple[str, int], CellResult]]) -> Agreement:
    cells = [
        (outcomes[a][cell].status == "pass", outcomes[b][cell].status == "pass")
        for cell in sorted(outcomes[a])
        if "void" not in (outcomes[a][cell].status, outcomes[b][cell].status)
    ]
    first, second = [x for x, _ in cells], [y for _, y in cells]
    return Agreement(a, b, sum(x == y for x, y in cells), len(cells), cohen_kappa(first, second))
