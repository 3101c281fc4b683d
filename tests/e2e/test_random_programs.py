"""Random programs, legal and illegal, in cluttered scenes: both worlds agree (few of benchmarks/differential.py)."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st

from iwkit.compile import CompiledTask
from iwkit.grammar import render
from iwkit.library import Library
from iwkit.world.refusals import REFUSALS
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.actions.refusals import PHYSICAL_REFUSALS
from iwkit_runtime.physical.world import PhysicalWorld

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "differential.py"
LIBRARY = Library()


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("differential", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["differential"] = module
    spec.loader.exec_module(module)
    return module


differential = _module()


@pytest.fixture(scope="module")
def flat() -> CompiledTask:
    task = differential.cluttered("flat", 1, LIBRARY)
    assert len([t for t in task.things.values() if t.kind == "object"]) >= 20
    return task


@pytest.mark.parametrize("scene", differential.SCENES)
def test_a_refused_command_changes_nothing_and_says_why(scene: str) -> None:
    task = differential.cluttered(scene, 2, LIBRARY, count=12)
    world = SymbolicWorld()

    @settings(max_examples=8, deadline=None)
    @given(seed=st.integers(0, 2**32 - 1))
    def one(seed: int) -> None:
        world.reset(task)
        draw = random.Random(seed).randrange
        done: Counter[str] = Counter()
        for _ in range(12):
            asked = differential.command(draw, task, world, done)
            done[asked.primitive] += 1
            before = json.dumps(world.snapshot())
            receipt = world.execute(asked)
            note(f"{render(asked)}: {receipt.code}")
            if receipt.ok:
                assert receipt.error is None and receipt.about == ()
                continue
            assert receipt.error is not None
            code, text, fault, about = receipt.error
            assert code in REFUSALS and fault == REFUSALS[code].fault
            assert text and text[0].isupper() and text[-1] in ".!" and "{" not in text and "_" not in text
            assert len(about) >= REFUSALS[code].template.count("{")
            assert json.dumps(world.snapshot()) == before
            assert (receipt.frames, receipt.happenings) == (0, ())

    one()


@pytest.mark.slow
def test_both_worlds_agree_on_random_programs(flat: CompiledTask) -> None:
    physical = PhysicalWorld()
    codes: Counter[str] = Counter()

    @settings(max_examples=3, deadline=None, derandomize=True, phases=[Phase.generate])
    @given(seed=st.integers(0, 2**32 - 1))
    def one(seed: int) -> None:
        pair = differential.Pair(flat, physical)
        draw, done = random.Random(seed).randrange, Counter[str]()
        for n in range(10):
            if n == 3:
                pair.mark_baseline()
            asked = differential.command(draw, flat, pair.symbolic, done)
            done[asked.primitive] += 1
            line = pair.step(asked)
            note(str(line))
            codes[line["physical"]] += 1
            assert not line.get("changed"), line
            assert line["physical"] == line["symbolic"] or (
                line["symbolic"] == "OK" and line["physical"] in differential.GEOMETRIC
            ), line
            assert not line.get("events") and not line.get("relations"), line
            if line["physical"] != "OK":
                assert line["physical"] in {**REFUSALS, **PHYSICAL_REFUSALS}

    one()
    assert codes["OK"] > sum(codes.values()) / 2


@pytest.mark.slow
def test_the_table_of_a_run() -> None:
    lines = list(differential.program(6, 3, PhysicalWorld(), LIBRARY))
    assert len(lines) == 3 and {line["scene"] for line in lines} == {"flat"}
    text = differential.table(lines)
    assert "| steps, of so many programs | 3, 1 |" in text
