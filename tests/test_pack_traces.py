"""Every condition of every pack, on a trace written by hand in which it holds and one in which it does not."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from iwkit import resources
from iwkit.compile import CompiledTask, load_task
from iwkit.goals.evaluate import judge
from iwkit.goals.tracebook import load_trace
from iwkit.library import Library
from iwkit.source.reader import read

TRACES: dict[str, Any] = read(Path(__file__).parent / "data" / "pack_traces.yaml").data
LIBRARY = Library()


@cache
def task_of(pack_id: str) -> CompiledTask:
    (path,) = resources.root("taskpacks").glob(f"*/{pack_id}.yaml")
    return load_task(path, LIBRARY)


def conditions(task: CompiledTask) -> dict[str, tuple[str, Any]]:
    physical = task.pack.physical
    found = {c.id: ("opening", c.that) for c in physical.evidence}
    found |= {
        c.id: ("interaction", c.that) for c in (*physical.goal.achieve, *physical.goal.keep, *physical.goal.gates)
    }
    return found


@pytest.mark.parametrize(
    ("pack_id", "condition"), [(pack_id, c) for pack_id, rows in TRACES.items() for c in rows], ids=lambda v: v
)
@pytest.mark.parametrize("outcome", ["holds", "fails"])
def test_condition_on_a_hand_written_trace(pack_id: str, condition: str, outcome: str) -> None:
    task = task_of(pack_id)
    scope, that = conditions(task)[condition]
    trace = load_trace(TRACES[pack_id][condition][outcome])
    verdict = judge(that, trace, task.vocabulary, task.pack.physical.windows, scope)  # type: ignore[arg-type]
    assert verdict.ok == (outcome == "holds"), verdict.why


def test_every_condition_of_every_pack_has_its_traces() -> None:
    packs = {p.stem for p in resources.root("taskpacks").glob("*/*.yaml")}
    assert set(TRACES) == packs
    for pack_id in packs:
        assert set(TRACES[pack_id]) == set(conditions(task_of(pack_id)))
        assert all(set(both) == {"holds", "fails"} for both in TRACES[pack_id].values())
