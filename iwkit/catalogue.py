"""The catalogue of things: the files that ship with iwkit, merged with a user's own files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from iwkit.errors import Problems, UsageError
from iwkit.garbage import uncollected
from iwkit.problems import Problem
from iwkit.resources import root
from iwkit.source.check import check
from iwkit.source.document import Document
from iwkit.source.reader import read
from iwkit.spec.catalogue import WALL, Catalogue, Category

CODE_LIKE = re.compile(r"\S*[_<>\[\]{}]\S*")
"""A word that no one says: public text is spoken and read by people."""


def shipped_catalogues() -> list[Path]:
    """The catalogue files that ship with iwkit, sorted."""
    return sorted((root("assets") / "catalogue").glob("*.yaml"))


@uncollected()
def load_catalogue(*paths: Path) -> Catalogue:
    """The catalogue that ships with iwkit, with the categories of the files at `paths` added.

    Raises:
        Problems: a file can't be read, doesn't follow the schema, or defines a category a second time.
    """
    problems: list[Problem] = []
    categories: dict[str, Category] = {}
    home: dict[str, str] = {}
    for path in (*shipped_catalogues(), *paths):
        document = read(path)
        part = check(document, Catalogue)
        problems += _problems(document, part, home)
        home |= dict.fromkeys(part.categories, document.file)
        categories |= part.categories
    if problems:
        raise Problems(problems)
    return Catalogue(catalogue="1.0", categories=categories)


def _problems(document: Document, part: Catalogue, home: dict[str, str]) -> Iterator[Problem]:
    for name, category in part.categories.items():
        if name in home:
            message = f"category {name} is already defined in {home[name]}"
            yield document.problem(("categories", name), "L702", message, "give yours another name", key=True)
        for index, text in enumerate(category.public):
            if found := CODE_LIKE.search(text):
                path = ("categories", name, "public", index)
                yield document.problem(path, "L703", *code_like(found.group()))


def code_like(word: str) -> tuple[str, str]:
    """Message and hint for a word of public text that looks like code."""
    return f'"{word}" is not a word that people say', "write public text as you would say it"


def traits(category: Category) -> frozenset[str]:
    """What goals and verbs ask of a thing: what it affords, and `movable` for an object or `fixture` for a fixture."""
    return frozenset(category.affords) | {"movable" if category.kind == "object" else "fixture"}


def surface_size(category: Category, size: tuple[float, float, float] | None = None) -> tuple[float, float]:
    """Width and depth in metres that things can stand on, for one of this category.

    `size` is the outer size where a scene overrides the catalogue's; the margins stay those of the catalogue.

    Raises:
        UsageError: it is no surface.
    """
    if "surface" not in category.affords:
        raise UsageError(f"a {category.public[0]} is no surface: its category doesn't afford `surface`")
    width, depth, _ = size or category.size
    if category.surface is None:
        return width, depth
    return width - category.size[0] + category.surface[0], depth - category.size[1] + category.surface[1]


def interior_size(category: Category, size: tuple[float, float, float] | None = None) -> tuple[float, float, float]:
    """Width, depth and height in metres inside one of this category. `size` is as for `surface_size`.

    Raises:
        UsageError: it is no container.
    """
    if "container" not in category.affords:
        raise UsageError(f"a {category.public[0]} is no container: its category doesn't afford `container`")
    outer = size or category.size
    if category.interior is None:
        return outer[0] - WALL, outer[1] - WALL, outer[2] - WALL
    lost = [whole - inside for whole, inside in zip(category.size, category.interior, strict=True)]
    return outer[0] - lost[0], outer[1] - lost[1], outer[2] - lost[2]
