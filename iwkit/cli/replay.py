"""`iwkit replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(replay)


def replay(
    folder: Annotated[Path, typer.Argument(help="A run folder of the physical world.")],
    episode: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="F10, or F10-s0 with its seed; default: every episode.")
    ] = None,
    view: Annotated[str, typer.Option(help="head, outside, or both with what is said and done below.")] = "both",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Film of one episode, .mp4 or .webp; default: in FOLDER/films.")
    ] = None,
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of each picture in pixels.")] = "640x480",
    fps: Annotated[float, typer.Option(help="Frames shown in a second; it happened at 12.")] = 12,
) -> None:
    """Make films of episodes from their recorded trajectories: from the wearer's head and from outside."""
    import re
    import time
    from functools import partial

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from iwkit.errors import UsageError
    from iwkit.report.episode import episode_cell
    from iwkit.runfolder import load_plan
    from iwkit_runtime.recording import recordings
    from iwkit_runtime.render.film import Plan, check, write_film

    found = re.fullmatch(r"(\d+)x(\d+)", size)
    if found is None:
        raise UsageError(f"no size {size!r}: write width and height in pixels, such as 640x480")
    plan = Plan(view, (int(found[1]), int(found[2])), fps)
    check(plan)
    cells = [episode_cell(folder, episode)] if episode else sorted(load_plan(folder)["cells"])
    if out is not None and len(cells) > 1:
        raise UsageError(f"--out names one film, and the run has {len(cells)} episodes: name one ({', '.join(cells)})")
    bar = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    for recording in recordings(folder, cells):
        for note in recording.notes:
            typer.echo(f"{recording.cell}: note: {note}", err=True)
        file = out or folder / "films" / f"{recording.cell}.mp4"
        start = time.monotonic()
        with Progress(*bar, console=Console(stderr=True), transient=True) as progress:
            row = progress.add_task(recording.cell, total=None)
            shown = partial(progress.update, row)
            drawn = write_film(recording, file, plan, lambda made, total: shown(completed=made, total=total))  # noqa: B023
        rate = drawn / (time.monotonic() - start)
        typer.echo(f"{file}")
        typer.echo(f"{recording.cell}: {drawn} pictures drawn, {rate:.1f} a second", err=True)
