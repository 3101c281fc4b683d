"""What held stays until it is clearly over; what did not hold begins only when it is clearly so."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.trace import State
from iwkit_runtime.physical.places import LASTING
from iwkit_runtime.physical.relations import lasting
from iwkit_runtime.physical.tolerances import TOLERANCES, limit

TOP = 0.75


@pytest.fixture(scope="module")
def table(blocks: SimpleNamespace) -> Any:
    b = blocks
    table, cup = b.put("table", b.table(), (0, 0, 0), kind="fixture"), b.thing((0.08, 0.08, 0.1))
    return b.world(b.floor(), table, b.put("cup", cup, (0, 0, TOP)))


def state(world: Any, then: Any = None, before: State = frozenset(), **where: Any) -> State:
    found: State = world.relations.state(replace(world.moment(**where), before=before), then)
    return found


INSIDE = frozenset({("inside", "bar", "box")})


@pytest.mark.parametrize(
    ("share", "new", "old"), [(0.68, True, True), (0.575, False, True), (0.51, False, False), (0.2, False, False)]
)
def test_inside_begins_at_three_fifths_and_ends_below_eleven_twentieths(
    blocks: SimpleNamespace, share: float, new: bool, old: bool
) -> None:
    b = blocks
    low = b.thing((0.2, 0.2, 0.1))
    world = b.world(b.put("box", b.open_box((1.04, 1.04, 0.22)), (0, 0, 0)), b.put("bar", low, (0, 0, 0.02)))
    where = (0.5 + 0.1 - 0.2 * share, 0.0, 0.05)
    assert world.at(bar=where).places.of("bar").shares["box"].volume == pytest.approx(share, abs=0.02)
    assert (("inside", "bar", "box") in state(world, bar=where)) == new
    assert (("inside", "bar", "box") in state(world, before=INSIDE, bar=where)) == old


@pytest.mark.parametrize(("outside", "new", "old"), [(-0.001, True, True), (0.004, False, True), (0.006, False, False)])
def test_the_centre_may_come_out_by_half_a_centimetre(
    blocks: SimpleNamespace, outside: float, new: bool, old: bool
) -> None:
    """A heavy end at the rim: two thirds of the volume are in, or nearly, wherever the centre is."""
    b = blocks
    club = b.thing((0.5, 0.1, 0.1), ((0, 0, 0.05), (0.2, 0.1, 0.1)), ((0.345, 0, 0.05), (0.1, 0.1, 0.1)))
    world = b.world(b.put("box", b.open_box((1.04, 1.04, 0.22)), (0, 0, 0)), b.put("bar", club, (0, 0, 0.02)))
    centre = float(world.at().places.posed["bar"].centre[0])
    where = (0.5 + outside - centre, 0.0, 0.05)
    share = world.at(bar=where).places.of("bar").shares["box"]
    assert share.volume > 0.62
    assert share.outside == pytest.approx(max(outside, 0.0), abs=1e-6)
    assert (("inside", "bar", "box") in state(world, bar=where)) == new
    assert (("inside", "bar", "box") in state(world, before=INSIDE, bar=where)) == old


KEPT = frozenset({("at_baseline", "cup"), ("unmoved", "cup")})


@pytest.mark.parametrize(("way", "new", "old"), [(0.029, True, True), (0.033, False, True), (0.036, False, False)])
def test_a_place_is_kept_up_to_three_and_a_half_centimetres(table: Any, way: float, new: bool, old: bool) -> None:
    start = table.moment()
    assert (state(table, start, cup=(way, 0, TOP)) >= KEPT) == new
    assert (state(table, start, KEPT, cup=(way, 0, TOP)) >= KEPT) == old


@pytest.mark.parametrize(("tilt", "new", "old"), [(14.0, True, True), (16.0, False, True), (18.0, False, False)])
def test_leaning_is_borne_up_to_seventeen_degrees(
    table: Any, blocks: SimpleNamespace, tilt: float, new: bool, old: bool
) -> None:
    lift = 0.04 * math.sin(math.radians(tilt))
    pose = ((0, 0, TOP + lift), blocks.turned((0, 1, 0), tilt))
    start = table.moment()
    assert (("unmoved", "cup") in state(table, start, cup=pose)) == new
    assert (("unmoved", "cup") in state(table, start, KEPT, cup=pose)) == old


@given(st.lists(st.floats(-0.06, 0.06), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_asked_twice_the_answer_is_the_same(table: Any, moves: list[float]) -> None:
    """What is remembered is what was answered, so that a second question changes nothing."""
    start, before = table.moment(), KEPT
    for x in moves:
        first = state(table, start, before, cup=(x, 0, TOP))
        assert state(table, start, lasting(first), cup=(x, 0, TOP)) == first
        strict = state(table, start, cup=(x, 0, TOP))
        assert strict <= first
        before = lasting(first)
        assert {r[0] for r in before} <= set(LASTING)


@given(st.lists(st.floats(-0.002, 0.002), min_size=2, max_size=12), st.floats(0.02, 0.045))
@settings(max_examples=80, deadline=None)
def test_a_trembling_thing_changes_at_most_once(table: Any, noise: list[float], x: float) -> None:
    start, before, answers = table.moment(), KEPT, []
    for shake in noise:
        found = state(table, start, before, cup=(x + shake, 0, TOP))
        answers.append(("unmoved", "cup") in found)
        before = lasting(found)
    assert sum(a != b for a, b in itertools.pairwise(answers)) <= 1


def test_the_second_threshold_is_the_looser_one() -> None:
    for name, row in TOLERANCES.items():
        assert limit(name) == row.value
        if row.ends is not None:
            at_least = row.bounds.startswith("least")
            assert (row.ends < row.value) if at_least else (row.ends > row.value), name
            assert limit(name, was=True) == row.ends
        else:
            assert limit(name, was=True) == row.value
