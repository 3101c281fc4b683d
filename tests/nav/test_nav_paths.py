"""Path search against an independent one, corners, and string pulling."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from iwkit.errors import UsageError
from iwkit_runtime.nav.astar import CostMap, Costs
from iwkit_runtime.nav.grid import CELL, Grid, Obstacle, Space, build_grid, widest_space
from iwkit_runtime.nav.route import is_free, plan_path

SIDE = 24  # cells
seeds = st.integers(0, 10**6)
cells = st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1))


def cluttered(seed: int) -> Grid:
    """A room of 2.4 m with a few small posts and, mostly, a wall with a gap."""
    rng = np.random.default_rng(seed)
    boxes = []
    for x, y in rng.integers(0, SIDE, (rng.integers(0, 12), 2)):
        boxes.append((x, y, x + 1, y + 1))
    column, gap, width = rng.integers(4, SIDE - 4), rng.integers(0, SIDE - 2), rng.integers(1, 9)
    boxes += [(column, 0, column + 1, gap), (column, gap + width, column + 1, SIDE)]
    pieces = [
        Obstacle(f"thing_{i}", "furniture", np.array(list(itertools.product((x0, x1), (y0, y1), (0, 10)))) * CELL)
        for i, (x0, y0, x1, y1) in enumerate(boxes)
        if x0 < x1 and y0 < y1
    ]
    return build_grid([(0, 0, SIDE * CELL, SIDE * CELL)], pieces)


def middle(cell: tuple[int, int]) -> tuple[float, float]:
    return (cell[0] + 0.5) * CELL, (cell[1] + 0.5) * CELL


def naive_clearance(grid: Grid) -> np.ndarray:
    blocked = np.argwhere(grid.blocked)
    every = np.argwhere(np.ones_like(grid.blocked))
    away = np.sqrt(((every[:, None, :] - blocked[None, :, :]) ** 2).sum(axis=-1)).min(axis=1)
    return away.reshape(grid.blocked.shape) * CELL


def naive_best(grid: Grid, start: int, goal: int, costs: Costs) -> tuple[float, float] | None:
    """(radius, cost) of the cheapest way by SciPy's Dijkstra on the widest rung that connects."""
    clearance = naive_clearance(grid)
    rows, columns = clearance.shape
    for radius in (0.20, 0.15, 0.10):
        free = clearance > radius + 1e-9
        if not free.flat[start] or not free.flat[goal]:
            continue
        ends: list[tuple[int, int, float]] = []
        for r, c in np.argwhere(free).tolist():
            for dr, dc in itertools.product((-1, 0, 1), repeat=2):
                if (dr or dc) and free[r + dr, c + dc] and free[r + dr, c] and free[r, c + dc]:
                    near = max(0.0, costs.safe - clearance[r + dr, c + dc])
                    price = CELL * (math.hypot(dr, dc) + costs.weight * near)
                    ends.append((r * columns + c, (r + dr) * columns + c + dc, price))
        if not ends:
            continue
        a, b, price = zip(*ends, strict=True)
        graph = coo_array((price, (a, b)), shape=(rows * columns,) * 2).tocsr()
        best = float(dijkstra(graph, indices=start)[goal])
        if math.isfinite(best):
            return radius, best
    return None


@settings(max_examples=100, deadline=None)
@given(seeds, cells, cells, st.sampled_from([Costs(), Costs(weight=2.0), Costs(weight=0), Costs(safe=1.0)]))
def test_path_cost_is_that_of_dijkstra_on_the_widest_rung(seed, a, b, costs):
    grid = cluttered(seed)
    start, goal = middle(a), middle(b)
    assume(a != b and grid.clearance.flat[grid.cell(start)] > 0.11)
    expected = naive_best(grid, grid.cell(start), grid.cell(goal), costs)
    space = widest_space(grid, start, goal)
    if expected is None:
        assert space is None and plan_path(grid, start, goal, costs) is None
        return
    assert space is not None and space.radius == expected[0]
    found = CostMap(space, costs).find(goal)
    assert found is not None and found.cost == pytest.approx(expected[1], rel=1e-9)
    assert found.cells[0] == grid.cell(start) and found.cells[-1] == grid.cell(goal)


@settings(max_examples=100, deadline=None)
@given(seeds, cells, cells)
def test_steps_are_to_neighbours_and_cut_no_corner(seed, a, b):
    grid = cluttered(seed)
    space = widest_space(grid, middle(a), middle(b))
    assume(space is not None)
    found = CostMap(space).find(middle(b))
    places = [divmod(cell, grid.columns) for cell in found.cells]
    assert all(space.passable[place] for place in places)
    for (r0, c0), (r1, c1) in itertools.pairwise(places):
        assert max(abs(r1 - r0), abs(c1 - c0)) == 1
        assert space.passable[r0, c1] and space.passable[r1, c0]


def test_two_posts_that_touch_at_a_corner_let_nothing_through():
    posts = [(0, 0, 1.0, 1.0), (1.0, 1.0, 2.0, 2.0)]
    pieces = [
        Obstacle("post", "furniture", np.array(list(itertools.product((x0, x1), (y0, y1), (0, 1)))))
        for x0, y0, x1, y1 in posts
    ]
    grid = build_grid([(0, 0, 2, 2)], pieces)
    raw = Space(grid, 0.0, (1.5, 0.5))
    assert not raw.reaches((0.5, 1.5))
    assert not is_free(raw.passable, grid, (1.25, 0.75), (0.75, 1.25))


def naive_segment_cost(costmap: CostMap, a, b) -> float:
    """Equation 2 along a segment between middles of cells, step by step, interpolated between two cells."""
    grid, extra = costmap.space.grid, costmap.extra
    (c0, r0), (c1, r1) = ((round((p[0] - grid.x0) / CELL - 0.5), round((p[1] - grid.y0) / CELL - 0.5)) for p in (a, b))
    steps = max(abs(c1 - c0), abs(r1 - r0))
    total = math.hypot(c1 - c0, r1 - r0)
    for k in range(1, steps + 1):
        c, r = c0 + k * (c1 - c0) / steps, r0 + k * (r1 - r0) / steps
        lower_c, lower_r = math.floor(c + 1e-9), math.floor(r + 1e-9)
        share = (c - lower_c) + (r - lower_r)  # one of the two is whole
        upper = extra[lower_r + (r - lower_r > 1e-9), lower_c + (c - lower_c > 1e-9)]
        total += (1 - share) * extra[lower_r, lower_c] + share * upper
    return total * CELL


@settings(max_examples=100, deadline=None)
@given(seeds, cells, cells)
def test_pulled_paths_are_not_dearer_and_stay_free(seed, a, b):
    grid = cluttered(seed)
    start, goal = middle(a), middle(b)
    space = widest_space(grid, start, goal)
    assume(space is not None and a != b)
    costmap = CostMap(space)
    path = plan_path(grid, start, goal)
    segments = list(itertools.pairwise(map(tuple, path.points.tolist())))
    assert path.cost <= costmap.find(goal).cost + 1e-9
    assert path.cost == pytest.approx(sum(naive_segment_cost(costmap, p, q) for p, q in segments), abs=1e-9)
    assert path.length == pytest.approx(sum(math.dist(p, q) for p, q in segments))
    assert path.length <= (len(path.cells) - 1) * CELL * math.sqrt(2) + 1e-9
    for p, q in segments:
        for t in np.linspace(0, 1, 2 + int(math.dist(p, q) / 0.005)):
            x, y = p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])
            assert space.passable.flat[grid.cell((x, y))]


@settings(max_examples=60, deadline=None)
@given(seeds, st.floats(0.01, 2.39), st.floats(0.01, 2.39), st.floats(0.01, 2.39), st.floats(0.01, 2.39))
def test_ways_go_from_exactly_the_start_to_exactly_the_goal(seed, x0, y0, x1, y1):
    grid = cluttered(seed)
    path = plan_path(grid, (x0, y0), (x1, y1))
    assume(path is not None)
    assert path.points[0].tolist() == [x0, y0] and path.points[-1].tolist() == [x1, y1]
    assert (np.hypot(*np.diff(path.points, axis=0).T) > 0).all()


def test_a_path_keeps_its_distance_where_there_is_room():
    grid = build_grid([(0, 0, 4, 2)], [])
    path = plan_path(grid, (0.45, 0.15), (3.55, 0.15))
    middles = path.points[1:-1]
    assert len(middles) and (middles[:, 1] > 0.25).all()
    straight = plan_path(grid, (0.45, 0.15), (3.55, 0.15), Costs(weight=0))
    assert straight.points.tolist() == [[0.45, 0.15], [3.55, 0.15]]


def test_the_way_to_where_one_is_is_one_point():
    grid = build_grid([(0, 0, 2, 2)], [])
    assert plan_path(grid, (1, 1), (1, 1)).points.tolist() == [[1, 1]]
    assert plan_path(grid, (1.02, 1.02), (1.08, 1.04)).points.tolist() == [[1.02, 1.02], [1.08, 1.04]]


def test_a_way_goes_around_avoidance_disks():
    grid = build_grid([(0, 0, 4, 2)], [])
    path = plan_path(grid, (0.5, 1), (3.5, 1), avoid=((2, 1),))
    for p, q in itertools.pairwise(path.points):
        for t in np.linspace(0, 1, 200):
            assert math.dist(p + t * (q - p), (2, 1)) > 0.20 - 0.5 * CELL * math.sqrt(2)
    assert plan_path(grid, (0.5, 1), (2.05, 1.05), avoid=((2, 1),)) is None  # the disk is all around it


def test_lengths_are_those_of_the_shortest_ways_when_clearance_costs_nothing():
    grid = cluttered(4)
    space = Space(grid, 0.10, (0.35, 0.35))
    costmap = CostMap(space, Costs(weight=0))
    near = [c for c in range(grid.supported.size) if math.dist(grid.centres([c])[0], (1.8, 1.8)) < 0.5]
    lengths = costmap.lengths((1.8, 1.8), 0.5, [*near, 0])
    assert sorted(lengths) == [c for c in near if space.reachable.flat[c]] and len(lengths) > 20
    for cell, length in lengths.items():
        x, y = grid.centres([cell])[0].tolist()
        assert length == pytest.approx(costmap.find((x, y)).cost)


@pytest.mark.parametrize("bad", [{"weight": -1}, {"safe": math.nan}, {"door": math.inf}])
def test_costs_are_checked(bad):
    with pytest.raises(UsageError, match=next(iter(bad))):
        Costs(**bad)
