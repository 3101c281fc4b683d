"""The skins of a mesh file: what is seen of each link, joined by material, and the colours of the materials."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from iwkit.source.patterns import NAME
from iwkit.spec.recipe import Colour
from iwkit.suggest import snake
from iwkit_authoring.importing.looks import drawable, simplified
from iwkit_authoring.importing.model import Model, Surface
from iwkit_runtime.assets.meshfile import Skin


def skins_of(model: Model, links: Sequence[str], most: int) -> tuple[dict[str, tuple[Skin, ...]], dict[str, Colour]]:
    """What is seen of each link, and the colour of each material; the largest one is called main."""
    flat = [(link, surface) for link in links for surface in model.surfaces.get(link, ())]
    fewer = simplified([surface for _, surface in flat], most)
    names = _materials(fewer)
    skins: dict[str, list[Skin]] = {link: [] for link in links}
    colours: dict[str, Colour] = {}
    joined: dict[tuple[str, str], list[Surface]] = {}
    for (link, _), surface in zip(flat, fewer, strict=True):
        shown = drawable(surface)
        if len(shown.faces):
            joined.setdefault((link, names[_look(surface)]), []).append(shown)
    for (link, material), parts in joined.items():
        skins[link].append(_joined(material, parts))
        red, green, blue, alpha = (round(value, 3) for value in parts[0].colour)
        colours[material] = (red, green, blue) if alpha == 1 else (red, green, blue, alpha)
    return {link: tuple(found) for link, found in skins.items()}, colours


def _joined(material: str, parts: Sequence[Surface]) -> Skin:
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=True)]).astype(np.int32)
    vertices = np.concatenate([part.vertices for part in parts])
    uv = None if parts[0].uv is None else np.concatenate([part.uv for part in parts if part.uv is not None])
    short = max(0, 4 - len(vertices))
    if short:  # an engine takes no mesh of three corners
        vertices = np.concatenate([vertices, np.repeat(vertices[-1:], short, 0)])
        uv = None if uv is None else np.concatenate([uv, np.repeat(uv[-1:], short, 0)])
    return Skin(material, vertices, faces, uv, parts[0].texture)


Look = tuple[str, tuple[float, float, float, float], bytes | None]


def _look(surface: Surface) -> Look:
    return surface.material, surface.colour, surface.texture


def _materials(surfaces: Sequence[Surface]) -> dict[Look, str]:
    """A name for each material: `main` for what covers most, else the file's own, with a number where it is taken."""
    area: dict[Look, float] = {}
    for surface in surfaces:
        a, b, c = (surface.vertices[surface.faces[:, i]] for i in range(3))
        area[_look(surface)] = area.get(_look(surface), 0.0) + float(
            np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
        )
    names: dict[Look, str] = {}
    for look in sorted(area, key=lambda look: -area[look]):
        plain = snake(look[0])[:48]
        base = "main" if not names else plain if re.fullmatch(NAME, plain) and plain != "main" else "material"
        name, number = base, 2
        while name in names.values():
            name, number = f"{base}_{number}", number + 1
        names[look] = name
    return names
