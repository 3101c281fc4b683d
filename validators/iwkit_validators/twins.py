"""Packs against each other and against those that ship with iwkit: no two are the same task (I64x)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from iwkit import resources
from iwkit.compile import CompiledTask, Cursor, Thing, compile_pack
from iwkit.digest import physical_digest
from iwkit.errors import Problems
from iwkit.goals.terms import Data
from iwkit.library import Libraries
from iwkit.problems import Problem
from iwkit.source.check import check
from iwkit.source.document import Document
from iwkit.source.reader import read
from iwkit.spec.pack import Pack
from iwkit.verbs import BY_NAME
from iwkit_validators.identity import canonical, meaning, swapped
from iwkit_validators.report import Checked


@dataclass(frozen=True)
class _Pack:
    """What a pack must share with no other; `name` is how a message calls it. `task` is None for one that ships with
    iwkit, and is then compiled only if it may be the same as another."""

    doc: Document
    name: str
    digest: str | None
    task: CompiledTask | None = None

    @property
    def values(self) -> tuple[Any, Any, Any]:
        """In the order of `UNIQUE`."""
        return self.doc.data.get("id"), self.doc.data.get("guid"), self.digest

    @cached_property
    def outline(self) -> str | None:
        """What packs of one meaning have in common, and what is quickly told: scene, kinds of things, steps."""
        physical = self.doc.data.get("physical")
        entities = physical.get("entities") if isinstance(physical, dict) else None
        if self.digest is None or not isinstance(physical, dict) or not isinstance(entities, dict):
            return None
        kinds = sorted(str(e.get("category") or e.get("fixture")) for e in entities.values() if isinstance(e, dict))
        return repr((physical.get("scene"), kinds, [len(physical.get(part) or ()) for part in ("opening", "plan")]))

    def meaning(self, libraries: Libraries) -> str | None:
        """The task without the author's names and words; None if it cannot be compiled."""
        try:
            task = self.task or compile_pack(self.doc, check(self.doc, Pack), libraries.of(Path(self.doc.file)))
        except Problems:
            return None
        return what_it_means(task)


class _Unique(NamedTuple):
    """What no two packs share, in the order of `_Pack.values`, and its place in the file."""

    path: tuple[str, ...]
    code: str
    what: str
    hint: str


UNIQUE: Final = (
    _Unique(("id",), "I640", "the id", "give each pack its own id"),
    _Unique(("guid",), "I641", "the guid", 'make a new one: python -c "import uuid; print(uuid.uuid4())"'),
    _Unique(("physical",), "I642", "the physical part", "change what is to be another task, or keep one of the two"),
)


def twins(checked: Iterable[Checked], libraries: Libraries) -> Iterator[Problem]:
    """What a pack shares with one before it, told at the later one. Those that ship with iwkit come before all."""
    shipped, own = _shipped(), [_pack(found, found.doc) for found in checked if found.doc is not None]
    files = {Path(pack.doc.file).resolve() for pack in shipped}
    packs = [*shipped, *(pack for pack in own if Path(pack.doc.file).resolve() not in files)]
    for place, unique in enumerate(UNIQUE):
        first: dict[str, _Pack] = {}
        for pack in packs:
            value = pack.values[place]
            other = first.setdefault(value, pack) if isinstance(value, str) else pack
            if other is not pack:
                yield _problem(pack, other, unique)
    yield from _alike(packs, libraries)


MEANING: Final = _Unique(
    ("physical",), "I643", "but for names, spots and order the physical part", "make it another task, or keep one"
)


def _alike(packs: Iterable[_Pack], libraries: Libraries) -> Iterator[Problem]:
    """Packs that mean the same although they are not written alike. Only those with one outline are looked at."""
    groups: dict[str, list[_Pack]] = {}
    for pack in packs:
        if pack.outline is not None:
            groups.setdefault(pack.outline, []).append(pack)
    for group in groups.values():
        first: dict[str | None, _Pack] = {}
        for pack in group if len({pack.digest for pack in group}) > 1 else ():
            means = pack.meaning(libraries)
            other = first.setdefault(means, pack)
            if means is not None and other.digest != pack.digest:
                yield _problem(pack, other, MEANING)


def _problem(pack: _Pack, other: _Pack, unique: _Unique) -> Problem:
    message = f"{unique.what} is that of {other.name}"
    return pack.doc.problem(unique.path, unique.code, message, unique.hint, key=unique.path == ("physical",))


def _shipped() -> list[_Pack]:
    """The packs that ship with iwkit, as far as they can be read."""
    found = []
    for path in sorted(resources.root("taskpacks").glob("*/*.yaml")):
        try:
            doc = read(path)
        except Problems:  # told where this very file is checked
            continue
        whole = {"taskpack", "physical"} <= set(doc.data)
        found.append(_Pack(doc, f"{path.stem}, which ships with iwkit", physical_digest(doc.data) if whole else None))
    return found


def _pack(found: Checked, doc: Document) -> _Pack:
    task = found.report.task
    return _Pack(doc, doc.file, task.physical_digest if task is not None else None, task)


# --- what a task means ----------------------------------------------------------------------------------------------


def what_it_means(task: CompiledTask) -> str:
    """One text for all packs that put the same things in the same places, play the same opening and score the same,
    whatever the author calls things, steps and conditions, and wherever exactly on its support a thing lies."""
    names = _names(task)
    physical = task.pack.physical
    steps = {cursor.id: f"step {i}" for i, cursor in enumerate((*task.opening, *task.plan))}
    windows = {window.id: f"window {i}" for i, window in enumerate(physical.windows)}
    wearer = physical.wearer
    said: Data = {
        "scene": physical.scene,
        "wearer": [names[name] if name else None for name in (wearer.at, wearer.facing)],
        "things": sorted(names.values()),
        "opening": [_command(cursor, names) for cursor in task.opening],
        "plan": [_command(cursor, names) for cursor in task.plan],
        "events": [e.model_dump(mode="json", exclude={"id", "when"}) | _when(e) for e in task.events],
        "evidence": {"all": [named.that.to_data() for named in physical.evidence]},
        "score": physical.goal.score,
        "meaning": meaning(task),
    }
    return canonical(swapped(said, {**steps, **windows, **names}))


def _when(event: Any) -> Data:
    return {"when": event.when.to_data()}


def _command(cursor: Cursor, names: Mapping[str, str]) -> Data:
    command, connectors = cursor.command, BY_NAME[cursor.command.primitive].connectors
    args = [ref.name if i in connectors else names[ref.name] for i, ref in enumerate(command.args)]
    return [command.primitive, *args, command.scalar]


def _names(task: CompiledTask) -> dict[str, str]:
    """Name -> what the thing is and where it begins. Like things in like places are numbered as the pack has them."""
    found: dict[str, str] = {}
    counts: dict[str, int] = {}
    for thing in task.things.values():
        text = _description(thing, task, ())
        counts[text] = counts.get(text, 0) + 1
        found[thing.name] = f"{text}#{counts[text]}"
    return found


def _description(thing: Thing, task: CompiledTask, below: tuple[str, ...]) -> str:
    own = (thing.colour, thing.label, thing.open, thing.running, sorted(thing.states), thing.contains)
    if thing.kind != "object":
        return repr((thing.kind, thing.scene_id, *(own if thing.declared else ())))
    support = task.things.get(thing.at or "")
    at = _description(support, task, (*below, thing.name)) if support and support.name not in below else ""
    return repr((thing.category, thing.place, at, *own))
