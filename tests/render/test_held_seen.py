"""What is in the hand is seen to be: from the head both are in the picture and touch; held things ride the wrist."""

from __future__ import annotations

import importlib.util
import math
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from staging import staged

from iwkit.grammar import parse
from iwkit_runtime.body.model import joint
from iwkit_runtime.body.pose import HAND
from iwkit_runtime.loop.frames import picked
from iwkit_runtime.physical.kinematics import Frame, frame
from iwkit_runtime.physical.trajectory import rests
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.render.opengl import NoOpenGL, context
from iwkit_runtime.render.renderer import WEARER, Renderer

SCENE: dict[str, Any] = {
    "scene": "flat",
    "wearer": {"at": "table"},
    "entities": {
        "table": {"fixture": "breakfast_table_1"},
        "counter": {"fixture": "counter_1"},
        "mug": {"category": "mug", "on": "table"},
        "plate": {"category": "plate", "on": "counter"},
        "apple": {"category": "apple", "on": "counter"},
        "juice": {"category": "orange_juice_carton", "on": "table", "label": "PULP 9"},
        "tray": {"category": "tray", "on": "counter"},
        "cup": {"category": "coffee_cup", "on": "tray"},
    },
}


def loaded(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def world() -> Iterator[PhysicalWorld]:
    try:
        context(8, 8).free()
    except NoOpenGL as error:
        pytest.skip(str(error))
    task = staged(SCENE)
    made = PhysicalWorld()
    made.reset(task)
    made.task = task  # type: ignore[attr-defined]
    yield made


def done(world: PhysicalWorld, *commands: str) -> None:
    for command in commands:
        receipt = world.execute(parse(command))
        assert receipt.ok, receipt.text


@pytest.fixture
def fresh(world: PhysicalWorld) -> PhysicalWorld:
    world.reset(world.task)  # type: ignore[attr-defined]
    return world


@pytest.mark.parametrize("name", ["mug", "plate", "apple"])
def test_hand_and_thing_are_in_the_picture_and_touch(fresh: PhysicalWorld, name: str) -> None:
    done(fresh, f"[Grab] <{name}>")
    stage, body = fresh.stage, fresh.trajectory.frames[-1].body
    joints = stage.person.body.forward(*body)
    with Renderer(stage.spec, stage.person.body) as renderer:
        names, ids = renderer.ids(
            stage.person.camera(body), stage.engine.poses(), stage.engine.joints(), stage.person.body.skin(joints)
        )
    thing, wearer = (ids == names.index(who) for who in (name, WEARER))
    assert thing.sum() > 300, "the thing is in the picture"
    assert wearer.sum() > 1000, "and the hand"
    beside = ndimage.binary_dilation(thing, iterations=2) & wearer
    assert beside.sum() > 20, "and they touch"


def test_a_held_thing_rides_the_wrist_and_the_free_hand_is_relaxed(fresh: PhysicalWorld) -> None:
    """Equation 3: from the grip on, the thing's frame in that of the wrist stays as it is, also on the way."""
    done(fresh, "[Grab] <mug>", "[Walk] <counter>")
    stage = fresh.stage
    fixed = []
    for shown in fresh.trajectory.frames:
        if "mug" in shown.poses:
            wrist = joint(stage.person.body.forward(*shown.body), "right_wrist")
            at = Frame(wrist[:3, :3], wrist[:3, 3]).inverse().then(frame(shown.poses["mug"]))
            fixed.append(np.concatenate([at.turn.ravel(), at.at]))
    assert len(fixed) > 10
    assert np.ptp(fixed, axis=0).max() < 1e-6
    left = np.linalg.norm(stage.idle().pose[HAND["left"]].reshape(15, 3), axis=1)
    assert left.max() < math.radians(35)
    assert np.allclose(stage.idle().pose[HAND["right"]], stage.wearer.hold.fingers), "the fingers stay on the thing"


def test_what_is_on_a_carried_tray_follows(fresh: PhysicalWorld) -> None:
    def between() -> Frame:
        poses = fresh.stage.engine.poses()
        return frame(poses["tray"]).inverse().then(frame(poses["cup"]))

    before = between()
    done(fresh, "[Grab] <tray>", "[Walk] <table>")
    after = between()
    assert after.at == pytest.approx(before.at, abs=2e-3)
    assert np.allclose(after.turn, before.turn, atol=0.02)


def test_writing_on_the_far_side_is_turned_to_the_eyes(fresh: PhysicalWorld) -> None:
    if not shutil.which("tesseract"):
        pytest.skip("reading labels needs tesseract: apt-get install tesseract-ocr")
    reading = loaded("reading", Path(__file__).with_name("reading.py"))
    stage = fresh.stage
    poses = stage.engine.poses()
    label = next(one for one in stage.placed["juice"].asset.labels if one.given)
    eye = stage.person.camera(stage.idle())[:3, 3]
    turn = frame(poses["juice"])
    away = turn.point(label.centre) - eye
    bearing = math.atan2(away[1], away[0]) - math.atan2(*(turn.turn @ np.array(label.normal))[1::-1])
    c, s = math.cos(bearing), math.sin(bearing)
    far = Frame(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ turn.turn, turn.at)
    stage.engine.hold("juice", far.pose)
    stage.engine.release("juice")
    stage.sync()
    assert (far.turn @ np.array(label.normal)) @ away > 0, "it looks away from the wearer"
    done(fresh, "[Grab] <juice>", "[LookAt] <juice>")
    frames = fresh.trajectory.frames
    (index,) = (i for i, kind in picked(rests(frames), hold=True) if kind == "look_hold")
    body = frames[index].body
    joints = stage.person.body.forward(*body)
    poses = stage.engine.poses() | {"juice": stage.person.held_pose(joints, stage.wearer.hold)}
    camera = stage.person.camera(body)
    with Renderer(stage.spec, stage.person.body) as renderer:
        shot = renderer.frame(camera, poses, stage.engine.joints(), stage.person.body.skin(joints))
    read = set()
    for one in (one for one in stage.placed["juice"].asset.labels if one.given):
        place = frame(poses["juice"])
        if (place.turn @ np.array(one.normal)) @ (camera[:3, 3] - place.point(one.centre)) > 0.1:
            lines = reading.columns(place, one, camera, (640, 480), curved=False)
            read |= {*reading.words(reading.ocr(reading.straightened(Image.fromarray(shot), lines, one)))}
    assert {"PULP", "9"} <= read
