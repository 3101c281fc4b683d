"""The thresholds of all measured relations in one table (docs/relations.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from iwkit.world.checks import MATED, NEAR
from iwkit.world.layout import CLEARANCE


class Tolerance(NamedTuple):
    """A threshold: its value and unit, what it bounds, why it is what it is, and, where it has hysteresis, the value up
    to which what was true stays true."""

    value: float
    unit: str
    bounds: str
    why: str
    ends: float | None = None


TOLERANCES: Mapping[str, Tolerance] = {
    "resting": Tolerance(
        0.015,
        "m",
        "gap between a thing and what it rests on",
        "far above what settling leaves, far below any shelf's height",
    ),
    "level": Tolerance(
        0.003, "m", "by how much a gap may exceed the smallest and still be a touch", "things never lie quite flat"
    ),
    "beyond": Tolerance(
        0.01,
        "m",
        "centre of mass outside of the touches that together bear a thing",
        "touches are found on sampled lines",
    ),
    "volume": Tolerance(
        0.6,
        "share",
        "least share of its volume that is in an interior",
        "what sticks out of an open box by a third is in it; contents shift when something is put to them",
        0.55,
    ),
    "centre": Tolerance(
        0.0,
        "m",
        "centre of mass outside of an interior",
        "as for `volume`; one thing that is shoved shoves others",
        0.005,
    ),
    "near": Tolerance(NEAR, "m", "gap on the plan between two things near each other", "goal language, section 3"),
    "wearer": Tolerance(
        CLEARANCE,
        "m",
        "radius of the wearer on the plan, whose gaps count from there",
        "the widest body that routes are cleared for",
    ),
    "open": Tolerance(
        0.92,
        "share",
        "least share of its range at which a joint is open",
        "ten degrees short shows, on doors up to 120",
    ),
    "closed": Tolerance(
        0.02, "share", "largest share of its range at which a joint is closed", "ajar by two degrees is shut to the eye"
    ),
    "moved": Tolerance(
        0.03, "m", "distance from the place at the handoff", "a hand puts things back about so well", 0.035
    ),
    "tilt": Tolerance(
        15.0, "degrees", "leaning away from how it stood at the handoff", "what fell over did not stay", 17.0
    ),
    "mated": Tolerance(
        0.005,
        "m",
        "distance of the connectors of two parts that are attached",
        "a seam of 1 mm, and what settling leaves",
    ),
    "crooked": Tolerance(
        MATED,
        "degrees",
        "turn of an attached part away from the nearest quarter turn",
        "more is seen at once, and is asked for by a wrong angle on purpose",
    ),
    "seat": Tolerance(
        0.2,
        "m",
        "height of the hips above what the wearer sits on",
        "a pelvis sits 11 cm above a seat, and stands at 90",
    ),
    "raised": Tolerance(
        75.0, "degrees", "least lean away from lying at which a thing stands upright", "it may lean back a little"
    ),
    "field_across": Tolerance(90.0, "degrees", "width of the field of view", "the head camera's"),
    "field_up": Tolerance(75.0, "degrees", "height of the field of view", "the head camera's"),
    "seen_share": Tolerance(
        0.15,
        "share",
        "least share of the rays within the field of view that reach a thing",
        "less is a sliver behind an edge",
    ),
    "seen_rays": Tolerance(3.0, "rays", "least number of rays that reach a thing", "one ray may slip through a crack"),
    "seen_cells": Tolerance(
        3.0,
        "rays",
        "of 48 x 36 rays across the picture, those that show a thing to be in view whatever else hides",
        "some 530 of 640 x 480 pixels: a part of something big is seen, too",
    ),
    "seen_area": Tolerance(
        6.0, "pixels", "least area in the picture that is not hidden", "less is a speck: a key in the next room"
    ),
    "seen_angle": Tolerance(
        0.4, "degrees", "least angle that a thing spans for the eye", "three pixels of a frame 640 wide"
    ),
}
"""Name -> threshold."""


def limit(name: str, *, was: bool = False) -> float:
    """A threshold's value; for what `was` true before, that at which it ends."""
    row = TOLERANCES[name]
    return row.value if row.ends is None or not was else row.ends
