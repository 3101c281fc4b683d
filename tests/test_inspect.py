"""`iwkit inspect`: a moment rebuilt from a recording says what the record says, and why; bad questions are answered."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from iwkit import resources
from iwkit.cli import main as cli
from iwkit.compile import load_task
from iwkit.errors import UsageError
from iwkit.ledger import read_records
from iwkit.predicates import PREDICATES
from iwkit.runfolder import attempt_path
from iwkit_runtime import recording as recordings_module
from iwkit_runtime import runs
from iwkit_runtime.inspection import Inspected, inspect_recording, read_relation
from iwkit_runtime.recording import Recording, recording
from iwkit_runtime.runs import Config
from iwkit_runtime.sources import Source

JOURNAL = attempt_path(Path(), "A1-s0", 1)
Ask = Callable[..., tuple[int, str, str]]


def play(folder: Path, pack: str = "A1", world: str = "physical") -> None:
    (path,) = resources.root("taskpacks").glob(f"*/{pack}.yaml")
    task = load_task(path)
    config = Config("oracle", "rules", world, draft=True, pictures=False)
    runs.run([Source(task, path, task.digest, "draft")], config, folder, lambda _task, _end: None)


@pytest.fixture(scope="module")
def folder(run_of: Callable[[str], Path]) -> Path:
    return run_of("A1")


@pytest.fixture(scope="module")
def whole(folder: Path) -> Recording:
    return recording(folder, "A1-s0")


@pytest.fixture(scope="module")
def records(folder: Path) -> list[dict[str, Any]]:
    return read_records(folder / JOURNAL)[0]


@pytest.fixture(scope="module")
def end(whole: Recording) -> Inspected:
    return inspect_recording(whole)


@pytest.fixture
def ask() -> Ask:
    if not cli.app.registered_commands:
        cli._register()

    def asked(*words: str | Path) -> tuple[int, str, str]:
        result = CliRunner().invoke(cli.app, ["inspect", *map(str, words)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return asked


def measured(state: Any) -> set[tuple[str, ...]]:
    return {r for r in state if PREDICATES[r[0]].source == "geometry"}


# --- the moment ---------------------------------------------------------------------------------------------------


def test_every_moment_is_as_it_was_recorded(whole: Recording, records: list[dict[str, Any]]) -> None:
    """Measured again from what was recorded, after each command: the same relations, those with hysteresis too."""
    steps = [r["n"] for r in records if r["kind"] in ("reset", "step", "handoff", "end")]
    assert len(steps) >= 8
    for number in steps:
        moment = inspect_recording(whole, record=number)
        assert moment.recorded is not None
        assert measured(moment.state()) == measured(moment.recorded), moment.title
        assert moment.state() == moment.recorded


def test_a_moment_by_its_name(whole: Recording, records: list[dict[str, Any]]) -> None:
    handoff = next(r for r in records if r["kind"] == "handoff")
    for at, record in (("start", records[1]), ("handoff", handoff), ("end", records[-1])):
        named, numbered = inspect_recording(whole, at), inspect_recording(whole, record=record["n"])  # type: ignore[arg-type]
        assert named.title == numbered.title
        assert named.state() == numbered.state()
    assert not {r for r in inspect_recording(whole, "start").state() if r[0] == "at_baseline"}
    assert {r for r in inspect_recording(whole, "handoff").state() if r[0] == "at_baseline"}


def test_everything_that_holds_is_listed_once_with_its_reason(end: Inspected) -> None:
    answers = end.about()
    assert all(a.holds and a.why and not a.differs for a in answers)
    told = {a.relation for a in answers}
    assert len(told) == len(answers)
    missing = end.state() - told
    assert missing and all(r[0] == "near" and ("near", r[2], r[1]) in told for r in missing)
    juice = {a.relation for a in end.about("juice")}
    assert juice == {r for r in told if "juice" in r[1:]}


def test_a_record_that_was_changed_is_told(whole: Recording, end: Inspected) -> None:
    """What the record says otherwise than the geometry: one relation taken from it, and one put in."""
    on = next(r for r in end.state() if r[0] == "on")
    other = (
        "on",
        on[1],
        next(n for n in end.names if ("on", on[1], n) not in end.state() and n in end.measured.places.posed),
    )
    changed = Inspected(end.title, end.measured, end.known, (end.recorded or frozenset()) - {on} | {other}, end.looks)
    assert changed.answer(on).differs and changed.answer(on).holds
    assert changed.answer(other).differs and not changed.answer(other).holds
    assert {a.relation for a in changed.about() if a.differs} == {on, other}


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("on cup table", ("on", "cup", "table")),
        ("on(cup, table)", ("on", "cup", "table")),
        ("  held   cup ", ("held", "cup")),
    ],
)
def test_both_ways_of_writing_a_relation(text: str, relation: tuple[str, ...]) -> None:
    assert read_relation(text) == relation


@pytest.mark.parametrize("text", ["", "  ", "( , )"])
def test_nothing_is_no_relation(text: str) -> None:
    with pytest.raises(UsageError, match="on cup table"):
        read_relation(text)


def afterwards(whole: Recording, *, poses: Any = (), joints: Any = ()) -> Recording:
    """The recording with one more frame at the end of its last command, in which these are elsewhere."""
    *others, last = whole.intervals
    more = replace(last.frames[-1], poses=dict(poses), joints=dict(joints))
    return replace(whole, intervals=(*others, replace(last, frames=(*last.frames, more))))


def test_joints_are_followed(whole: Recording, end: Inspected) -> None:
    name = next(r[1] for r in sorted(end.state()) if r[0] == "closed")
    placed = next(p for p in whole.spec.placed if p.name == name)
    link = next(link for link in placed.asset.links if link.joint)
    assert link.joint is not None
    moment = inspect_recording(afterwards(whole, joints={(name, link.name): link.joint.high}))
    assert ("open", name) in moment.state()
    assert moment.answer(("open", name)).differs, "the record knows nothing of it"


@pytest.mark.parametrize(("way", "kept"), [(0.029, True), (0.033, True), (0.036, False)])
def test_what_held_before_is_measured_after_every_record(
    whole: Recording, end: Inspected, way: float, kept: bool
) -> None:
    """Hysteresis is as it was when the episode was played: it stood there until then."""
    name = next(r[1] for r in sorted(end.state()) if r[0] == "unmoved" and ("on_floor", r[1]) not in end.state())
    (x, y, z), turn = end.measured.moment.poses[name]
    moment = inspect_recording(afterwards(whole, poses={name: ((x + way, y, z), turn)}))
    assert (("unmoved", name) in moment.state()) == kept
    assert "3.5 since it held before" in moment.answer(("unmoved", name)).why


# --- the command --------------------------------------------------------------------------------------------------


def test_why_it_holds(ask: Ask, folder: Path, end: Inspected) -> None:
    on = next(r for r in sorted(end.state()) if r[0] == "on")
    code, out, _ = ask(folder, "A1", "--relation", f"on {on[1]} {on[2]}")
    title, line = out.splitlines()
    assert code == 0
    assert title.startswith("A1-s0, after record ") and title.endswith("the end")
    assert line.startswith(f"on({on[1]}, {on[2]}) holds: ")
    assert "mm (at most 15.0 mm)" in line


def test_why_it_does_not(ask: Ask, folder: Path) -> None:
    code, out, _ = ask(folder, "--relation", "inside juice fridge", "--at", "handoff")
    assert code == 0
    assert "inside(juice, fridge) does not hold" in out or "inside(juice, fridge) holds" in out
    assert "% of its volume is in an interior of fridge (at least 60%" in out


def test_states_of_their_own_are_those_of_the_record(ask: Ask, folder: Path) -> None:
    code, out, _ = ask(folder, "A1-s0", "--relation", "clean juice")
    assert (code, out.splitlines()[1].partition(":")[0]) == (0, "clean(juice) holds")
    assert "not measured" in out


def test_as_json(ask: Ask, folder: Path, end: Inspected) -> None:
    code, out, _ = ask(folder, "A1", "--thing", "juice", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["moment"] == end.title
    assert found["relations"] == [answer.to_json() for answer in end.about("juice")]
    assert set(found["relations"][0]) == {"relation", "holds", "why", "recorded"}


def test_the_start_of_a_pack(ask: Ask, whole: Recording) -> None:
    (pack,) = resources.root("taskpacks").glob("*/A1.yaml")
    code, out, _ = ask(pack, "--json")
    found = json.loads(out)
    assert (code, found["moment"]) == (0, "A1, at the start")
    told = {tuple(r["relation"]) for r in found["relations"]}
    assert told == {a.relation for a in inspect_recording(whole, "start").about()}
    assert {r["recorded"] for r in found["relations"]} == {None}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("A1", "--relation", "on juic fridge"), "nothing is called 'juic' in this scene: did you mean `juice`?"),
        (("A1", "--relation", "upon juice fridge"), "no relation 'upon': did you mean `on`?"),
        (("A1", "--relation", "xyzzy juice"), "no relation 'xyzzy'; there are at_baseline, attached"),
        (("A1", "--relation", "on juice"), "on(juice) has the wrong number of names: write on thing support"),
        (("A1", "--relation", " "), "no relation is written"),
        (("A1", "--relation", "on juice kitchen"), "'kitchen' has no place in on(juice, kitchen)"),
        (("A1", "--thing", "jiuce"), "did you mean `juice`?"),
        (("A1", "--thing", "juice", "--relation", "held juice"), "give one of them"),
        (("A1", "--at", "handof"), "it is start, handoff or end"),
        (("A1", "--record", "9999"), "no record 9999: there are 1 to "),
        (("A1", "--record", "0"), "no record 0: there are 1 to "),
    ],
)
def test_bad_questions_are_answered(
    ask: Ask, folder: Path, whole: Recording, words: tuple[str, ...], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings_module, "recording", lambda _folder, _cell: whole)  # it is read only once
    code, out, err = ask(folder, *words)
    assert (code, out) == (2, "")
    assert complaint in err


def test_a_pack_has_no_episode(ask: Ask) -> None:
    (pack,) = resources.root("taskpacks").glob("*/A1.yaml")
    for words in (("A1",), ("--record", "3"), ("--at", "handoff")):
        code, _, err = ask(pack, *words)
        assert code == 2
        assert "is a pack, of which there is only the start" in err


def test_which_of_several_episodes_must_be_named(ask: Ask, folder: Path, tmp_path: Path) -> None:
    two = Path(shutil.copytree(folder, tmp_path / "two"))
    plan = json.loads((two / "plan.json").read_text("utf-8"))
    plan["cells"]["B2-s0"] = {**plan["cells"]["A1-s0"], "task": "B2"}
    (two / "plan.json").write_text(json.dumps(plan), "utf-8")
    code, _, err = ask(two, "--relation", "held juice")
    assert code == 2
    assert "has 2 episodes: name one of A1-s0, B2-s0" in err


@pytest.mark.parametrize(("episode", "complaint"), [("F10", "has no episode 'F10'"), (None, "holds no run")])
def test_no_run_or_episode_is_one_message(folder: Path, tmp_path: Path, episode: str | None, complaint: str) -> None:
    words = [str(folder), episode] if episode else [str(tmp_path)]
    command = [sys.executable, "-m", "iwkit.cli.main", "inspect", *words]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_the_symbolic_world_has_nothing_to_measure(tmp_path: Path) -> None:
    play(tmp_path / "run", world="symbolic")
    command = [sys.executable, "-m", "iwkit.cli.main", "inspect", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert "the symbolic world has no body" in done.stderr
