"""What is run: a compiled pack with where it comes from and how it stands to its lock."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from iwkit.compile import CompiledTask, load_task
from iwkit.digest import digest
from iwkit.lock import uses

Freeze = Literal["frozen", "code changed", "draft"]
KEPT = 128
"""Packs that a worker keeps."""


@dataclass(frozen=True)
class Source:
    """A pack to run: the compiled task, the file it came from, and the digest of the pack with all that it uses.

    `freeze` says how it stands to its lock: as frozen, the same but with other code than its controls, or a draft.
    `reference` is the length of the shortest known way, as the lock has it. Results carry both.
    """

    task: CompiledTask
    path: Path
    uses: str
    freeze: Freeze
    reference: int | None = None

    def of_seed(self, seed: int) -> Source:
        """What a seed plays of the pack: the pack itself, or its variant. The lock has no shortest way of a variant.

        Raises:
            Problems: the variant does not compile.
        """
        if seed % self.task.pack.variants == 0:
            return self
        task = load_task(self.path, self.task.library, seed)
        return replace(self, task=task, uses=digest(uses(task, task.library)), reference=None)

    @cached_property
    def _packed(self) -> bytes:
        return pickle.dumps(tuple(getattr(self, each.name) for each in fields(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        """It goes along with each of its episodes. Packed once, and unpacked once where it comes to, that takes no time
        beside playing, and what is kept there of a task is found again."""
        return _unpacked, (self._packed,)


@lru_cache(maxsize=KEPT)
def _unpacked(packed: bytes) -> Source:
    return Source(*pickle.loads(packed))  # noqa: S301  this run's own calling process packed it
