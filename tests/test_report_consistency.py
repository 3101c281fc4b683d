"""`iwkit report` notices a record that contradicts itself: each way of changing one is told, and no honest run is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from iwkit import resources
from iwkit.compile import load_task
from iwkit.report.consistency import contradictions
from iwkit_runtime import runs
from iwkit_runtime.runs import Config
from iwkit_runtime.sources import Source

GOLDEN = Path(__file__).parent / "data" / "golden_run"
Records = list[dict[str, Any]]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks as the oracle and its wrong counterpart play them, in the symbolic world."""
    folder = tmp_path_factory.mktemp("consistent")
    for assistant in ("oracle", "wrong"):
        paths = [path for pack in ("A1", "W7") for path in resources.root("taskpacks").glob(f"*/{pack}.yaml")]
        sources = [Source(task, path, task.digest, "draft") for path in paths for task in [load_task(path)]]
        config = Config(assistant, "rules", "symbolic", draft=True, pictures=False)
        runs.run(sources, config, folder / assistant, lambda _task, _end: None)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    """A copy of the oracle's run to be changed."""
    return Path(shutil.copytree(played / "oracle", tmp_path / "run"))


def change(folder: Path, how: Callable[[Records], None], cell: str = "A1-s0") -> None:
    path = folder / "cells" / cell / "attempt-001.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    how(records)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


def test_an_honest_run_agrees_with_itself(played: Path) -> None:
    assert list(contradictions(played / "oracle")) == []
    assert list(contradictions(played / "wrong")) == []
    assert list(contradictions(GOLDEN)) == []


def fail(records: Records) -> None:
    records[-1]["status"] = "fail"


def complete(records: Records) -> None:
    records[-1]["score"]["completion"] = 0.5


def condition(records: Records) -> None:
    records[-1]["score"]["conditions"][0]["ok"] = False


def drop_an_event(records: Records) -> None:
    next(r for r in reversed(records) if len(r.get("events", ())) > 1)["events"].pop(0)


def drop_the_proof(records: Records) -> None:
    """The world no longer comes to what the goal asks for, event by event in order."""
    for record in records:
        if record["kind"] == "step":
            record["added"] = [r for r in record["added"] if r[0] not in ("on", "inside")]
            for event in record["events"]:
                if event["kind"] in ("released", "grabbed", "moved"):
                    event["kind"] = "stood"
                    event["roles"] = {"seat": "chair"}


def remove_nothing(records: Records) -> None:
    next(r for r in records if r["kind"] == "step")["removed"].append(["on", "nothing", "nowhere"])


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (fail, "it ends with fail, and its trace gives pass"),
        (complete, "its score differs from what its trace gives in completion"),
        (condition, "its score differs from what its trace gives in conditions"),
        (drop_an_event, " after event "),
        (drop_the_proof, "its score differs"),
        (remove_nothing, "changes on(nothing, nowhere) to what it was"),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_a_changed_record_is_noticed(folder: Path, how: Callable[[Records], None], says: str) -> None:
    change(folder, how)
    (line,) = contradictions(folder)
    assert "A1-s0" in line
    assert says in line


def test_the_words_of_a_reason_are_no_contradiction(folder: Path) -> None:
    def reworded(records: Records) -> None:
        for part in records[-1]["score"]["conditions"]:
            part["why"] = "put otherwise"

    change(folder, reworded)
    assert list(contradictions(folder)) == []


def test_an_unfinished_episode_is_not_judged(folder: Path) -> None:
    change(folder, lambda records: records.pop())
    assert list(contradictions(folder)) == []


def test_the_command_tells_and_exits_with_1(folder: Path) -> None:
    def report(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "iwkit.cli.main", "report", str(folder), *words]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)

    assert report("--format", "json").returncode == 0
    change(folder, fail)
    done = report("--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["tasks"]["A1"]["status"] == "fail", "the figures are shown as they are"
    assert "the record contradicts itself: it ends with fail, and its trace gives pass" in done.stderr
    assert "W7" not in done.stderr
