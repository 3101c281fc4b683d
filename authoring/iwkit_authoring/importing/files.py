"""The files of an imported asset: `assets/NAME.yaml`, its category; `NAME_recipe.yaml`; and `meshes/NAME.npz`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from iwkit.errors import UsageError
from iwkit.ledger import write_atomic
from iwkit.library import ASSETS, Library
from iwkit.spec.base import Model
from iwkit.spec.catalogue import Category
from iwkit.spec.recipe import MeshRecipe
from iwkit_runtime.assets import build_asset
from iwkit_runtime.assets.meshfile import MeshLink, digest_of, to_bytes

MESHES = "meshes"


def paths(home: Path, name: str) -> tuple[Path, Path, Path]:
    """Where the category, the recipe and the mesh of an imported asset lie."""
    folder = home / ASSETS
    return folder / f"{name}.yaml", folder / f"{name}_recipe.yaml", folder / MESHES / f"{name}.npz"


def check_free(home: Path, name: str, library: Library, *, overwrite: bool) -> None:
    """Whether an asset of this name may be written.

    Raises:
        UsageError: the name or one of the files is taken; with `overwrite` only if by something else than an import.
    """
    there = [path for path in paths(home, name) if path.exists()]
    if len(there) == len(paths(home, name)) and overwrite:
        return
    if there:
        raise UsageError(
            f"{there[0]} is there already: give another --name, or --replace if it is an import of your own"
        )
    if name in library.catalogue.categories:
        raise UsageError(
            f"there is a category {name} already: give another --name (and --category {name} for its uses)"
        )


def recipe_of(name: str, links: Sequence[MeshLink], fields: Mapping[str, Any]) -> tuple[MeshRecipe, bytes]:
    """The recipe of a mesh, and the mesh file's bytes, whose digest it has."""
    data = to_bytes(links)
    return MeshRecipe(kind="mesh", file=f"{MESHES}/{name}.npz", digest=digest_of(data), **fields), data


@dataclass(frozen=True)
class Made:
    """An asset as data: `data` are the bytes of the mesh file, `origin` says where it comes from."""

    name: str
    category: Category
    recipe: MeshRecipe
    data: bytes
    origin: str


def write(home: Path, made: Made) -> tuple[Path, Path, Path]:
    """Write the three files, if the asset can be built from them.

    Raises:
        UsageError: it can't; then nothing is left.
    """
    catalogue, recipes, mesh = found = paths(home, made.name)
    mesh.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(mesh, made.data)
    try:
        build_asset(made.name, made.category, made.recipe.beside(recipes.parent))
    except UsageError:
        for path in found:
            path.unlink(missing_ok=True)
        raise
    head = f"# {' '.join(made.origin.split())}, by iwkit assets import\n"
    write_atomic(recipes, (head + to_yaml({"recipes": "1.0", "assets": {made.name: _plain(made.recipe)}})).encode())
    write_atomic(
        catalogue, (head + to_yaml({"catalogue": "1.0", "categories": {made.name: _plain(made.category)}})).encode()
    )
    return found


def _plain(model: Model) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(mode="json", exclude_defaults=True)
    return found


def to_yaml(value: Mapping[str, Any]) -> str:
    """The value as YAML, keys in their order, the innermost lists and mappings on one line."""
    text: str = yaml.safe_dump(value, sort_keys=False, default_flow_style=None, width=118, allow_unicode=True)
    return text
