"""Drafts and projects: clean before their author has changed a word, and a clear answer to what can't be made."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from iwkit import resources
from iwkit.cli.main import main
from iwkit.compile import load_task
from iwkit.errors import UsageError
from iwkit.families import families
from iwkit.library import Library
from iwkit_authoring.controls import run_controls
from iwkit_authoring.mutation import mutate
from iwkit_authoring.scaffold import init, new
from iwkit_runtime import doctor as doctor_module
from iwkit_validators.suite import validate, validate_many

FAMILIES = sorted(spec.id for spec in families().values())
Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command line; returns exit code, output and errors."""
    monkeypatch.setenv("COLUMNS", "160")

    def called(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["iwkit", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        shown = capsys.readouterr()
        code = exit_.value.code or 0
        assert isinstance(code, int)
        return code, shown.out, shown.err

    return called


@pytest.mark.parametrize("family", FAMILIES)
def test_a_draft_is_clean_and_its_controls_are_right(family: str, tmp_path: Path) -> None:
    path = new(family, 'the "last" idea: all of it', tmp_path)
    assert validate(path).problems == ()
    task = load_task(path)
    assert (task.pack.family, task.pack.title) == (family, 'the "last" idea: all of it')
    report = run_controls(task, ["symbolic"])
    assert [r.why for r in report.results if not r.right] == []
    assert mutate(task).clean


@pytest.mark.slow
@pytest.mark.parametrize("scene", Library().scene_ids())
@pytest.mark.parametrize("family", FAMILIES)
def test_a_draft_suits_every_scene_that_ships(family: str, scene: str, tmp_path: Path) -> None:
    task = load_task(new(family, "an idea", tmp_path, scene))
    assert task.scene.id == scene
    report = run_controls(task, ["symbolic"])
    assert [r.why for r in report.results if not r.right] == []


def test_drafts_are_numbered_and_each_has_a_canary_of_its_own(tmp_path: Path) -> None:
    paths = [
        new("decision", "one", tmp_path),
        new("decision", "two", tmp_path),
        new("decision", "x", tmp_path, pack_id="mine-1"),
    ]
    assert [p.relative_to(tmp_path).as_posix() for p in paths] == [
        "decision/D21.yaml",
        "decision/D22.yaml",
        "decision/mine-1.yaml",
    ]
    assert len({load_task(p).pack.guid for p in paths}) == 3


def test_what_cannot_be_drafted_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no family 'planing': did you mean `planning`"):
        new("planing", "x", tmp_path)
    with pytest.raises(UsageError, match="no scene 'flet': did you mean `flat`"):
        new("planning", "x", tmp_path, "flet")
    with pytest.raises(UsageError, match="say in a few words what the task is"):
        new("planning", " \n ", tmp_path)
    with pytest.raises(UsageError, match="'1x' is no id"):
        new("planning", "x", tmp_path, pack_id="1x")
    new("planning", "x", tmp_path, pack_id="P30")
    with pytest.raises(UsageError, match="P30 is taken"):
        new("finding", "x", tmp_path, pack_id="P30")


def test_a_scene_without_the_furniture_is_told(tmp_path: Path) -> None:
    (tmp_path / "scenes").mkdir()
    (tmp_path / "scenes" / "cell.yaml").write_text(
        'scene: "1.0"\nid: cell\ntitle: A cell\nrooms:\n  cell: {public: the cell, box: [0, 0, 3, 3]}\n'
        "fixtures:\n  bench_1: {category: bench, room: cell, at: [1.5, 2.7], facing: 270}\n",
        "utf-8",
    )
    (tmp_path / "lock.json").write_text('{"lock": "1.0", "runtime": "sha256:' + 64 * "0" + '", "packs": {}}', "utf-8")
    with pytest.raises(UsageError, match="cell has not the furniture for a draft of finding"):
        new("finding", "x", tmp_path, "cell")
    assert not (tmp_path / "finding").exists()


def test_a_new_project_is_clean_whole_and_in_its_own_scene(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    made = init(folder)
    assert all(path.exists() for path in made)
    assert (folder / ".github" / "workflows" / "iwkit.yml").is_file() and (folder / ".gitignore").is_file()
    reports = validate_many(sorted(folder.rglob("*.yaml")))
    assert [str(p) for r in reports for p in r.problems] == []
    task = load_task(folder / "finding" / "F21.yaml")
    assert task.scene.id == "study"
    assert run_controls(task, ["symbolic"]).right
    with pytest.raises(UsageError, match="there is something here already"):
        init(folder)


def test_a_new_projects_workflow_says_what_is_to_be_put_in(tmp_path: Path) -> None:
    init(tmp_path / "mine")
    jobs = yaml.safe_load((tmp_path / "mine" / ".github" / "workflows" / "iwkit.yml").read_text("utf-8"))["jobs"]
    commands = [step["run"] for step in jobs["packs"]["steps"] if "run" in step]
    assert commands[1:] == ["iwkit validate .", "iwkit freeze . --check"]
    done = subprocess.run(["sh", "-c", commands[0]], capture_output=True, text=True, check=False)
    assert (done.returncode, "where iwkit is installed from" in done.stderr) == (1, True)


def test_in_the_checkout_a_draft_goes_to_the_packs_that_ship(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[Path] = []
    monkeypatch.setattr(
        "iwkit_authoring.scaffold.new", lambda _family, _idea, home, *_: made.append(home) or tmp_path / "x.yaml"
    )
    monkeypatch.chdir(resources.root("taskpacks").parent / "docs")
    cli("new", "finding", "an idea")
    monkeypatch.chdir(resources.root("taskpacks") / "finding")
    cli("new", "finding", "an idea")
    assert made == 2 * [resources.root("taskpacks")]


def test_every_command_of_the_new_projects_page_exists(tmp_path: Path, cli: Cli) -> None:
    init(tmp_path / "mine")
    page = (tmp_path / "mine" / "README.md").read_text("utf-8")
    known = cli("--help")[1]
    commands = re.findall(r"^iwkit (\w+)", page, re.MULTILINE)
    assert len(commands) >= 8
    assert all(re.search(rf"\b{name}\b", known) for name in commands)


def test_the_commands_say_what_they_made_and_what_comes_next(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, errors = cli("init", "mine")
    assert (code, "next: cd mine" in errors) == (0, True)
    assert "mine/finding/F21.yaml" in out
    monkeypatch.chdir(tmp_path / "mine")
    code, out, errors = cli("new", "guidance", "tea for two", "--scene", "study")
    assert (code, out.strip()[-17:]) == (0, "guidance/G21.yaml")
    assert "iwkit controls" in errors and "for editors" not in errors
    assert cli("validate", ".")[0] == 0
    assert cli("validate")[0] == 0
    (tmp_path / "bare").mkdir()
    monkeypatch.chdir(tmp_path / "bare")
    code, _, errors = cli("new", "guidance", "tea")
    assert (code, errors.strip()) == (1, "no project here: iwkit init DIR makes one")
    assert list(Path().iterdir()) == []
    monkeypatch.chdir(tmp_path / "mine")
    shutil.rmtree("schemas")
    assert "for editors that check YAML: iwkit schema --out schemas" in cli("new", "guidance", "tea")[2]
    assert cli("new", "cooking", "x")[0] == 1


def test_watching_checks_again_when_a_file_of_the_project_is_saved(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    init(tmp_path / "mine")
    scene = tmp_path / "mine" / "scenes" / "study.yaml"

    def spoil(_: float) -> None:
        scene.write_text(scene.read_text("utf-8").replace("category: desk", "category: dask"), "utf-8")

    monkeypatch.setattr("time.sleep", spoil)
    code, out, _ = cli("watch", "mine/finding", "--times", "2", "--every", "0.01")
    assert code == 0
    first, *rest = out.splitlines()
    assert "1 checked, 1 clean" in first
    assert any("category 'dask'" in line or "dask" in line for line in rest)
    assert "1 checked, 0 clean" in rest[-1]


def test_the_doctor_says_which_keys_there_are_and_not_what_they_are(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in doctor_module.KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(doctor_module, "_PARTS", tuple(p for p in doctor_module._PARTS if p[0] == "model keys"))
    assert "none" in cli("doctor")[1]
    monkeypatch.setenv(doctor_module.KEYS[0], "sk-canary")
    _, out, errors = cli("doctor")
    assert f"{doctor_module.KEYS[0]} set" in out and "canary" not in out + errors


def test_the_doctor_tries_every_part(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = cli("doctor")
    assert code == 0
    assert all(part in out for part in ("Python", "physics", "pictures", "films"))

    def gone(what: str) -> doctor_module.Finding:
        raise ImportError("No module named 'mujoco'")

    parts = tuple((what, gone if what == "physics" else look) for what, look in doctor_module._PARTS)
    monkeypatch.setattr(doctor_module, "_PARTS", parts)
    code, out, _ = cli("doctor")
    assert (code, "No module named 'mujoco'" in out) == (1, True)
