"""The rules human: English by rules, offline and always alike, with the restrictions of its family (EVAL-3).

Its only input is the `HumanView`. It does what was asked for and no more, asks back where that is not clear, and never
opens, searches or chooses by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.clauses import understand
from iwkit_runtime.english.errand import Errands
from iwkit_runtime.english.steps import WAY, Errand, Step, order_of
from iwkit_runtime.english.words import sentences, words
from iwkit_runtime.loop.answers import write_human
from iwkit_runtime.loop.views import Done, HumanView, Instruction

REPORTS: Final = {
    "GUIDE": "Done. What is the next step?",
    "ORCHESTRATE": "That is done. I am ready for the next errand.",
    "FIND": "Done. What now?",
    "ASK": "Done.",
    "NARRATE": "Done.",
    "WATCH": "Done.",
}
"""What is said when nothing of an instruction is left."""
_PART: Final = "I do one thing now. Tell me again what comes after it."
_SAY_AGAIN: Final = "I did not manage that. Can you say it in another way?"
_NOT_UNDERSTOOD: Final = "I did not understand that. What should I do?"
_WHAT_NOW: Final = "All right. What should I do?"
_STOPPED: Final = "I have stopped. What should I do instead?"
_CANNOT_TELL: Final = "I cannot tell. Can you tell me what to do?"
_SINGLE: Final = frozenset({"ASK", "NARRATE"})
"""Families in which an utterance authorises one exact action."""
_ASKING_FOR_ACTION: Final = frozenset({"do", "unknown", "condition"})


@dataclass(frozen=True, slots=True)
class _Heard:
    """An instruction's clauses and what was done since it was given."""

    instruction: Instruction
    clauses: tuple[Clause, ...]
    done: tuple[Done, ...]

    def has(self, *kinds: str) -> bool:
        return any(c.kind in kinds and c.act != "idle" for c in self.clauses)


class RulesHuman:
    """A `Human` that is code. It keeps nothing between turns."""

    def answer(self, view: HumanView) -> str:
        """Answer one turn: the commands that are left of the newest instruction, or a question, or a report."""
        if view.notice:
            return write_human(speak=_SAY_AGAIN if view.instructions else "")
        heard = _listen(view.instructions)
        if not heard:
            return _go_on(view)
        refused = _refused(heard)
        if refused is not None:
            return write_human(speak=f"{_own_voice(refused.text)} What should I do?")
        governing = next(
            (h for h in heard if h.has("do", "unknown", "condition") or (h.has("halt") and h.instruction.new)), None
        )
        if governing is None:
            return _follow(view, heard[0]) or _no_instruction(view, heard[0])
        if not governing.has(*_ASKING_FOR_ACTION):
            return write_human(speak=_STOPPED)
        return _carry_out(view, governing, heard[heard.index(governing) + 1 :])


def _listen(instructions: Sequence[Instruction]) -> list[_Heard]:
    """The active instructions, newest first, each with the commands carried out under it and under later ones."""
    heard: list[_Heard] = []
    done: tuple[Done, ...] = ()
    for instruction in reversed(instructions):
        done = (*instruction.done, *done)
        heard.append(_Heard(instruction, understand(instruction.text), done))
    return heard


def _refused(heard: Sequence[_Heard]) -> Done | None:
    """The refusal that ended what was under way, if it came after everything that was said."""
    done = heard[-1].done
    newest = heard[0].instruction
    return done[-1] if done and not done[-1].ok and not newest.new else None


_VOICE: Final = (
    ("You are", "I am"),
    ("you are", "I am"),
    ("Your ", "My "),
    ("your ", "my "),
    ("You ", "I "),
    ("you ", "I "),
)


def _own_voice(text: str) -> str:
    """The world's sentence to the wearer as the wearer says it: `Your hand is full` is `My hand is full`."""
    for theirs, own in _VOICE:
        text = text.replace(theirs, own)
    return text


def _go_on(view: HumanView) -> str:
    """Nothing was said: the wearer's own plan under WATCH, else wait. A plan step that was refused is reported."""
    if view.plan is None:
        return write_human()
    refused = view.last is not None and not view.last.ok and view.last.command == view.plan
    return write_human(action=view.plan, speak=_own_voice(view.last.text) if refused and view.last else "")


def _no_instruction(view: HumanView, newest: _Heard) -> str:
    """Remarks, questions and what is not English."""
    if view.plan is not None:
        return write_human(action=view.plan)
    if newest.has("question"):
        return write_human(speak=_CANNOT_TELL)
    if newest.has("never"):
        return write_human(speak=_WHAT_NOW)
    if not newest.clauses:
        return write_human(speak="Okay." if sentences(newest.instruction.text) else _NOT_UNDERSTOOD)
    return write_human(speak=_WHAT_NOW)


def _follow(view: HumanView, newest: _Heard) -> str:
    """Under FIND a wearer who asked where something is goes where it is told that it is; "" where it was not told."""
    if view.source_family != "FIND" or "where" not in words(view.request) or not newest.has("tell"):
        return ""
    errand = Errands(view, newest.done).told(newest.clauses, view.request)
    if errand.steps:
        return write_human(action=errand.steps[0].text)
    if errand.done:
        return write_human(speak=REPORTS["FIND"])
    return write_human(speak=errand.question) if errand.question else ""


def _carry_out(view: HumanView, heard: _Heard, before: Sequence[_Heard]) -> str:
    earlier = [h.instruction.text for h in before]
    errand = _straight(Errands(view, heard.done, earlier).run(heard.clauses))
    steps, cut = _allowed(view.source_family, errand)
    if steps:
        speak = _PART if view.source_family in _SINGLE and cut else ""
        return write_human(action="\n".join(s.text for s in steps), speak=speak)
    if errand.question and not cut:
        return write_human(speak=errand.question)
    if view.plan is not None:
        return write_human(action=view.plan)
    return write_human(speak=REPORTS.get(view.source_family, "Done."))


def _straight(errand: Errand) -> Errand:
    """Without turns and paces on the way to something: the body finds its way (SEM-3)."""
    ends = [i for i, s in enumerate(errand.steps) if s.primitive not in WAY]
    last = ends[-1] if ends else -1
    kept = (s for i, s in enumerate(errand.steps) if i > last or s.primitive not in ("turn", "forward"))
    return replace(errand, steps=tuple(kept))


def _allowed(family: str, errand: Errand) -> tuple[list[Step], bool]:
    """The steps that the family lets the human take on now, and whether some had to wait."""
    if family in _SINGLE:
        return _single(errand)
    if family in ("GUIDE", "ORCHESTRATE"):
        return _one_object(errand, strict=family == "GUIDE")
    return list(errand.steps), False


def _single(errand: Errand) -> tuple[list[Step], bool]:
    """One exact action, and what it is to look at before: the ways to it are left to the body."""
    if any(s.primitive not in WAY for s in errand.done):
        return [], True
    exact = [s for s in errand.steps if s.primitive not in WAY | {"look_at"}]
    looks = [s for s in errand.steps if s.primitive == "look_at"]
    if exact or not looks:
        return [*_looked_at_before(errand.steps, exact), *(exact or list(errand.steps))[:1]], len(exact) > 1
    return list(errand.steps[: errand.steps.index(looks[0]) + 1]), len(looks) > 1


def _looked_at_before(steps: Sequence[Step], exact: Sequence[Step]) -> list[Step]:
    """The looks at other things that come before the first exact action."""
    before = steps[: steps.index(exact[0])] if exact else ()
    acted_on = {*order_of(exact[0])} if exact else set()
    return [s for s in before if s.primitive == "look_at" and not acted_on & {*s.others}]


def _one_object(errand: Errand, *, strict: bool) -> tuple[list[Step], bool]:
    """The steps for one object: what is carried, and the opening and closing that belong to it. Under GUIDE something
    else to open or close waits too."""
    everything = [*errand.done, *errand.steps]
    carried: str | None = None
    touched: list[Step] = []
    allowed = len(everything)
    for i, step in enumerate(everything):
        if step.carried is not None:
            foreign = carried not in (None, step.carried) or (strict and carried is None and _elsewhere(touched, step))
            carried = carried or step.carried
        elif step.primitive in WAY | {"look_at", "wait"}:
            continue
        else:
            foreign = strict and bool(touched) and not _belongs(step, touched, everything[i + 1 :], carried)
        if foreign:
            allowed = i
            break
        touched.append(step)
    cut = allowed < len(everything)
    steps = everything[len(errand.done) : allowed]
    while cut and steps and steps[-1].primitive in WAY:
        steps.pop()
    return steps, cut


def _elsewhere(touched: Sequence[Step], step: Step) -> bool:
    """Whether something was closed or switched before that has nothing to do with the carried thing."""
    return any(t.primitive not in ("open", "open_door") and not set(t.others) & set(step.others) for t in touched)


def _belongs(step: Step, touched: Sequence[Step], later: Sequence[Step], carried: str | None) -> bool:
    """Whether opening or closing something serves the object at hand: it comes from there or goes there."""
    if any(set(step.others) & set(t.others) for t in touched):
        return True
    own = [s for s in later if s.carried is not None and carried in (None, s.carried)]
    return any(set(step.others) & set(s.others) for s in own)
