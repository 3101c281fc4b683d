"""Random situations for picking and placing: a room, furniture, a thing to take, clutter, a wearer, a place to put it.

Nothing here asks the planner: places are drawn at random in the regions that the furniture's assets have.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from iwkit.catalogue import load_catalogue
from iwkit.compile import CompiledTask, compile_pack
from iwkit.errors import Problems, UsageError
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit.source.check import check
from iwkit.source.reader import read_text
from iwkit.spec.pack import Pack
from iwkit_runtime.audit.film import Rigid, links
from iwkit_runtime.physical.scene_spec import Joints, Placed, Poses
from iwkit_runtime.physical.spec import Asset, Floats, Region
from iwkit_runtime.physical.world import PhysicalWorld

TALL, DEEP, WIDE = (0.3, 1.1), (0.35, 0.9), (0.5, 1.8)
"""Tables of one's own sizes: height, depth, width in metres."""
FURNITURE: Mapping[str, tuple[str, ...]] = {
    "table": ("table", "desk", "kitchen_counter", "console_table", "side_table", "pedestal", "trolley"),
    "low table": ("coffee_table", "bench", "stool", "tv_stand", "bed"),
    "shelf": ("bookshelf", "shelf", "display_shelf", "shoe_rack", "cubby"),
    "drawer": ("chest_of_drawers", "filing_cabinet"),
    "cupboard": ("cabinet", "medicine_cabinet", "locker", "wardrobe", "sideboard", "nightstand", "wall_cabinet"),
    "fridge": ("fridge", "freezer"),
    "appliance": ("oven", "dishwasher", "clothes_washer", "microwave"),
    "seat": ("chair", "sofa", "armchair"),
    "floor": (),
}
"""Kind -> the categories it is drawn from; on the floor things lie in the free middle of the room."""
TARGETS = tuple(kind for kind in FURNITURE if kind != "floor")
RESIZED = {"table", "desk", "console_table", "side_table", "pedestal"}
"""Categories whose size is drawn as well."""
BASES = {"wall_cabinet": (1.1, 1.5)}
ROOM = 4.6
"""Side of the room in metres."""
GAP = 0.01
"""Metres between things as they are drawn."""
CLEAR = 0.45
"""Metres that the wearer starts away from furniture."""
SHIFTED, TILTED = 0.03, 0.97
"""What moved more than so many metres in settling, or leans by more (cosine), was not drawn standing: drawn again."""
RESTS = 5
"""How often things are given 3 s to come to rest."""
DRAWS = 60
"""Places drawn for one thing before it is left out."""


@dataclass(frozen=True)
class Situation:
    """One situation. `source` and `target` are kinds of `FURNITURE`; `height` is that of the thing's underside, metres;
    `how` is `surface` or `interior`."""

    seed: int
    task: CompiledTask
    source: str
    target: str
    categories: tuple[str, str, str]
    how: str
    poses: Poses
    wearer: tuple[float, float, float]
    height: float
    clutter: int

    @property
    def commands(self) -> tuple[str, str]:
        """What the wearer is told."""
        return "[Grab] <thing>", f"[{'Put' if self.how == 'surface' else 'PutInside'}] <thing> <there>"


def draw(seed: int, world: PhysicalWorld) -> Situation:
    """The situation of a seed; the world is left in it. What can't stand as it was drawn is drawn again."""
    for attempt in range(100):
        found = _draw(seed, random.Random(f"{seed}/{attempt}"), world)
        if found is not None:
            return found
    raise UsageError(f"seed {seed} gives no situation in 100 draws")


def begin(situation: Situation, world: PhysicalWorld) -> None:
    """Put a world into a situation: things as drawn, at rest, and the mind told where they are."""
    world.reset(situation.task)
    state = world.snapshot()
    for name, (at, turn) in situation.poses.items():
        state["engine"]["poses"][name] = [list(at), list(turn)]
    state["wearer"]["stand"] = list(situation.wearer)
    state["wearer"]["gaze"] = None
    world.restore(state)
    for _ in range(RESTS):
        if world.stage.engine.settle().settled:
            break
    world.stage.sync()
    world.execute(parse("[Confirm]"))


def regions(asset: Asset, how: str) -> list[Region]:
    """The boxes in which things are on (`surface`) or in (`interior`) an asset; boards that are inside count as in."""
    inner = [r for r in asset.regions if r.kind == "interior"]
    if how == "interior":
        return inner
    return [r for r in asset.regions if r.kind == "surface" and not any(_inside(r, box) for box in inner)]


def half(asset: Asset, yaw: float) -> Floats:
    """Half the width and depth (2,) of the upright box around an asset that is turned."""
    c, s = math.cos(yaw), math.sin(yaw)
    points = np.concatenate([piece.vertices[:, :2] for link in asset.links for piece in link.pieces])
    return np.asarray(np.abs(points @ np.array([[c, s], [-s, c]])).max(0))


def boxes(placed: Placed, poses: Poses, joints: Joints) -> tuple[Floats, Floats]:
    """Lowest and highest corners (n, 3) of the boxes around a thing's pieces."""
    frames = links(placed, poses, joints)
    hulls = [p.vertices @ frames[k.name].turn.T + frames[k.name].at for k in placed.asset.links for p in k.pieces]
    return np.array([h.min(0) for h in hulls]), np.array([h.max(0) for h in hulls])


# --- drawing ----------------------------------------------------------------------------------------------------------


@cache
def _objects() -> tuple[str, ...]:
    found = load_catalogue().categories.items()
    return tuple(sorted(name for name, category in found if category.kind == "object"))


def _draw(seed: int, dice: random.Random, world: PhysicalWorld) -> Situation | None:
    source, target = dice.choice(tuple(FURNITURE)), dice.choice(TARGETS)
    here, there = (dice.choice(FURNITURE[kind]) if FURNITURE[kind] else "" for kind in (source, target))
    clutter = dice.randint(0, 6)
    kinds = [dice.choice(_objects()) for _ in range(1 + clutter)]
    try:
        task = _task(_scene(dice, here, there), kinds)
        world.reset(task)
    except (Problems, UsageError):  # the furniture doesn't fit
        return None
    drawn = _Drawing(dice, world)
    if not drawn.put("thing", "here" if here else ""):
        return None
    for n in range(1, 1 + clutter):
        drawn.put(f"clutter_{n}", dice.choice(("here" if here else "", "there")))
    wearer = drawn.stand()
    hows = [how for how in ("surface", "interior") if regions(drawn.placed["there"].asset, how)]
    if wearer is None:
        return None
    height = float(drawn.poses["thing"][0][2])
    count = sum(name.startswith("clutter") for name in drawn.poses)
    names = (kinds[0], here or "floor", there)
    found = Situation(seed, task, source, target, names, dice.choice(hows), drawn.poses, wearer, height, count)
    begin(found, world)
    return replace(found, height=height) if _stands(found, world) else None


def _scene(dice: random.Random, here: str, there: str) -> dict[str, Any]:
    walls = dice.sample(("north", "west", "south"), 2)
    fixtures: dict[str, Any] = {}
    for name, category, wall in (("here", here, walls[0]), ("there", there, walls[1])):
        if category == "microwave":
            fixtures[f"{name}_table"] = _fixture(dice, "kitchen_counter", wall)
            fixtures[name] = {"category": category, "on": f"{name}_table", "open": True}
        elif category:
            fixtures[name] = _fixture(dice, category, wall)
    fixtures["depot"] = {"category": "conference_table", "room": "store", "at": [ROOM + 2, 2.1], "facing": 270,
                         "size": [3.0, 1.9, 0.5]}  # fmt: skip
    rooms = {
        "room": {"public": "the room", "box": [0, 0, ROOM, ROOM]},
        "store": {"public": "the store", "box": [ROOM, 0, ROOM + 4, ROOM]},
    }
    doors = {"door": {"public": "the door", "between": ["store", "room"], "at": [ROOM, ROOM - 0.55]}}
    for name in ("here", "there"):
        if name in fixtures:
            fixtures[name]["public"] = f"the thing {name}"
    return {"scene": "1.0", "id": "alone", "title": "A room", "rooms": rooms, "doors": doors, "fixtures": fixtures}


def _fixture(dice: random.Random, category: str, wall: str) -> dict[str, Any]:
    kind = load_catalogue().categories[category]
    width = kind.size[0]
    found: dict[str, Any] = {"category": category, "room": "room", "against": wall}
    if category in RESIZED:
        size = [round(dice.uniform(*span), 2) for span in (WIDE, DEEP, TALL)]
        found["size"], width = size, size[0]
    along = ROOM / 2 + dice.uniform(-1, 1) * max(0.0, ROOM / 2 - 1.0 - width / 2)
    found["along"] = round(along, 2)
    if category in BASES:
        found["base"] = round(dice.uniform(*BASES[category]), 2)
    if "openable" in kind.affords:
        found["open"] = True
    return found


def _task(scene: Mapping[str, Any], kinds: list[str]) -> CompiledTask:
    entities: dict[str, Any] = {name: {"fixture": name} for name in scene["fixtures"] if name in {"here", "there"}}
    names = ["thing", *(f"clutter_{n}" for n in range(1, len(kinds)))]
    entities |= {name: {"category": kind, "on": "depot"} for name, kind in zip(names, kinds, strict=True)}
    entities["depot"] = {"fixture": "depot"}
    lines = [{"when": "handoff", "say": "Wait.", "do": ["[Wait]"]}, {"done": True}]
    control = {"fails": ["gone"], "lines": lines}
    words = ("question", "evidence", "help_needed", "information_gap", "success", "without_help")
    pack = {
        "taskpack": "1.0",
        "id": "SAMPLE",
        "family": "finding",
        "source_family": "FIND",
        "title": "A sample.",
        "guid": "7c1f5f0e-29b6-4c0c-8d45-6d6a5b1f6b52",
        "capabilities": ["C1"],
        "contract": dict.fromkeys(words, "A sample."),
        "physical": {
            "scene": "alone",
            "wearer": {"at": "room"},
            "entities": entities,
            "opening": [{"id": "o1", "do": "[Wait]"}],
            "goal": {"score": "state", "achieve": [{"id": "gone", "that": {"happened": {"entered": "any"}}}]},
        },
        "interaction": {
            "public": "A sample.",
            "human": {"context": "A sample."},
            "handoff": "A sample.",
            "oracle": lines,
            "wrong": control,
            "early": control,
            "budget": {"ticks": 5, "actions": 5},
        },
    }
    with TemporaryDirectory() as folder:
        (Path(folder) / "alone.yaml").write_text(json.dumps(scene), encoding="utf-8")
        document = read_text(json.dumps(pack, indent=1), "SAMPLE.yaml")
        return compile_pack(document, check(document, Pack), Library(scenes=[Path(folder)]))


class _Drawing:
    """Things put one after another where nothing is yet."""

    def __init__(self, dice: random.Random, world: PhysicalWorld) -> None:
        stage = world.stage
        self.dice = dice
        self.placed = stage.placed
        self.start, self.joints = stage.engine.poses(), stage.engine.joints()
        self.poses: Poses = {}
        fixed = [boxes(p, self.start, self.joints) for p in self.placed.values() if p.kind != "object"]
        self.low, self.high = (np.concatenate(parts) for parts in zip(*fixed, strict=True))

    def put(self, name: str, support: str) -> bool:
        """Draw a free place for a thing on or in a fixture, or on the floor; whether there was one."""
        asset = self.placed[name].asset
        for _ in range(DRAWS):
            yaw = self.dice.uniform(-math.pi, math.pi)
            spot = self._spot(asset, yaw, support)
            if spot is not None and self._free(asset, spot, yaw):
                x, y, z = (round(float(v), 5) for v in spot)
                self.poses[name] = (x, y, z), (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
                low, high = boxes(self.placed[name], self.poses, self.joints)
                self.low, self.high = np.concatenate([self.low, low]), np.concatenate([self.high, high])
                return True
        return False

    def stand(self) -> tuple[float, float, float] | None:
        """Where the wearer begins: anywhere on the free floor."""
        for _ in range(DRAWS):
            x, y = (self.dice.uniform(0.5, ROOM - 0.5) for _ in range(2))
            near = (self.low[:, :2] < np.array([x, y]) + CLEAR).all(1) & (
                self.high[:, :2] > np.array([x, y]) - CLEAR
            ).all(1)
            if not near.any():
                return round(x, 3), round(y, 3), round(self.dice.uniform(-math.pi, math.pi), 3)
        return None

    def _spot(self, asset: Asset, yaw: float, support: str) -> Floats | None:
        if not support:
            return np.array([self.dice.uniform(0.8, ROOM - 0.8), self.dice.uniform(0.8, ROOM - 0.8), 0.001])
        holder = self.placed[support]
        region = self.dice.choice(regions(holder.asset, "surface") + regions(holder.asset, "interior"))
        frame: Rigid = links(holder, self.start, self.joints)[region.link]
        turn = yaw - math.atan2(frame.turn[1, 0], frame.turn[0, 0])
        room = np.array(region.size[:2]) / 2 - half(asset, turn)
        if (room < 0).any() or asset.size[2] + GAP > region.size[2]:
            return None
        across, along = (self.dice.uniform(-1, 1) for _ in range(2))
        local = (region.centre[0] + across * room[0], region.centre[1] + along * room[1])
        return np.asarray(frame.turn @ [*local, region.centre[2] - region.size[2] / 2 + 0.001] + frame.at)

    def _free(self, asset: Asset, spot: Floats, yaw: float) -> bool:
        wide = half(asset, yaw) + GAP
        low, high = spot - np.array([*wide, 0.0]), spot + np.array([*wide, asset.size[2]])
        return not ((self.low < high) & (self.high > low)).all(1).any()


def _inside(region: Region, box: Region) -> bool:
    apart = np.abs(np.subtract(region.centre, box.centre))
    return region.link == box.link and bool((apart < np.array(box.size) / 2).all())


def _stands(situation: Situation, world: PhysicalWorld) -> bool:
    """Whether everything has come to rest as it was drawn."""
    now = world.stage.engine.poses()
    for name, (at, _) in situation.poses.items():
        place, turn = now[name]
        if math.dist(at, place) > SHIFTED or 1 - 2 * (turn[1] ** 2 + turn[2] ** 2) < TILTED:
            return False
    return True
