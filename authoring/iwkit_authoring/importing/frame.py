"""From a file's units and axes to the asset's frame: metres, z up, front towards -y, the footprint's middle on the
floor at the origin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from iwkit_authoring.importing.model import Model, Zone
from iwkit_runtime.physical.spec import Floats, Joint, Vector

AXES: dict[str, Floats] = {
    "x": np.array([1.0, 0, 0]),
    "y": np.array([0.0, 1, 0]),
    "z": np.array([0.0, 0, 1]),
    "-x": np.array([-1.0, 0, 0]),
    "-y": np.array([0.0, -1, 0]),
    "-z": np.array([0.0, 0, -1]),
}


def placed(model: Model, unit: float, up: str, front: str) -> Model:
    """The model in the asset's frame. Its footprint and floor are those of all it shows, while closed."""
    z, y = AXES[up], -AXES[front]
    turn = np.array([np.cross(y, z), y, z])
    matrix = np.eye(4)
    matrix[:3, :3] = unit * turn
    points = np.concatenate([s.vertices[np.unique(s.faces)] for found in model.surfaces.values() for s in found])
    points = points @ matrix[:3, :3].T
    low, high = points.min(0), points.max(0)
    matrix[:3, 3] = -np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    return replace(
        model,
        surfaces={link: [s.moved(matrix) for s in found] for link, found in model.surfaces.items()},
        solids={link: [s.moved(matrix) for s in found] for link, found in model.solids.items()},
        joints={link: _joint(joint, matrix, turn, unit) for link, joint in model.joints.items()},
        zones=[_zone(zone, matrix) for zone in model.zones],
        unit=1.0,
        up="z",
        front="-y",
    )


def _vector(values: Floats) -> Vector:
    x, y, z = values.tolist()
    return x, y, z


def _joint(joint: Joint, matrix: Floats, turn: Floats, unit: float) -> Joint:
    anchor = matrix[:3, :3] @ np.array(joint.anchor) + matrix[:3, 3]
    scale = unit if joint.kind == "slide" else 1.0
    return Joint(
        joint.kind, _vector(turn @ np.array(joint.axis)), _vector(anchor), joint.low * scale, joint.high * scale
    )


def _zone(zone: Zone, matrix: Floats) -> Zone:
    ends = np.array([zone.low, zone.high]) @ matrix[:3, :3].T + matrix[:3, 3]
    return replace(zone, low=ends.min(0), high=ends.max(0))
