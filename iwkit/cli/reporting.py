"""`iwkit report`, `bundle`, `compare`, `grid`, `agreement`, `horizon`: figures of runs that were made."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iwkit.report.table import Table


class Format(StrEnum):
    """In which form figures are printed."""

    TABLE = "table"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


class Name(StrEnum):
    """The tables of a run."""

    CELLS = "cells"
    FAMILIES = "families"
    CAPABILITIES = "capabilities"
    EFFICIENCY = "efficiency"
    PROACTIVE = "proactive"
    ROUTES = "routes"
    POINTS = "points"
    SEEDS = "seeds"
    MANIFEST = "manifest"
    MODELS = "models"


class Figure(StrEnum):
    """What a grid shows."""

    MCR = "mcr"
    PASS = "pass"  # noqa: S105  no password
    PASSED = "passed"


FormatOption = Annotated[Format, typer.Option("--format", help="In which form.")]
Runs = Annotated[list[Path], typer.Argument(help="Run folders.")]


def register(app: typer.Typer) -> None:
    for command in (report, bundle, compare, grid, agreement, horizon):
        app.command()(command)


def report(
    folder: Annotated[Path, typer.Argument(help="A run folder.")],
    episode: Annotated[str | None, typer.Option(help="Show one episode as a transcript.")] = None,
    table: Annotated[list[Name] | None, typer.Option(help="Which table; may be given more than once.")] = None,
    format_: FormatOption = Format.TABLE,
    html: Annotated[Path | None, typer.Option(help="Write all of it as one web page to this file.")] = None,
) -> None:
    """Show the figures of a run, or what happened in one episode. Exits with 1 if a record contradicts itself."""
    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.errors import UsageError
    from iwkit.report.consistency import contradictions
    from iwkit.report.summary import summarise, to_json
    from iwkit.report.tables import SHOWN, tables
    from iwkit.report.transcript import transcript

    for option, given in (("--episode", episode), ("--html", html)):
        for other, named in (("--format", format_ is not Format.TABLE), ("--table", table)):
            if given and named:
                raise UsageError(f"{option} and {other} do not go together")
    if table and format_ is Format.JSON:
        raise UsageError("--table and --format json do not go together: JSON has all figures")
    if html:
        from iwkit.report.html import write_html

        write_html(folder, html, episode)
        typer.echo(f"report written to {html}", err=True)
    elif episode:
        typer.echo(transcript(folder, episode), nl=False)
    else:
        summary = summarise(folder)
        names = tuple(n.value for n in table) if table else SHOWN
        _print(tables(summary, names), format_, to_json(summary) if format_ is Format.JSON else None)
    wrong = list(contradictions(folder))
    for line in wrong:
        typer.echo(line, err=True)
    if wrong:
        raise typer.Exit(EXIT_PROBLEM)


def bundle(
    folder: Annotated[Path, typer.Argument(help="A run folder.")],
    out: Annotated[Path, typer.Option(help="A new folder for the files.")],
) -> None:
    """Write what somebody who doubts a result needs, for each cell: the audit bundle."""
    from iwkit.report.bundle import bundle as written

    typer.echo(f"{len(written(folder, out))} cells written to {out}")


def compare(
    first: Annotated[Path, typer.Argument(help="A run folder.")],
    second: Annotated[Path, typer.Argument(help="Another run folder, of the same tasks.")],
    format_: FormatOption = Format.TABLE,
) -> None:
    """Compare two runs task by task, with exact paired tests."""
    from iwkit.errors import UsageError
    from iwkit.metrics.paired import pair
    from iwkit.report.grids import comparison_json, comparison_tables, load

    runs = load([first, second])
    pairing = pair(runs[0].results, runs[1].results)
    if not pairing.pairs:
        reasons = "; ".join(f"{name}: {why}" for name, why in pairing.left_out.items())
        raise UsageError(f"{first} and {second} have no cell in common that is valid in both: {reasons}")
    _print(comparison_tables(pairing, *runs), format_, comparison_json(pairing))


def grid(
    runs: Runs,
    rows: Annotated[str, typer.Option(help="Field of the configuration that makes the rows.")] = "assistant",
    columns: Annotated[str, typer.Option(help="Field of the configuration that makes the columns.")] = "human",
    figure: Annotated[Figure, typer.Option(help="What stands in each place.")] = Figure.MCR,
    family: Annotated[
        list[str] | None, typer.Option(help="Only cells of this family; may be given more than once.")
    ] = None,
    format_: FormatOption = Format.TABLE,
) -> None:
    """Lay many runs out by two fields of their configuration, such as assistant and human."""
    from iwkit.errors import UsageError
    from iwkit.metrics.grids import grid as laid_out
    from iwkit.report.grids import grid_json, grid_table, load

    loaded = load(runs)
    known = sorted({r.family for run in loaded for r in run.results})
    odd = sorted(set(family or ()) - set(known))
    if odd:
        raise UsageError(f"no cell is of the family {', '.join(odd)}: there are {', '.join(known)}")
    found = laid_out(loaded, rows, columns, frozenset(family or ()))
    _print([grid_table(found, rows, figure.value)], format_, grid_json(found))


def agreement(runs: Runs, format_: FormatOption = Format.TABLE) -> None:
    """Show how far different humans bring the same assistant to the same outcomes, task by task."""
    from iwkit.metrics.grids import executors
    from iwkit.report.grids import executor_tables, executors_json, load

    found = executors(load(runs))
    _print(executor_tables(found), format_, executors_json(found))


def horizon(runs: Runs, format_: FormatOption = Format.TABLE) -> None:
    """Show whether longer tasks succeed less often: the slope of success over length, adjusted for the family."""
    from dataclasses import asdict

    from iwkit.errors import UsageError
    from iwkit.metrics.horizon import outcomes, slope
    from iwkit.report.grids import horizon_tables, load

    tasks = outcomes([run.results for run in load(runs)])
    found = slope(tasks)
    if found is None:
        raise UsageError("there is no slope: no family has valid tasks of different known lengths (a draft has none)")
    _print(horizon_tables(tasks, found), format_, {**asdict(found), "tasks": [asdict(t) for t in tasks]})


def _print(tables: Sequence[Table], format_: Format, whole: Any) -> None:
    """Tables in the form asked for; `whole` is what JSON has of them."""
    import json

    from iwkit.report.table import FORMATS, to_rich

    if format_ is Format.JSON:
        typer.echo(json.dumps(whole, indent=2, ensure_ascii=False))
    elif format_ is Format.TABLE:
        from rich.console import Console

        for table in tables:
            Console().print(to_rich(table))
    else:
        typer.echo("\n".join(FORMATS[format_.value](table) for table in tables), nl=False)
