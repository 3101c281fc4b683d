"""Scenes: read one, check it, fill in what the catalogue says. The geometry is in `iwkit.floorplan`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from pathlib import Path

from iwkit.catalogue import CODE_LIKE, code_like, interior_size, surface_size
from iwkit.errors import Problems, UsageError
from iwkit.floorplan import (
    EPSILON,
    STAND,
    WALL,
    Box,
    clear_zones,
    collide,
    floor,
    footprint,
    opening_fits,
    overlaps,
    standing_room,
    wall_of,
    within,
)
from iwkit.problems import Problem
from iwkit.resources import root
from iwkit.source.check import check
from iwkit.source.document import Document
from iwkit.source.reader import read
from iwkit.spec.catalogue import Catalogue
from iwkit.spec.scene import Scene
from iwkit.suggest import did_you_mean

SCENE_CODES = {
    "L701": "a scene names a room or category that doesn't exist",
    "L702": "a category is defined a second time",
    "L703": "public text holds a word that no one says",
    "L704": "a room has no floor",
    "L705": "two rooms overlap",
    "L706": "a door isn't in the wall between its rooms, or its opening doesn't fit there",
    "L707": "a room can't be reached",
    "L708": "a scene places a thing that isn't a fixture",
    "L709": "a fixture isn't inside its room",
    "L710": "two fixtures are in the same place",
    "L711": "a fixture blocks a doorway",
    "L712": "there is no room to stand where a fixture is used",
    "L713": "a fixture is open or running although its category can't be",
    "L714": "two things are called the same",
    "L715": "a fixture's size leaves nothing of its surface or interior",
    "L716": "the file is not called like the scene",
}


def scene_ids() -> list[str]:
    """The ids of the scenes that ship with iwkit."""
    return sorted(path.stem for path in root("scenes").glob("*.yaml"))


def load_scene(source: str | Path, catalogue: Catalogue) -> Scene:
    """A scene that passed its checks, with every fixture's size and public name filled in and every passage open.

    `source` is the id of a scene that ships with iwkit, or the path of a file.

    Raises:
        UsageError: there is no such scene.
        Problems: the file can't be read, doesn't follow the schema, or fails a check.
    """
    document = read(_find(source))
    scene = check(document, Scene)
    if problems := check_scene(scene, catalogue, document):
        raise Problems(problems)
    return _resolved(scene, catalogue)


def check_scene(scene: Scene, catalogue: Catalogue, doc: Document) -> list[Problem]:
    """Everything that is wrong with a scene, sorted by place; `doc` is the file it was read from.

    A thing whose room or category doesn't exist is left out of the checks that need them.
    """
    problems = [*_unknown_names(scene, catalogue, doc), *_empty_rooms(scene, doc)]
    sound = _resolved(_sound(scene, catalogue), catalogue)
    for one in _CHECKS:
        problems += one(sound, catalogue, doc)
    return sorted(problems)


def _find(source: str | Path) -> Path:
    if isinstance(source, Path) or "/" in source or source.endswith((".yaml", ".yml")):
        path = Path(source)
        if not path.is_file():
            raise UsageError(f"there is no scene file {path}: give the path of a YAML file or one of {_known()}")
        return path
    if source not in scene_ids():
        hint = did_you_mean(source, scene_ids())
        raise UsageError(
            f"there is no scene {source!r}: {hint or f'give the path of a YAML file or one of {_known()}'}"
        )
    return root("scenes") / f"{source}.yaml"


def _known() -> str:
    return ", ".join(scene_ids())


def _resolved(scene: Scene, catalogue: Catalogue) -> Scene:
    fixtures = {}
    for name, fixture in scene.fixtures.items():
        category = catalogue.categories[fixture.category]
        public = fixture.public or f"the {category.public[0]}"
        fixtures[name] = fixture.model_copy(update={"size": fixture.size or category.size, "public": public})
    doors = {name: door if door.leaf else door.model_copy(update={"open": True}) for name, door in scene.doors.items()}
    return scene.model_copy(update={"fixtures": fixtures, "doors": doors})


def _has_floor(box: Box) -> bool:
    return min(box[2] - box[0], box[3] - box[1]) >= WALL + STAND


def _sound(scene: Scene, catalogue: Catalogue) -> Scene:
    """The part of a scene that can be measured."""
    rooms = {name: room for name, room in scene.rooms.items() if _has_floor(room.box)}
    doors = {name: door for name, door in scene.doors.items() if set(door.between) <= set(rooms)}
    fixtures = {
        name: fixture
        for name, fixture in scene.fixtures.items()
        if fixture.room in rooms and fixture.category in catalogue.categories
    }
    return scene.model_copy(update={"rooms": rooms, "doors": doors, "fixtures": fixtures})


def _unknown_names(scene: Scene, catalogue: Catalogue, doc: Document) -> Iterator[Problem]:
    def unknown(path: tuple[str | int, ...], kind: str, name: str, names: Iterable[str]) -> Iterator[Problem]:
        if name not in names:
            yield doc.problem(path, "L701", f"there is no {kind} {name!r}", did_you_mean(name, names))

    for name, door in scene.doors.items():
        for index, room in enumerate(door.between):
            yield from unknown(("doors", name, "between", index), "room", room, scene.rooms)
    for name, fixture in scene.fixtures.items():
        yield from unknown(("fixtures", name, "room"), "room", fixture.room, scene.rooms)
        yield from unknown(("fixtures", name, "category"), "category", fixture.category, catalogue.categories)


def _empty_rooms(scene: Scene, doc: Document) -> Iterator[Problem]:
    for name, room in scene.rooms.items():
        x0, y0, x1, y1 = room.box
        if not _has_floor(room.box):
            message = f"{name} is {x1 - x0:g} m wide and {y1 - y0:g} m deep"
            hint = f"a box is x0, y0, x1, y1; nobody can stand in less than {WALL + STAND:g} m"
            yield doc.problem(("rooms", name, "box"), "L704", message, hint)


def _rooms_overlap(scene: Scene, _: Catalogue, doc: Document) -> Iterator[Problem]:
    for (first, a), (second, b) in combinations(scene.rooms.items(), 2):
        if overlaps(a.box, b.box):
            hint = "rooms touch along a shared wall: give both the same coordinate there"
            yield doc.problem(("rooms", second, "box"), "L705", f"{second} overlaps {first}", hint)


def _doors_fit(scene: Scene, _: Catalogue, doc: Document) -> Iterator[Problem]:
    for name, door in scene.doors.items():
        wall, path = wall_of(scene, door), ("doors", name, "at")
        first, second = door.between
        if wall is None:
            hint = "two rooms share a wall where their boxes touch"
            yield doc.problem(("doors", name, "between"), "L706", f"{first} and {second} share no wall", hint)
        elif not opening_fits(door, wall):
            axes = "xy" if wall.axis == 0 else "yx"
            room = (door.width + WALL) / 2
            message = f"the opening of {name} isn't in the wall between {first} and {second}"
            span = f"{wall.low + room:g} to {wall.high - room:g}" if wall.high - wall.low >= 2 * room else "no place"
            hint = f"{axes[0]} must be {wall.at:g}, {axes[1]} has {span} for a width of {door.width:g}"
            yield doc.problem(path, "L706", message, hint)


def _rooms_reached(scene: Scene, _: Catalogue, doc: Document) -> Iterator[Problem]:
    first = next(iter(scene.rooms), "")
    reached, fresh = {first}, [first]
    while fresh:
        here = fresh.pop()
        for door in scene.doors.values():
            if here in door.between:
                fresh += [room for room in door.between if room not in reached]
                reached |= set(door.between)
    for name in scene.rooms:
        if name not in reached:
            message = f"{name} can't be reached from {first}"
            yield doc.problem(("rooms", name), "L707", message, "add a door or a passage", key=True)


def _are_fixtures(scene: Scene, catalogue: Catalogue, doc: Document) -> Iterator[Problem]:
    for name, fixture in scene.fixtures.items():
        category = catalogue.categories[fixture.category]
        if category.kind != "fixture":
            message = f"{fixture.category} is an object, not a fixture"
            hint = "a scene holds fixtures; things that are carried belong to a pack's entities"
            yield doc.problem(("fixtures", name, "category"), "L708", message, hint)
        for field, wanted in (("open", "openable"), ("running", "device")):
            if getattr(fixture, field) and wanted not in category.affords:
                message = f"{name} can't be {field}: {fixture.category} isn't {wanted}"
                yield doc.problem(("fixtures", name, field), "L713", message, "leave it out")


def _fixtures_inside(scene: Scene, _: Catalogue, doc: Document) -> Iterator[Problem]:
    for name, fixture in scene.fixtures.items():
        if not within(footprint(fixture), floor(scene, fixture.room)):
            message = f"{name}, {_extent(footprint(fixture))}, isn't inside {fixture.room}"
            hint = f"between its walls {fixture.room} is {_extent(floor(scene, fixture.room))}"
            yield doc.problem(("fixtures", name, "at"), "L709", message, hint)


def _extent(box: Box) -> str:
    x0, y0, x1, y1 = (f"{round(value, 3):g}" for value in box)
    return f"x {x0} to {x1}, y {y0} to {y1}"


def _fixtures_apart(scene: Scene, _: Catalogue, doc: Document) -> Iterator[Problem]:
    for (first, a), (second, b) in combinations(scene.fixtures.items(), 2):
        if collide(a, b):
            message = f"{second}, {_extent(footprint(b))}, is in the same place as {first}, {_extent(footprint(a))}"
            hint = "move one; what stands on another needs its height as `base`"
            yield doc.problem(("fixtures", second, "at"), "L710", message, hint)


def _doorways_clear(scene: Scene, _: Catalogue, doc: Document) -> Iterator[Problem]:
    for door_name, door in scene.doors.items():
        for zone in clear_zones(scene, door):
            for name, fixture in scene.fixtures.items():
                if overlaps(footprint(fixture), zone):
                    message = f"{name}, {_extent(footprint(fixture))}, blocks {door_name}"
                    yield doc.problem(("fixtures", name, "at"), "L711", message, f"keep {_extent(zone)} free")


def _standing_room(scene: Scene, _: Catalogue, doc: Document) -> Iterator[Problem]:
    for name, fixture in scene.fixtures.items():
        square, side = standing_room(fixture), fixture.approach
        place = f"the wearer stands at {_extent(square)}, before its {side}"
        hint = "move it, or say with `approach` from which side it is used"
        others = [other for other in scene.fixtures.items() if other[0] != name]
        if not within(square, floor(scene, fixture.room)):
            message = f"there is no room to stand at {name}: {place}, outside {fixture.room}"
            yield doc.problem(("fixtures", name, "at"), "L712", message, hint)
        elif blocking := [other for other, it in others if overlaps(square, footprint(it))]:
            message = f"there is no room to stand at {name}: {place}, but there is {', '.join(blocking)}"
            yield doc.problem(("fixtures", name, "at"), "L712", message, hint)


def _sizes_leave_room(scene: Scene, catalogue: Catalogue, doc: Document) -> Iterator[Problem]:
    for name, fixture in scene.fixtures.items():
        category = catalogue.categories[fixture.category]
        for trait, inner in (("surface", surface_size), ("container", interior_size)):
            if trait in category.affords and min(inner(category, fixture.size)) <= EPSILON:
                message = (
                    f"this size leaves no {trait} of {name}: a {fixture.category} loses more than that at its edges"
                )
                yield doc.problem(("fixtures", name, "size"), "L715", message, "give a larger size")


def _spoken_of(scene: Scene) -> Iterator[tuple[tuple[str, str], str, str]]:
    """The path, the group within which it must be unique, and the public text of everything in a scene."""
    for name, room in scene.rooms.items():
        yield ("rooms", name), "rooms", room.public
    for name, door in scene.doors.items():
        yield ("doors", name), "doors", door.public
    for name, fixture in scene.fixtures.items():
        yield ("fixtures", name), fixture.category, fixture.public or ""


def _public_texts(scene: Scene, _: Catalogue, doc: Document) -> Iterator[Problem]:
    first: dict[tuple[str, str], str] = {}
    for path, group, public in _spoken_of(scene):
        at = (*path, "public")
        if found := CODE_LIKE.search(public):
            yield doc.problem(at, "L703", *code_like(found.group()))
        other = first.setdefault((group, public.casefold()), path[1])
        if other != path[1]:
            message = f'{path[1]} and {other} are both called "{public}"'
            hint = "give each a `public` text that tells them apart as a person would"
            yield doc.problem(at, "L714", message, hint, key=doc.known(at) != at)


_Check = Callable[[Scene, Catalogue, Document], Iterator[Problem]]
_CHECKS: tuple[_Check, ...] = (
    _rooms_overlap,
    _doors_fit,
    _rooms_reached,
    _are_fixtures,
    _fixtures_inside,
    _fixtures_apart,
    _doorways_clear,
    _standing_room,
    _sizes_leave_room,
    _public_texts,
)
