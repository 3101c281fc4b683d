"""The manifest of a run (MET-8; paper C.3.3): for each cell what was meant to be run, what was, and where the proof is.

A pack that is moved to another family cannot silently change its scorer, and the digest of what was run is never taken
for the one that was frozen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iwkit.errors import Problems
from iwkit.ledger import Record
from iwkit.runfolder import closing_record, load_plan, selected_attempt, variant_name
from iwkit.source.reader import read

UNAVAILABLE = "unavailable"
AS_WRITTEN = "as written"
"""The variant of a pack in which nothing varies."""


def manifest(folder: Path) -> list[dict[str, Any]]:
    """One entry a cell, in the order of the plan.

    `expected_hash` is the frozen pack's digest, `observed_hash` that in the record of the attempt that counts;
    `hash_origin` says where the first is from: `lock`, or `pack file` for a draft, which has only its own. That of a
    variant follows from the pack, whose own digest covers what varies.

    Raises:
        LedgerError: the folder holds no run, or a damaged one.
    """
    return [_entry(folder, name, cell) for name, cell in load_plan(folder)["cells"].items()]


def _entry(folder: Path, name: str, cell: dict[str, Any]) -> dict[str, Any]:
    path, records = selected_attempt(folder, name) or (None, [])
    header: Record = records[0] if records and records[0]["kind"] == "header" else {}
    end = closing_record(records)
    return {
        "task": cell["task"],
        "seed": cell["seed"],
        "variant": variant_name(cell.get("variant", {})) or AS_WRITTEN,
        "source_family": cell.get("source_family", UNAVAILABLE),
        "assigned_family": cell["family"],
        "expected_hash": cell.get("digest", UNAVAILABLE),
        "observed_hash": header.get("digest", UNAVAILABLE),
        "hash_origin": "pack file" if cell["freeze"] == "draft" else "lock",
        "rubric_version": header.get("runtime", UNAVAILABLE),
        "completion_protocol": _protocol(folder / "packs" / f"{cell['task']}.yaml"),
        "evaluation_status": end["status"] if end else "not finished",
        "evidence_path": path.relative_to(folder).as_posix() if path else UNAVAILABLE,
    }


def _protocol(pack: Path) -> str:
    """How the pack counts completion (`state` or `binary`)."""
    try:
        data = read(pack).data
        return str(data["physical"]["goal"]["score"])
    except (Problems, KeyError, TypeError):
        return UNAVAILABLE
