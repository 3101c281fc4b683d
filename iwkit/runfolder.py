"""The layout of a run folder, for writers and readers alike.

plan.json                      configuration and cells, written before anything is run
packs/F10.yaml                 the packs as they were run
cells/F10-s0/attempt-001.jsonl the journal of each attempt, never changed once closed
lock                           held by the one writer
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iwkit.errors import LedgerError
from iwkit.ledger import END, Record, read_records

PLAN_NAME = "plan.json"
_CELL = re.compile(r".+-s(\d+)")
_ATTEMPT = re.compile(r"attempt-(\d{3,})\.jsonl")


def cell_name(task_id: str, seed: int) -> str:
    return f"{task_id}-s{seed}"


def cell_seed(cell: str) -> int | None:
    """The seed of a cell by its name; None where that is none."""
    found = _CELL.fullmatch(cell)
    return int(found[1]) if found else None


def variant_name(variant: Mapping[str, str]) -> str:
    """What varies in a cell, in words: `can: lemon, place: left`; "" for a pack as it is written."""
    return ", ".join(f"{axis}: {pick}" for axis, pick in sorted(variant.items()))


def attempt_path(folder: Path, cell: str, number: int) -> Path:
    return folder / "cells" / cell / f"attempt-{number:03}.jsonl"


def attempt_paths(folder: Path, cell: str) -> list[Path]:
    """The journals of a cell, oldest first."""
    names = (folder / "cells" / cell).glob("attempt-*.jsonl")
    found = [(int(m.group(1)), p) for p in names if (m := _ATTEMPT.fullmatch(p.name))]
    return [path for _, path in sorted(found)]


def load_plan(folder: Path) -> dict[str, Any]:
    """The plan of a run folder.

    Raises:
        LedgerError: the folder holds no run, or a damaged plan.
    """
    path = folder / PLAN_NAME
    try:
        plan = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise LedgerError(f"{folder} holds no run: there is no {PLAN_NAME} in it") from None
    except (OSError, ValueError) as error:
        raise LedgerError(f"{path} cannot be read: {error}") from error
    if not isinstance(plan, dict) or not all(isinstance(plan.get(part), dict) for part in ("config", "cells")):
        raise LedgerError(f"{path} is no plan of a run: it must hold config and cells")
    return plan


def closing_record(records: list[Record]) -> Record | None:
    """The record that closes an attempt, or None if it is not finished."""
    return records[-1] if records and records[-1]["kind"] == END else None


def selected_attempt(folder: Path, cell: str) -> tuple[Path, list[Record]] | None:
    """The attempt that counts: the first valid finished one, else the newest; never chosen by score (EVAL-8)."""
    newest: tuple[Path, list[Record]] | None = None
    for path in attempt_paths(folder, cell):
        records, _ = read_records(path)
        newest = path, records
        end = closing_record(records)
        if end is not None and end["status"] != "void":
            break
    return newest
