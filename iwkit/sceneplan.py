"""A scene for people: a floor plan as a picture, and a plain-text list."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from iwkit.catalogue import interior_size, surface_size
from iwkit.errors import UsageError
from iwkit.floorplan import FLAT, UNIT, WALL, Box, floor, footprint, overlaps, size_of, wall_of
from iwkit.floorspace import standing_decor
from iwkit.spec.catalogue import Catalogue, Category
from iwkit.spec.scene import Door, Fixture, Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES = 1.55
"""Inches on the page for a metre in the scene."""
DPI = 110
MARGIN = (0.75, 1.35, 0.55, 0.8)
"""Left, bottom, right, top, in metres of the scene."""
_TINTS = ("#fdf3e7", "#eaf3ea", "#e9f0f8", "#f7eaf1", "#f4f1e4", "#e6f2f3", "#f1ecf8", "#f3efec")
_GROUPS = (  # the first trait that a category has decides
    ("seat", "#b9d8b0", "seat or bed"),
    ("container", "#aac7e4", "can hold things inside"),
    ("surface", "#ecd3a4", "things can stand on it"),
    ("", "#d6d6d6", "other"),
)
_OUTDOOR, _DECOR = "#dcebd0", "#efe6da"
_INK, _FAINT = "#222222", "#777777"
_SIZES = (11, 10.5, 10, 9.5, 9, 8.5, 8, 7.5)
_BESIDE = 8.5
_LEADING = 1.25


@dataclass(frozen=True, slots=True)
class _Label:
    text: str
    x: float
    y: float
    size: float
    turned: bool = False

    @property
    def box(self) -> Box:
        width, height = _extent(self.text, self.size)
        across, along = (height, width) if self.turned else (width, height)
        return self.x - across / 2, self.y - along / 2, self.x + across / 2, self.y + along / 2


@dataclass(slots=True)
class _Sheet:
    """The page: its axes in metres, its edges, and what later labels must keep clear of."""

    axes: Axes
    edges: Box
    taken: list[Box] = field(default_factory=list)

    def free(self, box: Box) -> bool:
        inside = all(box[i] >= self.edges[i] and box[i + 2] <= self.edges[i + 2] for i in (0, 1))
        return inside and not any(overlaps(box, other) for other in self.taken)

    def line(self, points: Iterable[tuple[float, float]], color: str = _INK, width: float = 1, dash: str = "-") -> None:
        xs, ys = zip(*points, strict=True)
        self.axes.plot(xs, ys, color=color, linewidth=width, linestyle=dash, solid_capstyle="butt")

    def rectangle(self, box: Box, fill: str, edge: str = "none", width: float = 0.8) -> None:
        x0, y0, x1, y1 = box
        self.axes.fill((x0, x1, x1, x0), (y0, y0, y1, y1), facecolor=fill, edgecolor=edge, linewidth=width)

    def write(self, label: _Label, color: str = _INK, weight: str = "normal") -> None:
        self.taken.append(label.box)
        self.axes.text(
            label.x,
            label.y,
            label.text,
            fontsize=label.size,
            rotation=90 if label.turned else 0,
            color=color,
            weight=weight,
            ha="center",
            va="center",
            linespacing=_LEADING,
        )


def draw(scene: Scene, catalogue: Catalogue, path: Path) -> None:
    """Draw the plan of a loaded scene to a .png or .svg file, seen from above, 1.55 inches to the metre.

    Raises:
        UsageError: the file name ends in neither, or matplotlib isn't installed.
    """
    if path.suffix not in (".png", ".svg"):
        raise UsageError(f"a plan can't be written to {path.name}: name it .png or .svg")
    try:
        from matplotlib import rc_context  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise UsageError("drawing a plan needs matplotlib: pip install matplotlib") from None
    x0, y0, x1, y1 = _bounds(scene)
    edges = (x0 - MARGIN[0], y0 - MARGIN[1], x1 + MARGIN[2], y1 + MARGIN[3])
    with rc_context({"svg.hashsalt": "iwkit", "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=((edges[2] - edges[0]) * INCHES, (edges[3] - edges[1]) * INCHES), facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(edges[0], edges[2])
        axes.set_ylim(edges[1], edges[3])
        axes.axis("off")
        _draw_all(_Sheet(axes, edges), scene, catalogue)
        figure.savefig(path, dpi=DPI, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})


def _draw_all(sheet: _Sheet, scene: Scene, catalogue: Catalogue) -> None:
    for index, room in enumerate(scene.rooms.values()):
        sheet.rectangle(room.box, _OUTDOOR if room.outdoor else _TINTS[index % len(_TINTS)])
    for flat in (True, False):
        for _, decor in standing_decor(scene):
            if (size_of(decor)[2] <= FLAT) == flat:
                sheet.rectangle(footprint(decor), _DECOR if flat else "white", _FAINT, 0.5)
    _draw_walls(sheet, scene)
    for name, door in scene.doors.items():
        _draw_door(sheet, scene, name, door)
    # What stands on another thing is drawn after it.
    for fixture in sorted(scene.fixtures.values(), key=lambda it: it.base):
        _draw_fixture(sheet, fixture, catalogue.categories[fixture.category])
    _write_rooms(sheet, scene)
    _write_fixtures(sheet, scene)
    _write_doors(sheet, scene)
    _draw_frame(sheet, scene)


def _bounds(scene: Scene) -> Box:
    boxes = [room.box for room in scene.rooms.values()]
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


def _draw_walls(sheet: _Sheet, scene: Scene) -> None:
    half = WALL / 2
    for room in scene.rooms.values():
        x0, y0, x1, y1 = room.box
        for ax, ay, bx, by in ((x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)):
            wall = (ax - half, ay - half, bx + half, by + half)
            sheet.taken.append(wall)
            sheet.rectangle(wall, "#4a4a4a")


def _draw_door(sheet: _Sheet, scene: Scene, name: str, door: Door) -> None:
    wall = wall_of(scene, door)
    if wall is None:
        raise UsageError(f"{name} has no wall to be in: get scenes from iwkit.scenes.load_scene")
    half, along = WALL / 2, 1 - wall.axis
    low, high = door.at[along] - door.width / 2, door.at[along] + door.width / 2
    gap = (wall.at - half, low, wall.at + half, high) if wall.axis == 0 else (low, wall.at - half, high, wall.at + half)
    sheet.rectangle(gap, "white")
    if not door.leaf:
        return
    room = scene.rooms[door.between[0]].box
    side = 1 if room[wall.axis] + room[wall.axis + 2] > 2 * wall.at else -1

    def place(out: float, on: float) -> tuple[float, float]:
        across = wall.at + side * out
        return (across, low + on) if wall.axis == 0 else (low + on, across)

    steps = [math.radians(degree) for degree in range(0, 91, 5)]
    arc = [place(door.width * math.sin(angle), door.width * math.cos(angle)) for angle in steps]
    sheet.line(arc, _FAINT, 1.2, ":")
    sheet.line([place(0, 0), arc[-1] if door.open else arc[0]], "#8a4b1f", 3)
    xs, ys = zip(place(0, 0), place(door.width, door.width), strict=True)
    sheet.taken.append((min(xs), min(ys), max(xs), max(ys)))


def _draw_fixture(sheet: _Sheet, fixture: Fixture, category: Category) -> None:
    box = footprint(fixture)
    color = next(color for trait, color, _ in _GROUPS if trait in category.affords or not trait)
    sheet.rectangle(box, color, _INK)
    sheet.taken.append(box)
    # The front: a heavy edge and a small wedge that points the way it looks.
    dx, dy = UNIT[fixture.facing]
    width = size_of(fixture)[0]
    x = fixture.at[0] + dx * (box[2] - box[0]) / 2
    y = fixture.at[1] + dy * (box[3] - box[1]) / 2
    sheet.line([(x - dy * width / 2, y - dx * width / 2), (x + dy * width / 2, y + dx * width / 2)], _INK, 2)
    wedge = [(x + dx * 0.09, y + dy * 0.09), (x - dy * 0.06, y - dx * 0.06), (x + dy * 0.06, y + dx * 0.06)]
    xs, ys = zip(*wedge, strict=True)
    sheet.axes.fill(xs, ys, facecolor=_INK)
    sheet.taken.append((min(xs), min(ys), max(xs), max(ys)))


@cache
def _line_width(line: str) -> float:
    """Width of a line in points, for type of one point."""
    from matplotlib.textpath import TextPath  # noqa: PLC0415

    return float(TextPath((0, 0), line, size=100).get_extents().width) / 100


def _extent(text: str, size: float) -> tuple[float, float]:
    """Width and height of a text in metres of the scene."""
    lines = text.split("\n")
    points = max(map(_line_width, lines)) * size + 5, len(lines) * size * _LEADING + 2
    return points[0] / 72 / INCHES, points[1] / 72 / INCHES


def _wraps(name: str) -> Iterator[str]:
    """A name on one line, on two, on as many as it has words; underscores stay, so that it can be copied."""
    words = name.replace("_", "_\n").split("\n")
    yield name
    if len(words) > 2:
        cuts = [("".join(words[:cut]), "".join(words[cut:])) for cut in range(1, len(words))]
        yield "\n".join(min(cuts, key=lambda halves: max(map(len, halves))))
    if len(words) > 1:
        yield "\n".join(words)


def _inside(name: str, box: Box) -> _Label | None:
    """The largest label that fits in a box."""
    middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    for size in _SIZES:
        for turned in (False, True):
            for text in _wraps(name):
                label = _Label(text, *middle, size, turned)
                if label.box[0] >= box[0] and label.box[1] >= box[1]:
                    return label
    return None


def _beside(sheet: _Sheet, name: str, box: Box) -> _Label | None:
    """The free label nearest to a box that is too small to hold it."""
    found: list[tuple[float, _Label]] = []
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    for turned in (False, True):
        for text in _wraps(name):
            width, height = _extent(text, _BESIDE)
            across, along = (height, width) if turned else (width, height)
            for step in range(24):
                for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
                    out = 0.02 + step * 0.05
                    label = _Label(
                        text,
                        x + dx * ((box[2] - box[0] + across) / 2 + out),
                        y + dy * ((box[3] - box[1] + along) / 2 + out),
                        _BESIDE,
                        turned,
                    )
                    if sheet.free(label.box):
                        found.append((out + 0.1 * turned + 0.05 * bool(dx and dy), label))
    return min(found, key=lambda it: it[0])[1] if found else None


def _write_rooms(sheet: _Sheet, scene: Scene) -> None:
    """Each room's id in large type, at the free place nearest to its middle."""
    for name in scene.rooms:
        x0, y0, x1, y1 = floor(scene, name)
        places = [
            (x0 + 0.05 * i, y0 + 0.05 * j) for i in range(int((x1 - x0) / 0.05)) for j in range(int((y1 - y0) / 0.05))
        ]
        places.sort(key=lambda place: math.dist(place, ((x0 + x1) / 2, (y0 + y1) / 2)))
        labels = (_Label(text, x, y, size) for size in (17, 14, 12) for text in _wraps(name) for x, y in places)
        if label := next((label for label in labels if sheet.free(_padded(label.box))), None):
            sheet.write(label, "#8a3b12", "bold")


def _write_fixtures(sheet: _Sheet, scene: Scene) -> None:
    boxes = {name: footprint(fixture) for name, fixture in scene.fixtures.items()}
    beside: list[str] = []
    for name, box in boxes.items():
        on_top = [boxes[other] for other, it in scene.fixtures.items() if it.base > scene.fixtures[name].base]
        spare = max(_strips(box, [other for other in on_top if overlaps(other, box)]), key=_area)
        if label := _inside(name, spare):
            sheet.write(label)
        else:
            beside.append(name)
    for name in beside:
        _write_beside(sheet, name, boxes[name], _INK)


def _padded(box: Box) -> Box:
    return box[0] - 0.1, box[1] - 0.1, box[2] + 0.1, box[3] + 0.1


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _strips(box: Box, holes: list[Box]) -> list[Box]:
    """What is left of a box on each side of what stands on it; the whole box when nothing does."""
    if not holes:
        return [box]
    x0, y0, x1, y1 = box
    left, low = min(hole[0] for hole in holes), min(hole[1] for hole in holes)
    right, high = max(hole[2] for hole in holes), max(hole[3] for hole in holes)
    strips = [(x0, y0, left, y1), (right, y0, x1, y1), (x0, y0, x1, low), (x0, high, x1, y1)]
    if len(holes) > 1:
        strips += _strips((holes[0][2], y0, holes[1][0], y1), [])
    return strips


def _write_doors(sheet: _Sheet, scene: Scene) -> None:
    for name, door in scene.doors.items():
        wall = wall_of(scene, door)
        along = wall.axis if wall else 0
        half = [WALL / 2, WALL / 2]
        half[1 - along] = 0.1
        _write_beside(
            sheet,
            name,
            (door.at[0] - half[0], door.at[1] - half[1], door.at[0] + half[0], door.at[1] + half[1]),
            "#8a4b1f",
        )


def _write_beside(sheet: _Sheet, name: str, box: Box, color: str) -> None:
    if label := _beside(sheet, name, box):
        start = _nearest(box, (label.x, label.y))
        sheet.line([start, _nearest(label.box, start)], color, 0.6)
        sheet.write(label, color)


def _nearest(box: Box, point: tuple[float, float]) -> tuple[float, float]:
    return min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])


def _draw_frame(sheet: _Sheet, scene: Scene) -> None:
    """Title, metre marks, scale bar, a person seen from above, and what the colours mean."""
    x0, y0, x1, y1 = _bounds(scene)
    axes = sheet.axes
    axes.text(x0, y1 + 0.35, scene.title, fontsize=17, weight="bold", color=_INK, va="center")
    for axis, (low, high) in enumerate(((x0, x1), (y0, y1))):
        for metre in range(math.ceil(low), math.floor(high) + 1):
            x, y = (metre, y0 - 0.3) if axis == 0 else (x0 - 0.35, metre)
            axes.text(x, y, f"{metre}", fontsize=8, color=_FAINT, ha="center", va="center")
    base = y0 - 0.85
    sheet.line([(x0, base - 0.08), (x0, base), (x0 + 1, base), (x0 + 1, base - 0.08)], _INK, 1.6)
    axes.text(x0 + 0.5, base + 0.12, "1 m", fontsize=9, ha="center", va="center")
    _draw_person(sheet, x0 + 1.7, base)
    axes.text(x0 + 2.05, base, "a person", fontsize=9, va="center")
    place = x0 + 3.1
    for _, color, text in _GROUPS:
        sheet.rectangle((place, base - 0.1, place + 0.25, base + 0.1), color, _INK)
        axes.text(place + 0.32, base, text, fontsize=9, va="center")
        place += 0.62 + _extent(text, 9)[0]
    notes = (
        "Wedge: the front of a thing. Thin outline: decor. Gap in a wall: a passage. Brown bar: a door, dotted its "
        "swing. Numbers: metres."
    )
    axes.text(x0, base - 0.32, notes, fontsize=9, color=_FAINT, va="center")


def _draw_person(sheet: _Sheet, x: float, y: float) -> None:
    """Shoulders 0.46 m wide and a head, seen from above."""
    turns = [math.radians(degree) for degree in range(0, 361, 10)]
    for across, along, color in ((0.23, 0.12, "#9aa7b5"), (0.09, 0.1, "#5d4a3c")):
        points = [(x + across * math.cos(turn), y + along * math.sin(turn)) for turn in turns]
        sheet.axes.fill(*zip(*points, strict=True), facecolor=color, edgecolor=_INK, linewidth=0.8)


def describe(scene: Scene, catalogue: Catalogue) -> str:
    """A loaded scene as plain text: its rooms, and in each its doors and fixtures with what people call them."""
    lines = [f"{scene.id}: {scene.title}"]
    for room_name, room in scene.rooms.items():
        x0, y0, x1, y1 = room.box
        lines += ["", f"{room_name} ({room.public}), {x1 - x0:.1f} x {y1 - y0:.1f} m"]
        for name, door in scene.doors.items():
            if room_name in door.between:
                other = door.between[door.between.index(room_name) - 1]
                kind = ("open door" if door.open else "closed door") if door.leaf else "passage"
                lines.append(f"  {kind} to {other}: {name} ({door.public})")
        for name, fixture in scene.fixtures.items():
            if fixture.room == room_name:
                lines.append(f"  {name} ({fixture.public}){_room_for(fixture, catalogue.categories[fixture.category])}")
        if pieces := [name for name, decor in scene.decor.items() if decor.room == room_name]:
            lines.append(f"  decor: {', '.join(pieces)}")
    return "\n".join(lines) + "\n"


def _room_for(fixture: Fixture, category: Category) -> str:
    """How much can stand on a fixture and in it, in metres."""
    said = []
    if "surface" in category.affords:
        width, depth = surface_size(category, fixture.size)
        said.append(f"surface {width:.2f} x {depth:.2f} m")
    if "container" in category.affords:
        width, depth, height = interior_size(category, fixture.size)
        said.append(f"inside {width:.2f} x {depth:.2f} x {height:.2f} m")
    said += [trait for trait in category.affords if trait not in ("surface", "container")]
    return ": " + ", ".join(said) if said else ""
