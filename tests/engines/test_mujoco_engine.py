"""What only the embedded engine promises: the same bytes in every process, and rest for every object there is."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from iwkit.catalogue import load_catalogue
from iwkit.recipes import load_recipes
from iwkit_runtime.assets import build_asset
from iwkit_runtime.engines import mujoco_model
from iwkit_runtime.engines.base import EngineError
from iwkit_runtime.engines.mujoco_engine import MujocoEngine
from iwkit_runtime.physical.kinematics import about, frame, quaternion
from iwkit_runtime.physical.scene_spec import Placed, SceneSpec, Static
from iwkit_runtime.physical.shell import box_piece
from iwkit_runtime.physical.spec import Asset, Link, Piece

RUN = """
import hashlib, json
from iwkit.compile import load_task
from iwkit.library import Library
from iwkit.resources import root
from iwkit.recipes import load_recipes
from iwkit_runtime.engines.mujoco_engine import MujocoEngine
from iwkit_runtime.physical.layout import Assets, build_scene

library = Library()
task = load_task(root("taskpacks") / "prevention" / "W7.yaml", library)
engine = MujocoEngine()
engine.load(build_scene(task, Assets(library.catalogue, load_recipes())))
frames = [*engine.settle().frames]
engine.set_joint("fridge", "door", 1.3)
engine.hold("milk", ((2.5, 7.7, 1.3), (0.8, 0.6, 0.0, 0.0)))
engine.release("milk")
frames += engine.settle().frames
print(hashlib.sha256(json.dumps([frames, engine.snapshot().as_json(), engine.contacts()]).encode()).hexdigest())
"""


def test_two_processes_give_the_same_bytes() -> None:
    def run(seed: str) -> str:
        path = os.pathsep.join(p for p in sys.path if p)
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    first = run("1")
    assert len(first) == 64
    assert run("2") == first


def catalogue_on_the_floor(height: float) -> SceneSpec:
    """One of each kind of object, a metre apart."""
    catalogue, recipes = load_catalogue(), load_recipes()
    objects = [(name, c) for name, c in catalogue.categories.items() if c.kind == "object"]
    placed = [
        Placed(name, "object", build_asset(name, c, recipes.get(name)), (i % 12 * 1.0, i // 12 * 1.0, height), 0.3)
        for i, (name, c) in enumerate(objects)
    ]
    floor = Static("floor", "floor", (), (box_piece((-2, -2, -0.02), (14, 22, 0)),))
    return SceneSpec((floor,), tuple(placed))


@pytest.mark.parametrize(("turn", "height"), [(0.0, 0.004), (1.3, 0.3)], ids=["upright", "tilted"])
def test_every_object_of_the_catalogue_comes_to_rest_on_a_thin_floor(turn: float, height: float) -> None:
    spec = catalogue_on_the_floor(height)
    engine = MujocoEngine()
    engine.load(spec)
    tilted = about((1, 0.3, 0), turn)
    for name, (position, _) in engine.poses().items():
        engine.hold(name, (position, quaternion(tilted)))
        engine.release(name)
    settled = engine.settle(6.0)
    assert settled.settled
    for placed in spec.placed:
        where = frame(engine.poses()[placed.name])
        x, y, _ = where.at
        corners = [where.point(piece.vertices) for link in placed.asset.links for piece in link.pieces]
        assert np.concatenate(corners)[:, 2].min() > -0.002, placed.name
        assert math.hypot(x - placed.position[0], y - placed.position[1]) < 0.8, placed.name


def test_a_scene_of_the_same_things_elsewhere_shares_the_model(room: SceneSpec) -> None:
    moved = tuple(replace(placed, position=(1.0, 2.0, 3.0), yaw=0.7) for placed in room.placed)
    assert mujoco_model.build(SceneSpec(room.statics, moved)) is mujoco_model.build(room)


def test_another_mass_or_shape_makes_another_model(room: SceneSpec) -> None:
    heavy = replace(room.placed[3], asset=replace(room.placed[3].asset, mass=5.0))
    for other in ((*room.placed[:3], heavy, *room.placed[4:]), room.placed[:-1]):
        assert mujoco_model.build(SceneSpec(room.statics, other)) is not mujoco_model.build(room)


FLAT = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)


@pytest.mark.parametrize("pieces", [(), (Piece(FLAT),)], ids=["no piece", "no volume"])
def test_an_object_that_would_fall_through_everything_is_refused(pieces: tuple[Piece, ...]) -> None:
    ghost = Asset("ghost", (1, 1, 0.1), 1.0, (Link("body", None, (), pieces),))
    with pytest.raises(EngineError, match="ghost: an object needs a solid piece"):
        MujocoEngine().load(SceneSpec((), (Placed("ghost", "object", ghost, (0, 0, 0), 0.0),)))


def test_a_shape_that_mujoco_cannot_use_is_an_error_of_the_engine(room: SceneSpec) -> None:
    bent = Asset("bent", (1, 1, 1), 1.0, (Link("body", None, (), (Piece(FLAT + FLAT[:, [1, 2, 0]]),)),))
    with pytest.raises(EngineError, match="can't be simulated"):
        MujocoEngine().load(SceneSpec(room.statics, (Placed("bent", "fixture", bent, (0, 0, 0), 0.0),)))
