"""The 36 action primitives of Table 5 as data: surface verbs, arguments in order, scalar, meaning (SEM-2, SEM-3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ScalarKind = Literal["distance", "angle", "duration", "angle_error"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """The optional number of a primitive. `default` and the closed range are in the unit named (B.3.1)."""

    kind: ScalarKind
    unit: Literal["m", "deg", "s"]
    default: float
    low: float
    high: float
    low_open: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Primitive:
    """One row of Table 5.

    `verbs` are the accepted surface verbs, the first one canonical. `args` name the entity arguments in order; the
    last `optional` of them may be left out. `connectors` are the positions of symbolic connector arguments, whose
    instance index defaults to 0 instead of 1. `spot` says that `@place_spot=u:v` is accepted.
    """

    name: str
    group: str
    verbs: tuple[str, ...]
    args: tuple[str, ...] = ()
    optional: int = 0
    connectors: frozenset[int] = frozenset()
    scalar: Scalar | None = None
    scalar_verbs: frozenset[str] | None = None
    spot: bool = False


_DISTANCE = Scalar("distance", "m", 0.6, 0.0, 20.0, low_open=True)
_ANGLE = Scalar("angle", "deg", 90.0, 0.0, 360.0, low_open=True)
_DURATION = Scalar("duration", "s", 3.0, 0.1, 600.0)
_ANGLE_ERROR = Scalar("angle_error", "deg", 0.0, -180.0, 180.0, whole=True)

PACE = 0.6
"""Metres in one pace: the default Forward distance, so that `[Forward]` and `[Forward] 1` are the same (ours)."""

PRIMITIVES: tuple[Primitive, ...] = (
    Primitive("navigate_to", "locomotion", ("Walk", "Run", "WalkTowards"), ("target",)),
    Primitive("forward", "locomotion", ("Forward", "WalkForward"), scalar=_DISTANCE),
    Primitive(
        "turn",
        "locomotion",
        ("TurnLeft", "TurnRight", "TurnAround"),
        scalar=_ANGLE,
        scalar_verbs=frozenset({"TurnLeft", "TurnRight"}),
    ),
    Primitive("sit", "locomotion", ("Sit",), ("seat",)),
    Primitive("standup", "locomotion", ("StandUp",)),
    Primitive("squat", "locomotion", ("Squat", "SquatDown")),
    Primitive("pick", "grasping", ("Grab",), ("object",)),
    Primitive("release", "grasping", ("Drop", "Release"), ("object",), optional=1),
    Primitive("flip", "grasping", ("Flip", "TurnOver"), ("object",)),
    Primitive("place", "grasping", ("Put", "PutBack", "PutObjBack", "PutOn"), ("object", "surface"), spot=True),
    Primitive(
        "place_inside",
        "grasping",
        ("PutInside", "PutIn", "Insert"),
        ("object", "container", "region"),
        optional=1,
        connectors=frozenset({2}),
        spot=True,
    ),
    Primitive("place_on_floor", "grasping", ("PutOnFloor",), ("object", "anchor"), spot=True),
    Primitive("fall_to_floor", "grasping", ("FallToFloor",), ("object", "anchor")),
    Primitive(
        "attach",
        "assembly",
        ("Attach", "Assemble", "Install"),
        ("child", "child_connector", "parent", "parent_connector"),
        connectors=frozenset({1, 3}),
        scalar=_ANGLE_ERROR,
    ),
    Primitive("detach", "assembly", ("Detach", "Disassemble", "Remove"), ("child", "parent")),
    Primitive("raise", "assembly", ("Raise", "Erect", "StandUpright"), ("assembly",)),
    Primitive("push", "fixtures", ("Push", "PushRack"), ("fixture", "destination")),
    Primitive("pull", "fixtures", ("Pull", "PullRack"), ("fixture", "destination")),
    Primitive("open", "fixtures", ("Open",), ("object",)),
    Primitive("close", "fixtures", ("Close",), ("object",)),
    Primitive("open_door", "fixtures", ("OpenDoor",), ("door",)),
    Primitive("close_door", "fixtures", ("CloseDoor",), ("door",)),
    Primitive("turn_on", "devices", ("TurnOn", "SwitchOn"), ("device",)),
    Primitive("turn_off", "devices", ("TurnOff", "SwitchOff"), ("device",)),
    Primitive("cook", "devices", ("Cook",), ("food",)),
    Primitive("cut", "devices", ("Cut",), ("target", "tool")),
    Primitive("stir", "devices", ("Stir",), ("target", "tool")),
    Primitive("pour", "devices", ("Pour",), ("target", "source")),
    Primitive("wipe", "devices", ("Wipe",), ("tool", "target")),
    Primitive("use_computer", "devices", ("UseComputer", "Type"), ("workstation",)),
    Primitive("answer_phone", "devices", ("AnswerPhone",), ("phone",)),
    Primitive("look_around", "perception", ("LookAround",)),
    Primitive("look_scan", "perception", ("LookScan",)),
    Primitive("look_at", "perception", ("LookAt",), ("target",)),
    Primitive("wait", "perception", ("Wait",), scalar=_DURATION),
    Primitive("confirm", "perception", ("Confirm",)),
)

BY_NAME: dict[str, Primitive] = {p.name: p for p in PRIMITIVES}
SURFACE: dict[str, tuple[Primitive, str]] = {verb.lower(): (p, verb) for p in PRIMITIVES for verb in p.verbs}
"""Surface verb in lower case -> its primitive and its spelling in Table 5. Aliases are case-insensitive."""
