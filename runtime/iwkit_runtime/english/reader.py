"""Walks over a sentence and finds its clauses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.indirect import perfect
from iwkit_runtime.english.lexicon import (
    ADVERBS,
    DETERMINERS,
    FINITE,
    HARMLESS,
    PREPOSITIONS,
    PRONOUNS,
    STOPWORDS,
    SUBJECTS,
    SUBORDINATORS,
)
from iwkit_runtime.english.moods import opening
from iwkit_runtime.english.openings import ACKNOWLEDGEMENTS, HALTS
from iwkit_runtime.english.verbs import GERUNDS, INTRANSITIVE, PARTICIPLES, VERBS
from iwkit_runtime.english.words import Sentence

_CONNECTORS = frozenset({",", "and", "then", "but", "so", "or", "now", "next", "first", "finally", "also", "please"})

_WAYS_TO = frozenset({"walk", "open", "idle", "look", "use", "grab", "fetch", "squat"})
"""Acts that may be followed by what they are for: `go back to close it`."""
_ASIDES = frozenset({"when", "once", "because", "if", "unless", "until", "while", "although", "without"})
_LONGEST_VERB = max(len(v.split()) for v in VERBS)

_EASY_IF = re.compile(
    r"if (?:it|that|this|the \w+(?: \w+)?) (?:is|are|has|was)(?: still| not| already| yet| been| wide| left)* ?"
    r"(?:open|closed|shut|on|off|needed|necessary|done|there|closed yet|running)?(?: yet| already| now)?$|"
    r"if needed$|if necessary$"
)
"""Conditions that the world itself answers: it refuses what is not possible."""


class Reader:
    """Walks over one sentence. A clause can begin at its start and after commas and conjunctions."""

    def __init__(self, sentence: Sentence) -> None:
        self._tokens = sentence.tokens
        self._question = sentence.question
        self._found: list[Clause] = []
        self._later: list[Clause] = []
        self._open: tuple[Clause, int] | None = None  # the clause being read and where its words begin
        self._told_from: int | None = None

    def read(self) -> list[Clause]:
        tokens, i, may_begin = self._tokens, 0, True
        while i < len(tokens):
            if tokens[i] == ",":
                i, may_begin = i + 1, True
                continue
            if may_begin or self._turns_aside(i):
                step = self._begin(i)
                if step:
                    i, may_begin = step
                    continue
            elif tokens[i] == "to" and self._purpose(i):
                i, may_begin = i + 1, True
                continue
            if tokens[i] in _CONNECTORS and not self._adjective(i):
                may_begin = True
            else:
                may_begin = False
                if self._open is None and self._told_from is None:
                    self._told_from = i
            i += 1
        self._end(len(tokens))
        return self._found

    def _turns_aside(self, i: int) -> bool:
        """Whether a subordinate clause begins without a comma: `take it after closing the door`."""
        after = self._tokens[i + 1] if i + 1 < len(self._tokens) else ""
        if self._tokens[i] in ("after", "before"):
            return after in GERUNDS or after in SUBJECTS
        return self._tokens[i] in _ASIDES or self._tokens[i : i + 2] == ("so", "that")

    def _adjective(self, i: int) -> bool:
        return i > 0 and self._tokens[i - 1] in DETERMINERS and self._tokens[i] not in (",", "and")

    def _purpose(self, i: int) -> bool:
        """`go back to close it`: a `to` before a verb goes on with the next clause."""
        if self._open is None or self._open[0].act not in _WAYS_TO:
            return False
        verb = self._verb(i + 1, gerund=False)
        return verb is not None and verb[1] not in ("look", "idle", "find") and self._object_follows(verb[2], verb[1])

    def _begin(self, i: int) -> tuple[int, bool] | None:
        """Try to begin a clause at i: the next position and whether another may begin there; None to go on."""
        tokens = self._tokens
        rest = " ".join(tokens[i:])
        if halt := HALTS.match(rest):
            end = i + len(halt.group(0).split())
            following = tokens[end] if end < len(tokens) else ","
            alone = following == "," or (
                i == 0 and following not in PREPOSITIONS and halt.group(0) not in ("no", "nope")
            )
            if alone and not self._verb_goes_on(halt.group(0), end):
                self._end(i)
                self._found.append(Clause("halt"))
                return end, True
        if (after := self._subordinate(i)) is not None:
            return after, True
        clause, at = self._clause(i)
        if clause is not None:
            self._end(i)
            self._open = (clause, at)
            # `go close it`: a way may be followed by the next verb at once
            return at, clause.act == "walk" and self._verb(at, gerund=False) is not None
        if ack := ACKNOWLEDGEMENTS.match(rest):
            end = i + len(ack.group(0).split())
            self._end(i)
            return end, True
        return None

    def _verb_goes_on(self, word: str, end: int) -> bool:
        """`wait 5 seconds`, `stop walking`, `hold on to the can` are more than an interruption."""
        after = self._tokens[end] if end < len(self._tokens) else ""
        if word.startswith("wait"):
            return after.isdigit() or after in ("for", "until", "till", "here", "abit")
        if word.startswith("hold on"):
            return after == "to"
        return word == "stop" and after.endswith("ing")

    def _clause(self, i: int) -> tuple[Clause | None, int]:
        """The clause that begins at i (its words still to come) and where its words begin."""
        at, mood, polite = opening(self._tokens, i)
        if mood == "tell":
            return None, i
        verb = self._verb(at, gerund=mood in ("gerund", "not-gerund"))
        if verb is None and mood == "base" and polite and i < at < len(self._tokens):
            past = self._tokens[at - 1] == "you"
            verb = self._verb(at, gerund=True) or (self._verb(at, gerund=False, past=True) if past else None)
        negative = mood.startswith("not")
        if verb is not None:
            name, act, end = verb
            bare = at == i or not polite
            if negative:
                return Clause("never", name, act), end
            if (
                act not in INTRANSITIVE
                and not self._object_follows(end, act)
                and not (i == 0 and end >= len(self._tokens))
            ):
                return None, i
            if bare and self._statement(i, end):
                return None, i
            return Clause("do", name, act, polite=polite), end
        if negative:
            return Clause("never"), at
        if at < len(self._tokens) and self._unknown(i, at, polite):
            return Clause("unknown", self._tokens[at], polite=polite), at + 1
        return None, i

    def _statement(self, i: int, end: int) -> bool:
        """A bare verb form that is the subject of a sentence, such as `open is better`."""
        return i == 0 and end < len(self._tokens) and self._tokens[end] in ("is", "was", "are", "were")

    def _unknown(self, i: int, at: int, polite: bool) -> bool:
        """Whether a word that is no known verb looks like one: `fold the towel`, `could you fold it`."""
        word = self._tokens[at]
        after = self._tokens[at + 1] if at + 1 < len(self._tokens) else ""
        plain = (
            word.isalpha()
            and word
            not in SUBJECTS | DETERMINERS | PREPOSITIONS | PRONOUNS | ADVERBS | FINITE | HARMLESS | SUBORDINATORS
            and word not in _CONNECTORS | STOPWORDS
        )
        here = self._tokens[at:]
        told = here[: here.index(",")] if "," in here else here
        if FINITE & set(told) or word in ("rel", "label", "inhand", "facing", "near"):
            return False
        if polite:
            return plain and not self._question and (not after or after in DETERMINERS | PRONOUNS)
        goes_on = (
            i == 0
            or any(c.kind == "do" for c in self._found)
            or (self._open is not None and self._open[0].kind == "do")
        )
        return (
            plain and goes_on and self._told_from is None and after in (DETERMINERS | PRONOUNS) - {"one", "any", "some"}
        )

    def _verb(self, i: int, *, gerund: bool, past: bool = False) -> tuple[str, str, int] | None:
        """The longest verb at i: its base form, act and where it ends."""
        for length in range(min(_LONGEST_VERB, len(self._tokens) - i), 0, -1):
            words = list(self._tokens[i : i + length])
            if gerund:
                if words[0] not in GERUNDS:
                    return None
                words[0] = GERUNDS[words[0]]
            elif past:
                words[0] = PARTICIPLES.get(words[0], words[0])
            name = " ".join(words)
            if name in VERBS:
                return name, VERBS[name], i + length
        return None

    def _object_follows(self, end: int, act: str) -> bool:
        after = self._tokens[end] if end < len(self._tokens) else ""
        if act in INTRANSITIVE:
            return True
        return (
            bool(after) and after not in {"and", "then", "but", "is", "are", "was"} and (after != "," or act == "put")
        )

    def _subordinate(self, i: int) -> int | None:
        """Step over `when you get there`, `before you go`, and the like; a condition is kept as such."""
        tokens = self._tokens
        word = tokens[i]
        if word not in SUBORDINATORS or (word == "so" and tokens[i + 1 : i + 2] != ("that",)):
            return None
        if word == "in" and tokens[i + 1 : i + 2] != ("case",):
            return None
        if word == "after" and tokens[i + 1 : i + 2] and tokens[i + 1] in GERUNDS:
            return self._after(i)
        if i > 0 and word in ("since", "as", "so", "because", "in"):
            self._end(i)
            self._found.append(Clause("tell", tokens=tokens[i + 1 :]))
            return len(tokens)
        end = next((k for k in range(i + 1, len(tokens)) if tokens[k] == ","), len(tokens))
        if end == len(tokens) and i == 0 and not self._question:
            end = self._main_clause(i + 1)
        self._end(i)
        text = " ".join(tokens[i:end])
        if (before := perfect(tokens[i:end])) is not None:
            self._found.insert(0, before)
            return end
        if word in ("if", "unless", "whether") and not _EASY_IF.match(text):
            self._found.append(Clause("condition", tokens=tokens[i:end]))
            return len(tokens)
        self._found.append(Clause("tell", tokens=tokens[i + 1 : end]))
        return end

    def _main_clause(self, i: int) -> int:
        """Where the main clause begins when no comma tells it: at the first directive after `then` or `please`."""
        marks = [k for k in range(i, len(self._tokens)) if self._tokens[k] in ("please", "then")]
        return marks[0] if marks else len(self._tokens)

    def _after(self, i: int) -> int:
        """`after closing the fridge`: done first, wherever it is said."""
        tokens = self._tokens
        end = next((k for k in range(i + 1, len(tokens)) if tokens[k] == ","), len(tokens))
        self._end(i)
        verb = self._verb(i + 1, gerund=True)
        if verb is not None:
            first = Clause("do", verb[0], verb[1], tokens[verb[2] : end])
            self._found.insert(0, first)
        return end

    def _end(self, i: int) -> None:
        """Close what was being read before i."""
        if self._open is not None:
            clause, start = self._open
            words = _trim(self._tokens[start:i])
            self._found.append(Clause(clause.kind, clause.verb, clause.act, words, clause.polite))
            self._open = None
        elif self._told_from is not None and self._told_from < i:
            self._found.append(Clause("tell", tokens=_trim(self._tokens[self._told_from : i])))
        self._told_from = None


def _trim(tokens: Sequence[str]) -> tuple[str, ...]:
    """Without the commas and conjunctions at the end."""
    end = len(tokens)
    while end and tokens[end - 1] in _CONNECTORS:
        end -= 1
    return tuple(tokens[:end])
