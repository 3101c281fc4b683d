"""The head camera and gaze (PHY-1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.errors import UsageError
from iwkit_runtime.body import camera
from iwkit_runtime.body.model import Body, joint
from iwkit_runtime.body.pose import JOINTS, BodyPose
from iwkit_runtime.body.posture import Posture, stand


def look(body: Body, posture: Posture, heading: float, point: Any) -> tuple[camera.Gaze, np.ndarray]:
    gaze = camera.look_at(body, body.placed(stand(body, posture), 0, 0, heading), point)
    return gaze, camera.camera_frame(body, body.forward(*gaze.body))


def aside(lens: np.ndarray, point: np.ndarray) -> float:
    """Angle between the line of sight and a point, from the camera frame alone."""
    sight = (point - lens[:3, 3]) / np.linalg.norm(point - lens[:3, 3])
    return float(np.arccos(np.clip(-lens[:3, 2] @ sight, -1, 1)))


def test_the_camera_is_at_the_eyes_and_looks_ahead(body: Body) -> None:
    lens = camera.camera_frame(body, body.forward(*body.placed(stand(body), 0, 0, 0)))
    assert 1.5 < lens[2, 3] < 1.75
    assert abs(lens[1, 3]) < 1e-6, "between the eyes"
    assert -lens[:3, 2] @ [1, 0, 0] > 0.99
    assert lens[:3, 0] @ [0, -1, 0] > 0.99, "right of the picture is the wearer's right"
    assert lens[:3, 1] @ [0, 0, 1] > 0.99
    assert np.linalg.det(lens[:3, :3]) == pytest.approx(1)


@settings(max_examples=60, deadline=None)
@given(
    yaw=st.floats(-68, 68),
    pitch=st.floats(-65, 38),
    distance=st.floats(0.4, 6),
    lean=st.floats(0, 80),
    heading=st.floats(-3, 3),
)
def test_the_camera_looks_at_the_point(
    body: Body, yaw: float, pitch: float, distance: float, lean: float, heading: float
) -> None:
    """Whatever is within the limits against the chest is met exactly, and only neck and head turn."""
    posture = Posture(np.deg2rad(lean), 0.1 if lean > 40 else 0.0)
    at = body.placed(stand(body, posture), 0.5, -0.5, heading)
    frames = body.forward(*at)
    y, p = np.deg2rad(yaw), np.deg2rad(pitch)
    direction = joint(frames, "spine3")[:3, :3] @ [np.sin(y) * np.cos(p), np.sin(p), np.cos(y) * np.cos(p)]
    # seen from where the eyes get to, which is not far from the head joint
    point = joint(frames, "head")[:3, 3] + (0.6 + distance) * direction
    gaze = camera.look_at(body, at, point)
    lens = camera.camera_frame(body, body.forward(*gaze.body))
    # the eyes are above and before the head joint: near points are lower for them
    inside = abs(yaw) < 55 and -45 < pitch < 28
    if inside:
        assert aside(lens, point) < 1e-4
        moved = {JOINTS[i] for i in np.flatnonzero((gaze.body.pose != at.pose).reshape(52, 3).any(1))}
        assert moved - {"spine1", "spine2", "spine3"} == {"neck", "head"}
        assert np.allclose(gaze.body.pose[3 * 3 : 3 * 3 + 3], at.pose[3 * 3 : 3 * 3 + 3], atol=1e-9)
    assert aside(lens, point) == pytest.approx(gaze.residual, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(x=st.floats(-3, 3), y=st.floats(-3, 3), z=st.floats(0, 3))
def test_limits_hold_for_any_point(body: Body, x: float, y: float, z: float) -> None:
    at = body.placed(stand(body), 0, 0, 0)
    eye = camera.camera_frame(body, body.forward(*at))[:3, 3]
    if np.linalg.norm(eye - [x, y, z]) < 0.06:
        return
    gaze = camera.look_at(body, at, (x, y, z))
    frames = body.forward(*gaze.body)
    chest, head = joint(frames, "spine3")[:3, :3], joint(frames, "head")[:3, :3]
    ahead = chest.T @ head[:, 2]
    assert abs(np.arctan2(ahead[0], ahead[2])) <= camera.HEAD_YAW + 1e-6
    assert camera.HEAD_PITCH[0] - 1e-6 <= np.arcsin(ahead[1]) <= camera.HEAD_PITCH[1] + 1e-6
    before = joint(body.forward(*at), "spine3")[:3, :3]
    turned = np.arccos(np.clip((np.trace(before.T @ chest) - 1) / 2, -1, 1))
    assert turned <= np.hypot(camera.TORSO_YAW, -camera.TORSO_PITCH[0]) + 1e-6


def test_the_spine_takes_what_the_head_cannot(body: Body) -> None:
    gaze, lens = look(body, Posture(), 0, (-0.2, 1.5, 1.5))  # 98 degrees to the left
    assert gaze.residual < 1e-3
    assert np.abs(gaze.body.pose[9:12]).max() > 0.01
    behind, lens = look(body, Posture(), 0, (-3, 0.4, 1.5))
    assert behind.residual > np.deg2rad(40)
    assert aside(lens, np.array([-3, 0.4, 1.5])) == pytest.approx(behind.residual, abs=1e-6)


@pytest.mark.parametrize("lean", [0, 20, 40])
def test_the_horizon_is_level(body: Body, lean: float) -> None:
    _, lens = look(body, Posture(np.deg2rad(lean)), 0.3, (1.5, 0.9, 0.9))
    assert abs(lens[2, 0]) < 0.02, "the picture's right is level"


def test_looking_twice_changes_nothing(body: Body) -> None:
    once, _ = look(body, Posture(0.2), 0, (1, 0.4, 0.8))
    twice = camera.look_at(body, once.body, (1, 0.4, 0.8))
    assert np.allclose(once.body.pose, twice.body.pose, atol=1e-5)


@pytest.mark.parametrize("point", [(0, 0), (0, 0, float("nan")), "door"])
def test_bad_points_are_refused(body: Body, point: Any) -> None:
    with pytest.raises(UsageError, match="point"):
        camera.look_at(body, body.placed(stand(body), 0, 0, 0), point)


def test_a_point_in_the_eye_is_refused(body: Body) -> None:
    at = body.placed(stand(body), 0, 0, 0)
    eye = camera.camera_frame(body, body.forward(*at))[:3, 3]
    with pytest.raises(UsageError, match="5 cm"):
        camera.look_at(body, BodyPose(*at), eye + np.array([0.01, 0, 0]))
