"""The figures of a run, as JSON and as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iwkit.metrics import CellResult, Rates, by_family, cell_result, rates
from iwkit.runfolder import closing_record, load_plan, selected_attempt

if TYPE_CHECKING:
    from rich.console import RenderableType

MARKS = {"pass": "[green]pass[/]", "fail": "[red]fail[/]", "void": "[yellow]void[/]"}


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
        results.append(cell_result(cell, closing_record(chosen[1]) if chosen else None))
    return Summary(folder, plan["config"], tuple(results))


def to_json(summary: Summary) -> dict[str, Any]:
    """What `iwkit report --json` prints. With one seed a task's key is its id, with several `ID-sSEED`."""
    total = summary.total
    seeds = {r.seed for r in summary.results}
    tasks = {}
    for result in summary.results:
        fields = asdict(result)
        del fields["task"], fields["seed"]
        tasks[result.task if len(seeds) == 1 else f"{result.task}-s{result.seed}"] = fields
    return {
        "config": summary.config,
        **asdict(total),
        "families": {family: asdict(figures) for family, figures in by_family(summary.results).items()},
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
    remark = f" ({', '.join(notes)})" if notes else ""
    return f"{config['assistant']} with {config['human']} human, {config['world']} world{remark}"


def caution(summary: Summary) -> str | None:
    """What keeps the figures from saying what they seem to."""
    if ":" in summary.config["assistant"] and summary.config["world"] == "symbolic":
        return "The symbolic world gives no pictures: these figures say nothing about what the assistant can see."
    return None


def ended(result: CellResult) -> str:
    malformed = f"{result.malformed} malformed answer{'' if result.malformed == 1 else 's'}" if result.malformed else ""
    return "; ".join(part for part in (result.reason, malformed) if part)


def percent(value: float | None) -> str:
    """A share as a percentage; a missing one is a dash."""
    return "–" if value is None else f"{100 * value:.1f} %"


def rate_text(figures: Rates) -> str:
    """The pass rate, or its bounds while cells are void."""
    if figures.pass_rate is not None:
        return percent(figures.pass_rate)
    if figures.low is None:
        return "–"
    return f"{percent(figures.low)} to {percent(figures.high)} ({figures.void} void)"


def tables(summary: Summary) -> list[RenderableType]:
    """Two rich tables: the cells, and the families with the total."""
    # rich is slow to import and only people need it
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    cells = Table(title=escape(title(summary)), title_justify="left", caption=caution(summary), caption_justify="left")
    for name, justify in (
        ("task", "left"),
        ("family", "left"),
        ("status", "left"),
        ("completion", "right"),
        ("actions", "right"),
        ("ticks", "right"),
        ("ended by", "left"),
    ):
        cells.add_column(name, justify=justify)  # type: ignore[arg-type]
    for r in summary.results:
        cells.add_row(
            r.task,
            r.family,
            MARKS[r.status],
            percent(r.completion),
            number(r.actions),
            number(r.ticks),
            escape(ended(r)),
        )
    families = Table()
    for name, justify in (
        ("family", "left"),
        ("passed", "right"),
        ("pass rate", "right"),
        ("mean completion", "right"),
    ):
        families.add_column(name, justify=justify)  # type: ignore[arg-type]
    for family, figures in by_family(summary.results).items():
        families.add_row(family, f"{figures.passed} of {figures.cells}", rate_text(figures), percent(figures.mcr))
    total = summary.total
    families.add_section()
    families.add_row("all", f"{total.passed} of {total.cells}", rate_text(total), percent(total.mcr))
    return [cells, families]


def number(value: int | None) -> str:
    return "–" if value is None else str(value)
