"""Relations measured from geometry: both sides of every edge, and what must not matter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from iwkit.compile import load_task
from iwkit.errors import UsageError
from iwkit.library import Library
from iwkit.predicates import PREDICATES
from iwkit.trace import State
from iwkit_runtime.physical.explain import explain
from iwkit_runtime.physical.kinematics import Frame, about, frame, root_frame
from iwkit_runtime.physical.relations import Facts, Measured, Moment, Relations
from iwkit_runtime.physical.spec import Joint, Link, Region
from iwkit_runtime.physical.tolerances import TOLERANCES

STILL = (1.0, 0.0, 0.0, 0.0)
TOP = 0.75
ROOMS = {"hall": (-4.0, -4.0, 4.0, 4.0), "den": (4.0, -4.0, 8.0, 4.0)}


class World:
    """A scene and moments of it: everything where it was put unless said otherwise."""

    def __init__(self, blocks: SimpleNamespace, *parts: Any, carriers: Iterable[str] = (), rooms: Any = ROOMS) -> None:
        self.spec = blocks.scene(*parts)
        self.facts = Facts(rooms, frozenset(p.name for p in self.spec.placed), frozenset(carriers))
        self.relations = Relations(self.spec, self.facts)

    def moment(
        self, held: str | None = None, joints: Any = (), wearer: Any = (9, 9), seen: Any = (), **poses: Any
    ) -> Moment:
        """Poses as a position, or a position and a quaternion."""
        at = {p.name: root_frame(p).pose for p in self.spec.placed}
        at |= {name: pose if len(pose) == 2 else (pose, at[name][1]) for name, pose in poses.items()}
        values = {(p.name, link): v for p in self.spec.placed for link, v in p.joints.items()}
        return Moment(at, values | dict(joints), held, wearer, seen)

    def at(self, then: Moment | None = None, **where: Any) -> Measured:
        return self.relations.at(self.moment(**where), then)

    def state(self, then: Moment | None = None, **where: Any) -> State:
        return self.relations.state(self.moment(**where), then)


def about_(
    state: State, *names: str, words: Iterable[str] = ("on", "inside", "on_floor", "held")
) -> set[tuple[str, ...]]:
    """The relations about places whose first argument is one of these."""
    return {r for r in state if r[0] in words and r[1] in names}


@pytest.fixture
def cup_on_table(blocks: SimpleNamespace) -> World:
    b = blocks
    table, cup = (
        b.put("table", b.table(), (0, 0, 0), kind="fixture"),
        b.put("cup", b.thing((0.08, 0.08, 0.1)), (0, 0, TOP)),
    )
    return World(b, b.floor(), b.wall("wall_1", (0, 2.05, 1.25), (9, 0.1, 2.5)), table, cup)


# --- on ---------------------------------------------------------------------------------------------------------------


def test_a_cup_on_a_table(cup_on_table: World) -> None:
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
def test_what_bears_a_cup(cup_on_table: World, at: tuple[float, ...], relations: set[tuple[str, ...]]) -> None:
    assert about_(cup_on_table.state(cup=at), "cup") == relations


@given(x=st.floats(-0.8, 0.8), y=st.floats(-0.6, 0.6), lift=st.floats(-0.03, 0.03), yaw=st.floats(-180, 180))
@settings(max_examples=100, deadline=None)
def test_on_is_touching_and_having_the_middle_over_it(
    blocks: SimpleNamespace, x: float, y: float, lift: float, yaw: float
) -> None:
    b = blocks
    world = World(
        b, b.put("table", b.table(), (0, 0, 0), kind="fixture"), b.put("cup", b.thing((0.08, 0.08, 0.1)), (0, 0, TOP))
    )
    if abs(abs(lift) - 0.015) < 1e-3 or min(abs(abs(x) - 0.6), abs(abs(y) - 0.4)) < 0.012:
        return
    over = abs(x) < 0.6 and abs(y) < 0.4
    found = world.state(cup=((x, y, TOP + lift), b.turned((0, 0, 1), yaw)))
    assert (("on", "cup", "table") in found) == (over and abs(lift) < 0.015)


def test_a_lying_bottle_is_on_the_table(blocks: SimpleNamespace) -> None:
    b = blocks
    world = World(
        b, b.put("table", b.table(), (0, 0, 0), kind="fixture"), b.put("bottle", b.bottle(0.04, 0.3), (0, 0, TOP))
    )
    lying = b.turned((1, 0, 0), 90)
    assert about_(world.state(bottle=((0, 0.15, TOP + 0.04), lying)), "bottle") == {("on", "bottle", "table")}
    assert about_(world.state(bottle=((0, 0.15, TOP + 0.07), lying)), "bottle") == set()


def test_what_leans_rests_on_what_is_under_it(blocks: SimpleNamespace) -> None:
    """A broom against the wall is on the floor, a book against a box on the table."""
    b = blocks
    world = World(
        b,
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
    assert about_(state, "broom") == {("on_floor", "broom")}
    assert about_(state, "book") == {("on", "book", "table")}


def test_stacks_count_once_and_carriers_through(blocks: SimpleNamespace) -> None:
    b = blocks
    table = b.put("table", b.table(), (0, 0, 0), kind="fixture")
    tray, box = (
        b.put("tray", b.thing((0.4, 0.3, 0.02)), (0, 0, TOP)),
        b.put("box", b.thing((0.1, 0.1, 0.05)), (0, 0, TOP + 0.02)),
    )
    cup = b.put("cup", b.thing((0.08, 0.08, 0.1)), (0, 0, TOP + 0.07))
    plain = World(b, table, tray, box, cup)
    assert about_(plain.state(), "tray", "box", "cup") == {
        ("on", "tray", "table"),
        ("on", "box", "tray"),
        ("on", "cup", "box"),
    }
    carried = World(b, table, tray, box, cup, carriers=("tray",))
    assert about_(carried.state(), "box") == {("on", "box", "tray"), ("on", "box", "table")}
    assert about_(carried.state(), "cup") == {("on", "cup", "box")}
    both = World(b, table, tray, box, cup, carriers=("tray", "box"))
    assert about_(both.state(), "cup") == {("on", "cup", below) for below in ("box", "tray", "table")}


def test_a_load_goes_with_its_tray(blocks: SimpleNamespace) -> None:
    b = blocks
    table = b.put("table", b.table(), (0, 0, 0), kind="fixture")
    tray, cup = (
        b.put("tray", b.thing((0.4, 0.3, 0.02)), (0, 0, TOP)),
        b.put("cup", b.thing((0.08, 0.08, 0.1)), (0.1, 0, TOP + 0.02)),
    )
    world = World(b, table, tray, cup, carriers=("tray",))
    held = {"held": "tray", "tray": (2, 1, 1.1), "cup": (2.1, 1, 1.12)}
    assert about_(world.state(**held), "tray", "cup") == {("held", "tray"), ("on", "cup", "tray")}
    kept = {r for r in world.state(world.moment(), **held) if r[0] in ("at_baseline", "unmoved") and r[1] != "table"}
    assert kept == {("at_baseline", "cup")}


def test_thin_sheets_lie_on_one_another(blocks: SimpleNamespace) -> None:
    """A millimetre apart, a pen on top; also half across one another."""
    b = blocks
    sheet, pen = b.thing((0.21, 0.3, 0.001)), b.thing((0.14, 0.008, 0.008))
    world = World(
        b,
        b.put("table", b.table(), (0, 0, 0), kind="fixture"),
        b.put("first", sheet, (0, 0, TOP)),
        b.put("second", sheet, (0.03, 0.02, TOP + 0.001)),
        b.put("pen", pen, (0, 0, TOP + 0.002)),
    )
    assert about_(world.state(), "first", "second", "pen") == {
        ("on", "first", "table"),
        ("on", "second", "first"),
        ("on", "pen", "second"),
    }
    beside = world.state(second=((0.19, 0, TOP + 0.0003), b.turned((0, 1, 0), 0.3)), pen=(0.4, 0.2, TOP))
    assert about_(beside, "second", "pen") == {("on", "second", "table"), ("on", "pen", "table")}


def test_what_bridges_two_boxes_is_on_both(blocks: SimpleNamespace) -> None:
    b = blocks
    box = b.thing((0.1, 0.2, 0.2))
    boxes = [b.put(n, box, (x, 0, 0)) for n, x in (("left", -0.3), ("right", 0.3))]
    world = World(b, *boxes, b.put("plank", b.thing((0.8, 0.1, 0.02)), (0, 0, 0.2)))
    assert about_(world.state(), "plank") == {("on", "plank", "left"), ("on", "plank", "right")}
    assert about_(world.state(plank=(0.33, 0, 0.2)), "plank") == {("on", "plank", "right")}
    assert about_(world.state(left=(-2, 0, 0)), "plank") == set()  # about to fall


def test_what_stands_on_a_ring_is_on_what_is_under_the_hole(blocks: SimpleNamespace) -> None:
    b = blocks
    legs = [((x, y, 0.01), (0.01, 0.01, 0.02)) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
    stool = b.thing((0.12, 0.12, 0.06), ((0, 0, 0.04), (0.12, 0.12, 0.04)), *legs)
    world = World(b, b.put("table", b.table(), (0, 0, 0), kind="fixture"), b.put("stand", stool, (0, 0, TOP)))
    assert about_(world.state(), "stand") == {("on", "stand", "table")}
    assert about_(world.state(stand=(0.57, 0, TOP)), "stand") == {("on", "stand", "table")}


# --- inside -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def kitchen(blocks: SimpleNamespace) -> World:
    b = blocks
    return World(
        b,
        b.floor(),
        b.put("fridge", b.fridge(), (0, 0, 0), kind="fixture"),
        b.put("milk", b.thing((0.08, 0.08, 0.2)), (0.1, 0.05, 0.02)),
        b.put("juice", b.thing((0.06, 0.06, 0.2)), (-0.1, -0.24, 1.205)),
        b.put("bowl", b.open_box((0.2, 0.2, 0.1)), (-0.1, 0.1, 0.86)),
        b.put("apple", b.thing((0.07, 0.07, 0.07)), (-0.1, 0.1, 0.88)),
    )


def test_a_bowl_in_a_fridge_and_what_is_in_it(kitchen: World) -> None:
    inside = about_(kitchen.state(), "milk", "juice", "bowl", "apple")
    in_fridge = {("inside", name, "fridge") for name in ("milk", "juice", "bowl", "apple")}
    assert inside == in_fridge | {("inside", "apple", "bowl")}


def test_on_top_of_a_fridge_is_not_inside(kitchen: World) -> None:
    assert about_(kitchen.state(milk=(0, 0, 1.7)), "milk") == {("on", "milk", "fridge")}
    assert about_(kitchen.state(milk=(0, -0.5, 0)), "milk") == {("on_floor", "milk")}


def test_the_shelf_of_a_door_moves_with_it(kitchen: World, blocks: SimpleNamespace) -> None:
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
    assert not about_(left_behind, "juice")
    assert ("at_baseline", "juice") not in left_behind


def test_a_hand_that_reaches_in_holds_it(kitchen: World) -> None:
    assert about_(kitchen.state(held="milk"), "milk") == {("held", "milk")}
    assert about_(kitchen.state(held="bowl"), "bowl", "apple") == {("held", "bowl"), ("inside", "apple", "bowl")}


@pytest.mark.parametrize(("height", "inside"), [(0.13, True), (0.16, False)])
def test_what_sticks_out_by_less_than_two_fifths_is_inside(
    blocks: SimpleNamespace, height: float, inside: bool
) -> None:
    """The interior is 8 cm deep: 62 % of the lower one, 50 % of the higher; its centre is in neither case decisive."""
    b = blocks
    world = World(
        b,
        b.put("bowl", b.open_box((0.2, 0.2, 0.1)), (0, 0, 0)),
        b.put("jar", b.thing((0.05, 0.05, height)), (0, 0, 0.02)),
    )
    assert about_(world.state(), "jar") == {("inside" if inside else "on", "jar", "bowl")}


def test_the_centre_must_be_in_too(blocks: SimpleNamespace) -> None:
    """Two thirds are in the bin, but what sticks out on a long arm draws the centre of mass out."""
    b = blocks
    shapes = [((0, 0, 0.1), (0.2, 0.2, 0.2)), ((1, 0, 0.3), (0.1, 0.1, 0.4))]
    hook = b.put("hook", b.thing((1.2, 0.2, 0.5), *shapes), (0, 0, 0.02))
    world = World(b, b.put("bin", b.open_box((0.3, 0.3, 0.42)), (0, 0, 0)), hook)
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
    world = World(b, b.put("crate", crate, (0, 0, 0)), b.put("block", b.thing(tuple(size)), (0.2 + dx, 0, 0.4 + dz)))
    in_x, in_z = (
        float(np.clip((0.6 / (1 + (n == 0)) - low) / 0.2, 0, 1)) for n, low in enumerate((0.1 + dx, 0.4 + dz))
    )
    share = world.at().places.of("block").shares.get("crate")
    assert (share.volume if share else 0) == pytest.approx(in_x * in_z, abs=0.05)
    if abs(dx - 0.1) > 1e-6 and abs(dz - 0.1) > 1e-6 and share:
        assert share.centred == (dx < 0.1 and dz < 0.1)


def test_what_lies_on_contents_is_inside_too(blocks: SimpleNamespace) -> None:
    b = blocks
    world = World(
        b,
        b.put("bin", b.open_box((0.3, 0.3, 0.2)), (0, 0, 0)),
        b.put("box", b.thing((0.2, 0.2, 0.15)), (0, 0, 0.02)),
        b.put("ball", b.thing((0.08, 0.08, 0.08)), (0, 0, 0.17)),
    )
    assert about_(world.state(), "ball") == {("on", "ball", "box"), ("inside", "ball", "bin")}


def test_a_drawer_takes_its_contents_along(blocks: SimpleNamespace) -> None:
    b = blocks
    joint = Joint("slide", (0, -1, 0), (0, 0, 0), 0.0, 0.4)
    drawer = Link("drawer", "body", (), (b.piece((0, 0, 0.41), (0.36, 0.46, 0.02)),), joint)
    region = Region("inside", "interior", "drawer", (0, 0, 0.5), (0.36, 0.46, 0.16))
    cabinet = b.thing((0.4, 0.5, 0.8), ((0, 0, 0.1), (0.4, 0.5, 0.2)), links=[drawer], regions=[region])
    world = World(
        b, b.put("cabinet", cabinet, (0, 0, 0), kind="fixture"), b.put("pen", b.thing((0.14, 0.01, 0.01)), (0, 0, 0.42))
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
def test_open_and_closed_are_the_limits_of_a_joint(kitchen: World, share: float, words: set[str]) -> None:
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
    world = World(b, b.put("cabinet", asset, (0, 0, 0), kind="fixture"), b.put("door_1", asset, (3, 0, 0), kind="door"))

    def words(left: float, right: float) -> set[str]:
        joints = {("cabinet", "left"): left, ("cabinet", "right"): right, ("door_1", "left"): 1.5}
        return {r[0] for r in world.state(joints=joints) if r[0] in ("open", "closed") and r[1] == "cabinet"}

    assert words(0, 0) == {"closed"}
    assert words(1.5, 0) == {"open"}
    assert words(0.2, 0) == set()
    assert ("open", "door_1") in world.state(joints={("door_1", "left"): 1.5})
    assert ("closed", "door_1") in world.state()


def test_what_has_no_joint_is_neither_open_nor_closed(cup_on_table: World) -> None:
    assert not {r for r in cup_on_table.state() if r[0] in ("open", "closed")}


# --- near and rooms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gap", "near"), [(0.49, True), (0.51, False)])
def test_near_is_half_a_metre_edge_to_edge(blocks: SimpleNamespace, gap: float, near: bool) -> None:
    b = blocks
    world = World(
        b, b.put("a", b.thing((0.4, 0.1, 0.1)), (0, 0, 0)), b.put("b", b.thing((0.2, 0.1, 0.1)), (0.3 + gap, 0, 1.5))
    )
    assert (("near", "a", "b") in world.state()) == (("near", "b", "a") in world.state()) == near
    aside = ((0.05 + 0.2 + gap, 0, 0), b.turned((0, 0, 1), 90))
    assert (("near", "a", "b") in world.state(b=aside)) == (0.25 + gap - 0.2 - 0.05 <= 0.5)


@pytest.mark.parametrize(("gap", "near"), [(0.49, True), (0.51, False)])
def test_the_wearer_is_near_from_the_edge_of_the_body(cup_on_table: World, gap: float, near: bool) -> None:
    state = cup_on_table.state(wearer=(0.6 + 0.2 + gap, 0))
    assert (("near", "wearer", "table") in state) == (("near", "table", "wearer") in state) == near
    assert (("near", "wearer", "cup") in state) == near, "what stands on a table is where the table is"


def test_only_pairs_with_something_of_the_pack_are_kept(blocks: SimpleNamespace) -> None:
    b = blocks
    world = World(b, *(b.put(n, b.thing((0.1, 0.1, 0.1)), (x, 0, 0)) for n, x in (("a", 0), ("b", 0.2), ("c", 0.4))))
    world.relations.facts = Facts(ROOMS, frozenset({"a"}), frozenset())
    near = {r for r in world.state() if r[0] == "near"}
    assert near == {("near", "a", "b"), ("near", "b", "a"), ("near", "a", "c"), ("near", "c", "a")}


corner = st.floats(-1, 1)


@given(places=st.lists(st.tuples(corner, corner, st.floats(-90, 90)), min_size=2, max_size=2), tilt=st.floats(0, 180))
@settings(max_examples=100, deadline=None)
def test_the_gap_is_the_least_distance_of_the_outlines(blocks: SimpleNamespace, places: list[Any], tilt: float) -> None:
    b = blocks
    size = (0.9, 0.1, 0.3)
    world = World(b, *(b.put(n, b.thing(size), (0, 0, 0)) for n in "ab"))
    frames, poses = [], {}
    for name, (x, y, yaw) in zip("ab", places, strict=True):
        turn = about((0, 0, 1), math.radians(yaw)) @ about((1, 0, 0), math.radians(tilt if name == "a" else 0))
        frames.append(Frame(turn, np.array([x, y, 0])))
        poses[name] = frames[-1].pose
    grid = np.stack(
        np.meshgrid(*(np.linspace(-0.5, 0.5, n) * s for n, s in zip((46, 6, 16), size, strict=True))), -1
    ).reshape(-1, 3)
    clouds = [f.point(grid + np.array([0, 0, size[2] / 2]))[:, :2] for f in frames]
    sampled = cKDTree(clouds[0]).query(clouds[1])[0].min()
    found = world.at(**poses).gap("a", "b")
    assert found <= sampled + 1e-4
    assert found >= sampled - 0.025


def test_rooms_hold_what_has_its_centre_in_them(cup_on_table: World) -> None:
    def room(x: float) -> set[str]:
        return {r[2] for r in cup_on_table.state(cup=(x, 0, 0)) if r[:2] == ("in_room", "cup")}

    assert room(3.99) == {"hall"}
    assert room(4.01) == {"den"}
    assert room(8.3) == {"den"}  # beyond every room: the nearest
    assert ("in_room", "wearer", "den") in cup_on_table.state(wearer=(5, 0))


# --- the baseline -----------------------------------------------------------------------------------------------------


def kept(state: State, name: str) -> set[str]:
    return {r[0] for r in state if r[0] in ("at_baseline", "unmoved") and r[1] == name}


BOTH = {"at_baseline", "unmoved"}


def test_nothing_is_kept_before_the_handoff(cup_on_table: World) -> None:
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
    cup_on_table: World, blocks: SimpleNamespace, move: float, tilt: float, yaw: float, words: set[str]
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


def test_what_is_taken_up_is_not_kept_and_what_was_held_is_while_held(cup_on_table: World) -> None:
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
    world = World(
        b,
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
    world = World(b, b.put("cart", b.table(), (0, 0, 0), kind="fixture"), oven, cup)
    pushed = world.state(world.moment(), cart=(1, 0, 0), microwave=(1, 0, TOP), cup=(1.4, 0, TOP))
    assert kept(pushed, "cart") == set()
    assert kept(pushed, "microwave") == kept(pushed, "cup") == {"at_baseline"}
    assert kept(world.state(world.moment(), cart=(1, 0, 0)), "cup") == {"unmoved"}
    assert not about_(pushed, "microwave")  # fixtures are not on anything


def test_a_fixture_stays_when_its_door_opens(kitchen: World) -> None:
    state = kitchen.state(kitchen.moment(), joints={("fridge", "door"): 1.7})
    assert kept(state, "fridge") == BOTH


def test_another_baseline_is_not_mistaken_for_the_first(cup_on_table: World) -> None:
    first, second = cup_on_table.moment(), cup_on_table.moment(cup=(0.3, 0, TOP))
    assert kept(cup_on_table.state(first), "cup") == BOTH
    assert kept(cup_on_table.state(second), "cup") == set()
    assert kept(cup_on_table.state(second, cup=(0.3, 0, TOP)), "cup") == BOTH
    assert kept(cup_on_table.state(first, cup=(0.3, 0, TOP)), "cup") == set()


# --- what must not matter ---------------------------------------------------------------------------------------------


def carry(moment: Moment, motion: Frame, world: World) -> Moment:
    poses = {name: motion.then(frame(pose)).pose for name, pose in moment.poses.items()}
    x, y, _ = motion.point((*moment.wearer, 0)).tolist()
    return Moment(poses, moment.joints, moment.held, (x, y), moment.visible)


@given(yaw=st.floats(-180, 180), x=st.floats(-3, 3), y=st.floats(-3, 3), door=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_moving_everything_changes_nothing_but_unmoved(
    blocks: SimpleNamespace, yaw: float, x: float, y: float, door: float
) -> None:
    b = blocks
    world = World(
        b,
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

    def world() -> World:
        table = b.put("table", b.table(), (0, 0, 0), kind="fixture")
        tray, box = b.thing((0.4, 0.3, 0.02)), b.open_box((0.3, 0.3, 0.2))
        cup = b.put("cup", b.thing((0.08, 0.08, 0.1)), (0, 0, TOP + 0.02))
        return World(
            b, b.floor(), table, b.put("tray", tray, (0, 0, TOP)), b.put("box", box, (1, 0, 0)), cup, carriers=("tray",)
        )

    one, poses = world(), {}
    start = one.moment()
    for name, x, z in steps:
        poses[name] = (x, 0.0, float(z))
        assert one.state(start, **poses) == world().state(start, **poses)


def test_the_order_in_which_poses_are_given_does_not_matter(kitchen: World) -> None:
    moment = kitchen.moment()
    turned = Moment(dict(reversed(moment.poses.items())), moment.joints, None, moment.wearer)
    assert kitchen.relations.state(turned) == kitchen.relations.state(moment)


# --- explaining -------------------------------------------------------------------------------------------------------


def test_every_relation_is_explained_as_it_is(kitchen: World) -> None:
    start = kitchen.moment(seen=("milk",))
    at = kitchen.at(start, seen=("milk",), held="apple", juice=(0.5, -0.6, 0))
    state = set(at.all())
    names = [*at.places.posed, "wearer"]
    asked = {
        (word, *pair) for word in ("on", "inside", "near") for pair in ((a, b) for a in names[:-1] for b in names[:-1])
    }
    asked |= {("in_room", a, room) for a in names for room in ROOMS}
    asked |= {
        (word, a)
        for word in ("held", "on_floor", "open", "closed", "visible", "at_baseline", "unmoved")
        for a in names[:-1]
    }
    for relation in sorted(asked | state):
        text = explain(at, relation)
        assert text.startswith(f"{relation[0]}({', '.join(relation[1:])}) ")
        assert (" holds: " in text) == (relation in state)
        assert " does not hold: " in text or relation in state


@pytest.mark.parametrize(
    ("relation", "where", "words"),
    [
        (
            ("on", "cup", "table"),
            {"cup": (0, 0, TOP + 0.016)},
            ["does not hold", "least gap 16.0 mm (at most 15.0 mm)"],
        ),
        (
            ("on", "cup", "table"),
            {"cup": (0.63, 0, TOP)},
            ["touches table", "centre of mass is over floor_hall", "rests on nothing"],
        ),
        (("on", "cup", "table"), {"held": "cup"}, ["cup is held"]),
        (("near", "cup", "wearer"), {"wearer": (1, 0)}, ["0.200 m (at most 0.5 m)"]),
        (("in_room", "cup", "den"), {}, ["4.000 m from den", "nearest room is hall"]),
        (("open", "cup"), {}, ["no joint"]),
        (("at_baseline", "cup"), {"cup": (0.05, 0, TOP)}, ["5.0 cm (at most 3 cm)", "relative to table (body)"]),
        (("unmoved", "cup"), {"cup": (0.05, 0, TOP)}, ["5.0 cm", "in the world"]),
        (("held", "cup"), {}, ["holds nothing, not cup"]),
    ],
)
def test_explanations_give_the_numbers(cup_on_table: World, relation: Any, where: Any, words: list[str]) -> None:
    text = explain(cup_on_table.at(cup_on_table.moment(), **where), relation)
    for word in words:
        assert word in text


@pytest.mark.parametrize(
    ("relation", "complaint"),
    [
        (("running", "cup"), "running\\(cup\\) is not measured"),
        (("on", "cup"), "on\\(cup\\) is not measured"),
        (("on", "spoon", "table"), "no 'spoon'"),
        (("on", "cup", "hall"), "'hall' has no place"),
        (("on", "wearer", "table"), "'wearer' has no place"),
        (("in_room", "cup", "table"), "'table' has no place"),
    ],
)
def test_what_can_not_be_explained_is_named(cup_on_table: World, relation: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        explain(cup_on_table.at(), relation)


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_all_names_are_those_of_the_language(kitchen: World) -> None:
    state = kitchen.state(kitchen.moment(), seen=("milk",), held="apple")
    for word, *names in state:
        assert PREDICATES[word].source == "geometry"
        assert len(PREDICATES[word].args) == len(names)


def test_a_missing_pose_is_named(kitchen: World) -> None:
    with pytest.raises(UsageError, match="no pose for 'milk'"):
        kitchen.relations.state(Moment({"fridge": ((0, 0, 0), STILL)}, {}))


def test_a_piece_that_is_no_solid_is_named(blocks: SimpleNamespace) -> None:
    flat = blocks.thing((1, 1, 0), ((0, 0, 0), (1, 1, 0)))
    with pytest.raises(UsageError, match="a piece of 'rug' has no volume"):
        World(blocks, blocks.put("rug", flat, (0, 0, 0)))


def test_facts_of_a_pack() -> None:
    task = load_task(Path(__file__).parents[2] / "taskpacks" / "prevention" / "W7.yaml", Library())
    facts = Facts.of(task)
    assert facts.declared == {t.name for t in task.things.values() if t.declared and t.kind != "room"}
    assert {tuple(box) for box in facts.rooms.values()} == {tuple(r.box) for r in task.scene.rooms.values()}
    assert all("carrier" in task.things[name].traits for name in facts.carriers)


def test_the_page_tells_every_tolerance() -> None:
    page = (Path(__file__).parents[2] / "docs" / "relations.md").read_text("utf-8")
    for name, tolerance in TOLERANCES.items():
        assert f"| `{name}` | {tolerance.value:g} {tolerance.unit} | {tolerance.bounds} | {tolerance.why} |" in page
