"""Which packs a command is about: ids of the lock, files, or folders; and whether they are frozen."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from iwkit import resources
from iwkit.compile import load_task
from iwkit.digest import digest
from iwkit.errors import Problems, UsageError
from iwkit.library import Library
from iwkit.lock import difference, home_of, load_lock, uses
from iwkit.problems import Problem
from iwkit_runtime.identity import runtime_digest
from iwkit_runtime.runs import Freeze, Source


def pack_files(names: Sequence[str]) -> list[Path]:
    """The files that names stand for: a path to a file or folder, or the id of a pack of the benchmark's lock. No
    names: every pack of that lock.

    Raises:
        UsageError: nothing has that name.
    """
    home = resources.root("taskpacks")
    lock = load_lock(home)
    locked = {pack_id: home / entry.path for pack_id, entry in lock.packs.items()} if lock else {}
    if not names:
        if not locked:
            raise UsageError("nothing is frozen yet: name the packs to use, or freeze them")
        return list(locked.values())
    return list(dict.fromkeys(path for name in names for path in _files(name, locked)))


def _files(name: str, locked: dict[str, Path]) -> Iterable[Path]:
    path = Path(name)
    if name in locked:
        return [locked[name]]
    if path.is_dir():
        found = sorted(path.rglob("*.yaml"))
        if not found:
            raise UsageError(f"{path}: no .yaml file in this folder")
        return found
    if path.is_file():
        return [path]
    close = difflib.get_close_matches(name, sorted(locked), n=1)
    raise UsageError(
        f"{name!r} is no file, folder or frozen task"
        + (f": did you mean {close[0]}?" if close else f": frozen are {', '.join(sorted(locked)) or 'none'}")
    )


def select(names: Sequence[str], library: Library, *, draft: bool) -> list[Source]:
    """Compile the packs and check them against their lock.

    Raises:
        Problems: packs that do not compile; all their problems.
        UsageError: a pack that is not frozen as it stands, unless `draft`.
    """
    sources: list[Source] = []
    problems: list[Problem] = []
    unfrozen: list[str] = []
    for path in pack_files(names):
        try:
            task = load_task(path, library)
        except Problems as error:
            problems += error.problems
            continue
        lock = load_lock(home_of(path))
        why = difference(lock, task, library)
        if why:
            unfrozen.append(why)
        same_code = lock is not None and lock.runtime == runtime_digest()
        freeze: Freeze = "draft" if why else "frozen" if same_code else "code changed"
        sources.append(Source(task, path, digest(uses(task, library)), freeze))
    if problems:
        raise Problems(problems)
    if unfrozen and not draft:
        raise UsageError(
            "\n".join([*unfrozen, "freeze it (iwkit controls, then iwkit freeze), or run it as a draft with --draft"])
        )
    return sources
