"""Who writes the records of workers that have no run folder: the calling process, alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from iwkit.ledger import Journal, Record, write_atomic
from iwkit_runtime.workers.messages import Write


class FarJob(NamedTuple):
    """A job for a worker without a run folder: what its attempt is called, and what is on record of it already."""

    number: int
    name: str
    known: tuple[Record, ...]
    what: Any


class FolderKeeper:
    """See `Keeper`. Use it as a context manager around the crew.

    Args:
        folder: the run folder.
        journal: opens the journal of a job.
    """

    def __init__(self, folder: Path, journal: Callable[[Any], Journal]) -> None:
        self._folder, self._journal = folder, journal
        self._open: dict[int, Journal] = {}

    def __enter__(self) -> FolderKeeper:
        return self

    def __exit__(self, *_: object) -> None:
        for number in tuple(self._open):
            self.closed(number)

    def opened(self, number: int, job: Any) -> FarJob:
        journal = self._open[number] = self._journal(job)
        return FarJob(number, str(journal.path), tuple(journal.pass_over()), job)

    def write(self, message: Write) -> None:
        for name, data in message.files.items():
            path = self._folder / name
            if not path.exists():
                write_atomic(path, data)
        for record in message.records:
            fields = {key: value for key, value in record.items() if key not in ("n", "kind")}
            self._open[message.job].append(record["kind"], fields)

    def closed(self, number: int) -> None:
        self._open.pop(number).close()


def fresh_files(folder: Path) -> Callable[[], Mapping[str, bytes]]:
    """A function that gives the files that came into a folder of a worker since it was last called: path in it, as in
    the run folder -> bytes."""
    seen: set[Path] = set()

    def fresh() -> Mapping[str, bytes]:
        new = [path for path in folder.glob("*/*") if path not in seen]
        seen.update(new)
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in new}

    return fresh
