"""A trace laid out for judging: where each event lies, which events match a pattern, when each window is open."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

from iwkit.errors import GrammarError
from iwkit.goals.commands import matches_command, read_pattern
from iwkit.goals.terms import (
    AllOf,
    AnyOf,
    Arg,
    Becomes,
    Category,
    Condition,
    EventPattern,
    Handoff,
    Name,
    Not,
    Pattern,
    RoleTest,
    SomeOf,
    State,
    When,
    Within,
    Word,
    Words,
    children,
    patterns,
)
from iwkit.goals.vocabulary import Vocabulary
from iwkit.trace import Event, Relation, RoleValue, Trace
from iwkit.trace import State as Relations

if TYPE_CHECKING:
    from iwkit.spec.goal import Window

Scope = Literal["opening", "interaction"]
END = sys.maxsize
"""A position after all others."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event at its position in the order of the whole trace; `event` is None where a `becomes` came true.

    `step` is the index of its step. Positions leave room in each step for the handoff before it and for `becomes`
    after its events.
    """

    pos: int
    step: int
    event: Event | None
    assisted: bool


@dataclass(frozen=True, slots=True)
class Span:
    """The positions from `start` to `stop`, both included."""

    start: int
    stop: int

    def __contains__(self, pos: object) -> bool:
        return isinstance(pos, int) and self.start <= pos <= self.stop


@dataclass(frozen=True, slots=True)
class View:
    """What a condition is judged on: one state, and the events with `low < pos < high`.

    `states` are those that `until` reads: the first one, then the state after each step from index `first_step` on.
    """

    state: Relations
    low: int = 0
    high: int = 0
    states: tuple[Relations, ...] = ()
    first_step: int = 0


Holds = Callable[[Condition, Relations], bool]
"""Judges a condition over states in one state."""


class Timeline:
    """One trace with the vocabulary and windows of its pack. Nothing in it changes what it was made from.

    `holds` judges the conditions of `becomes`; `iwkit.goals.evaluate` passes its own.
    """

    def __init__(self, trace: Trace, vocabulary: Vocabulary, windows: Sequence[Window], holds: Holds) -> None:
        self.trace, self.vocabulary, self._holds = trace, vocabulary, holds
        self.windows: Mapping[str, Window] = {w.id: w for w in windows}
        self.handoff = 0
        self._by_kind: dict[str, list[Occurrence]] = {}
        self._step_ends: list[int] = []
        self._matches: dict[Pattern, tuple[Occurrence, ...]] = {}
        self._spans: dict[str, Span | None] = {}
        self._choices: dict[State, tuple[Relation, ...]] = {}
        self._groups: dict[State, tuple[tuple[Relation, ...], ...]] = {}
        self._lay_out()

    def _lay_out(self) -> None:
        pos = 1
        for index, step in enumerate(self.trace.steps):
            if index == self.trace.handoff:
                self.handoff = pos
            for pos, event in enumerate(step.events, pos + 1):  # noqa: B020 - the position runs on
                occurrence = Occurrence(pos, index, event, event.assisted)
                self._by_kind.setdefault(event.kind, []).append(occurrence)
            pos += 1
            self._step_ends.append(pos)
            pos += 1
        if self.trace.handoff >= len(self.trace.steps):
            self.handoff = pos

    @cached_property
    def interaction(self) -> View:
        steps = self.trace.interaction
        states = (self.trace.baseline, *(step.state for step in steps))
        return View(self.trace.end, self.handoff, END, states, self.trace.handoff)

    @cached_property
    def opening(self) -> View:
        states = (self.trace.initial, *(step.state for step in self.trace.opening))
        return View(self.trace.baseline, 0, self.handoff, states, 0)

    def view(self, scope: Scope) -> View:
        return self.opening if scope == "opening" else self.interaction

    # States

    def choices(self, state: State) -> tuple[Relation, ...]:
        """The relations that make the state true, one for each choice of candidates."""
        found = self._choices.get(state)
        if found is None:
            found = self._choices[state] = tuple(
                (state.predicate, *itertools.chain.from_iterable(choice))
                for choice in itertools.product(*map(self._values, state.args))
            )
        return found

    def choices_by_candidate(self, state: State) -> tuple[tuple[Relation, ...], ...]:
        """The same, apart for each candidate of the first target with several."""
        found = self._groups.get(state)
        if found is None:
            index, target = next((i, arg) for i, arg in enumerate(state.args) if isinstance(arg, Category | AnyOf))
            found = self._groups[state] = tuple(
                self.choices(State(state.predicate, (*state.args[:index], Name(name), *state.args[index + 1 :])))
                for name in self.vocabulary.candidates(target)
            )
        return found

    def _values(self, arg: Arg) -> list[tuple[str, ...]]:
        if isinstance(arg, Word):
            return [(arg.text,)]
        if isinstance(arg, Words):
            return [arg.words]
        return [(name,) for name in self.vocabulary.candidates(arg)]

    # Events

    def matches(self, pattern: Pattern) -> tuple[Occurrence, ...]:
        """All events of the whole trace that match, in order."""
        found = self._matches.get(pattern)
        if found is None:
            source = self._becomes(pattern) if isinstance(pattern, Becomes) else self._events(pattern)
            found = self._matches[pattern] = tuple(source)
        return found

    def between(self, pattern: Pattern, low: int, high: int) -> Iterator[Occurrence]:
        """Those with `low < pos < high`."""
        return (o for o in self.matches(pattern) if low < o.pos < high)

    def first(self, pattern: Pattern, low: int, high: int) -> Occurrence | None:
        return next(self.between(pattern, low, high), None)

    def _events(self, pattern: EventPattern) -> Iterator[Occurrence]:
        tests = [(role, self._test(pattern.kind, role, test)) for role, test in pattern.roles]
        during = self._open(pattern.during) if pattern.during is not None else None
        outside = self._open(pattern.outside) if pattern.outside is not None else None
        for occurrence in self._by_kind.get(pattern.kind, ()):
            if during is not None and not during(occurrence.pos):
                continue
            if outside is not None and outside(occurrence.pos):
                continue
            roles = occurrence.event.roles if occurrence.event else {}
            if all(_any_member(test, roles.get(role)) for role, test in tests):
                yield occurrence

    def _test(self, kind: str, role: str, test: RoleTest) -> Callable[[str], bool]:
        if not isinstance(test, Word):
            return frozenset(self.vocabulary.candidates(test)).__contains__
        text = test.text
        if (kind, role) == ("commanded", "do"):
            return lambda value: matches_command(text, value)
        return text.__eq__

    def _open(self, window: str) -> Callable[[int], bool]:
        span = self.window(window)
        return (lambda _: False) if span is None else span.__contains__

    def _becomes(self, pattern: Becomes) -> Iterator[Occurrence]:
        before = self._holds(pattern.condition, self.trace.initial)
        for index, step in enumerate(self.trace.steps):
            if index == self.trace.handoff:
                before = self._holds(pattern.condition, self.trace.baseline)
            now = self._holds(pattern.condition, step.state)
            if now and not before:
                yield Occurrence(self._step_ends[index], index, None, any(e.assisted for e in step.events))
            before = now

    # Windows

    def span(self, opens: When, closes: When | None) -> Span | None:
        """From the first opening event to the first closing event after it, both included; None if it never opens."""
        start = next(self._moments(opens), None)
        if start is None:
            return None
        later = (pos for pos in self._moments(closes) if pos > start) if closes is not None else iter(())
        return Span(start, next(later, END))

    def _moments(self, when: When) -> Iterator[int]:
        """Positions of a `when`: steps count wherever they succeeded, other events from the handoff on."""
        if isinstance(when, Handoff):
            yield self.handoff
            return
        back = isinstance(when, EventPattern) and when.kind == "after"
        for occurrence in self.matches(when):
            if back or occurrence.pos > self.handoff:
                yield occurrence.pos

    def window(self, name: str) -> Span | None:
        """When the window is open; None if it never opens. It must be one that `undefined` has nothing against."""
        if name not in self._spans:
            window = self.windows[name]
            self._spans[name] = self.span(window.opens, window.closes)
        return self._spans[name]

    def undefined(self, uses: Uses, within: tuple[str, ...] = ()) -> str:
        """Why something that uses these windows and commands cannot be judged; "" if it can."""
        for text in uses.commands:
            try:
                read_pattern(text)
            except GrammarError as error:
                return f"the command {text!r} is not in the grammar: {error}"
        for name in uses.windows:
            if name in within:
                return f"the window {name} depends on itself"
            if name not in self.windows:
                return f"there is no window {name}"
            window = self.windows[name]
            why = self.undefined(uses_of(window.opens, window.closes), (*within, name))
            if why:
                return why
        return ""


def _any_member(test: Callable[[str], bool], value: RoleValue | None) -> bool:
    if value is None:
        return False
    return test(value) if isinstance(value, str) else any(map(test, value))


@dataclass(frozen=True, slots=True)
class Uses:
    """Windows and commands that something names, each once, in order."""

    windows: tuple[str, ...]
    commands: tuple[str, ...]


@lru_cache(maxsize=4096)
def uses_of(*parts: Condition | When | None) -> Uses:
    """What conditions, patterns or `when`s name and a trace alone cannot supply."""
    windows: dict[str, None] = {}
    commands: dict[str, None] = {}
    for part in parts:
        for pattern in _all_patterns(part):
            windows |= dict.fromkeys(name for name in (pattern.during, pattern.outside) if name is not None)
            commands |= {t.text: None for role, t in pattern.roles if role == "do" and isinstance(t, Word)}
        windows |= dict.fromkeys(_within_windows(part))
    return Uses(tuple(windows), tuple(commands))


def _all_patterns(part: Condition | When | None) -> Iterator[EventPattern]:
    if isinstance(part, EventPattern):
        yield part
    elif part is not None and not isinstance(part, Becomes | Handoff):
        for inner in (*children(part), *patterns(part)):
            yield from _all_patterns(inner)


def _within_windows(part: object) -> Iterator[str]:
    if isinstance(part, Within) and part.window is not None:
        yield part.window
    elif isinstance(part, AllOf | SomeOf | Not):
        for inner in children(part):
            yield from _within_windows(inner)
