"""The append-only record of an episode: JSON lines, one writer, safe on disk before their effect is used (EVAL-7).

Resuming needs no special code in the loop. An episode is deterministic given the answers of its agents, so it is simply
played again from the start over the same `Journal`: as long as there are records, `append` compares instead of
writing, and `recall` gives back the recorded answer instead of asking. After the last record it writes on.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from iwkit.errors import LedgerError
from iwkit.trace import Event, RoleValue, State, Step, Trace

Record = dict[str, Any]

RESUMED = "resumed"
"""The kind of a resume mark. It is no part of the episode."""
BARRIERS = frozenset({"header", "ask", "answer", "agent_failed", "end"})
"""Kinds of records at which everything before is forced to disk: before a view leaves for an agent, before an answer is
used, and at the end. Between two of them only this process knows what happened, and plays it again if it dies."""
END = "end"
"""The kind of the record that closes an attempt. Without it the attempt is not done."""


def dump(record: Mapping[str, Any]) -> bytes:
    """One record as a line of JSON."""
    return (
        json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    )


def read_records(path: Path) -> tuple[list[Record], bytes]:
    """The whole records of a journal, and the torn tail that a killed writer may have left.

    A last record that lacks nothing but its newline is whole: no beginning of a record is a record.

    Raises:
        LedgerError: the file cannot be read, or a line before the tail is not the record that belongs there: it was
            damaged by something else.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read: {error.strerror}") from error
    tail = lines.pop()
    records: list[Record] = []
    count = 0
    for number, line in enumerate(lines, start=1):
        record = _parse(line, records, count)
        if record is None:
            if number == len(lines) and not tail:
                return records, line + b"\n"
            raise LedgerError(
                f"{path}:{number}: damaged record; the attempt cannot be continued: move the file away to run it again"
            )
        records.append(record)
        count += record["kind"] != RESUMED
    last = _parse(tail, records, count)
    return (records, tail) if last is None else ([*records, last], b"")


def _parse(line: bytes, before: list[Record], count: int) -> Record | None:
    """The record on a line, or None if the line is no record, or not the one that follows those before it, of which
    `count` are no resume marks."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        return None
    if before and before[-1]["kind"] == END:
        return None
    return record if record["kind"] == RESUMED or record.get("n") == count else None


def comparable(record: Mapping[str, Any]) -> Record:
    """A record without what differs between two runs of the same episode: wall times."""
    return {k: v for k, v in record.items() if not k.startswith("t_wall")}


class Records(ABC):
    """The records of one attempt in their order: those that are known are compared, further ones are written.

    Args:
        name: what the attempt is called in errors.
        known: what is on disk, without marks of resuming.
    """

    def __init__(self, name: object, known: Sequence[Record] = ()) -> None:
        self._name = name
        self._known = list(known)
        self._at = 0

    @property
    def finished(self) -> bool:
        """Whether the attempt has its closing record."""
        return bool(self._known) and self._known[-1]["kind"] == END

    @property
    def end(self) -> Record | None:
        return self._known[-1] if self.finished else None

    def append(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Write the next record, or compare it with the one already there. It is safe from a killed process when this
        returns, and from a power cut at the next barrier, before its effect leaves the process.

        Raises:
            LedgerError: it cannot be written, or the episode played again differs from its record (then nothing was).
        """
        record = {"n": self._at, "kind": kind, **json.loads(json.dumps(fields))}
        if self._at < len(self._known):
            self._compare(self._known[self._at], record)
        elif self.finished:
            raise LedgerError(f"{self._name}: the attempt is closed; its record is never changed")
        else:
            self._write(record)
            self._known.append(record)
        self._at += 1

    def recall(self, kind: str) -> Record | None:
        """The next record if it is already on disk and of this kind; it is then passed over."""
        if self._at < len(self._known) and self._known[self._at]["kind"] == kind:
            self._at += 1
            return self._known[self._at - 1]
        return None

    def pass_over(self) -> list[Record]:
        """All records on disk, which are then passed over: somebody else plays the episode, and compares them."""
        self._at = len(self._known)
        return list(self._known)

    @abstractmethod
    def _write(self, record: Record) -> None:
        """Write a record that is not known yet."""

    def _compare(self, known: Record, record: Record) -> None:
        before, now = comparable(known), comparable(record)
        if before == now:
            return
        fields = sorted(k for k in before.keys() | now.keys() if before.get(k) != now.get(k))
        raise LedgerError(
            f"{self._name}: record {self._at} ({known['kind']}) comes out differently when the episode is played "
            f"again: {', '.join(fields)} differ; it was made by another version or task: start a new run folder"
        )


class Journal(Records):
    """The record of one attempt as a file, open for writing. Use it as a context manager.

    Args:
        patience: for so many seconds another writer is waited for. One that was started by a run that is gone
            ends by itself.

    Raises:
        LedgerError: another process is writing it, it cannot be written, or it is damaged.
    """

    def __init__(self, path: Path, patience: float = 5.0) -> None:
        super().__init__(path)
        self.path = path
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            existed = path.exists()
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            if not existed:
                _sync_folder(path.parent)
        try:
            self._claim(patience)
            self._read()
        except BaseException:
            os.close(self._file)
            raise
        if self._known and not self.finished:
            self._write({"kind": RESUMED, "after": len(self._known)})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let another process write."""
        os.close(self._file)

    def _claim(self, patience: float) -> None:
        """Be the only writer of this file until it is closed."""
        end = time.monotonic() + patience
        while True:
            try:
                return fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if time.monotonic() > end:
                    raise LedgerError(f"{self.path}: another process is writing to it; wait for it") from error
                time.sleep(0.05)

    def _read(self) -> None:
        """Take in what is there; a torn line is set aside."""
        with _writing(self.path):
            records, tail = read_records(self.path)
            self._known = [r for r in records if r["kind"] != RESUMED]
            if tail:
                self._set_aside(tail)
            self._end_line()

    def _write(self, record: Record) -> None:
        line = memoryview(dump({**record, "t_wall": round(time.time(), 3)}))
        with _writing(self.path):
            while line:
                line = line[os.write(self._file, line) :]
            if record["kind"] in BARRIERS:
                os.fdatasync(self._file)

    def _set_aside(self, tail: bytes) -> None:
        """Cut a torn line off, keeping its bytes beside the journal."""
        names = (self.path.with_name(f"{self.path.name}.torn-{number}") for number in itertools.count(1))
        write_atomic(next(name for name in names if not name.exists()), tail)
        with self.path.open("rb+") as file:
            file.truncate(self.path.stat().st_size - len(tail))
            os.fsync(file.fileno())

    def _end_line(self) -> None:
        """Give a whole last record the newline that a killed writer owed it."""
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")


def trace_of(records: list[Record]) -> Trace:
    """The trace that a journal's records hold, whole or as far as they go."""
    initial: State = frozenset()
    state: State = frozenset()
    baseline: State | None = None
    steps: list[Step] = []
    handoff = 0
    for record in records:
        if record["kind"] == "reset":
            initial = state = frozenset(tuple(r) for r in record["state"])
        if "added" in record:
            state = (state - {tuple(r) for r in record["removed"]}) | {tuple(r) for r in record["added"]}
        if record["kind"] == "handoff":
            baseline, handoff = state, len(steps)
        elif "events" in record:
            steps.append(Step(tuple(_event(e) for e in record["events"]), state))
    return Trace(
        initial, tuple(steps), handoff if baseline is not None else len(steps), state if baseline is None else baseline
    )


def _event(data: Record) -> Event:
    roles: dict[str, RoleValue] = {k: tuple(v) if isinstance(v, list) else v for k, v in data["roles"].items()}
    return Event(data["seq"], data["kind"], roles, data.get("assisted", False))


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn what the system refuses into a clear error: what was written before is kept, and can be continued."""
    try:
        yield
    except OSError as error:
        raise LedgerError(
            f"{path}: cannot be written: {error.strerror}; mend that and run the same command again"
        ) from error


def write_atomic(path: Path, data: bytes) -> None:
    """Replace a file whole, or leave it as it was.

    Raises:
        LedgerError: it cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        _sync_folder(path.parent)


def write_json(path: Path, value: Any) -> None:
    """Replace a file with a JSON value, indented, keys in the order given."""
    write_atomic(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n")


@contextlib.contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the folder's lock: one writer at a time, released also when the process is killed.

    Raises:
        LedgerError: another process holds it, or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise LedgerError(f"{folder}: cannot be written: {error.strerror}; choose another --out") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise LedgerError(
                f"{folder}: another process is writing to it; wait for it or choose another --out"
            ) from error
        for partial in folder.rglob(".*.partial"):  # left by a writer that was killed
            partial.unlink(missing_ok=True)
        yield
    finally:
        os.close(lock)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
