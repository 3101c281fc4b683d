"""What a physics engine does for the physical world (PHY-9). tests/engines holds the suite that each one passes.

Everything that a person moves is moved kinematically, exactly where the caller says; only `settle` lets time pass. So
a state is the poses and the joints, and the same calls give the same states. Nothing is ever removed: each thing placed
has a pose from `load` on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from iwkit.errors import IwkitError
from iwkit_runtime.physical.scene_spec import Joints, Pose, Poses, SceneSpec

FRAME = 1 / 12
"""Seconds between the frames of a trajectory."""
REST = 1e-3
"""Things slower than this are at rest, m/s (PHY-9)."""


class EngineError(IwkitError):
    """An engine that was asked for something it doesn't know, or whose simulation went wrong."""


class Settled(NamedTuple):
    """What `settle` did: whether everything came to rest, and the poses at every 1/12 s, those at the end last."""

    settled: bool
    frames: tuple[Poses, ...]


@dataclass(frozen=True)
class Snapshot:
    """A state as plain data: poses, joints, what is held with what rides on it, and what is fastened to what, with its
    pose there. `as_json` and `of_json` are exact."""

    poses: Poses
    joints: Joints
    held: dict[str, tuple[str, ...]]
    fastened: dict[str, tuple[str, Pose]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The state in JSON's types."""
        return {
            "poses": {name: [list(at), list(turn)] for name, (at, turn) in self.poses.items()},
            "joints": [[name, link, value] for (name, link), value in self.joints.items()],
            "held": {name: list(riders) for name, riders in self.held.items()},
            "fastened": [[name, to, list(at), list(turn)] for name, (to, (at, turn)) in self.fastened.items()],
        }

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Snapshot:
        """The state that `as_json` gave."""
        return cls(
            {name: (tuple(at), tuple(turn)) for name, (at, turn) in data["poses"].items()},
            {(name, link): value for name, link, value in data["joints"]},
            {name: tuple(riders) for name, riders in data["held"].items()},
            {name: (to, (tuple(at), tuple(turn))) for name, to, at, turn in data["fastened"]},
        )


class Engine(Protocol):
    """A simulated scene. Every call with a name it doesn't know, or before `load`, raises EngineError."""

    def load(self, spec: SceneSpec) -> None:
        """Put everything at its place; a scene loaded before is gone."""

    def poses(self) -> Poses:
        """The pose of the root link of every placed thing, in the order of the scene."""

    def joints(self) -> Joints:
        """The value of every joint, in the order of the scene."""

    def set_joint(self, name: str, link: str, value: float) -> None:
        """Drive a joint. What rests on the link, and in turn on that, moves along as one with it.

        Raises:
            EngineError: a value outside the joint's range.
        """

    def hold(self, name: str, pose: Pose) -> None:
        """Put a thing at a pose and keep it there. What rested on it comes along until `release`."""

    def release(self, name: str) -> None:
        """Let go of a held thing; an object then falls when the world settles, a fixture stays where it is."""

    def held(self) -> dict[str, tuple[str, ...]]:
        """What is held, and what rides on it."""

    def riders(self, name: str) -> tuple[str, ...]:
        """What would come along if a thing were moved now: what rests on it and on that, and what is fastened to it."""

    def fasten(self, name: str, to: str) -> None:
        """Join an object to another thing as they are: from now on it moves as one with it, until it is held itself.

        Raises:
            EngineError: it is held, it is no object, or the other thing is fastened to it.
        """

    def settle(self, max_seconds: float = 3.0) -> Settled:
        """Let time pass until every object is slower than REST, at most so many seconds."""

    def contacts(self) -> list[tuple[str, str]]:
        """The pairs of names that touch, each once and sorted; parts of the building by their own names."""

    def snapshot(self) -> Snapshot:
        """The state now."""

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a state of this scene exactly.

        Raises:
            EngineError: a state of another scene.
        """
