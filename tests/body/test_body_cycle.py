"""Walks out of recorded motion: synthetic AMASS files in the real format, with a walk of their own (PHY-3)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iwkit.errors import UsageError
from iwkit.lock import body_digest, body_label
from iwkit.resources import AMASS
from iwkit_runtime.body import rotations
from iwkit_runtime.body.cycle import recorded_cycle
from iwkit_runtime.body.gait import STEP, walk
from iwkit_runtime.body.legs import SIDES, leg_of
from iwkit_runtime.body.model import TO_WORLD, Body, Cycle, joint
from iwkit_runtime.body.pose import INDEX, ROOT, joint_slice
from iwkit_runtime.body.posture import stand
from iwkit_runtime.physical import wearer

FPS = 60.0


def amass(body: Body, speed: float = 1.1, raised: float = 0.0, seconds: float = 8.0) -> dict[str, Any]:
    """An AMASS file of somebody who walks: poses (n, 156), z up, at a heading of its own, with bent elbows."""
    x = np.arange(0, seconds * speed, speed / FPS)
    frames = walk(body, np.stack([x, 0 * x, 0 * x], 1))
    poses = np.array([frame.pose for frame in frames])
    pelvis = np.array([joint(body.forward(*frame), "pelvis")[:3, 3] for frame in frames])
    poses[:, joint_slice("left_elbow")] += [0, -raised, 0]
    poses[:, joint_slice("right_elbow")] += [0, raised, 0]
    turn = rotations.about("y", 0.7)
    poses[:, ROOT] = rotations.vector(TO_WORLD @ turn @ rotations.matrix(poses[:, ROOT]))
    moved = pelvis @ (TO_WORLD @ turn @ TO_WORLD.T).T + [4.0, -3.0, 0.2]
    return {"poses": poses, "trans": moved, "mocap_framerate": FPS, "gender": "male", "betas": np.ones(16)}


def kept(folder: Path, data: dict[str, Any], name: str) -> Path:
    path = folder / f"{name}_poses.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **data)
    return path


@pytest.fixture(scope="module")
def recorded(body: Body, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Cycle]:
    """A folder with a slow walk, a walk at the wearer's pace with raised arms, and somebody who only stands."""
    folder = tmp_path_factory.mktemp("amass")
    kept(folder, amass(body, speed=0.7), "A/slow")
    brisk = kept(folder, amass(body, raised=1.0), "B/brisk")
    still = stand(body).pose
    standing = np.tile(body.placed(stand(body), 0, 0, 0).pose, (200, 1))
    standing[:, ROOT] = rotations.vector(TO_WORLD @ rotations.matrix(still[ROOT]))
    kept(folder, amass(body) | {"poses": standing, "trans": np.ones((200, 3))}, "A/still")
    return folder, brisk, recorded_cycle(folder, body)[1]


def test_the_stride_nearest_to_the_pace_is_taken(body: Body, recorded: tuple[Path, Path, Cycle]) -> None:
    folder, brisk, cycle = recorded
    assert recorded_cycle(folder, body)[0] == brisk
    assert cycle.stride == pytest.approx(2 * STEP, rel=0.05)


def test_a_cycle_is_one_stride_with_the_left_foot_first(body: Body, recorded: tuple[Path, Path, Cycle]) -> None:
    cycle = recorded[2]
    ankles = [body.forward(pose, np.zeros(3))[[INDEX[f"{side}_ankle"] for side in SIDES], 1, 3] for pose in cycle.poses]
    ahead = np.array([right - left for left, right in ankles])  # a zero root faces -y
    count = len(ahead)
    assert ahead[0] > 0.4 and ahead[count // 2] < -0.4
    assert min(int(ahead.argmax()), count - int(ahead.argmax())) <= 2
    steps = rotations.matrix(cycle.poses.reshape(count, -1, 3))
    turned = rotations.vector(np.swapaxes(steps, -1, -2) @ np.roll(steps, -1, axis=0))
    assert np.linalg.norm(turned, axis=-1)[:, :22].max() < 0.5  # closed: no jump from the last to the first either
    assert np.abs(cycle.pelvis.mean(0)).max() < 1e-9
    assert 0.01 < np.ptp(cycle.pelvis[:, 0]) < 0.1


def test_the_wearer_walks_as_the_clip_with_planted_feet(body: Body, recorded: tuple[Path, Path, Cycle]) -> None:
    own = replace(body, cycle=recorded[2])
    x = np.arange(0, 4.0, 1.1 / 12)
    path = np.stack([x, 0 * x, 0 * x], 1)
    authored, frames = walk(body, path), walk(own, path)
    for ends in (0, -1):
        assert np.allclose(frames[ends].pose, authored[ends].pose, atol=1e-9)
    middle = len(frames) // 2
    elbow = joint_slice("left_elbow")
    assert abs(frames[middle].pose[elbow][1]) > abs(authored[middle].pose[elbow][1]) + 0.8
    soles = np.concatenate([leg_of(own, side).sole for side in SIDES])
    for frame in frames:
        lowest = own.skin(own.forward(*frame), soles)[:, 2].min()
        assert -0.003 < lowest < 0.01
    balls = {side: np.array([joint(own.forward(*f), f"{side}_foot")[:3, 3] for f in frames]) for side in SIDES}
    for side in SIDES:  # a foot that is down stays: the slowest half of its frames do not slide
        moved = np.sort(np.linalg.norm(np.diff(balls[side][:, :2], axis=0), axis=1))
        assert moved[: len(moved) // 3].max() < 0.01


def test_without_clips_the_walk_is_the_authored_one(body: Body, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AMASS, raising=False)
    wearer.default_body.cache_clear()
    assert wearer.default_body().cycle is None
    assert body_label() == "default"


def test_the_folder_is_part_of_the_body(
    recorded: tuple[Path, Path, Cycle], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(AMASS, raising=False)
    plain = body_digest()
    monkeypatch.setenv(AMASS, str(recorded[0]))
    wearer.default_body.cache_clear()
    try:
        assert wearer.default_body().cycle is not None
        assert body_label() == body_digest() != plain
        monkeypatch.setenv(AMASS, str(tmp_path))
        wearer.default_body.cache_clear()
        with pytest.raises(UsageError, match="no AMASS folder"):
            wearer.default_body()
    finally:
        wearer.default_body.cache_clear()


def test_a_folder_without_a_walk_is_refused(body: Body, tmp_path: Path) -> None:
    running = amass(body, speed=2.6, seconds=4.0)
    kept(tmp_path, running, "running")
    with pytest.raises(UsageError, match="has a steady walk: needed are two steps ahead, upright"):
        recorded_cycle(tmp_path, body)


def test_a_broken_clip_is_named(body: Body, tmp_path: Path) -> None:
    broken = kept(tmp_path, amass(body, seconds=2.0) | {"trans": np.zeros((3, 3))}, "broken")
    with pytest.raises(UsageError, match="trans has the shape") as error:
        recorded_cycle(tmp_path, body)
    assert str(broken) in str(error.value)
