"""Walks through clutter: a small sample of what `benchmarks/walks.py` measures, with the bounds that it must keep."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from iwkit.grammar import parse
from iwkit_runtime.actions.motion import SWING
from iwkit_runtime.engines.collision import TOLERANCE
from iwkit_runtime.nav.walk import OFFSET, STEP

SLIP = 0.004
"""Metres that the planted foot moves from frame to frame at most: it rolls over heel and ball."""
ROUNDED = 2e-4


@pytest.fixture(scope="module")
def bench() -> Iterator[ModuleType]:
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        import walks

        yield walks
    finally:
        sys.path.remove(folder)


def test_random_walks_keep_their_bounds(bench: ModuleType) -> None:
    found = bench.walks(("flat",), (4,), 3)
    assert found.frames > 100
    assert sum(found.refused.values()) < found.walks
    assert max(found.limbs) <= SWING + ROUNDED
    assert max(found.head) <= TOLERANCE + ROUNDED, "head and eyes are never in anything"
    assert max(found.slip) <= SLIP
    assert max(found.yaw) <= 10
    assert max(found.step) <= STEP + ROUNDED
    assert max(found.apart) <= np.degrees(OFFSET) + 1


def test_a_thing_in_the_wearers_way_would_be_seen(bench: ModuleType) -> None:
    """The measures bite: a bin where the wearer stands, and a foot that slides."""
    world, _ = bench.strewn("flat", 4)
    stage = world.stage
    body = stage.idle()
    limbs, head = bench.depths(stage, body)
    assert max(limbs, head) <= TOLERANCE
    x, y, _ = stage.wearer.stand
    stage.collision.update({"thing_0": ((x + 0.1, y, 0.002), (1, 0, 0, 0))}, {})
    assert bench.depths(stage, body)[0] > SWING
    there = body._replace(translation=body.translation + np.array([0.02, 0, 0]))
    assert bench.slip(stage, body, there) == pytest.approx(0.02)
    assert world.execute(parse("[Wait] 1")).ok
