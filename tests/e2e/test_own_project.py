"""A project of one's own on the command line: its scene, its catalogue, its recipes, its pack, its lock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from iwkit import resources
from iwkit.cli.main import main
from iwkit.compile import load_task
from iwkit.world.base import World
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime import runs
from iwkit_runtime.physical.layout import Assets

CATALOGUE = """\
# what the shipped catalogue lacks
catalogue: "1.0"
categories:
  fever_scope: {kind: object, public: [fever scope, forehead scanner], size: [0.04, 0.12, 0.15], mass: 0.2}
"""
RECIPES = """\
recipes: "1.0"
assets:
  fever_scope:
    kind: parts
    parts:
      - {box: [-0.02, -0.03, 0, 0.02, 0.03, 0.11]}
      - {box: [-0.02, -0.06, 0.11, 0.02, 0.06, 0.15]}
"""
Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose pack F99 is F10 in a scene of its own, with a thing of its own; the current folder."""
    scene = (resources.root("scenes") / "infirmary.yaml").read_text("utf-8").replace("id: infirmary", "id: ward")
    pack = (resources.root("taskpacks") / "finding" / "F10.yaml").read_text("utf-8")
    edits = (
        ("id: F10\n", "id: F99\n"),
        ("guid: 6b0f6f3e", "guid: 6b0f6f99"),
        ("scene: infirmary", "scene: ward"),
        ("pen: {category: pen", "pen: {category: fever_scope"),
    )
    for old, new in edits:
        assert pack.count(old) == 1
        pack = pack.replace(old, new)
    files = {
        "scenes/ward.yaml": scene,
        "assets/mine.yaml": CATALOGUE,
        "assets/shapes.yaml": RECIPES,
        "finding/F99.yaml": pack,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command line; returns exit code, output and errors."""
    monkeypatch.setenv("COLUMNS", "200")

    def called(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["iwkit", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        shown = capsys.readouterr()
        code = exit_.value.code
        assert code is None or isinstance(code, int)
        return code or 0, shown.out, shown.err

    return called


def stand_in(_solver: str) -> World:
    """The symbolic world in place of the physical one, where what is tested is not what happens in it."""
    world = SymbolicWorld()
    world.name = "physical"
    return world


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(runs.WORLDS, "physical", stand_in)


READ = ("review", "finding", "--by", "Ada", "--kind", "person", "--verdict", "keep")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.slow
def test_from_the_files_to_a_frozen_task_that_is_run_by_its_id(
    project: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is in the physical world; the controls of a project's own pack are played there in the tutorial."""
    assert cli("validate", ".") == (0, "", "4 checked, 4 clean, 0 problems\n")
    with monkeypatch.context() as patch:
        patch.setitem(runs.WORLDS, "physical", stand_in)
        assert cli("controls", "finding")[0] == 0
    assert "no reading of this revision" in cli("freeze", ".")[2]
    told = cli(*READ)[1]
    assert told.startswith("F99: a person's reading by Ada on ")
    assert cli("freeze", ".") == (0, f"frozen: lock.json\n{told}", "")
    assert "everything is as frozen" in cli("freeze", "--check", ".")[1]
    code, out, _ = cli("run", "F99", "--out", "runs")
    assert (code, "100.0 %" in out) == (0, True)
    assert cli("validate", ".")[2] == "4 checked, 4 clean, 0 problems\n", "a run folder keeps copies of packs"
    assert "everything is as frozen" in cli("freeze", "--check", ".")[1]
    code, _, errors = cli("run", "X1", "--out", "runs")
    assert code == 1
    assert f"looked in the project {project} (F99), and in iwkit's own lock" in errors


@pytest.mark.usefixtures("quick")
def test_a_changed_scene_category_or_recipe_is_no_longer_as_frozen(project: Path, cli: Cli) -> None:
    cli("controls", "finding")
    cli(*READ)
    assert cli("freeze", "finding")[2] == ""
    edit(project / "assets/mine.yaml", "mass: 0.2", "mass: 0.3")
    assert "differs from the frozen one in: categories" in cli("freeze", "--check", "finding")[1]
    edit(project / "scenes/ward.yaml", "title: ", "title: Another ")
    edit(project / "assets/shapes.yaml", "0.15]", "0.16]")
    assert "differs from the frozen one in: scene, categories, recipes" in cli("freeze", "--check", "finding")[1]


@pytest.mark.usefixtures("quick")
def test_a_lock_is_pruned_of_what_is_gone(project: Path, cli: Cli) -> None:
    cli("controls", "finding")
    cli(*READ)
    assert cli("freeze", "finding")[2] == ""
    (project / "finding/F99.yaml").unlink()
    code, out, _ = cli("freeze", ".", "--check")
    assert (code, "F99 is in the lock, but its file finding/F99.yaml is gone" in out) == (1, True)
    code, out, _ = cli("freeze", ".", "--prune")
    assert (code, out) == (0, f"dropped from {project}: F99\n")
    assert '"packs": {}' in (project / "lock.json").read_text("utf-8")
    code, _, errors = cli("freeze", ".", "--prune", "--check")
    assert (code, errors) == (1, "--check writes nothing: leave out --check or --prune\n")


def test_scenes_and_catalogues_are_checked_as_what_they_are(project: Path, cli: Cli) -> None:
    edit(project / "scenes/ward.yaml", "id: ward", "id: yard")
    edit(project / "assets/mine.yaml", "fever_scope:", "mug:")
    code, out, _ = cli("validate", "scenes", "assets")
    assert code == 1
    assert "assets/mine.yaml:4:3: L702 category mug is already defined" in out
    edit(project / "assets/mine.yaml", "mug:", "fever_scope:")
    code, out, errors = cli("validate", "scenes", "assets")
    assert (code, errors) == (1, "3 checked, 2 clean, 1 problem\n")
    assert out.startswith("scenes/ward.yaml:")
    assert "L716 the file is called ward.yaml, the scene 'yard'\n    3 | id: yard\n" in out
    assert out.endswith("^\n    hint: name the file yard.yaml\n")


def test_recipes_are_checked_with_the_others_of_their_project(project: Path, cli: Cli) -> None:
    edit(project / "assets/shapes.yaml", "fever_scope:", "mug:")
    assert "assets/shapes.yaml:3:3: L730" in cli("validate", "assets")[1]
    edit(project / "assets/shapes.yaml", "mug:", "fever_scop:")
    out = cli("validate", "assets")[1]
    assert "assets/shapes.yaml:3:3: L731 no category 'fever_scop' in the catalogue\n" in out
    assert "fever_scope" in out.split("hint:")[1]


def test_the_physical_world_builds_things_by_the_recipes_of_the_project(project: Path) -> None:
    task = load_task(project / "finding/F99.yaml")
    scope = next(thing for thing in task.things.values() if thing.category == "fever_scope")
    assert len(Assets.of_library(task.library).of(scope).links[0].pieces) == 2


def test_what_is_wrong_with_a_scene_is_told_once(project: Path, cli: Cli) -> None:
    edit(project / "scenes/ward.yaml", "title: ", "titel: ")
    code, out, errors = cli("validate", "finding", "scenes")
    assert (code, errors) == (1, "2 checked, 0 clean, 2 problems\n")
    assert [line.split(":")[0] for line in out.splitlines() if line[0] != " "] == ["scenes/ward.yaml"] * 2


def test_all_paths_that_are_not_there_are_told(project: Path, cli: Cli) -> None:
    (project / "empty").mkdir()
    code, _, errors = cli("validate", "nothere", "finding", "two/nope.yaml", "empty")
    assert code == 1
    assert errors.splitlines() == [
        "nothere: no such file or folder",
        "two/nope.yaml: no such file or folder",
        "empty: no .yaml file in this folder",
    ]


def test_the_catalogue_lists_own_and_shipped_things(project: Path, cli: Cli) -> None:
    code, out, _ = cli("catalogue", "Forehead scanner")
    assert (code, out.split()[0]) == (0, "fever_scope")
    lines = cli("catalogue", "pill bottle")[1].splitlines()
    assert [line.split()[:2] for line in lines] == [["medicine_bottle", "object"]]
    everything = cli("catalogue")[1].splitlines()
    assert len(everything) > 100
    assert all("wiper" in line for line in cli("catalogue", "wiper")[1].splitlines())
    code, _, errors = cli("catalogue", "unicorn")
    assert code == 1
    assert f"`iwkit catalogue` lists all {len(everything)}" in errors


def test_scenes_of_the_project_are_listed_and_shown(project: Path, cli: Cli) -> None:
    assert "ward " in cli("scene", "list")[1]
    edit(project / "scenes/ward.yaml", "category: desk", "category: fever_desk")
    edit(
        project / "assets/mine.yaml",
        "categories:",
        "categories:\n  fever_desk: {kind: fixture, public: [desk], size: [1.2, 0.6, 0.74], affords: [surface]}",
    )
    assert cli("scene", "show", "scenes/ward.yaml", "--out", "ward.svg")[0] == 0
    assert (project / "ward.svg").exists()
