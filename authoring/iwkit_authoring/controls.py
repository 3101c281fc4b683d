"""The controls of a pack: the oracle passes; no help, wrong help and early help fail for the right reason (BENCH-5)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from iwkit.compile import CompiledTask
from iwkit.grammar import render
from iwkit.ledger import Journal, Record, read_records, write_json
from iwkit.lock import controls_path
from iwkit.world.base import World
from iwkit_runtime.identity import runtime_digest
from iwkit_runtime.play import play
from iwkit_runtime.runs import make_world

AGENTS: tuple[tuple[str, str], ...] = (
    ("oracle", "scripted"),
    ("oracle", "rules"),
    ("silent", "rules"),
    ("wrong", "rules"),
    ("early", "rules"),
)
"""Assistant and human of each control, in the order they are run."""
ORDER: tuple[tuple[str, str, str], ...] = tuple((world, *pair) for world in ("symbolic", "physical") for pair in AGENTS)
"""World, assistant and human of each control: a pack is frozen when all are right. The quick world comes first."""


@dataclass(frozen=True, slots=True)
class ControlResult:
    """One control. `right` says that it came out as it must, for the reason it must; `why` says what was seen."""

    world: str
    assistant: str
    human: str
    right: bool
    why: str
    status: str
    completion: float | None
    failed: tuple[str, ...]
    ticks: int
    actions: int


@dataclass(frozen=True, slots=True)
class ControlReport:
    """All controls of one pack, for exactly this digest."""

    pack: str
    digest: str
    runtime: str
    results: tuple[ControlResult, ...]

    @property
    def right(self) -> bool:
        return all(r.right for r in self.results)

    def to_json(self) -> dict[str, Any]:
        return {"controls": "1.1", "right": self.right, **asdict(self)}


def run_controls(
    task: CompiledTask,
    worlds: Sequence[str] = ("symbolic", "physical"),
    done: Callable[[ControlResult], None] = lambda _: None,
) -> ControlReport:
    """Run every control of a pack in some worlds; `done` hears of each as it ends."""
    results = []
    for name in worlds:
        world = make_world(name)
        for assistant, human in AGENTS:
            results.append(_control(task, world, assistant, human))
            done(results[-1])
    return ControlReport(task.id, task.digest, runtime_digest(), tuple(results))


def file_controls(report: ControlReport, home: Path) -> Path:
    """Write the report where `iwkit freeze` looks for it, and return the path."""
    path = controls_path(home, report.pack)
    write_json(path, report.to_json())
    return path


def _control(task: CompiledTask, world: World, assistant: str, human: str) -> ControlResult:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attempt-001.jsonl"
        with Journal(path) as journal:
            header = {"task": task.id, "digest": task.digest}
            end = play(task, world, journal, header, assistant=assistant, human=human)
        records, _ = read_records(path)
    right, why = _JUDGES[assistant](task, records, end)
    failed = tuple(c["id"] for c in end["score"]["conditions"] if not c["ok"])
    seen = end["status"], end["score"]["completion"], failed, end["ticks"], end["actions"]
    return ControlResult(world.name, assistant, human, right, why, *seen)


Judge = Callable[[CompiledTask, list[Record], Record], tuple[bool, str]]


def _oracle(task: CompiledTask, records: list[Record], end: Record) -> tuple[bool, str]:  # noqa: ARG001
    if end["status"] != "pass":
        return False, _outcome(end, "must pass")
    unclean = [a["id"] for a in end["score"]["atoms"] if a["label"] != "clean_pass"]
    if unclean:
        return False, f"passes, but not every capability shows: {', '.join(unclean)}"
    return True, "passes, and every capability shows"


def _silent(task: CompiledTask, records: list[Record], end: Record) -> tuple[bool, str]:
    if end["status"] != "fail":
        return False, _outcome(end, "must fail")
    done = {e["roles"]["step"] for e in _events(records) if e["kind"] == "after"}
    missing = [c.id for c in task.plan if c.id not in done]
    if missing:
        return False, f"fails, but the wearer's plan stopped before {missing[0]}"
    return True, "fails" + (", after the wearer's plan ran to its end" if task.plan else "")


def _wrong(task: CompiledTask, records: list[Record], end: Record) -> tuple[bool, str]:
    missing = _not_failed(task, "wrong", end)
    if missing:
        return False, missing
    oracle = {render(c) for line in task.scripts["oracle"].lines for c in line.do}
    changed = [
        r["command"]
        for r in records
        if r["kind"] == "step"
        and r["by"] == "assistant"
        and r["receipt"]["ok"]
        and r["command"] not in oracle
        and _changes(r)
    ]
    if not changed:
        return False, "fails as it should, but no command that the oracle does not give changed anything"
    return True, f"fails as it should after {changed[0]}"


def _early(task: CompiledTask, records: list[Record], end: Record) -> tuple[bool, str]:
    missing = _not_failed(task, "early", end)
    if missing:
        return False, missing
    authored = {s for c in task.plan for s in (*c.before, *c.after)} | {task.pack.interaction.handoff}
    handoff = next(i for i, r in enumerate(records) if r["kind"] == "handoff")
    replies = [
        r["text"]
        for r in records[handoff:]
        if r["kind"] == "speech" and r["by"] == "wearer" and r["text"] not in authored
    ]
    if not replies:
        return False, "fails as it should, but the wearer never replied"
    return True, f'fails as it should; the wearer replied: "{replies[0]}"'


_JUDGES: dict[str, Judge] = {"oracle": _oracle, "silent": _silent, "wrong": _wrong, "early": _early}


def _outcome(end: Record, must: str) -> str:
    if end["status"] == "void":
        return f"{must}, but the cell is void: {end['void']}"
    bad = [f"{c['id']}: {c['why']}" for c in end["score"]["conditions"] if not c["ok"]]
    return f"{must}, but it is a {end['status']} ({end['stop_reason']})" + (f"; {'; '.join(bad)}" if bad else "")


def _not_failed(task: CompiledTask, script: Any, end: Record) -> str:
    """What is wrong with the way a control fails; "" if it fails as it says."""
    if end["status"] != "fail":
        return _outcome(end, "must fail")
    held = {c["id"] for c in end["score"]["conditions"] if c["ok"]}
    unexpected = [name for name in task.scripts[script].fails if name in held]
    return f"fails, but not for the reason it names: {', '.join(unexpected)} holds" if unexpected else ""


def _events(records: list[Record]) -> list[dict[str, Any]]:
    return [event for r in records for event in r.get("events", ())]


def _changes(record: Record) -> bool:
    """Whether a step changed the world, and not just what is in view or where the wearer is."""
    passing = {"visible", "near", "in_room"}
    return any(relation[0] not in passing for relation in (*record["added"], *record["removed"]))
