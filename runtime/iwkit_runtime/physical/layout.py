"""Where everything of a task stands at reset (PHY-9): fixtures by the scene, objects on, inside or beside them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from iwkit.compile import CompiledTask
from iwkit.compile.things import Thing
from iwkit.errors import UsageError
from iwkit.floorplan import FLAT, size_of, stance
from iwkit.library import Library
from iwkit.spec.catalogue import Catalogue
from iwkit.spec.recipe import Recipe
from iwkit.spec.scene import Decor, Scene
from iwkit.world.layout import Layout
from iwkit_runtime.assets import build_asset
from iwkit_runtime.physical.kinematics import link_frames, root_frame
from iwkit_runtime.physical.placer import Placer, joints_at
from iwkit_runtime.physical.scene_spec import Placed, SceneSpec, Static
from iwkit_runtime.physical.shell import building, door_asset, door_pose
from iwkit_runtime.physical.spec import Asset, Later, Piece

EYES = 1.6
"""Height of a standing person's eyes."""


class Assets:
    """Builds each kind of thing once. Further tasks reuse what is there."""

    def __init__(self, catalogue: Catalogue, recipes: Mapping[str, Recipe]) -> None:
        self.catalogue, self.recipes = catalogue, recipes
        self._built: dict[tuple[object, ...], Asset] = {}

    @classmethod
    def of_library(cls, library: Library) -> Assets:
        """What a project's catalogue and recipes, with iwkit's own, make; all worlds of the last projects share it."""
        for known in _projects:
            if known.catalogue is library.catalogue and known.recipes is library.recipes:
                return known
        _projects.append(cls(library.catalogue, library.recipes))
        return _projects[-1]

    def of(self, thing: Thing, *, filled: bool = False) -> Asset:
        """The asset of a task's object or fixture, with its size, colour and label; states show when it is drawn.
        Decor, in which nothing is put, is `filled`.

        Raises:
            UsageError: no such category or colour, or no place for the label.
        """
        category = self.catalogue.categories.get(thing.category)
        if category is None:
            raise UsageError(f"{thing.name}: no category {thing.category!r} in the catalogue")
        recipe = self.recipes.get(thing.category)
        filled = filled and recipe is not None and any(part.inner for part in recipe.parts)
        key = (thing.category, thing.size, thing.colour, thing.label, filled)
        if key not in self._built:
            try:
                self._built[key] = build_asset(
                    thing.category,
                    category,
                    recipe,
                    size=thing.size,
                    colour=thing.colour,
                    label=thing.label,
                    filled=filled,
                )
            except UsageError as error:
                raise UsageError(f"{thing.name}: {error}") from None
        return self._built[key]


_projects: deque[Assets] = deque(maxlen=4)


@dataclass(frozen=True)
class _Bare:
    """A scene with things in it, without a task."""

    scene: Scene
    things: Mapping[str, Thing]

    @property
    def id(self) -> str:
        return self.scene.id


def build_scene(task: CompiledTask, assets: Assets) -> SceneSpec:
    """Everything of a task's world at its place at reset.

    Raises:
        UsageError: an asset can't be built, or an object finds no free place where the pack puts it.
        CompileError: the scene isn't one that `load_scene` made.
    """
    plan = Layout(task)
    placer = _placed(plan, assets)
    statics = (*building(task.scene), *_decor(plan, placer, assets, yields=True))
    return SceneSpec(statics, tuple(placer.placed.values()), _eyes(task, plan, placer.placed))


def furnish(scene: Scene, things: Mapping[str, Thing], assets: Assets) -> SceneSpec:
    """The same for a scene without a task, and no one in it; for `things` see `iwkit.compile.bind.scene_things`.

    Raises:
        UsageError: as for `build_scene`.
        CompileError: something of the scene isn't among `things`, or the scene isn't one that `load_scene` made.
    """
    plan = Layout(_Bare(scene, things))
    placer = _placed(plan, assets)
    statics = (*building(scene), *_decor(plan, placer, assets, yields=False))
    return SceneSpec(statics, tuple(placer.placed.values()))


def _placed(plan: Layout, assets: Assets) -> Placer:
    placer = Placer(plan)
    for placed in (*_doors(plan), *_fixtures(plan, assets)):
        placer.add(placed)
    for thing in _in_order(plan.things):
        placer.put(thing, assets.of(thing))
    return placer


def _decor(plan: Layout, placer: Placer, assets: Assets, *, yields: bool) -> Iterator[Static]:
    """The scene's decor as parts of the building. What stands on or in a fixture takes what place the things of a task
    have left; what finds none is left out where it `yields`, and is an error otherwise.

    Decor with a place of its own is put first: what is on and in fixtures doesn't come into it.
    """
    for name, decor in sorted(plan.scene.decor.items(), key=lambda item: _holder(item[1]) != ""):
        thing = _as_thing(name, decor, plan, assets.catalogue)
        asset = assets.of(thing, filled=True)
        if not _holder(decor):
            at, yaw = (*decor.at, decor.base), math.radians((decor.facing + 90) % 360)
        else:
            try:
                at, yaw = placer.find(thing, asset, handiest=False)
            except UsageError:
                if yields:
                    continue
                raise
        placed = Placed(decor_name(name), "fixture", asset, at, yaw, joints_at(asset, is_open=False))
        placer.reserve(placed)
        yield decor_static(placed, public=f"the {assets.catalogue.categories[decor.category].public[0]}")


def decor_name(key: str) -> str:
    """What a piece of the scene's decor is called as a part of the building."""
    return f"decor_{key}"


def decor_static(placed: Placed, *, public: str) -> Static:
    """A piece of decor where it stands. What is flat on the floor is only seen."""
    root = root_frame(placed)
    frames = link_frames(placed.asset, root, placed.joints)
    visuals = Later(
        lambda: [
            replace(visual, vertices=frames[link.name].point(visual.vertices), when=None)
            for link in placed.asset.links
            for visual in link.visuals
            if visual.when is None or visual.when.startswith("not ")
        ]
    )
    pieces = [Piece(frames[link.name].point(p.vertices)) for link in placed.asset.links for p in link.pieces]
    is_flat = placed.asset.size[2] <= FLAT
    return Static(placed.name, "decor", visuals, () if is_flat else tuple(pieces), public)


def _holder(decor: Decor) -> str:
    return decor.on or decor.inside or ""


def _as_thing(name: str, decor: Decor, plan: Layout, catalogue: Catalogue) -> Thing:
    """Decor as something that is placed and built as things are."""
    public = catalogue.categories[decor.category].public
    names = {key: name for name, thing in plan.things.items() if (key := thing.scene_id) and thing.kind == "fixture"}
    return Thing(
        name=name,
        kind="fixture",
        category=decor.category,
        traits=frozenset(),
        public=f"the {public[0]}",
        nouns=public,
        size=size_of(decor),
        place="on" if decor.on else "inside",
        at=names.get(_holder(decor)),
        spot=decor.spot,
        colour=decor.colour,
        label=decor.label,
    )


def _doors(plan: Layout) -> Iterator[Placed]:
    for name, key in plan.door_ids.items():
        door = plan.scene.doors[key]
        position, yaw, hinge_left = door_pose(plan.scene, door)
        try:
            asset = door_asset(door.width, leaf=door.leaf, hinge_left=hinge_left, label=plan.things[name].label)
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from None
        yield Placed(name, "door", asset, position, yaw, joints_at(asset, is_open=plan.things[name].open))


def _fixtures(plan: Layout, assets: Assets) -> Iterator[Placed]:
    for name, fixture in plan.fixtures.items():
        thing = plan.things[name]
        asset = assets.of(thing)
        joints = joints_at(asset, is_open=thing.open)
        yield Placed(
            name, "fixture", asset, (*fixture.at, fixture.base), math.radians((fixture.facing + 90) % 360), joints
        )


def _in_order(things: Mapping[str, Thing]) -> list[Thing]:
    """The objects, what carries others before them."""
    objects = {name: thing for name, thing in things.items() if thing.kind == "object"}
    done: dict[str, Thing] = {}
    while len(done) < len(objects):
        ready = {n: t for n, t in objects.items() if n not in done and (t.at not in objects or t.at in done)}
        if not ready:
            left = ", ".join(sorted(set(objects) - set(done)))
            raise UsageError(f"{left}: each stands on the other; put one of them on a fixture")
        done |= ready
    return list(done.values())


def _eyes(task: CompiledTask, plan: Layout, placed: Mapping[str, Placed]) -> tuple[float, float, float, float]:
    """Where the wearer starts: before a fixture, or in the middle of a room, looking at what the pack says."""
    wearer = task.pack.physical.wearer
    fixture = plan.fixtures.get(wearer.at)
    if fixture is not None:
        x, y, degrees = stance(fixture)
        heading = math.radians(degrees)
    else:
        (x, y), heading = plan.middle(wearer.at), 0.0
    toward = placed.get(wearer.facing or "")
    if toward is not None and toward.name != wearer.at:
        there = toward.position
        heading = math.atan2(there[1] - y, there[0] - x)
    return x, y, EYES, heading
