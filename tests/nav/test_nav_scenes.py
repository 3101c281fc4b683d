"""Ways through the real scenes, furniture as boxes, every leaf closed at the start."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from iwkit.floorplan import WALL, Box, footprint, size_of, stance, wall_of
from iwkit.floorplan import route as floor_route
from iwkit.library import Library
from iwkit.spec.scene import Door, Scene
from iwkit_runtime.nav.doors import Leaf, OpenLeg, Route, WalkLeg, plan_route, swing
from iwkit_runtime.nav.geometry import Floats, Point
from iwkit_runtime.nav.grid import Grid, Obstacle, build_grid
from iwkit_runtime.nav.stance import stances
from iwkit_runtime.nav.walk import Pose, Trajectory, walk

SCENES = ("flat", "infirmary", "office")
HIGH, THICK = 2.05, 0.04


def block(box: Box, low: float, high: float) -> Floats:
    x0, y0, x1, y1 = box
    return np.array(list(itertools.product((x0, x1), (y0, y1), (low, high))), dtype=np.float64)


def walls(scene: Scene) -> Iterator[Obstacle]:
    """The sides of every room less the openings of the doors in them."""
    for room in scene.rooms.values():
        for axis, end in itertools.product((0, 1), (0, 1)):
            at, low, high = room.box[axis + 2 * end], room.box[1 - axis], room.box[3 - axis]
            cuts = sorted(gap for door in scene.doors.values() for gap in opening(scene, door, axis, at, low, high))
            edges = [low, *itertools.chain(*cuts), high]
            for a, b in zip(edges[::2], edges[1::2], strict=True):
                across, along = (at - WALL / 2, at + WALL / 2), (a, b)
                (x0, x1), (y0, y1) = (across, along) if axis == 0 else (along, across)
                yield Obstacle("wall", "wall", block((x0, y0, x1, y1), 0, 2.6))


def opening(scene: Scene, door: Door, axis: int, at: float, low: float, high: float) -> Iterator[tuple[float, float]]:
    wall = wall_of(scene, door)
    assert wall is not None
    middle = door.at[1 - wall.axis]
    if wall.axis == axis and abs(wall.at - at) < 1e-6 and low < middle < high:
        yield middle - door.width / 2, middle + door.width / 2


def leaf(scene: Scene, name: str) -> Leaf:
    """A door's leaf: hinged at the end with the smaller coordinate, opening into the first of its rooms."""
    door = scene.doors[name]
    wall = wall_of(scene, door)
    assert wall is not None
    low, high = door.at[1 - wall.axis] - door.width / 2, door.at[1 - wall.axis] + door.width / 2
    thin, wide = (wall.at - THICK / 2, wall.at + THICK / 2), (low, high)
    (x0, x1), (y0, y1) = (thin, wide) if wall.axis == 0 else (wide, thin)
    hinge = (wall.at, low) if wall.axis == 0 else (low, wall.at)
    handle = (wall.at, high - 0.07) if wall.axis == 0 else (high - 0.07, wall.at)
    into = 1 if scene.rooms[door.between[0]].box[wall.axis] >= wall.at - 1e-6 else -1
    turn = into * math.pi / 2 * (-1 if wall.axis == 0 else 1)
    return Leaf(name, swing([block((x0, y0, x1, y1), 0, HIGH)], hinge, turn), handle)


def furnished(scene: Scene) -> tuple[Grid, tuple[Leaf, ...]]:
    leaves = tuple(leaf(scene, name) for name, door in scene.doors.items() if door.leaf)
    things = [
        Obstacle(name, "furniture", block(footprint(f), f.base, f.base + size_of(f)[2]))
        for name, f in scene.fixtures.items()
    ]
    closed = [Obstacle(it.name, "door", piece) for it in leaves for piece in it.poses[0]]
    return build_grid([room.box for room in scene.rooms.values()], [*walls(scene), *things, *closed]), leaves


@pytest.fixture(scope="module", params=SCENES)
def place(request) -> tuple[Scene, Grid, tuple[Leaf, ...]]:
    scene = Library().scene(request.param)
    return scene, *furnished(scene)


def test_every_fixture_is_reached_from_every_room(place):
    """Doors that swing either way, all closed: each room's fixtures from the first free fixture of each room."""
    scene, grid, leaves = place
    nowhere: set[str] = set()
    hubs: dict[str, Point] = {}
    for fixture in scene.fixtures.values():
        it = stance(fixture)
        hubs.setdefault(fixture.room, (it.x, it.y))
    assert set(hubs) == set(scene.rooms)
    first = next(iter(hubs.values()))
    for room, hub in hubs.items():  # both ways between rooms, so from every room to every other
        for a, b in ((first, hub), (hub, first)):
            assert isinstance(plan_route(grid, leaves, a, b), Route), room
    for name, fixture in scene.fixtures.items():
        it = stance(fixture)
        if not isinstance(plan_route(grid, leaves, hubs[fixture.room], (it.x, it.y)), Route):
            nowhere.add(name)
    assert not nowhere


def test_routes_open_just_the_doors_that_the_floor_plan_names(place):
    scene, grid, leaves = place
    corridor = next(name for name in scene.rooms if name in ("hall", "corridor"))
    hub = next(stance(fixture) for fixture in scene.fixtures.values() if fixture.room == corridor)
    leafed = {it.name for it in leaves}
    seen = set()
    for room in scene.rooms:
        goal = next(stance(fixture) for fixture in scene.fixtures.values() if fixture.room == room)
        route = plan_route(grid, leaves, (hub.x, hub.y), (goal.x, goal.y))
        expected = floor_route(scene, (hub.x, hub.y), (goal.x, goal.y)).doors
        assert route.doors == tuple(door for door in expected if door in leafed)
        seen.update(route.doors)
    assert len(seen) >= 2


def test_whole_walks_keep_the_limits(place):
    """The longest way of each scene, leg by leg, every pose on floor that nothing blocks."""
    scene, grid, leaves = place
    spots = [stance(fixture) for fixture in scene.fixtures.values()]
    here, there = max(itertools.combinations(spots, 2), key=lambda pair: math.dist(pair[0][:2], pair[1][:2]))
    route = plan_route(grid, leaves, here[:2], there[:2])
    assert isinstance(route, Route)
    pose = Pose(here.x, here.y, math.radians(here.heading))
    ends = [leg.stance for leg in route.legs if isinstance(leg, OpenLeg)]
    goals = [*(Pose(it.x, it.y, it.heading) for it in ends), Pose(there.x, there.y, math.radians(there.heading))]
    for leg, goal in zip((leg for leg in route.legs if isinstance(leg, WalkLeg)), goals, strict=True):
        walked = walk(leg.grid, pose, goal)
        assert isinstance(walked, Trajectory)
        moves = np.diff(walked.poses[:, :2], axis=0)
        assert np.hypot(*moves.T).max() <= 0.1
        assert max(abs(math.remainder(turn, math.tau)) for turn in np.diff(walked.poses[:, 2])) <= math.radians(10)
        assert not any(leg.grid.blocked.flat[leg.grid.cell((x, y))] for x, y, _ in walked.poses.tolist())
        x, y, heading = walked.poses[-1].tolist()
        assert (x, y) == pytest.approx(goal[:2])
        assert math.remainder(heading - goal.heading, math.tau) == pytest.approx(0, abs=1e-6)
        pose = goal


def test_stances_are_found_in_front_of_what_is_used(place):
    """Around the middle of the side from which a fixture is used there is somewhere to stand, before that side."""
    scene, grid, leaves = place
    opened = grid
    for it in leaves:
        opened = opened.without(it.name).with_pieces(Obstacle(it.name, "door", piece) for piece in it.poses[-1])
    for name, fixture in scene.fixtures.items():
        nominal = stance(fixture)
        towards = math.radians(nominal.heading)
        contact = nominal.x + 0.45 * math.cos(towards), nominal.y + 0.45 * math.sin(towards)
        found = next(stances(opened, contact, (nominal.x, nominal.y)), None)
        assert found is not None, name
        before = (contact[0] - found.x) * math.cos(towards) + (contact[1] - found.y) * math.sin(towards)
        assert before > -1e-9, name
