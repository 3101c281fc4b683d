"""Utterances to clauses: which parts ask for something, which forbid something, and which only tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.corrections import corrected
from iwkit_runtime.english.indirect import chosen, missed, passive, verbless
from iwkit_runtime.english.reader import Reader
from iwkit_runtime.english.rephrase import rephrased
from iwkit_runtime.english.words import Sentence, sentences


def clauses(sentence: Sentence) -> list[Clause]:
    """The clauses of a sentence in the order in which they are to be carried out."""
    sentence = rephrased(sentence)
    found = _with_view(Reader(sentence).read())
    if any(c.kind in ("do", "never", "unknown", "condition") and c.verb not in _EMPTY for c in found):
        return found
    readers = (chosen, passive, missed, verbless)
    indirect = None if sentence.question else next(filter(None, (reader(sentence.tokens) for reader in readers)), None)
    if indirect is not None:
        return [indirect, *(c for c in found if c.verb in _DO_THAT)]
    if any(c.kind == "do" for c in found):
        return found
    halts = [c for c in found if c.kind == "halt"]
    if sentence.question:
        return [*halts, Clause("question", tokens=sentence.tokens)]
    return found


def _with_view(found: Sequence[Clause]) -> list[Clause]:
    """`facing the bed, open the left one`: the view belongs to what is named next."""
    out: list[Clause] = []
    for clause in found:
        if out and out[-1].tokens[:1] == ("facing",) and out[-1].kind == "tell" and clause.kind == "do":
            out.append(replace(clause, tokens=(*clause.tokens, *out.pop().tokens)))
        else:
            out.append(clause)
    return out


def understand(text: str) -> tuple[Clause, ...]:
    """The clauses of an utterance."""
    found = [c for s in sentences(corrected(text)) for c in clauses(s)]
    out: list[Clause] = []
    weak: Clause | None = None
    strong = any(c.kind == "do" and c.act != "idle" and not (c.act == "walk" and not c.tokens) for c in found)
    for clause in found:
        if clause.kind == "do" and clause.verb in _DO_THAT and weak is not None:
            out.append(replace(weak, kind="do"))
        elif clause.kind == "do" and clause.verb in _DO_THAT and not strong:
            out.append(replace(clause, kind="unknown", act=""))
        elif clause.kind == "never" and clause.verb in ("leave", "keep") and clause.tokens[-1:] == ("open",):
            closing = Clause(
                "tell" if strong else "do", "close", "close", clause.tokens[:-1]
            )  # it is not to be left open
            out.append(closing)
        elif clause.act == "idle" and clause.verb.split()[0] in _REACHING and "for" in clause.tokens:
            out.append(replace(clause, act="reach"))
        elif clause.kind == "weak":
            weak = clause
            repeated = any(c.verb in _DO_THAT for c in found)
            belongs = clause.act == "put" and not strong and not repeated
            out.append(replace(clause, kind="do" if belongs else "tell"))
        else:
            out.append(clause)
    return tuple(out)


_REACHING = frozenset({"reach", "stretch", "lean", "bend", "extend", "feel"})
_DO_THAT = frozenset({"do it", "do that", "do so", "do this"})
_EMPTY = _DO_THAT | {"be"}
"""Verbs that may belong to a passive (`the door should now be closed`) or to what was said before."""
