"""What a state tells of a thing, in words: where it is, or what is the case in place of a relation that is not."""

from __future__ import annotations

from iwkit.goals.wording import complement, listed, relation_text, thing_text
from iwkit.trace import Relation
from iwkit.trace import State as Relations

_PLACES = ("held", "on", "inside", "on_floor")
"""Predicates that say where a thing is; only where none of them is known its room does."""
_WHERE = frozenset({*_PLACES, "in_room"})
OF_HANDOFF = frozenset({"at_baseline", "unmoved"})
"""Predicates that compare with the handoff."""
_ONE_OF_MANY = frozenset({"attached", "contains", "received", "in_cycle"})
"""Predicates whose other truths about a thing tell why this one is false."""
_OPPOSITE = {"open": "closed", "closed": "open", "running": "off", "off": "running"}


def place_of(predicate: str, thing: str, state: Relations) -> str:
    """Where the thing is, as the state has it, for a predicate that asks for that; "" if it is not known."""
    if predicate not in _WHERE:
        return ""
    found = [r for word in _PLACES for r in _known(state, word, thing)]
    rooms = _known(state, "in_room", thing)
    best = rooms or found if predicate == "in_room" else found or rooms
    return listed(map(complement, best), " and ")


def _known(state: Relations, predicate: str, thing: str) -> list[Relation]:
    """What the state says of the thing with that predicate."""
    return sorted(relation for relation in state if relation[:2] == (predicate, thing))


def instead(relation: Relation, state: Relations) -> str:
    """What is the case in place of a relation; "" if nothing tells."""
    predicate, first = relation[:2]
    place = place_of(predicate, first, state)
    if place:
        return f"{thing_text(first)} is {place}"
    if predicate == "sitting":
        found = sorted(r for r in state if r[0] == "sitting")
    elif predicate in _OPPOSITE:
        found = _known(state, _OPPOSITE[predicate], first)
    else:
        found = _known(state, predicate, first) if predicate in _ONE_OF_MANY else []
    return listed(map(relation_text, found), " and ")


def since_handoff(relation: Relation, state: Relations, baseline: Relations) -> str:
    """Where a thing was at the handoff and where it is."""
    then, now = (place_of("on", relation[1], at) for at in (baseline, state))
    if not then or not now:
        return relation_text(relation, False)
    if then == now:
        return f"{relation[1]} is {now} as at the handoff, but not in the same spot"
    return f"{relation[1]} is {now}, but was {then} at the handoff"
