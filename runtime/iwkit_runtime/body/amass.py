"""Recorded motion from a user's AMASS folder, SMPL+H or SMPL-X (PHY-3; paper B.1).

The rotations of the joints are copied and the shape of the recorded person is dropped. A clip starts at the origin and
faces the world's +x; on a body, the lower sole is on the floor in every frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body import rotations
from iwkit_runtime.body.archives import read_archive
from iwkit_runtime.body.legs import SIDES, leg_of
from iwkit_runtime.body.model import TO_WORLD, Body, heading_of
from iwkit_runtime.body.pose import INDEX, POSE_SIZE, ROOT, BodyPose

Array = NDArray[np.float64]

RATE: Final = 12.0
"""Frames a second of the wearer's motion."""
_RATES: Final = ("mocap_framerate", "mocap_frame_rate")
_COPIED: Final = {POSE_SIZE: np.arange(POSE_SIZE), 165: np.r_[0:66, 75:165]}
"""By the width of `poses`: the columns of SMPL+H. SMPL-X has jaw and eyes, nine numbers, before the hands."""
_LEANING: Final = 0.5
"""How far the mean spine must go along an axis for that axis to be up."""
_SHORTEST, _LONGEST = 0.7, 2.0
_NEARLY: Final = 0.85
"""Of peaks that are nearly the highest the first is the period; the others are its multiples."""


class Clip(NamedTuple):
    """Recorded motion: poses (n, 156), radians; the pelvis (n, 3) in the z-up world, metres; frames a second.

    The pelvis is as high as it was recorded, up to a constant that depends on the recorded person.
    """

    poses: Array
    pelvis: Array
    rate: float


def clips(folder: Path) -> Iterator[Path]:
    """The clips of an AMASS folder, at any depth, in order. Its files of shapes are no clips.

    Raises:
        UsageError: there is no such folder, or no clip in it.
    """
    found = sorted(path for end in ("poses", "stageii") for path in folder.rglob(f"*_{end}.npz"))
    if not found:
        raise UsageError(f"{folder} is no AMASS folder: it holds no file called *_poses.npz or *_stageii.npz")
    yield from found


def read_clip(path: Path) -> Clip:
    """A clip at the rate of its recording, turned so that it starts at the origin and faces +x.

    Raises:
        UsageError: no such file, no AMASS file, or one with frames that are not finite or not upright.
    """
    data = read_archive(path, ("poses", "trans", *_RATES))
    try:
        return _canonical(*_checked(data))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _checked(data: dict[str, NDArray[Any]]) -> tuple[Array, Array, float]:
    """Poses (n, 156), translations (n, 3) and the rate of a file."""
    rates = [data[key] for key in _RATES if key in data]
    if missing := [key for key in ("poses", "trans") if key not in data] + ([] if rates else [_RATES[0]]):
        raise UsageError(f"it is no AMASS file: it lacks {', '.join(missing)}")
    poses, moved, rate = data["poses"], data["trans"], rates[0]
    if poses.ndim != 2 or poses.shape[1] not in _COPIED or not len(poses):
        widths = " or ".join(map(str, _COPIED))
        raise UsageError(f"poses has the shape {poses.shape} where n rows of {widths} numbers are needed")
    if moved.shape != (len(poses), 3):
        raise UsageError(f"trans has the shape {moved.shape} where {(len(poses), 3)} is needed")
    for key, array in (("poses", poses), ("trans", moved), ("the frame rate", rate)):
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise UsageError(f"{key} holds something that is no finite number")
    if rate.size != 1 or not 1 <= float(rate.item()) <= 1000:
        raise UsageError("the frame rate is not one number from 1 to 1000")
    return poses[:, _COPIED[poses.shape[1]]].astype(float), moved.astype(float), float(rate.item())


def _canonical(poses: Array, moved: Array, rate: float) -> Clip:
    """In the axes of the project, from the origin and facing +x, whichever axis of the recording is up."""
    turns = rotations.matrix(poses[:, ROOT])
    up = turns[:, :, 1].mean(0)
    if up[2] > _LEANING:
        turns = TO_WORLD.T @ turns
    elif up[1] > _LEANING:
        moved = moved @ TO_WORLD.T
    else:
        raise UsageError(f"neither y nor z is up: the spine goes along ({up[0]:.2f}, {up[1]:.2f}, {up[2]:.2f})")
    first = np.zeros(POSE_SIZE)
    first[ROOT] = rotations.vector(turns[0])
    yaw = rotations.about("y", -heading_of(first))
    poses = poses.copy()
    poses[:, ROOT] = rotations.vector(yaw @ turns)
    world = TO_WORLD @ yaw @ TO_WORLD.T
    return Clip(poses, (moved - [*moved[0, :2], 0]) @ world.T, rate)


def resampled(clip: Clip, rate: float = RATE) -> Clip:
    """The same motion at another rate, each joint along its shortest arc; it ends at or before its last frame."""
    count = int(np.floor((len(clip.poses) - 1) / clip.rate * rate + 1e-9)) + 1
    at = np.minimum(np.arange(count) * clip.rate / rate, len(clip.poses) - 1)
    before = np.minimum(at.astype(int), max(0, len(clip.poses) - 2))
    after = np.minimum(before + 1, len(clip.poses) - 1)
    share = (at - before)[:, None]
    joints = clip.poses.reshape(len(clip.poses), -1, 3)
    poses = rotations.blend(joints[before], joints[after], share[:, :, None])
    pelvis = (1 - share) * clip.pelvis[before] + share * clip.pelvis[after]
    return Clip(poses.reshape(count, POSE_SIZE), pelvis, rate)


def on_floor(body: Body, clip: Clip) -> list[BodyPose]:
    """The body frames of a clip on a floor at z = 0: the pelvis follows the recording, the lower sole is on the floor.

    For walking, not for jumps: the height of the recording is not used.
    """
    soles = np.concatenate([leg_of(body, side).sole for side in SIDES])
    frames = []
    for pose, pelvis in zip(clip.poses, clip.pelvis, strict=True):
        move = np.array([*pelvis[:2], 0]) - TO_WORLD @ body.joints[0]
        move[2] -= body.skin(body.forward(pose, move), soles)[:, 2].min()
        frames.append(BodyPose(pose, move))
    return frames


def gait_period(clip: Clip) -> float | None:
    """Seconds of a full stride of two steps, or None if nothing repeats within 0.7 to 2 seconds.

    By autocorrelation of the left minus the right flexion of hip and knee: it changes its sign after one step, so that
    a step can't be taken for a stride.
    """
    flexion = np.stack(
        [
            clip.poses[:, 3 * INDEX[f"left_{name}"]] - clip.poses[:, 3 * INDEX[f"right_{name}"]]
            for name in ("hip", "knee")
        ]
    )
    flexion -= flexion.mean(1, keepdims=True)
    count = flexion.shape[1]
    first, last = int(_SHORTEST * clip.rate), min(int(_LONGEST * clip.rate), count - 2)
    spread = flexion.std(1, keepdims=True)
    if last <= first or (spread < 1e-3).any():
        return None
    spectrum = np.abs(np.fft.rfft(flexion / spread, 2 * count)) ** 2
    same = np.fft.irfft(spectrum.sum(0))[:count] / np.arange(count, 0, -1)
    inner = same[first : last + 1]
    peaks = np.flatnonzero((inner >= same[first - 1 : last]) & (inner >= same[first + 1 : last + 2])) + first
    if not len(peaks) or same[peaks].max() <= 0:
        return None
    peak = int(peaks[same[peaks] > _NEARLY * same[peaks].max()][0])
    before, at, after = same[peak - 1 : peak + 2]
    bend = before - 2 * at + after
    return float(peak + (0.5 * (before - after) / bend if bend else 0.0)) / clip.rate
