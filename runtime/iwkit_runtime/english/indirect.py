"""Instructions that do not look like one: passives, what is left to do, what was forgotten, where something belongs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.lexicon import ADVERBS, DETERMINERS, FINITE, PREPOSITIONS
from iwkit_runtime.english.openings import ACKNOWLEDGEMENTS
from iwkit_runtime.english.verbs import GERUNDS, PARTICIPLES, VERBS

_PASSIVE = re.compile(
    r"^(?P<subject>.+?)(?: rel)? (?:still |also |now |just |only |really |all |then |next )*"
    r"(?:needs?|has|have|is|are|ought|wants?|should|must|will need|will have|may|can|could|had better|would better)"
    r"(?: now| also| still| then| just)*(?: to)?(?: now| also)*(?: be| get| go| come| supposed to be)*(?: now| "
    r"also)* (?P<rest>\S.*)$"
)

_GOES = re.compile(
    r"^(?P<subject>.+?) (?:then |now |next |also |just )?(?P<verb>goes|go|belongs|"
    r"belong)(?P<rest>(?: back)? (?:on|into|in|to|inside|at|onto) .+)$"
)


_MISSED = (
    re.compile(
        r"\b(?:you|we|nobody|no one)(?: still| just)? (?:forgot to|did not|have not|has not|has|have yet to|never|"
        r"failed to)"
        r"(?: ever| yet| quite)? (?P<verb>\w+) (?P<object>.+)"
    ),
    re.compile(
        r"^(?P<object>.+?) (?:was|is|has|got|were)(?: still| yet)*(?: not| never)(?: been| to be)? (?P<verb>\w+ed|"
        r"shut|put)\b"
    ),
)


_CHOSEN = re.compile(
    r"^(?P<subject>.+?) (?:is|are|will be|should be) (?:the|your|our)(?: \w+){0,2}"
    r"(?: you (?:should|could|need to|have to|want to)| to) (?P<rest>.+)$"
)


_PERFECT = re.compile(
    r"(?:once|when|after|as soon as) you have (?:just |already )?(?P<verb>\w+)"
    r"(?P<rest>(?: (?:up|out|open|shut))? (?:the|your|a|that|this) .+)"
)


def perfect(tokens: Sequence[str]) -> Clause | None:
    """`once you have opened the box, ...`: to be done first, unless it is done already."""
    found = _PERFECT.fullmatch(" ".join(tokens))
    base = PARTICIPLES.get(found["verb"]) if found else None
    if found is None or base not in VERBS or VERBS[base] not in ("open", "close", "grab", "fetch"):
        return None
    return Clause("do", base, VERBS[base], tuple(found["rest"].split()), settled=True)


def chosen(tokens: Sequence[str]) -> Clause | None:
    """`the blue one is the one to take`."""
    found = _CHOSEN.match(" ".join(tokens))
    if found is None or found["subject"].split()[0] in ("you", "i", "we"):
        return None
    rest = found["rest"].split()
    for length in (3, 2, 1):
        name = " ".join(rest[:length])
        if name in VERBS and VERBS[name] not in ("idle", "find"):
            return Clause("do", name, VERBS[name], (*found["subject"].split(), *rest[length:]))
    return None


def passive(tokens: Sequence[str]) -> Clause | None:
    """`the door needs to be closed`, `it should go back into the box`."""
    text = " ".join(_without_fillers(tokens))
    goes = _GOES.match(text)
    if goes and not {"i", "you", "we", "they", "everything", "to", "should", "must", "will", "not"} & set(
        goes["subject"].split()
    ):
        return Clause("weak", "put", "put", (*goes["subject"].split(), *goes["rest"].split()))
    found = _PASSIVE.match(text)
    if not found or found["subject"].split()[0] in ("i", "we", "there", "what", "who", "where", "when", "if"):
        return None
    subject = [w for w in found["subject"].split() if w not in ADVERBS]
    rest = found["rest"].split()
    modal = text[len(found["subject"]) : found.start("rest")]
    if (
        not rest
        or not subject
        or subject == ["you"]
        or not re.search(r"need|should|must|want|ought|to|may|could|can|better", modal)
    ):
        return None
    base = PARTICIPLES.get(rest[0]) or GERUNDS.get(rest[0])
    if base is None and "go" in modal.split() and rest[0] in PREPOSITIONS | {"back"}:
        return Clause("weak", "put", "put", (*subject, *rest))
    if base is None or base not in VERBS:
        return None
    name = f"{base} {rest[1]}" if len(rest) > 1 and f"{base} {rest[1]}" in VERBS else base
    return Clause("do", name, VERBS[name], (*subject, *rest[len(name.split()) :]))


def _without_fillers(tokens: Sequence[str]) -> Sequence[str]:
    at = 0
    while at < len(tokens):
        ack = ACKNOWLEDGEMENTS.match(" ".join(tokens[at:]))
        if not ack and tokens[at] not in ADVERBS | {",", "and", "so", "but"}:
            break
        at += len(ack.group(0).split()) if ack else 1
    return tokens[at:]


def missed(tokens: Sequence[str]) -> Clause | None:
    """`you forgot to close it`: no instruction, but what a later `do that` means."""
    text = " ".join(tokens)
    for match in filter(None, (pattern.search(text) for pattern in _MISSED)):
        base = PARTICIPLES.get(match["verb"], match["verb"])
        if base in VERBS:
            return Clause(
                "weak", base, VERBS[base], tuple(w for w in match["object"].split() if w not in ("yet", "still"))
            )
    return None


def verbless(tokens: Sequence[str]) -> Clause | None:
    """`back to the table, please`."""
    plain = [t for t in tokens if t not in ADVERBS | {",", "and"}]
    if plain[:1] == ["to"] and plain[1:2] and plain[1] in DETERMINERS and not FINITE & set(plain):
        return Clause("do", "go", "walk", tuple(plain))
    return None
