"""Did you mean: how every part of iwkit answers a word that it does not know."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Final

MAX_WORD: Final = 100
"""Characters of a word that are compared: difflib takes time with the square of the length."""

FOR_CONDITIONS: Final[dict[str, str]] = {
    "and": "all",
    "both": "all",
    "or": "any",
    "either": "any",
    "nor": "{not: {any: [...]}}",
    "neither": "{not: {any: [...]}}",
    "none": "{not: {any: [...]}}",
    "then": "sequence",
    "order": "sequence",
    "in": "inside",
    "contained": "inside",
    "onto": "on",
    "upon": "on",
    "on_top_of": "on",
    "beside": "near",
    "next_to": "near",
    "close_to": "near",
    "at": "near",
    "holding": "held",
    "holds": "held",
    "carried": "held",
    "shut": "closed",
    "switched_on": "running",
    "turned_on": "running",
    "switched_off": "off",
    "turned_off": "off",
    "seated": "sitting",
    "seen": "visible",
    "in_view": "visible",
    "hidden": "{not: {visible: ...}}",
    "unchanged": "at_baseline",
    "in_place": "at_baseline",
    "untouched": "unmoved",
    "wet": "{not: {dry: ...}}",
    "dirty": "{not: {clean: ...}}",
    "intact": "{not: {broken: ...}}",
    "whole": "{not: {cut: ...}}",
    "raw": "{not: {cooked: ...}}",
    "fresh": "{not: {mouldy: ...}}",
    "moldy": "mouldy",
    "sliced": "cut",
    "chopped": "cut",
    "full_of": "contains",
}
"""Word that people write for an operator or predicate -> what the goal language has."""

FOR_EVENTS: Final[dict[str, str]] = {
    "take": "grabbed",
    "took": "grabbed",
    "taken": "grabbed",
    "get": "grabbed",
    "got": "grabbed",
    "grab": "grabbed",
    "pick_up": "grabbed",
    "picked_up": "grabbed",
    "put": "released",
    "place": "released",
    "placed": "released",
    "put_down": "released",
    "put_in": "released",
    "put_inside": "released",
    "dropped": "released",
    "open": "opened",
    "close": "closed",
    "shut": "closed",
    "switched_on": "started",
    "turned_on": "started",
    "switched_off": "stopped",
    "turned_off": "stopped",
    "seen": "became_visible",
    "appeared": "became_visible",
    "visible": "became_visible",
    "disappeared": "left_view",
    "looked": "looked_at",
    "look_at": "looked_at",
    "went": "entered",
    "go": "entered",
    "walked": "entered",
    "walk": "entered",
    "sitting": "sat",
    "sit": "sat",
    "stood_up": "stood",
    "broken": "broke",
    "clean": "wiped",
    "cleaned": "wiped",
    "sliced": "cut",
    "spoke": "said",
    "told": "said",
    "did": "commanded",
    "done": "declared",
}
"""Word that people write for a kind of event -> the kind."""

FOR_VERBS: Final[dict[str, str]] = {
    "take": "[Grab]",
    "get": "[Grab]",
    "fetch": "[Grab]",
    "pick": "[Grab]",
    "pickup": "[Grab]",
    "lift": "[Grab]",
    "go": "[Walk]",
    "goto": "[Walk]",
    "walkto": "[Walk]",
    "moveto": "[Walk]",
    "approach": "[Walk]",
    "enter": "[Walk]",
    "place": "[Put]",
    "placeon": "[Put]",
    "putdown": "[Put]",
    "set": "[Put]",
    "lay": "[Put]",
    "placein": "[PutInside]",
    "placeinside": "[PutInside]",
    "look": "[LookAround]",
    "inspect": "[LookAt]",
    "examine": "[LookAt]",
    "read": "[LookAt]",
    "shut": "[Close]",
    "start": "[TurnOn]",
    "stop": "[TurnOff]",
    "slice": "[Cut]",
    "chop": "[Cut]",
    "clean": "[Wipe]",
    "mix": "[Stir]",
    "sitdown": "[Sit]",
    "stand": "[StandUp]",
    "getup": "[StandUp]",
}
"""Verb that people write, in lower case without spaces, hyphens and underscores -> a surface verb of Table 5."""

FOR_FIELDS: Final[dict[str, str]] = {
    "in": "inside",
    "at": "on",
    "type": "category",
    "kind": "category",
    "object": "category",
    "text": "label",
    "name": "id",
    "condition": "that",
    "requires": "needs",
    "command": "do",
    "speech": "say",
    "start": "opens",
    "end": "closes",
    "equals": "is",
    "min": "at_least",
    "max": "at_most",
}
"""Field or part that people write -> the one that may be meant where it exists."""


def closest(word: object, known: Iterable[str], most: int = 1) -> list[str]:
    """The known words that are most like `word`, whatever their case, the best first; none if none is close."""
    lower = {name.lower(): name for name in sorted(known)}
    near = difflib.get_close_matches(str(word)[:MAX_WORD].lower(), lower, n=most, cutoff=0.6)
    return [lower[name] for name in near]


def did_you_mean(word: object, known: Iterable[str], instead: Mapping[str, str] | None = None, *, most: int = 1) -> str:
    """A hint that names what `word` may stand for, or "" when nothing is likely.

    `instead` is a table of this module. What it says goes first, where it is one of the known words or a whole form
    such as `{not: {dry: ...}}`.
    """
    names = list(known)
    meant = (instead or {}).get(str(word).lower())
    if meant is not None and (meant in names or meant[0] in "{["):
        return ask([meant])
    return ask(closest(word, names, most))


def ask(words: Iterable[str]) -> str:
    """The question whether one of these words was meant, or "" where there are none."""
    near = " or ".join(map(shown, words))
    return f"did you mean {near}?" if near else ""


def shown(word: str) -> str:
    """A word as hints show it: brackets and braces set a form apart, a bare word needs quotes."""
    return word if word[:1] in ("{", "[") else f"`{word}`"


def listed(known: Iterable[str], none: str = "none") -> str:
    """Known words as hints list them, in the order given."""
    return ", ".join(known) or none


def snake(text: str) -> str:
    """`Pill Bottle` and `pill-bottle` as a name is written: `pill_bottle`."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
