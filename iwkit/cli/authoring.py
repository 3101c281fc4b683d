"""`iwkit controls`, `iwkit mutate`, `iwkit optimum`, `iwkit freeze`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(controls)
    app.command()(mutate)
    app.command()(optimum)
    app.command()(freeze)


def controls(
    packs: Annotated[list[str], typer.Argument(help="Pack files or folders, or ids of frozen tasks.")],
    world: Annotated[str, typer.Option(help="both, symbolic or physical. Freezing needs both.")] = "both",
) -> None:
    """Prove packs sound: the oracle passes; no help, wrong help and early help fail. The result is filed by digest."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table

    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.library import home_of
    from iwkit_authoring.controls import AGENTS, ORDER, ControlResult, file_controls, run_controls
    from iwkit_runtime.selection import select

    worlds = list(dict.fromkeys(row[0] for row in ORDER)) if world == "both" else [world]
    sources = select(packs, draft=True)
    table = Table("task", "world", "assistant", "human", "status", "right", "why")
    sound = True
    bar = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*bar, console=Console(stderr=True), transient=True) as progress:
        row = progress.add_task("controls", total=len(sources) * len(worlds) * len(AGENTS))
        for source in sources:
            pack_id = source.task.id

            def done(r: ControlResult, pack_id: str = pack_id) -> None:
                right = "[green]yes[/]" if r.right else "[red]NO[/]"
                table.add_row(pack_id, r.world, r.assistant, r.human, r.status, right, r.why)
                progress.update(row, advance=1, description=f"{pack_id} {r.world} {r.assistant}")

            report = run_controls(source.task, worlds, done)
            file_controls(report, home_of(source.path))
            sound = sound and report.right
    Console().print(table)
    if not sound:
        raise typer.Exit(EXIT_PROBLEM)


def mutate(
    packs: Annotated[list[str], typer.Argument(help="Pack files or folders, or ids of frozen tasks.")],
    every: Annotated[bool, typer.Option("--all", help="List every mutant, and what became of it.")] = False,
) -> None:
    """Change the oracle in small ways, and list the changes that the goal does not notice."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit_authoring.mutation import VERDICTS, mutate
    from iwkit_runtime.selection import select

    table = Table("task", "mutants", *VERDICTS)
    console = Console(soft_wrap=True)
    clean = True
    for source in select(packs, draft=True):
        found = mutate(source.task)
        counts = [sum(r.verdict == verdict for r in found.results) for verdict in VERDICTS]
        table.add_row(found.pack, str(len(found.results)), *map(str, counts))
        for result in found.results if every else found.survivors:
            console.print(escape(f"{found.pack}  {result.verdict}: {result.mutant}  ({result.why})"), highlight=False)
        for mark in found.stale:
            console.print(
                escape(f"{found.pack}  review marks {mark!r}, which does not survive: remove it"), highlight=False
            )
        clean = clean and found.clean
    Console().print(table)
    if not clean:
        raise typer.Exit(EXIT_PROBLEM)


def optimum(
    packs: Annotated[list[str], typer.Argument(help="Pack files or folders, or ids of frozen tasks.")],
    seconds: Annotated[float, typer.Option(help="For how long each pack is searched at most.")] = 60,
) -> None:
    """Search for the shortest way to satisfy a pack's goal, and compare it with the oracle."""
    from rich.console import Console
    from rich.table import Table

    from iwkit.errors import UsageError
    from iwkit.grammar import render
    from iwkit_authoring.optimum import optimum
    from iwkit_runtime.selection import select

    if not seconds > 0:
        raise UsageError("--seconds must be more than 0")
    table = Table("task", "oracle", "at least", "at most", "result", "states")
    for source in select(packs, draft=True):
        found = optimum(source.task, seconds)
        low, high = ("unknown" if bound is None else str(bound) for bound in (found.low, found.high))
        table.add_row(found.pack, str(found.oracle), low, high, found.status, str(found.states))
        if found.why:
            typer.echo(f"{found.pack}  {found.status}: {found.why}")
        if found.plan and len(found.plan) < found.oracle:
            typer.echo(f"{found.pack}  shorter than the oracle: {' '.join(map(render, found.plan))}")
    Console().print(table)


def freeze(
    packs: Annotated[list[str] | None, typer.Argument(help="Pack files or folders; default: the benchmark's.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only compare with the lock.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="First drop packs whose files are gone.")] = False,
) -> None:
    """Freeze packs by digest. Needs clean checks, right controls for this very digest, and no unmarked mutant alive."""
    from iwkit import resources
    from iwkit.errors import UsageError
    from iwkit_authoring.freeze import freeze as freeze_packs
    from iwkit_authoring.freeze import prune as drop_gone
    from iwkit_runtime.selection import pack_files, packs_in

    if check and prune:
        raise UsageError("--check writes nothing: leave out --check or --prune")
    names = packs or [str(resources.root("taskpacks"))]
    if check:
        _check(_homes(names))
        return
    if prune:
        for home in _homes(names):
            for pack_id in drop_gone(home):
                typer.echo(f"dropped from {home}: {pack_id}")
        names = [name for name in names if not Path(name).is_dir() or packs_in(Path(name))]
    for path in freeze_packs(pack_files(names)) if names else ():
        typer.echo(f"frozen: {path}")


def _homes(names: list[str]) -> list[Path]:
    """The projects that names are about. A folder with a lock is one, even when its packs are gone."""
    from iwkit.library import LOCK_NAME, home_of
    from iwkit_runtime.selection import pack_files

    locked = [name for name in names if (Path(name) / LOCK_NAME).is_file()]
    files = pack_files([name for name in names if name not in locked]) if len(locked) < len(names) else []
    return list(dict.fromkeys([*(Path(name).resolve() for name in locked), *map(home_of, files)]))


def _check(homes: list[Path]) -> None:
    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit_authoring.freeze import check_lock

    wrong = False
    for home in homes:
        found, notes = check_lock(home)
        wrong = wrong or bool(found)
        for line in (*found, *(f"note: {line}" for line in notes)):
            typer.echo(line)
        if not found:
            typer.echo(f"{home}: everything is as frozen")
    if wrong:
        raise typer.Exit(EXIT_PROBLEM)
