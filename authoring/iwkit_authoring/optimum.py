"""The fewest primitives that satisfy a pack's goal, by search in the symbolic world (MET-3, NEXT-5).

A* over the commands that concern what the goal speaks of. The bound on what is left to do counts, for each thing that
must lie somewhere else, that it must be put there and perhaps taken first, and each thing that must be opened, closed
or switched: every primitive does at most one of these. A plan that is found is given word for word to a wearer in the
real loop, as the oracle is; one that does not get through there is only a bound.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, product
from typing import Any, Final, Literal, NamedTuple

from iwkit.compile import CompiledTask, ScriptLine
from iwkit.errors import UsageError
from iwkit.families import families
from iwkit.goals.evaluate import Judge
from iwkit.goals.terms import AllOf, Condition, EventPattern, Handoff, Happened, Name, State
from iwkit.grammar import Command, Ref, render
from iwkit.recorder import Recorder, executed
from iwkit.trace import State as Relations
from iwkit.trace import Step, Trace
from iwkit.verbs import PRIMITIVES
from iwkit.world.base import WorldState
from iwkit.world.symbolic import SymbolicWorld
from iwkit_authoring.rehearsal import rehearse
from iwkit_validators.affordance import Probe

Status = Literal["optimal", "bounds", "unknown"]

SECONDS: Final = 60.0
"""For how long a pack is searched."""
HELPERS: Final[Mapping[str, str]] = {
    "clean": "wiper",
    "dry": "wiper",
    "wiped": "wiper",
    "cut": "cutter",
    "stirred": "stirrer",
    "contains": "pourer",
    "poured": "pourer",
}
"""Word of a goal -> the trait of things that serve it without being named."""
UNTRIED: Final = frozenset({"forward", "turn", "squat", "look_scan", "fall_to_floor", "wait"})
"""Primitives without a thing to do them to, or that no goal needs: never the shortest way."""
CROWDED: Final = frozenset({"NO_ROOM", "NO_FLOOR"})
"""Refusals after which something that the goal does not name may have to be moved first."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The fewest primitives from the handoff to a pass: at least `low`, at most `high` (None if no plan is known).

    `oracle` is what the pack's oracle takes. `plan` is the shortest that was found to pass in the loop, and `why` says
    what keeps a result from being `optimal`.
    """

    pack: str
    status: Status
    low: int | None
    high: int | None
    oracle: int
    plan: tuple[Command, ...] = ()
    why: str = ""
    states: int = 0


def optimum(task: CompiledTask, seconds: float = SECONDS) -> Optimum:
    """Search for the shortest plan of a pack.

    Raises:
        UsageError: the opening or the oracle does not work.
    """
    lines = task.scripts["oracle"].lines
    oracle = sum(len(line.do) for line in lines)
    if missing := rehearse(task, lines, SymbolicWorld()).failed:
        raise UsageError(f"{task.id}: the oracle does not pass ({', '.join(missing)}): mend it first")
    if task.plan:
        return Optimum(task.id, "unknown", None, None, oracle, why="the wearer's own plan acts beside the assistant")
    search = _Search(task, time.monotonic() + seconds)
    plan = search.run(oracle)
    found = search.low, search.states
    if plan is None:
        known = tuple(command for line in lines for command in line.do)
        exact = search.low >= oracle and not search.doubt
        why = search.doubt or ("" if exact else "the time was up")
        return Optimum(
            task.id, "optimal" if exact else "bounds", min(search.low, oracle), oracle, oracle, known, why, found[1]
        )
    told = [ScriptLine(Handoff() if i == 0 else None, "Do this.", (c,), "does") for i, c in enumerate(plan)]
    told.append(ScriptLine(None, None, (), "does"))
    refused = rehearse(task, told, SymbolicWorld()).failed
    if refused:
        why = f"a plan of {len(plan)} satisfies the goal, but a wearer could not follow it ({', '.join(refused)})"
        return Optimum(task.id, "bounds", len(plan), oracle, oracle, plan, why, found[1])
    status: Status = "bounds" if search.doubt else "optimal"
    return Optimum(task.id, status, len(plan), len(plan), oracle, plan, search.doubt, found[1])


class _Node(NamedTuple):
    """A way to have come to a state: the steps go on from the handoff's trace; `seen` is what was ever in view."""

    state: WorldState
    relations: Relations
    steps: tuple[Step, ...]
    seen: frozenset[str]
    plan: tuple[Command, ...]


class _Search:
    """A*; `low` is the bound that has been proved, `doubt` what may make it untrue."""

    def __init__(self, task: CompiledTask, until: float) -> None:
        self._task, self._until = task, until
        self._world = SymbolicWorld()
        self._trace = _handed_off(task, self._world)
        goal = task.pack.physical.goal
        self._all = tuple(c.that for c in (*goal.achieve, *goal.keep, *goal.gates))
        self._gates = tuple(c.that for c in goal.gates)
        self._needs = tuple(_conjuncts(c.that for c in (*goal.achieve, *goal.keep)))
        self._words = frozenset(_words([c.to_data() for c in self._all]))
        shut = (c for c in self._needs if isinstance(c, State) and c.predicate == "closed")
        self._shut = frozenset(target.name for c in shut for target in c.args if isinstance(target, Name))
        now = self._world.relations()
        self._carried = frozenset(r[1] for r in now if r[0] in ("on", "inside") and task.things[r[2]].kind == "object")
        self._commands = tuple(_commands(task, now, self._words))
        self._rules = families()[task.pack.source_family].human
        self._standing = frozenset(t.name for t in task.things.values() if t.kind != "object")
        self.low = self.states = 0
        to_come = {event.id for event in task.events} - set(self._world.story.done)
        self.doubt = "what the pack lets happen by the clock is not searched for" if to_come else ""

    def run(self, most: int) -> tuple[Command, ...] | None:
        """The shortest plan, if it is shorter than `most`."""
        now = self._world.relations()
        seen = frozenset(r[1] for s in self._trace.steps for r in s.state if r[0] == "visible")
        start = _Node(self._world.snapshot(), now, (), seen | _visible(now), ())
        order = count()
        queue = [(self._left(start), 0, next(order), start)]
        best = {self._key(start): 0}
        while queue:
            total, _, _, node = heappop(queue)
            self.low = max(self.low, total)
            if total >= most:
                return None
            if len(node.plan) == total and self._passes(node):
                return node.plan
            if time.monotonic() > self._until:
                return None
            self.states += 1
            for after in self._after(node):
                key, cost = self._key(after), len(after.plan)
                if best.get(key, cost + 1) > cost:
                    best[key] = cost
                    heappush(queue, (max(total, cost + self._left(after)), -cost, next(order), after))
        self.low = most
        return None

    def _after(self, node: _Node) -> Iterator[_Node]:
        known = self._nameable(node)
        there = False
        for command in self._commands:
            if not all(ref.name in known for ref in command.args):
                continue
            if not there:
                self._world.restore(node.state)
            receipt = self._world.execute(command)
            there = not receipt.ok  # what is refused changes nothing
            if there:
                if receipt.code in CROWDED:
                    self.doubt = f"{render(command)} found no room: something else may have to go first"
                continue
            recorder = Recorder()
            recorder.state = node.relations
            relations = self._world.relations()
            recorder.step("step", {}, executed(command, receipt, by="assistant"), relations)
            step = recorder.trace().steps[0]
            seen = node.seen | _visible(relations)
            yield _Node(self._world.snapshot(), relations, (*node.steps, step), seen, (*node.plan, command))

    def _nameable(self, node: _Node) -> frozenset[str]:
        """What a wearer of the task's family can be told to use: everything that stands, and objects as it may."""
        held = frozenset(r[1] for r in node.relations if r[0] == "held")
        objects = node.seen if self._rules.movables == "seen" else _visible(node.relations)
        return self._standing | objects | held

    def _judge(self, node: _Node) -> Judge:
        known = self._trace
        trace = Trace(known.initial, (*known.steps, *node.steps), known.handoff, known.baseline)
        return Judge(trace, self._task.vocabulary, self._task.pack.physical.windows)

    def _passes(self, node: _Node) -> bool:
        judge = self._judge(node)
        return all(judge.holds(condition, "interaction") for condition in self._all)

    def _key(self, node: _Node) -> tuple[object, ...]:
        """What decides how a plan may go on: the relations, and what happened that the goal speaks of, in order."""
        happened = tuple(
            (event.kind, tuple(sorted(event.roles.items())))
            for step in node.steps
            for event in step.events
            if event.kind in self._words
        )
        judge = self._judge(node) if self._gates else None
        gates = tuple(judge.holds(gate, "interaction") for gate in self._gates) if judge else ()
        return node.relations, happened, gates, node.seen if self._rules.movables == "seen" else None

    def _left(self, node: _Node) -> int:
        """At least so many primitives are still needed."""
        happened = {
            (event.kind, event.roles.get("object") or event.roles.get("device"))
            for step in node.steps
            for event in step.events
        }
        acts: set[_Act] = set()
        for condition in self._needs:
            acts |= _missing(condition, node.relations, happened, self._carried)
        return len(acts | {("close", name) for act, name in acts if act == "open" and name in self._shut})


def _visible(relations: Relations) -> frozenset[str]:
    return frozenset(r[1] for r in relations if r[0] == "visible")


# What a goal needs at least

_Act = tuple[str, str]
"""Something that one primitive does to one thing, and no other primitive does on the way."""
_Happened = set[tuple[str, Any]]

_STATES: Final[Mapping[str, str]] = {"open": "open", "closed": "close", "running": "switch on", "off": "switch off"}
_EVENTS: Final[Mapping[str, str]] = {
    "opened": "open",
    "closed": "close",
    "started": "switch on",
    "stopped": "switch off",
    "grabbed": "take",
    "looked_at": "look at",
}


def _conjuncts(conditions: Iterable[Condition]) -> Iterator[Condition]:
    for condition in conditions:
        if isinstance(condition, AllOf):
            yield from _conjuncts(condition.conditions)
        else:
            yield condition


def _missing(condition: Condition, now: Relations, happened: _Happened, carried: frozenset[str]) -> set[_Act]:
    """The acts without which a condition cannot come true. `carried` are things that may go along with another."""
    match condition:
        case State(predicate, (Name(thing), Name(place))) if predicate in ("on", "inside"):
            if (predicate, thing, place) in now or thing in carried:
                return set()
            acts = {("put", thing)} | (
                {("open", place)} if predicate == "inside" and ("closed", place) in now else set()
            )
            if ("held", thing) not in now:
                acts |= {("take", thing)}
                acts |= {("open", r[2]) for r in now if r[:2] == ("inside", thing) and ("closed", r[2]) in now}
            return acts
        case State(predicate, (Name(thing),)) if predicate in _STATES:
            return set() if (predicate, thing) in now else {(_STATES[predicate], thing)}
        case Happened(EventPattern(kind, roles)) if kind in _EVENTS:
            names = [test.name for role, test in roles if role in ("object", "device") and isinstance(test, Name)]
            return {(_EVENTS[kind], name) for name in names if (kind, name) not in happened}
    return set()


# What may be done


def _words(data: Any) -> Iterator[str]:
    """Every word in plain data: the keys of mappings and the texts."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from (str(key), *_words(value))
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _words(value)


def _concerned(task: CompiledTask, now: Relations, words: frozenset[str]) -> list[str]:
    """Names of what the goal speaks of, what that is in, on or held instead of, and what serves it."""
    named = {t.name for t in task.things.values() if t.name in words or t.category in words}
    named |= {r[2] for r in now if r[0] in ("on", "inside") and r[1] in named}
    named |= {r[1] for r in now if r[0] == "held"}
    traits = {trait for word, trait in HELPERS.items() if word in words}
    named |= {t.name for t in task.things.values() if t.declared and traits & t.traits}
    return [name for name in task.things if name in named]


def _commands(task: CompiledTask, now: Relations, words: frozenset[str]) -> Iterator[Command]:
    """Every command that makes sense with what the goal concerns, in a fixed order."""
    names = [name for name in _concerned(task, now, words) if task.things[name].kind != "room"]
    probe = Probe(task)
    for primitive in PRIMITIVES:
        if primitive.name in UNTRIED or primitive.name == "attach":
            continue
        needed = len(primitive.args) - primitive.optional
        for chosen in product(names, repeat=needed):
            command = Command(primitive.name, primitive.verbs[0], tuple(Ref(name) for name in chosen))
            if len(set(chosen)) == needed and probe.asked_wrongly(command) is None:
                yield command


def _handed_off(task: CompiledTask, world: SymbolicWorld) -> Trace:
    """Play the opening; the world stands at the handoff."""
    world.reset(task)
    recorder = Recorder()
    recorder.reset(world.relations())
    for cursor in task.opening:
        receipt = world.execute(cursor.command)
        recorder.step("step", {}, executed(cursor.command, receipt, by="opening", step=cursor.id), world.relations())
    world.mark_baseline()
    recorder.handoff(world.relations(), {})
    return recorder.trace()
