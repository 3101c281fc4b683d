"""A made-up episode, and journals of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from iwkit.ledger import (
    END,
    RESUMED,
    Journal,
    Record,
    comparable,
    read_records,
)

EPISODE: list[tuple[str, dict[str, Any]]] = [
    ("header", {"task": "F10", "seed": 0}),
    ("speech", {"text": 'Où est le thermomètre ? 体温计 \U0001f321\ufe0f \u2028 \x00 \\ "', "by": "wearer"}),
    ("ask", {"role": "assistant", "tick": 1}),
    ("answer", {"text": "$silent$", "t_wall_latency": 0.5}),
    ("step", {"events": [], "added": [["on", "cup", "table"]], "removed": []}),
    (END, {"status": "pass", "score": {"completion": None}}),
]


def play(path: Path, records: list[tuple[str, dict[str, Any]]] = EPISODE) -> list[str]:
    """Play fixed records over a journal as the loop does. Returns the answers that had to be made afresh."""
    fresh = []
    with Journal(path) as journal:
        if journal.finished:
            return []
        for kind, fields in records:
            if kind == "answer":
                if journal.recall("answer") is not None:
                    continue
                fresh.append(fields["text"])
            journal.append(kind, fields)
    return fresh


def episode_of(path: Path) -> list[Record]:
    """What a journal holds of the episode: no resume marks, no wall times."""
    records, tail = read_records(path)
    assert not tail
    return [comparable(r) for r in records if r["kind"] != RESUMED]


@contextmanager
def unsynced() -> Iterator[None]:
    """What a process has written is there for the next one without a sync, so that the disk is not waited for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(os, "fdatasync", lambda _: None)
        yield


def undisturbed(folder: Path) -> tuple[bytes, list[Record]]:
    """The bytes and the records of an undisturbed journal."""
    path = folder / "attempt-001.jsonl"
    play(path)
    return path.read_bytes(), episode_of(path)
