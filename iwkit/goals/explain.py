"""Why a condition is true or false, in one plain sentence with the facts of the trace.

What a sentence says depends on two things: whether the condition holds, and whether it is wanted (inside `not` it is
not). Where the two agree it states the facts; where they differ it also says what must or must not be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from iwkit.goals import truth
from iwkit.goals.facts import OF_HANDOFF, instead, place_of, since_handoff
from iwkit.goals.terms import (
    AllOf,
    AnyOf,
    Becomes,
    Before,
    Condition,
    Count,
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
    Pattern,
    SomeOf,
    State,
    Target,
    Until,
    Within,
)
from iwkit.goals.timeline import END, Occurrence, Timeline, View
from iwkit.goals.wording import (
    arg_text,
    bound_text,
    claim,
    complement,
    enumerated,
    event_text,
    listed,
    pattern_text,
    phrase,
    relation_text,
    say,
    several,
    state_text,
    state_words,
    thing_text,
    wanted_there,
)
from iwkit.trace import Relation
from iwkit.trace import State as Relations


def explain(timeline: Timeline, condition: Condition, view: View, wanted: bool = True) -> str:
    """One sentence without its full stop: the facts that make the condition true or false, and what is wanted where
    they are otherwise. `wanted` is False inside `not`."""
    return _EXPLAIN[type(condition)](timeline, condition, view, wanted)


def _facts(timeline: Timeline, condition: Condition, view: View) -> str:
    """The facts alone."""
    return explain(timeline, condition, view, truth.holds(timeline, condition, view))


def _unmet(wanted: bool) -> str:
    return ", though it must" if wanted else ""


def _unless(wanted: bool, text: str, otherwise: str) -> str:
    return text if wanted else text + otherwise


# States


def _state(timeline: Timeline, condition: State, view: View, wanted: bool) -> str:
    choices = timeline.choices(condition)
    true = [relation for relation in choices if relation in view.state]
    if true:
        text = listed(map(relation_text, true[:1] if wanted else true), " and ")
        return _unless(wanted, text, ", which must not be the case")
    if several(condition) is None:
        return _false(timeline, choices[0], view.state)
    firsts = list(dict.fromkeys(relation[1] for relation in choices))
    known = [
        f"{thing_text(name)} is {place}"
        for name in firsts
        if (place := place_of(condition.predicate, name, view.state))
    ]
    if len(firsts) == 1 and known:
        return f"{known[0]}, not {phrase(condition.predicate).complement.format(*state_words(condition, False))}"
    return state_text(condition, False) + (f": {listed(known)}" if known else "")


def _false(timeline: Timeline, relation: Relation, state: Relations) -> str:
    """Why a relation is not in the state: what is the case instead, as far as anything is known."""
    predicate, first, *others = relation
    if predicate in OF_HANDOFF:
        return since_handoff(relation, state, timeline.trace.baseline)
    fact = instead(relation, state)
    if fact:
        return f"{fact}, not {complement(relation)}"
    known = {name for at in (*timeline.opening.states, *timeline.interaction.states) for r in at for name in r[1:]}
    named = [first] if predicate in ("in_room", "contains", "received") else [first, *others]
    unknown = [name for name in named if name not in known]
    return (f"nothing is known of {unknown[0]}, so " if unknown else "") + relation_text(relation, False)


def _all(timeline: Timeline, condition: AllOf, view: View, wanted: bool) -> str:
    parts = condition.conditions
    wrong = [c for c in parts if not truth.holds(timeline, c, view)]
    if wanted:
        return _points(explain(timeline, c, view) for c in wrong or parts)
    facts = _points(_facts(timeline, c, view) for c in wrong or parts)
    return f"{'not all' if wrong else 'all'} {len(parts)} conditions hold, and they must not all hold: {facts}"


def _some(timeline: Timeline, condition: SomeOf, view: View, wanted: bool) -> str:
    parts = condition.conditions
    right = [c for c in parts if truth.holds(timeline, c, view)]
    if right:
        return _points(explain(timeline, c, view, wanted) for c in (right[:1] if wanted else right))
    head = f"none of the {len(parts)} choices holds: " if wanted else ""
    return head + _points(explain(timeline, c, view, wanted) for c in parts)


def _points(texts: Iterable[str]) -> str:
    """Several explanations in a row, numbered where one of them has parts of its own."""
    points = list(dict.fromkeys(texts))
    if len(points) > 1 and any(";" in point for point in points):
        points = [f"({i}) [{point}]" if "(1)" in point else f"({i}) {point}" for i, point in enumerate(points, 1)]
    return listed(points, "; ")


def _not(timeline: Timeline, condition: Not, view: View, wanted: bool) -> str:
    return explain(timeline, condition.condition, view, not wanted)


def _count(timeline: Timeline, condition: Count, view: View, wanted: bool) -> str:
    index = several(condition.that)
    assert index is not None  # noqa: S101 - the parser takes no other count
    target: Any = condition.that.args[index]
    names = timeline.vocabulary.candidates(target)
    groups = zip(names, timeline.choices_by_candidate(condition.that), strict=True)
    counted = [name for name, relations in groups if any(relation in view.state for relation in relations)]
    words = state_words(condition.that)
    words[index] = f"{len(counted) or 'none'} of {listed(names) or arg_text(target)}"
    plural = len(counted) > 1 and f"{{{index}}}" in phrase(condition.that.predicate).subject
    fact = say(condition.that.predicate, words, plural=plural) + (f" ({listed(counted)})" if counted else "")
    if truth.holds(timeline, condition, view) == wanted:
        return fact
    bound = bound_text(condition, wanted)
    return f"{fact}; {bound} {'is' if condition.number == 1 or bound.startswith('any') else 'are'} wanted"


def _there(timeline: Timeline, condition: Exactly, view: View) -> str:
    there = truth.things_there(timeline, condition, view.state)
    none = "no movable thing" if condition.among is None else f"none of {listed(condition.among)}"
    verb = "are" if len(there) > 1 else "is"
    return f"{enumerated(there) or none} {verb} {condition.by} {condition.place}"


def _exactly(timeline: Timeline, condition: Exactly, view: View, wanted: bool) -> str:
    fact = _there(timeline, condition, view)
    if truth.holds(timeline, condition, view):
        return _unless(wanted, f"{fact}, and nothing else that counts", "; exactly this must not be the case")
    things = wanted_there(condition)
    return f"{fact}, but exactly {things} must be" if wanted else f"{fact}, which is not exactly {things}"


def _partition(timeline: Timeline, condition: Partition, view: View, wanted: bool) -> str:
    parts = condition.parts()
    if truth.holds(timeline, condition, view):
        facts = listed((_there(timeline, part, view) for part in parts), "; ")
        return _unless(wanted, facts, "; just this must not be the case")
    wrong = [_exactly(timeline, part, view, wanted) for part in parts if not truth.holds(timeline, part, view)]
    return listed([*wrong, *_strays(timeline, condition, view)], "; ")


def _strays(timeline: Timeline, condition: Partition, view: View) -> Iterator[str]:
    """What is in none of the places, or in more than one."""
    for thing in condition.of:
        places = truth.places_of(condition, thing, view.state)
        if not places:
            yield _pair(timeline, condition.by, thing, [place for place, _ in condition.into], view)
        elif len(places) > 1:
            yield f"{thing} is {condition.by} {' and '.join(places)}, which is more than one place"


def _pair(timeline: Timeline, by: str, thing: str, others: Sequence[str], view: View) -> str:
    """That the thing stands in the relation to none of the others."""
    target: Target = Name(others[0]) if len(others) == 1 else AnyOf(tuple(others))
    return _state(timeline, State(by, (Name(thing), target)), view, True)


def _match(timeline: Timeline, condition: Match, view: View, wanted: bool) -> str:
    options = {thing: truth.fitting(condition, thing, view.state) for thing in condition.each}
    chosen = truth.assign(list(options.values()))
    if chosen is not None:
        pairs = zip(options, chosen, strict=True)
        facts = listed(relation_text((condition.by, thing, str(other))) for thing, other in pairs)
        return _unless(wanted, facts, ", which must not be the case")
    found = (
        listed((relation_text((condition.by, thing, other)) for other in others), " and ")
        if others
        else _pair(timeline, condition.by, thing, condition.to, view)
        for thing, others in options.items()
    )
    head = f"not each of {listed(condition.each)} has one of {listed(condition.to)} to itself"
    return f"{head}{_unmet(wanted)}: {listed(found, '; ')}"


# Events


def occurrence_text(timeline: Timeline, occurrence: Occurrence, pattern: Pattern) -> str:
    """What happened and its number, such as `opened(left_cabinet) happened at event 41`."""
    if occurrence.event is None:
        return f"{pattern_text(pattern)} became true {_after_step(timeline, occurrence.step)}"
    return f"{event_text(occurrence.event)} happened at event {occurrence.event.seq}"


def _after_step(timeline: Timeline, step: int) -> str:
    """The moment of the state after a step, told by the last event until then."""
    last = next((s.events[-1] for s in reversed(timeline.trace.steps[: step + 1]) if s.events), None)
    return "before any event" if last is None else f"right after event {last.seq}"


def _no(timeline: Timeline, pattern: Pattern, view: View, when: str = "") -> str:
    """That nothing matched in the view, or at the time that `when` names."""
    if not when and timeline.matches(pattern):
        when = " after the handoff" if view.high == END else " in the opening"
    verb = "became true" if isinstance(pattern, Becomes) else "happened"
    return f"{pattern_text(pattern)} never {verb}{when}"


def _occurs(timeline: Timeline, pattern: Pattern, view: View, wanted: bool) -> str:
    """Whether an event matched; `wanted` says whether one must."""
    found = timeline.first(pattern, view.low, view.high)
    if found is None:
        return _no(timeline, pattern, view) + _unmet(wanted)
    return _unless(wanted, occurrence_text(timeline, found, pattern), ", which must not happen")


def _happened(timeline: Timeline, condition: Happened, view: View, wanted: bool) -> str:
    return _occurs(timeline, condition.pattern, view, wanted)


def _never(timeline: Timeline, condition: Never, view: View, wanted: bool) -> str:
    return _occurs(timeline, condition.pattern, view, not wanted)


def _never_moved(timeline: Timeline, condition: NeverMoved, view: View, wanted: bool) -> str:
    return _occurs(timeline, condition.pattern(), view, not wanted)


def _before(timeline: Timeline, condition: Before, view: View, wanted: bool) -> str:
    first = timeline.first(condition.first, view.low, view.high)
    second = timeline.first(condition.second, view.low, view.high)
    fact = _order(timeline, condition, view, first, second)
    name = pattern_text(condition.first)
    if truth.holds(timeline, condition, view):
        return _unless(wanted, fact, f"; {name} must not come first")
    return fact + (f"; {name} must {'come first' if second else 'happen in any case'}" if wanted else "")


def _order(
    timeline: Timeline, condition: Before, view: View, first: Occurrence | None, second: Occurrence | None
) -> str:
    """Which of the two came first, if they came at all."""
    a, b = (
        _no(timeline, pattern, view) if found is None else occurrence_text(timeline, found, pattern)
        for pattern, found in ((condition.first, first), (condition.second, second))
    )
    if first is None or second is None:
        return f"{b}, and {a}" if first is None and second is not None else f"{a}, and {b}"
    if first.pos == second.pos:
        other = pattern_text(condition.second)
        return f"{a}, before any other {other}" if first.event else f"{a}, and {other} no earlier"
    return f"{a}, before {b}" if first.pos < second.pos else f"{b}, before {a}"


def _sequence(timeline: Timeline, condition: InOrder, view: View, wanted: bool) -> str:
    found = truth.longest_sequence(timeline, condition, view)
    texts = [occurrence_text(timeline, o, p) for o, p in zip(found, condition.patterns, strict=False)]
    if len(found) == len(condition.patterns):
        return _unless(wanted, listed(texts, ", then "), "; they must not come in this order")
    missing = _no(timeline, condition.patterns[len(found)], view, " after that" if found else "")
    return (f"{listed(texts, ', then ')}, but {missing}" if found else missing) + _unmet(wanted)


def _multiset(timeline: Timeline, condition: Multiset, view: View, wanted: bool) -> str:
    options = truth.multiset_options(timeline, condition, view)
    kept: list[int] = []  # as many of the patterns as can have events of their own, the most particular first
    for i in sorted(range(len(options)), key=lambda i: len(options[i])):
        if truth.assign([list(options[k]) for k in (*kept, i)]) is not None:
            kept.append(i)
    chosen = truth.assign([list(options[k]) for k in kept]) or []
    pairs = sorted(((options[k][v], k) for k, v in zip(kept, chosen, strict=True)), key=lambda pair: pair[0].pos)
    happened = listed(occurrence_text(timeline, o, condition.patterns[k]) for o, k in pairs)
    number = "all" if len(kept) == len(options) else len(kept) or "none"
    fact = f"{number} of the {len(options)} events that must {'' if wanted else 'not '}all happen did"
    left = [p for i, p in enumerate(condition.patterns) if i not in kept] if wanted else []
    missing = listed(f"{n} of {pattern_text(p)}" if n > 1 else pattern_text(p) for p, n in Counter(left).items())
    return fact + (f": {happened}" if happened else "") + (f"; still wanted: {missing}" if missing else "")


def _until(timeline: Timeline, condition: Until, view: View, wanted: bool) -> str:
    states, event = truth.until_states(timeline, condition, view)
    text, interaction = claim(condition.condition), view.high == END
    never = f"to the end{' of the opening' * (not interaction)}, as {_no(timeline, condition.event, view)}"
    end = never if event is None else f"until {occurrence_text(timeline, event, condition.event)}"
    start = "at the handoff" if interaction else "at the start"
    for index, state in enumerate(states):
        if not truth.holds_in(timeline, condition.condition, state):
            when = _after_step(timeline, view.first_step + index - 1) if index else start
            fact = f"{when}: {_facts(timeline, condition.condition, View(state))}"
            return f'{fact}; "{text}" {"had to hold" if wanted else "did not hold"} {end}'
    return _unless(wanted, f'"{text}" held {end}', ", which must not be the case")


def _within(timeline: Timeline, condition: Within, view: View, wanted: bool) -> str:
    span = truth.within_range(timeline, condition, view)
    if span is None:
        after = condition.after
        fact = f"the window {condition.window} never opened" if after is None else _no(timeline, after, view)
        when = "while it is open" if after is None else "after it"
        return fact + (f"; {pattern_text(condition.that)} must happen {when}" if wanted else "")
    found = timeline.first(condition.that, *span)
    bounds = " and ".join(_bounds(timeline, condition, view, span))
    if found is not None:
        text = occurrence_text(timeline, found, condition.that) + (f", {bounds}" if bounds else "")
        return _unless(wanted, text, ", which must not happen")
    return _no(timeline, condition.that, view, f" {bounds}" if bounds else "") + _unmet(wanted)


def _bounds(timeline: Timeline, condition: Within, view: View, span: tuple[int, int]) -> Iterator[str]:
    """The bounds of the range as clauses with their events."""
    low, high = span
    if condition.window is not None:
        yield f"while the window {condition.window} was open"
    if condition.after is not None:
        start = timeline.first(condition.after, view.low, view.high)
        if start is not None:
            yield f"after {occurrence_text(timeline, start, condition.after)}"
    if condition.until is not None:
        stop = timeline.first(condition.until, low, high + 1) if high != END else None
        if stop is not None and stop.pos == high:
            yield f"before {occurrence_text(timeline, stop, condition.until)}"


_EXPLAIN: dict[type, Callable[[Timeline, Any, View, bool], str]] = {
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
