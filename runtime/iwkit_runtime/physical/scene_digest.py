"""What identifies the geometry of a task's world: two recordings of it can be drawn in the same scene."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import rfc8785

from iwkit.compile import CompiledTask
from iwkit_runtime.body.model import Body
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
    }
    # canonical JSON has its keys in order: the body, which is most of it, comes first
    text = b'{"body":' + _shape(default_body()) + b"," + rfc8785.dumps(parts)[1:]
    return "sha256:" + hashlib.sha256(text).hexdigest()


@lru_cache(maxsize=2)
def _shape(body: Body) -> bytes:
    """The skin of a body as canonical JSON."""
    return rfc8785.dumps(body.vertices.round(4).tolist())
