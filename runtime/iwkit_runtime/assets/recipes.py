"""Reads the recipes that ship with iwkit and those of the user's own project."""

from __future__ import annotations

from pathlib import Path

from iwkit.errors import Problems, UsageError
from iwkit.resources import root
from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.recipe import Recipe, RecipeFile


def load_recipes(*paths: Path) -> dict[str, Recipe]:
    """Category name -> recipe: those that ship with iwkit and those of the files at `paths`.

    Raises:
        Problems: a file can't be read or doesn't follow the schema; every problem of all files.
        UsageError: two files have a recipe for one category.
    """
    found: dict[str, Recipe] = {}
    home: dict[str, Path] = {}
    problems = []
    for path in (*sorted((root("assets") / "recipes").glob("*.yaml")), *paths):
        try:
            part = check(read(path), RecipeFile)
        except Problems as error:
            problems += error.problems
            continue
        if twice := next((name for name in part.assets if name in found), None):
            raise UsageError(f"{path.name} and {home[twice].name} both have a recipe for {twice}: keep one of them")
        home |= dict.fromkeys(part.assets, path)
        found |= part.assets
    if problems:
        raise Problems(problems)
    return found
