"""Runs in worker processes: the same records as in one process, and clear ends when a worker or the caller dies
(EVAL-7, EVAL-8)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from iwkit.errors import IwkitError, LedgerError, RunStopped
from iwkit.ledger import Journal, Record, comparable, read_records
from iwkit.runfolder import load_plan, selected_attempt
from iwkit_runtime.runs import Config, run
from iwkit_runtime.selection import select
from iwkit_runtime.workers import Crew

TASKS = ["A1", "F10", "G10", "W7"]


def records(folder: Path) -> dict[str, list[Record]]:
    """Cell -> the records of the attempt that counts, without wall times."""
    found = {name: selected_attempt(folder, name) for name in load_plan(folder)["cells"]}
    return {name: [comparable(r) for r in chosen[1]] for name, chosen in found.items() if chosen}


def test_workers_write_what_one_process_writes(tmp_path: Path) -> None:
    """Two workers with two episodes in flight each, and two seeds of each task."""
    sources = select(TASKS, draft=True)
    config = Config("oracle", "rules", "symbolic", draft=True)
    ends: dict[str, list[str]] = {"alone": [], "crew": []}
    run(sources, config, tmp_path / "alone", lambda task, _: ends["alone"].append(task), (0, 1))
    run(sources, config, tmp_path / "crew", lambda task, _: ends["crew"].append(task), (0, 1), jobs=2, in_flight=4)
    assert sorted(ends["alone"]) == sorted(ends["crew"]) == sorted(TASKS * 2)
    assert (tmp_path / "alone" / "plan.json").read_bytes() == (tmp_path / "crew" / "plan.json").read_bytes()
    assert records(tmp_path / "alone") == records(tmp_path / "crew")
    assert len(records(tmp_path / "crew")) == 8


# What workers play here is no episode: a stage is whatever makes a function from a job to its closing record.


@contextlib.contextmanager
def echo(_desk: object) -> Iterator[Callable[[Any], Record]]:
    yield lambda job: {"status": "pass", "job": job, "process": os.getpid()}


@contextlib.contextmanager
def touchy(_desk: object) -> Iterator[Callable[[Any], Record]]:
    def play(job: Any) -> Record:
        if job == "die":
            os._exit(9)
        if isinstance(job, BaseException):
            raise job
        return {"job": job}

    yield play


def test_every_job_is_played_once_and_by_more_than_one_process() -> None:
    with Crew(echo, 2, 4) as crew:
        found = dict(crew.play(range(20)))
    assert {number: end["job"] for number, end in found.items()} == {n: n for n in range(20)}
    assert len({end["process"] for end in found.values()} - {os.getpid()}) == 2


@pytest.mark.parametrize(
    ("job", "error", "words"),
    [
        (LedgerError("the disk is full"), LedgerError, "the disk is full"),
        (RunStopped("the budget does not reach"), RunStopped, "the budget does not reach"),
        (ValueError("a bug"), RuntimeError, "ValueError: a bug"),
        ("die", LedgerError, "a worker process ended"),
    ],
)
def test_what_goes_wrong_in_a_worker_is_told(job: Any, error: type[Exception], words: str) -> None:
    with Crew(touchy, 1, 1) as crew, pytest.raises(error, match=words):
        list(crew.play([1, job, 2]))


def test_after_trouble_nothing_more_is_handed_out_but_what_runs_is_finished() -> None:
    found = []
    with Crew(touchy, 1, 2) as crew, pytest.raises(IwkitError, match="full"):
        found += [number for number, _ in crew.play([LedgerError("full"), 1, *range(2, 50)])]  # pragma: no branch
    assert len(found) < 49


CALLER = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from iwkit_runtime.workers import Crew
import sleepers
if __name__ == "__main__":
    with Crew(sleepers.stage, 2, 2) as crew:
        list(crew.play([sys.argv[1], sys.argv[1]]))
"""
SLEEPERS = """
import contextlib, os, time
from pathlib import Path

@contextlib.contextmanager
def stage(_desk):
    def play(folder):
        Path(folder, str(os.getpid())).write_text("here")
        time.sleep(60)
        return {}
    yield play
"""


def test_workers_end_with_a_caller_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "pids").mkdir()
    (tmp_path / "caller.py").write_text(CALLER, "utf-8")
    (tmp_path / "sleepers.py").write_text(SLEEPERS, "utf-8")
    caller = subprocess.Popen([sys.executable, tmp_path / "caller.py", tmp_path / "pids", tmp_path])
    try:
        pids = within(30, lambda: [int(p.name) for p in (tmp_path / "pids").iterdir()], lambda found: len(found) == 2)
    finally:
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    assert len(pids) == 2
    assert within(10, lambda: [pid for pid in pids if alive(pid)], lambda left: not left) == []


def within(seconds: float, look: Callable[[], list[int]], enough: Callable[[list[int]], bool]) -> list[int]:
    end = time.monotonic() + seconds
    while not enough(found := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_journal_has_one_writer(tmp_path: Path) -> None:
    """A worker of a run that was killed may live a moment longer than it: the next run waits for it, or says so."""
    with Journal(tmp_path / "a.jsonl") as first:
        first.append("header", {})
        with pytest.raises(LedgerError, match="another process is writing"):
            Journal(tmp_path / "a.jsonl", patience=0.1)
    with Journal(tmp_path / "a.jsonl") as second:
        second.append("header", {})
    assert len(read_records(tmp_path / "a.jsonl")[0]) == 2
