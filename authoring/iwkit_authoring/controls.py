"""The controls of a pack: the oracle passes; no help, wrong help and early help fail for the right reason (BENCH-5)."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from iwkit.compile import CompiledTask
from iwkit.errors import UsageError
from iwkit.ledger import Journal, Record, comparable, read_records, write_json
from iwkit.lock import controls_path
from iwkit.world.base import World
from iwkit.world.symbolic import SymbolicWorld
from iwkit_authoring.layers import BLAMED, LAYERS, Layer, Played, layers
from iwkit_runtime.identity import runtime_digest
from iwkit_runtime.play import play
from iwkit_runtime.runs import make_world

if TYPE_CHECKING:
    from iwkit_authoring.visual import Eye

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
UNRUN: Final = {
    "oracle with a model human": "no model is configured",
    "strong-model canary": "no model is configured",
}
"""Controls of BENCH-5 that need a model, and why they were not run."""
MOST_REPLAYS: Final = 100
"""A control is replayed so often at most."""


@dataclass(frozen=True, slots=True)
class ControlResult:
    """One control. `right` says that it came out as it must, for the reason it must, in every layer and every time;
    `why` says what was seen. `layers` has each layer's finding as text (`ok`, `wrong: ...`, `unavailable: ...`).
    `unsteady` says of how many of its `replays` the records differ from the first, and `differs` where."""

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
    layers: dict[str, str]
    replays: int = 0
    unsteady: int = 0
    differs: str = ""


@dataclass(frozen=True, slots=True)
class ControlReport:
    """All controls of one pack, for exactly this digest. `unrun` are those that nobody could play here, and why."""

    pack: str
    digest: str
    runtime: str
    results: tuple[ControlResult, ...]
    unrun: dict[str, str] = field(default_factory=lambda: dict(UNRUN))

    @property
    def right(self) -> bool:
        return all(r.right for r in self.results)

    @property
    def wrong(self) -> int:
        """How many controls came out otherwise than they must; those that only differ between replays don't count."""
        return sum(not r.right and not r.unsteady for r in self.results)

    @property
    def unsteady(self) -> int:
        """How many controls are not the same each time they are played."""
        return sum(bool(r.unsteady) for r in self.results)

    def to_json(self) -> dict[str, Any]:
        return {"controls": "1.2", "right": self.right, **asdict(self)}


def run_controls(
    task: CompiledTask,
    worlds: Sequence[str] = ("symbolic", "physical"),
    done: Callable[[ControlResult], None] = lambda _: None,
    *,
    repeat: int = 0,
) -> ControlReport:
    """Run every control of a pack in some worlds; `done` hears of each as it ends. `repeat`: play each so often again.

    Raises:
        UsageError: no such world, or `repeat` is out of range.
    """
    if not 0 <= repeat <= MOST_REPLAYS:
        raise UsageError(f"a control can be replayed 0 to {MOST_REPLAYS} times, not {repeat}")
    results = []
    for name in worlds:
        world = make_world(name)
        visual: Layer | None = None
        for assistant, human in AGENTS:
            # The opening is the same in every control: it is drawn in the first one.
            first, seen = _play(task, world, assistant, human, look=visual is None, digests=repeat > 0)
            visual = visual or seen
            again = [_play(task, world, assistant, human, look=False, digests=True)[0] for _ in range(repeat)]
            results.append(_result(world, human, Played(task, assistant, first, first[-1]), visual, again))
            done(results[-1])
    return ControlReport(task.id, task.digest, runtime_digest(), tuple(results))


def file_controls(report: ControlReport, home: Path) -> Path:
    """Write the report where `iwkit freeze` looks for it, and return the path. Worlds that were not played this time
    keep what is filed of them, as long as it is for the same pack and the same code."""
    path = controls_path(home, report.pack)
    played = {r.world for r in report.results}
    results = [r for r in _filed(path, report) if r["world"] not in played] + [asdict(r) for r in report.results]
    worlds = list(dict.fromkeys(row[0] for row in ORDER))
    results.sort(key=lambda r: worlds.index(r["world"]))
    write_json(path, report.to_json() | {"right": all(r["right"] for r in results), "results": results})
    return path


def _filed(path: Path, report: ControlReport) -> list[dict[str, Any]]:
    """The results in a controls file; none if it is not there, broken, or about another pack or other code."""
    try:
        filed = json.loads(path.read_text("utf-8"))
        same = (filed["digest"], filed["runtime"]) == (report.digest, report.runtime)
        return [r for r in filed["results"] if (r["world"], r["assistant"], r["human"]) in ORDER] if same else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _play(
    task: CompiledTask, world: World, assistant: str, human: str, *, look: bool, digests: bool
) -> tuple[list[Record], Layer]:
    """The records of a control, and what its pictures are worth."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attempt-001.jsonl"
        header = {"task": task.id, "digest": task.digest}
        with Journal(path) as journal, _eye(world, look=look, digests=digests) as eye:
            play(task, world, journal, header, assistant=assistant, human=human, studio=eye)
        records, _ = read_records(path)
    if eye is None:
        return records, Layer("unavailable", f"the {world.name} world has no pictures")
    from iwkit_authoring.visual import judged  # noqa: PLC0415  slow to import, and only wanted here

    return records, judged(eye, records)


@contextlib.contextmanager
def _eye(world: World, *, look: bool, digests: bool) -> Iterator[Eye | None]:
    if isinstance(world, SymbolicWorld):
        yield None
        return
    from iwkit_authoring.visual import Eye  # noqa: PLC0415
    from iwkit_runtime.physical.world import PhysicalWorld  # noqa: PLC0415

    assert isinstance(world, PhysicalWorld)  # noqa: S101  there are no others
    with Eye(world, look=look, digests=digests) as eye:
        yield eye


def _result(
    world: World,
    human: str,
    played: Played,
    visual: Layer,
    again: Sequence[list[Record]],
) -> ControlResult:
    end = played.end
    found = layers(played, visual)
    blamed = next((name for name in BLAMED if found[name].verdict == "wrong"), None)
    differing = [where for where in (_difference(played.records, other) for other in again) if where]
    if blamed is not None:
        why = found[blamed].why if blamed in ("completion", "process") else f"{blamed}: {found[blamed].why}"
    elif differing:
        why = f"{len(differing)} of {len(again)} replays came out differently: {differing[0]}"
    else:
        why = found["process"].why
    return ControlResult(
        world.name,
        played.assistant,
        human,
        blamed is None and not differing,
        why,
        end["status"],
        end["score"]["completion"],
        tuple(c["id"] for c in end["score"]["conditions"] if not c["ok"]),
        end["ticks"],
        end["actions"],
        {name: str(found[name]) if name != "process" or blamed else found[name].verdict for name in LAYERS},
        len(again),
        len(differing),
        differing[0] if differing else "",
    )


def _difference(first: Sequence[Record], other: Sequence[Record]) -> str:
    """Where the records of a replay part from those of the first play; "" if they are the same."""
    for one, two in zip(map(comparable, first), map(comparable, other), strict=False):
        if one != two:
            fields = sorted(k for k in one.keys() | two.keys() if one.get(k) != two.get(k))
            return f"record {one['n']} ({one['kind']}) differs in {', '.join(fields)}"
    return "" if len(first) == len(other) else f"{len(other)} records, not {len(first)}"
