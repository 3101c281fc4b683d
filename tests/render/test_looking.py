"""Looking brings the eyes to what is to be read: one bends down to it, or lifts what one holds, and comes back."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iwkit.compile import load_task
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit.resources import root
from iwkit_runtime.actions import looking
from iwkit_runtime.engines.collision import Hit
from iwkit_runtime.loop.frames import picked
from iwkit_runtime.physical.kinematics import frame
from iwkit_runtime.physical.trajectory import Frame, rests
from iwkit_runtime.physical.world import PhysicalWorld


def world_of(pack: str, *commands: str) -> PhysicalWorld:
    (path,) = root("taskpacks").glob(f"*/{pack}.yaml")
    world = PhysicalWorld()
    world.reset(load_task(path, Library()))
    for command in commands:
        receipt = world.execute(parse(command))
        assert receipt.ok, receipt.text
    return world


def held_look(world: PhysicalWorld) -> Frame:
    """The frame of the last command that would be kept as the look_hold."""
    frames = world.trajectory.frames
    (index,) = [i for i, kind in picked(rests(frames), hold=True) if kind == "look_hold"]
    return frames[index]


def eye(world: PhysicalWorld, shown: Frame) -> np.ndarray:
    return world.stage.person.camera(shown.body)[:3, 3]


def test_the_wearer_bends_down_to_what_lies_on_a_table() -> None:
    world = world_of("D5", "[Walk] <packing_table>", "[LookAt] <price_sheet>")
    frames, sheet = world.trajectory.frames, world.stage.centre("price_sheet")
    near, far = (np.linalg.norm(eye(world, shown) - sheet) for shown in (held_look(world), frames[-1]))
    assert near < 0.75 * far
    assert "price_sheet" in world.stage.visible(held_look(world).body)
    assert not any(world.stage.blind(shown.body) for shown in frames)
    assert np.array_equal(frames[-1].body.pose, world.stage.idle().pose), "and stands up again"


def test_nothing_on_a_counter_gets_out_of_the_picture() -> None:
    world = world_of("A1", "[LookAt] <counter>")
    assert eye(world, held_look(world))[2] < eye(world, world.trajectory.frames[-1])[2] - 0.05
    assert {"juice", "soda", "water", "banana"} <= set(world.stage.visible(held_look(world).body))


def test_where_there_is_no_room_to_bend_the_wearer_looks_upright(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of("D5", "[Walk] <packing_table>")
    monkeypatch.setattr(looking.Screen, "hit", lambda *_: Hit(0, "packing_table", 0.1, (0, 0, 0), (0, 0, 1)))
    assert world.execute(parse("[LookAt] <price_sheet>")).ok
    heights = [eye(world, shown)[2] for shown in world.trajectory.frames]
    assert max(heights) - min(heights) < 0.05


@pytest.mark.parametrize("name", ["juice", "soda"])
def test_what_is_held_is_lifted_and_turned_to_the_eyes(name: str) -> None:
    world = world_of("A1", f"[Grab] <{name}>")
    before = world.stage.engine.poses()[name]
    assert world.execute(parse(f"[LookAt] <{name}>")).ok
    shown, label = held_look(world), world.stage.placed[name].asset.labels[0]
    hold, person = world.stage.wearer.hold, world.stage.person
    place = frame(person.held_pose(person.body.forward(*shown.body), hold))
    ray = eye(world, shown) - place.point(label.centre)
    facing = (place.turn @ np.array(label.normal)) @ ray / np.linalg.norm(ray)
    assert facing > math.cos(math.radians(50))
    assert np.linalg.norm(ray) < 0.55
    assert (place.turn @ np.array([0, 0, 1]))[2] > 0.5, "the right way up"
    for part, was in zip(world.stage.engine.poses()[name], before, strict=True):
        assert part == pytest.approx(was, abs=1e-6), "carried as before"


def test_the_gaze_stays_where_it_is_when_the_head_would_get_into_something(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = world_of("A1").stage
    gaze, count = stage.wearer.gaze, len(stage.film)
    with monkeypatch.context() as patch:
        patch.setattr(stage, "blind", lambda _: True)
        stage.glance((1.0, 9.0, 0.5))
    assert (stage.wearer.gaze, len(stage.film)) == (gaze, count)
    stage.glance((1.0, 9.0, 0.5))
    assert stage.wearer.gaze == (1.0, 9.0, 0.5)
    assert len(stage.film) > count


def test_a_head_in_a_wall_is_blind() -> None:
    stage = world_of("A1").stage
    assert not stage.blind(stage.idle())
    inside = stage.idle()
    wall = np.array(stage.engine.poses()["fridge"][0])
    eyes = stage.person.camera(inside)[:3, 3]
    moved = inside._replace(translation=inside.translation + wall + np.array([0, 0, 1.0]) - eyes)
    assert stage.blind(moved)
