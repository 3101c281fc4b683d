"""Where a scene says that things stand, worked out: against a wall, upon a fixture, under a ceiling."""

from __future__ import annotations

from typing import TypeVar

from iwkit.catalogue import surface_size
from iwkit.floorplan import CEILING, REACH, SPAN, STAND, UNIT, floor, size_of
from iwkit.spec.catalogue import Catalogue
from iwkit.spec.scene import Decor, Fixture, Heading, Point, Scene, Standing

INWARD: dict[str, Heading] = {"north": 270, "south": 90, "east": 180, "west": 0}
"""Wall -> the direction in which one looks with one's back to it."""
BEHIND = REACH - STAND / 2 - 0.02
"""What stands on a fixture has its front no further behind that one's than this, metres: one stands before both."""
SAID = {"against": None, "along": None, "on": None, "spot": None}
"""What a loaded scene no longer says of a fixture, so that its digest doesn't depend on the way it was put."""

_Thing = TypeVar("_Thing", bound=Standing)


def sized(thing: _Thing, catalogue: Catalogue) -> _Thing:
    """The same thing with its size filled in."""
    return thing.model_copy(update={"size": thing.size or catalogue.categories[thing.category].size})


def place_fixtures(scene: Scene, catalogue: Catalogue) -> dict[str, Fixture]:
    """Every fixture with its size, room, place and heading, as far as what it stands on is known."""
    placed: dict[str, Fixture] = {}
    left = {name: sized(fixture, catalogue) for name, fixture in scene.fixtures.items()}
    while left:
        ready = {name: fixture for name, fixture in left.items() if fixture.on is None or fixture.on in placed}
        if not ready:
            break
        for name, fixture in ready.items():
            found = _upon(fixture, placed[fixture.on], catalogue) if fixture.on else _standing(fixture, scene)
            placed[name] = found.model_copy(update=SAID)
        left = {name: fixture for name, fixture in left.items() if name not in ready}
    return {name: placed[name] for name in scene.fixtures if name in placed}


def place_decor(scene: Scene, catalogue: Catalogue) -> dict[str, Decor]:
    """Every piece of decor with its size; with room, place and heading where it isn't on or inside a fixture."""
    found = {}
    for name, decor in scene.decor.items():
        piece = sized(decor, catalogue)
        holder = scene.fixtures.get(piece.on or piece.inside or "")
        if holder is not None:
            found[name] = piece.model_copy(update={"room": holder.room})
        elif piece.ceiling:
            found[name] = _hanging(piece, scene)
        else:
            found[name] = _standing(piece, scene)
    return found


def _standing(thing: _Thing, scene: Scene) -> _Thing:
    if thing.against is None or thing.along is None:
        return thing
    x0, y0, x1, y1 = floor(scene, thing.room)
    facing = INWARD[thing.against]
    half = size_of(thing)[1] / 2
    at = {
        "north": (thing.along, y1 - half),
        "south": (thing.along, y0 + half),
        "east": (x1 - half, thing.along),
        "west": (x0 + half, thing.along),
    }[thing.against]
    return thing.model_copy(update={"at": _rounded(at), "facing": facing})


def _hanging(decor: Decor, scene: Scene) -> Decor:
    x0, y0, x1, y1 = scene.rooms[decor.room].box
    at = decor.at if "at" in decor.model_fields_set else ((x0 + x1) / 2, (y0 + y1) / 2)
    height = size_of(decor)[2]
    return decor.model_copy(update={"at": _rounded(at), "base": round(max(0.0, CEILING - height), 4)})


def _upon(fixture: Fixture, below: Fixture, catalogue: Catalogue) -> Fixture:
    category = catalogue.categories[below.category]
    width, depth = surface_size(category, below.size) if "surface" in category.affords else (0.0, 0.0)
    facing = fixture.facing if "facing" in fixture.model_fields_set else below.facing
    if fixture.spot is not None:
        right, back = SPAN / 2 * fixture.spot[0] * width, SPAN * (fixture.spot[1] - 0.5) * depth
    else:
        right, back = 0.0, min(0.0, BEHIND - (size_of(below)[1] - size_of(fixture)[1]) / 2)
    # Facing the front of what is below, right is to the left of the direction in which it looks.
    fx, fy = UNIT[below.facing]
    at = (below.at[0] - fy * right - fx * back, below.at[1] + fx * right - fy * back)
    base = round(below.base + size_of(below)[2], 4)
    return fixture.model_copy(update={"at": _rounded(at), "facing": facing, "base": base, "room": below.room})


def _rounded(at: Point) -> Point:
    return round(at[0], 4), round(at[1], 4)
