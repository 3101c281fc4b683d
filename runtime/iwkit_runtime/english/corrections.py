"""Spoken corrections: `the left - no wait, the right one` to what was meant in the end.

An utterance is repaired before it is read. What stands before a mark of correction (`no`, `sorry`, `I mean`) is what
was said wrongly, and what stands after it is put in the place of the part that is like it: a phrase with a preposition
for one, a thing for a thing, a single word for a word of its kind, an instruction for the whole instruction. What
cannot be put anywhere is left standing alone, so that it is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from iwkit_runtime.english.lexicon import ADVERBS, COLOURS, DETERMINERS, FINITE, SIDES
from iwkit_runtime.english.reader import Reader
from iwkit_runtime.english.words import sentences

_BREAK: Final = r"(?:\s*[,.;:!?…—–]+|\s+-+(?=\s))"
_HESITATION: Final = r"(?:er|err|erm|ehm|um|uhm|uh|eh)"
_FILLER: Final = rf"(?:{_HESITATION}|oh|ah|hm+|mm+|well|ow|okay|ok|please)"
_STRONG: Final = (
    r"(?:no(?! need\b| one\b| problem\b| more\b| longer\b| matter\b| doubt\b| idea\b| wonder\b)|nope|nah|"
    r"(?:scratch|strike|scrap|forget|leave|cancel|drop) that|correction|i mean|i meant(?: to say)?|i should say|"
    r"i should have said|"
    r"or no|or (?:was|is) it|or rather|or better|make (?:that|it)(?= the\b| a\b| my\b| your\b)|let(?:'s| us) say|"
    r"my mistake|my bad|i(?:'m| am| was) wrong|that(?:'s| is| was) wrong|that(?:'s| is| was) not (?:right|it|"
    r"what i meant)|wrong|"
    r"on second thoughts?|better(?= the\b)|not that(?: one)?)"
)
_WEAK: Final = (
    r"(?:i(?:'m| am) (?:so )?sorry|sorry|actually|wait(?: a (?:second|minute|moment|sec))?(?! for\b| until\b| "
    r"here\b| \d)|"
    r"hold on(?! to\b)|hang on|excuse me|i beg your pardon|(?:beg )?pardon(?: me)?|oops|whoops|rather)"
)
_MARK: Final = re.compile(
    rf"{_BREAK}\s*(?P<marks>(?:(?:{_FILLER}|{_STRONG}|{_WEAK})\b(?:{_BREAK}*\s*))+)", re.IGNORECASE
)
_NOT_BUT: Final = re.compile(
    r"(?:^|(?<=[.!;:,] ))(?:please )?(?:do not|don't|never) (?P<wrong>[^.!?;:,]+?),? (?:but|only|just)(?: rather|"
    r" instead| only)? "
    r"(?P<right>(?:the|a|an|your|on|in|into|onto|to|inside) [^.!?;:,]+)",
    re.IGNORECASE,
)
_TRAILING: Final = re.compile(
    rf"{_BREAK}\s*(?:or )?(?P<right>[^.;:!?…—–,]+?),?\s+"
    r"(?:sorry|i(?:'m| am) sorry|i mean|i meant|i should say|rather|pardon|excuse me)(?=\s*(?:[.;!?…—–]|$))",
    re.IGNORECASE,
)
_TRAILED_OFF: Final = re.compile(r"\s*(?:\.{2,}|…)\s+(?=\w)")
"""`in the left... in the right basket` is a hesitation."""
_ASIDE: Final = re.compile(r"(?:\s-+|\s*[—–:])\s+(the [\w' ]+ one)(?=\s*(?:[.;!?]|$))", re.IGNORECASE)
"""`the screwdriver - the yellow one`: no correction, but what tells it apart."""
_AFTERTHOUGHT: Final = re.compile(
    r"[,\s]*\b(?:i mean|i meant|i should say|i should have said|instead|please|that is|of course)$", re.IGNORECASE
)
_LEADING: Final = re.compile(rf"^(?:(?:{_FILLER}|not (?!the\b)[^,]+,|not the [^,]+,)\s*)+", re.IGNORECASE)
_CANCEL: Final = re.compile(
    r"(?:do not|don't)(?: do (?:that|it))?$|(?:leave|keep) (?:it|that|them)(?: \w+)?$|(?:forget|drop|skip) (?:it|"
    r"that)$",
    re.IGNORECASE,
)
_SAME_AGAIN: Final = re.compile(
    r"^(?P<verb>\w+) (?:it|that|them)(?: down| back)? (?=(?:on|in|into|onto|inside|to|at)\b)", re.IGNORECASE
)
"""`put it on the table` after `put the fork on the shelf`: only the place is another."""
_WORD: Final = re.compile(r"[^\s,.;:!?…—–]+")
_DETERMINERS: Final = DETERMINERS | {"either", "all"}
_OPEN: Final = frozenset({"and", "or", "then", "with", "to", "but"})
"""After these what follows goes on and corrects nothing."""
_JOINT: Final = re.compile(r",? (?:and then|and|then) ", re.IGNORECASE)
_DANGLING: Final = re.compile(r"(?:,? (?:and|or|then|but))+$", re.IGNORECASE)
_NEGATIVE: Final = frozenset({"not", "don't", "never", "do"})
_PRONOUNS: Final = frozenset({"it", "that", "this", "them"})
_PLACING: Final = frozenset({"on", "onto", "in", "into", "inside", "to", "at", "near", "from", "under", "by", "beside"})
_OTHER: Final = frozenset({"for", "with", "of", "about", "through"})
_PARTICLES: Final = frozenset({"on", "off", "out", "up", "down", "away", "back", "again", "over", "in"})
_LIKE: Final = tuple(
    frozenset(words.split())
    for words in (
        " ".join(SIDES) + " middle centre",
        " ".join(COLOURS),
        "on off",
        "top upper uppermost middle bottom lower lowest lowermost",
        "first second third fourth fifth last",
        "one two three four five six seven eight nine ten",
        "big small large little tall short long thick thin wide narrow high low",
    )
)
"""Words of a kind: one is put in the place of another."""
_LIKE_WORDS: Final = frozenset().union(*_LIKE)
_ROUNDS: Final = 5


@lru_cache(maxsize=1024)
def corrected(text: str) -> str:
    """The utterance as it was meant in the end."""
    text = _NOT_BUT.sub(lambda m: _repair(m["wrong"], m["right"]) or m[0], text.replace("’", "'"))
    text = _ASIDE.sub(r", \1", text)
    marked = _TRAILING.sub(_afterthought, _TRAILED_OFF.sub(", er, ", text))
    start, changed = 0, False
    for _ in range(_ROUNDS):
        mark = _MARK.search(marked, start)
        if mark is None:
            break
        repaired = _round(marked, mark)
        changed = changed or repaired is not None
        marked, start = (marked, mark.end()) if repaired is None else (repaired, 0)
    return marked if changed else text


def _afterthought(found: re.Match[str]) -> str:
    """`to the right one - the left one, sorry`: the mark stands behind, and is put before."""
    return found[0] if _asks(found["right"]) else f", I mean {found['right']}"


def _round(text: str, mark: re.Match[str]) -> str | None:
    """The text with one correction carried out, None where the mark corrects nothing."""
    before, wrong = _last_sentence(text[: mark.start()])
    if not wrong or not _asks(wrong):
        return None
    marks = mark["marks"].lower()
    strong = re.search(rf"\b{_STRONG}\b", marks) is not None
    weak = re.search(rf"\b{_WEAK}\b", marks) is not None
    hesitates = re.search(rf"\b{_HESITATION}\b", marks) is not None
    if not (strong or weak or hesitates) or (not strong and _words(wrong)[-1] in _OPEN):
        return None
    wrong = _DANGLING.sub("", wrong)
    rest = text[mark.end() :]
    end = re.search(r"\s*(?:[.;!?…—–]|\s-+\s)", rest)
    right, after = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    joint = next((j for j in _JOINT.finditer(right) if not _asks(right[: j.start()]) and _asks(right[j.end() :])), None)
    if joint is not None:
        right, after = right[: joint.start()], right[joint.start() :] + after
    right = _AFTERTHOUGHT.sub("", _LEADING.sub("", right.strip())).strip(" ,")
    if _CANCEL.fullmatch(right) or (strong and not right and re.search(r"forget|scratch|strike|scrap|cancel", marks)):
        return f"{before}stop{after or '.'}"
    if not right:
        return None
    again = _SAME_AGAIN.match(right)
    if again and again["verb"].lower() == _first_verb(wrong).split()[0]:
        right = right[again.end() :]
    like = _like(_words(wrong), _words(right)[0])
    if _asks(right) and (like is None or not _LIKE_WORDS & {_words(right)[0]}):
        return (
            f"{_kept(before, wrong, right)}{right}{after}"
            if _new_instruction(wrong, right, strong=strong, sure=strong or weak)
            else None
        )
    words = _words(right)
    if len(words) > 9 or set(words) & (FINITE | {"i", "you", "we", "it"}) or any("'" in w for w in words):
        taken_back = re.search(r"\b(?:no|nope|nah)\b", marks) and not _NEGATIVE & set(words)
        return f"{before}{right}{after}" if taken_back else None
    if words in (["that"], ["there"]) or all(w in ADVERBS or w.endswith("ly") for w in words):
        return None
    repaired = _repair(wrong, right)
    return f"{before}{repaired or right}{after}" if repaired or strong or weak else None


def _last_sentence(text: str) -> tuple[str, str]:
    ends = [m.end() for m in re.finditer(r"[.;:!?…—–]\s+|\s-+\s", text)]
    cut = ends[-1] if ends else 0
    return text[:cut], text[cut:]


def _asks(text: str) -> bool:
    """Whether a text asks for something to be done."""
    return any(c.kind in ("do", "never") and c.act != "idle" for s in sentences(text) for c in Reader(s).read())


def _new_instruction(wrong: str, right: str, *, strong: bool, sure: bool) -> bool:
    """Whether an instruction after a mark stands for the one before it: `take the bleach. No, take the soap`."""
    said = _words(right)
    if sure and said[-1] == _words(wrong)[-1] and len(said) > 1:
        return True  # something else is to be done with the same thing
    return (strong and not _PRONOUNS & set(said)) or _first_verb(wrong) == _first_verb(right) != ""


def _kept(before: str, wrong: str, right: str) -> str:
    """What stays of the wrong instruction: what was to be done before its last part, where only that is said anew."""
    joints = list(re.finditer(r"(?:,| and| then)+ ", wrong))
    for joint in reversed(joints):
        if _first_verb(wrong[joint.end() :]) == _first_verb(right) != _first_verb(wrong):
            return before + wrong[: joint.end()]
    return before


def _first_verb(text: str) -> str:
    found = (c.verb for s in sentences(text) for c in Reader(s).read() if c.kind in ("do", "never"))
    return next(found, "")


def _words(text: str) -> list[str]:
    return [w.lower() for w in _WORD.findall(text)]


def _repair(wrong: str, right: str) -> str:
    """The wrong instruction with the right part in it, "" where nothing in it is like that part."""
    old, new = _words(wrong), _words(right)
    if len(new) == 1 and (at := _like(old, new[0])) is not None:
        return " ".join([*old[:at], new[0], *old[at + 1 :]])
    if new[0] in _PLACING | _OTHER:
        return _prepositional(old, new)
    if new[0] not in _DETERMINERS:
        at = _like(old, new[0])
        if at is not None:
            return " ".join([*old[:at], *new, *old[at + len(new) :]])
        new = ["the", *new]
    return _nominal(old, new)


def _like(old: Sequence[str], word: str) -> int | None:
    """The last word of the kind of `word`, or the word itself."""
    number = word[:1].isdigit()
    for i in range(len(old) - 1, -1, -1):
        if old[i] == word or (number and old[i][:1].isdigit()) or any({old[i], word} <= kind for kind in _LIKE):
            return i
    return None


def _prepositional(old: Sequence[str], new: Sequence[str]) -> str:
    same = [i for i, w in enumerate(old) if w == new[0]]
    place = [i for i, w in enumerate(old) if i and w in _PLACING and i + 1 < len(old)]
    at = same or (place if new[0] in _PLACING else [])
    return " ".join([*old[: at[-1]], *new]) if at else ""


def _nominal(old: Sequence[str], new: list[str]) -> str:
    """A thing in the place of a thing: of the one that shares a word or a kind of word, else of the place of what is
    put somewhere, else of the object."""
    starts = [i for i, w in enumerate(old) if w in _DETERMINERS]
    if not starts:
        pronouns = [i for i, w in enumerate(old) if w in _PRONOUNS]
        return " ".join([*old[: pronouns[0]], *new, *old[pronouns[0] + 1 :]]) if pronouns else _bare_object(old, new)
    alike = [i for i in starts if _akin(old[i + 1 : _phrase_end(old, i)], new[1:])]
    placed = [i for i in starts if i and old[i - 1] in _PLACING]
    putting = _first_verb(" ".join(old)).split()[:1] not in (["take"], ["get"], ["grab"], ["pick"])
    start = alike[-1] if alike else placed[-1] if placed and putting else starts[0]
    end = _phrase_end(old, start)
    if old[end - 1] == "one" and end > start + 2 and len(new) == 2:
        new = [*old[start : end - 1], new[1]]  # `the $27 one, I mean the receipt`
    if new[-1] == "one" and end > start + 1:
        noun = old[end - 1]
        new = [*new[:-1], *([noun] if noun not in {w for kind in _LIKE for w in kind} else ["one"])]
    tail = list(old[end:])
    if set(new) & (_PLACING | _OTHER):
        tail = []  # the new name tells where it is, as the old one may have done
    if tail and (tail[0] in _PLACING and len(tail) > 1) and start not in placed and (alike or not putting):
        tail = []  # where the wrong thing was
    return " ".join([*old[:start], *new, *tail])


def _bare_object(old: Sequence[str], new: Sequence[str]) -> str:
    """`take sencha, no, the Earl Grey`: what follows the verb is the object."""
    verb = _first_verb(" ".join(old)).split()
    at = len(verb)
    return " ".join([*old[:at], *new]) if verb and list(old[:at]) == verb and len(old) > at else ""


def _phrase_end(old: Sequence[str], start: int) -> int:
    for i in range(start + 1, len(old)):
        if old[i] in _PLACING | _OTHER | {"and", "then"} or (old[i] in _PARTICLES and i == len(old) - 1):
            return i
    return len(old)


def _akin(old: Sequence[str], new: Sequence[str]) -> bool:
    before, after = set(old) - {"one"}, set(new) - {"one"}
    return bool(before & after) or any(before & kind and after & kind for kind in _LIKE)
