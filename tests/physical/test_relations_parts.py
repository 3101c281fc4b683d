"""Parts that are attached, seats that are sat on, and what has been raised: measured, both sides of every edge."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit_runtime.physical.connectors import connector, fit
from iwkit_runtime.physical.explain import explain
from iwkit_runtime.physical.kinematics import Frame, about, frame
from iwkit_runtime.physical.relations import Moment

TOP = 0.75
SEAM = 0.001
CONNECTORS = {"board": ("peg", "peg"), "frame": ("hole", "hole")}


@pytest.fixture
def parts(blocks: SimpleNamespace) -> Any:
    """A frame with two holes on the floor, a board with two pegs on a table, and a stool with a cushion."""
    b = blocks
    return b.world(
        b.floor(),
        b.put("table", b.table(), (2, 0, 0), kind="fixture"),
        b.put("frame", b.thing((0.5, 0.3, 0.1)), (0, 0, 0)),
        b.put("board", b.thing((0.4, 0.2, 0.02)), (2, 0, TOP)),
        b.put("cup", b.thing((0.08, 0.08, 0.1)), (2.4, 0, TOP)),
        b.put("stool", b.thing((0.4, 0.4, 0.45)), (-2, 0, 0), kind="fixture"),
        b.put("cushion", b.thing((0.3, 0.3, 0.06)), (-2, 0, 0.45)),
        connectors=CONNECTORS,
        erectable=frozenset({"frame"}),
        seats=frozenset({"stool"}),
    )


def moment(parts: Any, *, joined: Any = (), hips: Any = None, **where: Any) -> Moment:
    found = parts.moment(**where)
    return Moment(found.poses, found.joints, found.held, found.wearer, found.visible, hips, dict(joined))


def words(parts: Any, *names: str, **where: Any) -> set[tuple[str, ...]]:
    state = parts.relations.state(moment(parts, **where))
    return {r for r in state if r[0] in ("attached", "sitting", "raised", "on", "on_floor", "held") and r[1] in names}


def mated(
    angle: float = 0.0, off: tuple[float, float, float] = (0.0, 0.0, 0.0), tilt: float = 0.0, base: Frame | None = None
) -> Any:
    """The board with its second peg at the frame's first hole, turned about that, and off it by so much (metres)."""
    turn = about((0, 0, 1), math.radians(angle)) @ about((1, 0, 0), math.radians(tilt))
    at = Frame(turn, np.array([-0.125, 0, 0.1 + SEAM]) + off - turn @ np.array([0.1, 0, 0]))
    return (at if base is None else base.then(at)).pose


@pytest.mark.parametrize(
    ("place", "attached"),
    [
        ({}, True),
        ({"angle": 9.5}, True),
        ({"angle": 10.5}, False),
        ({"angle": -45}, False),
        ({"angle": 90}, True),  # any way round
        ({"angle": 185}, True),
        ({"off": (0.0, 0.0, 0.003)}, True),
        ({"off": (0.0049, 0.0, -SEAM)}, True),
        ({"off": (0.0051, 0.0, 0.0)}, False),
        ({"off": (0.05, 0.0, 0.0)}, False),
        ({"off": (0.0, 0.0, 0.2)}, False),
        ({"tilt": 12}, False),
    ],
)
def test_attached_at_a_connector_within_tolerance(parts: Any, place: Any, attached: bool) -> None:
    found = words(parts, "board", joined={"board": "frame"}, board=mated(**place))
    assert (("attached", "board", "frame") in found) == attached
    assert not (attached and len(found) > 1), "what is attached to a thing is not on it besides"


def test_what_only_lies_at_the_connectors_is_on_it(parts: Any) -> None:
    assert words(parts, "board", board=mated()) == {("on", "board", "frame")}
    assert words(parts, "board", joined={"board": "frame"}) == {("on", "board", "table")}  # and was torn off
    assert words(parts, "board", joined={"board": "frame"}, board=mated(45)) == {("on", "board", "frame")}
    assert words(parts, "board", joined={"board": "frame"}, board=mated(), held="board") == {("held", "board")}


def test_what_is_attached_is_not_on_the_floor_that_it_touches(blocks: SimpleNamespace) -> None:
    """A board as wide as the frame is deep, on one that was raised: both stand on the floor with an edge."""
    b = blocks
    frame_, board = (
        b.put("frame", b.thing((0.5, 0.3, 0.1)), (0, 0, 0)),
        b.put("board", b.thing((0.4, 0.3, 0.02)), (2, 0, 0)),
    )
    world = b.world(b.floor(), frame_, board, connectors=CONNECTORS)
    stands = frame(leaning(90))
    where = {"frame": stands.pose, "board": mated(base=stands)}
    assert words(world, "board", **where) == {("on_floor", "board")}
    assert words(world, "board", joined={"board": "frame"}, **where) == {("attached", "board", "frame")}


def test_what_has_no_connectors_is_not_attached(parts: Any) -> None:
    assert words(parts, "cup", joined={"cup": "frame"}, cup=(0, 0, 0.101)) == {("on", "cup", "frame")}


@given(
    yaw=st.floats(-180, 180), tilt=st.floats(0, 180), angle=st.floats(-180, 180), x=st.floats(-3, 3), z=st.floats(0, 2)
)
@settings(max_examples=100, deadline=None)
def test_how_parts_meet_does_not_depend_on_where_they_are(
    parts_spec: Any, yaw: float, tilt: float, angle: float, x: float, z: float
) -> None:
    """And the angle is that by which they were turned, to the nearest quarter turn."""
    base = Frame(about((0, 0, 1), math.radians(yaw)) @ about((1, 0, 0), math.radians(tilt)), np.array([x, 0, z]))
    board, frame_ = (next(p for p in parts_spec.placed if p.name == name) for name in ("board", "frame"))
    found = fit((CONNECTORS["board"], board, frame(mated(angle, base=base))), (CONNECTORS["frame"], frame_, base))
    assert found is not None
    assert found.distance <= SEAM + 1e-6
    assert found.angle == pytest.approx(abs(math.remainder(angle, 90)), abs=1e-4)


@pytest.fixture(scope="module")
def parts_spec(blocks: SimpleNamespace) -> Any:
    b = blocks
    return b.scene(
        b.put("frame", b.thing((0.5, 0.3, 0.1)), (0, 0, 0)), b.put("board", b.thing((0.4, 0.2, 0.02)), (2, 0, TOP))
    )


@pytest.mark.parametrize(
    ("size", "number", "top", "point"),
    [
        ((0.4, 0.2, 0.02), 0, False, (-0.1, 0, 0)),
        ((0.4, 0.2, 0.02), 1, True, (0.1, 0, 0.02)),
        ((0.2, 0.4, 0.02), 1, False, (0, 0.1, 0)),
    ],
)
def test_connectors_are_spread_along_the_longer_side(size: Any, number: int, top: bool, point: Any) -> None:
    assert connector(size, 2, number, top=top) == pytest.approx(point)


# --- sitting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hips", "where", "seat"),
    [
        ((-2, 0, 0.56), {"cushion": (3, 0, 0)}, "stool"),
        ((-2, 0, 0.649), {"cushion": (3, 0, 0)}, "stool"),
        ((-2, 0, 0.651), {"cushion": (3, 0, 0)}, None),
        ((-2, 0, 0.62), {}, "stool"),  # through the cushion
        ((-2, 0, 0.56), {"cushion": (3, 0, 0), "board": (-2, 0, 0.9)}, "stool"),  # and under a board
        ((-1.81, 0, 0.56), {}, "stool"),  # on its edge
        ((-1.79, 0, 0.56), {}, None),  # beside it
        ((-2, 0, 0.95), {}, None),  # standing on nothing, and over it
        ((2, 0, TOP + 0.1), {"board": (3, 0, 0)}, None),  # a table is no seat
        ((0, 2, 0.1), {}, None),  # on the floor
        ((0, 0, -1), {}, None),
        (None, {}, None),
    ],
)
def test_sitting_is_having_the_hips_on_a_seat(parts: Any, hips: Any, where: Any, seat: str | None) -> None:
    state = parts.relations.state(moment(parts, hips=hips, **where))
    assert {r for r in state if r[0] == "sitting"} == ({("sitting", seat)} if seat else set())


# --- raised -------------------------------------------------------------------------------------------------------


def leaning(degrees: float, lift: float = 0.0) -> Any:
    """The frame turned up about its long side, the lowest edge so far above the floor."""
    turn = about((1, 0, 0), math.radians(degrees))
    corners = np.array([[x, y, z] for x in (-0.25, 0.25) for y in (-0.15, 0.15) for z in (0, 0.1)]) @ turn.T
    return Frame(turn, np.array([0, 0, lift - corners[:, 2].min()])).pose


@pytest.mark.parametrize(
    ("where", "raised"),
    [
        ({}, False),
        ({"frame": leaning(90)}, True),
        ({"frame": leaning(-90)}, True),
        ({"frame": leaning(90, 0.1)}, False),  # in the air
        ({"frame": leaning(90), "held": "frame"}, False),
    ],
)
def test_raised_is_standing_upright(parts: Any, where: Any, raised: bool) -> None:
    assert (("raised", "frame") in words(parts, "frame", **where)) == raised


@pytest.mark.parametrize(("degrees", "raised"), [(74.5, False), (75.5, True), (89, True)])
def test_raised_from_seventy_five_degrees(blocks: SimpleNamespace, degrees: float, raised: bool) -> None:
    """Something leans it against; only its edge is on the floor."""
    b = blocks
    world = b.world(b.floor(), b.put("frame", b.thing((0.5, 0.3, 0.1)), (0, 0, 0)), erectable=frozenset({"frame"}))
    at = world.at(frame=leaning(degrees))
    assert at.lean("frame") == pytest.approx(degrees)
    assert (("raised", "frame") in at.state) == (raised and bool(at.places.of("frame").rest.supports))


def test_only_what_can_be_raised_is(parts: Any, blocks: SimpleNamespace) -> None:
    lying = ((2.4, 0.05, TOP + 0.04), blocks.turned((1, 0, 0), 90))
    assert not {r for r in words(parts, "cup", cup=lying) if r[0] == "raised"}


# --- why ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "where", "says"),
    [
        (("attached", "board", "frame"), {}, "does not hold: nothing joins board to frame"),
        (
            ("attached", "board", "frame"),
            {"joined": {"board": "frame"}, "board": mated(14)},
            "does not hold: they are joined; their nearest connectors are 1.0 mm apart (at most 5.0 mm), "
            "board is turned 14.0 degrees away from the nearest quarter turn (at most 10)",
        ),
        (
            ("on", "board", "frame"),
            {"joined": {"board": "frame"}, "board": mated()},
            "does not hold: board is attached to frame, which is another relation",
        ),
        (("attached", "board", "cup"), {"joined": {"board": "frame"}}, "it is joined to frame"),
        (("attached", "cup", "frame"), {"joined": {"cup": "frame"}}, "cup or frame has no connector"),
        (("sitting", "stool"), {"hips": (-2, 0, 0.62)}, "holds: the hips are 0.110 m above cushion, which is no seat"),
        (("sitting", "stool"), {"hips": (-2, 0, 0.62)}, "it is carried by stool"),
        (("sitting", "stool"), {"hips": (0, 2, 0.9)}, "the hips are 0.900 m above floor_hall, which is no seat"),
        (("sitting", "stool"), {}, "is not known"),
        (("raised", "frame"), {}, "it leans 0.0 degrees away from lying (at least 75) and rests on floor_hall"),
        (("raised", "cup"), {}, "cup is nothing that can be raised"),
    ],
)
def test_the_numbers_are_told(parts: Any, relation: Any, where: Any, says: str) -> None:
    assert says in explain(parts.relations.at(moment(parts, **where)), relation)
