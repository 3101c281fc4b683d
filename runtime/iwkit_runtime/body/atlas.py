"""The hand atlas: grip families and calibrations for kinds of things as data files (ACT-9, ACT-10; paper B.2.2).

`grips/FAMILY.yaml` is a family, `grips/objects/NAME.yaml` a calibration. A new file is a new family or calibration.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, model_validator

from iwkit.errors import UsageError
from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.base import AsTuple, Model, Name

FOLDER = Path(__file__).parent / "grips"

Share = Annotated[float, Field(ge=0, le=1.5)]
Degrees = Annotated[float, Field(ge=-90, le=90)]
Turn = Annotated[float, Field(ge=-180, le=180)]
Metres = Annotated[float, Field(ge=-1, le=1)]
Side = Literal["front", "back", "left", "right"]


class Least(Model):
    """Fingers that must touch for a grasp at all: `with_thumb`, the thumb counted, or `with_palm`, when that touches
    too."""

    with_thumb: Annotated[int, Field(ge=2, le=5)]
    with_palm: Annotated[int, Field(ge=1, le=5)]


class GripFamily(Model):
    """What a grip looks like, and what makes it a hold.

    `openings`: the widths in metres that it can have; `along`: where along the palm the middle of what is held is, 1 at
    the knuckles; `oppose`: degrees by which the thumb is swung against the fingers; `finger` and `thumb`: how a bend is
    shared by their joints; `relaxed`: degrees by which the joints of a free hand's fingers are bent; `touching`: how
    many fingers must touch for a hold, and `least` for a grasp at all, without which it is taken otherwise; `seat`:
    metres between the palm and what it is laid against.
    """

    grip: Literal["1.0"]
    family: Name
    holds: Literal["cylinder", "ball", "tips"]
    openings: Annotated[tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(le=0.2)]], AsTuple]
    along: Share
    oppose: Degrees
    finger: Annotated[tuple[Share, Share, Share], AsTuple]
    thumb: Annotated[tuple[Share, Share, Share], AsTuple]
    relaxed: Annotated[tuple[Degrees, Degrees, Degrees], AsTuple]
    touching: Annotated[int, Field(ge=2, le=5)]
    least: Least
    seat: Annotated[float, Field(ge=0, le=0.02)] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.openings[0] >= self.openings[1]:
            raise ValueError("the smaller opening comes first")
        return self


class InHand(Model):
    """Where exactly a thing is in the right hand that holds it.

    `family` and `opening` (metres) are the grip; `at` (metres) and `turn` (degrees about an axis, as its three parts)
    take a point of the thing into the frame of the grip (`hands.grip_frame`), which is fixed in that of the wrist.
    """

    family: Name
    opening: Annotated[float, Field(ge=0, le=0.2)]
    at: Annotated[tuple[Metres, Metres, Metres], AsTuple]
    turn: Annotated[tuple[Turn, Turn, Turn], AsTuple] = (0.0, 0.0, 0.0)

    @model_validator(mode="after")
    def _can_hold(self) -> Self:
        if self.family not in families():
            raise ValueError(f"no grip is called '{self.family}': there are {', '.join(families())}")
        low, high = families()[self.family].openings
        if not low <= self.opening <= high:
            raise ValueError(f"a {self.family} grip opens {low:g} to {high:g} m, not {self.opening:g} m")
        return self


class Calibration(Model):
    """How things of some categories are taken: the paper's grasp hint.

    `family`: by pinching, by wrapping, or as their box says; `region`: at the edge, around the body or from above its
    centre; `edges`: the sides of which the edge is taken first, as one sees the thing from its front; `height`: share
    of a thing's height at which the hand is; `clearance`: metres that the middle of the grip is above a thing's bottom,
    at least, but at an edge; `in_hand`: a grip that is tried before all others; `any_way_up`: whether the hand may be
    rolled with it, so that it shows.
    """

    calibration: Literal["1.0"]
    categories: Annotated[tuple[Name, ...], AsTuple]
    family: Literal["auto", "pinch", "wrap"] = "auto"
    region: Literal["auto", "center", "edge", "body"] = "auto"
    edges: Annotated[tuple[Side, ...], AsTuple] = ()
    height: Annotated[float, Field(gt=0, lt=1)] | None = None
    clearance: Annotated[float, Field(gt=0, le=0.5)] | None = None
    in_hand: InHand | None = None
    any_way_up: bool = False


AUTO = Calibration(calibration="1.0", categories=())

Kind = TypeVar("Kind", GripFamily, Calibration)


def load(path: Path, kind: type[Kind]) -> Kind:
    """One file of the atlas.

    Raises:
        Problems: what is wrong in it, and where.
    """
    return check(read(path), kind)


@cache
def families() -> Mapping[str, GripFamily]:
    """Family -> its file, by name.

    Raises:
        UsageError: a file is called otherwise than its family.
    """
    found = {path.stem: load(path, GripFamily) for path in sorted(FOLDER.glob("*.yaml"))}
    for name, family in found.items():
        if family.family != name:
            raise UsageError(f"{FOLDER / name}.yaml calls its family '{family.family}': file and family share a name")
    return found


@cache
def _calibrations() -> Mapping[str, Calibration]:
    found: dict[str, Calibration] = {}
    for path in sorted((FOLDER / "objects").glob("*.yaml")):
        calibration = load(path, Calibration)
        for category in calibration.categories:
            if category in found:
                raise UsageError(f"{path}: '{category}' has a calibration already")
            found[category] = calibration
    return found


def calibration(category: str) -> Calibration:
    """How things of a category are taken; `AUTO` when nothing says so."""
    return _calibrations().get(category, AUTO)
