"""The audit bundle of a run (EVAL-8; paper C.2.5): for each cell, what somebody who doubts its result needs, as files.

All of it is taken from the record of the attempt that counts, which is copied along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from iwkit.compile.variants import as_played
from iwkit.errors import LedgerError
from iwkit.ledger import Record, read_records, trace_of, write_atomic, write_json
from iwkit.report.manifest import AS_WRITTEN, manifest
from iwkit.runfolder import attempt_paths, closing_record, load_plan, selected_attempt
from iwkit.trace import State, Trace


def bundle(folder: Path, out: Path) -> list[Path]:
    """Write the bundle of each cell into a folder of its own, and return these; `manifest.json` of the whole run stands
    beside them. The same records give the same files.

    Raises:
        LedgerError: the folder holds no run or a damaged one, or `out` is not empty or cannot be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise LedgerError(f"{out} is there already, and not empty: name a new folder")
    entries = manifest(folder)
    cells = list(load_plan(folder)["cells"])
    for name, entry in zip(cells, entries, strict=True):
        _write(folder, out / name, name, entry)
    write_json(out / "manifest.json", {"config": load_plan(folder)["config"], "cells": entries})
    return [out / name for name in cells]


def _write(folder: Path, out: Path, name: str, entry: dict[str, Any]) -> None:
    path, records = selected_attempt(folder, name) or (None, [])
    pack = folder / "packs" / f"{entry['task']}.yaml"
    if pack.is_file():
        write_atomic(out / "taskpack.yaml", pack.read_bytes())
        if entry["variant"] != AS_WRITTEN:
            write_json(out / "taskpack_as_played.json", as_played(pack, entry["seed"]))
    if path is not None:
        write_atomic(out / "record.jsonl", path.read_bytes())
    for file, part in PARTS.items():
        write_json(out / f"{file}.json", part(records))
    write_json(out / "selected_attempt.json", _selection(folder, name, path))
    write_json(out / "manifest.json", entry)


def _dialogue(records: Sequence[Record]) -> list[dict[str, Any]]:
    """What was said, by whom, when."""
    said = (r for r in records if r["kind"] == "speech")
    return [{"record": r["n"], "tick": r.get("tick", 0), "by": r["by"], "text": r["text"]} for r in said]


def _eval(records: Sequence[Record]) -> dict[str, Any] | None:
    """The closing record, without the wall time; None if the attempt is not closed."""
    end = closing_record(list(records))
    return None if end is None else {k: v for k, v in end.items() if not k.startswith("t_wall") and k != "kind"}


def _turns(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Every turn of the assistant: what it was shown (digests), what it answered, and how that was read."""
    found: list[dict[str, Any]] = []
    for r in records:
        if r.get("role") != "assistant":
            continue
        if r["kind"] == "ask":
            found.append({"record": r["n"], "tick": r["tick"], "view": r["view"], "frames": r.get("frames", [])})
        elif found and r["kind"] in ("answer", "agent_failed"):
            found[-1]["answer"] = r.get("text", r.get("reason"))
        elif found and r["kind"] == "reading":
            left_out = ("n", "kind", "role", "tick")
            found[-1]["reading"] = {k: v for k, v in r.items() if k not in left_out and not k.startswith("t_wall")}
    return found


def _actions(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Every primitive with its arguments, on whose account, and its receipt."""
    keys = ("by", "cursor", "command", "receipt", "trajectory", "frames", "picked")
    steps = (r for r in records if r["kind"] == "step")
    return [{"record": r["n"], "tick": r.get("tick", 0), **{k: r[k] for k in keys if k in r}} for r in steps]


def _visibility(records: Sequence[Record]) -> list[dict[str, Any]]:
    """What came into view and went out of it, in order."""
    events = ((r, e) for r in records for e in r.get("events", ()))
    return [
        {"record": r["n"], "event": e["seq"], "kind": e["kind"], **e["roles"]}
        for r, e in events
        if e["kind"] in ("became_visible", "left_view")
    ]


def _states(records: Sequence[Record]) -> dict[str, Any]:
    """The relations at reset, after the opening (the baseline) and in the end, and what is held in the end."""
    trace: Trace = trace_of(list(records))
    end = closing_record(list(records))
    parts = {"start": trace.initial, "baseline": trace.baseline, "end": trace.end}
    return {**{k: _listed(v) for k, v in parts.items()}, "held": end["held"] if end else None}


def _listed(state: State) -> list[str]:
    return sorted(f"{name}({', '.join(roles)})" for name, *roles in state)


PARTS: dict[str, Callable[[Sequence[Record]], Any]] = {
    "dialogue": _dialogue,
    "eval": _eval,
    "assistant_turns": _turns,
    "human_action_trace": _actions,
    "visibility": _visibility,
    "states": _states,
}
"""File -> what of the record is in it."""


def _selection(folder: Path, name: str, chosen: Path | None) -> dict[str, Any]:
    """All attempts of a cell, which one counts, and by what rule."""
    return {
        "rule": "the first valid attempt that was finished, else the newest; never by score",
        "selected": chosen.relative_to(folder).as_posix() if chosen else None,
        "attempts": list(_attempts(folder, name)),
    }


def _attempts(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    for path in attempt_paths(folder, name):
        end = closing_record(read_records(path)[0])
        status = end["status"] if end else "not finished"
        yield {"file": path.relative_to(folder).as_posix(), "status": status, "void": end["void"] if end else None}
