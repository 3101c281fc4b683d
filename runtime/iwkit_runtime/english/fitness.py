"""What can be done with a thing, as far as the legend and its name tell: nobody takes a sideboard or opens a room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from iwkit_runtime.english.lexicon import FURNITURE, LIDDED, PAPERS
from iwkit_runtime.english.scoring import heads
from iwkit_runtime.loop.views import LegendEntry


def _leaf(entry: LegendEntry) -> bool:
    """A door: a place that neither bears nor holds anything."""
    return entry.place and not (entry.top or entry.inside or entry.room)


def movable(entry: LegendEntry) -> bool:
    """Whether it may be taken into the hand. A basket that stands on the floor cannot be told from furniture by the
    legend, so that its name decides."""
    if entry.room or _leaf(entry):
        return False
    return entry.held or not heads(entry) & FURNITURE or (bool(entry.support) and not entry.place)


def surely_movable(entry: LegendEntry) -> bool:
    """Whether a pronoun may mean it as something to be taken: places only where they are seen to lie somewhere."""
    return movable(entry) and (not entry.place or entry.held or bool(entry.support))


def openable(entry: LegendEntry) -> bool:
    """Whether it may have a door or a lid: no room, and nothing that has only a top. What is no place is left to the
    world to refuse."""
    return not entry.room and (entry.inside or not entry.top)


def surely_openable(entry: LegendEntry) -> bool:
    """Whether a pronoun may mean it as something to be opened or closed."""
    return openable(entry) and (entry.inside or _leaf(entry) or bool(heads(entry) & LIDDED))


def holding(entry: LegendEntry) -> bool:
    """Whether something can be put on it or into it."""
    return entry.top or entry.inside


def workable(entry: LegendEntry) -> bool:
    """Whether it may be cut or cooked: no furniture, and nothing that is there to be read."""
    return movable(entry) and not heads(entry) & PAPERS


def _anything(_entry: LegendEntry) -> bool:
    return True


Fits = Callable[[LegendEntry], bool]
NAMED: Final[dict[str, Fits]] = {
    "grab": movable,
    "carry": movable,
    "open": openable,
    "place": _anything,
    "target": holding,
    "work": workable,
    "any": _anything,
}
"""Role of a thing in what is asked for -> whether a thing that is named suits it. `place` is where one goes, `target`
where something is put, `work` what is cut or cooked."""
MEANT: Final[dict[str, Fits]] = {
    **NAMED,
    "grab": surely_movable,
    "carry": surely_movable,
    "open": surely_openable,
    "place": lambda entry: entry.place,
}
"""The same for pronouns."""
UNFIT: Final = {
    "grab": "I cannot pick up {thing}. What should I do?",
    "carry": "I cannot pick up {thing}. What should I do?",
    "work": "I cannot do that with {thing}. What should I do?",
    "open": "{Thing} has nothing to open or close. What should I do?",
}
"""What is said of a thing that was named and does not suit."""
