"""What every engine does (`iwkit_runtime.engines.base.Engine`): add an engine to ENGINES and it runs all of this."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iwkit.compile import load_task
from iwkit.library import Library
from iwkit.recipes import load_recipes
from iwkit.resources import root
from iwkit_runtime.engines.base import Engine, EngineError, Snapshot
from iwkit_runtime.engines.mujoco_engine import MujocoEngine
from iwkit_runtime.physical.kinematics import Frame, frame, link_frames, matrix
from iwkit_runtime.physical.layout import Assets, build_scene
from iwkit_runtime.physical.scene_spec import Pose, SceneSpec

ENGINES: list[Callable[[], Engine]] = [MujocoEngine]
LEVEL = (1.0, 0.0, 0.0, 0.0)
CONTENTS = (0.0, -0.1, 0.074)  # a place on the floor of the cabinet's drawer, in the cabinet's frame
TRAY = (0.0, -0.15, 0.514)  # on the tray of its door


@pytest.fixture(params=ENGINES)
def new(request: pytest.FixtureRequest) -> Callable[[], Engine]:
    return request.param


@pytest.fixture
def engine(new: Callable[[], Engine], room: SceneSpec) -> Engine:
    made = new()
    made.load(room)
    assert made.settle().settled
    return made


@pytest.fixture(scope="module")
def flat() -> SceneSpec:
    library = Library()
    task = load_task(root("taskpacks") / "prevention" / "W7.yaml", library)
    return build_scene(task, Assets(library.catalogue, load_recipes()))


def at(engine: Engine, name: str) -> np.ndarray:
    return np.array(engine.poses()[name][0])


def distance(a: Pose, b: Pose) -> float:
    return float(np.linalg.norm(np.subtract(a[0], b[0])))


def tilt(pose: Pose) -> float:
    """Degrees between the thing's upright and the world's."""
    return math.degrees(math.acos(np.clip(matrix(pose[1])[2, 2], -1, 1)))


def link_of(engine: Engine, room: SceneSpec, name: str, link: str) -> Frame:
    placed = next(p for p in room.placed if p.name == name)
    values = {part: value for (thing, part), value in engine.joints().items() if thing == name}
    return link_frames(placed.asset, frame(engine.poses()[name]), values)[link]


def drop(engine: Engine, name: str, place: np.ndarray | tuple[float, float, float], turn=LEVEL) -> None:
    engine.hold(name, (tuple(map(float, place)), turn))
    engine.release(name)
    assert engine.settle().settled


# --- loading ----------------------------------------------------------------------------------------------------------


def test_load_puts_everything_where_the_scene_says(new: Callable[[], Engine], room: SceneSpec) -> None:
    engine = new()
    engine.load(room)
    assert list(engine.poses()) == [p.name for p in room.placed]
    for placed in room.placed:
        position, turn = engine.poses()[placed.name]
        assert position == placed.position
        assert np.allclose(matrix(turn)[:, 0], (math.cos(placed.yaw), math.sin(placed.yaw), 0))
    assert engine.joints() == {("cabinet", "drawer"): 0, ("cabinet", "door"): 0, ("case", "lid"): 0}
    assert engine.held() == {}


def test_loading_again_forgets_what_was(engine: Engine, room: SceneSpec) -> None:
    engine.hold("cube", ((1, 1, 1), LEVEL))
    engine.set_joint("cabinet", "door", 1)
    engine.load(room)
    assert engine.held() == {}
    assert engine.joints()["cabinet", "door"] == 0
    assert at(engine, "cube") == pytest.approx((0, 0, 0.754))


def test_before_load_every_call_says_so(new: Callable[[], Engine]) -> None:
    engine = new()
    for call in (engine.poses, engine.joints, engine.held, engine.settle, engine.contacts, engine.snapshot):
        with pytest.raises(EngineError, match="load"):
            call()
    with pytest.raises(EngineError, match="load"):
        engine.hold("cube", ((0, 0, 1), LEVEL))


# --- settling ---------------------------------------------------------------------------------------------------------


def test_what_is_let_go_falls_onto_what_is_below(engine: Engine) -> None:
    drop(engine, "cube", (0.2, 0.1, 1.05))
    assert at(engine, "cube") == pytest.approx((0.2, 0.1, 0.75), abs=0.003)
    assert ("cube", "table") in engine.contacts()


def test_a_thin_top_stops_even_a_sheet_of_paper(engine: Engine) -> None:
    drop(engine, "sheet", (0.0, 0.0, 1.2))
    assert at(engine, "sheet")[2] > 0.74


def test_what_rests_does_not_creep(engine: Engine) -> None:
    before = engine.poses()
    drop(engine, "cube", (0.1, 0.2, 0.9))
    for _ in range(5):
        engine.settle()
    after = engine.poses()
    assert {n: p for n, p in after.items() if n != "cube"} == {n: p for n, p in before.items() if n != "cube"}
    assert after["cube"] == engine.settle().frames[-1]["cube"]


@pytest.mark.parametrize("deep", [0.002, 0.01, 0.04])
def test_what_is_let_go_in_something_comes_out_of_it_and_goes_no_further(engine: Engine, deep: float) -> None:
    before = engine.poses()
    start = (0.2, 0.1, 0.75 - deep)
    drop(engine, "cube", start)
    assert at(engine, "cube") - start == pytest.approx((0, 0, deep), abs=5e-4)
    assert {name for name, pose in engine.poses().items() if pose != before[name]} == {"cube"}


@pytest.mark.parametrize("deep", [0.002, 0.005])
def test_two_loose_things_in_each_other_part_by_as_much_as_they_overlap(engine: Engine, deep: float) -> None:
    x, y, z = at(engine, "case")
    start = (x - 0.15 - 0.04 + deep, y, z)
    drop(engine, "cube", start)
    assert at(engine, "case")[0] - at(engine, "cube")[0] == pytest.approx(0.19, abs=1e-3)
    assert at(engine, "case") == pytest.approx((x, y, z), abs=deep)
    assert at(engine, "cube") == pytest.approx(start, abs=deep)


def test_settling_says_when_time_ran_out(engine: Engine) -> None:
    engine.hold("cube", ((2, 2, 2.0), LEVEL))
    engine.release("cube")
    short = engine.settle(max_seconds=0.2)
    assert not short.settled
    assert 1 < at(engine, "cube")[2] < 2
    assert engine.settle().settled


def test_frames_of_a_fall_are_a_twelfth_of_a_second_apart(engine: Engine) -> None:
    engine.hold("cube", ((2, 2, 1.5), LEVEL))
    engine.release("cube")
    heights = [frame_["cube"][0][2] for frame_ in engine.settle().frames]
    for count, height in enumerate(heights[:5], start=1):
        assert height == pytest.approx(1.5 - 9.81 / 2 * (count / 12) ** 2, abs=0.02)
    assert heights[-1] == pytest.approx(0, abs=0.002)


def test_half_over_the_edge_falls_and_just_on_it_stays(engine: Engine) -> None:
    drop(engine, "cube", (0.6 - 0.01, 0.2, 0.76))
    assert at(engine, "cube")[2] == pytest.approx(0.75, abs=0.003)
    drop(engine, "cube", (0.6 + 0.01, 0.2, 0.76))
    assert at(engine, "cube")[2] < 0.1


def test_without_its_support_a_thing_falls(engine: Engine) -> None:
    """The shelf is taken away before release."""
    engine.hold("cube", ((-2, 0, 0.91), LEVEL))
    engine.hold("trolley", ((-2, 2, 0), LEVEL))
    engine.release("trolley")
    engine.release("cube")
    engine.settle()
    assert at(engine, "cube")[2] < 0.05
    assert at(engine, "trolley") == pytest.approx((-2, 2, 0))


# --- holding ----------------------------------------------------------------------------------------------------------


def test_a_held_thing_is_exactly_where_the_hand_is(engine: Engine) -> None:
    turn = (math.cos(0.3), 0.0, math.sin(0.3), 0.0)
    for step in range(40):
        pose: Pose = ((0.05 * step, -0.02 * step, 1 + 0.01 * step), turn)
        engine.hold("cube", pose)
        assert distance(engine.poses()["cube"], pose) == 0
        assert engine.poses()["cube"][1] == pytest.approx(turn, abs=1e-12)


def test_a_held_thing_does_not_fall_while_others_settle(engine: Engine) -> None:
    pose: Pose = ((1, 1, 1.3), LEVEL)
    engine.hold("cube", pose)
    drop(engine, "sheet", (1, 1, 1.5))
    assert distance(engine.poses()["cube"], pose) == 0
    assert engine.held() == {"cube": ()}


def test_what_stands_on_a_tray_comes_along(engine: Engine) -> None:
    before = frame(engine.poses()["tray"]).inverse().then(frame(engine.poses()["cup"]))
    for step in range(30):
        angle = 0.05 * step
        engine.hold("tray", ((-0.35, -0.03 * step, 0.77 + 0.01 * step), (math.cos(angle), 0.0, 0.0, math.sin(angle))))
        now = frame(engine.poses()["tray"]).inverse().then(frame(engine.poses()["cup"]))
        assert np.allclose(now.at, before.at, atol=1e-9)
        assert np.allclose(now.turn, before.turn, atol=1e-9)
    assert engine.held() == {"tray": ("cup",)}
    engine.release("tray")
    assert engine.settle().settled
    assert ("cup", "tray") in engine.contacts()


def test_grabbing_what_stands_on_top_leaves_what_is_below(engine: Engine) -> None:
    before = engine.poses()["tray"]
    engine.hold("cup", ((0, -1, 1), LEVEL))
    assert engine.poses()["tray"] == before
    assert engine.held() == {"cup": ()}


def test_a_pushed_trolley_takes_its_load_along(engine: Engine) -> None:
    drop(engine, "cube", (-2, 0, 0.95))
    offset = at(engine, "cube") - at(engine, "trolley")
    turn = engine.poses()["trolley"][1]
    for step in range(20):
        engine.hold("trolley", ((-2, 0.05 * step, 0), turn))
    engine.release("trolley")
    assert engine.settle().settled
    assert at(engine, "cube") - at(engine, "trolley") == pytest.approx(offset, abs=0.002)


# --- joints -----------------------------------------------------------------------------------------------------------


def test_what_lies_in_a_drawer_comes_along(engine: Engine, room: SceneSpec) -> None:
    engine.set_joint("cabinet", "drawer", 0.3)
    drop(engine, "cube", link_of(engine, room, "cabinet", "drawer").point(CONTENTS))
    before = link_of(engine, room, "cabinet", "drawer").local(at(engine, "cube"))
    for value in np.linspace(0.3, 0, 12):
        engine.set_joint("cabinet", "drawer", float(value))
    assert link_of(engine, room, "cabinet", "drawer").local(at(engine, "cube")) == pytest.approx(before, abs=1e-6)
    assert engine.settle().settled
    assert link_of(engine, room, "cabinet", "drawer").local(at(engine, "cube")) == pytest.approx(before, abs=0.002)


def test_what_stands_in_a_door_turns_with_it(engine: Engine, room: SceneSpec) -> None:
    engine.set_joint("cabinet", "door", 1.2)
    door = link_of(engine, room, "cabinet", "door")
    drop(engine, "cube", door.point(TRAY), door.pose[1])
    before = door.local(at(engine, "cube"))
    assert before[2] == pytest.approx(0.51, abs=0.003)
    for value in np.linspace(1.2, 0, 15):
        engine.set_joint("cabinet", "door", float(value))
    assert engine.settle().settled
    assert link_of(engine, room, "cabinet", "door").local(at(engine, "cube")) == pytest.approx(before, abs=0.003)
    assert distance(engine.poses()["cube"], (tuple(door.point(before)), LEVEL)) > 0.2


def test_a_driven_joint_leaves_all_else_alone(engine: Engine) -> None:
    before = engine.poses()
    engine.set_joint("cabinet", "door", 1.0)
    engine.settle()
    assert engine.poses() == before
    assert engine.joints()["cabinet", "door"] == 1.0


def test_a_things_own_joint_keeps_its_value_when_it_falls(engine: Engine) -> None:
    engine.set_joint("case", "lid", 1.5)
    drop(engine, "case", (2, 2, 0.3))
    assert engine.joints()["case", "lid"] == 1.5
    assert at(engine, "case")[2] < 0.15


# --- states -----------------------------------------------------------------------------------------------------------


def test_a_state_survives_json_and_the_future_after_it_is_the_same(engine: Engine) -> None:
    engine.set_joint("cabinet", "door", 0.7)
    engine.hold("tray", ((0.3, -1, 1.0), LEVEL))
    engine.hold("cube", ((1, -1, 1.2), (math.cos(0.4), math.sin(0.4), 0, 0)))
    engine.release("cube")
    saved = json.loads(json.dumps(engine.snapshot().as_json()))
    first = engine.settle()
    engine.release("tray")
    engine.settle()
    engine.set_joint("cabinet", "door", 0.0)
    engine.restore(Snapshot.of_json(saved))
    assert engine.snapshot().as_json() == saved
    assert engine.held() == {"tray": ("cup",)}
    assert engine.settle() == first


def test_a_state_of_another_scene_is_refused(new: Callable[[], Engine], engine: Engine, flat: SceneSpec) -> None:
    other = new()
    other.load(flat)
    before = engine.snapshot()
    with pytest.raises(EngineError, match="another scene"):
        engine.restore(other.snapshot())
    assert engine.snapshot() == before


BAD_CALLS: dict[str, Callable[[Engine], None]] = {
    "hold something unknown": lambda e: e.hold("ghost", ((0, 0, 0), LEVEL)),
    "hold at no place": lambda e: e.hold("cube", ((0, 0, math.nan), LEVEL)),
    "hold with a broken quaternion": lambda e: e.hold("cube", ((0, 0, 1), (0, 0, 0, 0))),
    "hold part of the building": lambda e: e.hold("floor", ((0, 0, 0), LEVEL)),
    "release what isn't held": lambda e: e.release("cube"),
    "drive an unknown joint": lambda e: e.set_joint("cabinet", "lid", 0),
    "drive the body": lambda e: e.set_joint("cabinet", "body", 0),
    "drive too far": lambda e: e.set_joint("cabinet", "door", 1.8),
    "drive to nowhere": lambda e: e.set_joint("cabinet", "door", math.nan),
}


@pytest.mark.parametrize("call", BAD_CALLS.values(), ids=BAD_CALLS)
def test_a_bad_request_is_refused_and_changes_nothing(engine: Engine, call: Callable[[Engine], None]) -> None:
    before = engine.snapshot()
    with pytest.raises(EngineError):
        call(engine)
    assert engine.snapshot() == before


_HOLD = st.tuples(st.just("hold"), st.sampled_from(["cube", "cup", "tray", "case", "sheet"]), st.floats(-1, 1))
_FREE = st.tuples(st.just("release"), st.just(""), st.just(0.0))
_DRIVE = st.tuples(st.just("drive"), st.sampled_from(["door", "drawer"]), st.floats(0, 0.3))
_SETTLE = st.tuples(st.just("settle"), st.just(""), st.just(0.0))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(st.one_of(_HOLD, _FREE, _DRIVE, _SETTLE), max_size=8))
def test_whatever_is_done_nothing_gets_lost(new: Callable[[], Engine], room: SceneSpec, calls: list) -> None:
    engine = new()
    engine.load(room)
    for what, name, value in calls:
        if what == "hold":
            engine.hold(name, ((value, -value, 1.0), LEVEL))
        elif what == "drive":
            engine.set_joint("cabinet", name, value)
        elif what == "settle":
            engine.settle(0.5)
        else:
            for held in engine.held():
                engine.release(held)
    poses = engine.poses()
    assert list(poses) == [p.name for p in room.placed]
    for name, (position, turn) in poses.items():
        assert np.isfinite(position).all(), name
        assert np.linalg.norm(turn) == pytest.approx(1)
        assert position[2] > -0.01, name
    for placed in room.placed:
        if placed.kind == "fixture":
            assert poses[placed.name][0] == placed.position


# --- the real flat ----------------------------------------------------------------------------------------------------


def test_the_flat_of_w7_stands_as_it_was_laid_out(new: Callable[[], Engine], flat: SceneSpec) -> None:
    engine = new()
    engine.load(flat)
    before = engine.poses()
    assert engine.settle().settled
    for name, pose in engine.poses().items():
        assert distance(pose, before[name]) < 0.03, name
        assert tilt(pose) < 5, name
    touching = engine.contacts()
    for thing, support in (("milk", "fridge"), ("phone", "hall_console"), ("mug", "breakfast_table")):
        assert tuple(sorted((thing, support))) in touching


def test_what_stands_in_the_fridge_door_rides_along(new: Callable[[], Engine], flat: SceneSpec) -> None:
    engine = new()
    engine.load(flat)
    engine.settle()
    fridge = next(p for p in flat.placed if p.name == "fridge")
    region = next(r for r in fridge.asset.regions if r.link == "door" and r.kind == "interior")
    joint = next(link.joint for link in fridge.asset.links if link.name == "door")
    assert joint is not None
    engine.set_joint("fridge", "door", joint.high)
    door = link_of(engine, flat, "fridge", "door")
    cheese = door.point((region.centre[0], region.centre[1], region.centre[2] - region.size[2] / 2 + 0.01))
    drop(engine, "cheese", cheese, door.pose[1])
    before = door.local(at(engine, "cheese"))
    for value in np.linspace(joint.high, 0, 24):
        engine.set_joint("fridge", "door", float(value))
    assert engine.settle().settled
    after = link_of(engine, flat, "fridge", "door").local(at(engine, "cheese"))
    assert after == pytest.approx(before, abs=0.01)
    assert np.linalg.norm(at(engine, "cheese") - cheese) > 0.3
