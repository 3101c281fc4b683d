"""Random small worlds and traces for the goal language, in which names, predicates and events often meet."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from iwkit.events import EVENT_KINDS, WORDS
from iwkit.predicates import PREDICATES
from iwkit.trace import Event, Relation, State, Step, Trace

Draw = Any
T = TypeVar("T")

NAMES = ("cup", "mug", "plate", "tray", "table", "fridge")
CATEGORIES = ("vessel", "dish", "place")
ROOMS = ("kitchen", "hall")
SUBSTANCES = ("vodka", "juice")
ORDERS = (("vodka",), ("juice",), ("vodka", "juice"), ("juice", "vodka"))
OPENING_STEPS, PLAN_STEPS = ("o1", "o2"), ("p1", "p2")
BINARY = ("on", "inside", "near", "attached")
ROLE_WORDS = {"code": ("C316", "NOT_OPEN"), "substance": SUBSTANCES, "room": ROOMS}
BASELINE_ONLY = ("at_baseline", "unmoved")


@dataclass(frozen=True)
class World:
    """What one example draws from: few names, predicates and event kinds, so that conditions and traces often meet."""

    names: tuple[str, ...]
    categories: dict[str, str]
    movable: tuple[str, ...]
    predicates: tuple[str, ...]
    kinds: tuple[str, ...]
    windows: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    relations: tuple[Relation, ...] = ()
    cursors: tuple[Any, ...] = ()
    """What trace and windows hold: conditions are modelled on it half the time, else few of them would match."""

    @property
    def used_categories(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.categories.values())))


def subset(items: tuple[T, ...], low: int, high: int) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(st.sampled_from(items), min_size=low, max_size=high, unique=True).map(tuple)


@dataclass(frozen=True)
class Shape:
    """How much of a world an example has. A focus has little beside what it is about, so that it meets often."""

    names: tuple[int, int]
    predicates: st.SearchStrategy[tuple[str, ...]]
    kinds: st.SearchStrategy[tuple[str, ...]]
    steps: tuple[int, ...]
    windows: bool


ANY_KIND = st.sampled_from(tuple(EVENT_KINDS))
BOTH = st.tuples(st.sampled_from(tuple(PREDICATES)), st.sampled_from((*BINARY, *BASELINE_ONLY)))
ALL = Shape((3, 5), BOTH, st.tuples(ANY_KIND, st.one_of(ANY_KIND, st.just("after"))), (2, 0, 1, 3, 5, 7), windows=True)
UNARY = st.tuples(st.sampled_from(("open", *BASELINE_ONLY)))
EVENTS = Shape((2, 3), UNARY, st.tuples(ANY_KIND), (2, 1, 3, 4, 6), windows=False)
EVENTS_AND_WINDOWS = replace(EVENTS, windows=True)
MOVES = replace(EVENTS, kinds=st.just(("moved",)))
COMMANDS = replace(EVENTS, kinds=st.just(("commanded",)))
CYCLES = replace(EVENTS, kinds=st.just(("cycle_ended",)))
STATES = Shape((3, 5), BOTH, st.just(()), (0, 1), windows=False)


@st.composite
def worlds(draw: Draw, shape: Shape) -> World:
    names = draw(subset(NAMES, *shape.names))
    categories = {name: draw(st.sampled_from(CATEGORIES[: len(names) - 1])) for name in names}
    return World(names, categories, draw(subset(names, 1, 5)), draw(shape.predicates), draw(shape.kinds))


# Traces


def relations(world: World) -> tuple[Relation, ...]:
    """Every relation that a state of this world may hold; nothing stands in a relation to itself."""
    found: list[Relation] = []
    for predicate in dict.fromkeys(world.predicates):
        kinds = PREDICATES[predicate].args
        for name in world.names:
            if len(kinds) == 1:
                found.append((predicate, name))
            elif kinds[1] in ("room", "substance"):
                found += [(predicate, name, word) for word in (ROOMS if kinds[1] == "room" else SUBSTANCES)]
            elif kinds[1] == "substances":
                found += [(predicate, name, *order) for order in ORDERS]
            else:
                found += [(predicate, name, other) for other in world.names if other != name]
    return tuple(found)


@st.composite
def states(draw: Draw, world: World) -> State:
    universe = relations(world)
    most = 2 ** len(universe) - 1
    mask = draw(st.integers(0, most))
    if draw(st.booleans()):  # sparse states make `exactly` and `partition` true now and then
        mask &= draw(st.integers(0, most))
    return frozenset(relation for i, relation in enumerate(universe) if mask >> i & 1)


@st.composite
def commands(draw: Draw, world: World) -> str:
    verb = draw(st.sampled_from(("Open", "Put", "PutInside", "TurnLeft", "TurnRight")))
    if verb.startswith("Turn"):
        return f"[{verb}]"
    arguments = draw(
        st.lists(st.sampled_from(world.names[:2]), min_size=1 + (verb != "Open"), max_size=1 + (verb != "Open"))
    )
    text = f"[{verb}]" + "".join(f" <{a}>" + draw(st.sampled_from(("", "", " (1)", " (2)"))) for a in arguments)
    return text + ("" if verb == "Open" else draw(st.sampled_from(("", " @place_spot=0.5:0.5", " @place_spot=-1:0"))))


RESPELLINGS = (
    ("", ""),
    (r"\[Put\]", "[putOn]"),
    (r"\[Open\]", "[OPEN]"),
    (r" <", "  < "),
    (r" @.*", ""),
    (r" @.*", " @place_spot=-1:0"),
    (r" \(1\)", ""),
    (r">(?! \()", "> (1)"),
    (r">( \(\d\))?", "> (2)"),
    (r"\].*", "]"),
    (r"Put\b", "PutInside"),
)
"""Pattern and replacement: some mean the same command, some another, some more commands."""


def respelt(how: tuple[str, str], command: str) -> str:
    return re.sub(*how, command)


def step_ids(opening: bool) -> tuple[str, ...]:
    return OPENING_STEPS if opening else PLAN_STEPS


@st.composite
def role_values(draw: Draw, world: World, kind: str, role: str, opening: bool) -> Any:
    what = EVENT_KINDS[kind].role(role)
    if (kind, role) in WORDS:
        return draw(st.sampled_from(WORDS[kind, role]))
    if role == "contents" or (kind, role) == ("commanded", "object"):
        return draw(subset(world.names, 0, 2))
    if what == "command":
        return draw(commands(world))
    if what == "step":
        return draw(st.sampled_from(step_ids(opening)))
    places = ("floor",) if what == "place" else ()
    return draw(st.sampled_from(ROLE_WORDS.get(str(what), world.names + places)))


@st.composite
def traces(draw: Draw, world: World, counts: tuple[int, ...]) -> Trace:
    count = draw(st.sampled_from(counts))
    handoff = draw(st.integers(0, count))
    initial = draw(states(world))
    before = initial = frozenset(r for r in initial if r[0] not in BASELINE_ONLY)
    baseline: State = initial
    steps: list[Step] = []
    seq = draw(st.integers(0, 3))
    for i in range(count + 1):
        if i == handoff:  # the opening knows no relation to the handoff
            extra = draw(states(world))
            before = baseline = before | {r for r in extra if r[0] in BASELINE_ONLY}
        if i == count:
            break
        events = []
        for _ in range(draw(st.sampled_from((1, 0, 2, 3))) if world.kinds else 0):
            kind = draw(st.sampled_from(world.kinds))
            roles = {
                role: draw(role_values(world, kind, role, i < handoff))
                for j, (role, _) in enumerate(EVENT_KINDS[kind].roles)
                if draw(st.integers(0, 9 if j else 19))
            }
            events.append(Event(seq, kind, roles, draw(st.integers(0, 3)) == 0))
            seq += draw(st.integers(1, 2))
        if draw(st.booleans()):
            after = draw(states(world))
            before = after if i >= handoff else frozenset(r for r in after if r[0] not in BASELINE_ONLY)
        steps.append(Step(tuple(events), before))
    return Trace(initial, tuple(steps), handoff, baseline)


# Conditions, as a pack writes them
