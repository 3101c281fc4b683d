"""What happens by itself is the same in both worlds, and is seen: events, cycles, water, mould, what is soiled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from staging import staged

from iwkit.compile import CompiledTask
from iwkit.grammar import Command, parse
from iwkit.predicates import PREDICATES
from iwkit.trace import Relation
from iwkit.world.base import Receipt, World
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer, look_from

ENTITIES: dict[str, Any] = {
    "table": {"fixture": "breakfast_table_1"},
    "counter": {"fixture": "counter_1"},
    "side": {"fixture": "counter_2"},
    "sink": {"fixture": "kitchen_sink_1"},
    "oven": {"fixture": "oven_1"},
    "phone": {"category": "cell_phone", "on": "table", "spot": [0.1, 0.1]},
    "cup": {"category": "coffee_cup", "on": "table", "spot": [-0.8, 0.1]},
    "parcel": {"category": "parcel", "on": "table", "spot": [0.6, 0.7]},
    "tray": {"category": "tray", "on": "counter"},
    "mug": {"category": "mug", "on": "tray"},
    "potato": {"category": "potato", "inside": "oven"},
    "apple": {"category": "apple", "inside": "sink"},
    "bread": {"category": "bread_loaf", "on": "counter", "spot": [0.3, 0.3], "is": ["mouldy_inside"]},
    "knife": {"category": "knife", "on": "counter", "spot": [0.75, 0.4]},
    "towel": {"category": "towel", "on": "side"},
}
EVENTS = [
    {"id": "call", "when": "handoff", "rings": "phone"},
    {"id": "spill", "when": {"answered": "phone"}, "spills": "table"},
    {"id": "drop", "when": {"becomes": {"running": "oven"}}, "falls": "cup"},
    {"id": "crash", "when": {"fell": "cup"}, "breaks": "cup"},
    {"id": "post", "when": {"after": "o1"}, "arrives": "parcel"},
    {"id": "tea", "when": {"released": "phone"}, "arrives": "tray"},
]


class Part(NamedTuple):
    """A command; the thing that then looks different, and the events beside those of the command itself."""

    command: str
    changed: str
    events: tuple[str, ...]


STORY = (
    Part("[Wait] 1", "parcel", ("arrived",)),
    Part("[Wait] 1", "phone", ("rang",)),
    Part("[Grab] <phone>", "", ("grabbed", "moved")),
    Part("[AnswerPhone] <phone>", "table", ("answered", "spilled")),
    Part("[Put] <phone> <table>", "tray", ("released", "moved", "arrived")),
    Part("[TurnOn] <oven>", "cup", ("started", "cycle_started", "fell", "moved", "broke")),
    Part("[TurnOn] <sink>", "apple", ("started",)),
    Part("[Grab] <knife>", "", ("grabbed", "moved")),
    Part("[Cut] <bread> <knife>", "bread", ("cut",)),
    Part("[Put] <knife> <counter>", "", ("released", "moved")),
    Part("[Wipe] <towel> <table>", "towel", ("grabbed", "moved", "wiped")),
)
SIGHT = ("became_visible", "left_view")


def task() -> CompiledTask:
    opening = [{"id": "o1", "do": "[Wait] 1"}]
    return staged(
        {"scene": "flat", "wearer": {"at": "table"}, "entities": ENTITIES, "opening": opening, "events": EVENTS}
    )


@pytest.fixture(scope="module")
def played() -> tuple[PhysicalWorld, SymbolicWorld, CompiledTask]:
    physical, symbolic, made = PhysicalWorld(), SymbolicWorld(), task()
    physical.reset(made)
    symbolic.reset(made)
    return physical, symbolic, made


def told(receipt: Receipt) -> list[tuple[Any, ...]]:
    return [(h.kind, *h.roles.values()) for h in receipt.happenings if h.kind not in SIGHT]


def own(world: World) -> set[Relation]:
    """What no world measures, and where the things of the task are."""
    placed = ("on", "inside", "held", "on_floor")
    return {r for r in world.relations() if PREDICATES[r[0]].source == "symbolic" or r[0] in placed}


def tell(played: tuple[PhysicalWorld, SymbolicWorld, CompiledTask], parts: Sequence[Part]) -> None:
    """Play parts of the story in both worlds, and look at what changes."""
    physical, symbolic, made = played
    physical.reset(made)
    symbolic.reset(made)
    with _renderer(physical) as renderer:
        for number, part in enumerate(parts):
            if number == 1:
                physical.mark_baseline()
                symbolic.mark_baseline()
            before = _state(physical)
            mine, other = physical.execute(parse(part.command)), symbolic.execute(parse(part.command))
            assert mine.ok and other.ok, (part.command, mine.text, other.text)
            assert told(mine) == told(other), part.command
            assert tuple(event[0] for event in told(mine)) == part.events
            assert mine.text == other.text
            assert own(physical) ^ own(symbolic) == set(), part.command
            if part.changed:
                assert _differs(renderer, physical, before, part.changed) > 0.05, part.command


def test_both_worlds_tell_the_same_story_and_it_is_seen(
    played: tuple[PhysicalWorld, SymbolicWorld, CompiledTask],
) -> None:
    tell(played, STORY[:5])


@pytest.mark.slow
def test_the_whole_story(played: tuple[PhysicalWorld, SymbolicWorld, CompiledTask]) -> None:
    tell(played, STORY)
    assert {("mouldy", "bread"), ("broken", "cup"), ("in_cycle", "potato", "oven")} <= played[0].relations()


def test_a_snapshot_of_the_physical_world_knows_how_far_the_story_is(
    played: tuple[PhysicalWorld, SymbolicWorld, CompiledTask],
) -> None:
    physical, _, made = played
    physical.reset(made)
    kept = json.loads(json.dumps(physical.snapshot()))
    first = physical.execute(parse("[Wait] 1"))
    after = physical.snapshot()
    physical.restore(kept)
    assert physical.execute(parse("[Wait] 1")) == first
    assert physical.snapshot() == after
    assert ("arrived", "parcel") in told(first)


def test_what_a_command_was_to_bring_about_is_read_back(
    played: tuple[PhysicalWorld, SymbolicWorld, CompiledTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    physical, _, made = played
    physical.reset(made)
    attempt = SymbolicWorld.attempt

    def forgetful(world: SymbolicWorld, command: Command) -> Receipt:
        before, receipt = world.snapshot(), attempt(world, command)
        world.restore(before)
        return receipt

    monkeypatch.setattr(SymbolicWorld, "attempt", forgetful)
    receipt = physical.execute(parse("[TurnOn] <sink>"))
    assert (receipt.code, receipt.fault, receipt.about) == ("POSTCONDITION_FAILED", "world", ("sink",))
    assert receipt.text == "It was done, but the kitchen sink is not where or as it should be."
    assert receipt.frames > 0 and ("started", "sink") in told(receipt)


def test_what_has_not_arrived_is_nowhere(played: tuple[PhysicalWorld, SymbolicWorld, CompiledTask]) -> None:
    physical, _, made = played
    physical.reset(made)
    for name in ("parcel", "tray", "mug"):
        assert physical.execute(parse(f"[Grab] <{name}>")).code == "UNKNOWN_THING"
        assert {r[0] for r in physical.relations() if name in r} == {"clean", "dry"}
        assert physical.bearing(name) is None
        assert name not in physical.visible()


def _state(physical: PhysicalWorld) -> tuple[Any, Any, Any]:
    stage = physical.stage
    return stage.engine.poses(), stage.engine.joints(), stage.states


def _renderer(physical: PhysicalWorld) -> Renderer:
    try:
        return Renderer(physical.stage.spec, size=(240, 240), fov=60)
    except NoOpenGL as error:
        pytest.skip(str(error))


def _differs(renderer: Renderer, physical: PhysicalWorld, before: tuple[Any, Any, Any], name: str) -> float:
    """The share of the pixels of a thing that look different from before, from above where it is now."""
    middle, high = physical.stage.centre(name), max(physical.stage.placed[name].asset.size)
    camera = look_from(middle + np.array([0.05, -0.35, 1.3]) * max(0.3, high), middle)
    views = []
    for poses, joints, states in (before, _state(physical)):
        names, ids = renderer.ids(camera, poses, joints, states=states)
        picture = renderer.frame(camera, poses, joints, states=states).astype(int)
        views.append((picture, ids == names.index(name)))
    (was, _), (now, mask) = views
    assert mask.sum() > 200, f"{name} is hardly in the picture"
    return float((np.abs(now - was).max(2) > 20)[mask].mean())


def test_the_story_has_every_kind_of_event() -> None:
    kinds = {key for event in EVENTS for key in event} - {"id", "when", "delay"}
    assert kinds == {"rings", "spills", "breaks", "falls", "arrives"}
