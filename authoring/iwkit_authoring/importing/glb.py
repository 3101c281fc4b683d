"""GLB files: the head is checked before trimesh reads the rest."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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

_COMPONENT = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_UNDERSTOOD = ("KHR_materials_", "KHR_lights_punctual", "EXT_texture_webp")
_COMPRESSED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression")
_JSON, _BIN = 0x4E4F534A, 0x004E4942
_DEEPEST = 64
_MOST_NODES = 5000


def read_glb(path: Path) -> Model:
    """The model in a GLB file (glTF 2.0: metres, y up, front towards +z).

    Raises:
        UsageError: it isn't one, is cut off, needs an extension, or names a file outside its folder.
    """
    data = read_bytes(path)
    head, binary = _chunks(path, data)
    try:
        files = _checked(path, head, binary)
    except (KeyError, TypeError, IndexError, ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path}: its glTF description is broken ({error!r}): export it again") from None
    return check_model(path, scene_model(path, data, "glb", files, unit=1.0, linear=True))


def _chunks(path: Path, data: bytes) -> tuple[dict[str, Any], int]:
    """The JSON of a GLB, and the length of its binary chunk."""
    if data[:4] != b"glTF" or len(data) < 20:
        raise UsageError(f"{path}: this is no GLB file (it doesn't begin with glTF): export the model as GLB")
    version, length = struct.unpack("<II", data[4:12])
    if version != 2:
        raise UsageError(f"{path}: this is GLB version {version}: export it as version 2")
    if length != len(data):
        raise UsageError(f"{path}: the file is cut off ({len(data)} of {length} bytes): copy or export it again")
    at, head, binary = 12, None, 0
    while at + 8 <= len(data):
        size, kind = struct.unpack("<II", data[at : at + 8])
        if at + 8 + size > len(data):
            raise UsageError(f"{path}: a chunk reaches beyond the file's end: export it again")
        if kind == _JSON and head is None:
            head = data[at + 8 : at + 8 + size]
        elif kind == _BIN:
            binary = binary or size
        at += 8 + size
    try:
        found = json.loads(head or b"")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UsageError(f"{path}: its glTF description is no JSON: export it again")
    return found, binary


def _checked(path: Path, head: dict[str, Any], binary: int) -> dict[str, bytes]:
    """Check what a glTF description promises; returns the files beside it that it names."""
    required = head.get("extensionsRequired", ())
    if packed := [name for name in required if name in _COMPRESSED]:
        raise UsageError(f"{path}: its meshes are compressed ({packed[0]}): export it without compression")
    if unknown := [name for name in required if not name.startswith(_UNDERSTOOD)]:
        raise UsageError(f"{path}: it needs the glTF extension {unknown[0]}, which isn't understood: export it without")
    files = {}
    sizes = []
    for number, buffer in enumerate(head.get("buffers", ())):
        uri = buffer.get("uri")
        size = int(buffer["byteLength"])
        if uri is None:
            _within(size, binary if number == 0 else 0, "buffer", number)
        elif not uri.startswith("data:"):
            files[uri] = read_bytes(beside(path, uri, "buffer"))
            _within(size, len(files[uri]), "buffer", number)
        sizes.append(size)
    views = head.get("bufferViews", ())
    for number, view in enumerate(views):
        _within(_whole(view.get("byteOffset", 0)) + _whole(view["byteLength"]), sizes[view["buffer"]], "view", number)
    for number, accessor in enumerate(head.get("accessors", ())):
        _check_accessor(accessor, views, number)
    for number, image in enumerate(head.get("images", ())):
        if (uri := image.get("uri")) and not uri.startswith("data:"):
            files[uri] = read_bytes(beside(path, uri, "texture"))
            check_image(path, files[uri], f"texture '{uri}'")
        elif uri is None and "bufferView" not in image:
            raise UsageError(f"{path}: its texture {number} is missing: export it again with its textures")
    count = _triangles(head)
    if count > MOST_TRIANGLES:
        raise too_many(path, count)
    return files


def _whole(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def _within(needed: int, there: int, what: str, number: int) -> None:
    if needed > there:
        raise ValueError(f"{what} {number} needs {needed} bytes and has {there}")


def _check_accessor(accessor: Mapping[str, Any], views: Any, number: int) -> None:
    if "sparse" in accessor or "bufferView" not in accessor:
        raise ValueError(f"accessor {number} has no data of its own")
    element = _COMPONENT[accessor["componentType"]] * _WIDTH[accessor["type"]]
    view = views[_whole(accessor["bufferView"])]
    count, stride = _whole(accessor["count"]), _whole(view.get("byteStride", 0)) or element
    needed = _whole(accessor.get("byteOffset", 0)) + (stride * (count - 1) + element if count else 0)
    _within(needed, _whole(view["byteLength"]), "accessor", number)


def _triangles(head: Mapping[str, Any]) -> int:
    """Triangles of the scene, a mesh counted as often as nodes show it."""
    accessors = head.get("accessors", ())
    of_mesh = []
    for mesh in head.get("meshes", ()):
        count = 0
        for primitive in mesh["primitives"]:
            which = primitive.get("indices", primitive["attributes"].get("POSITION"))
            count += accessors[_whole(which)]["count"] // (3 if primitive.get("mode", 4) == 4 else 1)
        of_mesh.append(count)
    nodes = head.get("nodes", ())
    children = {_whole(child) for node in nodes for child in node.get("children", ())}
    shown = sum(of_mesh[_whole(node["mesh"])] for node in nodes if "mesh" in node)
    if len(nodes) > _MOST_NODES or sum(len(node.get("children", ())) for node in nodes) != len(children):
        raise ValueError(f"a node has two parents, or there are more than {_MOST_NODES}")
    level, depth = [number for number in range(len(nodes)) if number not in children], 0
    found = len(level)
    while level:
        level = [child for number in level for child in nodes[number].get("children", ())]
        found, depth = found + len(level), depth + 1
        if depth > _DEEPEST:
            raise ValueError(f"its nodes are nested deeper than {_DEEPEST}")
    if found != len(nodes):
        raise ValueError("its nodes go round in a circle")
    return shown
