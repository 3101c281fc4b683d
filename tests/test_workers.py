"""Runs in worker processes: the same records as in one process, and clear ends when a worker or the caller dies
(EVAL-7, EVAL-8)."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from iwkit.errors import IwkitError, LedgerError, RunStopped, UsageError
from iwkit.ledger import RESUMED, Journal, Record, comparable, read_records
from iwkit.runfolder import load_plan, selected_attempt
from iwkit_runtime.runs import Config, _FarBooth, run
from iwkit_runtime.selection import select
from iwkit_runtime.workers import Caller, Crew, Executor, FolderKeeper, Stage, executor, fresh_files
from iwkit_runtime.workers.inside import Inside
from iwkit_runtime.workers.messages import Write
from iwkit_runtime.workers.processes import Processes

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


def test_a_pack_comes_to_a_worker_once_whatever_the_number_of_its_episodes() -> None:
    (source, other) = select(["A1", "F10"], draft=True)
    sent = [pickle.loads(pickle.dumps((source, seed)))[0] for seed in range(2)]
    assert sent[0] is sent[1], "what is kept of its task is found again"
    assert sent[0] is not source and sent[0].task.digest == source.task.digest
    assert (sent[0].path, sent[0].uses, sent[0].freeze) == (source.path, source.uses, source.freeze)
    assert pickle.loads(pickle.dumps(other)).task.id == "F10"


# A place whose workers have no run folder, like those of a cluster, but in this process.


class Here:
    """Threads; what is said is pickled on its way, as anywhere else."""

    def __init__(self) -> None:
        self.said: queue.SimpleQueue[tuple[Any, object]] = queue.SimpleQueue()

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        """Threads that wait end with the process."""

    def start(self, stage: Stage, specs: Any, threads: int) -> Any:
        worker = HereWorker()
        worker.inside = Inside(lambda said: self.said.put((worker, copied(said))), stage, specs, threads)
        return worker

    def heard(self) -> list[tuple[Any, object]]:
        return [self.said.get(timeout=60)]


class HereWorker:
    inside: Inside

    def send(self, message: Any) -> None:
        self.inside.receive(copied(message))


def copied(message: Any) -> Any:
    return pickle.loads(pickle.dumps(message))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("iwkit_runtime.workers.places.EXECUTORS", {"here": Executor(Here, lambda: 2, shared=False)})
    return "here"


def test_workers_without_the_run_folder_have_their_records_written(here: str, tmp_path: Path) -> None:
    sources, config = select(TASKS, draft=True), Config("oracle", "rules", "symbolic", draft=True)
    run(sources, config, tmp_path / "alone", lambda *_: None)
    run(sources, config, tmp_path / "far", lambda *_: None, jobs=2, in_flight=3, where=here)
    assert records(tmp_path / "far") == records(tmp_path / "alone")
    closed = {path: path.read_bytes() for path in tmp_path.glob("far/cells/*/*")}
    for path in list(closed)[:2]:  # what was recorded is continued, not written again
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    run(sources, config, tmp_path / "far", lambda *_: None, jobs=2, where=here)
    assert {name: [r for r in found if r["kind"] != RESUMED] for name, found in records(tmp_path / "far").items()} == (
        records(tmp_path / "alone")
    )
    assert sum(path.read_bytes() != before for path, before in closed.items()) == 2


def test_records_that_cannot_be_written_end_the_run(here: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose records are not on disk is not let go on."""

    def full(_self: object, _record: object) -> None:
        raise LedgerError("No space left on device")

    monkeypatch.setattr(Journal, "_write", full)
    with pytest.raises(LedgerError, match="No space left"):
        run(select(["F10"], draft=True), Config("oracle", "rules", "symbolic", draft=True), tmp_path, print, where=here)


def test_files_come_before_the_records_that_name_them(tmp_path: Path) -> None:
    (tmp_path / "far" / "frames").mkdir(parents=True)
    fresh = fresh_files(tmp_path / "far")
    (tmp_path / "far" / "frames" / "a.png").write_bytes(b"picture")
    with FolderKeeper(tmp_path / "run", lambda job: Journal(tmp_path / "run" / f"{job}.jsonl")) as keeper:
        far = keeper.opened(7, "job")
        keeper.write(Write(1, 7, ({"n": 0, "kind": "header", "task": "F10"},), fresh()))
        assert fresh() == {}
        (tmp_path / "run" / "frames" / "a.png").write_bytes(b"there already")
        keeper.write(Write(2, 7, ({"n": 1, "kind": "reset"},), {"frames/a.png": b"picture"}))
        keeper.closed(7)
        assert keeper.opened(8, "job").known == tuple(read_records(tmp_path / "run" / "job.jsonl")[0][:2])
    assert (far.name, far.known) == (str(tmp_path / "run" / "job.jsonl"), ())
    assert (tmp_path / "run" / "frames" / "a.png").read_bytes() == b"there already"


def test_a_machine_with_other_code_plays_nothing() -> None:
    config = Config("oracle", "rules", "symbolic", draft=True)
    booth = _FarBooth(config, {**config.header(), "runtime": "sha256:other"})
    with pytest.raises(LedgerError, match="of the cluster, has another version of iwkit's code"):
        booth(Caller(print, None)).__enter__()


def test_no_such_executor() -> None:
    with pytest.raises(UsageError, match=r"no executor 'rya': use processes or ray; did you mean .*ray"):
        executor("rya")


def test_ray_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "iwkit_runtime.workers.cluster", raising=False)
    with pytest.raises(UsageError, match=r"pip install 'iwkit\[cluster\]'"):
        executor("ray").cores()


# What workers play here is no episode: a stage is whatever makes a function from a job to its closing record.


@contextlib.contextmanager
def meeting(_caller: object) -> Iterator[Callable[[Any], Record]]:
    """A job is done when a second process has come to the folder too."""

    def play(job: Path) -> Record:
        (job.parent / str(os.getpid())).touch()
        within(60, lambda: [int(p.name) for p in job.parent.iterdir()], lambda pids: len(pids) == 2)
        return {"job": job.name, "process": os.getpid()}

    yield play


@contextlib.contextmanager
def touchy(_caller: object) -> Iterator[Callable[[Any], Record]]:
    def play(job: Any) -> Record:
        if job == "die":
            os._exit(9)
        if isinstance(job, BaseException):
            raise job
        return {"job": job}

    yield play


def test_every_job_is_played_once_and_by_more_than_one_process(tmp_path: Path) -> None:
    with Crew(meeting, Processes(), 2, 4) as crew:
        found = dict(crew.play([tmp_path / str(number) for number in range(20)]))
    assert {number: end["job"] for number, end in found.items()} == {n: str(n) for n in range(20)}
    assert len({end["process"] for end in found.values()} - {os.getpid()}) == 2


@contextlib.contextmanager
def fatal_once(_caller: object) -> Iterator[Callable[[Any], Record]]:
    """The first worker that is given a job of a folder is killed in the middle of it."""

    def play(job: Path) -> Record:
        with contextlib.suppress(FileExistsError):
            (job.parent / "killed").mkdir()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"job": job.name}

    yield play


def test_what_a_killed_worker_played_is_played_by_another(tmp_path: Path) -> None:
    with Crew(fatal_once, Processes(), 2, 4) as crew:
        found = dict(crew.play([tmp_path / str(number) for number in range(6)]))
    assert {number: end["job"] for number, end in found.items()} == {n: str(n) for n in range(6)}


@contextlib.contextmanager
def hopeless(_caller: object) -> Iterator[Callable[[Any], Record]]:
    raise LedgerError("there is no world here")
    yield lambda _: {}  # pragma: no cover


@contextlib.contextmanager
def stillborn(_caller: object) -> Iterator[Callable[[Any], Record]]:
    os._exit(3)
    yield lambda _: {}  # pragma: no cover


@pytest.mark.parametrize(
    ("stage", "words"),
    [(hopeless, "no world here"), pytest.param(stillborn, "a worker ended", marks=pytest.mark.slow)],
)
def test_workers_that_can_play_nothing_end_the_run(stage: Any, words: str) -> None:
    with Crew(stage, Processes(), 2, 2) as crew, pytest.raises(LedgerError, match=words):
        list(crew.play(range(4)))


@pytest.mark.parametrize(
    ("job", "error", "words"),
    [
        (LedgerError("the disk is full"), LedgerError, "the disk is full"),
        (RunStopped("the budget does not reach"), RunStopped, "the budget does not reach"),
        (ValueError("a bug"), RuntimeError, "ValueError: a bug"),
        ("die", LedgerError, "a worker ended, and the one before it"),
    ],
)
def test_what_goes_wrong_in_a_worker_is_told(job: Any, error: type[Exception], words: str) -> None:
    with Crew(touchy, Processes(), 1, 1) as crew, pytest.raises(error, match=words):
        list(crew.play([1, job, 2]))


def test_after_trouble_nothing_more_is_handed_out_but_what_runs_is_finished() -> None:
    found = []
    with Crew(touchy, Processes(), 1, 2) as crew, pytest.raises(IwkitError, match="full"):
        found += [number for number, _ in crew.play([LedgerError("full"), 1, *range(2, 50)])]  # pragma: no branch
    assert len(found) < 49


CALLER = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from iwkit_runtime.workers import Crew
from iwkit_runtime.workers.processes import Processes
import sleepers
if __name__ == "__main__":
    with Crew(sleepers.stage, Processes(), 2, 2) as crew:
        list(crew.play([sys.argv[1], sys.argv[1]]))
"""
SLEEPERS = """
import contextlib, os, time
from pathlib import Path

@contextlib.contextmanager
def stage(_caller):
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
