"""A small room made by hand: a table, a cabinet with a drawer and a door that has a tray, a trolley, loose things."""

from __future__ import annotations

import numpy as np
import pytest

from iwkit_runtime.physical.scene_spec import Placed, SceneSpec, Static
from iwkit_runtime.physical.spec import Asset, Joint, Link, Material, Piece, Visual

GREY = Material("grey", (0.6, 0.6, 0.6, 1.0))
RED = Material("red", (0.9, 0.1, 0.1, 1.0))
CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
SIDES = "013 032 467 475 045 051 237 276 026 064 157 173"
FACES = np.array([[int(corner) for corner in side] for side in SIDES.split()], np.int32)


def box(low: tuple[float, float, float], high: tuple[float, float, float]) -> np.ndarray:
    return np.array(low) + CORNERS * (np.array(high) - np.array(low))


def link(name: str, *boxes: np.ndarray, parent: str | None = None, joint: Joint | None = None, material=GREY) -> Link:
    visuals = tuple(Visual(corners, FACES, None, material) for corners in boxes)
    return Link(name, parent, visuals, tuple(map(Piece, boxes)), joint)


def block(size: tuple[float, float, float], mass: float = 0.3, material: Material = RED) -> Asset:
    """A plain box that stands on the floor."""
    x, y, z = size
    return Asset("block", size, mass, (link("body", box((-x / 2, -y / 2, 0), (x / 2, y / 2, z)), material=material),))


def slab(width: float, depth: float, height: float) -> Asset:
    """A table top 2 cm thick on two panels."""
    x, y = width / 2, depth / 2
    top = box((-x, -y, height - 0.02), (x, y, height))
    panels = (box((-x, -y, 0), (-x + 0.03, y, height - 0.02)), box((x - 0.03, -y, 0), (x, y, height - 0.02)))
    return Asset("table", (width, depth, height), 20, (link("body", top, *panels),))


def cabinet() -> Asset:
    """0.6 m wide: a drawer below, and a door on a hinge at the right with a tray on its inner side."""
    shell = (
        box((-0.30, 0.20, 0), (0.30, 0.22, 1)),
        box((-0.30, -0.2, 0), (-0.28, 0.2, 1)),
        box((0.28, -0.2, 0), (0.30, 0.2, 1)),
        box((-0.28, -0.2, 0.40), (0.28, 0.2, 0.42)),
        box((-0.28, -0.2, 0.98), (0.28, 0.2, 1)),
    )
    drawer = (
        box((-0.27, -0.22, 0.05), (0.27, 0.15, 0.07)),
        box((-0.27, -0.22, 0.07), (0.27, -0.20, 0.30)),
        box((-0.27, 0.13, 0.07), (0.27, 0.15, 0.30)),
    )
    door = (
        box((-0.30, -0.22, 0.42), (0.30, -0.20, 1)),
        box((-0.25, -0.20, 0.50), (0.25, -0.10, 0.51)),
        box((-0.25, -0.11, 0.51), (0.25, -0.10, 0.56)),
    )
    slide = Joint("slide", (0, -1, 0), (0, 0, 0), 0, 0.3)
    hinge = Joint("hinge", (0, 0, 1), (0.3, -0.22, 0), 0, float(np.pi / 2))
    links = (
        link("body", *shell),
        link("drawer", *drawer, parent="body", joint=slide),
        link("door", *door, parent="body", joint=hinge),
    )
    return Asset("cabinet", (0.6, 0.44, 1), 30, links)


def tray() -> Asset:
    return Asset("tray", (0.4, 0.3, 0.02), 0.5, (link("body", box((-0.2, -0.15, 0), (0.2, 0.15, 0.02))),))


def case() -> Asset:
    """A box with a lid on a hinge: an object with a joint of its own."""
    base = link("body", box((-0.15, -0.1, 0), (0.15, 0.1, 0.03)))
    hinge = Joint("hinge", (-1, 0, 0), (0, 0.1, 0.03), 0, 2.0)
    lid = link("lid", box((-0.15, -0.1, 0.03), (0.15, 0.1, 0.04)), parent="body", joint=hinge)
    return Asset("case", (0.3, 0.2, 0.04), 1.0, (base, lid))


@pytest.fixture
def room() -> SceneSpec:
    floor = Static(
        "floor",
        "floor",
        (Visual(box((-3, -3, -0.1), (3, 3, 0)), FACES, None, GREY),),
        (Piece(box((-3, -3, -0.1), (3, 3, 0))),),
    )
    return SceneSpec(
        (floor,),
        (
            Placed("table", "fixture", slab(1.2, 0.7, 0.75), (0, 0, 0), 0.0),
            Placed("cabinet", "fixture", cabinet(), (2, 0, 0), 0.5, {"drawer": 0.0, "door": 0.0}),
            Placed("trolley", "fixture", slab(0.6, 0.4, 0.9), (-2, 0, 0), 1.0),
            Placed("cube", "object", block((0.08, 0.08, 0.08)), (0, 0, 0.754), 0.0),
            Placed("tray", "object", tray(), (-0.35, 0, 0.754), 0.2),
            Placed("cup", "object", block((0.06, 0.06, 0.1)), (-0.35, 0, 0.778), 0.2),
            Placed("case", "object", case(), (0.4, 0, 0.754), 0.0, {"lid": 0.0}),
            Placed("sheet", "object", block((0.21, 0.297, 0.002), 0.005), (0, -1.5, 0.004), 0.0),
        ),
    )
