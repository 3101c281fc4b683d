"""From a task to a scene: walls and doors by the plan, everything at its place and apart from all else."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from iwkit.compile import CompiledTask, load_task
from iwkit.compile.bind import scene_things
from iwkit.compile.things import Thing
from iwkit.errors import UsageError
from iwkit.floorplan import FLAT, WALL, floor, wall_of
from iwkit.library import Library
from iwkit.recipes import load_recipes
from iwkit.resources import root
from iwkit.scenes import scene_ids
from iwkit.spec.pack import Pack
from iwkit.spec.scene import Scene
from iwkit_runtime.physical.kinematics import Frame, about, frame, link_frames, matrix, quaternion, root_frame
from iwkit_runtime.physical.layout import Assets, build_scene, decor_name, furnish
from iwkit_runtime.physical.placer import APART, regions_for
from iwkit_runtime.physical.scene_spec import Placed, SceneSpec, Static
from iwkit_runtime.physical.shell import HEIGHT, OPENING, building, door_asset

LIBRARY = Library()
PACKS = sorted(path.stem for path in root("taskpacks").glob("*/*.yaml"))


@cache
def assets() -> Assets:
    return Assets(LIBRARY.catalogue, load_recipes())


@cache
def task(name: str) -> CompiledTask:
    return load_task(next(root("taskpacks").glob(f"*/{name}.yaml")), LIBRARY)


@cache
def scene(name: str) -> SceneSpec:
    return build_scene(task(name), assets())


@cache
def furnished(name: str) -> SceneSpec:
    """A scene without any pack."""
    plan = LIBRARY.scene(name)
    return furnish(plan, {thing.name: thing for thing in scene_things(plan, LIBRARY.catalogue)}, assets())


def placed(spec: SceneSpec, name: str) -> Placed:
    return next(p for p in spec.placed if p.name == name)


def hulls(thing: Placed, joints: dict[str, float] | None = None) -> list[np.ndarray]:
    frames = link_frames(thing.asset, root_frame(thing), thing.joints if joints is None else joints)
    return [frames[k.name].point(piece.vertices) for k in thing.asset.links for piece in k.pieces]


def gap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Free space between two upright boxes along each axis; negative where they overlap."""
    return np.maximum(a.min(0) - b.max(0), b.min(0) - a.max(0))


@pytest.mark.parametrize("name", PACKS)
def test_everything_of_a_task_is_placed_once(name: str) -> None:
    things = {t.name: t.kind for t in task(name).things.values() if t.kind != "room"}
    found = [(p.name, p.kind) for p in scene(name).placed]
    assert dict(found) == things
    assert len(found) == len(things)


@pytest.mark.parametrize("name", PACKS)
def test_objects_begin_apart_from_everything(name: str) -> None:
    spec = scene(name)
    for thing in spec.placed:
        if thing.kind != "object":
            continue
        for other in spec.placed:
            for mine in hulls(thing):
                for theirs in hulls(other) if other is not thing else ():
                    space = gap(mine, theirs)
                    assert space[:2].max() >= APART - 1e-6 or space[2] >= 0.003, (thing.name, other.name)


@pytest.mark.parametrize("name", PACKS)
def test_objects_begin_on_or_in_what_the_pack_says(name: str) -> None:
    spec = scene(name)
    for thing in task(name).things.values():
        if thing.kind != "object" or thing.place == "beside":
            continue
        support = placed(spec, thing.at or "")
        frames = link_frames(support.asset, root_frame(support), support.joints)
        point = np.array(placed(spec, thing.name).position)
        regions = regions_for(support.asset, "surface" if thing.place == "on" else "interior")
        inside = [np.abs(frames[r.link].local(point) - r.centre) <= np.array(r.size) / 2 + 1e-6 for r in regions]
        assert any(map(np.all, inside)), thing.name


def test_a_spot_is_seen_from_where_one_stands() -> None:
    """A1's soda, juice and water stand left to right on the counter for someone who faces it."""
    spec = scene("A1")
    counter = root_frame(placed(spec, "counter"))
    across = [counter.local(placed(spec, name).position)[0] for name in ("soda", "juice", "water")]
    assert across == sorted(across)
    assert across[1] == pytest.approx(0, abs=0.01)
    front = counter.local(placed(spec, "soda").position)[1]
    back = counter.local(placed(spec, "banana").position)[1]
    assert front < back


def test_an_object_faces_who_uses_its_support() -> None:
    spec = scene("D5")
    sheet, table = placed(spec, "price_sheet"), placed(spec, "packing_table")
    assert math.isclose(sheet.yaw, table.yaw)


def test_the_wearer_starts_where_the_pack_says() -> None:
    x, y, z, heading = scene("W7").eye_hint
    table, fridge = placed(scene("W7"), "breakfast_table"), placed(scene("W7"), "fridge")
    assert math.dist((x, y), table.position[:2]) < 1.2
    assert z == pytest.approx(1.6)
    toward = math.atan2(fridge.position[1] - y, fridge.position[0] - x)
    assert heading == pytest.approx(toward)


def test_building_twice_gives_the_same() -> None:
    again = build_scene(task("W7"), Assets(LIBRARY.catalogue, load_recipes()))
    assert [(p.name, p.position, p.yaw, dict(p.joints)) for p in again.placed] == [
        (p.name, p.position, p.yaw, dict(p.joints)) for p in scene("W7").placed
    ]


def altered(name: str, **changes: object) -> CompiledTask:
    w7 = task("W7")
    return replace(w7, things={**w7.things, name: replace(w7.things[name], **changes)})


BAD_TASKS = {
    "too large": (altered("cheese", size=(0.9, 0.9, 0.2)), "cheese .* finds no free place inside fridge"),
    "no interior": (altered("cheese", at="breakfast_table"), "breakfast_table has no interior"),
    "no surface": (altered("mug", at="fridge"), "fridge has no surface"),
    "unknown category": (altered("mug", category="grail"), "mug: no category 'grail'"),
    "unknown colour": (altered("mug", colour="octarine"), "mug: .*octarine"),
    "on each other": (
        replace(
            altered("mug", at="bowl"),
            things={**altered("mug", at="bowl").things, "bowl": altered("bowl", at="mug").things["bowl"]},
        ),
        "bowl, mug: each stands",
    ),
    "beside an object": (altered("mug", place="beside", at="bowl"), "mug: beside bowl"),
}


@pytest.mark.parametrize(("bad", "message"), BAD_TASKS.values(), ids=BAD_TASKS)
def test_what_cannot_be_laid_out_is_named(bad: CompiledTask, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_scene(bad, assets())


def test_beside_a_fixture_is_on_the_floor_near_it() -> None:
    spec = build_scene(altered("mug", place="beside", at="breakfast_table"), assets())
    mug, table = placed(spec, "mug"), placed(spec, "breakfast_table")
    assert mug.position[2] < 0.01
    assert math.dist(mug.position[:2], table.position[:2]) < 1.5


def test_an_open_fixture_begins_open() -> None:
    spec = build_scene(altered("fridge", open=True), assets())
    fridge = placed(spec, "fridge")
    for link in fridge.asset.links:
        if link.joint:
            assert fridge.joints[link.name] == link.joint.high


# --- decor ------------------------------------------------------------------------------------------------------------


def decor(spec: SceneSpec) -> dict[str, Static]:
    return {static.name: static for static in spec.statics if static.layer == "decor"}


@pytest.mark.parametrize("name", scene_ids())
def test_all_decor_of_a_scene_finds_its_place_apart_from_everything(name: str) -> None:
    plan, spec = LIBRARY.scene(name), furnished(name)
    found = decor(spec)
    assert set(found) == {decor_name(key) for key in plan.decor}
    for key, piece in plan.decor.items():
        flat = (piece.size or (0, 0, 0))[2] <= FLAT
        assert bool(found[decor_name(key)].pieces) != flat, key
    solids = [(p.name, hull) for p in spec.placed for hull in hulls(p)]
    solids += [(s.name, it.vertices) for s in spec.statics if s.layer == "wall" for it in s.pieces]
    low, high = (np.array([each(hull, 0) for _, hull in solids]) for each in (np.min, np.max))
    for mine, static in found.items():
        for piece in static.pieces:
            space = np.maximum(piece.vertices.min(0) - high, low - piece.vertices.max(0)).max(1)
            assert space.min() > -0.002, (mine, solids[int(space.argmin())][0])


def test_decor_yields_to_the_things_of_a_pack() -> None:
    """A table full of books: the bowl of fruit that stands there otherwise is left out, and nothing else changes."""
    table = "breakfast_table_1"
    plan = LIBRARY.scene("house")
    things = {thing.name: thing for thing in scene_things(plan, LIBRARY.catalogue)}
    books = {
        f"book_{n}": Thing(
            f"book_{n}",
            "object",
            "packing_box",
            frozenset(),
            "the box",
            ("box",),
            size=LIBRARY.catalogue.categories["packing_box"].size,
            place="on",
            at=table,
        )
        for n in range(3)
    }
    with pytest.raises(UsageError, match=r"fruit_bowl .* finds no free place on breakfast_table_1"):
        furnish(plan, {**things, **books}, assets())
    w7 = task("W7")
    full = replace(w7, scene=plan, things={**things, **books}, pack=at_home(w7.pack, table))
    found = decor(build_scene(full, assets()))
    assert set(decor(furnished("house"))) - set(found) == {decor_name("fruit_bowl")}


def at_home(pack: Pack, at: str) -> Pack:
    """The pack with its wearer at another fixture."""
    wearer = pack.physical.wearer.model_copy(update={"at": at, "facing": None})
    return pack.model_copy(update={"physical": pack.physical.model_copy(update={"wearer": wearer})})


# --- the building -----------------------------------------------------------------------------------------------------


def boxes(scene_id: str, layer: str) -> np.ndarray:
    """Lowest and highest corners (n, 2, 3) of the building's pieces of a layer."""
    pieces = [piece.vertices for s in building(LIBRARY.scene(scene_id)) if s.layer == layer for piece in s.pieces]
    return np.array([(piece.min(0), piece.max(0)) for piece in pieces])


def covered(pieces: np.ndarray, points: np.ndarray | tuple[float, float, float]) -> np.ndarray:
    """Which of the points (..., 3) lie in any of the pieces."""
    points = np.asarray(points)[..., None, :]
    return ((pieces[:, 0] <= points) & (pieces[:, 1] >= points)).all(-1).any(-1)


def touches(plan: Scene, point: tuple[float, float], reach: float) -> bool:
    """Whether a point is on the edge of a room indoors, or so near to it."""
    boxes_ = [room.box for room in plan.rooms.values() if not room.outdoor]
    return any(b[0] - reach < point[0] < b[2] + reach and b[1] - reach < point[1] < b[3] + reach for b in boxes_)


@pytest.mark.parametrize("name", scene_ids())
def test_walls_stand_everywhere_but_in_the_openings(name: str) -> None:
    plan = LIBRARY.scene(name)
    walls = boxes(name, "wall")
    openings = [(*d.at, d.width / 2) for d in plan.doors.values()]
    checked = 0
    for room in plan.rooms.values():
        x0, y0, x1, y1 = room.box
        for t in np.linspace(0.03, 0.97, 60):
            x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
            for point, across in (((x0, y), (1, 0)), ((x1, y), (1, 0)), ((x, y0), (0, 1)), ((x, y1), (0, 1))):
                beside = min(math.dist(point, (a, b)) - half for a, b, half in openings)
                if abs(beside) < 0.01:
                    continue
                for shift in (-0.04, 0.04):
                    at = (point[0] + shift * across[0], point[1] + shift * across[1])
                    assert covered(walls, (*at, 1.0)) != (beside < 0), at
                    near, far = (touches(plan, point, reach) for reach in (1e-6, WALL))
                    if near == far:  # but at the corners of a house, where its walls meet a hedge
                        assert covered(walls, (*at, (OPENING + HEIGHT) / 2)) == near, at
                    checked += beside < 0
    assert checked > 10


@pytest.mark.parametrize("name", scene_ids())
def test_a_wall_is_seen_without_gaps_from_its_room(name: str) -> None:
    """At 1 m above the floor, from corner to corner but for the openings, outdoors too."""
    plan = LIBRARY.scene(name)
    openings = [(*d.at, d.width / 2) for d in plan.doors.values()]
    for static in building(plan):
        if static.layer != "wall":
            continue
        x0, y0, x1, y1 = floor(plan, static.name.removeprefix("wall_"))
        faces = [visual.vertices[visual.faces] for visual in static.visuals]
        low, high = (
            np.concatenate([each(face, 1) for face in faces]) - sign for each, sign in ((np.min, 1e-6), (np.max, -1e-6))
        )
        seen = np.stack([low, high], 1)
        for t in np.linspace(0.005, 0.995, 200):
            x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
            for point in ((x0, y), (x1, y), (x, y0), (x, y1)):
                if min(math.dist(point, (a, b)) - half for a, b, half in openings) > WALL:
                    assert covered(seen, (*point, 1.0)), (static.name, point)


@pytest.mark.parametrize("name", scene_ids())
def test_rooms_have_floors_and_are_empty_of_walls(name: str) -> None:
    plan = LIBRARY.scene(name)
    walls, floors = boxes(name, "wall"), boxes(name, "floor")
    for room in plan.rooms:
        x0, y0, x1, y1 = floor(plan, room)
        for x in np.linspace(x0 + 0.01, x1 - 0.01, 12):
            for y in np.linspace(y0 + 0.01, y1 - 0.01, 12):
                assert covered(floors, (x, y, -0.05))
                assert not covered(walls, (x, y, 1.0))


@pytest.mark.parametrize("name", scene_ids())
def test_what_is_seen_of_a_wall_faces_its_room(name: str) -> None:
    plan = LIBRARY.scene(name)
    seen = 0
    for static in building(plan):
        room = static.name.split("_", 1)[1]
        x0, y0, x1, y1 = floor(plan, room)
        middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2, 1.0])
        for visual in static.visuals:
            a, b, c = (visual.vertices[visual.faces[:, k]] for k in range(3))
            toward = ((middle - a) * np.cross(b - a, c - a)).sum(1) > 0
            x, y, _ = ((a + b + c) / 3).T
            within_wall = (x < x0 - 0.01) | (x > x1 + 0.01) | (y < y0 - 0.01) | (y > y1 + 0.01)  # jambs, lintels, tops
            assert (toward | within_wall).all(), static.name
            seen += int((~within_wall).sum())
    assert seen > 10 * len(plan.rooms)


@pytest.mark.parametrize("name", scene_ids())
def test_doors_open_into_their_first_room_about_the_lower_end(name: str) -> None:
    plan = LIBRARY.scene(name)
    spec, walls = furnished(name), boxes(name, "wall")
    for key, door in plan.doors.items():
        thing = placed(spec, key)
        if not door.leaf:
            assert hulls(thing) == []
            continue
        wall = wall_of(plan, door)
        assert wall is not None
        closed, opened = (np.concatenate(hulls(thing, {"leaf": value})) for value in (0.0, math.pi / 2))
        along = 1 - wall.axis
        assert np.ptp(closed[:, along]) == pytest.approx(door.width, abs=0.02)
        assert abs(closed[:, wall.axis].mean() - wall.at) < WALL / 2
        x0, y0, x1, y1 = plan.rooms[door.between[0]].box
        assert (opened.min(0)[:2] > (x0 - WALL, y0 - WALL)).all()
        assert (opened.max(0)[:2] < (x1 + WALL, y1 + WALL)).all()
        assert abs(opened[:, wall.axis].mean() - wall.at) > 0.3
        assert opened[:, along].max() < door.at[along]  # it stands at the lower end
        for angle in np.linspace(0, math.pi / 2, 19):
            corners = np.concatenate(hulls(thing, {"leaf": angle}))
            middle = corners.mean(0)
            shares = np.linspace(0, 0.99, 8)[:, None, None]
            assert not covered(walls, middle + shares * (corners - middle)).any()


def test_a_doors_handle_is_on_the_side_it_opens_to() -> None:
    for left in (True, False):
        leaf = door_asset(0.9, leaf=True, hinge_left=left).links[1]
        assert leaf.handle is not None
        assert leaf.joint is not None
        assert leaf.handle[1] < -WALL / 2
        assert np.sign(leaf.handle[0]) == -np.sign(leaf.joint.anchor[0])


# --- kinematics -------------------------------------------------------------------------------------------------------


def test_quaternions_and_matrices_are_each_others_inverse() -> None:
    random = np.random.default_rng(3)
    for turn in [np.eye(3), *(about(axis, math.pi) for axis in np.eye(3))]:
        assert np.allclose(matrix(quaternion(turn)), turn, atol=1e-12)
    for _ in range(200):
        turn = about(random.normal(size=3), random.uniform(-math.pi, math.pi))
        assert np.allclose(matrix(quaternion(turn)), turn, atol=1e-12)
        place = Frame(turn, random.normal(size=3))
        back = frame(place.pose)
        assert np.allclose(back.turn, turn)
        assert np.allclose(place.local(place.point([1, 2, 3])), [1, 2, 3])
        assert np.allclose(place.then(place.inverse()).point([1, 2, 3]), [1, 2, 3])
