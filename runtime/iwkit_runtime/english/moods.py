"""How a clause begins: what is stepped over, and whether it asks, forbids or tells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iwkit_runtime.english.lexicon import ADVERBS, WITNESS
from iwkit_runtime.english.openings import (
    ACKNOWLEDGEMENTS,
    DIRECTIVES,
    GERUND_DIRECTIVES,
    NEGATIONS,
    NOT_NEGATIONS,
    REMINDERS,
)
from iwkit_runtime.english.verbs import AMBIGUOUS_PAST, GERUNDS, PARTICIPLES, VERBS


def opening(tokens: Sequence[str], i: int) -> tuple[int, str, bool]:
    """Step over polite and indirect beginnings at i: where the verb is, its mood, and whether something was asked for.

    The mood is `base`, `gerund`, `not-base`, `not-gerund`, or `tell` where the words only tell something.
    """
    at, mood, polite = i, "base", False
    while at < len(tokens):
        rest = " ".join(tokens[at:])
        if tokens[at] in ("keep", "try", "do", "stop") and " ".join(tokens[at : at + 2]) in VERBS:
            break
        step = _longest(DIRECTIVES, rest)
        gerund_step = _longest(GERUND_DIRECTIVES, rest)
        if (max(step, gerund_step) < 3 and tokens[at] in ADVERBS | {","}) or (
            tokens[at].endswith("ly") and len(tokens[at]) > 4
        ):
            polite = polite or tokens[at] == "please"
            at += 1
            continue
        if ack := ACKNOWLEDGEMENTS.match(rest):
            at += len(ack.group(0).split())
            continue
        if REMINDERS.match(rest):
            return at, "tell", False
        negation = None if NOT_NEGATIONS.match(rest) else _longest(NEGATIONS, rest)
        if negation:
            at += negation
            gerund = at < len(tokens) and tokens[at] in GERUNDS
            if not gerund and tokens[at - 1] in ("no", "stop", "quit"):
                return at, "tell", False
            return at, "not-gerund" if gerund else "not-base", True
        if gerund_step and at + gerund_step < len(tokens) and tokens[at + gerund_step] in GERUNDS:
            return at + gerund_step, "gerund", True
        if not step or (at > i and step == 1 and tokens[at] in ("to", "do")):
            break
        words = tokens[at : at + step]
        following = tokens[at + step] if at + step < len(tokens) else ""
        if _only_tells(words, following) and not _looks(tokens[at + step :]):
            return at, "tell", False
        polite = polite or len(words) > 1 or words[0] == "please"
        at += step
    return at, mood, polite


def _only_tells(words: Sequence[str], following: str) -> bool:
    """`you will find`, `you put`, `you are at`: what is or was, not what is to be done."""
    subject = [w for w in words if w not in ("now", "then", "next", "and", "so")]
    if "better" in subject:
        return False
    if not subject or subject[0] not in ("you", "we"):
        return False
    if (len(subject) == 1 and following in AMBIGUOUS_PAST) or (following == "not" and subject[-1] in ("have", "are")):
        return True
    if (
        subject[-1] in ("are", "have")
        and (following.endswith("ing") or following in PARTICIPLES)
        and following != "going"
    ):
        return True
    if {"could", "can", "should", "may", "to", "must"} & set(subject):
        return following in WITNESS - {"get", "reach", "find", "come", "pass"}
    return following in WITNESS


def _looks(tokens: Sequence[str]) -> bool:
    """`have a look`, `get hold of it`: no perfect, and nothing that only happens."""
    return any(" ".join(tokens[:length]) in VERBS for length in (2, 3, 4))


def _longest(patterns: Sequence[re.Pattern[str]], text: str) -> int:
    """How many words the longest match at the start has."""
    lengths = [len(m.group(0).split()) for p in patterns if (m := p.match(text))]
    return max(lengths, default=0)
