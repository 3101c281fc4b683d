"""A tour of a scene: what a person sees who stands in the doorways and corners of its rooms, and a view from above."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit.compile.bind import scene_things
from iwkit.errors import UsageError
from iwkit.floorplan import Box, floor, wall_of
from iwkit.spec.catalogue import Catalogue
from iwkit.spec.recipe import Recipe
from iwkit.spec.scene import Scene
from iwkit_runtime.physical.kinematics import link_frames, root_frame
from iwkit_runtime.physical.layout import EYES, Assets, decor_name, furnish
from iwkit_runtime.physical.scene_spec import Joints, Poses, SceneSpec, States
from iwkit_runtime.physical.shell import hangs
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.render.images import png
from iwkit_runtime.render.renderer import FIELD_OF_VIEW, Renderer, look_from, overhead

SIZE = (960, 720)
"""Width and height of the pictures, pixels."""
SCOUT = (96, 72)
"""The same for the small ones that tell what is in view from a place."""
FEWEST, MOST = 2, 3
"""Pictures of a room."""
SHOWN = 0.012
"""Part of a picture that a thing fills when it is well in view; more of it makes no picture better."""
ASIDE = 0.3
"""What decor that is well in view counts against a fixture."""
BLOCKED = 0.3
"""What fills more than this part of a picture is too near."""
DOWN = math.radians(14)
"""How far below the horizon one looks."""
HEADINGS = 16
MARGIN = 0.12
"""Part of a picture's width and height, at each edge, in which nothing counts: things there are mostly cut off."""
WIDE = (-0.5, 0.0, 0.5)
"""A view is as deep as the least of its depths in these directions, radians from its middle."""
FROM_ABOVE = 30.0
"""Field of view from above, degrees: narrow, so that walls hide little."""
INSIDE = 0.35
"""From a wall to the eyes, metres."""
BERTH = 0.2
"""Between the eyes and what stands in the room, metres."""

Point = tuple[float, float]


class View(NamedTuple):
    """A picture of the tour: its name, the room (None for the whole scene), the camera (4, 4), and the vertical field
    of view in degrees."""

    name: str
    room: str | None
    camera: Floats
    fov: float = FIELD_OF_VIEW


@dataclass(frozen=True, eq=False)
class _Glimpse:
    """What is seen from a point: the room's fixtures and decor by how well they are in view (0 to 1, decor less), and
    how far one looks, as a part of the room's diagonal."""

    eye: Point
    camera: Floats
    shown: Mapping[str, float]
    depth: float

    def adds(self, before: Mapping[str, float]) -> float:
        """How many of them this shows that were not yet well in view."""
        return sum(max(0.0, share - before.get(name, 0.0)) for name, share in self.shown.items())

    def differs(self, others: Sequence[_Glimpse]) -> float:
        """By how much it looks another way than the others, 0 to 1; 1 when there are none."""
        return min(((1 - float(self.camera[:3, 2] @ other.camera[:3, 2])) / 2 for other in others), default=1.0)


def write_tour(
    scene: Scene, catalogue: Catalogue, recipes: Mapping[str, Recipe], folder: Path, *, size: tuple[int, int] = SIZE
) -> tuple[Path, ...]:
    """Write a tour of a scene without any pack as PNG files: `ROOM-1.png` and so on for every room, and `above.png`.

    Raises:
        NoOpenGL: this machine can't draw; the message names the packages that it lacks.
        UsageError: the folder can't be written, or a fixture can't be built.
    """
    things = {thing.name: thing for thing in scene_things(scene, catalogue)}
    spec = furnish(scene, things, Assets(catalogue, recipes))
    poses, joints = as_placed(spec)
    running: States = {name: ("running",) for name, fixture in scene.fixtures.items() if fixture.running}
    hung = [static.name for static in spec.statics if hangs(static)]
    files = []
    for fov, same in groupby(views(scene, spec), attrgetter("fov")):
        with Renderer(spec, size=size, fov=fov) as renderer:
            for view in same:
                away = hung if view.room is None else ()
                picture = png(renderer.frame(view.camera, poses, joints, hidden=away, states=running))
                files.append(_write(folder, f"{view.name}.png", picture))
    return tuple(files)


def _write(folder: Path, name: str, content: bytes) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    except OSError as error:
        raise UsageError(f"can't write {folder / name}: {error.strerror}; give another folder") from None
    return folder / name


def as_placed(spec: SceneSpec) -> tuple[Poses, Joints]:
    """Poses and joints of everything where the scene puts it, before anything settles."""
    poses = {placed.name: root_frame(placed).pose for placed in spec.placed}
    joints = {(placed.name, link): value for placed in spec.placed for link, value in placed.joints.items()}
    return poses, joints


def views(scene: Scene, spec: SceneSpec) -> tuple[View, ...]:
    """The pictures of a tour: two or three of each room, in the scene's order, then one from above.

    In each room those views are taken that together show most of its fixtures and decor, the best one first. `spec` is
    the furnished scene.

    Raises:
        NoOpenGL: this machine can't draw.
    """
    found = []
    with Renderer(spec, size=SCOUT) as scout:
        for room in scene.rooms:
            chosen = _chosen(list(_glimpses(scout, scene, spec, room)))
            found += [View(f"{room}-{n}", room, glimpse.camera) for n, glimpse in enumerate(chosen, start=1)]
    return (*found, View("above", None, overhead(spec, fov=FROM_ABOVE, aspect=SIZE[0] / SIZE[1]), FROM_ABOVE))


def _chosen(glimpses: Sequence[_Glimpse]) -> list[_Glimpse]:
    """The best glimpses, each from another point and another way; a third for what is not well in view by then."""
    chosen: list[_Glimpse] = []
    shown: dict[str, float] = {}
    left = list(glimpses)
    while left and len(chosen) < MOST:
        best = max(left, key=lambda glimpse: round(glimpse.adds(shown) + glimpse.depth + glimpse.differs(chosen), 3))
        if len(chosen) >= FEWEST and best.adds(shown) < 1:
            break
        chosen.append(best)
        shown |= {name: max(share, shown.get(name, 0.0)) for name, share in best.shown.items()}
        left = [glimpse for glimpse in left if glimpse.eye != best.eye]
    return chosen


def _glimpses(scout: Renderer, scene: Scene, spec: SceneSpec, room: str) -> Iterator[_Glimpse]:
    """What is seen from every point of a room in every direction, but where something is right before the eyes."""
    poses, joints = as_placed(spec)
    decor = {decor_name(name): piece.room for name, piece in scene.decor.items()}
    wanted = {name: 1.0 for name, fixture in scene.fixtures.items() if fixture.room == room}
    wanted |= {name: ASIDE for name, its_room in decor.items() if its_room == room}
    things = {placed.name for placed in spec.placed} | set(decor)
    box, rim = floor(scene, room), [round(MARGIN * side) for side in SCOUT[::-1]]
    headings = [2 * math.pi * number / HEADINGS for number in range(HEADINGS)]
    for eye, heading in product(_points(scene, spec, room), headings):
        ahead = np.array([math.cos(heading), math.sin(heading), -math.tan(DOWN)])
        camera = look_from((*eye, EYES), np.array([*eye, EYES]) + ahead)
        names, ids = scout.ids(camera, poses, joints)
        if max((share for name, share in _shares(names, ids) if name in things), default=0.0) > BLOCKED:
            continue
        inner = ids[rim[0] : -rim[0], rim[1] : -rim[1]]
        shown = {
            name: wanted[name] * min(1.0, share / SHOWN) for name, share in _shares(names, inner) if name in wanted
        }
        depth = min(_to_wall(box, eye, heading + turn) for turn in WIDE) / math.dist(box[:2], box[2:])
        yield _Glimpse(eye, camera, shown, depth)


def _shares(names: Sequence[str], ids: NDArray[np.int64]) -> list[tuple[str, float]]:
    """What part of an image of numbers each name fills."""
    counts = np.bincount(ids.ravel(), minlength=len(names)) / ids.size
    return list(zip(names, counts.tolist(), strict=True))


def _points(scene: Scene, spec: SceneSpec, room: str) -> list[Point]:
    """Where one may stand to look around: inside each doorway, then in the corners and at the middle of each wall."""
    x0, y0, x1, y1 = floor(scene, room)
    across, along = ((x0 + INSIDE, (x0 + x1) / 2, x1 - INSIDE), (y0 + INSIDE, (y0 + y1) / 2, y1 - INSIDE))
    rim = [(x, y) for x, y in product(across, along) if (x, y) != (across[1], along[1])]
    points = [*_doorways(scene, room), *rim]
    solid = _solid(spec, (x0, y0, x1, y1))
    return [point for point in points if not _within(point, solid)] or points


def _doorways(scene: Scene, room: str) -> Iterator[Point]:
    for door in scene.doors.values():
        wall = wall_of(scene, door) if room in door.between else None
        if wall is not None:
            beyond = scene.rooms[room].box[wall.axis] >= wall.at - INSIDE / 2
            x, y = door.at
            shift = INSIDE if beyond else -INSIDE
            yield (x + shift, y) if wall.axis == 0 else (x, y + shift)


def _solid(spec: SceneSpec, room: Box) -> Floats:
    """The rectangles (n, 4) on the plan under every part of what stands in a room, and of doors that reach into it."""
    boxes = []
    for placed in spec.placed:
        frames = link_frames(placed.asset, root_frame(placed), placed.joints)
        for link in placed.asset.links:
            for piece in link.pieces:
                points = frames[link.name].point(piece.vertices)[:, :2]
                boxes.append([*points.min(0), *points.max(0)])
    boxes += [
        [*piece.vertices[:, :2].min(0), *piece.vertices[:, :2].max(0)]
        for static in spec.statics
        for piece in (static.pieces if static.layer == "decor" and not hangs(static) else ())
    ]
    found = np.array(boxes).reshape(-1, 4)
    x0, y0, x1, y1 = room
    return found[(found[:, 0] < x1) & (found[:, 2] > x0) & (found[:, 1] < y1) & (found[:, 3] > y0)]


def _within(point: Point, boxes: Floats) -> bool:
    return bool(((boxes[:, :2] - BERTH < point) & (boxes[:, 2:] + BERTH > point)).all(1).any())


def _to_wall(box: Box, point: Point, heading: float) -> float:
    """How far it is from a point in a box to its edge, metres."""
    ways = []
    for axis, part in enumerate((math.cos(heading), math.sin(heading))):
        if abs(part) > 1e-9:
            ways.append((box[axis + 2 if part > 0 else axis] - point[axis]) / part)
    return min(ways)
