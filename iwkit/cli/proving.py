"""`iwkit controls`, `iwkit mutate`, `iwkit optimum`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from iwkit.cli.common import Packs, words

if TYPE_CHECKING:
    from iwkit_authoring.controls import ControlReport
    from iwkit_runtime.sources import Source


def register(app: typer.Typer) -> None:
    for command in (controls, mutate, optimum):
        app.command()(command)


def controls(
    packs: Packs,
    world: Annotated[
        str,
        typer.Option(
            help="both, symbolic or physical. Freezing needs both.",
            autocompletion=words("both", "symbolic", "physical"),
        ),
    ] = "both",
    layers: Annotated[bool, typer.Option("--layers", help="Also tell what each of the eight layers found.")] = False,
    repeat: Annotated[int, typer.Option(help="Play each control so often again, and compare the records.")] = 0,
    seed: Annotated[int | None, typer.Option(min=0, help="Prove the variant that this seed plays.")] = None,
    all_seeds: Annotated[bool, typer.Option("--all-seeds", help="Prove every variant, one after the other.")] = False,
) -> None:
    """Prove packs sound: the oracle passes; no help, wrong help and early help fail. The result is filed by digest."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table

    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.library import home_of
    from iwkit_authoring.controls import AGENTS, ORDER, ControlResult, file_controls, run_controls

    worlds = list(dict.fromkeys(row[0] for row in ORDER)) if world == "both" else [world]
    played = list(_variants(packs, seed, all_seeds))
    table = Table("task", "world", "assistant", "human", "status", "right", "why")
    reports: list[ControlReport] = []
    bar = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*bar, console=Console(stderr=True), transient=True) as progress:
        row = progress.add_task("controls", total=len(played) * len(worlds) * len(AGENTS))
        for name, source in played:

            def done(r: ControlResult, name: str = name) -> None:
                right = "[green]yes[/]" if r.right else "[red]NO[/]"
                table.add_row(name, r.world, r.assistant, r.human, r.status, right, escape(r.why))
                progress.update(row, advance=1, description=f"{name} {r.world} {r.assistant}")

            reports.append(run_controls(source.task, worlds, done, repeat=repeat))
            if not source.task.variant:
                file_controls(reports[-1], home_of(source.path))
    Console().print(table)
    if layers:
        _tell_layers(reports)
    if repeat:
        unsteady, wrong = (sum(getattr(report, word) for report in reports) for word in ("unsteady", "wrong"))
        typer.echo(f"each played {repeat + 1} times: {unsteady} nondeterministic, {wrong} wrong")
    if not all(report.right for report in reports):
        raise typer.Exit(EXIT_PROBLEM)


def _variants(packs: Sequence[str], seed: int | None, every: bool) -> Iterator[tuple[str, Source]]:
    """What is proved, and its name in the table: packs as they are written, or the variants that seeds play."""
    from iwkit.errors import UsageError
    from iwkit.runfolder import cell_name, variant_name
    from iwkit_runtime.selection import select

    if every and seed is not None:
        raise UsageError("--all-seeds is every seed: leave out --seed")
    for source in select(packs, draft=True):
        count = source.task.pack.variants
        if seed is not None and seed >= count:
            there = f"{count} variants, the seeds 0 to {count - 1}" if count > 1 else "no variants, the seed 0 alone"
            raise UsageError(f"{source.task.id} has {there}")
        for number in range(count) if every else [seed or 0]:
            varied = source.of_seed(number)
            name = cell_name(source.task.id, number) if number else source.task.id
            if varied.task.variant:
                typer.echo(f"{name}: {variant_name(varied.task.variant)}")
            yield name, varied


def _tell_layers(reports: Sequence[ControlReport]) -> None:
    """A table of the layers of each control, then what each that is not ok found."""
    from rich.console import Console
    from rich.table import Table

    from iwkit_authoring.layers import LAYERS

    table = Table("task", "world", "assistant", "human", "layers ok", "others")
    found: dict[str, None] = {}
    for report in reports:
        for r in report.results:
            verdicts = {name: r.layers[name].partition(":")[0] for name in LAYERS}
            others = ", ".join(f"{name} {_SHORT[verdict]}" for name, verdict in verdicts.items() if verdict != "ok")
            ok = f"{sum(verdict == 'ok' for verdict in verdicts.values())} of {len(LAYERS)}"
            table.add_row(report.pack, r.world, r.assistant, r.human, ok, others)
            for name, why in r.layers.items():
                if why.startswith("wrong"):
                    found[f"{report.pack}  {r.world} {r.assistant} {r.human}, {name}: {why}"] = None
                elif ":" in why:
                    found[f"{report.pack}  {r.world}, {name}: {why}"] = None
        found |= dict.fromkeys(f"{report.pack}  {name}: unrun: {why}" for name, why in report.unrun.items())
    Console().print(table)
    for line in found:
        typer.echo(line)


_SHORT = {"wrong": "[red]WRONG[/]", "unavailable": "unavailable"}
"""Verdict of a layer that is not ok -> how the table shows it."""


def mutate(
    packs: Packs,
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
    packs: Packs,
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
