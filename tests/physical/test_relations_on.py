"""What a thing is on, measured from geometry: both sides of every edge."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

TOP = 0.75


def test_a_cup_on_a_table(cup_on_table: Any) -> None:
    assert cup_on_table.state() == {
        ("on", "cup", "table"),
        ("in_room", "cup", "hall"),
        ("in_room", "table", "hall"),
        ("in_room", "wearer", "den"),
        ("near", "cup", "table"),
        ("near", "table", "cup"),
    }


@pytest.mark.parametrize(
    ("at", "relations"),
    [
        ((0, 0, TOP + 0.014), {("on", "cup", "table")}),
        ((0, 0, TOP + 0.016), set()),
        ((0, 0, TOP - 0.014), {("on", "cup", "table")}),
        ((0.59, 0, TOP), {("on", "cup", "table")}),  # half over the rim, the middle still over the top
        ((0.63, 0, TOP), set()),  # held up by nothing
        ((0.63, 0, TOP - 0.05), set()),  # beside the rim
        ((2, 0, 0), {("on_floor", "cup")}),
        ((0, 0, 0), {("on_floor", "cup")}),  # under the table
        ((0, 0, 1.5), set()),  # in the air
        ((0, 0, -3), set()),
    ],
)
def test_what_bears_a_cup(cup_on_table: Any, at: tuple[float, ...], relations: set[tuple[str, ...]]) -> None:
    assert cup_on_table.about(cup_on_table.state(cup=at), "cup") == relations


@given(x=st.floats(-0.8, 0.8), y=st.floats(-0.6, 0.6), lift=st.floats(-0.03, 0.03), yaw=st.floats(-180, 180))
@settings(max_examples=100, deadline=None)
def test_on_is_touching_and_having_the_middle_over_it(
    blocks: SimpleNamespace, x: float, y: float, lift: float, yaw: float
) -> None:
    b = blocks
    world = b.world(
        b.put("table", b.table(), (0, 0, 0), kind="fixture"), b.put("cup", b.thing((0.08, 0.08, 0.1)), (0, 0, TOP))
    )
    if abs(abs(lift) - 0.015) < 1e-3 or min(abs(abs(x) - 0.6), abs(abs(y) - 0.4)) < 0.012:
        return
    over = abs(x) < 0.6 and abs(y) < 0.4
    found = world.state(cup=((x, y, TOP + lift), b.turned((0, 0, 1), yaw)))
    assert (("on", "cup", "table") in found) == (over and abs(lift) < 0.015)


def test_a_lying_bottle_is_on_the_table(blocks: SimpleNamespace) -> None:
    b = blocks
    world = b.world(
        b.put("table", b.table(), (0, 0, 0), kind="fixture"), b.put("bottle", b.bottle(0.04, 0.3), (0, 0, TOP))
    )
    lying = b.turned((1, 0, 0), 90)
    assert world.about(world.state(bottle=((0, 0.15, TOP + 0.04), lying)), "bottle") == {("on", "bottle", "table")}
    assert world.about(world.state(bottle=((0, 0.15, TOP + 0.07), lying)), "bottle") == set()


def test_what_leans_rests_on_what_is_under_it(blocks: SimpleNamespace) -> None:
    """A broom against the wall is on the floor, a book against a box on the table."""
    b = blocks
    world = b.world(
        b.floor(),
        b.wall("wall_1", (0, 2.05, 1.25), (9, 0.1, 2.5)),
        b.put("table", b.table(), (0, 0, 0), kind="fixture"),
        b.put("broom", b.thing((0.04, 0.04, 1.4)), (2, 1, 0)),
        b.put("book", b.thing((0.02, 0.15, 0.22)), (0, 0, TOP)),
        b.put("box", b.thing((0.1, 0.2, 0.2)), (0.16, 0, TOP)),
    )
    tilt = 20
    foot = (0.02 * math.sin(math.radians(tilt)), 0.01 * math.sin(math.radians(tilt)))
    broom = ((2, 2 - 0.02 - 1.4 * math.sin(math.radians(tilt)), foot[0]), b.turned((1, 0, 0), -tilt))
    state = world.state(broom=broom, book=((0.03, 0, TOP + foot[1]), b.turned((0, 1, 0), tilt)))
    assert world.about(state, "broom") == {("on_floor", "broom")}
    assert world.about(state, "book") == {("on", "book", "table")}


def test_stacks_count_once_and_carriers_through(blocks: SimpleNamespace) -> None:
    b = blocks
    table = b.put("table", b.table(), (0, 0, 0), kind="fixture")
    tray, box = (
        b.put("tray", b.thing((0.4, 0.3, 0.02)), (0, 0, TOP)),
        b.put("box", b.thing((0.1, 0.1, 0.05)), (0, 0, TOP + 0.02)),
    )
    cup = b.put("cup", b.thing((0.08, 0.08, 0.1)), (0, 0, TOP + 0.07))
    plain = b.world(table, tray, box, cup)
    assert plain.about(plain.state(), "tray", "box", "cup") == {
        ("on", "tray", "table"),
        ("on", "box", "tray"),
        ("on", "cup", "box"),
    }
    carried = b.world(table, tray, box, cup, carriers=("tray",))
    assert carried.about(carried.state(), "box") == {("on", "box", "tray"), ("on", "box", "table")}
    assert carried.about(carried.state(), "cup") == {("on", "cup", "box")}
    both = b.world(table, tray, box, cup, carriers=("tray", "box"))
    assert both.about(both.state(), "cup") == {("on", "cup", below) for below in ("box", "tray", "table")}


def test_a_load_goes_with_its_tray(blocks: SimpleNamespace) -> None:
    b = blocks
    table = b.put("table", b.table(), (0, 0, 0), kind="fixture")
    tray, cup = (
        b.put("tray", b.thing((0.4, 0.3, 0.02)), (0, 0, TOP)),
        b.put("cup", b.thing((0.08, 0.08, 0.1)), (0.1, 0, TOP + 0.02)),
    )
    world = b.world(table, tray, cup, carriers=("tray",))
    held = {"held": "tray", "tray": (2, 1, 1.1), "cup": (2.1, 1, 1.12)}
    assert world.about(world.state(**held), "tray", "cup") == {("held", "tray"), ("on", "cup", "tray")}
    kept = {r for r in world.state(world.moment(), **held) if r[0] in ("at_baseline", "unmoved") and r[1] != "table"}
    assert kept == {("at_baseline", "cup")}


def test_thin_sheets_lie_on_one_another(blocks: SimpleNamespace) -> None:
    """A millimetre apart, a pen on top; also half across one another."""
    b = blocks
    sheet, pen = b.thing((0.21, 0.3, 0.001)), b.thing((0.14, 0.008, 0.008))
    world = b.world(
        b.put("table", b.table(), (0, 0, 0), kind="fixture"),
        b.put("first", sheet, (0, 0, TOP)),
        b.put("second", sheet, (0.03, 0.02, TOP + 0.001)),
        b.put("pen", pen, (0, 0, TOP + 0.002)),
    )
    assert world.about(world.state(), "first", "second", "pen") == {
        ("on", "first", "table"),
        ("on", "second", "first"),
        ("on", "pen", "second"),
    }
    beside = world.state(second=((0.19, 0, TOP + 0.0003), b.turned((0, 1, 0), 0.3)), pen=(0.4, 0.2, TOP))
    assert world.about(beside, "second", "pen") == {("on", "second", "table"), ("on", "pen", "table")}


def test_what_bridges_two_boxes_is_on_both(blocks: SimpleNamespace) -> None:
    b = blocks
    box = b.thing((0.1, 0.2, 0.2))
    boxes = [b.put(n, box, (x, 0, 0)) for n, x in (("left", -0.3), ("right", 0.3))]
    world = b.world(*boxes, b.put("plank", b.thing((0.8, 0.1, 0.02)), (0, 0, 0.2)))
    assert world.about(world.state(), "plank") == {("on", "plank", "left"), ("on", "plank", "right")}
    assert world.about(world.state(plank=(0.33, 0, 0.2)), "plank") == {("on", "plank", "right")}
    assert world.about(world.state(left=(-2, 0, 0)), "plank") == set()  # about to fall


def test_what_stands_on_a_ring_is_on_what_is_under_the_hole(blocks: SimpleNamespace) -> None:
    b = blocks
    legs = [((x, y, 0.01), (0.01, 0.01, 0.02)) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
    stool = b.thing((0.12, 0.12, 0.06), ((0, 0, 0.04), (0.12, 0.12, 0.04)), *legs)
    world = b.world(b.put("table", b.table(), (0, 0, 0), kind="fixture"), b.put("stand", stool, (0, 0, TOP)))
    assert world.about(world.state(), "stand") == {("on", "stand", "table")}
    assert world.about(world.state(stand=(0.57, 0, TOP)), "stand") == {("on", "stand", "table")}
