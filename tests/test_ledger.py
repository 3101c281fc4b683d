"""The journal: append, recall and compare; every kind of torn tail (EVAL-7)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journals import EPISODE, episode_of, play, undisturbed, unsynced

from iwkit.errors import LedgerError
from iwkit.ledger import (
    BARRIERS,
    RESUMED,
    Journal,
    Record,
    dump,
    read_records,
    trace_of,
    write_json,
)


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    with unsynced():
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[Record]]:
    return undisturbed(tmp_path_factory.mktemp("whole"))


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
