"""Sitting, and the way there and back: feet planted, the pelvis going back and down while the chest leans over them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body import rotations
from iwkit_runtime.body.arms import reach
from iwkit_runtime.body.hands import relaxed
from iwkit_runtime.body.legs import SIDES, SIGN, highest_pelvis, neutral, plant, rolled
from iwkit_runtime.body.model import Body, Placement
from iwkit_runtime.body.pose import HAND, arm_joints, overlay, pack
from iwkit_runtime.body.posture import UPRIGHT, hanging_arm, stand

Array = NDArray[np.float64]

FORWARD = np.deg2rad(42)
"""How far the chest leans forward halfway, so that the weight stays over the feet."""
UPRIGHT_LEAN = np.deg2rad(4)
"""How far it leans in the end."""
_SPINE = {"spine1": 0.35, "spine2": 0.35, "spine3": 0.30}
_SPINE_SHARE, _NECK_SHARE = 0.35, 0.4
_LAP = (0.30, 0.10, 0.155)
"""Where a wrist rests, metres from the pelvis: ahead, to its own side, up."""


class Seated(NamedTuple):
    """How someone sits: height of the pelvis joint above the floor, and how far it is behind where the wearer would
    stand on the same feet, metres."""

    height: float
    back: float


def lowering(body: Body, seated: Seated, share: float) -> Placement:
    """The body on the way from standing (share 0) to sitting (1), arms hanging; its feet stay where they are.

    Raises:
        UsageError: a place of the pelvis that the legs can't reach from the floor.
    """
    start = stand(body, UPRIGHT).pelvis
    # the hips go back first and down later, as the knees give way
    back, down = np.sin(share * np.pi / 2), share * share * (3 - 2 * share)
    at = np.array([0.0, start[1] + down * (seated.height - start[1]), start[2] - back * (seated.back + start[2])])
    lean = UPRIGHT_LEAN * share + FORWARD * np.sin(np.pi * share) ** 2
    upper = {"pelvis": np.array([(1 - _SPINE_SHARE) * lean, 0, 0]), "neck": np.array([-_NECK_SHARE * lean, 0, 0])}
    upper |= {name: np.array([part * _SPINE_SHARE * lean, 0, 0]) for name, part in _SPINE.items()}
    for side in SIDES:
        upper |= hanging_arm(side, lean)
    rotation = rotations.matrix(upper["pelvis"])
    feet = {side: rolled(body, side, neutral(body, side), 0.0) for side in SIDES}
    highest = highest_pelvis(body, at, rotation, feet)
    if not np.isfinite(highest) or highest < 0.9 * at[1]:
        raise UsageError(f"nobody can sit like {seated}: the feet don't reach the floor")
    at[1] = min(at[1], highest)
    return Placement(pack({**upper, **plant(body, at, rotation, feet)}), at)


@lru_cache(maxsize=64)
def sitting(body: Body, seated: Seated) -> Placement:
    """Sitting with the hands in the lap. The arrays are read-only.

    Raises:
        UsageError: as `lowering`.
    """
    placement = lowering(body, seated, 1.0)
    ahead, aside, up = _LAP
    facing, pose = body.placed(placement, 0, 0, 0), placement.pose
    for side in SIDES:
        # placed at the origin with heading 0: ahead is +x, the left is +y
        goal = (ahead - seated.back, SIGN[side] * aside, seated.height + up)
        found = reach(body, facing, side, goal, palm=(0, -SIGN[side], 0))
        if found is not None:
            pose = overlay(pose, found.body.pose, arm_joints(side))
            pose[HAND[side]] = relaxed(side)
    pose.flags.writeable = placement.pelvis.flags.writeable = False
    return Placement(pose, placement.pelvis)
