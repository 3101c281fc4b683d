"""Solids and typesetting by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image
from scipy.spatial import ConvexHull

from iwkit.errors import UsageError
from iwkit.spec.recipe import Part
from iwkit_runtime.assets import mesh
from iwkit_runtime.assets.inks import Inks
from iwkit_runtime.assets.printing import STYLES, draw, pixels
from iwkit_runtime.assets.shapes import shapes
from iwkit_runtime.assets.typeset import LEADING, fit, font, write

LENGTHS = st.floats(0.01, 2)
WORD = st.text("ABCDEFGHKLMNOPRSTUVWXYZ0123456789$", min_size=1, max_size=9)
INKS = Inks((1, 1, 1, 1), (0, 0, 0, 1), (0.8, 0.1, 0.1, 1))


@given(LENGTHS, LENGTHS, LENGTHS)
def test_a_box_has_its_volume(x: float, y: float, z: float) -> None:
    assert mesh.volume(mesh.box((-x, 0, 0), (0, y, z))) == pytest.approx(x * y * z)


@given(LENGTHS, LENGTHS, LENGTHS, st.floats(0.01, 0.99))
def test_a_rounded_box_fills_its_box_but_for_the_corners(x: float, y: float, z: float, share: float) -> None:
    radius = share * min(x, y, z) / 2
    made = mesh.rounded_box((0, 0, 0), (x, y, z), radius)
    assert made.vertices.min(0) == pytest.approx((0, 0, 0), abs=1e-9)
    assert made.vertices.max(0) == pytest.approx((x, y, z))
    assert 0.45 * x * y * z < mesh.volume(made) < x * y * z


@given(LENGTHS, LENGTHS)
def test_a_cylinder_has_nearly_its_volume(radius: float, height: float) -> None:
    made = mesh.lathe([(radius, 0), (radius, height)], sides=64)
    assert mesh.volume(made) == pytest.approx(np.pi * radius**2 * height, rel=0.002)


def test_a_hollow_has_the_volume_of_its_wall() -> None:
    cup = next(shapes(Part(lathe=((0.04, 0), (0.04, 0.1)), inner=((0, 0.005), (0.035, 0.005), (0.035, 0.1)))))
    wall = np.pi * (0.04**2 * 0.1 - 0.035**2 * 0.095)
    assert mesh.volume(cup.mesh) == pytest.approx(wall, rel=0.02)
    assert sum(ConvexHull(piece).volume for piece in cup.pieces) == pytest.approx(wall, rel=0.06)


@given(st.lists(st.floats(0.2, 1), min_size=3, max_size=12), st.booleans())
@example([1.0, 0.5, 0.33333333333333337], True)  # its corners are nearly in one line
def test_a_star_keeps_its_area_whichever_way_it_is_drawn(radii: list[float], clockwise: bool) -> None:
    angle = np.arange(len(radii)) * 2 * np.pi / len(radii)
    outline = np.array(radii)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    x, y = outline.T
    area = float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    drawn = outline[::-1] if clockwise else outline
    shape = next(shapes(Part(extrude=tuple(map(tuple, drawn.tolist())), span=(0, 0.5))))
    assert mesh.volume(shape.mesh) == pytest.approx(area / 2)
    assert sum(ConvexHull(piece).volume for piece in shape.pieces) == pytest.approx(area / 2)


@pytest.mark.parametrize("plane", ["xy", "xz", "yz"])
@pytest.mark.parametrize("mirror", ["", "x", "xy"])
@pytest.mark.parametrize("turn", [(0, 0, 0), (30, -20, 75)])
def test_turned_and_mirrored_parts_stay_outside_out(plane: str, mirror: str, turn: tuple[float, float, float]) -> None:
    part = Part(extrude=((0, 0), (1, 0), (0, 1)), plane=plane, mirror=mirror, turn=turn, span=(0, 2))  # type: ignore[arg-type]
    made = list(shapes(part))
    assert len(made) == {"": 1, "x": 2, "xy": 4}[mirror]
    assert all(mesh.volume(shape.mesh) == pytest.approx(1) for shape in made)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_a_lathe_turns_about_its_axis(axis: str) -> None:
    made = next(shapes(Part(lathe=((0.1, 0), (0.1, 1)), axis=axis))).mesh  # type: ignore[arg-type]
    size = np.ptp(made.vertices, axis=0)
    assert size["xyz".index(axis)] == pytest.approx(1)
    assert sorted(size.tolist())[:2] == pytest.approx([0.2, 0.2], rel=0.02)
    assert mesh.volume(made) > 0


def test_an_outline_that_touches_itself_is_an_error() -> None:
    with pytest.raises(UsageError, match="touches itself"):
        mesh.triangles(mesh.anticlockwise(np.array([[0.0, 0], [1, 0], [2, 0], [1, 0]])))


@given(st.lists(st.lists(WORD, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=5).map("\n".join))
def test_text_fits_its_box_and_keeps_its_words(text: str) -> None:
    size, lines = fit(text, 300, 200)
    assert " ".join(lines).split() == text.split()
    if size > 4:
        assert len(lines) * size * LEADING <= 200
        assert all(font(size).getlength(line) <= 300 for line in lines)


def test_letters_are_as_large_as_fits() -> None:
    size, lines = fit("MILK", 300, 200)
    assert lines == ["MILK"]
    assert font(size + 1).getlength("MILK") > 300 or (size + 1) * LEADING > 200


def test_a_line_is_broken_only_where_it_gains() -> None:
    assert fit("ORANGE JUICE", 200, 200)[1] == ["ORANGE", "JUICE"]
    assert fit("APPLE $3\nOAT $4\nCOCOA $5", 504, 570)[1] == ["APPLE $3", "OAT $4", "COCOA $5"]
    assert fit("ONE > THE OTHER SIDE\nTWO", 200, 200)[1] == ["ONE > THE", "   OTHER", "   SIDE", "TWO"]


def test_the_rectangle_of_the_writing_holds_all_ink() -> None:
    image = Image.new("RGB", (400, 300), (255, 255, 255))
    left, top, right, bottom = write(image, "TOTAL\n$41", (20, 20, 380, 280), (0, 0, 0))
    rows, columns = np.nonzero(np.asarray(image).min(2) < 200)
    assert left - 1 <= columns.min() and columns.max() <= right + 1
    assert top - 1 <= rows.min() and rows.max() <= bottom + 1


@pytest.mark.parametrize("style", list(STYLES))
def test_every_style_draws_the_text_within_its_image(style: str) -> None:
    one, other = ("9x4", "4x9") if style == "keys" else ("ONE", "TWO")
    image, (left, top, right, bottom) = draw(style, (300, 240), one, INKS)
    assert 0 <= left < right <= 300 and 0 <= top < bottom <= 240
    assert image.tobytes() != draw(style, (300, 240), other, INKS)[0].tobytes()


def test_pixels_are_fine_and_bounded() -> None:
    assert pixels(0.21, 0.297) == (525, 742)
    assert max(pixels(2.0, 0.5)) == 1024
    assert min(pixels(0.2, 0.001)) >= 16
