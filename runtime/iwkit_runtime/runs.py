"""Runs: a folder with one configuration, a plan, and a journal for each attempt at each cell (EVAL-7, EVAL-8)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from iwkit import __version__
from iwkit.compile import CompiledTask
from iwkit.errors import LedgerError, UsageError
from iwkit.ledger import Journal, Record, exclusive, write_atomic, write_json
from iwkit.lock import body_label
from iwkit.runfolder import attempt_path, attempt_paths, cell_name, load_plan
from iwkit.world.base import World
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.agents.registry import SCRIPTED_ASSISTANTS, code_digest
from iwkit_runtime.identity import cell_key, runtime_digest
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.loop.frames import Studio
from iwkit_runtime.play import make_agents, play


def _physical() -> World:
    from iwkit_runtime.physical.world import PhysicalWorld  # noqa: PLC0415  slow to import, and only wanted here

    return PhysicalWorld()


WORLDS: dict[str, Callable[[], World]] = {"physical": _physical, "symbolic": SymbolicWorld}
"""World by name."""


@dataclass(frozen=True, slots=True)
class Config:
    """What all cells of a run folder share.

    `draft`: packs need not be frozen. `pictures`: the views have frames; a world without pictures has none either way.
    """

    assistant: str
    human: str
    world: str
    draft: bool = False
    pictures: bool = False

    def header(self) -> dict[str, Any]:
        """The configuration as it is recorded, with digests of the code that plays."""
        own = {"assistant_code": code_digest(self.assistant), "human_code": code_digest(self.human)}
        return {"iwkit": __version__, "runtime": runtime_digest(), **asdict(self), **own, "body": body_label()}


Freeze = Literal["frozen", "code changed", "draft"]


@dataclass(frozen=True, slots=True)
class Source:
    """A pack to run: the compiled task, the file it came from, and the digest of the pack with all that it uses.

    `freeze` says how it stands to its lock: as frozen, the same but with other code than its controls, or a draft.
    Results carry it.
    """

    task: CompiledTask
    path: Path
    uses: str
    freeze: Freeze


Progress = Callable[[str, Record], None]
"""Called with the task id and the closing record of each cell, when it is done (also when it already was)."""


def make_world(name: str) -> World:
    """A world by name.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in WORLDS:
        raise UsageError(f"no world {name!r}: use {', '.join(sorted(WORLDS))}")
    return WORLDS[name]()


def run(sources: Sequence[Source], config: Config, folder: Path, progress: Progress, seed: int = 0) -> None:
    """Play every cell that the folder does not hold yet. The same call continues a run that was stopped anywhere.

    Raises:
        LedgerError: the folder belongs to another run, is being written by another process, or cannot be written.
        UsageError: no such world.
        AgentError: no such assistant or human, or it cannot be made.
    """
    world = make_world(config.world)
    _distinct(sources)
    for source in sources[:1]:
        # A name that was mistyped claims no folder. Where it is tried out plays no part; the opening costs least here.
        rehearsal = Episode(source.task, SymbolicWorld(), lambda _kind, _fields: None)
        make_agents(rehearsal, assistant=config.assistant, human=config.human)
    with exclusive(folder):
        _plan(folder, config, sources, seed)
        with _studio(config, world, folder) as studio:
            for source in sources:
                progress(source.task.id, _cell(source, config, _Stage(world, studio), folder, seed))


def _distinct(sources: Sequence[Source]) -> None:
    seen: dict[str, Path] = {}
    for source in sources:
        other = seen.setdefault(source.task.id, source.path)
        if other != source.path:
            raise UsageError(f"{other} and {source.path} are both called {source.task.id}: run them into two folders")


def _plan(folder: Path, config: Config, sources: Sequence[Source], seed: int) -> None:
    """Write the plan before anything is run, or add to the one that is there."""
    path = folder / "plan.json"
    cells: dict[str, Any] = {}
    if path.exists():
        plan = load_plan(folder)
        if plan["config"] != config.header():
            raise LedgerError(
                f"{folder} holds a run with another {_changed(plan['config'], config)}: choose another --out"
            )
        cells = plan["cells"]
    for source in sources:
        task = source.task
        cell = {
            "task": task.id,
            "seed": seed,
            "family": task.pack.family,
            "source_family": task.pack.source_family,
            "digest": task.digest,
            "uses": source.uses,
            "freeze": source.freeze,
            "key": _key(source, config, seed),
        }
        known = cells.setdefault(cell_name(task.id, seed), cell)
        if known["key"] != cell["key"]:
            raise LedgerError(f"{folder} holds {task.id} with another digest: choose another --out")
    for source in sources:
        write_atomic(folder / "packs" / f"{source.task.id}.yaml", source.path.read_bytes())
    write_json(path, {"config": config.header(), "cells": cells})


class _Stage(NamedTuple):
    """Where episodes are played: a world, and who keeps its trajectories and takes its pictures."""

    world: World
    studio: Studio | None


@contextlib.contextmanager
def _studio(config: Config, world: World, folder: Path) -> Iterator[Studio | None]:
    if config.world != "physical":
        yield None
        return
    from iwkit_runtime.physical.world import PhysicalWorld  # noqa: PLC0415
    from iwkit_runtime.studio import PhysicalStudio  # noqa: PLC0415

    assert isinstance(world, PhysicalWorld)  # noqa: S101  the name says so
    with PhysicalStudio(world, folder, pictures=config.pictures) as studio:
        yield studio


def no_pictures(assistant: str, world: str) -> str | None:
    """Why a run has no pictures, or None if it has: the world has none, or this machine cannot draw.

    Raises:
        UsageError: this machine cannot draw, and the assistant needs to see.
    """
    if world != "physical":
        return f"the {world} world has no pictures"
    from iwkit_runtime.render.opengl import NoOpenGL, context  # noqa: PLC0415

    try:
        context(64, 64).free()
    except NoOpenGL as error:
        if assistant not in SCRIPTED_ASSISTANTS:
            raise UsageError(f"{error}\n{assistant} would have to play without seeing anything") from None
        return str(error)
    return None


_SAID = {
    "runtime": "version of iwkit's code",
    "assistant_code": "code of the assistant",
    "human_code": "code of the human",
    "body": "body of the wearer",
}


def _changed(before: dict[str, Any], config: Config) -> str:
    """What differs between the configuration of a run and the one asked for, in words."""
    now = config.header()
    found = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
    return ", ".join(_SAID.get(k) or f"{k} ({before.get(k)}, not {now.get(k)})" for k in found)


def _cell(source: Source, config: Config, stage: _Stage, folder: Path, seed: int) -> Record:
    """The closing record of a cell: of its valid attempt, or of the one that is played now."""
    cell = cell_name(source.task.id, seed)
    attempts = attempt_paths(folder, cell)
    if attempts:
        with Journal(attempts[-1]) as journal:
            if journal.end is None:
                return _play(source, config, stage, journal, seed)
            if journal.end["status"] != "void":
                return journal.end
    with Journal(attempt_path(folder, cell, len(attempts) + 1)) as journal:
        return _play(source, config, stage, journal, seed)


def _key(source: Source, config: Config, seed: int) -> str:
    return cell_key(source.uses, config.world, config.assistant, config.human, seed)


def _play(source: Source, config: Config, stage: _Stage, journal: Journal, seed: int) -> Record:
    task = source.task
    header = {
        **config.header(),
        "task": task.id,
        "seed": seed,
        "digest": task.digest,
        "physical_digest": task.physical_digest,
        "uses": source.uses,
        "key": _key(source, config, seed),
    }
    agents = {"assistant": config.assistant, "human": config.human}
    return play(task, stage.world, journal, header, **agents, studio=stage.studio)
