"""Reading a run folder: figures equal to committed ones, which attempt counts, and transcripts (EVAL-8, MET-8).

tests/data/golden_run is a run that was really made: F10 void at first and then passed, A1 failed, D5 void, W7 killed
in the middle of a record. What the report must say about it is in tests/data/golden_run/expected.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from iwkit.errors import LedgerError
from iwkit.ledger import dump, read_records
from iwkit.report.summary import summarise, to_json
from iwkit.report.table import MARKS, to_rich
from iwkit.report.tables import percent, rate_text, tables
from iwkit.report.transcript import transcript
from iwkit.runfolder import attempt_path, selected_attempt

GOLDEN = Path(__file__).parent / "data" / "golden_run"
EXPECTED = GOLDEN / "expected"
TASKS = ("F10", "A1", "D5", "W7")


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(GOLDEN, tmp_path / "golden_run"))


def attempt(folder: Path, cell: str, number: int, status: str | None, completion: float = 0.0) -> None:
    """Write an attempt that is closed with a status, or not closed (None)."""
    score = {"completion": completion, "cfss": None, "stg_cfss": None, "conditions": [], "atoms": []}
    end = {"n": 1, "kind": "end", "status": status, "void": "broken" if status == "void" else None}
    records: list[dict[str, Any]] = [{"n": 0, "kind": "reset", "state": []}]
    if status is not None:
        records.append({**end, "stop_reason": "done", "ticks": number, "actions": number, "score": score})
    path = attempt_path(folder, cell, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(dump, records)))


def plan(folder: Path, *cells: tuple[str, int]) -> None:
    config = {"assistant": "a:B", "human": "rules", "world": "symbolic", "draft": True}
    entries = {
        f"{task}-s{seed}": {"task": task, "seed": seed, "family": "finding", "freeze": "draft"} for task, seed in cells
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan.json").write_text(json.dumps({"config": config, "cells": entries}), "utf-8")


# Figures


def test_the_figures_of_the_golden_run() -> None:
    assert to_json(summarise(GOLDEN)) == json.loads((EXPECTED / "report.json").read_text("utf-8"))


def test_the_figures_can_be_recomputed_without_iwkit() -> None:
    """From the closing records alone: the last line of each first attempt that is not void."""
    ends = {}
    for cell in sorted((GOLDEN / "cells").iterdir()):
        lines = [p.read_bytes().splitlines()[-1] for p in sorted(cell.glob("attempt-*.jsonl"))]
        closed = [json.loads(line) for line in lines if line.endswith(b"}")]
        ends[cell.name] = next((e for e in closed if e["kind"] == "end" and e["status"] != "void"), None)
    report = to_json(summarise(GOLDEN))
    measured = {name.removesuffix("-s0"): end for name, end in ends.items() if end is not None}
    assert set(measured) == {"F10", "A1"}
    for task, end in measured.items():
        shown = report["tasks"][task]
        assert (shown["status"], shown["actions"], shown["ticks"]) == (end["status"], end["actions"], end["ticks"])
        assert shown["completion"] == end["score"]["completion"]
    passed = sum(end["status"] == "pass" for end in measured.values())
    assert report["passed"] == passed
    assert report["low"] == passed / len(ends)
    assert report["valid_pass_rate"] == passed / len(measured)


def test_voids_keep_the_rate_unknown() -> None:
    report = to_json(summarise(GOLDEN))
    assert (report["cells"], report["void"], report["pass_rate"], report["mcr"]) == (4, 2, None, None)
    assert report["families"]["finding"]["pass_rate"] == 1.0
    assert report["families"]["decision"]["pass_rate"] is None
    assert report["tasks"]["W7"] == {**report["tasks"]["W7"], "status": "void", "reason": "not finished"}
    assert report["tasks"]["D5"]["completion"] is None


def test_keys_with_one_seed_and_with_several(tmp_path: Path) -> None:
    plan(tmp_path, ("F10", 0), ("G10", 0))
    assert list(to_json(summarise(tmp_path))["tasks"]) == ["F10", "G10"]
    plan(tmp_path, ("F10", 0), ("F10", 3))
    assert list(to_json(summarise(tmp_path))["tasks"]) == ["F10-s0", "F10-s3"]


@pytest.mark.parametrize(
    ("attempts", "chosen"),
    [
        ([], None),
        ([None], 1),
        (["fail", "pass"], 1),
        (["void", "fail", "pass"], 2),
        (["void", "pass", "fail"], 2),
        (["void", "void"], 2),
        (["void", None], 2),
        (["pass", None], 1),
    ],
)
def test_attempts_are_chosen_by_validity_never_by_score(
    tmp_path: Path, attempts: list[str | None], chosen: int | None
) -> None:
    plan(tmp_path, ("F10", 0))
    for number, status in enumerate(attempts, start=1):
        attempt(tmp_path, "F10-s0", number, status, completion=float(status == "pass"))
    found = selected_attempt(tmp_path, "F10-s0")
    assert (found[0] if found else None) == (attempt_path(tmp_path, "F10-s0", chosen) if chosen else None)
    (result,) = summarise(tmp_path).results
    expected = attempts[chosen - 1] if chosen else None
    assert result.status == (expected or "void")
    assert result.reason == {"void": "broken", None: "not finished"}.get(expected, "done")


def test_attempts_are_counted_beyond_nine_and_other_files_are_not_read(tmp_path: Path) -> None:
    plan(tmp_path, ("F10", 0))
    for number in range(1, 12):
        attempt(tmp_path, "F10-s0", number, "void")
    attempt(tmp_path, "F10-s0", 1000, "pass")
    for name in ("attempt-001.jsonl.torn-1", "attempt-12.jsonl", "attempt-xyz.jsonl", ".attempt-013.jsonl.partial"):
        (tmp_path / "cells" / "F10-s0" / name).write_text("no record", "utf-8")
    assert summarise(tmp_path).results[0].status == "pass"


def text_of(folder: Path, width: int = 120) -> str:
    console = Console(width=width, record=True, force_terminal=False, file=(folder / "table.txt").open("w"))
    for table in tables(summarise(folder)):
        console.print(to_rich(table))
    return console.export_text()


def test_tables(golden: Path) -> None:
    text = text_of(golden, width=200)
    for words in ("not finished", "503 from the [/model] service", "25.0 % to 75.0 % (2 void)", "1 of 4"):
        assert words in text
    assert [line.split()[1] for line in text.splitlines() if line.startswith("│ ") and line.split()[1] in TASKS] == [
        *TASKS
    ]
    assert text_of(golden, width=40)


def test_names_are_no_markup(tmp_path: Path) -> None:
    """What people and agents are called, and what they say, is text."""
    plan(tmp_path, ("F10", 0))
    config = json.loads((tmp_path / "plan.json").read_text("utf-8"))
    config["config"]["assistant"] = "[/red]:smile:[bold]"
    (tmp_path / "plan.json").write_text(json.dumps(config), "utf-8")
    assert "[/red]" in text_of(tmp_path)


def test_marks_and_numbers() -> None:
    assert set(MARKS) == {"pass", "fail", "void"}
    assert (percent(None), percent(0.0), percent(1 / 3)) == ("–", "0.0 %", "33.3 %")
    assert rate_text(summarise(GOLDEN).total) == "25.0 % to 75.0 % (2 void)"


# Transcripts


@pytest.mark.parametrize("task", TASKS)
def test_the_transcripts_of_the_golden_run(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN.parent)
    expected = (EXPECTED / f"{task}.txt").read_text("utf-8")
    assert transcript(Path("golden_run"), task) == expected
    assert transcript(Path("golden_run"), f"{task}-s0") == expected


def test_a_transcript_tells_who_said_and_did_what_and_why_it_counts() -> None:
    """Every utterance, command, refusal and condition of the record is in the text, in order."""
    for task in TASKS:
        chosen = selected_attempt(GOLDEN, f"{task}-s0")
        assert chosen is not None
        text = transcript(GOLDEN, task)
        at = 0
        for record in chosen[1]:
            for words in told(record):
                assert words in text[at:], (task, words)
                at = text.index(words, at)
        assert f"assistant {chosen[1][0]['assistant']}" in text


def told(record: dict[str, Any]) -> list[str]:
    match record["kind"]:
        case "speech":
            return [record["text"]]
        case "step":
            receipt = record["receipt"]
            return [record["command"], *([] if receipt["ok"] else [receipt["code"], receipt["text"]])]
        case "end":
            rows = [f"[{'x' if c['ok'] else ' '}] {c['id']}" for c in record["score"]["conditions"]]
            return [record["status"].upper(), *rows]
    return []


def test_a_journal_cut_anywhere_has_a_transcript(golden: Path) -> None:
    path = attempt_path(golden, "F10-s0", 2)
    raw = path.read_bytes()
    whole = transcript(golden, "F10")
    for cut in range(0, len(raw), 97):
        path.write_bytes(raw[:cut])
        text = transcript(golden, "F10")
        assert text.endswith("Not finished: the same run command continues it.\n")
        body = text.split("\n\n", 1)[1].rsplit("\n\n", 1)[0]
        assert body in whole or cut < len(raw.splitlines(keepends=True)[0])


def test_an_episode_that_is_not_there(golden: Path) -> None:
    with pytest.raises(LedgerError, match="has no episode 'F1': it has A1-s0, D5-s0, F10-s0, W7-s0"):
        transcript(golden, "F1")
    shutil.rmtree(golden / "cells" / "D5-s0")
    with pytest.raises(LedgerError, match="episode D5-s0 has not been begun"):
        transcript(golden, "D5")
    with pytest.raises(LedgerError, match="holds no run"):
        transcript(golden / "cells", "D5")


def test_a_damaged_journal_is_named_with_its_line(golden: Path) -> None:
    path = attempt_path(golden, "A1-s0", 1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:4], b"{}\n", *lines[5:]]))
    for reading in (summarise, lambda folder: transcript(folder, "A1")):
        with pytest.raises(LedgerError, match=r"attempt-001\.jsonl:5: damaged record"):
            reading(golden)


def test_a_terminal_obeys_nothing_in_a_transcript(golden: Path) -> None:
    path = attempt_path(golden, "D5-s0", 1)
    records = read_records(path)[0]
    for record in records:
        if record["kind"] == "agent_failed":
            record["reason"] = "the assistant failed: \x1b[2J\x07\u202egone\r\nnext"
    path.write_bytes(b"".join(map(dump, records)))
    text = transcript(golden, "D5")
    assert "the assistant failed: [2J gone next" in text
    assert not set(text) & set("\x1b\x07\u202e\r")
