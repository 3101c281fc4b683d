"""A cycle of walking out of recorded motion: the user's AMASS clips drive the gait (PHY-3; paper B.1).

The clip whose steady, straight and upright stride is the nearest to the wearer's pace is taken. The stride is cut out,
closed, freed of where it led, and counted by the distance that was gone, never by time. The gait takes the trunk, the
arms and the sway of the pelvis from it; the feet stay on the footprints that it lays itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body import rotations
from iwkit_runtime.body.amass import Clip, clips, gait_period, read_clip
from iwkit_runtime.body.model import TO_WORLD, Body, Cycle
from iwkit_runtime.body.pose import INDEX, POSE_SIZE, ROOT

Array = NDArray[np.float64]

PACE: Final = 1.1
"""Metres a second of the wearer (ACT-5): the stride at about this speed is taken."""
SPEEDS: Final = (0.6, 1.9)
"""What is slower or faster is no walk, metres a second."""
STEADY: Final = 0.2
"""The speed of the second half of a stride differs from that of the first by no more than this share."""
UPRIGHT, STRAIGHT, AHEAD = np.deg2rad((25, 12, 25)).tolist()
"""The spine's angle to the vertical, how far the heading changes in a stride, and how far one goes aside of it."""
CLOSED: Final = 0.35
"""Radians between a joint at the beginning and at the end of a stride, at most: else it is no cycle."""
PHASES: Final = 32
"""Bodies of a cycle."""
HOP: Final = 0.25
"""Seconds from one stride that is tried to the next."""
MOST: Final = 200
"""Clips of a folder that are looked through, in the order of their names."""


class Stride(NamedTuple):
    """A stride of a clip: from which frame to which, and its speed, metres a second."""

    first: float
    last: float
    speed: float


def recorded_cycle(folder: Path, body: Body) -> tuple[Path, Cycle]:
    """The cycle of a folder of AMASS clips, and the clip from which it comes.

    Raises:
        UsageError: no such folder, a clip that can't be read, or none with a steady walk.
    """
    best: tuple[float, Path, Clip, Stride] | None = None
    for path in islice(clips(folder), MOST):
        clip = read_clip(path)
        for stride in strides(clip):
            off = abs(stride.speed - PACE)
            if best is None or off < best[0] - 1e-9:
                best = off, path, clip, stride
    if best is None:
        raise UsageError(
            f"no clip in {folder} has a steady walk: needed are two steps ahead, upright, at "
            f"{SPEEDS[0]} to {SPEEDS[1]} m/s (looked through: the first {MOST} clips)"
        )
    _, path, clip, stride = best
    return path, cut(body, clip, stride)


def strides(clip: Clip) -> Iterator[Stride]:
    """The strides of a clip that are steady, straight, upright and closed."""
    period = gait_period(clip)
    if period is None:
        return
    long, turns = period * clip.rate, rotations.matrix(clip.poses[:, ROOT])
    upright = turns[:, 1, 1] >= np.cos(UPRIGHT)
    ahead = (TO_WORLD @ turns[:, :, 2].T).T[:, :2]
    headings = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))
    for first in np.arange(0, len(clip.poses) - 1 - long, max(1.0, HOP * clip.rate)).tolist():
        last = first + long
        rows = slice(int(first), int(np.ceil(last)) + 1)
        start, middle, end = (_at(clip.pelvis, at)[:2] for at in (first, first + long / 2, last))
        halves = [float(np.linalg.norm(part)) for part in (middle - start, end - middle)]
        speed = sum(halves) / period
        way = np.arctan2(*(end - start)[::-1])
        mean = float(headings[rows].mean())
        if (
            SPEEDS[0] <= speed <= SPEEDS[1]
            and abs(halves[1] - halves[0]) <= STEADY * max(halves)
            and bool(upright[rows].all())
            and abs(headings[rows][-1] - headings[rows][0]) <= STRAIGHT
            and abs(np.remainder(way - mean + np.pi, 2 * np.pi) - np.pi) <= AHEAD
            and _gap(clip, first, last) <= CLOSED
        ):
            yield Stride(first, last, speed)


def cut(body: Body, clip: Clip, stride: Stride) -> Cycle:
    """A stride as a cycle: phase 0 is where the left foot is the farthest in front."""
    fine = np.linspace(stride.first, stride.last, 8 * PHASES + 1)
    pelvis = np.array([_at(clip.pelvis, at) for at in fine])
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(pelvis[:, :2], axis=0), axis=1))])
    moments = np.interp(np.arange(PHASES + 1) / PHASES * gone[-1], gone, fine)
    poses = np.array([_pose(clip, at) for at in moments])
    poses[:, ROOT] = _ahead(poses[:, ROOT])
    poses = _closed(poses)
    way = pelvis[-1, :2] - pelvis[0, :2]
    along = way / np.linalg.norm(way)
    at = np.array([_at(clip.pelvis, moment) for moment in moments])
    drift = np.linspace(0, 1, PHASES + 1)[:, None] * (at[-1] - at[0])
    moved = (at - at[0] - drift)[:-1]
    left = moved[:, :2] @ np.array([-along[1], along[0]])
    shift = _left_in_front(body, poses)
    sway, rise = (np.roll(values - values.mean(), -shift) for values in (left, moved[:, 2]))
    return Cycle(np.roll(poses, -shift, axis=0), np.stack([sway, rise], 1), float(gone[-1]))


def _at(rows: Array, at: float) -> Array:
    """A row (m,) between two of (n, m)."""
    before = min(int(at), len(rows) - 2)
    share = at - before
    return np.asarray((1 - share) * rows[before] + share * rows[before + 1])


def _pose(clip: Clip, at: float) -> Array:
    """The pose (156,) between two frames."""
    before = min(int(at), len(clip.poses) - 2)
    joints = clip.poses[before : before + 2].reshape(2, -1, 3)
    return np.asarray(rotations.blend(joints[0], joints[1], np.full((len(joints[0]), 1), at - before))).reshape(-1)


def _gap(clip: Clip, first: float, last: float) -> float:
    """How far joints are at the end of a stride from where they were, at most, radians; the root and fingers apart."""
    start, end = (rotations.matrix(_pose(clip, at).reshape(-1, 3)[1:22]) for at in (first, last))
    return float(np.linalg.norm(rotations.vector(np.swapaxes(start, -1, -2) @ end), axis=-1).max())


def _ahead(roots: Array) -> Array:
    """Root rotations (n, 3) with their mean heading taken away."""
    turns = rotations.matrix(roots)
    front = turns[:, :, 2].mean(0)
    return np.asarray(rotations.vector(rotations.about("y", -np.arctan2(front[0], front[2])) @ turns))


def _closed(poses: Array) -> Array:
    """Poses (n + 1, 156) as a cycle of n: what is missing at the end is spread over all of them."""
    turns = rotations.matrix(poses.reshape(len(poses), -1, 3))
    missing = rotations.vector(np.swapaxes(turns[-1], -1, -2) @ turns[0])
    shares = np.linspace(0, 1, len(poses))[:, None, None]
    return np.asarray(rotations.vector(turns @ rotations.matrix(shares * missing)))[:-1].reshape(-1, POSE_SIZE)


def _left_in_front(body: Body, poses: Array) -> int:
    """The phase at which the left ankle is the farthest in front of the right one."""
    frames = [body.forward(pose, np.zeros(3)) for pose in poses]
    gaps = np.array([f[INDEX["left_ankle"], 1, 3] - f[INDEX["right_ankle"], 1, 3] for f in frames])
    # a zero root faces -y; the first harmonic is not misled by a foot that lingers
    angle = -np.angle(np.sum(-gaps * np.exp(-2j * np.pi * np.arange(len(gaps)) / len(gaps))))
    return round(float(angle) / (2 * np.pi) * len(gaps)) % len(gaps)
