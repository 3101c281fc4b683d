"""Recipes of things as geometry: those that ship with iwkit, and those of a user's own project."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from iwkit.errors import Problems
from iwkit.problems import Problem
from iwkit.resources import root, stamp
from iwkit.source.check import check
from iwkit.source.document import Document
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
    shipped = shipped_recipes()
    for path in (*shipped, *paths):
        try:
            document, part = _shipped(path, *stamp(path)) if path in shipped else _checked(path)
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


def _checked(path: Path) -> tuple[Document, RecipeFile]:
    document = read(path)
    return document, check(document, RecipeFile)


@lru_cache(maxsize=64)
def _shipped(path: Path, changed: int, size: int) -> tuple[Document, RecipeFile]:  # noqa: ARG001  is it the same still
    return _checked(path)


def _placed(recipe: Recipe, folder: Path) -> Recipe:
    return recipe.beside(folder) if isinstance(recipe, MeshRecipe) else recipe
