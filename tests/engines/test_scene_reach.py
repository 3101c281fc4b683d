"""Every surface and every container of the scenes that ship can be reached: the wearer's hand gets there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import islice, product

import pytest

from iwkit.compile import CompiledTask, compile_pack
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit.source.check import check
from iwkit.source.reader import read_text
from iwkit.spec.pack import Pack
from iwkit_runtime.actions.motion import Reasons
from iwkit_runtime.actions.press import plan_press
from iwkit_runtime.actions.stances import as_if_at, standing
from iwkit_runtime.physical.layout import regions_for
from iwkit_runtime.physical.spec import Vector
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.world import PhysicalWorld

LIBRARY = Library()
KINDS = {"surface": "surface", "container": "interior"}
STANCES = 48
"""Stances from which a point is tried."""
ABOVE = 0.1
"""A hand that puts something down or takes it is so high above the board, metres."""
HEIGHTS = (0.5, 0.85)
"""Shares of the height of an interior at which the hand is inside."""
ASIDE = ((0.0, -0.3), (0.0, -0.45), (0.3, 0.0), (-0.3, 0.0), (0.0, 0.3))
"""Places on a board or a floor: shares of its width to the right of its middle, and of its depth behind it."""


OUT_OF_REACH = {
    "flat": {
        *("nightstand_2", "chair_7"),  # between bed and wardrobe
        *("chair_3", "chair_4"),  # between table and wall
        "oven_1",  # the flap keeps the wearer away
    },
    "infirmary": {"serving_cart_1"},  # behind the leaf of the supply room's door
    "office": {"chair_3", "chair_4", "office_chair_5"},  # between table and wall
}
"""What the wearer doesn't get to: packs stand in these scenes, so their furniture stays where it is."""


def task(scene_id: str) -> CompiledTask:
    lines = [{"when": "handoff", "say": "Wait.", "do": ["[Wait]"]}, {"done": True}]
    control = {"fails": ["gone"], "lines": lines}
    words = ("question", "evidence", "help_needed", "information_gap", "success", "without_help")
    room = next(iter(LIBRARY.scene(scene_id).rooms))
    pack = {
        "taskpack": "1.0",
        "id": "TEST",
        "family": "finding",
        "source_family": "FIND",
        "title": "A test.",
        "guid": "3f0c2b8e-5a55-4b8f-9a53-0d7c0f10aa09",
        "capabilities": ["C1"],
        "contract": dict.fromkeys(words, "A test."),
        "physical": {
            "scene": scene_id,
            "wearer": {"at": room},
            "entities": {room: {"room": room}},
            "opening": [{"id": "o1", "do": "[Wait]"}],
            "goal": {"score": "state", "achieve": [{"id": "gone", "that": {"happened": {"entered": "any"}}}]},
        },
        "interaction": {
            "public": "A test.",
            "human": {"context": "A test."},
            "handoff": "A test.",
            "oracle": lines,
            "wrong": control,
            "early": control,
            "budget": {"ticks": 5, "actions": 5},
        },
    }
    document = read_text(json.dumps(pack, indent=1), "TEST.yaml")
    return compile_pack(document, check(document, Pack), LIBRARY)


def points(stage: Stage, name: str, kind: str) -> Iterator[Vector]:
    """Where a hand may go on each surface, or in each interior, of a fixture: at its front, its sides, its back."""
    placed, frames = stage.placed[name], stage.collision.frames(name)
    regions = regions_for(placed.asset, kind)
    for share, (right, back), region in product(HEIGHTS, ASIDE, regions):
        x, y, z = region.centre
        wide, deep, high = region.size
        up = min(share * high, ABOVE) if kind == "surface" else share * high
        at = frames[region.link].point((x + right * wide, y + back * deep, z - high / 2 + up)).tolist()
        yield at[0], at[1], at[2]


def is_reached(stage: Stage, name: str, point: Vector) -> bool:
    """Whether there is a stance from which the hand gets to a point, hurting nothing on its way."""
    plan = partial(plan_press, stage, name, point, 1)
    stands = islice(standing(stage, point[:2]), STANCES)
    return any(as_if_at(stage, stand, partial(plan, Reasons())) is not None for stand in stands)


def is_used(world: PhysicalWorld, name: str, kind: str) -> bool:
    """Whether the wearer walks to a fixture, opens it if it is closed, and has a point of it in reach."""
    opening = ["Open"] if kind == "interior" and ("closed", name) in world.relations() else []
    if not all(world.execute(parse(f"[{verb}] <{name}>")).ok for verb in ("Walk", *opening)):
        return False
    return any(is_reached(world.stage, name, point) for point in points(world.stage, name, kind))


@pytest.mark.slow
@pytest.mark.parametrize("scene_id", LIBRARY.scene_ids())
def test_a_hand_gets_to_every_surface_and_into_every_container(scene_id: str) -> None:
    world, scene = PhysicalWorld(), LIBRARY.scene(scene_id)
    world.reset(task(scene_id))
    start, out_of_reach, tried = world.snapshot(), set(), 0
    for name, fixture in scene.fixtures.items():
        affords = LIBRARY.catalogue.categories[fixture.category].affords
        for trait in KINDS.keys() & set(affords):
            world.restore(start)
            tried += 1
            if not is_used(world, name, KINDS[trait]):
                out_of_reach.add(name)
    assert out_of_reach == OUT_OF_REACH.get(scene_id, set())
    assert tried > 20
