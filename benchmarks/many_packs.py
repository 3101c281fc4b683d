"""How long a thousand packs take, as a markdown table. Run it on an idle machine: nothing here is a test.

python benchmarks/many_packs.py [--packs N] [--repeats N]

The packs are drafts of all families in all scenes, each with other furniture. They are written first, which takes some
minutes for a thousand and is not measured; --keep FOLDER leaves them there, and takes them from there the next time.
What is measured is the time of the processor, which other programs that run meanwhile disturb little.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from speed import Row, execute_oracle, play_oracle, stamp

from iwkit.compile import load_task
from iwkit.families import families
from iwkit.library import Library
from iwkit.spec.family import FamilySpec
from iwkit.world.symbolic import SymbolicWorld
from iwkit_authoring.scaffold import drafts
from iwkit_validators.suite import validate_many

PLACEHOLDER = "X1"


def texts(library: Library) -> Iterator[tuple[str, str]]:
    """Family and text of each pack, taken in turn from every family in every scene until none has any left."""

    def of(spec: FamilySpec, scene: str) -> Iterator[tuple[str, str]]:
        seen = set()  # not every template uses every piece of furniture
        for text in drafts(spec, "a generated pack", library.scene(scene), library, PLACEHOLDER):
            physical = text[text.index("\nphysical:") : text.index("\ninteraction:")]
            if physical not in seen:
                seen.add(physical)
                yield spec.id, text

    specs = sorted(families().values(), key=lambda spec: spec.id)
    left = [of(spec, scene) for scene in library.scene_ids() for spec in specs]
    while left:
        for some in list(left):
            found = next(some, None)
            if found is None:
                left.remove(some)
            else:
                yield found


def write_packs(folder: Path, packs: int) -> list[Path]:
    """So many packs in a folder, each with an id and a canary of its own. There may be fewer furnishings than that."""
    found = sorted(folder.rglob("*.yaml"))
    if len(found) >= packs:
        return found[:packs]
    for number, (family, text) in zip(count(1), texts(Library()), strict=False):
        path = folder / family / f"X{number:04}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        guid = next(line for line in text.splitlines() if line.startswith("guid: "))
        own = text.replace(f"id: {PLACEHOLDER}\n", f"id: {path.stem}\n", 1).replace(guid, f"guid: {uuid.uuid4()}", 1)
        path.write_text(own, "utf-8")
        if number == packs:
            break
    return sorted(folder.rglob("*.yaml"))


def clock(work: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of the processor that each repeat takes, after one that is not counted."""
    work()
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return found


def measure(files: list[Path], repeats: int) -> list[Row]:
    library = Library()
    tasks = [load_task(path, library) for path in files]
    world = SymbolicWorld()
    primitives = sum(execute_oracle(world, task) for task in tasks)
    for task in tasks:
        if play_oracle(world, task) != "pass":
            sys.exit(f"{task.id}: the oracle does not pass: nothing to measure")
    if wrong := [str(problem) for report in validate_many(files) for problem in report.problems]:
        sys.exit("\n".join(wrong))

    def each(median: float) -> str:
        return f"{1000 * median / len(files):.2f} ms a pack"

    return [
        Row(
            f"read, check and compile {len(files):,} packs, scenes and catalogue too",
            clock(lambda: [load_task(path, fresh) for fresh in [Library()] for path in files], repeats),
            "15 ms a pack",
            each,
        ),
        Row(
            "the same with every validator (`iwkit validate`)",
            clock(lambda: validate_many(files), repeats),
            "15 ms a pack",
            each,
        ),
        Row(
            "their oracles' commands in the bare symbolic world",
            clock(lambda: [execute_oracle(world, task) for task in tasks], repeats),
            "1,727 primitives/s",
            lambda median: f"{primitives / median:,.0f} primitives/s",
        ),
        Row(
            "their oracles' episodes in closed loop, scripted human, scored",
            clock(lambda: [play_oracle(world, task) for task in tasks], repeats),
            "8.3 ms a pack",
            each,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packs", type=int, default=1_000, help="how many (default 1000)")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is measured (default 3)")
    parser.add_argument("--keep", type=Path, help="folder for the packs")
    given = parser.parse_args()
    if given.packs < 1 or given.repeats < 1:
        parser.error("--packs and --repeats must be at least 1")
    with tempfile.TemporaryDirectory() as folder:
        files = write_packs(given.keep or Path(folder), given.packs)
        load = os.getloadavg()[0]
        found = measure(files, given.repeats)
    print(f"{stamp(given.repeats, load)}, time of the processor\n")
    print("| work | median | min to max | target | scaled |\n| --- | --- | --- | --- | --- |")
    for row in found:
        print("| " + " | ".join(row.cells()) + " |")


if __name__ == "__main__":
    main()
