"""Rooms of the scenes have what at least half of BEHAVIOR-1K's rooms of that type have, or the page says what not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from iwkit.library import Library
from iwkit.scenes import scene_ids
from iwkit.spec.scene import Scene

HERE = Path(__file__).parent
DATA: dict[str, Any] = yaml.safe_load((HERE / "data" / "behavior_rooms.yaml").read_text())
PAGE = (HERE.parent / "docs" / "scenes.md").read_text()
LIBRARY = Library()
BY_THE_SHELL = {"lawn": "grass", "rail_fence": "fence"}
"""BEHAVIOR's categories that are a floor or walls here."""
TOGETHER = {"garden", "restaurant_kitchen"}
"""Types whose rooms are compared as one: BEHAVIOR's is one room where a scene has several."""


def contents(scene: Scene, rooms: set[str]) -> set[str]:
    """What is in rooms of a scene, in BEHAVIOR's words."""
    ours = {thing.category for thing in (*scene.fixtures.values(), *scene.decor.values()) if thing.room in rooms}
    found = {theirs for theirs, any_of in DATA["categories"].items() if ours.intersection(any_of)}
    lining = {word for room in rooms for word in (scene.rooms[room].floor, scene.rooms[room].walls)}
    found |= {theirs for theirs, word in BY_THE_SHELL.items() if word in lining}
    if any(rooms.intersection(door.between) for door in scene.doors.values()):
        found.add("door")
    return found


def lacking() -> dict[tuple[str, str], set[str]]:
    """(scene, room type) -> what rooms of the scene lack of their type's list."""
    found = {}
    for scene_id, types in DATA["scenes"].items():
        for kind in sorted(set(types.values())):
            wanted = set(DATA["rooms"][kind]["have"])
            alike = {room for room, its in types.items() if its == kind}
            groups = [alike] if kind in TOGETHER else [{room} for room in alike]
            found[scene_id, kind] = set().union(
                *(wanted - contents(LIBRARY.scene(scene_id), rooms) for rooms in groups)
            )
    return found


def told() -> dict[tuple[str, str], set[str]]:
    """The same as the page tells it: rows of | scene | room type | `category`, ... | why |."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ((?:`\w+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    return {(scene, kind): set(re.findall(r"`(\w+)`", listed)) for scene, kind, listed in rows}


def test_every_shipped_scene_is_compared() -> None:
    assert set(DATA["scenes"]) == set(scene_ids())
    for scene_id, types in DATA["scenes"].items():
        assert set(types) <= set(LIBRARY.scene(scene_id).rooms)
        assert set(types.values()) <= set(DATA["rooms"])


def test_the_lists_name_categories_that_are_common_and_mapped() -> None:
    for kind, room in DATA["rooms"].items():
        assert room["have"], kind
        for category, count in room["have"].items():
            assert 2 * count >= room["of"], (kind, category)
            assert category in {*DATA["categories"], *BY_THE_SHELL, "door"}, category
    ours = {category for any_of in DATA["categories"].values() for category in any_of}
    assert ours <= set(LIBRARY.catalogue.categories)


def test_rooms_have_what_behaviors_have_or_the_page_says_what_not() -> None:
    gaps = {key: gap for key, gap in lacking().items() if gap}
    assert told() == gaps


@pytest.mark.parametrize("scene_id", scene_ids())
def test_every_room_is_lit_and_lined(scene_id: str) -> None:
    """A lamp under each ceiling, and floors and walls said in the scene; outdoors there is the sun."""
    scene = LIBRARY.scene(scene_id)
    lamps = {"ceiling_lamp", "pendant_lamp", "strip_light"}
    lit = {decor.room for decor in scene.decor.values() if decor.category in lamps and decor.ceiling}
    for name, room in scene.rooms.items():
        assert room.outdoor or name in lit, name
        assert {"floor", "walls"} <= room.model_fields_set, name
