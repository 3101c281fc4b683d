"""Recipes of things as geometry: those that ship with iwkit, and those of a user's own project."""

from __future__ import annotations

from pathlib import Path

from iwkit.errors import Problems
from iwkit.problems import Problem
from iwkit.resources import root
from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.recipe import MeshRecipe, Recipe, RecipeFile


def shipped_recipes() -> list[Path]:
    """The recipe files that ship with iwkit, sorted."""
    return sorted((root("assets") / "recipes").glob("*.yaml"))


def load_recipes(*paths: Path) -> dict[str, Recipe]:
    """Category name -> recipe: those that ship with iwkit and those of the files at `paths`.

    Raises:
        Problems: a file can't be read, doesn't follow the schema, or has a second recipe for a category; every
            problem of all files.
    """
    found: dict[str, Recipe] = {}
    home: dict[str, str] = {}
    problems: list[Problem] = []
    for path in (*shipped_recipes(), *paths):
        try:
            document = read(path)
            part = check(document, RecipeFile)
        except Problems as error:
            problems += error.problems
            continue
        for name in part.assets:
            if name in home:
                message = f"{home[name]} has a recipe for {name} already"
                hint = "keep one of them, or give yours a category of its own"
                problems.append(document.problem(("assets", name), "L730", message, hint, key=True))
        home |= dict.fromkeys(part.assets, document.file)
        found |= {name: _placed(recipe, path.parent) for name, recipe in part.assets.items()}
    if problems:
        raise Problems(problems)
    return found


def _placed(recipe: Recipe, folder: Path) -> Recipe:
    return recipe.beside(folder) if isinstance(recipe, MeshRecipe) else recipe
