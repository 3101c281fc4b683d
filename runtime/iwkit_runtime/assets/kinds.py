"""Recipes that are more than a list of parts: tables, shelves, sinks and chests (cabinets: `cabinet.py`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iwkit.catalogue import interior_size, surface_size
from iwkit.errors import UsageError
from iwkit.spec.catalogue import Category
from iwkit.spec.recipe import ChestRecipe, MeshRecipe, Part, PartsRecipe, ShelfRecipe, SinkRecipe, TableRecipe
from iwkit_runtime.assets.builder import FREE, SPARE, Builder
from iwkit_runtime.physical.spec import Joint, Vector

TOE = 0.05
"""How far the foot of a base is set back at the front, and how high it is, in metres."""


@dataclass(frozen=True)
class Frame:
    """A thing's category and the size it is built in."""

    name: str
    category: Category
    size: Vector

    @property
    def surface(self) -> tuple[float, float]:
        """Width and depth that things can stand on."""
        return surface_size(self.category, self.size)

    @property
    def interior(self) -> Vector:
        """Width, depth and height inside."""
        return interior_size(self.category, self.size)

    def affords(self, what: str) -> bool:
        """Whether its category does."""
        return what in self.category.affords


def top_surface(build: Builder, frame: Frame, x: float = 0.0) -> None:
    """The region on top of the thing, as large as the catalogue says, its middle at `x`."""
    (width, depth), height = frame.surface, frame.size[2]
    build.region("top", "surface", (x - width / 2, -depth / 2, height), (x + width / 2, depth / 2, height + FREE))


def parts(build: Builder, recipe: PartsRecipe | MeshRecipe, frame: Frame) -> None:
    """Regions that the recipe gives, or those of the catalogue: on top, and a hollow open at the top."""
    build.places("surface", recipe.surfaces)
    build.places("interior", recipe.interiors)
    if frame.affords("surface") and not recipe.surfaces:
        top_surface(build, frame)
    if frame.affords("container") and not recipe.interiors:
        width, depth, height = frame.interior
        low, top = (-width / 2, -depth / 2, frame.size[2] - height + SPARE), frame.size[2]
        build.region("inside_0", "interior", low, (width / 2, depth / 2, top))


def table(build: Builder, recipe: TableRecipe, frame: Frame) -> None:
    """A top and what it stands on."""
    width, depth, height = frame.size
    under = height - recipe.top
    build.box(build.either("top", "main"), (-width / 2, -depth / 2, under), (width / 2, depth / 2, height))
    LEGS[recipe.legs](build, recipe, width, depth, under)
    if recipe.apron:
        _apron(build, recipe, width, depth, under)
    if recipe.lower:
        x, y, z = width / 2 - recipe.inset, depth / 2 - recipe.inset, height * recipe.lower
        build.box("main", (-x, -y, z - 0.02), (x, y, z))
        x, y = x - recipe.leg, y - recipe.leg
        build.region("lower", "surface", (-x, -y, z), (x, y, under - recipe.apron - SPARE))
    top_surface(build, frame)


def _four_legs(build: Builder, recipe: TableRecipe, width: float, depth: float, under: float) -> None:
    x, y, leg = width / 2 - recipe.inset, depth / 2 - recipe.inset, recipe.leg
    for left in (-x, x - leg):
        for front in (-y, y - leg):
            build.box(build.either("legs", "main"), (left, front, 0), (left + leg, front + leg, under))


def _pedestal(build: Builder, recipe: TableRecipe, width: float, depth: float, under: float) -> None:
    leg, x, y = recipe.leg, width * 0.35, depth * 0.35
    build.box("main", (-x, -y, 0), (x, y, 0.03), round_=0.01)
    build.box("main", (-leg, -leg, 0.03), (leg, leg, under), round_=leg * 0.6)


def _panels(build: Builder, recipe: TableRecipe, width: float, depth: float, under: float) -> None:
    x, y, leg = width / 2 - recipe.inset, depth / 2 - recipe.inset, recipe.leg
    build.box("main", (-x, -y, 0), (-x + leg, y, under))
    build.box("main", (x - leg, -y, 0), (x, y, under))
    build.box("main", (-x + leg, y - 0.1, under * 0.35), (x - leg, y - 0.08, under))


def _solid_base(build: Builder, recipe: TableRecipe, width: float, depth: float, under: float) -> None:
    base(build, width, depth, recipe.inset, under)
    fronts(build, width, -depth / 2 + recipe.inset, (2 * TOE, under), recipe.fronts)


def base(build: Builder, width: float, depth: float, inset: float, under: float) -> None:
    """A solid base, set back by `inset` at the front and further at its foot."""
    front = -depth / 2 + inset
    build.box("trim", (-width / 2, front + TOE, 0), (width / 2, depth / 2, 2 * TOE))
    build.box("main", (-width / 2, front, 2 * TOE), (width / 2, depth / 2, under))


def fronts(build: Builder, width: float, front: float, heights: tuple[float, float], number: int) -> None:
    """Cupboard fronts that don't open, side by side, each with a bar for a handle."""
    low, high = heights
    wide = width / max(1, number)
    for k in range(number):
        left, right = -width / 2 + k * wide + 0.006, -width / 2 + (k + 1) * wide - 0.006
        build.box(build.either("front", "main"), (left, front - 0.004, low + 0.008), (right, front, high - 0.03))
        middle, z = (left + right) / 2, high - 0.07
        build.box("metal", (middle - 0.07, front - 0.014, z), (middle + 0.07, front - 0.004, z + 0.012), solid=False)


LEGS = {"four": _four_legs, "pedestal": _pedestal, "panels": _panels, "solid": _solid_base}


def _apron(build: Builder, recipe: TableRecipe, width: float, depth: float, under: float) -> None:
    x, y, low = width / 2 - recipe.inset - 0.01, depth / 2 - recipe.inset - 0.01, under - recipe.apron
    for sign in (-1, 1):
        near, far = sorted((sign * x, sign * (x - 0.02)))
        build.box("main", (near, -y, low), (far, y, under))
        near, far = sorted((sign * y, sign * (y - 0.02)))
        build.box("main", (-x, near, low), (x, far, under))


def shelf(build: Builder, recipe: ShelfRecipe, frame: Frame) -> None:
    """Boards between sides; each board is a surface, `shelf_0` the lowest, or `top` where nothing is above it."""
    width, depth, height = frame.size
    side = recipe.side
    _sides(build, recipe, frame)
    inner = width / 2 - side if recipe.sides == "panel" else width / 2
    back = depth / 2 - (0.012 if recipe.back else 0)
    if recipe.back:
        build.box("main", (-inner, back, 0.04), (inner, depth / 2, height))
    tops = sorted(share * height for share in recipe.boards)
    room = np.minimum(
        [frame.surface[0] / 2, frame.surface[1] / 2],
        [width / 2 - side, depth / 2 - (side if recipe.sides == "post" else 0.012)],
    )
    for number, z in enumerate(tops):
        build.box(build.either("board", "main"), (-inner, -depth / 2, z - recipe.board), (inner, back, z))
        last = number == len(tops) - 1
        name = "top" if last and z == height else f"shelf_{number}"
        over = z + FREE if last else tops[number + 1] - recipe.board - SPARE
        build.region(name, "surface", (*-room, z), (*room, over))


def _sides(build: Builder, recipe: ShelfRecipe, frame: Frame) -> None:
    width, depth, height = frame.size
    side, low = recipe.side, recipe.wheels
    fronts_ = (
        ((-depth / 2, depth / 2),)
        if recipe.sides == "panel"
        else ((-depth / 2, -depth / 2 + side), (depth / 2 - side, depth / 2))
    )
    material = build.either("side", "main")
    for left in (-width / 2, width / 2 - side):
        for front, back in fronts_:
            build.box(material, (left, front, low), (left + side, back, height))
            if low:
                reach = depth / 2 - low / 2
                _wheel(build, (left + side / 2, min(max((front + back) / 2, -reach), reach), low / 2), low / 2)


def _wheel(build: Builder, centre: Vector, radius: float) -> None:
    outline = ((radius * 0.999, -0.012), (radius * 0.999, 0.012))
    build.drawn(Part(lathe=outline, axis="x", at=centre, material="trim"))


POOL = 0.4
"""Share of a basin's depth that is full when something is in it."""


def sink(build: Builder, recipe: SinkRecipe, frame: Frame) -> None:
    """A base whose worktop has a basin on the right and a place to put things on the left; the tap stands proud."""
    width, depth, height = frame.size
    (drainer, _), (wide, deep, high) = frame.surface, frame.interior
    margin = (width - drainer - wide) / 3
    right, front = width / 2 - margin, -deep / 2 - 0.02
    left, back, floor = right - wide, front + deep, height - high
    _around_basin(build, recipe, frame, (left, front, floor), (right, back, height))
    _lining(build, (left, front, floor), (right, back, height))
    middle = (left + right) / 2
    _tap(build, middle, min(back + 0.045, depth / 2 - 0.03), height, floor + 0.003)
    top_surface(build, frame, -width / 2 + margin + drainer / 2)
    inset = 0.004
    pool = (left + inset, front + inset, floor + inset, right - inset, back - inset, floor + POOL * high)
    build.drawn(Part(box=pool, material="water", when="filled", solid=False))
    build.region(
        "inside_0", "interior", (left + inset, front + inset, floor + inset), (right - inset, back - inset, height)
    )


def _around_basin(build: Builder, recipe: SinkRecipe, frame: Frame, low: Vector, high: Vector) -> None:
    width, depth, height = frame.size
    if low[0] < -width / 2 or low[1] < -depth / 2 or high[1] > depth / 2:
        raise UsageError(f"a {frame.name} of {width} by {depth} m is too small for its basin: give it more room")
    face, thick = -depth / 2 + 0.02, recipe.top
    base(build, width, depth, 0.02, low[2])
    fronts(build, width, face, (2 * TOE, low[2]), recipe.fronts)
    sides = (
        ((-width / 2, face), (low[0], depth / 2)),
        ((high[0], face), (width / 2, depth / 2)),
        ((low[0], face), (high[0], low[1])),
        ((low[0], high[1]), (high[0], depth / 2)),
    )
    for start, end in sides:
        build.box("main", (*start, low[2]), (*end, height - thick))
        first = (start[0], -depth / 2 if start[1] == face else start[1])
        build.box(build.either("top", "main"), (*first, height - thick), (*end, height))


def _lining(build: Builder, low: Vector, high: Vector) -> None:
    thin = 0.003
    build.box("metal", low, (high[0], high[1], low[2] + thin))
    build.box("metal", low, (low[0] + thin, high[1], high[2]))
    build.box("metal", (high[0] - thin, low[1], low[2]), high)
    build.box("metal", low, (high[0], low[1] + thin, high[2]))
    build.box("metal", (low[0], high[1] - thin, low[2]), high)


def _tap(build: Builder, x: float, y: float, height: float, floor: float) -> None:
    """A tap at a point behind the basin, and the water that falls from it to the basin's floor while it runs."""
    rise, reach = 0.24, 0.15
    spout = ((0.0, 0.0), (0.0, 0.8), (0.3, 1.0), (0.8, 1.0), (1.0, 0.75))
    path = tuple((x, y - reach * along, height + rise * up) for along, up in spout)
    end = path[-1]
    build.drawn(Part(tube=((*end[:2], floor), end), radius=0.007, material="water", when="running"))
    build.drawn(Part(lathe=((0.12, floor), (0.12, floor + 0.006)), at=(*end[:2], 0), material="water", when="running"))
    lever = (x + 0.012, y - 0.008, height + 0.05, x + 0.07, y + 0.008, height + 0.062)
    build.drawn(Part(tube=path, radius=0.012, smooth=True, material="metal"))
    build.drawn(Part(box=lever, round=0.004, material="metal"))
    build.press("power", (x + 0.065, y, height + 0.062))


def chest(build: Builder, recipe: ChestRecipe, frame: Frame) -> None:
    """Walls around a cavity that is open at the top, or closed by a lid."""
    (width, depth, height), (wide, deep, high) = frame.size, frame.interior
    rim = height - recipe.lid
    floor, low = rim - high, recipe.plinth
    if floor <= low:
        raise UsageError(f"a {frame.name} {height} m high is too low for an interior of {high} m: make it higher")
    x, y = wide / 2, deep / 2
    build.box("trim", (-width / 2 + TOE, -depth / 2 + TOE, 0), (width / 2 - TOE, depth / 2 - TOE, low))
    build.box("inside", (-x, -y, low), (x, y, floor))
    build.box("main", (-width / 2, -depth / 2, low), (-x, depth / 2, rim))
    build.box("main", (x, -depth / 2, low), (width / 2, depth / 2, rim))
    build.box("main", (-x, -depth / 2, low), (x, -y, rim))
    build.box("main", (-x, y, low), (x, depth / 2, rim))
    build.compartment(0, (-x, -y, floor), (x, y, rim))
    if recipe.lid:
        joint = Joint("hinge", (-1.0, 0.0, 0.0), (0.0, depth / 2, height), 0.0, float(np.radians(recipe.open)))
        build.moving("lid", joint, (0, -depth / 2 - 0.01, height - recipe.lid / 2))
        material = build.either("lid", "main")
        gap = 0.001
        build.box(material, (-width / 2, -depth / 2, rim + gap), (width / 2, depth / 2, height), link="lid")
