"""What is visible: behind things, in closed things, at the edge of the field of view."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from iwkit.errors import UsageError
from iwkit_runtime.engines.collision import CollisionWorld
from iwkit_runtime.physical.kinematics import about
from iwkit_runtime.physical.sight import RAYS, Look, Sight, surface_points
from iwkit_runtime.physical.spec import Joint, Link

STILL = (1.0, 0.0, 0.0, 0.0)


def camera(at: Any, heading: float = 0.0, pitch: float = 0.0) -> np.ndarray:
    """A frame that looks along `heading` (degrees from +x), `pitch` degrees up: x right, y up, -z ahead."""
    level = np.array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]])
    frame = np.eye(4)
    frame[:3, :3] = about((0, 0, 1), math.radians(heading)) @ about((0, 1, 0), math.radians(-pitch)) @ level
    frame[:3, 3] = at
    return frame


EYE = (-2.0, 0.0, 1.6)


def sight(blocks: SimpleNamespace, *parts: Any) -> Sight:
    return Sight(CollisionWorld(blocks.scene(*parts)))


def test_the_test_camera_looks_where_it_says() -> None:
    frame = camera((0, 0, 0), 90, 30)
    assert frame[:3, :3] @ [0, 0, -1] == pytest.approx([0, math.cos(math.radians(30)), 0.5])
    assert frame[:3, :3] @ [1, 0, 0] == pytest.approx([1, 0, 0])
    assert np.linalg.det(frame[:3, :3]) == pytest.approx(1)


def test_what_is_ahead_is_seen_and_what_is_behind_is_not(blocks: SimpleNamespace) -> None:
    b = blocks
    see = sight(
        b, b.put("cup", b.thing((0.1, 0.1, 0.1)), (0, 0, 1.5)), b.put("jar", b.thing((0.1, 0.1, 0.1)), (-4, 0, 1.5))
    )
    assert see.look(camera(EYE)) == {"cup": Look("in view", RAYS, RAYS), "jar": Look("outside the field of view", 0, 0)}
    assert see.visible(camera(EYE)) == ("cup",)
    assert see.visible(camera(EYE, 180)) == ("jar",)
    assert see.visible(camera(EYE), ["jar"]) == ()


@pytest.mark.parametrize(
    ("heading", "pitch", "seen"),
    [
        (0, 0, True),
        (43, 0, True),
        (47, 0, False),
        (-43, 0, True),
        (-47, 0, False),
        (0, 36, True),
        (0, 39, False),
        (0, -36, True),
    ],
)
def test_the_field_of_view_is_ninety_by_seventy_five_degrees(
    blocks: SimpleNamespace, heading: float, pitch: float, seen: bool
) -> None:
    b = blocks
    see = sight(b, b.put("ball", b.thing((0.05, 0.05, 0.05), ((0, 0, 0), (0.05, 0.05, 0.05))), (0, 0, 1.6)))
    assert see.look(camera(EYE, heading, pitch))["ball"].visible == seen


@pytest.mark.parametrize(
    "blind",
    [
        lambda b: b.wall("wall_1", (-1, 0, 1.25), (0.1, 4, 2.5)),
        lambda b: b.put("door_1", b.thing((0.04, 0.9, 2.05)), (-1, 0, 0), kind="door"),
        lambda b: b.put("box", b.thing((0.3, 0.4, 1.8)), (-0.5, 0, 0)),
    ],
    ids=["wall", "door", "thing"],
)
def test_what_stands_before_it_hides_it(blocks: SimpleNamespace, blind: Any) -> None:
    b = blocks
    part = blind(b)
    cup = b.put("cup", b.thing((0.1, 0.1, 0.1)), (0, 0, 1.5))
    assert sight(b, b.floor(), part, cup).look(camera(EYE))["cup"] == Look("hidden", RAYS, 0, part.name)
    assert sight(b, b.floor(), cup).look(camera(EYE))["cup"].visible


def test_a_door_leaf_hides_only_while_it_is_closed(blocks: SimpleNamespace) -> None:
    b = blocks
    joint = Joint("hinge", (0, 0, 1), (0, 0.45, 0), 0.0, math.pi / 2)
    leaf = Link("leaf", "body", (), (b.piece((0, 0, 1.02), (0.04, 0.9, 2.04)),), joint)
    frame = ((0, 0.5, 1.0), (0.05, 0.05, 2.0))
    world = CollisionWorld(
        b.scene(
            b.floor(),
            b.put("door_1", b.thing((0.1, 0.9, 2.05), frame, links=[leaf]), (-1, 0, 0), kind="door"),
            b.put("cup", b.thing((0.1, 0.1, 0.1)), (0, 0, 1.5)),
        )
    )
    see = Sight(world)
    assert see.look(camera(EYE))["cup"].by == "door_1"
    world.update({}, {("door_1", "leaf"): math.pi / 2})
    assert see.visible(camera(EYE)) == ("cup",)


def test_a_fridge_shows_its_contents_when_open(blocks: SimpleNamespace) -> None:
    b = blocks
    world = CollisionWorld(
        b.scene(
            b.floor(),
            b.put("fridge", b.fridge(), (0, 0, 0), yaw=-math.pi / 2, kind="fixture"),
            b.put("milk", b.thing((0.08, 0.08, 0.2)), (0.05, 0, 0.86)),
        )
    )
    see = Sight(world)
    ahead = camera((-1.5, 0, 1.6), pitch=-20)
    assert see.visible(ahead) == ("fridge",)
    assert see.look(ahead)["milk"] == Look("hidden", RAYS, 0, "fridge")
    world.update({}, {("fridge", "door"): math.radians(100)})
    assert see.visible(ahead) == ("fridge", "milk")
    world.update({"milk": ((0.2, 0, 0.02), STILL)}, {})
    assert see.look(camera((-0.5, 0, 2.2), pitch=-70))["milk"] == Look("hidden", RAYS, 0, "fridge")  # below the board
    assert see.look(camera((-1.0, 0, 0.6), pitch=-20))["milk"].visible


@pytest.mark.parametrize(("cover", "seen"), [(0.0, True), (0.5, True), (0.75, True), (0.95, False), (1.0, False)])
def test_a_sliver_is_not_enough(blocks: SimpleNamespace, cover: float, seen: bool) -> None:
    """A screen right before a thin box covers a part of it."""
    b = blocks
    box = b.put("box", b.thing((0.002, 0.4, 0.4)), (0, 0, 1.4))
    edge = -0.2 + 0.4 * cover
    screen = b.put("screen", b.thing((0.002, 1.0, 1.0)), (-0.01, edge - 0.5, 1.1))
    found = sight(b, b.floor(), box, screen).look(camera(EYE))["box"]
    assert found.visible == seen
    assert found.reached / found.rays == pytest.approx(1 - cover, abs=0.13)


def test_what_is_far_and_small_can_not_be_made_out(blocks: SimpleNamespace) -> None:
    b = blocks
    see = sight(b, b.floor(size=(60, 60, 0.1)), b.put("pin", b.thing((0.02, 0.02, 0.02)), (0, 0, 1.6)))
    assert see.look(camera((-1.5, 0, 1.6)))["pin"].visible
    assert see.look(camera((-8, 0, 1.6)))["pin"].why == "too far to make out"


def test_a_paper_on_a_table_is_seen_from_above_only(blocks: SimpleNamespace) -> None:
    b = blocks
    table, paper = (
        b.put("table", b.table(), (0, 0, 0), kind="fixture"),
        b.put("paper", b.thing((0.21, 0.3, 0.001)), (0, 0, 0.75)),
    )
    see = sight(b, b.floor(), table, paper)
    assert see.visible(camera((-0.9, 0, 1.6), pitch=-45)) == ("paper", "table")
    assert see.visible(camera((-0.9, 0, 0.3), pitch=20)) == ("table",)


def test_a_long_counter_that_fills_the_view_is_seen(blocks: SimpleNamespace) -> None:
    b = blocks
    see = sight(b, b.floor(), b.put("counter", b.thing((8, 0.6, 0.9)), (0, 0, 0), kind="fixture"))
    look = see.look(camera((0, -0.7, 1.6), 90, -30))["counter"]
    assert look.visible
    assert look.rays < RAYS


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_moving_eye_and_things_together_changes_nothing(blocks: SimpleNamespace, seed: int) -> None:
    b = blocks
    rng = np.random.default_rng(seed)
    parts = [
        b.put(
            f"box_{n}", b.thing(tuple(rng.uniform(0.05, 0.5, 3))), tuple(rng.uniform(-1.5, 1.5, 3)), rng.uniform(0, 6)
        )
        for n in range(8)
    ]
    world = CollisionWorld(b.scene(b.floor(centre=(0, 0, -9)), *parts))
    eye = camera((-2.5, 0, 0.3))
    before = Sight(world).look(eye)
    turn = about((0, 0, 1), rng.uniform(0, 6))
    shift = rng.uniform(-3, 3, 3)
    poses = {}
    for part in parts:
        yaw = part.yaw + math.atan2(turn[1, 0], turn[0, 0])
        poses[part.name] = (tuple((turn @ part.position + shift).tolist()), b.turned((0, 0, 1), math.degrees(yaw)))
    world.update(poses, {})
    moved = eye.copy()
    moved[:3, :3], moved[:3, 3] = turn @ eye[:3, :3], turn @ eye[:3, 3] + shift
    after = Sight(world).look(moved)
    for name, look in before.items():
        assert abs(look.rays - after[name].rays) <= 1
        assert abs(look.reached - after[name].reached) <= 1


def test_the_points_lie_on_the_surface_and_are_always_the_same(blocks: SimpleNamespace) -> None:
    b = blocks
    fridge = b.put("fridge", b.fridge(), (0, 0, 0))
    found = surface_points(fridge)
    assert sum(len(points) for _, points in found) == RAYS
    assert [link for link, _ in found] == ["body", "door"]
    for link, points in found:
        pieces = next(part.pieces for part in fridge.asset.links if part.name == link)
        planes = [ConvexHull(part.vertices).equations for part in pieces]
        depth = np.min([np.abs((points @ p[:, :3].T + p[:, 3]).max(1)) for p in planes], axis=0)
        assert depth.max() < 1e-9
    again = surface_points(b.put("fridge", b.fridge(), (3, 1, 0)))
    assert all(np.array_equal(a[1], c[1]) for a, c in zip(found, again, strict=True))


def test_the_points_spread_by_area(blocks: SimpleNamespace) -> None:
    b = blocks
    ((_, points),) = surface_points(b.put("pole", b.thing((0.1, 0.1, 2.0)), (0, 0, 0)))
    assert np.histogram(points[:, 2], 4, (0, 2))[0].min() >= 4


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        (lambda s: s.look(camera(EYE), ["spoon"]), "'spoon' can't be looked for"),
        (lambda s: s.look(camera(EYE), ["door_1"]), "'door_1' can't be looked for"),
        (lambda s: s.look(np.eye(3)), "a camera is a finite frame"),
        (lambda s: s.look(camera((math.nan, 0, 0))), "a camera is a finite frame"),
    ],
)
def test_bad_questions_are_named_here_too(blocks: SimpleNamespace, question: Any, complaint: str) -> None:
    b = blocks
    see = sight(
        b,
        b.put("cup", b.thing((0.1, 0.1, 0.1)), (0, 0, 0)),
        b.put("door_1", b.thing((1, 0.1, 2)), (3, 0, 0), kind="door"),
    )
    with pytest.raises(UsageError, match=complaint):
        question(see)


def test_an_empty_scene_shows_nothing(blocks: SimpleNamespace) -> None:
    assert sight(blocks, blocks.floor()).visible(camera(EYE)) == ()
