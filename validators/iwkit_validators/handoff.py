"""The goal and the evidence at the handoff: help must still be needed, still be possible, and be founded on something
(BENCH-4: goal states, not already complete; BENCH-6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from iwkit.compile import CompiledTask
from iwkit.goals.evaluate import Judge, Scope
from iwkit.goals.terms import AllOf, Condition, Name, NeverMoved, SomeOf, State, Until
from iwkit.problems import Problem
from iwkit.source.document import Document, Path
from iwkit.spec.goal import Goal, Named
from iwkit.spec.pack import Physical
from iwkit.trace import State as Relations
from iwkit_validators.guards import states
from iwkit_validators.opening import AtHandoff


class _Rule(NamedTuple):
    """What a block must be at the handoff. `found` is the verdict that is wrong there."""

    path: Path
    block: Callable[[Physical], Sequence[Named]]
    scope: Scope
    found: bool
    code: str
    message: str
    hint: str


def _of_goal(block: Callable[[Goal], Sequence[Named]]) -> Callable[[Physical], Sequence[Named]]:
    return lambda physical: block(physical.goal)


_GOAL: Final[Path] = ("physical", "goal")
_PLACING: Final = frozenset({"on", "inside", "held", "on_floor"})
"""Predicates that tell where a thing is."""
_RULES: Final = (
    _Rule(
        (*_GOAL, "achieve"),
        _of_goal(lambda goal: goal.achieve),
        "interaction",
        True,
        "G550",
        "is true at the handoff already",
        "begin elsewhere, or make it a `keep`",
    ),
    _Rule(
        (*_GOAL, "keep"),
        _of_goal(lambda goal: goal.keep),
        "interaction",
        False,
        "G551",
        "is false at the handoff, but is to be kept",
        "mend the opening, or make it an `achieve`",
    ),
    _Rule(
        ("physical", "evidence"),
        lambda physical: physical.evidence,
        "opening",
        False,
        "G553",
        "is false at the handoff, which makes every cell VOID",
        "mend the opening so that it holds",
    ),
)


def check(doc: Document, task: CompiledTask, played: AtHandoff) -> list[Problem]:
    """Conditions that are not at the handoff what they must be, each with the reason (G55x)."""
    physical = task.pack.physical
    judge = Judge(played.trace, task.vocabulary, physical.windows)
    found = [*_wrong_now(doc, physical, judge), *_hopeless(doc, physical.goal, judge)]
    return [*found, *_stuck(doc, task, played.trace.baseline)]


def _wrong_now(doc: Document, physical: Physical, judge: Judge) -> Iterator[Problem]:
    for rule in _RULES:
        for i, named in enumerate(rule.block(physical)):
            verdict = judge.judge(named.that, rule.scope)
            if verdict.ok is rule.found:
                message = f"'{named.id}' {rule.message}: {verdict.why}"
                yield doc.problem((*rule.path, i, "that"), rule.code, message, rule.hint)


def _hopeless(doc: Document, goal: Goal, judge: Judge) -> Iterator[Problem]:
    blocks: tuple[tuple[str, Sequence[Named]], ...] = (("achieve", goal.achieve), ("gates", goal.gates))
    for block, conditions in blocks:
        for i, named in enumerate(conditions):
            if _never_true(named.that, judge):
                why = judge.judge(named.that, "interaction").why
                message = f"'{named.id}' is false at the handoff and can never come true: {why}"
                hint = "an `until` has to hold from the handoff on: mend the opening, or the condition"
                yield doc.problem((*_GOAL, block, i, "that"), "G552", message, hint)


def _never_true(condition: Condition, judge: Judge) -> bool:
    """Whether no interaction can make it true. Of the operators only `until` looks at the handoff's state for good."""
    match condition:
        case Until():
            return not judge.holds(condition.condition, "interaction")
        case AllOf():
            return any(_never_true(part, judge) for part in condition.conditions)
        case SomeOf():
            return all(_never_true(part, judge) for part in condition.conditions)
    return False


# --- what is to be moved and is to stay -----------------------------------------------------------------------------


def _stuck(doc: Document, task: CompiledTask, baseline: Relations) -> Iterator[Problem]:
    """An `achieve` that needs a thing elsewhere which another condition keeps where it is (G554)."""
    goal = task.pack.physical.goal
    kept = {name: named.id for named in (*goal.keep, *goal.gates) for name in _staying(named.that)}
    for i, named in enumerate(goal.achieve):
        for state in states(named.that):
            relation = (state.predicate, *(arg.name for arg in state.args if isinstance(arg, Name)))
            name = relation[1] if len(relation) == len(state.args) + 1 else ""
            if (
                state.predicate in _PLACING
                and name in kept
                and relation not in baseline
                and _lies(name, task, baseline)
            ):
                message = f"'{named.id}' needs {name} to be moved, and '{kept[name]}' needs it to stay"
                yield doc.problem(
                    (*_GOAL, "achieve", i, "that"), "G554", message, "mend one of the two: nobody could pass"
                )
                break


def _lies(name: str, task: CompiledTask, baseline: Relations) -> bool:
    """Whether a thing is on or in furniture by itself: nothing else takes it along."""
    supports = [r[2] for r in baseline if len(r) == 3 and r[0] in ("on", "inside") and r[1] == name]
    return bool(supports) and all(task.things[s].kind == "fixture" for s in supports)


def _staying(condition: Condition) -> Iterator[str]:
    """The things that a condition needs to be where they were at the handoff."""
    match condition:
        case AllOf():
            for part in condition.conditions:
                yield from _staying(part)
        case NeverMoved(Name() as thing):
            yield thing.name
        case State(("at_baseline" | "unmoved"), (Name() as thing,)):
            yield thing.name
