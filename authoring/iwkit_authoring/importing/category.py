"""The category of an imported model: kind, uses, mass, size, and what it has room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from iwkit.errors import UsageError
from iwkit.library import Library
from iwkit.spec.catalogue import Affordance, Category
from iwkit.suggest import did_you_mean
from iwkit_authoring.importing.model import Model
from iwkit_authoring.importing.pieces import volume
from iwkit_authoring.importing.regions import Spot
from iwkit_authoring.importing.wishes import Wishes
from iwkit_runtime.physical.spec import Floats, Vector

DENSITY = 400.0
"""Kilograms a cubic metre of the pieces of an object whose mass nothing gives: between cardboard and wood."""
INTERIOR = frozenset({"fillable", "openfillable"})
BUTTON = "togglebutton"
LACKS = {
    "surface": "it has no flat place that is large enough to put things on",
    "container": "no space in it has a floor and walls around it",
    "openable": "none of its parts moves (give --moving PART=HOW)",
    "readable": "nothing is written on it (give its recipe `prints`)",
}


@dataclass(frozen=True, eq=False)
class Found:
    """A model in the asset's frame with its pieces and regions, what the user says of it, and a category like it."""

    path: Path
    model: Model
    wishes: Wishes
    like: Category | None
    size: Vector
    pieces: Mapping[str, Sequence[Floats]]
    surfaces: Sequence[Spot]
    interiors: Sequence[Spot]

    @property
    def kind(self) -> str:
        return self.wishes.kind or (self.like.kind if self.like else "object")


def like_of(model: Model, wishes: Wishes, library: Library) -> tuple[Category | None, list[str]]:
    """The category whose uses are taken: the one asked for, or the one that starts from the file's own category.

    Raises:
        UsageError: there is no category of the name asked for.
    """
    categories = library.catalogue.categories
    if wishes.category is not None:
        if wishes.category not in categories:
            hint = did_you_mean(wishes.category, categories) or "`iwkit catalogue` lists them"
            raise UsageError(f"no category is called {wishes.category!r}: {hint}")
        return categories[wishes.category], []
    found = sorted(n for n, c in categories.items() if model.category and model.category in (c.source, n))
    if not found:
        return None, []
    return categories[found[0]], [f"the file says it is a {model.category}: its uses are those of {found[0]}"]


def category_of(name: str, found: Found) -> tuple[Category, list[str]]:
    """The category, and notes on what was left out or guessed.

    Raises:
        UsageError: it can't be what the user says it affords.
    """
    uses, notes = _uses(found)
    mass, guessed = _mass(found)
    like, size = found.like, found.size
    top = found.surfaces[0].high - found.surfaces[0].low if "surface" in uses else None
    inner = found.interiors[0].high - found.interiors[0].low if "container" in uses else None
    category = Category(
        kind="fixture" if found.kind == "fixture" else "object",
        public=tuple(found.wishes.public) or (like.public if like else (name.replace("_", " "),)),
        size=size,
        mass=mass,
        affords=uses,
        surface=None if top is None else (_metres(top, size, 0), _metres(top, size, 1)),
        interior=None if inner is None else (_metres(inner, size, 0), _metres(inner, size, 1), _metres(inner, size, 2)),
        connectors=like.connectors if like else (),
        source=found.model.category,
    )
    return category, [*notes, *guessed]


def _metres(room: Floats, size: Vector, axis: int) -> float:
    return min(max(round(float(room[axis]), 4), 0.001), size[axis])


def _uses(found: Found) -> tuple[tuple[Affordance, ...], list[str]]:
    """What it affords. What the category affords and this model can't give is left out, with a note; what the user
    asked for is an error."""
    wishes, moves = found.wishes, bool(found.model.joints)
    can = {"surface": bool(found.surfaces), "container": bool(found.interiors), "openable": moves, "readable": False}
    asked = _asked(found) if wishes.affords is None else list(wishes.affords)
    known = get_args(Affordance)
    if unknown := next((use for use in asked if use not in known), None):
        raise UsageError(f"--affords {unknown}: {did_you_mean(unknown, known) or 'there are ' + ', '.join(known)}")
    missing = [use for use in asked if not can.get(use, True)]
    if missing and wishes.affords is not None:
        raise UsageError(f"{found.path}: it can't afford {missing[0]}: {LACKS[missing[0]]}")
    if moves and "openable" not in asked:
        raise UsageError(f"{found.path}: one of its parts moves: add openable to --affords, or leave out --moving")
    notes = [f"left out what its category affords: {use}; {LACKS[use]}" for use in missing]
    return tuple(cast(Affordance, use) for use in asked if use not in missing), notes


def _asked(found: Found) -> list[str]:
    """What its category affords, and what the file shows that it can do."""
    declared = {zone.kind for zone in found.model.zones}
    shown = {
        "openable": bool(found.model.joints),
        "container": bool(declared & INTERIOR),
        "device": BUTTON in declared,
    }
    asked: list[str] = list(found.like.affords) if found.like else []
    return [*asked, *(use for use, there in shown.items() if there and use not in asked)]


def _mass(found: Found) -> tuple[float | None, list[str]]:
    wishes, like = found.wishes, found.like
    solid = sum(volume(pieces) for pieces in found.pieces.values())
    given = wishes.mass or (wishes.density and max(round(wishes.density * solid, 4), 1e-4))
    given = given or found.model.mass or (like.mass if like else None)
    if given or found.kind == "fixture":
        return given, []
    mass = max(round(DENSITY * solid, 4), 1e-4)
    return mass, [f"nothing gives its mass: {mass:g} kg, {DENSITY:g} kg/m3 of its pieces; give --mass or --density"]
