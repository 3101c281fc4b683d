"""Nearness and rooms, measured on the plan."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from iwkit_runtime.physical.kinematics import Frame, about
from iwkit_runtime.physical.relations import Facts

ROOMS = {"hall": (-4.0, -4.0, 4.0, 4.0), "den": (4.0, -4.0, 8.0, 4.0)}


@pytest.mark.parametrize(("gap", "near"), [(0.49, True), (0.51, False)])
def test_near_is_half_a_metre_edge_to_edge(blocks: SimpleNamespace, gap: float, near: bool) -> None:
    b = blocks
    world = b.world(
        b.put("a", b.thing((0.4, 0.1, 0.1)), (0, 0, 0)), b.put("b", b.thing((0.2, 0.1, 0.1)), (0.3 + gap, 0, 1.5))
    )
    assert (("near", "a", "b") in world.state()) == (("near", "b", "a") in world.state()) == near
    aside = ((0.05 + 0.2 + gap, 0, 0), b.turned((0, 0, 1), 90))
    assert (("near", "a", "b") in world.state(b=aside)) == (0.25 + gap - 0.2 - 0.05 <= 0.5)


@pytest.mark.parametrize(("gap", "near"), [(0.49, True), (0.51, False)])
def test_the_wearer_is_near_from_the_edge_of_the_body(cup_on_table: Any, gap: float, near: bool) -> None:
    state = cup_on_table.state(wearer=(0.6 + 0.2 + gap, 0))
    assert (("near", "wearer", "table") in state) == (("near", "table", "wearer") in state) == near
    assert (("near", "wearer", "cup") in state) == near, "what stands on a table is where the table is"


def test_only_pairs_with_something_of_the_pack_are_kept(blocks: SimpleNamespace) -> None:
    b = blocks
    world = b.world(*(b.put(n, b.thing((0.1, 0.1, 0.1)), (x, 0, 0)) for n, x in (("a", 0), ("b", 0.2), ("c", 0.4))))
    world.relations.facts = Facts(ROOMS, frozenset({"a"}), frozenset())
    near = {r for r in world.state() if r[0] == "near"}
    assert near == {("near", "a", "b"), ("near", "b", "a"), ("near", "a", "c"), ("near", "c", "a")}


corner = st.floats(-1, 1)


@given(places=st.lists(st.tuples(corner, corner, st.floats(-90, 90)), min_size=2, max_size=2), tilt=st.floats(0, 180))
@settings(max_examples=100, deadline=None)
def test_the_gap_is_the_least_distance_of_the_outlines(blocks: SimpleNamespace, places: list[Any], tilt: float) -> None:
    b = blocks
    size = (0.9, 0.1, 0.3)
    world = b.world(*(b.put(n, b.thing(size), (0, 0, 0)) for n in "ab"))
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


def test_rooms_hold_what_has_its_centre_in_them(cup_on_table: Any) -> None:
    def room(x: float) -> set[str]:
        return {r[2] for r in cup_on_table.state(cup=(x, 0, 0)) if r[:2] == ("in_room", "cup")}

    assert room(3.99) == {"hall"}
    assert room(4.01) == {"den"}
    assert room(8.3) == {"den"}  # beyond every room: the nearest
    assert ("in_room", "wearer", "den") in cup_on_table.state(wearer=(5, 0))
