"""From an utterance to sentences of plain tokens: case, contractions, number words, fixed expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from iwkit_runtime.english.lexicon import (
    COLOURS,
    CONTRACTIONS,
    DETERMINERS,
    NUMBERS,
    PREPOSITIONS,
    REWRITES,
    SIDES,
    STOPWORDS,
    THESAURUS,
)

_TYPOGRAPHY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": ";", "–": ";", "…": ".", "(": ",", ")": ","})
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+(?:'[^\W\d_]+)?|[,.!?;:]")
_ENDS = frozenset(".!?;:")
_MODAL_NEXT = frozenset({"you", "i", "we", "it", "they", "not", "be"})
_MODAL_PREVIOUS = frozenset({"you", "i", "we", "it", "they", "that", "what", "how", "who", "which", "there"})
_IRREGULAR = {"shelves": "shelf", "knives": "knife", "loaves": "loaf", "leaves": "leaf", "scarves": "scarf"}
_RELATIVE = frozenset({("rel",), ("inhand",), ("label",)})
_NO_NOUN = frozenset(
    {",", "do", "all", "what", "could", "would", "will", "and", "but", "when", "once", "after", "if", "as", "that"}
    | {"then", "now", "because", "since", "by", "start", "mind", "please"}
)
"""A relative clause follows a noun: after these, `you see` and the like begin a clause of their own."""
_CURRENCY = frozenset({"dollar", "dollars", "buck", "bucks", "euro", "euros", "pound", "pounds", "cent", "cents"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """The tokens of one sentence with commas kept, and whether it ended in a question mark."""

    tokens: tuple[str, ...]
    question: bool


def sentences(text: str) -> list[Sentence]:
    """Split an utterance. Colons, semicolons and dashes end a sentence too: what follows is a clause of its own."""
    found: list[Sentence] = []
    current: list[str] = []
    for word in _raw_tokens(text):
        if word not in _ENDS:
            current.append(word)
        elif current:
            found.append(Sentence(_plain(current), word == "?"))
            current = []
    if current:
        found.append(Sentence(_plain(current), False))
    return [s for s in found if any(t != "," for t in s.tokens)]


def words(text: str) -> tuple[str, ...]:
    """The plain words of a short text such as a description or a label."""
    return tuple(t for t in _plain(_raw_tokens(text)) if t not in _ENDS and t != ",")


@cache
def content(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, in the singular."""
    return frozenset(singular(t) for t in words(text) if t not in STOPWORDS)


@cache
def singular(word: str) -> str:
    """A plural without its ending. The same rule is used on both sides of a comparison, so it need not be English."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 3 and word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def meanings(word: str) -> tuple[str, ...]:
    """The word itself and what else it may be called."""
    base = singular(word)
    return (base, *THESAURUS.get(base, ()))


def _raw_tokens(text: str) -> list[str]:
    plain = text.translate(_TYPOGRAPHY).lower()
    plain = re.sub(r"(?<=\s)-+(?=\s)", ";", plain)
    plain = re.sub(r"(?<=\d)[.,](?=\d{3}\b)", "", plain)
    return _TOKEN.findall(plain)


def _plain(tokens: Iterable[str]) -> tuple[str, ...]:
    expanded: list[str] = []
    for word in tokens:
        expanded += CONTRACTIONS.get(word, (word,)) if word in CONTRACTIONS else _apostrophe(word)
    return tuple(_without_emphasis(_rewrite(_numbers(_modal(expanded)))))


def _apostrophe(word: str) -> tuple[str, ...]:
    """What is left of contractions after the table: 'll, 're, 've, 'd and the possessive."""
    stem, mark, ending = word.partition("'")
    if not mark:
        return (word,)
    endings = {"ll": "will", "re": "are", "ve": "have", "d": "would", "m": "am"}
    if ending in endings:
        return (stem, endings[ending])
    return (stem,)


def _modal(tokens: Sequence[str]) -> list[str]:
    """`can` the verb becomes `could`, so that `can` is left for the thing."""
    out = []
    for i, word in enumerate(tokens):
        before, after = tokens[i - 1] if i else "", tokens[i + 1] if i + 1 < len(tokens) else ""
        modal = word == "can" and before not in DETERMINERS and (after in _MODAL_NEXT or before in _MODAL_PREVIOUS)
        out.append("could" if modal else word)
    return out


def _numbers(tokens: Sequence[str]) -> list[str]:
    """Number words to digits (`forty one` is `41`), currency words dropped after them."""
    out: list[str] = []
    i = 0
    while i < len(tokens):
        word = tokens[i]
        value = NUMBERS.get(word)
        if value is not None and value >= 20 and i + 1 < len(tokens) and 0 < NUMBERS.get(tokens[i + 1], 0) < 10:
            value += NUMBERS[tokens[i + 1]]
            i += 1
        if value is not None and value > 1:
            out.append(str(value))
        elif not (word in _CURRENCY and out and out[-1][0].isdigit()):
            out.append(word)
        i += 1
    return out


def _rewrite(tokens: Sequence[str]) -> list[str]:
    """Fixed expressions to one word, longest first."""
    out: list[str] = []
    i = 0
    while i < len(tokens):
        if tuple(tokens[i : i + 2]) == ("one", "of"):
            i += 2 + (tokens[i + 2 : i + 3] in (["the"], ["those"], ["these"], ["your"]))
            if not (out and out[-1] in _ADJECTIVES):
                out.append("any")  # `one of the mugs` is any of them, `the left one of the mugs` is not
            continue
        for length in range(min(_LONGEST, len(tokens) - i), 0, -1):
            replacement = REWRITES.get(tuple(tokens[i : i + length]))
            if replacement in _RELATIVE and tokens[i] != "which" and (not out or out[-1] in _NO_NOUN):
                replacement = None
            if replacement is not None:
                out += replacement
                i += length
                break
        else:
            out.append(tokens[i])
            i += 1
    return out


def _without_emphasis(tokens: Sequence[str]) -> list[str]:
    """Without the `right` of `right in front of you`, which is no side."""
    out = []
    for i, word in enumerate(tokens):
        before, after = tokens[i - 1] if i else "", tokens[i + 1] if i + 1 < len(tokens) else ""
        if word != "right" or after not in _EMPHASISED or before in DETERMINERS:
            out.append(word)
    return out


_ADJECTIVES = (
    SIDES | COLOURS | {"middle", "other", "first", "second", "last", "correct", "that", "this", "centre", "center"}
)
_EMPHASISED = PREPOSITIONS - {"facing", "of", "and"} | {"there", "here", "now"}
_LONGEST = max(len(key) for key in REWRITES)
