"""Where workers can be, by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from iwkit.errors import UsageError
from iwkit.suggest import did_you_mean
from iwkit_runtime.workers.crew import Place
from iwkit_runtime.workers.processes import Processes


class Executor(NamedTuple):
    """A kind of place, and how many cores it has (`UsageError`: the cluster cannot be reached). `shared`: its workers
    have the run folder, and write into it themselves."""

    place: Callable[[], Place]
    cores: Callable[[], int]
    shared: bool


def _cores_here() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cluster() -> Place:
    from iwkit_runtime.workers.cluster import Cluster  # noqa: PLC0415  Ray is slow to import, and only wanted here

    return Cluster()


def _cores_of_cluster() -> int:
    from iwkit_runtime.workers.cluster import connect  # noqa: PLC0415

    return connect()


EXECUTORS: Final[Mapping[str, Executor]] = {
    "processes": Executor(Processes, _cores_here, shared=True),
    "ray": Executor(_cluster, _cores_of_cluster, shared=False),
}


def executor(name: str) -> Executor:
    """A kind of place by name.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in EXECUTORS:
        meant = did_you_mean(name, EXECUTORS)
        raise UsageError(f"no executor {name!r}: use {' or '.join(EXECUTORS)}{meant and f'; {meant}'}")
    return EXECUTORS[name]
