"""What a model without a memory of its own is sent of earlier turns (EVAL-5; paper C.2.1, frame selection)."""

from __future__ import annotations

from collections.abc import Sequence

from iwkit_runtime.loop.frames import PER_TURN


def selected(counts: Sequence[int], limit: int = PER_TURN) -> list[tuple[int, ...]]:
    """Which pictures of each turn are sent again: the two newest turns that have any are kept whole, the older ones are
    sampled evenly, and all together are at most `limit`. The newest turn may have more than that by itself (an opening
    that a pack pins): then it is kept whole, and nothing else. A second that does not fit whole counts as older.

    Args:
        counts: how many pictures each turn has, oldest first.
    """
    kept: list[tuple[int, ...]] = [() for _ in counts]
    seen = [turn for turn, count in enumerate(counts) if count]
    newest = seen[-2:] if sum(counts[turn] for turn in seen[-2:]) <= limit else seen[-1:]
    for turn in newest:
        kept[turn] = tuple(range(counts[turn]))
    older = [(turn, index) for turn in seen[: len(seen) - len(newest)] for index in range(counts[turn])]
    room = max(0, limit - sum(counts[turn] for turn in newest))
    for turn, index in _even(older, room):
        kept[turn] = (*kept[turn], index)
    return kept


def _even(frames: list[tuple[int, int]], room: int) -> list[tuple[int, int]]:
    """At most so many of the frames, evenly spread, in their order."""
    if len(frames) <= room:
        return frames
    return [frames[len(frames) * k // room] for k in range(room)]
