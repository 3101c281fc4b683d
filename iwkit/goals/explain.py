"""Why a condition is true or false, in one plain sentence with the facts of the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from iwkit.goals import truth
from iwkit.goals.terms import (
    AllOf,
    Arg,
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
    Until,
    Within,
)
from iwkit.goals.timeline import END, Occurrence, Timeline, View
from iwkit.trace import RoleValue
from iwkit.trace import State as Relations

_PHRASES: dict[str, tuple[str, str]] = {
    "on": ("{0} is on {1}", "{0} is not on {1}"),
    "inside": ("{0} is inside {1}", "{0} is not inside {1}"),
    "held": ("{0} is held", "{0} is not held"),
    "on_floor": ("{0} is on the floor", "{0} is not on the floor"),
    "near": ("{0} is near {1}", "{0} is not near {1}"),
    "in_room": ("{0} is in {1}", "{0} is not in {1}"),
    "sitting": ("the wearer sits on {0}", "the wearer does not sit on {0}"),
    "attached": ("{0} is attached to {1}", "{0} is not attached to {1}"),
    "at_baseline": ("{0} is where it was at the handoff", "{0} is not where it was at the handoff"),
    "unmoved": ("{0} has not moved since the handoff", "{0} has moved since the handoff"),
    "contains": ("{0} contains {1}", "{0} does not contain {1}"),
    "received": ("{0} received exactly {1}", "{0} did not receive exactly {1}"),
    "in_cycle": ("{0} is in the cycle of {1}", "{0} is not in the cycle of {1}"),
    "cycle_valid": ("the cycle of {0} is valid", "the cycle of {0} is not valid"),
}
"""Predicate -> what is said when it holds and when it does not; the others say that a thing is, or is not, so."""
_LISTED = 6
"""How many things or reasons a sentence lists before it says how many more there are."""


def explain(timeline: Timeline, condition: Condition, view: View) -> str:
    """One sentence without its full stop: the facts that make the condition true or false."""
    return _EXPLAIN[type(condition)](timeline, condition, view)


def listed(items: Iterable[str], joint: str = ", ") -> str:
    texts = list(items)
    more = f"{joint}and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return joint.join(texts[:_LISTED]) + more


# States


def _phrase(predicate: str, args: tuple[str, ...], ok: bool) -> str:
    text = _PHRASES.get(predicate, (f"{{0}} is {predicate}", f"{{0}} is not {predicate}"))
    return text[0 if ok else 1].format(args[0], " and ".join(args[1:]))


def _state(timeline: Timeline, condition: State, view: View) -> str:
    choices = timeline.choices(condition)
    witness = next((relation for relation in choices if relation in view.state), None)
    if witness is not None:
        return _phrase(witness[0], witness[1:], True)
    if len(choices) != 1:
        return f"no choice makes {state_text(condition)} true"
    relation = choices[0]
    place = _place(relation[1], view.state) if relation[0] in ("on", "inside") else ""
    if place:
        return f"{relation[1]} is {place}, not {relation[0]} {relation[2]}"
    absent = [arg.name for arg in condition.args if isinstance(arg, Name) and not _appears(timeline, arg.name)]
    if absent:
        return f"{absent[0]} appears in no state of the trace, so {_phrase(relation[0], relation[1:], False)}"
    return _phrase(relation[0], relation[1:], False)


def _appears(timeline: Timeline, name: str) -> bool:
    return any(
        name in relation[1:] for state in (*timeline.opening.states, *timeline.interaction.states) for relation in state
    )


def _place(thing: str, state: Relations) -> str:
    """Where the thing is, as the state has it."""
    if ("held", thing) in state:
        return "held"
    found = sorted(f"{r[0]} {r[2]}" for r in state if r[0] in ("on", "inside") and r[1] == thing)
    return " and ".join(found) if found else "on the floor" if ("on_floor", thing) in state else ""


def arg_text(arg: Arg) -> str:
    """A target or word as it stands in a sentence."""
    data = arg.to_data()
    if isinstance(data, str):
        return data
    if isinstance(data, list):
        return "[" + ", ".join(data) + "]"
    return f"any {data['category']}" if "category" in data else "any of " + ", ".join(data["any_of"])


def state_text(condition: State) -> str:
    return f"{condition.predicate}({', '.join(map(arg_text, condition.args))})"


def _all(timeline: Timeline, condition: AllOf, view: View) -> str:
    wrong = [c for c in condition.conditions if not truth.holds(timeline, c, view)]
    return listed((explain(timeline, c, view) for c in wrong or condition.conditions), "; ")


def _some(timeline: Timeline, condition: SomeOf, view: View) -> str:
    right = next((c for c in condition.conditions if truth.holds(timeline, c, view)), None)
    if right is not None:
        return explain(timeline, right, view)
    return listed((explain(timeline, c, view) for c in condition.conditions), "; ")


def _not(timeline: Timeline, condition: Not, view: View) -> str:
    return explain(timeline, condition.condition, view)


def _count(timeline: Timeline, condition: Count, view: View) -> str:
    found = truth.count(timeline, condition, view)
    wanted = f"{condition.bound.replace('_', ' ')} {condition.number}".removeprefix("is ")
    return f"{state_text(condition.that)} holds for {found}, wanted {wanted}"


def _exactly(timeline: Timeline, condition: Exactly, view: View) -> str:
    there = truth.things_there(timeline, condition, view.state)
    wanted = listed(map(arg_text, condition.are))
    return f"{condition.by} {condition.place} is {listed(there) or 'nothing'}, wanted exactly {wanted}"


def _partition(timeline: Timeline, condition: Partition, view: View) -> str:
    parts = condition.parts()
    wrong = [part for part in parts if not truth.holds(timeline, part, view)]
    strays = []
    for thing in condition.of:
        places = truth.places_of(condition, thing, view.state)
        if len(places) != 1:
            strays.append(f"{thing} is {condition.by} {' and '.join(places) or 'none of the places'}")
    reasons = [_exactly(timeline, part, view) for part in (parts if not wrong and not strays else wrong)]
    return listed([*reasons, *strays], "; ")


def _match(_timeline: Timeline, condition: Match, view: View) -> str:
    options = {thing: truth.fitting(condition, thing, view.state) for thing in condition.each}
    chosen = truth.assign(list(options.values()))
    if chosen is not None:
        return listed(f"{thing} is {condition.by} {other}" for thing, other in zip(options, chosen, strict=True))
    found = listed(f"{thing} is {condition.by} {' and '.join(others) or 'none'}" for thing, others in options.items())
    return f"not each has one of its own: {found}"


# Events


def pattern_text(pattern: Pattern) -> str:
    if isinstance(pattern, Becomes):
        return f"becomes({condition_text(pattern.condition)})"
    if pattern.short:
        roles = [arg_text(test) for _, test in pattern.roles] or ["any"]
    else:
        roles = [f"{role}={arg_text(test)}" for role, test in pattern.roles]
    windows = [f"{word} {name}" for word, name in (("during", pattern.during), ("outside", pattern.outside)) if name]
    return " ".join([f"{pattern.kind}({', '.join(roles)})", *windows])


def condition_text(condition: Condition) -> str:
    """The condition in short; an operator other than `not` only by its name."""
    if isinstance(condition, State):
        return state_text(condition)
    if isinstance(condition, Not):
        return f"not {condition_text(condition.condition)}"
    return f"{next(iter(condition.to_data()))}(...)"


def occurrence_text(occurrence: Occurrence, pattern: Pattern) -> str:
    """What happened and its number, such as `opened(left_cabinet) happened at event 41`."""
    event = occurrence.event
    if event is None:
        return f"{pattern_text(pattern)} happened at the end of step {occurrence.step + 1}"
    roles = ", ".join(map(_value_text, event.roles.values()))
    return f"{event.kind}({roles}) happened at event {event.seq}"


def _value_text(value: RoleValue) -> str:
    return value if isinstance(value, str) else "[" + ", ".join(value) + "]"


def _none(pattern: Pattern) -> str:
    return f"no event matched {pattern_text(pattern)}"


def _occurs(timeline: Timeline, pattern: Pattern, view: View) -> str:
    found = timeline.first(pattern, view.low, view.high)
    return _none(pattern) if found is None else occurrence_text(found, pattern)


def _happened(timeline: Timeline, condition: Happened | Never, view: View) -> str:
    return _occurs(timeline, condition.pattern, view)


def _never_moved(timeline: Timeline, condition: NeverMoved, view: View) -> str:
    return _occurs(timeline, condition.pattern(), view)


def _before(timeline: Timeline, condition: Before, view: View) -> str:
    first = timeline.first(condition.first, view.low, view.high)
    second = timeline.first(condition.second, view.low, view.high)
    texts = [
        _none(pattern) if found is None else occurrence_text(found, pattern)
        for pattern, found in ((condition.first, first), (condition.second, second))
    ]
    if second is not None and (first is None or second.pos < first.pos):
        texts.reverse()
    return " and ".join(texts)


def _sequence(timeline: Timeline, condition: InOrder, view: View) -> str:
    found = truth.longest_sequence(timeline, condition, view)
    texts = [occurrence_text(o, p) for o, p in zip(found, condition.patterns, strict=False)]
    if len(found) < len(condition.patterns):
        missing = _none(condition.patterns[len(found)])
        texts.append(f"{missing} after that" if found else missing)
    return listed(texts, ", then ")


def _multiset(timeline: Timeline, condition: Multiset, view: View) -> str:
    found = (
        f"{len(list(timeline.between(p, view.low, view.high)))} for {pattern_text(p)}"
        for p in dict.fromkeys(condition.patterns)
    )
    return f"{len(condition.patterns)} different events are wanted; there are {listed(found)}"


def _until(timeline: Timeline, condition: Until, view: View) -> str:
    states, event = truth.until_states(timeline, condition, view)
    end = "to the end" if event is None else f"until {occurrence_text(event, condition.event)}"
    for index, state in enumerate(states):
        if not truth.holds_in(timeline, condition.condition, state):
            when = f"after step {view.first_step + index}" if index else "at the start"
            return f"{explain(timeline, condition.condition, View(state))} {when}, and it must hold {end}"
    return f"{condition_text(condition.condition)} held {end}"


def _within(timeline: Timeline, condition: Within, view: View) -> str:
    span = truth.within_range(timeline, condition, view)
    if span is None and condition.after is not None:
        return _none(condition.after)
    if span is None:
        return f"the window {condition.window} never opened"
    found = timeline.first(condition.that, *span)
    if found is not None:
        return occurrence_text(found, condition.that)
    if condition.window is not None:
        return f"{_none(condition.that)} while the window {condition.window} was open"
    bounds = [f"after {pattern_text(condition.after)}"] if condition.after is not None else []
    if condition.until is not None and span[1] not in (END, view.high):
        bounds.append(f"before {pattern_text(condition.until)}")
    return " and ".join([f"{_none(condition.that)} {bounds[0]}", *bounds[1:]]) if bounds else _none(condition.that)


_EXPLAIN: dict[type, Callable[[Timeline, Any, View], str]] = {
    State: _state,
    AllOf: _all,
    SomeOf: _some,
    Not: _not,
    Count: _count,
    Exactly: _exactly,
    Partition: _partition,
    Match: _match,
    Happened: _happened,
    Never: _happened,
    NeverMoved: _never_moved,
    Before: _before,
    InOrder: _sequence,
    Multiset: _multiset,
    Until: _until,
    Within: _within,
}
