"""A lamp that is on lights what is near it in its room, and nothing else changes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from iwkit.compile.bind import scene_things
from iwkit.library import Library
from iwkit.recipes import load_recipes
from iwkit_runtime.assets.mesh import rowwise_cross
from iwkit_runtime.physical.layout import Assets, furnish
from iwkit_runtime.physical.scene_spec import Joints, Poses, SceneSpec, Static
from iwkit_runtime.physical.spec import Floats, Material, Visual
from iwkit_runtime.render.lamps import FINE, Lamp, lamps, lit
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer, look_from

ON = {"lamp_1": ("running",)}
DINING_CORNER = look_from((6.2, 6.5, 1.6), (7.9, 9.7, 1.0))


@pytest.fixture(scope="module")
def flat() -> SceneSpec:
    library = Library()
    plan = library.scene("flat")
    things = {thing.name: thing for thing in scene_things(plan, library.catalogue)}
    return furnish(plan, things, Assets(library.catalogue, load_recipes()))


@pytest.fixture(scope="module")
def places(flat: SceneSpec) -> tuple[Poses, Joints]:
    poses = {it.name: (it.position, (math.cos(it.yaw / 2), 0.0, 0.0, math.sin(it.yaw / 2))) for it in flat.placed}
    return poses, {(it.name, link): value for it in flat.placed for link, value in it.joints.items()}


@pytest.fixture(scope="module")
def renderer(flat: SceneSpec) -> Iterator[Renderer]:
    try:
        made = Renderer(flat, size=(160, 120))
    except NoOpenGL as error:
        pytest.skip(str(error))
    with made:
        yield made


def brighter(renderer: Renderer, places: tuple[Poses, Joints], camera: Floats) -> Floats:
    """By how much each pixel (h, w) is brighter with the lamp of the dining room than without."""
    off, on = (renderer.frame(camera, *places, states=states).astype(float).mean(2) for states in (None, ON))
    return on - off


def test_a_lamp_lights_the_wall_behind_it(renderer: Renderer, places: tuple[Poses, Joints]) -> None:
    names, ids = renderer.ids(DINING_CORNER, *places)
    wall = ids == names.index("wall_dining_room")
    change = brighter(renderer, places, DINING_CORNER)
    shade = np.argwhere(ids == names.index("lamp_1")).min(0)
    away = np.hypot(*(np.indices(ids.shape) - shade[:, None, None]))
    assert change[wall & (away < 20)].mean() > 15
    assert change[wall & (away > 60)].mean() < 8
    assert (change > -3).mean() > 0.999


def test_a_lamp_lights_nothing_behind_a_wall_but_is_seen_through_a_doorway(
    renderer: Renderer, places: tuple[Poses, Joints]
) -> None:
    bathroom, kitchen = look_from((9.0, 7.0, 1.6), (11.2, 8.6, 0.9)), look_from((3.6, 6.5, 1.6), (7.9, 9.6, 1.2))
    assert not brighter(renderer, places, bathroom).any()
    assert brighter(renderer, places, kitchen).max() > 15


def test_light_moves_nothing(renderer: Renderer, places: tuple[Poses, Joints]) -> None:
    (names, dark), (_, bright) = (renderer.ids(DINING_CORNER, *places, states=states) for states in (None, ON))
    assert (dark != bright).mean() < 0.002
    assert sum(dark.ravel() == names.index("lamp_1")) > 20


def test_lamps_and_screens_light_a_room_and_ovens_do_not(flat: SceneSpec) -> None:
    found = {lamp.name: lamp.room for lamp in lamps(flat)}
    assert found == {"lamp_1": "dining_room", "lamp_2": "living_room", "television_1": "living_room"}


def test_what_is_cut_up_keeps_its_shape_and_its_picture() -> None:
    corners = np.array([[0, 0, 0], [6, 0, 0], [6, 4, 0], [0, 4, 0]], float)
    faces = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    floor = Static(
        "floor_study", "floor", (Visual(corners, faces, corners[:, :2] / 0.8, Material("wood", (1, 1, 1, 1))),), ()
    )
    lamp = Lamp("lamp", "study", (1.0, 1.0, 1.4), (1.0, 1.0, 1.0))
    (fine,) = lit(floor, (lamp,))
    a, b, c = (fine.vertices[fine.faces[:, corner]] for corner in range(3))
    across = rowwise_cross(b - a, c - a)
    assert across[:, 2].min() > 0
    assert across[:, 2].sum() / 2 == pytest.approx(24)
    assert fine.uv is not None
    assert fine.uv == pytest.approx(fine.vertices[:, :2] / 0.8)
    below = np.linalg.norm((a + b + c)[:, :2] / 3 - 1, axis=1) < 0.5
    assert np.linalg.norm(a - b, axis=1)[below].max() < FINE + 0.7
    assert len(fine.faces) < 400
    assert lit(floor, (lamp._replace(room="hall"),)) is floor.visuals
