"""The book of calls: `calls.jsonl` in a run folder, a line before each request and a line after it, only ever added to.

What a run cost is in it even where the process was killed between the two lines: a request without an outcome counts
with the most that it can have cost. A power cut may take the lines of the last second; what was answered is in the
journals, which are forced to disk.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from iwkit.errors import LedgerError
from iwkit.ledger import dump
from iwkit.report.calls import NAME, read_book
from iwkit_runtime.models.wire import Tokens

PROMPTS: Final = "prompts"
_SYNC: Final = 1.0
"""Seconds between two times that the book is forced to disk: all calls in flight wait for it meanwhile."""


@dataclass(frozen=True, slots=True)
class Asker:
    """On whose behalf a call is made: a cell, a role in it, and the tick."""

    cell: str
    role: str
    tick: int


class Book:
    """Writes a run's calls. `folder` None keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._file: int | None = None
        self._known: set[str] = set()
        self._synced = 0.0
        entries = list(read_book(folder)) if folder else []
        self._next = 1 + max((entry["call"] for entry in entries), default=0)
        self.spent = sum(entry["at_most"] or 0.0 for entry in entries if entry["cost"] is None) + sum(
            entry["cost"] for entry in entries if entry["cost"] is not None
        )
        """US dollars of all calls so far, unknown costs at their most."""

    def close(self) -> None:
        if self._file is not None:
            os.fdatasync(self._file)
            os.close(self._file)
            self._file = None

    def sent(self, asker: Asker, model: str, prompt: str, attempt: int, at_most: float | None) -> int:
        """A request is about to be sent; returns its number."""
        number, self._next = self._next, self._next + 1
        fields = {"model": model, "prompt": prompt, "attempt": attempt, "at_most": at_most}
        self._write({"kind": "sent", "call": number, **asdict(asker), **fields})
        return number

    def outcome(self, call: int, outcome: str, *, tokens: Tokens, cost: float | None, **fields: Any) -> None:
        """What became of a request. A second outcome of the same call (a late answer) takes the place of the first."""
        self._write({"kind": "outcome", "call": call, "outcome": outcome, **asdict(tokens), "cost": cost, **fields})
        if self._file is not None and time.monotonic() - self._synced > _SYNC:
            os.fdatasync(self._file)
            self._synced = time.monotonic()

    def keep_prompt(self, digest: str, data: Mapping[str, Any]) -> None:
        """Keep what was sent, once, with the digests of its pictures in their place."""
        if self._folder is None or digest in self._known:
            return
        path = self._folder / PROMPTS / f"{digest.partition(':')[2]}.json"
        self._known.add(digest)
        if path.exists() and path.stat().st_size:
            return
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(json.dumps(data, ensure_ascii=False, indent=1).encode() + b"\n")
            partial.replace(path)
        except OSError as error:
            raise LedgerError(f"{path}: cannot be written: {error.strerror}") from error

    def _write(self, record: Mapping[str, Any]) -> None:
        if self._folder is None:
            return
        path = self._folder / NAME
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
                self._mend()
            line = memoryview(dump({**record, "t_wall": round(time.time(), 3)}))
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            raise LedgerError(f"{path}: cannot be written: {error.strerror}") from error

    def _mend(self) -> None:
        """Close the line that a killed writer left half: readers skip it."""
        assert self._file is not None  # noqa: S101
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")
