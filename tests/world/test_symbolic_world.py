"""What is particular to the symbolic world: its clock, its walking and doors, its view, its capacity, its page."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from staging import staged

from iwkit.compile import CompiledTask
from iwkit.errors import UsageError
from iwkit.floorplan import stance
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit.verbs import BY_NAME
from iwkit.world.base import Receipt
from iwkit.world.ground import crossing, gap
from iwkit.world.refusals import REFUSALS, sentence
from iwkit.world.rules import RULES
from iwkit.world.symbolic import SymbolicWorld

PAGE = Path(__file__).parents[2] / "docs" / "symbolic-world.md"
LIBRARY = Library()


def task(scene: str, wearer: dict[str, str], **entities: dict[str, Any]) -> CompiledTask:
    return staged({"scene": scene, "wearer": wearer, "entities": entities})


def world_of(scene: str, at: str, **entities: dict[str, Any]) -> SymbolicWorld:
    world = SymbolicWorld()
    world.reset(task(scene, {"at": at}, **entities))
    return world


def play(world: SymbolicWorld, *commands: str) -> Receipt:
    assert commands
    for text in commands:
        receipt = world.execute(parse(text))
        assert receipt.ok, f"{text}: {receipt.text}"
    return receipt


def test_the_side_of_a_door_is_that_of_the_cart_which_is_rolled_there() -> None:
    world = world_of("hotel", "forecourt", mug={"category": "mug", "on": "sofa_1"})
    before = world.snapshot()
    receipt = world.execute(parse("[Push] <cart_1> <lobby_passage>"))
    assert receipt.code == "NO_FLOOR", "there is floor on the side where the wearer is, none on the cart's"
    assert world.snapshot() == before


def told(receipt: Receipt) -> list[tuple[str, ...]]:
    return [(h.kind, *map(str, h.roles.values())) for h in receipt.happenings]


def near(world: SymbolicWorld, name: str) -> set[str]:
    return {r[2] for r in world.relations() if r[:2] == ("near", name)}


CUP: dict[str, Any] = {"category": "coffee_cup", "on": "breakfast_table_1"}


@pytest.fixture
def flat() -> SymbolicWorld:
    milk = {"category": "milk_carton", "inside": "fridge_1"}
    return world_of("flat", "breakfast_table_1", cup=CUP, milk=milk, fork={"category": "fork", "beside": "sofa_1"})


# --- clock ----------------------------------------------------------------------------------------------------------


def test_walking_takes_the_length_of_the_way(flat: SymbolicWorld) -> None:
    fixtures = LIBRARY.scene("flat").fixtures
    start, end = (stance(fixtures[name])[:2] for name in ("breakfast_table_1", "kitchen_sink_1"))
    assert play(flat, "[Walk] <kitchen_sink_1>").frames == math.ceil(math.dist(start, end) / 1.1 * 12)
    assert play(flat, "[Walk] <kitchen_sink_1>").frames == 1


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        ("[Wait] 10", 120),
        ("[Wait] 0.1", 2),
        ("[Confirm]", 0),
        ("[TurnLeft] 120", 12),
        ("[TurnAround]", 18),
        ("[Grab] <cup>", 18),
        ("[LookAround]", 72),
    ],
)
def test_durations(text: str, frames: int, flat: SymbolicWorld) -> None:
    assert play(flat, text).frames == frames


def test_opening_a_door_on_the_way_takes_two_seconds(flat: SymbolicWorld) -> None:
    start = flat.snapshot()
    closed = play(flat, "[Walk] <bed_1>").frames
    flat.restore(start)
    play(flat, "[OpenDoor] <bedroom_door>", "[Walk] <breakfast_table_1>")
    assert closed - play(flat, "[Walk] <bed_1>").frames == 24


# --- walking --------------------------------------------------------------------------------------------------------


def test_doors_are_opened_and_rooms_entered_in_turn(flat: SymbolicWorld) -> None:
    events = told(play(flat, "[Walk] <toilet_1>"))
    walk = [e for e in events if e[0] in ("opened", "entered")]
    assert walk == [("entered", "hall"), ("opened", "bathroom_door"), ("entered", "bathroom")]
    assert events[0] == ("became_visible", "breakfast_table_1")
    assert events[-1] == ("became_visible", "toilet_1")
    assert events.index(("left_view", "cup")) < events.index(("entered", "hall"))


def test_what_the_task_calls_things_is_what_happens() -> None:
    world = world_of(
        "flat", "stand", stand={"fixture": "sofa_1"}, lounge={"room": "living_room"}, loo={"room": "bathroom"}
    )
    assert ("in_room", "wearer", "lounge") in world.relations()
    events = told(play(world, "[Walk] <loo>"))
    assert events[-1] == ("entered", "loo")


def test_walking_straight_through_an_open_door() -> None:
    world = world_of("infirmary", "corridor", cup={"category": "mug", "on": "desk_1"})
    play(world, "[Walk] <ward_door>")  # it faces the open door from the corridor
    assert ("in_room", "wearer", "corridor") in world.relations()
    receipt = play(world, "[Forward] 1.2m")
    assert ("entered", "ward") in told(receipt)
    assert ("in_room", "wearer", "ward") in world.relations()
    assert receipt.frames == 14


def test_a_closed_door_is_not_walked_through_blindly() -> None:
    world = world_of("infirmary", "corridor", cup={"category": "mug", "on": "desk_1"})
    play(world, "[Walk] <ward_door>", "[Close] <ward_door>")
    assert world.execute(parse("[Forward] 1.2m")).code == "PATH_BLOCKED"
    play(world, "[Walk] <ward>")
    assert ("open", "ward_door") in world.relations()


def test_steps_add_up(flat: SymbolicWorld) -> None:
    play(flat, "[Walk] <hall>", "[TurnLeft] 30")
    before = flat.snapshot()["state"]["wearer"]
    play(flat, "[TurnAround]", "[Forward] 0.3m", "[TurnAround]", "[Forward] 0.3m")
    after = flat.snapshot()["state"]["wearer"]
    assert (after["x"], after["y"], after["heading"]) == pytest.approx(
        (before["x"], before["y"], before["heading"]), abs=1e-3
    )


def test_standing_at_the_counter_is_standing_at_the_microwave(flat: SymbolicWorld) -> None:
    play(flat, "[Walk] <counter_1>")
    assert "microwave_1" in flat.visible()
    assert play(flat, "[Open] <microwave_1>").frames == 24
    assert not any(r[0] == "on" and r[1] == "microwave_1" for r in flat.relations())


def test_a_computer_is_used_sitting_on_its_chair() -> None:
    world = world_of("infirmary", "desk_2", chair={"fixture": "office_chair_2"}, computer={"fixture": "computer_1"})
    events = told(play(world, "[UseComputer] <computer>"))[-4:]
    assert events == [("sat", "chair"), ("started", "computer"), ("used", "computer"), ("stood", "chair")]
    play(world, "[Sit] <chair>")
    assert told(play(world, "[Type] <computer>"))[-1:] == [("used", "computer")]
    assert ("sitting", "chair") in world.relations()


# --- the view -------------------------------------------------------------------------------------------------------


def test_a_look_around_lasts_until_something_is_done(flat: SymbolicWorld) -> None:
    play(flat, "[Walk] <fridge_1>", "[LookAround]")
    wide = set(flat.visible())
    assert {"cup", "stove_1", "breakfast_table_1"} <= wide
    assert "milk" not in wide
    play(flat, "[Wait]", "[Confirm]", "[LookScan]")
    assert set(flat.visible()) == wide
    receipt = play(flat, "[Open] <fridge_1>")
    assert flat.visible() == ("fridge_1", "milk")
    assert told(receipt)[-2:] == [("opened", "fridge_1"), ("became_visible", "milk")]


def test_looking_at_a_thing_goes_there_within_the_room(flat: SymbolicWorld) -> None:
    play(flat, "[Walk] <fridge_1>")
    events = told(play(flat, "[LookAt] <cup>"))
    assert events == [
        ("left_view", "fridge_1"),
        ("became_visible", "breakfast_table_1"),
        ("became_visible", "cup"),
        ("looked_at", "cup"),
    ]
    assert flat.bearing("cup") == pytest.approx(0)


def test_who_sits_looks_from_the_seat(flat: SymbolicWorld) -> None:
    play(flat, "[Sit] <chair_1>", "[LookAt] <fridge_1>")
    assert "fridge_1" in flat.visible()
    assert "chair_1" not in flat.visible()
    assert ("sitting", "chair_1") in flat.relations()


def test_the_floor_is_seen_in_a_scan_and_by_who_handles_what_lies_there(flat: SymbolicWorld) -> None:
    play(flat, "[Walk] <sofa_1>")
    assert "fork" not in flat.visible()
    play(flat, "[Walk] <fork>")  # it is within reach
    assert flat.visible() == ("fork", "sofa_1")
    play(flat, "[TurnRight] 100")
    assert flat.visible() == ()
    shown = []
    for _ in range(2):
        play(flat, "[TurnAround]", "[LookScan]")
        shown.append(flat.visible())
    assert sorted(shown) == [(), ("fork",)]  # what is behind is not scanned
    play(flat, "[Walk] <bookshelf_1>")
    assert "fork" not in flat.visible()


@pytest.mark.parametrize(
    ("turn", "seen"), [("[TurnLeft] 25", True), ("[TurnRight] 40", False), ("[TurnAround]", False)]
)
def test_who_turns_away_no_longer_sees_what_is_at_hand(turn: str, seen: bool, flat: SymbolicWorld) -> None:
    play(flat, "[Walk] <counter_1>")
    before = flat.visible()
    assert "microwave_1" in before
    play(flat, turn)
    assert flat.visible() == (before if seen else ())
    receipt = play(flat, "[Walk] <counter_1>")  # it stands there already: it turns back
    assert flat.visible() == before
    assert ("became_visible", "microwave_1") in told(receipt) or seen


def test_the_first_view_is_of_what_the_pack_lets_the_wearer_face() -> None:
    looking = {"at": "breakfast_table_1", "facing": "fridge_1"}
    world = SymbolicWorld()
    world.reset(task("flat", looking, cup=CUP, milk={"category": "milk_carton", "inside": "fridge_1"}))
    assert world.visible() == ("fridge_1",)
    assert told(play(world, "[Grab] <cup>"))[:4] == [
        ("became_visible", "fridge_1"),
        ("left_view", "fridge_1"),
        ("became_visible", "breakfast_table_1"),
        ("became_visible", "cup"),
    ]


def test_rooms_and_doors_are_not_seen(flat: SymbolicWorld) -> None:
    play(flat, "[LookAround]", "[LookAt] <kitchen>", "[LookAt] <dining_passage>")
    assert not {"kitchen", "dining_passage"} & set(flat.visible())


# --- near, capacity, floor ------------------------------------------------------------------------------------------


def test_near_goes_by_what_carries_a_thing(flat: SymbolicWorld) -> None:
    assert {"breakfast_table_1", "wearer", "chair_1", "chair_2"} <= near(flat, "cup")
    assert "fridge_1" not in near(flat, "cup")
    assert near(flat, "milk") >= {"fridge_1", "counter_1"}  # closed or not, and 0.05 m apart
    play(flat, "[Grab] <cup>", "[Walk] <fridge_1>")
    assert {"fridge_1", "milk", "wearer"} <= near(flat, "cup")
    assert "breakfast_table_1" not in near(flat, "cup")
    assert not any(a == "near" and {b, c} <= {"fridge_1", "counter_1"} for a, b, c in triples(flat))


def triples(world: SymbolicWorld) -> list[tuple[str, str, str]]:
    return [(r[0], r[1], r[2]) for r in world.relations() if len(r) == 3]


def test_a_shelf_fills_up() -> None:
    boxes = {f"box_{n}": {"category": "packing_box", "on": "bed_1"} for n in range(8)}
    world = world_of("flat", "bed_1", **boxes)
    codes = []
    for name in boxes:
        play(world, f"[Grab] <{name}>")
        receipt = world.execute(parse(f"[Put] <{name}> <desk_1>"))
        codes.append(receipt.code)
        if not receipt.ok:
            play(world, "[Drop]")
    # 0.8 of 1.2 m x 0.6 m takes four of 0.4 m x 0.3 m
    assert codes == ["OK"] * 4 + ["NO_ROOM"] * 4


def test_what_stands_in_the_scene_takes_up_room() -> None:
    # a microwave of 0.48 m x 0.36 m stands on the counter of 1.6 m x 0.62 m: four boxes fit, not six
    boxes = {f"box_{n}": {"category": "packing_box", "on": "bed_1"} for n in range(6)}
    world = world_of("flat", "bed_1", **boxes)
    fitted = 0
    for name in boxes:
        play(world, f"[Grab] <{name}>")
        fitted += world.execute(parse(f"[Put] <{name}> <counter_1>")).ok
        if world.held():
            play(world, "[Drop]")
    assert fitted == 5


def test_regions_are_remembered_and_all_are_inside(flat: SymbolicWorld) -> None:
    play(flat, "[Open] <fridge_1>")
    flat.mark_baseline()
    play(flat, "[Grab] <milk>", "[PutIn] <milk> <fridge_1> <door_shelf>")
    assert ("inside", "milk", "fridge_1") in flat.relations()
    assert ("at_baseline", "milk") not in flat.relations()
    flat.mark_baseline()
    play(flat, "[Grab] <milk>", "[PutIn] <milk> <fridge_1> <door_shelf> (1)")
    assert ("at_baseline", "milk") not in flat.relations()


def test_beside_things_that_lie_beside_things() -> None:
    world = world_of(
        "flat",
        "living_room",
        last={"category": "book", "beside": "middle"},
        middle={"category": "book", "beside": "first"},
        first={"category": "book", "beside": "sofa"},
        sofa={"fixture": "sofa_1"},
    )
    assert {"middle", "sofa"} <= near(world, "first")
    assert "last" in near(world, "middle")
    assert {("on_floor", "last"), ("in_room", "last", "living_room")} <= world.relations()


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [{}, [], None, {"world": "symbolic/1"}, {"world": "physical/1", "task": "x"}])
def test_what_is_no_snapshot_is_refused(state: Any, flat: SymbolicWorld) -> None:
    before = flat.snapshot()
    with pytest.raises(UsageError, match="snapshot"):
        flat.restore(state)
    assert flat.snapshot() == before


@pytest.mark.parametrize("missing", ["wearer", "places", "look", "baseline"])
def test_a_torn_snapshot_is_refused(missing: str, flat: SymbolicWorld) -> None:
    torn = flat.snapshot()
    del torn["state"][missing]
    with pytest.raises(UsageError, match=missing):
        flat.restore(torn)


def test_a_snapshot_that_lost_a_thing_is_refused(flat: SymbolicWorld) -> None:
    torn = flat.snapshot()
    del torn["state"]["places"]["cup"]
    with pytest.raises(UsageError, match="objects"):
        flat.restore(torn)


# --- geometry -------------------------------------------------------------------------------------------------------

COORDINATE = st.integers(-40, 40).map(lambda n: n / 8)
BOX = st.tuples(COORDINATE, COORDINATE, st.integers(1, 16), st.integers(1, 16)).map(
    lambda b: (b[0], b[1], b[0] + b[2] / 8, b[1] + b[3] / 8)
)


@settings(max_examples=100)
@given(a=BOX, b=BOX)
def test_gap_is_the_least_distance_of_points(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    def ticks(box: tuple[float, ...], axis: int) -> list[float]:
        steps = round((box[axis + 2] - box[axis]) * 8)
        return [box[axis] + n / 8 for n in range(steps + 1)]

    # corners lie on the raster of 1/8 m, so that the nearest points of two boxes do too
    least = [min(abs(p - q) for p in ticks(a, axis) for q in ticks(b, axis)) for axis in (0, 1)]
    assert gap(a, b) == pytest.approx((least[0] ** 2 + least[1] ** 2) ** 0.5)  # type: ignore[arg-type]


@settings(max_examples=100)
@given(box=BOX, start=st.tuples(COORDINATE, COORDINATE), goal=st.tuples(COORDINATE, COORDINATE))
def test_crossing_is_the_part_inside(
    box: tuple[float, ...], start: tuple[float, float], goal: tuple[float, float]
) -> None:
    part = crossing(start, goal, box)  # type: ignore[arg-type]
    for n in range(1, 64):
        t = n / 64
        x, y = start[0] + t * (goal[0] - start[0]), start[1] + t * (goal[1] - start[1])
        inside = box[0] < x < box[2] and box[1] < y < box[3]
        within = part is not None and part[0] < t < part[1]
        edge = part is not None and min(abs(t - part[0]), abs(t - part[1])) < 1e-9
        assert edge or inside == within


# --- tables and their page ------------------------------------------------------------------------------------------


def test_every_primitive_has_a_rule() -> None:
    assert set(RULES) == set(BY_NAME)
    for name, rule in RULES.items():
        assert all(n < len(BY_NAME[name].args) for n in rule.reach)


def test_every_template_is_a_sentence() -> None:
    for code in REFUSALS:
        text = sentence(code, ("the cup", "the fridge"))
        assert text[0].isupper()
        assert text.endswith(".")
        assert "{" not in text


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading of the page."""
    part = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_lists_every_refusal() -> None:
    assert [(row[0], row[1], row[2]) for row in rows("Refusals")] == [
        (c, r.fault, r.template) for c, r in REFUSALS.items()
    ]
    assert all(row[3].endswith(".") for row in rows("Refusals"))


def test_the_page_gives_every_duration() -> None:
    assert [(row[0], float(row[1])) for row in rows("Clock")] == [(n, RULES[n].seconds) for n in BY_NAME]


def test_codes_are_in_one_order() -> None:
    """Requests first, then what the world refuses."""
    faults = [reason.fault for reason in REFUSALS.values()]
    assert [pair for pair in pairwise(faults) if pair[0] != pair[1]] == [("request", "world")]
