"""`iwkit controls`, `iwkit mutate`, `iwkit optimum`, `iwkit review`, `iwkit freeze`, `iwkit diff`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from iwkit_authoring.controls import ControlReport


def register(app: typer.Typer) -> None:
    app.command()(controls)
    app.command()(mutate)
    app.command()(optimum)
    app.command()(review)
    app.command()(freeze)
    app.command()(diff)


def controls(
    packs: Annotated[list[str], typer.Argument(help="Pack files or folders, or ids of frozen tasks.")],
    world: Annotated[str, typer.Option(help="both, symbolic or physical. Freezing needs both.")] = "both",
    layers: Annotated[bool, typer.Option("--layers", help="Also tell what each of the eight layers found.")] = False,
    repeat: Annotated[int, typer.Option(help="Play each control so often again, and compare the records.")] = 0,
) -> None:
    """Prove packs sound: the oracle passes; no help, wrong help and early help fail. The result is filed by digest."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table

    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.library import home_of
    from iwkit_authoring.controls import AGENTS, ORDER, ControlResult, file_controls, run_controls
    from iwkit_runtime.selection import select

    worlds = list(dict.fromkeys(row[0] for row in ORDER)) if world == "both" else [world]
    sources = select(packs, draft=True)
    table = Table("task", "world", "assistant", "human", "status", "right", "why")
    reports: list[ControlReport] = []
    bar = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*bar, console=Console(stderr=True), transient=True) as progress:
        row = progress.add_task("controls", total=len(sources) * len(worlds) * len(AGENTS))
        for source in sources:
            pack_id = source.task.id

            def done(r: ControlResult, pack_id: str = pack_id) -> None:
                right = "[green]yes[/]" if r.right else "[red]NO[/]"
                table.add_row(pack_id, r.world, r.assistant, r.human, r.status, right, escape(r.why))
                progress.update(row, advance=1, description=f"{pack_id} {r.world} {r.assistant}")

            reports.append(run_controls(source.task, worlds, done, repeat=repeat))
            file_controls(reports[-1], home_of(source.path))
    Console().print(table)
    if layers:
        _tell_layers(reports)
    if repeat:
        unsteady, wrong = (sum(getattr(report, word) for report in reports) for word in ("unsteady", "wrong"))
        typer.echo(f"each played {repeat + 1} times: {unsteady} nondeterministic, {wrong} wrong")
    if not all(report.right for report in reports):
        raise typer.Exit(EXIT_PROBLEM)


def _tell_layers(reports: Sequence[ControlReport]) -> None:
    """A table of the layers of each control, then what each that is not ok found."""
    from rich.console import Console
    from rich.table import Table

    from iwkit_authoring.layers import LAYERS

    table = Table("task", "world", "assistant", "human", *LAYERS)
    found: dict[str, None] = {}
    for report in reports:
        for r in report.results:
            verdicts = (r.layers[name].partition(":")[0] for name in LAYERS)
            table.add_row(report.pack, r.world, r.assistant, r.human, *(_SHORT[verdict] for verdict in verdicts))
            for name, why in r.layers.items():
                if why.startswith("wrong"):
                    found[f"{report.pack}  {r.world} {r.assistant} {r.human}, {name}: {why}"] = None
                elif ":" in why:
                    found[f"{report.pack}  {r.world}, {name}: {why}"] = None
        found |= dict.fromkeys(f"{report.pack}  {name}: unrun: {why}" for name, why in report.unrun.items())
    Console().print(table)
    for line in found:
        typer.echo(line)


_SHORT = {"ok": "ok", "wrong": "[red]WRONG[/]", "unavailable": "-"}
"""Verdict of a layer -> how the table shows it."""


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


def review(
    packs: Annotated[list[str], typer.Argument(help="Pack files or folders, or ids of frozen tasks.")],
    by: Annotated[str, typer.Option(help="Who read it: a name.")],
    kind: Annotated[str, typer.Option(help="person, model, or author: whoever wrote the pack.")],
    verdict: Annotated[str, typer.Option(help="keep, keep_debt (fit, with the weakness in --note) or retry.")],
    note: Annotated[str | None, typer.Option(help="What the reader says.")] = None,
) -> None:
    """Record that somebody read packs as they are, and what came of it. Freezing needs such a reading."""
    from pydantic import ValidationError

    from iwkit.errors import UsageError
    from iwkit.spec.review import Reading
    from iwkit_authoring.readings import add_reading, today, told
    from iwkit_runtime.selection import select

    if verdict in ("keep_debt", "retry") and not note:
        raise UsageError(f"say with --note why the verdict is {verdict}")
    given = {"by": by, "kind": kind, "date": today(), "verdict": verdict, "note": note}
    sources = select(packs, draft=True)
    try:
        readings = [Reading.model_validate({**given, "pack": source.task.digest}) for source in sources]
    except ValidationError as error:
        wrong = error.errors()[0]
        raise UsageError(f"--{wrong['loc'][0]} {wrong['input']!r}: {wrong['msg']}") from None
    for source, reading in zip(sources, readings, strict=True):
        add_reading(source.path, reading, source.task.library)
        typer.echo(f"{source.task.id}: {told(reading)}")


def freeze(
    packs: Annotated[list[str] | None, typer.Argument(help="Pack files or folders; default: the benchmark's.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only compare with the lock.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="First drop packs whose files are gone.")] = False,
) -> None:
    """Freeze packs by digest. Needs clean checks, right controls, no unmarked mutant alive, and a recorded reading."""
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
    files = pack_files(names) if names else []
    for path in freeze_packs(files) if files else ():
        typer.echo(f"frozen: {path}")
    _tell_readings(files)


def _tell_readings(files: list[Path]) -> None:
    """Who had read what was just frozen: a model's reading is called that."""
    from iwkit_authoring.readings import standing, told
    from iwkit_runtime.selection import select

    for source in select([str(path) for path in files], draft=True) if files else ():
        for reading in standing(source.task):
            typer.echo(f"{source.task.id}: {told(reading)}")


def diff(
    old: Annotated[str, typer.Argument(metavar="PACK@REVISION", help="A frozen revision: F10@1.")],
    new: Annotated[
        str, typer.Argument(metavar="[PACK@REVISION]", help="Another one; default: the pack as its file is.")
    ] = "",
) -> None:
    """Say what changed in meaning between two revisions of a pack."""
    from iwkit_authoring.diff import compare
    from iwkit_authoring.revisions import version

    one = version(old)
    two = version(new or old.rpartition("@")[0] or old)
    lines = compare(one, two)
    for line in lines or [f"{one.name} and {two.name} mean the same"]:
        typer.echo(line)


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
