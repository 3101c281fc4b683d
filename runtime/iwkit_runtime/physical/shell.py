"""The building around the furniture: floors, walls with their openings, ceilings, and the doors in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from iwkit.errors import CompileError, UsageError
from iwkit.floorplan import CEILING as HEIGHT
from iwkit.floorplan import WALL, Wall, wall_of
from iwkit.spec.scene import Door, Room, Scene
from iwkit_runtime.physical.finishes import FACADE, Finish, Lining, finish, patterned, plain
from iwkit_runtime.physical.plates import door_plates
from iwkit_runtime.physical.scene_spec import Static
from iwkit_runtime.physical.spec import Asset, Floats, Joint, Later, Link, Material, Piece, Vector, Visual

BOUNDARY = 1.7
"""Height of a hedge or a fence, metres."""
OPENING = 2.05
"""Height of door openings."""
LEAF = 0.04
"""Thickness of a door leaf."""
SLIT = 0.005
"""Between a leaf and the frame around it, at its sides."""
UNDER = 0.01
"""Under a leaf and above it."""
SLAB = 0.10
"""Thickness of the floor in the collision world."""
SKIRTING = 0.08
"""Height of the skirting boards."""
CASING = 0.06
"""Width of the trim around a door opening."""
LEVER = (0.065, 1.0)
"""A door's lever: distance from the leaf's free edge and height, metres."""
DOOR_MASS = 25.0

TRIM = plain("trim", (240, 238, 232))
CUT = plain("wall-top", (120, 118, 114))
LIT = 0.16
"""Emission of ceilings, on which the light of lamps falls, and of what lies in the sun: no shadow takes it away."""
CEILING = plain("ceiling", (246, 245, 241), LIT)
DOOR_COLOUR = plain("door", (206, 190, 164))
STEEL = plain("steel", (150, 152, 156))


class _Side(NamedTuple):
    """One side of a room: the wall at coordinate `at` of `axis`, from `low` to `high`; `inward` is +1 or -1."""

    axis: int
    at: float
    low: float
    high: float
    inward: int
    openings: tuple[tuple[float, float], ...]


class _Stretch(NamedTuple):
    """A part of a side from `low` to `high` along it and from `bottom` to `top`; `lining` covers its lower part.
    What is `lit` lies in the sun."""

    side: _Side
    low: float
    high: float
    bottom: float
    top: float = HEIGHT
    lining: Lining | None = None
    lit: bool = False


def building(scene: Scene) -> tuple[Static, ...]:
    """Floors and walls of every room, each called after its room."""
    found = []
    for room in scene.rooms:
        look = finish(scene.rooms[room])
        found += [_floor(scene, room, look), _walls(scene, room, look)]
    return tuple(found)


def hangs(static: Static) -> bool:
    """Whether a part of the building is decor that hangs from the ceiling."""
    return static.layer == "decor" and any(piece.vertices[:, 2].max() > HEIGHT - SLAB / 2 for piece in static.pieces)


def box_piece(low: Vector, high: Vector) -> Piece:
    """A box as a convex piece."""
    return Piece(np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]))


def _floor(scene: Scene, room: str, look: Finish) -> Static:
    x0, y0, x1, y1 = scene.rooms[room].box
    corners = np.array([[x0, y0, 0], [x1, y0, 0], [x1, y1, 0], [x0, y1, 0]], float)
    emission = LIT if scene.rooms[room].outdoor else 0.0
    seen = Later(lambda: [_quad(corners, patterned(look.floor, emission), look.floor.period)])
    return Static(f"floor_{room}", "floor", seen, (box_piece((x0, y0, -SLAB), (x1, y1, 0.0)),))


def _walls(scene: Scene, room: str, look: Finish) -> Static:
    """The room's half of each of its walls; where no room is beyond, the outer half too."""
    outdoor = scene.rooms[room].outdoor
    sides = [(side, list(_stretches(scene, side, look, outdoor=outdoor))) for side in _sides(scene, room)]
    pieces = [piece for side, parts in sides for piece in _side_pieces(scene, side, parts, outdoor=outdoor)]
    return Static(f"wall_{room}", "wall", Later(lambda: _faces(scene.rooms[room], sides, look)), tuple(pieces))


def _faces(room: Room, sides: list[tuple[_Side, list[_Stretch]]], look: Finish) -> Iterator[Visual]:
    """What is seen of a room's walls, and its ceiling."""
    quads: dict[Material, list[Floats]] = {}
    lined: list[Visual] = []
    for side, stretches in sides:
        for stretch in stretches:
            _line(stretch, look, quads, lined)
        for opening in side.openings:
            _reveal(side, opening, quads)
    if not room.outdoor:
        x0, y0, x1, y1 = room.box
        quads[CEILING] = [np.array([[x0, y1, HEIGHT], [x1, y1, HEIGHT], [x1, y0, HEIGHT], [x0, y0, HEIGHT]], float)]
    yield from (_quads(corners, material) for material, corners in quads.items())
    yield from lined


def _sides(scene: Scene, room: str) -> Iterator[_Side]:
    x0, y0, x1, y1 = scene.rooms[room].box
    for axis, at, low, high, inward in (
        (0, x0, y0, y1, 1),
        (0, x1, y0, y1, -1),
        (1, y0, x0, x1, 1),
        (1, y1, x0, x1, -1),
    ):
        openings = []
        for door in scene.doors.values():
            wall = wall_of(scene, door) if room in door.between else None
            if wall is not None and wall.axis == axis and abs(wall.at - at) < WALL / 2:
                middle = door.at[1 - axis]
                openings.append((middle - door.width / 2, middle + door.width / 2))
        yield _Side(axis, at, low, high, inward, tuple(sorted(openings)))


def _alone(scene: Scene, side: _Side) -> Iterator[tuple[float, float]]:
    """The parts of a side beyond which there is no other room; at a corner they reach around it."""
    reached = side.low - WALL / 2
    end = side.high + WALL / 2
    for low, high in (*((low, high) for low, high, _ in _beyond(scene, side)), (end, end)):
        if min(low, end) - reached > WALL:
            yield reached, min(low, end)
        reached = max(reached, high)


def _stretches(scene: Scene, side: _Side, look: Finish, *, outdoor: bool) -> Iterator[_Stretch]:
    """The parts of a side as they are seen from the room: whole wall between the openings, a lintel above each;
    outdoors the boundary, and the wall of a house where a room indoors is beyond."""
    if not outdoor:
        yield from (part._replace(lining=look.lining) for part in _between_openings(side))
        return
    for low, high, covered in _covered(scene, side):
        part = side._replace(openings=tuple(o for o in side.openings if low < sum(o) / 2 < high))
        for stretch in _between_openings(part._replace(low=low, high=high)):
            top = HEIGHT if covered else BOUNDARY
            if stretch.bottom < top:
                yield stretch._replace(side=side, top=top, lining=FACADE if covered else look.lining, lit=True)


def _between_openings(side: _Side) -> Iterator[_Stretch]:
    edges = [side.low, *(edge for opening in side.openings for edge in opening), side.high]
    for number, (low, high) in enumerate(pairwise(edges)):
        if high - low > 1e-6:
            yield _Stretch(side, low, high, OPENING if number % 2 else 0.0)


def _covered(scene: Scene, side: _Side) -> list[tuple[float, float, bool]]:
    """The parts of a side in order, and whether a room indoors is beyond."""
    spans = sorted(
        (max(low, side.low), min(high, side.high))
        for low, high, room in _beyond(scene, side)
        if not room.outdoor and min(high, side.high) - max(low, side.low) > WALL
    )
    parts, reached = [], side.low
    for low, high in (*spans, (side.high, side.high)):
        if low - reached > 1e-6:
            parts.append((reached, low, False))
        if high > low:
            parts.append((low, high, True))
        reached = high
    return parts


def _beyond(scene: Scene, side: _Side) -> list[tuple[float, float, Room]]:
    """The rooms on the other side, and from where to where they are along it."""
    edge = 0 if side.inward < 0 else 2  # of a room beyond, the edge that lies on this side
    found = [
        (other.box[1 - side.axis], other.box[3 - side.axis], other)
        for other in scene.rooms.values()
        if abs(other.box[side.axis + edge] - side.at) < WALL / 2
    ]
    return sorted(found, key=lambda it: it[:2])


def _at(side: _Side, across: float, along: float, z: float) -> Vector:
    return (across, along, z) if side.axis == 0 else (along, across, z)


def _side_pieces(scene: Scene, side: _Side, stretches: list[_Stretch], *, outdoor: bool) -> Iterator[Piece]:
    near, far = sorted((side.at, side.at + side.inward * WALL / 2))
    for part in stretches:
        yield box_piece(_at(side, near, part.low, part.bottom), _at(side, far, part.high, part.top))
    near, far = sorted((side.at, side.at - side.inward * WALL / 2))
    for low, high in _alone(scene, side):
        yield box_piece(_at(side, near, low, 0.0), _at(side, far, high, BOUNDARY if outdoor else HEIGHT))


def _line(stretch: _Stretch, look: Finish, quads: dict[Material, list[Floats]], lined: list[Visual]) -> None:
    """The visible face of one stretch: lining, paint, skirting, and the cut top that a view from above shows."""
    side, low, high, bottom, top, lining, lit = stretch
    face = side.at + side.inward * WALL / 2
    start, end = max(low, side.low + WALL / 2), min(high, side.high - WALL / 2)
    upto = min(top, max(lining.height if lining else 0.0, bottom))
    if lining is not None and upto > bottom:
        lined.append(
            _quad(
                _face(side, face, (start, end), (bottom, upto)), patterned(lining, LIT if lit else 0.0), lining.period
            )
        )
    if upto < top:
        quads.setdefault(plain("paint", look.wall), []).append(_face(side, face, (start, end), (upto, top)))
    if bottom == 0 and lining is None:
        board = face + side.inward * 0.012
        quads.setdefault(TRIM, []).append(_face(side, board, (start, end), (0, SKIRTING)))
        ledge = [_at(side, x, y, SKIRTING) for x, y in ((face, start), (face, end), (board, end), (board, start))]
        quads[TRIM].append(_facing(np.array(ledge), (0, 0, 1)))
    z = top + 0.001
    cut = [_at(side, x, y, z) for x, y in ((side.at, low), (side.at, high), (face, high), (face, low))]
    quads.setdefault(CUT if top == HEIGHT else plain("paint", look.wall), []).append(_facing(np.array(cut), (0, 0, 1)))


def _reveal(side: _Side, opening: tuple[float, float], quads: dict[Material, list[Floats]]) -> None:
    """The room's half of the jambs and the lintel, and the casing around the opening on the wall's face."""
    low, high = opening
    face = side.at + side.inward * WALL / 2
    trim = quads.setdefault(TRIM, [])
    for along, sign in ((low, 1), (high, -1)):
        jamb = [_at(side, x, along, z) for x, z in ((side.at, 0), (face, 0), (face, OPENING), (side.at, OPENING))]
        trim.append(_facing(np.array(jamb), _at(side, 0, sign, 0)))
    lintel = [_at(side, x, y, OPENING) for x, y in ((side.at, low), (side.at, high), (face, high), (face, low))]
    trim.append(_facing(np.array(lintel), (0, 0, -1)))
    proud = face + side.inward * 0.008
    for start, end, bottom, top in (
        (low - CASING, low, 0, OPENING + CASING),
        (high, high + CASING, 0, OPENING + CASING),
        (low, high, OPENING, OPENING + CASING),
    ):
        trim.append(_face(side, proud, (start, end), (bottom, top)))


def _face(side: _Side, face: float, along: tuple[float, float], up: tuple[float, float]) -> Floats:
    """A rectangle in the wall's plane, seen from the room, its first edge along the bottom from left to right."""
    (low, high), (bottom, top) = along, up
    corners = [_at(side, face, y, z) for y, z in ((low, bottom), (high, bottom), (high, top), (low, top))]
    inward = _at(side, side.inward, 0, 0)
    return _facing(np.array(corners), inward)


def _facing(corners: Floats, normal: Vector) -> Floats:
    """The same rectangle, wound so that it is seen from where the normal points."""
    first, _, last = (corners[1:] - corners[0]).tolist()
    (ax, ay, az), (bx, by, bz), (x, y, z) = first, last, normal
    toward = (ay * bz - az * by) * x + (az * bx - ax * bz) * y + (ax * by - ay * bx) * z
    return corners if toward > 0 else corners[[1, 0, 3, 2]]


def _quad(corners: Floats, material: Material, period: float) -> Visual:
    """A rectangle with an image that repeats every `period` metres."""
    width, height = np.linalg.norm(corners[1] - corners[0]), np.linalg.norm(corners[3] - corners[0])
    uv = np.array([[0, 0], [width, 0], [width, height], [0, height]]) / period
    return Visual(corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), uv, material)


def _quads(corners: list[Floats], material: Material) -> Visual:
    vertices = np.concatenate(corners)
    first = 4 * np.arange(len(corners))[:, None, None]
    faces = (first + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3).astype(np.int32)
    return Visual(vertices, faces, None, material)


# --- doors ------------------------------------------------------------------------------------------------------------


def door_pose(scene: Scene, door: Door) -> tuple[Vector, float, bool]:
    """Position and yaw of a door, its front (-y) towards the room it opens into, and whether its hinge is at its -x."""
    wall = wall_of(scene, door)
    if wall is None:
        raise CompileError(f"scene {scene.id}: {door.public} is not between two rooms that touch")
    toward = _toward(scene, door, wall)
    # The front looks along the wall's normal; the asset's +x lies to the right of who stands before it.
    yaw = {(0, 1): np.pi / 2, (0, -1): -np.pi / 2, (1, 1): np.pi, (1, -1): 0.0}[wall.axis, toward]
    right = (np.cos(yaw), np.sin(yaw))[1 - wall.axis]
    return (*door.at, 0.0), float(yaw), bool(right > 0)


def _toward(scene: Scene, door: Door, wall: Wall) -> int:
    """+1 when the first of the two rooms lies at greater coordinates than the wall."""
    return 1 if abs(scene.rooms[door.between[0]].box[wall.axis] - wall.at) < WALL / 2 else -1


@lru_cache(maxsize=256)
def door_asset(width: float, *, leaf: bool, hinge_left: bool, label: str | None = None) -> Asset:
    """A door for an opening of this width: a leaf with a lever on either side, or nothing for an open passage.

    `hinge_left`: at -x, as one stands on the side to which it opens. `label` is written on a plate on either side.

    Raises:
        UsageError: a passage has no leaf to write on.
    """
    size = (width, WALL, OPENING)
    frame_ = Link("frame", None, (), ())
    if not leaf and label is not None:
        raise UsageError(f"nothing is written on an open passage: leave out the label '{label}'")
    if not leaf:
        return Asset("door", size, DOOR_MASS, (frame_,))
    side = 1 if hinge_left else -1
    front = -WALL / 2
    half = width / 2 - SLIT
    low, high = np.array([-half, front, UNDER]), np.array([half, front + LEAF, OPENING - UNDER])
    anchor = (-side * half, front, 0.0)
    joint = Joint("hinge", (0.0, 0.0, float(-side)), anchor, 0.0, float(np.pi / 2))
    handle = (side * (half - LEVER[0]), front - 0.05, LEVER[1])
    piece = box_piece((low[0], low[1], low[2]), (high[0], high[1], high[2]))
    plates, labels = door_plates(label, (front, front + LEAF)) if label is not None else ((), ())
    visuals = Later(lambda: (*_panels(low, high), *_levers(handle, front, side), *plates))
    swinging = Link("leaf", "frame", visuals, (piece,), joint, handle)
    return Asset("door", size, DOOR_MASS, (frame_, swinging), labels=labels)


def _panels(low: Floats, high: Floats) -> tuple[Visual, ...]:
    """The leaf, with two sunken fields drawn as slightly darker panels on either face."""
    darker = plain("door-panel", (190, 172, 144))
    fields = [
        solid_box((low[0] + 0.14, y, bottom), (high[0] - 0.14, y + 0.003, top))
        for bottom, top in ((0.18, 0.92), (1.12, 1.88))
        for y in (low[1] - 0.002, high[1] - 0.001)
    ]
    return (_joined([solid_box(tuple(low), tuple(high))], DOOR_COLOUR), _joined(fields, darker))


def _levers(handle: Vector, front: float, side: int) -> tuple[Visual, ...]:
    x, _, z = handle
    boxes = []
    for face, out in ((front, -1), (front + LEAF, 1)):
        near, far = sorted((face, face + out * 0.05))
        boxes.append(solid_box((x - 0.012, near, z - 0.012), (x + 0.012, far, z + 0.012)))
        near, far = sorted((face + out * 0.035, face + out * 0.05))
        start, end = sorted((x + side * 0.012, x - side * 0.11))
        boxes.append(solid_box((start, near, z - 0.01), (end, far, z + 0.01)))
    return (_joined(boxes, STEEL),)


def solid_box(low: tuple[float, ...], high: tuple[float, ...]) -> list[Floats]:
    """The six faces (4, 3) of a box, seen from outside."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    corner = np.array([[x, y, z] for x in (x0, x1) for y in (y0, y1) for z in (z0, z1)], float)
    normals = [(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return [_facing(corner[list(index)], normal) for index, normal in zip(sides, normals, strict=True)]


def _joined(boxes: list[list[Floats]], material: Material) -> Visual:
    return _quads([face for box in boxes for face in box], material)
