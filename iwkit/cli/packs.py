"""`iwkit validate`, `iwkit schema`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(validate)
    app.command()(schema)


def yaml_files(paths: list[Path]) -> list[Path]:
    """The files that paths stand for, in order: folders are searched for .yaml files at any depth, and what is no path
    may be the id of a pack.

    Raises:
        UsageError: what is not there, all of it.
    """
    from iwkit.errors import UsageError
    from iwkit.library import files_in
    from iwkit.suggest import did_you_mean
    from iwkit_runtime.selection import known_packs, paths_here

    found: list[Path] = []
    missing: list[str] = []
    for path in paths:
        if path.is_dir():
            inside = files_in(path)
            found += inside
            missing += [] if inside else [f"{path}: no .yaml file in this folder"]
        elif path.exists():
            found.append(path)
        elif pack := known_packs().get(str(path)):
            found.append(pack)
        else:
            hint = did_you_mean(path, [*known_packs(), *paths_here()])
            missing.append(f"{path}: no such file or folder{hint and f': {hint}'}")
    if missing:
        raise UsageError("\n".join(missing))
    return list(dict.fromkeys(found))


def validate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Packs, scenes, catalogues and policies, or folders of them; default: this folder."),
    ] = None,
) -> None:
    """Check files: every problem at file:line:col with a code and a hint. Exits with 1 if there is any."""
    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.source.excerpt import shown
    from iwkit_validators.suite import validate_many

    reports = validate_many(yaml_files(paths or [Path()]))
    # Each pack tells what is wrong with its scene and catalogue too, and by their full path.
    found = sorted((p for report in reports for p in report.problems), key=lambda p: len(p.file), reverse=True)
    problems = {(Path(p.file).resolve(), p.pos, p.code, p.message): p for p in found}.values()
    for problem in sorted(problems):
        typer.echo(shown(problem))
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
    """Write the JSON Schemas of packs, scenes, catalogue, recipes, policies, families and lock (for editors)."""
    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.schemas import stale, write

    if check:
        old = stale(out)
        for path in old:
            typer.echo(f"{path} is out of date: run iwkit schema")
        raise typer.Exit(EXIT_PROBLEM if old else 0)
    for path in write(out):
        typer.echo(str(path))
