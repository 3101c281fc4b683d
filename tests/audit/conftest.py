"""A short episode in the physical world, recorded in memory."""

from __future__ import annotations

import pytest

from iwkit import resources
from iwkit.compile import load_task
from iwkit.grammar import parse
from iwkit.library import Library
from iwkit_runtime.physical.trajectory import Frame
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.recording import Interval, Recording

COMMANDS = ("[Grab] <soda>", "[Put] <soda> <counter>", "[Open] <fridge>")


def film_of(task_id: str, *commands: str) -> Recording:
    """What commands of a task look like from reset on."""
    (path,) = resources.root("taskpacks").rglob(f"{task_id}.yaml")
    task = load_task(path, Library())
    world = PhysicalWorld()
    world.reset(task)
    stage = world.stage
    wearer = stage.wearer
    start = Frame(stage.idle(), wearer.stand, None, stage.engine.poses(), stage.engine.joints()).kept()
    intervals = []
    for number, command in enumerate(commands, start=1):
        receipt = world.execute(parse(command))
        assert receipt.ok, receipt.text
        frames = tuple(map(Frame.kept, world.trajectory.frames))
        intervals.append(Interval(number, command, receipt.code, receipt.frames, receipt.happenings, frames))
    return Recording(
        "A1-s0", task, stage.spec, start.poses, start.joints, start.body, start.stand, tuple(intervals), ()
    )


@pytest.fixture(scope="session")
def recording() -> Recording:
    """Take a soda, put it down again, open the fridge."""
    return film_of("A1", *COMMANDS)
