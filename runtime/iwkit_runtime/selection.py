"""Which packs a command is about: ids of the lock, files, or folders; and whether they are frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from iwkit import resources
from iwkit.compile import load_task
from iwkit.digest import digest
from iwkit.errors import Problems, UsageError
from iwkit.library import LOCK_NAME, Libraries, Library, files_in, home_of, near
from iwkit.lock import difference, load_lock, uses
from iwkit.problems import Problem
from iwkit.source.kind import kind_of
from iwkit.suggest import ask, closest, listed
from iwkit_runtime.identity import runtime_digest
from iwkit_runtime.sources import Freeze, Source

_UNFROZEN: Final = "freeze it (iwkit controls, iwkit review, then iwkit freeze), or run it as a draft with --draft"
_STALE: Final = "iwkit's own lock is stale: a fault of this checkout; --draft runs it anyway"


def pack_files(names: Sequence[str]) -> list[Path]:
    """The files that names stand for: a path to a file or folder, or the id of a pack of the project around the current
    folder, or else of the benchmark's lock. No names: every pack of the project's lock, or else of the benchmark's.

    Of a folder only packs are taken, not the scenes and catalogues that may lie there.

    Raises:
        UsageError: nothing has that name.
    """
    if not names:
        frozen = _own(_frozen) or _frozen(resources.root("taskpacks"))
        if not frozen:
            raise UsageError("nothing is frozen yet: name the packs to use, or freeze them")
        return list(frozen.values())
    ids = known_packs()
    return list(dict.fromkeys(path for name in names for path in _files(name, ids)))


def known_packs() -> dict[str, Path]:
    """Id -> the file of each pack that can be named by it: those frozen in the benchmark's lock, and all of the project
    around the current folder, which come first."""
    return {**_frozen(resources.root("taskpacks")), **_own(_drafts), **_own(_frozen)}


def paths_here() -> list[str]:
    """The YAML files of the project around the current folder, and those of the packs that ship where they lie below
    it, as a person would type them."""
    home = home_of(Path("x"))
    mine = files_in(home) if (home / LOCK_NAME).is_file() else []
    shipped = [near(path) for path in _frozen(resources.root("taskpacks")).values()]
    return [*(str(near(path)) for path in mine), *(str(path) for path in shipped if not path.is_absolute())]


def _own(find: Callable[[Path], dict[str, Path]]) -> dict[str, Path]:
    """What is found in the project around the current folder, with paths as a person would type them."""
    return {pack_id: near(path) for pack_id, path in find(home_of(Path("x"))).items()}


def _frozen(home: Path) -> dict[str, Path]:
    """Pack id -> its file, of the lock of a folder."""
    lock = load_lock(home)
    return {pack_id: home / entry.path for pack_id, entry in lock.packs.items()} if lock else {}


def _drafts(home: Path) -> dict[str, Path]:
    """Name of the file -> the file, of every pack of a project, frozen or not; a folder without a lock is none."""
    return {path.stem: path for path in packs_in(home)} if (home / LOCK_NAME).is_file() else {}


def _files(name: str, ids: Mapping[str, Path]) -> Iterable[Path]:
    path = Path(name)
    if name in ids:
        return [ids[name]]
    if path.is_dir():
        found = packs_in(path)
        if not found:
            raise UsageError(f"{path}: no pack in this folder")
        return found
    if path.is_file():
        return [path]
    what = f"{name!r} is no file, folder or task"
    if meant := closest(name, [*ids, *paths_here()]):
        raise UsageError(f"{what}: {ask(meant)}")
    here = home_of(Path("x"))
    shipped = f"iwkit's own lock ({listed(sorted(_frozen(resources.root('taskpacks'))))})"
    if (here / LOCK_NAME).is_file():
        mine = listed(sorted(_own(_drafts)), "no pack")
        raise UsageError(f"{what}: looked in the project {here} ({mine}), and in {shipped}")
    raise UsageError(f"{what}: looked in {shipped}; there is no project around the current folder")


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
    stale = True
    libraries = Libraries(library)
    for path in pack_files(names):
        library = libraries.of(path)
        try:
            task = load_task(path, library)
        except Problems as error:
            problems += error.problems
            continue
        lock = load_lock(home_of(path))
        used = uses(task, library)
        why = difference(lock, task, used)
        if why:
            unfrozen.append(why)
            stale = (
                stale and lock is not None and task.id in lock.packs and home_of(path) == resources.root("taskpacks")
            )
        same_code = lock is not None and lock.runtime == runtime_digest()
        freeze: Freeze = "draft" if why else "frozen" if same_code else "code changed"
        shortest = lock.packs[task.id].shortest if lock and not why else None
        reference = shortest.high if shortest else None
        sources.append(Source(task, path, digest(used), freeze, reference))
    if problems:
        raise Problems(problems)
    if unfrozen and not draft:
        raise UsageError("\n".join([*unfrozen, _STALE if stale else _UNFROZEN]))
    return sources
