"""Walking: feet planted, start and stop in standing, arms free or carrying (PHY-3)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from contacts import overlaps
from hypothesis import example, given, settings
from hypothesis import strategies as st

from iwkit.errors import UsageError
from iwkit_runtime.body import gait, legs
from iwkit_runtime.body.capsules import build_rig
from iwkit_runtime.body.model import Body, heading_of, joint
from iwkit_runtime.body.pose import BodyPose, Side, arm_joints, joint_slice
from iwkit_runtime.body.posture import stand
from iwkit_runtime.body.reaching import carrying

SIDES: tuple[Side, Side] = ("left", "right")
LEG = ("_thigh", "_shin", "_foot")
PER_FRAME = 1.1 / 12
"""Metres a frame at walking speed (ACT-5)."""


def straight(distance: float, speed: float = PER_FRAME, heading: float = 0.0) -> np.ndarray:
    s = np.append(np.arange(0, distance, speed), distance)
    return np.stack([s * np.cos(heading), s * np.sin(heading), np.full(len(s), heading)], 1)


def turn(degrees: float) -> np.ndarray:
    steps = np.deg2rad(np.linspace(0, degrees, int(abs(degrees) // 10) + 1))
    return np.stack([np.zeros(len(steps)), np.zeros(len(steps)), steps], 1)


def arc(radius: float, angle: float) -> np.ndarray:
    t = np.linspace(0, angle, int(radius * abs(angle) / PER_FRAME) + 2)
    return np.stack([radius * np.sin(t), radius * (1 - np.cos(t)), t], 1)


PATHS = {
    "straight": straight(4.0),
    "short": straight(0.5),
    "approach": straight(0.10, 0.02),
    "left on the spot": turn(90),
    "about on the spot": turn(-180),
    "arc": arc(1.1, 3.0),
    "tight arc": arc(0.5, 2.0),
    "sideways": straight(1.0) + np.array([0, 0, np.deg2rad(35)]),
}


@pytest.fixture(scope="module", params=list(PATHS))
def walked(body: Body, request: pytest.FixtureRequest) -> tuple[np.ndarray, list[BodyPose]]:
    path = PATHS[request.param]
    return path, gait.walk(body, path)


def soles(body: Body, frame: BodyPose) -> list[np.ndarray]:
    frames = body.forward(*frame)
    return [body.skin(frames, legs.leg_of(body, side).sole) for side in SIDES]


def test_feet_do_not_slide(body: Body, walked: tuple[np.ndarray, list[BodyPose]]) -> None:
    """A vertex of the sole on the floor in two frames running has moved at most 1 cm (measured 8.9 mm, on the skin over
    the bending toes), half of them less than 1 mm."""
    moves = []
    pairs = [soles(body, frame) for frame in walked[1]]
    for before, after in pairwise(pairs):
        for a, b in zip(before, after, strict=True):
            down = (a[:, 2] < 0.006) & (b[:, 2] < 0.006)
            moves += list(np.linalg.norm((b - a)[down][:, :2], axis=1))
    assert len(moves) > 100
    assert max(moves) < 0.010
    assert np.median(moves) < 0.001


def test_one_foot_at_least_is_planted(body: Body, walked: tuple[np.ndarray, list[BodyPose]]) -> None:
    """At any time at least one foot turns on a point that stays where it is, to a tenth of a millimetre: seen at twenty
    times the rate of frames, so that no lift falls between two looks at the other foot's landing."""
    path, _ = walked
    path = path[:14]
    fine = np.linspace(0, len(path) - 1, 20 * (len(path) - 1) + 1)
    points = []
    for frame in gait.walk(body, np.stack([np.interp(fine, np.arange(len(path)), c) for c in path.T], 1)):
        posed = body.forward(*frame)
        row = []
        for side in SIDES:
            ankle, leg = joint(posed, f"{side}_ankle"), legs.leg_of(body, side)
            row.append([ankle[:3, 3] + ankle[:3, :3] @ p for p in (leg.heel, leg.ball)])
        points.append(row)
    moved = np.linalg.norm(np.diff(np.array(points), axis=0), axis=-1)
    assert (moved.min(axis=(1, 2)) < 1e-4).all()


def test_the_lowest_foot_is_on_the_floor(body: Body, walked: tuple[np.ndarray, list[BodyPose]]) -> None:
    low = [min(sole[:, 2].min() for sole in soles(body, frame)) for frame in walked[1]]
    assert min(low) > -1.5e-3
    assert max(low) < 1.5e-3


def test_it_starts_and_stops_standing(body: Body, walked: tuple[np.ndarray, list[BodyPose]]) -> None:
    path, frames = walked
    assert len(frames) == len(path)
    for at, frame in ((path[0], frames[0]), (path[-1], frames[-1])):
        standing = body.placed(stand(body), *map(float, at))
        assert np.allclose(body.forward(*frame), body.forward(*standing), atol=1e-4)


def test_the_pelvis_follows_the_path(body: Body, walked: tuple[np.ndarray, list[BodyPose]]) -> None:
    path, frames = walked
    offset = joint(body.forward(*body.placed(stand(body), 0, 0, 0)), "pelvis")[0, 3]
    for (x, y, heading), frame in zip(path, frames, strict=True):
        pelvis = joint(body.forward(*frame), "pelvis")[:3, 3]
        expected = [x + offset * np.cos(heading), y + offset * np.sin(heading)]
        assert np.linalg.norm(pelvis[:2] - expected) < 0.025, "the sway at most"
        off = (heading_of(frame.pose) - heading + np.pi) % (2 * np.pi) - np.pi
        assert abs(off) < np.deg2rad(6)
    heights = [frame.translation[2] for frame in frames]
    assert np.ptp(heights) < 0.06
    assert np.abs(np.diff(heights)).max() < 0.045


def test_legs_alternate_and_arms_swing_against_them(body: Body) -> None:
    path = straight(6.0)
    ahead: dict[str, list[float]] = {name: [] for name in ("left_ankle", "right_ankle", "left_wrist", "right_wrist")}
    for place, frame in zip(path, gait.walk(body, path), strict=True):
        posed = body.forward(*frame)
        for name, values in ahead.items():
            values.append(float(joint(posed, name)[0, 3] - place[0]))
    middle = slice(10, -10)
    series = {name: np.array(values)[middle] for name, values in ahead.items()}
    assert np.corrcoef(series["left_ankle"], series["right_ankle"])[0, 1] < -0.8
    assert np.corrcoef(series["left_ankle"], series["right_wrist"])[0, 1] > 0.8
    assert np.corrcoef(series["left_ankle"], series["left_wrist"])[0, 1] < -0.8
    assert 0.4 < np.ptp(series["left_ankle"]) < 0.8


def test_phase_goes_with_distance_not_time(body: Body) -> None:
    fast, slow = straight(3.0, PER_FRAME), straight(3.0, PER_FRAME / 4)
    at_fast, at_slow = gait.walk(body, fast), gait.walk(body, slow)
    for k in range(1, 20):
        assert fast[k, 0] == pytest.approx(slow[4 * k, 0])
        assert np.allclose(at_fast[k].pose, at_slow[4 * k].pose, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(distance=st.floats(0.02, 3), heading=st.floats(-6, 6), bend=st.floats(-0.6, 0.6), speed=st.floats(0.02, 0.1))
def test_any_walk_has_planted_feet(body: Body, distance: float, heading: float, bend: float, speed: float) -> None:
    s = np.append(np.arange(0, distance, speed), distance)
    theta = heading + bend * s
    path = np.stack([np.cumsum(np.cos(theta) * speed), np.cumsum(np.sin(theta) * speed), theta], 1)
    frames = gait.walk(body, path)
    lows = [min(sole[:, 2].min() for sole in soles(body, frame)) for frame in frames[:: max(1, len(frames) // 12)]]
    assert min(lows) > -2e-3 and max(lows) < 2e-3
    assert all(np.isfinite(frame.pose).all() for frame in frames)


def test_a_carried_thing_stays_in_front(body: Body) -> None:
    carry = carrying(body)
    path = straight(2.5)
    for place, frame in zip(path, gait.walk(body, path, carry), strict=True):
        for name in arm_joints("right"):
            assert np.array_equal(frame.pose[joint_slice(name)], carry[joint_slice(name)])
        hand = joint(body.forward(*frame), "right_wrist")
        assert 0.2 < hand[0, 3] - place[0] < 0.45
        assert 0.98 < hand[2, 3] < 1.15
        assert hand[2, 2] > 0.97, "the thumb stays up within 14 degrees"


def test_standing_still_is_no_walk(body: Body) -> None:
    standing = body.placed(stand(body), 1, 2, 0.3)
    for frame in gait.walk(body, np.tile([1, 2, 0.3], (3, 1))):
        assert np.allclose(frame.pose, standing.pose) and np.allclose(frame.translation, standing.translation)


def test_headings_may_wrap(body: Body) -> None:
    path = turn(60)
    wrapped = path.copy()
    wrapped[:, 2] = (wrapped[:, 2] + 3.0 + np.pi) % (2 * np.pi) - np.pi
    plain = path.copy()
    plain[:, 2] += 3.0
    for a, b in zip(gait.walk(body, wrapped), gait.walk(body, plain), strict=True):
        assert np.allclose(body.forward(*a), body.forward(*b), atol=1e-9)


@pytest.mark.parametrize(
    "path", [np.zeros((0, 3)), np.zeros((4, 2)), np.zeros(3), [[0, 0, float("nan")]], "door", [[1], 2]]
)
def test_bad_paths_are_refused(body: Body, path: Any) -> None:
    with pytest.raises(UsageError, match="path"):
        gait.walk(body, path)


def test_a_bad_carry_pose_is_refused(body: Body) -> None:
    with pytest.raises(UsageError, match="156"):
        gait.walk(body, straight(0.3), np.zeros(10))


@pytest.mark.parametrize("turn", [0.17, -0.9, 3.0])
def test_a_short_walk_gets_the_frames_that_its_steps_need(body: Body, turn: float) -> None:
    """A foot whose sole is down before and after a frame hasn't moved; unpaced it slides by centimetres."""
    count = max(1, int(np.ceil(abs(turn) / np.deg2rad(9.9))))
    way = np.column_stack([np.linspace(0, 0.08, count + 1), np.zeros(count + 1), np.linspace(0, turn, count + 1)])
    rows = gait.paced(body, way)
    assert rows[[0, -1]] == pytest.approx(way[[0, -1]])
    near = np.flatnonzero(body.vertices[:, 1] < body.ground + 0.012).astype(np.int32)
    soles = np.array([body.skin(body.forward(*frame), near) for frame in gait.walk(body, rows)])
    for before, after in pairwise(soles):
        down = (before[:, 2] < 0.004) & (after[:, 2] < 0.004)
        assert np.linalg.norm(after[down, :2] - before[down, :2], axis=1).max(initial=0.0) < 0.015


stretches = st.lists(
    st.tuples(st.floats(-np.pi, np.pi), st.floats(0.05, 1.2), st.floats(-np.pi, np.pi), st.floats(-1.2, 1.2)),
    min_size=1,
    max_size=2,
)


@settings(max_examples=12, deadline=None)
@given(stretches=stretches)
@example(stretches=[(0.0, 1.2, np.pi / 2, 0.0)])
@example(stretches=[(0.0, 0.2, -np.pi / 2, 0.0)])
@example(stretches=[(0.0, 1.05, 0.0, 1.0)])
def test_legs_do_not_go_through_each_other(body: Body, stretches: list[tuple[float, float, float, float]]) -> None:
    """Turning on the spot, straight on, aside, backwards and in bends; feet end where they stand."""
    rows = [np.zeros(3)]
    for angle, distance, travel, bend in stretches:
        turns, steps = int(np.ceil(abs(angle) / 0.17)), int(np.ceil(distance / PER_FRAME))
        rows += [rows[-1] + np.array([0, 0, angle * n / turns]) for n in range(1, turns + 1)]
        for _ in range(steps):
            heading = rows[-1][2]
            along = heading + travel
            move = distance / steps * np.array([np.cos(along), np.sin(along)])
            rows.append(np.array([*(rows[-1][:2] + move), heading + bend / steps]))
    rig = build_rig(body)
    frames = gait.walk(body, gait.paced(body, np.array(rows)))
    for frame in frames:
        found = overlaps(rig, body.forward(*frame))
        deep = {pair: depth for pair, depth in found.items() if all(name.endswith(LEG) for name in pair)}
        assert max(deep.values(), default=0.0) < 0.03, deep
    for frame, row in ((frames[0], rows[0]), (frames[-1], rows[-1])):
        assert frame.pose == pytest.approx(body.placed(stand(body), *row).pose, abs=1e-6)
