"""AMASS clips, here synthetic ones of the same format, made from the authored gait (PHY-3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.errors import UsageError
from iwkit.resources import AMASS
from iwkit_runtime import doctor
from iwkit_runtime.body import rotations
from iwkit_runtime.body.amass import RATE, Clip, clips, gait_period, on_floor, read_clip, resampled
from iwkit_runtime.body.gait import STEP, walk
from iwkit_runtime.body.model import TO_WORLD, Body, heading_of
from iwkit_runtime.body.pose import ROOT, BodyPose

FPS, SPEED = 60.0, 1.1


@pytest.fixture(scope="module")
def walked(body: Body) -> list[BodyPose]:
    """Twelve steps towards +x at 60 frames a second."""
    x = np.arange(0, 12 * STEP, SPEED / FPS)
    return walk(body, np.stack([x, 0 * x, 0 * x], 1))


def recording(
    body: Body, frames: list[BodyPose], up: str = "z", heading: float = 0.7, wide: bool = False
) -> dict[str, Any]:
    """The same walk as AMASS holds it: another heading and place, z or y up, with or without jaw and eyes."""
    poses = np.array([frame.pose for frame in frames])
    pelvis = np.array([body.forward(*frame)[0, :3, 3] for frame in frames])
    turn = rotations.about("y", heading)
    world = TO_WORLD @ turn @ TO_WORLD.T
    roots, moved = turn @ rotations.matrix(poses[:, ROOT]), pelvis @ world.T + [4.0, -3.0, 0.2]
    if up == "z":
        roots = TO_WORLD @ roots
    else:
        moved = moved @ TO_WORLD
    poses[:, ROOT] = rotations.vector(roots)
    if wide:
        poses = np.concatenate([poses[:, :66], np.full((len(poses), 9), 0.3), poses[:, 66:]], 1)
    rate = "mocap_frame_rate" if wide else "mocap_framerate"
    return {"poses": poses, "trans": moved, rate: FPS, "gender": "male", "betas": np.ones(16)}


def saved(tmp_path: Path, data: dict[str, Any], name: str = "walk_poses.npz") -> Path:
    path = tmp_path / name
    np.savez(path, **{key: value for key, value in data.items() if value is not None})
    return path


@pytest.mark.parametrize(("up", "wide"), [("z", False), ("y", False), ("z", True), ("y", True)])
@pytest.mark.parametrize("heading", [0.0, 0.7, -2.9])
def test_the_walk_comes_back(
    body: Body, walked: list[BodyPose], tmp_path: Path, up: str, wide: bool, heading: float
) -> None:
    """Whatever the axes and the heading of the recording, on the same body it is the walk it was made from."""
    some = walked[::40]
    clip = read_clip(saved(tmp_path, recording(body, some, up, heading, wide)))
    assert clip.rate == FPS
    assert heading_of(clip.poses[0]) == pytest.approx(0, abs=1e-9)
    start = body.forward(*some[0])[0, :3, 3]
    for ours, theirs in zip(on_floor(body, clip), some, strict=True):
        a, b = body.forward(*ours), body.forward(*theirs)
        assert np.allclose(a[:, :3, :3], b[:, :3, :3], atol=1e-6)
        assert np.allclose(a[0, :2, 3], b[0, :2, 3] - start[:2], atol=1e-6)
        assert a[0, 2, 3] == pytest.approx(b[0, 2, 3], abs=2e-3)  # the authored soles are up to 1 mm under the floor
        assert abs(body.skin(a)[:, 2].min()) < 2e-3


def test_the_period_of_the_gait_is_two_steps(body: Body, walked: list[BodyPose], tmp_path: Path) -> None:
    data = recording(body, walked)
    data["poses"] += np.random.default_rng(1).normal(0, 0.01, data["poses"].shape)
    period = gait_period(read_clip(saved(tmp_path, data)))
    assert period == pytest.approx(2 * STEP / SPEED, rel=0.02)


def test_what_does_not_repeat_has_no_period(body: Body) -> None:
    assert gait_period(Clip(np.zeros((600, 156)), np.zeros((600, 3)), FPS)) is None
    rising = np.linspace(0, 1, 600)[:, None] * np.arange(156) / 156
    assert gait_period(Clip(rising, np.zeros((600, 3)), FPS)) is None
    assert gait_period(Clip(np.ones((5, 156)), np.zeros((5, 3)), FPS)) is None


@settings(max_examples=60, deadline=None)
@given(count=st.integers(1, 50), rate=st.sampled_from([10.0, 12.0, 30.0, 59.94, 100.0, 120.0]))
def test_resampling_keeps_the_motion(count: int, rate: float) -> None:
    """A turn and a way that go evenly with time are the same at any rate."""
    time = np.arange(count) / rate
    poses = np.zeros((count, 156))
    poses[:, 3 * 4] = 0.6 * time
    slow = resampled(Clip(poses, time[:, None] * [1.0, 2, 3], rate))
    assert slow.rate == RATE
    assert len(slow.poses) == len(slow.pelvis)
    again = np.arange(len(slow.poses)) / RATE
    assert again[-1] <= time[-1] + 1e-9 < again[-1] + 1 / RATE
    assert np.allclose(slow.poses[:, 3 * 4], 0.6 * again, atol=1e-9)
    assert np.allclose(slow.pelvis, again[:, None] * [1.0, 2, 3], atol=1e-9)


def test_the_feet_stay_on_the_floor_on_another_body(body: Body, walked: list[BodyPose], tmp_path: Path) -> None:
    clip = resampled(read_clip(saved(tmp_path, recording(body, walked))))
    frames = on_floor(body, clip)
    assert len(frames) == int((len(walked) - 1) / FPS * RATE) + 1
    assert max(abs(body.skin(body.forward(*frame))[:, 2].min()) for frame in frames) < 2e-3


@pytest.mark.parametrize(
    ("changes", "needle"),
    [
        ({"poses": None}, "lacks poses"),
        ({"trans": None, "mocap_framerate": None}, "lacks trans, mocap_framerate"),
        ({"poses": np.zeros((3, 72))}, r"poses has the shape \(3, 72\)"),
        ({"poses": np.zeros((0, 156)), "trans": np.zeros((0, 3))}, "poses has the shape"),
        ({"poses": np.zeros(156)}, "poses has the shape"),
        ({"trans": np.zeros((2, 3))}, "trans has the shape"),
        ({"poses": np.full((3, 156), np.nan)}, "poses holds something that is no finite number"),
        ({"trans": np.full((3, 3), "x")}, "trans holds something"),
        ({"mocap_framerate": 0.0}, "frame rate"),
        ({"mocap_framerate": [30.0, 30.0]}, "frame rate"),
        ({"mocap_framerate": float("inf")}, "frame rate"),
        ({"poses": np.tile(np.pi * np.eye(156)[0], (3, 1))}, "neither y nor z is up"),
        ({"poses": np.array([{}, {}, {}], object)}, "poses: it holds objects"),
    ],
)
def test_what_is_no_clip_is_refused(tmp_path: Path, changes: dict[str, Any], needle: str) -> None:
    data = {"poses": np.zeros((3, 156)), "trans": np.zeros((3, 3)), "mocap_framerate": 30.0, "gender": "female"}
    read_clip(saved(tmp_path, data, "whole_poses.npz"))
    path = saved(tmp_path, {**data, **changes})
    with pytest.raises(UsageError, match=needle) as caught:
        read_clip(path)
    assert str(path) in str(caught.value)


def test_torn_and_missing_files_are_refused(tmp_path: Path) -> None:
    whole = saved(
        tmp_path, {"poses": np.zeros((3, 156)), "trans": np.zeros((3, 3)), "mocap_framerate": 30.0}
    ).read_bytes()
    array = tmp_path / "array.npz"
    with array.open("wb") as stream:
        np.save(stream, np.zeros(3))
    for content in (b"", b"text", whole[: len(whole) // 2], array.read_bytes()):
        path = tmp_path / "torn_poses.npz"
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"torn_poses\.npz"):
            read_clip(path)
    with pytest.raises(UsageError, match="missing"):
        read_clip(tmp_path / "missing.npz")


def test_the_doctor_reads_the_folder(
    body: Body, walked: list[BodyPose], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def row() -> doctor.Finding:
        return next(iter(doctor.examine()))

    only = tuple(part for part in doctor._PARTS if part[0] == "recorded motion")
    monkeypatch.setattr(doctor, "_PARTS", only)
    monkeypatch.delenv(AMASS, raising=False)
    assert row().fine and AMASS in row().here
    monkeypatch.setenv(AMASS, str(tmp_path))
    assert not row().fine and "no AMASS folder" in row().remedy
    data = {"poses": np.zeros((3, 156)), "trans": np.zeros((3, 3)), "mocap_framerate": 30.0}
    (tmp_path / "s1").mkdir()
    first = saved(tmp_path / "s1", data)
    assert not row().fine and "has a steady walk" in row().remedy
    first = saved(tmp_path / "s1", recording(body, walked))
    second = saved(tmp_path, data, "run_stageii.npz")
    saved(tmp_path / "s1", {"betas": np.zeros(16)}, "shape.npz")
    assert set(clips(tmp_path)) == {first, second}
    assert row().fine and "2 clips" in row().here and "walking as in s1/walk_poses.npz, 1." in row().here
    second.write_bytes(b"")
    assert not row().fine and not row().broken and str(second) in row().remedy
