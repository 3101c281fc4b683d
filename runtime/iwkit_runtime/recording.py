"""What was recorded of an episode in the physical world: the scene, how it began, and every frame of every command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iwkit.compile import CompiledTask, load_task
from iwkit.errors import LedgerError, Problems, UsageError
from iwkit.ledger import Record
from iwkit.library import Library
from iwkit.report.episode import NOT_BEGUN, episode_cell
from iwkit.runfolder import load_plan, selected_attempt
from iwkit.trace import Happening
from iwkit_runtime.body.pose import BodyPose
from iwkit_runtime.identity import runtime_digest
from iwkit_runtime.physical.layout import Assets, build_scene
from iwkit_runtime.physical.scene_digest import scene_digest
from iwkit_runtime.physical.scene_spec import Joints, Poses, SceneSpec, States
from iwkit_runtime.physical.trajectory import Frame, Stand, Start, Trajectory
from iwkit_runtime.trajectories import file_of, load


@dataclass(frozen=True, eq=False)
class Interval:
    """One command. `step` is the number of its record, `code` that of its receipt, `stated` how many frames the receipt
    says it took; `frames` are those that were kept, none for what takes no time or was refused."""

    step: int
    command: str
    code: str
    stated: int
    happenings: tuple[Happening, ...]
    frames: tuple[Frame, ...]


@dataclass(frozen=True, eq=False)
class Recording:
    """One episode as it was played. `poses`, `joints`, `body`, `stand` and `states` are those at reset; frames tell
    changes.

    `records` is the whole journal of the attempt; `notes` says in words what may make a drawing differ from the
    original.
    """

    cell: str
    task: CompiledTask
    spec: SceneSpec
    poses: Poses
    joints: Joints
    body: BodyPose
    stand: Stand
    intervals: tuple[Interval, ...]
    records: tuple[Record, ...]
    notes: tuple[str, ...] = ()
    states: States = field(default_factory=dict)


def recordings(folder: Path, episodes: Sequence[str] = ()) -> Iterator[Recording]:
    """The recordings of a run, one of the attempt that counts for each episode (`F10`, or `F10-s0` with its seed); all
    episodes if none are named. Each is read when it is asked for.

    Raises:
        LedgerError: no run, no such episode, or one that was not begun; one without trajectories, as in the symbolic
            world; a trajectory that is missing, torn or changed; a pack, scene or asset that is not the recorded one.
    """
    cells = [episode_cell(folder, name) for name in episodes] or sorted(load_plan(folder)["cells"])
    for cell in dict.fromkeys(cells):
        yield recording(folder, cell)


def recording(folder: Path, cell: str) -> Recording:
    """The recording of one cell (`F10-s0`).

    Raises:
        LedgerError: as `recordings`.
    """
    chosen = selected_attempt(folder, cell)
    if chosen is None:
        raise LedgerError(f"{folder}: {cell}: {NOT_BEGUN}")
    path, records = chosen
    header, start = _start(folder, path, records)
    task, assets = _task(folder, path, header)
    if scene_digest(task, assets) != start.scene:
        raise LedgerError(
            f"{path}: it was recorded with other data of the scene {task.scene.id}, of its furniture or of the body: "
            "use the version of iwkit that recorded it, or run the task again"
        )
    spec = build_scene(task, assets)
    _same_things(path, spec, start.frame)
    return Recording(
        cell,
        task,
        spec,
        start.frame.poses,
        start.frame.joints,
        start.frame.body,
        start.frame.stand,
        tuple(_interval(folder, path, record) for record in records if record["kind"] == "step"),
        tuple(records),
        tuple(_notes(header)),
        start.frame.states,
    )


def _start(folder: Path, path: Path, records: Sequence[Record]) -> tuple[Record, Start]:
    """The header of an attempt, and the state in which it began."""
    by_kind = {record["kind"]: record for record in reversed(records)}
    header, reset = by_kind.get("header"), by_kind.get("reset")
    if header is None or reset is None:
        raise LedgerError(f"{path}: no trajectory: the episode stopped before it began; the same run command plays it")
    if header.get("world") != "physical":
        raise LedgerError(
            f"{path}: no trajectory: the {header.get('world')} world has no body; run it with --world physical"
        )
    if "start" not in reset:
        raise LedgerError(f"{path}: no trajectory: an older version of iwkit kept none; run the task again")
    digest = reset["start"]
    try:
        return header, Start.of_json(load(folder, digest))
    except UsageError as error:
        raise LedgerError(f"{file_of(folder, digest)}: {error}: run the task again") from None


def _task(folder: Path, path: Path, header: Record) -> tuple[CompiledTask, Assets]:
    """The task as it was run, with the scenes and categories of the project around the run or the current folder."""
    pack = folder / "packs" / f"{header['task']}.yaml"
    if not pack.is_file():
        raise LedgerError(f"{pack}: the pack of this recording is missing: bring it back, or run the task again")
    for near in (pack, Path("x")):
        library = Library.for_file(near)
        try:
            task = load_task(pack, library, header.get("seed", 0))
        except Problems as error:
            problem = error
            continue
        if task.digest != header["digest"]:
            raise LedgerError(f"{pack} is not the pack that {path} was recorded with: its digest is another")
        return task, Assets.of_library(library)
    raise LedgerError(f"{pack}: it can't be compiled here; give this command in the project it belongs to:\n{problem}")


def _same_things(path: Path, spec: SceneSpec, start: Frame) -> None:
    things = {placed.name for placed in spec.placed}
    joints = {(placed.name, link.name) for placed in spec.placed for link in placed.asset.links if link.joint}
    if things != start.poses.keys() or joints != start.joints.keys():
        other = sorted({*(things ^ start.poses.keys()), *(name for name, _ in joints ^ start.joints.keys())})
        raise LedgerError(
            f"{path}: it was recorded with other things in the scene than this version of iwkit builds "
            f"({', '.join(other)}): use the version that recorded it, or run the task again"
        )


def _interval(folder: Path, path: Path, record: Mapping[str, Any]) -> Interval:
    receipt = record["receipt"]
    frames: tuple[Frame, ...] = ()
    if "trajectory" in record:
        digest = record["trajectory"]
        try:
            frames = Trajectory.of_json(load(folder, digest)).frames
        except UsageError as error:
            raise LedgerError(f"{file_of(folder, digest)}: {error}: run the task again") from None
    elif receipt["frames"]:
        raise LedgerError(f"{path}: no trajectory of record {record['n']}, {record['command']}: run the task again")
    happenings = tuple(
        Happening(e["kind"], {k: tuple(v) if isinstance(v, list) else v for k, v in e["roles"].items()})
        for e in record["events"]
    )
    return Interval(record["n"], record["command"], receipt["code"], receipt["frames"], happenings, frames)


def _notes(header: Record) -> Iterator[str]:
    if header.get("runtime") != runtime_digest():
        yield "recorded by other code of iwkit: the scene that this code builds may differ from the recorded one"
