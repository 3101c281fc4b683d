"""What runs out of a tipped vessel is drawn, from its rim into the vessel below, and counted as nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iwkit.catalogue import load_catalogue
from iwkit.recipes import load_recipes
from iwkit_runtime.assets import build_asset
from iwkit_runtime.physical.scene_spec import Placed, Pose, SceneSpec
from iwkit_runtime.physical.trajectory import CATCHES, POURS
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer, look_from

GLASS: Pose = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
TIPPED: Pose = ((0.2, 0.0, 0.3), (math.cos(-math.pi / 4), 0.0, math.sin(-math.pi / 4), 0.0))
"""A quarter turn to the left: the bottle's mouth is above the glass."""


def test_a_stream_is_drawn_and_not_counted() -> None:
    categories, recipes = load_catalogue().categories, load_recipes()
    placed = tuple(
        Placed(name, "object", build_asset(kind, categories[kind], recipes.get(kind)), (0.0, 0.0, 0.0), 0.0, {})
        for name, kind in (("bottle", "water_bottle"), ("glass", "drinking_glass"))
    )
    camera, poses = look_from((0.0, -0.9, 0.35), (0.0, 0.0, 0.2)), {"bottle": TIPPED, "glass": GLASS}
    pouring = {"bottle": (POURS,), "glass": (CATCHES,)}
    try:
        renderer = Renderer(SceneSpec((), placed), size=(320, 240))
    except NoOpenGL as error:
        pytest.skip(str(error))
    with renderer:
        before, after = (renderer.frame(camera, poses, {}, states=states).astype(int) for states in ({}, pouring))
        rows, columns = np.nonzero(np.abs(after - before).max(2) > 8)
        assert len(rows) > 100
        assert np.ptp(columns) < 12 and np.ptp(rows) > 40  # thin, and straight down
        assert renderer.counts(camera, poses, {}, states=pouring) == renderer.counts(camera, poses, {})
        alone = renderer.frame(camera, poses, {}, states={"bottle": (POURS,)})
        assert np.array_equal(alone, before)
