"""Whether two conditions over states can hold at once, as far as their form proves that they cannot."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from iwkit.goals.terms import AllOf, Condition, Count, Happened, Name, Never, NeverMoved, Not, SomeOf, State

OPPOSITE: Final = {"open": "closed", "closed": "open", "running": "off", "off": "running"}
"""Predicate of one thing -> the one that is false of it whenever this is true."""
PLACES: Final = frozenset({"on", "inside"})
OFF_FURNITURE: Final = frozenset({"held", "on_floor"})
"""Where a thing is that no fixture carries."""
NOTHING: Final[frozenset[str]] = frozenset()


def exclusive(first: Condition, second: Condition, fixtures: AbstractSet[str] = NOTHING) -> bool:
    """Whether no state satisfies both. False means: not proved. `fixtures` are names of fixtures and rooms: a thing is
    on or in one of them at most."""
    first, second = _plain(first), _plain(second)
    return _excludes(first, second, fixtures) or _excludes(second, first, fixtures)


def _plain(condition: Condition) -> Condition:
    """What never happened, as a `not`."""
    match condition:
        case Never():
            return Not(Happened(condition.pattern))
        case NeverMoved():
            return Not(Happened(condition.pattern()))
    return condition


def _excludes(first: Condition, second: Condition, fixtures: AbstractSet[str]) -> bool:
    match first:
        case AllOf():
            return any(exclusive(part, second, fixtures) for part in first.conditions)
        case SomeOf():
            return all(exclusive(part, second, fixtures) for part in first.conditions)
        case Not():
            return implies(second, first.condition)
        case State():
            return isinstance(second, State) and (_opposite(first, second) or _elsewhere(first, second, fixtures))
        case Count():
            return isinstance(second, Count) and first.that == second.that and _apart(first, second)
    return False


def implies(first: Condition, second: Condition) -> bool:
    """Whether the second holds wherever the first does. False means: not proved."""
    first, second = _plain(first), _plain(second)
    if first == second:
        return True
    if isinstance(second, AllOf):
        return all(implies(first, part) for part in second.conditions)
    if isinstance(first, SomeOf):
        return all(implies(part, second) for part in first.conditions)
    if isinstance(second, Not) and exclusive(first, second.condition):
        return True
    if isinstance(first, AllOf) and any(implies(part, second) for part in first.conditions):
        return True
    return isinstance(second, SomeOf) and any(implies(first, part) for part in second.conditions)


def states(condition: Condition) -> Iterator[State]:
    """The states that hold wherever the condition does."""
    match condition:
        case AllOf():
            for part in condition.conditions:
                yield from states(part)
        case State():
            yield condition


def _opposite(first: State, second: State) -> bool:
    """Open and closed, of one named thing: some cupboard may be open and some closed."""
    named = all(isinstance(arg, Name) for arg in first.args)
    return named and first.args == second.args and OPPOSITE.get(first.predicate) == second.predicate


def _elsewhere(first: State, second: State, fixtures: AbstractSet[str]) -> bool:
    """One named thing in two places that exclude each other."""
    if first.args[0] != second.args[0] or not isinstance(first.args[0], Name):
        return False
    places = (_place(first, fixtures), _place(second, fixtures))
    if None in places or places[0] == places[1]:
        return False
    rooms = [state.predicate == "in_room" for state in (first, second)]
    return all(rooms) or not any(rooms)


def _place(state: State, fixtures: AbstractSet[str]) -> tuple[str, str] | None:
    """Where the state says that its thing is, if it is a place that excludes others."""
    if state.predicate in OFF_FURNITURE:
        return state.predicate, ""
    if state.predicate in PLACES | {"in_room"}:
        place = state.args[1]
        if isinstance(place, Name) and place.name in fixtures:
            return state.predicate, place.name
    return None


def _apart(first: Count, second: Count) -> bool:
    (low, high), (other_low, other_high) = _range(first), _range(second)
    return high < other_low or other_high < low


def _range(count: Count) -> tuple[float, float]:
    bounds = {
        "is": (count.number, count.number),
        "at_least": (count.number, float("inf")),
        "at_most": (0, count.number),
    }
    return bounds[count.bound]
