"""Scenes: read one, check it, fill in what the catalogue says. The geometry is in `iwkit.floorplan`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from iwkit.errors import Problems, UsageError
from iwkit.garbage import uncollected
from iwkit.placing import place_decor, place_fixtures
from iwkit.problems import Problem
from iwkit.recipes import load_recipes
from iwkit.resources import root
from iwkit.scenerules import CHECKS, Site, empty_rooms, has_floor, unknown_names, unknown_supports
from iwkit.source.check import check
from iwkit.source.document import Document
from iwkit.source.reader import read
from iwkit.spec.catalogue import Catalogue
from iwkit.spec.recipe import Recipe
from iwkit.spec.scene import Scene, Standing
from iwkit.suggest import did_you_mean

SCENE_CODES = {
    "L701": "a scene names a room, category or fixture that doesn't exist",
    "L702": "a category is defined a second time",
    "L703": "public text holds a word that no one says",
    "L704": "a room has no floor",
    "L705": "two rooms overlap",
    "L706": "a door isn't in the wall between its rooms, or its opening doesn't fit there",
    "L707": "a room can't be reached",
    "L708": "a scene places a thing of the wrong kind",
    "L709": "a thing isn't inside its room",
    "L710": "two things are in the same place",
    "L711": "a thing blocks a doorway",
    "L712": "there is no room to stand where a fixture is used",
    "L713": "a fixture is open or running although its category can't be",
    "L714": "two things are called the same",
    "L715": "a fixture's size leaves nothing of its surface or interior",
    "L716": "the file is not called like the scene",
    "L717": "a thing is on or inside what can't hold it",
    "L718": "the door of a fixture doesn't swing free",
    "L719": "the place where a fixture is used can't be walked to",
    "L720": "what is called left is on the right",
}


def scene_ids() -> list[str]:
    """The ids of the scenes that ship with iwkit."""
    return sorted(path.stem for path in root("scenes").glob("*.yaml"))


@uncollected()
def load_scene(source: str | Path, catalogue: Catalogue, recipes: Mapping[str, Recipe] | None = None) -> Scene:
    """A scene that passed its checks: every thing has its size and place, every fixture its public name, and every
    passage is open.

    `source` is the id of a scene that ships with iwkit, or the path of a file. `recipes` tell what doors sweep; those
    that ship with iwkit by default.

    Raises:
        UsageError: there is no such scene.
        Problems: the file can't be read, doesn't follow the schema, or fails a check.
    """
    document = read(_find(source))
    scene = check(document, Scene)
    if problems := check_scene(scene, catalogue, document, recipes):
        raise Problems(problems)
    return _resolved(scene, catalogue)


def check_scene(
    scene: Scene, catalogue: Catalogue, doc: Document, recipes: Mapping[str, Recipe] | None = None
) -> list[Problem]:
    """Everything that is wrong with a scene, sorted by place; `doc` is the file it was read from.

    A thing whose room, category or support doesn't exist is left out of the checks that need them.
    """
    recipes = _shipped_recipes() if recipes is None else recipes
    problems = [
        *unknown_names(scene, catalogue, doc),
        *unknown_supports(scene, catalogue, doc),
        *empty_rooms(scene, doc),
    ]
    site = Site(_resolved(_sound(scene, catalogue), catalogue), catalogue, recipes, doc)
    for one in CHECKS:
        problems += one(site)
    return sorted(problems)


@cache
def _shipped_recipes() -> Mapping[str, Recipe]:
    return load_recipes()


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
    for name, fixture in place_fixtures(scene, catalogue).items():
        public = fixture.public or f"the {catalogue.categories[fixture.category].public[0]}"
        fixtures[name] = fixture.model_copy(update={"public": public})
    doors = {name: door if door.leaf else door.model_copy(update={"open": True}) for name, door in scene.doors.items()}
    scene = scene.model_copy(update={"fixtures": fixtures, "doors": doors})
    return scene.model_copy(update={"decor": place_decor(scene, catalogue)})


def _sound(scene: Scene, catalogue: Catalogue) -> Scene:
    """The part of a scene that can be measured."""
    rooms = {name: room for name, room in scene.rooms.items() if has_floor(room.box)}
    doors = {name: door for name, door in scene.doors.items() if set(door.between) <= set(rooms)}

    def known(thing: Standing) -> bool:
        return thing.category in catalogue.categories and (not thing.room or thing.room in rooms)

    fixtures = {name: fixture for name, fixture in scene.fixtures.items() if known(fixture)}
    fixtures = {name: fixture for name, fixture in fixtures.items() if fixture.on in (None, *fixtures)}
    decor = {name: piece for name, piece in scene.decor.items() if known(piece)}
    decor = {
        name: piece
        for name, piece in decor.items()
        if all(holder in (None, *fixtures) for holder in (piece.on, piece.inside))
    }
    return scene.model_copy(update={"rooms": rooms, "doors": doors, "fixtures": fixtures, "decor": decor})
