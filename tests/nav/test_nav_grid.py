"""The occupancy grid: slices, exact footprints, layers, floor, clearance, the inflation ladder."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from iwkit.errors import UsageError
from iwkit_runtime.nav.geometry import convex_hull, distance_to_outline, slice_outline, wrap
from iwkit_runtime.nav.grid import CELL, Grid, Obstacle, Space, build_grid, widest_space

ROOM = (0.0, 0.0, 2.0, 1.5)
coordinates = st.floats(0, 1.4)


def block(x0, y0, x1, y1, low=0.0, high=2.0):
    return np.array(list(itertools.product((x0, x1), (y0, y1), (low, high))), dtype=float)


def blocked_boxes(grid: Grid) -> set[tuple[int, int]]:
    """(column, row) of the blocked cells of ROOM, counted from its lower left corner."""
    rows, columns = np.nonzero(grid.blocked[1:-1, 1:-1])
    return set(zip(columns.tolist(), rows.tolist(), strict=True))


def clipped_area(outline, x0, y0, side):
    """Area that a convex outline shares with a square, by clipping: nothing to do with separating axes."""
    polygon = [tuple(p) for p in outline]
    for axis, limit, sign in ((0, x0, 1), (0, x0 + side, -1), (1, y0, 1), (1, y0 + side, -1)):
        kept = []
        for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True):
            in_a, in_b = (sign * (p[axis] - limit) >= 0 for p in (a, b))
            if in_a:
                kept.append(a)
            if in_a != in_b:
                t = (limit - a[axis]) / (b[axis] - a[axis])
                kept.append((a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])))
        polygon = kept
        if not polygon:
            return 0.0
    x, y = np.array(polygon).T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(coordinates, coordinates), min_size=3, max_size=7))
def test_footprints_are_exact(corners):
    flat = np.array(corners)
    outline = convex_hull(flat)
    assume(len(outline) > 2 and clipped_area(outline, -1, -1, 4) > 1e-3)
    prism = np.concatenate([np.column_stack([flat, np.full(len(flat), z)]) for z in (0.0, 2.0)])
    grid = build_grid([ROOM], [Obstacle("prism", "furniture", prism)])
    blocked = blocked_boxes(grid)
    for column, row in itertools.product(range(20), range(15)):
        area = clipped_area(outline, column * CELL, row * CELL, CELL)
        if area > 1e-5:
            assert (column, row) in blocked
        elif area == 0:
            assert (column, row) not in blocked


def test_what_is_flush_with_a_cell_blocks_only_its_own_side():
    grid = build_grid([ROOM], [Obstacle("box", "furniture", block(0.3, 0.4, 0.6, 0.8))])
    assert blocked_boxes(grid) == set(itertools.product(range(3, 6), range(4, 8)))


def test_a_sheet_without_thickness_on_a_cell_side_blocks_both_sides():
    grid = build_grid([ROOM], [Obstacle("sheet", "furniture", block(0.5, 0.2, 0.5, 0.4))])
    assert blocked_boxes(grid) == set(itertools.product((4, 5), (2, 3)))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(coordinates, coordinates, st.floats(0, 3)), min_size=4, max_size=9),
    st.lists(st.floats(0.01, 1), min_size=9, max_size=9),
)
def test_a_slice_holds_what_of_the_hull_is_between_the_heights(corners, weights):
    vertices = np.array(corners)
    outline = slice_outline(vertices, 0.5, 1.5)
    share = np.array(weights[: len(vertices)])
    inner = share @ vertices / share.sum()
    if 0.5 <= inner[2] <= 1.5:
        assert distance_to_outline(outline, tuple(inner[:2])) < 1e-9
    if len(outline):
        low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)
        assert (outline >= low - 1e-9).all() and (outline <= high + 1e-9).all()


def test_a_slice_of_a_pyramid_is_as_wide_as_where_it_enters_the_band():
    pyramid = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [1, 1, 2]], dtype=float)
    assert slice_outline(pyramid, 0.5, 1.9).tolist() == [[0.25, 0.25], [1.75, 0.25], [1.75, 1.75], [0.25, 1.75]]
    assert len(slice_outline(pyramid, 2.5, 3.0)) == 0


@pytest.mark.parametrize(
    ("layer", "low", "high", "blocks"),
    [
        ("furniture", 0.0, 0.04, False),  # a rug
        ("furniture", 0.0, 0.06, True),
        ("wall", 0.0, 0.15, False),  # a threshold
        ("wall", 0.0, 0.25, True),
        ("wall", 1.95, 2.6, False),  # above a door
        ("furniture", 1.91, 2.2, False),
        ("furniture", 1.4, 1.8, True),  # a cupboard on the wall
        ("door", 0.0, 2.0, True),
    ],
)
def test_heights_of_the_layers(layer, low, high, blocks):
    grid = build_grid([ROOM], [Obstacle("thing", layer, block(0.5, 0.5, 0.6, 0.6, low, high))])
    assert blocked_boxes(grid) == ({(5, 5)} if blocks else set())
    assert bool(grid.layer(layer).any()) == blocks


def test_cells_without_floor_are_blocked_and_rooms_that_touch_are_one_floor():
    grid = build_grid([(0, 0, 1.0, 1.0), (1.0, 0, 1.95, 0.55)], [])
    at = {place: bool(grid.blocked.flat[grid.cell(place)]) for place in [(0.95, 0.5), (1.05, 0.5), (1.05, 0.9)]}
    assert list(at.values()) == [False, False, True]
    assert grid.blocked.flat[grid.cell((1.92, 0.2))]  # half of the cell hangs over
    assert grid.blocked.flat[grid.cell((1.5, 0.52))]
    seam = build_grid([(0, 0, 1.05, 1.0), (1.05, 0, 2.0, 1.0)], [])
    assert not seam.blocked.flat[seam.cell((1.05, 0.5))]


def test_clearance_is_the_distance_to_the_nearest_blocked_cell():
    grid = build_grid([(0, 0, 3, 3)], [Obstacle("post", "furniture", block(1.4, 1.4, 1.5, 1.5))])
    for place, metres in {(1.45, 1.45): 0, (1.65, 1.45): 0.2, (1.75, 1.85): 0.5, (0.05, 1.45): 0.1}.items():
        assert grid.clearance.flat[grid.cell(place)] == pytest.approx(metres)


def test_pieces_are_taken_away_and_added():
    post = Obstacle("post", "furniture", block(0.5, 0.5, 0.6, 0.6))
    grid = build_grid([ROOM], [post, Obstacle("wall", "wall", block(0, 1.4, 2, 1.5))])
    bare = grid.without("post")
    assert not bare.owned("post").any() and (bare.layer("wall") == grid.layer("wall")).all()
    moved = bare.with_pieces([Obstacle("post", "furniture", block(1.0, 0.5, 1.1, 0.6))])
    assert blocked_boxes(moved) - blocked_boxes(bare) == {(10, 5)}
    assert (bare.with_pieces([post]).blocked == grid.blocked).all()
    assert grid.nearest_owner((0.8, 0.6)) == "post" and grid.nearest_owner((0.8, 0.6), ["wall"]) == "wall"
    assert build_grid([ROOM], []).nearest_owner((1, 1)) is None


@pytest.mark.parametrize(
    ("gap", "shift", "radius"),
    [(1.0, 0, 0.20), (0.5, 0, 0.20), (0.4, 0, 0.15), (0.3, 0, 0.15), (0.1, 0.3, 0.10), (0.2, 0, None)],
)
def test_the_ladder_takes_the_largest_radius_that_connects(gap, shift, radius):
    low, high = block(1.0, 0, 1.1, 1.0), block(1.0 + shift, 1.0 + gap, 1.1 + shift, 3)
    grid = build_grid([(0, 0, 2.4, 3)], [Obstacle("wall", "wall", wall) for wall in (low, high)])
    space = widest_space(grid, (0.45, 0.45), (1.95, 2.55))
    assert (None if space is None else space.radius) == radius


def test_who_starts_too_close_to_things_can_get_away():
    grid = build_grid([(0, 0, 2, 2)], [])
    corner = (0.05, 0.05)
    space = widest_space(grid, corner, (1, 1))
    assert space is not None and space.radius == 0.20
    assert not Space(grid, 0.20, (1, 1)).reaches(corner)


@pytest.mark.parametrize(
    ("floors", "obstacles", "says"),
    [
        ([], [], "floor rectangles"),
        ([(0, 0, 1)], [], "floor rectangles"),
        ([(0, 0, math.nan, 1)], [], "floor rectangles"),
        ("room", [], "floor rectangles"),
        ([(1, 0, 0, 1)], [], "x0 < x1"),
        ([ROOM], [Obstacle("lamp", "furniture", np.zeros((0, 3)))], "piece of lamp"),
        ([ROOM], [Obstacle("lamp", "furniture", np.zeros((4, 2)))], "piece of lamp"),
        ([ROOM], [Obstacle("lamp", "furniture", np.full((4, 3), np.inf))], "piece of lamp"),
        ([ROOM], [Obstacle("lamp", "ceiling", np.zeros((4, 3)))], "layers are wall, furniture, door"),
    ],
)
def test_bad_input_is_named(floors, obstacles, says):
    with pytest.raises(UsageError, match=says):
        build_grid(floors, obstacles)


@pytest.mark.parametrize("place", [(9, 9), (-0.05, 0.5), (math.nan, 1), (1,), "here"])
def test_places_off_the_grid_are_refused(place):
    with pytest.raises(UsageError):
        build_grid([ROOM], []).cell(place)


@given(st.floats(-50, 50))
def test_wrapped_angles_are_the_same_direction(angle):
    assert -math.pi <= wrap(angle) <= math.pi
    assert math.cos(wrap(angle)) == pytest.approx(math.cos(angle), abs=1e-9)
    assert math.sin(wrap(angle)) == pytest.approx(math.sin(angle), abs=1e-9)
