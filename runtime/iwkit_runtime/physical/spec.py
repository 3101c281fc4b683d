"""Physical description of things: what the engine simulates and the renderer draws (PHY-6, PHY-11).

Lengths in metres, angles in radians, z up, right-handed. An asset's frame has its origin at the middle of the
footprint on the floor (bottom at z = 0), its front towards -y and x to the right of who stands in front of it. Every
link shares that frame at rest: a joint's value 0 means closed, and then all links' coordinates are asset coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Pixels = NDArray[np.uint8]
Vector = tuple[float, float, float]
T = TypeVar("T")


class Later(Sequence[T]):
    """A sequence that is made when it is first looked at: what is only seen costs nothing where nothing is drawn."""

    def __init__(self, make: Callable[[], Iterable[T]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> tuple[T, ...]:
        return tuple(self._make())

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._made[index]

    def __repr__(self) -> str:
        return repr(self._made)


@dataclass(frozen=True, eq=False)
class Material:
    """Colour (0 to 1, alpha last), or an image of (H, W, 3) bytes, row 0 on top, which the colour multiplies. What has
    an `emission` shines by itself."""

    name: str
    rgba: tuple[float, float, float, float]
    texture: Pixels | None = None
    emission: float = 0.0


@dataclass(frozen=True, eq=False)
class Visual:
    """A mesh that is seen: vertices (n, 3), faces (m, 3) wound counter-clockwise from outside, uv (n, 2) or None.

    uv (0, 0) is the lower left corner of the texture's image as one looks at it. `when` is the state in which it is
    seen (`iwkit.spec.recipe.When`); nothing stands for always.
    """

    vertices: Floats
    faces: Ints
    uv: Floats | None
    material: Material
    when: str | None = None


@dataclass(frozen=True, eq=False)
class Piece:
    """One convex piece of the collision world: the hull of these vertices (n, 3)."""

    vertices: Floats


@dataclass(frozen=True)
class Joint:
    """How a link moves against its parent: about `axis` through `anchor` (hinge) or along `axis` (slide).

    The value runs from `low` (closed, 0) to `high` (open), in radians or metres.
    """

    kind: Literal["hinge", "slide"]
    axis: Vector
    anchor: Vector
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Link:
    """One rigid part. `handle` is the point that a hand grips to move its joint."""

    name: str
    parent: str | None
    visuals: Sequence[Visual]
    pieces: tuple[Piece, ...]
    joint: Joint | None = None
    handle: Vector | None = None


@dataclass(frozen=True)
class Region:
    """A box in the link's frame where things can be: inside an interior, or on a surface.

    A surface's box has its bottom on the surface and the height that is free above it.
    """

    name: str
    kind: Literal["surface", "interior"]
    link: str
    centre: Vector
    size: Vector


class Control(NamedTuple):
    """A point that a finger presses, on a link."""

    link: str
    point: Vector


class Label(NamedTuple):
    """A rectangle with writing on a link: `normal` points out of it; `width` and `height` are those of the writing.

    `given`: a task says what is written there.
    """

    link: str
    centre: Vector
    normal: Vector
    width: float
    height: float
    given: bool = False


@dataclass(frozen=True, eq=False)
class Asset:
    """A thing as geometry. The first link is the root; it has no joint.

    `size` is width, depth, height in metres with all joints closed; `mass` is in kilograms.
    """

    category: str
    size: Vector
    mass: float
    links: tuple[Link, ...]
    regions: tuple[Region, ...] = ()
    controls: Mapping[str, Control] = field(default_factory=dict)
    labels: Sequence[Label] = ()
