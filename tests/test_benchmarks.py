"""The benchmarks of the physical world run; what they measure is never asserted."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from iwkit_runtime.audit.shapes import depths, hull
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.render.opengl import NoOpenGL, context

ROOT = Path(__file__).parent.parent


def cells(text: str) -> dict[str, list[str]]:
    """The rows of the table in a text by their first cell, without its head."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return {row[0]: row[1:] for row in lines[2:]}


def can_draw() -> bool:
    try:
        context(8, 8).free()
    except NoOpenGL:
        return False
    return True


@pytest.mark.slow
def test_the_physical_benchmark_measures_every_row_of_its_page() -> None:
    script = ROOT / "benchmarks" / "physical.py"
    given = ["--tasks", "A1", "--repeats", "1", *([] if can_draw() else ["--no-frames"])]
    done = subprocess.run([sys.executable, script, *given], capture_output=True, text=True, check=True)
    measured = cells(done.stdout)
    for work, (median, late, spread, count, *_) in measured.items():
        numbers = [float(number) for number in re.findall(r"[\d.]+(?= ms)", f"{median} {late} {spread}")]
        assert len(numbers) == 4 and all(0 < number < 600_000 for number in numbers), work
        assert numbers[2] <= numbers[0] <= numbers[3] and int(count) >= 1, work
    page = (
        (ROOT / "docs" / "speed.md")
        .read_text("utf-8")
        .split("## The physical world")[1]
        .split("\nMissed so far")[0]
        .split("\n## ")[0]
    )
    assert measured and set(measured) <= set(cells(page))
    assert not can_draw() or set(measured) == set(cells(page))


def test_a_task_that_there_is_not_is_refused() -> None:
    script = ROOT / "benchmarks" / "physical.py"
    done = subprocess.run([sys.executable, script, "--tasks", "A0"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no task is called A0; there are A1" in done.stderr


@pytest.mark.slow
def test_picking_and_placing_is_measured_and_a_second_run_goes_on_where_the_first_ended(tmp_path: Path) -> None:
    script, kept = ROOT / "benchmarks" / "pick_place.py", tmp_path / "lines.jsonl"
    for limit in (1, 2):
        given = ["--limit", str(limit), "--seed", "2", "--out", str(kept)]
        done = subprocess.run([sys.executable, script, *given], capture_output=True, text=True, check=True)
    lines = [json.loads(text) for text in kept.read_text("utf-8").splitlines()]
    assert [line["seed"] for line in lines] == [2, 3]
    assert all("broken" not in line and {"ok", "true", "feasible"} <= line["grab"].keys() for line in lines)
    tried = [line[name] for line in lines for name in ("grab", "put") if name in line]
    assert all(row["ok"] for row in tried if row["feasible"])
    assert all(row["true"] and not row["moved"] for row in tried if row["ok"])
    page = (ROOT / "docs" / "pick-place.md").read_text("utf-8")
    shown = done.stdout.splitlines()
    heads = [text for text, below in pairwise(shown) if below.startswith("| ---")]
    assert len(heads) >= 2 and all(head in page for head in heads)


@pytest.mark.parametrize("given", [["--limit", "0"], ["--only-table"], ["--only-table", "--out", "no/such/file"]])
def test_picking_and_placing_says_what_it_needs(given: list[str]) -> None:
    script = ROOT / "benchmarks" / "pick_place.py"
    done = subprocess.run([sys.executable, script, *given], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "error: --" in done.stderr


@pytest.mark.slow
def test_what_the_grid_finds_is_free_and_what_nobody_gets_to_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    feasible, figures, situations = map(importlib.import_module, ("feasible", "figures", "situations"))
    world = PhysicalWorld()
    situations.draw(2, world)
    stage = world.stage
    room = feasible.Room(stage.spec, stage.engine.poses(), stage.engine.joints(), stage.wearer.stand[:2])
    way = feasible.can_take(room, "thing")
    radii = [figures.RADII[name] - figures.GIVE for name in ("upper arm", "forearm", "hand")]
    for _, corners in room.solids("thing"):
        for start, end, radius in zip(way.arm, way.arm[1:], radii, strict=False):
            balls = start + np.linspace(0, 1, 20)[:, None] * (end - start)
            assert depths(hull(corners), balls, np.full(20, radius)).max() < 1e-3
    (x, y, z), turn = room.poses["thing"]
    high = replace(room, poses={**room.poses, "thing": ((x, y, z + 2), turn)})
    assert feasible.can_take(high, "thing") is None
    shut_in = replace(room, wearer=(situations.ROOM + 2, 0.4))
    assert feasible.can_take(shut_in, "thing") is None


@pytest.mark.slow
def test_kills_are_counted_and_a_second_call_goes_on(tmp_path: Path) -> None:
    mode = "symbolic, one process"
    given = [sys.executable, ROOT / "benchmarks" / "kills.py", "--only", mode, "--out", tmp_path, "--kills"]
    for kills in (1, 1):
        done = subprocess.run([*given, str(kills)], capture_output=True, text=True, check=True)
        assert cells(done.stdout)[mode][0] == "1"
    assert cells(done.stdout)[mode][-1] == "0"
    page = (ROOT / "docs" / "running.md").read_text("utf-8").split("## Killed at random points")[1]
    assert mode in cells(page)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "given", "page", "row"),
    [
        ("records.py", ["--events", "100"], "running.md", "read a run and compute its figures"),
        ("model_calls.py", ["--calls", "4", "--images", "0", "--seconds", "0.1"], "models.md", "`openai:m`"),
    ],
)
def test_a_benchmark_of_runs_has_the_rows_of_its_page(script: str, given: list[str], page: str, row: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / script, *given], capture_output=True, text=True, check=True
    )
    assert row in cells(done.stdout)
    assert f"| {row} |" in (ROOT / "docs" / page).read_text("utf-8")
