"""Freezing: a pack enters the lock when it is clean and its controls are right for this very digest (BENCH-7)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from iwkit_validators.suite import Report, validate_many

from iwkit.digest import digest
from iwkit.errors import FreezeError
from iwkit.ledger import write_json
from iwkit.library import Library
from iwkit.lock import LOCK_NAME, controls_path, difference, home_of, load_lock, uses
from iwkit.spec.lock import Lock, LockedPack
from iwkit_authoring.controls import ORDER
from iwkit_runtime.identity import runtime_digest


def freeze(paths: Sequence[Path], library: Library) -> list[Path]:
    """Freeze packs into their lock files and return these. Either all are frozen or none is.

    Raises:
        FreezeError: what is missing, for every pack.
    """
    missing: list[str] = []
    homes: dict[Path, dict[str, LockedPack]] = {}
    for report in validate_many(paths):
        home = home_of(report.path)
        reasons = _missing(report, home)
        if reasons or report.task is None:
            missing += reasons
            continue
        task = report.task
        controls = json.loads(controls_path(home, task.id).read_text("utf-8"))
        lock = load_lock(home)
        before = lock.packs.get(task.id) if lock else None
        found = uses(task, library)
        revision = 1 if before is None else before.revision + (before.pack != task.digest)
        homes.setdefault(home, {})[task.id] = LockedPack(
            revision=revision,
            family=task.pack.family,
            path=report.path.resolve().relative_to(home).as_posix(),
            controls=digest(controls),
            **found,
        )
    if missing:
        raise FreezeError("\n".join(missing))
    return [_write(home, packs) for home, packs in homes.items()]


def _write(home: Path, packs: dict[str, LockedPack]) -> Path:
    lock = load_lock(home)
    merged = {**(lock.packs if lock else {}), **packs}
    new = Lock(lock="1.0", runtime=runtime_digest(), packs={k: merged[k] for k in sorted(merged)})
    write_json(home / LOCK_NAME, new.model_dump(mode="json"))
    return home / LOCK_NAME


def _missing(report: Report, home: Path) -> list[str]:
    """What keeps a pack from being frozen."""
    if report.task is None or report.problems:
        count = len(report.problems)
        return [f"{report.path}: {count} problem{'' if count == 1 else 's'}: see iwkit validate {report.path}"]
    task = report.task
    path = controls_path(home, task.id)
    again = f"run iwkit controls {report.path}"
    if not path.is_file():
        return [f"{report.path}: its controls were never run: {again}"]
    try:
        filed = json.loads(path.read_text("utf-8"))
        ran = [(r["assistant"], r["human"]) for r in filed["results"]]
        wrong = [f"{r['assistant']} with {r['human']}: {r['why']}" for r in filed["results"] if not r["right"]]
        same, code = filed["digest"] == task.digest, filed["runtime"]
    except (ValueError, KeyError, TypeError):
        return [f"{path}: not a controls file: {again}"]
    found = []
    if not same:
        found.append(f"{report.path}: its controls were run on another revision: {again}")
    elif code != runtime_digest():
        found.append(f"{report.path}: its controls were run with other code: {again}")
    if ran != list(ORDER):
        found.append(f"{report.path}: its controls are not complete: {again}")
    return [*found, *(f"{report.path}: control {reason}" for reason in wrong)]


def check_lock(home: Path, library: Library) -> tuple[list[str], list[str]]:
    """Compare the packs under a folder with its lock.

    Returns:
        What differs, and what is only to be noted (the code changed since the controls were run).

    Raises:
        FreezeError: there is no lock.
    """
    lock = load_lock(home)
    if lock is None:
        raise FreezeError(f"{home}: nothing is frozen here: there is no {LOCK_NAME}")
    paths = sorted(home.rglob("*.yaml"))
    reports = validate_many(paths)
    found = [f"{r.path}: it has problems: see iwkit validate" for r in reports if r.problems]
    for report in reports:
        why = difference(lock, report.task, library) if report.task else None
        if why:
            found.append(f"{report.path}: {why}")
        elif (
            report.task
            and digest(json.loads(controls_path(home, report.task.id).read_text("utf-8")))
            != lock.packs[report.task.id].controls
        ):
            found.append(f"{report.path}: its controls are not the ones it was frozen with")
    there = {r.task.id for r in reports if r.task}
    found += [
        f"{home}: {pack_id} is in the lock, but its file is gone" for pack_id in lock.packs if pack_id not in there
    ]
    notes = (
        []
        if lock.runtime == runtime_digest()
        else ["the code changed since the controls were run; results will say so until they are run again"]
    )
    return found, notes
