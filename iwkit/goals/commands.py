"""Compare commands in event patterns with commands that were given (docs/goal-language.md section 6)."""

from __future__ import annotations

import re
from functools import lru_cache

from iwkit.errors import GrammarError
from iwkit.grammar import Command, parse
from iwkit.verbs import BY_NAME, SURFACE

_BARE = re.compile(r"\s*\[\s*(\w+)\s*\]\s*")


@lru_cache(maxsize=4096)
def read_pattern(text: str) -> Command | tuple[str, str]:
    """The `do` of a pattern: a command, or for a verb alone its meaning, which any arguments satisfy.

    Raises:
        GrammarError: neither.
    """
    bare = _BARE.fullmatch(text)
    if bare and bare[1].lower() in SURFACE:
        primitive, verb = SURFACE[bare[1].lower()]
        return _meaning(primitive.name, verb)
    return parse(text)


@lru_cache(maxsize=4096)
def _read_event(text: str) -> Command | None:
    try:
        return parse(text)
    except GrammarError:
        return None


def _meaning(primitive: str, verb: str) -> tuple[str, str]:
    """Surface verbs of a primitive are aliases, except where they differ in their number: to turn left or right."""
    return primitive, verb if BY_NAME[primitive].scalar_verbs is not None else ""


@lru_cache(maxsize=4096)
def matches_command(pattern: str, text: str) -> bool:
    """Whether the command `text` is one that the pattern means. A text outside the grammar matches nothing."""
    wanted, given = read_pattern(pattern), _read_event(text)
    if given is None:
        return False
    if isinstance(wanted, tuple):
        return wanted == _meaning(given.primitive, given.verb)
    if _meaning(wanted.primitive, wanted.verb) != _meaning(given.primitive, given.verb):
        return False
    same_spot = wanted.spot is None or wanted.spot == given.spot
    return same_spot and wanted.args == given.args and wanted.scalar == given.scalar
