"""The collision proxy: 17 capsules, a head sphere and the eye volume round the body (PHY-5, PHY-10)."""

from __future__ import annotations

import numpy as np
import pytest
from contacts import overlaps
from hypothesis import example, given, settings
from hypothesis import strategies as st

from iwkit_runtime.actions.motion import Key
from iwkit_runtime.body.capsules import BELOW_SHOULDER, SPACING, Rig, build_rig
from iwkit_runtime.body.gait import walk
from iwkit_runtime.body.model import Body, joint
from iwkit_runtime.body.pose import INDEX, BodyPose
from iwkit_runtime.body.posture import LADDER, NARROW, SHELF_LADDER, SQUAT, UPRIGHT, Posture, stand

POSTURES = [UPRIGHT, Posture(0.6, 0.05), Posture(1.2, 0.2), SQUAT]


@pytest.fixture(scope="module")
def rig(body: Body) -> Rig:
    return build_rig(body)


def depth(rig: Rig, frames: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distance (m,) of points from the surface of the nearest segment, negative inside."""
    out = np.full(len(points), np.inf)
    for (a, b), radius in zip(rig.ends(frames), rig.radii, strict=True):
        line = b - a
        along = np.clip((points - a) @ line / max(line @ line, 1e-12), 0, 1)
        out = np.minimum(out, np.linalg.norm(points - a - along[:, None] * line, axis=1) - radius)
    return out


SIDED = ("collar", "upper_arm", "lower_arm", "hand", "thigh", "shin", "foot")
CAPSULES = ("pelvis", "spine", "neck", *(f"{side}_{name}" for side in ("left", "right") for name in SIDED))
NEIGHBOURS = (
    "pelvis-spine spine-neck neck-head neck-*_collar spine-*_collar head-*_collar *_collar-*_upper_arm "
    "spine-*_upper_arm *_upper_arm-*_lower_arm *_lower_arm-*_hand pelvis-*_thigh spine-*_thigh *_thigh-*_shin "
    "*_shin-*_foot left_collar-right_collar left_thigh-right_thigh head-eyes neck-eyes"
)
"""The pairs whose contact is ignored, `*` for either side."""


def test_there_are_seventeen_capsules_a_head_and_eyes(rig: Rig, body: Body) -> None:
    assert len(CAPSULES) == 17
    assert rig.names == (*CAPSULES, "head", "eyes")
    lengths = np.linalg.norm(np.diff(rig.ends(body.forward(np.zeros(156), (0, 0, 0))), axis=1)[:, 0], axis=1)
    assert rig.names[-2:] == ("head", "eyes") and (lengths[-2:] == 0).all()
    assert (lengths[:-2] > 0.05).all()
    assert ((rig.radii > 0.025) & (rig.radii < 0.18)).all()


@pytest.mark.parametrize("posture", POSTURES)
def test_most_of_the_body_is_inside(rig: Rig, body: Body, posture: Posture) -> None:
    """Fingers apart: measured in the T-pose 82 % inside, 97 % within 2 cm, nothing farther out than 6.1 cm."""
    frames = body.forward(*body.placed(stand(body, posture), 0, 0, 0))
    trunk = body.weight_table[:, INDEX["left_index1"] :].sum(1) < 0.5
    out = depth(rig, frames, body.skin(frames)[trunk])
    assert (out < 0).mean() > 0.75
    assert (out < 0.02).mean() > 0.93
    assert out.max() < 0.09


def test_the_eye_volume_is_around_the_eyes_and_comes_out_of_the_head(rig: Rig, body: Body) -> None:
    frames = body.forward(np.random.default_rng(3).normal(0, 0.3, 156), (1, 2, 3))
    head = joint(frames, "head")
    eye = head[:3, 3] + head[:3, :3] @ (body.eye - body.joints[INDEX["head"]])
    assert np.allclose(rig.ends(frames)[-1], eye)
    inside = np.linalg.norm(rig.ends(frames)[-2, 0] - eye)
    assert inside < rig.radii[-2] < inside + rig.radii[-1]
    assert rig.radii[-1] > 0.05


def test_the_soles_are_on_the_floor(rig: Rig, body: Body) -> None:
    frames = body.forward(*body.placed(stand(body), 0, 0, 0))
    for side in ("left", "right"):
        k = rig.names.index(f"{side}_foot")
        bottom = rig.ends(frames)[k, :, 2] - rig.radii[k]
        assert np.abs(bottom).max() < 1e-3


def test_segments_move_with_the_joints(rig: Rig, body: Body) -> None:
    pose = np.random.default_rng(1).normal(0, 0.4, 156)
    frames = body.forward(pose, (1, 2, 3))
    ends = rig.ends(frames)
    for name, a, b in (("left_upper_arm", "left_shoulder", "left_elbow"), ("right_shin", "right_knee", "right_ankle")):
        k = rig.names.index(name)
        assert np.allclose(ends[k], [joint(frames, a)[:3, 3], joint(frames, b)[:3, 3]])
    hand = ends[rig.names.index("right_hand")]
    assert np.allclose(hand[0], joint(frames, "right_wrist")[:3, 3])
    assert np.allclose(hand[1], joint(frames, "right_middle1")[:3, 3])


def test_spheres_fill_the_capsules(rig: Rig, body: Body) -> None:
    frames = body.forward(np.random.default_rng(2).normal(0, 0.3, 156), (0, 0, 1))
    spheres, ends = rig.spheres(frames), rig.ends(frames)
    assert set(spheres.segments.tolist()) == set(range(19))
    for k in range(19):
        centres = spheres.centres[spheres.segments == k]
        assert np.allclose(centres[0], ends[k, 0]) and np.allclose(centres[-1], ends[k, 1])
        if len(centres) > 1:
            gaps = np.linalg.norm(np.diff(centres, axis=0), axis=1)
            assert gaps.max() <= SPACING * rig.radii[k] * 1.35  # the ends of a few segments move against each other
        assert np.allclose(spheres.radii[spheres.segments == k], rig.radii[k])


def test_just_the_neighbours_are_filtered(rig: Rig) -> None:
    pairs = {word.replace("*", side) for side in ("left", "right") for word in NEIGHBOURS.split()}
    found = {(rig.names[a], rig.names[b]) for a, b in np.argwhere(np.triu(rig.adjacent, 1))}
    assert {frozenset(pair) for pair in found} == {frozenset(pair.split("-")) for pair in pairs}


def test_neighbours_are_filtered_and_no_others(rig: Rig) -> None:
    def near(a: str, b: str) -> bool:
        return bool(rig.adjacent[rig.names.index(a), rig.names.index(b)])

    assert (rig.adjacent == rig.adjacent.T).all() and rig.adjacent.diagonal().all()
    assert near("left_hand", "left_lower_arm") and near("pelvis", "right_thigh") and near("neck", "head")
    for a, b in (
        ("left_hand", "right_hand"),
        ("right_hand", "spine"),
        ("left_lower_arm", "head"),
        ("left_foot", "pelvis"),
    ):
        assert not near(a, b)


def test_ordinary_poses_do_not_touch_themselves(rig: Rig, body: Body) -> None:
    frames = [body.placed(stand(body, posture), 0, 0, 0) for posture in POSTURES]
    s = np.arange(0, 2.0, 0.09)
    frames += walk(body, np.stack([s, s * 0, s * 0], 1))
    for frame in frames:
        assert overlaps(rig, body.forward(*frame)) == {}


def test_a_hand_in_the_chest_is_found(rig: Rig, body: Body) -> None:
    at = body.placed(stand(body), 0, 0, 0)
    pose = at.pose.copy()
    pose[3 * INDEX["right_elbow"] : 3 * INDEX["right_elbow"] + 3] = [0, 2.4, 0]
    pose[3 * INDEX["right_shoulder"] : 3 * INDEX["right_shoulder"] + 3] = [0, 1.3, 0.6]
    found = overlaps(rig, body.forward(*BodyPose(pose, at.translation)))
    assert any("right_hand" in pair or "right_lower_arm" in pair for pair in found)


turn = st.floats(-1.6, 1.6)


@given(arms=st.lists(st.tuples(turn, turn, turn), min_size=4, max_size=4), lean=st.floats(0, 1.5))
@example(arms=[(0, 1.3, 0.6), (0, 2.4, 0), (0, 0, 0), (0, 0, 0)], lean=0.0)
@settings(max_examples=60, deadline=None)
def test_an_arm_in_the_body_is_found_as_deep_as_it_is(rig: Rig, body: Body, arms: list, lean: float) -> None:
    """To the distance of the balls; and the forearm next to the elbow may be where the upper arm may, at the chest."""
    pose = body.placed(stand(body, Posture(lean, 0.2)), 0, 0, 0).pose.copy()
    for name, angles in zip(("right_shoulder", "right_elbow", "left_shoulder", "left_elbow"), arms, strict=True):
        pose[3 * INDEX[name] : 3 * INDEX[name] + 3] = angles
    frames = body.forward(pose, (0, 0, 1))
    true = arm_depths(rig, rig.ends(frames))
    found = rig.crossing(rig.ends(frames), 0.02)
    if found is None:
        assert max(true.values()) < 0.075
        return
    arm, other, depth = found
    assert 0.02 < depth <= true[arm, other] + 1e-9
    assert true[arm, other] == pytest.approx(depth, abs=0.06)


def arm_depths(rig: Rig, ends: np.ndarray) -> dict[tuple[int, int], float]:
    """How deep arms are in the body, asked at many points: below 0 where they are apart."""
    found = {}
    for arm in (k for k, name in enumerate(rig.names) if name.endswith(BELOW_SHOULDER)):
        points = np.linspace(*ends[arm], 81)
        for other in np.flatnonzero(~rig.adjacent[arm]).tolist():
            start, line = ends[other, 0], ends[other, 1] - ends[other, 0]
            along = np.clip((points - start) @ line / max(line @ line, 1e-12), 0, 1)
            gap = np.linalg.norm(points - start - along[:, None] * line, axis=1).min()
            found[arm, other] = rig.radii[arm] + rig.radii[other] - float(gap)
    return found


def test_what_one_stands_and_waits_in_is_free(rig: Rig, body: Body) -> None:
    """Every posture, arms hanging or drawn in: what begins in itself could go nowhere."""
    rungs = [rung.posture for rung in (*LADDER, *SHELF_LADDER)]
    for posture in (*rungs, *NARROW, SQUAT):
        key = Key(posture, body.placed(stand(body, posture), 0, 0, 0))
        for one in (key, key.tucked(body, "left"), key.tucked(body, "right")):
            assert max(overlaps(rig, body.forward(*one.body)).values(), default=0.0) < 0.02
