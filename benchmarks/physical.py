"""How fast the physical world is, beside its targets and MuJoCo alone, as a markdown table. Run it on an idle machine.

python benchmarks/physical.py [--repeats N] [--tasks ID ...] [--no-frames]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import mujoco
import numpy as np
from speed import BENCHMARK, clock, ms, stamp

from iwkit.compile import CompiledTask, load_task
from iwkit.grammar import Command
from iwkit.ledger import Journal
from iwkit.library import Library
from iwkit.resources import root
from iwkit_runtime.engines.mujoco_engine import MujocoEngine
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.play import play
from iwkit_runtime.render.renderer import Renderer
from iwkit_runtime.selection import pack_files
from iwkit_runtime.studio import PhysicalStudio

CROWD = 100
"""Objects that are added to a task to see what many cost."""
STEPS = 200
"""Steps of physics that are timed together."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line: the `seconds` of each sample, and as text the target and what to compare with it."""

    work: str
    seconds: Sequence[float]
    target: str = "none"
    beside: str = ""

    def cells(self) -> tuple[str, ...]:
        late = float(np.quantile(self.seconds, 0.95))
        values = (statistics.median(self.seconds), late, min(self.seconds), max(self.seconds))
        median, p95, least, most = map(ms, values)
        return (self.work, median, p95, f"{least} to {most}", str(len(self.seconds)), self.target, self.beside)


def timed(work: Callable[[], object]) -> float:
    """Seconds that something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def oracle(task: CompiledTask) -> list[Command]:
    """The opening, the plan, and what the oracle says."""
    commands = [cursor.command for cursor in (*task.opening, *task.plan)]
    return commands + [command for line in task.scripts["oracle"].lines for command in line.do]


def ready(world: PhysicalWorld, tasks: Sequence[CompiledTask], repeats: int) -> list[Row]:
    """From a compiled task to a world one can act in: the first task of a scene, and others of the same scene."""
    cold, warm, seen = [], [], set()
    for task in tasks * (1 + repeats):
        took = timed(lambda task=task: world.reset(task))
        (warm if task.scene.id in seen else cold).append(took)
        seen.add(task.scene.id)
    return [
        Row("world ready from a compiled task, its scene new to the process", cold, "500 ms"),
        Row("the same, another task of the scene was there before", warm, "200 ms"),
    ]


PLACES = (
    "dining_table_1",
    "sideboard_1",
    "coffee_table_1",
    "bookshelf_1",
    "bookshelf_2",
    "desk_1",
    "shelf_1",
    "shelf_2",
)
KINDS = ("mug", "apple", "soda_can", "banana", "wallet", "key", "tomato", "lemon", "cell_phone", "sponge")


def crowded(count: int, folder: Path) -> CompiledTask:
    """A1 with so many objects more, ten kinds of them over eight pieces of furniture."""
    text = (root("taskpacks") / "accessibility" / "A1.yaml").read_text("utf-8")
    more = [f"    more_{place}: {{fixture: {place}}}\n" for place in PLACES]
    more += [
        f"    thing_{n}: {{category: {KINDS[n % len(KINDS)]}, on: more_{PLACES[n // len(KINDS) % len(PLACES)]}}}\n"
        for n in range(count)
    ]
    before = "    mug: {category: mug"
    path = folder / "A1.yaml"
    path.write_text(text.replace(before, "".join(more) + before, 1), "utf-8")
    return load_task(path, Library())


def crowd(count: int, repeats: int) -> list[Row]:
    """World ready with many objects, and the memory of the process before and with it."""
    with tempfile.TemporaryDirectory() as folder:
        task = crowded(count, Path(folder))
    world = PhysicalWorld()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cold = timed(lambda: world.reset(task))
    warm = [timed(lambda: world.reset(task)) for _ in range(repeats)]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    memory = f"most memory of the process: {before:.0f} MB before, {after:.0f} MB with it"
    return [
        Row(f"world ready with {count} objects more, everything new to the process", [cold], "500 ms", memory),
        Row("the same again", warm, "200 ms"),
    ]


def primitives(world: PhysicalWorld, tasks: Sequence[CompiledTask]) -> list[float]:
    """Seconds of each command of the oracles: planned, carried out, settled, read back."""
    found = []
    for task in tasks:
        world.reset(task)
        found += [timed(lambda command=command: world.execute(command)) for command in oracle(task)]
    return found


def bare_step(world: PhysicalWorld) -> float:
    """Seconds of one step of the engine's model in MuJoCo alone: all things at rest, but none asleep."""
    engine = world.stage.engine
    if not isinstance(engine, MujocoEngine):
        sys.exit("the physical world does not run on MuJoCo: nothing to compare with")
    model, data = copy(engine._model), copy(engine._data)
    model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    return min(clock(lambda: [mujoco.mj_step(model, data) for _ in range(STEPS)], 3)) / STEPS


def episode(world: PhysicalWorld, task: CompiledTask, pictures: bool) -> None:
    """A whole episode of the oracle with the scripted human, its record and trajectories on disk."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Journal(Path(folder) / "episode.jsonl") as journal,
        PhysicalStudio(world, Path(folder), pictures=pictures) as studio,
    ):
        end = play(task, world, journal, {"task": task.id}, assistant="oracle", human="scripted", studio=studio)
    if end["status"] != "pass":
        sys.exit(f"{task.id}: the oracle does not pass: nothing to measure")


def frames(world: PhysicalWorld, tasks: Sequence[CompiledTask], repeats: int) -> list[Row]:
    """One picture of what the wearer sees at the start, in each scene, beside MuJoCo's own of the same model."""
    drawn, own, ids = [], [], []
    for task in {task.scene.id: task for task in tasks}.values():
        world.reset(task)
        stage = world.stage
        body = stage.idle()
        camera = stage.person.camera(body)
        skin = stage.person.body.skin(stage.person.body.forward(*body))
        poses, joints = stage.engine.poses(), stage.engine.joints()
        with Renderer(stage.spec, stage.person.body) as renderer:
            view = (camera, poses, joints, skin)
            drawn += clock(lambda renderer=renderer, view=view: renderer.frame(*view), repeats)
            ids += clock(lambda renderer=renderer, view=view: renderer.counts(*view), repeats)
            own += clock(_bare_render(renderer, camera), repeats)
    beside = ms(statistics.median(own))
    target = f"{ms(1.3 * statistics.median(own))} (1.3 times MuJoCo's own)"
    return [
        Row(
            "one frame of 640 x 480, 4 samples a pixel",
            drawn,
            target,
            f"{beside}: MuJoCo's own render of the scene and the body",
        ),
        Row("what fills which pixels of it", ids, "9 ms"),
    ]


def _bare_render(renderer: Renderer, camera: np.ndarray) -> Callable[[], object]:
    """MuJoCo's own renderer with the same model, camera and lights, showing everything with the body."""
    model, data = renderer._drawn.model, renderer._data
    model.skin_group[:] = 0
    model.geom_group[:] = 0
    bare = mujoco.Renderer(model, renderer.size[1], renderer.size[0])

    def draw() -> object:
        bare.update_scene(data)
        for eye in bare.scene.camera:
            renderer._aim(eye, camera)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            bare.scene.flags[flag] = False
        return bare.render()

    return draw


def sweep(world: PhysicalWorld, tasks: Sequence[CompiledTask], pictures: bool) -> Row:
    """The oracle's episodes one after the other; a sample is one task."""
    seconds = [timed(lambda task=task: episode(world, task, pictures)) for task in tasks]
    whole = f"{sum(seconds) / len(tasks) * BENCHMARK / 60:.1f} min for {BENCHMARK}"
    work = f"an episode of the oracle, recorded, {'with' if pictures else 'without'} frames"
    return Row(work, seconds, f"{10 if pictures else 5} min for {BENCHMARK}", whole)


def measure(tasks: list[CompiledTask], repeats: int, *, pictures: bool) -> list[Row]:
    world = PhysicalWorld()
    with get_context("spawn").Pool(1, maxtasksperchild=1) as apart:  # what was built before must not count
        many = apart.starmap(crowd, [(CROWD, 1)] * repeats, chunksize=1)
    crowds = [replace(row[0], seconds=[s for each in row for s in each.seconds]) for row in zip(*many, strict=True)]
    rows = [*ready(world, tasks, repeats), *crowds]
    step = ms(bare_step(world))
    took = primitives(world, tasks)
    rows.append(Row("one primitive of the oracles", took, "150 ms, p95 500 ms", f"{step}: one bare step of MuJoCo"))
    if pictures:
        rows += frames(world, tasks, repeats)
    rows.append(sweep(world, tasks, False))
    if pictures:
        rows.append(sweep(world, tasks, True))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="how often frames and resets are measured (default 7)")
    parser.add_argument("--tasks", nargs="+", default=[], help="ids of tasks (default: all that ship with iwkit)")
    parser.add_argument("--no-frames", action="store_true", help="leave out what needs OpenGL")
    given = parser.parse_args()
    if given.repeats < 1:
        parser.error("--repeats must be at least 1")
    library = Library()
    tasks = [load_task(path, library) for path in pack_files([str(root("taskpacks"))])]
    unknown = set(given.tasks) - {task.id for task in tasks}
    if unknown:
        parser.error(
            f"no task is called {', '.join(sorted(unknown))}; there are {', '.join(task.id for task in tasks)}"
        )
    load = os.getloadavg()[0]
    found = measure(
        [task for task in tasks if not given.tasks or task.id in given.tasks],
        given.repeats,
        pictures=not given.no_frames,
    )
    print(f"{stamp(given.repeats, load)}\n")
    print("| work | median | p95 | min to max | samples | target | beside it |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in found:
        print("| " + " | ".join(row.cells()) + " |")


if __name__ == "__main__":
    main()
