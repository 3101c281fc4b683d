"""A part of a model made a door, a flap, a lid or a drawer, where the file has no joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from iwkit.errors import UsageError
from iwkit.spec.recipe import BODY
from iwkit.suggest import did_you_mean
from iwkit_authoring.importing.model import Model, Surface
from iwkit_runtime.assets.cabinet import STAND_OFF
from iwkit_runtime.physical.spec import Floats, Joint

SWING = float(np.radians(95))
KNOB = 0.005
"""What stands out of a front by more than this, metres, is its handle."""
EDGE = 0.045
"""From the edge of a door to where it is gripped, metres."""
DRAWN = 0.8
"""The share of a drawer's depth that comes out."""


def _left(low: Floats, _high: Floats) -> Joint:
    return Joint("hinge", (0.0, 0.0, -1.0), (float(low[0]), float(low[1]), 0.0), 0.0, SWING)


def _right(low: Floats, high: Floats) -> Joint:
    return Joint("hinge", (0.0, 0.0, 1.0), (float(high[0]), float(low[1]), 0.0), 0.0, SWING)


def _flap(low: Floats, _high: Floats) -> Joint:
    return Joint("hinge", (1.0, 0.0, 0.0), (0.0, float(low[1]), float(low[2])), 0.0, SWING)


def _lid(_low: Floats, high: Floats) -> Joint:
    return Joint("hinge", (-1.0, 0.0, 0.0), (0.0, float(high[1]), float(high[2])), 0.0, SWING)


def _drawer(low: Floats, high: Floats) -> Joint:
    return Joint("slide", (0.0, -1.0, 0.0), (0.0, 0.0, 0.0), 0.0, float(DRAWN * (high[1] - low[1])))


WAYS: dict[str, Callable[[Floats, Floats], Joint]] = {
    "left": _left,
    "right": _right,
    "flap": _flap,
    "lid": _lid,
    "drawer": _drawer,
}
"""How a part opens: hinged at its left, right or lower front edge, at its upper back edge, or drawn out in front."""


def moved_parts(path: Path, model: Model, wish: str) -> Model:
    """The model, in the asset's frame, with the part named in `wish` (PART=WAY) as a link of its own.

    Raises:
        UsageError: there is no such part or way, the file has a joint of its own, or nothing else would be left.
    """
    part, _, way = wish.partition("=")
    if way not in WAYS:
        raise UsageError(f"--moving {wish}: write PART=WAY, where WAY is one of {', '.join(WAYS)}")
    if model.joints:
        raise UsageError(f"--moving {wish}: the file has a joint of its own: leave out --moving")
    chosen = [node for node in model.surfaces if part == node or part in model.parents.get(node, ())]
    if not chosen:
        names = sorted({name for node in model.surfaces for name in (node, *model.parents.get(node, ()))})
        hint = did_you_mean(part, names) or f"there are {', '.join(names[:20])}"
        raise UsageError(f"{path}: no part is called {part!r}: {hint}")
    if len(chosen) == len(model.surfaces):
        raise UsageError(f"{path}: {part!r} is all of it: nothing would be left to move against")
    moving = [surface for node in chosen for surface in model.surfaces[node]]
    rest = [surface for node, found in model.surfaces.items() if node not in chosen for surface in found]
    points = np.concatenate([surface.vertices[np.unique(surface.faces)] for surface in moving])
    low, high = points.min(0), points.max(0)
    low[1] = front_of(moving)
    link = "drawer" if way == "drawer" else "lid" if way == "lid" else "door"
    joint = WAYS[way](low, high)
    return replace(model, surfaces={BODY: rest, link: moving}, joints={link: joint})


def front_of(surfaces: Sequence[Surface]) -> float:
    """y of the plane that most of the front lies in: handles and knobs stand out of it."""
    depth, area = [], []
    for surface in surfaces:
        corners = surface.vertices[surface.faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
        size = np.linalg.norm(normal, axis=1)
        facing = np.abs(normal[:, 1]) > 0.9 * np.maximum(size, 1e-12)
        depth.append(corners[facing, :, 1].mean(1))
        area.append(size[facing])
    depths, areas = np.concatenate(depth), np.concatenate(area)
    if not len(depths):
        return float(min(surface.vertices[:, 1].min() for surface in surfaces if len(surface.faces)))
    levels = np.round(depths, 3)
    front = {level: float(areas[levels == level].sum()) for level in np.unique(levels)}
    most = max(front.values())
    return float(min(level for level, found in front.items() if found > 0.5 * most))


def handle_of(joint: Joint, surfaces: Sequence[Surface]) -> Floats:
    """Where a hand takes hold: what stands out of the front, else near the edge furthest from the hinge."""
    points = np.concatenate([surface.vertices[np.unique(surface.faces)] for surface in surfaces])
    low, high = points.min(0), points.max(0)
    front = front_of(surfaces)
    out = points[points[:, 1] < front - KNOB]
    if len(out):
        middle = (out.min(0) + out.max(0)) / 2
        return np.array([middle[0], out[:, 1].min(), middle[2]])
    grip = np.array([(low[0] + high[0]) / 2, front - STAND_OFF, (low[2] + high[2]) / 2])
    upright = abs(joint.axis[2]) > 0.5
    if joint.kind == "slide" or (not upright and high[2] - low[2] < high[1] - low[1]):
        return grip
    along = 0 if upright else 2
    inset = min(EDGE, (high[along] - low[along]) / 4)
    grip[along] = high[along] - inset if joint.anchor[along] < grip[along] else low[along] + inset
    return grip
