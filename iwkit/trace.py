"""What happened in an episode: steps of events and the state after them (docs/goal-language.md section 1).

Scoring reads a `Trace` and nothing else. Worlds and the loop write it; the ledger stores it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Relation = tuple[str, ...]
"""A predicate and its arguments, such as `("on", "cup", "table")`."""

State = frozenset[Relation]
RoleValue = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Happening:
    """What a world or the loop reports: a kind of `iwkit.events` and its roles. It has no place in the order yet."""

    kind: str
    roles: Mapping[str, RoleValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """A happening with its place: `seq` grows over the whole episode. `assisted` marks what a hint of the human or a
    repair by the harness led to."""

    seq: int
    kind: str
    roles: Mapping[str, RoleValue] = field(default_factory=dict)
    assisted: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Events in order, and the state after them. An utterance is a step whose state is the one before it."""

    events: tuple[Event, ...]
    state: State


@dataclass(frozen=True, slots=True)
class Trace:
    """`initial` is the state at reset; `steps[:handoff]` is the opening, `steps[handoff:]` the interaction.

    `baseline` is the state at the handoff: the last state of the opening together with the relations that exist only
    from the handoff on (`at_baseline`, `unmoved`).
    """

    initial: State
    steps: tuple[Step, ...]
    handoff: int
    baseline: State

    @property
    def opening(self) -> tuple[Step, ...]:
        return self.steps[: self.handoff]

    @property
    def interaction(self) -> tuple[Step, ...]:
        return self.steps[self.handoff :]

    @property
    def end(self) -> State:
        return self.interaction[-1].state if self.interaction else self.baseline

    def at_handoff(self) -> Trace:
        """The same trace cut off at the handoff: an empty interaction."""
        return Trace(self.initial, self.opening, self.handoff, self.baseline)

    def events(self) -> Iterator[Event]:
        for step in self.steps:
            yield from step.events


def changes(before: State, after: State) -> tuple[tuple[Relation, ...], tuple[Relation, ...]]:
    """Relations added and removed, each sorted: the relation delta of EVAL-7."""
    return tuple(sorted(after - before)), tuple(sorted(before - after))
