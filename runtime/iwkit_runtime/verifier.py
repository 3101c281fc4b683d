"""The semantic verifier: what the assistant says, as one exact JSON tuple of intent, referents and facts (SEM-8).

A verifier answers with text: a JSON object `{"intent": ..., "referents": [...], "facts": [...]}` in handles of the
legend, or `none`. `read_tuple` takes it strictly, so that whatever a model may answer is one tuple or nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from iwkit.digest import digest, file_digest
from iwkit.goals.plain import GoalSyntaxError
from iwkit.goals.syntax import parse_condition
from iwkit.goals.terms import Condition
from iwkit.goals.terms import State as Fact
from iwkit.grammar import parse
from iwkit.spec.policy import INTENTS
from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.clauses import understand
from iwkit_runtime.english.errand import Errands
from iwkit_runtime.english.phrases import phrase
from iwkit_runtime.english.steps import PLACED, WAY, Step, handle_of
from iwkit_runtime.english.words import sentences
from iwkit_runtime.grounding import ground
from iwkit_runtime.loop.views import HumanView, LegendEntry

NONE: Final = "none"
"""The answer of a verifier that sees no one meaning."""
FIELDS: Final = frozenset({"intent", "referents", "facts"})

_UNCERTAIN: Final = frozenset({
    "not", "never", "nor", "or", "if", "unless", "whether", "otherwise", "maybe", "perhaps", "might", "may", "hardly",
    "barely", "almost", "nearly",
})  # fmt: skip
"""Words after which nothing is certain. Whoever says one of them is not understood: that is no guess."""
_UNCLEAR: Final = frozenset({"never", "unknown", "condition"})
_STILL: Final = r"(?:(?:still|now|already|also|just|right|standing|wide|left) )*"
_LINK: Final = r"(?:(?:but|and|so|because|that|now|sorry) )*"
_STATE: Final = re.compile(rf"{_LINK}(?P<of>.+?) (?:is|stands) {_STILL}(?P<state>open|closed|shut|running|off|on)")
_LEFT: Final = re.compile(rf"{_LINK}(?:you|we) (?:have )?left (?P<of>.+?) (?P<state>open|closed|shut|running|off|on)")
_PLACE: Final = re.compile(rf"{_LINK}(?P<of>.+?) (?:is|lies|stands) {_STILL}(?P<state>on|in|inside) (?P<place>.+)")
_PREDICATES: Final = {"shut": "closed", "on": "running"}
_RELATIONS: Final = {"on": "on", "in": "inside", "inside": "inside"}
_RULES: Final = ("english", "grounding.py", "verifier.py")


class Verifier(Protocol):
    """Maps speech to a tuple. It is shown the human's view, with handles for everything in the task."""

    def verify(self, speech: str, view: HumanView) -> str: ...


@dataclass(frozen=True, slots=True)
class Meaning:
    """A tuple in entity names. Two are equal whatever the order of their facts."""

    intent: str
    referents: tuple[str, ...]
    facts: frozenset[Condition]


class RulesVerifier:
    """The verifier by rules: those by which the rules human understands English. Offline, and always alike."""

    def verify(self, speech: str, view: HumanView) -> str:
        clauses = understand(speech)
        said = {token for sentence in sentences(speech) for token in sentence.tokens}
        if said & _UNCERTAIN or any(clause.kind in _UNCLEAR for clause in clauses):
            return NONE
        facts = _facts(clauses, view.legend)
        meant = None if facts is None else _meant(clauses, speech, view, told=bool(facts))
        if meant is None:
            return NONE
        return json.dumps({"intent": meant[0], "referents": meant[1], "facts": facts}, ensure_ascii=False)


def rules_digest() -> str:
    """The digest of the sources that the verifier by rules consists of."""
    package = Path(__file__).parent
    files = [file for name in _RULES for file in sorted((package / name).rglob("*.py")) or [package / name]]
    return digest([[file.relative_to(package).as_posix(), file_digest(file)] for file in files])


def read_tuple(answer: str, names: Mapping[str, str]) -> Meaning | None:
    """The tuple in a verifier's answer, None for anything that is not exactly one.

    Args:
        names: handle -> entity name.
    """
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.keys() != FIELDS or data["intent"] not in list(INTENTS):
        return None
    referents, facts = data["referents"], data["facts"]
    if not isinstance(referents, list) or not isinstance(facts, list):
        return None
    try:
        named = tuple(_name(handle, names) for handle in referents)
        told = frozenset(_fact(fact, names) for fact in facts)
    except (GoalSyntaxError, _NoName):
        return None
    return Meaning(data["intent"], named, told) if all(isinstance(fact, Fact) for fact in told) else None


class _NoName(Exception):  # noqa: N818  it is no error of the program: the answer is not one tuple
    """What should be a handle is none."""


def _name(handle: Any, names: Mapping[str, str]) -> str:
    if not isinstance(handle, str) or handle not in names:
        raise _NoName
    return names[handle]


def _fact(fact: Any, names: Mapping[str, str]) -> Condition:
    """A fact with names in place of handles."""
    if not isinstance(fact, dict) or len(fact) != 1:
        raise _NoName
    ((predicate, things),) = fact.items()
    named = [_name(thing, names) for thing in things] if isinstance(things, list) else _name(things, names)
    return parse_condition({predicate: named})


# --- what is asked for ----------------------------------------------------------------------------------------------


def _meant(clauses: Sequence[Clause], speech: str, view: HumanView, *, told: bool) -> tuple[str, list[str]] | None:
    """Intent and referents; None where speech asks for several things, or for none that is clear."""
    kinds = {clause.kind for clause in clauses}
    if "do" in kinds:
        return None if "question" in kinds else _action(clauses, view)
    if "question" in kinds:
        return None if told or "halt" in kinds else ("ask", [])
    if told:
        return "tell", []
    if "halt" in kinds:
        return "stop", []
    return ("remark", []) if not clauses and sentences(speech) else None


def _action(clauses: Sequence[Clause], view: HumanView) -> tuple[str, list[str]] | None:
    errand = Errands(view, ()).run(clauses)
    exact = [step for step in errand.steps if step.primitive not in WAY] or list(errand.steps)
    if len(exact) > 1 and _brings(exact[0], exact[1]):
        exact = exact[1:]
    if errand.question or len(exact) != 1:
        return None
    command = parse(exact[0].text)
    if command.primitive not in INTENTS:
        return None
    return command.primitive, [handle_of(command, i) for i in range(len(command.args))]


def _brings(first: Step, second: Step) -> bool:
    """Whether a thing is only taken to be put down: that is one act."""
    return first.primitive == "pick" and second.primitive in PLACED and first.carried == second.carried


# --- what is told ---------------------------------------------------------------------------------------------------


def _facts(clauses: Sequence[Clause], legend: Sequence[LegendEntry]) -> list[dict[str, Any]] | None:
    """The states of the world that are told, each once; None where one is told of what is not clear."""
    found: list[dict[str, Any]] = []
    for clause in clauses:
        if clause.kind != "tell":
            continue
        text = " ".join(clause.tokens)
        state, place = _STATE.fullmatch(text) or _LEFT.fullmatch(text), _PLACE.fullmatch(text)
        told = state or place
        if told is None:
            continue
        spoken = [told["of"], told["place"]] if told is place else [told["of"]]
        things = [_thing(words, legend) for words in spoken]
        if None in things:
            return None
        word = told["state"]
        fact = {_RELATIONS[word]: things} if told is place else {_PREDICATES.get(word, word): things[0]}
        if fact not in found:
            found.append(fact)
    return found


def _thing(words: str, legend: Sequence[LegendEntry]) -> str | None:
    entry = ground(phrase(words.split()), legend).entry
    return entry.handle if entry else None
