"""What an assistant asks for unasked: another look, the other side of a thing, where something is (MET-9; paper 4.1).

A look and a turned thing are counted by what the wearer did on the assistant's words, whatever the words were. A
question is counted by its words, since the wearer answers it without acting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iwkit.ledger import Record
from iwkit.verbs import SURFACE

LOOKS = frozenset({"look_around", "look_scan", "turn"})
"""Primitives that show more of the place and change nothing in it."""
FLIPS = frozenset({"flip"})
SPATIAL = re.compile(
    r"\b(where|which (side|shelf|room|drawer|cabinet|hand|way)|how far|left|right|behind|in front|next to|beside"
    r"|near|above|below|under|underneath|between|facing|inside)\b",
    re.IGNORECASE,
)
"""Words that make a question one about space."""
_QUESTION = re.compile(r"[^.!?]*\?")
_VERB = re.compile(r"\[(\w+)\]")


@dataclass(frozen=True, slots=True)
class Proactive:
    """How many utterances of the assistant led to a look, to a turned thing, or asked where something is."""

    look: int = 0
    flip: int = 0
    ask: int = 0


def proactive(records: Sequence[Record]) -> Proactive:
    """The proactive requests of an episode. An utterance counts once in each of the three at most; a refused action
    counts, since it was asked for."""
    looks: set[int] = set()
    flips: set[int] = set()
    asks: set[int] = set()
    utterance = 0
    for record in records:
        if record["kind"] == "speech" and record["by"] == "assistant":
            utterance += 1
            if any(SPATIAL.search(question) for question in _QUESTION.findall(record["text"])):
                asks.add(utterance)
        elif record["kind"] == "step" and record["by"] == "assistant":
            verb = _primitive(record["command"])
            looks |= {utterance} if verb in LOOKS else set()
            flips |= {utterance} if verb in FLIPS else set()
    return Proactive(len(looks), len(flips), len(asks))


def _primitive(command: str) -> str:
    verb = _VERB.match(command)
    found = SURFACE.get(verb.group(1).lower()) if verb else None
    return found[0].name if found else ""
