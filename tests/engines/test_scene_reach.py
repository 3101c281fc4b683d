"""Every surface and every container of the scenes that ship can be reached: the wearer's hand gets there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import islice, product

import pytest
from staging import staged

from iwkit.compile import CompiledTask
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit_runtime.actions import looking
from iwkit_runtime.actions.motion import Reasons
from iwkit_runtime.actions.press import plan_press
from iwkit_runtime.actions.stances import as_if_at, standing
from iwkit_runtime.physical.placer import regions_for
from iwkit_runtime.physical.spec import Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.world import PhysicalWorld

LIBRARY = Library()
KINDS = {"surface": "surface", "container": "interior"}
STANCES, OFFSETS = 48, (0, 4, 2, 6, 1, 5, 3, 7)
"""Stances from which a point is tried: every eighth of them for all points first, then those between, and so on."""
ABOVE = 0.1
"""A hand that puts something down or takes it is so high above the board, metres."""
HEIGHTS = (0.5, 0.85)
"""Shares of the height of an interior at which the hand is inside."""
ASIDE = ((0.0, -0.3), (0.0, -0.45), (0.3, 0.0), (-0.3, 0.0), (0.0, 0.3))
"""Places on a board or a floor: shares of its width to the right of its middle, and of its depth behind it."""


def task(scene_id: str) -> CompiledTask:
    room = next(iter(LIBRARY.scene(scene_id).rooms))
    return staged({"scene": scene_id, "wearer": {"at": room}, "entities": {room: {"room": room}}}, library=LIBRARY)


def points(stage: Stage, name: str, kind: str) -> Iterator[Vector]:
    """Where a hand may go on each surface, or in each interior, of a fixture: at its front, its sides, its back."""
    placed, frames = stage.placed[name], stage.collision.frames(name)
    regions = regions_for(placed.asset, kind)
    for (right, back), share, region in product(ASIDE, HEIGHTS, regions):
        x, y, z = region.centre
        wide, deep, high = region.size
        up = min(share * high, ABOVE) if kind == "surface" else share * high
        at = frames[region.link].point((x + right * wide, y + back * deep, z - high / 2 + up)).tolist()
        yield at[0], at[1], at[2]


def is_reached(stage: Stage, name: str, point: Vector, offset: int) -> bool:
    """Whether there is a stance from which the hand gets to a point, hurting nothing on its way."""
    plan = partial(plan_press, stage, name, point, 1)
    stands = islice(standing(stage, point[:2]), offset, STANCES, len(OFFSETS))
    return any(as_if_at(stage, stand, partial(plan, Reasons())) is not None for stand in stands)


def is_in_reach(stage: Stage, name: str, kind: str) -> bool:
    """Whether some point of a fixture is in reach from where the wearer can stand."""
    places = list(points(stage, name, kind))
    return any(is_reached(stage, name, point, offset) for offset in OFFSETS for point in places)


def out_of_reach(world: PhysicalWorld, name: str, kinds: set[str]) -> set[str]:
    """What of a fixture the wearer can't get at: it goes there, and has a point of it in reach; of what is shut when it
    has opened it.

    It stays there then, with all doors of furniture as they were, so that it goes from one thing to the next.
    """
    if not world.execute(parse(f"[Walk] <{name}>")).ok:
        return {f"{name}: no way"}
    before = world.snapshot()
    shut = "interior" in kinds and ("closed", name) in world.relations()
    if shut and not world.execute(parse(f"[Open] <{name}>")).ok:
        return {f"{name}: doesn't open"}
    missed = {kind for kind in kinds if not is_in_reach(world.stage, name, kind)}
    world.restore(before)
    return {f"{name}: {kind}" for kind in missed if kind == "interior" or not is_in_reach(world.stage, name, kind)}


@pytest.mark.slow
@pytest.mark.parametrize("scene_id", LIBRARY.scene_ids())
def test_a_hand_gets_to_every_surface_and_into_every_container(scene_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "gaze_at", lambda *_: False)  # nobody looks for anything: that is another test's
    world, scene = PhysicalWorld(), LIBRARY.scene(scene_id)
    world.reset(task(scene_id))
    categories, rooms = LIBRARY.catalogue.categories, list(scene.rooms)
    left = {
        name: {KINDS[trait] for trait in KINDS.keys() & set(categories[fixture.category].affords)}
        for name, fixture in scene.fixtures.items()
    }
    assert sum(map(len, left.values())) > 20
    missed: set[str] = set()
    while left:  # room by room, to the nearest thing first
        here = world.stage.wearer.stand[:2]
        name = min(left, key=lambda it: (rooms.index(scene.fixtures[it].room), math.dist(scene.fixtures[it].at, here)))
        kinds = left.pop(name)
        missed |= out_of_reach(world, name, kinds) if kinds else set()
    assert not missed
