"""`iwkit run` and `iwkit report` as a person meets them: exit codes, messages, and no traceback ever."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from iwkit import resources
from iwkit.cli.main import main
from iwkit.ledger import exclusive, read_records
from iwkit.spec.lock import Lock, LockedPack
from iwkit_runtime import selection

PACKS = resources.root("taskpacks")
F10 = str(PACKS / "finding" / "F10.yaml")
A1 = str(PACKS / "accessibility" / "A1.yaml")
QUICK = ("--draft", "--world", "symbolic")

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command line in a folder of its own; returns exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(os, "fdatasync", lambda _: None)

    def called(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["iwkit", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        shown = capsys.readouterr()
        code = exit_.value.code
        assert code is None or isinstance(code, int)
        return code or 0, shown.out, shown.err

    return called


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Write a user's own assistant whose `answer` has the body given; returns its name."""
    made: list[str] = []

    def written(body: str) -> str:
        name = f"own_cli_{len(made)}"
        made.append(name)
        (tmp_path / f"{name}.py").write_text(f"class Own:\n    def answer(self, view):\n        {body}\n", "utf-8")
        return f"{name}:Own"

    yield written
    for name in made:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("world", [pytest.param("physical", marks=pytest.mark.slow), "symbolic"])
def test_a_run_and_its_report(cli: Cli, world: str) -> None:
    options = () if world == "physical" else ("--world", world)
    code, out, _ = cli("run", F10, "--draft", "--human", "scripted", "--out", "runs/a", *options)
    assert code == 0
    assert f"oracle with scripted human, {world} world" in out
    assert "iwkit report runs/a --episode F10" in out
    code, out, errors = cli("report", "runs/a", "--format", "json")
    assert (code, errors) == (0, "")
    report = json.loads(out)
    assert report["pass_rate"] == 1.0
    assert report["families"]["finding"]["pass_rate"] == 1.0
    shown = report["tasks"]["F10"]
    assert (shown["status"], shown["completion"], shown["actions"]) == ("pass", 1.0, 3)
    assert shown["ticks"] > 0
    code, out, _ = cli("report", "runs/a")
    assert code == 0
    assert "1 of 1" in out
    code, out, _ = cli("report", "runs/a", "--episode", "F10")
    assert code == 0
    assert "Result: PASS" in out


def test_a_failed_task_is_a_measurement(cli: Cli) -> None:
    code, _, _ = cli("run", F10, *QUICK, "--assistant", "silent", "--human", "scripted", "--out", "a")
    assert code == 0
    report = json.loads(cli("report", "a", "--format", "json")[1])
    assert report["tasks"]["F10"]["status"] == "fail"
    assert report["pass_rate"] == 0.0


def test_void_cells_exit_with_3_until_they_are_measured(cli: Cli, own: Callable[[str], str]) -> None:
    name = own("import os; return '$done$' if os.path.exists('up') else 1 / 0")
    command = ("run", F10, *QUICK, "--human", "scripted", "--assistant", name, "--out", "a")
    code, out, _ = cli(*command)
    assert code == 3
    assert "void" in out
    assert "the assistant failed: ZeroDivisionError: division by zero" in out
    report = json.loads(cli("report", "a", "--format", "json")[1])
    assert report["pass_rate"] is None
    assert report["tasks"]["F10"]["completion"] is None
    assert report["tasks"]["F10"]["reason"].startswith("the assistant failed")
    assert "Result: VOID (the assistant failed" in cli("report", "a", "--episode", "F10")[1]
    Path("up").touch()
    assert cli(*command)[0] == 0
    assert json.loads(cli("report", "a", "--format", "json")[1])["pass_rate"] == 0.0


def test_what_an_agent_says_is_no_markup(cli: Cli, own: Callable[[str], str]) -> None:
    name = own("raise ValueError('[/bold] :boom: [link=x]')")
    code, out, errors = cli("run", F10, *QUICK, "--assistant", name, "--out", "a")
    assert (code, "Traceback" in errors) == (3, False)
    assert "[/bold]" in out
    assert "[link=x]" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "F10", "--out", "a"), "F10"),
        (("run", F10, "--draft", "--world", "x", "--out", "a"), "no world 'x': use physical, symbolic"),
        (("run", F10, "--draft", "--world", "symbolc", "--out", "a"), "physical, symbolic; did you mean `symbolic`?"),
        (("scene", "show", "flot"), "no scene 'flot': did you mean `flat`?"),
        (("scene", "show", "qqq"), "no scene 'qqq': there are "),
        (("catalogue", "walet"), "no category has 'walet' in it: did you mean `wallet`?"),
        (("catalogue", "qqqqq"), "`iwkit catalogue` lists all"),
        (("run", F10, "--out", "a"), "freeze it (iwkit controls, iwkit review, then iwkit freeze), or run it as a"),
        (("run", F10, *QUICK, "--assistant", "oracel", "--out", "a"), "no assistant 'oracel': use early, oracle"),
        (("run", F10, *QUICK, "--human", "none", "--out", "a"), "no human 'none': use rules, scripted"),
        (("run", F10, *QUICK, "--assistant", "no.where:X", "--out", "a"), "is its folder on PYTHONPATH?"),
        (("run", "nothing.yaml", "--draft", "--out", "a"), "'nothing.yaml' is no file, folder or task"),
        (("report", "nowhere"), "nowhere holds no run"),
        (("report", "nowhere", "--episode", "F10"), "nowhere holds no run"),
        (("report", "nowhere", "--episode", "F10", "--format", "json"), "--episode and --format do not go together"),
    ],
)
def test_problems_exit_with_1_and_say_what_to_do(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.setattr(selection, "load_lock", lambda _home: None)
    code, out, errors = cli(*arguments)
    assert code == 1
    assert words in errors
    assert "Traceback" not in errors + out


@pytest.mark.parametrize(
    "arguments", [("run", F10), ("run", F10, "--out"), ("run", F10, "--out", "a", "--nope"), ("report",), ("rum",)]
)
def test_usage_errors_exit_with_2(cli: Cli, arguments: tuple[str, ...]) -> None:
    code, _, errors = cli(*arguments)
    assert code == 2
    assert "Error" in errors


def test_a_task_that_is_nearly_there(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = "sha256:" + "0" * 64
    entry = LockedPack.model_construct(path="finding/F10.yaml", **dict.fromkeys(("pack", "physical"), digest))
    lock = Lock.model_construct(packs={"F10": entry})
    monkeypatch.setattr(selection, "load_lock", lambda _home: lock)
    code, _, errors = cli("run", "F1", *QUICK, "--out", "a")
    assert (code, errors.strip()) == (1, "'F1' is no file, folder or task: did you mean `F10`?")


def test_a_pack_that_is_not_frozen_needs_draft(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "load_lock", lambda _home: None)
    code, _, errors = cli("run", F10, "--out", "a")
    assert code == 1
    assert "F10 is not frozen" in errors
    assert "--draft" in errors
    assert not Path("a").exists()


def test_a_lock_of_iwkits_own_that_is_stale_is_a_fault_of_the_checkout(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = "sha256:" + "0" * 64
    entry = LockedPack.model_construct(path="finding/F10.yaml", **dict.fromkeys(("pack", "physical"), digest))
    lock = Lock.model_construct(packs={"F10": entry}, runtime=digest)
    monkeypatch.setattr(selection, "load_lock", lambda home: lock if home == resources.root("taskpacks") else None)
    monkeypatch.setattr(selection, "difference", lambda *_: "F10 differs from the frozen one in: pack")
    code, _, errors = cli("run", "F10", "--out", "a")
    assert (code, errors.splitlines()[-1]) == (
        1,
        "iwkit's own lock is stale: a fault of this checkout; --draft runs it anyway",
    )


def test_an_episode_that_is_not_there(cli: Cli) -> None:
    cli("run", F10, *QUICK, "--human", "scripted", "--out", "a")
    code, _, errors = cli("report", "a", "--episode", "F11")
    assert (code, errors.strip()) == (1, "a has no episode 'F11': it has F10-s0")


def test_a_run_folder_of_another_assistant(cli: Cli) -> None:
    cli("run", F10, *QUICK, "--human", "scripted", "--out", "a")
    code, _, errors = cli("run", F10, *QUICK, "--human", "rules", "--out", "a")
    assert (code, errors.strip()) == (1, "a holds a run with another human (scripted, not rules): choose another --out")


def test_a_run_that_is_going_on(cli: Cli, tmp_path: Path) -> None:
    with exclusive(tmp_path / "a"):
        code, _, errors = cli("run", F10, *QUICK, "--out", "a")
    assert code == 1
    assert "another process is writing to it" in errors


# Processes


def command(out: str, *options: str, setup: str = "") -> list[str]:
    """The command line in a process of its own; `setup` is run before it."""
    code = f"import os, resource, sys\n{setup}\nfrom iwkit.cli.main import main\nmain()"
    return [sys.executable, "-c", code, "run", F10, A1, *QUICK, "--human", "scripted", "--out", out, *options]


def finished(arguments: list[str], folder: Path, **options: Any) -> tuple[int, str]:
    done = subprocess.run(
        arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options
    )
    assert "Traceback" not in done.stdout, done.stdout
    return done.returncode, done.stdout


def figures(out: Path) -> list[Any]:
    """The closing records of a run folder."""
    journals = sorted(out.glob("cells/*/attempt-001.jsonl"))
    return [{k: v for k, v in read_records(p)[0][-1].items() if k != "t_wall"} for p in journals]


def test_a_full_disk_stops_a_run_and_the_same_command_continues(tmp_path: Path) -> None:
    """The limit on a file's size stops the write in the middle of a record."""
    assert finished(command("whole"), tmp_path)[0] == 0
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in (100, 9_000, 15_001):
        setup = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limits[1]}))"
        code, shown = finished(command("full", setup=setup), tmp_path)
        assert code == 1
        assert "cannot be written: File too large; mend that and run the same command again" in " ".join(shown.split())
    assert finished(command("full"), tmp_path)[0] == 0
    assert figures(tmp_path / "full") == figures(tmp_path / "whole")


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_disk_that_really_is_full_then_read_only(tmp_path: Path, jobs: str) -> None:
    assert finished(command("whole"), tmp_path)[0] == 0
    with small_disk(tmp_path / "disk", "48k") as disk:
        out = str(disk / "run")
        code, shown = finished(command(out, "--jobs", jobs), tmp_path)
        assert code == 1
        assert "No space left on device; mend that and run the same command again" in " ".join(shown.split())
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        code, shown = finished(command(out, "--jobs", jobs), tmp_path)
        assert code == 1
        assert "Read-only file system" in shown
        subprocess.run(["mount", "-o", "remount,rw,size=4m", str(disk)], check=True)
        assert finished(command(out, "--jobs", jobs), tmp_path)[0] == 0
        assert figures(disk / "run") == figures(tmp_path / "whole")


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_ctrl_c_while_an_assistant_thinks(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "slow.py").write_text(
        textwrap.dedent("""
            import os, time
            class Own:
                def answer(self, view):
                    if not os.path.exists("quick"):
                        open("thinking", "w").close()
                        time.sleep(60)
                    return "$done$"
        """),
        "utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    arguments = command("a", "--assistant", "slow:Own", "--jobs", jobs)
    process = subprocess.Popen(
        arguments, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    for _ in range(600):
        if (tmp_path / "thinking").exists():
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    shown, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in shown
    (tmp_path / "quick").touch()
    assert finished(arguments, tmp_path, env=environment)[0] == 0
    assert [end["status"] for end in figures(tmp_path / "a")] == ["fail", "fail"]
