"""`iwkit inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

if TYPE_CHECKING:
    from iwkit_runtime.inspection import Answer, Inspected

MOMENTS = ("start", "handoff", "end")


def register(app: typer.Typer) -> None:
    app.command()(inspect)


def inspect(
    source: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A run folder of the physical world, or a pack file.")
    ],
    episode: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="F10, or F10-s0 with its seed; needed if there are several.")
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(metavar="RELATION", help="Why this holds or not: 'on cup table'. Default: all that hold."),
    ] = None,
    thing: Annotated[str | None, typer.Option(metavar="NAME", help="Only the relations of this thing.")] = None,
    at: Annotated[str, typer.Option(metavar="MOMENT", help="start, handoff or end.")] = "end",
    record: Annotated[int | None, typer.Option(metavar="N", help="After this record of the episode instead.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> None:
    """Say which relations hold at a moment of an episode, and why, with the measured numbers and their thresholds."""
    import json

    from iwkit.cli.main import EXIT_USAGE
    from iwkit.errors import UsageError
    from iwkit_runtime.inspection import read_relation

    try:
        if relation is not None and thing is not None:
            raise UsageError("--relation is about one relation, and --thing about all of a thing: give one of them")
        moment = _moment(source, episode, at, record)
        answers = moment.about(thing) if relation is None else [moment.answer(read_relation(relation))]
    except UsageError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(EXIT_USAGE) from None
    if json_:
        found = {"moment": moment.title, "relations": [answer.to_json() for answer in answers]}
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    typer.echo(moment.title)
    for answer in answers:
        typer.echo(_line(answer))


def _moment(source: Path, episode: str | None, at: str, record: int | None) -> Inspected:
    from iwkit.errors import UsageError
    from iwkit.report.episode import episode_cell
    from iwkit.runfolder import load_plan
    from iwkit.suggest import did_you_mean
    from iwkit_runtime.inspection import inspect_recording
    from iwkit_runtime.recording import recordings

    if source.suffix in (".yaml", ".yml"):
        return _start(source, episode, at, record)
    if at not in MOMENTS:
        raise UsageError(f"--at {at!r}: it is start, handoff or end {did_you_mean(at, MOMENTS)}".rstrip())
    cells = [episode_cell(source, episode)] if episode else sorted(load_plan(source)["cells"])
    if len(cells) != 1:
        raise UsageError(f"{source} has {len(cells)} episodes: name one of {', '.join(cells)}")
    (recording,) = recordings(source, cells)
    for note in recording.notes:
        typer.echo(f"{recording.cell}: note: {note}", err=True)
    return inspect_recording(recording, cast("Literal['start', 'handoff', 'end']", at), record)


def _start(pack: Path, episode: str | None, at: str, record: int | None) -> Inspected:
    from iwkit.compile import load_task
    from iwkit.errors import UsageError
    from iwkit.library import Library
    from iwkit_runtime.inspection import inspect_start
    from iwkit_runtime.physical.layout import Assets

    if episode is not None or record is not None or at == "handoff":
        raise UsageError(f"{pack} is a pack, of which there is only the start: name a run folder for an episode")
    library = Library.for_file(pack)
    return inspect_start(load_task(pack, library), Assets.of_library(library))


def _line(answer: Answer) -> str:
    holds = "holds" if answer.holds else "does not hold"
    other = "" if not answer.differs else f"; the record says that it {'does not' if answer.holds else 'holds'}"
    return f"{answer.text} {holds}: {answer.why}{other}"
