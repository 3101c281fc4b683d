"""What is said against what there is and what is done: lines that speak of what is not there, leave open which thing is
meant, or say one thing and do another; a request about something else than the goal; a contract of another task.

Only what is certain is told (see `nouns`). Whether a line is clear is for readers to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from iwkit.compile import CompiledTask, ScriptLine, Thing
from iwkit.compile.programs import ScriptName
from iwkit.goals.terms import Name, State
from iwkit.problems import Problem
from iwkit.source.document import Document, Path
from iwkit.spec.goal import Goal
from iwkit.spec.pack import Contract
from iwkit.suggest import listed
from iwkit_validators.guards import states
from iwkit_validators.identity import either, meaning
from iwkit_validators.nouns import Mention, Nouns, vocabulary, word_set, words
from iwkit_validators.places import SCRIPTS

_VAGUE: Final = word_set("""
    it them one ones that this these those both all everything other another rest same what which something thing things
    left right middle front back near nearest first second third last next top bottom upper lower
""")
"""Words that may tell which one is meant without naming it."""
_COLOURS: Final = word_set("red green blue yellow white black brown grey gray pink purple orange beige")
_PLAIN: Final = word_set("the a an of and for with its your you face")
"""Words of a description that tell nothing."""
_ARTICLE: Final = r"\s+(?:the|a|an|your|my|our|this|that)\s+$"
_WANTED: Final = re.compile(
    r"\b(?:put|bring|fetch|carry|move|return|store|find|get|take|looking for|where (?:is|are|did i (?:put|leave)))"
    + _ARTICLE,
    re.IGNORECASE,
)
"""What stands before the thing that a request is about."""
_DESTINATION: Final = re.compile(r"\b(?:onto|into)" + _ARTICLE, re.IGNORECASE)
_HANDLED: Final[dict[str, tuple[re.Pattern[str], str]]] = {
    "pick": (re.compile(r"\b(?:pick up|take|grab|get|fetch|lift)" + _ARTICLE, re.IGNORECASE), "movable"),
    "open": (re.compile(r"\bopen" + _ARTICLE, re.IGNORECASE), "openable"),
    "close": (re.compile(r"\b(?:close|shut)" + _ARTICLE, re.IGNORECASE), "openable"),
    "turn_on": (re.compile(r"\b(?:turn|switch) on" + _ARTICLE, re.IGNORECASE), "device"),
    "turn_off": (re.compile(r"\b(?:turn|switch) off" + _ARTICLE, re.IGNORECASE), "device"),
}
"""Primitive -> what stands before the thing that a line has handled so, and a trait of such things."""


@dataclass(frozen=True)
class _Spoken:
    """A line of a script: its words, the things it speaks of, all words heard up to here, and all things that have been
    handled before."""

    doc: Document
    task: CompiledTask
    path: Path
    line: ScriptLine
    text: str
    mentions: tuple[Mention, ...]
    heard: frozenset[str]
    moved: frozenset[str]

    @property
    def vague(self) -> bool:
        """Whether a word may tell which thing is meant without naming it."""
        return bool(_VAGUE & word_set(self.text))


def check(doc: Document, task: CompiledTask) -> list[Problem]:
    """I614 in the contract, I631 to I633 in the scripts, I634 in the request."""
    nouns = Nouns(task)
    found = [*_contract(doc, nouns), *_request(doc, task, nouns)]
    for name in SCRIPTS:
        for spoken in _lines(doc, task, nouns, name):
            does = spoken.line.reply == "does"
            found += _absent(spoken) if does or name == "oracle" else ()
            found += _otherwise(spoken) if does else ()
            found += _unclear(spoken) if name == "oracle" else ()
    return found


def _lines(doc: Document, task: CompiledTask, nouns: Nouns, script: ScriptName) -> Iterator[_Spoken]:
    talk = task.pack.interaction
    heard = word_set(talk.handoff) | word_set(talk.human.context)
    moved = frozenset(ref.name for cursor in (*task.opening, *task.plan) for ref in cursor.command.args)
    for i, line in enumerate(task.scripts[script].lines):
        if line.say is not None:
            heard |= word_set(line.say)
            mentions = tuple(nouns.mentions(line.say))
            yield _Spoken(doc, task, (*SCRIPTS[script], i), line, line.say, mentions, heard, moved)
        moved |= {ref.name for command in line.do for ref in command.args}


# --- what is not there ----------------------------------------------------------------------------------------------


def _contract(doc: Document, nouns: Nouns) -> Iterator[Problem]:
    contract = nouns.task.pack.contract
    for field in Contract.model_fields:
        for mention in nouns.mentions(getattr(contract, field)):
            if not mention.things:
                message = f'the contract speaks of "{mention.said}", and there is none'
                hint = "a contract is fixed before the scene is: write the task's own"
                yield _at(doc, ("contract", field), mention, ("I614", message, hint))


def _absent(spoken: _Spoken) -> Iterator[Problem]:
    for mention in spoken.mentions:
        others = [spoken.task.things[name] for name in sorted(mention.things)]
        if not others or _of_no_such_colour(mention, others):
            like = f"; there is {listed(thing.public for thing in others[:3])}" if others else ""
            message = f'the line speaks of "{mention.said}", and there is none'
            hint = f"name what is there, as one sees it{like}"
            yield _at(spoken.doc, (*spoken.path, "say"), mention, ("I631", message, hint))


def _of_no_such_colour(mention: Mention, things: Iterable[Thing]) -> bool:
    colours = _COLOURS & set(words(mention.said))
    return bool(colours) and all(thing.colour and not colours & vocabulary(thing) for thing in things)


# --- which one ------------------------------------------------------------------------------------------------------


def _unclear(spoken: _Spoken) -> Iterator[Problem]:
    for command in spoken.line.do:
        if command.primitive != "pick" or spoken.vague:
            continue
        name = command.args[0].name
        named = [mention for mention in spoken.mentions if name in mention.things]
        if not named or not all(mention.bare for mention in named):
            continue
        rivals = frozenset.intersection(*(mention.things for mention in named)) - {name}
        other = next((rival for rival in sorted(rivals) if _as_good(name, rival, spoken)), None)
        if other is not None:
            both = f"{name!r} or {other!r}"
            message = f'"{named[0].said}" may be {both}: both are at hand, and nothing tells which is meant'
            hint = "say which: by its colour, its label or where it is"
            yield _at(spoken.doc, (*spoken.path, "say"), named[0], ("I632", message, hint))


def _as_good(name: str, other: str, spoken: _Spoken) -> bool:
    """Whether a second thing is at the same place, and nothing that was said tells it from the first."""
    one, two = spoken.task.things[name], spoken.task.things[other]
    together = one.kind == two.kind == "object" and (one.place, one.at) == (two.place, two.at)
    if not together or {name, other} & spoken.moved or (one.label is not None and one.label in spoken.text):
        return False
    told = (vocabulary(one) ^ vocabulary(two)) & spoken.heard
    return not told and not either(name, other, spoken.task)


# --- said and done --------------------------------------------------------------------------------------------------


def _otherwise(spoken: _Spoken) -> Iterator[Problem]:
    things, line = spoken.task.things, spoken.line
    handled = {ref.name for command in line.do for ref in command.args}
    for j, command in enumerate(line.do):
        if command.primitive not in _HANDLED or spoken.vague:
            continue
        before, trait = _HANDLED[command.primitive]
        name = command.args[0].name
        named = any(name in mention.things for mention in spoken.mentions)
        if named or _telling(things[name]) & word_set(spoken.text):
            continue
        for mention in spoken.mentions:
            alike = mention.things and all(trait in things[other].traits for other in mention.things)
            if alike and before.search(spoken.text[: mention.at]) and not mention.things & handled:
                message = f'the line speaks of "{mention.said}", and has the wearer handle {name!r}'
                hint = "let the line say what is to be done, or mend `do`"
                yield spoken.doc.problem((*spoken.path, "do", j), "I633", message, hint)
                break


def _telling(thing: Thing) -> set[str]:
    return vocabulary(thing) - _PLAIN


# --- asked and scored -----------------------------------------------------------------------------------------------


def _request(doc: Document, task: CompiledTask, nouns: Nouns) -> Iterator[Problem]:
    """The first thing that the request is about, or is to get to, where the goal is about others."""
    text, physical = task.pack.interaction.handoff, task.pack.physical
    told = word_set(text) | word_set(task.pack.interaction.human.context)
    scored = set(_names([meaning(task)], task))
    moved, places = _placed(physical.goal)
    for mention in nouns.mentions(text):
        kinds = {task.things[name].kind for name in mention.things}
        for pattern, kind, wanted in ((_WANTED, "object", moved), (_DESTINATION, "fixture", places)):
            about = kinds == {kind} and wanted and pattern.search(text[: mention.at])
            if about and not mention.things & scored and not any(_nouns(task.things[n]) & told for n in wanted):
                message = f'the request is about "{mention.said}", and the goal about {listed(sorted(wanted))}'
                hint = "let the wearer ask for what is scored, or score what it asks for"
                yield _at(doc, ("interaction", "handoff"), mention, ("I634", message, hint))
                return


def _placed(goal: Goal) -> tuple[set[str], set[str]]:
    """The things that are to be somewhere, and where."""
    moved, places = set[str](), set[str]()
    for state in (state for named in goal.achieve for state in states(named.that)):
        match state:
            case State(("on" | "inside"), (Name() as thing, Name() as place)):
                moved.add(thing.name)
                places.add(place.name)
    return moved, places


def _nouns(thing: Thing) -> set[str]:
    return {word for noun in thing.nouns for word in words(noun)}


def _names(data: Any, task: CompiledTask) -> Iterator[str]:
    """Every thing that a condition speaks of, as plain data."""
    match data:
        case {"category": str(category)}:
            yield from task.vocabulary.categories.get(category, ())
        case dict():
            yield from (key for key in data if key in task.things)
            for value in data.values():
                yield from _names(value, task)
        case list():
            for value in data:
                yield from _names(value, task)
        case str():
            yield from (name for name in (data, *re.findall(r"<(\w+)>", data)) if name in task.things)


def _at(doc: Document, path: Path, mention: Mention, what: tuple[str, str, str]) -> Problem:
    """A problem, of code, message and hint, at what is spoken of."""
    return Problem(doc.file, doc.inside(path, mention.at), *what)
