"""What goes on by itself: cycles, taps, dirt and water, mould, and the events of a pack; in the symbolic world."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from staging import staged

from iwkit.compile import CompiledTask
from iwkit.errors import Problems
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit.source.check import check
from iwkit.source.reader import read_text
from iwkit.spec.catalogue import Category
from iwkit.spec.pack import PackEvent
from iwkit.world.base import Receipt
from iwkit.world.symbolic import SymbolicWorld

LIBRARY = Library()
CYCLE = ("cycle_started", "cycle_ended")
SCENE: dict[str, dict[str, Any]] = {
    "washer": {"fixture": "clothes_washer_1"},
    "dryer": {"fixture": "clothes_dryer_1"},
    "oven": {"fixture": "oven_1"},
    "sink": {"fixture": "kitchen_sink_1"},
    "table": {"fixture": "breakfast_table_1"},
    "towel": {"category": "towel", "inside": "washer", "is": ["dirty"]},
    "sock": {"category": "sock", "on": "table"},
}
WATER = {
    "table": {"fixture": "breakfast_table_1", "is": ["dirty", "wet"]},
    "sink": {"fixture": "kitchen_sink_1"},
    "counter": {"fixture": "counter_1"},
    "apple": {"category": "apple", "inside": "sink"},
    "tin": {"category": "lunch_box", "inside": "sink"},
    "pen": {"category": "pen", "inside": "tin"},
    "sponge": {"category": "sponge", "on": "table"},
    "cloth": {"category": "cloth", "on": "table"},
    "bread": {"category": "bread_loaf", "on": "counter", "is": ["mouldy_inside"]},
    "knife": {"category": "knife", "on": "counter"},
}
CALL = {
    "table": {"fixture": "breakfast_table_1"},
    "fridge": {"fixture": "fridge_1"},
    "oven": {"fixture": "oven_1"},
    "phone": {"category": "cell_phone", "on": "table"},
    "cup": {"category": "coffee_cup", "on": "table"},
    "parcel": {"category": "parcel", "on": "table"},
    "tray": {"category": "tray", "on": "counter_1"},
    "mug": {"category": "mug", "on": "tray"},
}


def task(entities: dict[str, Any], events: Sequence[dict[str, Any]] = (), plan: Sequence[str] = ()) -> CompiledTask:
    physical: dict[str, Any] = {
        "scene": "flat",
        "wearer": {"at": "table" if "table" in entities else "kitchen"},
        "entities": entities,
        "opening": [{"id": "o1", "do": "[Wait] 1"}, {"id": "o2", "do": "[Wait] 2"}],
        "events": list(events),
    }
    if not plan:
        return staged(physical)
    physical["plan"] = [{"id": f"p{n}", "do": text} for n, text in enumerate(plan, 1)]
    return staged(physical, family="prevention", source_family="WATCH")


def begun(entities: dict[str, Any], *args: Any) -> SymbolicWorld:
    world = SymbolicWorld()
    world.reset(task(entities, *args))
    return world


def handed_off(entities: dict[str, Any], *args: Any) -> SymbolicWorld:
    world = begun(entities, *args)
    play(world, "[Wait] 1", "[Wait] 2")
    world.mark_baseline()
    return world


def play(world: SymbolicWorld, *commands: str) -> Receipt:
    assert commands
    for text in commands:
        receipt = world.execute(parse(text))
        assert receipt.ok, f"{text}: {receipt.text}"
    return receipt


def told(receipt: Receipt, *kinds: str) -> list[tuple[Any, ...]]:
    return [(h.kind, *h.roles.values()) for h in receipt.happenings if not kinds or h.kind in kinds]


def states(world: SymbolicWorld, name: str) -> set[str]:
    return {r[0] for r in world.relations() if r[1:] == (name,)}


# --- cycles ---------------------------------------------------------------------------------------------------------


def test_a_cycle_freezes_what_is_in_the_machine_when_it_starts() -> None:
    world = begun(SCENE)
    started = play(world, "[TurnOn] <washer>")
    assert told(started, *CYCLE) == [("cycle_started", "washer", ("towel",), "true")]
    play(world, "[Grab] <sock>", "[Open] <washer>", "[PutIn] <sock> <washer>")
    relations = world.relations()
    assert ("in_cycle", "towel", "washer") in relations and ("in_cycle", "sock", "washer") not in relations
    play(world, "[Grab] <towel>")
    assert ("in_cycle", "towel", "washer") in world.relations()


def test_a_cycle_ends_when_the_machine_is_switched_off_and_another_one_may_begin() -> None:
    world = begun(SCENE)
    play(world, "[TurnOn] <washer>")
    assert told(play(world, "[TurnOff] <washer>"), *CYCLE) == [("cycle_ended", "washer", ("towel",), "true")]
    assert {("in_cycle", "towel", "washer"), ("cycle_valid", "washer")} <= world.relations()
    play(world, "[Open] <washer>", "[Grab] <towel>")
    assert told(play(world, "[TurnOn] <washer>"), *CYCLE) == [("cycle_started", "washer", (), "false")]
    assert not {r for r in world.relations() if r[0] in ("in_cycle", "cycle_valid")}


@pytest.mark.parametrize("do", [["[Open] <washer>"], ["[Open] <washer>", "[Grab] <towel>", "[Close] <washer>"]])
def test_a_start_with_an_open_door_or_with_nothing_in_is_not_valid(do: list[str]) -> None:
    world = begun(SCENE)
    assert told(play(world, *do, "[TurnOn] <washer>"), "cycle_started")[0][-1] == "false"
    assert ("cycle_valid", "washer") not in world.relations()


def test_at_the_end_of_its_time_a_machine_stops_and_has_done_its_work() -> None:
    world = begun(SCENE)
    play(world, "[TurnOn] <washer>", *["[Wait] 600"] * 5)
    assert "running" in states(world, "washer") and "clean" not in states(world, "towel")
    last = play(world, "[Wait] 600")
    assert told(last) == [("stopped", "washer"), ("cycle_ended", "washer", ("towel",), "true")]
    assert "clean" in states(world, "towel") and "dry" not in states(world, "towel")
    assert "off" in states(world, "washer")
    play(world, "[Open] <washer>", "[Grab] <towel>", "[Open] <dryer>", "[PutIn] <towel> <dryer>", "[Close] <dryer>")
    play(world, "[TurnOn] <dryer>", *["[Wait] 600"] * 6)
    assert {"clean", "dry"} <= states(world, "towel")


def test_a_cycle_does_nothing_to_what_was_taken_out_or_after_an_invalid_start() -> None:
    world = begun(SCENE)
    play(world, "[TurnOn] <washer>", "[Open] <washer>", "[Grab] <towel>", *["[Wait] 600"] * 6)
    assert "clean" not in states(world, "towel")
    world = begun(SCENE)
    play(world, "[Open] <washer>", "[TurnOn] <washer>", *["[Wait] 600"] * 6)
    assert "clean" not in states(world, "towel") and "off" in states(world, "washer")


def test_an_oven_bakes_what_can_be_cooked() -> None:
    food = {"dough": {"category": "dough", "on": "sheet"}, "sheet": {"category": "baking_tray", "inside": "oven"}}
    world = begun({**SCENE, **food})
    assert told(play(world, "[TurnOn] <oven>"), "cycle_started")[0][2] == ("dough", "sheet")
    last = play(world, *["[Wait] 600"] * 4)
    assert told(last, "cooked") == [("cooked", "dough", "oven")] and "cooked" not in states(world, "sheet")


def test_a_machine_that_runs_at_the_start_is_in_a_cycle() -> None:
    world = begun({**SCENE, "washer": {"fixture": "clothes_washer_1", "running": True}})
    assert {("in_cycle", "towel", "washer"), ("cycle_valid", "washer")} <= world.relations()
    assert told(play(world, "[TurnOff] <washer>"), *CYCLE) == [("cycle_ended", "washer", ("towel",), "true")]


def test_a_running_cycle_is_part_of_a_snapshot() -> None:
    world = begun(SCENE)
    play(world, "[TurnOn] <washer>", "[Wait] 600")
    kept = json.loads(json.dumps(world.snapshot()))
    rest = [told(play(world, "[Wait] 600")) for _ in range(5)]
    world.restore(kept)
    assert [told(play(world, "[Wait] 600")) for _ in range(5)] == rest
    assert rest[-1]


@pytest.mark.parametrize(
    ("affords", "process"),
    [
        (["container", "device"], {"makes": ["clean"], "seconds": 60}),
        (["container", "device", "machine"], {"makes": ["clean"]}),
        (["device"], {"makes": ["wet"]}),
        (["container", "device"], {"makes": []}),
        (["container", "device"], {"makes": ["tidy"]}),
    ],
)
def test_a_process_that_makes_no_sense_is_refused(affords: list[str], process: dict[str, Any]) -> None:
    row = {"kind": "fixture", "public": ["mangle"], "size": [1, 1, 1], "affords": affords}
    assert Category.model_validate(row)
    with pytest.raises(ValueError, match="process"):
        Category.model_validate({**row, "process": process})


# --- water, dirt, mould ---------------------------------------------------------------------------------------------


def test_water_wets_what_is_in_the_sink_but_not_what_is_shut_in() -> None:
    world = begun(WATER)
    assert "dry" in states(world, "apple")
    play(world, "[TurnOn] <sink>")
    assert "dry" not in states(world, "apple") and "dry" not in states(world, "tin")
    assert "dry" in states(world, "pen")
    play(world, "[TurnOff] <sink>")
    assert "dry" not in states(world, "apple")


def test_wiping_takes_dirt_and_water_into_the_tool_until_that_is_wet() -> None:
    world = begun(WATER)
    assert not {"clean", "dry"} & states(world, "table")
    receipt = play(world, "[Wipe] <sponge> <table>")
    assert told(receipt, "wiped") == [("wiped", "table", "sponge")]
    assert {"clean", "dry"} <= states(world, "table")
    assert {"used"} == states(world, "sponge") & {"used", "clean", "dry"}
    assert {"clean", "dry"} <= states(world, "cloth") and "used" not in states(world, "cloth")


def test_what_is_wet_dries_nothing() -> None:
    world = begun({**WATER, "sponge": {"category": "sponge", "on": "table", "is": ["wet"]}})
    play(world, "[Wipe] <sponge> <table>")
    assert "dry" not in states(world, "table") and "clean" in states(world, "table")
    play(world, "[Put] <sponge> <counter>", "[Wipe] <cloth> <table>")
    assert "dry" in states(world, "table") and "dry" not in states(world, "cloth")


def test_mould_is_found_when_the_bread_is_cut() -> None:
    world = begun(WATER)
    assert "mouldy" not in states(world, "bread")
    play(world, "[Grab] <knife>", "[Cut] <bread> <knife>")
    assert {"mouldy", "cut"} <= states(world, "bread")


# --- events of a pack -----------------------------------------------------------------------------------------------


def test_an_event_by_the_clock() -> None:
    world = handed_off(CALL, [{"id": "call", "when": "handoff", "delay": 5, "rings": "phone"}])
    assert told(play(world, "[Wait] 3"), "rang") == []
    receipt = play(world, "[Wait] 2")
    assert told(receipt, "rang") == [("rang", "phone")] and receipt.text == "Done. You hear the phone ring."
    assert "ringing" in states(world, "phone")
    play(world, "[Grab] <phone>", "[AnswerPhone] <phone>")
    assert "ringing" not in states(world, "phone")
    assert told(play(world, "[Wait] 60"), "rang") == []


def test_an_event_by_a_step_of_the_opening_and_of_the_plan() -> None:
    events = [
        {"id": "first", "when": {"after": "o1"}, "rings": "phone"},
        {"id": "second", "when": {"after": "p2"}, "spills": "table"},
    ]
    world = begun(CALL, events, ["[Grab] <cup>", "[Wait] 1", "[Put] <cup> <table>"])
    assert told(play(world, "[Wait] 1"), "rang") == [("rang", "phone")]
    play(world, "[Wait] 2")
    world.mark_baseline()
    assert told(play(world, "[Wait] 1"), "spilled") == []  # like the second step, but not in its turn
    play(world, "[Grab] <cup>")
    assert told(play(world, "[Wait] 1"), "spilled") == [("spilled", "table")]
    assert "dry" not in states(world, "table")


def test_an_event_by_a_state_and_by_what_happens_and_one_after_the_other() -> None:
    events = [
        {"id": "drop", "when": {"becomes": {"open": "fridge"}}, "falls": "cup"},
        {"id": "crash", "when": {"fell": "cup"}, "breaks": "cup"},
    ]
    receipt = play(handed_off(CALL, events), "[Open] <fridge>")
    assert told(receipt, "opened", "fell", "moved", "broke") == [
        ("opened", "fridge"),
        ("fell", "cup", "table"),
        ("moved", "cup"),
        ("broke", "cup"),
    ]
    assert receipt.text == "Done. You hear the coffee cup fall. You hear the coffee cup break."


def test_an_event_waits_until_it_can_happen() -> None:
    world = handed_off(CALL, [{"id": "drop", "when": {"opened": "fridge"}, "falls": "cup"}])
    play(world, "[Grab] <cup>")
    assert told(play(world, "[Open] <fridge>"), "fell") == []
    assert told(play(world, "[Put] <cup> <table>"), "fell") == [("fell", "cup", "table")]


def test_nothing_happens_by_itself_with_a_refused_command() -> None:
    world = handed_off(CALL, [{"id": "call", "when": "handoff", "rings": "phone"}])
    before = world.snapshot()
    assert not world.execute(parse("[Open] <table>")).ok
    assert world.snapshot() == before
    assert told(play(world, "[Wait] 1"), "rang") == [("rang", "phone")]


def test_what_has_not_arrived_is_nowhere() -> None:
    events = [
        {"id": "post", "when": {"grabbed": "phone"}, "arrives": "parcel"},
        {"id": "tea", "when": {"arrived": "parcel"}, "delay": 1, "arrives": "tray"},
    ]
    world = handed_off(CALL, events)
    for name in ("parcel", "tray", "mug"):
        refused = world.execute(parse(f"[Grab] <{name}>"))
        assert (refused.code, refused.fault) == ("UNKNOWN_THING", "request")
        assert states(world, name) == {"clean", "dry"}
        assert {r[0] for r in world.relations() if name in r} == {"clean", "dry"}
        assert world.bearing(name) is None
    play(world, "[LookAround]")
    assert not {"parcel", "tray", "mug"} & set(world.visible())
    receipt = play(world, "[Grab] <phone>")
    assert told(receipt, "arrived") == [("arrived", "parcel")]
    assert told(receipt, "became_visible")[-1] == ("became_visible", "parcel")
    assert ("on", "parcel", "table") in world.relations()
    play(world, "[Put] <phone> <table>", "[Grab] <mug>", "[Put] <mug> <table>", "[Grab] <parcel>")
    assert ("at_baseline", "parcel") not in world.relations()


def test_an_event_happens_once_and_a_snapshot_knows_how_far_it_is() -> None:
    events = [{"id": "call", "when": {"opened": "fridge"}, "delay": 4, "rings": "phone"}]
    world = handed_off(CALL, events)
    play(world, "[Open] <fridge>", "[Wait] 2")
    kept = json.loads(json.dumps(world.snapshot()))
    assert told(play(world, "[Wait] 2"), "rang")
    world.restore(kept)
    assert told(play(world, "[Wait] 2"), "rang")
    assert not told(play(world, "[Close] <fridge>"), "rang") and not told(play(world, "[Open] <fridge>"), "rang")
    assert not told(play(world, "[Wait] 60"), "rang")


def test_without_events_and_cycles_the_way_to_a_state_leaves_no_trace_in_it() -> None:
    world = handed_off(CALL)
    play(world, "[Open] <fridge>", "[Close] <fridge>")
    before = world.snapshot()
    play(world, "[Open] <fridge>", "[Wait] 5", "[Close] <fridge>")
    assert world.snapshot() == before


def test_each_event_is_one_thing() -> None:
    for wrong in ({}, {"rings": "phone", "breaks": "phone"}):
        document = read_text(json.dumps({"id": "call", "when": "handoff", **wrong}), "TEST.yaml")

        with pytest.raises(Problems, match="exactly one of"):
            check(document, PackEvent)
