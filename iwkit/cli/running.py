"""`iwkit run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(run)


def run(
    out: Annotated[Path, typer.Option(help="Run folder. The same command continues a stopped run.")],
    tasks: Annotated[
        list[str] | None, typer.Argument(help="Task ids, pack files or folders; default: all that the lock holds.")
    ] = None,
    assistant: Annotated[str, typer.Option(help="oracle, silent, wrong, early, or module:Class.")] = "oracle",
    human: Annotated[str, typer.Option(help="rules, scripted, policy:FILE, or module:Class.")] = "rules",
    world: Annotated[str, typer.Option(help="physical or symbolic.")] = "physical",
    draft: Annotated[
        bool, typer.Option("--draft", help="Also run packs that are not frozen, or changed since.")
    ] = False,
    solver: Annotated[str, typer.Option(help="What solves the wearer's arms: swivel, or the paper's ccd.")] = "swivel",
) -> None:
    """Run an assistant on tasks and show the table. Exits with 3 if cells are void; a failed task is a measurement."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from iwkit.cli.main import EXIT_INTERRUPTED, EXIT_VOID
    from iwkit.report.summary import summarise
    from iwkit.report.table import to_rich
    from iwkit.report.tables import tables
    from iwkit_runtime.runs import Config, no_pictures
    from iwkit_runtime.runs import run as run_cells
    from iwkit_runtime.selection import select

    sources = select(tasks or [], draft=draft)
    blind = no_pictures(assistant, world)
    if blind and world == "physical":
        typer.echo(f"frames are unavailable: {blind}", err=True)
    config = Config(assistant, human, world, draft, pictures=blind is None, solver=solver)
    bar = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*bar, console=Console(stderr=True), transient=True) as progress:
        row = progress.add_task("running", total=len(sources))

        def done(task_id: str, end: dict[str, object]) -> None:
            progress.update(row, advance=1, description=f"{task_id} {end['status']}")

        try:
            run_cells(sources, config, out, done)
        except KeyboardInterrupt:
            progress.stop()
            typer.echo("interrupted: the same command goes on where it stopped", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
    summary = summarise(out)
    console = Console()
    for table in tables(summary):
        console.print(to_rich(table))
    console.print(
        f"{out}: iwkit report {out} --episode {summary.results[0].task} shows what happened",
        highlight=False,
        markup=False,
    )
    if summary.has_void:
        raise typer.Exit(EXIT_VOID)
