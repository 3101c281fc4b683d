"""Which frames of an action are kept, and which of them a turn shows (EVAL-5; paper C.2.1, frame selection)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from iwkit.compile import CompiledTask
from iwkit.ledger import Record

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
    """Keeps the trajectories of a world with a body, and takes pictures if it can. Other worlds have none."""

    def begin(self, task: CompiledTask) -> str:
        """The world was reset to this task: the digest of the state it begins in, safe on disk."""

    def shoot(self, primitive: str) -> tuple[FrameRef, ...]:
        """Pictures of the command just executed, safe on disk; none if it takes no pictures."""

    def picture(self, digest: str) -> bytes:
        """The bytes of a picture that was taken (PNG)."""

    def interval(self) -> Record:
        """What the record says of the interval of the command just executed: the digest of its `trajectory`, safe on
        disk, and how many metres were `walked` in it, where that is measured."""


def picked(still: Sequence[bool], *, hold: bool = False, count: int = PER_ACTION) -> tuple[tuple[int, str], ...]:
    """Index and kind of the frames of an interval that are kept: spread evenly, the last one always.

    Of frames between which nothing moves, only the last counts, so that no two are the same picture for that reason.

    Args:
        still: for each frame of the interval, at 12 a second, whether it is just like the one before.
        hold: the action was a look at something: the end of its last rest is kept as `look_hold`. Where the look ends
            with it, the result carries that name.
    """
    if not still:
        return ()
    ends = [n - 1 for n in range(1, len(still)) if not still[n]] + [len(still) - 1]
    chosen = {ends[n]: "sample" for n in _spread(len(ends), count)}
    chosen[ends[-1]] = "result"
    if hold:
        rest = next((n for n in reversed(ends) if still[n]), ends[-1])
        before = [n for n in ends[:-1] if n < rest]
        others = count - len({rest, ends[-1]})
        chosen = {before[n]: "sample" for n in _spread(len(before), others + 1)[:others]}
        chosen |= {ends[-1]: "result", rest: "look_hold"}
    return tuple(sorted(chosen.items()))


def _spread(length: int, count: int) -> list[int]:
    """Up to `count` of so many indices, evenly spread, the last one among them."""
    return sorted({-(-length * k // count) - 1 for k in range(1, count + 1)}) if length and count else []


def distinct(frames: Sequence[FrameRef]) -> tuple[FrameRef, ...]:
    """Of frames that follow one another with the same picture, the last one, as a `look_hold` if any of them is."""
    found: list[FrameRef] = []
    for frame in frames:
        if found and found[-1].digest == frame.digest:
            held = "look_hold" in (found.pop().kind, frame.kind)
            frame = FrameRef(frame.digest, frame.index, "look_hold" if held else frame.kind)  # noqa: PLW2901
        found.append(frame)
    return tuple(found)


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
