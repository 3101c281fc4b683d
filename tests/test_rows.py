"""The goal blocks of the 120 rows of Tables 7 to 12: the goal language can say what every row validates (BENCH-8).

`tests/data/rows/<family>.yaml` holds the blocks, `tests/data/rows/plays.yaml` short plays that must pass or must fail.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import pytest

from iwkit.goals.check import check_goal
from iwkit.goals.evaluate import judge
from iwkit.goals.vocabulary import Entity, Trait, Vocabulary
from iwkit.score import Score, score
from iwkit.source.check import check
from iwkit.source.reader import read
from iwkit.spec.base import AsTuple, Model, Name, Text
from iwkit.spec.goal import Atom, Goal, Named, Window
from iwkit.trace import Event, Relation, RoleValue, State, Step, Trace

ROWS = Path(__file__).parent / "data" / "rows"
FAMILIES = {
    "guidance": ("G", "GUIDE"),
    "planning": ("P", "ORCHESTRATE"),
    "accessibility": ("A", "NARRATE"),
    "decision": ("D", "ASK"),
    "prevention": ("W", "WATCH"),
    "finding": ("F", "FIND"),
}
BY_SCORER = {"F1": "GUIDE", "F2": "GUIDE", "F3": "WATCH"}
WITH_STG = {f"A{n}" for n in (1, 2, 4, 6, 7, 11, 12, 14, 17, 18)}
NOTHING = Trace(frozenset(), (), 0, frozenset())


class Thing(Model):
    category: Name
    traits: Annotated[tuple[Trait, ...], AsTuple]


class Clause(Model):
    """A clause of the row's validation and what judges it: conditions, evidence, atoms. A `note` says why none does."""

    clause: Text
    by: Annotated[tuple[Name, ...], AsTuple]
    note: Text | None = None


class Row(Model):
    id: str
    source_family: Literal["GUIDE", "ORCHESTRATE", "NARRATE", "ASK", "WATCH", "FIND"]
    note: Text | None = None
    entities: dict[Name, Thing]
    steps: Annotated[tuple[Name, ...], AsTuple] = ()
    windows: Annotated[tuple[Window, ...], AsTuple] = ()
    evidence: Annotated[tuple[Named, ...], AsTuple] = ()
    goal: Goal
    atoms: Annotated[tuple[Atom, ...], AsTuple]
    clauses: Annotated[tuple[Clause, ...], AsTuple]

    def vocabulary(self) -> Vocabulary:
        things = {n: Entity(n, t.category, frozenset(t.traits)) for n, t in self.entities.items()}
        return Vocabulary(things, frozenset(w.id for w in self.windows), frozenset(self.steps))

    def conditions(self) -> list[Named]:
        return [*self.goal.achieve, *self.goal.keep, *self.goal.gates]

    def score(self, trace: Trace) -> Score:
        # Plays begin at the handoff, so the evidence of the opening is left out.
        return score(
            self.goal, (), self.atoms, self.windows, trace, self.vocabulary(), source_family=self.source_family
        )


class Rows(Model):
    rows: Annotated[tuple[Row, ...], AsTuple]


@cache
def load(family: str) -> tuple[Row, ...]:
    return check(read(ROWS / f"{family}.yaml"), Rows).rows


def row_of(id_: str) -> Row:
    family = next(family for family, (letter, _) in FAMILIES.items() if letter == id_[0])
    return next(row for row in load(family) if row.id == id_)


@pytest.fixture
def row(request: pytest.FixtureRequest) -> Row:
    return row_of(request.param)


ROW_IDS = [f"{letter}{n}" for letter, _ in FAMILIES.values() for n in range(1, 21)]
each_row = pytest.mark.parametrize("row", ROW_IDS, indirect=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_its_twenty_rows_and_their_scorers(family: str) -> None:
    letter, scorer = FAMILIES[family]
    rows = load(family)
    assert [r.id for r in rows] == [f"{letter}{n}" for n in range(1, 21)]
    assert {r.id: r.source_family for r in rows} == {r.id: BY_SCORER.get(r.id, scorer) for r in rows}


@each_row
def test_the_blocks_fit_the_vocabulary(row: Row) -> None:
    findings = check_goal(row.goal, row.evidence, row.windows, row.atoms, row.vocabulary())
    assert [f"{f.path}: {f.code} {f.message} ({f.hint})" for f in findings] == []


@each_row
def test_every_clause_is_judged_and_every_condition_asked_for(row: Row) -> None:
    conditions = {c.id for c in row.conditions()}
    known = conditions | {e.id for e in row.evidence} | {a.id for a in row.atoms}
    used = {name for clause in row.clauses for name in clause.by}
    assert used <= known
    assert conditions <= used
    assert [c.clause for c in row.clauses if not c.by and not c.note] == []
    assert any(c.by for c in row.clauses)


@each_row
def test_nothing_is_achieved_where_nothing_is_and_nothing_happens(row: Row) -> None:
    vocabulary = row.vocabulary()
    free = [a.id for a in row.goal.achieve if judge(a.that, NOTHING, vocabulary, row.windows, "interaction").ok]
    assert free == []


@each_row
def test_the_score_kind_is_that_of_the_source_family(row: Row) -> None:
    assert row.goal.score == ("binary" if row.source_family == "WATCH" else "state")
    capabilities = {a.capability for a in row.atoms}
    assert capabilities
    if row.source_family == "WATCH":
        assert {"C7", "C8"} <= capabilities
    if row.id in WITH_STG:
        assert row.goal.gates


def test_conditional_credit_and_source_memory_have_their_form() -> None:
    needs = {a.id: set(a.needs) for a in row_of("G3").goal.achieve}
    assert needs["packet_placed"] == needs["pen_placed"] == {"old_archived"}
    assert "C4" in {a.capability for a in row_of("A19").atoms}


# Plays: a table-top model of a world, just enough to write in one line what a wearer does


class Table:
    """Things on and in each other, doors, devices and marks. Doors begin closed, devices off, things clean and dry."""

    def __init__(self, row: Row, start: tuple[str, ...]) -> None:
        self.things = row.entities
        self.place: dict[str, tuple[str, str]] = {}
        self.rooms: dict[str, str] = {}
        self.marks: set[tuple[str, str]] = set()
        self.received: dict[str, tuple[str, ...]] = {}
        self.cycles: dict[str, tuple[str, ...]] = {}
        self.known = set(row.entities)
        for line in start:
            self._begin(*line.split())
        self.before = dict(self.place)
        self.steps: list[Step] = []
        self.events: list[Event] = []
        self.baseline = self.state()

    def _begin(self, name: str, how: str, place: str = "") -> None:
        """`cup on table`, `cup in fridge`, `table within kitchen`, `fridge open`."""
        assert name in self.things
        if how in PLACES:
            self.place[name] = (PLACES[how], place)
            self.known.add(place)
        elif how == "within":
            assert place in self.things
            self.rooms[name] = place
        else:
            assert how in MARKS
            self.marks.add((how, name))

    def play(self, lines: tuple[str, ...]) -> Trace:
        for line in lines:
            verb, *args = line.split()
            VERBS[verb](self, *args)
            self.steps.append(Step(tuple(self.events), self.state()))
            self.events = []
        return Trace(self.baseline, tuple(self.steps), 0, self.baseline)

    def happens(self, kind: str, roles: dict[str, RoleValue]) -> None:
        seq = sum(len(s.events) for s in self.steps) + len(self.events)
        self.events.append(Event(seq, kind, roles))

    def grab(self, name: str) -> None:
        assert all(how != "held" for how, _ in self.place.values()), "the hand is full"
        _, place = self.place[name]
        self.place[name] = ("held", "")
        self.happens("grabbed", {"object": name, "from": place})
        self.happens("moved", {"object": name})

    def put(self, name: str, how: str, place: str) -> None:
        assert place in self.known
        if self.place[name][0] != "held":
            self.grab(name)
        self.place[name] = (PLACES[how], place)
        self.happens("released", {"object": name, "to": place})
        self.happens("moved", {"object": name})

    def start(self, name: str) -> None:
        assert "device" in self.things[name].traits
        self.marks.add(("running", name))
        self.happens("started", {"device": name})
        if "machine" in self.things[name].traits:
            self.cycles[name] = tuple(x for x in self.place if ("inside", name) in self.supports(x))
            self.happens("cycle_started", {"device": name, "contents": self.cycles[name], "valid": "true"})

    def stop(self, name: str) -> None:
        self.marks.discard(("running", name))
        self.happens("stopped", {"device": name})

    def wipe(self, name: str, tool: str) -> None:
        self.marks -= {("dirty", name), ("wet", name)}
        self.happens("wiped", {"object": name, "with": tool})

    def pour(self, source: str, into: str, substance: str) -> None:
        self.received[into] = (*self.received.get(into, ()), substance)
        self.happens("poured", {"object": source, "into": into, "substance": substance})

    def spill(self, name: str) -> None:
        self.marks |= {("dirty", name), ("wet", name)}
        self.happens("spilled", {"object": name})

    def arrive(self, name: str) -> None:
        self.happens("arrived", {"object": name})

    def supports(self, name: str) -> list[tuple[str, str]]:
        """What the thing is on or inside, as docs/goal-language.md section 3 counts it."""
        how, place = self.place[name]
        if how == "held" or place not in self.place:
            return [(how, place)]
        carried = how == "on" and "carrier" in self.things[place].traits
        return [(how, place), *((h, p) for h, p in self.supports(place) if h == "inside" or (h == "on" and carried))]

    def root(self, name: str) -> str:
        while name in self.place:
            name = self.place[name][1]
        return name

    def state(self) -> State:
        found: set[Relation] = {("received", name, *added) for name, added in self.received.items()}
        for name in self.place:
            found |= {("held", name) if how == "held" else (how, name, place) for how, place in self.supports(name)}
            if self.place[name] == self.before[name]:
                found.add(("at_baseline", name))
            if self.root(name) in self.rooms:
                found.add(("in_room", name, self.rooms[self.root(name)]))
        found |= {("in_cycle", name, machine) for machine, names in self.cycles.items() for name in names}
        found |= {("cycle_valid", machine) for machine in self.cycles}
        for name, thing in self.things.items():
            marks = {mark for mark, marked in self.marks if marked == name}
            found |= {(mark, name) for mark in marks - {"dirty", "wet"}}
            found |= {(word, name) for word, mark in (("clean", "dirty"), ("dry", "wet")) if mark not in marks}
            if "openable" in thing.traits and "open" not in marks:
                found.add(("closed", name))
            if "device" in thing.traits and "running" not in marks:
                found.add(("off", name))
        return frozenset(found)


def _mark(kind: str, mark: str, add: bool, second: str = "") -> Callable[..., None]:
    def act(table: Table, name: str, other: str = "") -> None:
        assert name in table.things
        (table.marks.add if add else table.marks.discard)((mark, name))
        roles: dict[str, RoleValue] = {"object": name}
        table.happens(kind, roles | {second: other} if second else roles)

    return act


PLACES = {"on": "on", "in": "inside"}
MARKS = {"open", "running", "dirty", "wet", "mouldy", "cut", "cooked"}
VERBS: dict[str, Callable[..., None]] = {
    "grab": Table.grab,
    "put": Table.put,
    "start": Table.start,
    "stop": Table.stop,
    "wipe": Table.wipe,
    "pour": Table.pour,
    "spill": Table.spill,
    "arrive": Table.arrive,
    "open": _mark("opened", "open", True),
    "close": _mark("closed", "open", False),
    "cut": _mark("cut", "cut", True, "with"),
    "cook": _mark("cooked", "cooked", True, "in"),
}


class Play(Model):
    """What the wearer does after the handoff, and exactly the conditions that are false at the end."""

    do: Annotated[tuple[str, ...], AsTuple]
    fails: Annotated[tuple[Name, ...], AsTuple] = ()


class Plays(Model):
    start: Annotated[tuple[str, ...], AsTuple]
    plays: Annotated[tuple[Play, ...], AsTuple]


class PlayBook(Model):
    plays: dict[str, Plays]


@cache
def playbook() -> dict[str, Plays]:
    return check(read(ROWS / "plays.yaml"), PlayBook).plays


PLAYED = [f"{letter}{n}" for letter in "GP" for n in range(1, 21)]


def play(id_: str, lines: tuple[str, ...]) -> Score:
    row = row_of(id_)
    return row.score(Table(row, playbook()[id_].start).play(lines))


@pytest.mark.parametrize("id_", PLAYED)
def test_at_the_handoff_nothing_is_achieved_and_everything_is_kept(id_: str) -> None:
    result = play(id_, ())
    assert result.completion == 0
    assert [c.id for c in result.conditions if c.block == "achieve" and c.ok] == []
    assert [(c.id, c.why) for c in result.conditions if c.block == "keep" and not c.ok] == []


@pytest.mark.parametrize("id_", PLAYED)
def test_a_right_play_passes_and_each_wrong_one_fails_where_it_is_wrong(id_: str) -> None:
    right, *wrong = playbook()[id_].plays
    result = play(id_, right.do)
    assert [(c.id, c.why) for c in result.conditions if not c.ok] == []
    assert (result.passed, result.completion) == (True, 1)
    assert [(a.id, a.label, a.why) for a in result.atoms if a.label != "clean_pass"] == []
    assert wrong
    for control in wrong:
        result = play(id_, control.do)
        assert {c.id for c in result.conditions if not c.ok} == set(control.fails) != set(), control.do


@pytest.mark.parametrize("id_", PLAYED)
def test_every_condition_is_false_in_some_wrong_play(id_: str) -> None:
    spoiled = {name for control in playbook()[id_].plays[1:] for name in control.fails}
    assert spoiled == {c.id for c in row_of(id_).conditions()}


def test_credit_is_lost_with_what_it_needs() -> None:
    """G3: with the old folder left lying, packet and pen on the table earn nothing."""
    result = play("G3", ("put packet on reset_table", "put pen on reset_table"))
    assert result.completion == 0
