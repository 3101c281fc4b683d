"""Scenes: the data that ships, every check, where things stand, and the geometry."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit import scenerules
from iwkit.catalogue import load_catalogue
from iwkit.errors import Problems, UsageError
from iwkit.floorplan import Route, footprint, overlaps, room_at, route, shared_wall, stance
from iwkit.placing import place_fixtures
from iwkit.scenes import SCENE_CODES, load_scene, scene_ids
from iwkit.spec.scene import Door, Fixture, Room, Scene

PAGE = Path(__file__).parent.parent / "docs" / "scenes.md"
CATALOGUE = load_catalogue()
SCENES = {name: load_scene(name, CATALOGUE) for name in scene_ids()}

SMALL = """\
scene: "1.0"
id: small
title: Two rooms
rooms:
  den: {public: the den, box: [0, 0, 4, 3]}
  shed: {public: the shed, box: [4, 0, 7, 3]}
doors:
  den_door: {public: the door, between: [den, shed], at: [4, 1.5]}
fixtures:
  desk_1: {category: desk, room: den, at: [1, 2.5], facing: 270}
  shelf_1: {category: shelf, room: shed, at: [5.5, 2.7], facing: 270}
"""

ADDED = "  {name}: {{category: {category}, room: {room}, at: {at}, facing: 270{more}}}\n"


def added(name: str, category: str, at: str, room: str = "shed", more: str = "") -> tuple[str, str]:
    """An edit that adds a fixture as the last line of SMALL."""
    return "", ADDED.format(name=name, category=category, room=room, at=at, more=more)


ON_FRIDGE = """\
  f: {category: fridge, room: shed, against: south, along: 6.4}
  m: {category: microwave, on: f}
"""
SASH = """\
  w: {category: window, room: den, against: south, along: 2, base: 0.9}
  lamp_1: {category: lamp, room: den, at: [1.5, 0.6], facing: 180}
"""
BARRIER = """\
  c: {category: bookshelf, room: den, at: [0.9, 1.2], facing: 270, size: [1.7, 0.3, 1.9]}
  d: {category: bookshelf, room: den, at: [1.9, 2.1], facing: 0, size: [1.6, 0.3, 1.9]}
"""
PAIR = "  {name}: {{category: chair, room: shed, at: [{x}, 0.6], facing: {facing}, public: {public}}}\n"
WINDOW = "  w: {category: window, room: shed, at: [6, 0.1], facing: 90, base: 0.9}\n"


def called(facings: tuple[int, int], faced: str, *, mirrored: bool, more: str = "") -> str:
    """Lines that add two chairs at the lower wall of the shed, the one with the smaller x called left if `mirrored`."""
    sides = ("left", "right") if mirrored else ("right", "left")
    return more + "".join(
        PAIR.format(name=f"chair_{side}", x=x, facing=facing, public=f"the {side} chair as you face {faced}")
        for side, x, facing in zip(sides, (5, 6.4), facings, strict=True)
    )


# edit of SMALL (old text, new text; no old text appends), the code, and the text at which the problem is placed
BAD = {
    "unknown room of a door": (("between: [den, shed]", "between: [den, shet]"), "L701", "shet"),
    "unknown room of a fixture": (("room: den", "room: dem"), "L701", "dem"),
    "unknown category": (("category: desk", "category: dsek"), "L701", "dsek"),
    "code in public text": (("public: the den", "public: the den_1"), "L703", "the den_1"),
    "room inside out": (("box: [4, 0, 7, 3]", "box: [7, 0, 4, 3]"), "L704", "[7, 0, 4, 3]"),
    "rooms overlap": (("box: [4, 0, 7, 3]", "box: [3, 0, 7, 3]"), "L705", "[3, 0, 7, 3]"),
    "rooms apart": (("box: [4, 0, 7, 3]", "box: [4.2, 0, 7, 3]"), "L706", "[den, shed]"),
    "door beside the wall": (("at: [4, 1.5]", "at: [3.9, 1.5]"), "L706", "[3.9, 1.5]"),
    "door into a corner": (("at: [4, 1.5]", "at: [4, 0.49]"), "L706", "[4, 0.49]"),
    "door wider than the wall": (("at: [4, 1.5]", "at: [4, 1.5], width: 3"), "L706", "[4, 1.5]"),
    "door from a room to itself": (("between: [den, shed]", "between: [den, den]"), "L706", "[den, den]"),
    "no way into a room": (
        ("doors:\n  den_door: {public: the door, between: [den, shed], at: [4, 1.5]}\n", ""),
        "L707",
        "shed:",
    ),
    "an object as fixture": (added("cup", "mug", "[6.5, 1]"), "L708", "mug"),
    "through the wall": (("at: [1, 2.5]", "at: [1, 2.65]"), "L709", "[1, 2.65]"),
    "in another room": (("room: den", "room: shed"), "L709", "[1, 2.5]"),
    "two in one place": (added("shelf_2", "chair", "[5.4, 2.7]"), "L710", "[5.4, 2.7]"),
    "sunk into a table": (added("screen", "computer", "[1, 2.28]", "den", ", base: 0.7"), "L710", "[1, 2.28]"),
    "before the door": (added("bin", "trash_can", "[4.3, 1.5]"), "L711", "[4.3, 1.5]"),
    "in the swing of the leaf": (added("bin", "trash_can", "[3.3, 1.5]", "den"), "L711", "[3.3, 1.5]"),
    "front against a wall": (("at: [1, 2.5], facing: 270", "at: [1, 2.5], facing: 90"), "L712", "[1, 2.5]"),
    "front against a bin": (added("bin", "trash_can", "[1, 1.9]", "den"), "L712", "[1, 2.5]"),
    "an object as decor": (("", "decor:\n  cup: {category: mug, on: desk_1}\n"), "L708", "mug"),
    "a fixture as decor": (
        ("", "decor:\n  bin: {category: trash_can, room: shed, at: [6, 1], facing: 0}\n"),
        "L708",
        "trash_can",
    ),
    "decor as fixture": (added("art", "picture", "[6, 1]"), "L708", "picture"),
    "on a fixture that isn't there": (("", "decor:\n  books: {category: book_row, on: shelf_9}\n"), "L701", "shelf_9"),
    "decor through the wall": (
        ("", "decor:\n  art: {category: picture, room: den, at: [0.04, 1], facing: 0}\n"),
        "L709",
        "[0.04, 1]",
    ),
    "decor in a desk": (
        ("", "decor:\n  bush: {category: bush, room: den, at: [1, 2.4], facing: 0}\n"),
        "L710",
        "[1, 2.4]",
    ),
    "decor before a door": (
        ("", "decor:\n  bush: {category: bush, room: shed, at: [4.4, 1.5], facing: 0}\n"),
        "L711",
        "[4.4, 1.5]",
    ),
    "decor where one stands": (
        ("", "decor:\n  bush: {category: bush, room: den, at: [1, 1.6], facing: 0}\n"),
        "L712",
        "[1, 2.5]",
    ),
    "on what is no surface": (("", ON_FRIDGE), "L717", "f}"),
    "inside what is no container": (("", "decor:\n  books: {category: book_row, inside: desk_1}\n"), "L717", "desk_1}"),
    "on itself": (("", "  a: {category: table, on: b}\n  b: {category: table, on: a}\n"), "L717", "b}"),
    "a sash that meets a lamp": (("", SASH), "L718", "2, base"),
    "behind a barrier": (("", BARRIER), "L719", "[1, 2.5]"),
    "an open desk": (("facing: 270}\n  shelf_1", "facing: 270, open: true}\n  shelf_1"), "L713", "true"),
    "a running shelf": (("at: [5.5, 2.7], facing: 270", "at: [5.5, 2.7], facing: 270, running: true"), "L713", "true"),
    "two of one name": (added("shelf_2", "shelf", "[6.5, 0.5]", more=", size: [0.5, 0.3, 1]"), "L714", "shelf_2:"),
    "rooms of one name": (("public: the shed", "public: The Den"), "L714", "The Den"),
    "left on the right": (("", called((90, 90), "the two", mirrored=True)), "L720", "[5, 0.6]"),
    "left on the right of who faces the window": (
        ("", called((0, 180), "the window", mirrored=True, more=WINDOW)),
        "L720",
        "[5, 0.6]",
    ),
    "no surface left": (
        ("at: [5.5, 2.7], facing: 270", "at: [5.5, 2.9], facing: 270, size: [0.5, 0.05, 1]"),
        "L715",
        "[0.5, 0.05",
    ),
}


def problems(source: Path) -> list[tuple[str, int, int]]:
    found = problems_or_none(source)
    assert found
    return found


def place(text: str, part: str) -> tuple[int, int]:
    before = text[: text.index(part)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.mark.parametrize("name", BAD)
def test_a_fault_is_found_at_its_place(name: str, small: Path) -> None:
    (old, new), code, part = BAD[name]
    assert old in SMALL
    text = SMALL.replace(old, new, 1) if old else SMALL + new
    small.write_text(text)
    assert (code, *place(text, part)) in problems(small)


@pytest.mark.parametrize(
    "lines",
    [
        called((90, 90), "the two", mirrored=False),
        called((0, 180), "the window", mirrored=False, more=WINDOW),
        called((90, 180), "the sea", mirrored=True),  # nobody can tell how one stands who faces that
    ],
)
def test_sides_that_are_as_called_or_cannot_be_told_are_no_fault(lines: str, small: Path) -> None:
    small.write_text(SMALL + lines)
    assert "L720" not in {code for code, _, _ in problems_or_none(small)}


def problems_or_none(source: Path) -> list[tuple[str, int, int]]:
    try:
        load_scene(source, CATALOGUE)
    except Problems as error:
        return [(problem.code, *problem.pos) for problem in error.problems]
    return []


def test_every_scene_code_has_a_test_and_a_line_in_the_page() -> None:
    page = PAGE.read_text()
    assert {code for _, code, _ in BAD.values()} | {"L702", "L716"} == set(SCENE_CODES)
    assert [code for code in SCENE_CODES if f"`{code}`" not in page] == []


def test_all_faults_are_told_at_once_and_in_order(small: Path) -> None:
    text = SMALL.replace("room: den", "room: dem").replace("the shed", "the_shed").replace("[5.5, 2.7]", "[5.5, 2.9]")
    small.write_text(text)
    found = problems(small)
    assert [code for code, _, _ in found] == ["L703", "L701", "L709"]
    assert found == sorted(found, key=lambda it: it[1:])


def test_a_scene_is_loaded_from_a_users_folder(small: Path) -> None:
    scene = load_scene(small, CATALOGUE)
    assert scene.fixtures["desk_1"].public == "the desk"
    assert scene.fixtures["desk_1"].size == CATALOGUE.categories["desk"].size
    assert load_scene(str(small), CATALOGUE) == scene


def test_an_unknown_scene_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean `office`"):
        load_scene("ofice", CATALOGUE)
    with pytest.raises(UsageError, match=r"flat, hotel, house, .*office"):
        load_scene("zoo", CATALOGUE)
    with pytest.raises(UsageError, match="no scene file"):
        load_scene(tmp_path / "none.yaml", CATALOGUE)


def test_the_shipped_scenes_are_furnished() -> None:
    assert {"flat", "house", "infirmary", "office"} <= set(SCENES)
    for name, scene in SCENES.items():
        assert scene.id == name
        assert len(scene.fixtures) >= 25
        assert {fixture.room for fixture in scene.fixtures.values()} == set(scene.rooms)
        assert any(door.leaf and not door.open for door in scene.doors.values())
        assert any(not door.leaf for door in scene.doors.values())


def test_public_text_of_scenes_is_said_with_an_article() -> None:
    for scene in SCENES.values():
        spoken: list[Room | Door | Fixture] = [*scene.rooms.values(), *scene.doors.values(), *scene.fixtures.values()]
        assert [it.public for it in spoken if not (it.public or "").startswith("the ")] == []


@pytest.mark.parametrize(
    ("scene", "left", "right", "facing"),
    [
        ("infirmary", "nightstand_left", "nightstand_right", "bed_1"),
        ("flat", "nightstand_1", "nightstand_2", "bed_1"),
        ("hotel", "nightstand_1", "nightstand_2", "bed_1"),
        ("infirmary", "shelf_left", "shelf_right", "supply_door"),
        ("office", "shelf_left", "shelf_right", "stock_door"),
    ],
)
def test_left_and_right_are_true(scene: str, left: str, right: str, facing: str) -> None:
    """Seen by someone who faces the bed from its foot, or who has come through the door."""
    plan = SCENES[scene]
    fixtures = plan.fixtures
    if facing in fixtures:
        (x, y, degrees), room = stance(fixtures[facing]), fixtures[facing].room
        look = (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))
        assert "as you face the bed" in (fixtures[left].public or "")
    else:
        (x, y), room = plan.doors[facing].at, plan.doors[facing].between[0]
        middle = plan.rooms[room].box
        look = ((middle[0] + middle[2]) / 2 - x, (middle[1] + middle[3]) / 2 - y)
    for name, sign, word in ((left, 1, "left"), (right, -1, "right")):
        at = fixtures[name].at
        assert fixtures[name].room == room
        assert sign * (look[0] * (at[1] - y) - look[1] * (at[0] - x)) > 0.3
        assert f" {word} " in (fixtures[name].public or "")


@pytest.mark.parametrize(
    ("facing", "approach", "expected"),
    [
        (270, "front", (2, 1.5 - 0.45, 90)),
        (270, "back", (2, 2.5 + 0.45, 270)),
        (270, "left", (3 + 0.45, 2, 180)),
        (270, "right", (1 - 0.45, 2, 0)),
        (0, "front", (2.5 + 0.45, 2, 180)),
        (0, "left", (2, 3 + 0.45, 270)),
        (90, "left", (1 - 0.45, 2, 0)),
        (180, "right", (2, 3 + 0.45, 270)),
    ],
)
def test_the_wearer_stands_before_the_side_in_use(
    facing: int, approach: str, expected: tuple[float, float, int]
) -> None:
    fixture = Fixture.model_validate(
        {"category": "x", "room": "r", "at": [2, 2], "facing": facing, "approach": approach, "size": [2, 1, 1]}
    )
    assert stance(fixture) == pytest.approx(expected)
    assert footprint(fixture) == ((1, 1.5, 3, 2.5) if facing in (90, 270) else (1.5, 1, 2.5, 3))


@pytest.mark.parametrize(
    ("against", "along", "at", "facing"),
    [
        ("north", 2.0, (2, 2.95 - 0.35), 270),
        ("south", 2.0, (2, 0.05 + 0.35), 90),
        ("west", 1.5, (0.05 + 0.35, 1.5), 0),
        ("east", 1.5, (3.95 - 0.35, 1.5), 180),
    ],
)
def test_a_fixture_against_a_wall_has_its_back_there(
    against: str, along: float, at: tuple[float, float], facing: int
) -> None:
    """The den is 4 x 3 m with 0.05 m of wall; a desk is 0.7 m deep."""
    room = Room(public="the den", box=(0, 0, 4, 3))
    desk = Fixture.model_validate({"category": "desk", "room": "den", "against": against, "along": along})
    scene = Scene(scene="1.0", id="den", title="Den", rooms={"den": room}, fixtures={"desk": desk})
    placed = place_fixtures(scene, CATALOGUE)["desk"]
    assert placed.at == pytest.approx(at)
    assert placed.facing == facing
    assert placed.against is None


@pytest.mark.parametrize("facing", [0, 90, 180, 270])
def test_a_spot_on_a_fixture_is_seen_by_who_faces_it(facing: int) -> None:
    """Right and back of the middle, as one faces the table's front; and the top is where it stands."""
    table = {"category": "table", "room": "den", "at": [2, 1.5], "facing": facing}
    lamp = {"category": "coffee_maker", "on": "table", "spot": [1, 1]}
    box = Fixture.model_validate(lamp)
    rooms = {"den": Room(public="the den", box=(0, 0, 4, 3))}
    fixtures = {"lamp": box, "table": Fixture.model_validate(table)}
    scene = Scene(scene="1.0", id="den", title="Den", rooms=rooms, fixtures=fixtures)
    placed = place_fixtures(scene, CATALOGUE)
    x, y, degrees = stance(placed["table"])
    look = (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))
    dx, dy = placed["lamp"].at[0] - 2, placed["lamp"].at[1] - 1.5
    assert look[0] * dx + look[1] * dy == pytest.approx(0.4 * 0.75)  # of the depth, away from who looks
    assert look[1] * dx - look[0] * dy == pytest.approx(0.4 * 1.2)  # of the width, to the right
    assert placed["lamp"].base == pytest.approx(0.74)
    assert placed["lamp"].facing == facing
    assert placed["lamp"].room == "den"
    assert math.dist((x, y), (2, 1.5)) > 0.5


def test_what_is_on_a_deep_fixture_stands_where_it_can_be_used(small: Path) -> None:
    small.write_text(SMALL + "  screen: {category: computer, on: desk_1}\n")
    scene = load_scene(small, CATALOGUE)
    desk, screen = footprint(scene.fixtures["desk_1"]), footprint(scene.fixtures["screen"])
    assert 0.1 < screen[1] - desk[1] < 0.2


def test_decor_hangs_from_the_ceiling_and_stands_in_its_holders_room(small: Path) -> None:
    small.write_text(
        SMALL
        + "decor:\n  lamp: {category: ceiling_lamp, room: den, ceiling: true}\n"
        + "  books: {category: book_row, on: shelf_1}\n"
        + "  bulb: {category: ceiling_lamp, room: shed, ceiling: true, at: [5, 1]}\n"
    )
    decor = load_scene(small, CATALOGUE).decor
    assert decor["lamp"].at == (2, 1.5)
    assert decor["lamp"].base == pytest.approx(2.5 - 0.12)
    assert decor["bulb"].at == (5, 1)
    assert decor["books"].room == "shed"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{category: desk, room: den}", "give one of `on`, `against`, `at`"),
        ("{category: desk, room: den, at: [1, 1]}", "`at` needs `facing`"),
        ("{category: desk, room: den, against: north}", "`against` needs `along`"),
        ("{category: desk, against: north, along: 1}", "`against` needs `room`"),
        ("{category: desk, room: den, against: north, along: 1, facing: 0}", "with `against` there is no `facing`"),
        ("{category: desk, on: desk_1, base: 1}", "with `on` there is no `base`"),
        ("{category: desk, on: desk_1, spot: [2, 0]}", r"u in \[-1, 1\]"),
        ("{category: desk, room: den, against: up, along: 1}", "north"),
    ],
)
def test_a_place_is_said_in_one_way(line: str, said: str, small: Path) -> None:
    small.write_text(SMALL + f"  another: {line}\n")
    with pytest.raises(Problems, match=said):
        load_scene(small, CATALOGUE)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("outdoor: true", "bounded by"),
        ("outdoor: true, walls: white", "bounded by"),
        ("walls: hedge", "outdoors"),
        ("floor: lava", "floor"),
    ],
)
def test_a_room_is_lined_as_it_can_be(words: str, said: str, small: Path) -> None:
    small.write_text(SMALL.replace("box: [0, 0, 4, 3]", f"box: [0, 0, 4, 3], {words}"))
    with pytest.raises(Problems, match=said):
        load_scene(small, CATALOGUE)


def test_geometry_without_a_size_is_refused() -> None:
    fixture = Fixture(category="desk", room="den", at=(1, 1), facing=0)
    with pytest.raises(UsageError, match="load_scene"):
        footprint(fixture)


boxes = st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(1, 5), st.integers(1, 5)).map(
    lambda it: (it[0], it[1], it[0] + it[2], it[1] + it[3])
)


@given(boxes, boxes)
def test_rooms_share_a_wall_when_they_touch_along_one(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Against the unit cells of a grid: touching is a pair of neighbouring cells, one in each room."""

    def cells(box: tuple[int, ...]) -> set[tuple[int, int]]:
        return {(x, y) for x in range(box[0], box[2]) for y in range(box[1], box[3])}

    first, second = cells(a), cells(b)
    assert overlaps(a, b) == bool(first & second)  # type: ignore[arg-type]
    if first & second:
        return
    walls = [(x, y) for x, y in first for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)) if (x + dx, y + dy) in second]
    wall = shared_wall(a, b)  # type: ignore[arg-type]
    assert (wall is not None) == bool(walls)
    if wall is not None:
        assert wall == shared_wall(b, a)  # type: ignore[arg-type]
        assert wall.high - wall.low == len(walls)


def every_way(scene: Scene, start: tuple[float, float], goal: tuple[float, float]) -> list[Route]:
    """Each way that uses no door twice, by trying all."""
    found = []

    def walk(room: str, at: tuple[float, float], used: tuple[str, ...], length: float) -> None:
        if room == room_at(scene, goal):
            found.append(Route(used, length + math.dist(at, goal)))
        for name, door in scene.doors.items():
            if room in door.between and name not in used:
                other = door.between[1 - door.between.index(room)]
                walk(other, door.at, (*used, name), length + math.dist(at, door.at))

    walk(room_at(scene, start) or "", start, (), 0.0)
    return found


def order(way: Route) -> tuple[float, int, tuple[str, ...]]:
    return round(way.length, 9), len(way.doors), way.doors


@pytest.mark.parametrize("name", SCENES)
@settings(max_examples=40)
@given(data=st.data())
def test_a_route_is_the_shortest_of_all(name: str, data: st.DataObject) -> None:
    scene = SCENES[name]
    stances = st.sampled_from(list(scene.fixtures.values())).map(lambda it: stance(it)[:2])
    start, goal = data.draw(stances), data.draw(stances)
    found, best = route(scene, start, goal), min(every_way(scene, start, goal), key=order)
    assert found.length == pytest.approx(best.length)
    assert found.doors == best.doors
    assert route(scene, goal, start).length == pytest.approx(found.length)


def test_a_route_takes_the_nearer_of_two_doors_and_refuses_the_outside() -> None:
    rooms = {"a": Room(public="a", box=(0, 0, 4, 4)), "b": Room(public="b", box=(4, 0, 8, 4))}
    doors = {
        "far": Door(public="far", between=("a", "b"), at=(4, 3.4)),
        "near": Door(public="near", between=("b", "a"), at=(4, 1)),
    }
    scene = Scene(scene="1.0", id="two", title="Two", rooms=rooms, doors=doors, fixtures={})
    assert route(scene, (1, 1), (7, 1)) == Route(("near",), 6.0)
    assert route(scene, (1, 1), (2, 1)) == Route((), 1.0)
    with pytest.raises(UsageError, match="lies in no room"):
        route(scene, (1, 1), (9, 9))
    with pytest.raises(UsageError, match="no way"):
        route(scene.model_copy(update={"doors": {}}), (1, 1), (7, 1))


def test_checks_are_all_listed() -> None:
    rules = [name for name, it in vars(scenerules).items() if getattr(it, "__annotations__", {}).get("site") == "Site"]
    assert [check.__name__ for check in scenerules.CHECKS] == rules
