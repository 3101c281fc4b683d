"""Ways for the hand: grips from shapes, arms for many goals at once, ways around what is in the way (ACT-6, ACT-7)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit_runtime.actions.grips import FLAT, Shape, goals
from iwkit_runtime.actions.motion import BlockedError, Reasons, Screen, Trunk, at_stand, rest
from iwkit_runtime.actions.roaming import roam
from iwkit_runtime.actions.search import Effort, Level, contacts
from iwkit_runtime.body.arms import HIGH, LOW, posed, solutions
from iwkit_runtime.body.hands import OPENINGS, Grip, aims, grip_frame, grip_point
from iwkit_runtime.body.model import joint
from iwkit_runtime.body.pose import ARM, BodyPose
from iwkit_runtime.body.posture import UPRIGHT, Posture, stand
from iwkit_runtime.engines.collision import Hit
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import default_body, moved
from iwkit_runtime.physical.world import PhysicalWorld

SIZES = st.tuples(st.floats(0.01, 0.6), st.floats(0.01, 0.6), st.floats(0.005, 0.5))


def box(size: tuple[float, float, float], yaw: float, at: tuple[float, float, float]) -> Floats:
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0, 1)]) * size
    c, s = math.cos(yaw), math.sin(yaw)
    return corners @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + at


@pytest.fixture(scope="module")
def stage(a1: PhysicalWorld) -> Stage:
    return a1.stage


@settings(max_examples=40, deadline=None)
@given(size=SIZES, yaw=st.floats(-3, 3))
def test_a_box_is_taken_in_its_material_by_a_hand_that_is_square(size: tuple[float, float, float], yaw: float) -> None:
    at = (1.0, -2.0, 0.7)
    shape = Shape([box(size, yaw, at)], yaw)
    assert shape.size == pytest.approx(size, abs=1e-9)
    count = 0
    for level in (level for style in goals(shape) for level in style):
        low, high = OPENINGS[level.grip.family]
        assert low <= level.grip.opening <= high
        frames = level.frames
        assert np.abs(np.swapaxes(frames, -1, -2) @ frames - np.eye(3)).max(initial=0) < 1e-9
        assert (np.linalg.det(frames) > 0).all()
        local = level.targets - at
        c, s = math.cos(yaw), math.sin(yaw)
        inside = np.abs(local @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) - (0, 0, size[2] / 2))
        assert (inside <= np.array(size) / 2 + 1e-9).all()
        count += len(level)
    assert count > 0


def test_a_thing_that_does_not_fill_its_box_is_taken_where_it_is() -> None:
    """A ring of four walls round nothing, and a post beside it as high."""
    walls = [box(size, 0, at) for size, at in (
        ((0.4, 0.02, 0.1), (0, 0.2, 0)), ((0.4, 0.02, 0.1), (0, -0.2, 0)), ((0.02, 0.4, 0.1), (0.2, 0, 0)),
        ((0.02, 0.4, 0.1), (-0.2, 0, 0)), ((0.02, 0.02, 0.1), (0.6, 0, 0)),
    )]  # fmt: skip
    hulls = [(wall.min(0), wall.max(0)) for wall in walls]
    targets = np.concatenate([level.targets for style in goals(Shape(walls, 0.0)) for level in style])
    near = [np.linalg.norm(np.maximum(np.maximum(low - targets, targets - high), 0), axis=1) for low, high in hulls]
    assert np.min(near, axis=0).max() < 0.02


def test_what_is_flat_is_pinched_and_what_is_long_across() -> None:
    style, *_ = goals(Shape([box((0.02, 0.3, 0.01), 0.4, (0, 0, 1))], 0.4))
    along = np.array([-math.sin(0.4), math.cos(0.4), 0])
    assert style[0].grip.family == "pinch" and style[0].grip.opening == pytest.approx(0.02, abs=2e-3)
    assert np.abs(style[0].fingers @ along).max() < 0.75
    assert FLAT < 0.05


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_an_arm_that_is_found_among_many_is_exact_and_within_its_limits(seed: int) -> None:
    body, dice = default_body(), np.random.default_rng(seed)
    at = body.placed(stand(body, UPRIGHT), 1.0, 2.0, 0.7)
    shoulder = joint(body.forward(*at), "right_shoulder")[:3, 3]
    grip = Grip("pinch", 0.02)
    turns = np.linalg.qr(dice.normal(size=(60, 3, 3)))[0]
    turns *= np.sign(np.linalg.det(turns))[:, None, None]
    targets = shoulder + dice.normal(0, 0.3, (60, 3))
    palms, fingers = aims(body, "right", grip, turns)
    points = np.broadcast_to(grip_point(body, "right", grip), targets.shape)
    found = solutions(body, at, "right", targets, points, palms, fingers)
    assert ((found.angles >= LOW - 1e-5) & (found.angles <= HIGH + 1e-5)).all()
    for goal, angles, joints in zip(*found, strict=True):
        frames = body.forward(posed(at.pose, "right", angles), at.translation)
        reached = grip_frame(body, frames, "right", grip)
        assert np.abs(reached[:3, 3] - targets[goal]).max() < 1e-4
        assert np.abs(reached[:3, :3] - turns[goal]).max() < 1e-4
        assert joints == pytest.approx(np.array([joint(frames, f"right_{name}")[:3, 3] for name in ARM]), abs=1e-6)


def test_a_search_ends_with_its_work_and_is_repeated_exactly(stage: Stage) -> None:
    x, y, heading = stage.wearer.stand
    thing = box((0.06, 0.06, 0.12), 0, (x + 0.45 * math.cos(heading), y + 0.45 * math.sin(heading), 1.0))
    styles = list(goals(Shape([thing], 0.0)))

    def found(work: float) -> list[tuple[float, ...]]:
        levels = [Level(stage, level, None) for level in styles[0]]
        effort = Effort(work)
        tried = contacts(stage, stage.wearer.stand, levels, False, Screen(), Reasons(), effort, broad=True)
        return [contact.target for contact in tried]

    assert found(2_000) == found(2_000)
    assert len(found(1)) <= len(found(400)) <= len(found(20_000))
    assert found(20_000)


def test_no_part_of_the_work_takes_more_than_its_share() -> None:
    effort = Effort(10)
    with effort.part(4) as part:
        part.spend(3)
    assert effort.left == pytest.approx(7)
    with pytest.raises(BlockedError), effort.part(100) as part:
        assert part.left == pytest.approx(7)
        part.spend(9)
        raise BlockedError("a wall")
    assert effort.spent


class Boarded(Screen):
    """Nothing is in the way but a board above the head of who leans."""

    height = 0.9

    def hit(self, stage: Stage, body: BodyPose, *, arms: bool = True) -> Hit | None:
        above = float(joint(stage.person.body.forward(*body), "head")[2, 3]) > self.height
        return Hit(0, "board", 0.1, (0, 0, 0), (0, 0, 1)) if above else None


class Open(Boarded):
    height = 9.0


@pytest.mark.parametrize(("screen", "rises"), [(Open(), True), (Boarded(), False)])
def test_who_can_not_come_up_from_a_posture_does_not_take_it(stage: Stage, screen: Boarded, rises: bool) -> None:
    low, at = Posture(math.radians(80), 0.4), stage.wearer.stand
    assert screen.hit(stage, at_stand(stage.person.body, at, low)) is None
    stage.wearer = moved(stage.wearer, stand=at._replace(x=at.x + 1e-6 * (1 + rises)))  # where nothing is known yet
    try:
        assert Trunk(stage, screen, Reasons(reached=True)).rises(low) is rises
    finally:
        stage.wearer = moved(stage.wearer, stand=at)


def test_an_arm_roams_to_where_it_waits_without_a_jump(stage: Stage) -> None:
    start = rest(stage)
    end = start.tucked(stage.person.body, "right")
    move = roam(stage, start, end, "right", Screen(), Effort(1e6))
    bodies = [start.body, *move]
    hands = np.array([stage.person.body.forward(*body)[:, :3, 3] for body in bodies])
    assert np.linalg.norm(np.diff(hands, axis=0), axis=-1).max() < 0.35
    assert all(stage.hit(body, brush=0.02) is None for body in move)
    again = roam(stage, start, end, "right", Screen(), Effort(1e6))
    assert [body.pose.tolist() for body in again] == [body.pose.tolist() for body in move]


def test_where_everything_is_in_the_way_no_way_is_found(stage: Stage) -> None:
    before = stage.wearer
    x, y, _ = stage.centre("fridge").tolist()
    stage.wearer = moved(before, stand=Stand(x, y, 0.0))
    try:
        start = rest(stage)
        with pytest.raises(BlockedError) as blocked:
            roam(stage, start, start.tucked(stage.person.body, "right"), "right", Screen(), Effort(1e6))
    finally:
        stage.wearer = before
    assert blocked.value.owner == "fridge"
