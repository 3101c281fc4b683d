"""Mesh files: what `iwkit assets import` makes of a model, as plain arrays in the asset's frame (PHY-11, PHY-12).

A mesh file is a NumPy `.npz` without pickles. `index` is UTF-8 JSON: `{"mesh": "1.0", "textures": k, "links": [{"name",
"pieces": [points of each piece], "visuals": [{"material", "texture": number or null, "uv": bool}]}]}`. Link l has the
array `piece_l` (n, 3) of all its pieces' points, and its visual v `vertices_l_v` (n, 3), `faces_l_v` (m, 3) and perhaps
`uv_l_v` (n, 2); `texture_k` are the bytes of an image file. Lengths are metres.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from iwkit.errors import UsageError
from iwkit.spec.recipe import MeshRecipe
from iwkit_runtime.assets.builder import Builder
from iwkit_runtime.assets.kinds import Frame, parts
from iwkit_runtime.physical.spec import Floats, Ints, Material, Pixels, Visual

LARGEST = 256 * 2**20
"""Bytes that the arrays of a mesh file may have."""
VERSION = "1.0"


@dataclass(frozen=True, eq=False)
class Skin:
    """A mesh of one material: vertices (n, 3), faces (m, 3), uv (n, 2) or None, and the texture's image or None."""

    material: str
    vertices: Floats
    faces: Ints
    uv: Floats | None = None
    texture: bytes | None = None


@dataclass(frozen=True, eq=False)
class MeshLink:
    """One rigid part of a mesh file; each piece is the corners (n, 3) of something convex."""

    name: str
    skins: tuple[Skin, ...]
    pieces: tuple[Floats, ...]


def digest_of(data: bytes) -> str:
    """How a recipe names the bytes of its mesh file."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def to_bytes(links: Sequence[MeshLink]) -> bytes:
    """A mesh file. The same links give the same bytes."""
    arrays: dict[str, Any] = {}
    textures: dict[bytes, int] = {}
    index = []
    for number, link in enumerate(links):
        skins = []
        for place, skin in enumerate(link.skins):
            key = f"{number}_{place}"
            arrays[f"vertices_{key}"] = skin.vertices.astype(np.float32)
            arrays[f"faces_{key}"] = skin.faces.astype(np.int32)
            if skin.uv is not None:
                arrays[f"uv_{key}"] = skin.uv.astype(np.float32)
            image = None if skin.texture is None else textures.setdefault(skin.texture, len(textures))
            skins.append({"material": skin.material, "texture": image, "uv": skin.uv is not None})
        arrays[f"piece_{number}"] = np.concatenate([np.empty((0, 3)), *link.pieces]).astype(np.float32)
        index.append({"name": link.name, "pieces": [len(piece) for piece in link.pieces], "visuals": skins})
    for image_bytes, number in textures.items():
        arrays[f"texture_{number}"] = np.frombuffer(image_bytes, dtype=np.uint8)
    head = json.dumps({"mesh": VERSION, "textures": len(textures), "links": index}, sort_keys=True)
    file = io.BytesIO()
    np.savez_compressed(file, index=np.frombuffer(head.encode(), dtype=np.uint8), **arrays)
    return file.getvalue()


@lru_cache(maxsize=64)
def read(path: Path, digest: str) -> tuple[MeshLink, ...]:
    """The links of a mesh file whose bytes have this digest.

    Raises:
        UsageError: it isn't there, isn't the file the recipe was written for, or isn't a mesh file.
    """
    again = "import the model again with `iwkit assets import`"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: the mesh file can't be read ({error.strerror}): put it back, or {again}") from None
    if digest_of(data) != digest:
        raise UsageError(f"{path}: the mesh file isn't the one its recipe was written for (digest differs): {again}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
        if size > LARGEST:
            raise UsageError(
                f"{path}: the mesh file unpacks to {size >> 20} MB, at most {LARGEST >> 20} are read: {again}"
            )
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return tuple(_links(arrays))
    except (ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path}: this is no mesh file of iwkit ({error}): {again}") from None


def _links(arrays: Any) -> list[MeshLink]:
    index = json.loads(arrays["index"].tobytes())
    if index["mesh"] != VERSION:
        raise ValueError(f"version {index['mesh']}, this iwkit reads {VERSION}")
    images = [arrays[f"texture_{number}"].tobytes() for number in range(index["textures"])]
    links = []
    for number, link in enumerate(index["links"]):
        skins = []
        for place, seen in enumerate(link["visuals"]):
            key = f"{number}_{place}"
            uv = np.asarray(arrays[f"uv_{key}"], dtype=np.float64) if seen["uv"] else None
            vertices = np.asarray(arrays[f"vertices_{key}"], dtype=np.float64)
            texture = None if seen["texture"] is None else images[seen["texture"]]
            skins.append(Skin(seen["material"], vertices, arrays[f"faces_{key}"], uv, texture))
        points = np.asarray(arrays[f"piece_{number}"], dtype=np.float64)
        pieces = np.split(points, np.cumsum(link["pieces"])[:-1]) if link["pieces"] else []
        links.append(MeshLink(link["name"], tuple(skins), tuple(pieces)))
    return links


def mesh(build: Builder, recipe: MeshRecipe, frame: Frame) -> None:
    """What the recipe's mesh file holds, and the regions that the recipe or else the catalogue gives."""
    for link in read(recipe.path, recipe.digest):
        visuals = []
        for skin in link.skins:
            if skin.material not in recipe.materials:
                raise UsageError(f"{recipe.path}: the recipe gives no colour for the mesh's material '{skin.material}'")
            material = Material(skin.material, build.materials[skin.material], _pixels(skin.texture))
            visuals.append(Visual(skin.vertices, skin.faces, skin.uv, material))
        build.scanned(link.name, visuals, link.pieces)
    parts(build, recipe, frame)


@lru_cache(maxsize=64)
def _decoded(image: bytes) -> Pixels:
    with Image.open(io.BytesIO(image)) as picture:
        return np.asarray(picture.convert("RGB"))


def _pixels(image: bytes | None) -> Pixels | None:
    return None if image is None else _decoded(image)
