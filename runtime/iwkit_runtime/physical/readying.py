"""Making a task's scene ready: the engine lets it come to rest while what is asked about it is made beside (PHY-9)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from iwkit.compile import CompiledTask
from iwkit_runtime.body.model import Solver
from iwkit_runtime.engines.base import Engine
from iwkit_runtime.physical.scene_spec import SceneSpec
from iwkit_runtime.physical.stage import Geometry
from iwkit_runtime.physical.wearer import Person, person

TURN = 2e-4
"""Seconds after which a thread that waits for Python gets it."""


def settled(task: CompiledTask, spec: SceneSpec, engine: Engine, solver: Solver) -> tuple[Geometry, Person]:
    """Load a scene into an engine and let it come to rest; meanwhile the geometry that is asked, and the wearer's body.

    Raises:
        UsageError: a thing of the scene is no solid.
        EngineError: the scene can't be simulated.
    """
    with ThreadPoolExecutor(1) as beside, _taking_turns():  # settling takes most of its time outside of Python
        done = beside.submit(_settle, engine, spec)
        found = Geometry.of(task, spec), person(solver)
        done.result()
    return found


def _settle(engine: Engine, spec: SceneSpec) -> None:
    engine.load(spec)
    engine.settle()


@contextmanager
def _taking_turns() -> Iterator[None]:
    """Threads take turns in Python more often: one that comes back from outside would else wait longer than it was."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
