"""What is checked, and how much is allowed, in one table (docs/audit.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Limit(NamedTuple):
    """A check: the largest figure that passes, its unit, and what the figure is."""

    value: float
    unit: str
    what: str


LIMITS: Mapping[str, Limit] = {
    "finite": Limit(0, "", "numbers of a frame that are not finite, and things or joints that the scene has not"),
    "unit": Limit(0.001, "", "by how much the length of a quaternion differs from 1"),
    "time": Limit(0, "frames", "difference between the frames of a command and its receipt"),
    "step": Limit(0.1, "m", "movement of the wearer's place on the floor in a frame"),
    "turn": Limit(10, "degrees", "turn of the wearer's heading in a frame"),
    "pelvis": Limit(0.14, "m", "movement of the pelvis in a frame"),
    "joint": Limit(60, "degrees", "turn of a joint of the body against the bone before it in a frame"),
    "limb": Limit(0.35, "m", "movement of a joint of the body above the knees in a frame"),
    "foot": Limit(0.65, "m", "movement of a joint of the leg from the knee down in a frame"),
    "agree": Limit(0.35, "m", "distance on the plan from the wearer's place to the pelvis"),
    "facing": Limit(15, "degrees", "angle on the plan between the wearer's heading and where the pelvis faces"),
    "soles": Limit(0.02, "m", "distance of the lowest point of the soles from the floor"),
    "slip": Limit(0.02, "m", "movement along the floor of a point of a sole that is down before and after a frame"),
    "hand": Limit(0.03, "m", "distance of the right hand's joints from a thing when it is taken"),
    "held": Limit(0.002, "m", "movement of a held thing in the frame of the wrist"),
    "held_turn": Limit(0.5, "degrees", "turn of a held thing in the frame of the wrist"),
    "unheld": Limit(0.002, "m", "movement of a thing that nothing carries, lets fall or pushes"),
    "fall": Limit(
        0.02, "m", "movement in a frame of a thing let go of, beyond the speed that its fall so far gives it"
    ),
    "jolt": Limit(0.02, "m", "way that a thing made in a command that let go of something or moved a joint"),
    "pushed": Limit(0.30, "m", "distance of the nearer hand from what is pushed or pulled"),
    "fixture": Limit(0.001, "m", "movement of a fixture or door frame from its place"),
    "joint_range": Limit(0.001, "rad or m", "value of a thing's joint beyond its limits"),
    "joint_speed": Limit(0.15, "rad or m", "movement of a thing's joint in a frame"),
    "joint_hand": Limit(0.10, "m", "distance of the left hand from the moving part when it begins to move"),
    "limbs": Limit(0.03, "m", "depth of the body in anything but the floor"),
    "contact": Limit(0.035, "m", "depth of a hand in what the command handles"),
    "eyes": Limit(0, "m", "depth of a ball of 5 cm around the eyes in anything"),
    "itself": Limit(0.03, "m", "depth of the wearer's limbs in one another"),
    "own": Limit(0.03, "m", "depth of a held thing in the wearer's own limbs but the hand and forearm that hold it"),
    "own_head": Limit(0.005, "m", "depth of a held thing in the wearer's own head"),
    "load": Limit(0.0025, "m", "depth of a held thing in anything it does not touch when it is taken"),
    "final": Limit(0.0025, "m", "depth of a moved thing in anything at the end of a command"),
}
