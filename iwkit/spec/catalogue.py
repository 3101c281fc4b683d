"""The catalogue: what kinds of things there are, what they afford, how big they are (PHY-11)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from iwkit.spec.base import AsTuple, Model, Name, Text

Affordance = Literal[
    "surface",  # things can be put on it
    "container",  # it has an interior
    "openable",  # a joint opens and closes it
    "device",  # it is switched on and off
    "machine",  # a device that runs cycles on its contents
    "heater",  # food in or on it cooks while it runs
    "seat",
    "carrier",  # what is on it is on what it stands on, and moves with it
    "wheeled",  # a fixture that is pushed and pulled
    "cuttable",
    "cookable",
    "cutter",
    "stirrer",
    "wiper",
    "wipeable",
    "pourer",  # a vessel that can be emptied into another
    "vessel",  # it can receive what is poured
    "phone",
    "workstation",
    "erectable",
    "readable",  # it carries writing that LookAt brings to a readable view
]
Made = Literal["clean", "dry", "wet", "cooked"]
Metres = Annotated[float, Field(gt=0, le=20)]
WALL = 0.04
"""What an interior loses to the walls of a container, in metres each way, where the catalogue doesn't say."""
Size3 = Annotated[tuple[Metres, Metres, Metres], AsTuple]
Size2 = Annotated[tuple[Metres, Metres], AsTuple]


class Process(Model):
    """What a device does to what is in it while it runs.

    Without `seconds` it happens at once, as under a tap. With them it is the end of a cycle (`machine`): what is in it
    when it starts is frozen as its contents, and when so many seconds have passed it stops by itself.
    """

    makes: Annotated[tuple[Made, ...], AsTuple, Field(min_length=1)]
    seconds: Annotated[float, Field(gt=0, le=36000)] | None = None


class Category(Model):
    """One kind of thing.

    `size` is width, depth, height in metres with its front towards -y; `surface` the width and depth that can be stood
    on (the outer size by default), `interior` the width, depth and height inside (by default 0.04 m less each way).
    `process` is what a device does to what is in it while it runs.
    `public` are the names people use for it, the first one canonical. `mass` is in kilograms. `source` names the
    BEHAVIOR-1K category that size and mass start from.
    """

    kind: Literal["object", "fixture", "decor"]
    public: Annotated[tuple[Text, ...], AsTuple, Field(min_length=1)]
    size: Size3
    mass: Annotated[float, Field(gt=0)] | None = None
    affords: Annotated[tuple[Affordance, ...], AsTuple] = ()
    surface: Size2 | None = None
    interior: Size3 | None = None
    connectors: Annotated[tuple[Name, ...], AsTuple] = ()
    process: Process | None = None
    source: Text | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.kind == "object" and self.mass is None:
            raise ValueError("an object needs a mass in kilograms")
        if self.surface and "surface" not in self.affords:
            raise ValueError("`surface` is given, but `surface` isn't among what it affords")
        if self.interior and "container" not in self.affords:
            raise ValueError("`interior` is given, but `container` isn't among what it affords")
        if self.interior and any(inner > outer for inner, outer in zip(self.interior, self.size, strict=True)):
            raise ValueError("the interior is larger than the thing itself")
        if self.process and not {"device", "container"} <= set(self.affords):
            raise ValueError("`process` is given, but it isn't a `device` and a `container`")
        if self.process and (self.process.seconds is not None) != ("machine" in self.affords):
            raise ValueError("the `process` of a `machine`, and of nothing else, has `seconds`")
        if "container" in self.affords and not self.interior and min(self.size) <= WALL:
            raise ValueError(f"too thin for the default interior ({WALL} m less each way): give `interior`")
        return self


class Catalogue(Model):
    """A catalogue file: category name -> category."""

    catalogue: Literal["1.0"]
    categories: dict[Name, Category]
