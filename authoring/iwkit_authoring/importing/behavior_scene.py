"""A scene file of BEHAVIOR-1K, as its users export it, made a scene of a project (PHY-11; the format: docs/import.md).

Quaternions are xyzw here, and a thing's front is taken to look towards -y of its own frame.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iwkit.errors import Problems, UsageError
from iwkit.ledger import write_atomic
from iwkit.library import SCENES, Library
from iwkit.problems import Problem
from iwkit.scenes import load_scene
from iwkit.source.patterns import NAME
from iwkit.suggest import snake
from iwkit_authoring.importing.files import to_yaml
from iwkit_authoring.importing.model import read_bytes

FLOORS, DOORS = "floors", ("door", "sliding_door")
SHELL = frozenset({FLOORS, "walls", "ceilings", "window", "roof", "rail_fence", "lawn", "driveway"})
"""What a scene of ours draws itself, or has no word for; floors give the rooms."""
SNAP = 0.2
"""Edges of rooms that are nearer to each other than this, metres, are one wall."""
ROUND_ROOM = 0.5
"""What is kept around the furniture of a room whose floor the file doesn't measure, metres."""
SLANTED = 10.0
"""Degrees by which a turn may be off a quarter, or a thing tilted, before it is told."""
ON_FLOOR = 0.05
MOVED = 0.2
"""A joint further open than this, radians or metres, is open."""
DOOR_WIDTHS = (0.7, 1.2)
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Thing:
    """One object of the file: metres; `size` is None where the file gives only a scale; `yaw` in degrees."""

    name: str
    category: str
    rooms: tuple[str, ...]
    at: tuple[float, float, float]
    yaw: float
    tilt: float
    size: tuple[float, float, float] | None
    is_open: bool
    is_running: bool


@dataclass(frozen=True)
class SceneReport:
    """What was written, what wasn't carried over and why, and what is still wrong with the scene."""

    path: Path
    rooms: int
    doors: int
    fixtures: int
    left_out: Sequence[str] = ()
    notes: Sequence[str] = ()
    problems: Sequence[Problem] = ()


def import_scene(path: Path, home: Path, name: str | None = None, *, overwrite: bool = False) -> SceneReport:
    """Write a BEHAVIOR scene as `scenes/NAME.yaml` of the project at `home`. Its fixtures are those things whose
    category is, or is the source of, a fixture of the catalogue; the project's own imports come first.

    Raises:
        UsageError: the file isn't such a scene, nothing of it can be used, or the name is taken.
    """
    scene_id = name or snake(re.sub(r"_best$", "", path.stem))
    if not re.fullmatch(NAME, scene_id):
        raise UsageError(f"{scene_id!r} can't name a scene: give --name, lower-case letters, digits and _")
    target = home / SCENES / f"{scene_id}.yaml"
    if target.exists() and not overwrite:
        raise UsageError(f"{target} is there already: give another --name, or --replace")
    things = read_things(path)
    library = Library.of_home(home)
    made = _Maker(things, _fixtures_by_source(library))
    rooms = made.rooms()
    doors, fixtures = made.doors(rooms), made.fixtures(rooms)
    if not rooms or not fixtures:
        raise UsageError(f"{path}: no room or no fixture that the catalogue knows is in it: import its furniture first")
    scene = {
        "scene": "1.0",
        "id": scene_id,
        "title": scene_id.replace("_", " "),
        "rooms": {
            key: {"public": text, "box": list(box)}
            for (key, box), text in zip(rooms.items(), _called(rooms), strict=True)
        },
        "doors": doors,
        "fixtures": fixtures,
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(target, (f"# from {path.name}, by iwkit scene import\n" + to_yaml(scene)).encode())
    try:
        load_scene(target, library.catalogue)
        problems: Sequence[Problem] = ()
    except Problems as error:
        problems = error.problems
    return SceneReport(target, len(rooms), len(doors), len(fixtures), made.left_out(), made.notes, problems)


def read_things(path: Path) -> list[Thing]:
    """The objects of a BEHAVIOR scene file, by name.

    Raises:
        UsageError: it isn't one.
    """
    try:
        data = json.loads(read_bytes(path))
        infos = data["objects_info"]["init_info"]
        states = _states(data["state"])
        return [_thing(name, infos[name]["args"], states[name]) for name in sorted(infos) if name in states]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        said = f"{type(error).__name__} {error}"[:200]
        raise UsageError(
            f"{path}: this is no scene file of BEHAVIOR-1K ({said}): give its json/..._best.json"
        ) from None


def _states(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where the objects' states lie; older files lack the registries."""
    for key in ("registry", "object_registry"):
        state = state.get(key, state)
    return state


def _thing(name: str, args: Mapping[str, Any], state: Mapping[str, Any]) -> Thing:
    root = state["root_link"]
    x, y, z = (_finite(value) for value in root["pos"])
    i, j, k, w = (_finite(value) for value in root["ori"])
    yaw = math.degrees(math.atan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k)))
    tilt = math.degrees(math.acos(max(-1.0, min(1.0, 1 - 2 * (i * i + j * j)))))
    rooms = args.get("in_rooms") or ()
    joints = state.get("joint_pos") or [j["pos"] for j in (state.get("joints") or {}).values()]
    box = args.get("bounding_box")
    return Thing(
        name=name,
        category=str(args["category"]),
        rooms=tuple(rooms.split(",") if isinstance(rooms, str) else map(str, rooms)),
        at=(x, y, z),
        yaw=yaw,
        tilt=tilt,
        size=None if box is None else (_finite(box[0]), _finite(box[1]), _finite(box[2])),
        is_open=any(
            abs(_finite(value)) > MOVED for joint in joints for value in (joint if isinstance(joint, list) else [joint])
        ),
        is_running=bool(state.get("non_kin", {}).get("ToggledOn", {}).get("value")),
    )


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is no number")
    return number


def _fixtures_by_source(library: Library) -> dict[str, tuple[str, frozenset[str]]]:
    """BEHAVIOR category -> our category and what it affords. One's own come before those that ship with iwkit."""
    shipped = Library().catalogue.categories
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for name, category in sorted(library.catalogue.categories.items(), key=lambda item: (item[0] in shipped, item[0])):
        if category.kind == "fixture":
            for source in (category.source, name):
                if source:
                    found.setdefault(source, (name, frozenset(category.affords)))
    return found


@dataclass
class _Maker:
    """Turns things into rooms, doors and fixtures, and keeps account of what it leaves out."""

    things: Sequence[Thing]
    known: Mapping[str, tuple[str, frozenset[str]]]
    notes: list[str] = field(default_factory=list)
    _out: Counter[str] = field(default_factory=Counter)

    def left_out(self) -> list[str]:
        """What wasn't carried over: its category, how many, and why."""
        return [f"{count} x {what}" for what, count in sorted(self._out.items())]

    def rooms(self) -> dict[str, Box]:
        """Room -> its box: that of its floor, else one around its furniture; near edges of rooms become one wall."""
        found: dict[str, Box] = {}
        for thing in self.things:
            if thing.category == FLOORS and thing.size is not None and thing.rooms:
                found[thing.rooms[0]] = _around([_footprint(thing)])
        for room in sorted({room for t in self.things for room in t.rooms} - set(found)):
            inside = [t for t in self.things if t.rooms[:1] == (room,) and t.category not in SHELL]
            if inside:
                boxes = [_footprint(t) for t in inside]
                x0, y0, x1, y1 = _around(boxes)
                found[room] = (x0 - ROUND_ROOM, y0 - ROUND_ROOM, x1 + ROUND_ROOM, y1 + ROUND_ROOM)
                self.notes.append(
                    f"{room}: the file doesn't measure its floor; its walls are drawn around what stands in it"
                )
        return {snake(room): box for room, box in _snapped(dict(sorted(found.items()))).items()}

    def doors(self, rooms: Mapping[str, Box]) -> dict[str, Any]:
        """Doors between two rooms that share a wall."""
        found: dict[str, Any] = {}
        for thing in self.things:
            if thing.category not in DOORS:
                continue
            where = _shared_wall(thing, rooms)
            if where is None:
                self._out[f"{thing.category}: no two rooms share a wall where it is"] += 1
                continue
            between, at = where
            low, high = DOOR_WIDTHS
            width = round(min(max(max(thing.size[:2]) if thing.size else 0.9, low), high), 2)
            found[f"door_{len(found) + 1}"] = {
                "public": f"the door {len(found) + 1}",
                "between": list(between),
                "at": list(at),
                "width": width,
                **({"open": True} if thing.is_open else {}),
            }
        return found

    def fixtures(self, rooms: Mapping[str, Box]) -> dict[str, Any]:
        """Things whose category is a fixture of the catalogue, in the room they are said to be in."""
        found: dict[str, Any] = {}
        for thing in self.things:
            if thing.category in SHELL or thing.category in DOORS:
                if thing.category != FLOORS and thing.category not in DOORS:
                    self._out[f"{thing.category}: a scene draws its own walls, and has no word for the rest"] += 1
                continue
            if thing.category not in self.known:
                self._out[f"{thing.category}: no fixture of the catalogue; loose things belong into a pack"] += 1
                continue
            room = next((snake(room) for room in thing.rooms if snake(room) in rooms), None)
            if room is None:
                self._out[f"{thing.category}: it is in no room"] += 1
                continue
            found[self._name(thing, found)] = self._fixture(thing, room)
        _tell_apart(found)
        return found

    def _name(self, thing: Thing, taken: Mapping[str, Any]) -> str:
        category, _ = self.known[thing.category]
        return next(f"{category}_{n}" for n in range(1, len(self.things) + 1) if f"{category}_{n}" not in taken)

    def _fixture(self, thing: Thing, room: str) -> dict[str, Any]:
        category, uses = self.known[thing.category]
        facing = round((thing.yaw - 90) / 90) * 90 % 360
        off = abs((thing.yaw - 90 - facing + 180) % 360 - 180)
        if off > SLANTED:
            self.notes.append(f"{thing.name} is turned by {off:.0f} degrees, to the nearest quarter")
        if thing.tilt > SLANTED:
            self.notes.append(f"{thing.name} is tilted by {thing.tilt:.0f} degrees in the file and stands upright here")
        x, y, z = thing.at
        made: dict[str, Any] = {"category": category, "room": room, "at": [round(x, 3), round(y, 3)], "facing": facing}
        if thing.size is not None:
            made["size"] = [round(side, 3) for side in thing.size]
            base = round(z - thing.size[2] / 2, 3)
            made |= {"base": base} if base > ON_FLOOR else {}
        made |= {"open": True} if thing.is_open and "openable" in uses else {}
        return made | ({"running": True} if thing.is_running and "device" in uses else {})


def _footprint(thing: Thing) -> Box:
    """The upright box around a thing as it is turned; one of unknown size is half a metre wide."""
    w, d, _ = thing.size or (0.5, 0.5, 0.5)
    c, s = abs(math.cos(math.radians(thing.yaw))), abs(math.sin(math.radians(thing.yaw)))
    x, y = (w * c + d * s) / 2, (w * s + d * c) / 2
    return thing.at[0] - x, thing.at[1] - y, thing.at[0] + x, thing.at[1] + y


def _around(boxes: Sequence[Box]) -> Box:
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)


def _snapped(rooms: Mapping[str, Box]) -> dict[str, Box]:
    """The rooms with edges that lie near each other at one place, rounded to centimetres."""
    snap = [
        _levels([box[axis] for box in rooms.values()] + [box[axis + 2] for box in rooms.values()]) for axis in (0, 1)
    ]
    return {name: (snap[0][box[0]], snap[1][box[1]], snap[0][box[2]], snap[1][box[3]]) for name, box in rooms.items()}


def _levels(values: Sequence[float]) -> dict[float, float]:
    found: dict[float, float] = {}
    group: list[float] = []
    for value in sorted(values):
        if group and value - group[0] > SNAP:
            group = []
        group.append(value)
        found |= dict.fromkeys(group, round(sum(group) / len(group), 2))
    return found


def _shared_wall(thing: Thing, rooms: Mapping[str, Box]) -> tuple[tuple[str, str], tuple[float, float]] | None:
    """The two rooms that a door joins and the middle of its opening: the wall that is nearest to it."""
    x, y, _ = thing.at
    named = [snake(room) for room in thing.rooms if snake(room) in rooms]
    near: list[tuple[float, tuple[str, str], tuple[float, float]]] = []
    for one, other in _pairs(sorted(rooms)):
        if len(named) == 2 and {one, other} != set(named):
            continue
        for axis in (0, 1):
            a, b = rooms[one], rooms[other]
            for wall in {a[axis], a[axis + 2]} & {b[axis], b[axis + 2]}:
                along = (x, y)[1 - axis]
                low, high = max(a[1 - axis], b[1 - axis]), min(a[3 - axis], b[3 - axis])
                if low < along < high:
                    at = (wall, round(along, 3)) if axis == 0 else (round(along, 3), wall)
                    near.append((abs((x, y)[axis] - wall), (one, other), at))
    best = min(near, default=None)
    return None if best is None or best[0] > 2 * SNAP else best[1:]


def _pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for index, one in enumerate(names):
        for other in names[index + 1 :]:
            yield one, other


ORDINALS = ("", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def _nth(kind: str, number: int) -> str:
    """What the number-th of a kind is called, counted from 1."""
    if number == 1:
        return f"the {kind}"
    return f"the {ORDINALS[number - 1]} {kind}" if number <= len(ORDINALS) else f"the {kind} number {number}"


def _called(rooms: Mapping[str, Box]) -> list[str]:
    """What people call each room: kitchen_0 is the kitchen, kitchen_1 the second kitchen."""
    count: Counter[str] = Counter()
    found = []
    for room in rooms:
        kind = re.sub(r"_\d+$", "", room).replace("_", " ")
        count[kind] += 1
        found.append(_nth(kind, count[kind]))
    return found


def _tell_apart(fixtures: Mapping[str, dict[str, Any]]) -> None:
    """Give the second and further ones of a category a public name of their own."""
    count: Counter[str] = Counter()
    for fixture in fixtures.values():
        count[fixture["category"]] += 1
        if (number := count[fixture["category"]]) > 1:
            fixture["public"] = _nth(fixture["category"].replace("_", " "), number)
