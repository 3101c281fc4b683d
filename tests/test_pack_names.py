"""Packs by the names that a person types in a project of their own, and what a shell offers to complete them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from iwkit.cli import common
from iwkit.cli.packs import yaml_files
from iwkit.errors import UsageError
from iwkit.library import near
from iwkit_authoring.scaffold import init, new
from iwkit_runtime.selection import known_packs, pack_files


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two drafts, and the current folder in it."""
    init(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    new("planning", "an idea", tmp_path / "mine", "study")
    return tmp_path / "mine"


def test_a_draft_is_named_by_its_id_in_its_project_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pack_files(["P21"]) == [Path("planning/P21.yaml")]
    assert yaml_files([Path("F21"), Path("P21")]) == [Path("finding/F21.yaml"), Path("planning/P21.yaml")]
    monkeypatch.chdir(project / "scenes")
    assert pack_files(["P21"]) == [project / "planning" / "P21.yaml"]
    with pytest.raises(UsageError, match="'P22' is no file, folder or task: did you mean `P21`"):
        pack_files(["P22"])
    monkeypatch.chdir(project)
    with pytest.raises(UsageError, match=r"'findng/F21\.yaml' is no .*: did you mean `finding/F21\.yaml`"):
        pack_files(["findng/F21.yaml"])
    with pytest.raises(UsageError, match=r"no such file or folder: did you mean `scenes/study\.yaml`"):
        yaml_files([Path("scene/study.yaml")])
    monkeypatch.chdir(project.parent)
    with pytest.raises(UsageError, match=r"'zz' is no file, folder or task: .*; there is no project around"):
        pack_files(["zz"])
    with pytest.raises(UsageError, match="P21: no such file or folder"):
        yaml_files([Path("P21")])


def test_without_a_name_the_frozen_packs_of_the_project_are_meant_or_else_those_that_ship(project: Path) -> None:
    shipped = pack_files([])
    assert shipped and not any(path.is_relative_to(project) for path in shipped)
    lock, entry = project / "lock.json", known_packs()["F10"].parents[1] / "lock.json"
    lock.write_text(entry.read_text("utf-8"), "utf-8")
    assert {path.parts[0] for path in pack_files([])} >= {"finding", "planning"}
    assert not any(path.is_absolute() for path in pack_files([]))


def test_paths_are_shown_from_the_current_folder(project: Path) -> None:
    assert near(project / "lock.json") == Path("lock.json")
    assert near(project.parent / "other") == project.parent / "other"


@pytest.mark.usefixtures("project")
def test_what_a_shell_offers() -> None:
    assert common.family_ids("p") == ["planning", "prevention"]
    assert common.scene_ids("st") == ["study"]
    shipped = {name for name in known_packs() if name.startswith("P")}
    assert "P8" in shipped and common.pack_names("P") == sorted(shipped | {"P21"})
    assert common.pack_names("finding/") == ["finding/F21.yaml"]
    assert common.pack_names("fi") == ["finding/"]
    assert common.words("keep", "keep_debt", "retry")("keep") == ["keep", "keep_debt"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [("iwkit new fi", "finding"), ("iwkit review X --verdict ke", "keep\nkeep_debt"), ("iwkit opt", "optimum")],
)
def test_a_shell_is_told(line: str, offered: str, tmp_path: Path) -> None:
    asked = {"_IWKIT_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    command = [sys.executable, "-c", "import sys; sys.argv[0] = 'iwkit'; from iwkit.cli.main import main; main()"]
    done = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == offered
