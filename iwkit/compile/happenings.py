"""The events of a pack, checked against its names: what happens by itself, to what, and what it waits for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from iwkit.compile.bind import unknown
from iwkit.compile.things import Thing
from iwkit.events import EVENT_KINDS
from iwkit.goals.check import check_ids, check_when
from iwkit.goals.syntax import When
from iwkit.goals.terms import EventPattern
from iwkit.goals.timeline import uses_of
from iwkit.goals.vocabulary import Vocabulary
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.spec.pack import Incident, PackEvent


class _Fits(NamedTuple):
    """What an event may happen to: a kind of thing, a trait that it has, and both in words."""

    kinds: tuple[str, ...]
    traits: frozenset[str]
    words: str


FITS: Final[Mapping[Incident, _Fits]] = {
    "rings": _Fits(("object", "fixture"), frozenset({"phone"}), "a phone"),
    "spills": _Fits(("object", "fixture"), frozenset({"surface", "wipeable"}), "something with a surface"),
    "breaks": _Fits(("object",), frozenset(), "an object"),
    "falls": _Fits(("object",), frozenset(), "an object"),
    "arrives": _Fits(("object",), frozenset(), "an object"),
}
"""What each event happens to."""


def check_events(
    doc: Document,
    events: tuple[PackEvent, ...],
    things: Mapping[str, Thing],
    vocabulary: Vocabulary,
    broken: Collection[str],
) -> Iterator[Problem]:
    """Everything that is wrong with the events of a pack."""
    at = ("physical", "events")
    for finding in check_ids("event", [((*at, i, "id"), event.id) for i, event in enumerate(events)]):
        yield doc.problem(finding.path, finding.code, finding.message, finding.hint)
    arrived: dict[str, str] = {}
    for i, event in enumerate(events):
        path = (*at, i)
        if event.of not in broken:
            yield from _fits(doc, event, things, (*path, event.kind))
        for finding in check_when(event.when, vocabulary):
            yield doc.problem((*path, "when", *finding.path), finding.code, finding.message, finding.hint)
        if why := _of_the_loop(event.when):
            hint = "wait for the handoff, {after: step}, a change of the world, or a state that `becomes` true"
            yield doc.problem((*path, "when"), "N219", why, hint)
        if event.kind == "arrives" and (first := arrived.setdefault(event.of, event.id)) != event.id:
            message = f"{event.of!r} arrives already by event {first!r}"
            yield doc.problem((*path, "arrives"), "N218", message, "let each thing arrive once")


def _fits(
    doc: Document, event: PackEvent, things: Mapping[str, Thing], path: tuple[str | int, ...]
) -> Iterator[Problem]:
    thing, fits = things.get(event.of), FITS[event.kind]
    if thing is None:
        yield doc.problem(path, "N201", f"no entity {event.of!r}", unknown(event.of, things))
    elif thing.kind not in fits.kinds or (fits.traits and not fits.traits & thing.traits):
        message = f"{event.of!r} is a {thing.category}: an event that {event.kind} happens to {fits.words}"
        yield doc.problem(path, "N218", message, "name another thing, or another event")


def _of_the_loop(when: When) -> str:
    """Why a world can't tell when this comes about; "" if it can."""
    if not isinstance(when, EventPattern) or when.kind == "after":
        return ""
    if EVENT_KINDS[when.kind].origin == "loop":
        return f"`{when.kind}` is of the conversation, of which a world knows nothing"
    return "a window of the goal is of the scoring, of which a world knows nothing" if uses_of(when).windows else ""
