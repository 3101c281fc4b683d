"""A scene: rooms, doors, fixtures and decor with 2-D poses in metres (world frame: x right, y up on the plan, z up)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from iwkit.source import patterns
from iwkit.spec.base import AsTuple, Model, Name, Text
from iwkit.spec.catalogue import Metres, Size3

Point = Annotated[tuple[float, float], AsTuple]
Heading = Literal[0, 90, 180, 270]
Side = Literal["front", "back", "left", "right"]
Height = Annotated[float, Field(ge=0, le=20)]
Compass = Literal["north", "south", "east", "west"]
"""Walls on the plan: north is the upper one (largest y), east the right one."""
Flooring = Literal[
    "wood", "dark_wood", "chequer", "tiles", "stone", "carpet", "red_carpet", "vinyl", "concrete", "grass", "paving"
]
Walling = Literal[
    "white", "cream", "sand", "sage", "mint", "blue", "grey", "rose", "tiles", "panels", "brick", "hedge", "fence"
]
BOUNDARIES = ("hedge", "fence")
"""What bounds a room without a roof."""


class Room(Model):
    """An axis-aligned room: `box` is x0, y0, x1, y1 in metres, along the middle of its walls (0.10 m thick).

    `public` is what people call it ("the kitchen"). `floor` and `walls` say what it is lined with. A room that is
    `outdoor` has no ceiling, and a hedge or a fence where no other room is beyond.
    """

    public: Text
    box: Annotated[tuple[float, float, float, float], AsTuple]
    floor: Flooring = "wood"
    walls: Walling = "white"
    outdoor: bool = False

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.outdoor and self.walls not in BOUNDARIES:
            raise ValueError("a room outdoors is bounded by `walls: hedge` or `walls: fence`")
        if not self.outdoor and self.walls in BOUNDARIES:
            raise ValueError(f"a {self.walls} is what bounds a room outdoors: say `outdoor: true`, or paint the walls")
        return self


class Door(Model):
    """A door or an open passage (`leaf: false`) in the wall shared by two rooms; `at` is the middle of the opening.

    The leaf opens into the first of the two rooms, its hinge at the end of the opening with the smaller coordinate.
    """

    public: Text
    between: Annotated[tuple[Name, Name], AsTuple]
    at: Point
    width: Metres = 0.9
    leaf: bool = True
    open: bool = False


class Standing(Model):
    """Where something stands, said in one of these ways:

    - `room`, `at` and `facing`: the middle of its footprint and the direction in which its front looks, in degrees
      anticlockwise from +x (so 270 looks towards -y);
    - `room`, `against` and `along`: its back at the wall of that side, its middle at x = `along` (north and south) or
      y = `along` (east and west);
    - `on`: upon a fixture, at `spot` as in packs (u in [-1, 1] from left to right, v in [0, 1] from front to back),
      in the middle without one.

    `base` is the height of its underside above the floor. A loaded scene has `room`, `at`, `facing` and `base` filled
    in for every fixture.
    """

    category: Name
    room: Name = ""
    at: Point = (0.0, 0.0)
    facing: Heading = 270
    against: Compass | None = None
    along: float | None = None
    on: Name | None = None
    spot: Point | None = None
    size: Size3 | None = None
    base: Height = 0

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = self.model_fields_set
        way = next((way for way in self.ways() if way in given), None)
        if way is None:
            raise ValueError(f"give one of {', '.join(f'`{way}`' for way in self.ways())}")
        needed, optional = self.ways()[way]
        placing = {"room", "at", "facing", "against", "along", "on", "inside", "ceiling", "spot", "base"}
        if missing := [field for field in needed if field not in given]:
            raise ValueError(f"`{way}` needs {', '.join(f'`{field}`' for field in missing)}")
        if extra := sorted((given & placing) - {way, *needed, *optional}):
            raise ValueError(f"with `{way}` there is no {', '.join(f'`{field}`' for field in extra)}")
        if self.spot and not (-1 <= self.spot[0] <= 1 and 0 <= self.spot[1] <= 1):
            raise ValueError("`spot` is [u, v] with u in [-1, 1] from left to right and v in [0, 1] from front to back")
        return self

    @classmethod
    def ways(cls) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """The field that tells how it is placed -> the fields that this needs, and those that it may have; the first
        that is given tells."""
        return {
            "on": ((), ("spot", "facing")),
            "against": (("room", "along"), ("base",)),
            "at": (("room", "facing"), ("base",)),
        }


class Fixture(Standing):
    """A piece of furniture or an appliance that the scene places.

    `size` is width, depth, height as in the catalogue. The wearer uses it from the side `approach` (left and right are
    the fixture's own). `public` tells it apart from its like; without it the category's name does.
    """

    approach: Side = "front"
    public: Text | None = None
    open: bool = False
    running: bool = False


class Decor(Standing):
    """Something that only furnishes: it is seen and is in the way, but can't be named, moved or used.

    It may also be `inside` a fixture, or in the middle of a room's ceiling (`ceiling`, true; `at` moves it). On and
    inside a fixture it takes the free place that a loose thing would, after those of a pack: what finds none is left
    out. `colour` is a colour word for its main material, `label` what is written on it.
    """

    inside: Name | None = None
    ceiling: bool = False
    colour: Annotated[str, StringConstraints(pattern=patterns.COLOUR)] | None = None
    label: Text | None = None

    @classmethod
    def ways(cls) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        return {
            "ceiling": (("room",), ("at", "facing")),
            **super().ways(),
            "on": ((), ("spot",)),
            "inside": ((), ("spot",)),
        }


class Scene(Model):
    """A scene file."""

    scene: Literal["1.0"]
    id: Name
    title: Text
    rooms: Annotated[dict[Name, Room], Field(min_length=1)]
    doors: dict[Name, Door] = Field(default_factory=dict)
    fixtures: dict[Name, Fixture]
    decor: dict[Name, Decor] = Field(default_factory=dict)
