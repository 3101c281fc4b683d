"""How what is taken is carried: ways to tilt it, the nearest to the body first; a hand is fitted once (ACT-9)."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from iwkit_runtime.actions import carrying, wrapping
from iwkit_runtime.actions.motion import rest
from iwkit_runtime.body.hands import Grip
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.wearer import Hold, moved
from iwkit_runtime.physical.world import PhysicalWorld

GRIP = Grip("round", 0.07)
OFFSET = ((0.05, -0.02, 0.3), (1.0, 0.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def stage(a1: PhysicalWorld) -> Stage:
    return a1.stage


def a_thing(stage: Stage) -> str:
    return next(name for name, placed in stage.placed.items() if placed.kind == "object")


def test_ways_to_tilt_a_thing_come_the_nearest_to_the_body_first(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying, "BULKY", 0.0)
    name = a_thing(stage)
    ways = list(islice(carrying._tilted(stage, GRIP, np.eye(3), name, OFFSET), 60))
    assert len(ways) == 60
    assert all(one <= other for (one, _), (other, _) in pairwise(ways))
    assert ways[0][0] < ways[-1][0]
    for far, pose in ways[::20]:
        hold = Hold(name, GRIP, OFFSET, tuple(pose.tolist()))
        upright = stage.person.upright(moved(stage.wearer, hold=hold))
        assert carrying._extent(stage, upright, hold) == pytest.approx(far, abs=1e-5)


def test_a_hand_is_fitted_once_wherever_the_wearer_stands(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    name, asked = a_thing(stage), []

    def curled(*given: object) -> object:
        asked.append(given)
        return object()

    monkeypatch.setattr(wrapping, "curled", curled)
    key = rest(stage)
    first = wrapping.closed_on(stage, name, GRIP, key)
    assert wrapping.closed_on(stage, name, GRIP, key) is first
    away = key.body._replace(translation=key.body.translation + 0.01)
    assert wrapping.closed_on(stage, name, GRIP, type(key)(key.posture, away)) is not first
    assert len(asked) == 2
