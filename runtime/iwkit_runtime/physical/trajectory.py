"""What an action looked like, frame by frame: plain data that can be rendered, audited and stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from iwkit_runtime.body.pose import BodyPose
from iwkit_runtime.physical.scene_spec import Joints, Poses
from iwkit_runtime.physical.spec import Vector

DECIMALS = 4
"""Metres and radians are written to a tenth of a millimetre (design: determinism)."""


class Stand(NamedTuple):
    """Where the wearer stands: metres, and radians anticlockwise from +x."""

    x: float
    y: float
    heading: float


@dataclass(frozen=True, eq=False)
class Frame:
    """One twelfth of a second: the body, where the wearer stands, what it looks at, and what has moved since the frame
    before: poses of root links and values of joints."""

    body: BodyPose
    stand: Stand
    gaze: Vector | None
    poses: Poses
    joints: Joints

    def to_json(self) -> dict[str, Any]:
        """The frame in JSON's types, numbers rounded to 0.1 mm or 0.1 mrad."""
        return {
            "pose": _rounded(self.body.pose),
            "translation": _rounded(self.body.translation),
            "stand": _rounded(self.stand),
            "gaze": None if self.gaze is None else _rounded(self.gaze),
            "poses": {name: [_rounded(at), _rounded(turn)] for name, (at, turn) in self.poses.items()},
            "joints": [[name, link, *_rounded([value])] for (name, link), value in self.joints.items()],
        }


@dataclass(frozen=True)
class Trajectory:
    """The interval of one action at 12 frames a second; empty for what takes no time."""

    frames: tuple[Frame, ...] = ()

    def to_json(self) -> list[dict[str, Any]]:
        """The frames in JSON's types."""
        return [frame.to_json() for frame in self.frames]


def _rounded(values: object) -> list[float]:
    # adding zero makes a negative zero positive: equal frames are equal text
    found: list[float] = (np.round(np.asarray(values, dtype=np.float64), DECIMALS) + 0.0).tolist()
    return found
