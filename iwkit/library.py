"""Where scenes, categories and recipes come from: iwkit's own data, and the folders of a user's project before them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, Literal

from iwkit import resources
from iwkit.catalogue import load_catalogue, shipped_catalogues
from iwkit.families import families
from iwkit.recipes import load_recipes, shipped_recipes
from iwkit.resources import stamp
from iwkit.runfolder import PLAN_NAME
from iwkit.scenes import load_scene
from iwkit.source.kind import kind_of
from iwkit.spec.catalogue import Catalogue
from iwkit.spec.recipe import Recipe
from iwkit.spec.scene import Scene

LOCK_NAME: Final = "lock.json"
SCENES: Final = "scenes"
"""Folder of a project's own scene files, beside its lock."""
ASSETS: Final = "assets"
"""Folder of a project's own catalogue and recipe files, beside its lock."""


def home_of(file: Path) -> Path:
    """The folder of the project that a pack, scene or catalogue belongs to: the nearest one above it that has a lock
    file, else the folder that holds the family folders, `scenes` or `assets`, else the file's own folder."""
    file = file.resolve()
    for folder in file.parents:
        if (folder / LOCK_NAME).is_file():
            return folder
    named = {SCENES, ASSETS, *(spec.id for spec in families().values())}
    return file.parent.parent if file.parent.name in named else file.parent


def near(path: Path) -> Path:
    """A path as a person would type it: from the current folder, where it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def files_in(folder: Path) -> list[Path]:
    """The YAML files of a project's folder at any depth, sorted. Left out are the run folders below it, which keep
    copies of packs, and hidden folders."""
    found: list[Path] = []
    for path, folders, files in os.walk(folder):
        here = Path(path)
        folders[:] = [name for name in folders if name[0] != "." and not (here / name / PLAN_NAME).is_file()]
        found += [here / name for name in files if name.endswith(".yaml")]
    return sorted(found)


def own_assets(home: Path, kind: Literal["catalogue", "recipes"]) -> list[Path]:
    """A project's files of categories or of recipes, sorted; iwkit's own folder has none beside what always counts."""
    folder = home / ASSETS
    if folder == resources.root("assets"):
        return []
    return [path for path in sorted(folder.glob("*.yaml")) if kind_of(path) == kind]


class Library:
    """Scenes and categories by name. Files are read once.

    Args:
        scenes: folders of scene files, searched in order before iwkit's own.
        catalogues: further catalogue files; a category defined twice is an error.
        recipes: further recipe files; a category built twice is an error.
    """

    def __init__(
        self, scenes: Sequence[Path] = (), catalogues: Sequence[Path] = (), recipes: Sequence[Path] = ()
    ) -> None:
        self._folders = (*scenes, resources.root("scenes"))
        self._catalogues, self._recipes = tuple(catalogues), tuple(recipes)
        self._scenes: dict[str, Scene] = {}

    @classmethod
    def of_home(cls, home: Path) -> Library:
        """The library of a project: iwkit's own, and what lies in the project's folders `scenes` and `assets`."""
        return cls([home / SCENES], own_assets(home, "catalogue"), own_assets(home, "recipes"))

    @classmethod
    def for_file(cls, file: Path) -> Library:
        """The library of the project that a pack, scene or catalogue belongs to."""
        return cls.of_home(home_of(file))

    @cached_property
    def catalogue(self) -> Catalogue:
        return load_catalogue(*self._catalogues) if self._catalogues else _shipped_catalogue(_stamps())

    @cached_property
    def recipes(self) -> dict[str, Recipe]:
        """Category -> how it is built. A category may have none: it is built as a plain thing."""
        return load_recipes(*self._recipes) if self._recipes else _shipped_recipes(_stamps())

    def scene_ids(self) -> list[str]:
        """Every scene id there is, sorted."""
        return sorted({p.stem for folder in self._folders if folder.is_dir() for p in folder.glob("*.yaml")})

    def scene_path(self, scene_id: str) -> Path | None:
        """The file of a scene, or None."""
        paths = (folder / f"{scene_id}.yaml" for folder in self._folders)
        return next((p for p in paths if p.is_file()), None)

    def scene(self, scene_id: str) -> Scene:
        """A checked scene.

        Raises:
            KeyError: there is no scene of that id.
            Problems: its file is not a sound scene.
        """
        if scene_id not in self._scenes:
            path = self.scene_path(scene_id)
            if path is None:
                raise KeyError(scene_id)
            own = self._catalogues or self._recipes or path.parent != resources.root("scenes")
            self._scenes[scene_id] = (
                load_scene(path, self.catalogue, self.recipes) if own else _shipped_scene(path, stamp(path), _stamps())
            )
        return self._scenes[scene_id]


# What ships with iwkit is read once a process, as long as its files stay as they are.

Stamps = tuple[tuple[Path, int, int], ...]


def _stamps() -> Stamps:
    return tuple((path, *stamp(path)) for path in (*shipped_catalogues(), *shipped_recipes()))


@lru_cache(maxsize=2)
def _shipped_catalogue(stamps: Stamps) -> Catalogue:  # noqa: ARG001
    return load_catalogue()


@lru_cache(maxsize=2)
def _shipped_recipes(stamps: Stamps) -> dict[str, Recipe]:  # noqa: ARG001
    return load_recipes()


@lru_cache(maxsize=32)
def _shipped_scene(path: Path, changed: tuple[int, int], stamps: Stamps) -> Scene:  # noqa: ARG001
    return load_scene(path, _shipped_catalogue(stamps), _shipped_recipes(stamps))


class Libraries:
    """The library of each project, made once: for commands that take files of several projects.

    Args:
        only: the library of every file, whatever its project.
    """

    def __init__(self, only: Library | None = None) -> None:
        self._only = only
        self._of: dict[Path, Library] = {}

    def of(self, file: Path) -> Library:
        """The library of the project that a file belongs to."""
        if self._only is not None:
            return self._only
        home = home_of(file)
        if home not in self._of:
            self._of[home] = Library.of_home(home)
        return self._of[home]
