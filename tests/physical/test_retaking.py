"""What can't be put away as it is held is set down, taken in another grip, and put away (ACT-6, ACT-8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from iwkit.grammar import parse
from iwkit.world.base import WorldState
from iwkit_runtime.actions import lowering, place, retaking
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.refusals import RefusedError
from iwkit_runtime.actions.search import Look
from iwkit_runtime.actions.spots import Spot, free
from iwkit_runtime.nav.stance import Stance
from iwkit_runtime.physical.wearer import Hold
from iwkit_runtime.physical.world import PhysicalWorld

THING, SUPPORT = "water", "breakfast_table"


@pytest.fixture(scope="module")
def holding(a1: PhysicalWorld) -> tuple[PhysicalWorld, WorldState]:
    assert a1.execute(parse(f"[Grab] <{THING}>")).ok
    return a1, a1.snapshot()


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> list[Hold]:
    """The first grip is refused everywhere; the grips that were tried."""
    tried: list[Hold] = []
    attempted = lowering.attempted

    def picky(
        act: Act, support: str, hold: Hold, spot: Spot, look: Look, how: str, among: Sequence[Stance] | None = None
    ) -> RefusedError | None:
        tried.append(hold)
        if hold.offset == tried[0].offset:
            return RefusedError("TRAJECTORY_COLLISION", support, support)
        return attempted(act, support, hold, spot, look, how, among)

    monkeypatch.setattr(place, "attempted", picky)
    return tried


def test_it_is_taken_anew_within_one_command(holding: tuple[PhysicalWorld, WorldState], refusing: list[Hold]) -> None:
    world, start = holding
    world.restore(start)
    receipt = world.execute(parse(f"[Put] <{THING}> <{SUPPORT}>"))
    assert receipt.code == "OK"
    assert refusing[-1].offset != refusing[0].offset
    assert ("on", THING, SUPPORT) in world.relations()
    assert world.held() is None
    assert [h.kind for h in receipt.happenings].count("released") == 1
    assert not any(h.kind == "grabbed" for h in receipt.happenings)


def test_a_grip_that_does_not_do_after_all_is_changed_again(
    holding: tuple[PhysicalWorld, WorldState], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the third grip in which it is held is let through."""
    world, start = holding
    world.restore(start)
    grips: list[object] = []
    attempted = lowering.attempted

    def pickier(
        act: Act, support: str, hold: Hold, spot: Spot, look: Look, how: str, among: Sequence[Stance] | None = None
    ) -> RefusedError | None:
        if hold.offset not in grips:
            grips.append(hold.offset)
        if len(grips) < 3:
            return RefusedError("TRAJECTORY_COLLISION", support, support)
        return attempted(act, support, hold, spot, look, how, among)

    monkeypatch.setattr(place, "attempted", pickier)
    receipt = world.execute(parse(f"[Put] <{THING}> <{SUPPORT}>"))
    assert receipt.code == "OK"
    assert len(grips) == 3
    assert [h.kind for h in receipt.happenings].count("released") == 1
    assert ("on", THING, SUPPORT) in world.relations()


def test_where_that_fails_everything_is_as_before(
    holding: tuple[PhysicalWorld, WorldState], refusing: list[Hold], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, start = holding
    world.restore(start)
    monkeypatch.setattr(retaking, "_taken", lambda *_: False)
    receipt = world.execute(parse(f"[Put] <{THING}> <{SUPPORT}>"))
    assert receipt.code == "TRAJECTORY_COLLISION"
    assert not receipt.happenings
    assert world.snapshot() == start


def test_a_place_with_a_sheet_on_it_is_not_free(holding: tuple[PhysicalWorld, WorldState]) -> None:
    """However thin what lies there is: what is put there would lie on it, not on the board."""
    world, start = holding
    world.restore(start)
    stage = world.stage
    other = "soda"
    at = stage.collision.frames(other)[stage.placed[other].asset.links[0].name].at
    for below in (0.0005, 0.0015):  # as if the other were so thin that it ends there
        top = at + np.array([0, 0, stage.placed[other].asset.size[2] - below])
        assert not free(stage, THING, "", top, 0.0)
