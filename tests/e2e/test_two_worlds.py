"""The symbolic and the physical world agree: receipts, events and measured relations, step by step (design: World)."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from iwkit import resources
from iwkit.compile import CompiledTask, load_task
from iwkit.grammar import parse
from iwkit.ledger import Journal, comparable, read_records
from iwkit.predicates import PREDICATES
from iwkit.runfolder import attempt_path, cell_name
from iwkit.trace import Relation
from iwkit.world.base import Receipt
from iwkit.world.layout import Layout
from iwkit.world.situation import Situation
from iwkit.world.state import State
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.play import play
from iwkit_runtime.runs import no_pictures

FILES = {path.stem: path for path in resources.root("taskpacks").glob("*/*.yaml")}
SCRIPTS = ("oracle", "wrong", "early")
MEASURED = frozenset(name for name, row in PREDICATES.items() if row.source == "geometry")
SIGHT = ("became_visible", "left_view")
HANDOFF = None

Difference = tuple[str, *tuple[str, ...]]
"""The command after which the worlds differ, and in what: a relation, `receipt` with both codes, or `events`."""

APART: dict[str, dict[Difference, str]] = {
    "A1": {},
    "D5": {
        ("[TurnAround]", "visible", name): "it is behind the wearer; the symbolic world doesn't know which way it looks"
        for name in ("packing_table", "price_sheet")
    },
    "F10": {
        (f"[PutInside] <{put}> <{cabinet}>", "visible", name): "the wearer stands upright again, above the low boards"
        for put, cabinet, other in (
            ("thermometer", "left_cabinet", "tissues"),
            ("soda", "right_cabinet", "magazine"),
        )
        for name in (put, other)
    },
    "G10": {},
    "P8": {("[LookAround]", "visible", "chair_1"): "the table hides it from where the wearer turns around"},
    "W7": {},
}
"""Where the worlds may differ, and why. All of it must be found, and nothing else."""


@dataclass
class Comparison:
    """What came of one programme in both worlds. `unjudged` counts things in the physical world's view of which the
    symbolic world says nothing: they are elsewhere, and nothing that is closed is around them. It ends at a receipt in
    which they differ (`stopped`): both have another history from there on."""

    differences: list[Difference] = field(default_factory=list)
    relations: int = 0
    receipts: int = 0
    unjudged: int = 0
    stopped: tuple[str, str] | None = None


@cache
def task(pack: str) -> CompiledTask:
    return load_task(FILES[pack])


@cache
def programme(pack: str, script: str) -> tuple[str | None, ...]:
    """Every command that is carried out in an episode with that assistant, in order; HANDOFF where it comes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attempt-001.jsonl"
        with Journal(path) as journal:
            play(task(pack), SymbolicWorld(), journal, {"task": pack}, assistant=script, human="scripted")
        records, _ = read_records(path)
    return tuple(r.get("command", HANDOFF) for r in records if r["kind"] in ("handoff", "step"))


@pytest.fixture(scope="module")
def physical() -> PhysicalWorld:
    return PhysicalWorld()


Meddler = Callable[[str, PhysicalWorld], None]
"""What is done to the physical world behind the comparison's back after a command."""


def compare(
    pack: str, script: str, physical: PhysicalWorld, until: str | None = None, meddle: Meddler | None = None
) -> Comparison:
    """Play a programme in both worlds, up to a command or the end, and compare them after each step."""
    found, symbolic, layout = Comparison(), SymbolicWorld(), Layout(task(pack))
    physical.reset(task(pack))
    symbolic.reset(task(pack))
    for text in programme(pack, script):
        if text is HANDOFF:
            physical.mark_baseline()
            symbolic.mark_baseline()
            continue
        mine, other = physical.execute(parse(text)), symbolic.execute(parse(text))
        found.receipts += 1
        if meddle is not None:
            meddle(text, physical)
        if (mine.ok, mine.code) != (other.ok, other.code):
            found.stopped = (text, mine.code)
            return found
        if told(mine) != told(other):
            found.differences.append((text, "events"))
        found.differences += [(text, *relation) for relation in apart(physical, symbolic, layout, found)]
        if text == until:
            break
    return found


def told(receipt: Receipt) -> list[tuple[object, ...]]:
    """The events of a receipt but those of the view."""
    return [(h.kind, *h.roles.items()) for h in receipt.happenings if h.kind not in SIGHT]


def apart(physical: PhysicalWorld, symbolic: SymbolicWorld, layout: Layout, found: Comparison) -> list[Relation]:
    """The measured relations in which the worlds differ now."""
    mine = {r for r in physical.relations() if r[0] in MEASURED and r[0] != "visible"}
    other = as_if_at(symbolic, *physical.stage.wearer.stand[:2])
    found.relations += len(mine | other)
    seen, claimed = set(physical.visible()), set(symbolic.visible())
    at = Situation(layout, State.from_json(symbolic.snapshot()["state"]))
    shut = {name for name in at.state.places if at.lid(name) is not None}
    found.relations += len(claimed | shut)
    found.unjudged += len(seen - claimed - shut)
    wrong = (claimed - seen) | (seen & shut - claimed)
    return sorted(mine ^ other) + [("visible", name) for name in sorted(wrong)]


def as_if_at(symbolic: SymbolicWorld, x: float, y: float) -> set[Relation]:
    """The symbolic world's measured relations but the view. Each world chooses a place to stand of its own, within
    reach of the same thing; so what is near the wearer is asked for the place where the physical one stands."""
    here = symbolic.snapshot()
    state = {**here["state"], "wearer": {**here["state"]["wearer"], "x": x, "y": y}}
    others = {r for r in symbolic.relations() if r[0] in MEASURED and r[0] not in ("near", "visible")}
    symbolic.restore({**here, "state": state})
    near = {r for r in symbolic.relations() if r[0] == "near"}
    symbolic.restore(here)
    return others | near


# --- agreement ------------------------------------------------------------------------------------------------------


def agree(pack: str, physical: PhysicalWorld) -> tuple[int, int]:
    """Compare all programmes of a pack; every difference must be in the tables, and everything in the tables found."""
    found = {script: compare(pack, script, physical) for script in SCRIPTS}
    assert [c.stopped for c in found.values()] == [None] * len(SCRIPTS), "no receipt differs"
    assert {d for c in found.values() for d in c.differences} == set(APART[pack])
    return sum(c.relations for c in found.values()), sum(c.receipts for c in found.values())


def test_the_worlds_agree_in_a_task(physical: PhysicalWorld) -> None:
    relations, receipts = agree("A1", physical)
    assert relations > 1000 and receipts == len([c for s in SCRIPTS for c in programme("A1", s) if c])


@pytest.mark.slow
@pytest.mark.parametrize("pack", sorted(FILES.keys() - {"A1"}))
def test_the_worlds_agree(pack: str, physical: PhysicalWorld) -> None:
    relations, _ = agree(pack, physical)
    assert relations > 3000


def test_the_tables_are_about_the_packs_that_there_are() -> None:
    assert APART.keys() == FILES.keys()


# --- the comparison bites -------------------------------------------------------------------------------------------


PUTS = [
    ("A1", "oracle", "[Put] <juice> <breakfast_table>", ("on", "juice", "breakfast_table")),
    ("W7", "oracle", "[Put] <milk> <breakfast_table>", ("on", "milk", "breakfast_table")),
]


@pytest.mark.parametrize(("pack", "script", "command", "lost"), PUTS)
@pytest.mark.parametrize("off", ["above", "beside"])
def test_a_thing_that_hangs_5_cm_off_its_support_is_noticed(
    pack: str,
    script: str,
    command: str,
    lost: Relation,
    off: str,
    physical: PhysicalWorld,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    physical.reset(task(pack))
    stage, name = physical.stage, lost[1]
    settle, let_go = stage.settle, stage.engine.release
    loose: set[str] = set()

    def release(thing: str) -> None:
        loose.add(thing)
        let_go(thing)

    def hang(*args: Any) -> bool:
        came = settle(*args)
        if name in loose:
            (x, y, z), turn = stage.engine.poses()[name]
            if off == "above":
                z += 0.05
            else:
                support = stage.placed[lost[2]]
                reach = (*support.asset.size[:2], stage.placed[name].asset.size[0])
                x = stage.centre(lost[2])[0].item() + max(reach[:2]) / 2 + reach[2] / 2 + 0.05
            stage.engine.hold(name, ((x, y, z), turn))
            stage.sync()
        return came

    monkeypatch.setattr(stage.engine, "release", release)
    monkeypatch.setattr(stage, "settle", hang)
    found = compare(pack, script, physical, command)
    assert found.stopped == (command, "POSTCONDITION_FAILED")
    assert lost not in physical.relations()


BACK = ("W7", "wrong", "[PutInside] <milk> <fridge>", "milk"), ("A1", "oracle", "[LookAt] <counter>", "soda")


@pytest.mark.parametrize(("pack", "script", "command", "name"), BACK)
def test_a_thing_that_is_5_cm_beside_its_place_is_noticed(
    pack: str, script: str, command: str, name: str, physical: PhysicalWorld
) -> None:
    """It is on or in the same thing, but not at its baseline."""

    def shift(text: str, world: PhysicalWorld) -> None:
        if text in (command, "[Grab] <juice>"):
            (x, y, z), turn = world.stage.engine.poses()[name]
            world.stage.engine.hold(name, ((x - 0.05, y, z), turn))
            world.stage.sync()

    last = "[Grab] <juice>" if pack == "A1" else command
    found = compare(pack, script, physical, last, shift)
    assert {(last, "at_baseline", name), (last, "unmoved", name)} <= set(found.differences)


JOINTS = [
    ("W7", "[Open] <fridge>", "fridge", "open"),
    ("W7", "[Close] <fridge>", "fridge", "closed"),
    ("G10", "[Open] <locker>", "locker", "open"),
    ("G10", "[Close] <locker>", "locker", "closed"),
]


@pytest.mark.parametrize(("pack", "command", "name", "lost"), JOINTS)
def test_a_joint_that_is_turned_by_10_degrees_is_noticed(
    pack: str, command: str, name: str, lost: str, physical: PhysicalWorld
) -> None:
    def turn(text: str, world: PhysicalWorld) -> None:
        if text == command:
            engine = world.stage.engine
            for (thing, link), value in engine.joints().items():
                if thing == name:
                    by = math.radians(10) * (1 if lost == "closed" else -1)
                    engine.set_joint(thing, link, value + by)
            world.stage.sync()

    found = compare(pack, "oracle", physical, command, turn)
    assert (command, lost, name) in found.differences


# --- determinism ----------------------------------------------------------------------------------------------------


EPISODE = """
import sys
from pathlib import Path
from iwkit.compile import load_task
from iwkit_runtime.runs import Config, Source, run
file, out, pictures = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "with pictures"
task = load_task(file)
config = Config("oracle", "rules", "physical", draft=True, pictures=pictures)
run([Source(task, file, task.digest, "draft")], config, out, lambda *_: None)
"""


def recorded(pack: str, out: Path, seed: str, pictures: bool) -> dict[str, str | bytes]:
    """Run an oracle episode in a process of its own: the record as text, and each trajectory and frame by its path."""
    call = [sys.executable, "-c", EPISODE, str(FILES[pack]), str(out), "with pictures" if pictures else "without"]
    subprocess.run(call, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
    records, _ = read_records(attempt_path(out, cell_name(pack, 0), 1))
    assert records[-1]["status"] == "pass"
    lines = "\n".join(json.dumps(comparable(r), sort_keys=True) for r in records)
    kept = [p for folder in ("trajectories", "frames") for p in sorted((out / folder).rglob("*")) if p.is_file()]
    return {"record": lines} | {str(p.relative_to(out)): p.read_bytes() for p in kept}


def test_an_episode_is_the_same_in_every_process(tmp_path: Path) -> None:
    one, other = (recorded("A1", tmp_path / seed, seed, pictures=False) for seed in ("1", "2"))
    assert one == other


@pytest.mark.slow
@pytest.mark.parametrize("pack", sorted(FILES))
def test_an_episode_and_its_pictures_are_the_same_in_every_process(pack: str, tmp_path: Path) -> None:
    if why := no_pictures("oracle", "physical"):
        pytest.skip(why)
    one, other = (recorded(pack, tmp_path / seed, seed, pictures=True) for seed in ("1", "2"))
    assert one == other
    assert any(name.startswith("frames") for name in one) and any(name.startswith("trajectories") for name in one)
