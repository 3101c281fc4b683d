"""`iwkit review`, `iwkit freeze`, `iwkit diff`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from iwkit.cli.common import Packs, pack_names, words


def register(app: typer.Typer) -> None:
    for command in (review, freeze, diff):
        app.command()(command)


def review(
    packs: Packs,
    by: Annotated[str, typer.Option(help="Who read it: a name.")],
    kind: Annotated[
        str,
        typer.Option(
            help="person, model, or author: whoever wrote the pack.", autocompletion=words("person", "model", "author")
        ),
    ],
    verdict: Annotated[
        str,
        typer.Option(
            help="keep, keep_debt (fit, with the weakness in --note) or retry.",
            autocompletion=words("keep", "keep_debt", "retry"),
        ),
    ],
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
    packs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Pack ids, files or folders; default: this project, or what ships.", autocompletion=pack_names
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only compare with the lock.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="First drop packs whose files are gone.")] = False,
) -> None:
    """Freeze packs by digest. Needs clean checks, right controls, no unmarked mutant alive, and a recorded reading."""
    from iwkit.errors import UsageError
    from iwkit.library import near
    from iwkit_authoring.freeze import freeze as freeze_packs
    from iwkit_authoring.freeze import prune as drop_gone
    from iwkit_runtime.selection import pack_files, packs_in

    if check and prune:
        raise UsageError("--check writes nothing: leave out --check or --prune")
    names = packs or [str(_home_here())]
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
        typer.echo(f"frozen: {near(path)}")
    _tell_readings(files)


def _tell_readings(files: list[Path]) -> None:
    """Who had read what was just frozen: a model's reading is called that."""
    from iwkit_authoring.readings import standing, told
    from iwkit_runtime.selection import select

    for source in select([str(path) for path in files], draft=True) if files else ():
        for reading in standing(source.task):
            typer.echo(f"{source.task.id}: {told(reading)}")


def diff(
    old: Annotated[str, typer.Argument(metavar="PACK[@REVISION]", help="A frozen revision: F10@1; default: the last.")],
    new: Annotated[
        str, typer.Argument(metavar="[PACK@REVISION]", help="Another one; default: the pack as its file is.")
    ] = "",
) -> None:
    """Say what changed in meaning between two revisions of a pack."""
    from iwkit_authoring.diff import compare
    from iwkit_authoring.revisions import last, version

    one = version(old) if new or "@" in old else last(old)
    two = version(new or old.rpartition("@")[0] or old)
    lines = compare(one, two)
    for line in lines or [f"{one.name} and {two.name} mean the same"]:
        typer.echo(line)


def _home_here() -> Path:
    """The project around the current folder, or the folder of the packs that ship."""
    from iwkit import resources
    from iwkit.library import LOCK_NAME, home_of

    here = home_of(Path("x"))
    return here if (here / LOCK_NAME).is_file() else resources.root("taskpacks")


def _homes(names: list[str]) -> list[Path]:
    """The projects that names are about. A folder with a lock is one, even when its packs are gone."""
    from iwkit.library import LOCK_NAME, home_of
    from iwkit_runtime.selection import pack_files

    locked = [name for name in names if (Path(name) / LOCK_NAME).is_file()]
    files = pack_files([name for name in names if name not in locked]) if len(locked) < len(names) else []
    return list(dict.fromkeys([*(Path(name).resolve() for name in locked), *map(home_of, files)]))


def _check(homes: list[Path]) -> None:
    from iwkit.cli.main import EXIT_PROBLEM
    from iwkit.library import LOCK_NAME, near
    from iwkit_authoring.freeze import check_lock

    wrong = False
    for home in homes:
        found, notes = check_lock(home)
        wrong = wrong or bool(found)
        for line in (*found, *(f"note: {line}" for line in notes)):
            typer.echo(line)
        if not found:
            typer.echo(f"{near(home / LOCK_NAME)}: everything is as frozen")
    if wrong:
        raise typer.Exit(EXIT_PROBLEM)
