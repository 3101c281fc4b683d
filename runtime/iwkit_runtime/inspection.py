"""One moment of an episode, rebuilt from its recording, to be asked which relations hold and why (SEM-6).

What is measured is measured again, from what was recorded. States of their own (`running`, `clean`, ...) are those that
the record keeps. What the hand holds, and which parts are joined, geometry does not tell: these come from the record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from iwkit.compile import CompiledTask
from iwkit.errors import UsageError
from iwkit.ledger import Record
from iwkit.predicates import PREDICATES
from iwkit.suggest import FOR_CONDITIONS, did_you_mean
from iwkit.trace import Relation, State
from iwkit.world.state import WEARER
from iwkit_runtime.engines.collision import CollisionWorld
from iwkit_runtime.physical.explain import explain
from iwkit_runtime.physical.layout import Assets
from iwkit_runtime.physical.relations import Facts, Measured, Moment, Relations, lasting
from iwkit_runtime.physical.sight import Look, Sight
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.wearer import person
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.recording import Interval, Recording

At = Literal["start", "handoff", "end"]
_MATTER = ("substance", "substances")
"""Kinds of argument that are no things of the scene."""


class Answer(NamedTuple):
    """Whether a relation holds, why, and what the record says; `recorded` is None where there is no record."""

    relation: Relation
    holds: bool
    why: str
    recorded: bool | None

    @property
    def text(self) -> str:
        """`on(cup, table)`."""
        return shown(self.relation)

    @property
    def differs(self) -> bool:
        return self.recorded is not None and self.recorded != self.holds

    def to_json(self) -> dict[str, Any]:
        """The answer in JSON's types."""
        return {**self._asdict(), "relation": list(self.relation)}


@dataclass(frozen=True)
class Inspected:
    """A moment: what it is called, what is measured then, the state that the world knew (`known`) and the record's, if
    there is one. `looks` are what the head camera made of each thing."""

    title: str
    measured: Measured
    known: State
    recorded: State | None
    looks: dict[str, Look]

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that a relation can be about."""
        facts = self.measured.facts
        return tuple(dict.fromkeys([*self.measured.places.posed, *facts.rooms, *facts.doors, WEARER]))

    def state(self) -> State:
        """All relations that hold: those that are measured, and states of their own."""
        return self.measured.state | {r for r in self.known if PREDICATES[r[0]].source == "symbolic"}

    def about(self, thing: str | None = None) -> list[Answer]:
        """Every relation that holds, or that does by the record only; of one thing, or all. What is near each other is
        told once.

        Raises:
            UsageError: no such thing.
        """
        if thing is not None:
            self._known_name(thing)
        found = sorted(self.state() | (self.recorded or frozenset()))
        twice = {r for r in found if r[0] == "near" and r[1:] > r[:0:-1] and (*r[:1], *r[:0:-1]) in found}
        return [self.answer(r) for r in found if r not in twice and (thing is None or thing in r[1:])]

    def answer(self, relation: Relation) -> Answer:
        """Whether a relation holds, and why.

        Raises:
            UsageError: no such relation, or none about such things.
        """
        self._check(relation)
        word = relation[0]
        holds = relation in self.state()
        if PREDICATES[word].source == "symbolic":
            why = "a state of its own, which commands change: it is kept, not measured"
        else:
            why = explain(self.measured, relation).partition(": ")[2]
        if word == "visible":
            why = self._seen(relation[1], holds)
        return Answer(relation, holds, why, None if self.recorded is None else relation in self.recorded)

    def _seen(self, name: str, holds: bool) -> str:
        look = self.looks.get(name)
        if look is None:
            return "only objects and fixtures with a shape are looked for"
        rays = f"{look.why}: {look.reached} of the {look.rays} rays to it in the field of view reach it"
        hidden = "" if look.by is None else f", {look.by} hides most"
        kept = "; it is held, or has just been looked at" if holds and not look.visible else ""
        return rays + hidden + kept

    def _check(self, relation: Relation) -> None:
        word, *names = relation
        if word not in PREDICATES:
            raise UsageError(f"no relation {word!r}{_hint(word, PREDICATES, FOR_CONDITIONS)}")
        kinds = PREDICATES[word].args
        if len(names) != len(kinds) and kinds[-1] != "substances":
            wanted = " ".join(kinds)
            raise UsageError(f"{shown(relation)} has the wrong number of names: write {word} {wanted}")
        for number, name in enumerate(names):
            if kinds[min(number, len(kinds) - 1)] not in _MATTER:
                self._known_name(name)

    def _known_name(self, name: str) -> None:
        if name not in self.names:
            raise UsageError(f"nothing is called {name!r} in this scene{_hint(name, self.names)}")


def shown(relation: Relation) -> str:
    """`on(cup, table)`."""
    return f"{relation[0]}({', '.join(relation[1:])})"


def read_relation(text: str) -> Relation:
    """`on cup table`, or `on(cup, table)`.

    Raises:
        UsageError: nothing is written.
    """
    words = tuple(re.findall(r"[^\s(),]+", text))
    if not words:
        raise UsageError("no relation is written: write one such as 'on cup table'")
    return words


def inspect_recording(recording: Recording, at: At = "end", record: int | None = None) -> Inspected:
    """The moment after a record of an episode by its number, or at its start, handoff or end.

    Raises:
        UsageError: no such record, or no handoff yet.
    """
    last = _last(recording.records, at, record)
    replay = _Replay(recording)
    for one in recording.records:
        if one["n"] <= last["n"]:
            replay.follow(one)
    return replay.inspected(f"{recording.cell}, {_called(last)}")


def inspect_start(task: CompiledTask, assets: Assets | None = None) -> Inspected:
    """The start of a task in the physical world.

    Raises:
        UsageError: its scene can't be built.
    """
    world = PhysicalWorld(assets)
    world.reset(task)
    stage = world.stage
    camera = stage.person.camera(stage.idle())
    measured = stage.relations.at(stage.moment(world.visible()))
    return Inspected(f"{task.id}, at the start", measured, world.relations(), None, stage.sight.look(camera))


class _Replay:
    """Follows the records of an episode, and so knows where everything is after each."""

    def __init__(self, recording: Recording) -> None:
        self._recording, self._person = recording, person()
        self._intervals: dict[int, Interval] = {interval.step: interval for interval in recording.intervals}
        self._poses, self._joints = dict(recording.poses), dict(recording.joints)
        self._body, self._stand = recording.body, recording.stand
        self._relations = Relations(recording.spec, Facts.of(recording.task))
        self._joined: dict[str, str] = {}
        self._state: State = frozenset()
        self._before: State = frozenset()
        self._after: State = frozenset()
        self._baseline: Moment | None = None

    def follow(self, record: Record) -> None:
        """What a record changes."""
        added, removed = (frozenset(map(tuple, record.get(word, ()))) for word in ("added", "removed"))
        self._state = (self._state - removed) | added | frozenset(map(tuple, record.get("state", ())))
        interval = self._intervals.get(record["n"])
        if interval is not None:
            self._carry_out(interval)
        if record["kind"] == "handoff":
            self._baseline = self._moment()
        if interval is not None or record["kind"] in ("reset", "handoff"):
            self._before = self._after
            self._after = lasting(self._relations.state(self._moment(), self._baseline))

    def inspected(self, title: str) -> Inspected:
        """The moment after the last record."""
        measured = self._relations.at(self._moment(), self._baseline)
        return Inspected(title, measured, self._state, self._state, self._looks())

    def _carry_out(self, interval: Interval) -> None:
        for frame in interval.frames:
            self._poses |= frame.poses
            self._joints |= frame.joints
            self._body, self._stand = frame.body, frame.stand
        for happening in interval.happenings:
            name = str(happening.roles.get("object"))
            if happening.kind == "attached":
                self._joined[name] = str(happening.roles["parent"])
            elif happening.kind == "detached":
                self._joined.pop(name, None)

    def _moment(self) -> Moment:
        held = next((r[1] for r in self._state if r[0] == "held"), None)
        seen = sorted(r[1] for r in self._state if r[0] == "visible")
        hips = self._person.hips(self._body)
        where = self._stand.x, self._stand.y
        return Moment(dict(self._poses), dict(self._joints), held, where, seen, hips, dict(self._joined), self._before)

    def _looks(self) -> dict[str, Look]:
        world = CollisionWorld(self._recording.spec)
        world.update(self._poses, self._joints)
        camera: Floats = self._person.camera(self._body)
        return Sight(world).look(camera)


def _last(records: Sequence[Record], at: At, record: int | None) -> Record:
    """The record after which a moment is."""
    kinds = {"start": "reset", "handoff": "handoff"}
    begun = [r for r in records if r["kind"] != "header"]
    if record is not None:
        found = [r for r in begun if r["n"] == record]
        missing = f"no record {record}: there are {begun[0]['n']} to {begun[-1]['n']}"
    elif at == "end":
        return begun[-1]
    else:
        found = [r for r in begun if r["kind"] == kinds[at]]
        missing = "the episode stopped before its handoff: ask for its end, or go on with the run"
    if not found:
        raise UsageError(missing)
    return found[0]


def _called(record: Record) -> str:
    if record["kind"] == "reset":
        return "at the start"
    about = record.get("command", {"end": "the end"}.get(record["kind"], record["kind"]))
    return f"after record {record['n']}, {about}"


def _hint(word: str, known: Iterable[str], instead: dict[str, str] | None = None) -> str:
    hint = did_you_mean(word, known, instead)
    return f": {hint}" if hint else f"; there are {', '.join(_some(sorted(known)))}"


def _some(names: list[str], most: int = 60) -> Iterator[str]:
    yield from names[:most]
    if len(names) > most:
        yield "..."
