"""What a category without a recipe looks like: plain, but with all the room in it that the catalogue says (PHY-11)."""

from __future__ import annotations

from iwkit.catalogue import interior_size
from iwkit.spec.catalogue import Category
from iwkit.spec.recipe import CabinetRecipe, ChestRecipe, Colour, Door, Part, PartsRecipe, Press, Print, Recipe

LID = 0.4
"""The part of what a container's interior leaves of its height that is the lid."""
FLAT = 0.03
"""Lower things are written on from above, metres."""
GREY = "light grey"


def plain_recipe(category: Category) -> Recipe:
    """A recipe from a catalogue row alone: a box with rounded edges; for a container a box with walls, with a lid if
    it opens; for a piece of furniture that opens a cabinet with a door. Devices have a button on the front."""
    if "container" not in category.affords:
        return _box(category)
    width, depth, height = category.size
    spare = height - interior_size(category)[2]
    opens = "openable" in category.affords
    press = {"power": Press(at=(0.4 * width, -depth / 2, height / 2))} if "device" in category.affords else {}
    prints = (Print(face="front", rect=(-0.42 * width, 0.1 * height, 0.42 * width, 0.8 * height), at=-depth / 2),)
    materials: dict[str, Colour] = {"main": GREY}
    if opens and category.kind == "fixture":
        floor = spare / 2
        return CabinetRecipe(kind="cabinet", materials=materials, controls=press, door=Door(), floor=floor)
    lid = LID * spare if opens else 0.0
    return ChestRecipe(kind="chest", materials=materials, controls=press, prints=prints, lid=lid)


def _box(category: Category) -> PartsRecipe:
    width, depth, height = category.size
    body = Part(
        material="main", box=(-width / 2, -depth / 2, 0, width / 2, depth / 2, height), round=min(category.size) * 0.15
    )
    x, y = 0.42 * width, 0.42 * depth
    flat = height < FLAT
    rect = (-x, -y, x, y) if flat else (-x, 0.1 * height, x, 0.9 * height)
    label = Print(face="top" if flat else "front", rect=rect, at=height if flat else -depth / 2)
    press = {"power": Press(at=(x, -depth / 2, height / 2))} if "device" in category.affords else {}
    return PartsRecipe(kind="parts", materials={"main": GREY}, parts=(body,), prints=(label,), controls=press)
