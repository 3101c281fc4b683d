"""The compiled task: what worlds, agents, controls and scoring are given instead of YAML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from iwkit.compile.bind import Binder, called, handles
from iwkit.compile.happenings import check_events
from iwkit.compile.programs import Cursor, Programs, Script, ScriptLine
from iwkit.compile.things import Handle, Thing
from iwkit.compile.variants import check_vary, chosen, of_variant, written_out
from iwkit.digest import pack_digest, physical_digest
from iwkit.errors import Problems
from iwkit.goals.vocabulary import TRAITS, Vocabulary
from iwkit.goals.vocabulary import Entity as Word
from iwkit.library import Library
from iwkit.problems import Problem
from iwkit.source.check import check
from iwkit.source.document import Document
from iwkit.source.reader import read
from iwkit.spec.pack import Pack, PackEvent
from iwkit.spec.scene import Scene
from iwkit.suggest import did_you_mean, snake

__all__ = ["CompiledTask", "Cursor", "Script", "ScriptLine", "compile_pack", "compile_variant", "load_task"]

SOURCE_FAMILY = {
    "guidance": "GUIDE",
    "planning": "ORCHESTRATE",
    "accessibility": "NARRATE",
    "decision": "ASK",
    "prevention": "WATCH",
    "finding": "FIND",
}
"""Reported family -> its usual source family; Finding 1 to 3 are scored as GUIDE and WATCH (EVAL-3)."""


@dataclass(frozen=True)
class CompiledTask:
    """One task, ready to run. `things` are in a fixed order, declared ones first; `library` is its project's. `variant`
    says what is otherwise than in the pack as it is written: id of the axis -> id of the alternative."""

    pack: Pack
    digest: str
    physical_digest: str
    scene: Scene
    library: Library
    things: Mapping[str, Thing]
    handles: Mapping[str, Handle]
    vocabulary: Vocabulary
    opening: tuple[Cursor, ...]
    plan: tuple[Cursor, ...]
    scripts: Mapping[Literal["oracle", "wrong", "early"], Script]
    variant: Mapping[str, str] = field(default_factory=dict)

    @property
    def events(self) -> tuple[PackEvent, ...]:
        """What happens by itself."""
        return self.pack.physical.events

    @property
    def awaited(self) -> frozenset[str]:
        """The things that are nowhere until they arrive."""
        return frozenset(event.of for event in self.events if event.kind == "arrives")

    @property
    def id(self) -> str:
        return self.pack.id


def load_task(path: str | Path, library: Library | None = None, seed: int = 0) -> CompiledTask:
    """Read, check and compile a pack, by default with the scenes and categories of its project, in the variant that a
    seed plays.

    Raises:
        Problems: everything that is wrong with the file, located.
    """
    doc = read(path)
    pack, library = check(doc, Pack), library or Library.for_file(Path(path))
    return compile_variant(doc, pack, library, seed) if seed % pack.variants else compile_pack(doc, pack, library)


def compile_variant(doc: Document, pack: Pack, library: Library, seed: int) -> CompiledTask:
    """Compile the variant that a seed plays, and that is not the pack as written.

    Raises:
        Problems: everything that is wrong with it, each saying of which variant.
    """
    if wrong := check_vary(doc, pack):
        raise Problems(wrong)
    variant = chosen(pack, seed)
    try:
        as_played = written_out(doc, pack, seed)
        return replace(compile_pack(as_played, check(as_played, Pack), library), variant=variant)
    except Problems as error:
        raise Problems(of_variant(error.problems, seed, variant)) from None


def compile_pack(doc: Document, pack: Pack, library: Library) -> CompiledTask:
    """Compile a checked pack as it is written.

    Raises:
        Problems: unknown scene, names, commands or conditions, each at its place, and variants that cannot be made.
    """
    try:
        scene = library.scene(pack.physical.scene)
    except KeyError:
        hint = did_you_mean(pack.physical.scene, library.scene_ids()) or (
            "`iwkit scene list` names what there is; files of your own go into the folder scenes of the project"
        )
        raise Problems(
            [doc.problem(("physical", "scene"), "N202", f"no scene {pack.physical.scene!r}", hint)]
        ) from None
    binder = Binder(doc, pack, scene, library.catalogue)
    things = binder.things()
    vocabulary = _vocabulary(pack, things, binder.broken)
    programs = Programs(doc, pack, things, vocabulary, binder.broken)
    opening, plan, scripts = programs.opening(), programs.plan(), programs.scripts()
    events = check_events(doc, pack.physical.events, things, vocabulary, binder.broken)
    frame = [*_header(doc, pack), *check_vary(doc, pack)]
    problems = [*frame, *binder.problems, *programs.problems, *programs.check_goal(), *events]
    if problems:
        raise Problems(problems)
    physical = physical_digest(doc.data)
    return CompiledTask(
        pack,
        pack_digest(doc.data),
        physical,
        scene,
        library,
        things,
        handles(things, physical),
        vocabulary,
        opening,
        plan,
        scripts,
    )


def _header(doc: Document, pack: Pack) -> list[Problem]:
    """The frame of a pack: file name, family, start of the wearer."""
    found = []
    if doc.file.endswith(".yaml") and Path(doc.file).stem != pack.id:
        found.append(
            doc.problem(
                ("id",),
                "N211",
                f"the file is called {Path(doc.file).name}, the pack {pack.id!r}",
                f"name the file {pack.id}.yaml",
            )
        )
    usual = SOURCE_FAMILY[pack.family]
    if pack.source_family != usual and not (pack.family == "finding" and pack.source_family in ("GUIDE", "WATCH")):
        found.append(
            doc.problem(
                ("source_family",),
                "N212",
                f"family {pack.family} goes with source_family {usual}",
                f"write source_family: {usual}",
            )
        )
    return [*found, *_folder(doc, pack), *_plan(doc, pack)]


def _folder(doc: Document, pack: Pack) -> list[Problem]:
    """A pack in the folder of another family."""
    folder = Path(doc.file).resolve().parent.name
    if folder == pack.family or folder not in SOURCE_FAMILY:
        return []
    message = f"a pack of the family {pack.family} lies in the folder {folder}"
    return [doc.problem(("family",), "N217", message, f"move the file to {pack.family}/, or write family: {folder}")]


def _plan(doc: Document, pack: Pack) -> list[Problem]:
    watch, plan = pack.source_family == "WATCH", bool(pack.physical.plan)
    if watch == plan:
        return []
    if watch:
        message, hint = "under WATCH the wearer follows a plan, and there is none", "add physical.plan"
        return [doc.problem(("source_family",), "N213", message, hint)]
    message = f"a plan of the wearer's own belongs to WATCH alone, not to {pack.source_family}"
    hint = "remove physical.plan, or write source_family: WATCH"
    return [doc.problem(("physical", "plan"), "N213", message, hint, key=True)]


def _vocabulary(pack: Pack, things: Mapping[str, Thing], broken: Iterable[str]) -> Vocabulary:
    """The names that conditions may use. What could not be bound fits everywhere: it is complained about elsewhere."""
    words = {name: Word(name, name, TRAITS) for name in broken}
    words |= {t.name: Word(t.name, t.category, t.traits & TRAITS) for t in things.values()}
    steps = frozenset(s.id for s in (*pack.physical.opening, *pack.physical.plan))
    windows = frozenset(w.id for w in pack.physical.windows)
    kinds = {snake(noun): t.category for t in things.values() for noun in t.nouns}
    return Vocabulary(words, windows, steps, called(things), kinds)
