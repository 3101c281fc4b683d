"""Cabinets: walls around a cavity, boards in it, and a door, flap, drawer or sliding panel in front, if any."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from iwkit.errors import UsageError
from iwkit.spec.recipe import CabinetRecipe, Door
from iwkit_runtime.assets.builder import SPARE, Builder, vector
from iwkit_runtime.assets.kinds import Frame, top_surface
from iwkit_runtime.physical.spec import Floats, Joint, Vector

GAP = 0.002
"""Between a door and what it closes, in metres."""
STAND_OFF = 0.035
"""How far a handle stands out from its door, in metres."""
DRAWER_WALL, DRAWER_SIDES = 0.012, 0.5
"""How thick the sides and back of a drawer are in metres, and how high as a share of its space: a hand gets in."""
OVERLAP = 0.02
"""By how much two sliding panels overlap."""
HIGHEST = 0.3
"""What stands in a tray on a door is no higher, metres."""
FREE_HINGE_SIDE = 0.04
"""What the tray on a door keeps from the cavity's sides, so that it swings clear."""


def cabinet(build: Builder, recipe: CabinetRecipe, frame: Frame) -> None:
    """Build the carcass, its boards and its door."""
    width, depth, height = frame.size
    wide, deep, high = frame.interior
    door = recipe.door
    front = -depth / 2 + (door.thickness + GAP if door else 0.0)
    low = np.array([-wide / 2, front, recipe.floor])
    cavity = (low, low + np.array([wide, deep, high]))
    if cavity[1][1] > depth / 2 - GAP or cavity[1][2] > height - recipe.top:
        raise UsageError(
            f"a {frame.name} of {width} x {depth} x {height} m has no room for its interior: make it larger"
        )
    _carcass(build, recipe, frame, cavity)
    if door is None:
        _compartments(build, recipe, cavity, cavity)
    else:
        span = _front(build, recipe, door, frame, front)
        DOORS[door.opens](build, door, span, cavity)
        if door.opens != "drawer":
            _compartments(build, recipe, cavity, _opening(door, span, cavity))
    if frame.affords("surface"):
        top_surface(build, frame)


Box = tuple[Floats, Floats]
"""Lowest and highest corner."""


def _carcass(build: Builder, recipe: CabinetRecipe, frame: Frame, cavity: Box) -> None:
    width, depth, height = frame.size
    (left, front, floor), (right, back, ceiling) = cavity
    low, top, rear = recipe.plinth, height - recipe.top, depth / 2
    build.box("main", (-width / 2, front, low), (left, rear, top))
    build.box("main", (right, front, low), (width / 2, rear, top))
    build.box("inside" if recipe.door else "main", (left, front, low), (right, rear, floor))
    build.box("main", (left, front, ceiling), (right, rear, top))
    build.box("inside", (left, back, floor), (right, rear, ceiling))
    build.box(build.either("top", "main"), (-width / 2, -depth / 2, top), (width / 2, rear, height))
    _stand(build, recipe, width, depth)


def _stand(build: Builder, recipe: CabinetRecipe, width: float, depth: float) -> None:
    """Four feet, or a base that is set back at the front."""
    low, leg = recipe.plinth, 0.045
    if not recipe.feet:
        build.box("trim", (-width / 2, -depth / 2 + 0.05, 0), (width / 2, depth / 2, low))
        return
    for x in (-width / 2 + 0.01, width / 2 - 0.01 - leg):
        for y in (-depth / 2 + 0.01, depth / 2 - 0.01 - leg):
            build.box("trim", (x, y, 0), (x + leg, y + leg, low))


def _front(build: Builder, recipe: CabinetRecipe, door: Door, frame: Frame, front: float) -> Box:
    """Build the fixed panels around the door, and return the space that the door fills."""
    width, depth, height = frame.size
    left, right, below, above = door.panel
    face = -depth / 2
    low = np.array([-width / 2, face, recipe.plinth])
    high = np.array([width / 2, face + door.thickness, height - recipe.top - (GAP if recipe.top else 0)])
    build.box(build.either("panel", "main"), low, (low[0] + left, front, high[2]))
    build.box(build.either("panel", "main"), (high[0] - right, face, low[2]), (high[0], front, high[2]))
    inner = (low[0] + left, high[0] - right)
    build.box(build.either("panel", "main"), (inner[0], face, low[2]), (inner[1], front, low[2] + below))
    build.box(build.either("panel", "main"), (inner[0], face, high[2] - above), (inner[1], front, high[2]))
    keep = [GAP * bool(edge) for edge in door.panel]
    start = (inner[0] + keep[0], face, low[2] + below + keep[2])
    end = (inner[1] - keep[1], high[1], high[2] - above - keep[3])
    return np.array(start), np.array(end)


def _opening(door: Door, span: Box, cavity: Box) -> Box:
    """The part of the cavity that can be reached past an open door and what hangs on its inside."""
    (left, front, floor), (right, back, ceiling) = cavity
    front += door.pocket + (0.02 if door.pocket else 0)
    first, last = max(left, span[0][0]), 0.0 if door.opens == "slide" else min(right, span[1][0])
    return np.array([first, front, floor]), np.array([last, back, ceiling])


def _compartments(build: Builder, recipe: CabinetRecipe, cavity: Box, opening: Box) -> None:
    """Boards across the cavity, and the space above each of them as far as the opening reaches."""
    (left, _, floor), (right, back, ceiling) = cavity
    first, front, last = opening[0][0], opening[0][1], opening[1][0]
    tops = [floor, *(floor + share * (ceiling - floor) for share in recipe.shelves)]
    for z in tops[1:]:
        build.box(build.either("shelf", "inside"), (left, front, z - recipe.shelf), (right, back, z))
    for number, z in enumerate(tops):
        over = tops[number + 1] - recipe.shelf if number + 1 < len(tops) else ceiling
        build.compartment(number, (first, front, z), (last, back, over))


def _hinged(build: Builder, door: Door, span: Box, cavity: Box) -> None:
    low, high = span[0].copy(), span[1].copy()
    leftwards = door.opens == "left"
    # The inner corner of the free edge swings wider than the door: what stands beside it must not be touched.
    spare = door.thickness**2 / (2 * (high[0] - low[0])) + SPARE
    if leftwards:
        high[0] -= spare
    else:
        low[0] += spare
    hinge, axis, x = (low[0], -1.0, high[0] - 0.045) if leftwards else (high[0], 1.0, low[0] + 0.045)
    z = low[2] + (high[2] - low[2]) * door.handle_at
    joint = Joint("hinge", (0.0, 0.0, axis), vector((hinge, low[1], 0)), 0.0, float(np.radians(door.open)))
    _door(build, door, (low, high), joint, (x, low[1], z))
    for number, share in enumerate(door.trays if door.pocket else ()):
        _tray(build, door, number, share, (span, cavity))


def _flap(build: Builder, door: Door, span: Box, _cavity: Box) -> None:
    low, high = span
    joint = Joint("hinge", (1.0, 0.0, 0.0), vector((0, low[1], low[2])), 0.0, float(np.radians(door.open)))
    _door(build, door, span, joint, ((low[0] + high[0]) / 2, low[1], high[2] - 0.05))


def _drawer(build: Builder, door: Door, span: Box, cavity: Box) -> None:
    low, high = span
    (left, front, floor), (right, back, ceiling) = cavity
    joint = Joint("slide", (0.0, -1.0, 0.0), (0.0, 0.0, 0.0), 0.0, float(door.open * (back - front)))
    z = low[2] + (high[2] - low[2]) * door.handle_at
    _door(build, door, span, joint, ((low[0] + high[0]) / 2, low[1], z))
    wall = DRAWER_WALL
    x0, x1, y1 = left + 2 * GAP, right - 2 * GAP, back - 2 * GAP
    floor, top, front = floor + 2 * GAP, floor + DRAWER_SIDES * (ceiling - floor), low[1] + door.thickness
    build.box("inside", (x0, front, floor), (x1, y1, floor + wall), link="door")
    build.box("inside", (x0, front, floor + wall), (x0 + wall, y1, top), link="door")
    build.box("inside", (x1 - wall, front, floor + wall), (x1, y1, top), link="door")
    build.box("inside", (x0 + wall, y1 - wall, floor + wall), (x1 - wall, y1, top), link="door")
    build.compartment(0, (x0 + wall, front, floor + wall), (x1 - wall, y1 - wall, ceiling), "door")


def _sliding(build: Builder, door: Door, span: Box, _cavity: Box) -> None:
    """Two panels on two tracks: the left one slides to the right, in front of the right one, which is fixed."""
    low, high = span
    middle, thick = (low[0] + high[0]) / 2, (high[1] - low[1] - GAP) / 2
    build.box(door.material, (middle - OVERLAP, high[1] - thick, low[2]), high)
    leaf = (low, np.array([middle + OVERLAP, low[1] + thick, high[2]]))
    joint = Joint("slide", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, float(middle - low[0] - OVERLAP))
    z = low[2] + (high[2] - low[2]) * door.handle_at
    _door(build, door, leaf, joint, (low[0] + 0.05, low[1], z))
    seam = (leaf[1][0] - 0.006, low[1] - 0.0008, low[2]), (leaf[1][0], low[1], high[2])
    build.box("trim", *seam, link="door", solid=False)


DOORS: dict[str, Callable[[Builder, Door, Box, Box], None]] = {
    "left": _hinged,
    "right": _hinged,
    "flap": _flap,
    "drawer": _drawer,
    "slide": _sliding,
}


def _door(build: Builder, door: Door, span: Box, joint: Joint, at: Vector) -> None:
    """The moving link: a slab with a pane and a handle; `at` is the handle's middle on the slab's face."""
    low, high = span
    handle = np.array(at) - [0, STAND_OFF, 0]
    build.moving("door", joint, handle)
    build.box(door.material, low, high, link="door")
    if door.window:
        size = high - low
        inset = np.array([size[0] * 0.13, -0.0015, size[2] * 0.16])
        build.box(
            door.window,
            low + inset,
            (high[0] - inset[0], low[1] - 0.0005, high[2] - inset[2] * 1.3),
            link="door",
            solid=False,
        )
    upright = door.opens not in ("flap", "drawer")
    HANDLES[door.handle](build, np.array(at), door.handle_length, upright)


def _bar(build: Builder, at: Floats, length: float, upright: bool) -> None:
    along = np.array([0.0, 0, 1]) if upright else np.array([1.0, 0, 0])
    thick = np.array([0.007, 0.006, 0.007])
    centre = at - [0, STAND_OFF - 0.006, 0]
    build.box(
        build.either("handle", "metal"),
        centre - thick - along * length / 2,
        centre + thick + along * length / 2,
        link="door",
        round_=0.004,
    )
    for sign in (-1, 1):
        foot = at + along * (sign * length * 0.42)
        build.box(
            build.either("handle", "metal"),
            foot - [0.005, STAND_OFF - 0.01, 0.005],
            np.add(foot, (0.005, 0, 0.005)),
            link="door",
            solid=False,
        )


def _knob(build: Builder, at: Floats, _length: float, _upright: bool) -> None:
    build.box(
        build.either("handle", "metal"),
        at - [0.014, STAND_OFF, 0.014],
        np.add(at, (0.014, -0.012, 0.014)),
        link="door",
        round_=0.012,
    )
    build.box(
        build.either("handle", "metal"),
        at - [0.006, 0.014, 0.006],
        np.add(at, (0.006, 0, 0.006)),
        link="door",
        solid=False,
    )


def _no_handle(_build: Builder, _at: Floats, _length: float, _upright: bool) -> None:
    """The door's own edge is gripped."""


HANDLES: dict[str, Callable[[Builder, Floats, float, bool], None]] = {"bar": _bar, "knob": _knob, "none": _no_handle}


def _tray(build: Builder, door: Door, number: int, share: float, spaces: tuple[Box, Box]) -> None:
    """A tray on the inside of the door, its floor at a share of the height of the cavity, which is the second space."""
    span, cavity = spaces
    (left, _, floor), (right, _, ceiling) = cavity
    x0, x1, wall = left + FREE_HINGE_SIDE, right - FREE_HINGE_SIDE, 0.006
    y0 = span[1][1]
    y1, z = y0 + door.pocket, floor + share * (ceiling - floor)
    material, lip = build.either("pocket", "glass"), z + 0.07
    build.box(material, (x0, y0, z), (x1, y1, z + wall), link="door")
    build.box(material, (x0, y1 - wall, z + wall), (x1, y1, lip), link="door")
    build.box(material, (x0, y0, z + wall), (x0 + wall, y1 - wall, lip), link="door")
    build.box(material, (x1 - wall, y0, z + wall), (x1, y1 - wall, lip), link="door")
    above = [floor + other * (ceiling - floor) for other in door.trays if other > share]
    high = min([z + HIGHEST, ceiling, *(other - SPARE for other in above)])
    build.compartment(number, (x0 + wall, y0, z + wall), (x1 - wall, y1 - wall - SPARE, high), "door", "door_")
