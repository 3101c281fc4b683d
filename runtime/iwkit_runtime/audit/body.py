"""How the wearer moves: no teleports of body or limbs, feet on the floor (ACT-5, PHY-3)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iwkit_runtime.audit.film import Film, Place, Shot, the_body
from iwkit_runtime.audit.shapes import Floats
from iwkit_runtime.body.pose import JOINTS

DOWN = 0.004
"""Metres above the floor up to which a point of a sole is down."""

_LOWER = [n for n, name in enumerate(JOINTS) if name.endswith(("knee", "ankle", "foot"))]
_UPPER = [n for n in range(len(JOINTS)) if n not in _LOWER]


class Measure(NamedTuple):
    """A figure of one check, where it is, and what it is of."""

    check: str
    value: float
    place: Place
    what: str


def moves(film: Film) -> Iterator[Measure]:
    """The wearer's place, pelvis and joints from frame to frame."""
    parents = _parents()
    for before, after in film.pairs():
        place = after.place
        yield Measure("step", math.dist(before.stand[:2], after.stand[:2]), place, "the wearer")
        turn = abs(math.remainder(after.stand[2] - before.stand[2], math.tau))
        yield Measure("turn", math.degrees(turn), place, "the wearer")
        moved = np.linalg.norm(after.bones[:, :3, 3] - before.bones[:, :3, 3], axis=1)
        yield Measure("pelvis", float(moved[0]), place, "pelvis")
        for check, bones in (("limb", _UPPER), ("foot", _LOWER)):
            far = bones[int(moved[bones].argmax())]
            yield Measure(check, float(moved[far]), place, JOINTS[far])
        angles = _angles(_local(before.bones, parents), _local(after.bones, parents))
        most = int(angles[1:].argmax()) + 1
        yield Measure("joint", float(angles[most]), place, JOINTS[most])


def standing(film: Film) -> Iterator[Measure]:
    """The body is where the wearer is said to stand."""
    for shot in film.shots:
        x, y, heading = shot.stand
        yield Measure("agree", math.dist((x, y), shot.bones[0, :2, 3].tolist()), shot.place, "pelvis")
        ahead = shot.bones[0, :2, 2]
        apart = abs(math.remainder(math.atan2(ahead[1], ahead[0]) - heading, math.tau))
        yield Measure("facing", math.degrees(apart), shot.place, "pelvis")


def feet(film: Film) -> Iterator[Measure]:
    """Soles on the floor, and no sliding of what is down in two frames one after the other."""
    soles = film.soles
    for n, shot in enumerate(film.shots):
        yield Measure("soles", abs(float(soles[n, :, 2].min())), shot.place, "soles")
        if n:
            down = (soles[n - 1 : n + 1, :, 2] < DOWN).all(0)
            slid = np.linalg.norm(soles[n, down, :2] - soles[n - 1, down, :2], axis=1)
            yield Measure("slip", float(slid.max(initial=0.0)), shot.place, "a foot that is down")


def hand_points(shot: Shot, side: str) -> Floats:
    """Points of a hand (n, 3): the wrist, the joints of its fingers, and the ends of these."""
    body = the_body()
    mine = [n for n, name in enumerate(JOINTS) if name.startswith(f"{side}_") and name[-1].isdigit()]
    ends = [n for n in mine if JOINTS[n].endswith("3")]
    tips = [shot.bones[n, :3, :3] @ (body.tips[n] - body.joints[n]) + shot.bones[n, :3, 3] for n in ends]
    return np.array([shot.bones[JOINTS.index(f"{side}_wrist"), :3, 3], *shot.bones[mine, :3, 3], *tips])


def _parents() -> list[int]:
    return [max(0, int(parent)) for parent in the_body().parents]


def _local(bones: Floats, parents: list[int]) -> Floats:
    return np.asarray(np.swapaxes(bones[parents, :3, :3], 1, 2) @ bones[:, :3, :3])


def _angles(one: Floats, other: Floats) -> Floats:
    trace = np.einsum("nij,nij->n", one, other)
    return np.asarray(np.degrees(np.arccos(np.clip((trace - 1) / 2, -1, 1))))
