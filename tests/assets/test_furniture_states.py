"""What shows on a thing that runs or is open: drawn where it should be, in pictures and ids, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.ndimage import binary_dilation

from iwkit.catalogue import load_catalogue
from iwkit.recipes import load_recipes
from iwkit.spec.recipe import Part
from iwkit_runtime.assets import build_asset, mesh
from iwkit_runtime.physical.kinematics import frame, link_frames
from iwkit_runtime.physical.scene_spec import Placed, SceneSpec, Static
from iwkit_runtime.physical.spec import Asset, Material, Visual
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer, look_from

CATEGORIES, RECIPES = load_catalogue().categories, load_recipes()
DEVICES = [name for name, category in CATEGORIES.items() if "device" in category.affords]
LIT = ["fridge", "freezer"]
"""What has a light inside that goes on when it is opened."""
HERE = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
SIZE = (240, 240)


@cache
def built(name: str) -> Asset:
    return build_asset(name, CATEGORIES[name], RECIPES[name])


def at_times(asset: Asset) -> list[tuple[str, Visual]]:
    return [(link.name, visual) for link in asset.links for visual in link.visuals if visual.when]


def without(asset: Asset) -> Asset:
    """The asset with nothing that is seen only at times."""
    links = (replace(k, visuals=tuple(v for v in k.visuals if v.when is None)) for k in asset.links)
    return replace(asset, links=tuple(links))


def values(asset: Asset, share: float) -> dict[str, float]:
    return {k.name: k.joint.low + share * (k.joint.high - k.joint.low) for k in asset.links if k.joint}


class Picture:
    """A thing before a plain floor, seen so that a point of it is in the middle."""

    def __init__(self, renderer: Renderer, camera: np.ndarray, joints: dict[str, float]) -> None:
        self._renderer, self.camera = renderer, camera
        self._joints = {("thing", link): value for link, value in joints.items()}

    def pixels(self, *states: str) -> np.ndarray:
        return self._renderer.frame(self.camera, {"thing": HERE}, self._joints, states={"thing": states}).astype(int)

    def ids(self, *states: str) -> np.ndarray:
        return self._renderer.ids(self.camera, {"thing": HERE}, self._joints, states={"thing": states})[1]


@contextmanager
def seen(asset: Asset, look_at: np.ndarray, away: float, joints: dict[str, float]) -> Iterator[Picture]:
    ground = mesh.box((-9, -9, -0.1), (9, 9, -0.0005))
    floor = Static(
        "floor", "floor", (Visual(ground.vertices, ground.faces, None, Material("g", (0.6, 0.6, 0.6, 1))),), ()
    )
    placed = Placed("thing", "fixture", asset, HERE[0], 0.0, joints)
    camera = look_from(look_at + np.array([0.25, -1.0, 0.6]) * away, look_at)
    try:
        renderer = Renderer(SceneSpec((floor,), (placed,)), size=SIZE, fov=60)
    except NoOpenGL as error:
        pytest.skip(str(error))
    with renderer:
        yield Picture(renderer, camera, joints)


def silhouette(asset: Asset, picture: Picture, joints: dict[str, float]) -> np.ndarray:
    """Where parts that are seen at times may be in the picture: the boxes around their triangles, a little larger."""
    frames = link_frames(asset, frame(HERE), joints)
    mask = np.zeros(SIZE[::-1], bool)
    scale = SIZE[1] / 2 / np.tan(np.radians(30))
    for link, visual in at_times(asset):
        points = (frames[link].point(visual.vertices) - picture.camera[:3, 3]) @ picture.camera[:3, :3]
        flat = np.array(SIZE) / 2 + points[:, :2] / -points[:, 2:] * scale * [1, -1]
        for triangle in flat[visual.faces]:
            (x0, y0), (x1, y1) = np.floor(triangle.min(0)).astype(int), np.ceil(triangle.max(0)).astype(int)
            mask[max(y0, 0) : max(y1 + 1, 0), max(x0, 0) : max(x1 + 1, 0)] = True
    return binary_dilation(mask, iterations=2)


@pytest.mark.parametrize("name", DEVICES)
def test_a_device_that_runs_looks_different_there_and_nowhere_else(name: str) -> None:
    asset = built(name)
    shown = [v.vertices for _, v in at_times(asset) if v.when == "running"]
    assert shown, f"nothing shows that a {name} runs"
    joints = values(asset, 1.0 if name == "laptop" else 0.0)
    frames = link_frames(asset, frame(HERE), joints)
    points = np.concatenate([frames[link].point(v.vertices) for link, v in at_times(asset)])
    middle = (points.min(0) + points.max(0)) / 2
    away = max(0.12, 1.1 * float(np.linalg.norm(np.ptp(points, axis=0))))
    with seen(asset, middle, away, joints) as picture:
        off, on = picture.pixels(), picture.pixels("running")
        changed = np.abs(on - off).max(2) > 24
        assert changed.mean() > 0.0015
        assert not (changed & ~silhouette(asset, picture, joints)).any()
        assert np.array_equal(off, picture.pixels("cut"))
        # what is added to the thing belongs to it in the ids: no pixel goes to anything else
        before, after = picture.ids(), picture.ids("running")
        assert (after[before == 2] == 2).all() and (after == 2).sum() >= (before == 2).sum()


@pytest.mark.parametrize("name", LIT)
def test_the_light_inside_goes_on_with_the_door(name: str) -> None:
    asset = built(name)
    for share, lit in ((0.0, False), (0.03, False), (0.5, True), (1.0, True)):
        joints = values(asset, share)
        pictures = []
        for one in (asset, without(asset)):
            with seen(one, np.array([0.0, 0.0, asset.size[2] * 0.6]), 1.4, joints) as picture:
                pictures.append(picture.pixels())
                inside = silhouette(asset, picture, joints)
        changed = np.abs(pictures[0] - pictures[1]).max(2) > 12
        assert changed.any() == lit, share
        assert not (changed & ~inside).any()


def test_what_is_there_at_times_is_never_touched() -> None:
    for name in (*DEVICES, *LIT):
        asset, recipe = built(name), RECIPES[name]
        always = replace(asset, links=without(asset).links)
        assert at_times(asset)
        assert [len(k.pieces) for k in asset.links] == [len(k.pieces) for k in always.links]
        solid = sum(part.solid and part.when is None for part in recipe.parts)
        if recipe.kind == "parts":
            assert sum(len(k.pieces) for k in asset.links) >= solid


def test_both_looks_of_a_state_can_be_given() -> None:
    """`not running` is drawn exactly while `running` isn't."""
    on, off = (
        Part(box=(-0.2, -0.2, 0, 0.2, 0.2, 0.4), material=colour, when=when)
        for colour, when in (("metal", "running"), ("ink", "not running"))
    )
    recipe = RECIPES["pedestal"].model_copy(update={"parts": (*RECIPES["pedestal"].parts, on, off)})
    asset = build_asset("pedestal", CATEGORIES["pedestal"], recipe)
    whens = {visual.when for _, visual in at_times(asset)}
    assert whens == {"running", "not running", "wet", "dirty"}, "and what lies on any furniture that is wiped"
    light = replace(
        asset, links=tuple(replace(k, visuals=tuple(v for _, v in at_times(asset))) for k in asset.links[:1])
    )
    with seen(light, np.array([0, 0, 0.2]), 1.0, {}) as picture:
        middle = (SIZE[1] // 2, SIZE[0] // 2)
        assert picture.pixels("running")[middle].mean() > 90 > picture.pixels()[middle].mean()
