"""What is shown of scenes: the plan, the description, and the page that documents them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from iwkit.catalogue import load_catalogue
from iwkit.errors import UsageError
from iwkit.library import Library
from iwkit.sceneplan import describe, draw
from iwkit.scenes import load_scene, scene_ids
from iwkit.spec.catalogue import Catalogue, Category
from iwkit.spec.scene import Decor, Door, Fixture, Room, Scene

PAGE = Path(__file__).parent.parent / "docs" / "scenes.md"
CATALOGUE = load_catalogue()
SCENES = {name: load_scene(name, CATALOGUE) for name in scene_ids()}


@pytest.mark.parametrize("name", SCENES)
def test_a_plan_names_everything(name: str, tmp_path: Path) -> None:
    scene, first = SCENES[name], tmp_path / "one.svg"
    draw(scene, CATALOGUE, first)
    # Each line of a label is a comment before its glyphs; a name may run over several.
    written = "".join(re.findall(r"<!-- (.*?) -->", first.read_text(), re.DOTALL)).replace("\n", "").replace(" ", "")
    for wanted in (*scene.rooms, *scene.doors, *scene.fixtures):
        assert wanted in written, wanted


def test_a_plan_is_a_picture_and_always_the_same(tmp_path: Path) -> None:
    scene = SCENES["infirmary"]
    for name in ("one.png", "two.png", "one.svg", "two.svg"):
        draw(scene, CATALOGUE, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    for suffix in ("png", "svg"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()
    with pytest.raises(UsageError, match=r"name it \.png or \.svg"):
        draw(scene, CATALOGUE, tmp_path / "flat.gif")


def test_the_description_lists_everything_with_its_public_name() -> None:
    for scene in SCENES.values():
        text = describe(scene, CATALOGUE)
        things: dict[str, Room | Door | Fixture] = {**scene.rooms, **scene.doors, **scene.fixtures}
        for name, it in things.items():
            assert f"{name} ({it.public})" in text
    assert "closed door to hall: bedroom_door" in describe(SCENES["flat"], CATALOGUE)
    assert "table_1 (the packing table): surface 0.90 x 0.60 m, wipeable" in describe(SCENES["office"], CATALOGUE)


def test_every_field_and_affordance_is_documented() -> None:
    page = PAGE.read_text()
    for model in (Scene, Room, Door, Fixture, Decor, Catalogue, Category):
        assert [field for field in model.model_fields if f"`{field}`" not in page] == [], model.__name__
    for word in re.findall(
        r"'(\w+)'", f"{Room.model_fields['floor'].annotation} {Room.model_fields['walls'].annotation}"
    ):
        assert f"`{word}`" in page
    for affordance in re.findall(r'"(\w+)"', str(Category.model_fields["affords"].annotation).replace("'", '"')):
        assert f"`{affordance}`" in page


def test_the_example_of_the_page_is_a_sound_scene(tmp_path: Path) -> None:
    example = next(
        block for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL) if block.startswith("scene:")
    )
    path = tmp_path / "study.yaml"
    path.write_text(example)
    assert load_scene(path, CATALOGUE).id == "study"


def test_the_example_of_a_project_fits_together(tmp_path: Path) -> None:
    blocks = {
        block.split(":")[0]: block for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)[::-1]
    }
    for name, text in (("scenes/study.yaml", blocks["scene"]), ("assets/mine.yaml", blocks["catalogue"])):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    pack = yaml.safe_load(blocks["  scene"])
    library = Library.for_file(tmp_path / "finding" / "F21.yaml")
    scene = library.scene(pack["scene"])
    entities = pack["entities"]
    assert {pack["wearer"]["at"], entities["shelf"]["fixture"]} <= set(scene.fixtures)
    assert entities["abacus"]["category"] in library.catalogue.categories
    assert entities["abacus"]["category"] not in CATALOGUE.categories
