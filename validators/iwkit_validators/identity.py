"""Like things that nobody can tell apart in words, although one of them in particular is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from iwkit.compile import CompiledTask, Thing
from iwkit.goals.terms import Data, Pattern
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.spec.goal import Atom, Window
from iwkit_validators.places import named, script_commands

_UNORDERED: Final = frozenset(
    {"all", "any", "any_of", "among", "are", "each", "to", "of", "multiset", "into", "pass", "wrong"}
)
"""Keys of the goal language under which the order of a list means nothing."""


def check(doc: Document, task: CompiledTask) -> list[Problem]:
    """I630, at the first command of a script that needs one of them; none where the goal takes either."""
    return list(_check(doc, task))


def _check(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    told: set[str] = set()
    for path, command in script_commands(task):
        for name in named(command):
            others = [] if name in told else [o for o in _like(name, task) if not either(name, o, task)]
            if others:
                told |= {name, *others}
                message = f'in words {name!r} cannot be told from {others[0]!r}: both are "{task.things[name].public}"'
                hint = "give one of them `public`, `colour` or `label`, or let the goal take either"
                yield doc.problem(path, "I630", message, hint)


def _like(name: str, task: CompiledTask) -> list[str]:
    mine = _words(task.things[name])
    return [other.name for other in task.things.values() if other.name != name and _words(other) == mine]


def _words(thing: Thing) -> tuple[str, str, str | None, str | None]:
    return thing.category, thing.public.casefold(), thing.colour, thing.label


def either(first: str, second: str, task: CompiledTask) -> bool:
    """Whether what is scored stays the same when the two change names."""
    scored = meaning(task)
    return canonical(scored) == canonical(swapped(scored, {first: second, second: first}))


def meaning(task: CompiledTask) -> Data:
    """What is scored, without the ids."""
    physical = task.pack.physical
    achieve = {c.id: c.that.to_data() for c in physical.goal.achieve}
    needs = {c.id: [achieve[need] for need in c.needs] for c in physical.goal.achieve}
    return {
        "all": [
            *({"achieve": that, "all": needs[id_]} for id_, that in achieve.items()),
            *({"keep": c.that.to_data()} for c in physical.goal.keep),
            *({"gate": c.that.to_data()} for c in physical.goal.gates),
            *({"span": w.id, **_span(w)} for w in physical.windows),
            *(
                {"span": a.window, "pass": _all(a.passes), "wrong": _all(a.wrong or ()), **_span(a)}
                for a in physical.atoms
            ),
        ]
    }


def _span(item: Window | Atom) -> Data:
    return {key: when.to_data() for key, when in (("opens", item.opens), ("closes", item.closes)) if when is not None}


def _all(patterns: Sequence[Pattern]) -> Data:
    return [pattern.to_data() for pattern in patterns]


def swapped(data: Data, names: Mapping[str, str], places: bool = False) -> Data:
    """The same data with names changed; `places`: the keys are names too."""
    match data:
        case dict():
            new = {key: swapped(value, names, key == "into") for key, value in data.items()}
            return {names.get(key, key) if places else key: value for key, value in new.items()}
        case list():
            return [swapped(value, names) for value in data]
        case str():
            return names.get(data) or re.sub(r"<(\w+)>", lambda m: f"<{names.get(m[1], m[1])}>", data)
    return data


def canonical(data: Any, unordered: bool = False) -> str:
    """One text for one meaning."""
    match data:
        case dict():
            parts = sorted((key, canonical(value, unordered or key in _UNORDERED)) for key, value in data.items())
            return "{" + ",".join(f"{json.dumps(key)}:{value}" for key, value in parts) + "}"
        case list():
            items = [canonical(value) for value in data]
            return "[" + ",".join(sorted(items) if unordered else items) + "]"
    return json.dumps(data)
