"""A recording as full states, frame by frame: the body by forward kinematics, the scene's parts where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from iwkit_runtime.audit.shapes import Floats, Hull, hull
from iwkit_runtime.body.model import Body, load_body
from iwkit_runtime.physical.scene_spec import Joints, Placed, Poses, Quaternion
from iwkit_runtime.physical.spec import Joint
from iwkit_runtime.recording import Interval, Recording

FOOT = 0.012
"""Metres above the soles up to which skin belongs to them."""


class Rigid(NamedTuple):
    """A point p (3,) lies at turn (3, 3) p + at (3,)."""

    turn: Floats
    at: Floats

    def after(self, first: Rigid) -> Rigid:
        """`first`, then this one."""
        return Rigid(self.turn @ first.turn, self.turn @ first.at + self.at)

    def seen_from(self, base: Rigid) -> Rigid:
        """This frame in the frame of another one."""
        return Rigid(base.turn.T @ self.turn, base.turn.T @ (self.at - base.at))


def turned(quaternion: Quaternion) -> Floats:
    """The matrix (3, 3) of a quaternion w, x, y, z."""
    w, *v = np.array(quaternion) / np.linalg.norm(quaternion)
    x, y, z = v
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + 2 * w * cross + 2 * cross @ cross)


def jointed(joint: Joint, value: float) -> Rigid:
    """What a joint's value does to its link, in the frame of the thing."""
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    if joint.kind == "slide":
        return Rigid(np.eye(3), value * axis)
    turn = turned((np.cos(value / 2), *(np.sin(value / 2) * axis)))
    return Rigid(turn, joint.anchor - turn @ joint.anchor)


def links(placed: Placed, poses: Poses, joints: Joints) -> dict[str, Rigid]:
    """Where each link of a thing is."""
    at, quaternion = poses[placed.name]
    found: dict[str, Rigid] = {}
    for link in placed.asset.links:
        above = found[link.parent] if link.parent else Rigid(turned(quaternion), np.array(at))
        found[link.name] = above.after(jointed(link.joint, joints[placed.name, link.name])) if link.joint else above
    return found


class Place(NamedTuple):
    """Where in a film: the number of the command's record, the frame from 0, and the command."""

    step: int
    frame: int
    command: str


@dataclass(frozen=True, eq=False)
class Shot:
    """One frame as a full state. `bones` (52, 4, 4) are the frames of the body's joints; `changed` what has moved."""

    place: Place
    interval: Interval | None
    bones: Floats
    stand: tuple[float, float, float]
    poses: Poses
    joints: Joints
    changed: frozenset[str]
    swung: frozenset[tuple[str, str]]

    @property
    def wrist(self) -> Rigid:
        """The frame of the right wrist."""
        return Rigid(self.bones[21, :3, :3], self.bones[21, :3, 3])


@lru_cache(maxsize=1)
def the_body() -> Body:
    """The default body, read once."""
    return load_body()


class Film:
    """All frames of a recording in order; the first is the state at reset."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.placed: Mapping[str, Placed] = {placed.name: placed for placed in recording.spec.placed}
        self.shots: tuple[Shot, ...] = tuple(self._shots())

    def _shots(self) -> Iterator[Shot]:
        recording, body = self.recording, the_body()
        poses, joints = dict(recording.poses), dict(recording.joints)
        none: frozenset[str] = frozenset()
        bones = body.forward(*recording.body)
        yield Shot(Place(0, 0, "reset"), None, bones, recording.stand, poses, joints, none, frozenset())
        for interval in recording.intervals:
            for n, frame in enumerate(interval.frames):
                changed = frozenset(k for k, pose in frame.poses.items() if pose != poses[k])
                swung = frozenset(k for k, value in frame.joints.items() if value != joints[k])
                poses, joints = {**poses, **frame.poses}, {**joints, **frame.joints}
                place = Place(interval.step, n, interval.command)
                bones = body.forward(*frame.body)
                yield Shot(place, interval, bones, frame.stand, poses, joints, changed, swung)

    def pairs(self) -> Iterator[tuple[Shot, Shot]]:
        """Each frame with the one before, also from command to command."""
        return zip(self.shots, self.shots[1:], strict=False)

    def of(self, interval: Interval) -> list[Shot]:
        """The frames of a command."""
        return [shot for shot in self.shots if shot.interval is interval]

    @cached_property
    def soles(self) -> Floats:
        """Points of the soles in each frame (frames, n, 3)."""
        body = the_body()
        near = np.flatnonzero(body.vertices[:, 1] < body.ground + FOOT).astype(np.int32)
        return np.array([body.skin(shot.bones, near) for shot in self.shots])


class Piece(NamedTuple):
    """A convex piece in the frame of its link; `kind` as in the scene, or floor or wall."""

    owner: str
    kind: str
    link: str
    hull: Hull


class Scene:
    """The pieces of a scene where they are in a shot. `low` and `high` (n, 3) are boxes around `hulls`."""

    def __init__(self, film: Film) -> None:
        spec = film.recording.spec
        self._placed = film.placed
        self.pieces = [Piece(s.name, s.layer, "", hull(p.vertices)) for s in spec.statics for p in s.pieces]
        self._of: dict[str, list[int]] = {}
        for placed in spec.placed:
            for link in placed.asset.links:
                for piece in link.pieces:
                    self._of.setdefault(placed.name, []).append(len(self.pieces))
                    self.pieces.append(Piece(placed.name, placed.kind, link.name, hull(piece.vertices)))
        self.hulls = [piece.hull for piece in self.pieces]
        self.low, self.high = np.zeros((len(self.hulls), 3)), np.zeros((len(self.hulls), 3))
        for n in range(len(self.hulls)):
            self._box(n)
        self._now: dict[str, object] = {}

    def show(self, shot: Shot) -> None:
        """Put everything where it is in a shot."""
        for name, numbers in self._of.items():
            placed = self._placed[name]
            key = shot.poses[name], *(shot.joints[name, link.name] for link in placed.asset.links if link.joint)
            if self._now.get(name) == key:
                continue
            self._now[name] = key
            frames = links(placed, shot.poses, shot.joints)
            for n in numbers:
                self.hulls[n] = self.pieces[n].hull.moved(*frames[self.pieces[n].link])
                self._box(n)

    def of(self, name: str, link: str | None = None) -> list[Hull]:
        """The pieces of a thing, or of one of its links."""
        return [self.hulls[n] for n in self._of.get(name, ()) if link in {None, self.pieces[n].link}]

    def near(self, low: Floats, high: Floats) -> Iterator[tuple[Piece, Hull]]:
        """The pieces whose boxes overlap a box."""
        for n in np.flatnonzero(((self.low <= high) & (self.high >= low)).all(1)).tolist():
            yield self.pieces[n], self.hulls[n]

    def _box(self, n: int) -> None:
        self.low[n], self.high[n] = self.hulls[n].corners.min(0), self.hulls[n].corners.max(0)
