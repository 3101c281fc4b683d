"""Whether two conditions over states can hold at once, as far as their form proves that they cannot."""

from __future__ import annotations

from typing import Final

from iwkit.goals.terms import AllOf, Condition, Count, Name, Not, SomeOf, State

OPPOSITE: Final = {"open": "closed", "closed": "open", "running": "off", "off": "running"}
"""Predicate of one thing -> the one that is false of it whenever this is true."""


def exclusive(first: Condition, second: Condition) -> bool:
    """Whether no state satisfies both. False means: not proved."""
    return _excludes(first, second) or _excludes(second, first)


def _excludes(first: Condition, second: Condition) -> bool:
    match first:
        case AllOf():
            return any(exclusive(part, second) for part in first.conditions)
        case SomeOf():
            return all(exclusive(part, second) for part in first.conditions)
        case Not():
            return implies(second, first.condition)
        case State():
            return isinstance(second, State) and _opposite(first, second)
        case Count():
            return isinstance(second, Count) and first.that == second.that and _apart(first, second)
    return False


def implies(first: Condition, second: Condition) -> bool:
    """Whether the second holds wherever the first does. False means: not proved."""
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


def _opposite(first: State, second: State) -> bool:
    """Open and closed, of one named thing: some cupboard may be open and some closed."""
    named = all(isinstance(arg, Name) for arg in first.args)
    return named and first.args == second.args and OPPOSITE.get(first.predicate) == second.predicate


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
