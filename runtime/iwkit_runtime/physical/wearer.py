"""The wearer between two actions, and its body as the collision world and the camera know it (PHY-1, PHY-5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from iwkit.errors import UsageError
from iwkit.resources import motion_folder
from iwkit_runtime.body.arms import reach
from iwkit_runtime.body.camera import camera_frame, look_at
from iwkit_runtime.body.capsules import Rig, build_rig
from iwkit_runtime.body.cycle import recorded_cycle
from iwkit_runtime.body.hands import Grip, grip_frame
from iwkit_runtime.body.model import Body, Solver, joint, load_body
from iwkit_runtime.body.pose import HAND, BodyPose, Side, arm_joints, overlay
from iwkit_runtime.body.posture import UPRIGHT, Posture, stand
from iwkit_runtime.body.seated import Seated, sitting
from iwkit_runtime.engines.collision import TOLERANCE, Capsules
from iwkit_runtime.physical.kinematics import Frame, frame
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.trajectory import Stand

TUCKS = (0.26, 0.20, 1.12), (0.14, 0.28, 1.48)
"""Where a hand waits close to the body, as if that stood upright: ahead, to its own side, and above the floor, metres;
and where it does if the thighs are there, as they are of someone who leans far: at the shoulder."""
HEAD = ("spine1", "spine2", "spine3", "neck", "head")
"""The joints that a gaze turns."""


@dataclass(frozen=True)
class Hold:
    """What the right hand holds: the grip, the thing's pose in the frame of the grip, and the pose (156,) of the arm in
    which it is carried."""

    name: str
    grip: Grip
    offset: Pose
    carry: tuple[float, ...]

    @property
    def fingers(self) -> Floats:
        """The hand (45,) closed on the thing."""
        return np.array(self.carry)[HAND["right"]]

    def to_json(self) -> dict[str, Any]:
        offset = [list(part) for part in self.offset]
        return {"name": self.name, "grip": list(self.grip), "offset": offset, "carry": list(self.carry)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Hold:
        (x, y, z), (w, i, j, k) = data["offset"]
        family, opening = data["grip"]
        return cls(data["name"], Grip(family, opening), ((x, y, z), (w, i, j, k)), tuple(data["carry"]))


@dataclass(frozen=True)
class Seat:
    """What the wearer sits on, and how."""

    name: str
    seated: Seated

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "seated": list(self.seated)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Seat:
        height, back = data["seated"]
        return cls(data["name"], Seated(height, back))


@dataclass(frozen=True)
class Wearer:
    """The wearer between two actions: upright, or on a `seat`; its feet are where it stands, or would stand."""

    stand: Stand
    gaze: Vector | None = None
    hold: Hold | None = None
    seat: Seat | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "stand": list(self.stand),
            "gaze": None if self.gaze is None else list(self.gaze),
            "hold": None if self.hold is None else self.hold.to_json(),
            "seat": None if self.seat is None else self.seat.to_json(),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Wearer:
        x, y, heading = data["stand"]
        gaze = data["gaze"]
        hold, seat = data["hold"], data["seat"]
        return cls(
            Stand(x, y, heading),
            None if gaze is None else (gaze[0], gaze[1], gaze[2]),
            None if hold is None else Hold.from_json(hold),
            None if seat is None else Seat.from_json(seat),
        )


class Shape(NamedTuple):
    """A body frame with what follows from it: joint frames (52, 4, 4) and capsules."""

    body: BodyPose
    joints: Floats
    capsules: Capsules


@lru_cache(maxsize=1)
def default_body() -> Body:
    """The wearer's body, read once: the default one, or the user's; it walks as the user's clips do, if there are any
    (docs/body.md)."""
    body, folder = load_body(), motion_folder()
    return body if folder is None else replace(body, cycle=recorded_cycle(folder, body)[1])


@lru_cache(maxsize=2)
def person(solver: Solver = "swivel") -> Person:
    """The wearer with its default body, made once for each solver of its arms."""
    body = default_body() if solver == "swivel" else replace(default_body(), solver=solver)
    return Person(body, build_rig(body))


@dataclass(frozen=True, eq=False)
class Person:
    """The body of the wearer: poses it takes and the space it fills."""

    body: Body
    rig: Rig

    def upright(self, wearer: Wearer, posture: Posture = UPRIGHT) -> BodyPose:
        """Standing, or sitting when the wearer has a seat; the load in its place before it, looking ahead."""
        still = stand(self.body, posture) if wearer.seat is None else sitting(self.body, wearer.seat.seated)
        placed = self.body.placed(still, *wearer.stand)
        return carrying(placed, wearer.hold)

    def drawn(self, body: BodyPose, hold: Hold | None, posture: Posture = UPRIGHT) -> BodyPose:
        """A body frame in a posture whose free arms are drawn in before it, to pass where it is narrow."""
        sides: tuple[Side, ...] = ("left", "right") if hold is None else ("left",)
        for side in sides:
            body = body._replace(pose=overlay(body.pose, tucked(self.body, side, posture).pose, arm_joints(side)))
        return body

    def idle(self, wearer: Wearer, posture: Posture = UPRIGHT) -> BodyPose:
        """As `upright`, and looking where the wearer looks."""
        return self.looking(self.upright(wearer, posture), wearer.gaze)

    def looking(self, body: BodyPose, gaze: Vector | None) -> BodyPose:
        """A body frame whose head is turned towards a point."""
        return body if gaze is None else look_at(self.body, body, gaze).body

    def shape(self, body: BodyPose) -> Shape:
        """The joints and the capsules of a body frame."""
        joints = self.body.forward(*body)
        return Shape(body, joints, Capsules(self.rig.ends(joints), self.rig.radii))

    def hips(self, body: BodyPose) -> Vector:
        """Where the pelvis joint of a body frame is."""
        x, y, z = joint(self.body.forward(*body), "pelvis")[:3, 3].tolist()
        return x, y, z

    def camera(self, body: BodyPose) -> Floats:
        """The head camera (4, 4)."""
        return camera_frame(self.body, self.body.forward(*body))

    def held_pose(self, joints: Floats, hold: Hold) -> Pose:
        """Where the held thing is for joint frames (52, 4, 4)."""
        at = grip_frame(self.body, joints, "right", hold.grip)
        return Frame(at[:3, :3], at[:3, 3]).then(frame(hold.offset)).pose


def carrying(body: BodyPose, hold: Hold | None) -> BodyPose:
    """A body frame whose right arm carries."""
    if hold is None:
        return body
    return body._replace(pose=overlay(body.pose, np.array(hold.carry), arm_joints("right")))


@lru_cache(maxsize=256)
def tucked(body: Body, side: Side, posture: Posture = UPRIGHT) -> BodyPose:
    """A body whose arm waits close to it, and not in it as it is in a posture.

    Raises:
        UsageError: this body's arm can't be there.
    """
    rig, standing = _rig(body), body.placed(stand(body, posture), 0, 0, 0)
    low, high = (_tucked(body, side, at) for at in TUCKS)
    posed = standing._replace(pose=overlay(standing.pose, low.pose, arm_joints(side)))
    return low if rig.crossing(rig.ends(body.forward(*posed)), TOLERANCE) is None else high


@lru_cache(maxsize=4)
def _rig(body: Body) -> Rig:
    return build_rig(body)


@lru_cache(maxsize=8)
def _tucked(body: Body, side: Side, at: Vector) -> BodyPose:
    ahead, aside, height = at
    upright = body.placed(stand(body, UPRIGHT), 0, 0, 0)
    found = reach(body, upright, side, (ahead, aside if side == "left" else -aside, height))
    if found is None:
        raise UsageError(f"this body can't hold its {side} hand at {at}")
    return found.body


def turned_head(body: BodyPose, source: BodyPose, joints: Iterable[str] = HEAD) -> BodyPose:
    """A body frame that holds its head as another one does."""
    return body._replace(pose=overlay(body.pose, source.pose, joints))


def moved(wearer: Wearer, **changes: Any) -> Wearer:
    """The wearer with some things changed."""
    return replace(wearer, **changes)
