"""`The second drawer from the top`: which of several like things an ordinal means, by where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from iwkit_runtime.english.phrases import Phrase
from iwkit_runtime.english.words import words
from iwkit_runtime.loop.views import LegendEntry

LAST: Final = -1
_COUNTED: Final = "first second third fourth fifth sixth seventh eighth ninth tenth"
ORDINALS: Final = {word: n for n, word in enumerate(_COUNTED.split(), start=1)} | {"last": LAST}
_ENDS: Final = {"left": ("across", False), "right": ("across", True), "top": ("down", False), "bottom": ("down", True)}
"""Where the counting begins -> along which row, and whether from its end."""
_COUNTING: Final = frozenset({"counting", "counted", "count", "going", "starting", "seen", "reading", "row", "line"})
_ROWS: Final = {
    "down": {"top": 0, "upper": 0, "uppermost": 0, "middle": 1, "bottom": 2, "lower": 2, "lowest": 2},
    "across": {"left": 0, "middle": 1, "right": 2},
    "named": {word: n for word, n in ORDINALS.items() if n != LAST},
}
_BEARINGS: Final = (
    "behind you on your left",
    "on your left",
    "ahead on your left",
    "ahead",
    "ahead on your right",
    "on your right",
    "behind you on your right",
)


@dataclass(frozen=True, slots=True)
class Place:
    """The place in a row that a phrase tells: `number` from 1, LAST for the last; `row` is "" where none is told."""

    number: int
    row: str
    from_end: bool


def place_in_row(said: Phrase) -> tuple[Place, Phrase] | None:
    """The ordinal of a phrase and the phrase without it; None where it has none."""
    at = next((i for i, word in enumerate(said.words) if word in ORDINALS), None)
    numbered = [*said.words].index("number") if "number" in said.words[:-1] else None
    if at is None and numbered is not None and said.words[numbered + 1].isdigit():
        bare = (*said.words[:numbered], *said.words[numbered + 2 :])
        return Place(int(said.words[numbered + 1]), "named", False), replace(said, words=bare)
    if at is None:
        return None
    rest = [w for i, w in enumerate(said.words) if i != at and w not in _COUNTING]
    row, from_end, kept = "", False, []
    for attached in said.attached:
        ends = [w for w in attached.words if w in _ENDS]
        told = set(attached.words) - {"the", "your", "my", *_ENDS, *_COUNTING}
        if ends and not told and attached.preposition in ("from", "at", "to", "on"):
            if attached.preposition == "from" or (row == "" and attached.preposition != "to"):
                row, from_end = _ENDS[ends[0]]
        elif told or attached.preposition not in ("in", "from"):
            kept.append(attached)
    return Place(ORDINALS[said.words[at]], row, from_end), Phrase(tuple(rest), tuple(kept))


def at_place(place: Place, entries: Sequence[LegendEntry]) -> tuple[LegendEntry, ...]:
    """The things that may be at that place in their row: one, none where the row is shorter, all where there is no
    telling in which order they stand."""
    if len(entries) < 2:
        return tuple(entries) if place.number in (1, LAST) else ()
    rows = [place.row] if place.row else ["named", "down"]
    ordered = next(filter(None, (_in_order(row, entries) for row in rows)), None)
    if ordered is None:
        return tuple(entries)
    if place.from_end:
        ordered = ordered[::-1]
    at = len(ordered) - 1 if place.number == LAST else place.number - 1
    return (ordered[at],) if 0 <= at < len(ordered) else ()


def _in_order(row: str, entries: Sequence[LegendEntry]) -> list[LegendEntry] | None:
    """The things in their order along a row; None unless each has a place of its own. What is not in view is in no row
    that one could count, if others are."""
    seen = [e for e in entries if e.visible] or list(entries)
    for position in (_told, _seen) if row == "across" else (_told,):
        places = [position(row, e) for e in seen]
        if None not in places and len(set(places)) == len(places):
            return [
                e for _, e in sorted(zip(places, seen, strict=True), key=lambda pair: (pair[0] or 0, pair[1].handle))
            ]
    return None


def _told(row: str, entry: LegendEntry) -> int | None:
    for text in (entry.description, *((entry.support,) if row == "down" else ())):
        found = [_ROWS[row][w] for w in words(text) if w in _ROWS[row]]
        if found:
            return found[0]
    return None


def _seen(_row: str, entry: LegendEntry) -> int | None:
    return _BEARINGS.index(entry.bearing) if entry.bearing in _BEARINGS else None
