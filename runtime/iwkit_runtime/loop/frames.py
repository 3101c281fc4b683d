"""Which frames of an action are kept, and which of them a turn shows (EVAL-5; paper C.2.1, frame selection)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

PER_ACTION = 4
"""Frames of one action, the true result frame among them."""
PER_TURN = 32
"""Frames of one turn at most."""
NEWEST = 8
"""Of more than that, this many newest are kept; the others are sampled from the older ones."""


@dataclass(frozen=True, slots=True)
class FrameRef:
    """One picture: `digest` names its file, `index` is its place in the interval of its action (from 0).

    `kind` says why it was kept: `sample`, `look_hold` (the gaze rests on what was to be read) or `result` (the last).
    """

    digest: str
    index: int
    kind: str


class Studio(Protocol):
    """Takes the pictures of a world. A world without pictures has none."""

    def begin(self) -> None:
        """The world was reset."""

    def shoot(self, primitive: str) -> tuple[FrameRef, ...]:
        """Pictures of the command just executed, safe on disk."""

    def trajectory(self) -> str:
        """The digest of the interval of the command just executed, safe on disk."""


def picked(length: int, *, hold: bool = False, count: int = PER_ACTION) -> tuple[tuple[int, str], ...]:
    """Index and kind of the frames of an interval that are kept: spread evenly, the last one always.

    Args:
        length: frames in the interval, at 12 a second.
        hold: the action was a look at something, which it rests on at the end of its way: the last frame is then a
            `look_hold` as well, and carries that name.
    """
    if length <= 0:
        return ()
    chosen = sorted({-(-length * k // count) - 1 for k in range(1, count + 1)})
    last = "look_hold" if hold else "result"
    return tuple((i, last if i == length - 1 else "sample") for i in chosen)


def within_budget(frames: Sequence[FrameRef], limit: int = PER_TURN, newest: int = NEWEST) -> tuple[FrameRef, ...]:
    """At most `limit` frames, oldest first: the newest ones, and an even sample of the older ones.

    A `look_hold` among the older ones is kept before a `sample`, so that what could be read is not replaced.
    """
    if len(frames) <= limit:
        return tuple(frames)
    older, kept = list(frames[:-newest]), limit - newest
    holds = [i for i, f in enumerate(older) if f.kind == "look_hold"][-kept:]
    others = [i for i in range(len(older)) if i not in set(holds)]
    room = kept - len(holds)
    sampled = {others[len(others) * k // room] for k in range(room)} if room else set()
    return (*(older[i] for i in sorted({*holds, *sampled})), *frames[-newest:])
