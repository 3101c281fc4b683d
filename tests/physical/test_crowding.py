"""Places that are told to be taken from outlines are taken, and on a crowded board these are most of them (PHY-8)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from iwkit import resources
from iwkit.compile import load_task
from iwkit.library import Library
from iwkit_runtime.actions.crowding import CROWDED, Crowd
from iwkit_runtime.actions.spots import GAP, free
from iwkit_runtime.physical.placer import regions_for
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.world import PhysicalWorld

SUPPORT = "desk"
YAW = 0.4
MOST = 0.9


@pytest.fixture(scope="module")
def stage() -> Stage:
    world = PhysicalWorld()
    (path,) = resources.root("taskpacks").rglob("F16.yaml")
    world.reset(load_task(path, Library()))
    return world.stage


def crowd(stage: Stage, name: str) -> tuple[Crowd, list[Floats]]:
    """What stands on the desk, and places all over it and beyond its edge."""
    region = regions_for(stage.placed[SUPPORT].asset, "surface")[0]
    at = stage.collision.frames(SUPPORT)[region.link]
    half = np.array(region.size[:2]) / 2
    places = [region.centre[:2] + half * share for share in product(np.linspace(-1.2, 1.2, 13), repeat=2)]
    return Crowd(stage, name, at, region, GAP, frozenset((SUPPORT, *stage.statics))), places


@pytest.mark.parametrize("name", ["folder", "mug", "apple"])
def test_what_is_left_out_is_taken(stage: Stage, name: str) -> None:
    found, places = crowd(stage, name)
    found.refused = CROWDED
    left = {tuple(place) for place in found.thinned(places, YAW)}
    bottom = found.region.centre[2] - found.region.size[2] / 2
    taken = [p for p in places if not free(stage, name, SUPPORT, found.at.point((*p, bottom)), YAW)]
    out = [p for p in places if tuple(p) not in left]
    assert {tuple(p) for p in out} <= {tuple(p) for p in taken}
    assert len(out) >= MOST * len(taken) > 0


def test_as_long_as_few_are_taken_each_is_asked_for(stage: Stage) -> None:
    found, places = crowd(stage, "folder")
    found.refused = CROWDED - 1
    assert [*map(tuple, found.thinned(places, YAW))] == [*map(tuple, places)]
