"""What is taken out of something is lifted higher before it is drawn back (ACT-8), and arms keep out of the body."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from staging import staged

from iwkit.grammar import parse
from iwkit_runtime.body.pose import INDEX
from iwkit_runtime.physical.stage import ITSELF
from iwkit_runtime.physical.world import PhysicalWorld

PACK: dict[str, Any] = {
    "scene": "flat",
    "wearer": {"at": "counter", "facing": "fridge"},
    "entities": {
        "counter": {"fixture": "counter_1"},
        "fridge": {"fixture": "fridge_1", "open": True},
        "soda": {"category": "soda_can", "inside": "fridge"},
        "juice": {"category": "soda_can", "on": "counter"},
    },
}


@pytest.fixture(scope="module")
def world() -> PhysicalWorld:
    return PhysicalWorld()


def lifted(world: PhysicalWorld, name: str) -> float:
    """How high a thing is when it has been drawn 1 cm back."""
    world.reset(staged(PACK))
    before = world.stage.engine.poses()[name][0]
    assert world.execute(parse(f"[Grab] <{name}>")).ok
    places = [frame.poses[name][0] for frame in world.trajectory.frames if name in frame.poses]
    return next(z - before[2] for x, y, z in places if math.dist((x, y), before[:2]) > 0.01)


def test_what_is_taken_out_is_lifted_higher(world: PhysicalWorld) -> None:
    assert lifted(world, "soda") > 0.03
    assert lifted(world, "juice") > 0.01


def test_an_arm_in_the_body_itself_is_a_hit(world: PhysicalWorld) -> None:
    world.reset(staged(PACK))
    stage = world.stage
    body = stage.idle()
    assert stage.hit(body) is None
    pose = body.pose.copy()
    for joint, angles in (("left_shoulder", (0, -1.3, -0.6)), ("left_elbow", (0, -2.4, 0))):
        pose[3 * INDEX[joint] : 3 * INDEX[joint] + 3] = np.array(angles)
    hit = stage.hit(body._replace(pose=pose))
    assert hit is not None and hit.owner == ITSELF and hit.depth > 0.02
    assert stage.hit(body._replace(pose=pose), arms=False) is None
