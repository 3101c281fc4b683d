"""Door plates: what a pack writes on a door."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from iwkit.spec.recipe import DEFAULT_MATERIALS, Print
from iwkit_runtime.assets.colours import rgba
from iwkit_runtime.assets.decals import flat
from iwkit_runtime.assets.inks import Inks
from iwkit_runtime.physical.spec import Label, Material, Visual

PLATE = (-0.2, 1.42, 0.2, 1.58)
"""x and z of a plate's lowest and highest corner on the leaf, metres."""
RAISED = 0.002
"""Thickness of a plate."""
FACES: Final[tuple[tuple[Literal["front", "back"], int], ...]] = (("front", -1), ("back", 1))


def door_plates(text: str, faces: tuple[float, float]) -> tuple[tuple[Visual, ...], tuple[Label, ...]]:
    """A plate on either face of a door's link `leaf`, at these y."""
    inks = Inks(*(rgba(DEFAULT_MATERIALS[name]) for name in ("paper", "ink", "trim")))
    visuals, labels = [], []
    for (face, out), y in zip(FACES, faces, strict=True):
        print_ = Print(face=face, rect=PLATE, at=y + out * RAISED, style="plate")
        printed, rectangle, pixels = flat(print_, text, inks, np.ones(3), np.zeros(3))
        material = Material(f"plate_{face}", (1.0, 1, 1, 1), pixels)
        visuals.append(Visual(printed.vertices, printed.faces, printed.uv, material))
        labels.append(Label("leaf", *rectangle, given=True))
    return tuple(visuals), tuple(labels)
