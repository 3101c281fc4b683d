"""Attaching, detaching and raising in the physical world, beside the symbolic one."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from staging import staged

from iwkit.compile import CompiledTask
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit.predicates import PREDICATES
from iwkit.recipes import load_recipes
from iwkit.world.base import Receipt, World
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.physical.kinematics import frame
from iwkit_runtime.physical.layout import Assets
from iwkit_runtime.physical.world import PhysicalWorld

PARTS = """
catalogue: "1.0"
categories:
  rack_board:
    {kind: object, public: [rack board], size: [0.4, 0.2, 0.02], mass: 1, connectors: [peg, peg], affords: [surface]}
  rack_frame:
    {kind: object, public: [rack frame], size: [0.5, 0.3, 0.1], mass: 3, connectors: [hole, hole], affords: [erectable]}
"""
SCENE: dict[str, Any] = {
    "scene": "flat",
    "wearer": {"at": "table"},
    "entities": {
        "kitchen": {"room": "kitchen"},
        "table": {"fixture": "breakfast_table_1"},
        "cupboard": {"fixture": "kitchen_cabinet_1"},
        "sofa": {"fixture": "sofa_1"},
        "board": {"category": "rack_board", "beside": "cupboard"},
        "frame": {"category": "rack_frame", "beside": "sofa"},
    },
}
HERE = {name for name in PREDICATES if name not in ("near", "visible")}
"""Nearness and the view depend on where exactly the wearer stands."""
SIGHT = ("became_visible", "left_view")


def built(folder: Path) -> tuple[CompiledTask, Library]:
    parts = folder / "parts.yaml"
    parts.write_text(PARTS, encoding="utf-8")
    library = Library(catalogues=[parts])
    return staged(SCENE, "PARTS", library), library


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


ATTACH = "[Attach] <board> <peg> (1) <frame> <hole> (0) 5"
Both = tuple[PhysicalWorld, SymbolicWorld, CompiledTask]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    task, library = built(tmp_path_factory.mktemp("parts"))
    return PhysicalWorld(Assets(library.catalogue, load_recipes())), SymbolicWorld(), task


def play(both: Both, *commands: str) -> None:
    """From the start; the two worlds agree after every command."""
    world, symbolic, task = both
    world.reset(task)
    symbolic.reset(task)
    for text in commands:
        mine, other = world.execute(parse(text)), symbolic.execute(parse(text))
        assert (mine.code, told(mine)) == (other.code, told(other)), f"{text}: {mine.text}"
        assert state(world) == state(symbolic), text
        smooth(world)


def apart(world: PhysicalWorld) -> np.ndarray:
    """Where the board is, seen from the frame."""
    poses = world.stage.engine.poses()
    inside = frame(poses["frame"]).inverse().then(frame(poses["board"]))
    return np.concatenate([inside.at, inside.turn.ravel()])


def test_attached_at_its_connectors_with_the_error_asked_for(both: Both) -> None:
    play(both, ATTACH)
    world = both[0]
    at = frame(world.stage.engine.poses()["frame"]).inverse().then(frame(world.stage.engine.poses()["board"]))
    assert at.point((0.1, 0, 0)) == pytest.approx([-0.125, 0, 0.101], abs=1e-3)
    turned = math.degrees(math.atan2(at.turn[1, 0], at.turn[0, 0])) % 90
    assert turned == pytest.approx(5, abs=0.1)


def test_attached_with_a_wrong_angle_it_is_not_attached(both: Both) -> None:
    """It is joined, and can be taken off and put on rightly."""
    play(both, "[Attach] <board> <peg> (1) <frame> <hole> (0) 30")
    assert {r[0] for r in state(both[0]) if r[1] == "board" and r[0] in ("attached", "on", "on_floor")} == {"on"}
    play(both, "[Attach] <board> <peg> (1) <frame> <hole> (0) 30", "[Detach] <board> <frame>", ATTACH)
    assert ("attached", "board", "frame") in state(both[0])


def test_what_held_before_is_restored(both: Both) -> None:
    """Hysteresis is part of a snapshot: a state that goes on from one is the same as without it."""
    world = both[0]
    play(both, ATTACH)
    world.mark_baseline()
    kept = {("at_baseline", "frame"), ("unmoved", "frame")}
    assert kept <= world.stage.before
    snapshot = json.loads(json.dumps(world.snapshot()))
    (x, y, z), turn = world.stage.engine.poses()["frame"]
    world.stage.engine.hold("frame", ((x + 0.033, y, z), turn))
    world.stage.engine.release("frame")
    assert kept <= world.relations(), "3.3 cm, and it stood there until now"
    nudged = json.loads(json.dumps(world.snapshot()))
    world.stage.before = frozenset()
    assert not kept & world.relations()
    world.restore(nudged)
    assert kept <= world.relations()
    world.restore(snapshot)
    assert json.dumps(world.snapshot()) == json.dumps(snapshot)


def test_what_is_attached_goes_along(both: Both) -> None:
    play(both, ATTACH, "[Grab] <frame>", "[Walk] <table>")
    before = apart(both[0])
    world = both[0]
    assert world.execute(parse("[PutOnFloor] <frame> <table>")).ok
    assert apart(world) == pytest.approx(before, abs=1e-6)


def test_detached_into_the_hand_and_attached_again(both: Both) -> None:
    play(both, ATTACH, "[Detach] <board> <frame>", ATTACH)


def test_raised_it_stands_with_what_is_attached(both: Both) -> None:
    play(both, ATTACH, "[Raise] <frame>")
    world = both[0]
    assert abs(frame(world.stage.engine.poses()["frame"]).turn[2, 2]) < 0.1
    assert apart(world)[:3] == pytest.approx([*apart(world)[:2], 0.101], abs=1e-3)


def test_restored_midway_it_goes_on_the_same(both: Both) -> None:
    world = both[0]
    play(both, ATTACH)
    snapshot = json.loads(json.dumps(world.snapshot()))
    first = [world.execute(parse("[Raise] <frame>")), json.dumps(world.snapshot())]
    world.restore(snapshot)
    assert json.dumps(world.snapshot()) == json.dumps(snapshot)
    assert [world.execute(parse("[Raise] <frame>")), json.dumps(world.snapshot())] == first


@pytest.mark.parametrize(
    "text", ["[Detach] <board> <frame>", "[Raise] <board>", "[Attach] <board> <peg> (7) <frame> <hole>"]
)
def test_what_the_mind_refuses(text: str, both: Both) -> None:
    world, symbolic, task = both
    world.reset(task)
    symbolic.reset(task)
    before = json.dumps(world.snapshot())
    assert world.execute(parse(text)) == symbolic.execute(parse(text))
    assert json.dumps(world.snapshot()) == before


def test_a_frame_out_of_reach(both: Both) -> None:
    world, _, task = both
    world.reset(task)
    stage = world.stage
    (x, y, _), turn = stage.engine.poses()["frame"]
    stage.engine.hold("frame", ((x, y, 2.4), turn))
    stage.engine.release("frame")
    stage.sync()
    before = json.dumps(world.snapshot())
    for text in (ATTACH, "[Raise] <frame>"):
        assert world.execute(parse(text)).code == "OUT_OF_REACH"
        assert json.dumps(world.snapshot()) == before
