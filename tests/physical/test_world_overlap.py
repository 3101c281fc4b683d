"""After settling an overlap check runs again: what has come to rest in something else is not put down (PHY-8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from iwkit.compile import load_task
from iwkit.grammar import parse
from iwkit.resources import root
from iwkit_runtime.engines.base import Settled
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
