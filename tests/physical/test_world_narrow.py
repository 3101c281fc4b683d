"""Where it is narrow: eyes, load and hands keep out of things, and arms are drawn in (PHY-7 to PHY-10)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iwkit import resources
from iwkit.compile import load_task
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit_runtime.actions.motion import BRUSH, SWING
from iwkit_runtime.actions.passing import Step, Stuck, drawn, passing
from iwkit_runtime.body import gait
from iwkit_runtime.body.capsules import EYE_RADIUS
from iwkit_runtime.body.pose import BodyPose
from iwkit_runtime.engines.collision import Allowed, Hit
from iwkit_runtime.physical.stage import GRASP, HEAD_CAPSULE, Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import moved
from iwkit_runtime.physical.world import PhysicalWorld


@pytest.fixture
def stage(a1: PhysicalWorld) -> Stage:
    return a1.stage


def straight(stage: Stage, heading: float, aside: float, count: int = 12) -> list[Step]:
    """A walk ahead in a row beside where the wearer stands."""
    x, y, _ = stage.wearer.stand
    x, y = x + aside * math.cos(heading + math.pi / 2), y + aside * math.sin(heading + math.pi / 2)
    rows = np.array(
        [(x + 0.04 * n * math.cos(heading), y + 0.04 * n * math.sin(heading), heading) for n in range(count)]
    )
    return [
        Step(Stand(*row), body) for row, body in zip(rows.tolist(), gait.walk(stage.person.body, rows), strict=True)
    ]


def deepest(stage: Stage, body: BodyPose) -> float:
    hits = stage.collision.hits(stage.person.shape(body).capsules, ignore=stage.floors)
    return max((hit.depth for hit in hits), default=0.0)


def beside_something(stage: Stage) -> list[Step]:
    """A walk so close to something that the hanging arm runs into it and the trunk doesn't."""
    for heading in np.arange(0, math.tau, math.pi / 2).tolist():
        for aside in np.arange(0.0, 3.0, 0.04).tolist():
            steps = straight(stage, heading, aside)
            if any(stage.hit(step.body, brush=BRUSH) is not None for step in steps):
                if not isinstance(passing(stage, steps), Stuck):
                    return steps
                break
    raise AssertionError("there is nothing to walk beside: take another scene")


def test_arms_are_drawn_in_beside_something_and_let_down_after_it(stage: Stage) -> None:
    steps = beside_something(stage)
    assert max(deepest(stage, step.body) for step in steps) > BRUSH
    passed = passing(stage, steps)
    assert not isinstance(passed, Stuck)
    assert max(deepest(stage, step.body) for step in passed) <= SWING
    path = [step.at for step in passed]
    assert [at for n, at in enumerate(path) if n == 0 or at != path[n - 1]] == [step.at for step in steps]


def test_a_walk_with_room_is_left_as_it_is(stage: Stage) -> None:
    x, y, heading = stage.wearer.stand
    steps = [Step(Stand(x, y, heading), stage.idle())] * 3
    assert passing(stage, steps) == steps


def test_a_walk_into_a_wall_is_stuck_at_it(stage: Stage) -> None:
    steps = straight(stage, stage.wearer.stand.heading, 0.0, 200)
    passed = passing(stage, steps)
    assert isinstance(passed, Stuck)
    assert passed.owner not in stage.floors


def eye_at(stage: Stage, depth: float) -> BodyPose:
    """The wearer with the ball around its eyes so deep in what is before them."""
    heading = stage.wearer.stand.heading
    body = stage.idle()
    eye = stage.person.camera(body)[:3, 3]
    ahead = eye + np.array([math.cos(heading), math.sin(heading), 0.0])
    _, along = stage.collision.rays(eye, ahead[None])
    far = float(along[0]) - EYE_RADIUS + depth
    return body._replace(translation=body.translation + far * (ahead - eye))


@pytest.mark.parametrize(("depth", "blocked"), [(0.004, True), (-0.01, False)])
def test_no_brushing_for_the_eyes(stage: Stage, depth: float, blocked: bool) -> None:
    """However much limbs may brush."""
    hit = stage.hit(eye_at(stage, depth), brush=1.0)
    assert (hit is not None and isinstance(hit.by, int) and hit.by >= HEAD_CAPSULE) == blocked


@pytest.mark.parametrize(
    ("part", "depth", "away", "meant"),
    [
        ("right_hand", GRASP, 0.1, True),
        ("right_hand", GRASP + 0.001, 0.1, False),
        ("right_hand", 0.01, 0.3, False),
        ("right_lower_arm", 0.01, 0.1, False),
        ("right_upper_arm", 0.01, 0.1, False),
        (None, 0.01, 0.1, False),
    ],
)
def test_only_a_hand_may_touch_what_it_takes(
    stage: Stage, part: str | None, depth: float, away: float, meant: bool
) -> None:
    """Half a hand deep at most and near the contact; neither arm nor load."""
    by: int | str = "juice" if part is None else stage.person.rig.names.index(part)
    hit = Hit(by, "fridge", depth, (1.0 + away, 2.0, 1.0), (0.0, 0.0, 1.0))
    assert stage._meant(hit, Allowed("fridge", (1.0, 2.0, 1.0))) == meant


def test_what_is_held_comes_closer_where_it_is_narrow() -> None:
    world = PhysicalWorld()
    (path,) = resources.root("taskpacks").rglob("P8.yaml")
    world.reset(load_task(path, Library()))
    for text in ("[Walk] <left_nightstand>", "[Grab] <folder>"):
        receipt = world.execute(parse(text))
    if not receipt.ok:
        pytest.fail(receipt.text)
    stage = world.stage
    hold = stage.wearer.hold
    assert hold is not None

    def extent(body: BodyPose) -> float:
        held = stage.person.held_pose(stage.person.body.forward(*body), hold)
        return math.dist(held[0][:2], stage.wearer.stand[:2])

    upright = stage.person.upright(moved(stage.wearer, gaze=None))
    assert extent(drawn(stage, upright, hold)) < extent(upright)
