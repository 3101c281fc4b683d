"""Relations of what the engine has let come to rest: every edge case, with nothing put there by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iwkit.trace import State
from iwkit_runtime.engines.mujoco_engine import MujocoEngine
from iwkit_runtime.physical.kinematics import frame
from iwkit_runtime.physical.relations import Moment, lasting

TOP = 0.75
DROP = 0.004
"""Things begin as far above what they come to rest on, metres, as those of a scene do."""


class Settled:
    """A scene in the engine, at rest; `state` is measured from what the engine says."""

    def __init__(self, world: Any) -> None:
        self.world, self.engine, self.before = world, MujocoEngine(), frozenset[Any]()
        self.engine.load(world.spec)
        self.rest()
        self.start = self.moment()

    def rest(self) -> None:
        assert self.engine.settle(8.0).settled

    def moment(self) -> Moment:
        held = next(iter(self.engine.held()), None)
        return Moment(self.engine.poses(), self.engine.joints(), held, (9, 9), before=self.before)

    def state(self) -> State:
        found: State = self.world.relations.state(self.moment(), self.start)
        return found

    def places(self, *names: str) -> set[tuple[str, ...]]:
        found: set[tuple[str, ...]] = self.world.about(self.state(), *names)
        return found

    def carry(self, name: str, *way: tuple[float, float, float]) -> None:
        """Take a thing, bring it along a way in small steps, relative to where it is, and let it go."""
        for x, y, z in way:
            (px, py, pz), turn = self.engine.poses()[name]
            for share in np.linspace(0, 1, 25):
                self.engine.hold(name, ((px + share * x, py + share * y, pz + share * z), turn))
        self.engine.release(name)
        self.rest()

    def lean(self, name: str) -> float:
        """Degrees between a thing's upright and the world's."""
        return math.degrees(math.acos(np.clip(frame(self.engine.poses()[name]).turn[2, 2], -1, 1)))


def on_a_table(b: SimpleNamespace, *parts: Any, **facts: Any) -> Settled:
    wall = b.wall("wall_1", (0, 2.05, 1.25), (9, 0.1, 2.5))
    return Settled(b.world(b.floor(), wall, b.put("table", b.table(), (0, 0, 0), kind="fixture"), *parts, **facts))


def on(b: SimpleNamespace, name: str, asset: Any, x: float = 0.0, y: float = 0.0, z: float = TOP) -> Any:
    return b.put(name, asset, (x, y, z + DROP))


# --- a table of cases ---------------------------------------------------------------------------------------------


def half_over_the_rim(b: SimpleNamespace) -> Settled:
    return on_a_table(b, on(b, "cup", b.thing((0.08, 0.08, 0.1)), 0.585))


def too_far_over_the_rim(b: SimpleNamespace) -> Settled:
    return on_a_table(b, on(b, "cup", b.thing((0.08, 0.08, 0.1)), 0.63))


def stacked(b: SimpleNamespace) -> Settled:
    plate = b.thing((0.2, 0.2, 0.02))
    return on_a_table(b, *(on(b, n, plate, 0.01 * k, 0, TOP + 0.024 * k) for k, n in enumerate(("low", "mid", "top"))))


def a_lying_bottle(b: SimpleNamespace) -> Settled:
    bottle = b.bottle(0.04, 0.3)
    found = on_a_table(b, on(b, "bottle", bottle), on(b, "other", bottle, 0.3))
    found.engine.hold("bottle", ((0, 0.15, TOP + 0.04 + DROP), b.turned((1, 0, 0), 90)))
    found.engine.release("bottle")
    found.rest()
    return found


def thin_paper_on_paper(b: SimpleNamespace) -> Settled:
    sheet = b.thing((0.21, 0.3, 0.001))
    return on_a_table(b, on(b, "first", sheet), on(b, "second", sheet, 0.03, 0.02, TOP + 0.005))


def a_sheet_half_on_another(b: SimpleNamespace) -> Settled:
    sheet = b.thing((0.21, 0.3, 0.001))
    return on_a_table(b, on(b, "first", sheet), on(b, "second", sheet, 0.17, 0, TOP + 0.005))


def under_a_table(b: SimpleNamespace) -> Settled:
    return on_a_table(b, on(b, "box", b.thing((0.3, 0.3, 0.3)), z=0), on(b, "cup", b.thing((0.08, 0.08, 0.1))))


def a_bowl_in_a_cabinet(b: SimpleNamespace) -> Settled:
    fridge = b.put("cabinet", b.fridge(), (2, 0, 0), kind="fixture")
    bowl, apple = b.open_box((0.2, 0.2, 0.1)), b.thing((0.07, 0.07, 0.07))
    return on_a_table(b, fridge, on(b, "bowl", bowl, 1.9, 0.1, 0.86), on(b, "apple", apple, 1.9, 0.1, 0.885))


def a_full_box_of_two_layers(b: SimpleNamespace) -> Settled:
    books = [on(b, f"book_{n}", b.thing((0.2, 0.14, 0.03)), 0, 0, TOP + 0.022 + 0.034 * n) for n in range(3)]
    return on_a_table(b, on(b, "box", b.open_box((0.3, 0.3, 0.12))), *books)


def on_the_lid_of_a_box(b: SimpleNamespace) -> Settled:
    box = b.thing((0.3, 0.3, 0.2), regions=[])
    return on_a_table(b, on(b, "box", box), on(b, "cup", b.thing((0.08, 0.08, 0.1)), z=TOP + 0.21))


CASES: list[tuple[Callable[[SimpleNamespace], Settled], set[tuple[str, ...]]]] = [
    (half_over_the_rim, {("on", "cup", "table")}),
    (too_far_over_the_rim, {("on_floor", "cup")}),
    (stacked, {("on", "low", "table"), ("on", "mid", "low"), ("on", "top", "mid")}),
    (a_lying_bottle, {("on", "bottle", "table"), ("on", "other", "table")}),
    (thin_paper_on_paper, {("on", "first", "table"), ("on", "second", "first")}),
    (a_sheet_half_on_another, {("on", "first", "table"), ("on", "second", "table")}),
    (under_a_table, {("on_floor", "box"), ("on", "cup", "table")}),
    (a_bowl_in_a_cabinet, {("inside", "bowl", "cabinet"), ("inside", "apple", "bowl"), ("inside", "apple", "cabinet")}),
    (
        a_full_box_of_two_layers,
        {
            ("on", "box", "table"),
            *(("inside", f"book_{n}", "box") for n in range(3)),
            ("on", "book_1", "book_0"),
            ("on", "book_2", "book_1"),
        },
    ),
    (on_the_lid_of_a_box, {("on", "box", "table"), ("on", "cup", "box")}),
]


@pytest.mark.parametrize(("case", "relations"), CASES, ids=[case.__name__ for case, _ in CASES])
def test_what_has_come_to_rest(
    blocks: SimpleNamespace, case: Callable[[SimpleNamespace], Settled], relations: set[tuple[str, ...]]
) -> None:
    scene = case(blocks)
    names = [p.name for p in scene.world.spec.placed if p.kind == "object"]
    assert scene.places(*names) == relations
    gaps = [scene.world.relations.at(scene.moment()).places.of(name).rest.gap for name in names]
    assert max(map(abs, gaps)) < 0.002, "far from the threshold, or the case is none"


# --- what leans, rides and is moved -------------------------------------------------------------------------------


def test_what_leans(blocks: SimpleNamespace) -> None:
    """A book falls against a box that is too heavy for it, and a board against the wall."""
    b = blocks
    book, box = b.thing((0.02, 0.15, 0.22)), b.thing((0.2, 0.2, 0.2))
    scene = on_a_table(
        b, on(b, "book", book, -0.2), on(b, "box", box), b.put("board", b.thing((0.3, 0.03, 1.2)), (2, 1, 0))
    )
    tilt = math.radians(15)
    scene.engine.hold("book", ((-0.16, 0, TOP + 0.006), b.turned((0, 1, 0), 12)))
    scene.engine.release("book")
    scene.engine.hold("board", ((2, 1.97 - 1.2 * math.sin(tilt), 0.006), b.turned((1, 0, 0), -15)))
    scene.engine.release("board")
    scene.rest()
    assert scene.lean("book") > 8 and scene.lean("board") > 8, "they lean, or this says nothing"
    assert scene.lean("book") < 60 and scene.lean("board") < 60
    assert scene.places("book", "board") == {("on", "book", "table"), ("on_floor", "board")}


def test_a_tray_that_moves(blocks: SimpleNamespace) -> None:
    """What is on it is on the table too, through the carrier; at its place relative to the tray, but not unmoved."""
    b = blocks
    cup, bottle = b.thing((0.08, 0.08, 0.1)), b.bottle(0.04, 0.2)
    scene = on_a_table(
        b,
        on(b, "tray", b.thing((0.4, 0.3, 0.02)), -0.3),
        on(b, "cup", cup, -0.35, 0, TOP + 0.025),
        on(b, "bottle", bottle, -0.22, 0.05, TOP + 0.025),
        carriers=("tray",),
    )
    loaded = {("on", n, below) for n in ("cup", "bottle") for below in ("tray", "table")} | {("on", "tray", "table")}
    assert scene.places("tray", "cup", "bottle") == loaded
    (x, y, z), turn = scene.engine.poses()["tray"]
    for lift in np.linspace(0, 0.3, 20):
        scene.engine.hold("tray", ((x, y, z + lift), turn))
    assert scene.places("tray", "cup", "bottle") == {("held", "tray"), ("on", "cup", "tray"), ("on", "bottle", "tray")}
    scene.engine.release("tray")
    scene.carry("tray", (0.5, 0, 0), (0, 0, DROP - 0.3))
    assert scene.places("tray", "cup", "bottle") == loaded
    state = scene.state()
    assert {("at_baseline", "cup"), ("at_baseline", "bottle")} <= state
    assert not state & {("at_baseline", "tray"), ("unmoved", "cup"), ("unmoved", "bottle")}


def test_what_stands_in_the_shelf_of_a_door(blocks: SimpleNamespace) -> None:
    b = blocks
    juice, milk = b.thing((0.06, 0.06, 0.2)), b.thing((0.08, 0.08, 0.2))
    fridge = b.put("fridge", b.fridge(), (0, 0, 0), kind="fixture")
    scene = Settled(
        b.world(b.floor(), fridge, on(b, "juice", juice, -0.1, -0.24, 1.205), on(b, "milk", milk, 0.1, 0.05, 0.02))
    )
    shut = {("inside", "juice", "fridge"), ("inside", "milk", "fridge")}
    assert scene.places("juice", "milk") == shut
    assert ("closed", "fridge") in scene.state()
    for angle in np.radians(np.linspace(0, 100, 60)):
        scene.engine.set_joint("fridge", "door", float(angle))
    scene.rest()
    state = scene.state()
    assert scene.places("juice", "milk") == shut
    assert {("open", "fridge"), ("at_baseline", "juice"), ("at_baseline", "milk"), ("unmoved", "milk")} <= state
    assert ("unmoved", "juice") not in state
    for angle in np.radians(np.linspace(100, 0, 60)):
        scene.engine.set_joint("fridge", "door", float(angle))
    scene.rest()
    assert {("closed", "fridge"), ("at_baseline", "juice"), ("unmoved", "juice")} <= scene.state()


def test_a_bowl_taken_out_of_a_cabinet_takes_its_apple_along(blocks: SimpleNamespace) -> None:
    scene = a_bowl_in_a_cabinet(blocks)
    for angle in np.radians(np.linspace(0, 100, 60)):
        scene.engine.set_joint("cabinet", "door", float(angle))
    scene.carry("bowl", (0, 0, 0.02), (0, -1.2, 0), (-1.9, 0, 0), (0, 1.1, 0), (0, 0, -0.12))
    assert scene.places("bowl", "apple") == {("on", "bowl", "table"), ("inside", "apple", "bowl")}
    assert ("at_baseline", "apple") in scene.state()
    assert ("at_baseline", "bowl") not in scene.state()


# --- what others do to it -----------------------------------------------------------------------------------------


def test_nothing_changes_for_what_is_left_alone(blocks: SimpleNamespace) -> None:
    """Things are put beside, and taken away again, twenty times: none of the relations of the others flickers."""
    b = blocks
    sheet = b.thing((0.21, 0.3, 0.001))
    scene = on_a_table(
        b,
        on(b, "first", sheet),
        on(b, "second", sheet, 0.03, 0.02, TOP + 0.005),
        on(b, "bowl", b.open_box((0.2, 0.2, 0.1)), -0.35),
        on(b, "apple", b.thing((0.07, 0.07, 0.07)), -0.35, 0, TOP + 0.025),
        on(b, "cup", b.thing((0.08, 0.08, 0.1)), 0.585),
        on(b, "busy", b.thing((0.1, 0.1, 0.1)), 0.35, 0.25),
    )
    others = ("first", "second", "bowl", "apple", "cup")
    start, poses = scene.places(*others), scene.engine.poses()
    for n in range(20):
        scene.carry("busy", (0, 0, 0.05), (0.05 * (-1) ** n, 0, 0), (0, 0, DROP - 0.05))
        assert scene.places(*others) == start
    after = scene.engine.poses()
    crept = {name: math.dist(poses[name][0], after[name][0]) for name in others}
    assert max(crept.values()) < 0.001, crept


def test_what_is_in_a_heap_stays_in_it_when_the_heap_is_stirred(blocks: SimpleNamespace) -> None:
    """A tall thing whose share inside is about the threshold: with its state before it doesn't flicker."""
    b = blocks
    scene = on_a_table(
        b,
        on(b, "bowl", b.open_box((0.2, 0.2, 0.1)), -0.3),
        on(b, "jar", b.thing((0.05, 0.05, 0.138)), -0.3, 0, TOP + 0.025),
        on(b, "busy", b.thing((0.04, 0.04, 0.04)), 0.3),
    )
    share = scene.world.relations.at(scene.moment()).places.of("jar").shares["bowl"].volume
    assert 0.56 < share < 0.59, "between the thresholds, or this says nothing"
    assert scene.places("jar") == {("on", "jar", "bowl")}
    scene.before = lasting(scene.state() | {("inside", "jar", "bowl")})
    for way in ((-0.54, 0, 0.2), (0, 0, -0.2), (0, 0, 0.2), (0.54, 0, 0)):
        scene.carry("busy", way)
        assert ("inside", "jar", "bowl") in scene.state()
        scene.before = lasting(scene.state())
