"""Planted feet: two-bone leg IK from pelvis and feet, and how a foot rolls over heel and ball without sliding.

Points are in the axes of a `Placement`: x to the wearer's left, y up, z forward, the origin on the floor. Angles are
radians; a foot's yaw is anticlockwise seen from above, its pitch is positive with the toes up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.body import rotations
from iwkit_runtime.body.model import Body, Indices
from iwkit_runtime.body.pose import INDEX, Side

Array = NDArray[np.float64]

SIDES: tuple[Side, Side] = ("left", "right")
SIGN: Mapping[Side, float] = {"left": 1.0, "right": -1.0}
STRETCH = 0.9985
"""A leg is never straighter than this share of its length: at 1 the knee would snap."""
SPLAY = 0.12
"""How far a knee points outwards of its foot, as a slope."""
WIDTH = 0.75
"""Distance of the feet in standing and walking, as a share of that in the T-pose."""
TOE_OUT = np.deg2rad(4)
_SOLE = 0.02
_FORWARD = np.array([0.0, 0, 1])


class Footprint(NamedTuple):
    """A foot flat on the floor: where its ankle is above (x, z), and the yaw."""

    x: float
    z: float
    yaw: float


class Foot(NamedTuple):
    """A foot as the leg IK wants it: ankle (3,), yaw, pitch, and by how much the toes bend up."""

    ankle: Array
    yaw: float
    pitch: float
    toe: float = 0.0


class Leg(NamedTuple):
    """One leg at rest: hip, knee and ankle (3,) relative to the pelvis joint; the two lengths; relative to the ankle
    the heel (3,) of the sole and the joint (3,) at the ball of the foot; the numbers of the sole's vertices; the
    rotations (3, 3) that take the axes of thigh and shin to rest."""

    hip: Array
    knee: Array
    ankle: Array
    thigh: float
    shin: float
    heel: Array
    ball: Array
    sole: Indices
    thigh_rest: Array
    shin_rest: Array


@cache
def leg_of(body: Body, side: Side) -> Leg:
    """The leg of a body at rest."""
    hip, knee, ankle, toes = (body.joints[INDEX[f"{side}_{name}"]] for name in ("hip", "knee", "ankle", "foot"))
    columns = [INDEX[f"{side}_ankle"], INDEX[f"{side}_foot"]]
    mine = body.weight_table[:, columns].sum(1) > 0.5
    sole = np.flatnonzero(mine & (body.vertices[:, 1] < body.ground + _SOLE)).astype(np.int32)
    heel = np.array([ankle[0], body.ground, body.vertices[sole, 2].min()])
    pelvis = body.joints[0]
    return Leg(
        hip - pelvis,
        knee - pelvis,
        ankle - pelvis,
        float(np.linalg.norm(knee - hip)),
        float(np.linalg.norm(ankle - knee)),
        heel - ankle,
        toes - ankle,
        sole,
        rotations.frame((knee - pelvis) - (hip - pelvis), _FORWARD).T,
        rotations.frame((ankle - pelvis) - (knee - pelvis), _FORWARD).T,
    )


def standing_height(body: Body) -> float:
    """Height of the pelvis joint above the floor in the T-pose."""
    return float(body.joints[0, 1] - body.ground)


def neutral(body: Body, side: Side) -> Footprint:
    """Where a foot stands under someone who stands upright at the origin."""
    ankle = leg_of(body, side).ankle
    return Footprint(float(ankle[0] * WIDTH), float(ankle[2]), float(SIGN[side] * TOE_OUT))


def rolled(body: Body, side: Side, print_: Footprint, pitch: float) -> Foot:
    """The foot on its footprint with a pitch: it turns on the heel when the toes are up, else on the joint at the
    ball, and then the toes stay flat. What it turns on is where it is when the foot is flat."""
    leg = leg_of(body, side)
    pivot = leg.heel if pitch > 0 else leg.ball
    yaw = rotations.about("y", print_.yaw)
    flat = np.array([print_.x, -leg.heel[1], print_.z])
    ankle = flat + yaw @ (pivot - rotations.about("x", -pitch) @ pivot)
    return Foot(ankle, print_.yaw, pitch, max(0.0, -pitch))


def highest_pelvis(body: Body, pelvis: Array, rotation: Array, feet: Mapping[Side, Foot]) -> float:
    """The greatest height of the pelvis joint, kept at its x and z, from which both legs reach their ankles."""
    heights = []
    for side in SIDES:
        leg, ankle = leg_of(body, side), feet[side].ankle
        hip = rotation @ leg.hip
        across = np.hypot(pelvis[0] + hip[0] - ankle[0], pelvis[2] + hip[2] - ankle[2])
        reach = STRETCH * (leg.thigh + leg.shin)
        heights.append(ankle[1] - hip[1] + np.sqrt(max(reach**2 - across**2, 0.0)))
    return float(min(heights))


def plant(
    body: Body, pelvis: Array, rotation: Array, feet: Mapping[Side, Foot], splay: float = SPLAY
) -> dict[str, Array]:
    """Rotations (3,) of hips, knees, ankles and toes that put both ankles where they should be.

    Args:
        pelvis: (3,) place of the pelvis joint, no higher than `highest_pelvis`.
        rotation: (3, 3) of the pelvis in the axes of the placement.
        splay: slope by which the knees point outwards.
    """
    joints: dict[str, Array] = {}
    for side in SIDES:
        leg, foot = leg_of(body, side), feet[side]
        hip = pelvis + rotation @ leg.hip
        line = foot.ankle - hip
        reach = math.sqrt(line.dot(line))
        reach = min(max(reach, abs(leg.thigh - leg.shin) + 1e-6), leg.thigh + leg.shin - 1e-9)
        cosine = (leg.thigh**2 + reach**2 - leg.shin**2) / (2 * leg.thigh * reach)
        yaw = rotations.about("y", foot.yaw)
        down, forward = rotations.frame(line, yaw @ [SIGN[side] * splay, 0, 1]).T[:2]
        knee = hip + leg.thigh * (down * cosine + forward * math.sqrt(max(1 - cosine**2, 0.0)))
        thigh = rotations.frame(knee - hip, forward) @ leg.thigh_rest
        shin = rotations.frame(foot.ankle - knee, forward) @ leg.shin_rest
        sole = yaw @ rotations.about("x", -foot.pitch)
        joints[f"{side}_hip"] = rotations.vector(rotation.T @ thigh)
        joints[f"{side}_knee"] = rotations.vector(thigh.T @ shin)
        joints[f"{side}_ankle"] = rotations.vector(shin.T @ sole)
        joints[f"{side}_foot"] = np.array([-foot.toe, 0, 0])
    return joints
