"""What stays since the handoff, and what must not matter for any relation."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit.trace import State
from iwkit_runtime.physical.kinematics import Frame, about, frame
from iwkit_runtime.physical.relations import Moment

TOP = 0.75


# --- the baseline -----------------------------------------------------------------------------------------------------


def kept(state: State, name: str) -> set[str]:
    return {r[0] for r in state if r[0] in ("at_baseline", "unmoved") and r[1] == name}


BOTH = {"at_baseline", "unmoved"}


def test_nothing_is_kept_before_the_handoff(cup_on_table: Any) -> None:
    assert not {r for r in cup_on_table.state() if r[0] in BOTH}
    assert kept(cup_on_table.state(cup_on_table.moment()), "cup") == BOTH


@pytest.mark.parametrize(
    ("move", "tilt", "yaw", "words"),
    [
        (0.029, 0, 0, BOTH),
        (0.031, 0, 0, set()),
        (0.0, 0, 170, BOTH),  # put back facing another way
        (0.0, 14, 0, BOTH),
        (0.0, 16, 0, set()),
        (0.0, 90, 0, set()),
    ],
)
def test_a_place_is_kept_within_three_centimetres_and_fifteen_degrees(
    cup_on_table: Any, blocks: SimpleNamespace, move: float, tilt: float, yaw: float, words: set[str]
) -> None:
    turn = about((0, 0, 1), math.radians(yaw)) @ about((1, 0, 0), math.radians(tilt))
    drop = 0.05 - float((turn @ [0, 0, 0.05])[2])
    lowest = float(
        (np.array([[x, y, z] for x in (-0.04, 0.04) for y in (-0.04, 0.04) for z in (0, 0.1)]) @ turn.T)[:, 2].min()
    )
    at = np.array([move, 0, TOP + 0.05]) - turn @ [0, 0, 0.05]
    at[2] = TOP - lowest
    assert drop >= 0
    state = cup_on_table.state(cup_on_table.moment(), cup=Frame(turn, at).pose)
    assert kept(state, "cup") == words


def test_what_is_taken_up_is_not_kept_and_what_was_held_is_while_held(cup_on_table: Any) -> None:
    start = cup_on_table.moment()
    assert kept(cup_on_table.state(start, held="cup"), "cup") == set()
    held = cup_on_table.moment(held="cup", cup=(1, 1, 1))
    assert kept(cup_on_table.state(held, held="cup", cup=(1, 1, 1)), "cup") == BOTH
    assert kept(cup_on_table.state(held, held="cup", cup=(-1, 1, 1)), "cup") == {"at_baseline"}
    assert kept(cup_on_table.state(held, cup=(1, 1, 1)), "cup") == set()


def test_another_support_is_another_place(blocks: SimpleNamespace) -> None:
    """A coaster pushed under the cup, and a stack put back the other way round: nothing went far."""
    b = blocks
    sheet = b.thing((0.2, 0.2, 0.005))
    world = b.world(
        b.put("table", b.table(), (0, 0, 0), kind="fixture"),
        b.put("first", sheet, (0, 0, TOP)),
        b.put("second", sheet, (0, 0, TOP + 0.005)),
    )
    start = world.moment()
    assert kept(world.state(start), "second") == BOTH
    swapped = world.state(start, first=(0, 0, TOP + 0.005), second=(0, 0, TOP))
    assert kept(swapped, "first") == kept(swapped, "second") == {"unmoved"}


def test_what_stands_on_a_fixture_goes_with_it(blocks: SimpleNamespace) -> None:
    b = blocks
    oven = b.put("microwave", b.thing((0.4, 0.3, 0.3)), (0, 0, TOP), kind="fixture")
    cup = b.put("cup", b.thing((0.08, 0.08, 0.1)), (0.4, 0, TOP))
    world = b.world(b.put("cart", b.table(), (0, 0, 0), kind="fixture"), oven, cup)
    pushed = world.state(world.moment(), cart=(1, 0, 0), microwave=(1, 0, TOP), cup=(1.4, 0, TOP))
    assert kept(pushed, "cart") == set()
    assert kept(pushed, "microwave") == kept(pushed, "cup") == {"at_baseline"}
    assert kept(world.state(world.moment(), cart=(1, 0, 0)), "cup") == {"unmoved"}
    assert not world.about(pushed, "microwave")  # fixtures are not on anything


def test_a_fixture_stays_when_its_door_opens(kitchen: Any) -> None:
    state = kitchen.state(kitchen.moment(), joints={("fridge", "door"): 1.7})
    assert kept(state, "fridge") == BOTH


def test_another_baseline_is_not_mistaken_for_the_first(cup_on_table: Any) -> None:
    first, second = cup_on_table.moment(), cup_on_table.moment(cup=(0.3, 0, TOP))
    assert kept(cup_on_table.state(first), "cup") == BOTH
    assert kept(cup_on_table.state(second), "cup") == set()
    assert kept(cup_on_table.state(second, cup=(0.3, 0, TOP)), "cup") == BOTH
    assert kept(cup_on_table.state(first, cup=(0.3, 0, TOP)), "cup") == set()


# --- what must not matter ---------------------------------------------------------------------------------------------


def carry(moment: Moment, motion: Frame, world: Any) -> Moment:
    poses = {name: motion.then(frame(pose)).pose for name, pose in moment.poses.items()}
    x, y, _ = motion.point((*moment.wearer, 0)).tolist()
    return Moment(poses, moment.joints, moment.held, (x, y), moment.visible)


@given(yaw=st.floats(-180, 180), x=st.floats(-3, 3), y=st.floats(-3, 3), door=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_moving_everything_changes_nothing_but_unmoved(
    blocks: SimpleNamespace, yaw: float, x: float, y: float, door: float
) -> None:
    b = blocks
    world = b.world(
        b.floor(),
        b.put("fridge", b.fridge(), (0, 1.5, 0), kind="fixture"),
        b.put("table", b.table(), (0, 0, 0), kind="fixture"),
        b.put("tray", b.thing((0.4, 0.3, 0.02)), (0.1, 0, TOP)),
        b.put("cup", b.thing((0.08, 0.08, 0.1)), (0.15, 0, TOP + 0.02)),
        b.put("bottle", b.bottle(0.04, 0.3), (-0.3, 0.1, TOP)),
        b.put("bowl", b.open_box((0.2, 0.2, 0.1)), (-0.1, 1.6, 0.86)),
        b.put("apple", b.thing((0.07, 0.07, 0.07)), (-0.1, 1.6, 0.88)),
        b.put("mug", b.thing((0.1, 0.1, 0.1)), (1.5, 0, 0)),
        carriers=("tray",),
        rooms={},
    )
    lying = ((-0.3, 0.15, TOP + 0.04), b.turned((1, 0, 0), 90))
    start = world.moment(bottle=lying, wearer=(0.3, -0.9), joints={("fridge", "door"): door}, seen=("cup",))
    before = world.relations.state(start, start)
    moved = carry(start, Frame(about((0, 0, 1), math.radians(yaw)), np.array([x, y, 0])), world)
    after = world.relations.state(moved, start)

    def lasting(state: State) -> set[tuple[str, ...]]:
        return {r for r in state if r[0] not in BOTH}

    assert lasting(after) == lasting(before)
    rides = {("at_baseline", name) for name in ("tray", "cup", "bottle", "bowl", "apple")}
    assert rides <= after
    if math.hypot(x, y) > 2.5:
        assert not {r for r in after if r == ("unmoved", "mug") and abs(yaw) < 1}


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["cup", "tray", "box"]), st.floats(-0.6, 0.6), st.sampled_from([0, TOP, TOP + 0.02])),
        max_size=6,
    )
)
@settings(max_examples=40, deadline=None)
def test_what_is_kept_from_earlier_moments_is_never_stale(blocks: SimpleNamespace, steps: list[Any]) -> None:
    b = blocks

    def world() -> Any:
        table = b.put("table", b.table(), (0, 0, 0), kind="fixture")
        tray, box = b.thing((0.4, 0.3, 0.02)), b.open_box((0.3, 0.3, 0.2))
        cup = b.put("cup", b.thing((0.08, 0.08, 0.1)), (0, 0, TOP + 0.02))
        return b.world(
            b.floor(), table, b.put("tray", tray, (0, 0, TOP)), b.put("box", box, (1, 0, 0)), cup, carriers=("tray",)
        )

    one, poses = world(), {}
    start = one.moment()
    for name, x, z in steps:
        poses[name] = (x, 0.0, float(z))
        assert one.state(start, **poses) == world().state(start, **poses)


def test_the_order_in_which_poses_are_given_does_not_matter(kitchen: Any) -> None:
    moment = kitchen.moment()
    turned = Moment(dict(reversed(moment.poses.items())), moment.joints, None, moment.wearer)
    assert kitchen.relations.state(turned) == kitchen.relations.state(moment)
