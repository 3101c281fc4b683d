"""What a thing is inside, and what its joints say: both sides of every edge."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit_runtime.physical.kinematics import about
from iwkit_runtime.physical.spec import Joint, Link, Region

# --- inside -----------------------------------------------------------------------------------------------------------


def test_a_bowl_in_a_fridge_and_what_is_in_it(kitchen: Any) -> None:
    inside = kitchen.about(kitchen.state(), "milk", "juice", "bowl", "apple")
    in_fridge = {("inside", name, "fridge") for name in ("milk", "juice", "bowl", "apple")}
    assert inside == in_fridge | {("inside", "apple", "bowl")}


def test_on_top_of_a_fridge_is_not_inside(kitchen: Any) -> None:
    assert kitchen.about(kitchen.state(milk=(0, 0, 1.7)), "milk") == {("on", "milk", "fridge")}
    assert kitchen.about(kitchen.state(milk=(0, -0.5, 0)), "milk") == {("on_floor", "milk")}


def test_the_shelf_of_a_door_moves_with_it(kitchen: Any, blocks: SimpleNamespace) -> None:
    start = kitchen.moment()
    door, box = kitchen.relations.solids.placed["fridge"].asset.links[1].joint, start.poses["juice"]
    assert door is not None
    angle = math.radians(100)
    turn = about(door.axis, angle)
    swung = turn @ (np.array(box[0]) - door.anchor) + door.anchor
    juice = (tuple(swung.tolist()), blocks.turned(door.axis, 100))
    state = kitchen.state(start, joints={("fridge", "door"): angle}, juice=juice)
    assert ("inside", "juice", "fridge") in state
    assert ("at_baseline", "juice") in state
    assert ("unmoved", "juice") not in state
    assert {("unmoved", "milk"), ("unmoved", "fridge"), ("open", "fridge")} <= state
    left_behind = kitchen.state(start, joints={("fridge", "door"): angle})
    assert not kitchen.about(left_behind, "juice")
    assert ("at_baseline", "juice") not in left_behind


def test_a_hand_that_reaches_in_holds_it(kitchen: Any) -> None:
    assert kitchen.about(kitchen.state(held="milk"), "milk") == {("held", "milk")}
    assert kitchen.about(kitchen.state(held="bowl"), "bowl", "apple") == {("held", "bowl"), ("inside", "apple", "bowl")}


@pytest.mark.parametrize(("height", "inside"), [(0.13, True), (0.16, False)])
def test_what_sticks_out_by_less_than_two_fifths_is_inside(
    blocks: SimpleNamespace, height: float, inside: bool
) -> None:
    """The interior is 8 cm deep: 62 % of the lower one, 50 % of the higher; its centre is in neither case decisive."""
    b = blocks
    world = b.world(
        b.put("bowl", b.open_box((0.2, 0.2, 0.1)), (0, 0, 0)),
        b.put("jar", b.thing((0.05, 0.05, height)), (0, 0, 0.02)),
    )
    assert world.about(world.state(), "jar") == {("inside" if inside else "on", "jar", "bowl")}


def test_the_centre_must_be_in_too(blocks: SimpleNamespace) -> None:
    """Two thirds are in the bin, but what sticks out on a long arm draws the centre of mass out."""
    b = blocks
    shapes = [((0, 0, 0.1), (0.2, 0.2, 0.2)), ((1, 0, 0.3), (0.1, 0.1, 0.4))]
    hook = b.put("hook", b.thing((1.2, 0.2, 0.5), *shapes), (0, 0, 0.02))
    world = b.world(b.put("bin", b.open_box((0.3, 0.3, 0.42)), (0, 0, 0)), hook)
    share = world.at().places.of("hook").shares["bin"]
    assert share.volume == pytest.approx(2 / 3, abs=0.01)
    assert not share.centred
    assert ("inside", "hook", "bin") not in world.state()


@given(dx=st.floats(0, 0.3), dz=st.floats(0, 0.3))
@settings(max_examples=60, deadline=None)
def test_the_share_inside_is_that_of_the_volume(blocks: SimpleNamespace, dx: float, dz: float) -> None:
    b = blocks
    size = np.array((0.2, 0.1, 0.2))
    crate = b.thing(
        (0.6, 0.6, 0.6),
        ((0, 0, 0.005), (2, 2, 0.01)),
        regions=[Region("inside", "interior", "body", (0, 0, 0.3), (0.6, 0.6, 0.6))],
    )
    world = b.world(b.put("crate", crate, (0, 0, 0)), b.put("block", b.thing(tuple(size)), (0.2 + dx, 0, 0.4 + dz)))
    in_x, in_z = (
        float(np.clip((0.6 / (1 + (n == 0)) - low) / 0.2, 0, 1)) for n, low in enumerate((0.1 + dx, 0.4 + dz))
    )
    share = world.at().places.of("block").shares.get("crate")
    assert (share.volume if share else 0) == pytest.approx(in_x * in_z, abs=0.05)
    if abs(dx - 0.1) > 1e-6 and abs(dz - 0.1) > 1e-6 and share:
        assert share.centred == (dx < 0.1 and dz < 0.1)


def test_what_lies_on_contents_is_inside_too(blocks: SimpleNamespace) -> None:
    b = blocks
    world = b.world(
        b.put("bin", b.open_box((0.3, 0.3, 0.2)), (0, 0, 0)),
        b.put("box", b.thing((0.2, 0.2, 0.15)), (0, 0, 0.02)),
        b.put("ball", b.thing((0.08, 0.08, 0.08)), (0, 0, 0.17)),
    )
    assert world.about(world.state(), "ball") == {("on", "ball", "box"), ("inside", "ball", "bin")}


def test_a_drawer_takes_its_contents_along(blocks: SimpleNamespace) -> None:
    b = blocks
    joint = Joint("slide", (0, -1, 0), (0, 0, 0), 0.0, 0.4)
    drawer = Link("drawer", "body", (), (b.piece((0, 0, 0.41), (0.36, 0.46, 0.02)),), joint)
    region = Region("inside", "interior", "drawer", (0, 0, 0.5), (0.36, 0.46, 0.16))
    cabinet = b.thing((0.4, 0.5, 0.8), ((0, 0, 0.1), (0.4, 0.5, 0.2)), links=[drawer], regions=[region])
    world = b.world(
        b.put("cabinet", cabinet, (0, 0, 0), kind="fixture"), b.put("pen", b.thing((0.14, 0.01, 0.01)), (0, 0, 0.42))
    )
    start = world.moment()
    out = world.state(start, joints={("cabinet", "drawer"): 0.4}, pen=(0, -0.4, 0.42))
    assert {("inside", "pen", "cabinet"), ("open", "cabinet"), ("at_baseline", "pen")} <= out
    assert ("unmoved", "pen") not in out


# --- joints -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, {"closed"}),
        (0.019, {"closed"}),
        (0.021, set()),
        (0.5, set()),
        (0.91, set()),
        (0.93, {"open"}),
        (1.0, {"open"}),
    ],
)
def test_open_and_closed_are_the_limits_of_a_joint(kitchen: Any, share: float, words: set[str]) -> None:
    state = kitchen.state(joints={("fridge", "door"): math.radians(100) * share})
    assert {r[0] for r in state if r[0] in ("open", "closed")} == words


def test_with_two_doors_one_makes_it_open_and_both_closed(blocks: SimpleNamespace) -> None:
    b = blocks
    leaves = [
        Link(
            name,
            "body",
            (),
            (b.piece((x, -0.2, 0.4), (0.3, 0.02, 0.7)),),
            Joint("hinge", (0, 0, 1), (2 * x, -0.2, 0), 0.0, 1.5),
        )
        for name, x in (("left", -0.15), ("right", 0.15))
    ]
    asset = b.thing((0.6, 0.4, 0.8), links=leaves)
    world = b.world(b.put("cabinet", asset, (0, 0, 0), kind="fixture"), b.put("door_1", asset, (3, 0, 0), kind="door"))

    def words(left: float, right: float) -> set[str]:
        joints = {("cabinet", "left"): left, ("cabinet", "right"): right, ("door_1", "left"): 1.5}
        return {r[0] for r in world.state(joints=joints) if r[0] in ("open", "closed") and r[1] == "cabinet"}

    assert words(0, 0) == {"closed"}
    assert words(1.5, 0) == {"open"}
    assert words(0.2, 0) == set()
    assert ("open", "door_1") in world.state(joints={("door_1", "left"): 1.5})
    assert ("closed", "door_1") in world.state()


def test_what_has_no_joint_is_neither_open_nor_closed(cup_on_table: Any) -> None:
    assert not {r for r in cup_on_table.state() if r[0] in ("open", "closed")}
