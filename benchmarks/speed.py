"""How long the things take that one waits for, as a markdown table. Run it on an idle machine: nothing here is a test.

python benchmarks/speed.py [--repeats N]
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from iwkit import __version__
from iwkit.compile import CompiledTask, load_task
from iwkit.grammar import Command
from iwkit.ledger import Journal
from iwkit.library import Library
from iwkit.resources import root
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.agents import make_assistant, make_human
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.play import play
from iwkit_runtime.selection import pack_files

BENCHMARK = 120
"""Tasks that the whole benchmark will have; figures of the packs at hand are scaled to it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line: `seconds` of each repeat, the target as text, and what goes into the last column for the median."""

    work: str
    seconds: list[float]
    target: str
    scaled: Callable[[float], str] = lambda _: ""

    def cells(self) -> tuple[str, ...]:
        median = statistics.median(self.seconds)
        spread = f"{ms(min(self.seconds))} to {ms(max(self.seconds))}"
        return (self.work, ms(median), spread, self.target, self.scaled(median))


def ms(seconds: float) -> str:
    """Milliseconds with three significant digits."""
    value = 1000 * seconds
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms" if value >= 10 else f"{value:.2f} ms"


def clock(work: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of each repeat, after one that is not counted."""
    work()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return found


def execute_oracle(world: SymbolicWorld, task: CompiledTask) -> int:
    """Reset, opening, then the oracle's commands (under WATCH after the plan), reading the relations after each."""
    world.reset(task)
    commands: list[Command] = [c.command for c in (*task.opening, *task.plan)]
    commands += [command for line in task.scripts["oracle"].lines for command in line.do]
    for command in commands:
        world.execute(command)
        world.relations()
    return len(commands)


def play_oracle(world: SymbolicWorld, task: CompiledTask) -> str:
    """A whole closed-loop episode with the scripted human, in memory, scored."""
    episode = Episode(task, world, lambda _kind, _fields: None)
    assistant, human = make_assistant("oracle", episode), make_human("scripted", episode)
    while (role := episode.pending) is not None:
        view = episode.observe(role)
        episode.answer(role, (assistant if role == "assistant" else human).answer(view))  # type: ignore[arg-type]
    return "pass" if episode.score().passed else "fail"


def record_oracle(world: SymbolicWorld, task: CompiledTask, folder: Path) -> Path:
    """The same with the rules human, and with the record on disk."""
    path = folder / f"{task.id}-{time.perf_counter_ns()}.jsonl"
    with Journal(path) as journal:
        play(task, world, journal, {"task": task.id}, assistant="oracle", human="rules")
    return path


def scaled_to_benchmark(packs: int) -> Callable[[float], str]:
    return lambda median: f"{median / packs * BENCHMARK:.2f} s for {BENCHMARK}"


def measure(repeats: int) -> list[Row]:
    files = pack_files([str(root("taskpacks"))])
    library = Library()
    tasks = [load_task(path, library) for path in files]
    whole = scaled_to_benchmark(len(tasks))
    world = SymbolicWorld()
    primitives = sum(execute_oracle(world, task) for task in tasks)
    for task in tasks:
        if play_oracle(world, task) != "pass":
            sys.exit(f"{task.id}: the oracle does not pass: nothing to measure")
    slowest = max(files, key=lambda path: statistics.median(clock(lambda: load_task(path, library), 3)))
    help_line = [sys.executable, "-m", "iwkit.cli.main", "--help"]
    with tempfile.TemporaryDirectory() as folder:
        return [
            Row(
                "`iwkit --help`",
                clock(lambda: subprocess.run(help_line, capture_output=True, check=True), repeats),
                "300 ms",
            ),
            Row(
                "read, check and compile the slowest pack", clock(lambda: load_task(slowest, library), repeats), "15 ms"
            ),
            Row(
                f"read, check and compile {len(tasks)} packs, scenes and catalogue too",
                clock(lambda: [load_task(path, fresh) for fresh in [Library()] for path in files], repeats),
                "2 s for 120",
                whole,
            ),
            Row(
                f"the oracle's commands of {len(tasks)} packs in the bare symbolic world",
                clock(lambda: [execute_oracle(world, task) for task in tasks], repeats),
                "1,727 primitives/s",
                lambda median: f"{primitives / median:,.0f} primitives/s, {whole(median)}",
            ),
            Row(
                f"the oracle's episodes of {len(tasks)} packs in closed loop, scripted human, scored",
                clock(lambda: [play_oracle(world, task) for task in tasks], repeats),
                "1 s for 120",
                whole,
            ),
            Row(
                f"the same with the rules human and the record on disk, {len(tasks)} packs",
                clock(lambda: [record_oracle(world, task, Path(folder)) for task in tasks], repeats),
                "none",
                whole,
            ),
        ]


def stamp(repeats: int, load: float) -> str:
    day = datetime.now(UTC).date().isoformat()
    return (
        f"iwkit {__version__}, {day}, Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, load average {load:.1f} before it began, median of {repeats} repeats"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=21, help="how often each is measured (default 21)")
    repeats = parser.parse_args().repeats
    if repeats < 1:
        parser.error("--repeats must be at least 1")
    load = os.getloadavg()[0]
    found = measure(repeats)
    print(f"{stamp(repeats, load)}\n")
    print("| work | median | min to max | target | scaled |\n| --- | --- | --- | --- | --- |")
    for row in found:
        print("| " + " | ".join(row.cells()) + " |")


if __name__ == "__main__":
    main()
