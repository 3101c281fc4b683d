"""Reading what one holds: it is lifted before the eyes, what is written on it turned towards them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import LONG, BlockedError, Key, Move, Screen, rest, straight
from iwkit_runtime.body.arms import reach
from iwkit_runtime.body.hands import grip_point
from iwkit_runtime.body.posture import UPRIGHT
from iwkit_runtime.physical.kinematics import Frame, frame
from iwkit_runtime.physical.spec import Floats, Label, Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.wearer import Hold

BEFORE = ((0.42, 30), (0.36, 40), (0.48, 45))
"""Where what is read is held before the eyes: metres, and degrees below straight ahead."""
ASIDE = (0, 15, -15, 30)
"""Degrees to the right of straight ahead."""
SLANT, TURN = (0, -25, 25), (0, 30, -30, 60, 90, -60)
"""Degrees by which the writing may be turned away from the eyes, and about the line of sight."""
FACING = math.cos(math.radians(50))
"""It can be read when its face is no further from the eyes than this."""
TRIES = 6
"""Ways of holding it that are screened, the most legible first."""


class Shown(NamedTuple):
    """A way of holding something before the eyes; `worth` is 1 for what is faced upright, less for what is askew."""

    worth: float
    key: Key
    point: Vector


def show(act: Act, name: str, hold: int) -> bool:
    """Lift what is held before the eyes for some frames, and lower it again; whether there is a free way to do so, and
    something written on it."""
    stage, held = act.stage, act.stage.wearer.hold
    labels = stage.placed[name].asset.labels if name in stage.placed else ()
    if held is None or held.name != name or not labels or stage.wearer.seat is not None:
        return False
    start = rest(stage)
    for shown in sorted(_ways(stage, held, labels[0]), key=lambda way: -way.worth)[:TRIES]:
        try:
            move = straight(stage, [start, shown.key], [LONG], Screen(held))
        except BlockedError:
            continue
        _film(stage, move, shown.point, hold)
        return True
    return False


def _film(stage: Stage, move: Move, point: Vector, hold: int) -> None:
    for body in (*move, *[move[-1]] * (hold - 1), *reversed(move[:-1]), stage.idle()):
        stage.shoot(body, gaze=point)
    stage.sync()


def _ways(stage: Stage, hold: Hold, label: Label) -> Iterator[Shown]:
    """How the label can be brought before the eyes."""
    person = stage.person
    upright = person.upright(stage.wearer)
    lens = person.camera(upright)
    eye, heading = lens[:3, 3], stage.wearer.stand.heading
    normal = np.array(label.normal)
    written = _axes(normal, np.array([0.0, 1, 0]) if abs(normal[2]) > 0.7 else np.array([0.0, 0, 1]))
    point = grip_point(person.body, "right", hold.grip)
    from_grip = frame(hold.offset).inverse()
    for (far, below), aside in product(BEFORE, ASIDE):
        yaw, pitch = heading - math.radians(aside), -math.radians(below)
        ahead = np.array([math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch), math.sin(pitch)])
        for slant, turn in product(SLANT, TURN):
            seen = _axes(-ahead, np.array([0.0, 0, 1])) @ _about(math.radians(slant), math.radians(turn))
            rotation = seen @ written.T
            thing = Frame(rotation, eye + far * ahead - rotation @ np.array(label.centre))
            grip = thing.then(from_grip)
            found = reach(
                person.body, upright, "right", grip.at, point=point, palm=grip.turn[:, 1], fingers=grip.turn[:, 0]
            )
            if found is None:
                continue
            body = found.body
            now = frame(person.held_pose(person.body.forward(*body), hold))
            way = _worth(now, label, written, eye)
            if way is not None:
                x, y, z = now.point(label.centre).tolist()
                key = Key(UPRIGHT, body).head(person.looking(body, (x, y, z)))
                yield Shown(way, key, (x, y, z))


def _worth(thing: Frame, label: Label, written: Floats, eye: Floats) -> float | None:
    """How well a label can be read; None if it can't."""
    to_eye = eye - thing.point(label.centre)
    axes = thing.turn @ written
    facing = float(axes[:, 2] @ to_eye / np.linalg.norm(to_eye))
    return facing + 0.5 * float(axes[2, 1]) if facing >= FACING else None


def _axes(out: Floats, up: Floats) -> Floats:
    """The axes (3, 3) of a face: to its right, up, and out of it; `up` is about upwards."""
    right = np.cross(up, out)
    right /= np.linalg.norm(right)
    return np.column_stack([right, np.cross(out, right), out])


def _about(slant: float, turn: float) -> Floats:
    """The rotation of a face about its upright, then about what comes out of it."""
    c, s = math.cos(slant), math.sin(slant)
    upright = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    c, s = math.cos(turn), math.sin(turn)
    return np.asarray(upright @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]))
