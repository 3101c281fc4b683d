"""Every category that opens, holds things or is switched on, alone in a room: a body opens, closes, switches and
empties it in the physical world."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from PIL import Image
from staging import staged

from iwkit.catalogue import load_catalogue
from iwkit.compile import CompiledTask
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit.world.base import Receipt
from iwkit_runtime.body.camera import camera_frame
from iwkit_runtime.physical.trajectory import Frame, Start, Trajectory, rests
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.recording import Interval, Recording
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer
from iwkit_runtime.render.telling import moments
from iwkit_runtime.studio import PhysicalStudio
from iwkit_runtime.trajectories import load

CATEGORIES = {name: c for name, c in load_catalogue().categories.items() if c.kind != "decor"}
STANDS_ON_TABLES = {"cooktop", "microwave", "coffee_maker", "computer", "television"}
HANGS = {"window": 0.9, "wall_cabinet": 1.4}
"""Height of what does not stand on the floor, metres."""
CONTENT = dict.fromkeys(("paper_bag", "plastic_bag", "storage_bin", "laundry_basket", "backpack"), "water_bottle")
CONTENT |= dict.fromkeys(("trash_can", "bathtub"), "water_bottle")
CONTENT |= {"packing_box": "soda_can", "cooking_pot": "apple", "bowl": "eraser", "frying_pan": "eraser"}
"""What is put into a container, if not a wallet: in a deep one something that a hand can reach."""
TOO_NARROW = {"paper_bag", "plastic_bag", "backpack", "laundry_basket"}
"""Deep and narrow: whether a hand gets to the bottom between the walls depends on where it comes from; if not, it says
so."""
OUT_OF_SIGHT = {"paper_bag", "packing_box", "backpack"}
"""Their walls hide even from one who stands before them what is inside."""
QUICK = {"cabinet", "lunch_box", "stove"}
"""Categories of which every run sees one: the others are slow together."""


def some(*traits: str) -> list[Any]:
    wanted = [name for name, c in CATEGORIES.items() if set(traits) <= set(c.affords)]
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in wanted]


def room(name: str) -> dict[str, Any]:
    """A room with one thing at its wall, or on a table if it is an object."""
    thing: dict[str, Any] = {"category": name, "public": "the thing"}
    table = {"category": "table", "room": "room", "against": "south", "along": 2.2}
    if name in STANDS_ON_TABLES:
        fixtures = {"table": table, "thing": {**thing, "on": "table"}}
    elif CATEGORIES[name].kind == "fixture":
        place = {"room": "room", "against": "north", "along": 2.2, "base": HANGS.get(name, 0)}
        fixtures = {"thing": thing | place, "table": table}
    else:
        fixtures = {"table": table}
    rooms = {"room": {"public": "the room", "box": [0, 0, 4.4, 4.4]}}
    return {"scene": "1.0", "id": "alone", "title": "A room", "rooms": rooms, "doors": {}, "fixtures": fixtures}


@cache
def task(name: str) -> CompiledTask:
    entities: dict[str, Any] = {"table": {"fixture": "table"}, "thing": {"fixture": "thing"}}
    if CATEGORIES[name].kind == "object":
        entities["thing"] = {"category": name, "on": "table", "spot": [0, 0.2]}
    if "container" in CATEGORIES[name].affords:
        entities["content"] = {"category": CONTENT.get(name, "wallet"), "inside": "thing"}
    with TemporaryDirectory() as folder:
        (Path(folder) / "alone.yaml").write_text(json.dumps(room(name)), encoding="utf-8")
        physical = {"scene": "alone", "wearer": {"at": "room"}, "entities": entities}
        return staged(physical, library=Library(scenes=[Path(folder)]))


@pytest.fixture(scope="module")
def world() -> PhysicalWorld:
    return PhysicalWorld()


def do(world: PhysicalWorld, *commands: str) -> Receipt:
    """The receipt of the last one; those before it succeed."""
    for command in commands[:-1]:
        receipt = world.execute(parse(command))
        assert receipt.ok, f"{command}: {receipt.text}"
    return world.execute(parse(commands[-1]))


@pytest.mark.parametrize("name", some("openable"))
def test_a_hand_opens_and_closes_it(name: str, world: PhysicalWorld) -> None:
    world.reset(task(name))
    assert ("closed", "thing") in world.relations()
    opened = do(world, "[Open] <thing>")
    assert opened.ok, opened.text
    assert ("open", "thing") in world.relations()
    closed = do(world, "[Close] <thing>")
    assert closed.ok, closed.text
    assert ("closed", "thing") in world.relations()


@pytest.mark.parametrize("name", some("openable", "container"))
def test_what_is_behind_a_closed_door_is_neither_seen_nor_taken(name: str, world: PhysicalWorld) -> None:
    world.reset(task(name))
    assert ("inside", "content", "thing") in world.relations()
    do(world, "[LookAt] <thing>")
    assert "content" not in world.visible()
    refused = do(world, "[Grab] <content>")
    assert refused.code == "CONTAINER_CLOSED"
    assert not world.trajectory.frames


@pytest.mark.parametrize("name", some("container"))
def test_what_is_inside_can_be_seen_and_taken_once_it_is_open(name: str, world: PhysicalWorld) -> None:
    world.reset(task(name))
    do(world, "[Open] <thing>" if "openable" in CATEGORIES[name].affords else "[LookAt] <thing>")
    assert ("content" in world.visible()) == (name not in OUT_OF_SIGHT)
    taken = do(world, "[Grab] <content>")
    assert taken.ok or (name in TOO_NARROW and taken.code == "TRAJECTORY_COLLISION"), taken.text
    assert (world.held() == "content") == taken.ok


@pytest.mark.parametrize("name", [case for case in some() if CATEGORIES[case.values[0]].kind == "object"])
def test_a_hand_takes_an_object_from_the_table_and_puts_it_back(name: str, world: PhysicalWorld) -> None:
    world.reset(task(name))
    taken = do(world, "[Grab] <thing>")
    assert taken.ok, taken.text
    assert world.held() == "thing"
    put = do(world, "[Put] <thing> <table>")
    assert put.ok, put.text
    assert ("on", "thing", "table") in world.relations()


@pytest.mark.parametrize("name", some("device"))
def test_a_finger_switches_it_on_and_that_shows_from_the_touch_on(name: str, world: PhysicalWorld) -> None:
    world.reset(task(name))
    on = do(world, "[Open] <thing>", "[TurnOn] <thing>") if name == "laptop" else do(world, "[TurnOn] <thing>")
    assert on.ok, on.text
    assert ("running", "thing") in world.relations()
    told = [(n, frame.states) for n, frame in enumerate(world.trajectory.frames) if "thing" in frame.states]
    assert [states for _, states in told] == [{"thing": ("running",)}]
    assert 0 < told[0][0] < len(world.trajectory.frames) - 1
    before = world.snapshot()
    off = do(world, "[TurnOff] <thing>")
    assert off.ok, off.text
    assert [f.states for f in world.trajectory.frames if f.states] == [{"thing": ()}]
    world.restore(before)
    assert world.stage.states["thing"] == ("running",)  # a tap also wets what is in the sink
    assert do(world, "[TurnOn] <thing>").code == "ALREADY_ON"
    assert world.stage.states["thing"] == ("running",)  # a tap also wets what is in the sink


def test_frames_keep_what_shows_and_say_nothing_where_nothing_changes(world: PhysicalWorld) -> None:
    world.reset(task("stove"))
    do(world, "[TurnOn] <thing>")
    frames = world.trajectory.frames
    data = world.trajectory.to_json()
    assert sum("states" in frame for frame in data) == 1
    again = Trajectory.of_json(json.loads(json.dumps(data)))
    assert [frame.states for frame in again.frames] == [frame.states for frame in frames]
    lit = next(n for n, frame in enumerate(frames) if frame.states)
    body = frames[lit]
    still = Frame(body.body, body.stand, body.gaze, {}, {})
    assert rests((still, still)) == (False, True)
    assert rests((still, Frame(*(body.body, body.stand, body.gaze, {}, {}), body.states))) == (False, False)


def test_a_refused_command_leaves_what_shows_as_it_was(world: PhysicalWorld) -> None:
    world.reset(task("stove"))
    do(world, "[TurnOn] <thing>")
    shown = dict(world.stage.states)
    assert do(world, "[TurnOn] <thing>").code == "ALREADY_ON"
    assert not do(world, "[Open] <thing>").ok
    assert world.stage.states == shown == {"thing": ("running",)}
    world.reset(task("stove"))
    assert world.stage.states == {}


def test_the_pictures_that_are_taken_and_the_film_show_it(world: PhysicalWorld, tmp_path: Path) -> None:
    world.reset(task("stove"))
    with PhysicalStudio(world, tmp_path) as studio:
        try:
            start = Start.of_json(load(tmp_path, studio.begin(task("stove"))))
        except NoOpenGL as error:
            pytest.skip(str(error))
        assert start.frame.states == {}
        receipt = do(world, "[TurnOn] <thing>")
        taken = studio.shoot("turn_on")[-1]
        kept = Trajectory.of_json(load(tmp_path, studio.interval()["trajectory"])).frames
        picture = np.asarray(Image.open(io.BytesIO(studio.picture(taken.digest)))).astype(int)
    stage = world.stage
    interval = Interval(1, "[TurnOn] <thing>", "OK", receipt.frames, receipt.happenings, kept)
    records = ({"kind": "step", "n": 1, "by": "plan", "receipt": {"ok": True, "frames": receipt.frames}},)
    first = start.frame
    recording = Recording(
        "T", task("stove"), stage.spec, first.poses, first.joints, first.body, first.stand, (interval,), records
    )
    told = list(moments(recording, holds=False))
    assert [moment.states for moment in (told[0], told[-1])] == [{}, {"thing": ("running",)}]
    last, body = told[taken.index], stage.person.body
    joints = body.forward(*last.body)
    with Renderer(stage.spec, body) as renderer:
        seen = (camera_frame(body, joints), last.poses, last.joints, body.skin(joints))
        again, dark = (renderer.frame(*seen, states=states).astype(int) for states in (last.states, {}))
    assert np.array_equal(again, picture)
    assert (np.abs(picture - dark).max(2) > 24).sum() > 300
