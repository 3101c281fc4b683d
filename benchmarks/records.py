"""How long it takes to read what was recorded, and to go on after being stopped, as a markdown table. Nothing here is a
test.

python benchmarks/records.py [--events N]

A run folder with so many events is made up from a recorded episode of each task at hand, copied until they are enough.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from iwkit import __version__
from iwkit.ledger import read_records
from iwkit.report.consistency import contradictions
from iwkit.report.summary import summarise, to_json
from iwkit.runfolder import attempt_path, attempt_paths, cell_name
from iwkit_runtime.runs import Config, run
from iwkit_runtime.selection import select


def recorded(folder: Path) -> dict[str, Path]:
    """A run of every task at hand in the symbolic world: task -> its journal."""
    sources = select([], draft=True)
    run(sources, Config("oracle", "rules", "symbolic", draft=True), folder, lambda *_: None)
    return {s.task.id: attempt_paths(folder, cell_name(s.task.id, 0))[-1] for s in sources}


def copied(journals: dict[str, Path], source: Path, folder: Path, events: int) -> tuple[int, int]:
    """Copy episodes, as further seeds, until there are so many events; how many cells and events there are then."""
    plan = json.loads((source / "plan.json").read_text("utf-8"))
    shutil.copytree(source / "packs", folder / "packs")
    sizes = {task: sum(len(r.get("events", ())) for r in read_records(path)[0]) for task, path in journals.items()}
    cells, total, seed = {}, 0, 0
    while total < events:
        for task, journal in journals.items():
            path = attempt_path(folder, cell_name(task, seed), 1)
            path.parent.mkdir(parents=True)
            shutil.copyfile(journal, path)
            cells[cell_name(task, seed)] = {**plan["cells"][cell_name(task, 0)], "seed": seed}
            total += sizes[task]
        seed += 1
    (folder / "plan.json").write_text(json.dumps({**plan, "cells": cells}), "utf-8")
    return len(cells), total


def clocks(work: Callable[[], object]) -> tuple[float, float]:
    """What something takes: seconds, and seconds of the processor."""
    start, begun = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - begun


def resumed(folder: Path, task: str, world: str) -> list[tuple[float, float]]:
    """What an episode takes from the start, and going on with it when only its end is missing."""
    (source,) = select([task], draft=True)
    config = Config("oracle", "rules", world, draft=True)

    def play() -> None:
        run([source], config, folder, lambda *_: None)

    first = clocks(play)
    (path,) = attempt_paths(folder, cell_name(task, 0))
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    return [first, clocks(play)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    events = parser.parse_args().events
    load = os.getloadavg()[0]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        journals = recorded(Path(name, "one"))
        cells, total = copied(journals, Path(name, "one"), Path(name, "many"), events)
        size = sum(p.stat().st_size for p in Path(name, "many").rglob("*.jsonl"))
        for work, read in (
            ("read a run and compute its figures", lambda: to_json(summarise(Path(name, "many")))),
            (
                "check every record against itself, its score computed anew",
                lambda: list(contradictions(Path(name, "many"))),
            ),
        ):
            seconds, processor = clocks(read)
            what = f"{cells:,} episodes, {total:,} events, {size / 1e6:,.0f} MB"
            rate = f"{total / processor:,.0f} events/s"
            rows.append((work, what, f"{seconds:.1f} s", f"{processor:.1f} s", rate))
        for task, world in (("W7", "symbolic"), ("F10", "physical")):
            names = ("play an episode", "go on when only its end is missing")
            both = resumed(Path(name, world), task, world)
            for what, (seconds, processor) in zip(names, both, strict=True):
                share = f"{processor / both[0][1]:.2f} x"
                times = (f"{1000 * seconds:.0f} ms", f"{1000 * processor:.0f} ms")
                rows.append((what, f"{task}, {world} world", *times, share))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"iwkit {__version__}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores, load average {load:.1f} before it began; "
        f"most memory {memory:,.0f} MB\n"
    )
    print("| work | of what | time | of the processor | rate |\n| --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
