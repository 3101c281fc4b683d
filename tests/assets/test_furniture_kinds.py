"""The furniture, fixtures, appliances and containers that tasks need, and what their kinds of recipe build."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from iwkit.catalogue import load_catalogue
from iwkit.errors import Problems
from iwkit.recipes import load_recipes
from iwkit.spec.recipe import CabinetRecipe, Door
from iwkit_runtime.assets import build_asset
from iwkit_runtime.physical.spec import Asset

CATEGORIES, RECIPES = load_catalogue().categories, load_recipes()
NEEDS = Path(__file__).parents[1] / "data" / "catalogue_needs.csv"
MAP = Path(__file__).parents[2] / "docs" / "catalogue-map.md"
KINDS = {"furniture", "fixture", "appliance", "container"}
DOES = {"opens": "openable", "holds": "container", "runs": "device", "label": "readable", "is pushed": "wheeled"}
"""A word of the map -> what the category affords then."""


def lines() -> dict[str, tuple[str, list[str], set[str]]]:
    """Need -> kind, categories, what they do."""
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in MAP.read_text(encoding="utf-8").split("\n")]
    rows = [line for line in cells if len(line) == 4 and line[1] in KINDS]
    return {need: (kind, names.split(", "), {*does.split("; ")} - {""}) for need, kind, names, does in rows}


def built(name: str, **how: object) -> Asset:
    return build_asset(name, CATEGORIES[name], RECIPES[name], **how)  # type: ignore[arg-type]


def test_every_need_has_its_line_in_the_map() -> None:
    with NEEDS.open(encoding="utf-8") as file:
        needs = {row["name"]: row["kind"] for row in csv.DictReader(file) if row["kind"] in KINDS}
    needs.pop("floor")
    assert {need: kind for need, (kind, _, _) in lines().items()} == needs


@pytest.mark.parametrize(("need", "line"), lines().items(), ids=lines())
def test_what_stands_for_a_need_does_what_the_map_says(need: str, line: tuple[str, list[str], set[str]]) -> None:
    _, names, does = line
    for name in names:
        assert name in RECIPES
        for word, trait in DOES.items():
            if word != "label":
                assert (word in does) == (trait in CATEGORIES[name].affords), (name, word)
        assert bool(does - DOES.keys()) == (need == "lid")
        if "label" in does:
            plain, named = built(name), built(name, label="ZONE B")
            assert len(named.labels) >= len(plain.labels)
            prints = [
                v.material.texture.tobytes() for k in named.links for v in k.visuals if v.material.texture is not None
            ]
            before = [
                v.material.texture.tobytes() for k in plain.links for v in k.visuals if v.material.texture is not None
            ]
            assert prints != before, name


def test_a_fridge_has_shelves_a_freezer_compartment_and_trays_on_its_door() -> None:
    regions = {region.name: region for region in built("fridge").regions if region.kind == "interior"}
    assert {f"inside_{n}" for n in range(5)} | {f"door_inside_{n}" for n in range(3)} == set(regions)
    assert [regions[f"door_inside_{n}"].link for n in range(3)] == ["door"] * 3
    heights = [regions[f"door_inside_{n}"].centre[2] for n in range(3)]
    assert heights == sorted(heights)
    for region in (regions[f"door_inside_{n}"] for n in range(3)):
        assert min(region.size) > 0.06 and region.size[2] > 0.2


def test_trays_leave_the_next_one_its_room() -> None:
    door = Door(opens="left", thickness=0.07, pocket=0.09, trays=(0.1, 0.2, 0.75))
    recipe = CabinetRecipe(kind="cabinet", floor=0.14, door=door)
    fridge = build_asset("fridge", CATEGORIES["fridge"], recipe)
    low, next_, _ = (next(r for r in fridge.regions if r.name == f"door_inside_{n}") for n in range(3))
    assert low.centre[2] + low.size[2] / 2 < next_.centre[2] - next_.size[2] / 2


def test_a_cubby_is_open_in_front() -> None:
    cubby = built("cubby")
    assert [link.joint for link in cubby.links] == [None]
    (inside,) = (region for region in cubby.regions if region.kind == "interior")
    way = np.array(inside.centre) + np.linspace(0, 1, 40)[:, None] * [0, -0.6, 0]
    boxes = [(piece.vertices.min(0), piece.vertices.max(0)) for piece in cubby.links[0].pieces]
    assert not any(((way > low) & (way < high)).all(1).any() for low, high in boxes)


def test_a_drawer_has_low_sides() -> None:
    for name in ("chest_of_drawers", "filing_cabinet"):
        asset = built(name)
        drawer = next(link for link in asset.links if link.joint)
        sides = [
            p.vertices for p in drawer.pieces if np.ptp(p.vertices[:, 0]) < 0.02 and np.ptp(p.vertices[:, 1]) > 0.2
        ]
        inside = next(region for region in asset.regions if region.kind == "interior")
        assert len(sides) == 2
        assert all(np.ptp(side[:, 2]) < 0.55 * inside.size[2] for side in sides)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("    kind: parts\n    parts: [{box: [0, 0, 0, 1, 1, 1], when: haunted}]\n", "when"),
        ("    kind: parts\n    parts: [{box: [0, 0, 0, 1, 1, 1], when: running}]\n", "something has to fill"),
        ("    kind: parts\n    glow: [lava]\n    parts: [{box: [0, 0, 0, 1, 1, 1]}]\n", "material 'lava' is not among"),
        ("    kind: cabinet\n    floor: 0.1\n    door: {pocket: 0.1, trays: [1]}\n", "trays"),
    ],
)
def test_a_mistake_in_what_shows_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text('recipes: "1.0"\nassets:\n  gadget:\n' + text, encoding="utf-8")
    with pytest.raises(Problems) as caught:
        load_recipes(path)
    assert message in str(caught.value) and "mine.yaml:" in str(caught.value)
