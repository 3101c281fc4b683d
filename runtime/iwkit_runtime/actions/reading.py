"""Reading what one holds: it is lifted before the eyes, what is written on it turned towards them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import LONG, BlockedError, Key, Move, Screen, rest, straight
from iwkit_runtime.body.arms import posed, solutions
from iwkit_runtime.body.covering import uncovered
from iwkit_runtime.body.hands import grip_point
from iwkit_runtime.body.pose import BodyPose
from iwkit_runtime.body.posture import UPRIGHT
from iwkit_runtime.physical.kinematics import Frame, about, frame
from iwkit_runtime.physical.spec import Floats, Label, Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.wearer import Hold

PLACES = ((0.42, 30, 0), (0.36, 40, 15), (0.48, 45, -15), (0.40, 35, 30))
"""Where what is read is held before the eyes: metres, and degrees below and to the right of straight ahead."""
SLANTS, TILTS = (0, -25, 25, -45, 45), (0, 25, -25, 45)
"""Degrees by which the writing may be turned away from the eyes: about its upright, and backwards."""
TURNS = (0, 30, -30, 60, -60, 90, -90, 135, -135, 180)
"""Degrees by which it may be turned about the line of sight."""
FACING = math.cos(math.radians(50))
"""It can be read when its face is no further from the eyes than this."""
FACING_WORTH, UPRIGHT_WORTH, OPEN_WORTH = 1.5, 0.5, 2.0
"""How much it is worth that writing faces the eyes, that it stands upright, and that no hand is before it."""
LOOKED, EACH, TRIES = 32, 2, 6
"""Ways of holding it of which it is found out what the hand leaves open of the writing, with how many arms each, and of
those the ones for which a way there is looked for; the most legible first."""
_RASTER = np.stack(np.meshgrid(np.linspace(-0.45, 0.45, 9), np.linspace(-0.4, 0.4, 4)), -1).reshape(-1, 2)


class Shown(NamedTuple):
    """A way of holding something before the eyes, and how well what is written on it can be read."""

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
    given = [label for label in labels if label.given] or labels[:1]
    ways = [way for label in given for way in _ways(stage, held, label)]
    for shown in sorted(ways, key=lambda way: -way.worth)[:TRIES]:
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
    """How the label can be brought before the eyes, as far as the arm goes: of these the most legible ones."""
    person = stage.person
    upright = person.upright(stage.wearer)
    eye = person.camera(upright)[:3, 3]
    things = list(_things(label, eye, stage.wearer.stand.heading))
    grips = [thing.then(frame(hold.offset).inverse()) for thing in things]
    turns, places = np.array([grip.turn for grip in grips]), np.array([grip.at for grip in grips])
    point = np.broadcast_to(grip_point(person.body, "right", hold.grip), places.shape)
    found = solutions(person.body, upright, "right", places, point, turns[:, :, 1], turns[:, :, 0])
    worths = np.array([_legible(things[goal], label, eye) for goal in found.goal.tolist()])
    for n in _best(worths, found.goal):
        thing = things[found.goal[n]]
        body = BodyPose(posed(upright.pose, "right", found.angles[n]), upright.translation)
        x, y, z = thing.point(label.centre).tolist()
        key = Key(UPRIGHT, body).head(person.looking(body, (x, y, z)))
        eyes = person.camera(key.body)[:3, 3]
        left_open = uncovered(person.body, key.body, thing.point(_raster(label)), eyes)
        yield Shown(float(worths[n]) + OPEN_WORTH * left_open, key, (x, y, z))


def _best(worths: Floats, goals: NDArray[np.intp]) -> list[int]:
    """The numbers of the most legible ways, only a few of each goal."""
    taken: Counter[int] = Counter()
    chosen: list[int] = []
    for n in np.argsort(-worths, kind="stable").tolist():
        goal = int(goals[n])
        if taken[goal] < EACH and len(chosen) < LOOKED:
            taken[goal] += 1
            chosen.append(n)
    return chosen


def _things(label: Label, eye: Floats, heading: float) -> Iterator[Frame]:
    """Where a thing may be so that its label is before the eyes and faces them."""
    written = _axes(np.array(label.normal))
    for (far, below, aside), slant, tilt, turn in product(PLACES, SLANTS, TILTS, TURNS):
        yaw, pitch = heading - math.radians(aside), -math.radians(below)
        ahead = np.array([math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch), math.sin(pitch)])
        leant = about((0, 1, 0), math.radians(slant)) @ about((1, 0, 0), math.radians(tilt))
        if leant[2, 2] < FACING:
            continue
        rotation = _axes(-ahead) @ leant @ about((0, 0, 1), math.radians(turn)) @ written.T
        yield Frame(rotation, eye + far * ahead - rotation @ np.array(label.centre))


def _legible(thing: Frame, label: Label, eye: Floats) -> float:
    """How well a label faces the eyes, upright."""
    to_eye = eye - thing.point(label.centre)
    axes = thing.turn @ _axes(np.array(label.normal))
    return FACING_WORTH * float(axes[:, 2] @ to_eye / np.linalg.norm(to_eye)) + UPRIGHT_WORTH * float(axes[2, 1])


def _raster(label: Label) -> Floats:
    """Points (n, 3) all over a label, in the thing's frame."""
    axes = _axes(np.array(label.normal))
    across = _RASTER[:, :1] * label.width * axes[:, 0] + _RASTER[:, 1:] * label.height * axes[:, 1]
    return np.asarray(np.array(label.centre) + across)


def _axes(out: Floats) -> Floats:
    """The axes (3, 3) of a face: to its right, up, and out of it; of one that lies flat, up is away from its front."""
    up = np.array([0.0, 1, 0]) if abs(out[2]) > 0.7 else np.array([0.0, 0, 1])
    right = np.cross(up, out)
    right /= np.linalg.norm(right)
    return np.column_stack([right, np.cross(out, right), out])
