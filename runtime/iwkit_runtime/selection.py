"""Which packs a command is about: ids of the lock, files, or folders; and whether they are frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from iwkit import resources
from iwkit.compile import load_task
from iwkit.digest import digest
from iwkit.errors import Problems, UsageError
from iwkit.library import LOCK_NAME, Libraries, Library, files_in, home_of
from iwkit.lock import difference, load_lock, uses
from iwkit.problems import Problem
from iwkit.source.kind import kind_of
from iwkit.suggest import ask, closest, listed
from iwkit_runtime.identity import runtime_digest
from iwkit_runtime.runs import Freeze, Source


def pack_files(names: Sequence[str]) -> list[Path]:
    """The files that names stand for: a path to a file or folder, or the id of a pack that is frozen in the lock of the
    project around the current folder, or else in the benchmark's. No names: every pack of the benchmark's lock.

    Of a folder only packs are taken, not the scenes and catalogues that may lie there.

    Raises:
        UsageError: nothing has that name.
    """
    benchmark = _frozen(resources.root("taskpacks"))
    if not names:
        if not benchmark:
            raise UsageError("nothing is frozen yet: name the packs to use, or freeze them")
        return list(benchmark.values())
    here = home_of(Path("x"))
    own = _frozen(here)
    return list(dict.fromkeys(path for name in names for path in _files(name, own, benchmark, here)))


def _frozen(home: Path) -> dict[str, Path]:
    """Pack id -> its file, of the lock of a folder."""
    lock = load_lock(home)
    return {pack_id: home / entry.path for pack_id, entry in lock.packs.items()} if lock else {}


def _files(name: str, own: Mapping[str, Path], benchmark: Mapping[str, Path], here: Path) -> Iterable[Path]:
    path = Path(name)
    frozen = {**benchmark, **own}
    if name in frozen:
        return [frozen[name]]
    if path.is_dir():
        found = packs_in(path)
        if not found:
            raise UsageError(f"{path}: no pack in this folder")
        return found
    if path.is_file():
        return [path]
    what = f"{name!r} is no file, folder or frozen task"
    if near := closest(name, frozen):
        raise UsageError(f"{what}: {ask(near)}")
    mine = f"{here / LOCK_NAME} ({listed(sorted(own))})" if own else f"{here / LOCK_NAME}, which holds none"
    raise UsageError(f"{what}: looked in {mine}, and in iwkit's own lock ({listed(sorted(benchmark))})")


def packs_in(folder: Path) -> list[Path]:
    """The packs in a folder, at any depth, sorted."""
    return [path for path in files_in(folder) if kind_of(path) == "taskpack"]


def select(names: Sequence[str], library: Library | None = None, *, draft: bool) -> list[Source]:
    """Compile the packs and check them against their lock. `library` is by default that of each pack's project.

    Raises:
        Problems: packs that do not compile; all their problems.
        UsageError: a pack that is not frozen as it stands, unless `draft`.
    """
    sources: list[Source] = []
    problems: list[Problem] = []
    unfrozen: list[str] = []
    libraries = Libraries(library)
    for path in pack_files(names):
        library = libraries.of(path)
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
