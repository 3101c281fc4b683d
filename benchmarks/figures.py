"""A body of capsules in many postures, by forward kinematics alone: trunk, legs and head; the arm by two bones.

Shares no code with the planner: postures, balance, legs and arm are worked out anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from iwkit_runtime.audit.depth import EYES, LIMBS, eyes
from iwkit_runtime.audit.film import the_body
from iwkit_runtime.audit.shapes import Bools, Floats
from iwkit_runtime.body.pose import INDEX

LEANS = (0, 20, 40, 60, 80)
"""Degrees by which the chest leans forwards."""
CROUCHES = (0.0, 0.05, 0.12, 0.25, 0.38, 0.5)
"""Metres by which the pelvis is lower."""
PELVIS_SHARE = 0.6
"""Of a lean, the rest is of the spine."""
NECK_SHARE = 0.3
"""Of a lean that the neck takes back."""
GIVE = 0.01
"""Metres by which limbs may be in things: their radii are so much smaller."""
ITSELF = 0.03
"""Metres by which the right arm may be in legs, trunk and head, as in the audit."""
IDLE = ("left upper arm", "left forearm", "eyes")
"""What can get out of its way, or is in the head."""
BESIDE = ("chest", "shoulders", "neck")
"""What the upper arm is beside in any posture."""
SWIVELS = 12
WRIST = math.cos(math.radians(75))
"""Least cosine between forearm and hand."""
BEHIND, ACROSS = 0.85, 0.8
"""Largest share of an upper arm's direction that points back, or across the chest."""
ELBOW = math.radians(35)
"""Least angle in the elbow."""
CHEST = 0.13
"""Metres that an elbow keeps from the middle of the chest."""

UPPER, LOWER = (float(np.linalg.norm(the_body().joints[INDEX[a]] - the_body().joints[INDEX[b]])) for a, b in (
    ("right_shoulder", "right_elbow"), ("right_elbow", "right_wrist")))  # fmt: skip
PALM = float(np.linalg.norm(the_body().joints[INDEX["right_middle1"]] - the_body().joints[INDEX["right_wrist"]]))
RADII = {limb.name.removeprefix("right "): limb.radius for limb in LIMBS}


@dataclass(frozen=True, eq=False)
class Figure:
    """A posture of someone at the origin who faces +x. `starts`, `ends` (n, 3) and `radii` (n,) of the capsules of
    everything but the right arm; `shoulder` (3,) of the right arm; `spine` (2, 3); `ahead` and `left` (3,) of the
    chest; which of the capsules (n,) the right forearm and hand, and which its upper arm, have to keep out of."""

    lean: float
    crouch: float
    starts: Floats
    ends: Floats
    radii: Floats
    shoulder: Floats
    spine: Floats
    ahead: Floats
    left: Floats
    below: Bools
    above: Bools


@cache
def figures() -> tuple[Figure, ...]:
    """All postures, the easiest first."""
    grid = [(lean, crouch) for lean in LEANS for crouch in CROUCHES]
    found = [figure(lean, crouch) for lean, crouch in sorted(grid, key=lambda p: p[0] / 80 + p[1] / 0.5)]
    return tuple(f for f in found if f is not None)


@cache
def figure(lean: float, crouch: float) -> Figure | None:
    """One posture, degrees and metres; None where the legs don't reach."""
    body = the_body()
    tilt = math.radians(lean)
    turns = {"pelvis": PELVIS_SHARE * tilt, "neck": -NECK_SHARE * tilt}
    turns |= dict.fromkeys(("spine1", "spine2", "spine3"), (1 - PELVIS_SHARE) * tilt / 3)
    middle = _about_x(tilt)[:, 1] * 0.28  # from the hips to the middle of the upper body
    back = -0.75 * float(middle[2]) - 0.1 * crouch
    legs = _legs(crouch, back, turns["pelvis"])
    if legs is None:
        return None
    pose = np.zeros((52, 3))
    for name, angle in (turns | legs).items():
        pose[INDEX[name], 0] = angle
    pose[INDEX["left_shoulder"]] = (0, 0, -math.radians(78))
    height = -body.ground - crouch - 0.006
    bones = body.forward(pose.ravel(), (0, -back, height))
    at = _turned(bones[:, :3, 3])
    starts, ends, radii, names = [], [], [], []
    for limb in LIMBS:
        if limb.name.startswith("right ") and limb.name.split()[-1] in {"arm", "forearm", "hand"}:
            continue
        if limb.name in {"left forearm", "left hand"}:
            continue
        starts.append(at[INDEX[limb.start]])
        ends.append(at[INDEX[limb.end]])
        radii.append(limb.radius - GIVE)
        names.append(limb.name)
    axes = _turned(bones[INDEX["spine3"], :3, :3].T)
    elbow = at[INDEX["left_elbow"]]
    starts.append(elbow)  # the left forearm is laid against the chest
    ends.append(elbow + 0.22 * axes[2] * 0.6 - 0.22 * axes[0] * 0.5 + 0.22 * axes[1] * 0.5)
    radii.append(RADII["forearm"] - GIVE)
    eye = _turned(eyes(bones)[None])[0]
    starts.append(eye)
    ends.append(eye + np.array([0, 0, 1e-4]))
    radii.append(EYES)
    head = at[INDEX["head"]]
    starts.append(head)
    ends.append(head + _turned(bones[INDEX["head"], :3, 1][None])[0] * 0.1)
    radii.append(0.085 - GIVE)
    names += ["left forearm", "eyes", "head"]
    below = np.array([name not in IDLE for name in names])
    above = np.array([name not in (*IDLE, *BESIDE) for name in names])
    spine = at[[INDEX["spine1"], INDEX["neck"]]]
    return Figure(
        lean, crouch, np.array(starts), np.array(ends), np.array(radii), at[INDEX["right_shoulder"]], spine,
        axes[2], axes[0], below, above,
    )  # fmt: skip


def crossed(figure_: Figure, starts: Floats, ends: Floats, arm: Floats) -> bool:
    """Whether an arm (4, 3) from the shoulder over elbow and wrist to the knuckles is in the body itself by more than
    `ITSELF`; `starts` and `ends` (n, 3) are the figure's where it stands."""
    line = ends - starts
    radii, kept = [RADII[name] for name in ("upper arm", "forearm", "hand")], (figure_.above, *[figure_.below] * 2)
    for (one, other), radius, which in zip(pairwise(arm), radii, kept, strict=True):
        points = one + np.linspace(0.2, 1, 5)[:, None] * (other - one)
        gap = points[:, None] - starts[which]
        along = (gap * line[which]).sum(-1) / np.maximum((line[which] ** 2).sum(-1), 1e-12)
        gap -= np.clip(along, 0, 1)[..., None] * line[which]
        if (np.linalg.norm(gap, axis=-1) < figure_.radii[which] + GIVE + radius - ITSELF).any():
            return True
    return False


def _legs(crouch: float, back: float, pelvis: float) -> dict[str, float] | None:
    """Angles about the model's x of hips, knees and ankles that keep the soles flat; both sides alike."""
    joints = the_body().joints
    hip, knee, ankle = (joints[INDEX[f"left_{name}"]][1:] for name in ("hip", "knee", "ankle"))
    thigh, shin = float(np.linalg.norm(hip - knee)), float(np.linalg.norm(knee - ankle))
    # the pelvis turns about its joint: where the hip then is
    off = _about_x(pelvis)[1:, 1:] @ (hip - joints[0, 1:])
    root = joints[0, 1:] + (-crouch - 0.006, back)
    way = ankle - (root + off)
    far = float(np.linalg.norm(way))
    if not abs(thigh - shin) + 0.05 < far < thigh + shin:
        return None
    at_hip = math.acos((thigh**2 + far**2 - shin**2) / (2 * thigh * far))
    bearing = math.atan2(way[1], -way[0])  # forwards from straight down
    thigh_to = bearing + at_hip
    point = np.array([-math.cos(thigh_to), math.sin(thigh_to)]) * thigh
    rest_thigh, rest_shin = (math.atan2(b[1] - a[1], a[0] - b[0]) for a, b in ((hip, knee), (knee, ankle)))
    shin_to = math.atan2((way - point)[1], -(way - point)[0])
    turn_thigh, turn_shin = -(thigh_to - rest_thigh), -(shin_to - rest_shin)
    angles = {"hip": turn_thigh - pelvis, "knee": turn_shin - turn_thigh, "ankle": -turn_shin}
    return {f"{side}_{name}": angle for side in ("left", "right") for name, angle in angles.items()}


def arms(shoulder: Floats, wrists: Floats) -> Floats:
    """Elbows (n, SWIVELS, 3) for a shoulder (3,) and wrists (n, 3); NaN where the arm doesn't reach."""
    way = wrists - shoulder
    far = np.linalg.norm(way, axis=1)
    least = math.sqrt(UPPER**2 + LOWER**2 - 2 * UPPER * LOWER * math.cos(ELBOW))
    good = (far < UPPER + LOWER - 0.004) & (far > least)
    far = np.where(good, far, np.nan)
    along = (UPPER**2 - LOWER**2 + far**2) / (2 * far)
    out = np.sqrt(np.maximum(UPPER**2 - along**2, 0))
    axis = way / far[:, None]
    down = np.array([0, 0, -1.0]) - axis * axis[:, 2:3] * -1
    short = np.linalg.norm(down, axis=1) < 1e-3
    down[short] = np.cross(axis[short], [1.0, 0, 0])
    down /= np.linalg.norm(down, axis=1, keepdims=True)
    side = np.stack([axis[:, i] * down[:, j] - axis[:, j] * down[:, i] for i, j in ((1, 2), (2, 0), (0, 1))], 1)
    angles = np.arange(SWIVELS) * math.tau / SWIVELS
    ring = np.cos(angles)[None, :, None] * down[:, None] + np.sin(angles)[None, :, None] * side[:, None]
    return np.asarray(shoulder + (axis * along[:, None])[:, None] + out[:, None, None] * ring)


def natural(shoulder: Floats, spine: Floats, axes: Floats, elbows: Floats, wrists: Floats, fingers: Floats) -> Floats:
    """Which elbows (n, k) of wrists (n, 3) with fingers along (n, 3) a person's joints allow; `axes` (2, 3) are the
    directions ahead and to the left of the chest in the world."""
    upper = (elbows - shoulder) / UPPER
    lower = (wrists[:, None] - elbows) / LOWER
    good = (lower * fingers[:, None]).sum(-1) > WRIST
    good &= (upper @ axes[0] > -BEHIND) & (upper @ axes[1] < ACROSS)
    line = spine[1] - spine[0]
    share = np.clip((elbows - spine[0]) @ line / float(line @ line), 0, 1)
    gap = np.linalg.norm(elbows - spine[0] - share[..., None] * line, axis=-1)
    return np.asarray(good & (gap > CHEST))


def _about_x(angle: float) -> Floats:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def _turned(points: Floats) -> Floats:
    """From facing -y, as the body with a zero root does, to facing +x."""
    return np.asarray(points @ np.array([[0, 1.0, 0], [-1, 0, 0], [0, 0, 1]]))
