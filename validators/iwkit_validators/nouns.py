"""Of which things a text speaks, as far as its form leaves no doubt.

This is no understanding of English. A thing counts as spoken of where `the`, `a`, `your` or the like is followed by one
of its names, as the catalogue, the scene or the pack has them, and then by a word that can only come after a noun.
Whatever else a text says is not looked at: the checks that ask here tell only what is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from iwkit.compile import CompiledTask, Thing
from iwkit.library import Library

Words = tuple[str, ...]

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[.,;:!?]")
_BEFORE_NOUN: Final = 2
"""So many words at most may stand between the article and a name: `the small red mug`."""


@lru_cache(maxsize=4096)
def words(text: str) -> Words:
    """The words of a text in lower case, without punctuation."""
    return tuple(m.group().lower() for m in _WORD.finditer(text) if m.group()[0].isalnum())


def word_set(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(words(text))


_DETERMINERS: Final = word_set("the a an your my this that our")
_AFTER: Final = frozenset(".,;:!?") | word_set("""
    and or then on in inside into onto from to for with at by is are was were that which again back now please there
    here first next behind under beneath beside near between before after until while so because but when off up down
    out goes belongs lies stands has have had you we i it they does do did will would could should can must still
    too also as if than not over where
""")
"""What comes after a noun, and not between an adjective and one."""
_OF_SOMEONE: Final = ("'s", "’s", "s'", "s’")
"""How a word ends that says whose a thing is: `the wearer's camera` is not looked at."""
_LOOSE: Final = word_set("""
    bar bill book can card car carton box bottle jar packet pack piece sheet list note paper order offer form guide sign
    tag light label camera orange rubber scale spray glass cover quote present rest fruit drink bag case pot pan
    key notebook report recipe schedule map menu plan tablet lid parcel package tin bunch
""")
"""Names of things that people also call other things by, or that mean no thing at all."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing spoken of: at which character, in which words, and what it may be. Nothing in `things` means that the
    catalogue has such things and the task has none. `bare`: no adjective stands before the name."""

    at: int
    said: str
    things: frozenset[str]
    bare: bool


@dataclass
class Nouns:
    """What the things of one task are called."""

    task: CompiledTask
    _names: dict[Words, set[str]] = field(default_factory=dict)
    _here: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for thing in self.task.things.values():
            for name in (*thing.nouns, thing.public):
                self._names.setdefault(_bare(words(name)), set()).add(thing.name)
            self._here |= vocabulary(thing)
        decor = self.task.scene.decor.values()
        self._here |= {w for piece in decor for name in _called(self.task, piece.category) for w in words(name)}
        self._here |= {
            word for kind in self.task.pack.physical.entities.values() for s in kind.contains for word in s.split("_")
        }
        self._objects = _objects(self.task.library)
        self._longest = max(map(len, (*self._names, *self._objects)), default=0)

    def mentions(self, text: str) -> Iterator[Mention]:
        """Every thing of which the text speaks without doubt, in order."""
        found = [(m.group().lower(), m.start(), m.end()) for m in _WORD.finditer(text)]
        tokens = [token for token, _, _ in found]
        i = 0
        while i < len(tokens):
            if tokens[i] in _DETERMINERS and (named := self._named(tokens, i + 1)):
                first, last, things = named
                yield Mention(found[i + 1][1], text[found[i + 1][1] : found[last - 1][2]], things, first == i + 1)
                i = last
            else:
                i += 1

    def _named(self, tokens: list[str], start: int) -> tuple[int, int, frozenset[str]] | None:
        """Where a name begins and ends, and the things that have it."""
        for first in range(start, start + 1 + _BEFORE_NOUN):
            if any(token in _AFTER or token.endswith(_OF_SOMEONE) for token in tokens[start:first]):
                return None
            for last in range(min(first + self._longest, len(tokens)), first, -1):
                if last < len(tokens) and tokens[last] not in _AFTER:
                    continue
                name = tuple(tokens[first:last])
                if name in self._names:
                    return first, last, frozenset(self._names[name])
                if name in self._objects and not self._known(name):
                    return first, last, frozenset()
        return None

    def _known(self, name: Words) -> bool:
        """Whether the head of a name may be a word for something here, or for no thing at all."""
        head = name[name.index("of") - 1] if "of" in name[1:] else name[-1]
        return head in _LOOSE or not {head, head.removesuffix("s"), f"{head}s"}.isdisjoint(self._here)


def vocabulary(thing: Thing) -> set[str]:
    """Every word by which people may know a thing again."""
    texts = (*thing.nouns, thing.public, thing.label or "", thing.colour or "", thing.category.replace("_", " "))
    return {word for text in texts for word in words(text)}


def _bare(name: Words) -> Words:
    """Without its article."""
    return name[1:] if name and name[0] in _DETERMINERS else name


def _called(task: CompiledTask, category: str) -> Iterable[str]:
    found = task.library.catalogue.categories.get(category)
    return () if found is None else found.public


@lru_cache(maxsize=8)
def _objects(library: Library) -> frozenset[Words]:
    """What the catalogue calls things that are carried, and nothing else."""
    kinds = library.catalogue.categories.values()
    carried = {words(name) for kind in kinds if kind.kind == "object" for name in kind.public}
    return frozenset(carried - {words(name) for kind in kinds if kind.kind != "object" for name in kind.public})
