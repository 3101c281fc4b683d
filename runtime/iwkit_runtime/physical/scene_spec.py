"""A whole scene as plain data: what engines simulate, what is drawn, what the collision world asks (PHY-6, PHY-9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from iwkit_runtime.physical.spec import Asset, Piece, Vector, Visual

Quaternion = tuple[float, float, float, float]
Pose = tuple[Vector, Quaternion]
"""Position in metres and orientation as a quaternion w, x, y, z."""
Poses = dict[str, Pose]
"""Where the root link of every placed thing is."""
Joints = dict[tuple[str, str], float]
"""(thing, link) -> value of its joint, in radians or metres."""
States = dict[str, tuple[str, ...]]
"""Thing -> its states that may be seen on it, sorted: `running`, `cut`, ... What has none may be left out."""


@dataclass(frozen=True, eq=False)
class Static:
    """A part of the building, or decor, in the world frame. It never moves. `public` is what people call decor."""

    name: str
    layer: Literal["floor", "wall", "decor"]
    visuals: Sequence[Visual]
    pieces: tuple[Piece, ...]
    public: str = ""


@dataclass(frozen=True, eq=False)
class Placed:
    """A thing at its initial place. `name` is the task's; `yaw` turns the asset (front towards -y) about z.

    `joints` gives the value of every joint by the name of its link.
    """

    name: str
    kind: Literal["object", "fixture", "door"]
    asset: Asset
    position: Vector
    yaw: float
    joints: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SceneSpec:
    """Everything of one task's world at reset. `eye_hint`: where the wearer's eyes are, x, y, z, and heading."""

    statics: tuple[Static, ...]
    placed: tuple[Placed, ...]
    eye_hint: tuple[float, float, float, float] = (0.0, 0.0, 1.6, 0.0)
