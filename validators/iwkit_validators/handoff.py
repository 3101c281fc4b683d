"""The goal and the evidence at the handoff: help must still be needed, still be possible, and be founded on something
(BENCH-4: goal states, not already complete; BENCH-6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from iwkit.compile import CompiledTask
from iwkit.goals.evaluate import Judge, Scope
from iwkit.goals.terms import AllOf, Condition, SomeOf, Until
from iwkit.problems import Problem
from iwkit.source.document import Document, Path
from iwkit.spec.goal import Goal, Named
from iwkit.spec.pack import Physical
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
    return [*_wrong_now(doc, physical, judge), *_hopeless(doc, physical.goal, judge)]


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
