"""Hand-written traces for tests of goals and packs: what happened, in a few lines of plain data.

    initial: [[on, cup, table], [closed, fridge]]
    opening: [{events: [{opened: fridge}], add: [[open, fridge]], remove: [[closed, fridge]]}]
    baseline: [[at_baseline, cup]]
    steps: [{events: [{grabbed: {object: cup, from: table}}, {moved: cup, assisted: true}], remove: [[on, cup, table]]}]

`initial` is the state at reset; each step changes the state before it. `baseline` adds relations that exist from the
handoff on. Events are numbered from 1; an event is written in the short form (its first role) or the long one (roles
by name), a role that holds a list as a list. `received` is written flat: `[received, pot, rice, water]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from iwkit.events import EVENT_KINDS
from iwkit.goals.plain import GoalSyntaxError
from iwkit.goals.terms import Data, Path
from iwkit.predicates import PREDICATES
from iwkit.suggest import did_you_mean
from iwkit.trace import Event, Relation, RoleValue, State, Step, Trace

_PARTS = ("initial", "opening", "baseline", "steps")
_STEP_PARTS = ("events", "add", "remove")


def load_trace(data: Data) -> Trace:
    """The trace that the data describes.

    Raises:
        GoalSyntaxError: G540, the data is not in this form.
    """
    parts = _mapping(data, (), "a trace", _PARTS)
    initial = frozenset(_relations(parts.get("initial", []), ("initial",)))
    numbers = iter(range(1, 1_000_000))
    opening = tuple(_steps(parts.get("opening", []), ("opening",), initial, numbers))
    last = opening[-1].state if opening else initial
    baseline = last | frozenset(_relations(parts.get("baseline", []), ("baseline",)))
    interaction = tuple(_steps(parts.get("steps", []), ("steps",), baseline, numbers))
    return Trace(initial, opening + interaction, len(opening), baseline)


def _bad(message: str, path: Path, hint: str = "") -> GoalSyntaxError:
    return GoalSyntaxError("G540", message, path, hint)


def _mapping(data: Data, path: Path, what: str, known: tuple[str, ...]) -> dict[str, Data]:
    if not isinstance(data, dict):
        raise _bad(f"{what} is a mapping of " + ", ".join(known), path)
    for key in data:
        if key not in known:
            raise _bad(f"{what} has no `{key}`", path, did_you_mean(key, known))
    return data


def _list(data: Data, path: Path) -> list[Data]:
    if not isinstance(data, list):
        raise _bad("a list belongs here", path, "write [ ... ]")
    return data


def _text(data: Data, path: Path) -> str:
    if not isinstance(data, str):
        raise _bad(f"text belongs here, not {data!r}", path, "write it in quotes")
    return data


def _steps(data: Data, path: Path, state: State, numbers: Iterator[int]) -> Iterator[Step]:
    for i, item in enumerate(_list(data, path)):
        place = (*path, i)
        parts = _mapping(item, place, "a step", _STEP_PARTS)
        removed = frozenset(_relations(parts.get("remove", []), (*place, "remove")))
        if not removed <= state:
            raise _bad(f"{sorted(removed - state)[0]} is not there to remove", (*place, "remove"))
        state = state - removed | frozenset(_relations(parts.get("add", []), (*place, "add")))
        events = _list(parts.get("events", []), (*place, "events"))
        yield Step(tuple(_event(e, (*place, "events", j), next(numbers)) for j, e in enumerate(events)), state)


def _relations(data: Data, path: Path) -> Iterator[Relation]:
    for i, item in enumerate(_list(data, path)):
        words = tuple(_text(word, (*path, i, j)) for j, word in enumerate(_list(item, (*path, i))))
        predicate = PREDICATES.get(words[0]) if words else None
        if predicate is None:
            raise _bad(f"{list(words)} begins with no predicate", (*path, i), did_you_mean(words[:1], PREDICATES))
        flat = predicate.args[-1] == "substances"
        if len(words) != 1 + len(predicate.args) and not (flat and len(words) > 2):
            raise _bad(f"`{words[0]}` takes " + ", ".join(predicate.args), (*path, i))
        yield words


def _event(data: Data, path: Path, number: int) -> Event:
    kinds = [key for key in data if key != "assisted"] if isinstance(data, dict) else []
    if len(kinds) != 1 or not isinstance(data.get("assisted", False), bool):
        raise _bad("an event is a mapping of its kind to its roles, and `assisted: true` or not", path)
    kind = kinds[0]
    if kind not in EVENT_KINDS:
        raise _bad(f"there is no kind of event `{kind}`", path, did_you_mean(kind, EVENT_KINDS))
    order = tuple(role for role, _ in EVENT_KINDS[kind].roles)
    value = data[kind]
    given = _mapping(value, (*path, kind), f"`{kind}`", order) if isinstance(value, dict) else {order[0]: value}
    roles = {role: _value(given[role], (*path, kind, role)) for role in order if role in given}
    return Event(number, kind, roles, data.get("assisted", False))


def _value(data: Data, path: Path) -> RoleValue:
    if isinstance(data, list):
        return tuple(_text(word, (*path, i)) for i, word in enumerate(data))
    return _text(data, path)
