"""Shapes and materials of USD prims: meshes and simple solids as triangles, preview surfaces as colour and texture."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from iwkit.errors import UsageError
from iwkit_authoring.importing.model import Surface, beside, check_image, read_bytes
from iwkit_authoring.importing.trimeshes import as_shown, png
from iwkit_runtime.assets import mesh
from iwkit_runtime.physical.spec import Floats, Ints

COLOURS = ("diffuseColor", "diffuse_color_constant")
"""Inputs that hold a colour: of UsdPreviewSurface, and of the materials that Omniverse exports."""
TEXTURES = ("diffuse_texture",)


@dataclass(frozen=True, eq=False)
class Shape:
    """Triangles of a prim: points (n, 3), corners (m, 3), the face of each, uv of each corner (m, 3, 2) or None."""

    points: Floats
    corners: Ints
    face: Ints
    uv: Floats | None = None


def geometry(usd: Any, path: Path, prim: Any) -> Shape | None:
    """The triangles of a mesh, cube, sphere or cylinder in its own frame; None for another kind of prim.

    Raises:
        UsageError: a mesh whose counts and indices don't fit.
    """
    if prim.IsA(usd.geom.Mesh):
        return _mesh(usd, path, prim)
    if prim.IsA(usd.geom.Cube):
        half = float(usd.geom.Cube(prim).GetSizeAttr().Get()) / 2
        return _solid(mesh.box([-half] * 3, [half] * 3))
    if prim.IsA(usd.geom.Sphere):
        radius = float(usd.geom.Sphere(prim).GetRadiusAttr().Get())
        return _solid(mesh.ellipsoid([0, 0, 0], [radius] * 3))
    if prim.IsA(usd.geom.Cylinder):
        cylinder = usd.geom.Cylinder(prim)
        radius, height = float(cylinder.GetRadiusAttr().Get()), float(cylinder.GetHeightAttr().Get())
        upright = mesh.lathe([[radius, -height / 2], [radius, height / 2]])
        turn = {"X": [[0.0, 0, 1], [1, 0, 0], [0, 1, 0]], "Y": [[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]}
        matrix = np.array(turn.get(cylinder.GetAxisAttr().Get(), np.eye(3)))
        return _solid(mesh.mapped(upright, matrix))
    return None


def _solid(made: mesh.Mesh) -> Shape:
    return Shape(made.vertices, made.faces, np.zeros(len(made.faces), dtype=np.int32))


def _mesh(usd: Any, path: Path, prim: Any) -> Shape:
    shape = usd.geom.Mesh(prim)
    points = np.array(shape.GetPointsAttr().Get() or np.empty((0, 3)), dtype=np.float64).reshape(-1, 3)
    counts = np.array(shape.GetFaceVertexCountsAttr().Get() or (), dtype=np.int64)
    indices = np.array(shape.GetFaceVertexIndicesAttr().Get() or (), dtype=np.int64)
    wrong = len(indices) != counts.sum() or (counts < 0).any()
    if wrong or (len(indices) and (indices.min() < 0 or indices.max() >= len(points))):
        raise UsageError(f"{path}: the faces of {prim.GetPath()} don't fit its vertices: export it again")
    starts = np.cumsum(counts) - counts
    fan = np.maximum(counts - 2, 0)
    face = np.repeat(np.arange(len(counts)), fan)
    step = np.arange(len(face)) - np.repeat(np.cumsum(fan) - fan, fan)
    at = np.stack([starts[face], starts[face] + step + 1, starts[face] + step + 2], -1)
    if shape.GetOrientationAttr().Get() == usd.geom.Tokens.leftHanded:
        at = at[:, ::-1]
    uv = _uv(usd, prim, indices, at)
    return Shape(points, indices[at].astype(np.int32).reshape(-1, 3), face.astype(np.int32), uv)


def _uv(usd: Any, prim: Any, indices: Any, at: Any) -> Floats | None:
    """Texture coordinates of each triangle's corners, from the primvar `st`."""
    primvar = usd.geom.PrimvarsAPI(prim).GetPrimvar("st")
    values = primvar.ComputeFlattened() if primvar else None
    if values is None:
        return None
    st = np.array(values, dtype=np.float64).reshape(-1, 2)
    where = at if primvar.GetInterpolation() == usd.geom.Tokens.faceVarying else indices[at]
    return st[where] if not where.size or where.max() < len(st) else None


class Looks:
    """Cuts a prim's triangles by material, and reads what each material looks like; each texture is read once."""

    def __init__(self, usd: Any, path: Path) -> None:
        self._usd, self._path = usd, path
        self._images: dict[Path, bytes] = {}

    def surfaces(self, prim: Any, shape: Shape) -> Iterator[Surface]:
        """One surface for each material of the prim."""
        left = np.ones(len(shape.corners), dtype=bool)
        for subset in self._usd.shade.MaterialBindingAPI(prim).GetMaterialBindSubsets():
            faces = np.array(subset.GetIndicesAttr().Get() or (), dtype=np.int64)
            chosen = np.isin(shape.face, faces) & left
            left &= ~chosen
            yield from self._surface(subset.GetPrim(), prim, shape, chosen)
        yield from self._surface(prim, prim, shape, left)

    def _surface(self, bound: Any, prim: Any, shape: Shape, chosen: Any) -> Iterator[Surface]:
        if not chosen.any():
            return
        material = self._usd.shade.MaterialBindingAPI(bound).ComputeBoundMaterial()[0]
        name, colour, texture = self._look(material, prim)
        corners = shape.corners[chosen]
        two_sided = bool(self._usd.geom.Gprim(prim).GetDoubleSidedAttr().Get())
        if shape.uv is None or texture is None:
            yield as_shown(Surface(name, shape.points, corners, None, colour, None, two_sided))
            return
        apart = np.arange(corners.size, dtype=np.int32).reshape(-1, 3)
        uv = shape.uv[chosen].reshape(-1, 2)
        yield as_shown(Surface(name, shape.points[corners.ravel()], apart, uv, colour, texture, two_sided))

    def _look(self, material: Any, prim: Any) -> tuple[str, tuple[float, float, float, float], bytes | None]:
        if not material:
            shown = self._usd.geom.Gprim(prim).GetDisplayColorAttr().Get()
            red, green, blue = (float(value) for value in shown[0]) if shown else (0.45, 0.45, 0.45)
            return "main", (red, green, blue, 1.0), None
        name = str(material.GetPrim().GetName())
        colour, alpha, texture = None, 1.0, None
        for shader in map(self._usd.shade.Shader, self._shaders(material)):
            colour = colour or self._value(shader, COLOURS)
            opacity = self._value(shader, ("opacity",))
            alpha = float(opacity) if opacity is not None else alpha
            texture = texture or self._texture(shader)
        if texture is not None:
            return name, (1.0, 1.0, 1.0, alpha), texture
        red, green, blue = (float(value) for value in colour) if colour is not None else (0.45, 0.45, 0.45)
        return name, (red, green, blue, alpha), None

    def _shaders(self, material: Any) -> list[Any]:
        prims = self._usd.usd.PrimRange(material.GetPrim())
        return [prim for prim in prims if prim.IsA(self._usd.shade.Shader)]

    def _value(self, shader: Any, names: tuple[str, ...]) -> Any:
        found = (shader.GetInput(name) for name in names)
        values = (one.Get() for one in found if one and not one.HasConnectedSource())
        return next((value for value in values if value is not None), None)

    def _texture(self, shader: Any) -> bytes | None:
        """The image of a diffuse texture: of the reader that feeds `diffuseColor`, or named by the shader itself."""
        asset = self._value(shader, TEXTURES)
        feed = shader.GetInput(COLOURS[0])
        if asset is None and feed and feed.HasConnectedSource():
            source = feed.GetConnectedSource()[0].GetPrim()
            asset = self._value(self._usd.shade.Shader(source), ("file",))
        if asset is None or not asset.path:
            return None
        file = beside(self._path, asset.path, "texture")
        if file not in self._images:
            data = read_bytes(file)
            check_image(self._path, data, f"texture '{asset.path}'")
            with Image.open(io.BytesIO(data)) as picture:
                self._images[file] = png(picture)
        return self._images[file]
