"""Standing, leaning and squatting: feet planted, weight over them; legs and hands (ACT-7, ACT-9)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from iwkit.errors import UsageError
from iwkit_runtime.body import hands, legs, posture, rotations
from iwkit_runtime.body.hands import OPENINGS, Family, Grip
from iwkit_runtime.body.model import TO_WORLD, Body, joint
from iwkit_runtime.body.pose import FINGERS, HAND, INDEX, Side
from iwkit_runtime.body.posture import LADDER, SHELF_LADDER, SQUAT, UPRIGHT, Posture, stand

SIDES: tuple[Side, Side] = ("left", "right")
RUNGS = [rung.posture for rung in (*LADDER, *SHELF_LADDER)]


def in_world(body: Body, at: Posture) -> np.ndarray:
    return body.forward(*body.placed(stand(body, at), 0, 0, 0))


def soles(body: Body, frames: np.ndarray) -> np.ndarray:
    return np.concatenate([body.skin(frames, legs.leg_of(body, side).sole) for side in SIDES])


# --- postures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [*RUNGS, SQUAT], ids=lambda p: f"{np.rad2deg(p.lean):.0f}deg-{p.crouch}m")
def test_every_rung_is_planted_and_balanced(body: Body, at: Posture) -> None:
    frames = in_world(body, at)
    sole = soles(body, frames)
    assert abs(sole[:, 2].min()) < 2e-3
    touching = sole[sole[:, 2] < 8e-3]
    hull = ConvexHull(touching[:, :2])
    weight = posture.centre_of_mass(frames)[:2]
    margin = -(hull.equations[:, :2] @ weight + hull.equations[:, 2]).max()
    assert margin > 0.02, "the weight is at least 2 cm inside what stands on the floor"
    standing = in_world(body, UPRIGHT)
    for side in SIDES:  # the balls of the feet are where they are when standing
        moved = joint(frames, f"{side}_foot")[:3, 3] - joint(standing, f"{side}_foot")[:3, 3]
        assert np.linalg.norm(moved) < 1e-6


@settings(max_examples=40, deadline=None)
@given(lean=st.floats(0, 86), crouch=st.floats(0, 0.5))
def test_lean_and_crouch_are_what_was_asked(body: Body, lean: float, crouch: float) -> None:
    frames = in_world(body, Posture(np.deg2rad(lean), crouch))
    up = joint(frames, "spine3")[:3, 1]
    assert np.rad2deg(np.arctan2(up[0], up[2])) == pytest.approx(lean, abs=1e-6)
    lowered = joint(in_world(body, UPRIGHT), "pelvis")[2, 3] - joint(frames, "pelvis")[2, 3]
    assert crouch - 1e-6 <= lowered <= crouch + 0.05, "a little lower still where the legs would not reach the floor"


@settings(max_examples=40, deadline=None)
@given(lean=st.floats(0, 86), crouch=st.floats(0, 0.5), step=st.sampled_from([(1.0, 0.0), (0.0, 0.005)]))
def test_neighbouring_postures_are_neighbours(
    body: Body, lean: float, crouch: float, step: tuple[float, float]
) -> None:
    a = Posture(np.deg2rad(lean), crouch)
    b = Posture(np.deg2rad(min(86, lean + step[0])), min(0.5, crouch + step[1]))
    moved = np.linalg.norm(in_world(body, a)[:, :3, 3] - in_world(body, b)[:, :3, 3], axis=1)
    assert moved.max() < 0.04


def test_standing_is_upright(body: Body) -> None:
    frames = in_world(body, UPRIGHT)
    assert joint(frames, "head")[2, 3] == pytest.approx(1.59, abs=0.03)
    for side in SIDES:
        shoulder, hand = joint(frames, f"{side}_shoulder")[:3, 3], joint(frames, f"{side}_wrist")[:3, 3]
        assert np.linalg.norm((hand - shoulder)[:2]) < 0.25 and hand[2] < shoulder[2] - 0.4


def test_what_lies_between_two_postures(body: Body) -> None:
    assert posture.between(UPRIGHT, SQUAT, 0) == UPRIGHT and posture.between(UPRIGHT, SQUAT, 1) == SQUAT
    half = posture.between(UPRIGHT, SQUAT, 0.5)
    assert half.crouch == pytest.approx(SQUAT.crouch / 2) and half.lean == pytest.approx(SQUAT.lean / 2)


def test_results_are_shared_and_so_read_only(body: Body) -> None:
    with pytest.raises(ValueError, match="read-only"):
        stand(body).pose[0] = 1


@pytest.mark.parametrize("at", [Posture(-0.1, 0), Posture(1.6, 0), Posture(0, 0.6), Posture(float("nan"), 0)])
def test_impossible_postures_are_refused(body: Body, at: Posture) -> None:
    with pytest.raises(UsageError, match="posture"):
        stand(body, at)


# --- the ladder ---------------------------------------------------------------------------------------------------


def test_the_ladder_begins_with_the_easiest() -> None:
    assert posture.ladder(1.1)[0] == UPRIGHT
    assert np.rad2deg(posture.ladder(0.9)[1].lean) < 20
    low = posture.ladder(0.3)
    assert np.rad2deg(low[0].lean) >= 40 - 1e-6 and low[0].crouch > 0
    assert [p.lean for p in low[:5]] == sorted(p.lean for p in low[:5])


def test_shelves_are_met_with_bent_legs_and_an_upright_torso() -> None:
    first = posture.ladder(0.4, shelf=True)[0]
    assert np.rad2deg(first.lean) < 25 and first.crouch > 0.2
    assert set(posture.ladder(0.4, shelf=True)) == set(posture.ladder(0.4))


@given(height=st.floats(0, 2.2), shelf=st.booleans())
def test_every_height_has_a_ladder_without_repetition(height: float, shelf: bool) -> None:
    rungs = posture.ladder(height, shelf=shelf)
    assert rungs and len(rungs) == len(set(rungs))


def test_knees_come_together_where_it_is_narrow(body: Body) -> None:
    wide, narrow = (in_world(body, Posture(np.deg2rad(40), 0.5, apart)) for apart in (1.0, 0.0))
    gaps = [np.linalg.norm(joint(f, "left_knee")[:3, 3] - joint(f, "right_knee")[:3, 3]) for f in (wide, narrow)]
    assert gaps[1] < gaps[0] - 0.1
    for side in ("left", "right"):  # the feet stay where they are
        assert np.allclose(joint(wide, f"{side}_ankle")[:3, 3], joint(narrow, f"{side}_ankle")[:3, 3], atol=1e-6)
    others = posture.ladder(0.4, shelf=True)
    assert posture.ladder(0.4, shelf=True, narrow=True)[: len(others)] == others
    assert {p.apart for p in posture.ladder(0.4, narrow=True)} == {0.0, 1.0}


@pytest.mark.parametrize("height", [float("nan"), float("inf")])
def test_no_ladder_for_no_height(height: float) -> None:
    with pytest.raises(UsageError, match="height"):
        posture.ladder(height)


# --- legs ---------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    drop=st.floats(0.01, 0.4),
    tilt=st.tuples(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3), st.floats(-0.1, 0.1)),
    pitches=st.tuples(st.floats(-0.6, 0.3), st.floats(-0.6, 0.3)),
    ahead=st.tuples(st.floats(-0.25, 0.25), st.floats(-0.25, 0.25)),
)
def test_legs_put_feet_where_they_should_be(
    body: Body, drop: float, tilt: tuple[float, ...], pitches: tuple[float, float], ahead: tuple[float, float]
) -> None:
    rotation = rotations.matrix(np.array(tilt))
    feet = {}
    for side, pitch, z in zip(SIDES, pitches, ahead, strict=True):
        mark = legs.neutral(body, side)
        feet[side] = legs.rolled(body, side, mark._replace(z=mark.z + z), pitch)
    pelvis = np.array([0.0, legs.standing_height(body) - drop, 0.0])
    pelvis[1] = min(pelvis[1], legs.highest_pelvis(body, pelvis, rotation, feet))
    joints = {"pelvis": rotations.vector(rotation), **legs.plant(body, pelvis, rotation, feet)}
    pose = np.zeros(156)
    for name, turn in joints.items():
        pose[3 * INDEX[name] : 3 * INDEX[name] + 3] = turn
    frames = body.forward(pose, (0, 0, 0))
    origin = frames[0, :3, 3]
    for side in SIDES:
        ankle = joint(frames, f"{side}_ankle")
        in_model = TO_WORLD.T @ (ankle[:3, 3] - origin) + pelvis
        assert np.linalg.norm(in_model - feet[side].ankle) < 1e-6
        knee = rotations.matrix(pose[3 * INDEX[f"{side}_knee"] : 3 * INDEX[f"{side}_knee"] + 3])
        shin_back = (knee @ [0, -1, 0])[2]
        assert shin_back < 0.12, "knees bend backwards only"


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("pitch", [-0.8, -0.2, 0.0, 0.2])
def test_a_rolling_foot_keeps_what_it_turns_on(body: Body, side: Side, pitch: float) -> None:
    mark = legs.Footprint(0.1, 0.3, 0.4)
    flat, foot = legs.rolled(body, side, mark, 0.0), legs.rolled(body, side, mark, pitch)
    leg = legs.leg_of(body, side)
    pivot = leg.heel if pitch > 0 else leg.ball
    turn = rotations.about("y", 0.4)
    rolled = foot.ankle + turn @ rotations.about("x", -pitch) @ pivot
    assert np.allclose(rolled, flat.ankle + turn @ pivot, atol=1e-12)
    assert foot.toe == max(0.0, -pitch)


# --- hands --------------------------------------------------------------------------------------------------------


def in_wrist(body: Body, side: Side, grip: Grip, amount: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Finger joints with tips (5, 4, 3) and the grip frame, both in the frame of the wrist joint."""
    pose = np.zeros(156)
    pose[HAND[side]] = hands.closed(body, side, grip, amount)
    frames = body.forward(pose, (0, 0, 0))
    back = np.linalg.inv(joint(frames, f"{side}_wrist"))
    points = np.empty((5, 4, 3))
    for f, finger in enumerate(FINGERS):
        for k in (1, 2, 3):
            number = INDEX[f"{side}_{finger}{k}"]
            points[f, k - 1] = (back @ frames[number])[:3, 3]
        tip = np.append(body.tips[number] - body.joints[number], 1)
        points[f, 3] = (back @ frames[number] @ tip)[:3]
    return points, back @ hands.grip_frame(body, frames, side, grip)


def to_segments(points: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Distance (5,) of a point from the bones of each finger."""
    out = []
    for chain in points:
        best = np.inf
        for a, b in pairwise(chain):
            share = np.clip((centre - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            best = min(best, float(np.linalg.norm(a + share * (b - a) - centre)))
        out.append(best)
    return np.array(out)


@settings(max_examples=50, deadline=None)
@given(side=st.sampled_from(SIDES), share=st.floats(0.15, 0.85))
def test_a_round_grip_touches_the_ball(body: Body, side: Side, share: float) -> None:
    low, high = OPENINGS["round"]
    grip = Grip("round", low + share * (high - low))
    points, frame = in_wrist(body, side, grip)
    gap = to_segments(points, frame[:3, 3]) - grip.opening / 2 - hands.FINGER_RADIUS
    assert (gap > -0.003).all(), "no finger is inside the ball"
    assert (gap < 0.006).sum() >= 4, "at least four of five fingers touch (ACT-9)"


@settings(max_examples=50, deadline=None)
@given(side=st.sampled_from(SIDES), share=st.floats(0.1, 0.9))
def test_a_cylindrical_grip_goes_round_the_cylinder(body: Body, side: Side, share: float) -> None:
    low, high = OPENINGS["cylindrical"]
    grip = Grip("cylindrical", low + share * (high - low))
    points, frame = in_wrist(body, side, grip)
    local = (points - frame[:3, 3]) @ frame[:3, :3]
    local[..., 2] = 0  # along the axis of the cylinder
    gap = to_segments(local, np.zeros(3)) - grip.opening / 2 - hands.FINGER_RADIUS
    assert (gap > -0.003).all()
    assert (gap < 0.006).sum() >= 4
    fingers, thumb = local[:4, 3, :2], local[4, 3, :2]
    assert (fingers[:, 1] > thumb[1] - grip.opening).all()


@settings(max_examples=30, deadline=None)
@given(side=st.sampled_from(SIDES), opening=st.floats(*OPENINGS["pinch"]))
def test_a_pinch_has_its_opening_between_the_tips(body: Body, side: Side, opening: float) -> None:
    points, frame = in_wrist(body, side, Grip("pinch", opening))
    tips = (points[FINGERS.index("index"), 3] + points[FINGERS.index("middle"), 3]) / 2
    thumb = points[FINGERS.index("thumb"), 3]
    assert np.linalg.norm(tips - thumb) - 2 * hands.FINGER_RADIUS == pytest.approx(opening, abs=2e-3)
    assert np.allclose(frame[:3, 3], (tips + thumb) / 2, atol=2e-3)


@pytest.mark.parametrize("family", list(OPENINGS))
def test_a_hand_closes_by_its_amount(body: Body, family: Family) -> None:
    grip = Grip(family, 0.06)
    spans = []
    for amount in np.linspace(0, 1, 6):
        points, _ = in_wrist(body, "right", grip, float(amount))
        spans.append(np.linalg.norm(points[0, 3] - points[4, 3]))
    assert all(b < a for a, b in pairwise(spans))


@pytest.mark.parametrize("side", SIDES)
def test_the_grip_frame_is_upright_with_the_thumb_up(body: Body, side: Side) -> None:
    frames = body.forward(np.zeros(156), (0, 0, 0))
    frame = hands.grip_frame(body, frames, side, Grip("cylindrical", 0.06))
    assert np.allclose(frame[:3, :3].T @ frame[:3, :3], np.eye(3)) and np.linalg.det(frame[:3, :3]) > 0
    wrist = joint(frames, f"{side}_wrist")
    ahead = joint(frames, f"{side}_middle1")[:3, 3] - wrist[:3, 3]
    assert frame[:3, 0] @ ahead > 0.99 * np.linalg.norm(ahead)
    thumb = joint(frames, f"{side}_thumb1")[:3, 3] - joint(frames, f"{side}_pinky1")[:3, 3]
    assert frame[:3, 2] @ thumb > 0
    assert (frame[:3, 3] - wrist[:3, 3]) @ [0, 0, -1] > 0.03, (
        "in the T-pose the palms face down, and hold what is below"
    )
    point = hands.grip_point(body, side, Grip("cylindrical", 0.06))
    assert np.allclose((wrist @ np.append(point, 1))[:3], frame[:3, 3])


def test_left_and_right_grips_mirror(body: Body) -> None:
    grip = Grip("round", 0.07)
    left, right = (hands.closed(body, side, grip).reshape(15, 3) for side in SIDES)
    assert np.allclose(left * [1, -1, -1], right, atol=1e-6)
    assert np.allclose(hands.relaxed("left").reshape(15, 3) * [1, -1, -1], hands.relaxed("right").reshape(15, 3))


@pytest.mark.parametrize(
    ("grip", "amount", "needle"),
    [
        (Grip("hook", 0.05), 1.0, "hook"),  # type: ignore[arg-type]
        (Grip("round", 0.2), 1.0, "0.2"),
        (Grip("pinch", -0.01), 1.0, "pinch"),
        (Grip("pinch", float("nan")), 1.0, "pinch"),
        (Grip("round", 0.05), 1.2, "amount"),
        (Grip("round", 0.05), float("nan"), "amount"),
    ],
)
def test_impossible_grips_are_refused(body: Body, grip: Grip, amount: float, needle: str) -> None:
    with pytest.raises(UsageError, match=needle):
        hands.closed(body, "right", grip, amount)
