"""After settling an overlap check runs: at reset, and again when something is put down (PHY-6, PHY-8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwkit.compile import load_task
from iwkit.errors import UsageError
from iwkit.grammar import parse
from iwkit.resources import root
from iwkit_runtime.engines.base import Settled
from iwkit_runtime.engines.mujoco_engine import MujocoEngine
from iwkit_runtime.physical.world import SUNK, PhysicalWorld


@pytest.mark.parametrize(("apart", "code"), [(0.0, "POSTCONDITION_FAILED"), (0.3, "OK")])
def test_what_comes_to_rest_in_something_else_is_told(apart: float, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = PhysicalWorld()
    world.reset(load_task(Path(root("taskpacks")) / "accessibility" / "A1.yaml"))
    assert world.execute(parse("[Grab] <juice>")).ok
    engine = world.stage.engine
    settle = engine.settle

    def beside(max_seconds: float = 3.0) -> Settled:
        settled = settle(max_seconds)
        (x, y, z), turn = engine.poses()["juice"]
        engine.hold("soda", ((x + apart, y, z), turn))
        engine.release("soda")
        return settled

    monkeypatch.setattr(engine, "settle", beside)
    receipt = world.execute(parse("[Put] <juice> <breakfast_table>"))
    assert (receipt.code, receipt.fault) == (code, None if code == "OK" else "world")
    assert receipt.frames > 0
    assert any(happening.kind == "released" for happening in receipt.happenings)
    assert (world.stage.collision.overlap("juice", "soda") > SUNK) == (code != "OK")


class Jammed(MujocoEngine):
    """As MuJoCo, but the soda comes to rest where the juice is."""

    def settle(self, max_seconds: float = 3.0) -> Settled:
        settled = super().settle(max_seconds)
        self.hold("soda", self.poses()["juice"])
        self.release("soda")
        return settled


def test_a_scene_in_which_things_rest_in_each_other_is_refused() -> None:
    world = PhysicalWorld(engine=Jammed)
    with pytest.raises(UsageError, match=r"juice comes to rest 0\.\d+ m deep in soda"):
        world.reset(load_task(Path(root("taskpacks")) / "accessibility" / "A1.yaml"))
    with pytest.raises(UsageError, match="call reset first"):
        world.relations()
