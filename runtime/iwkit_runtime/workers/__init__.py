"""Episodes in worker processes, of this machine or of a Ray cluster, while the calling process alone asks models.

A worker has its own worlds and plays the cells it is given; where an agent is a model, it hands the prompt to the
calling process and waits, and its other episodes go on. So rates, budget and cache hold for all episodes together, and
the number in flight does not depend on the cores. Who plays is no part of what identifies a result.
"""

from iwkit_runtime.workers.crew import Crew
from iwkit_runtime.workers.inside import Caller, RemoteJournal, Stage
from iwkit_runtime.workers.keeping import FarJob, FolderKeeper, fresh_files
from iwkit_runtime.workers.places import EXECUTORS, Executor, executor

__all__ = [
    "EXECUTORS",
    "Caller",
    "Crew",
    "Executor",
    "FarJob",
    "FolderKeeper",
    "RemoteJournal",
    "Stage",
    "executor",
    "fresh_files",
]
