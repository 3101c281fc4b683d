"""What a goal, its windows and atoms can never show, by their form alone: conditions that cannot come out one way or
the other, pairs that exclude each other, atoms that cannot be passed or failed, windows that cannot open (BENCH-4).

Only what is proved is told. What depends on how the episode goes is for the oracle's play to show (`oracle`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from iwkit.compile import CompiledTask
from iwkit.goals.names import Finding
from iwkit.goals.terms import (
    AllOf,
    AnyOf,
    Becomes,
    Before,
    Category,
    Condition,
    Count,
    EventPattern,
    Handoff,
    Happened,
    InOrder,
    Multiset,
    Never,
    Not,
    Pattern,
    RoleTest,
    SomeOf,
    State,
    Until,
    When,
    Within,
    Word,
)
from iwkit.goals.vocabulary import Vocabulary
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.spec.goal import Atom, Goal, Named, Window
from iwkit_validators.guards import exclusive, implies
from iwkit_validators.places import after

_GOAL: Final = ("achieve", "keep", "gates")


@dataclass(frozen=True)
class Blocks:
    """What is judged. `opening` and `plan` are the ids of their steps, in order; evidence is judged in the opening."""

    goal: Goal
    windows: Sequence[Window]
    atoms: Sequence[Atom]
    vocabulary: Vocabulary
    opening: Sequence[str] = ()
    plan: Sequence[str] = ()
    evidence: Sequence[Named] = ()


def check(doc: Document, task: CompiledTask) -> list[Problem]:
    """G554 to G559, each at its place in the file."""
    physical = task.pack.physical
    steps = [s.id for s in physical.opening], [s.id for s in physical.plan]
    blocks = Blocks(physical.goal, physical.windows, physical.atoms, task.vocabulary, *steps, physical.evidence)
    return [doc.problem(("physical", *f.path), f.code, f.message, f.hint) for f in check_blocks(blocks)]


def check_blocks(blocks: Blocks) -> list[Finding]:
    """Everything that the form of the blocks proves; paths begin at what holds `goal`, `windows` and `atoms`."""
    return [*_conditions(blocks), *_pairs(blocks), *_windows(blocks), *_atoms(blocks)]


# --- conditions -----------------------------------------------------------------------------------------------------


def _named(goal: Goal) -> Iterator[tuple[tuple[str, int], Named]]:
    for block in _GOAL:
        conditions: Sequence[Named] = getattr(goal, block)
        yield from (((block, i), named) for i, named in enumerate(conditions))


def _conditions(blocks: Blocks) -> Iterator[Finding]:
    proof = Proof(blocks.vocabulary, blocks.opening)
    for path, named in _named(blocks.goal):
        place = ("goal", *path, "that")
        if proof.always(named.that):
            message = f"'{named.id}' is true whatever happens, so it shows nothing"
            yield Finding(place, "G555", message, "leave it out, or ask for what help could spoil")
        elif proof.never(named.that):
            message = f"'{named.id}' can never be true, whatever happens"
            yield Finding(place, "G556", message, "mend the condition: nobody could pass")
    in_opening = Proof(blocks.vocabulary, blocks.plan)
    for i, named in enumerate(blocks.evidence):
        if in_opening.always(named.that):
            message = f"'{named.id}' is true of every opening, so it shows nothing"
            yield Finding(("evidence", i, "that"), "G555", message, "say what the camera must have shown")


def _pairs(blocks: Blocks) -> Iterator[Finding]:
    fixtures = frozenset(n for n, e in blocks.vocabulary.entities.items() if e.traits & {"fixture", "room"})
    proof = Proof(blocks.vocabulary, blocks.opening)
    open_ = [(path, named) for path, named in _named(blocks.goal) if not proof.never(named.that)]
    for (_, first), (path, second) in combinations(open_, 2):
        if exclusive(first.that, second.that, fixtures):
            message = f"'{second.id}' and '{first.id}' can never both be true"
            yield Finding(("goal", *path, "that"), "G554", message, "mend one of the two: nobody could pass")


class Proof:
    """Whether a condition comes out the same in every episode, as far as its form proves it. `elsewhere` are the steps
    that are not of the part in which it is judged."""

    def __init__(self, vocabulary: Vocabulary, elsewhere: Iterable[str]) -> None:
        self._vocabulary, self._elsewhere = vocabulary, frozenset(elsewhere)

    def always(self, condition: Condition) -> bool:
        match condition:
            case AllOf():
                return all(map(self.always, condition.conditions))
            case SomeOf():
                parts = condition.conditions
                return any(map(self.always, parts)) or any(_either(a, b) for a, b in combinations(parts, 2))
            case Not():
                return self.never(condition.condition)
            case Count():
                return (condition.bound, condition.number) == ("at_least", 0) or (
                    condition.bound == "at_most" and condition.number >= self._most(condition)
                )
            case Never():
                return self.impossible(condition.pattern)
            case Until():
                return self.always(condition.condition)
        return False

    def never(self, condition: Condition) -> bool:
        match condition:
            case AllOf():
                parts = condition.conditions
                return any(map(self.never, parts)) or any(exclusive(a, b) for a, b in combinations(parts, 2))
            case SomeOf():
                return all(map(self.never, condition.conditions))
            case Not():
                return self.always(condition.condition)
            case Happened():
                return self.impossible(condition.pattern)
            case Before():
                return self.impossible(condition.first)
            case InOrder() | Multiset():
                return any(map(self.impossible, condition.patterns))
            case Within():
                return self.impossible(condition.that)
            case Until():
                return self.never(condition.condition)
        return False

    def impossible(self, pattern: Pattern) -> bool:
        """Whether nothing that happens where it is judged can match."""
        if isinstance(pattern, Becomes):
            return self.always(pattern.condition) or self.never(pattern.condition)
        if pattern.during is not None and pattern.during == pattern.outside:
            return True
        return after(pattern) in self._elsewhere

    def _most(self, condition: Count) -> int:
        counted = next(arg for arg in condition.that.args if isinstance(arg, Category | AnyOf))
        return len(self._vocabulary.candidates(counted))


def _either(first: Condition, second: Condition) -> bool:
    """Whether one of the two holds in any case."""
    if isinstance(first, State) and isinstance(second, State):
        return exclusive(first, second) and not {first.predicate, second.predicate} & {"held", "on_floor"}
    return implies(Not(first), second) or implies(Not(second), first)


# --- windows and atoms ----------------------------------------------------------------------------------------------


def _windows(blocks: Blocks) -> Iterator[Finding]:
    for i, window in enumerate(blocks.windows):
        yield from _span(f"the window '{window.id}'", window, ("windows", i), blocks)


def _span(what: str, item: Window | Atom, path: tuple[str | int, ...], blocks: Blocks) -> Iterator[Finding]:
    """What is wrong with when a window or atom is open."""
    opens, closes, steps = item.opens, item.closes, [*blocks.opening, *blocks.plan]
    if opens is None:
        return
    first, last = after(opens), after(closes)
    handoff = len(blocks.opening) - 0.5
    at = steps.index(first) if first in steps else handoff if isinstance(opens, Handoff) else None
    end = steps.index(last) if last in steps else handoff if isinstance(closes, Handoff) else None
    if not isinstance(opens, Handoff) and _contradicts(opens):
        yield Finding((*path, "opens"), "G559", f"{what} never opens: nothing can match", "name an event that happens")
    elif end is not None and at is not None and end <= at:
        told = f"{what} never closes: {_said(closes)} is not later than {_said(opens)}"
        yield Finding((*path, "closes"), "G559", told, "close it later, or open it earlier")
    elif end is not None and end <= handoff:
        told = f"{what} is over before the handoff: nothing that happens in it is judged"
        yield Finding((*path, "closes"), "G559", told, "close it after the handoff")


def _contradicts(pattern: Pattern) -> bool:
    return isinstance(pattern, EventPattern) and pattern.during is not None and pattern.during == pattern.outside


def _said(when: When | None) -> str:
    return "the handoff" if isinstance(when, Handoff) else f"step '{after(when)}'"


def _atoms(blocks: Blocks) -> Iterator[Finding]:
    proof = Proof(blocks.vocabulary, blocks.opening)
    for i, atom in enumerate(blocks.atoms):
        path = ("atoms", i)
        yield from _span(f"the atom '{atom.id}'", atom, path, blocks)
        if all(map(proof.impossible, atom.passes)):
            message = f"the atom '{atom.id}' can never be passed: nothing after the handoff can match its `pass`"
            yield Finding((*path, "pass"), "G558", message, "name an event that help brings about")
        elif atom.wrong and all(any(_covers(p, w, blocks.vocabulary) for p in atom.passes) for w in atom.wrong):
            message = f"the atom '{atom.id}' can never be wrong: all that would be wrong passes it"
            yield Finding((*path, "wrong"), "G557", message, "narrow `pass`, or leave `wrong` out")


def _covers(wide: Pattern, narrow: Pattern, vocabulary: Vocabulary) -> bool:
    """Whether whatever matches the second matches the first."""
    if not isinstance(wide, EventPattern) or not isinstance(narrow, EventPattern):
        return wide == narrow
    same = (wide.kind, wide.during, wide.outside) == (narrow.kind, narrow.during, narrow.outside)
    tests = dict(narrow.roles)
    return same and all(role in tests and _within(tests[role], test, vocabulary) for role, test in wide.roles)


def _within(narrow: RoleTest, wide: RoleTest, vocabulary: Vocabulary) -> bool:
    if isinstance(narrow, Word) or isinstance(wide, Word):
        return narrow == wide
    return set(vocabulary.candidates(narrow)) <= set(vocabulary.candidates(wide))
