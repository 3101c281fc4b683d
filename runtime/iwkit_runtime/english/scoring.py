"""How well a noun phrase fits a thing of the legend, or that it cannot mean it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from iwkit_runtime.english.lexicon import ANTONYMS, COLOURS, PARTS, PREPOSITIONS, SAME_AS, SIDES, STOPWORDS, VAGUE
from iwkit_runtime.english.phrases import Attached, Phrase
from iwkit_runtime.english.words import content, meanings, singular, words
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
class Known:
    """The words of one entry."""

    entry: LegendEntry
    nouns: tuple[tuple[str, ...], ...]
    noun_words: frozenset[str]
    says: frozenset[str]
    support: frozenset[str]
    bearing: frozenset[str]
    heads: frozenset[str]
    own: tuple[frozenset[str], ...]
    """The words of each noun that carry meaning, as they stand in a phrase's core."""
    written: frozenset[str]
    """Words that only stand on a page with several lines: neither its title nor the items of a list name the page."""


@lru_cache(maxsize=4096)
def known_words(entry: LegendEntry) -> Known:
    nouns = tuple(tuple(singular(w) for w in words(noun)) for noun in entry.nouns)
    heads = frozenset(_head(noun) for noun in nouns if noun)
    noun_words = frozenset(w for noun in nouns for w in noun if w not in STOPWORDS)
    written = content(entry.label)
    called = content(entry.description) | content(entry.colour) | noun_words
    if "\n" not in entry.label:
        called |= written
    says = called | written
    return Known(
        entry,
        nouns,
        noun_words,
        frozenset(SAME_AS.get(w, w) for w in says),
        frozenset(SAME_AS.get(w, w) for w in content(entry.support)),
        content(entry.bearing),
        heads,
        tuple(frozenset(SAME_AS.get(w, w) for w in noun if w not in STOPWORDS) for noun in nouns),
        frozenset(SAME_AS.get(w, w) for w in says - called),
    )


def heads(entry: LegendEntry) -> frozenset[str]:
    """The words that name the kind of thing: `bottle` of `bottle of water`."""
    return known_words(entry).heads


def _head(noun: tuple[str, ...]) -> str:
    """`bottle` of `bottle of water`, `carton` of `orange juice carton`."""
    cut = next((i for i, word in enumerate(noun) if i and word in PREPOSITIONS | {"of"}), len(noun))
    return noun[cut - 1]


def score(said: Phrase, entry: LegendEntry, entries: Sequence[LegendEntry], focus: Focus) -> float | None:
    """How well an entry fits, None where it cannot be meant."""
    known = known_words(entry)
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


def _elsewhere(said: Phrase, known: Known, entries: Sequence[LegendEntry]) -> bool:
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
    known: Known, core: list[str], attached: Sequence[Attached], entries: Sequence[LegendEntry], focus: Focus
) -> tuple[float | None, list[str]]:
    """`the left one`: a thing of the kind that was talked about last; without such a talk the words must tell."""
    last = next((e.nouns for h in focus.named for e in entries if e.handle == h), ())
    kind = focus.kind or last
    if kind:
        return (_HEAD if set(known.entry.nouns) & set(kind) else None), core
    return (_LOOSE if core or attached else None), core


def _noun(known: Known, core: list[str], said: Sequence[str]) -> tuple[float | None, list[str]]:
    """The best noun of the entry in the phrase, and the words beside it."""
    less = 0.0
    if len(core) > 1 and "door" not in known.noun_words and _OPENINGS & {core[-1], core[0] if "of" in said else ""}:
        core = core[1:] if core[0] in _OPENINGS else core[:-1]  # the door of a thing stands for the thing
        less = 0.5
    if not core:
        return None, []
    # A noun that only narrows another one is not named: `the copy room table` is a table and not the copy room.
    head = _spoken_head(tuple(core), tuple(said))
    if head in PARTS and len(core) > 1 and head not in known.noun_words:
        core = [w for w in core if w != head]
        head = _spoken_head(tuple(core), tuple(core))
    named = [own for own in known.own if own and head in own and own <= set(core)]
    if named:
        best = max(named, key=len)
        return _FULL + 0.1 * len(best) + 1.5 * (len(best) - 1) - less, [w for w in core if w not in best]
    rest = [w for w in core if w != head]
    if head in known.heads:
        return _HEAD, rest
    if set(meanings(head)[1:]) & known.heads:
        return _OTHER_WORD, rest
    if head in known.says - known.written and head not in VAGUE | COLOURS | SIDES and not head.isdigit():
        return _LOOSE + (0.5 if head in known.noun_words else 0.0), rest
    return None, []


@lru_cache(maxsize=4096)
def _spoken_head(core: tuple[str, ...], said: tuple[str, ...]) -> str:
    """The word that names the thing: before `of`, else the last that is not a side or a vague word."""
    plain = [singular(w) for w in said]
    if "of" in plain[1:]:
        before = [w for w in plain[: plain.index("of")] if w in core and w not in VAGUE | SIDES]
        if before:
            return before[-1]
    naming = [w for w in core if w not in VAGUE | SIDES and not w.isdigit() and w not in COLOURS]
    return naming[-1] if naming else core[-1]


def _modifier(word: str, known: Known, base: float, said: Phrase, entries: Sequence[LegendEntry]) -> float | None:
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
        return None if COLOURS & known.says or _coloured(known.entry, entries) else -0.5
    if ANTONYMS.get(word) in known.says:
        return None
    if word in VAGUE:
        return -0.5 if _said_of_another(word, known, entries) else 0.0
    if "door" in known.entry.nouns:
        return None
    if any(e.place and word in known_words(e).noun_words for e in entries):
        return -0.5
    if known.entry.label or base < _FULL:
        return None
    return -0.75


def _said_of_another(word: str, known: Known, entries: Sequence[LegendEntry]) -> bool:
    """Whether an adjective that often tells nothing apart tells apart here: another thing of the kind has it."""
    return any(word in known_words(e).says and known.heads & known_words(e).heads for e in entries)


def _coloured(entry: LegendEntry, entries: Sequence[LegendEntry]) -> bool:
    """Whether the colour of a thing, or of things of its kind, is known: then it has no other."""
    return any(e.colour and set(e.nouns) & set(entry.nouns) for e in entries)


def _facing(said: Phrase) -> bool:
    """`on your left as you face the bed` is told from there, not from where the wearer stands."""
    return any(a.preposition == "facing" for a in said.attached)


def _side(side: str, known: Known, *, mine: bool) -> float | None:
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


def _attached(attached: Attached, known: Known, *, facing: bool) -> float | None:
    """The worth of a phrase with its preposition."""
    if attached.side:
        if "its" in attached.words and not SIDES & known.says:
            return 0.0  # it is at the side of another thing
        return _side(attached.side, known, mine=bool(set(attached.words) & _MINE) and not facing)
    named = [SAME_AS.get(singular(w), singular(w)) for w in attached.words if w not in STOPWORDS]
    if attached.preposition == "near" and "one" in attached.words:
        return None if set(named) <= known.says else 0.0  # `the cupboard opposite the left one` is not the left one
    if attached.preposition in _LOCATIVES and named and tuple(named) in known.nouns:
        return None  # nothing is on itself
    if attached.preposition in _LOCATIVES and known.entry.held:
        return 0.0  # it was there before it was taken
    worths = [_place_word(word, attached, known, last=word == named[-1]) for word in named]
    return None if None in worths else sum(filter(None, worths))


def _place_word(word: str, attached: Attached, known: Known, *, last: bool) -> float | None:
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
