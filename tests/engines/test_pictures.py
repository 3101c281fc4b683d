"""Frames: what is in view is drawn, what is hidden isn't, and the same picture is the same file."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image

from iwkit.compile import load_task
from iwkit.errors import UsageError
from iwkit.library import Library
from iwkit.recipes import load_recipes
from iwkit.resources import root
from iwkit_runtime.body.camera import camera_frame
from iwkit_runtime.body.model import Body, load_body
from iwkit_runtime.body.posture import stand
from iwkit_runtime.engines.mujoco_engine import MujocoEngine
from iwkit_runtime.physical.layout import Assets, build_scene
from iwkit_runtime.physical.scene_spec import SceneSpec
from iwkit_runtime.render import opengl
from iwkit_runtime.render.images import digest, png
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer, look_from, overhead

EYES, FRIDGE = (0.5, 8.7, 1.6), (0.4, 9.6, 1.1)


@pytest.fixture(scope="module")
def flat() -> SceneSpec:
    library = Library()
    task = load_task(root("taskpacks") / "prevention" / "W7.yaml", library)
    return build_scene(task, Assets(library.catalogue, load_recipes()))


@pytest.fixture(scope="module")
def engine(flat: SceneSpec) -> MujocoEngine:
    engine = MujocoEngine()
    engine.load(flat)
    engine.settle()
    return engine


@pytest.fixture(scope="module")
def body() -> Body:
    return load_body()


@pytest.fixture(scope="module")
def renderer(flat: SceneSpec, body: Body) -> Iterator[Renderer]:
    try:
        made = Renderer(flat, body, size=(320, 240))
    except NoOpenGL as error:
        pytest.skip(str(error))
    with made:
        yield made


ROOMS = {
    "kitchen": ((2.0, 6.6), (2.0, 9.6), {"fridge", "stove_1", "oven_1", "breakfast_table"}),
    "living room": ((2.7, 3.9), (3.2, 0.5), {"sofa_1", "coffee_table_1", "armchair_1", "window_2"}),
    "bedroom": ((7.4, 3.9), (7.4, 0.5), {"bed_1", "nightstand_1", "nightstand_2"}),
}


@pytest.mark.parametrize(("stand_at", "look_at", "wanted"), ROOMS.values(), ids=ROOMS)
def test_a_room_is_neither_dark_nor_blown_out_and_shows_its_furniture(
    renderer: Renderer, engine: MujocoEngine, stand_at: tuple, look_at: tuple, wanted: set[str]
) -> None:
    camera = look_from((*stand_at, 1.6), (*look_at, 0.7))
    image = renderer.frame(camera, engine.poses(), engine.joints())
    assert image.shape == (240, 320, 3)
    grey = image.mean(2)
    assert 100 < grey.mean() < 210
    assert grey.std() > 20
    assert (image == 255).all(2).mean() < 0.02
    assert (grey < 8).mean() < 0.02
    counts = renderer.counts(camera, engine.poses(), engine.joints())
    assert wanted <= {name for name, pixels in counts.items() if pixels > 100}
    assert sum(counts.values()) == 320 * 240


def test_the_milk_is_seen_only_when_the_fridge_is_open(renderer: Renderer, engine: MujocoEngine) -> None:
    camera, joints = look_from(EYES, FRIDGE), engine.joints()
    shut = renderer.counts(camera, engine.poses(), joints)
    opened = renderer.counts(camera, engine.poses(), {**joints, ("fridge", "door"): 1.39})
    assert "milk" not in shut
    assert opened["milk"] > 50
    assert not np.array_equal(
        renderer.frame(camera, engine.poses(), joints),
        renderer.frame(camera, engine.poses(), {**joints, ("fridge", "door"): 1.39}),
    )


def test_ids_match_what_is_drawn(renderer: Renderer, engine: MujocoEngine) -> None:
    """Paint the scene by ids: a thing taken away changes the picture where it was, and nowhere else but at its rim."""
    poses = engine.poses()
    camera = look_from((2.45, 8.6, 1.5), poses["mug"][0])
    names, ids = renderer.ids(camera, poses, engine.joints())
    away = {**poses, "mug": ((2.0, 2.0, 0.0), (1.0, 0.0, 0.0, 0.0))}
    changed = (
        renderer.frame(camera, poses, engine.joints()).astype(int)
        - renderer.frame(camera, away, engine.joints()).astype(int)
    ).any(2)
    mug = ids == names.index("mug")
    assert mug.sum() > 50
    assert changed[mug].mean() > 0.95
    assert changed[~mug].sum() < 0.5 * mug.sum()


def test_what_is_out_of_view_is_left_out_without_a_trace(renderer: Renderer, engine: MujocoEngine) -> None:
    """Everything whose pixels are counted lies in the camera's cone, at every heading."""
    for heading in np.linspace(0, 2 * math.pi, 9):
        target = (2.45 + math.cos(heading), 7.0 + math.sin(heading), 1.0)
        counts = renderer.counts(look_from((2.45, 7.0, 1.6), target), engine.poses(), engine.joints())
        assert sum(counts.values()) == 320 * 240  # no hole where a wall was culled


def test_the_wearer_sees_the_body_but_not_the_head(renderer: Renderer, engine: MujocoEngine, body: Body) -> None:
    where = body.placed(stand(body), 2.0, 6.9, math.pi / 2)
    frames = body.forward(*where)
    skin = body.skin(frames)
    eyes = camera_frame(body, frames)
    down = look_from(eyes[:3, 3], frames[0, :3, 3] + [0, 0.35, -0.6])
    seen = renderer.counts(down, engine.poses(), engine.joints(), skin)
    assert seen["wearer"] > 500
    ahead = renderer.counts(eyes, engine.poses(), engine.joints(), skin)
    assert ahead.get("wearer", 0) < 0.02 * 320 * 240
    across = look_from((2.0, 8.5, 1.6), (2.0, 6.9, 1.5))
    head, no_head = (
        renderer.counts(across, engine.poses(), engine.joints(), skin, from_head=flag)["wearer"]
        for flag in (False, True)
    )
    assert head > no_head > 0


def test_from_above_all_rooms_are_open(renderer: Renderer, engine: MujocoEngine, flat: SceneSpec) -> None:
    camera = overhead(flat, aspect=320 / 240)
    counts = renderer.counts(camera, engine.poses(), engine.joints())
    floors = [static.name for static in flat.statics if static.layer == "floor"]
    assert all(counts.get(name, 0) > 50 for name in floors)


def test_a_picture_is_the_same_file_each_time(renderer: Renderer, engine: MujocoEngine) -> None:
    camera = look_from(EYES, FRIDGE)
    first, second = (png(renderer.frame(camera, engine.poses(), engine.joints())) for _ in range(2))
    assert first == second
    assert digest(first) == digest(second)
    assert len(digest(first)) == 64
    with Image.open(io.BytesIO(first)) as read:
        assert read.info == {}
        assert np.array_equal(np.asarray(read), renderer.frame(camera, engine.poses(), engine.joints()))
    other = png(renderer.frame(look_from(EYES, (3, 9, 1)), engine.poses(), engine.joints()))
    assert digest(other) != digest(first)


def test_a_picture_of_another_kind_is_refused() -> None:
    for image in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((4, 4, 4), np.uint8)):
        with pytest.raises(UsageError, match="bytes"):
            png(image)


def test_bad_requests_are_refused(renderer: Renderer, engine: MujocoEngine, flat: SceneSpec) -> None:
    poses, joints = engine.poses(), engine.joints()
    camera = look_from(EYES, FRIDGE)
    with pytest.raises(UsageError, match="4 x 4"):
        renderer.frame(np.eye(3), poses, joints)
    with pytest.raises(UsageError, match="finite"):
        renderer.frame(np.full((4, 4), np.nan), poses, joints)
    with pytest.raises(UsageError, match="milk"):
        renderer.frame(camera, {n: p for n, p in poses.items() if n != "milk"}, joints)
    with pytest.raises(UsageError, match="vertices"):
        renderer.frame(camera, poses, joints, np.zeros((5, 3)))
    with pytest.raises(UsageError, match="look at"):
        look_from(EYES, EYES)
    with pytest.raises(UsageError, match="pixels"):
        Renderer(flat, size=(0, 480))
    with Renderer(flat, size=(32, 24)) as bare, pytest.raises(UsageError, match="without a body"):
        bare.frame(camera, poses, joints, np.zeros((5, 3)))


def test_without_opengl_the_packages_are_named(monkeypatch: pytest.MonkeyPatch, flat: SceneSpec) -> None:
    monkeypatch.setattr(opengl.sys, "platform", "linux")
    monkeypatch.setattr(opengl, "EGL", "mujoco.no_such_backend")
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    with pytest.raises(NoOpenGL, match="libegl1 libgl1"):
        Renderer(flat)
