"""The goal language in plain words: relations, events, patterns and conditions, apart from the facts of any trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from iwkit.events import EVENT_KINDS
from iwkit.goals.terms import (
    WEARER,
    AllOf,
    AnyOf,
    Arg,
    Becomes,
    Category,
    Condition,
    Count,
    EventPattern,
    Exactly,
    Match,
    Name,
    Not,
    Partition,
    Pattern,
    SomeOf,
    State,
    Word,
    Words,
)
from iwkit.trace import Event, Relation


@dataclass(frozen=True, slots=True)
class Phrase:
    """How a predicate reads: subject, verb (affirmed or denied), complement; `{0}`, `{1}` are its arguments."""

    complement: str
    verb: str = "is"
    denied: str = "is not"
    subject: str = "{0}"


_PHRASES: dict[str, Phrase] = {
    "on": Phrase("on {1}"),
    "inside": Phrase("inside {1}"),
    "on_floor": Phrase("on the floor"),
    "near": Phrase("near {1}"),
    "in_room": Phrase("in {1}"),
    "sitting": Phrase("sitting on {0}", subject="the wearer"),
    "attached": Phrase("attached to {1}"),
    "visible": Phrase("in view"),
    "at_baseline": Phrase("where it was at the handoff"),
    "unmoved": Phrase("in the spot where it stood at the handoff"),
    "contains": Phrase("{1}", "contains", "does not contain"),
    "received": Phrase("exactly {1}", "received", "did not receive"),
    "in_cycle": Phrase("in the cycle of {1}"),
    "cycle_valid": Phrase("valid", subject="the cycle of {0}"),
}
"""Predicate -> how it reads; the others say that a thing is, or is not, so."""
_PLURAL = {"is": "are", "contains": "contain", "received": "received"}
_LISTED = 6
"""How many things or reasons a sentence lists before it says how many more there are."""
_BOUNDS = {
    "is": ("exactly {}", "any number but {}"),
    "at_least": ("at least {}", "fewer than {}"),
    "at_most": ("at most {}", "more than {}"),
}
"""Bound of a count -> how many it asks for, and how many the opposite asks for."""


def listed(items: Iterable[str], joint: str = ", ") -> str:
    texts = list(items)
    more = f"{joint}and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return joint.join(texts[:_LISTED]) + more


def enumerated(items: Sequence[str]) -> str:
    """`apple, cup and pear`."""
    if not 1 < len(items) <= _LISTED:
        return listed(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


# Arguments


def arg_text(arg: Arg) -> str:
    """A target or word as it stands in a sentence."""
    match arg:
        case Name():
            return thing_text(arg.name)
        case Category():
            return f"any {arg.category}"
        case AnyOf():
            return "any of " + listed(arg.names)
        case Words():
            return " and then ".join(arg.words)
        case Word():
            return arg.text


def thing_text(name: str) -> str:
    return "the wearer" if name == WEARER else name


def state_words(state: State, ok: bool = True) -> list[str]:
    """The arguments of a state as they stand in the sentence that affirms it (`some mug`) or denies it (`any mug`)."""
    words = list(map(arg_text, state.args))
    if ok:
        for i, arg in enumerate(state.args):
            if isinstance(arg, Category | AnyOf):
                words[i] = words[i].replace("any", "some" if isinstance(arg, Category) else "one", 1)
    if state.predicate == "in_room" and isinstance(state.args[1], Name):
        words[1] = f"the {words[1]}"
    return words


def several(state: State) -> int | None:
    """The index of the first target with several candidates."""
    return next((i for i, arg in enumerate(state.args) if isinstance(arg, Category | AnyOf)), None)


# States


def phrase(predicate: str) -> Phrase:
    return _PHRASES.get(predicate) or Phrase(predicate)


def say(predicate: str, words: Sequence[str], ok: bool = True, *, plural: bool = False) -> str:
    """The sentence that affirms a predicate of the words, or denies it."""
    how = phrase(predicate)
    verb = _PLURAL[how.verb] if plural else how.verb if ok else how.denied
    return f"{how.subject} {verb} {how.complement}".format(*words)


def complement(relation: Relation) -> str:
    """`on table`: what the sentence of the relation says of its subject."""
    return phrase(relation[0]).complement.format(*_relation_words(relation))


def relation_text(relation: Relation, ok: bool = True) -> str:
    return say(relation[0], _relation_words(relation), ok)


def _relation_words(relation: Relation) -> list[str]:
    predicate, first, *others = relation
    if predicate == "received":  # a relation has its substances flat
        others = [" and then ".join(others)]
    elif predicate == "in_room":
        others = [f"the {others[0]}"]
    return [thing_text(first), *map(thing_text, others)]


def state_text(state: State, ok: bool = True) -> str:
    """The state as a sentence; denied, it is so for no choice of candidates."""
    words, index = state_words(state, ok), several(state)
    if ok or index is None or f"{{{index}}}" not in phrase(state.predicate).subject:
        return say(state.predicate, words, ok)
    target = state.args[index]
    words[index] = f"no {target.category}" if isinstance(target, Category) else words[index].replace("any", "none", 1)
    return say(state.predicate, words)


# Conditions over states


def claim(condition: Condition, ok: bool = True) -> str:
    """A condition over states as a sentence, or its opposite."""
    match condition:
        case State():
            return state_text(condition, ok)
        case Not():
            return claim(condition.condition, not ok)
        case AllOf() | SomeOf():
            joint = " and " if isinstance(condition, AllOf) == ok else " or "
            return listed((_bracketed(c, ok) for c in condition.conditions), joint)
        case Count():
            return _count(condition, ok)
        case Exactly():
            verb = "are" if len(condition.are) > 1 else "is"
            return f"{'' if ok else 'not '}exactly {wanted_there(condition)} {verb} {condition.by} {condition.place}"
        case Partition():
            parts = listed(map(claim, condition.parts()), " and ")
            return parts if ok else f"not ({parts})"
        case Match():
            each, to = listed(condition.each), listed(condition.to)
            return f"{'' if ok else 'not '}each of {each} {phrase_by(condition.by)} a different one of {to}"
    raise TypeError(f"{type(condition).__name__} is no condition over states")


def _bracketed(condition: Condition, ok: bool) -> str:
    text = claim(condition, ok)
    inner = condition.condition if isinstance(condition, Not) else condition
    return f"({text})" if isinstance(inner, AllOf | SomeOf) else text


def phrase_by(predicate: str) -> str:
    """`is on`: verb and complement of a predicate of two things, without the second one."""
    how = phrase(predicate)
    return f"{how.verb} {how.complement.removesuffix(' {1}')}"


def wanted_there(condition: Exactly) -> str:
    return enumerated([arg_text(target) for target in condition.are])


def bound_text(condition: Count, ok: bool = True) -> str:
    """`at least 2`; the opposite is `fewer than 2`."""
    return _BOUNDS[condition.bound][0 if ok else 1].format(condition.number)


def _count(condition: Count, ok: bool) -> str:
    words, index = state_words(condition.that), several(condition.that)
    assert index is not None  # noqa: S101 - the parser takes no other count
    target = condition.that.args[index]
    many = condition.number != 1
    category = f"thing{'s' * many} of category {target.category}" if isinstance(target, Category) else ""
    words[index] = f"{bound_text(condition, ok)} {category or words[index].removeprefix('one of ')}"
    plural = many and f"{{{index}}}" in phrase(condition.that.predicate).subject
    return say(condition.that.predicate, words, plural=plural)


# Events


def pattern_text(pattern: Pattern) -> str:
    """`grabbed(wallet, from any shelf)`, or the claim of a `becomes` in quotes."""
    if isinstance(pattern, Becomes):
        return f'"{claim(pattern.condition)}"'
    text = _call(pattern.kind, {role: arg_text(test) for role, test in pattern.roles}) or f"{pattern.kind}(any)"
    return text + _windows(pattern)


def _windows(pattern: EventPattern) -> str:
    during = f" while the window {pattern.during} is open" if pattern.during is not None else ""
    return during + (f" while the window {pattern.outside} is not open" if pattern.outside is not None else "")


def event_text(event: Event) -> str:
    """`grabbed(wallet, from sideboard)`, in the notation of patterns."""
    values = {role: value if isinstance(value, str) else " + ".join(value) for role, value in event.roles.items()}
    return _call(event.kind, {role: value or "nothing" for role, value in values.items()}) or event.kind


def _call(kind: str, roles: Mapping[str, str]) -> str:
    """The first role of a kind is bare, the others have their names; "" without any."""
    order = [role for role, _ in EVENT_KINDS[kind].roles]
    words = [roles[role] if role == order[0] else f"{role} {roles[role]}" for role in order if role in roles]
    return f"{kind}({', '.join(words)})" if words else ""
