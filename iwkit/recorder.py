"""Building the trace while an episode runs, and writing each step as a record (EVAL-7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from iwkit.grammar import Command, render
from iwkit.trace import Event, Happening, State, Step, Trace, changes
from iwkit.verbs import BY_NAME
from iwkit.world.base import Receipt

Sink = Callable[[str, dict[str, Any]], None]
"""Takes one record, a kind and its fields, and returns once it is safe on disk."""


def _nowhere(kind: str, fields: dict[str, Any]) -> None:
    """The sink of a trace that is only wanted in memory."""


def executed(command: Command, receipt: Receipt, *, by: str, step: str | None = None) -> list[Happening]:
    """Everything that an executed command makes happen: what the world reports, then what the loop adds (`commanded`,
    `refused`, and `after` where the command was a step of the opening or the plan)."""
    connectors = BY_NAME[command.primitive].connectors
    names = tuple(ref.name for i, ref in enumerate(command.args) if i not in connectors)
    result = "ok" if receipt.ok else "refused"
    found = [
        *receipt.happenings,
        Happening("commanded", {"do": render(command), "by": by, "result": result, "object": names}),
    ]
    if not receipt.ok:
        target = names[0] if names else "wearer"
        found.append(Happening("refused", {"object": target, "code": receipt.code, "by": by}))
    elif step is not None:
        found.append(Happening("after", {"step": step}))
    return found


class Recorder:
    """The trace so far. Every step goes to the sink before anything else happens."""

    def __init__(self, sink: Sink = _nowhere) -> None:
        self._sink = sink
        self._steps: list[Step] = []
        self._handoff: int | None = None
        self._seq = 0
        self.initial: State = frozenset()
        self.baseline: State = frozenset()
        self.state: State = frozenset()

    def reset(self, state: State, fields: Mapping[str, Any] | None = None) -> None:
        """The world was reset to `state`; `fields` go into the record beside it."""
        self.initial = self.state = state
        self._sink("reset", {**(fields or {}), "state": sorted(map(list, state))})

    def step(
        self,
        kind: str,
        fields: dict[str, Any],
        happenings: Iterable[Happening],
        state: State,
        *,
        assisted: bool = False,
    ) -> tuple[Event, ...]:
        """Append one step; `fields` go into its record beside the events and the relation delta."""
        events = []
        for happening in happenings:
            self._seq += 1
            events.append(Event(self._seq, happening.kind, dict(happening.roles), assisted))
        added, removed = changes(self.state, state)
        self.state = state
        self._steps.append(Step(tuple(events), state))
        record = {
            **fields,
            "events": [event_json(e) for e in events],
            "added": [list(r) for r in added],
            "removed": [list(r) for r in removed],
        }
        self._sink(kind, record)
        return tuple(events)

    def handoff(self, state: State, fields: dict[str, Any]) -> None:
        """Mark the end of the opening; `state` is the baseline."""
        added, removed = changes(self.state, state)
        self._handoff = len(self._steps)
        self.baseline = self.state = state
        self._sink("handoff", {**fields, "added": [list(r) for r in added], "removed": [list(r) for r in removed]})

    @property
    def handed_off(self) -> bool:
        return self._handoff is not None

    def trace(self) -> Trace:
        handoff = len(self._steps) if self._handoff is None else self._handoff
        baseline = self.state if self._handoff is None else self.baseline
        return Trace(self.initial, tuple(self._steps), handoff, baseline)


def event_json(event: Event) -> dict[str, Any]:
    roles = {k: list(v) if isinstance(v, tuple) else v for k, v in event.roles.items()}
    found: dict[str, Any] = {"seq": event.seq, "kind": event.kind, "roles": roles}
    if event.assisted:
        found["assisted"] = True
    return found
