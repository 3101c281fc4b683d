"""Closed doors on the way, and what blocks a way."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from iwkit.errors import UsageError
from iwkit_runtime.nav.astar import Costs
from iwkit_runtime.nav.doors import Leaf, OpenLeg, Route, WalkLeg, find_blocker, plan_route, swing
from iwkit_runtime.nav.grid import Grid, Obstacle, build_grid
from iwkit_runtime.nav.route import Failure, plan_path

LEFT, RIGHT = (1.0, 1.0), (6.0, 1.0)


def block(x0, y0, x1, y1):
    return np.array(list(itertools.product((x0, x1), (y0, y1), (0.0, 2.0))))


def leaf(name: str, x: float, y: float, turn: float = math.pi / 2) -> Leaf:
    """In a wall at that x, hinged at y, 0.9 m wide; a positive turn opens it to the left."""
    return Leaf(name, swing([block(x - 0.02, y, x + 0.02, y + 0.9)], (x, y), turn), (x, y + 0.83))


def two_rooms(*things: Obstacle, doors: tuple[Leaf, ...] = (), gaps: tuple[float, ...] = (1.5,)) -> Grid:
    """7 m by 4 m with a wall at x = 3.5 and openings of 0.9 m from those y upwards."""
    edges = [0.0, *itertools.chain(*((y, y + 0.9) for y in gaps)), 4.0]
    walls = [
        Obstacle("wall", "wall", block(3.45, a, 3.55, b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b
    ]
    closed = [Obstacle(door.name, "door", piece) for door in doors for piece in door.poses[0]]
    return build_grid([(0, 0, 7, 4)], [*walls, *closed, *things])


def furniture(name: str, *box: float) -> Obstacle:
    return Obstacle(name, "furniture", block(*box))


def check_legs(route: Route, start, goal) -> None:
    """The legs join, and every walk is free on the grid of its time."""
    here = start
    for leg in route.legs:
        if isinstance(leg, OpenLeg):
            assert here == leg.stance[:2]
            continue
        assert tuple(leg.path.points[0]) == here
        here = tuple(leg.path.points[-1])
        for p, q in itertools.pairwise(leg.path.points):
            for t in np.linspace(0, 1, 100):
                assert not leg.grid.blocked.flat[leg.grid.cell(tuple(p + t * (q - p)))]
    assert here == goal


@pytest.mark.parametrize("turn", [math.pi / 2, -math.pi / 2])
def test_a_closed_door_on_the_only_way_is_opened(turn):
    door = leaf("door", 3.5, 1.5, turn)
    route = plan_route(two_rooms(doors=(door,)), [door], LEFT, RIGHT)
    assert [type(leg) for leg in route.legs] == [WalkLeg, OpenLeg, WalkLeg]
    assert route.doors == ("door",)
    check_legs(route, LEFT, RIGHT)
    stance = route.legs[1].stance
    assert stance.x < 3.5 and math.dist(stance[:2], door.handle) <= 0.75 + 1e-9
    # Where the leaf passes no one stands.
    swept = math.dist(stance[:2], (3.5, 1.5))
    assert turn < 0 or swept > 0.9 + 0.15
    assert route.length == pytest.approx(sum(leg.path.length for leg in route.legs if isinstance(leg, WalkLeg)))


def test_an_open_way_needs_no_door():
    grid = two_rooms()
    route = plan_route(grid, [], LEFT, RIGHT)
    assert route.doors == () and len(route.legs) == 1
    assert route.legs[0].path.points.tolist() == plan_path(grid, LEFT, RIGHT).points.tolist()


@pytest.mark.parametrize("turn", [math.pi / 2, -math.pi / 2])
def test_a_door_is_not_opened_for_a_way_within_its_room(turn):
    """Not even where the open doorway would give more room to walk past."""
    door = leaf("door", 3.5, 1.5, turn)
    shelf = furniture("shelf", 2.5, 0, 2.9, 4)
    route = plan_route(two_rooms(shelf, doors=(door,)), [door], (3.15, 0.5), (3.15, 3.5))
    assert route.doors == ()


@pytest.mark.parametrize(("price", "doors"), [(0.0, ("door",)), (1000.0, ())])
def test_what_a_closed_door_costs_decides_about_ways_around(price, doors):
    door = leaf("door", 3.5, 0.3)
    grid = two_rooms(doors=(door,), gaps=(0.3, 2.6))
    assert plan_route(grid, [door], LEFT, RIGHT, costs=Costs(door=price)).doors == doors


def test_doors_one_after_another():
    doors = (leaf("first", 3.5, 1.5), leaf("second", 5.0, 2.5))
    walls = [Obstacle("wall", "wall", block(4.95, a, 5.05, b)) for a, b in ((0, 2.5), (3.4, 4))]
    grid = two_rooms(*walls, doors=doors)
    route = plan_route(grid, doors, LEFT, RIGHT)
    assert route.doors == ("first", "second")
    check_legs(route, LEFT, RIGHT)
    assert plan_route(grid, doors, RIGHT, LEFT).doors == ("second", "first")
    assert plan_route(grid, doors, LEFT, (4.2, 1.0)).doors == ("first",)


def test_the_caller_may_refuse_a_handle_stance():
    door, other = leaf("door", 3.5, 0.3), leaf("other", 3.5, 2.6)
    grid, asked = two_rooms(doors=(door, other), gaps=(0.3, 2.6)), []

    def accept(name, stance):
        asked.append(name)
        return name == "other"

    assert plan_route(grid, [door, other], LEFT, (6.0, 0.8)).doors == ("door",)
    assert plan_route(grid, [door, other], LEFT, (6.0, 0.8), accept=accept).doors == ("other",)
    assert "door" in asked


def test_a_door_that_cannot_be_opened_blocks():
    door = leaf("door", 3.5, 1.5)
    grid = two_rooms(doors=(door,))
    failures = [plan_route(grid, [], LEFT, RIGHT), plan_route(grid, [door], LEFT, RIGHT, accept=lambda name, it: False)]
    for failure in failures:
        assert isinstance(failure, Failure) and (failure.code, failure.blocker) == ("PATH_BLOCKED", "door")
        assert abs(failure.at[0] - 3.5) < 0.3 and 1.4 < failure.at[1] < 2.5


def test_a_door_behind_which_nothing_leads_on_is_no_way():
    door = leaf("door", 3.5, 1.5)
    grid = two_rooms(furniture("bookcase", 4.5, 0, 4.9, 4), doors=(door,))
    failure = plan_route(grid, [door], LEFT, RIGHT)
    assert (failure.code, failure.blocker) == ("PATH_BLOCKED", "bookcase")


def test_a_goal_locked_in_names_the_thing_whose_removal_frees_it():
    sides = ((5.3, 2.3, 5.4, 3.9), (6.5, 2.3, 6.6, 3.9), (5.3, 3.8, 6.6, 3.9))
    pen = [Obstacle("wall", "wall", block(*side)) for side in sides]
    gate = furniture("crate", 5.3, 2.3, 6.6, 2.5)
    grid = two_rooms(*pen, gate, furniture("chair", 4.5, 3, 4.9, 3.4))
    failure = plan_route(grid, [], LEFT, (5.95, 3.2))
    assert (failure.code, failure.blocker) == ("PATH_BLOCKED", "crate")
    assert 5.3 < failure.at[0] < 6.6 and 2.0 < failure.at[1] < 2.6
    assert plan_route(grid.without("crate"), [], LEFT, (5.95, 3.2)).doors == ()


def test_of_two_things_whose_removal_would_do_the_one_on_the_cheaper_way_is_named():
    crates = (furniture("a_far", 3.4, 2.6, 3.6, 3.5), furniture("b_near", 3.4, 0.3, 3.6, 1.2))
    grid = two_rooms(*crates, gaps=(0.3, 2.6))
    assert find_blocker(grid, LEFT, RIGHT).blocker == "b_near"
    assert find_blocker(grid, (1, 3), (6, 3)).blocker == "a_far"


def test_where_several_things_block_the_first_met_is_named():
    rows = [furniture(f"row_{i}", 4 + i, 0, 4.2 + i, 4) for i in range(2)]
    grid = two_rooms(*rows)
    assert find_blocker(grid, LEFT, (6.5, 1)).blocker == "row_0"
    assert find_blocker(grid, (6.5, 1), LEFT).blocker == "row_1"


def test_a_goal_inside_a_thing_names_it():
    grid = two_rooms(furniture("bed", 5, 1, 6.5, 3))
    assert plan_route(grid, [], LEFT, (5.8, 2)).blocker == "bed"


def test_walls_block_where_nothing_else_does_and_no_floor_has_no_blocker():
    assert plan_route(two_rooms(gaps=()), [], LEFT, RIGHT).blocker == "wall"
    gap = build_grid([(0, 0, 2, 2), (4, 0, 6, 2)], [])
    failure = plan_route(gap, [], (1, 1), (5, 1))
    assert failure == Failure("PATH_BLOCKED", None, (5, 1))


def test_a_swing_turns_about_its_hinge():
    poses = swing([block(0, -0.02, 0.9, 0.02)], (0, 0), math.pi / 2, steps=3)
    assert len(poses) == 4 and poses[0][0] == pytest.approx(block(0, -0.02, 0.9, 0.02))
    assert poses[-1][0].max(axis=0) == pytest.approx([0.02, 0.9, 2.0])
    assert poses[1][0].max(axis=0)[0] == pytest.approx(0.9 * math.cos(math.pi / 6) + 0.02 * math.sin(math.pi / 6))


def test_bad_requests_are_refused():
    door = leaf("door", 3.5, 1.5)
    with pytest.raises(UsageError, match="the leaf door has no piece"):
        plan_route(two_rooms(), [door], LEFT, RIGHT)
    for start, goal in (((math.nan, 0), RIGHT), (LEFT, (99, 0)), (LEFT, "there")):
        with pytest.raises(UsageError):
            plan_route(two_rooms(), [], start, goal)
