"""Out of reach, or in reach with something in the way: the two are told apart (ACT-7)."""

from __future__ import annotations

import json

import pytest
from staging import staged

from iwkit.compile import CompiledTask
from iwkit.grammar import parse
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.world import PhysicalWorld

SCENE = {
    "scene": "flat",
    "wearer": {"at": "table"},
    "entities": {
        "table": {"fixture": "breakfast_table_1"},
        "bin": {"category": "storage_bin", "on": "table"},
        "soda": {"category": "soda_can", "on": "table"},
    },
}
UPRIGHT, OVER = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def made() -> tuple[PhysicalWorld, CompiledTask]:
    return PhysicalWorld(), staged(SCENE)


def refused(made: tuple[PhysicalWorld, CompiledTask], **poses: Pose) -> tuple[str, str]:
    """What comes of taking the can when things are there; a refusal leaves everything as it was."""
    world, task = made
    world.reset(task)
    stage = world.stage
    for name, pose in poses.items():
        stage.engine.hold(name, pose)
        stage.engine.release(name)
    stage.sync()
    before = json.dumps(world.snapshot())
    receipt = world.execute(parse("[Grab] <soda>"))
    assert receipt.ok or json.dumps(world.snapshot()) == before
    return receipt.code, receipt.text


def test_what_is_nowhere_near_a_hand_is_out_of_reach(made: tuple[PhysicalWorld, CompiledTask]) -> None:
    world, task = made
    world.reset(task)
    x, y, _ = world.stage.centre("soda").tolist()
    code, text = refused(made, soda=((x, y, 2.4), UPRIGHT))
    assert code == "OUT_OF_REACH"
    assert "cannot reach" in text


def test_what_is_under_a_bin_is_in_reach_but_the_bin_is_in_the_way(made: tuple[PhysicalWorld, CompiledTask]) -> None:
    world, task = made
    world.reset(task)
    (x, y, z), _ = world.stage.engine.poses()["soda"]
    high = world.stage.placed["bin"].asset.size[2]
    code, text = refused(made, bin=((x, y, z + high + 0.001), OVER))
    assert code == "TRAJECTORY_COLLISION"
    assert "bin is in the way" in text


def test_without_the_bin_it_is_taken(made: tuple[PhysicalWorld, CompiledTask]) -> None:
    assert refused(made)[0] == "OK"
