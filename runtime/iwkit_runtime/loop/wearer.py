"""The wearer's own plan under WATCH (EVAL-3): one step a tick, never skipped, with authored speech at its cursors."""

from __future__ import annotations

from iwkit.compile import Cursor

TRIES = 3
"""A refused step is tried twice more; then the plan halts."""


class Plan:
    """A cursor over the plan. `next` is the step to come, None when the plan is over or has halted."""

    def __init__(self, steps: tuple[Cursor, ...]) -> None:
        self._steps = steps
        self._at = 0
        self._failed = 0
        self._announced = -1
        self._pending: tuple[str, ...] = ()

    @property
    def halted(self) -> bool:
        return self._failed >= TRIES

    @property
    def next(self) -> Cursor | None:
        return None if self.halted or self._at >= len(self._steps) else self._steps[self._at]

    def tried(self, ok: bool) -> None:
        """The step at the cursor was executed."""
        if ok:
            self._pending = self._steps[self._at].after
            self._at += 1
            self._failed = 0
        else:
            self._failed += 1

    def cues(self) -> tuple[str, ...]:
        """What is to be said now: after the step just done, and before the next one. Each cue is given once."""
        said, self._pending = self._pending, ()
        if self.next is not None and self._at > self._announced:
            self._announced = self._at
            said = (*said, *self.next.before)
        return said
