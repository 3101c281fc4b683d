"""Models and worker processes: only the calling process asks, many at a time; records are those of one process."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from iwkit.errors import RunStopped
from iwkit.ledger import comparable
from iwkit.report.calls import totals
from iwkit.runfolder import load_plan, selected_attempt
from iwkit_runtime.models.book import Book
from iwkit_runtime.runs import Config, run
from iwkit_runtime.selection import select

TASKS = ["A1", "D5", "F10"]


def play(kit: Any, folder: Path, **at_once: int) -> dict[str, Any]:
    """Three tasks with two seeds; cell -> its records without wall times and without what the calls took."""
    kit.folder = folder
    desk = kit.desk(max_output_tokens=50)
    config = Config("openai:m", "rules", "symbolic", draft=True, models={"openai:m": desk.identity("openai:m")})
    run(select(TASKS, draft=True), config, folder, lambda *_: None, (0, 1), desk=desk, **at_once)
    desk.close()
    found = {}
    for name in load_plan(folder)["cells"]:
        _, records = selected_attempt(folder, name) or (None, [])
        found[name] = [{k: v for k, v in comparable(r).items() if k != "call"} for r in records]
    return found


def test_many_calls_in_flight_from_few_processes(kit: Any, tmp_path: Path) -> None:
    lock, now, most = threading.Lock(), 0, 0

    def slow(to: Any) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        kit.provider.stalls(0.1, kit.provider.says("$done$"))(to)
        with lock:
            now -= 1

    kit.provider.always = slow
    alone = play(kit, tmp_path / "alone")
    assert most == 1
    together = play(kit, tmp_path / "together", jobs=2, in_flight=6)
    assert most > 2  # more episodes wait than there are processes
    assert together == alone
    assert len(together) == 6
    assert sorted(request.json["seed"] for request in kit.provider.requests) == [0] * 6 + [1] * 6
    (total,) = totals(tmp_path / "together")
    assert total.calls == len(kit.provider.requests) / 2 == 6


def test_a_refused_key_stops_the_run_and_leaves_it_to_be_continued(kit: Any, tmp_path: Path) -> None:
    kit.provider.always = kit.provider.refuses(401, "wrong key")
    with pytest.raises(RunStopped, match="key"):
        play(kit, tmp_path / "run", jobs=2, in_flight=4)
    kit.provider.always = kit.provider.says("$done$")
    found = play(kit, tmp_path / "run", jobs=2, in_flight=4)
    assert {records[-1]["kind"] for records in found.values()} == {"end"}


def test_the_budget_is_one_for_all(kit: Any, tmp_path: Path) -> None:
    """Each worker's episodes draw on the same purse: what all calls cost together stays below it."""
    kit.folder = tmp_path / "run"
    price = {"input": 1000.0, "output": 1000.0, "as_of": "2026-11"}
    desk = kit.desk(budget=20.0, max_output_tokens=50, price=price)
    config = Config("openai:m", "rules", "symbolic", draft=True, models={"openai:m": desk.identity("openai:m")})
    sources = select(TASKS, draft=True)
    with pytest.raises(RunStopped, match="budget"):
        run(sources, config, kit.folder, lambda *_: None, range(4), desk=desk, jobs=2, in_flight=4)
    desk.close()
    assert Book(kit.folder).spent <= 20.0
