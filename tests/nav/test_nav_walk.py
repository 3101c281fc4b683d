"""Trajectories keep the paper's limits; poses that fail their check are walked around, or named."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.errors import UsageError
from iwkit_runtime.nav.geometry import wrap
from iwkit_runtime.nav.grid import Obstacle, build_grid
from iwkit_runtime.nav.route import Failure
from iwkit_runtime.nav.walk import Pose, Trajectory, trajectory, walk

coordinate = st.floats(-4, 4).map(lambda x: round(x, 3))
points = st.tuples(coordinate, coordinate)
headings = st.floats(-math.pi, math.pi)
TEN, THIRTY_FIVE = math.radians(10), math.radians(35)


def block(x0, y0, x1, y1):
    return np.array(list(itertools.product((x0, x1), (y0, y1), (0.0, 2.0))))


def check_limits(walked: Trajectory) -> None:
    steps = np.diff(walked.poses[:, :2], axis=0)
    far = np.hypot(*steps.T)
    turns = np.array([wrap(t) for t in np.diff(walked.poses[:, 2])])
    assert (far <= 1.1 / 12 + 1e-9).all() and (np.abs(turns) <= TEN).all()
    for i in np.flatnonzero(far > 1e-6):
        travel = math.atan2(steps[i, 1], steps[i, 0])
        for heading in walked.poses[i : i + 2, 2]:
            assert abs(wrap(heading - travel)) <= THIRTY_FIVE + 1e-6
    assert walked.distance[0] == 0 and np.allclose(np.diff(walked.distance), far)


@settings(max_examples=100, deadline=None)
@given(st.lists(points, min_size=1, max_size=6), headings, st.none() | headings)
def test_limits_hold_on_any_polyline(way, heading, final):
    walked = trajectory(way, heading, final)
    check_limits(walked)
    assert walked.poses[0, :2].tolist() == list(way[0]) and wrap(walked.poses[0, 2] - heading) == pytest.approx(0)
    assert walked.poses[-1, :2] == pytest.approx(way[-1], abs=1e-9)
    if final is not None:
        assert wrap(walked.poses[-1, 2] - final) == pytest.approx(0, abs=1e-6)
    # No one dawdles: at worst every corner and both ends cost half a turn on the spot.
    length = sum(math.dist(a, b) for a, b in itertools.pairwise(way))
    assert len(walked.poses) <= length / (1.1 / 12) + 20 * (len(way) + 1) + 8


@settings(max_examples=60, deadline=None)
@given(st.lists(points, min_size=2, max_size=5), headings)
def test_every_place_lies_on_the_way(way, heading):
    for x, y, _ in trajectory(way, heading).poses:
        off = []
        for (x0, y0), (x1, y1) in itertools.pairwise(way):
            squared = (x1 - x0) ** 2 + (y1 - y0) ** 2
            t = 0 if squared == 0 else max(0, min(1, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / squared))
            off.append(math.dist((x, y), (x0 + t * (x1 - x0), y0 + t * (y1 - y0))))
        assert min(off) < 1e-9


def test_a_straight_walk_takes_no_longer_than_it_should():
    walked = trajectory([(0, 0), (2.3, 0)], 0, 0)
    # 2.2 m at 1.1 m/s are 24 frames, the last 0.10 m five more.
    assert len(walked.poses) == 1 + 24 + 5
    assert walked.distance[-1] == pytest.approx(2.3)
    assert (walked.poses[:, 2] == 0).all()


def test_the_heading_goes_over_to_the_final_one_during_the_last_metres():
    walked = trajectory([(0, 0), (4, 0)], 0, math.radians(30))
    x, heading = walked.poses[:, 0], np.degrees(walked.poses[:, 2])
    assert (heading[x < 4 - 0.10 - 1.5 - 0.1] == 0).all()
    during = heading[(x > 2.6) & (x < 3.8)]
    assert (np.diff(during) > 0).all() and 10 < during.mean() < 25
    assert (np.diff(walked.poses[:, :2], axis=0)[:, 0] > 0).all()  # no stop


def test_the_wearer_turns_on_the_spot_before_walking_back():
    walked = trajectory([(0, 0), (2, 0)], math.pi, 0)
    moved = np.flatnonzero(walked.distance > 0)[0]
    assert 14 <= moved <= 19 and (walked.poses[:moved, :2] == 0).all()


def test_a_corner_is_anticipated():
    walked = trajectory([(0, 0), (3, 0), (3, 3)], 0)
    before = walked.poses[(walked.poses[:, 0] > 2.5) & (walked.poses[:, 0] < 3), 2]
    assert (before > 0.1).all() and before.max() <= math.radians(30) + 1e-9


@settings(max_examples=40, deadline=None)
@given(st.floats(0.6, 3.4), st.floats(0.6, 3.4), headings, headings)
def test_the_last_frames_are_an_approach_straight_ahead(x, y, heading, final):
    grid = build_grid([(0, 0, 4, 4)], [])
    start = Pose(2.0 if abs(x - 2) + abs(y - 2) > 0.5 else 1.0, 2.0, heading)
    walked = walk(grid, start, Pose(x, y, final))
    check_limits(walked)
    last = walked.poses[-6:]
    assert math.dist(last[0, :2], (x, y)) == pytest.approx(0.10)
    assert np.hypot(*np.diff(last[:, :2], axis=0).T) == pytest.approx([0.02] * 5)
    assert [wrap(h - final) for h in last[:, 2]] == pytest.approx([0] * 6, abs=1e-6)
    assert walked.poses[-1, :2] == pytest.approx((x, y))


def test_who_is_there_already_only_turns():
    grid = build_grid([(0, 0, 4, 4)], [])
    walked = walk(grid, Pose(2, 2, 0), Pose(2, 2, math.pi / 2))
    assert walked.distance[-1] == 0 and walked.poses[-1].tolist() == pytest.approx([2, 2, math.pi / 2])
    assert len(walk(grid, Pose(2, 2, 1), Pose(2, 2, 1)).poses) == 1


def test_a_pose_that_fails_is_walked_around():
    grid = build_grid([(0, 0, 4, 3)], [])
    start, goal, beam = Pose(0.5, 1.5, 0), Pose(3.5, 1.5, 0), (2.0, 1.5)
    asked = []

    def clear(x, y, heading):
        asked.append((x, y))
        return math.dist((x, y), beam) > 0.15

    straight = walk(grid, start, goal)
    assert min(math.dist(p, beam) for p in straight.poses[:, :2]) < 0.1
    walked = walk(grid, start, goal, clear)
    assert isinstance(walked, Trajectory) and asked
    assert all(clear(*row) for row in walked.poses)
    check_limits(walked)


@pytest.mark.parametrize(("x", "heading"), [(0.75, 0), (3.38, math.pi)])
def test_a_place_close_to_the_start_or_goal_is_walked_around_too(x, heading):
    grid = build_grid([(0, 0, 4, 3)], [])
    walked = walk(grid, Pose(0.55, 1.55, 0), Pose(3.45, 1.55, heading), lambda *at: math.dist(at[:2], (x, 1.55)) > 0.06)
    assert isinstance(walked, Trajectory)
    check_limits(walked)


def test_repairs_are_bounded_and_the_failure_says_where():
    grid = build_grid([(0, 0, 9, 9)], [Obstacle("shelf", "furniture", block(4.4, 6, 4.6, 9))])
    plans = []

    def clear(x, y, heading):
        if x == 0.5:
            plans.append((x, y))
        return not 4 <= x <= 4.3

    failure = walk(grid, Pose(0.5, 4.5, 0), Pose(8.5, 4.5, 0), clear)
    assert isinstance(failure, Failure) and failure.code == "TRAJECTORY_COLLISION"
    assert 4 <= failure.at[0] < 4.1 and failure.heading is not None and failure.blocker == "shelf"
    assert len(plans) == 1 + 9  # the start by itself, the first plan, eight repairs


def test_a_narrow_place_where_the_body_does_not_fit_is_a_collision():
    walls = [Obstacle("wall", "wall", block(*box)) for box in ((1.9, 0, 2.1, 1.2), (1.9, 1.8, 2.1, 3))]
    grid = build_grid([(0, 0, 4, 3)], [*walls, Obstacle("vase", "furniture", block(2.6, 0.1, 2.8, 0.3))])
    failure = walk(grid, Pose(0.5, 1.5, 0), Pose(3.5, 1.5, 0), lambda x, y, heading: abs(x - 2) > 0.1)
    assert (failure.code, failure.blocker) == ("TRAJECTORY_COLLISION", "wall")
    assert abs(failure.at[0] - 2) < 0.2


@pytest.mark.parametrize("spot", [(0.5, 1.5), (3.5, 1.5)])
def test_a_start_or_goal_without_room_fails_at_once(spot):
    grid = build_grid([(0, 0, 4, 3)], [])
    asked = []

    def clear(x, y, heading):
        asked.append(x)
        return math.dist((x, y), spot) > 1e-6

    failure = walk(grid, Pose(0.5, 1.5, 0), Pose(3.5, 1.5, 0), clear)
    assert failure.code == "TRAJECTORY_COLLISION" and failure.at == pytest.approx(spot)
    assert len(asked) < 120


def test_no_way_is_path_blocked():
    grid = build_grid([(0, 0, 4, 3)], [Obstacle("sofa", "furniture", block(1.9, 0, 2.5, 3))])
    failure = walk(grid, Pose(0.5, 1.5, 0), Pose(3.5, 1.5, 0))
    assert (failure.code, failure.blocker) == ("PATH_BLOCKED", "sofa")


@pytest.mark.parametrize(
    ("way", "heading"), [([], 0), ([(0, 0, 0)], 0), ([(0, math.inf)], 0), ("there", 0), ([(0, 0), (1, 0)], math.nan)]
)
def test_bad_ways_are_refused(way, heading):
    with pytest.raises(UsageError):
        trajectory(way, heading)


@pytest.mark.parametrize("goal", [Pose(99, 0, 0), Pose(1, math.nan, 0), (1, 1)])
def test_bad_poses_are_refused(goal):
    with pytest.raises(UsageError):
        walk(build_grid([(0, 0, 4, 3)], []), Pose(1, 1, 0), goal)
