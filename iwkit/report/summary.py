"""The figures of a run: read from its folder, and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from iwkit.metrics.cells import CellResult, cell_result
from iwkit.metrics.rates import Rates, by_family, cap_scores, efficiency, proactive_total, rates
from iwkit.report.calls import totals
from iwkit.runfolder import load_plan, selected_attempt


@dataclass(frozen=True)
class Summary:
    """A run folder, read. `results` are in the order of the plan."""

    folder: Path
    config: dict[str, Any]
    results: tuple[CellResult, ...]

    @property
    def total(self) -> Rates:
        return rates(self.results)

    @property
    def has_void(self) -> bool:
        return any(r.status == "void" for r in self.results)


def summarise(folder: Path) -> Summary:
    """Read a run folder, finished or not.

    Raises:
        LedgerError: it holds no run, or a damaged one.
    """
    plan = load_plan(folder)
    results = []
    for name, cell in plan["cells"].items():
        chosen = selected_attempt(folder, name)
        results.append(cell_result(cell, chosen[1] if chosen else ()))
    return Summary(folder, plan["config"], tuple(results))


def to_json(summary: Summary) -> dict[str, Any]:
    """What `iwkit report --format json` prints. With one seed a task's key is its id, with several `ID-sSEED`."""
    seeds = {r.seed for r in summary.results}
    tasks = {}
    for result in summary.results:
        fields = asdict(result) | {"efficiency": result.efficiency}
        del fields["task"], fields["seed"]
        fields["points"] = list(fields["points"])
        tasks[result.task if len(seeds) == 1 else f"{result.task}-s{result.seed}"] = fields
    return {
        "config": summary.config,
        **asdict(summary.total),
        "families": {family: asdict(figures) for family, figures in by_family(summary.results).items()},
        "capabilities": {name: asdict(score) for name, score in cap_scores(summary.results).items()},
        "efficiency": asdict(efficiency(summary.results)),
        "proactive": asdict(proactive_total(summary.results)),
        "models": [asdict(total) for total in totals(summary.folder)],
        "tasks": tasks,
    }


def title(summary: Summary) -> str:
    """Who was run in which world, and what a reader must know of tasks that are not run as they were frozen."""
    config = summary.config
    drafts = sum(r.freeze == "draft" for r in summary.results)
    other = sum(r.freeze == "code changed" for r in summary.results)
    notes = [f"{drafts} not frozen"] if drafts else []
    notes += ["code changed since the controls were run"] if other else []
    notes += ["another body than the default one"] if config.get("body", "default") != "default" else []
    notes += ["the assistant may keep notes"] if config.get("memory") else []
    remark = f" ({', '.join(notes)})" if notes else ""
    return f"{config['assistant']} with {config['human']} human, {config['world']} world{remark}"


def caution(summary: Summary) -> str | None:
    """What keeps the figures from saying what they seem to."""
    if ":" in summary.config["assistant"] and summary.config["world"] == "symbolic":
        return "The symbolic world gives no pictures: these figures say nothing about what the assistant can see."
    return None
