"""The record of each frozen revision of a pack: what it said, what it used, and who had read it (BENCH-7)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic import ValidationError

from iwkit.compile import CompiledTask, load_task
from iwkit.digest import digest, pack_digest
from iwkit.errors import FreezeError, UsageError
from iwkit.library import Libraries, home_of
from iwkit.lock import load_lock, uses
from iwkit.source.reader import read
from iwkit.spec.base import Model
from iwkit.spec.lock import Digest, LockedPack, Revision
from iwkit.spec.review import Reading
from iwkit_authoring.readings import standing
from iwkit_runtime.selection import pack_files

REVISIONS: Final = "revisions"
"""Folder beside the lock that holds the records. They are JSON, so that nothing takes them for packs."""
_NAMED: Final = re.compile(r"(?P<pack>.+)@(?P<revision>[1-9][0-9]{0,5})")


class RevisionRecord(Model):
    """What was frozen. `task` is the pack's data without its `review`, `uses` the digests of what it used, `readings`
    what had been said of exactly this digest."""

    revision_record: Literal["1.0"]
    id: str
    revision: int
    pack: Digest
    uses: dict[str, Digest]
    readings: tuple[Reading, ...] = ()
    task: dict[str, Any]


class Version(NamedTuple):
    """A pack at one revision, or as its file is (`revision` 0): its data, and digests of what it uses."""

    name: str
    revision: int
    task: Mapping[str, Any]
    uses: Mapping[str, str]


def record_path(home: Path, pack_id: str, revision: int) -> Path:
    return home / REVISIONS / f"{pack_id}@{revision}.json"


def make_record(path: Path, task: CompiledTask, revision: int, found: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a pack that is being frozen, as JSON. `found` are the digests of the pack and of what it uses."""
    data = {key: value for key, value in read(path).data.items() if key != "review"}
    record = RevisionRecord(
        revision_record="1.0",
        id=task.id,
        revision=revision,
        pack=task.digest,
        uses={k: v for k, v in found.items() if k not in ("pack", "physical")},
        readings=tuple(standing(task)),
        task=data,
    )
    return record.model_dump(mode="json", exclude_none=True)


def history(before: LockedPack | None, revision: int, pack: str, record: Mapping[str, Any]) -> tuple[Revision, ...]:
    """The history of a pack with this revision as its last; it is replaced if it was frozen before."""
    past = () if before is None else tuple(r for r in before.history if r.revision < revision)
    return (*past, Revision(revision=revision, pack=pack, record=digest(record)))


def wrong_records(home: Path, pack_id: str, locked: LockedPack) -> list[str]:
    """What is wrong with the records of a frozen pack: they are gone, or are not what was frozen."""
    return [str(why) for r in locked.history if (why := _read(home, pack_id, r)[1])]


def version(name: str) -> Version:
    """What `F10@2` (that frozen revision) or `F10` (the pack as its file is now) stands for; an id or a file.

    Raises:
        UsageError: there is no such pack or revision; those that there are are named.
        FreezeError: the record is gone or was changed.
        Problems: the file is no sound pack.
    """
    found = _NAMED.fullmatch(name)
    path = _file(found["pack"] if found else name)
    home = home_of(path)
    if found is None:
        return _current(name, path)
    lock = load_lock(home)
    pack_id, number = path.stem, int(found["revision"])
    locked = lock.packs.get(pack_id) if lock else None
    if locked is None:
        raise UsageError(f"{name}: {pack_id} is not frozen: it has no revisions")
    kept = {r.revision: r for r in locked.history}
    if number not in kept:
        there = ", ".join(f"{pack_id}@{n}" for n in kept) or "none; the next freeze keeps one"
        raise UsageError(
            f"{name}: no record of this revision is kept ({pack_id} is at {locked.revision}); kept: {there}"
        )
    record, why = _read(home, pack_id, kept[number])
    if record is None:
        raise FreezeError(why)
    return Version(name, number, record.task, record.uses)


def last(name: str) -> Version:
    """The revision of a pack (an id or a file) that was frozen last.

    Raises:
        UsageError: there is no such pack, or it was never frozen.
        FreezeError: the record is gone or was changed.
    """
    path = _file(name)
    lock = load_lock(home_of(path))
    locked = lock.packs.get(path.stem) if lock else None
    if locked is None:
        raise UsageError(f"{name}: {path.stem} is not frozen: there is no revision to compare it with")
    return version(f"{name}@{locked.revision}")


def _current(name: str, path: Path) -> Version:
    library = Libraries().of(path)
    found = uses(load_task(path, library), library)
    return Version(name, 0, read(path).data, {k: v for k, v in found.items() if k not in ("pack", "physical")})


def _file(name: str) -> Path:
    """The file of one pack."""
    files = pack_files([name])
    if len(files) != 1:
        raise UsageError(f"{name}: name one pack, not a folder of {len(files)}")
    return files[0]


def _read(home: Path, pack_id: str, past: Revision) -> tuple[RevisionRecord | None, str]:
    """The record of a revision, and why there is none."""
    path = record_path(home, pack_id, past.revision)
    restore = "put it back, as from version control"
    if not path.is_file():
        return None, f"{path}: the record of {pack_id}@{past.revision} is gone: {restore}"
    try:
        data = json.loads(path.read_text("utf-8"))
        record = RevisionRecord.model_validate_json(path.read_bytes())
        same = digest(data) == past.record and pack_digest(record.task) == past.pack == record.pack
    except (ValueError, ValidationError, KeyError, TypeError, RecursionError):
        same = False
    if not same:
        return None, f"{path}: not the record that was frozen as {pack_id}@{past.revision}: {restore}"
    return record, ""
