"""Noun phrases to the things of the legend: what may be meant, what cannot, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.clauses import clauses
from iwkit_runtime.english.lexicon import (
    ANTONYMS,
    COLOURS,
    DETERMINERS,
    FINITE,
    PREPOSITIONS,
    SAME_AS,
    SIDES,
    STOPWORDS,
    VAGUE,
    WITNESS,
)
from iwkit_runtime.english.phrases import Attached, Phrase, phrase
from iwkit_runtime.english.words import content, meanings, sentences, singular, words
from iwkit_runtime.loop.views import LegendEntry

_FULL, _HEAD, _OTHER_WORD, _LOOSE = 4.0, 3.0, 2.5, 1.0
"""How well a noun fits: the whole name, its head, another word for it, one of its other words."""
_LOCATIVES = frozenset({"on", "in", "inside", "into", "onto", "from", "at", "off", "within"})
_TELLING = frozenset({"for", "label", "of", "at"})
_OPENINGS = frozenset({"door", "lid", "cover", "flap", "doors"})
_MINE = frozenset({"your", "my", "me", "you"})


@dataclass(frozen=True, slots=True)
class Focus:
    """What has been talked about: `held`, then what was `named`, the most recent first, and what was ruled out. `kind`
    is the nouns of the kind of thing that was spoken of last, where it was not clear which one was meant; `recent` is
    what the same utterance has named."""

    held: str | None = None
    named: tuple[str, ...] = ()
    excluded: frozenset[str] = frozenset()
    kind: tuple[str, ...] = ()
    recent: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Grounding:
    """The entries that a phrase may mean, best first and equally good ones only; `score` tells how well they fit."""

    candidates: tuple[LegendEntry, ...] = ()
    score: float = 0.0

    @property
    def entry(self) -> LegendEntry | None:
        """What is meant, where only one thing can be."""
        return self.candidates[0] if len(self.candidates) == 1 else None


@dataclass(frozen=True, slots=True)
class _Known:
    """The words of one entry."""

    entry: LegendEntry
    nouns: tuple[tuple[str, ...], ...]
    noun_words: frozenset[str]
    says: frozenset[str]
    support: frozenset[str]
    bearing: frozenset[str]
    heads: frozenset[str] = field(default_factory=frozenset)


@lru_cache(maxsize=4096)
def _known(entry: LegendEntry) -> _Known:
    nouns = tuple(tuple(singular(w) for w in words(noun)) for noun in entry.nouns)
    heads = frozenset(_head(noun) for noun in nouns if noun)
    noun_words = frozenset(w for noun in nouns for w in noun if w not in STOPWORDS)
    says = content(entry.description) | content(entry.label) | content(entry.colour) | noun_words
    return _Known(
        entry,
        nouns,
        noun_words,
        frozenset(SAME_AS.get(w, w) for w in says),
        content(entry.support),
        content(entry.bearing),
        heads,
    )


def heads(entry: LegendEntry) -> frozenset[str]:
    """The words that name the kind of thing: `bottle` of `bottle of water`."""
    return _known(entry).heads


def _head(noun: tuple[str, ...]) -> str:
    """`bottle` of `bottle of water`, `carton` of `orange juice carton`."""
    cut = next((i for i, word in enumerate(noun) if i and word in PREPOSITIONS | {"of"}), len(noun))
    return noun[cut - 1]


def ground(said: Phrase, entries: Sequence[LegendEntry], focus: Focus | None = None) -> Grounding:
    """What a noun phrase may mean.

    The head must name the thing. What else is said must not contradict it (another colour, side, number or label), and
    of what is left the best explained remain: one candidate is what is meant, several need a question, none is unknown.
    Pronouns are not looked up here, but `the other one` and `the left one` are told apart by their words.
    """
    focus = focus or Focus()
    scored = [(score, e) for e in entries if (score := _score(said, e, entries, focus)) is not None]
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
    best = max(score for score, _ in scored)
    return Grounding(tuple(e for score, e in scored if score > best - 0.4), best)


def _without(scored: list[tuple[float, LegendEntry]], handles: frozenset[str]) -> list[tuple[float, LegendEntry]]:
    """Leave out what was ruled out, unless nothing else fits."""
    kept = [(score, e) for score, e in scored if e.handle not in handles]
    return kept or scored


def mentioned(said: Iterable[str], entries: Sequence[LegendEntry]) -> set[str]:
    """Handles of what the utterances speak of. A noun that fits several things mentions all that still fit."""
    runs = (c.tokens for text in said for s in sentences(text) for c in (*clauses(s), Clause("tell", tokens=s.tokens)))
    return {e.handle for run in runs for group in mentions(run, entries) for e in group}


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
    for i, token in enumerate(tokens):
        if token in ("is", "are", "was", "were") and tokens[i + 1 : i + 2] and tokens[i + 1] in _PREDICATES and run:
            continue  # `the carton is on the left`: where it is belongs to it
        if token in _RUN_ENDS:
            yield run
            run = []
        else:
            run.append(token)
    yield run


_PREDICATES = frozenset({"on", "in", "near", "at", "to", "by", "inside", "into"})
_RUN_ENDS = FINITE | WITNESS | frozenset({",", "and", "or", "but", "then", "you", "i", "we", "not"})


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


# --- scoring ----------------------------------------------------------------------------------------------------------


def _score(said: Phrase, entry: LegendEntry, entries: Sequence[LegendEntry], focus: Focus) -> float | None:
    """How well an entry fits, None where it cannot be meant."""
    known = _known(entry)
    core = list(said.core)
    in_hand = any(a.preposition == "inhand" for a in said.attached)
    if in_hand and not entry.held:
        return None
    if said.one:
        base, rest = _like_last(known, core, said.attached, entries, focus)
    else:
        base, rest = _noun(known, core, said.words)
    if base is None and in_hand:
        return _LOOSE  # whatever it is called, it is the thing in the hand
    if base is None:
        return None
    if _elsewhere(said, known, entries):
        return None
    total = base + _pointing(said, entry, focus)
    for word in rest:
        value = _modifier(word, known, base, said, entries)
        if value is None:
            return None
        total += value
    for attached in said.attached:
        value = _attached(attached, known, facing=_facing(said))
        if value is None:
            return None
        total += value
    if said.one and base == _LOOSE and total <= base:
        return None  # `the white one`, and nothing is known to be white
    return total


def _elsewhere(said: Phrase, known: _Known, entries: Sequence[LegendEntry]) -> bool:
    """Whether a thing is described as being in another room than the phrase tells."""
    words_in = [content(" ".join(a.words)) for a in said.attached if a.preposition in _LOCATIVES]
    if not words_in or known.entry.room:
        return False
    rooms = [content(e.description) for e in entries if e.room]
    told = [r for r in rooms if any(r <= w for w in words_in)]
    own = [r for r in rooms if r <= content(known.entry.description)]
    return bool(told and own) and not any(r in told for r in own)


def _pointing(said: Phrase, entry: LegendEntry, focus: Focus) -> float:
    """`that cabinet` is the one just spoken of, though another thing may be called a cabinet more often."""
    if entry.handle not in focus.recent or said.one:
        return 0.0
    return 1.5 if said.words[0] in ("that", "this", "these", "those") else 0.7 if len(said.core) == 1 else 0.0


def _like_last(
    known: _Known, core: list[str], attached: Sequence[Attached], entries: Sequence[LegendEntry], focus: Focus
) -> tuple[float | None, list[str]]:
    """`the left one`: a thing of the kind that was talked about last; without such a talk the words must tell."""
    last = next((e.nouns for h in focus.named for e in entries if e.handle == h), ())
    kind = focus.kind or last
    if kind:
        return (_HEAD if set(known.entry.nouns) & set(kind) else None), core
    return (_LOOSE if core or attached else None), core


def _noun(known: _Known, core: list[str], said: Sequence[str]) -> tuple[float | None, list[str]]:
    """The best noun of the entry in the phrase, and the words beside it."""
    plain = [singular(w) for w in said]
    less = 0.0
    if len(core) > 1 and "door" not in known.noun_words and _OPENINGS & {core[-1], core[0] if "of" in plain else ""}:
        core = core[1:] if core[0] in _OPENINGS else core[:-1]  # the door of a thing stands for the thing
        less = 0.5
    if not core:
        return None, []
    fits = []
    for noun in known.nouns:
        own = [w for w in noun if w not in STOPWORDS]
        if own and _covers(core, own) and _head_at(core, plain, noun):
            fits.append((_FULL + 0.1 * len(own) - less, [w for w in core if w not in own]))
    if fits:
        return max(fits, key=lambda fit: fit[0])
    head = _spoken_head(core, plain)
    rest = [w for w in core if w != head]
    if head in known.heads:
        return _HEAD, rest
    if set(meanings(head)[1:]) & known.heads:
        return _OTHER_WORD, rest
    if head in known.says and head not in VAGUE | COLOURS | SIDES and not head.isdigit():
        return _LOOSE + (0.5 if head in known.noun_words else 0.0), rest
    return None, []


def _covers(core: Sequence[str], own: Sequence[str]) -> bool:
    return all(w in core for w in own)


def _spoken_head(core: Sequence[str], plain: Sequence[str]) -> str:
    """The word that names the thing: before `of`, else the last that is not a side or a vague word."""
    if "of" in plain[1:]:
        before = [w for w in plain[: plain.index("of")] if w in core and w not in VAGUE | SIDES]
        if before:
            return before[-1]
    naming = [w for w in core if w not in VAGUE | SIDES and not w.isdigit() and w not in COLOURS]
    return naming[-1] if naming else core[-1]


def _head_at(core: Sequence[str], plain: Sequence[str], noun: Sequence[str]) -> bool:
    """Whether the noun is what the phrase names, and not a word that narrows another noun: in `the copy room table` the
    table is named, not the copy room."""
    return _spoken_head(core, plain) in noun


def _modifier(word: str, known: _Known, base: float, said: Phrase, entries: Sequence[LegendEntry]) -> float | None:
    """The worth of one more word of the phrase, None where it contradicts."""
    if word in SIDES | {"middle"}:
        return _side(word, known, mine=bool(set(said.words) & _MINE) and not _facing(said))
    if word in known.says or set(meanings(word)[1:]) & known.says:
        return 1.0
    if word in known.support:
        return 0.9
    if word.isdigit():
        return 0.0 if said.words[-1] != singular(said.words[-1]) else None  # a count: `the 3 invoices`
    if word in COLOURS:
        return None if known.entry.colour or COLOURS & known.says else -0.5
    if ANTONYMS.get(word) in known.says:
        return None
    if word in VAGUE:
        return 0.0
    if "door" in known.entry.nouns:
        return None
    if any(e.place and word in _known(e).noun_words for e in entries):
        return -0.5
    if known.entry.label or base < _FULL:
        return None
    return -0.75


def _facing(said: Phrase) -> bool:
    """`on your left as you face the bed` is told from there, not from where the wearer stands."""
    return any(a.preposition == "facing" for a in said.attached)


def _side(side: str, known: _Known, *, mine: bool) -> float | None:
    """Left and right by the description, or by the way the wearer faces (`mine`); a description that says the opposite
    of what is seen leaves it open."""
    told = (SIDES | {"middle"}) & known.says
    seen = (SIDES & known.bearing) or ({"middle"} if "ahead" in known.bearing else frozenset())
    if not mine:
        source = told or seen
        return -0.5 if not source else 1.0 if side in source else None
    if not seen:
        return -0.5 if not told else 0.8 if side in told else None
    if side in seen:
        return 1.0 if not told or side in told else 0.4
    return 0.4 if side in told else None


def _attached(attached: Attached, known: _Known, *, facing: bool) -> float | None:
    """The worth of a phrase with its preposition."""
    if attached.side:
        if "its" in attached.words and not SIDES & known.says:
            return 0.0  # it is at the side of another thing
        return _side(attached.side, known, mine=bool(set(attached.words) & _MINE) and not facing)
    named = [SAME_AS.get(singular(w), singular(w)) for w in attached.words if w not in STOPWORDS]
    if attached.preposition in _LOCATIVES and named and tuple(named) in known.nouns:
        return None  # nothing is on itself
    if attached.preposition in _LOCATIVES and known.entry.held:
        return 0.0  # it was there before it was taken
    worths = [_place_word(word, attached, known, last=word == named[-1]) for word in named]
    return None if None in worths else sum(filter(None, worths))


def _place_word(word: str, attached: Attached, known: _Known, *, last: bool) -> float | None:
    """The worth of one word of a phrase with its preposition, None where it contradicts."""
    if word in known.support and attached.preposition in _LOCATIVES:
        return 0.9
    if word in SIDES | {"middle"} and attached.preposition != "facing":
        return _side(word, known, mine=False)
    if word in known.says or set(meanings(word)[1:]) & known.says:
        return 1.0
    if word in known.support or set(meanings(word)[1:]) & known.support:
        return 0.9
    number = word.isdigit() and (attached.preposition in _TELLING or (attached.preposition == "with" and last))
    if number or (attached.preposition == "label" and known.entry.label):
        return None
    return -0.75 if attached.preposition in _LOCATIVES and known.support and not known.entry.held else -0.25
