"""Objects: what the tasks need is there, stands still, takes a colour and a label, and shows its states."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

from iwkit.catalogue import load_catalogue
from iwkit.recipes import load_recipes
from iwkit_runtime.assets import build_asset
from iwkit_runtime.assets.colours import TINTS, rgba, tinted
from iwkit_runtime.assets.mesh import corners
from iwkit_runtime.engines.mujoco_engine import MujocoEngine
from iwkit_runtime.physical.kinematics import frame
from iwkit_runtime.physical.scene_spec import Placed, SceneSpec, Static
from iwkit_runtime.physical.spec import Asset, Piece
from iwkit_runtime.render.contact_sheet import SHEET, reader_sheets, render_asset

CATEGORIES = load_catalogue().categories
RECIPES = load_recipes()
MAP = Path(__file__).parents[2] / "docs" / "catalogue-map.md"
OBJECTS = [name for name, category in CATEGORIES.items() if category.kind == "object"]
CUTTABLE = [name for name in OBJECTS if "cuttable" in CATEGORIES[name].affords]
QUICK = ("apple", "banana", "broom", "broken_glass", "burger", "lemon", "plate", "wine_bottle")
"""Objects that every run lets settle: round, tall and flat ones."""
LEANS = 15.0
"""Degrees by which something round or curved may turn until it lies still; what has a base stays upright."""
WORD = re.compile(r"cut|cooked|dirty|wet|used|broken|filled|mouldy")


class Row(NamedTuple):
    """A line of the map: what is needed, its kind, the categories for it and what a pack can give."""

    need: str
    kind: str
    categories: tuple[str, ...]
    gives: str


def rows() -> list[Row]:
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in MAP.read_text(encoding="utf-8").split("\n")]
    found = [line for line in cells if len(line) == 4 and line[1] in ("object", "food", "packaged food/drink")]
    return [Row(need, kind, tuple(categories.split(", ")), gives) for need, kind, categories, gives in found]


ROWS = rows()


@cache
def built(name: str) -> Asset:
    return build_asset(name, CATEGORIES[name], RECIPES[name])


def painted(name: str, colour: str) -> set[tuple[float, ...]]:
    asset = build_asset(name, CATEGORIES[name], RECIPES[name], colour=colour)
    return {visual.material.rgba for link in asset.links for visual in link.visuals}


def seen_when(asset: Asset) -> set[str | None]:
    return {visual.when for link in asset.links for visual in link.visuals}


def test_the_map_lists_every_need_once() -> None:
    assert len(ROWS) == len({row.need for row in ROWS}) == 156
    assert {row.kind for row in ROWS} == {"object", "food", "packaged food/drink"}


@pytest.mark.parametrize("row", ROWS, ids=[row.need for row in ROWS])
def test_what_is_needed_has_a_category_with_a_recipe_that_can_look_as_it_must(row: Row) -> None:
    for name in row.categories:
        assert CATEGORIES[name].kind == "object" and name in RECIPES
    name = row.categories[0]
    if "colour" in row.gives:
        assert rgba("turquoise") in painted(name, "turquoise")
    if "label" in row.gives:
        labelled = build_asset(name, CATEGORIES[name], RECIPES[name], label="X 41")
        assert labelled.labels and "readable" in CATEGORIES[name].affords
    for state in WORD.findall(row.gives):
        assert state in TINTS or state in seen_when(built(name)), f"{name} doesn't show that it is {state}"


@pytest.mark.parametrize("name", CUTTABLE)
def test_what_can_be_cut_has_a_cut_look_and_keeps_its_shape_to_be_touched(name: str) -> None:
    asset = built(name)
    assert {"cut", "not cut"} <= seen_when(asset)
    assert asset.links[0].pieces
    whole = np.concatenate([v.vertices for v in asset.links[0].visuals if v.when != "cut"])
    parts = np.concatenate([v.vertices for v in asset.links[0].visuals if v.when == "cut"])
    assert (parts.min(0) >= whole.min(0) - 0.003).all() and (parts.max(0) <= whole.max(0) + 0.003).all()


@pytest.mark.parametrize(
    "names", [pytest.param(QUICK, id="some"), pytest.param(tuple(OBJECTS), marks=pytest.mark.slow, id="all")]
)
def test_it_stands_or_lies_still_where_it_is_put(names: tuple[str, ...]) -> None:
    floor = Static("floor", "floor", (), (Piece(corners((-30, -30, -0.1), (30, 30, 0))),))
    placed = []
    for number, name in enumerate(names):
        joints = {link.name: 0.0 for link in built(name).links if link.joint}
        at = ((number % 16 - 8) * 1.5, (number // 16 - 8) * 1.5, 0.004)
        placed.append(Placed(name, "object", built(name), at, 0.3 * number, joints))
    engine = MujocoEngine()
    engine.load(SceneSpec((floor,), tuple(placed)))
    assert engine.settle().settled
    for thing in placed:
        rests = frame(engine.poses()[thing.name])
        tilt = math.degrees(math.acos(min(1.0, float(rests.turn[2, 2]))))
        assert tilt < LEANS, f"{thing.name} has turned by {tilt:.0f} degrees"
        assert math.dist(rests.at[:2], thing.position[:2]) < 0.005, f"{thing.name} has moved"


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("tomato", "cut"),
        ("bread_loaf", "cut"),
        ("bread_loaf", "mouldy"),
        ("steak", "cooked"),
        ("plate", "dirty"),
        ("mug", "filled"),
        ("drinking_glass", "broken"),
        ("boot", "wet"),
        ("sponge", "used"),
    ],
)
def test_a_state_changes_the_picture(name: str, state: str) -> None:
    plain, other = (
        np.asarray(render_asset(built(name), states=states, tile=96)).astype(int) for states in ((), (state,))
    )
    changed = np.abs(plain - other).max(-1) > 12
    assert changed.mean() > 0.01
    border = np.concatenate([changed[0], changed[-1], changed[:, 0], changed[:, -1]])
    assert not border.any()  # the table around the thing stays as it is


def test_states_tint_one_after_the_other_and_others_leave_a_colour_alone() -> None:
    white = (1.0, 1.0, 1.0, 0.5)
    assert tinted(white, ()) == tinted(white, ("cut", "running")) == white
    wet = tinted(white, ("wet",))
    assert wet[3] == 0.5 and max(wet[:3]) < 0.8
    both = tinted(tinted(white, ("dirty",)), ("wet",))
    assert tinted(white, ("wet", "dirty")) == tinted(white, ("dirty", "wet")) == both


def test_sheets_for_readers_show_everything_once_without_names(tmp_path: Path) -> None:
    names = OBJECTS[: SHEET + 2]
    pictures = reader_sheets(names, tmp_path, tile=16)
    assert [path.name for path in pictures] == ["sheet-01.png", "sheet-02.png"]
    key = json.loads((tmp_path / "key.json").read_text(encoding="utf-8"))
    assert sorted(key.values()) == sorted(names) and list(key.values()) != names
    assert list(key) == [str(number) for number in range(1, len(names) + 1)]
    assert Image.open(pictures[1]).height < Image.open(pictures[0]).height
