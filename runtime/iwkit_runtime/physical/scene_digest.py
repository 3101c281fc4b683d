"""What identifies the geometry of a task's world: two recordings of it can be drawn in the same scene."""

from __future__ import annotations

from typing import Any

from iwkit.compile import CompiledTask
from iwkit.digest import digest
from iwkit_runtime.physical.layout import Assets
from iwkit_runtime.physical.wearer import default_body


def scene_digest(task: CompiledTask, assets: Assets) -> str:
    """Digest of all data from which a task's scene and its wearer are built. The code that builds them is not in it."""
    decor = {piece.category for piece in task.scene.decor.values()}
    kinds = sorted(decor | {thing.category for thing in task.things.values()})
    categories, recipes = assets.catalogue.categories, assets.recipes
    parts: dict[str, Any] = {
        "physical": task.physical_digest,
        "scene": task.scene.model_dump(mode="json"),
        "categories": {name: categories[name].model_dump(mode="json") for name in kinds if name in categories},
        "recipes": {name: recipes[name].model_dump(mode="json") for name in kinds if name in recipes},
        "body": default_body().vertices.round(4).tolist(),
    }
    return digest(parts)
