"""How arms and load pass where it is narrow: drawn in before it, and let down after it (PHY-8, PHY-10)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from iwkit_runtime.actions.motion import BRUSH, SWING
from iwkit_runtime.body.arms import reach
from iwkit_runtime.body.hands import grip_frame, grip_point
from iwkit_runtime.body.pose import HAND, BodyPose, arm_joints, blend, overlay
from iwkit_runtime.body.posture import stand
from iwkit_runtime.engines.collision import Capsules
from iwkit_runtime.physical.kinematics import frame
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import HOLDING, Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import Hold, carrying

EASE = 8
"""Frames in which the arms are drawn in, and let down."""
CLOSE = ((0.26, -0.14, 1.06), (0.22, -0.20, 1.00), (0.30, -0.10, 1.12), (0.20, -0.28, 0.95), (0.20, -0.05, 1.20))
"""Where what is carried may be held to pass where it is narrow, metres: ahead, to the left, above the floor."""
INWARDS = tuple(math.radians(angle) for angle in (0, 45, 90, -30))
"""By how much it is turned to the left for that."""


class Step(NamedTuple):
    """A frame of a walk: where the wearer stands, and its body."""

    at: Stand
    body: BodyPose


class Stuck(NamedTuple):
    """Where a walk ends before its time, and at what."""

    at: Stand
    owner: str


def passing(stage: Stage, steps: Sequence[Step]) -> list[Step] | Stuck:
    """The frames of a walk, the first and the last of them standing, with the arms drawn in wherever they would run
    into something; where that has to be done standing, frames for it are added. Stuck where something is in the way all
    the same.
    """
    hold = stage.wearer.hold
    tight = [n for n, step in enumerate(steps) if stage.hit(step.body, hold, brush=BRUSH) is not None]
    if not tight:
        return list(steps)
    padded = [*[steps[0]] * EASE, *steps, *[steps[-1]] * EASE]
    away = np.abs(np.arange(len(padded))[:, None] - (np.array(tight) + EASE)).min(1)
    shares = np.clip(1 - (away - 1) / EASE, 0, 1).tolist()
    found = []
    for n, (step, share) in enumerate(zip(padded, shares, strict=True)):
        if share == 0:
            if EASE <= n < EASE + len(steps):
                found.append(step)
            continue
        body = blend(step.body, drawn(stage, step.body, hold), share)
        hit = stage.hit(body, hold, brush=SWING)
        if hit is not None:
            loose = all(stage.hit(steps[n].body, hold, brush=SWING) is None for n in tight)
            return list(steps) if loose else Stuck(step.at, hit.owner)
        found.append(Step(step.at, body))
    return found


def drawn(stage: Stage, body: BodyPose, hold: Hold | None) -> BodyPose:
    """A body frame with its free arms and its load drawn in before it."""
    body = stage.person.drawn(body, hold)
    if hold is None:
        return body
    close = stage.collision.once(("close", hold), lambda: _close(stage, hold))
    return body._replace(pose=overlay(body.pose, close, arm_joints("right")))


def _close(stage: Stage, hold: Hold) -> Floats:
    """The pose (156,) in which a held thing comes least far from the body's axis and not into it; as it is carried if
    there is none better."""
    person = stage.person
    upright = person.drawn(person.body.placed(stand(person.body), 0, 0, 0), hold)
    best = np.array(hold.carry)
    least = _extent(stage, carrying(upright, hold), hold)
    for pose in _carries(stage, hold, upright):
        body = upright._replace(pose=overlay(upright.pose, pose, arm_joints("right")))
        far = _extent(stage, body, hold)
        if far < least and not _pressed(stage, body, hold):
            best, least = body.pose, far
    return best


def _carries(stage: Stage, hold: Hold, upright: BodyPose) -> Iterator[Floats]:
    """Poses (156,) that hold a thing close, as level as it is carried."""
    body = stage.person.body
    point = grip_point(body, "right", hold.grip)
    turn = grip_frame(body, body.forward(*carrying(upright, hold)), "right", hold.grip)[:3, :3]
    for inwards in INWARDS:
        c, s = math.cos(inwards), math.sin(inwards)
        turned = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ turn
        for place in CLOSE:
            found = reach(body, upright, "right", place, point=point, palm=turned[:, 1], fingers=turned[:, 0], most=0)
            if found is not None:
                pose = found.body.pose.copy()
                pose[HAND["right"]] = np.array(hold.carry)[HAND["right"]]
                yield pose


def _extent(stage: Stage, body: BodyPose, hold: Hold) -> float:
    """How far what is held comes from the axis of a body that stands at the origin, metres."""
    at = frame(_held(stage, body, hold))
    pieces = (piece.vertices for link in stage.placed[hold.name].asset.links for piece in link.pieces)
    return max(float(np.hypot(*at.point(vertices)[:, :2].T).max()) for vertices in pieces)


def _pressed(stage: Stage, body: BodyPose, hold: Hold) -> bool:
    """Whether what is held is in the body that holds it."""
    capsules, names = stage.person.shape(body).capsules, stage.person.rig.names
    own = [n for n, name in enumerate(names) if name not in HOLDING]
    found = stage.collision.hits(
        Capsules(capsules.ends[own], capsules.radii[own]), poses={hold.name: _held(stage, body, hold)}
    )
    return any(isinstance(hit.by, int) and hit.owner == hold.name and hit.depth > BRUSH for hit in found)


def _held(stage: Stage, body: BodyPose, hold: Hold) -> Pose:
    return stage.person.held_pose(stage.person.body.forward(*body), hold)
