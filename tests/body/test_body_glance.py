"""A walker looks where it goes: the head turns to the way ahead, and back to straight ahead at its end."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iwkit_runtime.actions.walking import DOWNWARDS, NECK, SIDEWAYS, SIGHT, looking_along
from iwkit_runtime.body import gait
from iwkit_runtime.body.camera import camera_frame
from iwkit_runtime.body.covering import uncovered
from iwkit_runtime.body.model import Body, joint
from iwkit_runtime.body.pose import joint_slice
from iwkit_runtime.body.posture import stand
from iwkit_runtime.nav.walk import trajectory


def aside(body: Body, frame: object, heading: float) -> tuple[float, float]:
    """How far to the left of a heading, and how far down, the camera looks, radians."""
    ahead = -camera_frame(body, body.forward(*frame))[:3, 2]
    return math.remainder(math.atan2(ahead[1], ahead[0]) - heading, math.tau), -math.asin(ahead[2])


def test_the_head_is_turned_to_the_way(body: Body) -> None:
    rows = trajectory([(0, 0), (2, 0), (2, 2)], 0.0, math.pi / 2).poses
    rows = gait.paced(body, rows)
    frames = gait.walk(body, rows)
    looking = looking_along(frames, rows)
    walked = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(rows[:, :2], axis=0).T))])
    turns = []
    for n, (row, frame) in enumerate(zip(rows, looking, strict=True)):
        left, down = aside(body, frame, row[2])
        plain, level = aside(body, frames[n], row[2])
        assert abs(left - plain) <= SIDEWAYS + 0.05
        assert down - level <= DOWNWARDS + 0.05
        if walked[n] + SIGHT < walked[-1] and n < len(rows) - 8:
            point = [np.interp(walked[n] + SIGHT, walked, rows[:, k]) for k in (0, 1)]
            wanted = math.remainder(math.atan2(point[1] - row[1], point[0] - row[0]) - row[2], math.tau)
            assert left - plain == pytest.approx(max(-SIDEWAYS, min(SIDEWAYS, wanted)), abs=0.1), (
                "towards the point of the way 1.5 m ahead"
            )
            turns.append(abs(wanted))
    assert max(turns) > 0.1, "the corner is looked into before the body turns"
    assert np.array_equal(looking[-1].pose, frames[-1].pose), "it ends looking straight ahead"


def test_nothing_but_the_head_is_turned(body: Body) -> None:
    rows = gait.paced(body, trajectory([(0, 0), (1, 0.5), (2, 0)], 0.0).poses)
    frames = gait.walk(body, rows)
    head = np.zeros(156, bool)
    for name in NECK:
        head[joint_slice(name)] = True
    for frame, plain in zip(looking_along(frames, rows), frames, strict=True):
        assert np.array_equal(frame.pose[~head], plain.pose[~head])
        assert np.array_equal(frame.translation, plain.translation)


def test_on_the_spot_it_looks_ahead(body: Body) -> None:
    rows = np.array([(1.0, 1.0, 0.1 * n) for n in range(8)])
    frames = gait.walk(body, rows)
    assert all(np.allclose(a.pose, b.pose) for a, b in zip(looking_along(frames, rows), frames, strict=True))


def test_what_the_arm_hides(body: Body) -> None:
    at = body.placed(stand(body), 0, 0, 0)
    frames = body.forward(*at)
    eye, hand = camera_frame(body, frames)[:3, 3], joint(frames, "right_middle1")[:3, 3]
    behind = hand + 0.2 * (hand - eye) / np.linalg.norm(hand - eye)
    assert uncovered(body, at, np.array([behind, behind]), eye) == 0
    assert uncovered(body, at, np.array([behind, eye + np.eye(3)[0]]), eye) == 0.5
    assert uncovered(body, at, np.array([hand + 0.5 * (eye - hand)]), eye) == 1, "what is before the hand is seen"
