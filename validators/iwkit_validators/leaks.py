"""Words that give the answer or the machinery away (EVAL-2, BENCH-4: answer not exposed too early).

Only what is certain is told. A hint in other words is for the reviewers to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from iwkit.catalogue import CODE_LIKE, code_like
from iwkit.compile import CompiledTask
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.suggest import listed
from iwkit_validators.opening import AtHandoff
from iwkit_validators.places import acts, before_help, descriptions, lines, named

SENTENCE_WORDS: Final = 4
"""Words from which on a sentence of the oracle is so particular that it stands nowhere else by chance."""
LABEL_WORDS: Final = 3
"""Words from which on a label is a text that one reads, and not the name of the thing."""

_WORD: Final = re.compile(r"\w+")
_END: Final = re.compile(r"(?<=[.!?:;])\s+")


class _Secret(NamedTuple):
    """A kind of text that must not be told, what to say of it, and what to do."""

    code: str
    what: str
    hint: str


ANSWER: Final = _Secret("I621", "this is what the oracle says", "leave it for the assistant to say")
LABEL: Final = _Secret("I622", "this is what a label says", "let it be read from the thing itself")


def check(doc: Document, task: CompiledTask) -> list[Problem]:
    """Notation in what is said (I620); sentences of the oracle (I621) and labels (I622) told before any help."""
    said = [line.say for line in task.scripts["oracle"].lines if line.say is not None]
    sentences = [sentence for text in said for sentence in _END.split(text) if _words(sentence) >= SENTENCE_WORDS]
    labels = [t.label for t in task.things.values() if t.label is not None and _words(t.label) >= LABEL_WORDS]
    return [*_notation(doc, task), *_told(doc, task, ANSWER, sentences), *_told(doc, task, LABEL, labels)]


def _words(text: str) -> int:
    return len(_WORD.findall(text))


def _notation(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    names = [t.name for t in task.things.values() if any(c.isdigit() for c in t.name)]
    for path, text in (*before_help(task), *lines(task), *descriptions(task)):
        found = CODE_LIKE.search(text) or _one_of(names, text)
        if found is not None:
            message, hint = code_like(found.group())
            yield Problem(doc.file, doc.inside(path, found.start()), "I620", message, hint)


def _one_of(names: list[str], text: str) -> re.Match[str] | None:
    return next((word for word in _WORD.finditer(text) if word.group().lower() in names), None)


def _told(doc: Document, task: CompiledTask, secret: _Secret, texts: list[str]) -> Iterator[Problem]:
    """Each of the texts that stands word for word in what is told before any help."""
    for text in dict.fromkeys(texts):
        words = map(re.escape, _WORD.findall(text))
        pattern = re.compile(r"\b" + r"\W+".join(words) + r"\b", re.IGNORECASE)
        for path, told in before_help(task):
            found = pattern.search(told)
            if found is not None:
                message = f'{secret.what}: "{" ".join(text.split())}"'
                yield Problem(doc.file, doc.inside(path, found.start()), secret.code, message, secret.hint)


def check_view(doc: Document, task: CompiledTask, played: AtHandoff) -> list[Problem]:
    """Under FIND, that all which the oracle has the wearer handle is in view at the handoff (I623)."""
    if task.pack.source_family != "FIND":
        return []
    acting = (command for line in task.scripts["oracle"].lines for command in line.do if acts(command))
    sought = dict.fromkeys(name for command in acting for name in named(command))
    played.world.restore(played.state)
    if not sought or not set(sought) <= set(played.world.visible()):
        return []
    message = f"there is nothing to find: all is in view at the handoff, {listed(sought)}"
    hint = "let the wearer go elsewhere in the opening, or put things away"
    return [doc.problem(("physical", "opening", len(task.opening) - 1), "I623", message, hint)]
