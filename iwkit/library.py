"""Where scenes and the catalogue come from: iwkit's own data, and the folders of a user's project before them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from iwkit import resources
from iwkit.catalogue import load_catalogue
from iwkit.scenes import load_scene
from iwkit.spec.catalogue import Catalogue
from iwkit.spec.scene import Scene


class Library:
    """Scenes and categories by name. Files are read once.

    Args:
        scenes: folders of scene files, searched in order before iwkit's own.
        catalogues: further catalogue files; a category defined twice is an error.
    """

    def __init__(self, scenes: Sequence[Path] = (), catalogues: Sequence[Path] = ()) -> None:
        self._folders = (*scenes, resources.root("scenes"))
        self._catalogues = tuple(catalogues)
        self._scenes: dict[str, Scene] = {}

    @cached_property
    def catalogue(self) -> Catalogue:
        return load_catalogue(*self._catalogues)

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
            self._scenes[scene_id] = load_scene(path, self.catalogue)
        return self._scenes[scene_id]
