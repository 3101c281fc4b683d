"""What changed in meaning between two revisions of a pack, by path (`iwkit diff`). Layout, comments and notes are
nowhere in the data that is compared, so they change nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from iwkit_authoring.revisions import Version

Data = Any

_PLACED: Final = ("on", "inside", "beside", "spot")
"""Fields of an entity that say where it is."""
_USES: Final = {
    "scene": "the scene",
    "categories": "what its things are and afford",
    "recipes": "how its things are built",
    "body": "the wearer's body",
    "family_file": "the rules of its family",
}
_LEFT_OUT: Final = frozenset({"review"})


def compare(old: Version, new: Version) -> list[str]:
    """One line for each change, in the order of the pack; none if they mean the same."""
    found = list(_mapping(old.task, new.task, ()))
    found += [
        f"{word} ({key}) is another"
        for key, word in _USES.items()
        if old.uses.get(key) != new.uses.get(key) and not (key == "scene" and _scene(old) != _scene(new))
    ]
    return found


def _scene(version: Version) -> Data:
    return version.task.get("physical", {}).get("scene")


Path = tuple[str, ...]
Compare = Callable[[Any, Any, Path], Iterator[str]]


def _any(old: Data, new: Data, path: Path) -> Iterator[str]:
    """Compare two values in the way that belongs to their place, by default field by field."""
    how = _SPECIAL.get(path)
    if old == new and type(old) is type(new):
        return
    if how is not None and isinstance(old, dict | list) and isinstance(new, dict | list):
        yield from how(old, new, path)
    elif isinstance(old, dict) and isinstance(new, dict) and path not in _WHOLE:
        yield from _mapping(old, new, path)
    elif json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True):
        yield f"{_at(path)}: {shown(old)} -> {shown(new)}"


def _mapping(old: Mapping[str, Data], new: Mapping[str, Data], path: Path) -> Iterator[str]:
    """Two mappings, key by key; an empty list or mapping means the same as none."""
    for key in [*old, *(k for k in new if k not in old)]:
        if not path and key in _LEFT_OUT:
            continue
        here = (*path, key)
        one, two = old.get(key), new.get(key)
        if key in old and key in new:
            yield from _any(one, two, here)
        elif here in _SPECIAL:
            yield from _SPECIAL[here](one or [], two or [], here)
        elif key in new and two not in ([], {}):
            yield f"{_at(here)}: added {shown(two)}"
        elif key in old and one not in ([], {}):
            yield f"{_at(here)}: removed {shown(one)}"


def _entities(old: Mapping[str, Data], new: Mapping[str, Data], path: Path) -> Iterator[str]:
    """Entities: which are added, removed, moved, or other than they were."""
    old, new = dict(old), dict(new)
    for name in [*old, *(n for n in new if n not in old)]:
        here = _at((*path, name))
        if name not in new:
            yield f"{here}: removed {shown(old[name])}"
        elif name not in old:
            yield f"{here}: added {shown(new[name])}"
        else:
            one, two = old[name], new[name]
            places = [{k: e[k] for k in _PLACED if k in e} for e in (one, two)]
            if places[0] != places[1]:
                yield f"{here}: moved, {_place(places[0])} -> {_place(places[1])}"
            rest = [{k: v for k, v in e.items() if k not in _PLACED} for e in (one, two)]
            yield from _mapping(rest[0], rest[1], (*path, name))


def _place(place: Mapping[str, Data]) -> str:
    return " ".join(f"{word} {shown(value)}" for word, value in place.items()) or "nowhere"


def _by_id(old: Sequence[Data], new: Sequence[Data], path: Path) -> Iterator[str]:
    """A list whose parts have ids: which are added, removed or changed, and whether their order is another."""
    one, two = ({part["id"]: part for part in parts} for parts in (old, new))
    for name in [*one, *(n for n in two if n not in one)]:
        here = (*path, name)
        if name not in two:
            yield f"{_at(here)}: removed {shown(_without_id(one[name]))}"
        elif name not in one:
            yield f"{_at(here)}: added {shown(_without_id(two[name]))}"
        else:
            yield from _flat(_without_id(one[name]), _without_id(two[name]), here)
    both = [[name for name in parts if name in one and name in two] for parts in (one, two)]
    if both[0] != both[1]:
        yield f"{_at(path)}: order {', '.join(both[0])} -> {', '.join(both[1])}"


def _without_id(part: Mapping[str, Data]) -> dict[str, Data]:
    return {k: v for k, v in part.items() if k != "id"}


def _flat(old: Mapping[str, Data], new: Mapping[str, Data], path: Path) -> Iterator[str]:
    """Two mappings, key by key, each value as a whole: half a condition says nothing."""
    for key in [*old, *(k for k in new if k not in old)]:
        if shown(old.get(key)) != shown(new.get(key)):
            yield f"{_at((*path, key))}: {_or_none(old, key)} -> {_or_none(new, key)}"


def _or_none(data: Mapping[str, Data], key: str) -> str:
    return shown(data[key]) if key in data else "none"


def _sequence(old: Sequence[Data], new: Sequence[Data], path: Path) -> Iterator[str]:
    """A list whose parts have no ids: lines by their number (from 1), in the new list but for what is removed."""
    one, two = ([shown(part) for part in parts] for parts in (old, new))
    for tag, a, b, c, d in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for n in range(min(b - a, d - c)):
            yield f"{_at(path)}[{c + n + 1}]: {one[a + n]} -> {two[c + n]}"
        yield from (f"{_at(path)}[{a + n + 1}]: removed {one[a + n]}" for n in range(d - c, b - a))
        yield from (f"{_at(path)}[{c + n + 1}]: added {two[c + n]}" for n in range(b - a, d - c))


_SPECIAL: Final[dict[Path, Compare]] = {
    ("physical", "entities"): _entities,
    **dict.fromkeys((("physical", part) for part in ("opening", "plan", "windows", "evidence", "atoms")), _by_id),
    **dict.fromkeys((("physical", "goal", part) for part in ("achieve", "keep", "gates")), _by_id),
    **dict.fromkeys((("interaction", part) for part in ("opening", "plan", "oracle")), _sequence),
    **dict.fromkeys((("interaction", part, "lines") for part in ("wrong", "early")), _sequence),
    ("vary",): _by_id,
}
"""Parts of a pack that are compared in a way of their own."""
_WHOLE: Final[frozenset[Path]] = frozenset({("physical", "wearer")})


def _at(path: Path) -> str:
    return ".".join(path)


def shown(value: Data) -> str:
    """A value in the flow style of YAML, with quotes only where text holds what would end it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if value == "" or any(c in value for c in ' ,:"[]{}<>') else value
    return json.dumps(value)
