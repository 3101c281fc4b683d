"""The journal: one writer, and disks that refuse (EVAL-7)."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from journals import EPISODE, episode_of, play, undisturbed, unsynced

from iwkit.errors import LedgerError
from iwkit.ledger import (
    Journal,
    Record,
    exclusive,
    read_records,
    write_atomic,
    write_json,
)
from iwkit.runfolder import load_plan


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    with unsynced():
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[Record]]:
    return undisturbed(tmp_path_factory.mktemp("whole"))


# One writer


HOLD = """
    import sys, time
    from pathlib import Path
    from iwkit.ledger import exclusive
    with exclusive(Path(sys.argv[1])):
        print("held", flush=True)
        time.sleep(60)
"""


def test_a_second_writer_is_refused_and_kill_releases_the_lock(tmp_path: Path) -> None:
    first = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLD), str(tmp_path / "run")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        busy = "another process is writing to it; wait for it or choose another --out"
        with pytest.raises(LedgerError, match=busy), exclusive(tmp_path / "run"):
            pass
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    with exclusive(tmp_path / "run"):
        pass


def test_the_lock_is_released_on_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), exclusive(tmp_path):
        _ = 1 / 0
    with exclusive(tmp_path):
        pass


# Disks that refuse


LIMITED = """
    import json, resource, sys
    from pathlib import Path
    from iwkit.errors import LedgerError
    from iwkit.ledger import Journal
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    try:
        with Journal(Path(sys.argv[1])) as journal:
            for kind, fields in json.loads(sys.argv[3]):
                if kind != "answer" or journal.recall(kind) is None:
                    journal.append(kind, fields)
    except LedgerError as error:
        print(error)
        sys.exit(1)
"""


def test_a_full_disk_is_a_clear_error_and_nothing_is_lost(tmp_path: Path, whole: tuple[bytes, list[Record]]) -> None:
    """The limit is raised step by step, so that the write stops in the middle of every record in turn."""
    path = tmp_path / "j.jsonl"
    codes = []
    for limit in range(150, len(whole[0]) + 2000, 130):
        before = read_records(path)[0] if path.exists() else []
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(LIMITED), str(path), str(limit), json.dumps(EPISODE)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        codes.append(done.returncode)
        assert read_records(path)[0][: len(before)] == before
        if done.returncode == 0:
            break
        assert done.stdout.startswith(str(path))
        assert "mend that and run the same command again" in done.stdout
    assert codes[-1] == 0
    assert codes.count(1) >= 2, codes
    assert episode_of(path) == whole[1]


def test_a_full_disk_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short write, then an error, at each record: what the record left behind is repaired by the next run."""
    path = tmp_path / "j.jsonl"
    write = os.write
    room = [0]

    def full(file: int, data: Any) -> int:
        if room[0] == 0:
            raise OSError(28, "No space left on device")
        size = min(room[0], len(data))
        room[0] -= size
        return write(file, bytes(data[:size]))

    monkeypatch.setattr(os, "write", full)
    for size in range(1, 400, 7):
        room[0] = size
        try:
            play(path)
        except LedgerError as error:
            assert str(error) == (
                f"{path}: cannot be written: No space left on device; mend that and run the same command again"
            )
    room[0] = 10**6
    play(path)
    assert [r["kind"] for r in episode_of(path)] == [kind for kind, _ in EPISODE]


def test_a_folder_that_may_not_be_written() -> None:
    """Root may write anywhere, so that the process gives its rights up."""
    script = """
        import os, sys
        from pathlib import Path
        from iwkit.errors import LedgerError
        from iwkit.ledger import Journal, exclusive, read_records, write_json
        folder = Path(sys.argv[1])
        os.chdir("/")
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        def attempt(what):
            try:
                what()
            except LedgerError as error:
                print(error)
            else:
                print("no error")
        attempt(lambda: exclusive(folder).__enter__())
        attempt(lambda: Journal(folder / "new.jsonl"))
        attempt(lambda: Journal(folder / "sub" / "new.jsonl"))
        attempt(lambda: Journal(folder / "old.jsonl"))
        attempt(lambda: write_json(folder / "plan.json", {}))
        attempt(lambda: read_records(folder / "secret.jsonl"))
    """
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "run"
        folder.mkdir()
        (folder / "old.jsonl").write_bytes(b'{"torn')
        (folder / "secret.jsonl").write_bytes(b"")
        (folder / "secret.jsonl").chmod(0)
        folder.chmod(0o555)
        try:
            done = subprocess.run(
                [sys.executable, "-c", textwrap.dedent(script), str(folder)],
                capture_output=True,
                text=True,
                check=False,
            )
            assert (folder / "old.jsonl").read_bytes() == b'{"torn'
        finally:
            folder.chmod(0o755)
    lines = done.stdout.splitlines()
    assert not done.stderr
    assert len(lines) == 6
    assert "choose another --out" in lines[0]
    for line in lines[1:5]:
        assert "cannot be written: Permission denied; mend that" in line
    assert lines[5].endswith("cannot be read: Permission denied")


def test_a_path_that_cannot_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="choose another --out"), exclusive(tmp_path / "file" / "run"):
        pass
    with pytest.raises(LedgerError, match="cannot be written"):
        Journal(tmp_path / "file" / "j.jsonl")
    with pytest.raises(LedgerError, match="cannot be read"):
        read_records(tmp_path / "none.jsonl")


# Files that are replaced whole


def test_write_atomic_leaves_the_old_file_when_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_json(path, {"é": [1]})
    old = path.read_bytes()
    assert json.loads(old) == {"é": [1]}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(LedgerError, match=r"plan\.json: cannot be written: File too large"):
            write_atomic(path, b"x" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["plan.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"config": {}}', '{"config": {}, "cells": []}', "\udcff"])
def test_a_damaged_plan_is_a_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(LedgerError, match=r"plan\.json"):
        load_plan(tmp_path)


def test_no_plan_at_all(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="holds no run"):
        load_plan(tmp_path)
    with pytest.raises(LedgerError, match="holds no run"):
        load_plan(tmp_path / "nowhere")
