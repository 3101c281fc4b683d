"""Sitting, squatting, switches, keyboards, phones and carts in the physical world, beside the symbolic one."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from staging import staged

from iwkit.compile import CompiledTask
from iwkit.grammar import parse
from iwkit.world.base import Receipt
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.body.legs import leg_of, neutral
from iwkit_runtime.body.model import joint
from iwkit_runtime.body.seated import Seated, lowering, sitting
from iwkit_runtime.nav.clearance import Clearance
from iwkit_runtime.nav.grid import Obstacle, build_grid
from iwkit_runtime.nav.rolling import Disc, Pair, Pose, Rolling
from iwkit_runtime.physical.wearer import default_body
from iwkit_runtime.physical.world import PhysicalWorld

SIGHT = ("became_visible", "left_view")
FLAT: dict[str, Any] = {
    "scene": "flat",
    "wearer": {"at": "counter", "facing": "stove"},
    "entities": {
        "counter": {"fixture": "counter_1"},
        "stove": {"fixture": "stove_1"},
        "chair": {"fixture": "chair_1"},
        "table": {"fixture": "breakfast_table_1"},
        "desk": {"fixture": "desk_1"},
        "phone": {"category": "cell_phone", "on": "table"},
        "laptop": {"category": "laptop", "on": "desk", "open": True},
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
        "chair": {"fixture": "chair_1"},
        "couch": {"fixture": "examination_couch_1"},
        "thermometer": {"category": "thermometer", "on": "trolley"},
        "basket": {"category": "basket", "on": "trolley"},
    },
}


@pytest.fixture(scope="module")
def flat() -> CompiledTask:
    return staged(FLAT)


@pytest.fixture(scope="module")
def ward() -> CompiledTask:
    return staged(WARD)


@pytest.fixture(scope="module")
def flat_world() -> PhysicalWorld:
    return PhysicalWorld()


@pytest.fixture(scope="module")
def ward_world() -> PhysicalWorld:
    return PhysicalWorld()


def told(receipt: Receipt) -> list[tuple[object, ...]]:
    return [(h.kind, *h.roles.values()) for h in receipt.happenings if h.kind not in SIGHT]


def play(
    world: PhysicalWorld, task: CompiledTask, *commands: str, walk: str | None = None, through: bool = True
) -> list[Receipt]:
    """Do commands in both worlds from the start; they say that the same has happened. `walk` comes before: which rooms
    it leads through may differ. With `through` they lead through the same rooms too."""
    passing = () if through else ("entered",)
    symbolic = SymbolicWorld()
    world.reset(task)
    symbolic.reset(task)
    receipts = []
    if walk is not None:
        assert world.execute(parse(walk)).ok
        assert symbolic.execute(parse(walk)).ok
    for text in commands:
        mine, other = world.execute(parse(text)), symbolic.execute(parse(text))
        here, there = ([event for event in told(receipt) if event[0] not in passing] for receipt in (mine, other))
        assert (mine.code, here) == ("OK", there), f"{text}: {mine.text}"
        check_trajectory(world, mine)
        receipts.append(mine)
    return receipts


def check_trajectory(world: PhysicalWorld, receipt: Receipt) -> None:
    """Steps, turns and hands stay in their limits, and nothing moves by leaps."""
    frames, body = world.trajectory.frames, world.stage.person.body
    assert len(frames) == receipt.frames > 0
    hands = [[joint(body.forward(*f.body), f"{side}_wrist")[:3, 3] for side in ("left", "right")] for f in frames]
    for (before, after), (old, new) in zip(itertools.pairwise(frames), itertools.pairwise(hands), strict=True):
        assert math.dist(before.stand[:2], after.stand[:2]) <= 0.1
        assert abs(math.remainder(after.stand.heading - before.stand.heading, math.tau)) <= math.radians(10)
        assert max(float(np.linalg.norm(a - b)) for a, b in zip(old, new, strict=True)) <= 0.3


def pelvis(world: PhysicalWorld) -> np.ndarray:
    return joint(world.stage.person.body.forward(*world.stage.idle()), "pelvis")[:3, 3]


# --- postures ---------------------------------------------------------------------------------------------------------


def test_sitting_keeps_the_feet_where_they_are() -> None:
    body, seated = default_body(), Seated(0.57, 0.38)
    for share in np.linspace(0, 1, 9):
        frames = body.forward(*body.placed(lowering(body, seated, float(share)), 0, 0, 0))
        for side in ("left", "right"):
            ankle, print_ = joint(frames, f"{side}_ankle")[:3, 3], neutral(body, side)
            assert ankle == pytest.approx((print_.z, print_.x, -leg_of(body, side).heel[1]), abs=1e-3)
    hips = joint(body.forward(*body.placed(sitting(body, seated), 0, 0, 0)), "pelvis")[:3, 3]
    assert hips == pytest.approx((-0.38, 0, 0.57), abs=1e-6)


def test_sit_and_stand_up(ward: CompiledTask, ward_world: PhysicalWorld) -> None:
    play(ward_world, ward, "[Sit] <chair>")
    seat = ward_world.stage.centre("chair")
    assert np.linalg.norm((pelvis(ward_world) - seat)[:2]) < 0.15
    assert 0.5 < pelvis(ward_world)[2] < 0.65
    assert ("sitting", "chair") in ward_world.relations()
    assert ward_world.execute(parse("[Walk] <desk>")).code == "SITTING"
    for text in ("[LookAround]", "[LookAt] <trolley>", "[Wait] 1", "[Confirm]"):
        assert ward_world.execute(parse(text)).ok, text
    assert ward_world.execute(parse("[StandUp]")).ok
    assert pelvis(ward_world)[2] > 0.9
    assert ("sitting", "chair") not in ward_world.relations()
    assert ward_world.execute(parse("[Walk] <desk>")).ok


def test_a_chair_at_a_table_is_sat_on_sideways(flat: CompiledTask, flat_world: PhysicalWorld) -> None:
    play(flat_world, flat, "[Squat]", "[Sit] <chair>", "[StandUp]")


def test_what_is_sat_on_is_measured(ward: CompiledTask, ward_world: PhysicalWorld) -> None:
    play(ward_world, ward, "[Sit] <chair>")
    stage = ward_world.stage
    assert stage.relations.at(stage.moment()).seat() == "chair"
    (x, y, z), turn = stage.engine.poses()["chair"]
    stage.engine.hold("chair", ((x + 1, y, z), turn))
    stage.sync()
    assert stage.relations.at(stage.moment()).seat() != "chair"


def test_the_seated_state_is_restored_exactly(ward: CompiledTask, ward_world: PhysicalWorld) -> None:
    play(ward_world, ward, "[Sit] <chair>")
    state = json.loads(json.dumps(ward_world.snapshot()))
    first = ward_world.execute(parse("[StandUp]")), ward_world.trajectory.to_json(), ward_world.snapshot()
    ward_world.restore(state)
    assert ward_world.snapshot() == state
    assert (ward_world.execute(parse("[StandUp]")), ward_world.trajectory.to_json(), ward_world.snapshot()) == first


def test_without_room_nobody_sits_down(ward: CompiledTask, ward_world: PhysicalWorld) -> None:
    ward_world.reset(ward)
    stage = ward_world.stage
    x, y, _ = stage.centre("chair").tolist()
    stage.engine.hold("basket", ((x, y, 0.46), (1.0, 0.0, 0.0, 0.0)))
    stage.engine.release("basket")
    stage.sync()
    before = ward_world.snapshot()
    receipt = ward_world.execute(parse("[Sit] <chair>"))
    assert receipt.code in ("TRAJECTORY_COLLISION", "PATH_BLOCKED", "OUT_OF_REACH")
    assert (receipt.frames, receipt.happenings, ward_world.snapshot()) == (0, (), before)


# --- presses ----------------------------------------------------------------------------------------------------------


def test_a_switch_is_touched(flat: CompiledTask, flat_world: PhysicalWorld) -> None:
    play(flat_world, flat, "[TurnOn] <stove>")
    stage = flat_world.stage
    control = stage.placed["stove"].asset.controls["power"]
    point = stage.collision.frames("stove")[control.link].point(control.point)
    hands = [stage.person.body.forward(*f.body) for f in flat_world.trajectory.frames]
    knuckle = [joint(frames, "left_index1")[:3, 3] for frames in hands]
    assert min(float(np.linalg.norm(k - point)) for k in knuckle) < 0.12
    assert ("running", "stove") in flat_world.relations()
    assert flat_world.execute(parse("[TurnOn] <stove>")).code == "ALREADY_ON"
    assert flat_world.execute(parse("[TurnOff] <stove>")).ok
    assert ("off", "stove") in flat_world.relations()


def test_a_phone_is_answered_at_the_ear(flat: CompiledTask, flat_world: PhysicalWorld) -> None:
    play(flat_world, flat, "[Grab] <phone>", "[AnswerPhone] <phone>")
    body = flat_world.stage.person.body
    gaps = []
    for frame in flat_world.trajectory.frames:
        head = joint(body.forward(*frame.body), "head")[:3, 3]
        at = np.array(frame.poses["phone"][0]) if "phone" in frame.poses else np.full(3, np.inf)
        gaps.append(float(np.linalg.norm(at - head)))
    last = [gap for gap in gaps if gap < np.inf][-1]
    assert last == pytest.approx(min(gaps)) and last < 0.25
    assert flat_world.held() == "phone"
    at_ear = flat_world.trajectory.frames[-1].body.pose
    assert flat_world.execute(parse("[Wait] 1")).ok
    assert np.array_equal(flat_world.trajectory.frames[-1].body.pose, at_ear)
    for text in ("[Walk] <counter>", "[Put] <phone> <counter>"):
        assert flat_world.execute(parse(text)).ok, text
    assert ("on", "phone", "counter") in flat_world.relations()


def both_hands_type(world: PhysicalWorld, name: str) -> None:
    """For four seconds both hands are at a keyboard, one beside the other, and take turns in going up."""
    stage = world.stage
    control = stage.placed[name].asset.controls["keyboard"]
    point = stage.collision.frames(name)[control.link].point(control.point)
    hands = np.array(
        [
            [joint(stage.person.body.forward(*f.body), f"{side}_index2")[:3, 3] for side in ("left", "right")]
            for f in world.trajectory.frames
        ]
    )
    there = (np.linalg.norm(hands - point, axis=2) < 0.17).all(1)
    assert there.sum() >= 48
    typing = hands[there]
    assert (np.linalg.norm(typing[:, 0] - typing[:, 1], axis=1) > 0.1).all()
    assert all(np.ptp(typing[:, side, 2]) > 0.008 for side in (0, 1))


def test_a_computer_is_used_standing_and_sitting(
    flat: CompiledTask, ward: CompiledTask, flat_world: PhysicalWorld, ward_world: PhysicalWorld
) -> None:
    play(flat_world, flat, "[UseComputer] <laptop>", walk="[Walk] <desk>")
    both_hands_type(flat_world, "laptop")
    ward_world.reset(ward)
    chair = ward_world.stage.engine.poses()["doctor_chair"]
    play(ward_world, ward, "[UseComputer] <computer>")
    both_hands_type(ward_world, "computer")
    assert np.allclose(ward_world.stage.engine.poses()["doctor_chair"][0], chair[0], atol=1e-6)


# --- carts ------------------------------------------------------------------------------------------------------------


def test_a_cart_is_pushed_with_what_is_on_it(ward: CompiledTask, ward_world: PhysicalWorld) -> None:
    play(ward_world, ward, "[Push] <trolley> <desk>")
    person = ward_world.stage.person
    frames = ward_world.trajectory.frames
    rolling = [f for f in frames if "trolley" in f.poses]
    downwards = [math.degrees(math.asin(person.camera(f.body)[2, 2])) for f in rolling]
    assert min(downwards) > 15 and max(downwards) < 50  # at the floor before the cart
    relations = ward_world.relations()
    for relation in (("near", "trolley", "desk"), ("on", "thermometer", "trolley"), ("near", "wearer", "trolley")):
        assert relation in relations
    moving = [f.poses["trolley"][0] for f in ward_world.trajectory.frames if "trolley" in f.poses]
    assert len(moving) > 20
    assert max(math.dist(a, b) for a, b in itertools.pairwise(moving)) <= 0.2
    assert ward_world.execute(parse("[Walk] <trolley>")).ok


@pytest.mark.slow
def test_a_cart_is_pulled_through_a_closed_door(ward: CompiledTask, ward_world: PhysicalWorld) -> None:
    # A body opens the door first and comes back for the cart; the symbolic wearer opens it as it comes by.
    play(ward_world, ward, "[Pull] <trolley> <doctor_desk>", through=False)
    assert ("in_room", "thermometer", "treatment_room") in ward_world.relations()


@pytest.mark.slow
def test_a_cart_that_cannot_get_out_stays(ward: CompiledTask, ward_world: PhysicalWorld) -> None:
    ward_world.reset(ward)
    stage = ward_world.stage
    stage.engine.hold("couch", ((1.0, 3.2, 0.0), (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))))
    stage.engine.release("couch")
    for name, y in (("computer", 2.6), ("doctor_desk", 4.3)):
        stage.engine.hold(name, ((1.6, y, 0.0), (1.0, 0.0, 0.0, 0.0)))
        stage.engine.release(name)
    stage.sync()
    before = ward_world.snapshot()
    receipt = ward_world.execute(parse("[Push] <trolley> <desk>"))
    if receipt.ok:
        pytest.fail(f"the way is shut, but: {receipt.text}")
    assert receipt.code in ("TRAJECTORY_COLLISION", "PATH_BLOCKED", "OUT_OF_REACH")
    assert (receipt.frames, ward_world.snapshot()) == (0, before)


def _walls(*boxes: tuple[float, float, float, float]) -> list[Obstacle]:
    corners = [[(x, y, z) for x in (a, c) for y in (b, d) for z in (0, 2)] for a, b, c, d in boxes]
    return [Obstacle(f"wall_{n}", "wall", np.array(points, float)) for n, points in enumerate(corners)]


PAIR = Pair((Disc(0, 0, 0.26, 0.2), Disc(0.7, 0, 0.28, 0.22)), (0.7, 0.0))


@pytest.mark.parametrize("gap", [0.9, 1.2])
def test_a_pair_goes_through_a_gap(gap: float) -> None:
    grid = build_grid([(0, 0, 6, 4)], _walls((2.95, 0, 3.05, 2 - gap / 2), (2.95, 2 + gap / 2, 3.05, 4)))
    rolling = Rolling(grid, PAIR, Pose(1, 1, 0.0), (5.0, 2.0), True, lambda _: True)
    rows = rolling.way(lambda pose: math.dist(pose.at(*PAIR.middle), (5.0, 2.0)) <= 0.2)
    assert rows is not None
    assert tuple(rows[0]) == (1, 1, 0)
    for a, b in itertools.pairwise(rows):
        assert math.dist(a[:2], b[:2]) <= 0.1
        assert abs(math.remainder(b[2] - a[2], math.tau)) <= math.radians(10)
    clearance = Clearance.of(grid)
    assert all(PAIR.room(clearance, Pose(*row)) >= 0 for row in rows.tolist())


def test_a_pair_is_screened_where_it_is_narrow_and_planned_around_what_was_in_the_way() -> None:
    grid = build_grid([(0, 0, 6, 4)], _walls((2.95, 0, 3.05, 1.5), (2.95, 2.0, 3.05, 4)))
    asked: list[Pose] = []

    def refuses(pose: Pose) -> bool:
        asked.append(pose)
        return False

    def done(pose: Pose) -> bool:
        return math.dist(pose.at(*PAIR.middle), (5.0, 2.0)) <= 0.2

    assert Rolling(grid, PAIR, Pose(1, 1, 0.0), (5.0, 2.0), True, refuses).way(done) is None
    clearance = Clearance.of(grid)
    assert asked and all(-0.5 <= PAIR.room(clearance, pose) <= 1.5 for pose in asked)  # asked to a millimetre
    rolling = Rolling(build_grid([(0, 0, 6, 4)], ()), PAIR, Pose(1, 1, 0.0), (5.0, 2.0), True, refuses)
    rows = rolling.way(done)
    assert rows is not None
    barred = Pose(*rows[len(rows) // 2].tolist())
    rolling.barred.append(barred)
    other = rolling.way(done)
    assert other is not None and not np.array_equal(rows, other)


def test_clearance_is_measured_from_the_outline() -> None:
    clearance = Clearance.of(build_grid([(0, 0, 6, 4)], _walls((2.93, 0, 3.07, 4))))
    for x, away in ((2.0, 0.93), (2.63, 0.3), (3.0, 0.0), (3.27, 0.2)):
        assert abs(clearance.at(x, 2.0) - away) <= 0.026, x
    assert clearance.at(-3.0, 2.0) == 0.0


def test_a_pair_does_not_go_through_a_crack() -> None:
    grid = build_grid([(0, 0, 6, 4)], _walls((2.95, 0, 3.05, 1.8), (2.95, 2.2, 3.05, 4)))
    rolling = Rolling(grid, PAIR, Pose(1, 1, 0.0), (5.0, 2.0), True, lambda _: True)
    assert rolling.way(lambda pose: math.dist(pose.at(*PAIR.middle), (5.0, 2.0)) <= 0.2) is None
