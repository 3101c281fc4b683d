"""The tour of a scene: every room from inside it, its furniture in view, nothing in the way, and the same each time."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from iwkit.cli import main
from iwkit.compile.bind import scene_things
from iwkit.errors import UsageError
from iwkit.floorplan import floor
from iwkit.library import Library
from iwkit.recipes import load_recipes
from iwkit.scenes import load_scene
from iwkit.spec.scene import Scene
from iwkit_runtime.physical.layout import EYES, Assets, decor_name, furnish
from iwkit_runtime.physical.scene_spec import SceneSpec
from iwkit_runtime.render import opengl
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer
from iwkit_runtime.render.tour import View, as_placed, views, write_tour

LIBRARY, RECIPES = Library(), load_recipes()
SIZE = (160, 120)


ASSETS = Assets(LIBRARY.catalogue, RECIPES)
STUDY = """
scene: "1.0"
id: study
title: A study with an empty store
rooms:
  study: {public: the study, box: [0, 0, 4, 3]}
  store: {public: the store, box: [4, 0, 5.4, 1.4]}
doors:
  store_door: {public: the store door, between: [store, study], at: [4, 0.7]}
fixtures:
  desk_1: {category: desk, room: study, at: [1.2, 2.6], facing: 270}
  shelf_1: {category: shelf, room: study, at: [0.28, 1.2], facing: 0}
"""


@pytest.fixture
def study(tmp_path: Path) -> Scene:
    file = tmp_path / "study.yaml"
    file.write_text(STUDY)
    return load_scene(file, LIBRARY.catalogue)


def furnished(scene: Scene) -> SceneSpec:
    return furnish(scene, {thing.name: thing for thing in scene_things(scene, LIBRARY.catalogue)}, ASSETS)


@cache
def spec_of(scene_id: str) -> SceneSpec:
    return furnished(LIBRARY.scene(scene_id))


@cache
def tour_of(scene_id: str) -> tuple[View, ...]:
    return views(LIBRARY.scene(scene_id), spec_of(scene_id))


@pytest.fixture(scope="module")
def opengl_works() -> None:
    try:
        Renderer(spec_of("infirmary"), size=(32, 24)).close()
    except NoOpenGL as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("scene_id", ["flat", "office", "infirmary"])
def test_a_scene_without_a_pack_has_its_fixtures_and_doors_and_nothing_else(scene_id: str) -> None:
    scene, spec = LIBRARY.scene(scene_id), spec_of(scene_id)
    assert {placed.name for placed in spec.placed} == {*scene.fixtures, *scene.doors}
    for placed in spec.placed:
        if placed.kind == "fixture":
            fixture = scene.fixtures[placed.name]
            assert placed.position == (*fixture.at, fixture.base)
    assert {static.name for static in spec.statics} == {
        *(f"{part}_{r}" for r in scene.rooms for part in ("floor", "wall")),
        *map(decor_name, scene.decor),
    }


@pytest.mark.usefixtures("opengl_works")
@pytest.mark.parametrize("scene_id", ["flat", "infirmary"])
def test_every_room_is_seen_from_within_with_most_of_its_furniture(scene_id: str) -> None:
    scene, spec = LIBRARY.scene(scene_id), spec_of(scene_id)
    tour = tour_of(scene_id)
    assert [view.name for view in tour[:-1]] == [
        f"{room}-{n}" for room in scene.rooms for n in range(1, 1 + sum(view.room == room for view in tour))
    ]
    seen: dict[str, int] = {}
    with Renderer(spec, size=SIZE) as renderer:
        for view in tour[:-1]:
            x0, y0, x1, y1 = floor(scene, view.room or "")
            x, y, z = view.camera[:3, 3]
            assert x0 < x < x1
            assert y0 < y < y1
            assert z == EYES
            counts = renderer.counts(view.camera, *as_placed(spec))
            things = {name: n for name, n in counts.items() if name in scene.fixtures}
            assert max(things.values()) < 0.4 * SIZE[0] * SIZE[1], view.name
            seen |= {name: max(n, seen.get(name, 0)) for name, n in things.items()}
    for room in scene.rooms:
        assert sum(view.room == room for view in tour) in (2, 3)
        wanted = [name for name, fixture in scene.fixtures.items() if fixture.room == room]
        shown = [name for name in wanted if seen.get(name, 0) >= 30]
        assert len(shown) >= 0.8 * len(wanted), (room, sorted(set(wanted) - set(shown)))


@pytest.mark.usefixtures("opengl_works")
def test_the_last_picture_shows_all_rooms_from_above() -> None:
    scene, spec = LIBRARY.scene("flat"), spec_of("flat")
    above = tour_of("flat")[-1]
    assert (above.name, above.room) == ("above", None)
    with Renderer(spec, size=SIZE, fov=above.fov) as renderer:
        counts = renderer.counts(above.camera, *as_placed(spec))
    assert all(counts.get(f"floor_{room}", 0) > 30 for room in scene.rooms)


@pytest.mark.usefixtures("opengl_works")
def test_the_tour_is_the_same_each_time(study: Scene) -> None:
    one, other = views(study, furnished(study)), views(study, furnished(study))
    assert [view.name for view in one] == ["study-1", "study-2", "store-1", "store-2", "above"]
    assert all(np.array_equal(a.camera, b.camera) for a, b in zip(one, other, strict=True))


@pytest.mark.usefixtures("opengl_works")
def test_the_pictures_are_files(study: Scene, tmp_path: Path) -> None:
    files = write_tour(study, LIBRARY.catalogue, RECIPES, tmp_path / "new" / "tour", size=SIZE)
    assert sorted(tmp_path.rglob("*.png")) == sorted(files)
    assert [file.name for file in files] == ["study-1.png", "study-2.png", "store-1.png", "store-2.png", "above.png"]
    for file in files:
        with Image.open(file) as picture:
            assert picture.size == SIZE
            assert np.asarray(picture).std() > 8, file.name


@pytest.mark.usefixtures("opengl_works")
def test_a_folder_that_cannot_be_made_is_named(study: Scene, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"file.*give another folder"):
        write_tour(study, LIBRARY.catalogue, RECIPES, tmp_path / "file", size=SIZE)


def test_without_opengl_the_plan_is_drawn_and_the_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(opengl.sys, "platform", "linux")
    monkeypatch.setattr(opengl, "EGL", "mujoco.no_such_backend")
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    plan, tour = tmp_path / "plan.png", tmp_path / "tour"
    arguments = ["iwkit", "scene", "show", "infirmary", "--out", str(plan), "--tour", str(tour)]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as stopped:
        main.main()
    assert stopped.value.code == 1
    told = capsys.readouterr()
    assert "libegl1 libgl1" in told.err
    assert "the ward" in told.out
    assert plan.stat().st_size > 1000
    assert not tour.exists()
