"""OBJ files: what they name is looked up and counted before trimesh reads them."""

from __future__ import annotations

import re
from pathlib import Path

from iwkit.errors import UsageError
from iwkit_authoring.importing.model import (
    MOST_TRIANGLES,
    Model,
    beside,
    check_image,
    check_model,
    read_bytes,
    too_many,
)
from iwkit_authoring.importing.trimeshes import scene_model

_NO_NUMBER = re.compile(rb"nan|inf", re.IGNORECASE)
_MAPS = ("map_kd",)
"""Textures of a material file that are used; the others need not be there."""


def read_obj(path: Path) -> Model:
    """The model in an OBJ file. It says neither its unit nor its axes: metres, y up and front towards +z are supposed.

    Raises:
        UsageError: it isn't one, or names a file that is missing or outside its folder.
    """
    data = read_bytes(path)
    libraries, used, count = _scanned(path, data)
    if count > MOST_TRIANGLES:
        raise too_many(path, count)
    files: dict[str, bytes] = {}
    for name in libraries:
        library = beside(path, name, "material file")
        files[name] = read_bytes(library)
        for texture in _textures(files[name], used):
            files[texture] = read_bytes(beside(library, texture, "texture"))
            check_image(path, files[texture], f"texture '{texture}'")
    return check_model(path, scene_model(path, data, "obj", files, unit=1.0, linear=False))


def _scanned(path: Path, data: bytes) -> tuple[list[str], frozenset[str], int]:
    """The material files that are named, the materials that are used, and the number of triangles."""
    if b"\0" in data[:4096]:
        raise UsageError(f"{path}: this is no OBJ file, which is text: export the model as OBJ or GLB")
    named: dict[bytes, dict[str, None]] = {b"mtllib": {}, b"usemtl": {}}
    count = 0
    for line in data.splitlines():
        if line.startswith(b"v ") and _NO_NUMBER.search(line):
            raise UsageError(f"{path}: a vertex is no number ({line[:60].decode('utf-8', 'replace')}): export it again")
        if line.startswith(b"f "):
            count += max(0, len(line.split()) - 3)
        elif line[:6] in named and (name := line[6:].strip().decode("utf-8", "replace")):
            named[line[:6]][name] = None
    return list(named[b"mtllib"]), frozenset(named[b"usemtl"]), count


def _textures(library: bytes, used: frozenset[str]) -> list[str]:
    """The files of the textures of those materials that are used."""
    found: dict[str, None] = {}
    material = ""
    for line in library.decode("utf-8", "replace").splitlines():
        words = line.split(None, 1)
        if len(words) < 2:
            continue
        if words[0] == "newmtl":
            material = words[1].strip()
        elif words[0].lower() in _MAPS and material in used:
            found[words[1].split()[-1] if words[1].startswith("-") else words[1].strip()] = None
    return list(found)
