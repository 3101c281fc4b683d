"""A model as it was read from a file, before it is turned, scaled and cut into pieces; and what no model may be."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image

from iwkit.errors import UsageError
from iwkit_runtime.physical.spec import Floats, Ints, Joint

MOST_BYTES = 256 * 2**20
"""Size of a file that is read at all."""
MOST_TRIANGLES = 2_000_000
"""Triangles of a model that is read at all; how many are kept is for the user to say."""
MOST_PIXELS = 8192 * 8192
"""Pixels of a texture that is decoded."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles of one material: vertices (n, 3), faces (m, 3), uv (n, 2) or None; colour 0 to 1 as shown on a screen,
    alpha last; the bytes of the texture's image, which the colour multiplies. A two-sided one is seen from behind."""

    material: str
    vertices: Floats
    faces: Ints
    uv: Floats | None = None
    colour: tuple[float, float, float, float] = (0.7, 0.7, 0.7, 1.0)
    texture: bytes | None = None
    two_sided: bool = False

    def moved(self, matrix: Floats) -> Surface:
        """The surface under a 4 x 4 matrix; a mirror image keeps its outside outside."""
        vertices = self.vertices @ matrix[:3, :3].T + matrix[:3, 3]
        faces = self.faces if np.linalg.det(matrix[:3, :3]) >= 0 else np.ascontiguousarray(self.faces[:, ::-1])
        return replace(self, vertices=vertices, faces=faces)


@dataclass(frozen=True, eq=False)
class Zone:
    """A box that the file declares, by its lowest and highest corner: an interior, or a control to press."""

    kind: str
    link: str
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Model:
    """What a file holds, in its own frame and units.

    surfaces: part -> what is seen of it; a part is a link, or a node by whose name it can be made one. solids: link ->
    surfaces that are touched in place of those seen, where the file has its own. joints: link -> how it moves, and the
    rest of the links don't. `up` and `front` are axes like `y` or `-z`, `unit` is metres per unit.
    """

    surfaces: Mapping[str, Sequence[Surface]]
    unit: float
    up: str
    front: str
    solids: Mapping[str, Sequence[Surface]] = field(default_factory=dict)
    joints: Mapping[str, Joint] = field(default_factory=dict)
    zones: Sequence[Zone] = ()
    mass: float | None = None
    category: str | None = None
    parents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: Sequence[str] = ()


def triangles(surfaces: Iterable[Surface]) -> int:
    """How many triangles there are."""
    return sum(len(surface.faces) for surface in surfaces)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that isn't too large to be looked at.

    Raises:
        UsageError: it isn't there, is empty or larger than `MOST_BYTES`.
    """
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UsageError(
                f"{path}: {size >> 20} MB is more than is read ({MOST_BYTES >> 20}): export fewer triangles"
            )
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror}): give the path of a GLB, OBJ or USD file") from None
    if not data:
        raise UsageError(f"{path}: the file is empty: export the model again")
    return data


def too_many(path: Path, count: int) -> UsageError:
    """The complaint about a model of `count` triangles."""
    return UsageError(
        f"{path}: {count:,} triangles are more than are read ({MOST_TRIANGLES:,}): export a coarser model, or only the "
        "one thing"
    )


def beside(path: Path, name: str, what: str) -> Path:
    """The file that `path` names as `name`, in or below its folder.

    Raises:
        UsageError: the name is absolute or an address, leaves the folder, or nothing is there.
    """
    clean = name.replace("\\", "/")
    pure = PurePosixPath(clean)
    inside = not pure.is_absolute() and ".." not in pure.parts and ":" not in clean and "\0" not in clean
    target = path.parent / pure
    if not inside or not target.resolve().is_relative_to(path.parent.resolve()):
        raise UsageError(
            f"{path}: names the {what} '{name[:200]}', which lies outside its folder: put it beside the file"
        )
    if not target.is_file():
        raise UsageError(
            f"{path}: its {what} '{name[:200]}' is missing: put it beside the file, or export it again with it"
        )
    return target


def check_image(path: Path, data: bytes, what: str) -> None:
    """Look at an image's head before it is decoded.

    Raises:
        UsageError: it is no image that can be read, or larger than `MOST_PIXELS`.
    """
    try:
        with Image.open(io.BytesIO(data)) as picture:
            width, height = picture.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise UsageError(f"{path}: its {what} is no image that can be read ({error}): save it as PNG or JPEG") from None
    if width * height > MOST_PIXELS:
        raise UsageError(f"{path}: its {what} has {width} x {height} pixels: make it smaller than 8192 x 8192")


def check_model(path: Path, model: Model) -> Model:
    """The model, if something can be made of it.

    Raises:
        UsageError: it has no triangles, too many, numbers that are none, or faces of vertices that it doesn't have.
    """
    every = [surface for surfaces in (*model.surfaces.values(), *model.solids.values()) for surface in surfaces]
    seen = sum(triangles(surfaces) for surfaces in model.surfaces.values())
    if not seen:
        raise UsageError(f"{path}: there is no mesh in it: export the model with its triangles")
    if seen > MOST_TRIANGLES:
        raise too_many(path, seen)
    for surface in every:
        used = surface.vertices[surface.faces] if _faces_fit(surface) else None
        if used is None:
            raise UsageError(f"{path}: a face of '{surface.material}' names a vertex that isn't there: export it again")
        if not np.isfinite(used).all() or (surface.uv is not None and not np.isfinite(surface.uv[surface.faces]).all()):
            raise UsageError(
                f"{path}: a vertex of '{surface.material}' is no number (NaN or infinite): export it again"
            )
        if np.abs(used).max(initial=0) > 1e7:
            raise UsageError(
                f"{path}: a vertex of '{surface.material}' lies {np.abs(used).max():.3g} units away: mend it"
            )
    if not any(_area(surface) > 0 for found in model.surfaces.values() for surface in found):
        raise UsageError(f"{path}: it has no extent: all its vertices lie in one place or one line; export it again")
    return model


def _area(surface: Surface) -> float:
    a, b, c = (surface.vertices[surface.faces[:, i]] for i in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def _faces_fit(surface: Surface) -> bool:
    faces = surface.faces
    return not len(faces) or bool(faces.min() >= 0 and faces.max() < len(surface.vertices))
