"""Every deterministic check of a TaskPack (BENCH-4): what `iwkit validate` runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from iwkit.compile import CompiledTask, compile_pack
from iwkit.errors import Problems
from iwkit.library import Library
from iwkit.problems import Problem
from iwkit.source.check import check
from iwkit.source.document import Document
from iwkit.source.reader import read
from iwkit.spec.pack import Pack
from iwkit.world.symbolic import SymbolicWorld
from iwkit_validators import affordance, handoff, identity, interaction, leaks, scripts
from iwkit_validators.opening import AtHandoff, play

STATIC: Final[tuple[Callable[[Document, CompiledTask], list[Problem]], ...]] = (
    affordance.check,
    interaction.check,
    leaks.check,
    identity.check,
)
"""Checks of a compiled task as it is written."""

PLAYED: Final[tuple[Callable[[Document, CompiledTask, AtHandoff], list[Problem]], ...]] = (
    handoff.check,
    scripts.check,
)
"""Checks that need the opening played, and so wait until every command fits its things and the opening succeeds."""

UNPLAYABLE: Final = frozenset({"A402"})
"""Codes of problems that make playing pointless."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in one pack, sorted by place. `task` is None when it could not be compiled."""

    path: Path
    problems: tuple[Problem, ...]
    task: CompiledTask | None


def validate(path: str | Path, library: Library | None = None) -> Report:
    """Check one pack. Never raises for what is wrong with it.

    The stages are: reading; the schema; names, commands and goal; then the checks of this package. Each stage tells all
    its problems, and the next one is reached only by a file without any.
    """
    return _validate(Path(path), library or Library()).report


def validate_many(paths: Iterable[str | Path], library: Library | None = None) -> list[Report]:
    """Check packs one by one, and against each other: ids, guids and physical parts must differ (I64x).

    A file named twice is checked once. The order is that of the paths.
    """
    library = library or Library()
    files: dict[Path, Path] = {}
    for path in paths:
        files.setdefault(Path(path).resolve(), Path(path))
    checked = [_validate(path, library) for path in files.values()]
    twins: dict[str, list[Problem]] = {}
    for problem in _twins([found for found in checked if found.doc is not None]):
        twins.setdefault(problem.file, []).append(problem)
    return [_with(found.report, twins.get(found.doc.file, []) if found.doc else []) for found in checked]


class _Checked(NamedTuple):
    report: Report
    doc: Document | None


def _validate(path: Path, library: Library) -> _Checked:
    doc, task = None, None
    try:
        doc = read(path)
        task = compile_pack(doc, check(doc, Pack), library)
    except Problems as error:
        return _Checked(Report(path, tuple(error.problems), None), doc)
    return _Checked(Report(path, tuple(sorted(_problems(doc, task))), task), doc)


def _problems(doc: Document, task: CompiledTask) -> list[Problem]:
    found = [problem for one in STATIC for problem in one(doc, task)]
    if any(problem.code in UNPLAYABLE for problem in found):
        return found
    played = play(doc, task, SymbolicWorld())
    if isinstance(played, Problem):
        return [*found, played]
    return found + [problem for one in PLAYED for problem in one(doc, task, played)]


def _with(report: Report, problems: list[Problem]) -> Report:
    return replace(report, problems=tuple(sorted([*report.problems, *problems]))) if problems else report


# --- packs against each other ---------------------------------------------------------------------------------------


class _Unique(NamedTuple):
    """What no two packs share: its place in the file and how it is read."""

    path: tuple[str, ...]
    value: Callable[[_Checked], Any]
    code: str
    what: str
    hint: str


def _field(name: str) -> Callable[[_Checked], Any]:
    def value(found: _Checked) -> Any:
        data = found.doc.data if found.doc is not None else None
        return data.get(name) if isinstance(data, Mapping) else None

    return value


def _meaning(found: _Checked) -> str | None:
    return found.report.task.physical_digest if found.report.task is not None else None


UNIQUE: Final = (
    _Unique(("id",), _field("id"), "I640", "the id", "give each pack its own id"),
    _Unique(("guid",), _field("guid"), "I641", "the guid", "make a new one: it is the canary of one pack"),
    _Unique(("physical",), _meaning, "I642", "the physical part", "keep one of the two: they are the same task"),
)


def _twins(checked: list[_Checked]) -> Iterator[Problem]:
    """What a pack shares with one before it, told at the later one."""
    for unique in UNIQUE:
        first: dict[str, Document] = {}
        for found in checked:
            value, doc = unique.value(found), found.doc
            if not isinstance(value, str) or doc is None:
                continue
            other = first.setdefault(value, doc)
            if other is not doc:
                message = f"{unique.what} is that of {other.file}"
                yield doc.problem(unique.path, unique.code, message, unique.hint, key=unique.path == ("physical",))
