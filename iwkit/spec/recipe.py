"""Recipes: how a category of things is built as geometry (PHY-11). docs/assets.md shows how to write one.

Everything is drawn in metres in the asset's frame, at the size that the catalogue gives: origin at the middle of the
footprint on the floor, front towards -y, x to the right as one faces the front, z up. A thing of another size is
stretched.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from iwkit.source.patterns import DIGEST
from iwkit.spec.base import AsTuple, Model, Name, Text

Vec2 = Annotated[tuple[float, float], AsTuple]
Vec3 = Annotated[tuple[float, float, float], AsTuple]
Vec4 = Annotated[tuple[float, float, float, float], AsTuple]
Vec6 = Annotated[tuple[float, float, float, float, float, float], AsTuple]
Unit = Annotated[float, Field(ge=0, le=1)]
Length = Annotated[float, Field(gt=0, le=5)]
Thickness = Annotated[float, Field(gt=0, le=0.5)]
Share = Annotated[float, Field(gt=0, lt=1)]
Degrees = Annotated[float, Field(gt=0, le=180)]
Colour = Annotated[tuple[Unit, Unit, Unit], AsTuple] | Annotated[tuple[Unit, Unit, Unit, Unit], AsTuple] | Text
"""A colour word, or red, green, blue and perhaps opacity from 0 to 1."""
Outline = Annotated[tuple[Vec2, ...], AsTuple, Field(min_length=2, max_length=64)]
Path = Annotated[tuple[Vec3, ...], AsTuple, Field(min_length=2, max_length=64)]
Axis = Literal["x", "y", "z"]

Style = Literal[
    "plain",
    "band",
    "card",
    "plate",
    "tag",
    "answer",
    "welcome",
    "sign",
    "forbid",
    "warn",
    "page",
    "table",
    "headed",
    "bill",
    "ticket",
    "plan",
    "calendar",
    "note",
    "ruled",
    "cover",
    "news",
    "screen",
    "display",
    "keys",
]
"""What a print looks like; docs/assets.md shows each."""

SHAPES = ("box", "lathe", "tube", "extrude", "ellipsoid")
BODY = "body"
"""The name of the root link."""
SHOWN = ("running", "open", "cut", "cooked", "broken", "mouldy", "dirty", "wet", "used", "filled", "ringing")
"""States of a thing that may change how it is drawn while an episode goes on."""
When = Annotated[str, Field(pattern=rf"^(not )?({'|'.join(SHOWN)})$")]
"""A state of the thing, or `not` and a state: what has it is drawn only then."""


def crosses(outline: tuple[Vec2, ...]) -> bool:
    """Whether a closed outline has fewer than three corners, or sides that cross or corners that coincide."""
    sides = list(zip(outline, (*outline[1:], outline[0]), strict=True))
    if len(outline) < 3 or len(set(outline)) < len(outline):
        return True
    return any(_cut(*one, *other) for i, one in enumerate(sides) for other in sides[i + 1 :])


def _cut(a: Vec2, b: Vec2, c: Vec2, d: Vec2) -> bool:
    """Whether two sides cross at a point within both."""
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: Vec2, b: Vec2, p: Vec2) -> float:
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


class Part(Model):
    """One shape: exactly one of `box`, `lathe`, `tube`, `extrude` and `ellipsoid`.

    `box`: corners, its edges rounded by `round`. `lathe`: radius and height from the bottom up, turned about `axis`
    through `at`; `inner` is the outline of its hollow. `tube`: a path of points with one `radius`, or one a point.
    `smooth` draws a curve through the points of a lathe's or a tube's. `extrude`: an outline in `plane`, thickened over
    `span`. `ellipsoid`: centre and half axes.

    `turn` are degrees about x, y and z through the part's centre; `mirror` adds its mirror images. A part that isn't
    `solid` is only seen. What is `proud` may stand out of the catalogue's size (a tap, a headboard). A part with `when`
    is drawn only while the thing is in that state, and is never touched; with `not` and a state it is drawn until then,
    and touched all the time: a cut apple keeps the collision shape of the whole one.
    """

    link: Name = BODY
    material: Name = "main"
    solid: bool = True
    proud: bool = False
    when: When | None = None
    box: Vec6 | None = None
    round: Annotated[float, Field(ge=0)] = 0
    lathe: Outline | None = None
    inner: Outline | None = None
    at: Vec3 = (0, 0, 0)
    axis: Axis = "z"
    tube: Path | None = None
    radius: Length | Annotated[tuple[Length, ...], AsTuple] = 0.005
    smooth: bool = False
    extrude: Outline | None = None
    plane: Literal["xy", "xz", "yz"] = "xy"
    span: Vec2 = (0, 0.01)
    ellipsoid: Vec6 | None = None
    turn: Vec3 = (0, 0, 0)
    mirror: Literal["", "x", "y", "xy"] = ""

    @property
    def passing(self) -> bool:
        """Whether it is there only while a state lasts."""
        return self.when is not None and not self.when.startswith("not ")

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        given = [shape for shape in SHAPES if getattr(self, shape) is not None]
        if len(given) != 1:
            raise ValueError(f"a part is exactly one of {', '.join(SHAPES)}; this one gives {given or 'none'}")
        if self.box and any(low >= high for low, high in zip(self.box[:3], self.box[3:], strict=True)):
            raise ValueError("`box` is x, y, z of its lowest corner and then of its highest")
        if self.inner and not self.lathe:
            raise ValueError("`inner` is the hollow of a `lathe`")
        if self.span[0] >= self.span[1]:
            raise ValueError("`span` goes from the smaller number to the larger")
        if isinstance(self.radius, tuple) and self.tube and len(self.radius) != len(self.tube):
            raise ValueError("give one `radius`, or one for each point of the tube")
        if self.extrude and crosses(self.extrude):
            raise ValueError(
                "an `extrude` is an outline of three points or more that neither crosses nor touches itself"
            )
        for outline in (self.lathe, self.inner):
            if outline and any(radius < 0 for radius, _ in outline):
                raise ValueError("a lathe's outline is [radius, height]; no radius is below 0")
        return self


class Print(Model):
    """Something printed on a face: `rect` on the plane at coordinate `at` of a `face`, or `wrap` around a cylinder.

    `rect` is the lowest and the highest corner, in the two coordinates that the face has. `wrap` is the cylinder's
    radius, `rect` then its middle (x, y) and the range of z. `text` is printed when the task gives no label; `fixed`
    print never takes the task's label. Colours name materials. A print with `when` is there only in that state.
    """

    link: Name = BODY
    when: When | None = None
    face: Literal["front", "back", "left", "right", "top", "bottom"] = "front"
    rect: Vec4
    at: float = 0
    wrap: Length | None = None
    style: Style = "plain"
    text: Text | None = None
    fixed: bool = False
    paper: Name = "paper"
    ink: Name = "ink"
    accent: Name = "main"


class Moving(Model):
    """A part that moves: closed at 0, open at `open` (degrees of a hinge, metres of a slide), gripped at `handle`."""

    joint: Literal["hinge", "slide"] = "hinge"
    axis: Vec3
    anchor: Vec3 = (0, 0, 0)
    open: Length | Degrees
    handle: Vec3


class Place(Model):
    """A box where things can be: for a surface its bottom lies on the surface."""

    link: Name = BODY
    box: Vec6


class Press(Model):
    """A point that a finger presses."""

    link: Name = BODY
    at: Vec3


class _Recipe(Model):
    """What every kind of recipe has. `grip` is where a hand takes hold to push or pull the whole thing; materials of
    `glow` shine by themselves: lamps, screens, displays."""

    materials: dict[Name, Colour] = Field(default_factory=dict)
    glow: Annotated[tuple[Name, ...], AsTuple] = ()
    parts: Annotated[tuple[Part, ...], AsTuple] = ()
    prints: Annotated[tuple[Print, ...], AsTuple] = ()
    controls: dict[Name, Press] = Field(default_factory=dict)
    grip: Vec3 | None = None

    @model_validator(mode="after")
    def _known_materials(self) -> Self:
        known = {*DEFAULT_MATERIALS, *self.materials}
        for name in self._material_names():
            if name not in known:
                raise ValueError(f"material '{name}' is not among this recipe's materials: {', '.join(sorted(known))}")
        return self

    def _material_names(self) -> Iterator[str]:
        yield from self.glow
        yield from (part.material for part in self.parts)
        for print_ in self.prints:
            yield from (print_.paper, print_.ink, print_.accent)


DEFAULT_MATERIALS: dict[str, Colour] = {
    "main": "beige",
    "trim": (0.25, 0.25, 0.27),
    "inside": (0.93, 0.93, 0.91),
    "metal": (0.74, 0.75, 0.77),
    "glass": (0.75, 0.85, 0.9, 0.35),
    "water": (0.62, 0.82, 0.95, 0.65),
    "paper": (0.98, 0.98, 0.96),
    "ink": (0.06, 0.06, 0.09),
}
"""Materials that every recipe may name. A task's colour word replaces `main`."""


class PartsRecipe(_Recipe):
    """A thing put together from its parts, then stretched to its size."""

    kind: Literal["parts"]
    parts: Annotated[tuple[Part, ...], AsTuple, Field(min_length=1)]
    links: dict[Name, Moving] = Field(default_factory=dict)
    surfaces: dict[Name, Place] = Field(default_factory=dict)
    interiors: dict[Name, Place] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known_links(self) -> Self:
        known = {BODY, *self.links}
        if all(part.proud or part.passing for part in self.parts):
            raise ValueError("all parts are `proud` or there at times only: something has to fill the thing's size")
        owners: tuple[Part | Print | Press | Place, ...] = (
            *self.parts,
            *self.prints,
            *self.controls.values(),
            *self.surfaces.values(),
            *self.interiors.values(),
        )
        if unknown := next((owner.link for owner in owners if owner.link not in known), None):
            raise ValueError(f"link '{unknown}' is not among this recipe's links: {', '.join(sorted(known))}")
        return self


class Door(Model):
    """What closes a cabinet.

    `opens`: hinged at the left or right edge, a flap hinged at the bottom, a drawer, or a panel that slides right.
    `panel` are the fixed parts of the front around it: left, right, below, above, in metres. `open` are degrees, or the
    share of a drawer's depth. The middle of the handle is at `handle_at`, a share of the door's height. `window` is the
    material of a pane, `pocket` the depth of trays on the inside, whose floors are at `trays`, shares of the cavity's
    height.
    """

    opens: Literal["left", "right", "flap", "drawer", "slide"] = "left"
    thickness: Thickness = 0.02
    panel: Vec4 = (0, 0, 0, 0)
    open: Annotated[float, Field(gt=0, le=170)] = 95
    handle: Literal["bar", "knob", "none"] = "bar"
    handle_length: Length = 0.16
    handle_at: Unit = 0.5
    material: Name = "main"
    window: Name | None = None
    pocket: Annotated[float, Field(ge=0, le=0.2)] = 0
    trays: Annotated[tuple[Annotated[float, Field(ge=0, lt=1)], ...], AsTuple] = (0.45,)

    @model_validator(mode="after")
    def _share_of_drawer(self) -> Self:
        if self.opens == "drawer" and self.open > 1:
            raise ValueError("a drawer's `open` is the share of its depth that comes out, at most 1")
        return self


class CabinetRecipe(_Recipe):
    """Walls around a cavity of the catalogue's interior, closed by a door in front, or open without one.

    `floor` is the height of the cavity's floor, `plinth` what it stands on (on `feet` or on a recessed base), `top` the
    thickness of a top that covers the door, `shelves` the heights of boards as shares of the cavity's height.
    """

    kind: Literal["cabinet"]
    door: Door | None = None
    floor: Length
    plinth: Annotated[float, Field(ge=0, le=0.5)] = 0
    feet: bool = False
    top: Annotated[float, Field(ge=0, le=0.1)] = 0
    shelves: Annotated[tuple[Share, ...], AsTuple] = ()
    shelf: Thickness = 0.018


class ChestRecipe(_Recipe):
    """Walls around a cavity of the catalogue's interior, open at the top or closed by a lid hinged at the back."""

    kind: Literal["chest"]
    lid: Annotated[float, Field(ge=0, le=0.2)] = 0
    open: Degrees = 100
    plinth: Annotated[float, Field(ge=0, le=0.5)] = 0


class ShelfRecipe(_Recipe):
    """Boards between sides (`panel` or `post`); `boards` are their upper faces as shares of the height."""

    kind: Literal["shelf"]
    boards: Annotated[tuple[Annotated[float, Field(gt=0, le=1)], ...], AsTuple, Field(min_length=1)]
    sides: Literal["panel", "post"] = "panel"
    side: Thickness = 0.025
    board: Thickness = 0.022
    back: bool = False
    wheels: Annotated[float, Field(ge=0, le=0.2)] = 0


class TableRecipe(_Recipe):
    """A top on legs (four, a pedestal, side panels) or on a solid base that is set back at the front."""

    kind: Literal["table"]
    top: Thickness = 0.03
    legs: Literal["four", "pedestal", "panels", "solid"] = "four"
    leg: Thickness = 0.05
    inset: Annotated[float, Field(ge=0, le=0.5)] = 0.02
    apron: Annotated[float, Field(ge=0, le=0.5)] = 0
    lower: Share | None = None
    fronts: Annotated[int, Field(ge=0, le=8)] = 0


class SinkRecipe(_Recipe):
    """A base with a worktop and a basin of the catalogue's interior let into it on the right."""

    kind: Literal["sink"]
    top: Thickness = 0.03
    fronts: Annotated[int, Field(ge=0, le=4)] = 2


class MeshRecipe(_Recipe):
    """A mesh file that `iwkit assets import` wrote, stretched from the catalogue's size to the thing's.

    `file` lies in or below the recipe file's folder, `digest` is the SHA-256 of its bytes: the mesh is part of the
    recipe, and of what a lock holds. `materials` gives each material of the mesh a colour, which a texture multiplies.
    """

    kind: Literal["mesh"]
    file: Annotated[str, Field(min_length=5, max_length=200)]
    digest: Annotated[str, Field(pattern=DIGEST)]
    links: dict[Name, Moving] = Field(default_factory=dict)
    surfaces: dict[Name, Place] = Field(default_factory=dict)
    interiors: dict[Name, Place] = Field(default_factory=dict)
    _folder: FilePath = PrivateAttr(default_factory=FilePath)

    @model_validator(mode="after")
    def _stays_below(self) -> Self:
        path = PurePosixPath(self.file)
        if path.is_absolute() or ".." in path.parts or "\\" in self.file or ":" in self.file or path.suffix != ".npz":
            raise ValueError("`file` is a .npz file below the recipe's folder, without `..`, like `meshes/mug.npz`")
        return self

    @property
    def path(self) -> FilePath:
        """Where the mesh lies."""
        return self._folder / self.file

    def beside(self, folder: FilePath) -> MeshRecipe:
        """The same, read from a recipe file in `folder`."""
        found = self.model_copy()
        found._folder = folder
        return found


Recipe = Annotated[
    PartsRecipe | CabinetRecipe | ChestRecipe | ShelfRecipe | TableRecipe | SinkRecipe | MeshRecipe,
    Field(discriminator="kind"),
]


class RecipeFile(Model):
    """A recipe file: category name -> recipe."""

    recipes: Literal["1.0"]
    assets: dict[Name, Recipe]
