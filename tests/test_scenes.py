"""Scenes and catalogue: the data that ships, every check, the geometry, the plan and the page that documents them."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit import scenes
from iwkit.catalogue import interior_size, load_catalogue, surface_size, traits
from iwkit.errors import Problems, UsageError
from iwkit.floorplan import Route, footprint, overlaps, room_at, route, shared_wall, stance
from iwkit.library import Library
from iwkit.sceneplan import describe, draw
from iwkit.scenes import SCENE_CODES, load_scene, scene_ids
from iwkit.spec.catalogue import Catalogue, Category
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
    "an open desk": (("facing: 270}\n  shelf_1", "facing: 270, open: true}\n  shelf_1"), "L713", "true"),
    "a running shelf": (("at: [5.5, 2.7], facing: 270", "at: [5.5, 2.7], facing: 270, running: true"), "L713", "true"),
    "two of one name": (added("shelf_2", "shelf", "[6.5, 0.5]", more=", size: [0.5, 0.3, 1]"), "L714", "shelf_2:"),
    "rooms of one name": (("public: the shed", "public: The Den"), "L714", "The Den"),
    "no surface left": (
        ("at: [5.5, 2.7], facing: 270", "at: [5.5, 2.9], facing: 270, size: [0.5, 0.05, 1]"),
        "L715",
        "[0.5, 0.05",
    ),
}


def problems(source: Path) -> list[tuple[str, int, int]]:
    with pytest.raises(Problems) as raised:
        load_scene(source, CATALOGUE)
    return [(problem.code, *problem.pos) for problem in raised.value.problems]


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
    with pytest.raises(UsageError, match="flat, infirmary, office"):
        load_scene("zoo", CATALOGUE)
    with pytest.raises(UsageError, match="no scene file"):
        load_scene(tmp_path / "none.yaml", CATALOGUE)


def test_the_shipped_scenes_are_furnished() -> None:
    assert list(SCENES) == ["flat", "infirmary", "office"]
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


# --- the catalogue --------------------------------------------------------------------------------------------------

NOT_IN_THE_NEEDS = """\
orange_juice_carton drink_carton raspberry_box price_sheet invoice house_map reset_map tray tablet
remote_control notebook book magazine newspaper stapler scissors banana kettle fork spoon napkin toothbrush
tissue_box laundry_basket umbrella bandage_box medicine_bottle glove_box basket vase microwave coffee_maker
medicine_cabinet tv_stand bookshelf trolley chair office_chair armchair stool bench sofa hospital_bed
examination_couch computer printer whiteboard television lamp potted_plant toilet bathtub
"""
"""Categories with a name of our own: what furnishes a place, and things the needs table names more generally."""
NEED_KINDS = {"furniture": "fixture", "appliance": "fixture", "fixture": "fixture"}


def test_sizes_and_masses_are_believable() -> None:
    for name, category in CATALOGUE.categories.items():
        assert max(category.size) < (2.5 if category.kind == "object" else 3), name
        if category.kind == "object":
            volume = math.prod(category.size)
            assert category.mass is not None, name
            assert 0.002 < category.mass < 5, name
            assert max(category.size) <= 0.61, name
            # From a paper bag to cutlery: kilograms in a cubic metre of the bounding box.
            assert 3 < category.mass / volume < 2500, name
        else:
            assert category.mass is None or 2 <= category.mass <= 150, name


def test_canonical_names_are_unique_and_names_are_not_repeated() -> None:
    first = [category.public[0] for category in CATALOGUE.categories.values()]
    assert sorted(set(first)) == sorted(first)
    for category in CATALOGUE.categories.values():
        assert len(set(category.public)) == len(category.public)


def test_categories_carry_the_names_of_the_needs_table() -> None:
    with (Path(__file__).parent / "data" / "catalogue_needs.csv").open(newline="") as file:
        needs = {
            re.sub(r"\W+", "_", re.sub(r"\(.*?\)", "", row["name"]).strip()): row["kind"]
            for row in csv.DictReader(file)
        }
    ours = [name for name in CATALOGUE.categories if name not in needs]
    assert sorted(ours) == sorted(NOT_IN_THE_NEEDS.split())
    for name, category in CATALOGUE.categories.items():
        if name in needs and name != "trash_can":  # a container by the table, but nothing anyone carries
            assert category.kind == NEED_KINDS.get(needs[name], "object"), name


def test_every_affordance_is_used() -> None:
    used = {trait for category in CATALOGUE.categories.values() for trait in category.affords}
    assert {"surface", "container", "openable", "device", "machine", "heater", "seat", "carrier", "wheeled"} <= used
    assert {"cuttable", "cookable", "cutter", "stirrer", "wiper", "wipeable", "pourer", "vessel", "phone"} <= used
    assert {"workstation", "readable"} <= used


def test_traits_add_whether_it_moves() -> None:
    assert traits(CATALOGUE.categories["mug"]) == {"movable", "vessel", "pourer", "wipeable"}
    assert traits(CATALOGUE.categories["sofa"]) == {"fixture", "surface", "seat"}


def made(**fields: object) -> Category:
    return Category.model_validate({"kind": "fixture", "public": ["box"], "size": [1.0, 0.5, 0.8], **fields})


def test_surface_and_interior_default_to_the_outer_size_less_the_walls() -> None:
    plain = made(affords=["surface", "container"])
    assert surface_size(plain) == (1.0, 0.5)
    assert interior_size(plain) == pytest.approx((0.96, 0.46, 0.76))
    assert interior_size(plain, (2.0, 0.5, 0.8)) == pytest.approx((1.96, 0.46, 0.76))
    given_ = made(affords=["surface", "container"], surface=[0.9, 0.3], interior=[0.8, 0.4, 0.5])
    assert surface_size(given_, (2.0, 0.6, 0.8)) == pytest.approx((1.9, 0.4))
    assert interior_size(given_, (2.0, 0.6, 0.8)) == pytest.approx((1.8, 0.5, 0.5))
    with pytest.raises(UsageError, match="no surface"):
        surface_size(made())
    with pytest.raises(UsageError, match="no container"):
        interior_size(made())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{kind: object, public: [cup], size: [0.1, 0.1, 0.1]}", "needs a mass"),
        ("{kind: fixture, public: [box], size: [1, 1, 1], surface: [1, 1]}", "`surface` isn't among"),
        ("{kind: fixture, public: [box], size: [1, 1, 1], interior: [1, 1, 1]}", "`container` isn't among"),
        ("{kind: fixture, public: [box], size: [1, 1, 1], affords: [container], interior: [2, 1, 1]}", "larger than"),
        ("{kind: fixture, public: [box], size: [1, 1, 0.03], affords: [container]}", "too thin"),
        ("{kind: fixture, public: [box], size: [1, 1, 1], affords: [surfase]}", "surface"),
        ("{kind: fixture, public: [], size: [1, 1, 1]}", "public"),
        ("{kind: fixture, public: [the box_1], size: [1, 1, 1]}", "L703"),
    ],
)
def test_a_bad_category_is_refused_at_its_line(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f'catalogue: "1.0"\ncategories:\n  thing: {line}\n')
    with pytest.raises(Problems) as raised:
        load_catalogue(path)
    assert [problem.pos.line for problem in raised.value.problems] == [3]
    assert said in str(raised.value)


def test_catalogues_merge_and_a_second_definition_is_refused(tmp_path: Path) -> None:
    mine, again = tmp_path / "mine.yaml", tmp_path / "again.yaml"
    body = (
        'catalogue: "1.0"\ncategories:\n  abacus: {kind: object, public: [abacus], size: [0.3, 0.02, 0.2], mass: 0.4}\n'
    )
    mine.write_text(body)
    again.write_text(body + "  mug: {kind: object, public: [mug], size: [0.1, 0.1, 0.1], mass: 0.3}\n")
    merged = load_catalogue(mine)
    assert set(merged.categories) == {*CATALOGUE.categories, "abacus"}
    with pytest.raises(Problems) as raised:
        load_catalogue(mine, again)
    assert [(it.file, it.code, *it.pos) for it in raised.value.problems] == [
        (str(again), "L702", 3, 3),
        (str(again), "L702", 4, 3),
    ]


# --- the plan and the page ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENES)
def test_a_plan_names_everything(name: str, tmp_path: Path) -> None:
    scene, first = SCENES[name], tmp_path / "one.svg"
    draw(scene, CATALOGUE, first)
    # Each line of a label is a comment before its glyphs; a name may run over several.
    written = "".join(re.findall(r"<!-- (.*?) -->", first.read_text(), re.DOTALL)).replace("\n", "").replace(" ", "")
    for wanted in (*scene.rooms, *scene.doors, *scene.fixtures):
        assert wanted in written, wanted


def test_a_plan_is_a_picture_and_always_the_same(small: Path, tmp_path: Path) -> None:
    scene = load_scene(small, CATALOGUE)
    for name in ("one.png", "two.png", "one.svg", "two.svg"):
        draw(scene, CATALOGUE, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    for suffix in ("png", "svg"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()
    with pytest.raises(UsageError, match=r"name it \.png or \.svg"):
        draw(scene, CATALOGUE, tmp_path / "flat.gif")


def test_the_description_lists_everything_with_its_public_name() -> None:
    for scene in SCENES.values():
        text = describe(scene, CATALOGUE)
        things: dict[str, Room | Door | Fixture] = {**scene.rooms, **scene.doors, **scene.fixtures}
        for name, it in things.items():
            assert f"{name} ({it.public})" in text
    assert "closed door to hall: bedroom_door" in describe(SCENES["flat"], CATALOGUE)
    assert "table_1 (the packing table): surface 0.90 x 0.60 m, wipeable" in describe(SCENES["office"], CATALOGUE)


def test_every_field_and_affordance_is_documented() -> None:
    page = PAGE.read_text()
    for model in (Scene, Room, Door, Fixture, Catalogue, Category):
        assert [field for field in model.model_fields if f"`{field}`" not in page] == [], model.__name__
    for affordance in re.findall(r'"(\w+)"', str(Category.model_fields["affords"].annotation).replace("'", '"')):
        assert f"`{affordance}`" in page


def test_the_example_of_the_page_is_a_sound_scene(tmp_path: Path) -> None:
    example = next(
        block for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL) if block.startswith("scene:")
    )
    path = tmp_path / "study.yaml"
    path.write_text(example)
    assert load_scene(path, CATALOGUE).id == "study"


def test_the_example_of_a_project_fits_together(tmp_path: Path) -> None:
    blocks = {
        block.split(":")[0]: block for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)[::-1]
    }
    for name, text in (("scenes/study.yaml", blocks["scene"]), ("assets/mine.yaml", blocks["catalogue"])):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    pack = yaml.safe_load(blocks["  scene"])
    library = Library.for_file(tmp_path / "finding" / "F21.yaml")
    scene = library.scene(pack["scene"])
    entities = pack["entities"]
    assert {pack["wearer"]["at"], entities["shelf"]["fixture"]} <= set(scene.fixtures)
    assert entities["abacus"]["category"] in library.catalogue.categories
    assert entities["abacus"]["category"] not in CATALOGUE.categories


def test_checks_are_all_listed() -> None:
    generators = [
        name for name in vars(scenes) if re.match(r"_(rooms|doors|are|fixtures|doorways|standing|sizes|public)_", name)
    ]
    assert {check.__name__ for check in scenes._CHECKS} == set(generators)
