"""Runs: a folder with one configuration, a plan, and a journal for each attempt at each cell (EVAL-7, EVAL-8)."""

from __future__ import annotations

import contextlib
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from iwkit import __version__
from iwkit.errors import LedgerError, UsageError
from iwkit.ledger import Journal, Record, Records, exclusive, write_atomic, write_json
from iwkit.lock import body_label
from iwkit.runfolder import attempt_path, attempt_paths, cell_name, load_plan
from iwkit.suggest import did_you_mean
from iwkit.world.base import World
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.agents.guarded import TIMEOUT
from iwkit_runtime.agents.registry import SCRIPTED_ASSISTANTS, code_digest, code_file
from iwkit_runtime.body.model import Solver
from iwkit_runtime.identity import cell_key, runtime_digest
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.loop.frames import Studio
from iwkit_runtime.play import make_agents, play
from iwkit_runtime.sources import Source
from iwkit_runtime.workers import (
    Caller,
    Crew,
    Executor,
    FarJob,
    FolderKeeper,
    RemoteJournal,
    Stage,
    executor,
    fresh_files,
)

if TYPE_CHECKING:
    from iwkit_runtime.models.agents import Front
    from iwkit_runtime.models.desk import Desk


def _physical(solver: Solver) -> World:
    from iwkit_runtime.physical.world import PhysicalWorld  # noqa: PLC0415  slow to import, and only wanted here

    return PhysicalWorld(solver=solver)


SOLVERS: tuple[Solver, ...] = get_args(Solver)
WORLDS: dict[str, Callable[[Solver], World]] = {"physical": _physical, "symbolic": lambda _solver: SymbolicWorld()}
"""World by name, with what solves the wearer's arms."""


@dataclass(frozen=True, slots=True)
class Config:
    """What all cells of a run folder share.

    `draft`: packs need not be frozen. `pictures`: the views have frames; a world without pictures has none either way.
    `solver`: what solves the wearer's arms (docs/body.md); a world without a body has none to solve.
    `memory`: the assistant may keep notes (EVAL-6). `models`: what decides the answers of each agent that is a model
    (`Desk.identity`), by its name. `timeout`: seconds that a user's own agent may take for a turn; as it decides no
    result, it may be another when a run is continued.
    """

    assistant: str
    human: str
    world: str
    draft: bool = False
    pictures: bool = False
    solver: str = "swivel"
    memory: bool = False
    models: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = TIMEOUT

    def header(self) -> dict[str, Any]:
        """The configuration as it is recorded, with digests of the code that plays."""
        own = {"assistant_code": code_digest(self.assistant), "human_code": code_digest(self.human)}
        own |= {"assistant_model": self.models.get(self.assistant), "human_model": self.models.get(self.human)}
        given = {key: value for key, value in asdict(self).items() if key not in ("models", "timeout")}
        return {"iwkit": __version__, "runtime": runtime_digest(), **given, **own, "body": body_label()}

    def settings(self) -> dict[str, Any]:
        """The part of it that decides what comes out, beside the code."""
        left_out = ("draft", "pictures", "timeout")
        return {key: value for key, value in asdict(self).items() if key not in left_out}


Progress = Callable[[str, Record], None]
"""Called with the task id and the closing record of each cell, when it is done (also when it already was)."""


def make_world(name: str, solver: str = "swivel") -> World:
    """A world by name.

    Raises:
        UsageError: there is no world, or no solver, of that name, or the world has no body that needs one.
    """
    if name not in WORLDS:
        meant = did_you_mean(name, WORLDS)
        raise UsageError(f"no world {name!r}: use {', '.join(sorted(WORLDS))}{meant and f'; {meant}'}")
    found = next((known for known in SOLVERS if known == solver), None)
    if found is None:
        raise UsageError(f"no solver {solver!r}: use {', '.join(SOLVERS)}")
    if found != SOLVERS[0] and name != "physical":
        raise UsageError(f"the {name} world has no arms to solve: --solver is for the physical one")
    return WORLDS[name](found)


def run(
    sources: Sequence[Source],
    config: Config,
    folder: Path,
    progress: Progress,
    seeds: Sequence[int] = (0,),
    *,
    desk: Desk | None = None,
    jobs: int = 1,
    in_flight: int = 1,
    where: str = "processes",
) -> None:
    """Play every cell that the folder does not hold yet. The same call continues a run that was stopped anywhere.

    Args:
        seeds: each task is a cell for each of them, and of a pack that varies each plays its own variant.
        desk: where models are asked; needed if an agent is one.
        jobs: worker processes; with one, and one episode in flight, all is played in this process.
        in_flight: episodes at a time, in all processes together.
        where: `processes` of this machine, or workers on a `ray` cluster. It is no part of what identifies a result.

    Raises:
        RunStopped: the budget does not reach, or something else that will not pass by itself.
        LedgerError: the folder belongs to another run, is being written by another process, or cannot be written.
        UsageError: no such world, or no such place, or the cluster cannot be reached.
        AgentError: no such assistant or human, or it cannot be made.
        Problems: a variant of a pack does not compile.
    """
    make_world(config.world, config.solver)
    _distinct(sources)
    for source in sources[:1]:
        # A name that was mistyped claims no folder. Where it is tried out plays no part; the opening costs least here.
        rehearsal = Episode(source.task, SymbolicWorld(), lambda _kind, _fields: None)
        make_agents(rehearsal, assistant=config.assistant, human=config.human, desk=desk, timeout=config.timeout)
    cells = [_Cell(source.of_seed(seed), seed) for seed in seeds for source in sources]
    with exclusive(folder):
        _plan(folder, config, cells)
        booth = _Booth(config, folder)
        if where == "processes" and min(max(jobs, in_flight), len(cells)) == 1:
            with booth.opened(desk) as play_cell:
                for cell in cells:
                    progress(cell.source.task.id, play_cell(cell))
            return
        with _crew(booth, executor(where), jobs, max(jobs, in_flight), desk) as crew:
            for number, end in crew.play(cells):
                progress(cells[number].source.task.id, end)


@contextlib.contextmanager
def _crew(booth: _Booth, chosen: Executor, jobs: int, in_flight: int, desk: Desk | None) -> Iterator[Crew]:
    """Workers that play cells, with a keeper of the run folder if they do not have it."""
    stage: Stage = booth
    keeper = None
    with contextlib.ExitStack() as stack:
        if not chosen.shared:
            keeper = stack.enter_context(FolderKeeper(booth.folder, lambda cell: _journal(cell, booth.folder)))
            stage = _FarBooth(booth.config, booth.config.header())
        models = sorted(booth.config.models)
        yield stack.enter_context(Crew(stage, chosen.place(), jobs, in_flight, keeper=keeper, desk=desk, models=models))


def _distinct(sources: Sequence[Source]) -> None:
    seen: dict[str, Path] = {}
    for source in sources:
        other = seen.setdefault(source.task.id, source.path)
        if other != source.path:
            raise UsageError(f"{other} and {source.path} are both called {source.task.id}: run them into two folders")


def _plan(folder: Path, config: Config, planned: Sequence[_Cell]) -> None:
    """Write the plan before anything is run, or add to the one that is there."""
    path = folder / "plan.json"
    cells: dict[str, Any] = {}
    if path.exists():
        plan = load_plan(folder)
        if plan["config"] != config.header():
            raise LedgerError(f"{folder} holds a run{_changed(plan['config'], config)}")
        cells = plan["cells"]
    for source, seed in planned:
        task = source.task
        cell = {
            "task": task.id,
            "seed": seed,
            "family": task.pack.family,
            "source_family": task.pack.source_family,
            "digest": task.digest,
            "uses": source.uses,
            "freeze": source.freeze,
            "reference": source.reference,
            "variant": dict(task.variant),
            "key": _key(source, config, seed),
        }
        known = cells.setdefault(cell_name(task.id, seed), cell)
        if known["key"] != cell["key"]:
            raise LedgerError(f"{folder} holds {task.id} with another digest: choose another --out")
    for source in {source.task.id: source for source, _ in planned}.values():
        write_atomic(folder / "packs" / f"{source.task.id}.yaml", source.path.read_bytes())
    write_json(path, {"config": config.header(), "cells": cells})


class _Cell(NamedTuple):
    """What is played once: a pack and a seed."""

    source: Source
    seed: int


class _Stage(NamedTuple):
    """Where episodes are played: a world, who keeps its trajectories and takes its pictures, where models are asked."""

    world: World
    studio: Studio | None
    desk: Front | None


@dataclass(frozen=True, slots=True)
class _Booth:
    """Makes what plays cells one after another, in this process or in a worker."""

    config: Config
    folder: Path

    def __call__(self, caller: Caller) -> contextlib.AbstractContextManager[Callable[[_Cell], Record]]:
        return self.opened(caller.desk)

    @contextlib.contextmanager
    def opened(self, desk: Front | None) -> Iterator[Callable[[_Cell], Record]]:
        world = make_world(self.config.world, self.config.solver)
        with _studio(self.config, world, self.folder) as studio:
            stage = _Stage(world, studio, desk)
            yield lambda cell: _cell(cell, self.config, stage, self.folder)


@dataclass(frozen=True, slots=True)
class _FarBooth:
    """The same where there is no run folder: records and files go to the calling process, whose configuration is
    `header`."""

    config: Config
    header: Mapping[str, Any]

    @contextlib.contextmanager
    def __call__(self, caller: Caller) -> Iterator[Callable[[FarJob], Record]]:
        if other := _differing(self.header, self.config.header()):
            told = " and another ".join(_SAID.get(key, key) for key in other)
            raise LedgerError(f"{socket.gethostname()}, of the cluster, has another {told}: install there what is here")
        world = make_world(self.config.world, self.config.solver)
        yield lambda job: self._play(job, world, caller)

    def _play(self, job: FarJob, world: World, caller: Caller) -> Record:
        with tempfile.TemporaryDirectory() as name, _studio(self.config, world, Path(name)) as studio:
            journal = RemoteJournal(caller, job.number, job.name, job.known, fresh_files(Path(name)))
            return journal.end or _play(job.what, self.config, _Stage(world, studio, caller.desk), journal)


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
    "assistant_model": "address, parameters or prompts of the assistant",
    "human_model": "address, parameters or prompts of the human",
    "body": "body of the wearer",
}


_OWN_CODE = {"assistant_code": "assistant", "human_code": "human"}
"""Field with the digest of a user's own agent -> the field with its name."""


def _changed(before: dict[str, Any], config: Config) -> str:
    """What differs between the configuration of a run and the one asked for, in words, and what to do."""
    now = config.header()
    found = _differing(before, now)
    if set(found) <= _OWN_CODE.keys():
        files = " and ".join(dict.fromkeys(code_file(str(now[_OWN_CODE[k]])) for k in found))
        return f", and the code of {files} changed since: choose another --out, or delete the folder"
    told = ", ".join(_SAID.get(k) or f"{k} ({before.get(k)}, not {now.get(k)})" for k in found)
    return f" with another {told}: choose another --out"


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))


def _cell(cell: _Cell, config: Config, stage: _Stage, folder: Path) -> Record:
    """The closing record of a cell: of its valid attempt, or of the one that is played now."""
    with _journal(cell, folder) as journal:
        return journal.end or _play(cell, config, stage, journal)


def _journal(cell: _Cell, folder: Path) -> Journal:
    """The journal of the attempt that counts: closed and valid, or still open. A void one is left for a new one."""
    name = cell_name(cell.source.task.id, cell.seed)
    attempts = attempt_paths(folder, name)
    if attempts:
        journal = Journal(attempts[-1])
        if journal.end is None or journal.end["status"] != "void":
            return journal
        journal.close()
    return Journal(attempt_path(folder, name, len(attempts) + 1))


def _key(source: Source, config: Config, seed: int) -> str:
    return cell_key(source.uses, seed, config.settings())


def _play(cell: _Cell, config: Config, stage: _Stage, journal: Records) -> Record:
    source, seed = cell
    task = source.task
    header = {
        **config.header(),
        "task": task.id,
        "seed": seed,
        "digest": task.digest,
        "physical_digest": task.physical_digest,
        "variant": dict(task.variant),
        "uses": source.uses,
        "key": _key(source, config, seed),
    }
    return play(
        task,
        stage.world,
        journal,
        header,
        assistant=config.assistant,
        human=config.human,
        studio=stage.studio,
        desk=stage.desk,
        memory=config.memory,
        timeout=config.timeout,
    )
