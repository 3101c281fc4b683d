"""A walk is planned again around where the walking body runs into something, a bounded number of times (ACT-5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

from iwkit_runtime.actions import walking
from iwkit_runtime.actions.operate import open_grid
from iwkit_runtime.actions.passing import Step, Stuck
from iwkit_runtime.nav.route import Failure
from iwkit_runtime.nav.stance import stances
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.world import PhysicalWorld

DISK = 0.20
FAR = 1.5
Walked = Callable[[Stage, Floats], list[Step] | Stuck]


@pytest.fixture
def stage(a1: PhysicalWorld) -> Stage:
    return a1.stage


@pytest.fixture
def end(stage: Stage) -> Stand:
    """Somewhere the wearer can stand, a good way off."""
    grid, here = open_grid(stage), stage.wearer.stand[:2]
    around = (s for place in stage.placed for s in stances(grid, tuple(stage.centre(place)[:2].tolist()), here))
    return next(Stand(*s[:3]) for s in around if s.length > FAR and walking.clear(stage, Stand(*s[:3])))


def colliding(monkeypatch: pytest.MonkeyPatch, times: int) -> list[Floats]:
    """The first so many walks run into something half-way; all that are tried."""
    tried: list[Floats] = []
    walked: Walked = walking.walked
    left = count(1)

    def stuck(stage: Stage, rows: Floats) -> list[Step] | Stuck:
        tried.append(rows)
        return Stuck(Stand(*rows[len(rows) // 2].tolist()), "chair") if next(left) <= times else walked(stage, rows)

    monkeypatch.setattr(walking, "walked", stuck)
    return tried


def test_the_next_way_leads_around_it(stage: Stage, end: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = colliding(monkeypatch, times=1)
    steps = walking.way_to(stage, open_grid(stage), end)
    assert isinstance(steps, list)
    assert [*steps[-1].at] == pytest.approx([*end])
    first, second, *_ = tried
    middle = first[len(first) // 2, :2]
    assert np.hypot(*(second[:, :2] - middle).T).min() > DISK - 0.05
    assert math.dist(middle, end[:2]) > 2 * DISK


def test_after_some_repairs_the_first_obstacle_is_told(
    stage: Stage, end: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = colliding(monkeypatch, times=100)
    failure = walking.way_to(stage, open_grid(stage), end)
    assert isinstance(failure, Failure)
    assert (failure.code, failure.blocker) == ("TRAJECTORY_COLLISION", "chair")
    assert failure.at == pytest.approx(tuple(tried[0][len(tried[0]) // 2, :2]))
    assert 1 < len(tried) <= walking.REPAIRS + 1
