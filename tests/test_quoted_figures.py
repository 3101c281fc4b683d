"""The figures that the paper's text quotes come out of a made-up ledger that has them, through the command line, in
every form, and as the same bytes under every hash seed (MET-1, MET-2, MET-8).

The paper's own records are not public: this shows that the arithmetic is the same, and nothing about its models.
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from iwkit.cli import main as cli
from iwkit.cli import reporting
from iwkit.ledger import dump
from iwkit.report.grids import FIGURES
from iwkit.report.table import FORMATS, Table, columns, to_rich
from iwkit.report.tables import TABLES
from iwkit.runfolder import attempt_path

FAMILIES = ("guidance", "planning", "accessibility", "decision", "prevention", "finding")
POINTS = 500
"""Of each capability, over the 120 tasks."""
FIRST = {"passed": 50, "C9": 398, "others": 2266}
"""59.2 on average over nine capabilities, 79.6 in communication, 41.7 % of 120 tasks passed."""
SECOND = {"passed": 36, "C9": 349, "others": 2270}
"""58.2 on average, 69.8 in communication, 30.0 % passed."""
RUNNER = CliRunner()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs of 120 tasks, with closing records alone."""
    folder = tmp_path_factory.mktemp("quoted")
    return made(folder / "first", FIRST), made(folder / "second", SECOND)


def made(folder: Path, figures: dict[str, int]) -> Path:
    passed = {f"C{n}": figures["others"] // 8 + (n <= figures["others"] % 8) for n in range(1, 9)}
    passed["C9"] = figures["C9"]
    cells = {}
    for number in range(120):
        family = FAMILIES[number // 20]
        name = "GPADWF"[number // 20] + str(number % 20 + 1)
        cells[f"{name}-s0"] = {
            "task": name,
            "seed": 0,
            "family": family,
            "freeze": "frozen",
            "digest": name,
            "reference": 4,
        }
        write(folder, f"{name}-s0", number, number < figures["passed"], list(labels(number, passed)))
    config = {"assistant": f"m:{folder.name}", "human": "rules", "world": "physical"}
    (folder / "plan.json").write_text(json.dumps({"config": config, "cells": cells}), "utf-8")
    return folder


def labels(number: int, passed: dict[str, int]) -> Iterator[dict[str, str]]:
    """The points of a task: every 120th of each capability's."""
    for capability, right in passed.items():
        for point in range(number, POINTS, 120):
            label = "clean_pass" if point < right else "wrong"
            yield {"id": f"{capability}-{point}", "capability": capability, "label": label, "why": ""}


def write(folder: Path, cell: str, number: int, ok: bool, points: list[dict[str, str]]) -> None:
    score = {"completion": float(ok), "cfss": None, "stg_cfss": None, "conditions": [], "atoms": points}
    end: dict[str, Any] = {
        "n": 1,
        "kind": "end",
        "status": "pass" if ok else "fail",
        "void": None,
        "stop_reason": "done",
    }
    end |= {"ticks": 9, "actions": 9, "stable_actions": 4 + number % 5 if ok else None, "score": score}
    path = attempt_path(folder, cell, 1)
    path.parent.mkdir(parents=True)
    path.write_bytes(dump({"n": 0, "kind": "reset", "state": []}) + dump(end))


def asked(*words: object) -> str:
    result = RUNNER.invoke(cli.app, [str(w) for w in words], env={"COLUMNS": "200"})
    assert result.exit_code == 0 or "contradicts" in result.stderr, result.output
    return result.stdout


@pytest.fixture(scope="module", autouse=True)
def _commands() -> None:
    if not cli.app.registered_commands:
        cli._register()


def figures(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(asked("report", run, "--format", "json"))
    return found


def test_the_quoted_figures(runs: tuple[Path, Path]) -> None:
    first, second = map(figures, runs)
    assert [f"{100 * r['pass_rate']:.1f}" for r in (first, second)] == ["41.7", "30.0"]
    assert f"{100 * (first['pass_rate'] - second['pass_rate']):.1f}" == "11.7"
    means = [sum(c["score"] for c in r["capabilities"].values()) / 9 for r in (first, second)]
    assert [f"{100 * mean:.1f}" for mean in means] == ["59.2", "58.2"]
    assert [f"{100 * r['capabilities']['C9']['score']:.1f}" for r in (first, second)] == ["79.6", "69.8"]


def test_the_comparison_of_the_two(runs: tuple[Path, Path]) -> None:
    found = json.loads(asked("compare", *runs, "--format", "json"))
    assert (found["cells"], found["both"], found["first_only"], found["second_only"]) == (120, 36, 14, 0)
    assert found["pass_p"] == pytest.approx(2 / 2**14)
    assert f"{100 * found['pass_difference']:.1f}" == "-11.7"
    low, high = found["pass_interval"]["low"], found["pass_interval"]["high"]
    assert low < -14 / 120 < high < 0


def test_tables_in_every_form_say_the_same(runs: tuple[Path, Path]) -> None:
    rows = list(csv.reader(io.StringIO(asked("report", runs[0], "--table", "capabilities", "--format", "csv"))))
    assert rows[0][:5] == ["capability", "name", "points", "passed", "score"]
    assert rows[9][:5] == ["C9", "communication", "500", "398", "79.6 %"]
    assert "| C9 | communication | 500 | 398 | 79.6 % |" in asked(
        "report", runs[0], "--table", "capabilities", "--format", "markdown"
    )
    assert r"C9 & communication & 500 & 398 & 79.6 \%" in asked(
        "report", runs[0], "--table", "capabilities", "--format", "latex"
    )


def test_two_tables_and_the_grid(runs: tuple[Path, Path]) -> None:
    both = asked("report", runs[0], "--table", "efficiency", "--table", "proactive", "--format", "csv")
    assert "\nall,50,1.50," in both  # stable actions 4 to 8 over a shortest way of 4, ten of each
    assert "No way was measured" in asked("report", runs[0], "--table", "routes", "--format", "markdown")
    grid = asked("grid", *runs, "--figure", "passed", "--family", "planning", "--format", "csv")
    assert grid.splitlines() == ["assistant,rules", "m:first,20 of 20", "m:second,16 of 20"]
    assert "passed,of 120,50" in asked("agreement", runs[0], "--format", "csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("report", "RUN", "--table", "nothing"), "nothing"),
        (("grid", "RUN", "--family", "cooking"), "no cell is of the family cooking: there are accessibility"),
        (("grid", "RUN", "--rows", "colour"), "has no colour in its configuration"),
        (("grid", "RUN", "RUN"), "leave one out"),
        (("horizon", "RUN"), "there is no slope"),
        (("compare", "RUN", "NOWHERE"), "holds no run"),
        (("report", "RUN", "--table", "cells", "--format", "json"), "JSON has all figures"),
        (("report", "RUN", "--table", "cells", "--html", "x.html"), "--html and --table do not go together"),
    ],
)
def test_what_cannot_be_shown(runs: tuple[Path, Path], words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    places = {"RUN": str(runs[0]), "NOWHERE": str(tmp_path / "none")}
    result = RUNNER.invoke(cli.app, [places.get(w, w) for w in words])
    assert result.exit_code != 0
    assert message in f"{result.stderr}{result.exception}"


def test_the_same_bytes_under_every_hash_seed(runs: tuple[Path, Path]) -> None:
    asked = [["report", runs[0]], ["compare", *runs], ["grid", *runs], ["agreement", runs[0]]]
    words = json.dumps([[*map(str, each), "--format", form] for each in asked for form in ("json", "csv")])
    program = """
        import json, sys
        from typer.testing import CliRunner
        from iwkit.cli import main as cli
        cli._register()
        for words in json.loads(sys.argv[1]):
            print(CliRunner().invoke(cli.app, words).stdout)
    """
    found = {
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program), words],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(found) == 1
    assert found.pop().count(b'"cells"') >= 1


def test_the_command_line_offers_what_there_is() -> None:
    """It declares the names by itself, so that help answers without importing what makes the tables."""
    assert {name.value for name in reporting.Name} == set(TABLES)
    assert {form.value for form in reporting.Format} == {"table", "json", *FORMATS}
    assert {figure.value for figure in reporting.Figure} == set(FIGURES)


ODD = Table(columns("a|b", "n_%", right="n_%"), (("x*y_z", "1"), ("<b>&", "$2#")), (("sum", "\\3"),), "T_1", "note")


def test_signs_that_a_form_would_obey_are_text() -> None:
    assert FORMATS["markdown"](ODD).splitlines()[2:6] == [
        r"| a\|b | n\_% |",
        "| --- | ---: |",
        r"| x\*y\_z | 1 |",
        r"| \<b\>& | $2\# |",
    ]
    latex = FORMATS["latex"](ODD)
    assert r"x*y\_z & 1 \\" in latex
    assert r"<b>\& & \$2\# \\" in latex
    assert r"sum & \textbackslash{}3 \\" in latex
    assert to_rich(ODD) is not None
