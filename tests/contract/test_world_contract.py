"""What every world promises (iwkit.world.base): the same suite runs on each implementation, on the scenes that ship."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from iwkit.compile import CompiledTask, compile_pack
from iwkit.digest import digest
from iwkit.errors import UsageError
from iwkit.events import EVENT_KINDS, WORDS
from iwkit.grammar import Command, Ref, parse, render
from iwkit.library import Library
from iwkit.predicates import PREDICATES
from iwkit.source.check import check
from iwkit.source.reader import read_text
from iwkit.spec.pack import Pack
from iwkit.trace import Relation
from iwkit.verbs import BY_NAME, PRIMITIVES
from iwkit.world.base import Receipt, World
from iwkit.world.refusals import REFUSALS
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.actions.refusals import PHYSICAL_REFUSALS
from iwkit_runtime.physical.world import PhysicalWorld

FACTORIES: dict[str, Callable[[], World]] = {"symbolic": SymbolicWorld, "physical": PhysicalWorld}
TIER = {"symbolic": (), "physical": (pytest.mark.slow,)}
WORLDS = [pytest.param(name, marks=TIER[name]) for name in FACTORIES]
VOLUMES = {"symbolic": (12, 60, 40), "physical": (3, 15, 12)}
"""How much is played at random: programs, and commands of each in the flat and in the infirmary."""
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


def pack(physical: dict[str, Any]) -> dict[str, Any]:
    """A whole pack around a start."""
    lines = [{"when": "handoff", "say": "Wait a moment.", "do": ["[Wait]"]}, {"done": True}]
    control = {"fails": ["gone"], "lines": lines}
    goal = {"score": "state", "achieve": [{"id": "gone", "that": {"happened": {"entered": "any"}}}]}
    text = "Only a test."
    words = ("question", "evidence", "help_needed", "information_gap", "success", "without_help")
    return {
        "taskpack": "1.0",
        "id": "TEST",
        "family": "finding",
        "source_family": "FIND",
        "title": text,
        "guid": "3f0c2b8e-5a55-4b8f-9a53-0d7c0f10aa09",
        "capabilities": ["C1"],
        "contract": dict.fromkeys(words, text),
        "physical": {**physical, "opening": [{"id": "o1", "do": "[Wait]"}], "goal": goal},
        "interaction": {
            "public": text,
            "human": {"context": text},
            "handoff": text,
            "oracle": lines,
            "wrong": control,
            "early": control,
            "budget": {"ticks": 5, "actions": 5},
        },
    }


def build(physical: dict[str, Any], folder: Path) -> CompiledTask:
    parts = folder / "parts.yaml"
    parts.write_text(PARTS, encoding="utf-8")
    document = read_text(json.dumps(pack(physical), indent=1), "TEST.yaml")
    return compile_pack(document, check(document, Pack), Library(catalogues=[parts]))


@pytest.fixture(scope="session")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> CompiledTask:
    return build(KITCHEN, tmp_path_factory.mktemp("kitchen"))


@pytest.fixture(scope="session")
def ward(tmp_path_factory: pytest.TempPathFactory) -> CompiledTask:
    return build(WARD, tmp_path_factory.mktemp("ward"))


@pytest.fixture(scope="session", params=WORLDS, ids=str)
def factory(request: pytest.FixtureRequest) -> Callable[[], World]:
    return FACTORIES[request.param]


@pytest.fixture(scope="session")
def worlds(factory: Callable[[], World]) -> dict[str, World]:
    """One world a scene, for all tests: `reset` forgets what was before."""
    return {"flat": factory(), "infirmary": factory()}


@pytest.fixture
def world(worlds: dict[str, World], kitchen: CompiledTask) -> World:
    worlds["flat"].reset(kitchen)
    return worlds["flat"]


@pytest.fixture
def ward_world(worlds: dict[str, World], ward: CompiledTask) -> World:
    worlds["infirmary"].reset(ward)
    return worlds["infirmary"]


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


# --- a legal case of every primitive --------------------------------------------------------------------------------

LEGAL: dict[str, tuple[tuple[str, ...], str, list[tuple[Any, ...]], list[Relation], list[Relation]]] = {
    # primitive: commands before, command, what happens, what then holds, what then does not
    "navigate_to": ((), "[Walk] <bedroom>",
                    [("opened", "bedroom_door")],
                    [("in_room", "wearer", "bedroom"), ("open", "bedroom_door")], [("in_room", "wearer", "kitchen")]),
    "forward": (("[TurnAround]",), "[Forward] 0.5m", [], [("in_room", "wearer", "kitchen")], []),
    "turn": ((), "[TurnLeft]", [], [("near", "wearer", "counter")], []),
    "sit": ((), "[Sit] <chair>", [("sat", "chair")], [("sitting", "chair"), ("near", "wearer", "chair")], []),
    "standup": (("[Sit] <chair>",), "[StandUp]", [("stood", "chair")], [], [("sitting", "chair")]),
    "squat": ((), "[Squat]", [], [("near", "wearer", "counter")], []),
    "pick": ((), "[Grab] <tray>", [("grabbed", "tray", "counter"), ("moved", "tray")],
             [("held", "tray"), ("on", "cup", "tray"), ("near", "cup", "wearer")],
             [("on", "tray", "counter"), ("on", "cup", "counter")]),
    "release": (("[Grab] <cup>",), "[Drop]", [("released", "cup", "floor"), ("moved", "cup")],
                [("on_floor", "cup")], [("held", "cup")]),
    "flip": (("[Grab] <cup>",), "[Flip] <cup>", [("flipped", "cup")], [("held", "cup")], []),
    "place": (("[Grab] <tray>",), "[Put] <tray> <table>", [("released", "tray", "table"), ("moved", "tray")],
              [("on", "tray", "table"), ("on", "cup", "table"), ("on", "cup", "tray")], [("held", "tray")]),
    "place_inside": (("[Open] <fridge>", "[Grab] <cup>"), "[PutInside] <cup> <fridge>",
                     [("released", "cup", "fridge"), ("moved", "cup")], [("inside", "cup", "fridge")], []),
    "place_on_floor": (("[Grab] <cup>",), "[PutOnFloor] <cup> <table>",
                       [("released", "cup", "floor"), ("moved", "cup")],
                       [("on_floor", "cup"), ("near", "cup", "table")], [("held", "cup")]),
    "fall_to_floor": ((), "[FallToFloor] <phone> <table>", [("fell", "phone", "table"), ("moved", "phone")],
                      [("on_floor", "phone"), ("near", "phone", "table")], [("on", "phone", "table")]),
    "attach": ((), "[Attach] <board> <peg> (1) <frame> <hole> (0) 5",
               [("grabbed", "board", "floor"), ("moved", "board"), ("released", "board", "frame"),
                ("attached", "board", "frame"), ("moved", "board")],
               [("attached", "board", "frame"), ("near", "board", "frame")],
                [("on_floor", "board"), ("held", "board")]),
    "detach": (("[Attach] <board> <peg> <frame> <hole>",), "[Detach] <board> <frame>",
               [("detached", "board", "frame"), ("grabbed", "board", "frame"), ("moved", "board")],
               [("held", "board")], [("attached", "board", "frame")]),
    "raise": ((), "[Raise] <frame>", [("raised", "frame")], [("raised", "frame")], []),
    "open": ((), "[Open] <fridge>", [("opened", "fridge")], [("open", "fridge"), ("visible", "milk")],
             [("closed", "fridge")]),
    "close": (("[Open] <fridge>",), "[Close] <fridge>", [("closed", "fridge")], [("closed", "fridge")],
              [("open", "fridge"), ("visible", "milk")]),
    "open_door": ((), "[OpenDoor] <bedroom_door>",
                  [("opened", "bedroom_door")],
                  [("open", "bedroom_door"), ("near", "wearer", "bedroom_door")], [("closed", "bedroom_door")]),
    "close_door": (("[OpenDoor] <bedroom_door>",), "[CloseDoor] <bedroom_door>", [("closed", "bedroom_door")],
                   [("closed", "bedroom_door")], []),
    "turn_on": ((), "[TurnOn] <stove>", [("started", "stove")], [("running", "stove")], [("off", "stove")]),
    "turn_off": (("[TurnOn] <stove>",), "[TurnOff] <stove>", [("stopped", "stove")], [("off", "stove")], []),
    "cook": (("[TurnOn] <stove>",), "[Cook] <potato>", [("cooked", "potato", "pan")], [("cooked", "potato")], []),
    "cut": (("[Grab] <knife>",), "[Cut] <tomato> <knife>", [("cut", "tomato", "knife")], [("cut", "tomato")], []),
    "stir": (("[Grab] <spoon>",), "[Stir] <pot> <spoon>", [("stirred", "pot", "spoon")], [("held", "spoon")], []),
    "pour": (("[Grab] <bottle>",), "[Pour] <pot> <bottle>",
             [("poured", "bottle", "pot", "water"), ("poured", "bottle", "pot", "ice")],
             [("contains", "pot", "ice"), ("received", "pot", "water", "water", "ice")],
             [("contains", "bottle", "ice")]),
    "wipe": ((), "[Wipe] <sponge> <table>",
             [("grabbed", "sponge", "sink"), ("moved", "sponge"), ("wiped", "table", "sponge")],
             [("clean", "table"), ("used", "sponge"), ("held", "sponge")], []),
    "use_computer": (("[Walk] <desk>",), "[UseComputer] <laptop>", [("started", "laptop"), ("used", "laptop")],
                     [("running", "laptop")], []),
    "answer_phone": (("[Grab] <phone>",), "[AnswerPhone] <phone>", [("answered", "phone")], [("held", "phone")], []),
    "look_around": ((), "[LookAround]", [], [("visible", "table"), ("visible", "potato"), ("visible", "bottle")],
                    [("visible", "milk"), ("visible", "eraser"), ("visible", "laptop")]),
    "look_scan": (("[Walk] <sink>",), "[LookScan]", [], [("visible", "board"), ("visible", "frame")],
                  [("visible", "potato")]),
    "look_at": ((), "[LookAt] <plate>", [("looked_at", "plate")], [("visible", "plate"), ("visible", "mug")], []),
    "wait": ((), "[Wait] 10", [], [], []),
    "confirm": ((), "[Confirm]", [("confirmed", "wearer")], [], []),
}  # fmt: skip

LEGAL_IN_WARD: dict[str, tuple[tuple[str, ...], str, list[tuple[Any, ...]], list[Relation], list[Relation]]] = {
    "push": ((), "[Push] <trolley> <desk>", [("pushed", "trolley", "desk"), ("moved", "trolley")],
             [("near", "trolley", "desk"), ("near", "wearer", "trolley"), ("on", "thermometer", "trolley"),
              ("near", "soda", "desk")], [("near", "trolley", "bed")]),
    "pull": ((), "[Pull] <trolley> <doctor_desk>",
             [("opened", "treatment_door"),
              ("pushed", "trolley", "doctor_desk"), ("moved", "trolley")],
             [("in_room", "soda", "treatment_room"), ("inside", "soda", "basket")], [("in_room", "soda", "ward")]),
}  # fmt: skip


def run_legal(world: World, task: CompiledTask, case: tuple[Any, ...]) -> None:
    before, text, happened, holds, fails = case
    if before:
        play(world, *before)
    state, (room,) = world.snapshot(), [r[2] for r in world.relations() if r[:2] == ("in_room", "wearer")]
    command = parse(text)
    receipt = world.execute(command)
    assert receipt.ok, receipt.text
    check_route(room, receipt, world, task)
    check_receipt(receipt, state, world, task, command)
    assert did(receipt) == happened
    relations = world.relations()
    assert [r for r in holds if r not in relations] == []
    assert [r for r in fails if r in relations] == []
    check_relations(world, task)


@pytest.mark.parametrize("primitive", LEGAL)
def test_legal_in_the_flat(primitive: str, world: World, kitchen: CompiledTask) -> None:
    run_legal(world, kitchen, LEGAL[primitive])


@pytest.mark.parametrize("primitive", LEGAL_IN_WARD)
def test_legal_in_the_infirmary(primitive: str, ward_world: World, ward: CompiledTask) -> None:
    run_legal(ward_world, ward, LEGAL_IN_WARD[primitive])


def test_every_primitive_has_a_legal_case() -> None:
    assert set(LEGAL) | set(LEGAL_IN_WARD) == set(BY_NAME)
    assert {parse(case[1]).primitive for case in (*LEGAL.values(), *LEGAL_IN_WARD.values())} == set(BY_NAME)


# --- refusals -------------------------------------------------------------------------------------------------------

REFUSED: list[tuple[str, tuple[str, ...], str, str]] = [
    # code, commands before, command, what the wearer is told
    ("UNKNOWN_THING", (), "[Grab] <green_cup>", "There is no green cup here."),
    ("UNKNOWN_THING", (), "[Grab] <cup> (2)", "There is no cup (2) here."),
    ("SAME_THING", ("[Grab] <tray>",), "[Put] <tray> <tray>", "The tray cannot be used with itself."),
    ("NOT_MOVABLE", (), "[Grab] <fridge>", "The fridge cannot be picked up."),
    ("NOT_MOVABLE", (), "[Grab] <kitchen>", "The kitchen cannot be picked up."),
    ("NO_SURFACE", ("[Grab] <cup>",), "[Put] <cup> <phone>", "Nothing can be put on the phone."),
    ("NO_INTERIOR", ("[Grab] <cup>",), "[PutIn] <cup> <table>", "Nothing can be put into the breakfast table."),
    ("TOO_BIG", ("[Grab] <tray>",), "[Put] <tray> <plate>", "The tray is too big for the plate."),
    ("TOO_BIG", ("[Open] <lunch_box>", "[Grab] <tray>"), "[PutIn] <tray> <lunch_box>",
     "The tray is too big for the lunch box."),
    ("WOULD_CONTAIN_ITSELF", ("[Grab] <crate>",), "[PutOnFloor] <crate> <stapler>",
     "The cardboard box cannot go on, in or beside something that it carries."),
    ("NOT_A_SEAT", (), "[Sit] <fridge>", "The fridge is not for sitting on."),
    ("NO_CONNECTOR", (), "[Attach] <board> <knob> <frame> <hole>", "The rack board has no connector called knob."),
    ("NO_CONNECTOR", (), "[Attach] <board> <peg> (2) <frame> <hole>", "The rack board has no connector called peg."),
    ("NOT_ERECTABLE", (), "[Raise] <table>", "The breakfast table cannot be stood upright."),
    ("NOT_WHEELED", (), "[Push] <table> <fridge>", "The breakfast table cannot be pushed or pulled along."),
    ("NOT_OPENABLE", (), "[Open] <table>", "The breakfast table cannot be opened or closed."),
    ("NOT_OPENABLE", (), "[OpenDoor] <passage>",
     "The doorway between kitchen and hall cannot be opened or closed."),
    ("NOT_A_DOOR", (), "[OpenDoor] <fridge>", "The fridge is not a door."),
    ("NOT_A_DEVICE", (), "[TurnOn] <fridge>", "The fridge cannot be switched on or off."),
    ("NOT_COOKABLE", (), "[Cook] <cup>", "The coffee cup cannot be cooked."),
    ("NOT_CUTTABLE", ("[Grab] <knife>",), "[Cut] <cup> <knife>", "The coffee cup cannot be cut."),
    ("NOT_A_CUTTER", ("[Grab] <spoon>",), "[Cut] <tomato> <spoon>", "The spoon does not cut."),
    ("NOT_STIRRABLE", ("[Grab] <spoon>",), "[Stir] <stapler> <spoon>", "There is nothing to stir in the stapler."),
    ("NOT_A_STIRRER", ("[Grab] <cup>",), "[Stir] <pot> <cup>", "The coffee cup is no good for stirring."),
    ("NOT_A_VESSEL", ("[Grab] <bottle>",), "[Pour] <plate> <bottle>", "Nothing can be poured into the plate."),
    ("NOT_A_POURER", ("[Grab] <knife>",), "[Pour] <pot> <knife>", "The knife cannot be poured from."),
    ("NOT_A_WIPER", (), "[Wipe] <cup> <table>", "The coffee cup is no good for wiping."),
    ("NOT_WIPEABLE", (), "[Wipe] <sponge> <fridge>", "The fridge cannot be wiped."),
    ("NOT_A_WORKSTATION", (), "[UseComputer] <oven>", "The oven is not a computer."),
    ("NOT_A_PHONE", (), "[AnswerPhone] <stapler>", "The stapler is not a phone."),
    ("HAND_FULL", ("[Grab] <cup>",), "[Grab] <knife>", "Your hand is full: you are holding the coffee cup."),
    ("HAND_FULL", ("[Grab] <cup>",), "[Wipe] <sponge> <table>", "Your hand is full: you are holding the coffee cup."),
    ("HAND_FULL", ("[Grab] <cup>",), "[UseComputer] <laptop>", "Your hand is full: you are holding the coffee cup."),
    ("ALREADY_HELD", ("[Grab] <cup>",), "[Grab] <cup>", "You are already holding the coffee cup."),
    ("NOT_HELD", (), "[Put] <cup> <table>", "You are not holding the coffee cup."),
    ("NOT_HELD", (), "[Flip] <cup>", "You are not holding the coffee cup."),
    ("NOT_HELD", ("[Grab] <cup>",), "[Drop] <knife>", "You are not holding the knife."),
    ("NOT_HELD", (), "[Cut] <tomato> <knife>", "You are not holding the knife."),
    ("NOT_HELD", (), "[Stir] <pot> <spoon>", "You are not holding the spoon."),
    ("NOT_HELD", (), "[Pour] <pot> <bottle>", "You are not holding the water bottle."),
    ("NOT_HELD", (), "[AnswerPhone] <phone>", "You are not holding the phone."),
    ("NOTHING_HELD", (), "[Drop]", "You are not holding anything."),
    ("IN_HAND", ("[Grab] <frame>",), "[Raise] <frame>", "You are holding the rack frame: put it down first."),
    ("CONTAINER_CLOSED", (), "[Grab] <milk>", "The fridge is closed."),
    ("CONTAINER_CLOSED", (), "[Grab] <eraser>", "The lunch box is closed."),
    ("CONTAINER_CLOSED", (), "[Grab] <pen>", "The fridge is closed."),
    ("CONTAINER_CLOSED", ("[Grab] <cup>",), "[PutIn] <cup> <fridge>", "The fridge is closed."),
    ("CONTAINER_CLOSED", (), "[UseComputer] <spare_laptop>", "The laptop is closed."),
    ("NO_ROOM", ("[Grab] <bowl>",), "[Put] <bowl> <plate>",
     "There is no room left for the bowl: the plate is full."),
    ("NO_ROOM", ("[Open] <hatbox>", "[Grab] <pot>"), "[PutIn] <pot> <hatbox>",
     "There is no room left for the cooking pot: the hatbox is full."),
    ("WRONG_SUPPORT", (), "[FallToFloor] <cup> <table>", "The coffee cup is not standing free on the breakfast table."),
    ("WRONG_SUPPORT", (), "[FallToFloor] <milk> <fridge>", "The milk carton is not standing free on the fridge."),
    ("WRONG_SUPPORT", ("[Grab] <tray>",), "[FallToFloor] <cup> <tray>",
     "The coffee cup is not standing free on the tray."),
    ("ATTACHED", ("[Attach] <board> <peg> <frame> <hole>",), "[Grab] <board>",
     "The rack board is attached to the rack frame."),
    ("NOT_ATTACHED", (), "[Detach] <board> <frame>", "The rack board is not attached to the rack frame."),
    ("CONNECTOR_TAKEN", ("[Attach] <board> <peg> <frame> <hole>",), "[Attach] <board> <peg> <frame> <hole> (1)",
     "The connector peg of the rack board is taken."),
    ("ALREADY_RAISED", ("[Raise] <frame>",), "[Raise] <frame>", "The rack frame already stands upright."),
    ("ALREADY_OPEN", ("[Open] <fridge>",), "[Open] <fridge>", "The fridge is already open."),
    ("ALREADY_CLOSED", (), "[Close] <fridge>", "The fridge is already closed."),
    ("ALREADY_CLOSED", (), "[CloseDoor] <bedroom_door>", "The bedroom door is already closed."),
    ("ALREADY_ON", ("[TurnOn] <stove>",), "[TurnOn] <stove>", "The stove is already on."),
    ("ALREADY_OFF", (), "[TurnOff] <stove>", "The stove is already off."),
    ("ALREADY_COOKED", ("[TurnOn] <stove>", "[Cook] <potato>"), "[Cook] <potato>", "The potato is already cooked."),
    ("ALREADY_CUT", ("[Grab] <knife>", "[Cut] <tomato> <knife>"), "[Cut] <tomato> <knife>",
     "The tomato is already cut."),
    ("NO_HEAT", (), "[Cook] <potato>", "The potato is not on or in anything that is hot."),
    ("EMPTY", ("[Grab] <cup>",), "[Pour] <pot> <cup>", "The coffee cup is empty."),
    ("SITTING", ("[Sit] <chair>",), "[Grab] <mug>",
     "You are sitting on the kitchen chair at the long side of the table: stand up first."),
    ("SITTING", ("[Sit] <chair>",), "[TurnLeft]",
     "You are sitting on the kitchen chair at the long side of the table: stand up first."),
    ("SITTING", ("[Sit] <chair>",), "[Sit] <chair>",
     "You are sitting on the kitchen chair at the long side of the table: stand up first."),
    ("NOT_SITTING", (), "[StandUp]", "You are not sitting."),
    ("SEAT_TAKEN", (), "[Sit] <other_chair>",
     "There are too many things on the kitchen chair at the end of the table to sit down."),
    ("NOT_VISIBLE", (), "[LookAt] <milk>", "You cannot see the milk carton from here."),
    ("NOT_VISIBLE", (), "[LookAt] <bed>", "You cannot see the bed from here."),
    ("PATH_BLOCKED", ("[Walk] <fridge>",), "[Forward] 2m", "The way ahead is blocked."),
    ("PATH_BLOCKED", ("[Walk] <table>",), "[Forward] 1.5m", "The way ahead is blocked."),
]  # fmt: skip

REFUSED_IN_WARD: list[tuple[str, tuple[str, ...], str, str]] = [
    ("HAND_FULL", ("[Grab] <thermometer>",), "[Push] <trolley> <bed>",
     "Your hand is full: you are holding the thermometer."),
    ("WOULD_CONTAIN_ITSELF", (), "[Push] <trolley> <soda>",
     "The trolley cannot go on, in or beside something that it carries."),
    ("NO_FLOOR", (), "[Push] <trolley> <potted_plant_1>",
     "There is no free floor for the trolley by the plant in the corridor."),
]  # fmt: skip


def run_refused(world: World, task: CompiledTask, case: tuple[str, tuple[str, ...], str, str]) -> None:
    code, before, text, told = case
    if before:
        play(world, *before)
    snapshot, relations, visible = world.snapshot(), world.relations(), world.visible()
    command = parse(text)
    receipt = world.execute(command)
    check_receipt(receipt, snapshot, world, task, command)
    assert (receipt.ok, receipt.code, receipt.text) == (False, code, told)
    assert receipt.fault == REFUSALS[code].fault
    assert (world.relations(), world.visible()) == (relations, visible)


@pytest.mark.parametrize("case", REFUSED, ids=lambda c: f"{c[0]}-{c[2]}")
def test_refused_in_the_flat(case: tuple[str, tuple[str, ...], str, str], world: World, kitchen: CompiledTask) -> None:
    run_refused(world, kitchen, case)


@pytest.mark.parametrize("case", REFUSED_IN_WARD, ids=lambda c: f"{c[0]}-{c[2]}")
def test_refused_in_the_infirmary(
    case: tuple[str, tuple[str, ...], str, str], ward_world: World, ward: CompiledTask
) -> None:
    run_refused(ward_world, ward, case)


def test_every_refusal_has_a_case() -> None:
    assert {case[0] for case in (*REFUSED, *REFUSED_IN_WARD)} == set(REFUSALS)


# --- snapshots, the baseline, what is seen --------------------------------------------------------------------------

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


class Trip:
    """What was seen of a trip when it was made, and what can be gone back to: a world at the start of each step."""

    def __init__(self, world: World, task: CompiledTask) -> None:
        self.task = task
        self.steps = [parse(text) for text in (*TRIP, *LATER)]
        self.receipts: list[Receipt] = []
        world.mark_baseline()
        self.kept, self.seen = [self.keep(world)], [observe(world, task)]
        for step in self.steps:
            self.receipts.append(world.execute(step))
            self.kept.append(self.keep(world))
            self.seen.append(observe(world, task))

    @staticmethod
    def keep(world: World) -> Any:
        return json.loads(json.dumps(world.snapshot()))

    def check(self, world: World, start: int, count: int) -> None:
        """Go back to the start of a step; from there so many steps are as they were."""
        world.restore(self.kept[start])
        assert observe(world, self.task) == self.seen[start]
        for n in range(start, min(start + count, len(self.steps))):
            assert world.execute(self.steps[n]) == self.receipts[n]
            assert observe(world, self.task) == self.seen[n + 1]


def test_restore_is_exact(world: World, factory: Callable[[], World], kitchen: CompiledTask) -> None:
    """Each step of a trip can be gone back to and is then as it was, in the same world and in another, whatever they
    did before; so the next is, and the next. From a few the whole rest is made again."""
    trip = Trip(world, kitchen)
    assert all(receipt.ok for receipt in trip.receipts[: len(TRIP)])
    other = factory()
    other.reset(kitchen)
    places = list(range(len(trip.kept)))
    for order, again in ((places[::-1], world), (random.Random(1).sample(places, len(places)), other)):
        for start in order:
            trip.check(again, start, 1)
    for start, again in ((0, other), (5, world), (len(TRIP), other)):
        trip.check(again, start, len(trip.steps))


def test_reset_forgets(world: World, kitchen: CompiledTask) -> None:
    start = observe(world, kitchen)
    world.mark_baseline()
    play(world, *TRIP)
    assert observe(world, kitchen) != start
    world.reset(kitchen)
    assert observe(world, kitchen) == start


def test_a_snapshot_is_json_and_stays_as_it_is(world: World) -> None:
    kept = world.snapshot()
    text = json.dumps(kept)
    play(world, *TRIP)
    assert json.dumps(kept) == text
    assert digest(world.snapshot()) != digest(kept)


def test_a_snapshot_of_another_task_is_refused(world: World, ward_world: World, kitchen: CompiledTask) -> None:
    before = observe(world, kitchen)
    with pytest.raises(UsageError, match="TEST"):
        world.restore(ward_world.snapshot())
    assert observe(world, kitchen) == before


@pytest.mark.parametrize("call", ["relations", "visible", "held", "snapshot", "mark_baseline"])
def test_a_world_without_a_task_says_so(call: str, factory: Callable[[], World]) -> None:
    with pytest.raises(UsageError, match="reset first"):
        getattr(factory(), call)()


def test_a_world_without_a_task_executes_nothing(factory: Callable[[], World], world: World) -> None:
    for call in (
        lambda w: w.execute(parse("[Wait]")),
        lambda w: w.bearing("cup"),
        lambda w: w.restore(world.snapshot()),
    ):
        with pytest.raises(UsageError, match="reset first"):
            call(factory())


def test_no_baseline_before_the_handoff(world: World) -> None:
    names = {"at_baseline", "unmoved"}
    assert not any(r[0] in names for r in world.relations())
    world.mark_baseline()
    for name in ("cup", "milk", "fridge", "crate"):
        assert {("at_baseline", name), ("unmoved", name)} <= world.relations()


def test_what_is_carried_off_is_at_baseline_but_moved(world: World) -> None:
    world.mark_baseline()
    play(world, "[Grab] <tray>")
    state = world.relations()
    assert ("at_baseline", "cup") in state  # it never left the tray
    assert not {("unmoved", "cup"), ("at_baseline", "tray"), ("unmoved", "tray")} & state
    play(world, "[Put] <tray> <table>")
    assert ("at_baseline", "tray") not in world.relations()
    play(world, "[Grab] <tray>", "[Put] <tray> <counter> @place_spot=0.75:0.4")
    assert {("at_baseline", "tray"), ("unmoved", "tray"), ("unmoved", "cup")} <= world.relations()


def test_another_spot_is_another_place(world: World) -> None:
    world.mark_baseline()
    play(world, "[Grab] <knife>", "[Put] <knife> <counter> @place_spot=-0.2:0.5")
    assert ("at_baseline", "knife") not in world.relations()
    play(world, "[Grab] <knife>", "[Put] <knife> <counter> @place_spot=0.1:0.5")
    assert ("at_baseline", "knife") in world.relations()


def test_what_stands_on_a_pushed_trolley_is_at_baseline(ward_world: World) -> None:
    ward_world.mark_baseline()
    play(ward_world, "[Push] <trolley> <desk>")
    state = ward_world.relations()
    assert {("at_baseline", "thermometer"), ("at_baseline", "soda"), ("unmoved", "pills")} <= state
    assert not {("at_baseline", "trolley"), ("unmoved", "trolley"), ("unmoved", "thermometer")} & state


def test_containment_survives_carrying(world: World, kitchen: CompiledTask) -> None:
    play(world, "[Grab] <crate>", "[PutOnFloor] <crate> <fridge>")
    state = world.relations()
    assert {("inside", "stapler", "crate"), ("near", "crate", "fridge"), ("near", "stapler", "fridge")} <= state
    play(world, "[Close] <crate>")
    assert "stapler" not in world.visible()
    assert world.execute(parse("[Grab] <stapler>")).code == "CONTAINER_CLOSED"
    check_relations(world, kitchen)


def test_what_is_inside_something_inside_is_inside_both(world: World) -> None:
    assert {("inside", "pen", "tin"), ("inside", "pen", "fridge"), ("inside", "tin", "fridge")} <= world.relations()
    play(world, "[Open] <fridge>", "[Grab] <tin>")
    state = world.relations()
    assert ("inside", "pen", "tin") in state
    assert not {("inside", "pen", "fridge"), ("inside", "tin", "fridge")} & state


def test_only_carriers_pass_on_what_they_stand_on(world: World) -> None:
    play(world, "[Grab] <board>", "[Put] <board> <table>", "[Grab] <cup>", "[Put] <cup> <board>")
    state = world.relations()
    assert {("on", "cup", "board"), ("on", "board", "table")} <= state
    assert ("on", "cup", "table") not in state  # a rack board is a surface, but nothing to carry things on


def test_wipe_understands_the_legacy_order(world: World) -> None:
    assert did(play(world, "[Wipe] <table> <sponge>"))[-1] == ("wiped", "table", "sponge")
    assert {("clean", "table"), ("dry", "table")} <= world.relations()
    assert not {("clean", "sponge"), ("dry", "sponge")} & world.relations()


def test_doors_are_opened_and_closed_like_anything_else(world: World) -> None:
    assert did(play(world, "[Open] <bedroom_door>"))[-1] == ("opened", "bedroom_door")
    assert did(play(world, "[Close] <bedroom_door>")) == [("closed", "bedroom_door")]


def test_a_full_hand_opens_and_switches(world: World) -> None:
    play(world, "[Grab] <cup>", "[Open] <fridge>", "[TurnOn] <stove>", "[Walk] <bedroom>")
    assert world.held() == "cup"


def test_what_is_attached_goes_along(world: World) -> None:
    play(world, "[Attach] <board> <peg> <frame> <hole>", "[Grab] <cup>", "[Put] <cup> <board>")
    play(world, "[Grab] <frame>", "[PutOnFloor] <frame> <counter>")
    state = world.relations()
    assert {("attached", "board", "frame"), ("on", "cup", "board"), ("on_floor", "frame")} <= state
    assert ("near", "frame", "counter") in state


def test_what_was_detached_can_be_attached_again(world: World) -> None:
    play(world, "[Attach] <board> <peg> <frame> <hole>", "[Detach] <board> <frame>")
    play(world, "[Attach] <board> <peg> <frame> <hole>")
    assert ("attached", "board", "frame") in world.relations()


def test_the_first_command_tells_what_was_in_view(world: World) -> None:
    seen = world.visible()
    receipt = play(world, "[Open] <fridge>")
    told = [(h.kind, h.roles["object"]) for h in receipt.happenings]
    assert told[: len(seen)] == [("became_visible", name) for name in seen]
    lost = [("left_view", name) for name in seen if name not in world.visible()]
    assert lost and told[len(seen) : len(seen) + len(lost)] == lost  # what is still in view on arrival stays so


def test_food_cooks_in_a_vessel_on_a_heater_and_stays_cooked(world: World) -> None:
    play(world, "[Grab] <pan>", "[Put] <pan> <table>", "[TurnOn] <stove>")
    assert world.execute(parse("[Cook] <potato>")).code == "NO_HEAT"
    play(world, "[Grab] <pan>", "[Put] <pan> <stove>", "[Cook] <potato>", "[TurnOff] <stove>")
    assert ("cooked", "potato") in world.relations()


def test_what_is_visible_has_become_visible(world: World) -> None:
    """From the first receipt on, the events tell the whole view."""
    seen: set[str] = set()
    for text in (*TRIP, *LATER):
        for happening in world.execute(parse(text)).happenings:
            if happening.kind == "became_visible":
                assert happening.roles["object"] not in seen
                seen.add(str(happening.roles["object"]))
            elif happening.kind == "left_view":
                seen.remove(str(happening.roles["object"]))
        assert sorted(seen) == list(world.visible())


def test_events_come_in_causal_order(world: World) -> None:
    play(world, "[Wait]")
    receipt = play(world, "[Walk] <laptop>")
    assert kinds(receipt)[-2:] == ["became_visible", "became_visible"]
    names = kinds(receipt)
    assert names.index("left_view") < names.index("entered") < names.index("opened") < names.index("became_visible")
    assert did(play(world, "[Grab] <laptop>")) == [("grabbed", "laptop", "desk"), ("moved", "laptop")]
    play(world, "[Put] <laptop> <bed>")
    told = [(h.kind, *h.roles.values()) for h in play(world, "[Open] <fridge>").happenings]
    assert told.index(("opened", "fridge")) < told.index(("became_visible", "milk"))
    told = [(h.kind, *h.roles.values()) for h in play(world, "[Close] <fridge>").happenings]
    assert {("closed", "fridge"), ("left_view", "milk")} <= set(told)


def test_bearings(world: World) -> None:
    play(world, "[Walk] <fridge>")
    start = world.bearing("fridge")
    assert start is not None
    assert abs(start) < 15  # the place before the fridge need not be the same, nor its middle straight ahead
    assert 0 < world.bearing("counter") < 90  # type: ignore[operator]  # to the right as one faces the fridge
    aside = 0.01 if isinstance(world, SymbolicWorld) else 6  # a body takes a few steps where there is no room to turn
    for turn, sum_ in (("[TurnRight]", 90), ("[TurnRight]", 180), ("[TurnLeft] 270", -90), ("[TurnAround]", 90)):
        play(world, turn)
        now = world.bearing("fridge")
        assert now is not None
        assert -180 < now <= 180
        assert math.remainder(now - start + sum_, 360) == pytest.approx(0, abs=aside)
    assert world.bearing("no_such_thing") is None
    play(world, "[Open] <fridge>", "[Grab] <milk>")
    assert world.bearing("milk") is None


# --- random programs ------------------------------------------------------------------------------------------------

CONNECTORS = ("peg", "hole", "knob")
NUMBERS = {"distance": "1.5m", "angle": "45", "duration": "2", "angle_error": "3"}


def wild(rng: random.Random, names: tuple[str, ...]) -> Command:
    """Any legal command of the grammar about these things, sense or nonsense."""
    row = rng.choice(PRIMITIVES)
    verb = rng.choice(row.verbs)
    text = f"[{verb}]"
    for n in range(len(row.args) - rng.randint(0, row.optional)):
        name, index = (rng.choice(CONNECTORS), rng.randint(0, 1)) if n in row.connectors else (rng.choice(names), 1)
        text += f" <{name}> ({index})"
    if row.scalar and verb != "TurnAround" and rng.random() < 0.5:
        text += " " + NUMBERS[row.scalar.kind]
    if row.spot and rng.random() < 0.5:
        text += " @place_spot=0.5:0.25"
    return parse(text)


FEW = ("cup", "tray", "milk", "fridge", "counter", "table", "crate", "lunch_box", "sponge", "knife", "board", "frame")
FEW += ("chair", "bedroom_door", "kitchen", "bottle", "pot", "tomato", "potato", "stove", "laptop", "phone")
FEW_IN_WARD = ("trolley", "basket", "soda", "thermometer", "desk", "bed", "computer", "supply_door", "cabinet")

SENSIBLE = [
    parse(text.replace("*", name))
    for text, names in (
        (
            "[Grab] <*>",
            "cup tray milk lunch_box crate eraser stapler knife spoon sponge bottle phone board frame potato pan",
        ),
        ("[Put] <it> <*>", "table counter side tray plate stove board bed chair"),
        ("[PutIn] <it> <*>", "fridge crate lunch_box pan oven cupboard"),
        ("[PutOnFloor] <it> <*>", "table board bedroom_door kitchen"),
        ("[Open] <*>", "fridge lunch_box crate oven cupboard laptop bedroom_door"),
        ("[Close] <*>", "fridge lunch_box crate oven laptop bedroom_door"),
        ("[FallToFloor] <*> <table>", "phone glass plate cup"),
        ("[Attach] <board> <peg> (*) <frame> <hole>", "0 1"),
        ("[Detach] <board> <frame>", "-"),
        ("[Raise] <frame>", "-"),
        ("[OpenDoor] <*>", "bedroom_door passage"),
        ("[CloseDoor] <*>", "bedroom_door"),
        ("[TurnOn] <*>", "stove oven"),
        ("[TurnOff] <*>", "stove oven"),
        ("[Cook] <potato>", "-"),
        ("[Cut] <*> <it>", "tomato potato"),
        ("[Pour] <*> <it>", "pot glass cup"),
        ("[Stir] <pot> <it>", "-"),
        ("[Wipe] <it> <*>", "table plate"),
        ("[*] <it>", "Flip Drop AnswerPhone"),
        ("[UseComputer] <laptop>", "-"),
        ("[Sit] <*>", "chair bed"),
        ("[Walk] <*>", "bedroom kitchen board milk bedroom_door"),
        ("[*]", "TurnAround Forward"),
    )
    for name in names.split()
]
SENSIBLE_IN_WARD = [
    parse(text.replace("*", name))
    for text, names in (
        ("[Push] <trolley> <*>", "desk bed computer supply_door ward cabinet soda"),
        ("[Pull] <trolley> <*>", "doctor_desk corridor"),
        ("[Grab] <*>", "basket soda thermometer pills"),
        ("[Put] <it> <*>", "trolley desk doctor_desk cabinet"),
        ("[PutIn] <it> <*>", "cabinet basket"),
        ("[Open] <cabinet>", "-"),
        ("[UseComputer] <computer>", "-"),
        ("[Walk] <*>", "trolley soda"),
    )
    for name in names.split()
]
"""Commands that often make sense; `it` is what the wearer holds, whatever that is."""
TAKEN = {"place": "tray", "cut": "knife", "stir": "spoon", "pour": "bottle", "wipe": "sponge", "answer_phone": "phone"}
"""What the wearer takes first where a command needs something in the hand."""


def likely(rng: random.Random, world: World, sensible: list[Command]) -> Command:
    """A command that often makes sense as the world is now."""
    held = world.held()
    if any(relation[0] == "sitting" for relation in world.relations()) and rng.random() < 0.5:
        return parse("[StandUp]")
    uses = [primitive for primitive, tool in TAKEN.items() if tool == held and rng.random() < 0.3]
    primitive = rng.choice(uses or sorted({c.primitive for c in sensible}))
    command = rng.choice([c for c in sensible if c.primitive == primitive])
    if Ref("it") not in command.args:
        return command
    if held is None:
        grabs = [c for c in sensible if c.primitive == "pick"]
        return rng.choice([c for c in grabs if c.args[0].name == TAKEN.get(command.primitive)] or grabs)
    args = tuple(Ref(held) if ref.name == "it" else ref for ref in command.args)
    return Command(command.primitive, command.verb, args, command.scalar, command.spot)


def programme(rng: random.Random, world: World, task: CompiledTask) -> Iterator[Command]:
    """Commands without end, each chosen when it is asked for."""
    in_ward = task.scene.id == "infirmary"
    sensible, names = (SENSIBLE_IN_WARD, FEW_IN_WARD) if in_ward else (SENSIBLE, FEW)
    while True:
        yield wild(rng, names) if rng.random() < 0.2 else likely(rng, world, sensible)


def run_program(
    world: World, task: CompiledTask, seed: int, length: int, note: Callable[[str], None] | None = None
) -> list[tuple[str, Receipt]]:
    """Play a random program and check the world after each step; the commands and their receipts."""
    world.reset(task)
    everything = {n for n, t in task.things.items() if t.kind == "object"}
    played = []
    for n, command in enumerate(islice(programme(random.Random(seed), world, task), length)):
        before = world.snapshot()
        receipt = world.execute(command)
        if note:
            note(f"{render(command)}: {receipt.code}")
        check_receipt(receipt, before, world, task, command)
        if n == length // 2:
            world.mark_baseline()
        if receipt.ok:
            check_relations(world, task)
        assert {r[1] for r in world.relations() if r[0] in PLACES} == everything
        played.append((render(command), receipt))
    return played


class Setting:
    """What a property test needs; a class of its own so that a failure prints the seed and not whole tasks."""

    def __init__(self, factory: Callable[[], World], kitchen: CompiledTask, ward: CompiledTask) -> None:
        self.factory, self.kitchen, self.ward = factory, kitchen, ward
        self.programs, self.in_flat, self.in_infirmary = VOLUMES[factory().name]

    def for_seeds(self, check_one: Callable[[int], object]) -> None:
        """Play as many programs as the world has time for."""

        @settings(max_examples=self.programs, deadline=None)
        @given(seed=st.integers(0, 2**32 - 1))
        def one(seed: int) -> None:
            check_one(seed)

        one()


@pytest.fixture(scope="session")
def setting(factory: Callable[[], World], kitchen: CompiledTask, ward: CompiledTask) -> Setting:
    return Setting(factory, kitchen, ward)


def test_random_programs_in_the_flat(setting: Setting) -> None:
    first, second = setting.factory(), setting.factory()

    def both(seed: int) -> None:
        played = run_program(first, setting.kitchen, seed, setting.in_flat, note)
        assert run_program(second, setting.kitchen, seed, setting.in_flat) == played
        assert json.dumps(first.snapshot()) == json.dumps(second.snapshot())
        assert first.relations() == second.relations()

    setting.for_seeds(both)


def test_random_programs_in_the_infirmary(setting: Setting) -> None:
    world = setting.factory()
    setting.for_seeds(lambda seed: run_program(world, setting.ward, seed, setting.in_infirmary, note))


def test_restore_anywhere(setting: Setting) -> None:
    task, most = setting.kitchen, setting.in_flat * 2 // 3
    world, other = setting.factory(), setting.factory()

    def anywhere(seed: int) -> None:
        rng = random.Random(seed)
        for new in (world, other):
            new.reset(task)
        for command in islice(programme(rng, world, task), rng.randint(0, most)):
            world.execute(command)
        other.restore(json.loads(json.dumps(world.snapshot())))
        assert observe(other, task) == observe(world, task)
        for command in islice(programme(rng, world, task), most * 3 // 8):
            assert other.execute(command) == world.execute(command)
        assert observe(other, task) == observe(world, task)

    setting.for_seeds(anywhere)


def test_random_programs_reach_every_primitive(kitchen: CompiledTask, ward: CompiledTask) -> None:
    """The programs are worth something: in a few of them every primitive succeeds, where a step takes no time."""
    played = [run for seed in range(12) for run in run_program(SymbolicWorld(), kitchen, seed, 60)]
    played += [run for seed in range(3) for run in run_program(SymbolicWorld(), ward, seed, 40)]
    succeeded = {parse(text).primitive for text, receipt in played if receipt.ok}
    assert succeeded == set(BY_NAME)
    assert sum(receipt.ok for _, receipt in played) > len(played) / 3


REPLAY = """
import importlib.util, json, random, sys, tempfile
from pathlib import Path
spec = importlib.util.spec_from_file_location("suite", sys.argv[1])
suite = importlib.util.module_from_spec(spec)
sys.modules["suite"] = suite
spec.loader.exec_module(suite)
with tempfile.TemporaryDirectory() as folder:
    task = suite.build(suite.KITCHEN, Path(folder))
world = suite.FACTORIES[sys.argv[2]]()
world.reset(task)
programme = suite.programme(random.Random(7), world, task)
for text in (*suite.TRIP, *suite.LATER, *[None] * int(sys.argv[3])):
    receipt = world.execute(suite.parse(text) if text else next(programme))
    print(receipt.code, receipt.frames, [(h.kind, list(h.roles.items())) for h in receipt.happenings])
    print(json.dumps(world.snapshot()), sorted(world.relations()))
"""


@pytest.mark.parametrize("name", WORLDS)
def test_the_same_in_every_process(name: str) -> None:
    steps = {"symbolic": 60, "physical": 0}[name]

    def run(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        call = [sys.executable, "-c", REPLAY, __file__, name, str(steps)]
        return subprocess.run(call, env=environment, capture_output=True, text=True, check=True).stdout

    first = run("1")
    assert first.count("\n") == 2 * len((*TRIP, *LATER, *[None] * steps))
    assert run("2") == first
