"""What an action looked like, frame by frame: plain data that can be rendered, audited and stored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from iwkit.errors import UsageError
from iwkit_runtime.body.pose import POSE_SIZE, Array, BodyPose
from iwkit_runtime.physical.scene_spec import Joints, Pose, Poses, States
from iwkit_runtime.physical.spec import Vector

POURS, CATCHES = "pours", "catches"
"""States that show while something is poured: on what it runs out of, and on what it runs into."""
DECIMALS = 4
"""Metres and radians are written to a tenth of a millimetre (design: determinism)."""


class Stand(NamedTuple):
    """Where the wearer stands: metres, and radians anticlockwise from +x."""

    x: float
    y: float
    heading: float


@dataclass(frozen=True, eq=False)
class Frame:
    """One twelfth of a second: the body, where the wearer stands, what it looks at, and what has changed since the
    frame before: poses of root links, values of joints, and the states that are seen on things."""

    body: BodyPose
    stand: Stand
    gaze: Vector | None
    poses: Poses
    joints: Joints
    states: States = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The frame in JSON's types, numbers rounded to 0.1 mm or 0.1 mrad."""
        found: dict[str, Any] = {
            "pose": _rounded(self.body.pose),
            "translation": _rounded(self.body.translation),
            "stand": _rounded(self.stand),
            "gaze": None if self.gaze is None else _rounded(self.gaze),
            "poses": {name: [_rounded(at), _rounded(turn)] for name, (at, turn) in self.poses.items()},
            "joints": [[name, link, *_rounded([value])] for (name, link), value in self.joints.items()],
        }
        if self.states:
            found["states"] = {name: list(states) for name, states in self.states.items()}
        return found

    @classmethod
    def of_json(cls, data: Any) -> Frame:
        """The frame that `to_json` gave, with its rounded numbers.

        Raises:
            UsageError: it is none.
        """
        try:
            gaze = data["gaze"]
            return cls(
                BodyPose(_numbers(data["pose"], POSE_SIZE), _numbers(data["translation"], 3)),
                Stand(*_numbers(data["stand"], 3).tolist()),
                None if gaze is None else _vector(gaze),
                {str(name): _pose(pose) for name, pose in data["poses"].items()},
                {(str(name), str(link)): _numbers([value], 1).item() for name, link, value in data["joints"]},
                {str(name): _words(states) for name, states in data.get("states", {}).items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UsageError(f"no frame of a trajectory: {type(error).__name__}: {error}") from None

    def kept(self) -> Frame:
        """The frame as it is once it was stored: what is drawn is drawn from this, so that it can be drawn again."""
        return Frame.of_json(self.to_json())


@dataclass(frozen=True)
class Trajectory:
    """The interval of one action at 12 frames a second; empty for what takes no time."""

    frames: tuple[Frame, ...] = ()

    def to_json(self) -> list[dict[str, Any]]:
        """The frames in JSON's types."""
        return [frame.to_json() for frame in self.frames]

    @classmethod
    def of_json(cls, data: Any) -> Trajectory:
        """What `to_json` gave.

        Raises:
            UsageError: it is none.
        """
        if not isinstance(data, list):
            raise UsageError("no trajectory: a list of frames is needed")
        return cls(tuple(map(Frame.of_json, data)))


@dataclass(frozen=True, eq=False)
class Start:
    """How everything was at reset, from which the frames of an episode tell the changes.

    `frame` has the pose of every thing and the value of every joint; `scene` is the digest of what the scene was built
    from.
    """

    scene: str
    frame: Frame

    def to_json(self) -> dict[str, Any]:
        """The state in JSON's types."""
        return {"scene": self.scene, "frame": self.frame.to_json()}

    @classmethod
    def of_json(cls, data: Any) -> Start:
        """What `to_json` gave.

        Raises:
            UsageError: it is none.
        """
        if not isinstance(data, dict) or not isinstance(data.get("scene"), str):
            raise UsageError("no state at reset: scene and frame are needed")
        return cls(data["scene"], Frame.of_json(data.get("frame")))


def walked(before: Stand, frames: Sequence[Frame]) -> float:
    """Metres over the floor from where the wearer stood and through all frames, to the millimetre."""
    stands = [before, *(frame.stand for frame in frames)]
    return round(math.fsum(math.dist(a[:2], b[:2]) for a, b in pairwise(stands)), 3)


def rests(frames: Sequence[Frame]) -> tuple[bool, ...]:
    """For each frame, whether nothing has moved since the one before; not for the first one."""
    return tuple(
        n > 0
        and not (frame.poses or frame.joints or frame.states)
        and np.array_equal(frame.body.pose, frames[n - 1].body.pose)
        and np.array_equal(frame.body.translation, frames[n - 1].body.translation)
        for n, frame in enumerate(frames)
    )


def _rounded(values: object) -> list[float]:
    # adding zero makes a negative zero positive: equal frames are equal text
    found: list[float] = (np.round(np.asarray(values, dtype=np.float64), DECIMALS) + 0.0).tolist()
    return found


def _numbers(values: Any, length: int) -> Array:
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (length,) or not np.isfinite(found).all():
        raise ValueError(f"{length} finite numbers are needed")
    return found


def _words(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("a list of words is needed")
    return tuple(values)


def _vector(values: Any) -> Vector:
    x, y, z = _numbers(values, 3).tolist()
    return x, y, z


def _pose(values: Any) -> Pose:
    at, turn = values
    w, x, y, z = _numbers(turn, 4).tolist()
    return _vector(at), (w, x, y, z)
