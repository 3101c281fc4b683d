"""What a user may say of a model that is imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Wishes:
    """What the user says of a model; None leaves it to the file, the category or the rules of docs/import.md.

    `category` is one of the catalogue, whose kind, public names, uses and mass are taken. `height` is in metres and
    scales the whole; `moving` is a part and how it opens, like `door=left`.
    """

    name: str | None = None
    category: str | None = None
    kind: Literal["object", "fixture"] | None = None
    public: Sequence[str] = ()
    affords: Sequence[str] | None = None
    units: str | None = None
    up: str | None = None
    front: str | None = None
    height: float | None = None
    mass: float | None = None
    density: float | None = None
    moving: str | None = None
    max_triangles: int = 20_000
    replace: bool = False
