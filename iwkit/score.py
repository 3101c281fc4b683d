"""Score an episode from its trace: completion, pass, CFSS and atoms (docs/goal-language.md sections 8 and 9; SEM-10,
MET-1, MET-2). Nothing but the trace is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from iwkit.goals.evaluate import Judge
from iwkit.goals.explain import occurrence_text
from iwkit.goals.terms import EventPattern, Pattern, Word
from iwkit.goals.timeline import Occurrence, Scope, Span
from iwkit.goals.vocabulary import Vocabulary
from iwkit.spec.goal import Atom, Goal, Named, Window
from iwkit.trace import Trace

Block = Literal["evidence", "achieve", "keep", "gates"]
Label = Literal["clean_pass", "wrong", "abstain", "unobserved", "assisted", "void"]

_SPEECH = EventPattern("said", (("by", Word("assistant")),))


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """`credited` says that it counts for completion: only an `achieve` whose `needs` are satisfied does."""

    id: str
    block: Block
    ok: bool
    why: str
    credited: bool = False


@dataclass(frozen=True, slots=True)
class AtomResult:
    id: str
    capability: str
    label: Label
    why: str


@dataclass(frozen=True, slots=True)
class Score:
    """What an episode is worth. `void` is the reason why the cell is void; then `completion` and `passed` are None.

    `completion` is a share in [0, 1]; `cfss` and `stg_cfss` are None outside NARRATE.
    """

    void: str | None
    completion: float | None
    passed: bool | None
    cfss: float | None
    stg_cfss: float | None
    conditions: tuple[ConditionResult, ...]
    atoms: tuple[AtomResult, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data for the ledger, in a fixed order."""
        return asdict(self) | {
            "conditions": [asdict(result) for result in self.conditions],
            "atoms": [asdict(result) for result in self.atoms],
        }


def score(  # noqa: PLR0917 - the parts of a pack, in its order
    goal: Goal,
    evidence: Sequence[Named],
    atoms: Sequence[Atom],
    windows: Sequence[Window],
    trace: Trace,
    vocabulary: Vocabulary,
    *,
    source_family: str,
    void: str | None = None,
) -> Score:
    """Score one episode. `void` is a reason from outside the trace for which the cell counts for nothing; false
    evidence is another. Conditions are reported in either case."""
    judge = Judge(trace, vocabulary, windows)
    shown = _judge_block(judge, evidence, "evidence", "opening")
    achieve = _judge_block(judge, goal.achieve, "achieve", "interaction", credited(goal, judge))
    keep = _judge_block(judge, goal.keep, "keep", "interaction")
    gates = _judge_block(judge, goal.gates, "gates", "interaction")
    if void is None:
        void = next((f"evidence {r.id} is false: {r.why}" for r in shown if not r.ok), None)
    conditions = (*shown, *achieve, *keep, *gates)
    results = tuple(_judge_atom(judge, atom, void) for atom in atoms)
    if void is not None:
        return Score(void, None, None, None, None, conditions, results)
    passed = all(r.ok for r in (*achieve, *keep, *gates))
    share = sum(r.credited for r in achieve) / max(len(achieve), 1)  # of nothing to achieve nothing is completed
    completion = share if goal.score == "state" else float(passed)
    if source_family != "NARRATE":
        return Score(None, completion, passed, None, None, conditions, results)
    cfss = completion if all(r.ok for r in keep) else 0.0
    stg = cfss if all(r.ok for r in gates) else 0.0
    return Score(None, completion, passed, cfss, stg, conditions, results)


def credited(goal: Goal, judge: Judge) -> frozenset[str]:
    """Ids of the `achieve` that count: they are satisfied, and so is everything they need, transitively."""
    ok = {c.id: judge.holds(c.that, "interaction") for c in goal.achieve}
    needs = {c.id: c.needs for c in goal.achieve}

    def counts(id_: str, above: tuple[str, ...]) -> bool:
        # A circle or an unknown id cannot be judged, so it earns nothing; checking a pack refuses both.
        return id_ not in above and ok.get(id_, False) and all(counts(need, (*above, id_)) for need in needs[id_])

    return frozenset(id_ for id_ in ok if counts(id_, ()))


def _judge_block(
    judge: Judge, block: Iterable[Named], name: Block, scope: Scope, credited: frozenset[str] = frozenset()
) -> tuple[ConditionResult, ...]:
    verdicts = ((c.id, judge.judge(c.that, scope)) for c in block)
    return tuple(ConditionResult(id_, name, v.ok, v.why, id_ in credited) for id_, v in verdicts)


# Atoms


def _judge_atom(judge: Judge, atom: Atom, void: str | None) -> AtomResult:
    if void is not None:
        return AtomResult(atom.id, atom.capability, "void", void)
    return AtomResult(atom.id, atom.capability, *_label(judge, atom))


def _label(judge: Judge, atom: Atom) -> tuple[Label, str]:
    span = judge.span(atom.opens, atom.closes) if atom.opens is not None else judge.window(atom.window or "")
    if span is None:
        return "unobserved", "it never opened"
    right, wrong = _first(judge, atom.passes, span), _first(judge, atom.wrong or (), span)
    if right is not None and (wrong is None or right[0].pos <= wrong[0].pos):
        return "assisted" if right[0].assisted else "clean_pass", occurrence_text(judge.timeline, *right)
    if wrong is not None:
        return "wrong", occurrence_text(judge.timeline, *wrong)
    if _first(judge, (_SPEECH,), span) is not None:
        return "abstain", "the assistant spoke while it was open, and neither pass nor wrong happened"
    return "unobserved", "the assistant said nothing while it was open"


def _first(judge: Judge, patterns: Iterable[Pattern], span: Span) -> tuple[Occurrence, Pattern] | None:
    """The first event of the interaction within the span that matches one of the patterns."""
    found = ((o, p) for p in patterns for o in judge.matches(p, span)[:1])
    return min(found, key=lambda pair: pair[0].pos, default=None)


# Efficiency


def stable_completion_index(goal: Goal, trace: Trace, vocabulary: Vocabulary, windows: Sequence[Window]) -> int | None:
    """After how many primitives of the interaction the goal holds and goes on to hold to the end (MET-3).

    A primitive is a step with a `commanded` event, refused ones included. 0 if the goal holds at the handoff already;
    None if it does not hold at the end.
    """
    core = (*goal.achieve, *goal.keep, *goal.gates)
    stable: int | None = None
    for end in range(len(trace.steps), trace.handoff - 1, -1):
        prefix = Trace(trace.initial, trace.steps[:end], trace.handoff, trace.baseline)
        judge = Judge(prefix, vocabulary, windows)
        if not all(judge.holds(c.that, "interaction") for c in core):
            break
        stable = sum(any(e.kind == "commanded" for e in step.events) for step in prefix.interaction)
    return stable
