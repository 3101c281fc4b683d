"""The audit bundle: files that agree with the record they are from (EVAL-8)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from iwkit.errors import LedgerError
from iwkit.ledger import read_records
from iwkit.report.bundle import PARTS, bundle
from iwkit.report.episode import turns
from iwkit.runfolder import selected_attempt

GOLDEN = Path(__file__).parent / "data" / "golden_run"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "out"
    bundle(GOLDEN, out)
    return out


def part(folder: Path, cell: str, name: str) -> Any:
    return json.loads((folder / cell / f"{name}.json").read_text("utf-8"))


def test_every_cell_has_every_file(written: Path) -> None:
    assert sorted(p.name for p in written.iterdir()) == ["A1-s0", "D5-s0", "F10-s0", "W7-s0", "manifest.json"]
    names = {f"{name}.json" for name in (*PARTS, "manifest", "selected_attempt")} | {"record.jsonl", "taskpack.yaml"}
    for cell in (p for p in written.iterdir() if p.is_dir()):
        assert {p.name for p in cell.iterdir()} == names


def test_the_files_say_what_the_record_says(written: Path) -> None:
    path, records = selected_attempt(GOLDEN, "F10-s0") or (Path(), [])
    assert (written / "F10-s0" / "record.jsonl").read_bytes() == path.read_bytes()
    end = records[-1]
    assert part(written, "F10-s0", "eval")["score"] == end["score"]
    told = [e.text for turn in turns(records) for e in turn.entries if e.kind == "speech"]
    assert [line["text"] for line in part(written, "F10-s0", "dialogue")] == told
    commands = [e.text for turn in turns(records) for e in turn.entries if e.kind == "command"]
    assert [step["command"] for step in part(written, "F10-s0", "human_action_trace")] == commands
    answers = [r["text"] for r in records if r["kind"] == "answer" and r["role"] == "assistant"]
    assert [turn["answer"] for turn in part(written, "F10-s0", "assistant_turns")] == answers
    seen = [e["seq"] for r in records for e in r.get("events", ()) if e["kind"] in ("became_visible", "left_view")]
    assert [row["event"] for row in part(written, "F10-s0", "visibility")] == seen
    assert "on(thermometer, desk)" in part(written, "F10-s0", "states")["end"]
    assert "on(thermometer, desk)" not in part(written, "F10-s0", "states")["baseline"]


def test_which_attempt_counts_and_why(written: Path) -> None:
    chosen = part(written, "F10-s0", "selected_attempt")
    assert [a["status"] for a in chosen["attempts"]] == ["void", "pass"]
    assert chosen["selected"] == "cells/F10-s0/attempt-002.jsonl"
    assert part(written, "F10-s0", "manifest")["evidence_path"] == chosen["selected"]


def test_an_attempt_that_was_not_finished(written: Path) -> None:
    assert part(written, "W7-s0", "eval") is None
    assert part(written, "W7-s0", "manifest")["evaluation_status"] == "not finished"


def test_the_hashes_are_the_ones_on_record(written: Path) -> None:
    entry = part(written, "A1-s0", "manifest")
    header = read_records(GOLDEN / entry["evidence_path"])[0][0]
    assert entry["observed_hash"] == entry["expected_hash"] == header["digest"]
    assert entry["completion_protocol"] == "state"


def test_the_same_records_give_the_same_files(written: Path, tmp_path: Path) -> None:
    bundle(GOLDEN, tmp_path / "again")
    files = [p.relative_to(written) for p in sorted(written.rglob("*.json*"))]
    assert all((written / f).read_bytes() == (tmp_path / "again" / f).read_bytes() for f in files)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x", "utf-8")
    with pytest.raises(LedgerError, match="not empty"):
        bundle(GOLDEN, tmp_path)
    run = Path(shutil.copytree(GOLDEN, tmp_path / "run"))
    with pytest.raises(LedgerError, match="not empty"):
        bundle(run, run)
