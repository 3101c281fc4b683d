"""What each operator takes and how it is read from plain data (docs/goal-language.md sections 2 to 6).

The tables `OPERATORS` and `SLOTS` say it all; `iwkit.goals.schema` makes the JSON Schema from the same tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from iwkit.events import EVENT_KINDS, RoleKind
from iwkit.goals.plain import describe, fail, items_of, keys_of, one_key, word
from iwkit.goals.terms import (
    ANY,
    AllOf,
    AnyOf,
    Arg,
    Becomes,
    Before,
    Bound,
    By,
    Category,
    Condition,
    Count,
    Data,
    EventPattern,
    Exactly,
    Happened,
    InOrder,
    Match,
    Multiset,
    Name,
    Never,
    NeverMoved,
    Not,
    Partition,
    Path,
    Pattern,
    RoleTest,
    SomeOf,
    State,
    Target,
    Until,
    Within,
    Word,
    Words,
    children,
)
from iwkit.predicates import PREDICATES, ArgKind
from iwkit.source.patterns import NAME
from iwkit.suggest import FOR_CONDITIONS, FOR_EVENTS, did_you_mean, snake

MAX_DEPTH = 16
"""How deeply conditions may be nested."""
WINDOW_KEYS = ("during", "outside")
TARGET_KEYS = ("category", "any_of")
WORD_ROLES: frozenset[RoleKind] = frozenset({"substance", "command", "step", "code", "word"})
"""Roles whose value is a plain word, not an entity."""

Slot = Literal[
    "condition", "state_condition", "state", "conditions", "pattern", "patterns", "target", "targets",
    "name", "names", "number", "by_place", "by_match", "into",
]  # fmt: skip
"""What may stand in one place of an operator."""


@dataclass(frozen=True, slots=True)
class Operator:
    """`slots`: one value, a list of exactly two, or a mapping of parts. Of `choice` exactly one part is given."""

    build: Callable[..., Condition]
    slots: Slot | tuple[Slot, Slot] | Mapping[str, Slot]
    optional: frozenset[str] = field(default=frozenset())
    choice: tuple[str, ...] = ()

    def required(self) -> tuple[str, ...]:
        return tuple(k for k in self.slots if k not in self.optional and k not in self.choice)


def _name(data: Data, path: Path, _depth: int = 0) -> str:
    text = word(data, path, "a name")
    if text == ANY:
        fail("G507", "`any` stands only in event patterns", path, "name the entity, or use category or any_of")
    if not re.fullmatch(NAME, text):
        like = snake(text)
        hint = f", such as {like}" if re.fullmatch(NAME, like) else ""
        fail("G506", f"`{text[:80]}` is not a name", path, f"names are lower_snake: a-z, 0-9 and _{hint}")
    return text


def _names(data: Data, path: Path, _depth: int = 0) -> tuple[str, ...]:
    found: list[str] = []
    for i, item in enumerate(items_of(data, path, "a list of names")):
        name = _name(item, (*path, i))
        if name in found:
            fail("G509", f"`{name}` is in the list twice", (*path, i))
        found.append(name)
    return tuple(found)


def _target(data: Data, path: Path, _depth: int = 0) -> Target:
    if not isinstance(data, dict):
        return Name(_name(data, path))
    key, value = one_key(data, path, "a target", "{category: mug}")
    if key == "category":
        return Category(_name(value, (*path, key)))
    if key != "any_of":
        hint = did_you_mean(key, TARGET_KEYS) or "use category or any_of"
        fail("G506", f"a target has no `{key}`", (*path, key), hint)
    return AnyOf(_names(value, (*path, key)))


def _targets(data: Data, path: Path, _depth: int = 0) -> tuple[Target, ...]:
    return tuple(_target(t, (*path, i)) for i, t in enumerate(items_of(data, path, "a list of targets")))


def _number(data: Data, path: Path, _depth: int = 0) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or data < 0:
        got = data if isinstance(data, int | float) and not isinstance(data, bool) else describe(data)
        fail("G511", f"a count is a whole number from 0 up, not {got}", path)
    return data


def _one_of(words: tuple[str, ...]) -> Callable[[Data, Path, int], str]:
    def parse(data: Data, path: Path, _depth: int) -> str:
        if data not in words:
            hint = "one of " + ", ".join(words)
            fail("G505", f"`by` does not take {describe(data)}", path, did_you_mean(data, words) or hint)
        return cast(str, data)

    return parse


def _into(data: Data, path: Path, _depth: int) -> tuple[tuple[str, tuple[Target, ...]], ...]:
    if not isinstance(data, dict):
        fail("G505", f"`into` is a mapping of places to lists, not {describe(data)}", path)
    if not data:
        fail("G508", "`into` needs at least one place", path)
    return tuple((_name(k, path), _targets(v, (*path, k))) for k, v in data.items())


# Conditions


def _args(predicate: str, data: Data, path: Path) -> tuple[Arg, ...]:
    kinds = PREDICATES[predicate].args
    order = ", ".join(kinds)
    if len(kinds) == 1:
        if isinstance(data, list | tuple):
            fail("G505", f"`{predicate}` takes one argument ({order}), not a list", path, "write it bare")
        return (_arg(kinds[0], data, path),)
    if not isinstance(data, list | tuple) or len(data) != len(kinds):
        got = f"{len(data)}" if isinstance(data, list | tuple) else describe(data)
        fail("G505", f"`{predicate}` takes a list of {len(kinds)} ({order}), not {got}", path)
    return tuple(_arg(kind, item, (*path, i)) for i, (kind, item) in enumerate(zip(kinds, data, strict=True)))


def _arg(kind: ArgKind, data: Data, path: Path) -> Arg:
    if kind == "substances":
        items = items_of(data, path, "a list of substances")
        return Words(tuple(_name(item, (*path, i)) for i, item in enumerate(items)))
    if kind == "substance":
        return Word(_name(data, path))
    return Name(_name(data, path)) if kind == "room" else _target(data, path)


def _state(data: Data, path: Path, depth: int) -> State:
    condition = read_condition(data, path, depth)
    if not isinstance(condition, State):
        fail("G505", "a single state belongs here, not an operator", path, "such as {on: [cup, table]}")
    return condition


def _state_condition(data: Data, path: Path, depth: int) -> Condition:
    condition = read_condition(data, path, depth)
    culprit = _first_event_operator(condition)
    if culprit is not None:
        message = f"`{culprit}` is about events; `until` and `becomes` take conditions over states only"
        fail("G513", message, path)
    return condition


def _first_event_operator(condition: Condition) -> str | None:
    if is_over_states(condition):
        return None
    inner = (_first_event_operator(c) for c in children(condition))
    return next((found for found in inner if found), next(iter(condition.to_data())))


def is_over_states(condition: Condition) -> bool:
    """No operator over events stands anywhere in the condition."""
    inner = children(condition)
    if inner:
        return all(map(is_over_states, inner))
    return isinstance(condition, State | Count | Exactly | Partition | Match)


def _conditions(data: Data, path: Path, depth: int) -> tuple[Condition, ...]:
    items = items_of(data, path, "a list of conditions")
    return tuple(read_condition(c, (*path, i), depth) for i, c in enumerate(items))


def read_condition(data: Data, path: Path, depth: int) -> Condition:
    if depth > MAX_DEPTH:
        fail("G514", f"conditions are nested more than {MAX_DEPTH} deep", path)
    key, value = one_key(data, path, "a condition", "{on: [cup, table]}")
    inner = (*path, key)
    if key in PREDICATES:
        return State(key, _args(key, value, inner))
    operator = OPERATORS.get(key)
    if operator is None:
        hint = did_you_mean(key, [*OPERATORS, *PREDICATES], FOR_CONDITIONS)
        if key in EVENT_KINDS or key == "becomes":
            hint = f"`{key}` is a kind of event: write {{happened: {{{key}: ...}}}}"
        fail("G502", f"there is no operator or predicate `{key}`", inner, hint)
    return _operator(key, operator, value, inner, depth + 1)


def _operator(key: str, operator: Operator, data: Data, path: Path, depth: int) -> Condition:
    slots = operator.slots
    if isinstance(slots, str):
        return operator.build(SLOTS[slots](data, path, depth))
    if isinstance(slots, tuple):
        items = items_of(data, path, f"`{key}`", least=2, most=2)
        return operator.build(
            *(SLOTS[s](d, (*path, i), depth) for i, (s, d) in enumerate(zip(slots, items, strict=True)))
        )
    parts = keys_of(data, path, f"`{key}`", slots)
    missing = [k for k in operator.required() if k not in parts]
    if missing:
        fail("G510", f"`{key}` needs `{missing[0]}`", path)
    if operator.choice and sum(k in parts for k in operator.choice) != 1:
        fail("G510", f"`{key}` needs exactly one of " + ", ".join(operator.choice), path)
    values = {k: SLOTS[slots[k]](v, (*path, k), depth) for k, v in parts.items()}
    try:
        return operator.build(**values)
    except _MisbuiltError as problem:
        fail(problem.code, problem.message, path, problem.hint)


class _MisbuiltError(Exception):
    """Parts that are fine each, but not together; the caller adds the place."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        self.code, self.message, self.hint = code, message, hint
        super().__init__(message)


def _build_count(that: State, **bounds: int) -> Count:
    ((bound, number),) = bounds.items()
    if not any(isinstance(arg, Category | AnyOf) for arg in that.args):
        message = "`count` needs a state that has a target with several candidates"
        raise _MisbuiltError("G512", message, "write that target as category or any_of")
    return Count(that, cast(Bound, bound), number)


def _build_exactly(are: tuple[Target, ...], among: tuple[str, ...] | None = None, **place: str) -> Exactly:
    ((by, name),) = place.items()
    return Exactly("inside" if by == "in" else "on", name, are, among)


def _build_within(
    that: Pattern, after: Pattern | None = None, until: Pattern | None = None, window: str | None = None
) -> Within:
    if window is not None and (after is not None or until is not None):
        raise _MisbuiltError("G510", "`within` takes `window`, or `after` and `until`, not both", "")
    return Within(that, after, until, window)


# Event patterns


def read_pattern(data: Data, path: Path, depth: int) -> Pattern:
    if depth > MAX_DEPTH:
        fail("G514", f"conditions are nested more than {MAX_DEPTH} deep", path)
    key, value = one_key(data, path, "an event pattern", "{opened: fridge}")
    inner = (*path, key)
    if key == "becomes":
        return Becomes(_state_condition(value, inner, depth + 1))
    if key not in EVENT_KINDS:
        hint = did_you_mean(key, [*EVENT_KINDS, "becomes"], FOR_EVENTS)
        if key in PREDICATES:
            event = f", or the event `{FOR_EVENTS[key]}`" if key in FOR_EVENTS else ""
            hint = f"`{key}` is a state: write {{becomes: {{{key}: ...}}}}{event}"
        fail("G503", f"there is no kind of event `{key}`", inner, hint)
    if isinstance(value, dict) and set(value) not in ({"category"}, {"any_of"}):
        return _long_pattern(key, value, inner)
    role, kind = EVENT_KINDS[key].roles[0]
    test = _role(kind, value, inner)
    return EventPattern(key, () if test is None else ((role, test),))


def _long_pattern(key: str, data: dict[Any, Data], path: Path) -> EventPattern:
    kinds = dict(EVENT_KINDS[key].roles)
    keys_of(data, path, f"`{key}`", [*kinds, *WINDOW_KEYS])
    tests = ((role, _role(kind, data[role], (*path, role))) for role, kind in kinds.items() if role in data)
    windows = {k: _name(data[k], (*path, k)) for k in WINDOW_KEYS if k in data}
    return EventPattern(key, tuple((role, test) for role, test in tests if test is not None), **windows)


def _role(kind: RoleKind, data: Data, path: Path) -> RoleTest | None:
    """The test of a role; None where anything will do."""
    if data == ANY:
        return None
    if kind in WORD_ROLES:
        return Word(word(data, path, f"a {kind}"))
    return _target(data, path)


def read_patterns(data: Data, path: Path, depth: int) -> tuple[Pattern, ...]:
    items = items_of(data, path, "a list of event patterns")
    return tuple(read_pattern(p, (*path, i), depth) for i, p in enumerate(items))


Parser = Callable[[Data, Path, int], Any]
BY_PLACE: tuple[str, ...] = get_args(By)
BY_MATCH = ("on", "inside", "near", "attached")

SLOTS: dict[Slot, Parser] = {
    "condition": read_condition,
    "state_condition": _state_condition,
    "state": _state,
    "conditions": _conditions,
    "pattern": read_pattern,
    "patterns": read_patterns,
    "target": _target,
    "targets": _targets,
    "name": _name,
    "names": _names,
    "number": _number,
    "by_place": _one_of(BY_PLACE),
    "by_match": _one_of(BY_MATCH),
    "into": _into,
}
"""Slot -> its parser: data, where it stands, and how deep conditions are nested there."""

OPERATORS: dict[str, Operator] = {
    "all": Operator(AllOf, "conditions"),
    "any": Operator(SomeOf, "conditions"),
    "not": Operator(Not, "condition"),
    "count": Operator(
        _build_count,
        {"that": "state", "is": "number", "at_least": "number", "at_most": "number"},
        choice=get_args(Bound),
    ),
    "exactly": Operator(
        _build_exactly,
        {"in": "name", "on": "name", "are": "targets", "among": "names"},
        optional=frozenset({"among"}),
        choice=("in", "on"),
    ),
    "partition": Operator(Partition, {"by": "by_place", "into": "into", "of": "names"}),
    "match": Operator(Match, {"each": "names", "by": "by_match", "to": "names"}),
    "happened": Operator(Happened, "pattern"),
    "never": Operator(Never, "pattern"),
    "never_moved": Operator(NeverMoved, "target"),
    "before": Operator(Before, ("pattern", "pattern")),
    "sequence": Operator(InOrder, "patterns"),
    "multiset": Operator(Multiset, "patterns"),
    "until": Operator(Until, ("state_condition", "pattern")),
    "within": Operator(
        _build_within,
        {"that": "pattern", "after": "pattern", "until": "pattern", "window": "name"},
        optional=frozenset({"after", "until", "window"}),
    ),
}
"""Operator -> what it takes and what it makes."""
