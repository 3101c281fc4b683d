"""A second evaluator of the goal language, written from docs/goal-language.md alone and compared with the real one.

It works on the raw data of a pack (dicts, lists, strings) and tries everything: no parsing, no matching algorithm, no
memory. A *place* is a pair (step index, rank in the step); the handoff lies before the first event of the interaction
and a `becomes` after all events of its step.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from typing import Any

from iwkit.events import EVENT_KINDS
from iwkit.predicates import PREDICATES
from iwkit.trace import RoleValue, State, Trace
from iwkit.verbs import SURFACE

Place = tuple[int, float]
Data = Any
"""What YAML gives: dicts with string keys, lists and strings."""


@dataclass(frozen=True)
class Pack:
    """What a condition refers to: entity name -> category, the names of the movable ones, and the windows."""

    entities: dict[str, str]
    movable: frozenset[str]
    windows: tuple[dict[str, Data], ...] = ()


@dataclass(frozen=True)
class Found:
    """An event that matches a pattern. `which` tells two events apart that lie at one place."""

    at: Place
    which: str
    assisted: bool


# Targets and states (sections 2 and 3)


def candidates(target: Data, pack: Pack) -> list[str]:
    if isinstance(target, str):
        return [target]
    if "category" in target:
        return [name for name, category in pack.entities.items() if category == target["category"]]
    return list(target["any_of"])


def state_holds(data: Data, state: State, pack: Pack) -> bool:
    [(predicate, given)] = data.items()
    arguments = given if isinstance(given, list) else [given]
    choices: list[list[tuple[str, ...]]] = []
    for argument in arguments:
        if isinstance(argument, list):  # a substance list is one argument
            choices.append([tuple(argument)])
        else:
            choices.append([(name,) for name in candidates(argument, pack)])
    return any((predicate, *(word for part in choice for word in part)) in state for choice in product(*choices))


# Operators over states (section 4)


def true_in(data: Data, state: State, pack: Pack) -> bool:
    """Whether a condition over states is true in one state."""
    [(key, body)] = data.items()
    if key in PREDICATES:
        return state_holds(data, state, pack)
    if key == "all":
        return all(true_in(part, state, pack) for part in body)
    if key == "any":
        return any(true_in(part, state, pack) for part in body)
    if key == "not":
        return not true_in(body, state, pack)
    return {"count": _count, "exactly": _exactly, "partition": _partition, "match": _match}[key](body, state, pack)


def _count(body: Data, state: State, pack: Pack) -> bool:
    [(predicate, given)] = body["that"].items()
    arguments = given if isinstance(given, list) else [given]
    place = next(i for i, argument in enumerate(arguments) if isinstance(argument, dict))
    number = 0
    for name in candidates(arguments[place], pack):
        filled = [name if i == place else argument for i, argument in enumerate(arguments)]
        number += state_holds({predicate: filled}, state, pack)
    if "is" in body:
        return bool(number == body["is"])
    if "at_least" in body:
        return bool(number >= body["at_least"])
    return bool(number <= body["at_most"])


def _fills(by: str, place: str, targets: list[Data], among: Iterable[str], state: State, pack: Pack) -> bool:
    """`exactly`: what is there and the targets can be paired with none left over."""
    there = [name for name in among if (by, name, place) in state]
    if len(there) != len(targets):
        return False
    return any(
        all(name in candidates(target, pack) for name, target in zip(order, targets, strict=True))
        for order in permutations(there)
    )


def _exactly(body: Data, state: State, pack: Pack) -> bool:
    by, place = ("inside", body["in"]) if "in" in body else ("on", body["on"])
    return _fills(by, place, body["are"], body.get("among", sorted(pack.movable)), state, pack)


def _partition(body: Data, state: State, pack: Pack) -> bool:
    by, into, of = body["by"], body["into"], body["of"]
    filled = all(_fills(by, place, targets, of, state, pack) for place, targets in into.items())
    return filled and all(sum((by, thing, place) in state for place in into) == 1 for thing in of)


def _match(body: Data, state: State, pack: Pack) -> bool:
    each, to = body["each"], body["to"]
    return any(
        all((body["by"], one, other) in state for one, other in zip(each, chosen, strict=True))
        for chosen in permutations(to, len(each))
    )


# Event patterns (section 6)


def find(pattern: Data, trace: Trace, pack: Pack) -> list[Found]:
    """Every event of the whole trace that matches the pattern, in order."""
    [(kind, body)] = pattern.items()
    if kind == "becomes":
        return _becomings(body, trace, pack)
    roles = _roles(kind, body)
    return [
        Found((i, rank), "event", event.assisted)
        for i, step in enumerate(trace.steps)
        for rank, event in enumerate(step.events)
        if event.kind == kind
        and all(_role_fits(kind, role, wanted, event.roles, pack) for role, wanted in roles.items())
        and ("during" not in roles or is_open(roles["during"], (i, rank), trace, pack))
        and ("outside" not in roles or not is_open(roles["outside"], (i, rank), trace, pack))
    ]


def _roles(kind: str, body: Data) -> dict[str, Data]:
    names = [name for name, _ in EVENT_KINDS[kind].roles]
    is_long = isinstance(body, dict) and not ({"category", "any_of"} & set(body))
    return dict(body) if is_long else {names[0]: body}


def _role_fits(kind: str, role: str, wanted: Data, has: Any, pack: Pack) -> bool:
    if role in ("during", "outside") or wanted == "any":
        return True
    value: RoleValue | None = has.get(role)
    if value is None:
        return False
    if (kind, role) == ("commanded", "do"):
        return isinstance(value, str) and same_command(wanted, value)
    members = [value] if isinstance(value, str) else list(value)
    return any(member in candidates(wanted, pack) for member in members)


def _becomings(condition: Data, trace: Trace, pack: Pack) -> list[Found]:
    found = []
    for i, step in enumerate(trace.steps):
        before = trace.baseline if i == trace.handoff else trace.steps[i - 1].state if i else trace.initial
        if true_in(condition, step.state, pack) and not true_in(condition, before, pack):
            found.append(Found((i, math.inf), repr(condition), any(event.assisted for event in step.events)))
    return found


def same_command(wanted: str, done: str) -> bool:
    verb, rest, spot = _command(wanted)
    done_verb, done_rest, done_spot = _command(done)
    if verb != done_verb:
        return False
    return not rest or (rest == done_rest and spot in ("", done_spot))


def _verb(text: str) -> str:
    verb: str = re.findall(r"\[\s*(\w+)\s*\]", text)[0]
    return verb.lower()


def _command(text: str) -> tuple[str, list[tuple[str, str]], str]:
    """A command of entity arguments: its primitive, its names with their indices, its place spot."""
    names = re.findall(r"<\s*(\w+)\s*>\s*(?:\((\d+)\))?", text)
    spot = re.search(r"@place_spot=(\S+)", text)
    primitive = SURFACE[_verb(text)][0].name
    if primitive == "turn":  # left, right and around are no aliases of each other
        primitive = _verb(text)
    return primitive, [(name, index or "1") for name, index in names], spot[1] if spot else ""


# Windows and cursors (section 7)


def moments(when: Data, trace: Trace, pack: Pack) -> list[Place]:
    """The places at which a `when` comes about."""
    handoff = (trace.handoff, -1)
    if when == "handoff":
        return [handoff]
    places = [found.at for found in find(when, trace, pack)]
    return places if "after" in when else [place for place in places if place > handoff]


def span(opens: Data, closes: Data, trace: Trace, pack: Pack) -> tuple[Place, Place] | None:
    """From the opening to the first closing after it, both included; None when it never opens."""
    starts = moments(opens, trace, pack)
    if not starts:
        return None
    ends = [] if closes is None else [place for place in moments(closes, trace, pack) if place > starts[0]]
    return starts[0], ends[0] if ends else (len(trace.steps), math.inf)


def window_span(name: str, trace: Trace, pack: Pack) -> tuple[Place, Place] | None:
    [window] = [window for window in pack.windows if window["id"] == name]
    return span(window["opens"], window.get("closes"), trace, pack)


def is_open(name: str, at: Place, trace: Trace, pack: Pack) -> bool:
    limits = window_span(name, trace, pack)
    return limits is not None and limits[0] <= at <= limits[1]


# Operators over events (section 5)


def holds(data: Data, trace: Trace, pack: Pack, scope: str) -> bool:
    """Whether a condition is true where `scope` (`evidence` or `goal`) puts it. False if it cannot be judged."""
    return can_be_judged(data, pack) and _true(data, trace, pack, scope)


def can_be_judged(data: Data, pack: Pack, inside: tuple[str, ...] = ()) -> bool:
    """Every window exists and does not depend on itself, every command is in the grammar (the verb stands for it)."""
    if isinstance(data, list):
        return all(can_be_judged(part, pack, inside) for part in data)
    if not isinstance(data, dict):
        return True
    for key, body in data.items():
        if key in ("window", "during", "outside"):
            edges = [[window["opens"], window.get("closes")] for window in pack.windows if window["id"] == body]
            if body in inside or not edges or not can_be_judged(edges, pack, (*inside, body)):
                return False
        if key == "commanded":
            command = _roles(key, body).get("do", "any")
            if command != "any" and _verb(command) not in SURFACE:
                return False
    return all(can_be_judged(body, pack, inside) for body in data.values())


def _true(data: Data, trace: Trace, pack: Pack, scope: str) -> bool:
    [(key, body)] = data.items()
    if key == "all":
        return all(_true(part, trace, pack, scope) for part in body)
    if key == "any":
        return any(_true(part, trace, pack, scope) for part in body)
    if key == "not":
        return not _true(body, trace, pack, scope)
    if key in OPERATORS:
        return OPERATORS[key](body, trace, pack, scope)
    return true_in(data, trace.baseline if scope == "evidence" else trace.end, pack)


def _in_range(pattern: Data, trace: Trace, pack: Pack, scope: str) -> list[Found]:
    found = find(pattern, trace, pack)
    return [f for f in found if (f.at[0] < trace.handoff) == (scope == "evidence")]


def _happened(body: Data, trace: Trace, pack: Pack, scope: str) -> bool:
    return bool(_in_range(body, trace, pack, scope))


def _never(body: Data, trace: Trace, pack: Pack, scope: str) -> bool:
    return not _in_range(body, trace, pack, scope)


def _never_moved(body: Data, trace: Trace, pack: Pack, scope: str) -> bool:
    return not _in_range({"moved": body}, trace, pack, scope)


def _before(body: Data, trace: Trace, pack: Pack, scope: str) -> bool:
    firsts, seconds = (_in_range(pattern, trace, pack, scope) for pattern in body)
    return bool(firsts) and not any(second.at < firsts[0].at for second in seconds)


def _sequence(body: Data, trace: Trace, pack: Pack, scope: str) -> bool:
    chains = product(*(_in_range(pattern, trace, pack, scope) for pattern in body))
    return any(all(a.at < b.at for a, b in pairwise(chain)) for chain in chains)


def _multiset(body: Data, trace: Trace, pack: Pack, scope: str) -> bool:
    choices = product(*(_in_range(pattern, trace, pack, scope) for pattern in body))
    return any(len({(f.at, f.which) for f in choice}) == len(body) for choice in choices)


def _until(body: Data, trace: Trace, pack: Pack, scope: str) -> bool:
    condition, pattern = body
    ends = _in_range(pattern, trace, pack, scope)
    last = ends[0].at[0] if ends else len(trace.steps)
    if scope == "evidence":
        states = [trace.initial] + [step.state for step in trace.steps[: min(last, trace.handoff)]]
    else:
        states = [trace.baseline] + [step.state for step in trace.steps[trace.handoff : last]]
    return all(true_in(condition, state, pack) for state in states)


def _within(body: Data, trace: Trace, pack: Pack, scope: str) -> bool:
    wanted = _in_range(body["that"], trace, pack, scope)
    if "window" in body:
        return any(is_open(body["window"], f.at, trace, pack) for f in wanted)
    start: Place = (-1, 0)
    if "after" in body:
        openings = _in_range(body["after"], trace, pack, scope)
        if not openings:
            return False
        start = openings[0].at
    closings = [f.at for f in _in_range(body["until"], trace, pack, scope) if f.at > start] if "until" in body else []
    return any(f.at > start and all(f.at < closing for closing in closings) for f in wanted)


OPERATORS = {
    "happened": _happened,
    "never": _never,
    "never_moved": _never_moved,
    "before": _before,
    "sequence": _sequence,
    "multiset": _multiset,
    "until": _until,
    "within": _within,
}


# Score and atoms (sections 8 and 9)


def satisfied(goal: Data, name: str, trace: Trace, pack: Pack) -> bool:
    [achieve] = [a for a in goal["achieve"] if a["id"] == name]
    return holds(achieve["that"], trace, pack, "goal") and all(
        satisfied(goal, needed, trace, pack) for needed in achieve.get("needs", [])
    )


def block_holds(goal: Data, block: str, trace: Trace, pack: Pack) -> bool:
    return all(holds(condition["that"], trace, pack, "goal") for condition in goal.get(block, []))


def passed(goal: Data, trace: Trace, pack: Pack) -> bool:
    return all(block_holds(goal, block, trace, pack) for block in ("achieve", "keep", "gates"))


def completion(goal: Data, trace: Trace, pack: Pack) -> float:
    if goal.get("score") == "binary":
        return 1.0 if passed(goal, trace, pack) else 0.0
    names = [achieve["id"] for achieve in goal["achieve"]]
    return sum(satisfied(goal, name, trace, pack) for name in names) / len(names)


def cfss(goal: Data, trace: Trace, pack: Pack) -> tuple[float, float]:
    """`cfss` and `stg_cfss`, as source family NARRATE has them."""
    plain = completion(goal, trace, pack) if block_holds(goal, "keep", trace, pack) else 0.0
    return plain, plain if block_holds(goal, "gates", trace, pack) else 0.0


def label(atom: Data, trace: Trace, pack: Pack, void: bool) -> str:
    if void:
        return "void"
    if "window" in atom:
        limits = window_span(atom["window"], trace, pack)
    else:
        limits = span(atom["opens"], atom.get("closes"), trace, pack)
    if limits is None:
        return "unobserved"

    def while_open(patterns: Data) -> list[Found]:
        listed = patterns if isinstance(patterns, list) else [patterns]
        found = [f for pattern in listed for f in _in_range(pattern, trace, pack, "goal")]
        return sorted((f for f in found if limits[0] <= f.at <= limits[1]), key=lambda f: f.at)

    right, wrong = while_open(atom["pass"]), while_open(atom["wrong"])
    if right and (not wrong or right[0].at <= wrong[0].at):
        return "assisted" if right[0].assisted else "clean_pass"
    if wrong:
        return "wrong"
    return "abstain" if while_open({"said": {"by": "assistant"}}) else "unobserved"
