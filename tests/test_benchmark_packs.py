"""The benchmarks of many packs and of others run; what they measure is never asserted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MANY, PEERS = (ROOT / "benchmarks" / f"{name}.py" for name in ("many_packs", "peers"))


def called(script: Path, *given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, script, *given], capture_output=True, text=True, check=False)


def page() -> str:
    whole = (ROOT / "docs" / "speed.md").read_text("utf-8")
    return whole.split("## A thousand packs, and what others do")[1].split("\n## ")[0]


def works(text: str) -> list[str]:
    """The first cells of the rows of a table, whatever numbers are in them."""
    rows = [line.strip("| ").split(" | ")[0] for line in text.splitlines() if re.match(r"\| (?!work|---)", line)]
    return [re.sub(r"[\d,]+", "N", row) for row in rows]


def test_many_packs_are_made_once_and_measured(tmp_path: Path) -> None:
    for _ in range(2):
        done = called(MANY, "--packs", "2", "--repeats", "1", "--keep", str(tmp_path))
        assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.stem for path in tmp_path.rglob("*.yaml")) == ["X0001", "X0002"]
    assert len({path.parent.name for path in tmp_path.rglob("*.yaml")}) == 2
    assert len(works(done.stdout)) == 4
    assert works(page())[:4] == works(done.stdout)


def test_many_packs_says_what_it_needs() -> None:
    done = called(MANY, "--packs", "0")
    assert (done.returncode, "must be at least 1" in done.stderr) == (2, True)


def test_what_is_not_installed_is_left_out_and_said_so() -> None:
    done = called(PEERS)  # neither is among the packages that the tests install
    assert (done.returncode, done.stdout) == (1, "")
    assert "bddl is not installed here, and left out" in done.stderr
    assert "virtualhome_eval is not installed here, and left out" in done.stderr
