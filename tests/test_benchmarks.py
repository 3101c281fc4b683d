"""The benchmark of the physical world runs; what it measures is never asserted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    page = (ROOT / "docs" / "speed.md").read_text("utf-8").split("## The physical world")[1]
    assert measured and set(measured) <= set(cells(page))
    assert not can_draw() or set(measured) == set(cells(page))


def test_a_task_that_there_is_not_is_refused() -> None:
    script = ROOT / "benchmarks" / "physical.py"
    done = subprocess.run([sys.executable, script, "--tasks", "A0"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no task is called A0; there are A1" in done.stderr
