"""Collects shapes, joints, regions and prints, and makes an asset of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from iwkit.errors import UsageError
from iwkit.spec.recipe import BODY, Moving, Part, Place, Print
from iwkit_runtime.assets import decals, mesh
from iwkit_runtime.assets.colours import RGBA
from iwkit_runtime.assets.inks import Inks
from iwkit_runtime.assets.mesh import Mesh
from iwkit_runtime.assets.shapes import Shape, box_shape, shapes
from iwkit_runtime.physical.spec import (
    Asset,
    Control,
    Floats,
    Joint,
    Label,
    Later,
    Link,
    Material,
    Piece,
    Region,
    Vector,
    Visual,
)

EYE_LEVEL = 1.0
"""Height in metres of the surface that is handiest: regions are listed by their distance from it."""
FREE = 0.5
"""Height in metres kept above a surface with nothing over it."""
SPARE = 0.001
"""What a region keeps from the walls around it, in metres."""
EMISSION = 0.35
"""How strongly materials that glow shine, as MuJoCo counts it."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Where a recipe's coordinates lie in the asset: x -> scale x + offset."""

    scale: Floats = field(default_factory=lambda: np.ones(3))
    offset: Floats = field(default_factory=lambda: np.zeros(3))

    def point(self, point: ArrayLike) -> Floats:
        """A point of the recipe in the asset's frame."""
        return np.asarray(point, dtype=np.float64) * self.scale + self.offset


@dataclass
class _Link:
    joint: Joint | None = None
    handle: Vector | None = None
    shapes: dict[tuple[str, str | None], list[Callable[[], Iterable[Shape]]]] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    printed: list[Callable[[], Visual]] = field(default_factory=list)


def vector(values: ArrayLike) -> Vector:
    """Three plain floats."""
    x, y, z = np.asarray(values, dtype=np.float64).tolist()
    return x, y, z


def exact(points: Floats) -> Floats:
    """Points rounded to a nanometre: the last bits of sines differ between processors."""
    return np.asarray(np.round(points, 9) + 0.0, dtype=np.float64)


class Builder:
    """An asset in the making. Shapes of one link and one material, seen in the same states, become one mesh. What is
    hollow is `filled` to the touch, or isn't."""

    def __init__(
        self, materials: Mapping[str, RGBA], fit: Fit, glow: Collection[str] = (), *, filled: bool = False
    ) -> None:
        self.materials, self.fit, self._glow, self._filled = materials, fit, frozenset(glow), filled
        self._links: dict[str, _Link] = {BODY: _Link()}
        self._regions: list[Region] = []
        self._labels: list[tuple[bool, Callable[[], Label]]] = []
        self.controls: dict[str, Control] = {}

    def either(self, first: str, second: str) -> str:
        """The first material if the recipe has it, else the second."""
        return first if first in self.materials else second

    def add(self, link: str, material: str, shape: Shape, *, solid: bool = True, when: str | None = None) -> None:
        """Add a shape that is already in the asset's frame, seen always or in a state."""
        owner = self._link(link)
        owner.shapes.setdefault((material, when), []).append(lambda: (shape,))
        if solid:
            owner.pieces += map(Piece, shape.pieces)

    def box(
        self, material: str, low: ArrayLike, high: ArrayLike, *, link: str = BODY, round_: float = 0, solid: bool = True
    ) -> None:
        """Add a box between two corners; one without extent is left out."""
        start, end = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        if (end - start > 1e-6).all():
            self.add(link, material, box_shape(start, end, round_), solid=solid)

    def seen(self, material: str, when: str, shapes_: Callable[[], Iterable[Shape]]) -> None:
        """Add to the body what is only seen while a state lasts; it is shaped when it is drawn."""
        self._links[BODY].shapes.setdefault((material, when), []).append(shapes_)

    def drawn(self, part: Part) -> None:
        """Add a part whose numbers are already in the asset's frame."""
        for shape in shapes(part, filled=self._filled):
            self.add(part.link, part.material, shape, solid=part.solid and not part.passing, when=part.when)

    def parts(self, parts: Iterable[Part]) -> None:
        """Add a recipe's parts, stretched as the asset is."""
        for part in parts:
            for shape in shapes(part, filled=self._filled):
                fitted = shape.scaled(self.fit.scale, self.fit.offset)
                self.add(part.link, part.material, fitted, solid=part.solid and not part.passing, when=part.when)

    def scanned(self, link: str, visuals: Iterable[Visual], pieces: Iterable[Floats]) -> None:
        """Add what a mesh file holds of a link, as it is drawn in the recipe."""
        owner = self._link(link)
        owner.printed += [partial(self._scan, seen) for seen in visuals]
        owner.pieces += [Piece(self.fit.point(points)) for points in pieces]

    def moving(self, name: str, joint: Joint, handle: ArrayLike | None) -> None:
        """Declare a link that moves against the body."""
        self._links[name] = _Link(joint, None if handle is None else vector(handle))

    def moving_part(self, name: str, part: Moving) -> None:
        """Declare a recipe's moving link."""
        slide = part.joint == "slide"
        axis = np.array(part.axis, dtype=np.float64)
        axis /= np.linalg.norm(axis)
        travel = part.open * float(np.abs(axis) @ self.fit.scale) if slide else float(np.radians(part.open))
        joint = Joint(part.joint, vector(axis), vector(self.fit.point(part.anchor)), 0.0, travel)
        self.moving(name, joint, self.fit.point(part.handle))

    def grip(self, point: ArrayLike) -> None:
        """The point at which the whole thing is pushed and pulled."""
        self._links[BODY].handle = vector(self.fit.point(point))

    def region(
        self, name: str, kind: Literal["surface", "interior"], low: ArrayLike, high: ArrayLike, link: str = BODY
    ) -> None:
        """A box where things can be, given by its corners in the asset's frame."""
        start, end = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        if (end <= start).any():
            raise UsageError(f"there is no room for the {kind} '{name}': make the thing larger or its walls thinner")
        self._regions.append(Region(name, kind, link, vector((start + end) / 2), vector(end - start)))

    def compartment(self, index: int, low: ArrayLike, high: ArrayLike, link: str = BODY, prefix: str = "") -> None:
        """An interior `inside_N` and the surface `shelf_N` on its floor; the corners are those of the empty space."""
        start, end = np.add(low, (SPARE, SPARE, 0)), np.subtract(high, SPARE)
        self.region(f"{prefix}inside_{index}", "interior", np.add(start, (0, 0, SPARE)), end, link)
        self.region(f"{prefix}shelf_{index}", "surface", start, end, link)

    def places(self, kind: Literal["surface", "interior"], places: Mapping[str, Place]) -> None:
        """A recipe's surfaces or interiors."""
        for name, place in places.items():
            self.region(name, kind, self.fit.point(place.box[:3]), self.fit.point(place.box[3:]), place.link)

    def press(self, name: str, point: ArrayLike, link: str = BODY) -> None:
        """A point that a finger presses, in the asset's frame."""
        self._link(link)
        self.controls[name] = Control(link, vector(point))

    def print_(self, print_: Print, text: str, *, given: bool = False) -> None:
        """Put writing on a face; `given` by a task it comes first among the asset's labels."""
        inks = Inks(*(self.materials[name] for name in (print_.paper, print_.ink, print_.accent)))
        owner = self._link(print_.link)
        name = f"print_{sum(len(link.printed) for link in self._links.values())}"
        emission = self._emission(print_.paper)

        @cache
        def decal() -> decals.Decal:
            draw = decals.wrapped if print_.wrap else decals.flat
            return draw(print_, text, inks, self.fit.scale, self.fit.offset)

        def visual() -> Visual:
            printed, _, pixels = decal()
            material = Material(name, (1.0, 1, 1, 1), pixels, emission)
            return Visual(exact(printed.vertices), printed.faces, printed.uv, material, print_.when)

        owner.printed.append(visual)
        if print_.when is None or not print_.fixed:
            self._labels.append((given, lambda: Label(print_.link, *decal()[1], given)))
        if given:
            decal()  # what can't be written is told now

    def top(self) -> Region | None:
        """The highest surface of the body, if it has any."""
        tops = [r for r in self._regions if r.kind == "surface" and r.link == BODY]
        return max(tops, key=lambda r: (_bottom(r), r.size[0] * r.size[1], r.name), default=None)

    def asset(self, category: str, size: Vector, mass: float) -> Asset:
        """The finished asset; regions come surfaces and interiors mixed, the handiest height first."""
        links = tuple(self._finished(name, link) for name, link in self._links.items())
        regions = sorted(self._regions, key=lambda r: (r.name != "top", round(abs(_bottom(r) - EYE_LEVEL), 6), r.name))
        labels = Later(lambda: [label() for _, label in sorted(self._labels, key=lambda label: not label[0])])
        return Asset(category, size, mass, links, tuple(regions), dict(self.controls), labels)

    def _emission(self, material: str) -> float:
        return EMISSION if material in self._glow else 0.0

    def _link(self, name: str) -> _Link:
        if name not in self._links:
            raise UsageError(f"the recipe names a link '{name}'; this thing's links are {', '.join(self._links)}")
        return self._links[name]

    def _finished(self, name: str, link: _Link) -> Link:
        parent = None if name == BODY else BODY
        return Link(name, parent, Later(partial(self._visuals, link)), _exact(link.pieces), link.joint, link.handle)

    def _visuals(self, link: _Link) -> Iterator[Visual]:
        for (name, when), shaped in link.shapes.items():
            whole = mesh.join(shape.mesh for make in shaped for shape in make())
            material = Material(name, self.materials[name], emission=self._emission(name))
            yield Visual(exact(whole.vertices), whole.faces, None, material, when)
        yield from (printed() for printed in link.printed)

    def _scan(self, seen: Visual) -> Visual:
        placed = mesh.scaled(Mesh(seen.vertices, seen.faces, seen.uv), self.fit.scale, self.fit.offset)
        return Visual(exact(placed.vertices), placed.faces, placed.uv, seen.material)


def _exact(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Pieces as `exact` rounds them, all at once: one by one takes longer than the rounding."""
    if not pieces:
        return ()
    points = exact(np.concatenate([piece.vertices for piece in pieces]))
    ends = np.cumsum([len(piece.vertices) for piece in pieces]).tolist()
    return tuple(Piece(points[start:end]) for start, end in pairwise([0, *ends]))


def _bottom(region: Region) -> float:
    return region.centre[2] - region.size[2] / 2
