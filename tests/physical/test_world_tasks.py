"""The physical world in tasks that ship: where the hand is, what is refused, and snapshots. That it goes as in the
symbolic world, command by command, and in the same way in every process, is tests/e2e/test_two_worlds.py."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from iwkit import resources
from iwkit.compile import CompiledTask, compile_pack
from iwkit.errors import UsageError
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.pack import Pack
from iwkit.world.base import Receipt
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.actions.table import ACTIONS
from iwkit_runtime.body.hands import grip_frame
from iwkit_runtime.physical.world import PhysicalWorld

LIBRARY = Library()
FILES = {path.stem: path for path in resources.root("taskpacks").rglob("*.yaml")}


def task(name: str) -> CompiledTask:
    document = read(FILES[name])
    return compile_pack(document, check(document, Pack), LIBRARY)


@pytest.fixture(scope="module")
def world() -> PhysicalWorld:
    return PhysicalWorld()


def play(world: PhysicalWorld, *commands: str) -> list[Receipt]:
    receipts = [world.execute(parse(text)) for text in commands]
    assert [r.code for r in receipts] == ["OK"] * len(receipts), [r.text for r in receipts]
    return receipts


def test_the_hand_is_at_the_thing_when_it_is_taken(world: PhysicalWorld) -> None:
    world.reset(task("A1"))
    play(world, "[Grab] <juice>")
    stage = world._stage
    assert stage is not None and stage.wearer.hold is not None
    hold = stage.wearer.hold
    first = next(n for n, f in enumerate(world.trajectory.frames) if "juice" in f.poses)
    body = stage.person.body
    grip = grip_frame(body, body.forward(*world.trajectory.frames[first - 1].body), "right", hold.grip)[:3, 3]
    low, high = np.array([-0.045, -0.045, 0]), np.array([0.045, 0.045, 0.22])
    at = np.array([1.6, 9.541, 0.9])
    assert np.linalg.norm(np.maximum(np.maximum(at + low - grip, grip - at - high), 0)) <= 0.03


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.fixture
def unchanged(world: PhysicalWorld) -> Callable[[str], Receipt]:
    """Execute a command that must be refused; afterwards everything is as it was."""

    def refused(text: str) -> Receipt:
        before = json.dumps(world.snapshot())
        receipt = world.execute(parse(text))
        assert not receipt.ok and receipt.happenings == () and receipt.frames == 0
        assert json.dumps(world.snapshot()) == before
        return receipt

    return refused


def test_what_is_too_high_is_out_of_reach(world: PhysicalWorld, unchanged: Callable[[str], Receipt]) -> None:
    world.reset(task("A1"))
    stage = world._stage
    assert stage is not None
    stage.engine.hold("soda", ((1.4, 9.53, 2.4), (1, 0, 0, 0)))
    stage.engine.release("soda")
    stage.sync()
    receipt = unchanged("[Grab] <soda>")
    assert (receipt.code, receipt.fault) == ("OUT_OF_REACH", "world")


def test_a_way_that_is_blocked_names_what_blocks_it(world: PhysicalWorld, unchanged: Callable[[str], Receipt]) -> None:
    world.reset(task("P8"))
    stage = world._stage
    assert stage is not None
    stage.engine.hold("wardrobe_1", ((9.2, 5.6, 0.0), (0.7071067811865476, 0, 0, 0.7071067811865476)))
    stage.engine.release("wardrobe_1")
    stage.sync()
    receipt = unchanged("[Walk] <bathtub_1>")
    assert receipt.code == "PATH_BLOCKED"
    assert "wardrobe" in receipt.text


def test_a_support_that_is_taken_away_fails_the_postcondition(
    world: PhysicalWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.reset(task("A1"))
    stage = world._stage
    assert stage is not None
    play(world, "[Grab] <juice>")
    let_go = stage.engine.release

    def release(name: str) -> None:
        stage.engine.hold("breakfast_table", ((6.0, 2.0, 0.0), (1, 0, 0, 0)))
        let_go("breakfast_table")
        let_go(name)

    monkeypatch.setattr(stage.engine, "release", release)
    receipt = world.execute(parse("[Put] <juice> <breakfast_table>"))
    assert (receipt.ok, receipt.code, receipt.fault) == (False, "POSTCONDITION_FAILED", "world")
    assert ("on", "juice", "breakfast_table") not in world.relations()
    assert ("on_floor", "juice") in world.relations()
    assert world.held() is None
    released = next(h for h in receipt.happenings if h.kind == "released")
    assert released.roles["to"] == "floor"


def test_what_the_mind_refuses_is_refused_the_same_way(
    world: PhysicalWorld, unchanged: Callable[[str], Receipt]
) -> None:
    built, symbolic = task("A1"), SymbolicWorld()
    world.reset(built)
    symbolic.reset(built)
    for text in ("[Close] <fridge>", "[Put] <juice> <counter>", "[Grab] <fridge>", "[PutIn] <juice> <counter>"):
        assert unchanged(text) == symbolic.execute(parse(text))


def test_a_primitive_that_is_not_built_says_so(
    world: PhysicalWorld, unchanged: Callable[[str], Receipt], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.reset(task("A1"))
    monkeypatch.delitem(ACTIONS, "sit")
    receipt = unchanged("[Sit] <chair_1>")
    assert (receipt.code, receipt.fault) == ("NOT_BUILT", "engine")


# --- snapshots, determinism -------------------------------------------------------------------------------------------


def test_a_snapshot_is_json_and_brings_everything_back(world: PhysicalWorld) -> None:
    built = task("A1")
    world.reset(built)
    play(world, "[Grab] <juice>")
    world.mark_baseline()
    snapshot = json.loads(json.dumps(world.snapshot()))
    relations, visible = world.relations(), world.visible()
    first = [world.execute(parse("[Put] <juice> <breakfast_table>")), world.relations()]
    world.restore(snapshot)
    assert json.dumps(world.snapshot()) == json.dumps(snapshot)
    assert (world.relations(), world.visible(), world.held()) == (relations, visible, "juice")
    assert [world.execute(parse("[Put] <juice> <breakfast_table>")), world.relations()] == first


@pytest.mark.parametrize("change", [{"world": "symbolic/1"}, {"task": "x"}, {"engine": None}, {"wearer": {}}])
def test_what_is_no_snapshot_is_refused(change: dict[str, object], world: PhysicalWorld) -> None:
    world.reset(task("A1"))
    with pytest.raises(UsageError, match="no snapshot"):
        world.restore({**world.snapshot(), **change})


def test_before_reset_there_is_no_world() -> None:
    with pytest.raises(UsageError, match="call reset first"):
        PhysicalWorld().visible()
