"""Recipes of things as geometry: those that ship with iwkit, and those of a user's own project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from iwkit.errors import Problems
from iwkit.garbage import uncollected
from iwkit.problems import Problem
from iwkit.resources import root, stamp
from iwkit.source.check import check
from iwkit.source.document import Document
from iwkit.source.reader import read
from iwkit.spec.recipe import MeshRecipe, Recipe, RecipeFile


def shipped_recipes() -> list[Path]:
    """The recipe files that ship with iwkit, sorted."""
    return sorted((root("assets") / "recipes").glob("*.yaml"))


@uncollected()
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
            part = _shipped(path, *stamp(path)) if path in shipped else _read(path)
        except Problems as error:
            problems += error.problems
            continue
        if again := [name for name in part.assets if name in home]:
            problems += _again(read(path), again, home)
        home |= dict.fromkeys(part.assets, str(path))
        found |= {name: _placed(recipe, path.parent) for name, recipe in part.assets.items()}
    if problems:
        raise Problems(problems)
    return found


def _again(document: Document, names: list[str], home: Mapping[str, str]) -> Iterator[Problem]:
    hint = "keep one of them, or give yours a category of its own"
    for name in names:
        message = f"{home[name]} has a recipe for {name} already"
        yield document.problem(("assets", name), "L730", message, hint, key=True)


def _read(path: Path) -> RecipeFile:
    return check(read(path), RecipeFile)


@lru_cache(maxsize=64)
def _shipped(path: Path, changed: int, size: int) -> RecipeFile:  # noqa: ARG001  is it the same still
    return _read(path)


def _placed(recipe: Recipe, folder: Path) -> Recipe:
    return recipe.beside(folder) if isinstance(recipe, MeshRecipe) else recipe
