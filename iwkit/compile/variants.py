"""The variants of a pack: what each seed plays, as the pack would read if it were written so.

A variant is a document of its own, whose every value still has its place in the file: where the pack is as written, or
under `vary`. So whatever reads and checks packs takes it as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path as FilePath
from typing import Any, Final

from iwkit.errors import Problems
from iwkit.problems import Pos, Problem
from iwkit.runfolder import variant_name
from iwkit.source.check import check
from iwkit.source.document import Document, Path
from iwkit.source.reader import read
from iwkit.spec.pack import Alternative, Pack
from iwkit.suggest import did_you_mean, listed

VARYING: Final = ("title", "contract", "physical", "interaction")
"""The parts of a pack that a variant may change; all but the title field by field."""
_SWAPPED: Final[tuple[Path, ...]] = (
    *(("physical", part) for part in ("wearer", "opening", "plan", "events", "windows", "evidence", "goal", "atoms")),
    *(("interaction", *part) for part in (("oracle",), ("wrong", "lines"), ("early", "lines"))),
)
"""Where entities are named, but for where things begin."""
_NO_ENTITY: Final = frozenset(
    {"id", "category", "capability", "needs", "window", "during", "outside", "after", "step", "score", "by", "result"}
    | {"code", "substance", "valid", "say"}
)
"""Keys there whose texts name no entity, although they may read like one."""
_OF_SUBSTANCES: Final = frozenset({"contains", "received"})
"""Predicates whose first argument alone names an entity."""
_REFERENCE: Final = re.compile(r"<(\w+)>")


def chosen(pack: Pack, seed: int) -> dict[str, str]:
    """What varies under a seed: id of the axis -> id of the alternative; nothing for what is as written."""
    picks = _order(tuple(len(axis.among) + 1 for axis in pack.vary))[seed % pack.variants]
    return {axis.id: axis.among[pick - 1].id for axis, pick in zip(pack.vary, picks, strict=True) if pick}


def told(seed: int, variant: Mapping[str, str]) -> str:
    """A variant in words: `seed 1 (cabinet: right)`."""
    return f"seed {seed} ({variant_name(variant)})" if variant else f"seed {seed}"


def of_variant(problems: Iterable[Problem], seed: int, variant: Mapping[str, str]) -> list[Problem]:
    """Problems of a variant, each saying of which."""
    return [replace(p, message=f"{told(seed, variant)}: {p.message}") for p in problems]


@lru_cache(maxsize=64)
def _order(sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Every combination once: from one to the next all axes step on together, so that the first seeds differ in as much
    as they can; where they come round to one that was, the next round begins with another."""
    found: dict[tuple[int, ...], None] = {}
    for start in product(*map(range, sizes)):
        at = start
        while at not in found:
            found[at] = None
            at = tuple((pick + 1) % size for pick, size in zip(at, sizes, strict=True))
    return tuple(found)


def written_out(doc: Document, pack: Pack, seed: int) -> Document:
    """The pack as it reads under a seed, which must not be that of the pack as written: `doc` where it is changed.

    `check_vary` must have found nothing.
    """
    draft = _Draft(doc)
    places = [_place(doc, source) for source in _sources(pack, seed)]
    for place in (p for p in places if p.value is not None):
        draft.put(place)
    # What is left out moves the numbers of what stands behind it: so from the inside out, and from the back.
    for target in sorted((p.target for p in places if p.value is None), key=_depth_and_number, reverse=True):
        draft.drop(target)
    draft.swap(dict(_swaps(pack, seed)))
    return draft.document()


def as_played(path: FilePath, seed: int) -> Any:
    """The data of a pack's file as a seed plays it.

    Raises:
        Problems: the file cannot be read, or what varies in it cannot be written out.
    """
    doc = read(path)
    if not isinstance(doc.data, dict) or "vary" not in doc.data:
        return doc.data
    pack = check(doc, Pack)
    if wrong := check_vary(doc, pack):
        raise Problems(wrong)
    return written_out(doc, pack, seed).data if seed % pack.variants else doc.data


def _depth_and_number(target: Path) -> tuple[int, int]:
    return len(target), target[-1] if isinstance(target[-1], int) else 0


def _alternatives(pack: Pack, seed: int) -> Iterator[tuple[Path, Alternative]]:
    picks = chosen(pack, seed)
    for i, axis in enumerate(pack.vary):
        for j, alternative in enumerate(axis.among):
            if picks.get(axis.id) == alternative.id:
                yield ("vary", i, "among", j), alternative


def _sources(pack: Pack, seed: int) -> Iterator[Path]:
    for path, alternative in _alternatives(pack, seed):
        yield from ((*path, "set", dotted) for dotted in alternative.set)


def _swaps(pack: Pack, seed: int) -> Iterator[tuple[str, str]]:
    for _, alternative in _alternatives(pack, seed):
        for one, other in alternative.swap:
            yield from ((one, other), (other, one))


# --- what may be set and swapped --------------------------------------------------------------------------------------


def check_vary(doc: Document, pack: Pack) -> list[Problem]:
    """Paths that lead nowhere (N220, N221), entities that are none (N201), and changes that meet (N222)."""
    found: list[Problem] = []
    changes: list[tuple[int, Path, tuple[str, ...]]] = []
    for i, axis in enumerate(pack.vary):
        for j, alternative in enumerate(axis.among):
            path: Path = ("vary", i, "among", j)
            for dotted in alternative.set:
                changes.append((i, (*path, "set", dotted), tuple(dotted.split("."))))
                found += _set_wrong(doc, (*path, "set", dotted))
            for k, pair in enumerate(alternative.swap):
                changes += [(i, (*path, "swap", k), ("swap", name)) for name in pair]
                found += _swap_wrong(doc, pack, (*path, "swap", k), pair)
    return found or list(_meeting(doc, changes))


def _set_wrong(doc: Document, source: Path) -> Iterator[Problem]:
    dotted = str(source[-1])
    first, _, rest = dotted.partition(".")
    if first not in VARYING or not (rest or first == "title"):
        hint = did_you_mean(first, VARYING) if first not in VARYING else ""
        hint = hint or f"write title, or a path in {listed(VARYING[1:])}, such as physical.entities.mug.label"
        yield doc.problem(source, "N221", f"{dotted!r} is no part of a pack that varies", hint, key=True)
        return
    place = _place(doc, source)
    if place.missing is not None:
        known = [str(name) for name in _names(doc.data, place.target)]
        hint = did_you_mean(place.missing, known) or f"there: {listed(known)}" if known else "set what is above it"
        above = ".".join(dotted.split(".")[: len(place.target)])
        message = f"{dotted!r} leads nowhere: {above} has no {place.missing!r}"
        yield doc.problem(source, "N220", message, hint, key=True)


def _swap_wrong(doc: Document, pack: Pack, path: Path, pair: tuple[str, str]) -> Iterator[Problem]:
    entities = pack.physical.entities
    for n, name in enumerate(pair):
        if name not in entities:
            hint = did_you_mean(name, entities) or "swap names two things under entities"
            yield doc.problem((*path, n), "N201", f"no entity {name!r}", hint)
    if pair[0] == pair[1]:
        yield doc.problem(path, "N222", f"{pair[0]!r} is swapped with itself", "name two entities")


def _meeting(doc: Document, changes: Sequence[tuple[int, Path, tuple[str, ...]]]) -> Iterator[Problem]:
    """Changes that can be made together and are of one thing: which of them would hold?"""
    for (i, a, one), (j, b, other) in combinations(changes, 2):
        shorter = min(len(one), len(other))
        together = a[:4] == b[:4] or i != j
        if together and a != b and one[:shorter] == other[:shorter]:
            what = f"{one[1]!r} is swapped twice" if one[0] == "swap" else f"{'.'.join(other)!r} is set twice"
            where = doc.where(a, key=True).line
            hint = "let one of them change it, or make them alternatives of one entry of vary"
            yield doc.problem(b, "N222", f"{what}: on line {where} too, and both may be chosen", hint, key=True)


@dataclass(frozen=True, slots=True)
class _Place:
    """What a path under `set` leads to: a place of the pack, and the value for it (None: leave it out). `missing`: the
    part of the path that leads nowhere, `target` then being as far as it does lead."""

    source: Path
    target: Path
    value: Any
    missing: str | None = None


def _place(doc: Document, source: Path) -> _Place:
    value, here = doc.at(source), doc.data
    target: Path = ()
    parts = str(source[-1]).split(".")
    for last, part in ((number == len(parts), part) for number, part in enumerate(parts, 1)):
        step = _step(here, part)
        if step is None and last and value is not None:
            step = _new(here, part, value)
        if step is None:
            return _Place(source, target, value, part)
        if last and _has_ids(here) and isinstance(value, dict):
            value = {"id": part, **value}
        target = (*target, step)
        here = None if last else here[step]
    return _Place(source, target, value)


def _step(here: Any, part: str) -> str | int | None:
    """The key or index that one part of a path stands for: elements of a list by their ids, or by numbers from 1."""
    if isinstance(here, dict):
        return part if part in here else None
    if _has_ids(here):
        return next((n for n, element in enumerate(here) if element.get("id") == part), None)
    if isinstance(here, list) and part.isdecimal() and 1 <= int(part) <= len(here):
        return int(part) - 1
    return None


def _new(here: Any, part: str, value: Any) -> str | int | None:
    """Where something that was not there is put: a field, or the end of a list whose elements have ids."""
    if isinstance(here, dict):
        return part
    return len(here) if _has_ids(here) and isinstance(value, dict) else None


def _has_ids(here: Any) -> bool:
    return isinstance(here, list) and bool(here) and all(isinstance(e, dict) and "id" in e for e in here)


def _names(data: Any, target: Path) -> Iterator[str | int]:
    """What a path could go on with."""
    for step in target:
        data = data[step]
    if isinstance(data, dict):
        yield from data
    elif _has_ids(data):
        yield from (element["id"] for element in data)
    elif isinstance(data, list):
        yield from range(1, len(data) + 1)


# --- writing it out ---------------------------------------------------------------------------------------------------


class _Draft:
    """A document that is being changed."""

    def __init__(self, doc: Document) -> None:
        self._doc = doc
        self._data = {key: deepcopy(value) for key, value in doc.data.items() if key != "vary"}
        self._values = {path: pos for path, pos in doc.values.items() if path[:1] != ("vary",)}
        self._keys = {path: pos for path, pos in doc.keys.items() if path[:1] != ("vary",)}

    def document(self) -> Document:
        return replace(self._doc, data=self._data, values=self._values, keys=self._keys)

    def _at(self, path: Path) -> Any:
        here: Any = self._data
        for step in path:
            here = here[step]
        return here

    def put(self, place: _Place) -> None:
        """Set a value, and let its places be those under `vary`. The numbers of a list's elements stay as they are."""
        target, source = place.target, place.source
        self._forget(target)
        owner, step = self._at(target[:-1]), target[-1]
        if isinstance(owner, list) and isinstance(step, int) and step >= len(owner):
            target = (*target[:-1], len(owner))  # another alternative may have added one before
            owner.append(deepcopy(place.value))
        else:
            owner[step] = deepcopy(place.value)
        for mine, theirs in ((self._values, self._doc.values), (self._keys, self._doc.keys)):
            found = {(*target, *p[len(source) :]): pos for p, pos in theirs.items() if p[: len(source)] == source}
            mine.update(found)

    def drop(self, target: Path) -> None:
        """Leave a value out; what stands behind it in a list moves up."""
        self._forget(target)
        owner, step = target[:-1], target[-1]
        del self._at(owner)[step]
        if isinstance(step, int):
            for places in (self._values, self._keys):
                _move_up(places, owner, step)

    def _forget(self, target: Path) -> None:
        for places in (self._values, self._keys):
            for path in [p for p in places if p[: len(target)] == target]:
                del places[path]

    def swap(self, names: Mapping[str, str]) -> None:
        """Let entities stand for each other in all that is done, asked for and scored."""
        for path in _SWAPPED if names else ():
            owner, step = self._at(path[:-1]), path[-1]
            if isinstance(owner, dict) and step in owner:  # what was set may be of the wrong kind
                owner[step] = _exchanged(owner[step], names)


def _move_up(places: dict[Path, Pos], owner: Path, gone: int) -> None:
    """Count the places of a list's elements as they are without one of them."""
    depth = len(owner)
    for path in sorted(path for path in places if len(path) > depth and path[:depth] == owner):
        number = path[depth]
        if isinstance(number, int) and number > gone:
            places[(*owner, number - 1, *path[depth + 1 :])] = places.pop(path)


def _exchanged(data: Any, names: Mapping[str, str]) -> Any:
    match data:
        case dict():
            return {key: _value_of(key, value, names) for key, value in data.items()}
        case list():
            return [_exchanged(value, names) for value in data]
        case str():
            return names.get(data) or _REFERENCE.sub(lambda m: f"<{names.get(m[1], m[1])}>", data)
    return data


def _value_of(key: str, value: Any, names: Mapping[str, str]) -> Any:
    if key in _NO_ENTITY and not isinstance(value, dict):  # `within` has an event under `after`
        return value
    if key in _OF_SUBSTANCES and isinstance(value, list):
        return [_exchanged(value[:1], names)[0], *value[1:]] if value else value
    if key == "into" and isinstance(value, dict):  # of `partition`: places by name
        return {names.get(place, place): _exchanged(given, names) for place, given in value.items()}
    return _exchanged(value, names)
