"""The hand on a thing: fitted to its shape, the wrist moved with it if need be (ACT-9, equation 3; paper B.2.2)."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from iwkit_runtime.actions.motion import Key, Screen
from iwkit_runtime.body.arms import angles_of, reach
from iwkit_runtime.body.hands import Grip, grip_frame
from iwkit_runtime.body.model import joint
from iwkit_runtime.body.wrap import Distance, Wrap, curled, wrapped
from iwkit_runtime.physical.field import field_at
from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.stage import Stage

SAME = 1e-5
"""Hands that are at a thing in ways that differ by no more, metres, and parts of a turn's matrix, fit it alike."""


class _Touch(NamedTuple):
    """Where a thing is in the frame of the right wrist (4, 4), in the world (4, 4), and its shape."""

    thing: Floats
    root: Floats
    distance: Distance


def closed_on(stage: Stage, name: str, grip: Grip, contact: Key) -> Wrap:
    """The fingers of a hand at a thing closed on it where the hand is."""
    touch = _touch(stage, name, grip, contact)
    ask = partial(curled, stage.person.body, "right", grip, touch.thing, touch.distance)
    return stage.collision.once(("closed", *_asked(name, grip, touch)), ask)


def better(stage: Stage, name: str, grip: Grip, contact: Key, screen: Screen) -> tuple[Key, Wrap] | None:
    """The wrist laid on a thing and turned a little, so that more fingers hold it; None when nothing is gained, the arm
    can't, or something is in the way."""
    touch = _touch(stage, name, grip, contact)
    ask = partial(wrapped, stage.person.body, "right", grip, touch.thing, touch.distance)
    found = stage.collision.once(("wrapped", *_asked(name, grip, touch)), ask)
    if np.abs(found.thing - touch.thing).max() < SAME:
        return None
    moved = _moved(stage, contact, touch.root @ np.linalg.inv(found.thing))
    if moved is None or screen.hit(stage, moved.body) is not None:
        return None
    return moved, found


def _asked(name: str, grip: Grip, touch: _Touch) -> tuple[str, Grip, bytes]:
    """What a fit depends on: it is the same wherever the wearer stands and its elbow is."""
    return name, grip, (touch.thing / SAME).round().astype(np.int64).tobytes()


def _touch(stage: Stage, name: str, grip: Grip, contact: Key) -> _Touch:
    body = stage.person.body
    frames = body.forward(*contact.body)
    root = stage.collision.frames(name)[stage.placed[name].asset.links[0].name]
    x, y, z = root.local(grip_frame(body, frames, "right", grip)[:3, 3]).tolist()
    at = _matrix(root)
    wrist = np.linalg.inv(joint(frames, "right_wrist"))
    return _Touch(wrist @ at, at, field_at(stage.placed[name].asset, (x, y, z)))


def _moved(stage: Stage, key: Key, wrist: Floats) -> Key | None:
    """The same with the right wrist at a frame (4, 4); None when the arm can't."""
    found = reach(
        stage.person.body,
        key.body,
        "right",
        wrist[:3, 3],
        palm=-wrist[:3, 1],
        fingers=-wrist[:3, 0],
        near=angles_of(key.body.pose, "right"),
        most=0,
    )
    return None if found is None else Key(key.posture, found.body)


def _matrix(at: Frame) -> Floats:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = at.turn, at.at
    return out
