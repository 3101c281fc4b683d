"""JSON Schemas, generated from the pydantic models."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel

from iwkit import resources
from iwkit.spec.catalogue import Catalogue
from iwkit.spec.family import FamilySpec
from iwkit.spec.lock import Lock
from iwkit.spec.pack import Pack
from iwkit.spec.policy import Policy
from iwkit.spec.recipe import RecipeFile
from iwkit.spec.scene import Scene

MODELS: dict[str, type[BaseModel]] = {
    "taskpack": Pack,
    "scene": Scene,
    "catalogue": Catalogue,
    "recipes": RecipeFile,
    "human-policy": Policy,
    "family": FamilySpec,
    "lock": Lock,
}
"""File name without suffix -> model."""


def text(name: str) -> str:
    """The schema of one model as it stands in its file."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **MODELS[name].model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def stale(folder: Path | None = None) -> list[Path]:
    """The schema files that differ from their models, or are missing."""
    paths = {name: (folder or resources.root("schemas")) / f"{name}.schema.json" for name in MODELS}
    return [p for name, p in paths.items() if not p.is_file() or p.read_text("utf-8") != text(name)]


def write(folder: Path | None = None) -> list[Path]:
    """Write all schema files and return their paths."""
    folder = folder or resources.root("schemas")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in MODELS:
        path = folder / f"{name}.schema.json"
        path.write_text(text(name), "utf-8")
        paths.append(path)
    return paths
