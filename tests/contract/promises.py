"""What every world promises (iwkit.world.base), as checks, and the two scenes full of things in which it is checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from staging import staged

from iwkit.compile import CompiledTask
from iwkit.digest import digest
from iwkit.events import EVENT_KINDS, WORDS
from iwkit.grammar import Command, parse
from iwkit.library import Library
from iwkit.predicates import PREDICATES
from iwkit.trace import Relation
from iwkit.world.base import Receipt, World
from iwkit.world.refusals import REFUSALS
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.actions.refusals import PHYSICAL_REFUSALS
from iwkit_runtime.physical.world import PhysicalWorld

FACTORIES: dict[str, Callable[[], World]] = {"symbolic": SymbolicWorld, "physical": PhysicalWorld}
CODES = {**PHYSICAL_REFUSALS, **REFUSALS}
"""Every refusal there is; physical worlds have some of their own."""

PARTS = """
catalogue: "1.0"
categories:
  rack_board:
    {kind: object, public: [rack board], size: [0.4, 0.2, 0.02], mass: 1, connectors: [peg, peg], affords: [surface]}
  rack_frame:
    {kind: object, public: [rack frame], size: [0.5, 0.3, 0.1], mass: 3, connectors: [hole, hole], affords: [erectable]}
  hatbox: {kind: object, public: [hatbox], size: [0.4, 0.35, 0.2], mass: 1, affords: [container, openable]}
"""

KITCHEN: dict[str, Any] = {
    "scene": "flat",
    "wearer": {"at": "counter", "facing": "stove"},
    "entities": {
        "kitchen": {"room": "kitchen"},
        "bedroom": {"room": "bedroom"},
        "bedroom_door": {"door": "bedroom_door"},
        "passage": {"door": "kitchen_passage"},
        "counter": {"fixture": "counter_1"},
        "side": {"fixture": "counter_2"},
        "fridge": {"fixture": "fridge_1"},
        "stove": {"fixture": "stove_1"},
        "oven": {"fixture": "oven_1"},
        "microwave": {"fixture": "microwave_1"},
        "sink": {"fixture": "kitchen_sink_1"},
        "table": {"fixture": "breakfast_table_1", "is": ["dirty", "wet"]},
        "chair": {"fixture": "chair_1"},
        "other_chair": {"fixture": "chair_2"},
        "low_table": {"fixture": "coffee_table_1"},
        "cupboard": {"fixture": "kitchen_cabinet_1"},
        "desk": {"fixture": "desk_1"},
        "bed": {"fixture": "bed_1"},
        "tray": {"category": "tray", "on": "counter", "spot": [0.75, 0.4]},
        "cup": {"category": "coffee_cup", "on": "tray"},
        "knife": {"category": "knife", "on": "counter", "spot": [0.1, 0.5]},
        "tomato": {"category": "tomato", "on": "counter"},
        "spoon": {"category": "spoon", "on": "table", "spot": [0.7, 0.2]},
        "sponge": {"category": "sponge", "on": "sink"},
        "pan": {"category": "frying_pan", "on": "stove"},
        "potato": {"category": "potato", "inside": "pan"},
        "pot": {"category": "cooking_pot", "on": "side", "contains": ["water"]},
        "bottle": {"category": "water_bottle", "on": "table", "contains": ["water", "ice"]},
        "glass": {"category": "drinking_glass", "on": "table"},
        "plate": {"category": "plate", "on": "table", "is": ["dirty", "wet"]},
        "mug": {"category": "mug", "on": "plate"},
        "bowl": {"category": "bowl", "on": "table"},
        "phone": {"category": "cell_phone", "on": "table"},
        "milk": {"category": "milk_carton", "inside": "fridge"},
        "lunch_box": {"category": "lunch_box", "on": "side"},
        "tin": {"category": "lunch_box", "inside": "fridge"},
        "pen": {"category": "pen", "inside": "tin"},
        "eraser": {"category": "eraser", "inside": "lunch_box"},
        "crate": {"category": "packing_box", "beside": "table", "open": True},
        "hatbox": {"category": "hatbox", "on": "low_table"},
        "carton": {"category": "packing_box", "on": "other_chair"},
        "parcel": {"category": "parcel", "inside": "hatbox"},
        "stapler": {"category": "stapler", "inside": "crate", "spot": [-1, 0.5]},
        "laptop": {"category": "laptop", "on": "desk", "open": True},
        "spare_laptop": {"category": "laptop", "on": "bed"},
        "board": {"category": "rack_board", "beside": "cupboard"},
        "frame": {"category": "rack_frame", "beside": "cupboard"},
    },
}
WARD: dict[str, Any] = {
    "scene": "infirmary",
    "wearer": {"at": "ward"},
    "entities": {
        "trolley": {"fixture": "trolley_1"},
        "desk": {"fixture": "desk_1"},
        "doctor_desk": {"fixture": "desk_2"},
        "computer": {"fixture": "computer_1"},
        "doctor_chair": {"fixture": "office_chair_2"},
        "bed": {"fixture": "bed_1"},
        "cabinet": {"fixture": "nightstand_left"},
        "supply_door": {"door": "supply_door"},
        "thermometer": {"category": "thermometer", "on": "trolley"},
        "basket": {"category": "basket", "on": "trolley"},
        "soda": {"category": "soda_can", "inside": "basket"},
        "pills": {"category": "medicine_bottle", "inside": "cabinet"},
    },
}


@cache
def flat() -> CompiledTask:
    """The kitchen of a flat."""
    return _staged(KITCHEN)


@cache
def infirmary() -> CompiledTask:
    """The ward of an infirmary."""
    return _staged(WARD)


def _staged(physical: dict[str, Any]) -> CompiledTask:
    with TemporaryDirectory() as folder:
        parts = Path(folder) / "parts.yaml"
        parts.write_text(PARTS, encoding="utf-8")
        return staged(physical, library=Library(catalogues=[parts]))


def play(world: World, *commands: str) -> Receipt:
    """Execute commands that must all succeed; the last receipt."""
    assert commands
    for text in commands:
        receipt = world.execute(parse(text))
        assert receipt.ok, f"{text}: {receipt.text}"
    return receipt


def kinds(receipt: Receipt) -> list[str]:
    return [h.kind for h in receipt.happenings]


def did(receipt: Receipt) -> list[tuple[Any, ...]]:
    """What happened, without what came into view and left it, and without the rooms on the way (`check_route`)."""
    own = ("became_visible", "left_view", "entered")
    return [(h.kind, *h.roles.values()) for h in receipt.happenings if h.kind not in own]


TRIP = (
    "[LookAround]",
    "[Open] <fridge>",
    "[Grab] <milk>",
    "[Put] <milk> <table> @place_spot=0.5:0.25",
    "[Attach] <board> <peg> <frame> <hole> 5",
    "[Wipe] <sponge> <table>",
    "[PutOnFloor] <sponge> <bed>",
    "[Sit] <chair>",
    "[LookScan]",
)
LATER = ("[StandUp]", "[Grab] <sponge>", "[Walk] <counter>", "[Drop]", "[Detach] <board> <frame>", "[LookAround]")


def observe(world: World, task: CompiledTask) -> tuple[Any, ...]:
    bearings = {name: world.bearing(name) for name in task.things}
    return world.relations(), world.visible(), world.held(), bearings, digest(world.snapshot())


# --- invariants -----------------------------------------------------------------------------------------------------

PLACES = ("on", "inside", "held", "on_floor", "attached")
SYMBOLIC_PLACES = {"floor", "wearer"}


def check_relations(world: World, task: CompiledTask) -> None:
    state = world.relations()
    things = task.things
    placed: dict[str, set[str]] = {n: set() for n, t in things.items() if t.kind == "object"}
    rooms: Counter[str] = Counter()
    for relation in state:
        check_relation(relation, task)
        name, *args = relation
        if name in PLACES:
            placed[args[0]].add(name)
            assert args[0] not in args[1:], relation
        if name == "in_room":
            rooms[args[0]] += 1
        if name == "near":
            assert ("near", args[1], args[0]) in state
    for name, ways in placed.items():
        assert ways, f"{name} is nowhere"
        assert ways in ({"held"}, {"on_floor"}) or ways <= {"on", "inside", "attached"}, f"{name}: {ways}"
    assert all(rooms[name] == 1 for name in (*placed, "wearer"))
    held = [r[1] for r in state if r[0] == "held"]
    assert held == ([] if world.held() is None else [world.held()])
    for name, thing in things.items():
        if "openable" in thing.traits:
            assert (("open", name) in state) != (("closed", name) in state)
        if "device" in thing.traits:
            assert (("running", name) in state) != (("off", name) in state)
    assert tuple(sorted(r[1] for r in state if r[0] == "visible")) == world.visible()
    assert held == [] or held[0] in world.visible()


NEEDS = {"thing": "movable", "support": "surface", "container": "container", "openable": "openable", "device": "device"}
NEEDS |= {"seat": "seat", "room": "room", "machine": "machine"}


def check_relation(relation: Relation, task: CompiledTask) -> None:
    predicate = PREDICATES[relation[0]]
    words = {"substance", "substances"}
    entities = [kind for kind in predicate.args if kind not in words]
    if "substances" not in predicate.args:
        assert len(relation) == 1 + len(predicate.args), relation
    for kind, name in zip(entities, relation[1:], strict=False):
        if name != "wearer":
            need = NEEDS.get(kind)
            assert name in task.things, relation
            assert need is None or need in task.things[name].traits or relation[0] in OWN, relation


OWN = ("cut", "cooked", "mouldy")
"""Predicates of things that a fixture may come to have by a pack."""


def check_happenings(receipt: Receipt, task: CompiledTask) -> None:
    for happening in receipt.happenings:
        kind = EVENT_KINDS[happening.kind]
        assert kind.origin == "world"
        roles = dict(kind.roles)
        assert set(happening.roles) == set(roles), happening
        for role, value in happening.roles.items():
            if role == "contents":
                assert isinstance(value, tuple) and set(value) <= task.things.keys()
                continue
            assert isinstance(value, str)
            if roles[role] == "word":
                assert value in WORDS[happening.kind, role]
            elif roles[role] != "substance":
                places = SYMBOLIC_PLACES if roles[role] == "place" else set()
                assert value in task.things or value in places, happening


def check_route(room: str, receipt: Receipt, world: World, task: CompiledTask) -> None:
    """Which way the wearer takes is the world's own; it leads from door to door, into the room in which it then is."""
    names = {thing.scene_id: thing.name for thing in task.things.values() if thing.kind == "room"}
    doors = [{names[side] for side in door.between} for door in task.scene.doors.values()]
    for happening in receipt.happenings:
        if happening.kind == "entered":
            assert {room, happening.roles["room"]} in doors, happening
            room = str(happening.roles["room"])
    assert ("in_room", "wearer", room) in world.relations()


def check_receipt(receipt: Receipt, before: Any, world: World, task: CompiledTask, command: Command) -> None:
    assert receipt.text
    assert receipt.text[0].isupper() or receipt.text[0].isdigit()
    assert receipt.text.endswith(".")
    if receipt.ok:
        assert (receipt.code, receipt.fault) == ("OK", None)
        assert (receipt.frames == 0) == (command.primitive == "confirm")
        check_happenings(receipt, task)
    elif receipt.code == "POSTCONDITION_FAILED":
        assert (receipt.fault, receipt.frames > 0) == ("world", True)
        check_happenings(receipt, task)
    else:
        assert receipt.code in CODES
        assert (receipt.frames, receipt.happenings) == (0, ())
        assert receipt.fault in ("request", "world", "engine")
        assert "_" not in receipt.text
        assert world.snapshot() == before
