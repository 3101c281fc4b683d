"""Episodes a minute with one and two worker processes, and what a tick takes, as a markdown table. Run it on an idle
machine: nothing here is a test. It takes some minutes.

python benchmarks/throughput.py [--tasks A1 F10 ...] [--repeats N]
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from iwkit import __version__
from iwkit.ledger import Record
from iwkit_runtime.runs import Config, no_pictures, run
from iwkit_runtime.selection import select

TASKS = ["A1", "D5", "F10", "G10", "P8", "W7"]
"""One of each family."""
OFTEN = 100
"""Repeats in the symbolic world for one in the physical one, or the start of workers would count most."""


def used() -> float:
    """Seconds of the processor, of this process and of those that it has seen end."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def timed(tasks: list[str], world: str, jobs: int, seeds: int, *, pictures: bool) -> tuple[float, float, int, int]:
    """Seconds, seconds of the processor, episodes and ticks of a run of tasks."""
    sources = select(tasks, draft=True)
    ends: list[Record] = []
    config = Config("oracle", "rules", world, draft=True, pictures=pictures)
    with tempfile.TemporaryDirectory() as folder:
        start, before = time.perf_counter(), used()
        run(sources, config, Path(folder, "run"), lambda _, end: ends.append(end), range(seeds), jobs=jobs)
        seconds, processor = time.perf_counter() - start, used() - before
    return seconds, processor, len(ends), sum(end["ticks"] for end in ends)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=TASKS, metavar="ID", help=f"default: {' '.join(TASKS)}")
    parser.add_argument(
        "--repeats", type=int, default=1, help="of each task; a hundred times that in the symbolic world"
    )
    given = parser.parse_args()
    load = os.getloadavg()[0]
    modes = [("physical", False), ("symbolic", False)]
    if no_pictures("oracle", "physical") is None:
        modes.insert(1, ("physical", True))
    print(
        f"iwkit {__version__}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores, load average {load:.1f} before it began\n"
    )
    print("| world | workers | episodes | episodes a minute | beside one worker | processor a tick |")
    print("| --- | --- | --- | --- | --- | --- |")
    for world, pictures in modes:
        alone = 0.0
        for jobs in (1, 2):
            often = given.repeats if world == "physical" else OFTEN * given.repeats
            seconds, processor, episodes, ticks = timed(given.tasks, world, jobs, often, pictures=pictures)
            rate = 60 * episodes / seconds
            alone = alone or rate
            name = f"{world}{', with frames' if pictures else ''}"
            each = f"{1000 * processor / ticks:.1f} ms"
            print(f"| {name} | {jobs} | {episodes} | {rate:.1f} | {rate / alone:.2f} x | {each} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
