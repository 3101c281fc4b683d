"""What is checked of a scene, one rule after the other. `iwkit.scenes` lists their codes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Final, NamedTuple

from iwkit.catalogue import CODE_LIKE, code_like, interior_size, surface_size
from iwkit.floorplan import (
    EPSILON,
    FLAT,
    HEAD,
    STAND,
    WALL,
    Box,
    clear_zones,
    collide,
    floor,
    footprint,
    opening_fits,
    overlaps,
    size_of,
    stance,
    standing_room,
    wall_of,
    within,
)
from iwkit.floorspace import cell, largest, stands
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.spec.catalogue import Catalogue
from iwkit.spec.recipe import Recipe
from iwkit.spec.scene import Fixture, Scene, Standing
from iwkit.suggest import did_you_mean
from iwkit.swing import sweep

Where = tuple[str | int, ...]


class Site(NamedTuple):
    """A resolved scene, what its things are and how they are built, and the file it was read from."""

    scene: Scene
    catalogue: Catalogue
    recipes: Mapping[str, Recipe]
    doc: Document


Check = Callable[[Site], Iterator[Problem]]


def has_floor(box: Box) -> bool:
    return min(box[2] - box[0], box[3] - box[1]) >= WALL + STAND


def unknown_names(scene: Scene, catalogue: Catalogue, doc: Document) -> Iterator[Problem]:
    """Rooms and categories that don't exist."""

    def unknown(path: Where, kind: str, name: str, names: Iterable[str]) -> Iterator[Problem]:
        if name not in names:
            yield doc.problem(path, "L701", f"there is no {kind} {name!r}", did_you_mean(name, names))

    for name, door in scene.doors.items():
        for index, room in enumerate(door.between):
            yield from unknown(("doors", name, "between", index), "room", room, scene.rooms)
    for section, things in _sections(scene):
        for name, thing in things.items():
            if thing.room:
                yield from unknown((section, name, "room"), "room", thing.room, scene.rooms)
            yield from unknown((section, name, "category"), "category", thing.category, catalogue.categories)
            for field in ("on", "inside"):
                if holder := getattr(thing, field, None):
                    yield from unknown((section, name, field), "fixture", holder, scene.fixtures)


def unknown_supports(scene: Scene, catalogue: Catalogue, doc: Document) -> Iterator[Problem]:
    """Things on or inside fixtures that can't hold them."""
    needed = {"on": "surface", "inside": "container"}
    for section, things in _sections(scene):
        for name, thing in things.items():
            for field, trait in needed.items():
                holder = scene.fixtures.get(getattr(thing, field, None) or "")
                category = catalogue.categories.get(holder.category) if holder else None
                if category is not None and trait not in category.affords:
                    message = f"a {category.public[0]} is no {trait}: {name} can't be {field} it"
                    yield doc.problem((section, name, field), "L717", message, "put it somewhere else")
    for name in _in_circles(scene):
        message = f"{name} stands on itself in the end"
        yield doc.problem(("fixtures", name, "on"), "L717", message, "let one of them stand on the floor")


def _in_circles(scene: Scene) -> Iterator[str]:
    for name in scene.fixtures:
        below, met = scene.fixtures[name].on, set()
        while below in scene.fixtures and below not in met:
            met.add(below)
            if below == name:
                yield name
            below = scene.fixtures[below].on


def _sections(scene: Scene) -> tuple[tuple[str, Mapping[str, Standing]], ...]:
    return ("fixtures", scene.fixtures), ("decor", scene.decor)


def empty_rooms(scene: Scene, doc: Document) -> Iterator[Problem]:
    """Rooms in which nobody can stand."""
    for name, room in scene.rooms.items():
        x0, y0, x1, y1 = room.box
        if not has_floor(room.box):
            message = f"{name} is {x1 - x0:g} m wide and {y1 - y0:g} m deep"
            hint = f"a box is x0, y0, x1, y1; nobody can stand in less than {WALL + STAND:g} m"
            yield doc.problem(("rooms", name, "box"), "L704", message, hint)


def _place(scene: Scene, doc: Document, name: str) -> Where:
    """Where a thing's place is written: `at` or whatever field stands for it."""
    section = "fixtures" if name in scene.fixtures else "decor"
    fields = ("at", "along", "spot", "on", "ceiling")
    return next((path for f in fields if doc.known(path := (section, name, f)) == path), (section, name))


def _rooms_overlap(site: Site) -> Iterator[Problem]:
    scene, _, _, doc = site
    for (first, a), (second, b) in combinations(scene.rooms.items(), 2):
        if overlaps(a.box, b.box):
            hint = "rooms touch along a shared wall: give both the same coordinate there"
            yield doc.problem(("rooms", second, "box"), "L705", f"{second} overlaps {first}", hint)


def _doors_fit(site: Site) -> Iterator[Problem]:
    scene, _, _, doc = site
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


def _rooms_reached(site: Site) -> Iterator[Problem]:
    scene, _, _, doc = site
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


def _are_of_their_kind(site: Site) -> Iterator[Problem]:
    scene, catalogue, _, doc = site
    hint = "a scene holds fixtures and decor; things that are carried belong to a pack's entities"
    for section, things in _sections(scene):
        wanted = section.removesuffix("s")
        for name, thing in things.items():
            category = catalogue.categories[thing.category]
            if category.kind != wanted:
                message = f"{thing.category} is of the kind {category.kind}, not {wanted}"
                yield doc.problem((section, name, "category"), "L708", message, hint)
    for name, fixture in scene.fixtures.items():
        for field, trait in (("open", "openable"), ("running", "device")):
            if getattr(fixture, field) and trait not in catalogue.categories[fixture.category].affords:
                message = f"{name} can't be {field}: {fixture.category} isn't {trait}"
                yield doc.problem(("fixtures", name, field), "L713", message, "leave it out")


def _things_inside(site: Site) -> Iterator[Problem]:
    scene, _, _, doc = site
    for name, thing in stands(scene):
        if not within(footprint(thing), floor(scene, thing.room)):
            message = f"{name}, {_extent(footprint(thing))}, isn't inside {thing.room}"
            hint = f"between its walls {thing.room} is {_extent(floor(scene, thing.room))}"
            yield doc.problem(_place(scene, doc, name), "L709", message, hint)


def _extent(box: Box) -> str:
    x0, y0, x1, y1 = (f"{round(value, 3):g}" for value in box)
    return f"x {x0} to {x1}, y {y0} to {y1}"


def _is_flat(thing: Standing) -> bool:
    return size_of(thing)[2] <= FLAT


def _things_apart(site: Site) -> Iterator[Problem]:
    scene, _, _, doc = site
    solid = [(name, thing) for name, thing in stands(scene) if not _is_flat(thing)]
    for (first, a), (second, b) in combinations(solid, 2):
        if collide(a, b):
            message = f"{second}, {_extent(footprint(b))}, is in the same place as {first}, {_extent(footprint(a))}"
            hint = "move one; what stands on another says so with `on`, what hangs above it needs a `base`"
            yield doc.problem(_place(scene, doc, second), "L710", message, hint)


def _doorways_clear(site: Site) -> Iterator[Problem]:
    scene, _, _, doc = site
    things = [(name, thing) for name, thing in stands(scene) if not _is_flat(thing) and thing.base < HEAD]
    for door_name, door in scene.doors.items():
        for zone in clear_zones(scene, door):
            for name, thing in things:
                if overlaps(footprint(thing), zone):
                    message = f"{name}, {_extent(footprint(thing))}, blocks {door_name}"
                    yield doc.problem(_place(scene, doc, name), "L711", message, f"keep {_extent(zone)} free")


def _standing_room(site: Site) -> Iterator[Problem]:
    scene, _, _, doc = site
    things = [(name, thing) for name, thing in stands(scene) if not _is_flat(thing) and thing.base < HEAD]
    for name, fixture in scene.fixtures.items():
        square, side = standing_room(fixture), fixture.approach
        place = f"the wearer stands at {_extent(square)}, before its {side}"
        hint = "move it, or say with `approach` from which side it is used"
        if not within(square, floor(scene, fixture.room)):
            message = f"there is no room to stand at {name}: {place}, outside {fixture.room}"
            yield doc.problem(_place(scene, doc, name), "L712", message, hint)
        elif blocking := [other for other, it in things if other != name and overlaps(square, footprint(it))]:
            message = f"there is no room to stand at {name}: {place}, but there is {', '.join(blocking)}"
            yield doc.problem(_place(scene, doc, name), "L712", message, hint)


def _doors_swing(site: Site) -> Iterator[Problem]:
    scene, catalogue, recipes, doc = site
    things = [(name, thing, footprint(thing)) for name, thing in stands(scene) if not _is_flat(thing)]
    for name, fixture in scene.fixtures.items():
        swept = sweep(fixture, catalogue.categories[fixture.category], recipes.get(fixture.category))
        if swept is None:
            continue
        around = swept.bounds
        near = [
            (other, box)
            for other, it, box in things
            if other != name
            and overlaps(around, box)
            and min(it.base + size_of(it)[2], swept.high) - max(it.base, swept.low) > EPSILON
        ]
        met = {other for other, box in near if any(_deep_in(point, box) for point in swept.points)}
        if not within(around, _wider(floor(scene, fixture.room), SLACK)):
            met.add("a wall")
        if met:
            message = f"the door of {name} meets {', '.join(sorted(met))} as it opens"
            yield doc.problem(_place(scene, doc, name), "L718", message, "leave more room beside or before it")


SLACK = 0.01
"""How far a leaf may come into what it passes: leaves hang in frames that keep them off."""


def _wider(box: Box, by: float) -> Box:
    return box[0] - by, box[1] - by, box[2] + by, box[3] + by


def _deep_in(point: tuple[float, float], box: Box) -> bool:
    return box[0] + SLACK < point[0] < box[2] - SLACK and box[1] + SLACK < point[1] < box[3] - SLACK


def _floor_connected(site: Site) -> Iterator[Problem]:
    scene, _, _, doc = site
    places = {name: cell(stance(fixture)[:2]) for name, fixture in scene.fixtures.items()}
    found = largest(scene, [stance(fixture)[:2] for fixture in scene.fixtures.values()])
    for name, place in places.items():
        if place not in found:
            message = f"nobody gets to where {name} is used, {_spot(scene.fixtures[name])}, from the rest of the floor"
            hint = "leave a way of 0.4 m between things"
            yield doc.problem(_place(scene, doc, name), "L719", message, hint)


def _spot(fixture: Fixture) -> str:
    x, y, _ = stance(fixture)
    return f"({x:g}, {y:g})"


def _sizes_leave_room(site: Site) -> Iterator[Problem]:
    scene, catalogue, _, doc = site
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


def _public_texts(site: Site) -> Iterator[Problem]:
    scene, _, _, doc = site
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


_SIDE: Final = re.compile(r"\b(left|right)\b", re.IGNORECASE)
_FACED: Final = re.compile(r"\bas you face (.+)", re.IGNORECASE)


def _sides_as_called(site: Site) -> Iterator[Problem]:
    """Pairs of one category whose public texts differ in left and right only, as somebody sees them who faces what the
    texts name."""
    scene, catalogue, _, doc = site
    pairs: dict[tuple[str, str, str], dict[str, str]] = {}
    for name, fixture in scene.fixtures.items():
        public = (fixture.public or "").casefold()
        if len(sides := _SIDE.findall(public)) == 1 and _FACED.search(public):
            group = (fixture.room, fixture.category, _SIDE.sub("side", public))
            pairs.setdefault(group, {})[sides[0]] = name
    for pair in pairs.values():
        if pair.keys() != {"left", "right"}:
            continue
        left, right = pair["left"], pair["right"]
        one, two = scene.fixtures[left], scene.fixtures[right]
        faced = _faced(scene, catalogue, one, two)
        if faced is None:
            continue
        # Who faces a front looks against it, and has on the left what lies along (sin, -cos) of where the front looks.
        x, y = math.sin(math.radians(faced)), -math.cos(math.radians(faced))
        (x0, y0), (x1, y1) = _middle(one), _middle(two)
        if (x0 - x1) * x + (y0 - y1) * y < -EPSILON:
            message = f"{left} is called left, and is to the right of {right}"
            hint = "swap the two: who faces a thing that looks up on the plan looks down, and has the left on its right"
            yield doc.problem(_place(scene, doc, left), "L720", message, hint)


def _middle(fixture: Fixture) -> tuple[float, float]:
    x0, y0, x1, y1 = footprint(fixture)
    return (x0 + x1) / 2, (y0 + y1) / 2


def _faced(scene: Scene, catalogue: Catalogue, one: Fixture, two: Fixture) -> float | None:
    """The way in degrees that the front looks which is faced: of what the text names (`the bed`, `the window`), if the
    room has such things and all look one way, else of the two, if they look the same way; None if neither tells."""
    found = _FACED.search(one.public or "")
    words = set(re.findall(r"\w+", found.group(1).casefold())) if found else set()
    named = {
        thing.facing
        for thing in scene.fixtures.values()
        if thing.room == one.room
        and thing.category != one.category
        and any(set(public.casefold().split()) <= words for public in catalogue.categories[thing.category].public)
    }
    facings = named or {one.facing, two.facing}
    return next(iter(facings)) if len(facings) == 1 else None


CHECKS: tuple[Check, ...] = (
    _rooms_overlap,
    _doors_fit,
    _rooms_reached,
    _are_of_their_kind,
    _things_inside,
    _things_apart,
    _doorways_clear,
    _standing_room,
    _doors_swing,
    _floor_connected,
    _sizes_leave_room,
    _public_texts,
    _sides_as_called,
)
