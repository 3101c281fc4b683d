"""Tools, turning over and falling in the physical world, beside the symbolic one."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from staging import staged

from iwkit.compile import CompiledTask
from iwkit.grammar import parse
from iwkit.predicates import PREDICATES
from iwkit.world.base import Receipt, World
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.actions.curves import CURVES, Patch, ways
from iwkit_runtime.physical.kinematics import Frame, frame
from iwkit_runtime.physical.world import PhysicalWorld

SCENE: dict[str, Any] = {
    "scene": "flat",
    "wearer": {"at": "counter"},
    "entities": {
        "counter": {"fixture": "counter_1"},
        "side": {"fixture": "counter_2"},
        "stove": {"fixture": "stove_1"},
        "sink": {"fixture": "kitchen_sink_1"},
        "table": {"fixture": "breakfast_table_1", "is": ["dirty"]},
        "tray": {"category": "tray", "on": "counter"},
        "cup": {"category": "coffee_cup", "on": "tray"},
        "knife": {"category": "knife", "on": "counter", "spot": [0.5, 0.5]},
        "tomato": {"category": "tomato", "on": "counter"},
        "sponge": {"category": "sponge", "on": "sink"},
        "potato": {"category": "potato", "on": "stove"},
        "pot": {"category": "cooking_pot", "on": "side", "contains": ["water"]},
        "bottle": {"category": "water_bottle", "on": "table", "contains": ["water", "ice"]},
        "glass": {"category": "drinking_glass", "on": "table"},
        "phone": {"category": "cell_phone", "on": "table"},
        "plate": {"category": "plate", "on": "table"},
    },
}
HERE = {name for name in PREDICATES if name not in ("near", "visible")}
"""Nearness and the view depend on where exactly the wearer stands."""
SIGHT = ("became_visible", "left_view")


@pytest.fixture(scope="module")
def both() -> tuple[PhysicalWorld, SymbolicWorld, CompiledTask]:
    return PhysicalWorld(), SymbolicWorld(), staged(SCENE)


def told(receipt: Receipt) -> list[tuple[object, ...]]:
    return [(h.kind, *h.roles.values()) for h in receipt.happenings if h.kind not in SIGHT]


def state(world: World) -> set[tuple[str, ...]]:
    return {relation for relation in world.relations() if relation[0] in HERE}


def smooth(world: PhysicalWorld) -> None:
    """No one teleports, and limbs don't either: no hand moves by more than 0.5 m in a twelfth of a second."""
    body = world.stage.person.body
    for before, after in itertools.pairwise(world.trajectory.frames):
        assert math.dist(before.stand[:2], after.stand[:2]) <= 0.1
        assert abs(math.remainder(after.stand.heading - before.stand.heading, math.tau)) <= math.radians(10)
        moved = body.forward(*after.body)[:, :3, 3] - body.forward(*before.body)[:, :3, 3]
        assert np.linalg.norm(moved, axis=1).max() < 0.6


PROGRAMS = {
    "cut": ("[Grab] <knife>", "[Cut] <tomato> <knife>"),
    "stir": ("[Grab] <knife>", "[Stir] <pot> <knife>"),
    "pour": ("[Grab] <bottle>", "[Pour] <glass> <bottle>"),
    "pour_pot": ("[Grab] <bottle>", "[Pour] <pot> <bottle>"),
    "wipe": ("[Wipe] <sponge> <table>",),
    "wipe_held": ("[Grab] <sponge>", "[Wipe] <sponge> <counter>"),
    "flip": ("[Grab] <bottle>", "[Flip] <bottle>", "[Put] <bottle> <table>"),
    "cook": ("[TurnOn] <stove>", "[Cook] <potato>"),
    "fall": ("[FallToFloor] <phone> <table>",),
    "fall_glass": ("[FallToFloor] <glass> <table>",),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_the_symbolic_world(name: str, both: tuple[PhysicalWorld, SymbolicWorld, CompiledTask]) -> None:
    world, symbolic, task = both
    world.reset(task)
    symbolic.reset(task)
    for text in PROGRAMS[name]:
        mine, other = world.execute(parse(text)), symbolic.execute(parse(text))
        assert (mine.code, told(mine)) == (other.code, told(other)), f"{text}: {mine.text}"
        assert state(world) == state(symbolic), text
        smooth(world)


@pytest.mark.parametrize(
    "text", ["[Cut] <tomato> <knife>", "[Stir] <pot> <knife>", "[Wipe] <knife> <table>", "[Flip] <cup>"]
)
def test_what_the_mind_refuses(text: str, both: tuple[PhysicalWorld, SymbolicWorld, CompiledTask]) -> None:
    world, symbolic, task = both
    world.reset(task)
    symbolic.reset(task)
    before = json.dumps(world.snapshot())
    assert world.execute(parse(text)) == symbolic.execute(parse(text))
    assert json.dumps(world.snapshot()) == before


def test_a_tool_that_cannot_get_there(both: tuple[PhysicalWorld, SymbolicWorld, CompiledTask]) -> None:
    world, _, task = both
    world.reset(task)
    assert world.execute(parse("[Grab] <knife>")).ok
    stage = world.stage
    stage.engine.hold("tomato", ((1.4, 9.5, 2.4), (1, 0, 0, 0)))
    stage.engine.release("tomato")
    stage.sync()
    before = json.dumps(world.snapshot())
    receipt = world.execute(parse("[Cut] <tomato> <knife>"))
    assert (receipt.code, receipt.fault, receipt.happenings) == ("OUT_OF_REACH", "world", ())
    assert json.dumps(world.snapshot()) == before


def test_what_carries_something_is_not_turned_over(both: tuple[PhysicalWorld, SymbolicWorld, CompiledTask]) -> None:
    world, _, task = both
    world.reset(task)
    assert world.execute(parse("[Grab] <tray>")).ok
    before = json.dumps(world.snapshot())
    receipt = world.execute(parse("[Flip] <tray>"))
    assert receipt.code == "TRAJECTORY_COLLISION"
    assert "cup" in receipt.text
    assert json.dumps(world.snapshot()) == before


def test_a_thing_is_turned_by_half_a_turn_and_back(both: tuple[PhysicalWorld, SymbolicWorld, CompiledTask]) -> None:
    world, _, task = both
    world.reset(task)
    assert world.execute(parse("[Grab] <cup>")).ok
    up = [frame(world.stage.engine.poses()["cup"]).turn[2, 2]]
    for _ in range(2):
        assert world.execute(parse("[Flip] <cup>")).ok
        up.append(frame(world.stage.engine.poses()["cup"]).turn[2, 2])
    assert up[0] > 0.9 and up[1] < -0.9 and up[2] > 0.9


def test_the_knife_goes_up_and_down_over_the_target(both: tuple[PhysicalWorld, SymbolicWorld, CompiledTask]) -> None:
    world, _, task = both
    world.reset(task)
    assert world.execute(parse("[Grab] <knife>")).ok
    assert world.execute(parse("[Cut] <tomato> <knife>")).ok
    heights = [f.poses["knife"][0][2] for f in world.trajectory.frames if "knife" in f.poses]
    lows = [b for a, b, c in zip(heights, heights[1:], heights[2:], strict=False) if a > b < c]
    assert len([low for low in lows if low < min(heights) + 0.01]) >= 3
    top = world.stage.engine.poses()["tomato"][0][2] + world.stage.placed["tomato"].asset.size[2]
    assert top - 0.005 < min(heights) < top + 0.05


def test_the_bottle_is_tilted_until_it_runs_out(both: tuple[PhysicalWorld, SymbolicWorld, CompiledTask]) -> None:
    world, _, task = both
    world.reset(task)
    assert world.execute(parse("[Grab] <bottle>")).ok
    assert world.execute(parse("[Pour] <glass> <bottle>")).ok
    ups = [frame(f.poses["bottle"]).turn[2, 2] for f in world.trajectory.frames if "bottle" in f.poses]
    assert min(ups) < math.cos(math.radians(80)) < 0.99 < ups[-1]
    seen = {"bottle": (), "glass": ()}
    shown = [dict(seen := seen | {n: s for n, s in f.states.items() if n in seen}) for f in world.trajectory.frames]
    pouring = [n for n, states in enumerate(shown) if "pours" in states["bottle"]]
    assert pouring == list(range(pouring[0], pouring[-1] + 1)) and len(pouring) > 12
    assert all("catches" in shown[n]["glass"] and "filled" in shown[n]["glass"] for n in pouring)
    assert shown[pouring[0] - 1]["glass"] == ()
    assert (shown[-1]["bottle"], shown[-1]["glass"]) == ((), ("filled",))


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_begins_and_ends_where_it_should(name: str) -> None:
    """Whole sizes and every way of holding: no jump, and nothing of the tool's touch point below the patch."""
    patch = Patch(Frame(np.eye(3), np.array([1.0, 2.0, 0.8])), (0.1, 0.1))
    size = (0.06, 0.2, 0.05)
    for frames in itertools.islice(ways(CURVES[name], size, patch, 0.3), 12):
        steps = [float(np.linalg.norm(b.at - a.at)) for a, b in itertools.pairwise(frames)]
        assert max(steps) < 0.1
        corners = np.array(list(itertools.product((-0.03, 0.03), (-0.1, 0.1), (0, 0.05))))
        if name in ("wipe", "pour"):
            assert min(float(f.point(corners)[:, 2].min()) for f in frames) > 0.8 - 0.03
        assert np.allclose(frames[0].turn @ frames[0].turn.T, np.eye(3))
