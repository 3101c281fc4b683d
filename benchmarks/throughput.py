"""Episodes a minute with one and more worker processes, and what a tick takes, as a markdown table. Run it on an idle
machine: nothing here is a test.

python benchmarks/throughput.py [--seeds N]
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from iwkit import __version__
from iwkit.ledger import Record
from iwkit_runtime.runs import Config, no_pictures, run
from iwkit_runtime.selection import select


def timed(world: str, jobs: int, seeds: int, *, pictures: bool) -> tuple[float, int, int]:
    """Wall-clock seconds, episodes and ticks of a run of every task at hand."""
    sources = select([], draft=True)
    ends: list[Record] = []
    config = Config("oracle", "rules", world, draft=True, pictures=pictures)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        run(sources, config, Path(folder, "run"), lambda _, end: ends.append(end), range(seeds), jobs=jobs)
        seconds = time.perf_counter() - start
    return seconds, len(ends), sum(end["ticks"] for end in ends)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="of each task; ten times that in the symbolic world")
    seeds = parser.parse_args().seeds
    load = os.getloadavg()[0]
    modes = [("physical", False), ("symbolic", False)]
    if no_pictures("oracle", "physical") is None:
        modes.insert(1, ("physical", True))
    print(
        f"iwkit {__version__}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores, load average {load:.1f} before it began\n"
    )
    print("| world | workers | episodes | episodes a minute | beside one worker | a tick |")
    print("| --- | --- | --- | --- | --- | --- |")
    for world, pictures in modes:
        alone = 0.0
        for jobs in (1, 2):
            often = seeds if world == "physical" else 10 * seeds
            seconds, episodes, ticks = timed(world, jobs, often, pictures=pictures)
            rate = 60 * episodes / seconds
            alone = alone or rate
            name = f"{world}{', with frames' if pictures else ''}"
            each = f"{1000 * jobs * seconds / ticks:.1f} ms"
            print(f"| {name} | {jobs} | {episodes} | {rate:.1f} | {rate / alone:.2f} x | {each} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
