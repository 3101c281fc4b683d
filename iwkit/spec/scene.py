"""A scene: rooms, doors and fixtures with 2-D poses in metres (world frame: x right, y up on the plan, z up)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from iwkit.spec.base import AsTuple, Model, Name, Text
from iwkit.spec.catalogue import Metres, Size3

Point = Annotated[tuple[float, float], AsTuple]
Heading = Literal[0, 90, 180, 270]
Side = Literal["front", "back", "left", "right"]
Height = Annotated[float, Field(ge=0, le=20)]


class Room(Model):
    """An axis-aligned room: `box` is x0, y0, x1, y1 in metres, along the middle of its walls (0.10 m thick).

    `public` is what people call it ("the kitchen").
    """

    public: Text
    box: Annotated[tuple[float, float, float, float], AsTuple]


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


class Fixture(Model):
    """A piece of furniture or an appliance that the scene places.

    `at` is the middle of its footprint, `facing` the direction its front looks, in degrees anticlockwise from +x
    (so 270 looks towards -y). `size` is width, depth, height as in the catalogue, `base` the height of its underside
    above the floor. The wearer uses it from the side `approach` (left and right are the fixture's own).
    `public` tells it apart from its like; without it the category's name does.
    """

    category: Name
    room: Name
    at: Point
    facing: Heading
    size: Size3 | None = None
    base: Height = 0
    approach: Side = "front"
    public: Text | None = None
    open: bool = False
    running: bool = False


class Scene(Model):
    """A scene file."""

    scene: Literal["1.0"]
    id: Name
    title: Text
    rooms: Annotated[dict[Name, Room], Field(min_length=1)]
    doors: dict[Name, Door] = Field(default_factory=dict)
    fixtures: dict[Name, Fixture]
