"""A scene in the form of BEHAVIOR-1K's files (docs/import.md), of our own making."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from iwkit.cli.main import main
from iwkit.errors import UsageError
from iwkit.library import Library
from iwkit_authoring.importing.behavior_scene import import_scene

Thing = tuple[str, list[str], tuple[float, float, float], float, list[float] | None]
"""Category, rooms, position, yaw in degrees, size."""
THINGS: dict[str, Thing] = {
    "floors_a": ("floors", ["kitchen_0"], (2.0, 2.0, 0.0), 0, [4.0, 4.0, 0.05]),
    "floors_b": ("floors", ["living_room_0"], (6.06, 2.0, 0.0), 0, [4.0, 4.0, 0.05]),
    "walls_a": ("walls", ["kitchen_0"], (2.0, 4.0, 1.2), 0, [4.0, 0.1, 2.4]),
    "window_a": ("window", ["kitchen_0"], (2.0, 4.0, 1.5), 0, [1.0, 0.1, 1.0]),
    "door_a": ("door", ["kitchen_0", "living_room_0"], (4.02, 2.0, 1.0), 90, [0.9, 0.05, 2.0]),
    "fridge_xy": ("fridge", ["kitchen_0"], (0.6, 3.55, 0.9), 0, [0.7, 0.7, 1.8]),
    "table_a": ("breakfast_table", ["kitchen_0"], (2.0, 1.2, 0.375), 90, [1.2, 0.8, 0.75]),
    "table_b": ("breakfast_table", ["living_room_0"], (6.0, 2.6, 0.375), 37, [1.2, 0.8, 0.75]),
    "microwave_a": ("microwave", ["kitchen_0"], (2.0, 3.6, 1.5), 0, [0.5, 0.4, 0.3]),
    "mug_a": ("mug", ["kitchen_0"], (2.0, 1.2, 0.8), 0, [0.1, 0.1, 0.1]),
    "unicorn_a": ("unicorn", ["kitchen_0"], (3.0, 1.2, 0.8), 0, None),
}


def scene(things: dict[str, Thing] = THINGS, *, old: bool = False, **changes: Any) -> dict[str, Any]:
    infos, states = {}, {}
    for name, (category, rooms, position, yaw, size) in things.items():
        args = {"name": name, "category": category, "model": "abcdef", "fixed_base": True, "in_rooms": rooms}
        args |= {"scale": [1, 1, 1]} if size is None else {"bounding_box": size}
        infos[name] = {"class_module": "m", "class_name": "DatasetObject", "args": args}
        half = math.radians(yaw) / 2
        link = {"pos": list(position), "ori": [0.0, 0.0, math.sin(half), math.cos(half)]}
        joints = {"joints": {"j": {"pos": [0.5]}}} if old else {"joint_pos": [0.5], "joint_vel": [0.0]}
        states[name] = {"root_link": link, "is_asleep": True, "non_kin": {"ToggledOn": {"value": True}}, **joints}
    state = {"object_registry": states} if old else {"pos": [0, 0, 0], "registry": {"object_registry": states}}
    return {"versions": {}, "metadata": {}, "objects_info": {"init_info": infos}, "state": state} | changes


def written(folder: Path, data: Any, name: str = "Den_best.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(data), "utf-8")
    return path


@pytest.mark.parametrize("old", [False, True])
def test_rooms_doors_and_fixtures_are_carried_over_and_the_rest_is_told(tmp_path: Path, old: bool) -> None:
    report = import_scene(written(tmp_path, scene(old=old)), tmp_path)
    assert (report.rooms, report.doors, report.fixtures, list(report.problems)) == (2, 1, 4, [])
    made = Library.of_home(tmp_path).scene("den")
    assert made.rooms["kitchen_0"].box == pytest.approx((0, 0, 4.03, 4))
    assert made.rooms["living_room_0"].box == pytest.approx((4.03, 0, 8.06, 4))
    assert made.doors["door_1"].between == ("kitchen_0", "living_room_0")
    fridge = next(fixture for fixture in made.fixtures.values() if fixture.at == (0.6, 3.55))
    assert (fridge.facing, fridge.size, fridge.base, fridge.open) == (270, (0.7, 0.7, 1.8), 0, True)
    tables = [f for f in made.fixtures.values() if "table" in f.category]
    assert [table.facing for table in tables] == [0, 270]
    assert next(f for f in made.fixtures.values() if f.category == "microwave").base == pytest.approx(1.35)
    assert any("table_b is turned by 37 degrees" in note for note in report.notes)
    left = "\n".join(report.left_out)
    for what in ("1 x mug:", "1 x unicorn:", "1 x walls:", "1 x window:"):
        assert what in left


def test_a_scene_without_floors_gets_walls_around_its_furniture(tmp_path: Path) -> None:
    things = {name: thing for name, thing in THINGS.items() if thing[0] not in ("floors", "door")}
    report = import_scene(written(tmp_path, scene(things)), tmp_path, "bare")
    assert report.rooms == 2 and any("doesn't measure its floor" in note for note in report.notes)
    assert any(problem.code == "L707" for problem in report.problems), "no door leads from one to the other"


@pytest.mark.parametrize(
    "data",
    [
        [],
        "text",
        {},
        {"objects_info": {}},
        scene(state={"registry": {"object_registry": {"fridge_xy": {}}}}),
        scene({"a": ("fridge", ["k"], (math.nan, 0, 0), 0, [1, 1, 1])}),
        scene({"a": ("fridge", ["k"], (0, 0, 0), 0, [1, 1])}),
        scene({"a": ("mug", ["k"], (0, 0, 0), 0, [1, 1, 1])}),
    ],
)
def test_what_is_no_scene_is_refused(tmp_path: Path, data: Any) -> None:
    with pytest.raises(UsageError, match=r"bad\.json: "):
        import_scene(written(tmp_path, data, "bad.json"), tmp_path)
    assert not (tmp_path / "scenes").exists()


def test_a_scene_is_not_written_over_by_chance(tmp_path: Path) -> None:
    path = written(tmp_path, scene())
    import_scene(path, tmp_path)
    with pytest.raises(UsageError, match="is there already"):
        import_scene(path, tmp_path)
    assert import_scene(path, tmp_path, overwrite=True).fixtures == 4


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)

    def called(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["iwkit", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        shown = capsys.readouterr()
        return int(stop.value.code or 0), shown.out, shown.err

    return called


def test_both_imports_on_the_command_line(cli: Callable[..., Any], tmp_path: Path, models: Any) -> None:
    written(tmp_path, scene())
    models.write(tmp_path, "table", "obj", 0.01)
    code, out, errors = cli("scene", "import", "Den_best.json")
    assert (code, out.splitlines()[0]) == (0, "den: 2 rooms, 1 door, 4 fixtures"), errors
    assert cli("scene", "list")[1].startswith("den ") or "\nden " in cli("scene", "list")[1]
    code, out, errors = cli("assets", "import", "my_table.obj", "--category", "table")
    assert (
        code == 1 and "120 m, where others of its category measure" in errors and "give --units (perhaps cm" in errors
    )
    code, out, errors = cli("assets", "import", "my_table.obj", "--category", "table", "--units", "cm", "--mass", "12")
    assert (code, out.splitlines()[0]) == (0, "my_table: a fixture of 1.2 x 0.8 x 0.75 m, 12 kg; surface, wipeable"), (
        errors
    )
    assert "5 convex pieces" in out and "top: 1.2 x 0.8" in out and "written: " in errors
    assert cli("catalogue", "my_table")[1].startswith("my_table ")
    code, _, errors = cli("validate", "assets")
    assert code == 0, errors
