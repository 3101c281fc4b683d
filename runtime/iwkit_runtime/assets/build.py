"""From a category and its recipe to an asset (PHY-11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from iwkit.errors import UsageError
from iwkit.spec.catalogue import Category
from iwkit.spec.recipe import DEFAULT_MATERIALS, MeshRecipe, PartsRecipe, Recipe
from iwkit_runtime.assets import kinds, meshfile
from iwkit_runtime.assets.builder import Builder, Fit
from iwkit_runtime.assets.cabinet import cabinet
from iwkit_runtime.assets.colours import RGBA, rgba
from iwkit_runtime.assets.kinds import Frame
from iwkit_runtime.assets.plain import plain_recipe
from iwkit_runtime.assets.shapes import shapes, spanned
from iwkit_runtime.assets.soil import soiled
from iwkit_runtime.physical.spec import Asset, Vector

DENSITY = 250.0
"""Kilograms a cubic metre of outer size, for furniture whose mass the catalogue doesn't give."""

KINDS: dict[str, Callable[[Builder, Any, Frame], None]] = {
    "parts": kinds.parts,
    "cabinet": cabinet,
    "chest": kinds.chest,
    "shelf": kinds.shelf,
    "table": kinds.table,
    "sink": kinds.sink,
    "mesh": meshfile.mesh,
}


def build_asset(
    category_name: str,
    category: Category,
    recipe: Recipe | None = None,
    *,
    size: Vector | None = None,
    colour: str | None = None,
    label: str | None = None,
    filled: bool = False,
) -> Asset:
    """Build one thing of a category; without a recipe it is a plain one (`plain_recipe`).

    `size` (width, depth, height in metres) overrides the catalogue's, `colour` is a colour word for the recipe's `main`
    material, `label` is printed in place of the recipe's own text. What is hollow is `filled` to the touch where nobody
    puts anything in: a dozen pieces fewer for each glass. The same arguments give the same arrays on every machine.

    Raises:
        UsageError: no such colour, nowhere to write the label, or too small for its interior.
    """
    recipe = recipe or plain_recipe(category)
    frame = Frame(category_name, category, size or category.size)
    build = Builder(_materials(recipe, colour), _fit(recipe, frame), recipe.glow, filled=filled)
    if isinstance(recipe, PartsRecipe | MeshRecipe):
        for name, moving in recipe.links.items():
            build.moving_part(name, moving)
    KINDS[recipe.kind](build, recipe, frame)
    build.parts(recipe.parts)
    soiled(build, category)
    for name, press in recipe.controls.items():
        build.press(name, build.fit.point(press.at), press.link)
    if recipe.grip:
        build.grip(recipe.grip)
    _print(build, recipe, frame, label)
    width, depth, height = frame.size
    return build.asset(category_name, frame.size, category.mass or width * depth * height * DENSITY)


def _materials(recipe: Recipe, colour: str | None) -> dict[str, RGBA]:
    colours = {**DEFAULT_MATERIALS, **recipe.materials}
    if colour is not None:
        colours["main"] = colour
    return {name: rgba(colour) for name, colour in colours.items()}


def _fit(recipe: Recipe, frame: Frame) -> Fit:
    """Parts alone are stretched to the size exactly; what goes with code that knows the size, as the size differs."""
    size = np.array(frame.size)
    if not isinstance(recipe, PartsRecipe):
        return Fit(size / np.array(frame.category.size))
    seen = [shape.bounds for part in recipe.parts if not (part.proud or part.passing) for shape in shapes(part)]
    low, high = spanned(np.concatenate(seen))
    scale = size / (high - low)
    middle = (low + high) / 2
    return Fit(scale, -scale * [middle[0], middle[1], low[2]])


def _print(build: Builder, recipe: Recipe, frame: Frame, label: str | None) -> None:
    free = [print_ for print_ in recipe.prints if not print_.fixed]
    if label is not None and not free:
        raise UsageError(f"nothing is written on a {frame.category.public[0]}: leave out the label '{label}'")
    for print_ in recipe.prints:
        text = print_.text if print_.fixed or label is None else label
        if text is not None:
            build.print_(print_, text, given=label is not None and not print_.fixed)
