"""Turning the gaze: where the trunk goes along with the head, limbs don't get into anything (PHY-10)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iwkit_runtime.physical.stage import ASIDE, GIVE, TRUNK, Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import moved
from iwkit_runtime.physical.world import PhysicalWorld

FAR_ASIDE = math.radians(100)


@pytest.fixture(scope="module")
def stage(a1: PhysicalWorld) -> Stage:
    return a1.stage


def hits(stage: Stage) -> bool:
    return stage.hit(stage.idle(), None, brush=GIVE) is not None


def beside(stage: Stage, way: float) -> Stand:
    """The last place on a line across the room where the wearer, who faces along the wall, still stands free."""
    x, y, heading = stage.wearer.stand
    for n in range(400):
        stand = Stand(x + 0.01 * n * math.cos(way), y + 0.01 * n * math.sin(way), heading)
        stage.wearer = moved(stage.wearer, stand=stand, gaze=None)
        if hits(stage):
            break
        last = stand
    return last


def ahead(stage: Stage, aside: float) -> tuple[float, float, float]:
    x, y, heading = stage.wearer.stand
    return x + 2 * math.cos(heading + aside), y + 2 * math.sin(heading + aside), 1.2


@pytest.mark.parametrize("way", [math.radians(angle) for angle in range(0, 360, 45)])
def test_who_looks_far_aside_close_to_something_stays_out_of_it(stage: Stage, way: float) -> None:
    start = stage.wearer
    stage.wearer = moved(start, stand=beside(stage, way), gaze=None)
    for aside in (FAR_ASIDE, -FAR_ASIDE):
        stage.glance(ahead(stage, aside))
        assert not hits(stage)
        stage.glance(None)
        assert not hits(stage)
    stage.wearer = start


def test_the_head_turns_as_far_as_it_goes_where_the_trunk_can_not(stage: Stage) -> None:
    """Somewhere around there is no room for an arm that goes along: the gaze then goes aside all the same."""
    start, kept = stage.wearer, 0
    for way in np.radians(np.arange(0, 360, 45)).tolist():
        stage.wearer = moved(start, stand=beside(stage, way), gaze=None)
        upright = stage.idle().pose[TRUNK]
        for aside in (FAR_ASIDE, -FAR_ASIDE):
            stage.glance(ahead(stage, aside))
            gaze, (x, y, heading) = stage.wearer.gaze, stage.wearer.stand
            if gaze is not None and np.allclose(stage.idle().pose[TRUNK], upright, atol=1e-6):
                turned = math.remainder(math.atan2(gaze[1] - y, gaze[0] - x) - heading, math.tau)
                assert math.copysign(1, turned) == math.copysign(1, aside)
                assert abs(abs(turned) - ASIDE) < math.radians(5)
                kept += 1
            stage.glance(None)
        stage.wearer = start
    assert kept
