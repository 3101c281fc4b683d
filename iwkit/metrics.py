"""Benchmark figures as pure functions of closing records (MET-1, EVAL-8). A missing measurement is None, never zero."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["pass", "fail", "void"]


@dataclass(frozen=True, slots=True)
class CellResult:
    """One cell: `completion`, `actions` and `ticks` are None when the cell is void or not finished.

    `freeze` says how the pack stands to its lock: "frozen", "code changed" or "draft"; `malformed` counts the
    assistant's answers that were in none of the required forms.
    """

    task: str
    seed: int
    family: str
    freeze: str
    status: Status
    completion: float | None
    actions: int | None
    ticks: int | None
    cfss: float | None = None
    stg_cfss: float | None = None
    reason: str | None = None
    malformed: int | None = None


@dataclass(frozen=True, slots=True)
class Rates:
    """Figures of a set of cells. The denominator is every planned cell.

    While cells are void, `pass_rate` and `mcr` are None; `low` and `high` bound the pass rate (all voids failed, all
    voids passed), and `valid_pass_rate` is the rate over the valid cells, to be shown under that name only.
    """

    cells: int
    passed: int
    void: int
    pass_rate: float | None
    low: float | None
    high: float | None
    valid_pass_rate: float | None
    mcr: float | None


def cell_result(cell: Mapping[str, Any], end: Mapping[str, Any] | None) -> CellResult:
    """The result of a planned cell from the closing record of the attempt that counts (None: there is none)."""
    task, seed, family, freeze = cell["task"], cell["seed"], cell["family"], cell["freeze"]
    if end is None:
        return CellResult(task, seed, family, freeze, "void", None, None, None, reason="not finished")
    if end["status"] == "void":
        return CellResult(task, seed, family, freeze, "void", None, None, None, reason=end["void"])
    score = end["score"]
    return CellResult(
        task,
        seed,
        family,
        freeze,
        end["status"],
        score["completion"],
        end["actions"],
        end["ticks"],
        score["cfss"],
        score["stg_cfss"],
        end["stop_reason"],
        end.get("malformed"),
    )


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
    )


def by_family(results: Iterable[CellResult]) -> dict[str, Rates]:
    """Reported family -> its figures, in order of name."""
    groups: dict[str, list[CellResult]] = {}
    for result in results:
        groups.setdefault(result.family, []).append(result)
    return {family: rates(groups[family]) for family in sorted(groups)}
