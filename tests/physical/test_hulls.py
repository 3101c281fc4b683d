"""Hulls of pieces: what is known of boxes beforehand is what Qhull finds, and what fills its box is told apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from iwkit.errors import UsageError
from iwkit_runtime.assets.mesh import corners
from iwkit_runtime.physical.hulls import shapes
from iwkit_runtime.physical.kinematics import Frame, about
from iwkit_runtime.physical.spec import Piece

place = st.tuples(*[st.integers(-9_000_000, 9_000_000)] * 3).map(lambda at: np.array(at) * 1e-6)
size = st.tuples(*[st.integers(100, 4_000_000)] * 3).map(lambda wide: np.array(wide) * 1e-6)


@given(low=place, size=size)
def test_a_box_has_the_faces_planes_and_middle_that_qhull_finds(low: np.ndarray, size: np.ndarray) -> None:
    points = corners(low, low + size).round(9)
    (shape,) = shapes([("box", (Piece(points),))])
    hull = ConvexHull(points)
    assert np.array_equal(shape.faces, points[hull.simplices])
    assert np.array_equal(np.unique(shape.pieces.planes, axis=0), np.unique(hull.equations.round(9), axis=0))
    assert shape.pieces.volumes[0] == pytest.approx(hull.volume, rel=1e-9)
    assert shape.pieces.centroids[0] == pytest.approx(low + size / 2, abs=1e-9)


def test_a_box_whose_corners_come_in_another_order_is_the_same_solid() -> None:
    points = corners((0, 0, 0), (0.3, 0.2, 0.1))
    one, other = (shapes([("box", (Piece(some),))])[0].pieces for some in (points, points[[7, 0, 5, 2, 6, 1, 4, 3]]))
    assert np.array_equal(one.planes, other.planes)
    assert one.volumes[0] == pytest.approx(other.volumes[0])


@pytest.mark.parametrize("flat", [(0.3, 0.2, 0.0), (0.0, 0.2, 0.1)])
def test_a_box_without_extent_is_no_solid(flat: tuple[float, float, float]) -> None:
    with pytest.raises(UsageError, match="a piece of 'sheet' has no volume"):
        shapes([("sheet", (Piece(corners((0, 0, 0), flat)),))])


def test_what_fills_its_box_is_told_from_what_is_turned_in_it() -> None:
    pieces = shapes([("box", (Piece(corners((0, 0, 0), (0.3, 0.2, 0.1))),))])[0].pieces
    quarter, slanted = (pieces.moved(Frame(about((0, 0, 1), angle), np.zeros(3))) for angle in (np.pi / 2, 0.3))
    assert [bool(stack.box_like[0]) for stack in (pieces, quarter, slanted)] == [True, True, False]
