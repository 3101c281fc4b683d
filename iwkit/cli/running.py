"""`iwkit run`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

if TYPE_CHECKING:
    from iwkit_runtime.models.desk import Desk
    from iwkit_runtime.sources import Source

WAITING = 4
"""Episodes in flight where a model plays: most of the time each waits for an answer."""


def register(app: typer.Typer) -> None:
    app.command()(run)


def run(
    out: Annotated[Path, typer.Option(help="Run folder. The same command continues a stopped run.")],
    tasks: Annotated[
        list[str] | None, typer.Argument(help="Task ids, pack files or folders; default: all that the lock holds.")
    ] = None,
    assistant: Annotated[
        str, typer.Option(help="oracle, silent, wrong, early, person, a model such as openai:MODEL, or module:Class.")
    ] = "oracle",
    human: Annotated[
        str, typer.Option(help="rules, scripted, policy:FILE, person, a model, or module:Class.")
    ] = "rules",
    world: Annotated[str, typer.Option(help="physical or symbolic.")] = "physical",
    draft: Annotated[
        bool, typer.Option("--draft", help="Also run packs that are not frozen, or changed since.")
    ] = False,
    solver: Annotated[str, typer.Option(help="What solves the wearer's arms: swivel, or the paper's ccd.")] = "swivel",
    memory: Annotated[
        bool, typer.Option("--memory", help="The assistant may keep notes, which it is shown in every turn.")
    ] = False,
    models: Annotated[Path | None, typer.Option(help="File with settings of models.")] = None,
    budget: Annotated[float | None, typer.Option(help="US dollars that models may cost in this run folder.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder of answers of models, not to be paid for twice.")] = None,
    family: Annotated[
        list[str] | None, typer.Option(help="Only tasks reported under this family; may be given more than once.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many tasks, the first ones.")] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Play the seeds 0 to N-1 of each task: its variants, or the same again.")
    ] = 1,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Workers; default: one a core in the physical world or on a cluster, else one."),
    ] = None,
    in_flight: Annotated[
        int | None, typer.Option(min=1, help="Episodes at a time; default: one a worker, with a model at least 4.")
    ] = None,
    executor: Annotated[
        str, typer.Option(help="Where workers are: processes of this machine, or ray, the cluster at RAY_ADDRESS.")
    ] = "processes",
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a module:Class may take for a turn; else its cell is void.")
    ] = 600.0,
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

    sources = _chosen(select(tasks or [], draft=draft), family or [], limit)
    _tell_seeds(sources, seeds)
    blind = no_pictures(assistant, world)
    if blind and world == "physical":
        typer.echo(f"frames are unavailable: {blind}", err=True)
    bar = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    quiet = "person" in (assistant, human)  # the terminal is theirs
    with (
        _desk([assistant, human], out, models, budget, cache) as desk,
        Progress(*bar, console=Console(stderr=True), transient=True, disable=quiet) as progress,
    ):
        asked = {name: desk.identity(name) for name in desk.models(assistant, human)} if desk else {}
        config = Config(assistant, human, world, draft, blind is None, solver, memory, asked, timeout)
        crew = _at_once([assistant, human], world, jobs, in_flight, executor, modelled=bool(asked))
        row = progress.add_task("running", total=len(sources) * seeds)

        def done(task_id: str, end: dict[str, object]) -> None:
            progress.update(row, advance=1, description=f"{task_id} {end['status']}")

        try:
            run_cells(sources, config, out, done, range(seeds), desk=desk, **crew)
        except KeyboardInterrupt:
            progress.stop()
            typer.echo("interrupted: the same command goes on where it stopped", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
    summary = summarise(out)
    console = Console()
    for table in tables(summary):
        console.print(to_rich(table))
    _tell_cost(out)
    console.print(
        f"{out}: iwkit report {out} --episode {summary.results[0].task} shows what happened",
        highlight=False,
        markup=False,
    )
    if summary.has_void:
        raise typer.Exit(EXIT_VOID)


def _chosen(sources: list[Source], family: list[str], limit: int | None) -> list[Source]:
    """The packs that are run, of those that were named."""
    from iwkit.errors import UsageError

    known = sorted({source.task.pack.family for source in sources})
    if odd := sorted(set(family) - set(known)):
        raise UsageError(f"no task is of the family {', '.join(odd)}: there are {', '.join(known)}")
    return [source for source in sources if not family or source.task.pack.family in family][:limit]


def _tell_seeds(sources: list[Source], seeds: int) -> None:
    """Which of the packs that vary have fewer variants than there are seeds."""
    for source in sources:
        count = source.task.pack.variants
        if 1 < count < seeds:
            typer.echo(f"{source.task.id} has {count} variants: from seed {count} on they are played again", err=True)


class _AtOnce(TypedDict):
    """Where episodes are played, by how many workers, and how many at a time."""

    where: str
    jobs: int
    in_flight: int


def _at_once(
    agents: list[str], world: str, jobs: int | None, in_flight: int | None, where: str, *, modelled: bool
) -> _AtOnce:
    """How many episodes are played at a time, and by whom. A person at the terminal plays one at a time."""
    from iwkit.errors import UsageError
    from iwkit_runtime.workers import executor

    cores = executor(where).cores()
    if "person" in agents:
        if (jobs or 1) > 1 or (in_flight or 1) > 1 or where != "processes":
            raise UsageError("a person plays one episode at a time: leave --jobs, --in-flight and --executor out")
        return {"where": where, "jobs": 1, "in_flight": 1}
    workers = jobs or (cores if world == "physical" or where != "processes" else 1)
    episodes = in_flight or (max(workers, WAITING) if modelled else workers)
    return {"where": where, "jobs": workers, "in_flight": episodes}


@contextlib.contextmanager
def _desk(
    agents: list[str], out: Path, models: Path | None, budget: float | None, cache: Path | None
) -> Iterator[Desk | None]:
    """Where models are asked, if any agent is one."""
    from iwkit.errors import UsageError
    from iwkit_runtime.models.settings import is_model

    given = {"--models": models, "--budget": budget, "--cache": cache}
    if not any(map(is_model, agents)):
        if idle := [option for option, value in given.items() if value is not None]:
            raise UsageError(f"no agent of this run is a model: leave {' and '.join(idle)} out")
        yield None
        return
    from iwkit_runtime.models.desk import Desk

    with Desk(out, models, budget=budget, cache=cache) as desk:
        yield desk


def _tell_cost(out: Path) -> None:
    """What the models of a run were asked and what they cost, a line each."""
    from iwkit.report.calls import totals

    for total in totals(out):
        tokens = f"{total.input:,} tokens in, {total.output:,} out"
        if total.uncounted:
            tokens += f" ({total.uncounted} answers uncounted)"
        cost = "cost unknown" if total.cost is None else f"${total.cost:.4f}"
        if total.unknown and total.cost is not None:
            cost += f" and {total.unknown} calls of unknown cost"
        typer.echo(f"{total.model}: {total.calls} calls, {tokens}, {cost}", err=True)
