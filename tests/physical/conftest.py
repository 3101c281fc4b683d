"""Small scenes out of boxes, built by hand, with their relations at moments of choice; and the world of a task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iwkit import resources
from iwkit.compile import load_task
from iwkit.trace import Relation, State
from iwkit_runtime.physical.kinematics import root_frame
from iwkit_runtime.physical.relations import Facts, Measured, Moment, Relations
from iwkit_runtime.physical.scene_spec import Placed, SceneSpec, Static
from iwkit_runtime.physical.spec import Asset, Joint, Link, Piece, Region
from iwkit_runtime.physical.world import PhysicalWorld

Triple = tuple[float, float, float]
Box = tuple[Triple, Triple]
"""Centre and size."""

CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))
WALL = 0.02
TOP = 0.75
"""Height of a table."""
ROOMS = {"hall": (-4.0, -4.0, 4.0, 4.0), "den": (4.0, -4.0, 8.0, 4.0)}


def piece(centre: Triple, size: Triple) -> Piece:
    return Piece(CORNERS * size + np.array(centre))


def thing(size: Triple, *boxes: Box, regions: Sequence[Region] = (), links: Sequence[Link] = ()) -> Asset:
    """An asset of boxes; without any, one box of its size that stands on the floor."""
    pieces = tuple(piece(*box) for box in boxes or [((0, 0, size[2] / 2), size)])
    return Asset("thing", size, 1.0, (Link("body", None, (), pieces), *links), tuple(regions))


def bottle(radius: float, height: float) -> Asset:
    """An upright cylinder."""
    angles = np.arange(24) * 2 * math.pi / 24
    ring = np.c_[np.cos(angles), np.sin(angles)] * radius
    points = np.concatenate([np.c_[ring, np.full(24, z)] for z in (0.0, height)])
    return Asset("bottle", (2 * radius, 2 * radius, height), 1.0, (Link("body", None, (), (Piece(points),)),))


def table(size: Triple = (1.2, 0.8, 0.75), top: float = 0.03) -> Asset:
    """Four legs and a top with its surface."""
    w, d, h = size
    legs = [
        ((x * (w / 2 - 0.03), y * (d / 2 - 0.03), (h - top) / 2), (0.06, 0.06, h - top))
        for x, y in product((-1, 1), repeat=2)
    ]
    surface = Region("top", "surface", "body", (0, 0, h + 0.25), (w, d, 0.5))
    return thing(size, ((0, 0, h - top / 2), (w, d, top)), *legs, regions=[surface])


def open_box(size: Triple, wall: float = WALL, name: str = "inside") -> Asset:
    """A container without a lid: a bin, a bowl."""
    w, d, h = size
    sides = [((x * (w - wall) / 2, 0, h / 2), (wall, d, h)) for x in (-1, 1)]
    sides += [((0, y * (d - wall) / 2, h / 2), (w, wall, h)) for y in (-1, 1)]
    inside = Region(name, "interior", "body", (0, 0, (h + wall) / 2), (w - 2 * wall, d - 2 * wall, h - wall))
    return thing(size, ((0, 0, wall / 2), (w, d, wall)), *sides, regions=[inside])


def fridge(size: Triple = (0.7, 0.6, 1.7)) -> Asset:
    """Walls, one board at half height, two interiors, and a door at the front on a hinge, with a tray on its inside."""
    w, d, h = size
    t, mid = WALL, h / 2
    shell = [((x * (w - t) / 2, 0, h / 2), (t, d, h)) for x in (-1, 1)]
    shell += [((0, 0, z), (w, d, t)) for z in (t / 2, h - t / 2)]
    shell += [((0, (d - t) / 2, h / 2), (w, t, h)), ((0, 0.1, mid), (w - 2 * t, d - 0.22, t))]
    front = -d / 2
    door = [((0, front - t / 2, h / 2), (w, t, h)), ((0, front + 0.06, 1.2), (w - 0.1, 0.12, 0.01))]
    door += [((0, front + 0.115, 1.25), (w - 0.1, 0.01, 0.1))]
    low, high = (t, mid - t / 2), (mid + t / 2, h - t)
    boxes = [((0, 0.09, sum(z) / 2), (w - 2 * t, d - 0.2, z[1] - z[0])) for z in (low, high)]
    regions = [Region(f"inside_{n}", "interior", "body", *box) for n, box in enumerate(boxes)]
    regions += [Region(f"shelf_{n}", "surface", "body", *box) for n, box in enumerate(boxes)]
    regions += [Region("door_inside", "interior", "door", (0, front + 0.055, 1.355), (w - 0.1, 0.11, 0.3))]
    joint = Joint("hinge", (0, 0, -1), (-w / 2, front, 0), 0.0, math.radians(100))
    leaf = Link("door", "body", (), tuple(piece(*box) for box in door), joint, (w / 2 - 0.05, front - 0.05, 1.0))
    return thing(size, *shell, regions=regions, links=[leaf])


def put(name: str, asset: Asset, at: Triple, yaw: float = 0.0, kind: Any = "object", **joints: float) -> Placed:
    values = {link.name: 0.0 for link in asset.links if link.joint} | joints
    return Placed(name, kind, asset, at, yaw, values)


def floor(name: str = "floor_hall", centre: Triple = (0, 0, -0.05), size: Triple = (20, 20, 0.1)) -> Static:
    return Static(name, "floor", (), (piece(centre, size),))


def wall(name: str, centre: Triple, size: Triple) -> Static:
    return Static(name, "wall", (), (piece(centre, size),))


def scene(*parts: Placed | Static) -> SceneSpec:
    statics = [p for p in parts if isinstance(p, Static)]
    return SceneSpec(tuple(statics or [floor()]), tuple(p for p in parts if isinstance(p, Placed)))


def turned(axis: Triple, degrees: float) -> tuple[float, float, float, float]:
    """A quaternion."""
    half = math.radians(degrees) / 2
    x, y, z = (math.sin(half) * c for c in np.array(axis) / np.linalg.norm(axis))
    return math.cos(half), x, y, z


class World:
    """A scene and moments of it: everything where it was put unless said otherwise."""

    def __init__(self, *parts: Any, carriers: Iterable[str] = (), rooms: Any = ROOMS, **facts: Any) -> None:
        self.spec = scene(*parts)
        self.facts = Facts(rooms, frozenset(p.name for p in self.spec.placed), frozenset(carriers), **facts)
        self.relations = Relations(self.spec, self.facts)

    def moment(
        self, held: str | None = None, joints: Any = (), wearer: Any = (9, 9), seen: Any = (), **poses: Any
    ) -> Moment:
        """Poses as a position, or a position and a quaternion."""
        at = {p.name: root_frame(p).pose for p in self.spec.placed}
        at |= {name: pose if len(pose) == 2 else (pose, at[name][1]) for name, pose in poses.items()}
        values = {(p.name, link): v for p in self.spec.placed for link, v in p.joints.items()}
        return Moment(at, values | dict(joints), held, wearer, seen)

    def at(self, then: Moment | None = None, **where: Any) -> Measured:
        return self.relations.at(self.moment(**where), then)

    @staticmethod
    def about(state: State, *names: str, words: Iterable[str] = ("on", "inside", "on_floor", "held")) -> set[Relation]:
        """The relations about places whose first argument is one of these."""
        return {r for r in state if r[0] in words and r[1] in names}

    def state(self, then: Moment | None = None, **where: Any) -> State:
        return self.relations.state(self.moment(**where), then)


@pytest.fixture(scope="session")
def blocks() -> SimpleNamespace:
    """The functions of this file."""
    found = (piece, thing, bottle, table, open_box, fridge, put, floor, wall, scene, turned)
    return SimpleNamespace(**{f.__name__: f for f in found}, world=World)


@pytest.fixture(scope="module")
def a1() -> PhysicalWorld:
    """The task A1 at its beginning, one world for the tests of a file."""
    (path,) = resources.root("taskpacks").rglob("A1.yaml")
    world = PhysicalWorld()
    world.reset(load_task(path))
    return world


@pytest.fixture
def cup_on_table(blocks: SimpleNamespace) -> Any:
    b = blocks
    table, cup = (
        b.put("table", b.table(), (0, 0, 0), kind="fixture"),
        b.put("cup", b.thing((0.08, 0.08, 0.1)), (0, 0, TOP)),
    )
    return b.world(b.floor(), b.wall("wall_1", (0, 2.05, 1.25), (9, 0.1, 2.5)), table, cup)


@pytest.fixture
def kitchen(blocks: SimpleNamespace) -> Any:
    b = blocks
    return b.world(
        b.floor(),
        b.put("fridge", b.fridge(), (0, 0, 0), kind="fixture"),
        b.put("milk", b.thing((0.08, 0.08, 0.2)), (0.1, 0.05, 0.02)),
        b.put("juice", b.thing((0.06, 0.06, 0.2)), (-0.1, -0.24, 1.205)),
        b.put("bowl", b.open_box((0.2, 0.2, 0.1)), (-0.1, 0.1, 0.86)),
        b.put("apple", b.thing((0.07, 0.07, 0.07)), (-0.1, 0.1, 0.88)),
    )
