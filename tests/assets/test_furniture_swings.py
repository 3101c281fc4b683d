"""Doors, drawers and lids over their whole range: in every scene, and beside what is too near."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from iwkit.compile.bind import scene_things
from iwkit.library import Library
from iwkit_runtime.assets import build_asset
from iwkit_runtime.engines.collision import CollisionWorld
from iwkit_runtime.physical.layout import Assets, furnish
from iwkit_runtime.physical.scene_spec import Placed, SceneSpec

LIBRARY = Library()
ASSETS = Assets.of_library(LIBRARY)
TOUCH = 0.0005
"""Metres that rounding may make of two things that just touch."""
STEPS = 24


def entered(spec: SceneSpec) -> Iterator[tuple[str, str]]:
    """(what opens, what it gets into on its way), each joint alone while all others are as at the start."""
    world = CollisionWorld(spec)
    for placed in spec.placed:
        for link in placed.asset.links:
            if link.joint is None:
                continue
            for value in np.linspace(link.joint.low, link.joint.high, STEPS + 1).tolist():
                hits = world.hits(joints={(placed.name, link.name): value})
                yield from ((placed.name, hit.owner) for hit in hits if hit.depth > TOUCH)


@pytest.mark.parametrize("scene_id", LIBRARY.scene_ids())
def test_all_that_opens_in_a_scene_swings_clear_of_its_neighbours(scene_id: str) -> None:
    scene = LIBRARY.scene(scene_id)
    spec = furnish(scene, {thing.name: thing for thing in scene_things(scene, LIBRARY.catalogue)}, ASSETS)
    assert sum(link.joint is not None for placed in spec.placed for link in placed.asset.links) > 5
    assert sorted(set(entered(spec))) == []


def beside(name: str, gap: float) -> SceneSpec:
    """Two of a kind side by side, the other one a little further forward."""
    asset = build_asset(name, LIBRARY.catalogue.categories[name], LIBRARY.recipes[name])
    aside = (-asset.size[0] - gap, -0.3, 0.0)
    return SceneSpec(
        (), (Placed("one", "fixture", asset, (0.0, 0.0, 0.0), 0.0), Placed("two", "fixture", asset, aside, 0.0))
    )


@pytest.mark.parametrize("name", ["cabinet", "fridge", "clothes_dryer", "wardrobe", "chest_of_drawers"])
def test_a_door_needs_no_room_at_its_sides(name: str) -> None:
    """Cupboards in a row, just not touching: what stands in line is never entered."""
    asset = build_asset(name, LIBRARY.catalogue.categories[name], LIBRARY.recipes[name])
    row = tuple(
        Placed(f"n{number}", "fixture", asset, (number * (asset.size[0] + 0.001), 0.0, 0.0), 0.0) for number in range(3)
    )
    assert not set(entered(SceneSpec((), row)))


@pytest.mark.parametrize(
    ("name", "gap", "free"), [("cabinet", 0.001, True), ("locker", 0.001, False), ("locker", 0.1, True)]
)
def test_what_stands_forward_on_the_side_of_the_hinge_is_met(name: str, gap: float, free: bool) -> None:
    """The check itself: what opens by more than 90 degrees meets what stands forward on that side."""
    assert (("one", "two") not in set(entered(beside(name, gap)))) == free


def test_no_door_opens_further_than_a_wall_beside_it_lets_it() -> None:
    """Against the end of a row of cupboards a side wall may stand: leaves stay within 100 degrees."""
    for name, recipe in LIBRARY.recipes.items():
        if recipe.kind == "cabinet" and recipe.door and recipe.door.opens in ("left", "right", "flap"):
            asset = build_asset(name, LIBRARY.catalogue.categories[name], recipe)
            joint = asset.links[1].joint
            assert joint is not None and math.radians(70) <= joint.high <= math.radians(100), name
