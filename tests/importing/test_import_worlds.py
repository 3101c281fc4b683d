"""Things that were imported, in a pack of one's own project, in both worlds."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from staging import staged

from iwkit.compile import CompiledTask
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit.lock import uses
from iwkit.world.base import World
from iwkit.world.symbolic import SymbolicWorld
from iwkit_authoring.importing.asset import import_asset
from iwkit_authoring.importing.wishes import Wishes
from iwkit_runtime.physical.world import PhysicalWorld

SCENE = """\
scene: "1.0"
id: den
title: A den
rooms: {den: {public: the den, box: [0, 0, 5, 4]}}
fixtures:
  cabinet_1: {category: my_cabinet, room: den, at: [1.2, 3.7], facing: 270}
  table_1: {category: my_table, room: den, at: [3.5, 3.3], facing: 270}
"""
STEPS = (
    "[Grab] <cup>",
    "[Open] <cabinet>",
    "[PutInside] <cup> <cabinet>",
    "[Close] <cabinet>",
    "[Open] <cabinet>",
    "[Grab] <cup>",
    "[PutOn] <cup> <table>",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, models: SimpleNamespace) -> Path:
    """A project with an imported mug, cabinet and table, and a scene of the last two."""
    folder: Path = tmp_path_factory.mktemp("den")
    wishes = {
        "mug": Wishes(category="mug"),
        "cabinet": Wishes(category="cabinet", moving="door=left"),
        "table": Wishes(category="table"),
    }
    for name, wish in wishes.items():
        import_asset(models.write(folder, name), folder, wish)
    (folder / "scenes").mkdir()
    (folder / "scenes" / "den.yaml").write_text(SCENE, "utf-8")
    return folder


def task(library: Library) -> CompiledTask:
    physical: dict[str, Any] = {
        "scene": "den",
        "wearer": {"at": "table"},
        "entities": {
            "cabinet": {"fixture": "cabinet_1"},
            "table": {"fixture": "table_1"},
            "cup": {"category": "my_mug", "on": "table", "colour": "blue"},
        },
        "goal": {"score": "state", "achieve": [{"id": "gone", "that": {"inside": ["cup", "cabinet"]}}]},
    }
    return staged(physical, "DEN", library)


@pytest.mark.parametrize("world", [SymbolicWorld, pytest.param(PhysicalWorld, marks=pytest.mark.slow)])
def test_the_wearer_puts_an_imported_mug_into_an_imported_cabinet(home: Path, world: type[World]) -> None:
    here = world()
    here.reset(task(Library.of_home(home)))
    where = []
    for step in STEPS:
        receipt = here.execute(parse(step))
        assert receipt.ok, (step, receipt)
        where.append(here.relations())
    assert ("inside", "cup", "cabinet") in where[2] and ("inside", "cup", "cabinet") in where[3]
    assert ("on", "cup", "table") in where[-1] and ("inside", "cup", "cabinet") not in where[-1]


def test_the_lock_holds_the_mesh(home: Path, models: SimpleNamespace, tmp_path: Path) -> None:
    before = uses(task(Library.of_home(home)), Library.of_home(home))
    path = models.write(tmp_path, "mug")
    import_asset(path, home, Wishes(category="mug", max_triangles=400, replace=True))
    after = uses(task(Library.of_home(home)), Library.of_home(home))
    assert [name for name in before if before[name] != after[name]] == ["recipes"]
    import_asset(path, home, Wishes(category="mug", replace=True))
    assert uses(task(Library.of_home(home)), Library.of_home(home)) == before
