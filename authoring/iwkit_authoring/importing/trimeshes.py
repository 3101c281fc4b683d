"""From a file that trimesh can read to a `Model`."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from PIL import Image

from iwkit.errors import UsageError
from iwkit_authoring.importing.model import Model, Surface
from iwkit_runtime.physical.spec import Floats

LARGEST_TEXTURE = 1024
"""Pixels on the longer side of a texture that is kept."""


def scene_model(path: Path, data: bytes, kind: str, files: Mapping[str, bytes], *, unit: float, linear: bool) -> Model:
    """What trimesh reads from `data`; `files` are the only others it gets. `linear` colours are turned into sRGB.

    Raises:
        UsageError: trimesh can't read it.
    """
    try:
        scene = _LOADERS[kind](io.BytesIO(data), _Given(files))
        surfaces: dict[str, list[Surface]] = {}
        parents: dict[str, tuple[str, ...]] = {}
        for node, shape in _shapes(scene):
            surfaces.setdefault(node, []).append(shape if not linear else as_shown(shape))
            parents[node] = tuple(_ancestors(scene, node))
    except MemoryError:
        raise UsageError(f"{path}: there isn't enough memory to read it: export a coarser model") from None
    except Exception as error:  # a parser of others' files, given any bytes, may raise anything
        kinds = {"glb": "GLB", "obj": "OBJ"}
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise UsageError(f"{path}: it can't be read as {kinds[kind]} ({said}): export it again") from None
    return Model(surfaces, unit, "y", "z", parents=parents)


_LOADERS: dict[str, Callable[[io.BytesIO, trimesh.resolvers.Resolver], trimesh.Scene]] = {
    "glb": lambda data, given: trimesh.load_scene(data, file_type="glb", resolver=given),
    # Objects stay apart, so that one of them can be named as the one that moves.
    "obj": lambda data, given: trimesh.load_scene(data, file_type="obj", resolver=given, split_objects=True),
}


class _Given(trimesh.resolvers.Resolver):
    """Gives trimesh the files that were checked, and no other."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def get(self, name: str) -> bytes:
        if name.strip() not in self._files:
            raise FileNotFoundError(name)
        return self._files[name.strip()]

    def keys(self) -> list[str]:
        return list(self._files)

    def write(self, name: str, data: Any) -> None:
        raise NotImplementedError

    def namespaced(self, namespace: str) -> _Given:
        raise NotImplementedError


def _shapes(scene: trimesh.Scene) -> Iterator[tuple[str, Surface]]:
    for node in sorted(scene.graph.nodes_geometry):
        matrix, name = scene.graph[node]
        mesh = scene.geometry[name]
        if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces):
            yield str(node), _surface(mesh).moved(np.asarray(matrix, dtype=np.float64))


def _ancestors(scene: trimesh.Scene, node: str) -> Iterator[str]:
    parents = scene.graph.transforms.parents
    while node in parents and node != scene.graph.base_frame:
        yield re.sub(r"_\d+$", "", str(node))
        yield str(node)
        node = parents[node]


def _surface(mesh: trimesh.Trimesh) -> Surface:
    vertices = np.array(mesh.vertices, dtype=np.float64)
    faces = np.array(mesh.faces, dtype=np.int32)
    visual: Any = mesh.visual
    if not isinstance(visual, trimesh.visual.TextureVisuals):
        colour = np.asarray(visual.main_color, dtype=np.float64) / 255
        return Surface("main", vertices, faces, colour=_rgba(colour))
    material: Any = visual.material
    name = str(material.name or "main")
    pbr = material if isinstance(material, trimesh.visual.material.PBRMaterial) else material.to_pbr()
    factor = np.ones(4) if pbr.baseColorFactor is None else np.asarray(pbr.baseColorFactor, dtype=np.float64) / 255
    opacity = getattr(material, "kwargs", {}).get("d")
    if opacity is not None:
        factor[3] = float(np.ravel(opacity)[0])
    uv = None if visual.uv is None else np.array(visual.uv, dtype=np.float64)
    image = None if uv is None or len(uv) != len(vertices) else pbr.baseColorTexture
    two_sided = bool(pbr.doubleSided)
    if image is None:
        return Surface(name, vertices, faces, None, _rgba(factor), two_sided=two_sided)
    if pbr is not material:
        factor[:3] = 1  # OBJ: a texture takes the place of the colour, which exporters leave at some grey
    return Surface(name, vertices, faces, uv, _rgba(factor), png(image), two_sided)


def png(image: Image.Image) -> bytes:
    """The image as a PNG of at most `LARGEST_TEXTURE` pixels a side, on white where it is transparent."""
    size = max(1, *image.size)
    shown = image.convert("RGBA")
    if size > LARGEST_TEXTURE:
        scale = LARGEST_TEXTURE / size
        shown = shown.resize([max(1, round(side * scale)) for side in shown.size], Image.Resampling.LANCZOS)
    flat = Image.new("RGBA", shown.size, "white")
    flat.alpha_composite(shown)
    file = io.BytesIO()
    flat.convert("RGB").save(file, "PNG")
    return file.getvalue()


def _rgba(colour: Floats) -> tuple[float, float, float, float]:
    red, green, blue, alpha = np.clip(np.append(colour[:3], colour[3] if len(colour) > 3 else 1.0), 0, 1).tolist()
    return red, green, blue, alpha


def as_shown(surface: Surface) -> Surface:
    """glTF's colours are linear; ours are what a screen is given (sRGB)."""
    linear = np.array(surface.colour[:3])
    shown = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    alpha = surface.colour[3]
    return Surface(
        surface.material,
        surface.vertices,
        surface.faces,
        surface.uv,
        _rgba(np.append(shown, alpha)),
        surface.texture,
        surface.two_sided,
    )
