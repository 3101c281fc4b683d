"""The collision world against closed forms, and its rules of ownership."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

from iwkit.errors import UsageError
from iwkit_runtime.engines.collision import Allowed, Capsules, CollisionWorld

STILL = (1.0, 0.0, 0.0, 0.0)
SIZE = (0.4, 0.3, 0.2)


def capsules(*rows: tuple[object, object, float]) -> Capsules:
    return Capsules(np.array([row[:2] for row in rows], float), np.array([row[2] for row in rows]))


def sphere(at: object, radius: float = 0.1) -> Capsules:
    return capsules((at, at, radius))


def signed(points: np.ndarray, size: tuple[float, float, float] = SIZE) -> np.ndarray:
    """Distance of points (n, 3) from a box around the origin; negative inside."""
    beyond = np.abs(points) - np.array(size) / 2
    return np.linalg.norm(np.maximum(beyond, 0), axis=-1) + np.minimum(beyond.max(-1), 0)


@pytest.fixture(scope="module")
def crate(blocks: SimpleNamespace) -> CollisionWorld:
    """One box whose root is in its middle, turned every way by the tests."""
    return CollisionWorld(blocks.scene(blocks.put("crate", blocks.thing(SIZE, ((0, 0, 0), SIZE)), (0, 0, 0))))


@pytest.fixture(scope="module")
def kitchen(blocks: SimpleNamespace) -> CollisionWorld:
    """A table with two cups 1 cm apart, and a closed fridge beside a wall."""
    b = blocks
    cup = b.thing((0.08, 0.08, 0.1))
    return CollisionWorld(
        b.scene(
            b.floor(),
            b.wall("wall_1", (0, 2.05, 1.25), (6, 0.1, 2.5)),
            b.put("table", b.table(), (0, 0, 0), kind="fixture"),
            b.put("cup", cup, (0, 0, 0.75)),
            b.put("mug", cup, (0.09, 0, 0.75)),
            b.put("fridge", b.fridge(), (-2, 1.65, 0), kind="fixture"),
        )
    )


coordinate = st.floats(-0.45, 0.45)
point = st.tuples(coordinate, coordinate, coordinate)
turn = st.integers(0, 10_000).map(lambda seed: Rotation.random(random_state=seed))


@given(at=point, place=point, radius=st.floats(0.01, 0.2), turn=turn)
@settings(max_examples=100, deadline=None)
def test_a_sphere_goes_into_a_box_as_deep_as_its_distance_says(
    crate: CollisionWorld, at: tuple, place: tuple, radius: float, turn: Rotation
) -> None:
    w, x, y, z = np.roll(turn.as_quat(), 1)
    crate.update({"crate": (place, (w, x, y, z))}, {})
    depth = radius - float(signed(turn.inv().apply(np.subtract(at, place))))
    found = crate.hits(sphere(at, radius), ignore=("floor_hall",), margin=0.05)
    if abs(depth + 0.05) > 1e-4:
        assert bool(found) == (depth > -0.05)
    if found:
        assert found[0].depth == pytest.approx(depth, abs=5e-4)


@given(start=point, end=point, radius=st.floats(0.01, 0.1), turn=turn)
@settings(max_examples=100, deadline=None)
def test_a_capsule_touches_a_box_where_its_axis_is_nearer_than_its_radius(
    crate: CollisionWorld, start: tuple, end: tuple, radius: float, turn: Rotation
) -> None:
    w, x, y, z = np.roll(turn.as_quat(), 1)
    crate.update({"crate": ((0, 0, 0), (w, x, y, z))}, {})
    a, b = turn.inv().apply([start, end])
    nearest = minimize_scalar(
        lambda t: float(signed(a + t * (b - a))), bounds=(0, 1), method="bounded", options={"xatol": 1e-9}
    )
    gap = min(nearest.fun, float(signed(a)), float(signed(b)))
    found = crate.hits(capsules((start, end, radius)), ignore=("floor_hall",), margin=0.05)
    if gap > 1e-3 and abs(gap - radius - 0.05) > 1e-3:  # the axis is outside: the closed form is exact
        assert bool(found) == (gap < radius + 0.05)
        if found:
            assert found[0].depth == pytest.approx(radius - gap, abs=5e-4)
    elif gap <= 1e-3:
        assert found
        assert found[0].depth >= radius - 1e-3


@given(at=st.tuples(st.floats(-0.5, 0.5), st.floats(-0.3, 0.3)), tilt=st.floats(-50, 50), radius=st.floats(0.02, 0.09))
@settings(max_examples=100, deadline=None)
def test_no_capsule_pierces_a_thin_table_top_unseen(
    kitchen: CollisionWorld, at: tuple, tilt: float, radius: float
) -> None:
    way = 0.4 * np.array([math.sin(math.radians(tilt)), 0, math.cos(math.radians(tilt))])
    middle = np.array([*at, 0.735])
    found = {h.owner: h for h in kitchen.hits(capsules((middle - way, middle + way, radius)))}
    assert found["table"].depth > radius


def test_a_hit_says_how_to_get_out(kitchen: CollisionWorld) -> None:
    (hit,) = kitchen.hits(sphere((0.4, 0.2, 0.83)))
    assert (hit.by, hit.owner) == (0, "table")
    assert hit.depth == pytest.approx(0.02, abs=1e-4)
    assert hit.normal == pytest.approx((0, 0, 1), abs=1e-3)
    assert hit.point == pytest.approx((0.4, 0.2, 0.74), abs=2e-3)
    out = np.array([0.4, 0.2, 0.83]) + (hit.depth + 1e-4) * np.array(hit.normal)
    assert kitchen.hits(sphere(out)) == []


def test_all_parts_of_a_thing_have_one_owner_and_one_hit(kitchen: CollisionWorld) -> None:
    inside = kitchen.hits(sphere((-2, 1.65, 0.85), 0.5))
    assert [h.owner for h in inside if h.owner != "wall_1"] == ["fridge"]


def test_free_takes_two_millimetres(kitchen: CollisionWorld) -> None:
    assert kitchen.free(sphere((0.4, 0.2, 0.8485)))
    assert not kitchen.free(sphere((0.4, 0.2, 0.8475)))
    assert kitchen.free(sphere((0.4, 0.2, 0.8475)), tolerance=0.01)
    assert kitchen.free(sphere((0.4, 0.2, 0.8)), ignore=("table",))


def test_only_the_meant_contact_is_let_through(kitchen: CollisionWorld) -> None:
    hand, elbow = ((0.3, 0, 0.84), (0.35, 0, 0.84), 0.1), ((-0.5, 0, 0.8), (-0.55, 0, 0.8), 0.1)
    meant = Allowed("table", (0.3, 0, 0.75))
    assert kitchen.free(capsules(hand), allow=[meant])
    assert not kitchen.free(capsules(hand), allow=[Allowed("cup", (0.3, 0, 0.75))])
    assert [h.by for h in kitchen.hits(capsules(hand, elbow), allow=[meant])] == [1]


def test_more_capsules_than_probes_keep_their_numbers(kitchen: CollisionWorld) -> None:
    rows = [((0, 5, 1), (0, 5, 1.2), 0.05)] * 60 + [((0.4, 0.2, 0.7), (0.4, 0.2, 0.8), 0.05)]
    assert [(h.by, h.owner) for h in kitchen.hits(capsules(*rows))] == [(60, "table")]
    assert kitchen.hits(capsules(*rows[:60])) == []


def test_no_capsules_hit_nothing(kitchen: CollisionWorld) -> None:
    assert kitchen.hits(Capsules(np.zeros((0, 2, 3)), np.zeros(0))) == []
    assert kitchen.hits() == []


def test_a_carried_thing_is_tested_where_it_would_be(kitchen: CollisionWorld) -> None:
    shelf = {"cup": ((-2.3, 1.65, 1.2), STILL)}
    assert [(h.by, h.owner) for h in kitchen.hits(poses=shelf)] == [("cup", "fridge")]
    assert not kitchen.free(poses={"cup": ((0.07, 0, 0.76), STILL)})
    assert kitchen.free(poses={"cup": ((0.07, 0, 0.76), STILL)}, ignore=("mug",))
    assert kitchen.free(poses={"cup": ((0.2, 0.2, 0.76), STILL)})


def test_a_carried_thing_is_tested_against_the_body_too(kitchen: CollisionWorld) -> None:
    arm = capsules(((0, 3, 1), (0, 3, 1.3), 0.06))
    held = {"cup": ((0, 3, 1.1), STILL)}
    assert [(h.by, h.owner) for h in kitchen.hits(arm, poses=held)] == [(0, "cup")]
    assert kitchen.free(arm, poses=held, allow=[Allowed("cup", (0, 3, 1.15))])


def test_things_carried_together_do_not_hit_one_another(kitchen: CollisionWorld) -> None:
    both = {"cup": ((0, 3, 1), STILL), "mug": ((0.02, 3, 1), STILL)}
    assert kitchen.hits(poses=both) == []
    assert [h.owner for h in kitchen.hits(poses=both | {"cup": ((0, 2.0, 1), STILL)})] == ["wall_1"]


def test_a_door_sweeps_with_what_hangs_on_it_and_not_against_its_own_body(kitchen: CollisionWorld) -> None:
    opened = {("fridge", "door"): 1.5}
    assert kitchen.hits(joints=opened) == []
    person = capsules(((-2.2, 0.9, 0.3), (-2.2, 0.9, 1.5), 0.15))
    assert kitchen.free(person)
    assert {(h.by, h.owner) for h in kitchen.hits(person, joints=opened)} == {(0, "fridge")}


def test_questions_move_nothing(kitchen: CollisionWorld) -> None:
    ask = sphere((0, 0, 0.8), 0.2)
    before = kitchen.hits(ask)
    kitchen.hits(
        poses={"cup": ((3, 3, 3), STILL), "fridge": ((0, 0, 0), STILL)}, joints={("fridge", "door"): 1.0}, margin=0.3
    )
    with pytest.raises(UsageError):
        kitchen.hits(poses={"cup": ((3, 3, 3), STILL), "spoon": ((0, 0, 0), STILL)})
    assert kitchen.hits(ask) == before
    assert kitchen.overlaps("cup") == [h for h in kitchen.overlaps("cup") if h.depth < 1e-4]


def test_update_moves_what_it_names(blocks: SimpleNamespace) -> None:
    world = CollisionWorld(blocks.scene(blocks.put("fridge", blocks.fridge(), (0, 0, 0), kind="fixture")))
    before = sphere((-0.35, -0.7, 1), 0.05)
    assert world.free(before)
    world.update({}, {("fridge", "door"): math.radians(90)})
    assert not world.free(before)
    world.update({"fridge": ((0, 3, 0), STILL)}, {})
    assert world.free(before)
    assert not world.free(sphere((-0.35, 2.3, 1), 0.05))
    assert world.frames("fridge")["body"].at.tolist() == [0, 3, 0]


def test_overlap_is_symmetric_and_zero_when_apart(blocks: SimpleNamespace) -> None:
    box = blocks.thing((0.1, 0.1, 0.1))
    world = CollisionWorld(
        blocks.scene(*(blocks.put(n, box, at) for n, at in (("a", (0, 0, 1)), ("b", (0.07, 0, 1)), ("c", (0, 1, 1)))))
    )
    assert world.overlap("a", "b") == pytest.approx(0.03, abs=1e-4)
    assert world.overlap("b", "a") == pytest.approx(0.03, abs=1e-4)
    assert world.overlap("a", "c") == 0
    (near,) = world.overlaps("c", margin=0.95)[:1]
    assert near.depth == pytest.approx(-0.9, abs=1e-3)


def test_solids_follow_the_joints(kitchen: CollisionWorld) -> None:
    found = list(kitchen.solids())
    assert [(s.owner, s.kind) for s in found[:3]] == [("floor_hall", "floor"), ("wall_1", "wall"), ("table", "fixture")]
    kitchen.update({}, {("fridge", "door"): 1.0})
    moved = [
        a.owner for a, b in zip(found, kitchen.solids(), strict=True) if not np.array_equal(a.vertices, b.vertices)
    ]
    kitchen.update({}, {("fridge", "door"): 0.0})
    assert moved == ["fridge"] * 3


# --- rays -------------------------------------------------------------------------------------------------------------


@given(eye=st.tuples(st.floats(-2, 2), st.floats(-2, 2), st.floats(0.4, 2)), aim=point, place=point, turn=turn)
@settings(max_examples=100, deadline=None)
def test_a_ray_meets_a_box_where_its_slabs_say(
    crate: CollisionWorld, eye: tuple, aim: tuple, place: tuple, turn: Rotation
) -> None:
    w, x, y, z = np.roll(turn.as_quat(), 1)
    crate.update({"crate": (place, (w, x, y, z))}, {})
    local, way = turn.inv().apply([np.subtract(eye, place), np.subtract(aim, eye)])
    if signed(local) <= 0 or np.abs(way).min() < 1e-6:
        return
    sides = np.sort((np.array([[-0.5], [0.5]]) * SIZE - local) / way, axis=0)
    enter, leave = sides[0].max(), sides[1].min()
    crate.hits(capsules((eye, aim, 0.1)))  # probes once left their bounds in those of a mesh, which rays then missed
    (name,), (along,) = crate.rays(eye, [aim])
    if leave > 0 and enter < leave - 1e-6 and (place[2] > -0.2 or aim[2] > 0):
        floor = eye[2] / (eye[2] - aim[2]) if aim[2] < eye[2] else math.inf
        if enter < floor - 1e-6:
            assert name == "crate"
            assert along == pytest.approx(enter, abs=1e-6)
    elif enter > leave + 1e-6:
        assert name != "crate"


def test_rays_name_the_first_thing_and_see_no_probes(kitchen: CollisionWorld) -> None:
    kitchen.hits(sphere((0, -0.5, 0.8), 0.3))
    names, along = kitchen.rays((0, -1, 0.8), [(0, 0, 0.8), (0, 1, 5), (1, 2, 0.8)])
    assert names == ["cup", None, "wall_1"]
    assert along[0] == pytest.approx(0.96)
    assert np.isinf(along[1])
    assert kitchen.rays((0, 0, 2), np.zeros((0, 3)))[0] == []


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        (lambda w: w.hits(poses={"spoon": ((0, 0, 0), STILL)}), "no thing 'spoon'"),
        (lambda w: w.hits(joints={("cup", "lid"): 0.1}), "'cup' has no joint 'lid'"),
        (lambda w: w.update({"wall_1": ((0, 0, 0), STILL)}, {}), "no thing 'wall_1' that can be moved"),
        (lambda w: w.overlaps("spoon"), "no thing 'spoon'"),
        (lambda w: w.frames("spoon"), "no thing 'spoon'"),
        (lambda w: w.hits(Capsules(np.zeros((2, 2, 3)), np.zeros(3))), "finite ends"),
        (lambda w: w.hits(sphere((math.nan, 0, 0))), "finite ends"),
        (lambda w: w.rays((0, 0, math.inf), [(0, 0, 0)]), "not finite"),
    ],
)
def test_bad_questions_are_named(kitchen: CollisionWorld, question: object, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        question(kitchen)  # type: ignore[operator]


def test_bad_scenes_are_named(blocks: SimpleNamespace) -> None:
    flat = blocks.thing((1, 1, 0), ((0, 0, 0), (1, 1, 0)))
    with pytest.raises(UsageError, match="a piece of 'rug' has no volume"):
        CollisionWorld(blocks.scene(blocks.put("rug", flat, (0, 0, 0))))
    box = blocks.thing((1, 1, 1))
    with pytest.raises(UsageError, match="same name"):
        CollisionWorld(blocks.scene(*(blocks.put("cup", box, (x, 0, 0)) for x in (0, 3))))


def test_the_order_of_hits_is_fixed(blocks: SimpleNamespace) -> None:
    box = blocks.thing((0.1, 0.1, 0.1))
    placed = [
        blocks.put(n, box, (x, y, 0.5)) for n, (x, y) in zip("dbac", itertools.product((-1, 1), repeat=2), strict=True)
    ]
    world = CollisionWorld(blocks.scene(*placed))
    spheres = capsules(*((p.position, p.position, 0.05) for p in placed))
    found = world.hits(spheres)
    assert [h.by for h in found] == sorted([h.by for h in found], key=lambda by: (-round(found[0].depth, 9), str(by)))
    assert found == world.hits(spheres)


def test_an_answer_holds_until_something_moves(kitchen: CollisionWorld) -> None:
    asked = []

    def ask() -> int:
        asked.append(len(asked))
        return asked[-1]

    start = {"cup": ((0.0, 0.0, 0.75), STILL)}
    kitchen.update(start, {})
    kitchen.update({"cup": ((0.0, 0.1, 0.75), STILL)}, {})
    first = kitchen.once("how many", ask)
    assert (kitchen.once("how many", ask), kitchen.once("how few", ask)) == (first, first + 1)
    kitchen.update({"cup": ((0.0, 0.1, 0.75), STILL)}, {("fridge", "door"): 0.0})
    assert kitchen.once("how many", ask) == first, "nothing moved"
    kitchen.hits(poses=start)
    assert kitchen.once("how many", ask) == first, "a question moves nothing"
    kitchen.update({}, {("fridge", "door"): 0.3})
    second = kitchen.once("how many", ask)
    kitchen.update(start, {("fridge", "door"): 0.0})
    assert first < second < kitchen.once("how many", ask)
