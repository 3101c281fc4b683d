"""The goal language as immutable values: targets, event patterns, conditions, `when` (docs/goal-language.md 2 to 7).

Every value has `to_data()`, the plain data that `iwkit.goals.syntax` reads back to an equal value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from iwkit.events import EVENT_KINDS

Data = Any
"""Plain data as a YAML reader gives it: dict, list, str, int, float, bool, None."""

Path = tuple[str | int, ...]
"""Keys and indices that lead to a place in plain data."""

FLOOR = "floor"
"""What supports a thing that nothing else supports."""
WEARER = "wearer"
"""The wearer as an argument of `near` and `in_room`."""
ANY = "any"


@dataclass(frozen=True, slots=True)
class Name:
    """The entity of that name."""

    name: str

    def to_data(self) -> Data:
        return self.name


@dataclass(frozen=True, slots=True)
class Category:
    """Some entity of that category."""

    category: str

    def to_data(self) -> Data:
        return {"category": self.category}


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Some one of these entities."""

    names: tuple[str, ...]

    def to_data(self) -> Data:
        return {"any_of": list(self.names)}


@dataclass(frozen=True, slots=True)
class Word:
    """A plain word: a substance, a command, the id of a step, a code, or a word of `iwkit.events.WORDS`."""

    text: str

    def to_data(self) -> Data:
        return self.text


@dataclass(frozen=True, slots=True)
class Words:
    """A list of plain words: the substances of `received`."""

    words: tuple[str, ...]

    def to_data(self) -> Data:
        return list(self.words)


Target = Name | Category | AnyOf
Arg = Target | Word | Words
RoleTest = Target | Word


@dataclass(frozen=True, slots=True)
class EventPattern:
    """Events of a kind whose roles match. A role that may be anything is left out; the others are in table order."""

    kind: str
    roles: tuple[tuple[str, RoleTest], ...] = ()
    during: str | None = None
    outside: str | None = None

    @property
    def short(self) -> bool:
        """No role but the first one is tested, and no window: the short form says it all."""
        first = EVENT_KINDS[self.kind].roles[0][0]
        return self.during is None and self.outside is None and all(role == first for role, _ in self.roles)

    def to_data(self) -> Data:
        if self.short:
            return {self.kind: self.roles[0][1].to_data() if self.roles else ANY}
        long = {role: test.to_data() for role, test in self.roles}
        windows = {"during": self.during, "outside": self.outside}
        return {self.kind: long | {key: name for key, name in windows.items() if name is not None}}


@dataclass(frozen=True, slots=True)
class Becomes:
    """The moment at which a condition over states comes true."""

    condition: Condition

    def to_data(self) -> Data:
        return {"becomes": self.condition.to_data()}


Pattern = EventPattern | Becomes


@dataclass(frozen=True, slots=True)
class Handoff:
    """The handoff itself, as a `when`."""

    def to_data(self) -> Data:
        return "handoff"


When = Handoff | Pattern


def _list(values: tuple[Any, ...]) -> list[Data]:
    return [value.to_data() for value in values]


@dataclass(frozen=True, slots=True)
class State:
    """A predicate of `iwkit.predicates` and its arguments."""

    predicate: str
    args: tuple[Arg, ...]

    def to_data(self) -> Data:
        return {self.predicate: self.args[0].to_data() if len(self.args) == 1 else _list(self.args)}


@dataclass(frozen=True, slots=True)
class AllOf:
    conditions: tuple[Condition, ...]

    def to_data(self) -> Data:
        return {"all": _list(self.conditions)}


@dataclass(frozen=True, slots=True)
class SomeOf:
    conditions: tuple[Condition, ...]

    def to_data(self) -> Data:
        return {"any": _list(self.conditions)}


@dataclass(frozen=True, slots=True)
class Not:
    condition: Condition

    def to_data(self) -> Data:
        return {"not": self.condition.to_data()}


Bound = Literal["is", "at_least", "at_most"]


@dataclass(frozen=True, slots=True)
class Count:
    that: State
    bound: Bound
    number: int

    def to_data(self) -> Data:
        return {"count": {"that": self.that.to_data(), self.bound: self.number}}


By = Literal["inside", "on"]


@dataclass(frozen=True, slots=True)
class Exactly:
    """`among` is None for all movable entities of the pack."""

    by: By
    place: str
    are: tuple[Target, ...]
    among: tuple[str, ...] | None = None

    def to_data(self) -> Data:
        data = {"in" if self.by == "inside" else "on": self.place, "are": _list(self.are)}
        return {"exactly": data if self.among is None else data | {"among": list(self.among)}}


@dataclass(frozen=True, slots=True)
class Partition:
    by: By
    into: tuple[tuple[str, tuple[Target, ...]], ...]
    of: tuple[str, ...]

    def to_data(self) -> Data:
        into = {place: _list(targets) for place, targets in self.into}
        return {"partition": {"by": self.by, "into": into, "of": list(self.of)}}

    def parts(self) -> tuple[Exactly, ...]:
        return tuple(Exactly(self.by, place, targets, self.of) for place, targets in self.into)


@dataclass(frozen=True, slots=True)
class Match:
    each: tuple[str, ...]
    by: str
    to: tuple[str, ...]

    def to_data(self) -> Data:
        return {"match": {"each": list(self.each), "by": self.by, "to": list(self.to)}}


@dataclass(frozen=True, slots=True)
class Happened:
    pattern: Pattern

    def to_data(self) -> Data:
        return {"happened": self.pattern.to_data()}


@dataclass(frozen=True, slots=True)
class Never:
    pattern: Pattern

    def to_data(self) -> Data:
        return {"never": self.pattern.to_data()}


@dataclass(frozen=True, slots=True)
class NeverMoved:
    thing: Target

    def to_data(self) -> Data:
        return {"never_moved": self.thing.to_data()}

    def pattern(self) -> EventPattern:
        return EventPattern("moved", (("object", self.thing),))


@dataclass(frozen=True, slots=True)
class Before:
    first: Pattern
    second: Pattern

    def to_data(self) -> Data:
        return {"before": [self.first.to_data(), self.second.to_data()]}


@dataclass(frozen=True, slots=True)
class InOrder:
    patterns: tuple[Pattern, ...]

    def to_data(self) -> Data:
        return {"sequence": _list(self.patterns)}


@dataclass(frozen=True, slots=True)
class Multiset:
    patterns: tuple[Pattern, ...]

    def to_data(self) -> Data:
        return {"multiset": _list(self.patterns)}


@dataclass(frozen=True, slots=True)
class Until:
    condition: Condition
    event: Pattern

    def to_data(self) -> Data:
        return {"until": [self.condition.to_data(), self.event.to_data()]}


@dataclass(frozen=True, slots=True)
class Within:
    """Bounded by `after` and `until`, or by `window`; what is None does not bound."""

    that: Pattern
    after: Pattern | None = None
    until: Pattern | None = None
    window: str | None = None

    def to_data(self) -> Data:
        data = {"that": self.that.to_data()}
        data |= {k: p.to_data() for k, p in (("after", self.after), ("until", self.until)) if p is not None}
        return {"within": data if self.window is None else data | {"window": self.window}}


StateCondition = State | AllOf | SomeOf | Not | Count | Exactly | Partition | Match
EventCondition = Happened | Never | NeverMoved | Before | InOrder | Multiset | Until | Within
Condition = StateCondition | EventCondition


def children(condition: Condition) -> tuple[Condition, ...]:
    """The conditions directly inside an `all`, `any` or `not`."""
    if isinstance(condition, AllOf | SomeOf):
        return condition.conditions
    return (condition.condition,) if isinstance(condition, Not) else ()


def patterns(condition: Condition) -> tuple[Pattern, ...]:
    """The event patterns directly in an operator over events."""
    match condition:
        case Happened() | Never():
            return (condition.pattern,)
        case NeverMoved():
            return (condition.pattern(),)
        case Before():
            return (condition.first, condition.second)
        case InOrder() | Multiset():
            return condition.patterns
        case Until():
            return (condition.event,)
        case Within():
            return tuple(p for p in (condition.that, condition.after, condition.until) if p is not None)
    return ()
