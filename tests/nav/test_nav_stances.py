"""Standing poses around a contact point."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.errors import UsageError
from iwkit_runtime.nav.geometry import wrap
from iwkit_runtime.nav.grid import LADDER, Obstacle, build_grid
from iwkit_runtime.nav.route import plan_path
from iwkit_runtime.nav.stance import snapped, stances


def block(x0, y0, x1, y1):
    return np.array(list(itertools.product((x0, x1), (y0, y1), (0.0, 2.0))))


def table_room(*more):
    pieces = [Obstacle("table", "furniture", block(2, 2, 3, 2.6)), *(Obstacle(n, "furniture", v) for n, v in more)]
    return build_grid([(0, 0, 5, 4)], pieces)


START = (0.5, 0.5)


@settings(max_examples=60, deadline=None)
@given(st.floats(1.9, 3.1), st.floats(1.9, 2.7), st.floats(0.3, 1.7), st.floats(0.3, 3.7))
def test_stances_are_around_the_contact_face_it_and_can_be_reached(x, y, start_x, start_y):
    grid = table_room()
    last = (math.inf, 0.0)
    for it in stances(grid, (x, y), (start_x, start_y)):
        assert 0.35 - 1e-9 <= math.dist((it.x, it.y), (x, y)) <= 0.75 + 1e-9
        assert wrap(it.heading - math.atan2(y - it.y, x - it.x)) == pytest.approx(0)
        clearance = grid.clearance.flat[grid.cell((it.x, it.y))]
        rung = next(radius for radius in LADDER if clearance > radius + 1e-6)
        # The roomier first, then the nearer.
        assert (-rung, round(it.length, 6)) >= (-last[0], last[1])
        last = rung, round(it.length, 6)


def test_the_nearest_comes_first_and_its_length_is_that_of_the_way():
    grid = table_room()
    found = list(stances(grid, (2.5, 2.0), START))
    assert len(found) > 20
    for it in found[:5]:
        path = plan_path(grid, START, (it.x, it.y))
        assert it.length == pytest.approx(path.length, abs=0.25)  # along the cells, not pulled straight
    assert found[0].x < 2.5 and found[0].y < 2


def test_the_caller_has_the_last_word_and_is_asked_in_order():
    grid, asked = table_room(), []

    def accept(it):
        asked.append(it)
        return it.x > 2.5

    first = next(stances(grid, (2.5, 2.0), START, accept))
    assert first.x > 2.5 and asked[-1] == first and len(asked) > 1
    assert next(it for it in stances(grid, (2.5, 2.0), START) if it.x > 2.5) == first
    assert list(stances(grid, (2.5, 2.0), START, lambda it: False)) == []


def test_who_stands_well_stays():
    first = next(stances(table_room(), (2.5, 2.0), (2.45, 1.45)))
    assert (first.x, first.y, first.length) == (2.45, 1.45, 0)


def test_no_stance_without_floor_way_or_room():
    walled = table_room(("shelf", block(1.4, 0, 1.6, 4)))
    assert list(stances(walled, (2.5, 2.0), START)) == []
    assert list(stances(table_room(), (2.5, 9), START)) == []
    for it in stances(table_room(), (4.9, 2), START):
        assert it.x < 4.9 + 1e-9


def test_no_one_reaches_through_a_wall_but_to_what_hangs_on_it():
    wall = Obstacle("wall", "wall", block(2.45, 0, 2.55, 3.2))  # a way around it at the top
    grid = build_grid([(0, 0, 5, 4)], [wall])
    for start in ((1.0, 1.0), (4.0, 1.0)):
        before_wall = list(stances(grid, (2.1, 1.0), start))
        assert before_wall and all(it.x < 2.45 for it in before_wall)
    assert list(stances(grid, (2.45, 1.0), (1.0, 1.0)))


def test_a_standing_grid_is_asked_too():
    grid = table_room()
    swept = grid.with_pieces([Obstacle("door", "door", block(1, 1, 2.5, 2))])
    every, some = (list(stances(grid, (2.5, 2.0), START, standing=other)) for other in (None, swept))
    assert 0 < len(some) < len(every) and set(some) <= set(every)
    assert not any(it.x < 2.6 and it.y < 2.1 for it in some) and any(it.x < 2.5 and it.y < 2 for it in every)


def test_a_blocked_stance_snaps_to_the_nearest_free_one():
    grid = table_room(("chair", block(2.3, 1.3, 2.7, 1.8)))
    nominal, contact = (2.5, 1.55), (2.5, 2.0)
    found = list(snapped(grid, nominal, contact, START))
    away = [math.dist(it[:2], nominal) for it in found]
    assert found and max(away) <= 0.60 and min(away) > 0.3
    assert all(it.heading == pytest.approx(math.atan2(2.0 - it.y, 2.5 - it.x)) for it in found)
    rungs = [next(r for r in LADDER if grid.clearance.flat[grid.cell(it[:2])] > r + 1e-6) for it in found]
    assert rungs == sorted(rungs, reverse=True)
    for _, group in itertools.groupby(zip(rungs, away, strict=True), key=lambda pair: pair[0]):
        distances = [d for _, d in group]
        assert distances == sorted(distances)


def test_a_free_stance_is_kept_and_too_far_is_none():
    grid = table_room()
    first = next(snapped(grid, (2.5, 1.5), (2.5, 2.0), START))
    assert first[:2] == (2.5, 1.5) and first.heading == pytest.approx(math.pi / 2)
    full = table_room(("crate", block(1.5, 0.5, 3.5, 2)))
    assert list(snapped(full, (2.5, 1.2), (2.5, 2.0), START)) == []


@pytest.mark.parametrize(("contact", "start"), [((math.nan, 0), START), ((1,), START), ((2, 2), (99, 0)), ("x", START)])
def test_bad_places_are_refused(contact, start):
    with pytest.raises(UsageError):
        list(stances(table_room(), contact, start))
    with pytest.raises(UsageError):
        list(snapped(table_room(), (2.5, 1.5), contact, start))
