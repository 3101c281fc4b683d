"""Models of our own making: a mug, a cabinet with a door, a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import trimesh
from PIL import Image
from trimesh.transformations import rotation_matrix
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial

Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
"""From z up and the front towards -y to glTF's y up and front towards +z."""


def painted(mesh: trimesh.Trimesh, colour: Sequence[int], name: str = "paint") -> trimesh.Trimesh:
    mesh.visual = TextureVisuals(material=PBRMaterial(baseColorFactor=[*colour, 255], name=name))
    return mesh


def box(low: Sequence[float], high: Sequence[float]) -> trimesh.Trimesh:
    return trimesh.creation.box(bounds=[low, high])


def mug() -> trimesh.Scene:
    """A hollow mug 10 cm high with a handle on its right."""
    wall = [[0, 0], [0.04, 0], [0.042, 0.1], [0.038, 0.1], [0.036, 0.006], [0, 0.006]]
    body = trimesh.creation.revolve(wall, sections=32)
    handle = trimesh.creation.torus(0.025, 0.006, major_sections=24, minor_sections=8)
    handle.apply_transform(rotation_matrix(np.pi / 2, [1, 0, 0]))
    handle.apply_translation([0.06, 0, 0.05])
    scene = trimesh.Scene()
    scene.add_geometry(painted(trimesh.util.concatenate([body, handle]), (200, 40, 40)), node_name="mug")
    return scene


def cabinet() -> trimesh.Scene:
    """60 x 40 x 90 cm of boards 2 cm thick, one shelf, a door with a knob on its right."""
    w, d, h, t = 0.3, 0.2, 0.9, 0.02
    boards = {
        "left": box([-w, -d + t, 0], [-w + t, d, h]),
        "right": box([w - t, -d + t, 0], [w, d, h]),
        "back": box([-w + t, d - t, 0], [w - t, d, h]),
        "bottom": box([-w + t, -d + t, 0.05], [w - t, d - t, 0.05 + t]),
        "top": box([-w + t, -d + t, h - t], [w - t, d - t, h]),
        "board": box([-w + t, -d + 0.05, 0.45], [w - t, d - t, 0.45 + t]),
        "door": box([-w, -d, 0], [w, -d + t - 0.002, h]),
    }
    scene = trimesh.Scene()
    for name, mesh in boards.items():
        scene.add_geometry(painted(mesh, (180, 140, 90), "wood"), node_name=name)
    knob = painted(box([w - 0.06, -d - 0.03, 0.4], [w - 0.04, -d, 0.56]), (40, 40, 45), "steel")
    scene.add_geometry(knob, node_name="knob", parent_node_name="door")
    return scene


def table() -> trimesh.Scene:
    """A top of 1.2 x 0.8 m on four legs, 0.75 m high."""
    parts = [box([-0.6, -0.4, 0.72], [0.6, 0.4, 0.75])]
    parts += [box([x - 0.03, y - 0.03, 0], [x + 0.03, y + 0.03, 0.72]) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]
    scene = trimesh.Scene()
    for number, part in enumerate(parts):
        scene.add_geometry(painted(part, (150, 110, 70)), node_name=f"part{number}")
    return scene


def picture_box() -> trimesh.Scene:
    """A box of 20 x 10 x 30 cm with a picture on every side: red on its left half, blue on its right half."""
    mesh = box([-0.1, -0.05, 0], [0.1, 0.05, 0.3])
    pixels = np.zeros((64, 128, 3), dtype=np.uint8)
    pixels[:, :64], pixels[:, 64:] = (220, 20, 20), (20, 20, 220)
    uv = (mesh.vertices[:, [0, 2]] - [-0.1, 0]) / [0.2, 0.3]
    mesh.visual = TextureVisuals(uv=uv, material=PBRMaterial(baseColorTexture=Image.fromarray(pixels), name="label"))
    scene = trimesh.Scene()
    scene.add_geometry(mesh, node_name="box")
    return scene


MADE: dict[str, Callable[[], trimesh.Scene]] = {
    "mug": mug,
    "cabinet": cabinet,
    "table": table,
    "picture_box": picture_box,
}


def write(folder: Path, name: str, kind: str = "glb", unit: float = 1.0) -> Path:
    """One of the models as `folder/my_NAME.KIND`, y up, in units of `unit` metres."""
    scene = MADE[name]()
    scene.apply_transform(Y_UP)
    scene.apply_scale(1 / unit)
    path = folder / f"my_{name}.{kind}"
    scene.export(path, file_type=kind)
    return path


def ball(folder: Path) -> Path:
    """A ball of 20 cm and 1,280 triangles."""
    path = folder / "my_ball.glb"
    painted(trimesh.creation.icosphere(3, 0.1), (200, 200, 40)).export(path)
    return path


@pytest.fixture(scope="session")
def models() -> SimpleNamespace:
    """The functions of this file."""
    return SimpleNamespace(write=write, ball=ball, **MADE)
