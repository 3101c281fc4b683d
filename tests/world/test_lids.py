"""A lid that is attached to the rim of a container closes it: what is in it is neither seen nor reached."""

from __future__ import annotations

import pytest

from iwkit import resources
from iwkit.compile import load_task
from iwkit.grammar import parse
from iwkit.world.symbolic import SymbolicWorld

STOWED = ("[Grab] <mushroom>", "[PutInside] <mushroom> <box>", "[Attach] <lid> <rim> (0) <box> <rim> (0)")


def played(*commands: str) -> SymbolicWorld:
    (path,) = resources.root("taskpacks").glob("*/F12.yaml")
    world = SymbolicWorld()
    world.reset(load_task(path))
    for text in commands:
        receipt = world.execute(parse(text))
        assert receipt.ok, f"{text}: {receipt.text}"
    return world


def test_it_hides_what_is_in_the_container_until_it_is_taken_off() -> None:
    assert ("visible", "mushroom") in played(*STOWED[:2]).relations()
    world = played(*STOWED)
    assert ("inside", "mushroom", "box") in world.relations()
    assert ("visible", "mushroom") not in world.relations()
    assert world.execute(parse("[Detach] <lid> <box>")).ok
    assert ("visible", "mushroom") in world.relations()


@pytest.mark.parametrize(
    ("before", "command"),
    [((), "[Grab] <mushroom>"), (("[Grab] <tomato>",), "[PutInside] <tomato> <box>"), ((), "[LookAt] <mushroom>")],
)
def test_it_bars_the_way_in_until_it_is_taken_off(before: tuple[str, ...], command: str) -> None:
    refused = played(*STOWED, *before).execute(parse(command))
    assert refused.code in ("CONTAINER_CLOSED", "NOT_VISIBLE")
    open_ = ("[Detach] <lid> <box>", "[Put] <lid> <counter>")
    assert played(*STOWED, *open_, *before).execute(parse(command)).ok


def test_a_lid_beside_the_container_hides_nothing() -> None:
    world = played(*STOWED[:2], "[Grab] <lid>", "[Put] <lid> <counter>")
    assert ("visible", "mushroom") in world.relations()
    assert world.execute(parse("[Grab] <mushroom>")).ok
