"""Noun phrases to the things of the legend: what may be meant, what cannot, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.clauses import clauses
from iwkit_runtime.english.lexicon import (
    DETERMINERS,
    FINITE,
    INDEFINITE,
    SAME_AS,
    STOPWORDS,
    WITNESS,
)
from iwkit_runtime.english.order import ORDINALS, at_place, place_in_row
from iwkit_runtime.english.phrases import Attached, Phrase, phrase
from iwkit_runtime.english.scoring import Focus, known_words, score
from iwkit_runtime.english.words import sentences, singular
from iwkit_runtime.loop.views import LegendEntry


@dataclass(frozen=True, slots=True)
class Grounding:
    """The entries that a phrase may mean, best first and equally good ones only; `score` tells how well they fit."""

    candidates: tuple[LegendEntry, ...] = ()
    score: float = 0.0

    @property
    def entry(self) -> LegendEntry | None:
        """What is meant, where only one thing can be."""
        return self.candidates[0] if len(self.candidates) == 1 else None


def ground(said: Phrase, entries: Sequence[LegendEntry], focus: Focus | None = None) -> Grounding:
    """What a noun phrase may mean.

    The head must name the thing. What else is said must not contradict it (another colour, side, number or label), and
    of what is left the best explained remain: one candidate is what is meant, several need a question, none is unknown.
    Pronouns are not looked up here, but `the other one` and `the left one` are told apart by their words.
    """
    focus = focus or Focus()
    narrowed = _all_but(said, entries, focus) or _counted(said, entries, focus)
    if narrowed is not None:
        return narrowed
    scored = [(fit, e) for e in entries if (fit := score(said, e, entries, focus)) is not None]
    if not scored and said.one and (focus.kind or focus.named):
        return ground(said, entries, replace(focus, kind=(), named=()))
    if not scored and "right" in said.words:
        return ground(
            replace(said, words=tuple(w for w in said.words if w != "right")), entries, focus
        )  # the correct one
    scored = _without(scored, focus.excluded)
    if "other" in said.words or "another" in said.words:
        scored = _without(scored, frozenset(focus.named[:1]) | frozenset(filter(None, [focus.held])))
    if not scored:
        return Grounding()
    best = max(fit for fit, _ in scored)
    return Grounding(tuple(e for fit, e in scored if fit > best - 0.4), best)


def _all_but(said: Phrase, entries: Sequence[LegendEntry], focus: Focus) -> Grounding | None:
    """`the towel that is not grey`, `any screwdriver except the long one`: what fits the first part and not the second;
    None where the phrase rules nothing out."""
    at = said.words.index("not") if "not" in said.words else 0
    if not at:
        return None
    if not said.words[at + 1 :] and said.attached:  # `the mug that is not on the desk`
        everything = ground(Phrase(said.words[:at]), entries, focus)
        there = ground(Phrase(said.words[:at], said.attached), entries, focus).candidates
        return replace(everything, candidates=tuple(e for e in everything.candidates if e not in there))
    found = ground(Phrase(said.words[:at], said.attached), entries, focus)
    ruled_out: list[set[str]] = [set()]
    for word in said.words[at + 1 :]:
        if word in ("nor", "or", "and"):
            ruled_out.append(set())
        elif word not in STOPWORDS:
            ruled_out[-1].add(SAME_AS.get(singular(word), singular(word)))
    left = tuple(e for e in found.candidates if not any(r and r <= known_words(e).says for r in ruled_out))
    return replace(found, candidates=left)


def _counted(said: Phrase, entries: Sequence[LegendEntry], focus: Focus) -> Grounding | None:
    """`the second drawer from the top`; None where the phrase has no ordinal, or one that is part of a name."""
    told = place_in_row(said)
    if told is None or not told[1].core:
        return None
    place, bare = told
    found = ground(bare, entries, focus)
    if not place.row and any(_named_so(e, said) for e in found.candidates):
        return None
    return replace(found, candidates=at_place(place, found.candidates))


def _named_so(entry: LegendEntry, said: Phrase) -> bool:
    return bool(set(said.words) & ORDINALS.keys() & known_words(entry).says)


def _without(scored: list[tuple[float, LegendEntry]], handles: frozenset[str]) -> list[tuple[float, LegendEntry]]:
    """Leave out what was ruled out, unless nothing else fits."""
    kept = [(fit, e) for fit, e in scored if e.handle not in handles]
    return kept or scored


def mentioned(said: Iterable[str], entries: Sequence[LegendEntry]) -> set[str]:
    """Handles of what the utterances speak of. A noun that fits several things mentions all that still fit."""
    legend = tuple(entries)
    return {handle for text in said for handle in _mentioned(text, legend)}


@lru_cache(maxsize=4096)
def _mentioned(text: str, entries: tuple[LegendEntry, ...]) -> frozenset[str]:
    """Of one utterance. It is asked again in every turn after it."""
    runs = (c.tokens for s in sentences(text) for c in (*clauses(s), Clause("tell", tokens=s.tokens)))
    return frozenset(e.handle for run in runs for group in mentions(run, entries) for e in group)


def mentions(
    tokens: Sequence[str], entries: Sequence[LegendEntry], focus: Focus | None = None
) -> list[tuple[LegendEntry, ...]]:
    """What a run of words speaks of, in order: for each noun phrase the entries that fit it best."""
    return [group for _, group in spoken_of(tokens, entries, focus) if group]


def spoken_of(
    tokens: Sequence[str], entries: Sequence[LegendEntry], focus: Focus | None = None
) -> list[tuple[Phrase, tuple[LegendEntry, ...]]]:
    """The noun phrases of a run of words in order, each with the entries that fit it best, none where it is unknown."""
    plain = _NEEDED.sub(" ", f" {' '.join(tokens)} ").replace(" says ", " label ").replace(" reads ", " label ").split()
    found: list[tuple[Phrase, tuple[LegendEntry, ...]]] = []
    view: tuple[Attached, ...] = ()
    for run in _runs(plain):
        if run[:1] == ["facing"]:
            view = (Attached("facing", tuple(run[1:])),)
            continue
        for said in (p.with_attached(view) for p in _phrases(run)):
            shorter = replace(said, words=said.words[:-1])
            for attempt in (said, Phrase(said.words), shorter if len(said.core) > 1 else said):
                if group := ground(attempt, entries, focus).candidates:
                    found.append((said, group))
                    focus = _after(group, focus)
                    break
            else:
                found.append((said, ()))
    return found


def _after(group: Sequence[LegendEntry], focus: Focus | None) -> Focus:
    """The focus after a group was spoken of."""
    focus = focus or Focus()
    if len(group) == 1:
        return replace(focus, named=(group[0].handle, *focus.named), kind=())
    return replace(focus, kind=group[0].nouns) if len({e.nouns for e in group}) == 1 else focus


_NEEDED = re.compile(
    r" (?:that |which )?(?:you|we|i) (?:need|want|are after|are looking for|were looking for|asked for)(?! to\b)(?= )"
)


def _runs(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Cut at commas, conjunctions and the verbs of statements."""
    run: list[str] = []
    for i, word in enumerate(tokens):
        if word in ("is", "are", "was", "were") and tokens[i + 1 : i + 2] and tokens[i + 1] in _PREDICATES and run:
            continue  # `the carton is on the left`: where it is belongs to it
        if word in _RUN_ENDS and not (word == "not" and run[:1] and run[0] in INDEFINITE):
            yield run
            run = []
        else:
            run.append(word)
    yield run


_PREDICATES = frozenset({"on", "in", "near", "at", "to", "by", "inside", "into"})
_RUN_ENDS = FINITE | WITNESS | frozenset({",", "and", "or", "nor", "but", "then", "you", "i", "we", "not"})


def _phrases(run: Sequence[str]) -> Iterator[Phrase]:
    """The noun phrases of a run: the first with what is attached to it, then those that are attached."""
    if not run:
        return
    said = phrase(run)
    yield Phrase(_from_determiner(said.words), said.attached)
    for i, attached in enumerate(said.attached):
        if attached.words and not attached.side:
            yield Phrase(_from_determiner(attached.words), said.attached[i + 1 :])


def _from_determiner(spoken: tuple[str, ...]) -> tuple[str, ...]:
    """Without a verb before the noun: from the first determiner on, where there is one."""
    starts = [i for i, word in enumerate(spoken) if word in DETERMINERS and i + 1 < len(spoken)]
    return spoken[starts[0] :] if starts else spoken
