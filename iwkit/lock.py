"""The lock file of a set of packs: what was frozen, and how a pack on disk compares with it (BENCH-7)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from iwkit.compile import CompiledTask
from iwkit.digest import digest, file_digest
from iwkit.errors import UsageError
from iwkit.families import families
from iwkit.library import LOCK_NAME, Library
from iwkit.resources import BODY, body_file, default_body, motion_folder
from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.lock import Lock

CONTROLS = "controls"
"""Folder beside the lock that holds the filed controls of each pack."""


def load_lock(home: Path) -> Lock | None:
    """The lock of a folder, or None if nothing is frozen there.

    Raises:
        Problems: the file is not a lock.
    """
    path = home / LOCK_NAME
    return check(read(path), Lock) if path.is_file() else None


def controls_path(home: Path, pack_id: str) -> Path:
    return home / CONTROLS / f"{pack_id}.json"


def body_digest() -> str:
    """Digest of the file of the wearer's body, and of the clips after which it walks: a result with another body is
    another result. Of clips their names and sizes count: a folder of them is too large to be read each time.

    Raises:
        UsageError: the environment names a file that can't be read.
    """
    path = body_file()
    try:
        state, folder = path.stat(), motion_folder()
        own = _digest_once(path, state.st_mtime_ns, state.st_size)
        if folder is None:
            return own
        clips = [[p.relative_to(folder).as_posix(), p.stat().st_size] for p in sorted(folder.rglob("*.npz"))]
        return digest({"body": own, "clips": clips})
    except OSError as error:
        raise UsageError(f"the body file {path} can't be read ({error.strerror}): mend or unset {BODY}") from error


def body_label() -> str:
    """The body of a run as it is recorded: `default`, or the digest of the user's."""
    return "default" if body_file() == default_body() and motion_folder() is None else body_digest()


@lru_cache(maxsize=4)
def _digest_once(path: Path, changed: int, size: int) -> str:  # noqa: ARG001  they tell whether it is still the same
    return file_digest(path)


def uses(task: CompiledTask, library: Library) -> dict[str, Any]:
    """Digests of a pack and of what it uses: the fields of `LockedPack` that are computed from data."""
    catalogue = library.catalogue.categories
    decor = {piece.category for piece in task.scene.decor.values()}
    used = sorted(decor | {t.category for t in task.things.values() if t.category in catalogue})
    recipes = {name: library.recipes[name].model_dump(mode="json") for name in used if name in library.recipes}
    family = families()[task.pack.source_family]
    return {
        "pack": task.digest,
        "physical": task.physical_digest,
        "scene": digest(task.scene.model_dump(mode="json")),
        "categories": digest({name: catalogue[name].model_dump(mode="json") for name in used}),
        "recipes": digest(recipes),
        "body": body_digest(),
        "family_file": digest(family.model_dump(mode="json")),
    }


def difference(lock: Lock | None, task: CompiledTask, used: Mapping[str, Any]) -> str | None:
    """Why a pack, with what it `uses`, is not the frozen one, or None if it is."""
    locked = lock.packs.get(task.id) if lock else None
    if locked is None:
        return f"{task.id} is not frozen"
    frozen = locked.model_dump()
    changed = [name for name, value in used.items() if frozen[name] != value]
    if not changed:
        return None
    return f"{task.id} differs from the frozen one in: {', '.join(changed)}"
