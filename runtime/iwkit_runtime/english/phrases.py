"""Noun phrases: what follows a verb, cut into its object and the phrases with a preposition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from iwkit_runtime.english.lexicon import (
    ADVERBS,
    COLOURS,
    DETERMINERS,
    FINITE,
    INDEFINITE,
    PARTICLES,
    PREPOSITIONS,
    PRONOUNS,
    SAME_AS,
    SIDES,
    STOPWORDS,
)
from iwkit_runtime.english.words import singular

_BREAKS = frozenset({"and", "but", "or", "because", "since", "so", "which", "who", "where"})
_NOUN_FOLLOWS = DETERMINERS - {"that", "this", "these", "those", "both", "some", "any"}
_PLACE_WORDS = frozenset({"there", "here"})


@dataclass(frozen=True, slots=True)
class Attached:
    """A phrase with its preposition: `on the desk`. An adverbial one (`inside`, `there`) has no words."""

    preposition: str
    words: tuple[str, ...] = ()

    @property
    def side(self) -> str:
        """`left`, `right` or `middle` where the phrase tells only that: `on your left`."""
        plain = [SAME_AS.get(w, w) for w in self.words if w not in STOPWORDS]
        return plain[0] if len(plain) == 1 and "one" not in self.words and plain[0] in SIDES | {"middle"} else ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase: its own words and what is attached to it."""

    words: tuple[str, ...] = ()
    attached: tuple[Attached, ...] = ()

    @property
    def core(self) -> tuple[str, ...]:
        """The words without determiners and the like, `left` and `right` kept, numbers kept."""
        return tuple(SAME_AS.get(singular(w), singular(w)) for w in self.words if w not in STOPWORDS)

    @property
    def empty(self) -> bool:
        return not self.words

    @property
    def pronoun(self) -> bool:
        """`it`, `that one`, `them`: nothing but a pronoun, and nothing attached that would tell it apart."""
        told = self.one and any(a.words for a in self.attached)
        return bool(self.words) and not self.core and not told and any(w in PRONOUNS | {"ones"} for w in self.words)

    @property
    def one(self) -> bool:
        """`the left one`, `the other one`: a pronoun with words that tell it apart."""
        return bool({"one", "ones"} & set(self.words)) and "number" not in self.words

    @property
    def indefinite(self) -> bool:
        return bool(self.words) and self.words[0] in INDEFINITE

    @property
    def alternatives(self) -> bool:
        """`the can or the bottle`."""
        return "or" in self.words or any("or" in a.words for a in self.attached)

    @property
    def text(self) -> str:
        """The phrase as it can be said back."""
        return " ".join(w for w in self.words if w not in DETERMINERS)

    def with_attached(self, extra: Sequence[Attached]) -> Phrase:
        return replace(self, attached=(*self.attached, *extra))


@dataclass(frozen=True, slots=True)
class Arguments:
    """What follows a verb: direct object, attached phrases in order, particles, and whether `and` adds more things."""

    direct: Phrase = field(default_factory=Phrase)
    attached: tuple[Attached, ...] = ()
    particles: frozenset[str] = frozenset()
    more: bool = False


def arguments(tokens: Sequence[str]) -> Arguments:
    """Cut the words after a verb at prepositions; particles are taken out."""
    particles: set[str] = set()
    parts: list[tuple[str, list[str]]] = [("", [])]
    fresh = True  # nothing of the current phrase yet
    more = False
    for i, word in enumerate(tokens):
        after = tokens[i + 1] if i + 1 < len(tokens) else ""
        before = tokens[i - 1] if i else ""
        named = before in _NOUN_FOLLOWS or before in ("most", "very")
        if word in _BREAKS and word != "or":
            if _goes_on(tokens, i, parts[-1]):
                parts[-1][1].append(word)
                continue
            more = word == "and" and after in DETERMINERS
            break
        if word == ",":
            fresh = True
        elif word == "rel":
            if fresh and after not in PREPOSITIONS | {"there"}:
                parts.append(("beside-the-point", []))
            fresh = False
        elif word in _PLACE_WORDS and not named:
            parts.append(("there", []))
        elif word in PARTICLES and not named and not (word in PREPOSITIONS and _starts_phrase(after)):
            particles.add(word)
        elif word in PREPOSITIONS and not named:
            parts.append((word, []))
            fresh = False
        elif (
            (word in ADVERBS or (word.endswith("ly") and len(word) > 4))
            and not named
            and not _inside_phrase(before, after)
        ):
            continue
        elif word in SIDES and not named and not parts[-1][1] and after in ("", ","):
            particles.add(word)
        else:
            _extend(parts, word, fresh)
            fresh = False
    return replace(_assemble(parts, frozenset(particles)), more=more)


def _goes_on(tokens: Sequence[str], i: int, part: tuple[str, list[str]]) -> bool:
    """Whether an `and` joins what belongs together (`between the can and the bottle`)."""
    return part[0] == "between" and tokens[i] == "and"


def _starts_phrase(word: str) -> bool:
    return bool(word) and word != "," and word not in PREPOSITIONS and word not in ADVERBS and word not in _BREAKS


def _inside_phrase(before: str, after: str) -> bool:
    """An adverb-like word that is an adjective here: `the last one`, `the next shelf`."""
    return before in DETERMINERS and bool(after)


def _extend(parts: list[tuple[str, list[str]]], word: str, fresh: bool) -> None:
    if fresh and parts[-1][1]:
        parts.append(("aside" if len(parts) == 1 else "beside-the-point", []))
    if parts[-1][0] == "there":
        parts.append(("", [word]))
        return
    parts[-1][1].append(word)


def _without_on_it(parts: Sequence[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """`the one with $41 on it`: what is on it was told."""
    telling = {"with", "label"}
    return [
        part
        for i, part in enumerate(parts)
        if not (i and parts[i - 1][0] in telling and part[0] in ("on", "in") and part[1] in (["it"], ["them"], []))
    ]


def _assemble(parts: Sequence[tuple[str, list[str]]], particles: frozenset[str]) -> Arguments:
    parts = _without_on_it(parts)
    direct = Phrase(tuple(parts[0][1]))
    attached: list[Attached] = []
    for preposition, words in parts[1:]:
        plain = set(words) - STOPWORDS - SIDES - COLOURS - {"middle"}
        if preposition == "aside" and FINITE & set(words):
            continue  # `take the mug, the other one stays there`
        if preposition == "aside" and (direct.pronoun or (direct.one and plain and "one" not in words)) and words:
            direct = Phrase(tuple(words))  # `take it, the blue mug`
        elif preposition == "aside" and set(words) & (SIDES | COLOURS | {"one", "middle"}):
            # `the mug, the blue one,` tells more about the object
            direct = Phrase((*direct.words, *(w for w in words if w not in DETERMINERS | {"one"})))
        elif preposition == "" and not direct.words:
            direct = Phrase(tuple(words))
        elif preposition and preposition not in ("aside", "beside-the-point"):
            attached.append(Attached(preposition, tuple(words)))
    return Arguments(direct, tuple(attached), particles)


def phrase(tokens: Sequence[str]) -> Phrase:
    """A run of words read as one noun phrase with everything attached to it."""
    found = arguments(tokens)
    return found.direct.with_attached(found.attached)
