"""What holds for all tests, and episodes of the physical world that many of them look at."""

from __future__ import annotations

import fcntl
import gc
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from iwkit.garbage import uncollected
from iwkit.ledger import comparable, read_records
from iwkit.runfolder import attempt_path, cell_name
from iwkit_runtime.runs import Config, no_pictures, run
from iwkit_runtime.selection import select

pytest.register_assert_rewrite("goal_comparison", "journals", "policies", "two_worlds", "workshop")

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
"""How long an example takes depends on what else the machine does: no test asserts a time."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """All tests and modules stay to the end: the garbage collector need not go through them again and again."""
    with uncollected():
        found = yield
    gc.freeze()
    return found


@pytest.fixture(scope="session")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The folder of a run of one task in the physical world, with pictures where they can be drawn, played with the
    rules human and by default the oracle. It is played once for all tests of all workers, so none may change it."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "episodes"
    shared.mkdir(exist_ok=True)

    def played(pack: str, assistant: str = "oracle") -> Path:
        folder = shared / f"{pack}-{assistant}"
        with folder.with_suffix(".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.fstat(lock.fileno()).st_size:  # nobody has played it while this one waited
                pictures = no_pictures("oracle", "physical") is None
                config = Config(assistant, "rules", "physical", draft=True, pictures=pictures)
                run(select([pack], draft=True), config, folder, lambda *_: None)
                lock.write("played")
        return folder

    return played


def _kept(folder: Path, pack: str) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    records = [comparable(r) for r in read_records(attempt_path(folder, cell_name(pack, 0), 1))[0]]
    assert records[-1]["status"] == "pass"
    del records[0]["draft"]
    files = {f"frames/{digest}.png" for r in records for digest in r.get("frames", ())}
    files |= {f"trajectories/{r[key]}.json.gz" for r in records for key in ("start", "trajectory") if key in r}
    return records, {name: (folder / name).read_bytes() for name in files}


@pytest.fixture(scope="session")
def kept() -> Callable[[Path, str], tuple[list[dict[str, Any]], dict[str, bytes]]]:
    """What must be the same whenever an episode is played: its records, and the frames and trajectories they name."""
    return _kept
