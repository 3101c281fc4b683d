"""A model file made into an asset of a project: a category, a recipe and a mesh file (PHY-11, PHY-12)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from iwkit.errors import UsageError
from iwkit.library import Library
from iwkit.source.patterns import NAME
from iwkit.spec.catalogue import Category
from iwkit.spec.recipe import BODY, Colour, MeshRecipe, Moving, Place, Press
from iwkit.suggest import snake
from iwkit_authoring.importing import files
from iwkit_authoring.importing.category import BUTTON, INTERIOR, Found, category_of, like_of
from iwkit_authoring.importing.frame import AXES, placed
from iwkit_authoring.importing.glb import read_glb
from iwkit_authoring.importing.model import Model, triangles
from iwkit_authoring.importing.moving import handle_of, moved_parts
from iwkit_authoring.importing.obj import read_obj
from iwkit_authoring.importing.pieces import convex_pieces
from iwkit_authoring.importing.regions import Spot, find_regions
from iwkit_authoring.importing.skins import skins_of
from iwkit_authoring.importing.usd import read_usd
from iwkit_authoring.importing.wishes import Wishes
from iwkit_runtime.assets.meshfile import MeshLink
from iwkit_runtime.physical.spec import Floats, Vector

READERS: dict[str, Callable[[Path], Model]] = {
    ".glb": read_glb,
    ".obj": read_obj,
    ".usd": read_usd,
    ".usda": read_usd,
    ".usdc": read_usd,
}
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
SIZES = (0.002, 12.0)
"""Metres between which the largest side of a thing is believed."""
UNLIKE = 6.0
"""By this factor an imported thing may be larger or smaller than others of its category."""
LEAST = 0.0005
"""Metres that a thing measures at least each way."""


@dataclass(frozen=True)
class Report:
    """What was made: the category and its name, the recipe, figures to look at, and what the user should know."""

    name: str
    category: Category
    recipe: MeshRecipe
    triangles: tuple[int, int]
    pieces: int
    written: Sequence[Path]
    notes: Sequence[str] = ()


def read_model(path: Path) -> Model:
    """What a GLB, OBJ or USD file holds.

    Raises:
        UsageError: it is none of these, or nothing can be made of it.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path}: {path.suffix or 'a file without ending'} isn't read: give a GLB, OBJ or USD file")
    return reader(path)


def import_asset(path: Path, home: Path, wishes: Wishes) -> Report:
    """Write a model into the folder `assets` of the project at `home`.

    Raises:
        UsageError: a wish can't be granted, nothing can be made of the file, or the name is taken.
    """
    library = Library.of_home(home)
    name = _name(path, wishes)
    files.check_free(home, name, library, overwrite=wishes.replace)
    model = read_model(path)
    like, notes = like_of(model, wishes, library)
    model = placed(model, *_frame(path, model, wishes, like))
    model = moved_parts(path, model, wishes.moving) if wishes.moving else _as_links(model)
    links = [BODY, *sorted(model.joints)]
    size = _size(path, model, like)
    skins, colours = skins_of(model, links, wishes.max_triangles)
    pieces = {link: convex_pieces(model.solids.get(link) or model.surfaces[link]) for link in links}
    if not any(pieces.values()):
        raise UsageError(f"{path}: nothing of it is solid: export its triangles")
    found = Found(path, model, wishes, like, size, pieces, *_regions(model, pieces))
    category, more = category_of(name, found)
    meshes = [MeshLink(link, skins[link], tuple(pieces[link])) for link in links]
    recipe, data = files.recipe_of(name, meshes, _recipe_fields(found, category, colours))
    written = files.write(home, files.Made(name, category, recipe, data, f"from {path.name}"))
    counts = sum(map(triangles, model.surfaces.values())), sum(len(s.faces) for own in skins.values() for s in own)
    return Report(
        name, category, recipe, counts, sum(map(len, pieces.values())), written, [*model.notes, *notes, *more]
    )


def _name(path: Path, wishes: Wishes) -> str:
    name = wishes.name or snake(path.stem)
    if not re.fullmatch(NAME, name):
        raise UsageError(f"{name!r} can't name a category: give --name, lower-case letters, digits and _")
    return name


def _frame(path: Path, model: Model, wishes: Wishes, like: Category | None) -> tuple[float, str, str]:
    up, front = wishes.up or model.up, wishes.front or model.front
    for option, axis in (("--up", up), ("--front", front)):
        if axis not in AXES:
            raise UsageError(f"{option} {axis!r} is no axis: give one of {', '.join(AXES)}")
    if abs(AXES[up] @ AXES[front]) > 0:
        raise UsageError(f"--up {up} and --front {front} are the same axis: give another --front")
    if wishes.units is not None and wishes.units not in UNITS:
        raise UsageError(f"--units {wishes.units!r} isn't known: give one of {', '.join(UNITS)}")
    unit = model.unit if wishes.units is None else UNITS[wishes.units]
    extent = _extent(model)
    if extent.max() <= 0:
        raise UsageError(f"{path}: all its vertices are in one place: export the model again")
    if wishes.height is not None:
        tall = float(extent @ np.abs(AXES[up]))
        if tall <= 0:
            raise UsageError(f"{path}: it is flat along {up}: give --units instead of --height, or another --up")
        return wishes.height / tall, up, front
    largest = float(extent.max()) * unit
    usual = max(like.size) if like else None
    if not SIZES[0] <= largest <= SIZES[1] or (usual and not 1 / UNLIKE <= largest / usual <= UNLIKE):
        raise UsageError(_unbelieved(path, float(extent.max()), largest, usual))
    return unit, up, front


def _unbelieved(path: Path, extent: float, largest: float, usual: float | None) -> str:
    aim = usual or 0.5
    fits = [unit for unit, metres in UNITS.items() if 1 / UNLIKE <= extent * metres / aim <= UNLIKE]
    best = min(UNITS, key=lambda unit: abs(np.log(extent * UNITS[unit] / aim)))
    usually = f", where others of its category measure {usual:g} m" if usual else ""
    advice = f"give --units (perhaps {best})" if fits else "give --units"
    return f"{path}: its largest side would be {largest:.4g} m{usually}: {advice}, or --height in metres"


def _extent(model: Model) -> Floats:
    points = np.concatenate([s.vertices[np.unique(s.faces)] for found in model.surfaces.values() for s in found])
    return np.asarray(np.ptp(points, axis=0), dtype=np.float64)


def _as_links(model: Model) -> Model:
    """Nodes that no joint moves are the body."""
    rest = [surface for node, found in model.surfaces.items() if node not in model.joints for surface in found]
    moving = {link: model.surfaces.get(link, ()) for link in model.joints}
    return replace(model, surfaces={BODY: rest, **moving})


def _size(path: Path, model: Model, like: Category | None) -> Vector:
    extent = np.maximum(_extent(model), LEAST)
    if extent.max() > SIZES[1]:
        raise UsageError(_unbelieved(path, float(extent.max()), float(extent.max()), max(like.size) if like else None))
    width, depth, height = np.round(extent, 4).tolist()
    return width, depth, height


def _regions(model: Model, pieces: Mapping[str, Sequence[Floats]]) -> tuple[list[Spot], list[Spot]]:
    surfaces, interiors = find_regions(pieces)
    declared = [Spot(zone.link, zone.low, zone.high) for zone in model.zones if zone.kind in INTERIOR]
    return surfaces, declared or interiors


def _recipe_fields(found: Found, category: Category, colours: Mapping[str, Colour]) -> dict[str, object]:
    """The fields of the recipe beside its mesh."""
    model, uses, high = found.model, category.affords, 0.95 * found.size[2]
    names = ["top" if not n and spot.low[2] > high else f"shelf_{n}" for n, spot in enumerate(found.surfaces)]
    surfaces = {name: _place(spot) for name, spot in zip(names, found.surfaces, strict=True)}
    interiors = {f"inside_{number}": _place(spot) for number, spot in enumerate(found.interiors)}
    return {
        "materials": dict(sorted(colours.items(), key=lambda item: item[0] != "main")),
        "links": {link: _moving(link, model) for link in model.joints},
        "surfaces": surfaces if "surface" in uses else {},
        "interiors": interiors if "container" in uses else {},
        "controls": {"power": _button(model)} if "device" in uses else {},
    }


def _place(spot: Spot) -> Place:
    x0, y0, z0, x1, y1, z1 = np.round(np.concatenate([spot.low, spot.high]), 4).tolist()
    return Place(link=spot.link, box=(x0, y0, z0, x1, y1, z1))


def _rounded(values: Floats | Vector) -> Vector:
    x, y, z = (np.round(np.asarray(values, dtype=np.float64), 5) + 0.0).tolist()
    return x, y, z


def _moving(link: str, model: Model) -> Moving:
    joint = model.joints[link]
    reach = joint.high if joint.kind == "slide" else float(np.degrees(joint.high))
    return Moving(
        joint=joint.kind,
        axis=_rounded(joint.axis),
        anchor=_rounded(joint.anchor),
        open=round(reach, 4),
        handle=_rounded(handle_of(joint, [surface for surface in model.surfaces[link] if len(surface.faces)])),
    )


def _button(model: Model) -> Press:
    """Where the finger presses: the button that the file declares, else a spot on the right of the front."""
    declared = next((zone for zone in model.zones if zone.kind == BUTTON), None)
    if declared is not None:
        return Press(link=declared.link, at=_rounded((declared.low + declared.high) / 2))
    links = [(link, surface) for link, found in model.surfaces.items() for surface in found if len(surface.faces)]
    whole = np.concatenate([surface.vertices for _, surface in links])
    low, high = whole.min(0), whole.max(0)
    aim = np.array([low[0] + 0.8 * (high[0] - low[0]), low[1], low[2] + 0.6 * (high[2] - low[2])])
    near = []
    for link, surface in links:
        centres = surface.vertices[surface.faces].mean(1)
        at = int(np.argmin(np.linalg.norm(centres - aim, axis=1)))
        near.append((float(np.linalg.norm(centres[at] - aim)), link, centres[at]))
    _, link, point = min(near, key=lambda item: (round(item[0], 6), item[1]))
    return Press(link=link, at=_rounded(point))
