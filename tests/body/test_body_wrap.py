"""Hands fitted to shapes: contact bands, opposition, the wrist search, and the atlas they come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.errors import IwkitError, Problems
from iwkit_runtime.body import atlas, hands, wrap
from iwkit_runtime.body.hands import Grip
from iwkit_runtime.body.legs import SIDES
from iwkit_runtime.body.model import Body, joint
from iwkit_runtime.body.pose import FINGERS, HAND, INDEX, Side

THUMB = FINGERS.index("thumb")
Distance = Callable[[np.ndarray], np.ndarray]


def ball(radius: float) -> Distance:
    return lambda points: np.linalg.norm(points, axis=-1) - radius


def post(radius: float) -> Distance:
    """A cylinder without ends along z."""
    return lambda points: np.hypot(points[..., 0], points[..., 1]) - radius


def at_grip(body: Body, side: Side, grip: Grip, shift: Any = (0, 0, 0)) -> np.ndarray:
    """A thing in the middle of a grip, upright in its frame, or so far from it."""
    frame = hands.grip_frame(body, np.broadcast_to(np.eye(4), (52, 4, 4)), side, grip).copy()
    frame[:3, 3] += shift
    return frame


def skin_of(body: Body, side: Side, pose: np.ndarray, finger: int) -> np.ndarray:
    """The skin of a finger of a posed body in the frame of its wrist, by the body's own skinning."""
    whole = np.zeros(156)
    whole[HAND[side]] = pose
    frames = body.forward(whole, (0, 0, 0))
    joints = [INDEX[f"{side}_{FINGERS[finger]}{k}"] for k in (1, 2, 3)]
    mine = body.weight_table[:, joints].sum(1) > 0.6
    wrist = joint(frames, f"{side}_wrist")
    return (body.skin(frames)[mine] - wrist[:3, 3]) @ wrist[:3, :3]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("finger", range(5))
def test_many_hands_at_once_are_skinned_as_the_body_is(body: Body, side: Side, finger: int) -> None:
    grip = Grip("cylindrical", 0.06)
    bends = hands.prototype_bends(body, side, grip)
    points = wrap.finger_points(body, side, grip.family, finger, bends[[finger]])[0]
    whole = skin_of(body, side, hands.closed(body, side, grip), finger)
    nearest = np.linalg.norm(points[:, None] - whole, axis=-1).min(1)
    # vertices at the root of a finger also follow its neighbours, which are left out here
    assert np.quantile(nearest, 0.9) < 5e-4
    assert nearest.max() < 4e-3


@pytest.mark.parametrize(
    ("away", "grasps"), [((0, 0, 0), True), ((0, 0.01, 0), True), ((0, -0.3, 0), False), ((0.3, 0, 0), False)]
)
def test_a_hand_that_hardly_touches_has_no_hold_of_a_thing(body: Body, away: Any, grasps: bool) -> None:
    grip = Grip("cylindrical", 0.06)
    found = wrap.curled(body, "right", grip, at_grip(body, "right", grip, away), ball(0.03))
    assert found.grasps is grasps
    assert grasps or found.touching.sum() < 2 or not found.opposed


@settings(max_examples=25)
@given(side=st.sampled_from(SIDES), radius=st.floats(0.02, 0.045), aside=st.floats(-0.01, 0.01))
def test_fingers_touch_and_do_not_sink_in(body: Body, side: Side, radius: float, aside: float) -> None:
    grip = Grip("cylindrical", round(2 * radius, 3))
    found = wrap.wrapped(body, side, grip, at_grip(body, side, grip, (0, aside, 0)), post(radius))
    assert found.holds
    assert found.opposed
    assert found.touching.sum() >= 4
    turn, at = found.thing[:3, :3], found.thing[:3, 3]
    for finger in np.flatnonzero(found.touching):
        away = post(radius)((skin_of(body, side, found.pose, finger) - at) @ turn)
        assert -wrap.DEPTH - 2e-3 <= away.min() <= wrap.BAND + 1e-3, FINGERS[finger]


def test_the_touch_is_found_between_two_steps(body: Body) -> None:
    """A step of 6 degrees moves a fingertip further than the band is wide."""
    grip = Grip("round", 0.07)
    found = wrap.curled(body, "right", grip, at_grip(body, "right", grip), ball(0.035))
    assert (np.abs(found.gaps - wrap.TOUCH) < 3e-4).sum() >= 4
    steps = wrap.finger_points(body, "right", "round", 0, wrap.CURL[:2])
    assert np.linalg.norm(steps[1] - steps[0], axis=-1).max() > wrap.BAND


@pytest.mark.parametrize("away", [-0.03, 0.05, 0.07])
def test_a_thing_too_near_or_too_far_is_held_by_moving_the_wrist(body: Body, away: float) -> None:
    grip = Grip("cylindrical", 0.06)
    palm = at_grip(body, "right", grip)[:3, 1]
    beside = at_grip(body, "right", grip, away * palm)
    still = wrap.curled(body, "right", grip, beside, post(0.03))
    found = wrap.wrapped(body, "right", grip, beside, post(0.03))
    assert not still.holds
    assert found.holds
    assert not np.allclose(found.thing, beside)


def test_nothing_in_the_hand_is_no_hold(body: Body) -> None:
    grip = Grip("cylindrical", 0.06)
    found = wrap.wrapped(body, "right", grip, at_grip(body, "right", grip, (0.4, 0, 0)), ball(0.02))
    assert not found.holds
    assert not found.touching.any()
    assert np.allclose(found.pose, hands.closed(body, "right", grip))


def test_a_wall_before_the_palm_is_touched_but_not_held(body: Body) -> None:
    """All fingers touch from one side: nothing presses against them."""
    grip = Grip("round", 0.08)
    frame = at_grip(body, "right", grip)
    found = wrap.wrapped(body, "right", grip, frame, lambda points: -points[..., 1] + 0.0)
    assert not found.holds
    assert not found.opposed


@pytest.mark.parametrize("side", SIDES)
def test_a_free_hand_is_relaxed(side: Side) -> None:
    bent = np.linalg.norm(hands.relaxed(side).reshape(5, 3, 3), axis=-1)
    long = np.delete(bent, THUMB, 0)
    assert (long > np.radians(10)).all()
    assert (long < np.radians(30)).all()


# --- the atlas ------------------------------------------------------------------------------------------------------


def test_each_family_is_a_file() -> None:
    assert (
        {*atlas.families()} == {path.stem for path in atlas.FOLDER.glob("*.yaml")} == {"cylindrical", "round", "pinch"}
    )


def test_calibrations_name_categories_that_there_are() -> None:
    from iwkit.library import Library

    known = {*Library().catalogue.categories}
    for path in (atlas.FOLDER / "objects").glob("*.yaml"):
        assert {*atlas.load(path, atlas.Calibration).categories} <= known, path.name
    assert atlas.calibration("plate").region == "edge"
    assert atlas.calibration("nothing_like_it") is atlas.AUTO


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("openings: [0.02, 0.10]", "openings: [0.1, 0.02]", "smaller opening"),
        ("openings: [0.02, 0.10]", "openings: [0.02]", "openings"),
        ("touching: 4", "touching: 6", "touching"),
        ("with_thumb: 2", "with_thumb: 1", "with_thumb"),
        ("holds: cylinder", "holds: cone", "cone"),
        ("along: 0.80", "alongg: 0.80", "along"),
    ],
)
def test_a_bad_family_is_refused_where_it_is_wrong(tmp_path: Path, old: str, new: str, why: str) -> None:
    text = (atlas.FOLDER / "cylindrical.yaml").read_text("utf-8")
    assert old in text
    path = tmp_path / "cylindrical.yaml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(Problems, match=why):
        atlas.load(path, atlas.GripFamily)


def test_a_new_grip_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: Body) -> None:
    for path in atlas.FOLDER.glob("*.yaml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    text = (atlas.FOLDER / "round.yaml").read_text("utf-8")
    (tmp_path / "bowl.yaml").write_text(text.replace("family: round", "family: bowl"), encoding="utf-8")
    monkeypatch.setattr(atlas, "FOLDER", tmp_path)
    atlas.families.cache_clear()
    try:
        assert "bowl" in atlas.families()
        (tmp_path / "bowl.yaml").write_text(text, encoding="utf-8")
        atlas.families.cache_clear()
        with pytest.raises(IwkitError, match="share a name"):
            atlas.families()
    finally:
        atlas.families.cache_clear()
