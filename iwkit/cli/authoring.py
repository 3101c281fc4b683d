"""`iwkit controls`, `iwkit freeze`."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(controls)
    app.command()(freeze)


def controls(
    packs: Annotated[list[str], typer.Argument(help="Pack files or folders, or ids of frozen tasks.")],
    world: Annotated[str, typer.Option(help="symbolic or physical.")] = "symbolic",
) -> None:
    """Prove packs sound: the oracle passes; no help, wrong help and early help fail. The result is filed by digest."""
    from rich.console import Console
    from rich.table import Table

    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.library import Library
    from iwkit.lock import home_of
    from iwkit_authoring.controls import file_controls, run_controls
    from iwkit_runtime.selection import select

    table = Table("task", "assistant", "human", "status", "right", "why")
    sound = True
    for source in select(packs, Library(), draft=True):
        report = run_controls(source.task, world)
        file_controls(report, home_of(source.path))
        sound = sound and report.right
        for r in report.results:
            table.add_row(
                report.pack, r.assistant, r.human, r.status, "[green]yes[/]" if r.right else "[red]NO[/]", r.why
            )
    Console().print(table)
    if not sound:
        raise typer.Exit(EXIT_PROBLEM)


def freeze(
    packs: Annotated[list[str] | None, typer.Argument(help="Pack files or folders; default: the benchmark's.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only compare with the lock.")] = False,
) -> None:
    """Freeze packs by digest. Needs clean checks, and right controls for this very digest."""
    from iwkit import resources
    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.library import Library
    from iwkit.lock import home_of
    from iwkit_authoring.freeze import check_lock
    from iwkit_authoring.freeze import freeze as freeze_packs
    from iwkit_runtime.selection import pack_files

    files = pack_files(packs or [str(resources.root("taskpacks"))])
    if not check:
        for path in freeze_packs(files, Library()):
            typer.echo(f"frozen: {path}")
        return
    wrong = False
    for home in dict.fromkeys(map(home_of, files)):
        found, notes = check_lock(home, Library())
        wrong = wrong or bool(found)
        for line in found:
            typer.echo(line)
        for line in notes:
            typer.echo(f"note: {line}")
        if not found:
            typer.echo(f"{home}: everything is as frozen")
    if wrong:
        raise typer.Exit(EXIT_PROBLEM)
