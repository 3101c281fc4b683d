"""Recipe files: what they may say, and what is said of mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwkit.catalogue import load_catalogue
from iwkit.errors import Problems, UsageError
from iwkit.recipes import load_recipes
from iwkit_runtime.assets import build_asset
from iwkit_runtime.assets.colours import WORDS, rgba


def written(folder: Path, text: str, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text('recipes: "1.0"\nassets:\n  gadget:\n' + text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("    kind: parts\n    parts: [{}]\n", "a part is exactly one of box, lathe, tube, extrude, ellipsoid"),
        ("    kind: parts\n    parts: [{box: [0, 0, 0, 1, 1, 1], tube: [[0, 0, 0], [1, 0, 0]]}]\n", "exactly one of"),
        ("    kind: parts\n    parts: [{box: [0, 0, 0, 1, -1, 1]}]\n", "lowest corner and then of its highest"),
        ("    kind: parts\n    parts: [{box: [0, 0, 0, 1, 1, 1], material: gold}]\n", "material 'gold' is not among"),
        ("    kind: parts\n    parts: [{link: lid, box: [0, 0, 0, 1, 1, 1]}]\n", "link 'lid' is not among"),
        ("    kind: parts\n    parts: [{lathe: [[-1, 0], [1, 1]]}]\n", "no radius is below 0"),
        ("    kind: parts\n    parts: [{tube: [[0, 0, 0], [1, 0, 0]], radius: [0.1]}]\n", "one for each point"),
        ("    kind: parts\n    parts: []\n", "parts"),
        (
            "    kind: parts\n    parts: [{extrude: [[0, 0], [1, 1], [1, 0], [0, 1]]}]\n",
            "neither crosses nor touches itself",
        ),
        ("    kind: parts\n    parts: [{extrude: [[0, 0], [1, 1]]}]\n", "three points or more"),
        ("    kind: parts\n    parts: [{box: [0, 0, 0, 1, 1, 1], proud: true}]\n", "all parts are `proud`"),
        ("    kind: cabinet\n    floor: 0.1\n    door: {opens: drawer}\n", "share of its depth"),
        ("    kind: cabinet\n    floor: 0.1\n    door: {opens: upwards}\n", "expected 'left', 'right'"),
        ("    kind: spaceship\n", "kind"),
        ("    kind: parts\n    wings: 2\n    parts: [{box: [0, 0, 0, 1, 1, 1]}]\n", "wings"),
    ],
)
def test_a_mistake_is_named_at_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Problems) as caught:
        load_recipes(written(tmp_path, text))
    assert message in str(caught.value)
    assert "mine.yaml:" in str(caught.value)


def test_the_mistakes_of_all_files_are_named_at_once(tmp_path: Path) -> None:
    paths = [written(tmp_path, "    kind: spaceship\n", name) for name in ("one.yaml", "two.yaml")]
    with pytest.raises(Problems) as caught:
        load_recipes(*paths)
    assert "one.yaml" in str(caught.value) and "two.yaml" in str(caught.value)


def test_a_second_recipe_for_a_category_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "again.yaml"
    path.write_text(
        'recipes: "1.0"\nassets:\n  mug: {kind: parts, parts: [{box: [0, 0, 0, 1, 1, 1]}]}\n', encoding="utf-8"
    )
    with pytest.raises(Problems, match=r"again\.yaml:3:3: .*dishes\.yaml has a recipe for mug already"):
        load_recipes(path)


def test_a_users_recipe_builds_without_code(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "    kind: parts\n    links: {lid: {axis: [0, 0, 1], open: 45, handle: [0, -1, 1]}}\n"
        "    parts:\n      - {box: [-1, -1, 0, 1, 1, 1], material: main}\n"
        "      - {link: lid, ellipsoid: [0, 0, 1.5, 1, 1, 0.5]}\n    prints: [{rect: [-1, 0, 1, 1], at: -1}]\n",
    )
    mug = load_catalogue().categories["mug"]
    asset = build_asset("gadget", mug, load_recipes(path)["gadget"], label="MINE")
    assert [link.name for link in asset.links] == ["body", "lid"]
    assert asset.links[1].handle == pytest.approx((0, -mug.size[1] / 2, mug.size[2] / 2))
    assert asset.labels[0].centre[1] == pytest.approx(-mug.size[1] / 2, abs=0.001)


def test_a_part_on_an_unknown_link_of_a_cabinet_is_named(tmp_path: Path) -> None:
    text = "    kind: chest\n    parts: [{link: wing, box: [0, 0, 0, 1, 1, 1]}]\n"
    recipe = load_recipes(written(tmp_path, text))["gadget"]
    with pytest.raises(UsageError, match="link 'wing'; this thing's links are body"):
        build_asset("gadget", load_catalogue().categories["basket"], recipe)


def test_every_colour_of_the_recipes_is_known() -> None:
    for name, recipe in load_recipes().items():
        for colour in recipe.materials.values():
            assert all(0 <= value <= 1 for value in rgba(colour)), name


def test_no_two_basic_colour_words_look_alike() -> None:
    basic = ["black", "white", "grey", "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown"]
    for i, one in enumerate(basic):
        for other in basic[i + 1 :]:
            assert sum(abs(a - b) for a, b in zip(WORDS[one], WORDS[other], strict=True)) > 90, (one, other)
