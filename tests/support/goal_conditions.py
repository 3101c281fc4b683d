"""Random conditions, goals and atoms of the goal language, modelled on what a random trace holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import naive_goals as naive
from goal_worlds import (
    ALL,
    BINARY,
    COMMANDS,
    CYCLES,
    EVENTS,
    EVENTS_AND_WINDOWS,
    MOVES,
    OPENING_STEPS,
    ORDERS,
    PLAN_STEPS,
    RESPELLINGS,
    ROLE_WORDS,
    ROOMS,
    STATES,
    SUBSTANCES,
    Draw,
    Shape,
    World,
    commands,
    respelt,
    subset,
    traces,
    worlds,
)
from hypothesis import strategies as st

from iwkit.events import EVENT_KINDS, WORDS
from iwkit.predicates import PREDICATES
from iwkit.trace import Trace


@st.composite
def targets(draw: Draw, world: World) -> Any:
    form = draw(st.integers(0, 3))
    if form == 0:
        return {"category": draw(st.sampled_from(world.used_categories))}
    if form == 1:
        return {"any_of": list(draw(subset(world.names, 1, 3)))}
    return draw(st.sampled_from(world.names))


@st.composite
def targets_around(draw: Draw, world: World, name: str) -> Any:
    """A target that has this name among its candidates."""
    form = draw(st.integers(0, 3))
    if form == 0 and name in world.categories:
        return {"category": world.categories[name]}
    if form == 1 and name in world.categories:
        return {"any_of": list(dict.fromkeys((*draw(subset(world.names, 0, 2)), name)))}
    return name


@st.composite
def single_states(draw: Draw, world: World) -> Any:
    if world.relations and draw(st.booleans()):
        predicate, name, *others = draw(st.sampled_from(world.relations))
        if PREDICATES[predicate].args[-1] == "substances":
            return {predicate: [draw(targets_around(world, name)), others]}
        filled = [draw(targets_around(world, argument)) for argument in (name, *others)]
        return {predicate: filled[0] if len(filled) == 1 else filled}
    predicate = draw(st.sampled_from(world.predicates))
    kinds = PREDICATES[predicate].args
    arguments = [draw(targets(world))]
    if len(kinds) == 2:
        choices = {
            "room": st.sampled_from(ROOMS),
            "substance": st.sampled_from(SUBSTANCES),
            "substances": st.sampled_from(ORDERS).map(list),
        }
        arguments.append(draw(choices.get(kinds[1], targets(world))))
    return {predicate: arguments[0] if len(arguments) == 1 else arguments}


@st.composite
def counts(draw: Draw, world: World) -> Any:
    several = st.one_of(
        st.sampled_from(world.used_categories).map(lambda category: {"category": category}),
        subset(world.names, 2, 4).map(lambda names: {"any_of": list(names)}),
    )
    [(predicate, given_arguments)] = draw(single_states(world)).items()
    arguments = given_arguments if isinstance(given_arguments, list) else [given_arguments]
    open_to_targets = [i for i, kind in enumerate(PREDICATES[predicate].args) if not kind.startswith(("room", "sub"))]
    arguments[draw(st.sampled_from(open_to_targets))] = draw(several)
    that = {predicate: arguments[0] if len(arguments) == 1 else arguments}
    limit = draw(st.sampled_from(("is", "at_least", "at_most")))
    return {"count": {"that": that, limit: draw(st.integers(0, 4))}}


def held_by(world: World, predicate: str, place: str) -> tuple[str, ...]:
    return tuple(r[1] for r in world.relations if r[0] == predicate and r[2] == place)


def places_of(world: World, predicate: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(r[2] for r in world.relations if r[0] == predicate)) or world.names


@st.composite
def lists_around(draw: Draw, world: World, names: tuple[str, ...], most: int) -> Any:
    """Targets that these names can fill, in any order; now and then one too few, or any targets."""
    names = names[int(len(names) > 1 and draw(st.integers(0, 4)) == 4) :]
    if not 1 <= len(names) <= most or draw(st.integers(0, 3)) == 3:
        return draw(st.lists(targets(world), min_size=1, max_size=most))
    return [draw(targets_around(world, name)) for name in draw(st.permutations(names))]


@st.composite
def exactlies(draw: Draw, world: World) -> Any:
    key, by = draw(st.sampled_from((("on", "on"), ("in", "inside"))))
    place = draw(st.sampled_from(places_of(world, by)))
    among = draw(st.one_of(st.none(), subset(world.names, 1, 4)))
    there = tuple(name for name in held_by(world, by, place) if name in (among or world.movable))
    body = {key: place, "are": draw(lists_around(world, there, 3))}
    return {"exactly": body | ({"among": list(among)} if among else {})}


@st.composite
def partitions(draw: Draw, world: World) -> Any:
    by = draw(st.sampled_from(("inside", "on")))
    places = draw(subset(places_of(world, by), 1, 2))
    held = tuple(dict.fromkeys(thing for place in places for thing in held_by(world, by, place)))
    things = tuple(dict.fromkeys(draw(subset(held or world.names, 1, 2)) + draw(subset(world.names, 0, 1))))
    into = {}
    for place in places:
        there = tuple(thing for thing in things if thing in held_by(world, by, place))
        into[place] = draw(lists_around(world, there, 3))
    return {"partition": {"by": by, "into": into, "of": list(things)}}


@st.composite
def matches(draw: Draw, world: World) -> Any:
    by = draw(st.sampled_from(BINARY))
    pairs = tuple((r[1], r[2]) for r in world.relations if r[0] == by)
    some = draw(subset(pairs, 1, 3)) if pairs else ()
    each = tuple(dict.fromkeys(one for one, _ in some)) or draw(subset(world.names, 1, 3))
    to = dict.fromkeys((*(other for _, other in some), *draw(subset(world.names, 1, 3))))
    return {"match": {"each": list(each), "by": by, "to": list(to)}}


def nested(leaves: st.SearchStrategy[Any], depth: int) -> st.SearchStrategy[Any]:
    """Conditions of these leaves under `all`, `any` and `not`, at most `depth` deep."""
    if depth == 0:
        return leaves
    inner = nested(leaves, depth - 1)
    some = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        leaves,
        some.map(lambda parts: {"all": parts}),
        some.map(lambda parts: {"any": parts}),
        inner.map(lambda part: {"not": part}),
    )


def state_leaves(world: World) -> st.SearchStrategy[Any]:
    single = single_states(world)
    return st.one_of(single, single, counts(world), exactlies(world), partitions(world), matches(world))


def state_conditions(world: World, depth: int) -> st.SearchStrategy[Any]:
    return nested(state_leaves(world), depth)


def becomings(world: World) -> st.SearchStrategy[Any]:
    return state_conditions(world, 1).map(lambda condition: {"becomes": condition})


@st.composite
def patterns(draw: Draw, world: World) -> Any:
    if draw(st.integers(0, 4)) == 4:
        return draw(becomings(world))
    if world.cursors and draw(st.booleans()):
        return draw(st.sampled_from(world.cursors))
    if world.events and draw(st.booleans()):
        event = draw(st.sampled_from(world.events))
        kind = event.kind
        values = {role: "any" for role, _ in EVENT_KINDS[kind].roles}
        values |= {role: draw(wanted_around(world, kind, role, value)) for role, value in event.roles.items()}
    else:
        kind = draw(st.sampled_from(world.kinds))
        values = {role: draw(wanted_values(world, kind, role)) for role, _ in EVENT_KINDS[kind].roles}
    short = next(iter(values.values()))
    if draw(st.booleans()):
        return {kind: short}
    body = {role: values[role] for role in draw(subset(tuple(values), 0, len(values)))}
    if world.windows and draw(st.booleans()):
        body[draw(st.sampled_from(("during", "outside")))] = draw(st.sampled_from(world.windows))
    return {kind: body or short}


@st.composite
def wanted_around(draw: Draw, world: World, kind: str, role: str, value: Any) -> Any:
    if EVENT_KINDS[kind].role(role) == "command":
        return respelt(draw(st.sampled_from(RESPELLINGS)), value)
    if value == () or draw(st.integers(0, 4)) == 0:
        return "any"
    return draw(targets_around(world, value if isinstance(value, str) else draw(st.sampled_from(value))))


@st.composite
def wanted_values(draw: Draw, world: World, kind: str, role: str) -> Any:
    if draw(st.integers(0, 3)) == 0:
        return "any"
    what = EVENT_KINDS[kind].role(role)
    if (kind, role) in WORDS:
        return draw(st.sampled_from(WORDS[kind, role]))
    if what == "command":
        return respelt(draw(st.sampled_from(RESPELLINGS)), draw(commands(world)))
    if what == "step":
        return draw(st.sampled_from(OPENING_STEPS + PLAN_STEPS))
    if str(what) in ROLE_WORDS:
        return draw(st.sampled_from(ROLE_WORDS[str(what)]))
    return draw(st.one_of(st.just("floor"), targets(world)) if what == "place" else targets(world))


@st.composite
def event_conditions(draw: Draw, world: World, key: str = "") -> Any:
    key = key or draw(st.sampled_from((*naive.OPERATORS, "window") if world.windows else tuple(naive.OPERATORS)))
    pool = draw(
        st.lists(patterns(world), min_size=1, max_size=3)
    )  # the same pattern in two places is a case of its own
    pattern = st.sampled_from(pool)
    if key == "within":
        return {
            "within": {"that": draw(pattern)}
            | {limit: draw(pattern) for limit in draw(subset(("after", "until"), 1, 2))}
        }
    if key == "window":
        return {"within": {"that": draw(pattern), "window": draw(st.sampled_from(world.windows))}}
    if key == "until":
        return {"until": [draw(state_conditions(world, 1)), draw(pattern)]}
    if key == "never_moved":
        return {"never_moved": draw(targets(world))}
    if key == "before":
        return {"before": [draw(pattern), draw(pattern)]}
    if key in ("sequence", "multiset"):
        return {key: draw(st.lists(pattern, min_size=1, max_size=3))}
    return {key: draw(pattern)}


def conditions(world: World, depth: int = 3) -> st.SearchStrategy[Any]:
    # Drawn through booleans: `one_of` would weigh every single operator over states like all of those over events.
    return nested(st.booleans().flatmap(lambda e: (event_conditions if e else state_leaves)(world)), depth)


@st.composite
def cursors(draw: Draw, world: World) -> Any:
    form = draw(st.integers(0, 3))
    if form == 0:
        return "handoff"
    if form == 1:
        return {"after": draw(st.sampled_from(OPENING_STEPS + PLAN_STEPS))}
    return draw(patterns(world))


@st.composite
def spans(draw: Draw, world: World) -> dict[str, Any]:
    found = {"opens": draw(cursors(world))}
    if draw(st.booleans()):
        found["closes"] = draw(cursors(world))
    return found


@st.composite
def played(draw: Draw, shape: Shape = ALL, *more_kinds: str) -> tuple[World, Any, Trace]:
    """A world, the pack with its windows, and a trace that happened in it."""
    world = draw(worlds(shape))
    world = replace(world, kinds=world.kinds + more_kinds)
    trace = draw(traces(world, shape.steps))
    judged_in = draw(st.sampled_from((trace.end, trace.baseline)))
    world = replace(world, events=tuple(trace.events()), relations=tuple(sorted(judged_in)))
    windows: tuple[dict[str, Any], ...] = ()
    if shape.windows:
        windows = ({"id": "w1", **draw(spans(world))},)
        windows += ({"id": "w2", **draw(spans(replace(world, windows=("w1",))))},)
    cursors = tuple(w[edge] for w in windows for edge in ("opens", "closes") if isinstance(w.get(edge), dict))
    entities = {**world.categories, **dict.fromkeys(ROOMS, "room")}
    world = replace(world, windows=tuple(window["id"] for window in windows), cursors=cursors)
    return world, naive.Pack(entities, frozenset(world.movable), windows), trace


Conditions = Callable[[World], st.SearchStrategy[Any]]


@st.composite
def judged(draw: Draw, over: Conditions, shape: Shape = ALL) -> tuple[Any, Trace, Any, str]:
    world, pack, trace = draw(played(shape))
    return draw(over(world)), trace, pack, draw(st.sampled_from(("goal", "evidence")))


@st.composite
def unjudged(draw: Draw) -> tuple[Any, Trace, Any, str]:
    """Conditions of which some name a window that is not there or depends on itself, or a command that is none."""
    world, pack, trace = draw(played(EVENTS_AND_WINDOWS))
    loop = ({"id": "w3", "opens": {"said": {"during": "w4"}}}, {"id": "w4", "opens": {"said": {"outside": "w3"}}})
    pack = replace(pack, windows=pack.windows + loop)
    world = replace(world, windows=draw(subset(("w1", "w2", "w3", "nowhere"), 1, 2)))
    no_command = st.just({"never": {"commanded": {"do": "[Grb] <cup>"}}})
    condition = draw(nested(st.one_of(event_conditions(world), no_command), 1))
    return condition, trace, pack, draw(st.sampled_from(("goal", "evidence")))


def over_events(key: str) -> Conditions:
    return partial(event_conditions, key=key)


FOCUS: dict[str, st.SearchStrategy[tuple[Any, Trace, Any, str]]] = {
    **{key: judged(over_events(key), EVENTS) for key in ("happened", "before", "sequence", "multiset", "within")},
    "until": judged(over_events("until"), EVENTS),
    "never": judged(over_events("never"), EVENTS_AND_WINDOWS),
    "never_moved": judged(over_events("never_moved"), MOVES),
    "window": judged(over_events("window"), EVENTS_AND_WINDOWS),
    "becomes": judged(lambda world: becomings(world).map(lambda pattern: {"happened": pattern}), EVENTS),
    "commands": judged(over_events("happened"), COMMANDS),
    "cycles": judged(over_events("happened"), CYCLES),
    "state": judged(single_states, STATES),
    "count": judged(counts, STATES),
    "exactly": judged(exactlies, STATES),
    "partition": judged(partitions, STATES),
    "match": judged(matches, STATES),
    "nested states": judged(partial(state_conditions, depth=3), STATES),
    "nested": judged(conditions),
    "unjudged": unjudged(),
}
"""What is compared apart: under one strategy the rarer operators would hardly be reached."""


@st.composite
def goals(draw: Draw, world: World) -> Any:
    condition = conditions(world, 1)
    names = ("a1", "a2", "a3")[: draw(st.integers(1, 3))]
    achieve = []
    for i, name in enumerate(names):
        needs = {"needs": list(draw(subset(names[:i], 1, i)))} if i and draw(st.booleans()) else {}
        achieve.append({"id": name, "that": draw(condition), **needs})
    goal: dict[str, Any] = {"score": draw(st.sampled_from(("state", "binary"))), "achieve": achieve}
    for block in ("keep", "gates"):
        parts = draw(st.lists(condition, max_size=2))
        if parts:
            goal[block] = [{"id": f"{block}{i}", "that": part} for i, part in enumerate(parts)]
    return goal


@st.composite
def scored(draw: Draw) -> tuple[Any, Trace, Any]:
    world, pack, trace = draw(played(EVENTS))
    return draw(goals(world)), trace, pack


@st.composite
def labelled(draw: Draw) -> tuple[Any, Trace, Any, bool]:
    world, pack, trace = draw(played(EVENTS_AND_WINDOWS, "said"))
    either = st.one_of(patterns(world), st.lists(patterns(world), min_size=1, max_size=2))
    limits = draw(st.one_of(spans(world), st.sampled_from(world.windows).map(lambda window: {"window": window})))
    atom = {"id": "a", "capability": "C1", **limits, "pass": draw(either), "wrong": draw(either)}
    return atom, trace, pack, draw(st.integers(0, 9)) == 9
