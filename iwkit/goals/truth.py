"""Whether conditions hold: the truth tables of docs/goal-language.md sections 3 to 5."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from iwkit.goals.terms import (
    AllOf,
    Becomes,
    Before,
    Condition,
    Count,
    Exactly,
    Happened,
    InOrder,
    Match,
    Multiset,
    Never,
    NeverMoved,
    Not,
    Partition,
    Pattern,
    SomeOf,
    State,
    Until,
    Within,
)
from iwkit.goals.timeline import Occurrence, Timeline, View
from iwkit.trace import State as Relations


def holds(timeline: Timeline, condition: Condition, view: View) -> bool:
    """Judge one condition on a view. What cannot be judged must have been refused before (`Timeline.undefined`)."""
    return _HOLDS[type(condition)](timeline, condition, view)


def holds_in(timeline: Timeline, condition: Condition, state: Relations) -> bool:
    """Judge a condition over states in one state."""
    return holds(timeline, condition, View(state))


def assign(options: Sequence[Sequence[Hashable]]) -> list[Hashable] | None:
    """A different value for each position, out of its options; None if there is no such choice."""
    owner: dict[Hashable, int] = {}

    def place(position: int, tried: set[Hashable]) -> bool:
        for value in options[position]:
            if value not in tried:
                tried.add(value)
                if value not in owner or place(owner[value], tried):
                    owner[value] = position
                    return True
        return False

    if not all(place(position, set()) for position in range(len(options))):
        return None
    chosen = {position: value for value, position in owner.items()}
    return [chosen[position] for position in range(len(options))]


# States


def _state(timeline: Timeline, condition: State, view: View) -> bool:
    return any(relation in view.state for relation in timeline.choices(condition))


def _all(timeline: Timeline, condition: AllOf, view: View) -> bool:
    return all(holds(timeline, c, view) for c in condition.conditions)


def _some(timeline: Timeline, condition: SomeOf, view: View) -> bool:
    return any(holds(timeline, c, view) for c in condition.conditions)


def _not(timeline: Timeline, condition: Not, view: View) -> bool:
    return not holds(timeline, condition.condition, view)


def count(timeline: Timeline, condition: Count, view: View) -> int:
    """How many candidates of the first target with several make the state true; a further one is existential."""
    groups = timeline.choices_by_candidate(condition.that)
    return sum(any(relation in view.state for relation in relations) for relations in groups)


def _count(timeline: Timeline, condition: Count, view: View) -> bool:
    found = count(timeline, condition, view)
    if condition.bound == "is":
        return found == condition.number
    return found >= condition.number if condition.bound == "at_least" else found <= condition.number


def things_there(timeline: Timeline, condition: Exactly, state: Relations) -> list[str]:
    """The things considered that are in or on the place."""
    pool = condition.among if condition.among is not None else timeline.vocabulary.movable
    return [thing for thing in pool if (condition.by, thing, condition.place) in state]


def _exactly(timeline: Timeline, condition: Exactly, view: View) -> bool:
    there = things_there(timeline, condition, view.state)
    if len(there) != len(condition.are):
        return False
    wanted = [frozenset(timeline.vocabulary.candidates(target)) for target in condition.are]
    return assign([[thing for thing in there if thing in names] for names in wanted]) is not None


def places_of(condition: Partition, thing: str, state: Relations) -> list[str]:
    """The places of the partition in or on which the thing is."""
    return [place for place, _ in condition.into if (condition.by, thing, place) in state]


def _partition(timeline: Timeline, condition: Partition, view: View) -> bool:
    return all(_exactly(timeline, part, view) for part in condition.parts()) and all(
        len(places_of(condition, thing, view.state)) == 1 for thing in condition.of
    )


def fitting(condition: Match, thing: str, state: Relations) -> list[str]:
    """The names of `to` for which the predicate holds with the thing."""
    return [other for other in condition.to if (condition.by, thing, other) in state]


def _match(_timeline: Timeline, condition: Match, view: View) -> bool:
    return assign([fitting(condition, thing, view.state) for thing in condition.each]) is not None


# Events


def _happened(timeline: Timeline, condition: Happened, view: View) -> bool:
    return timeline.first(condition.pattern, view.low, view.high) is not None


def _never(timeline: Timeline, condition: Never, view: View) -> bool:
    return timeline.first(condition.pattern, view.low, view.high) is None


def _never_moved(timeline: Timeline, condition: NeverMoved, view: View) -> bool:
    return timeline.first(condition.pattern(), view.low, view.high) is None


def _before(timeline: Timeline, condition: Before, view: View) -> bool:
    first = timeline.first(condition.first, view.low, view.high)
    return first is not None and timeline.first(condition.second, view.low, first.pos) is None


def longest_sequence(timeline: Timeline, condition: InOrder, view: View) -> list[Occurrence]:
    """The earliest events that match the patterns in turn, as far as they go."""
    found: list[Occurrence] = []
    low = view.low
    for pattern in condition.patterns:
        occurrence = timeline.first(pattern, low, view.high)
        if occurrence is None:
            break
        found.append(occurrence)
        low = occurrence.pos
    return found


def _sequence(timeline: Timeline, condition: InOrder, view: View) -> bool:
    return len(longest_sequence(timeline, condition, view)) == len(condition.patterns)


def _identity(pattern: Pattern, occurrence: Occurrence) -> Hashable:
    """Two conditions that come true in one step are two events, although they lie at one position."""
    return (occurrence.pos, pattern) if isinstance(pattern, Becomes) else occurrence.pos


def multiset_options(timeline: Timeline, condition: Multiset, view: View) -> list[dict[Hashable, Occurrence]]:
    """For each pattern the events that match it, by what tells them apart."""
    return [
        {_identity(pattern, o): o for o in timeline.between(pattern, view.low, view.high)}
        for pattern in condition.patterns
    ]


def _multiset(timeline: Timeline, condition: Multiset, view: View) -> bool:
    return assign([list(found) for found in multiset_options(timeline, condition, view)]) is not None


def until_states(timeline: Timeline, condition: Until, view: View) -> tuple[tuple[Relations, ...], Occurrence | None]:
    """The states that `until` reads, and the event that ends them."""
    event = timeline.first(condition.event, view.low, view.high)
    return (view.states if event is None else view.states[: 1 + event.step - view.first_step]), event


def _until(timeline: Timeline, condition: Until, view: View) -> bool:
    states, _ = until_states(timeline, condition, view)
    return all(holds_in(timeline, condition.condition, state) for state in states)


def within_range(timeline: Timeline, condition: Within, view: View) -> tuple[int, int] | None:
    """The range `low < pos < high` in which the event must lie; None if it never begins."""
    if condition.window is not None:
        span = timeline.window(condition.window)
        return None if span is None else (max(view.low, span.start - 1), min(view.high, span.stop + 1))
    low, high = view.low, view.high
    if condition.after is not None:
        start = timeline.first(condition.after, low, high)
        if start is None:
            return None
        low = start.pos
    if condition.until is not None:
        stop = timeline.first(condition.until, low, high)
        high = high if stop is None else stop.pos
    return low, high


def _within(timeline: Timeline, condition: Within, view: View) -> bool:
    span = within_range(timeline, condition, view)
    return span is not None and timeline.first(condition.that, *span) is not None


_HOLDS: dict[type, Callable[[Timeline, Any, View], bool]] = {
    State: _state,
    AllOf: _all,
    SomeOf: _some,
    Not: _not,
    Count: _count,
    Exactly: _exactly,
    Partition: _partition,
    Match: _match,
    Happened: _happened,
    Never: _never,
    NeverMoved: _never_moved,
    Before: _before,
    InOrder: _sequence,
    Multiset: _multiset,
    Until: _until,
    Within: _within,
}
