"""The oracle's runs of tasks pass, through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from iwkit.cli import main as cli
from iwkit.errors import LedgerError
from iwkit_runtime.runs import Config, run
from iwkit_runtime.selection import select

cli._register()
RUNNER = CliRunner()


@pytest.mark.slow
@pytest.mark.parametrize(
    "task", ["A1", "A14", "F10", "F12", "P8", "W7"]
)  # A14 throws a full bag away, F10 is low, F12 has a lid
def test_the_oracle_run_of_a_task_passes(task: str, run_of: Callable[[str], Path]) -> None:
    result = RUNNER.invoke(cli.app, ["audit", str(run_of(task)), "--json"])
    (outcomes,) = json.loads(result.stdout).values()
    assert {o["check"]: (o["worst"], o["what"], o["place"]) for o in outcomes if not o["passed"]} == {}
    assert result.exit_code == 0


@pytest.mark.slow
def test_the_table_says_what_is_wrong_and_where(run_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit that no walk keeps."""
    from iwkit_runtime.audit import limits

    monkeypatch.setitem(limits.LIMITS, "step", limits.LIMITS["step"]._replace(value=0.05))
    result = RUNNER.invoke(cli.app, ["audit", str(run_of("A1")), "A1"], env={"COLUMNS": "200"})
    assert result.exit_code == cli.EXIT_PROBLEM
    assert "A1-s0: failed: step" in result.stdout
    assert "[LookAt]" in result.stdout


def test_a_run_without_a_body_is_refused(tmp_path: Path) -> None:
    config = Config("oracle", "scripted", "symbolic", draft=True)
    run(select(["A1"], draft=True), config, tmp_path, lambda *_: None)
    result = RUNNER.invoke(cli.app, ["audit", str(tmp_path)])
    assert isinstance(result.exception, LedgerError)
    assert "no trajectory" in str(result.exception)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    result = RUNNER.invoke(cli.app, ["audit", str(tmp_path)])
    assert isinstance(result.exception, LedgerError)
    assert "holds no run" in str(result.exception)
