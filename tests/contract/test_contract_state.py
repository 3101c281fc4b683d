"""What every world promises of snapshots, of the baseline, of what is seen, and of the order of events."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from promises import LATER, TRIP, check_relations, did, kinds, observe, play

from iwkit.compile import CompiledTask
from iwkit.digest import digest
from iwkit.errors import UsageError
from iwkit.grammar import parse
from iwkit.world.base import Receipt, World
from iwkit.world.symbolic import SymbolicWorld


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
