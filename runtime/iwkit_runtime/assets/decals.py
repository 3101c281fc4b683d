"""Prints as thin meshes just above the face they are on."""

from __future__ import annotations

import numpy as np
from PIL import Image

from iwkit.spec.recipe import Print
from iwkit_runtime.assets import mesh
from iwkit_runtime.assets.inks import Inks
from iwkit_runtime.assets.mesh import Mesh
from iwkit_runtime.assets.printing import LEAST, draw, pixels
from iwkit_runtime.assets.typeset import Box
from iwkit_runtime.physical.spec import Floats, Pixels, Vector

PROUD = 0.0004
"""Distance of a print from its face, in metres."""
SIDES = 36
"""Strips of a print around a cylinder."""
ROWS = 0.6
"""Of a print on an upright face, such a part of its rows is kept. It is mostly seen from above, where graphics drivers
take a blurred image for both directions as soon as the rows come close; with fewer rows they do so later."""
FRONT_SHARE = 0.58
"""Share of a cylinder's front half that writing may fill, so that all of it is seen at once."""

FACES: dict[str, tuple[Vector, Vector, Vector, int, int]] = {
    "front": ((1, 0, 0), (0, 0, 1), (0, -1, 0), 0, 2),
    "back": ((-1, 0, 0), (0, 0, 1), (0, 1, 0), 0, 2),
    "left": ((0, -1, 0), (0, 0, 1), (-1, 0, 0), 1, 2),
    "right": ((0, 1, 0), (0, 0, 1), (1, 0, 0), 1, 2),
    "top": ((1, 0, 0), (0, 1, 0), (0, 0, 1), 0, 1),
    "bottom": ((1, 0, 0), (0, -1, 0), (0, 0, -1), 0, 1),
}
"""Face -> directions of its text's right and up, normal, and which two coordinates its `rect` gives."""

Rectangle = tuple[Vector, Vector, float, float]
"""Centre, normal, width and height of the writing."""
Decal = tuple[Mesh, Rectangle, Pixels]


def flat(print_: Print, text: str, inks: Inks, scale: Floats, offset: Floats) -> Decal:
    """A print on a plane face, under x -> scale x + offset."""
    face = FACES[print_.face]
    right, up, normal = (np.array(direction, dtype=np.float64) for direction in face[:3])
    plane = list(face[3:])
    low, high = np.array(print_.rect[:2]), np.array(print_.rect[2:])
    centre = np.abs(normal) * print_.at
    centre[plane] = (low + high) / 2
    centre = centre * scale + offset + normal * PROUD
    width, height = ((high - low) * scale[plane]).tolist()
    size = pixels(width, height)
    image, box = draw(print_.style, size, text, inks)
    ends = [centre + right * (a * width / 2) + up * (b * height / 2) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    printed = mesh.make(ends, [[0, 1, 2], [0, 2, 3]], [[0, 0], [1, 0], [1, 1], [0, 1]])
    x, y, wide, tall = _in_metres(box, size, width, height)
    if normal[2] == 0:
        image = _fewer_rows(image)
    return printed, (_vector(centre + right * x + up * y), _vector(normal), wide, tall), np.asarray(image)


def wrapped(print_: Print, text: str, inks: Inks, scale: Floats, offset: Floats) -> Decal:
    """A print around an upright cylinder: the same twice, in the middle of its front and of its back."""
    x, y, low, high = print_.rect
    radius = float(print_.wrap or 0) * float(np.sqrt(scale[0] * scale[1])) + PROUD
    height = (high - low) * float(scale[2])
    size = pixels(2 * np.pi * radius, height)
    panel = (max(16, round(size[0] / 2 * FRONT_SHARE)), size[1])
    image, box = draw(print_.style, panel, text, inks)
    around, left = _around(np.asarray(_fewer_rows(image)), size)
    centre = np.array([x, y, (low + high) / 2]) * scale + offset
    angle = np.linspace(-np.pi, np.pi, SIDES + 1)
    circle = np.column_stack([radius * np.sin(angle), -radius * np.cos(angle)])
    rows = [
        np.column_stack([circle + centre[:2], np.full(SIDES + 1, centre[2] + z)]) for z in (-height / 2, height / 2)
    ]
    uv = [np.column_stack([np.linspace(0, 1, SIDES + 1), np.full(SIDES + 1, v)]) for v in (0.0, 1.0)]
    printed = mesh.make(np.concatenate(rows), mesh.grid(2, SIDES + 1, ring=False), np.concatenate(uv))
    shifted = (box[0] + left, box[1], box[2] + left, box[3])
    arc, rise, wide, tall = _in_metres(shifted, (around.shape[1], size[1]), 2 * np.pi * radius, height)
    turn = arc / radius
    normal = np.array([np.sin(turn), -np.cos(turn), 0])
    middle = np.array([centre[0], centre[1], centre[2] + rise]) + normal * radius
    return printed, (_vector(middle), _vector(normal), 2 * radius * float(np.sin(wide / radius / 2)), tall), around


def _fewer_rows(image: Image.Image) -> Image.Image:
    return image.resize((image.width, max(LEAST, round(ROWS * image.height))), Image.Resampling.BOX)


def _around(panel: Pixels, size: tuple[int, int]) -> tuple[Pixels, int]:
    """An image for the whole circumference with the panel in the middle of front and back; its left edge in front.

    The strips between are filled with each row's outermost colours, so that bands run all around.
    """
    half = size[0] // 2
    before = (half - panel.shape[1]) // 2
    side = np.pad(panel, ((0, 0), (before, half - panel.shape[1] - before), (0, 0)), mode="edge")
    whole = np.concatenate([side, side], axis=1)
    # The front is the image's middle, where the first half's panel comes to lie by a quarter turn.
    return np.ascontiguousarray(np.roll(whole, half // 2, axis=1)), half // 2 + before


def _in_metres(box: Box, size: tuple[int, int], width: float, height: float) -> tuple[float, float, float, float]:
    """A pixel rectangle's middle, to the right and up from the print's, its width and its height, in metres."""
    left, top, right, bottom = box
    x = ((left + right) / 2 / size[0] - 0.5) * width
    y = (0.5 - (top + bottom) / 2 / size[1]) * height
    return x, y, (right - left) / size[0] * width, (bottom - top) / size[1] * height


def _vector(values: Floats) -> Vector:
    x, y, z = values.tolist()
    return x, y, z
