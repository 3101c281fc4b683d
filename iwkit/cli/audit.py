"""`iwkit audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from iwkit_runtime.audit.checks import Outcome


def register(app: typer.Typer) -> None:
    app.command()(audit)


def audit(
    folder: Annotated[Path, typer.Argument(help="A run folder of the physical world.")],
    episode: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="F10, or F10-s0 with its seed; default: every episode.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Prove from the recorded trajectories that nobody cheated. Exits with 1 if a check fails."""
    import json

    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit_runtime.audit.checks import audit as audited
    from iwkit_runtime.recording import recordings

    found = {}
    for recording in recordings(folder, [episode] if episode else []):
        for note in recording.notes:
            typer.echo(f"{recording.cell}: note: {note}", err=True)
        found[recording.cell] = audited(recording)
    if json_:
        figures = {cell: [outcome.to_json() for outcome in outcomes] for cell, outcomes in found.items()}
        typer.echo(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        _show(found)
    if not all(outcome.passed for outcomes in found.values() for outcome in outcomes):
        raise typer.Exit(EXIT_PROBLEM)


def _show(found: dict[str, tuple[Outcome, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table

    from iwkit_runtime.audit.limits import LIMITS

    console = Console()
    for cell, outcomes in found.items():
        table = Table("check", "worst", "limit", "", "where", title=cell, title_justify="left")
        for outcome in outcomes:
            limit = LIMITS[outcome.check]
            worst = "-" if outcome.worst is None else f"{outcome.worst:.4g}"
            where = ""
            if outcome.place is not None:
                step, frame, command = outcome.place
                where = f"{outcome.what}, record {step}, frame {frame}, {command}".replace("[", r"\[")
            mark = "ok" if outcome.passed else "FAILED"
            table.add_row(outcome.check, worst, f"{limit.value:g} {limit.unit}".strip(), mark, where)
        console.print(table)
        failed = [outcome.check for outcome in outcomes if not outcome.passed]
        console.print(f"{cell}: {'failed: ' + ', '.join(failed) if failed else 'all checks passed'}", highlight=False)
