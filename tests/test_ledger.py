"""The journal: append, recall and compare; every kind of torn tail; one writer; disks that refuse (EVAL-7)."""

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
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.errors import LedgerError
from iwkit.ledger import (
    BARRIERS,
    END,
    RESUMED,
    Journal,
    Record,
    comparable,
    dump,
    exclusive,
    read_records,
    trace_of,
    write_atomic,
    write_json,
)
from iwkit.runfolder import load_plan

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


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """What a process has written is there for the next one without a sync; that there is one is tested below."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(os, "fdatasync", lambda _: None)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[Record]]:
    """The bytes and the records of an undisturbed journal."""
    path = tmp_path_factory.mktemp("whole") / "attempt-001.jsonl"
    play(path)
    return path.read_bytes(), episode_of(path)


def test_append_then_read(whole: tuple[bytes, list[Record]]) -> None:
    raw, records = whole
    assert [r["kind"] for r in records] == [kind for kind, _ in EPISODE]
    assert [r["n"] for r in records] == list(range(len(EPISODE)))
    assert records[1]["text"] == EPISODE[1][1]["text"]
    assert "体温计".encode() in raw, "text is to be readable in the file"
    assert all("t_wall" in json.loads(line) for line in raw.splitlines())


def test_a_record_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        for number, (kind, fields) in enumerate(EPISODE[:-1], start=1):
            journal.append(kind, fields)
            assert len(read_records(path)[0]) == number


def test_everything_is_synced_before_a_view_leaves_and_before_an_answer_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "j.jsonl"
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", lambda _: synced.append(path.stat().st_size))
    with Journal(path) as journal:
        for kind, fields in EPISODE:
            journal.append(kind, fields)
            if kind in BARRIERS:
                assert synced[-1] == path.stat().st_size
    assert {"ask", "answer", "end"} <= BARRIERS
    assert len(synced) == sum(kind in BARRIERS for kind, _ in EPISODE)


def test_a_new_file_is_synced_into_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(Path(f"/proc/self/fd/{file}").readlink().name))
    with Journal(tmp_path / "cell" / "j.jsonl"):
        assert synced == ["cell"]
    write_json(tmp_path / "run" / "plan.json", {})
    assert synced[1].endswith(".partial")
    assert synced[2] == "run"


def test_recall_gives_the_recorded_answer_and_only_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    play(path, EPISODE[:4])
    with Journal(path) as journal:
        for kind, fields in EPISODE[:3]:
            assert journal.recall("answer") is None
            journal.append(kind, fields)
        answer = journal.recall("answer")
        assert answer is not None
        assert answer["text"] == "$silent$"
        assert journal.recall("answer") is None
    assert read_records(path)[0][-1] == {**read_records(path)[0][-1], "kind": RESUMED, "after": 4}


def test_a_different_replay_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    play(path, EPISODE[:3])
    with Journal(path) as journal:
        before = path.read_bytes()
        journal.append(*EPISODE[0])
        with pytest.raises(LedgerError, match=r"j\.jsonl: record 1 \(speech\) .*: text differ"):
            journal.append("speech", {"text": "other", "by": "wearer"})
        with pytest.raises(LedgerError, match=r"record 1 \(speech\) .*: by, kind, role, text, tick differ"):
            journal.append("ask", {"role": "assistant", "tick": 1})
        assert path.read_bytes() == before


def test_wall_times_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        journal.append("a", {"x": 1, "t_wall_latency": 1.0})
    with Journal(path) as journal:
        journal.append("a", {"x": 1, "t_wall_latency": 2.0})


def test_a_closed_attempt_is_never_written_to(tmp_path: Path, whole: tuple[bytes, list[Record]]) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(whole[0])
    with Journal(path) as journal:
        assert journal.finished
        assert journal.end is not None
        assert journal.end["status"] == "pass"
        for kind, fields in EPISODE:
            journal.append(kind, fields)
        with pytest.raises(LedgerError, match="closed"):
            journal.append("more", {})
    assert path.read_bytes() == whole[0]


# Torn tails


def last_line(raw: bytes) -> int:
    """Where the last line begins."""
    return raw.rindex(b"\n", 0, -1) + 1


def test_cut_at_every_byte_of_the_last_records(tmp_path: Path, whole: tuple[bytes, list[Record]]) -> None:
    raw, records = whole
    for at in range(last_line(raw), len(raw)):
        path = tmp_path / str(at) / "j.jsonl"
        path.parent.mkdir()
        path.write_bytes(raw[:at])
        tail = raw[last_line(raw) : at]
        whole_record = tail == raw[last_line(raw) : -1]
        assert read_records(path)[1] == (b"" if whole_record else tail)
        play(path)
        assert episode_of(path) == records, at
        kept = [p.read_bytes() for p in path.parent.glob("j.jsonl.torn-*")]
        assert kept == ([tail] if tail and not whole_record else [])


@settings(max_examples=40, deadline=None)
@given(cuts=st.lists(st.floats(0, 1), min_size=1, max_size=3))
def test_any_prefix_can_be_continued_to_the_same_records(
    tmp_path_factory: pytest.TempPathFactory, whole: tuple[bytes, list[Record]], cuts: list[float]
) -> None:
    """Also when the continuation is cut again, and again. `cuts` are the shares that remain."""
    raw, records = whole
    path = tmp_path_factory.mktemp("prefix") / "j.jsonl"
    path.write_bytes(raw)
    for share in cuts:
        written = path.read_bytes()
        path.write_bytes(written[: round(share * len(written))])
        had_answer = any(r["kind"] == "answer" for r in read_records(path)[0])
        assert play(path) == ([] if had_answer else ["$silent$"]), "a recorded answer is not made again"
        assert episode_of(path) == records


TAILS = {
    "half a line": b'{"kind":"speech","n":2,"te',
    "half a character": '{"kind":"speech","n":2,"text":"é'.encode()[:-1],
    "NULs after a power cut": b"\0" * 4096,
    "NULs and a newline": b"\0" * 512 + b"\n",
    "half a line, then NULs": b'{"kind":"spee' + b"\0" * 100,
    "two objects on one line": b'{"kind":"a","n":2}{"kind":"b","n":3}\n',
    "two objects without a newline": b'{"kind":"a","n":2}{"kind":"b","n":3}',
    "no object": b"[1, 2]\n",
    "no kind": b'{"n":2}\n',
    "another record's number": b'{"kind":"ask","n":7}\n',
    "deep nesting": b"[" * 200_000 + b"\n",
    "only a newline": b"\n",
}


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_torn_tails_are_kept_aside(tmp_path: Path, whole: tuple[bytes, list[Record]], tail: bytes) -> None:
    raw, records = whole
    path = tmp_path / "j.jsonl"
    path.write_bytes(b"".join(raw.splitlines(keepends=True)[:2]) + tail)
    assert read_records(path)[1] == tail
    assert play(path) == ["$silent$"]
    assert episode_of(path) == records
    assert (tmp_path / "j.jsonl.torn-1").read_bytes() == tail


def test_a_whole_record_without_its_newline_is_kept(tmp_path: Path, whole: tuple[bytes, list[Record]]) -> None:
    raw, records = whole
    path = tmp_path / "j.jsonl"
    path.write_bytes(b"".join(raw.splitlines(keepends=True)[:4])[:-1])
    assert play(path) == [], "the answer had been recorded"
    assert episode_of(path) == records
    assert not list(tmp_path.glob("*.torn-*"))


def test_each_torn_tail_keeps_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    play(path, EPISODE[:2])
    for tail in (b"{one", b"{two", b"{three"):
        with path.open("ab") as file:
            file.write(tail)
        play(path, EPISODE[:2])
    (tmp_path / "j.jsonl.torn-1").unlink()
    with path.open("ab") as file:
        file.write(b"{four")
    play(path, EPISODE[:2])
    found = {p.name[-1]: p.read_bytes() for p in tmp_path.glob("j.jsonl.torn-*")}
    assert found == {"1": b"{four", "2": b"{two", "3": b"{three"}


def test_a_record_after_the_end_is_set_aside(tmp_path: Path, whole: tuple[bytes, list[Record]]) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(whole[0] + b'{"kind":"ask","n":6}\n')
    with Journal(path) as journal:
        assert journal.finished
    assert path.read_bytes() == whole[0]


@pytest.mark.parametrize("content", [b"", b"{", b'{"kind":"hea'])
def test_a_journal_killed_at_birth_begins_again(
    tmp_path: Path, whole: tuple[bytes, list[Record]], content: bytes
) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(content)
    play(path)
    assert episode_of(path) == whole[1]


DAMAGE = {
    "a bit": lambda lines: [lines[0], b"X" + lines[1][1:], *lines[2:]],
    "a line gone": lambda lines: [lines[0], *lines[2:]],
    "a line twice": lambda lines: [lines[0], lines[1], lines[1], *lines[2:]],
    "NULs": lambda lines: [lines[0], b"\0" * len(lines[1]) + b"\n", *lines[2:]],
    "a blank line": lambda lines: [lines[0], b"\n", *lines[1:]],
    "two on one line": lambda lines: [lines[0], lines[1].rstrip() + lines[2], *lines[3:]],
    "more after the end": lambda lines: [lines[0], b'{"kind":"end","n":1}\n', *lines[2:]],
    "before a torn tail": lambda lines: [lines[0], b"{]\n", b"{"],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_in_the_middle_is_refused_with_its_line(
    tmp_path: Path, whole: tuple[bytes, list[Record]], damage: Any
) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b"".join(damage(whole[0].splitlines(keepends=True))))
    before = path.read_bytes()
    line = 3 if damage in (DAMAGE["a line twice"], DAMAGE["more after the end"]) else 2
    for opening in (read_records, Journal):
        with pytest.raises(LedgerError, match=rf"j\.jsonl:{line}: damaged record; .* move the file away"):
            opening(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["j.jsonl"]


@settings(max_examples=40, deadline=None)
@given(
    fields=st.dictionaries(
        st.text(min_size=1).filter(lambda k: k not in ("n", "kind") and not k.startswith("t_wall")),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=8,
        ),
    )
)  # fmt: skip
def test_any_json_value_comes_back_and_is_one_line(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("values") / "j.jsonl"
    for _ in range(2):
        with Journal(path) as journal:
            journal.append("x", fields)
    assert path.read_bytes().count(b"\n") == 2, "one record and one resume mark"
    (record,) = episode_of(path)
    assert record == {"n": 0, "kind": "x", **fields}


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


# Back to a trace


def test_trace_of_a_journal_cut_anywhere() -> None:
    """The state after each record is the one before it, less what went, plus what came."""
    records: list[Record] = [
        {"kind": "reset", "state": [["on", "cup", "table"], ["clean", "cup"]]},
        {
            "kind": "step",
            "events": [{"seq": 1, "kind": "cycle_started", "roles": {"device": "washer", "contents": ["a", "b"]}}],
            "added": [["inside", "cup", "box"]],
            "removed": [["on", "cup", "table"]],
        },
        {"kind": "handoff", "added": [["at_baseline", "cup"]], "removed": []},
        {"kind": RESUMED, "after": 3},
        {
            "kind": "speech",
            "events": [{"seq": 2, "kind": "said", "roles": {"by": "assistant"}, "assisted": True}],
            "added": [],
            "removed": [],
        },
    ]
    opened = frozenset({("inside", "cup", "box"), ("clean", "cup")})
    baseline = opened | {("at_baseline", "cup")}
    trace = trace_of(records)
    assert trace.initial == {("on", "cup", "table"), ("clean", "cup")}
    assert trace.baseline == baseline
    assert trace.handoff == 1
    assert trace.opening[0].state == opened
    assert trace.opening[0].events[0].roles["contents"] == ("a", "b")
    assert trace.interaction[0].state == baseline
    assert trace.interaction[0].events[0].assisted
    assert trace_of(records[:2]).baseline == opened
    assert trace_of(records[:2]).handoff == 1
    assert trace_of([]).steps == ()


def test_dump_is_one_line_with_sorted_keys() -> None:
    assert dump({"b": "é\n", "a": 1}) == '{"a":1,"b":"é\\n"}\n'.encode()
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump({"a": float("nan")})
