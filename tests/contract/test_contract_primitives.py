"""What every world promises of each primitive: a legal case, and a case of every refusal."""

from __future__ import annotations

from typing import Any

import pytest
from promises import check_receipt, check_relations, check_route, did, play

from iwkit.compile import CompiledTask
from iwkit.grammar import parse
from iwkit.trace import Relation
from iwkit.verbs import BY_NAME
from iwkit.world.base import World
from iwkit.world.refusals import REFUSALS

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


BEGUN: dict[tuple[World, tuple[str, ...]], dict[str, Any]] = {}
"""What a world was like after the commands that come before a case."""


def begin(world: World, commands: tuple[str, ...]) -> None:
    """Play what comes before a case, or bring it back if another case has begun like that: `restore` is exact."""
    if not commands:
        return
    if (world, commands) in BEGUN:
        world.restore(BEGUN[world, commands])
        return
    play(world, *commands)
    BEGUN[world, commands] = world.snapshot()


def run_legal(world: World, task: CompiledTask, case: tuple[Any, ...]) -> None:
    before, text, happened, holds, fails = case
    begin(world, before)
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
    begin(world, before)
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
