"""`iwkit validate`, `iwkit schema`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(validate)
    app.command()(schema)


def pack_paths(paths: list[Path]) -> list[Path]:
    """The pack files among files and folders, sorted; folders are searched at any depth."""
    from iwkit.errors import UsageError

    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(path.rglob("*.yaml"))
            if not inside:
                raise UsageError(f"{path}: no .yaml file in this folder")
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise UsageError(f"{path}: no such file or folder")
    return list(dict.fromkeys(found))


def validate(paths: Annotated[list[Path], typer.Argument(help="Pack files, or folders of them.")]) -> None:
    """Check TaskPacks: every problem at file:line:col with a code and a hint. Exits with 1 if there is any."""
    from iwkit_validators.suite import validate_many

    from iwkit.cli.main import EXIT_PROBLEM

    reports = validate_many(pack_paths(paths))
    problems = [problem for report in reports for problem in report.problems]
    for problem in sorted(problems):
        typer.echo(str(problem))
    clean = sum(1 for report in reports if not report.problems)
    typer.echo(
        f"{len(reports)} checked, {clean} clean, {len(problems)} problem{'' if len(problems) == 1 else 's'}", err=True
    )
    if problems:
        raise typer.Exit(EXIT_PROBLEM)


def schema(
    check: Annotated[bool, typer.Option("--check", help="Only say whether the files are up to date.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write to; default: iwkit's own schemas.")] = None,
) -> None:
    """Write the JSON Schemas of packs, scenes, catalogue, families and lock (for editors)."""
    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.schemas import stale, write

    if check:
        old = stale(out)
        for path in old:
            typer.echo(f"{path} is out of date: run iwkit schema")
        raise typer.Exit(EXIT_PROBLEM if old else 0)
    for path in write(out):
        typer.echo(str(path))
