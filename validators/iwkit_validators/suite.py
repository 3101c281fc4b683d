"""Every deterministic check of a TaskPack (BENCH-4), a scene, a catalogue and recipes: what `iwkit validate` runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from iwkit.catalogue import load_catalogue, shipped_catalogues
from iwkit.compile import CompiledTask, compile_pack
from iwkit.errors import Problems
from iwkit.library import Libraries, Library, home_of, own_assets
from iwkit.problems import Problem
from iwkit.recipes import load_recipes, shipped_recipes
from iwkit.scenes import check_scene
from iwkit.source.check import check
from iwkit.source.document import Document
from iwkit.source.kind import Kind, kind_of
from iwkit.source.reader import read
from iwkit.spec.pack import Pack
from iwkit.spec.recipe import RecipeFile
from iwkit.spec.scene import Scene
from iwkit.suggest import did_you_mean
from iwkit.world.symbolic import SymbolicWorld
from iwkit_validators import (
    affordance,
    conditions,
    fit,
    handoff,
    happenings,
    identity,
    interaction,
    leaks,
    oracle,
    scripts,
    speech,
    vary,
)
from iwkit_validators.opening import AtHandoff, play
from iwkit_validators.policy import validate_policy
from iwkit_validators.report import Checked, Report
from iwkit_validators.twins import twins as twins_of

__all__ = ["Report", "validate", "validate_many"]

STATIC: Final[tuple[Callable[[Document, CompiledTask], list[Problem]], ...]] = (
    fit.check,
    conditions.check,
    interaction.check,
    leaks.check,
    identity.check,
    speech.check,
)
"""Checks of a compiled task as it is written."""

PLAYED: Final[tuple[Callable[[Document, CompiledTask, AtHandoff], list[Problem]], ...]] = (
    handoff.check,
    leaks.check_view,
    scripts.check,
    happenings.check,
)
"""Checks that need the opening played, and so wait until every command fits its things and the opening succeeds."""

UNPLAYABLE: Final = frozenset({"A402"})
"""Codes of problems that make playing pointless."""


def validate(path: str | Path, library: Library | None = None) -> Report:
    """Check one pack, scene or catalogue: its first key says which it is. Never raises for what is wrong with it.

    The stages of a pack are: reading; the schema; names, commands and goal; then the checks of this package; then all
    of these for its variants. Each stage tells all its problems, and the next is reached only by a file without any.
    `library` is by default that of the file's project.
    """
    return _validate(Path(path), Libraries(library)).report


def validate_many(paths: Iterable[str | Path], library: Library | None = None) -> list[Report]:
    """Check files one by one, and packs against each other and against those that ship with iwkit: ids, guids and
    physical parts must differ (I64x).

    A file named twice is checked once. The order is that of the paths. `library` is by default that of each project.
    """
    libraries = Libraries(library)
    files: dict[Path, Path] = {}
    for path in paths:
        files.setdefault(Path(path).resolve(), Path(path))
    checked = [_validate(path, libraries) for path in files.values()]
    twins: dict[str, list[Problem]] = {}
    for problem in twins_of(checked, libraries):
        twins.setdefault(problem.file, []).append(problem)
    return [_with(found.report, twins.get(found.doc.file, []) if found.doc else []) for found in checked]


def _validate(path: Path, libraries: Libraries) -> Checked:
    doc, task = None, None
    try:
        if (kind := kind_of(path)) != "taskpack":
            _OTHERS[kind](path, libraries.of(path))
            return Checked(Report(path, (), None), None)
        doc = read(path)
        task = compile_pack(doc, check(doc, Pack), libraries.of(path))
    except Problems as error:
        return Checked(Report(path, tuple(error.problems), None), doc)
    found = _problems(doc, task) or vary.check(doc, task, _problems)
    return Checked(Report(path, tuple(sorted(found)), task), doc)


def _scene(path: Path, library: Library) -> None:
    doc = read(path)
    scene = check(doc, Scene)
    problems = check_scene(scene, library.catalogue, doc, library.recipes)
    if scene.id != path.stem:
        message = f"the file is called {path.name}, the scene {scene.id!r}"
        problems.append(doc.problem(("id",), "L716", message, f"name the file {scene.id}.yaml"))
    if problems:
        raise Problems(problems)


def _catalogue(path: Path, _library: Library) -> None:
    """Check a catalogue together with the others of its project."""
    load_catalogue(*_with_others(path, "catalogue", shipped_catalogues()))


def _recipes(path: Path, library: Library) -> None:
    """Check a file of recipes together with the others of its project, and that its categories exist."""
    load_recipes(*_with_others(path, "recipes", shipped_recipes()))
    doc, categories = read(path), library.catalogue.categories
    problems = [
        doc.problem(
            ("assets", name), "L731", f"no category {name!r} in the catalogue", did_you_mean(name, categories), key=True
        )
        for name in check(doc, RecipeFile).assets
        if name not in categories
    ]
    if problems:
        raise Problems(problems)


def _with_others(path: Path, kind: Literal["catalogue", "recipes"], shipped: list[Path]) -> list[Path]:
    """The files of its kind in its project, itself the last; without it if it ships with iwkit."""
    others = [other for other in own_assets(home_of(path), kind) if other != path.resolve()]
    return [*others, *([] if path.resolve() in [file.resolve() for file in shipped] else [path])]


_OTHERS: Final[Mapping[Kind, Callable[[Path, Library], None]]] = {
    "scene": _scene,
    "catalogue": _catalogue,
    "recipes": _recipes,
    "human-policy": validate_policy,
}
"""Kind of file that is no pack -> what raises Problems for it."""


def _problems(doc: Document, task: CompiledTask) -> list[Problem]:
    world = SymbolicWorld()
    found = [*affordance.check(doc, task, world), *(problem for one in STATIC for problem in one(doc, task))]
    if any(problem.code in UNPLAYABLE for problem in found):
        return found
    played = play(doc, task, world)
    if isinstance(played, Problem):
        return [*found, played]
    found += [problem for one in PLAYED for problem in one(doc, task, played)]
    return found or oracle.check(doc, task, played)


def _with(report: Report, problems: list[Problem]) -> Report:
    return replace(report, problems=tuple(sorted([*report.problems, *problems]))) if problems else report
