"""Freezing: a pack enters the lock when it is clean, its controls are right for this very digest, its goal notices
small changes of the oracle, and somebody has read it (BENCH-2, BENCH-7, NEXT-5)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from iwkit.compile import CompiledTask
from iwkit.digest import digest
from iwkit.errors import FreezeError, UsageError
from iwkit.ledger import write_json
from iwkit.library import LOCK_NAME, Libraries, Library, home_of, near
from iwkit.lock import controls_path, difference, load_lock, uses
from iwkit.spec.lock import Lock, LockedPack, Shortest
from iwkit_authoring import readings
from iwkit_authoring.controls import ORDER
from iwkit_authoring.mutation import mutate
from iwkit_authoring.optimum import optimum
from iwkit_authoring.revisions import history, make_record, record_path, wrong_records
from iwkit_runtime.identity import runtime_digest
from iwkit_runtime.selection import packs_in
from iwkit_validators.suite import Report, validate_many

SEARCHED: Final = ("pack", "scene", "categories")
"""What the shortest way depends on, among what the lock holds digests of."""


def freeze(paths: Sequence[Path], library: Library | None = None) -> list[Path]:
    """Freeze packs into their lock files and return these. Either all are frozen or none is.

    `library` is by default that of each pack's project.

    Raises:
        FreezeError: what is missing, for every pack.
    """
    homes: dict[Path, dict[str, LockedPack]] = {}
    records: dict[Path, dict[str, Any]] = {}
    libraries = Libraries(library)
    reports = list(validate_many(paths, library))
    # What is missing is told before the shortest ways are searched, which takes minutes.
    missing = [reason for report in reports for reason in _missing(report, home_of(report.path))]
    if missing:
        raise FreezeError("\n".join(missing))
    for path, task in ((report.path, report.task) for report in reports if report.task):
        home = home_of(path)
        controls = json.loads(controls_path(home, task.id).read_text("utf-8"))
        lock = load_lock(home)
        before = lock.packs.get(task.id) if lock else None
        found = uses(task, libraries.of(path))
        revision = 1 if before is None else before.revision + (before.pack != task.digest)
        record = make_record(path, task, revision, found)
        records[record_path(home, task.id, revision)] = record
        homes.setdefault(home, {})[task.id] = LockedPack(
            revision=revision,
            family=task.pack.family,
            path=path.resolve().relative_to(home).as_posix(),
            controls=digest(controls),
            shortest=_shortest(task, before, found),
            history=history(before, revision, task.digest, record),
            **found,
        )
    for path, record in records.items():
        write_json(path, record)
    return [_write(home, packs) for home, packs in homes.items()]


def _shortest(task: CompiledTask, before: LockedPack | None, used: Mapping[str, Any]) -> Shortest | None:
    """What efficiency is measured against. It may take a minute, so it is searched for a changed pack, scene or
    category alone, and not whenever the code is another."""
    if before and before.shortest and all(getattr(before, part) == used[part] for part in SEARCHED):
        return before.shortest
    found = optimum(task)
    return None if found.low is None or found.high is None else Shortest(low=found.low, high=found.high)


def _write(home: Path, packs: dict[str, LockedPack]) -> Path:
    lock = load_lock(home)
    merged = {**(lock.packs if lock else {}), **packs}
    new = Lock(lock="1.0", runtime=runtime_digest(), packs={k: merged[k] for k in sorted(merged)})
    write_json(home / LOCK_NAME, new.model_dump(mode="json"))
    return home / LOCK_NAME


def prune(home: Path) -> list[str]:
    """Drop the packs from a lock whose files are gone, and return their ids."""
    lock = load_lock(home)
    gone = _gone(home, lock) if lock else []
    if lock and gone:
        left = {pack_id: entry for pack_id, entry in lock.packs.items() if pack_id not in gone}
        write_json(home / LOCK_NAME, lock.model_copy(update={"packs": left}).model_dump(mode="json"))
    return gone


def _gone(home: Path, lock: Lock) -> list[str]:
    return [pack_id for pack_id, entry in lock.packs.items() if not (home / entry.path).is_file()]


def _missing(report: Report, home: Path) -> list[str]:
    """Everything that keeps a pack from being frozen."""
    if report.task is None or report.problems:
        return [str(problem) for problem in report.problems]
    task, path = report.task, report.path
    return [*_unproved(path, task, home), *_unnoticed(path, task), *readings.missing(task, path)]


def _unproved(pack: Path, task: CompiledTask, home: Path) -> list[str]:
    """What the filed controls of a pack lack."""
    path = controls_path(home, task.id)
    again = f"run iwkit controls {pack}"
    if not path.is_file():
        return [f"{pack}: its controls were never run: {again}"]
    try:
        filed = json.loads(path.read_text("utf-8"))
        ran = [(r["world"], r["assistant"], r["human"]) for r in filed["results"]]
        wrong = [line for r in filed["results"] for line in _wrong(r)]
        same, code = filed["digest"] == task.digest, filed["runtime"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return [f"{path}: not a controls file: {again}"]
    found = []
    if not same:
        found.append(f"{pack}: its controls were run on another revision: {again}")
    elif code != runtime_digest():
        found.append(f"{pack}: its controls were run with other code: {again}")
    if ran != list(ORDER):
        found.append(f"{pack}: its controls are not complete{_unrun(ran)}: {again}")
    return [*found, *(f"{pack}: control {reason}" for reason in wrong)]


def _unrun(ran: Sequence[tuple[str, str, str]]) -> str:
    """Which controls are not there, told by world where a world lacks all."""
    lacks: dict[str, list[str]] = {}
    for world, assistant, human in ORDER:
        if (world, assistant, human) not in ran:
            lacks.setdefault(world, []).append(f"{assistant} with {human}")
    count = {world: sum(row[0] == world for row in ORDER) for world in lacks}
    told = [
        f"none was run in the {world} world" if len(names) == count[world] else f"{world} lacks {', '.join(names)}"
        for world, names in lacks.items()
    ]
    return f" ({'; '.join(told)})" if told else ""


def _wrong(result: dict[str, Any]) -> list[str]:
    """What a filed control says against its pack: why it is not right, or else the layers that are wrong."""
    which = "{assistant} with {human} in the {world} world".format_map(result)
    parts = [(name, why.removeprefix("wrong: ")) for name, why in result["layers"].items() if why.startswith("wrong")]
    if not result["right"]:
        return [f"{which}: {result['why']}"]
    return [f"{which}, {name}: {why}" for name, why in parts]


def _unnoticed(path: Path, task: CompiledTask) -> list[str]:
    """Changes of the oracle that the goal does not notice, and that no one has marked (NEXT-5)."""
    try:
        mutation = mutate(task)
    except UsageError as error:
        return [f"{path}: {error}"]
    found = [f"{path}: the goal does not notice the change '{r.mutant}': {r.why}" for r in mutation.survivors]
    found += [f"{path}: review marks '{mark}', which does not survive: remove it" for mark in mutation.stale]
    return [*found, f"see docs/mutation.md, and run iwkit mutate {path}"] if found else []


def check_lock(home: Path, library: Library | None = None) -> tuple[list[str], list[str]]:
    """Compare the packs under a folder with its lock. `library` is by default that of the project.

    Returns:
        What differs, and what is only to be noted (the code changed since the controls were run).

    Raises:
        FreezeError: there is no lock.
    """
    lock = load_lock(home)
    if lock is None:
        raise FreezeError(f"{home}: nothing is frozen here: there is no {LOCK_NAME}")
    library = library or Library.of_home(home)
    reports = validate_many(packs_in(home), library)
    found = [str(problem) for report in reports for problem in report.problems]
    for report in reports:
        why = _differs(home, lock, report.task, library) if report.task else None
        if why:
            found.append(f"{near(report.path)}: {why}")
    found += [why for pack_id, locked in lock.packs.items() for why in wrong_records(home, pack_id, locked)]
    found += [
        f"{home}: {pack_id} is in the lock, but its file {lock.packs[pack_id].path} is gone: put it back, or run "
        f"iwkit freeze --prune {home} to drop it"
        for pack_id in _gone(home, lock)
    ]
    code = "the code changed since the controls were run; results will say so until they are run again"
    return found, [] if lock.runtime == runtime_digest() else [code]


def _differs(home: Path, lock: Lock, task: CompiledTask, library: Library) -> str | None:
    """Why a pack, or what proves it, is not as it was frozen."""
    why = difference(lock, task, uses(task, library))
    if why is not None:
        return why
    path = controls_path(home, task.id)
    if not path.is_file():
        return f"its controls {path.relative_to(home)} are gone: run iwkit controls and freeze it again"
    try:
        same = digest(json.loads(path.read_text("utf-8"))) == lock.packs[task.id].controls
    except ValueError:  # no JSON any more
        same = False
    return None if same else "its controls are not the ones it was frozen with"
