"""Each world there is, at the start of each of the two scenes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.register_assert_rewrite("promises", "programmes")

from promises import FACTORIES, flat, infirmary  # noqa: E402  their assertions say more once they are registered

from iwkit.compile import CompiledTask  # noqa: E402
from iwkit.world.base import World  # noqa: E402

TIER = {"symbolic": (), "physical": (pytest.mark.slow,)}
WORLDS = [pytest.param(name, marks=TIER[name]) for name in FACTORIES]


@pytest.fixture(scope="session")
def kitchen() -> CompiledTask:
    return flat()


@pytest.fixture(scope="session")
def ward() -> CompiledTask:
    return infirmary()


@pytest.fixture(scope="session", params=WORLDS, ids=str)
def factory(request: pytest.FixtureRequest) -> Callable[[], World]:
    return FACTORIES[request.param]


@pytest.fixture(scope="session")
def worlds(factory: Callable[[], World]) -> dict[str, World]:
    """One world a scene, for all tests: `reset` forgets what was before."""
    return {"flat": factory(), "infirmary": factory()}


@pytest.fixture
def world(worlds: dict[str, World], kitchen: CompiledTask) -> World:
    worlds["flat"].reset(kitchen)
    return worlds["flat"]


@pytest.fixture
def ward_world(worlds: dict[str, World], ward: CompiledTask) -> World:
    worlds["infirmary"].reset(ward)
    return worlds["infirmary"]
