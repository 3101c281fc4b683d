"""Every world keeps its promises in random programs, and is the same in every process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from programmes import programme, replay, run_program
from promises import LATER, TRIP, observe

from iwkit.compile import CompiledTask
from iwkit.grammar import parse
from iwkit.verbs import BY_NAME
from iwkit.world.base import World
from iwkit.world.symbolic import SymbolicWorld

HERE = Path(__file__).parent
VOLUMES = {"symbolic": (12, 60, 40), "physical": (3, 15, 12)}
"""How much is played at random: programs, and commands of each in the flat and in the infirmary."""


class Setting:
    """What a property test needs; a class of its own so that a failure prints the seed and not whole tasks."""

    def __init__(self, factory: Callable[[], World], kitchen: CompiledTask, ward: CompiledTask) -> None:
        self.factory, self.kitchen, self.ward = factory, kitchen, ward
        self.programs, self.in_flat, self.in_infirmary = VOLUMES[factory().name]

    def for_seeds(self, check_one: Callable[[int], object]) -> None:
        """Play as many programs as the world has time for."""

        @settings(max_examples=self.programs, deadline=None)
        @given(seed=st.integers(0, 2**32 - 1))
        def one(seed: int) -> None:
            check_one(seed)

        one()


@pytest.fixture(scope="session")
def setting(factory: Callable[[], World], kitchen: CompiledTask, ward: CompiledTask) -> Setting:
    return Setting(factory, kitchen, ward)


def test_random_programs_in_the_flat(setting: Setting) -> None:
    first, second = setting.factory(), setting.factory()

    def both(seed: int) -> None:
        played = run_program(first, setting.kitchen, seed, setting.in_flat, note)
        assert run_program(second, setting.kitchen, seed, setting.in_flat) == played
        assert json.dumps(first.snapshot()) == json.dumps(second.snapshot())
        assert first.relations() == second.relations()

    setting.for_seeds(both)


def test_random_programs_in_the_infirmary(setting: Setting) -> None:
    world = setting.factory()
    setting.for_seeds(lambda seed: run_program(world, setting.ward, seed, setting.in_infirmary, note))


def test_restore_anywhere(setting: Setting) -> None:
    task, most = setting.kitchen, setting.in_flat * 2 // 3
    world, other = setting.factory(), setting.factory()

    def anywhere(seed: int) -> None:
        rng = random.Random(seed)
        for new in (world, other):
            new.reset(task)
        for command in islice(programme(rng, world, task), rng.randint(0, most)):
            world.execute(command)
        other.restore(json.loads(json.dumps(world.snapshot())))
        assert observe(other, task) == observe(world, task)
        for command in islice(programme(rng, world, task), most * 3 // 8):
            assert other.execute(command) == world.execute(command)
        assert observe(other, task) == observe(world, task)

    setting.for_seeds(anywhere)


def test_random_programs_reach_every_primitive(kitchen: CompiledTask, ward: CompiledTask) -> None:
    """The programs are worth something: in a few of them every primitive succeeds, where a step takes no time."""
    played = [run for seed in range(12) for run in run_program(SymbolicWorld(), kitchen, seed, 60)]
    played += [run for seed in range(3) for run in run_program(SymbolicWorld(), ward, seed, 40)]
    succeeded = {parse(text).primitive for text, receipt in played if receipt.ok}
    assert succeeded == set(BY_NAME)
    assert sum(receipt.ok for _, receipt in played) > len(played) / 3


REPLAY = """
import sys
sys.path[:0] = sys.argv[1:3]
from programmes import replay
print(replay(sys.argv[3], int(sys.argv[4])))
"""


@pytest.mark.parametrize(("name", "steps"), [("symbolic", 60), pytest.param("physical", 0, marks=pytest.mark.slow)])
def test_the_same_in_another_process(name: str, steps: int) -> None:
    """Whatever the order of sets."""
    seed = "1" if os.environ.get("PYTHONHASHSEED") == "2" else "2"
    call = [sys.executable, "-c", REPLAY, str(HERE), str(HERE.parents[1] / "benchmarks"), name, str(steps)]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    there = subprocess.run(call, env=environment, capture_output=True, text=True, check=True).stdout
    assert there.count("\n") == 2 * len((*TRIP, *LATER, *[None] * steps))
    assert replay(name, steps) + "\n" == there
