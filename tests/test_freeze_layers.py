"""The eight layers of a control: each says what is wrong in its own part of the record, and no other does (BENCH-5)."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iwkit import resources
from iwkit.cli import proving
from iwkit.compile import CompiledTask, ScriptLine, load_task
from iwkit.errors import UsageError
from iwkit.goals.syntax import parse_when
from iwkit.goals.terms import Handoff
from iwkit.ledger import Journal, Record, read_records
from iwkit.world.symbolic import SymbolicWorld
from iwkit_authoring import controls
from iwkit_authoring.controls import run_controls
from iwkit_authoring.layers import LAYERS, Layer, Played, layers
from iwkit_authoring.visual import ENOUGH, Eye, Shot, blank, judged, named
from iwkit_runtime.play import play

Records = list[Record]


@pytest.fixture(scope="module")
def task() -> CompiledTask:
    return load_task(resources.root("taskpacks") / "finding" / "F10.yaml")


@pytest.fixture(scope="module")
def played(task: CompiledTask, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Records]:
    """The records of each control with the rules human."""
    folder = tmp_path_factory.mktemp("played")
    found = {}
    for assistant in ("oracle", "silent", "wrong", "early"):
        path = folder / f"{assistant}.jsonl"
        with Journal(path) as journal:
            play(task, SymbolicWorld(), journal, {}, assistant=assistant, human="rules")
        found[assistant] = read_records(path)[0]
    return found


def wrong(task: CompiledTask, assistant: str, records: Records) -> dict[str, str]:
    found = layers(Played(task, assistant, records, records[-1]), Layer("ok"))
    assert tuple(found) == LAYERS
    return {name: layer.why for name, layer in found.items() if layer.verdict == "wrong"}


def test_sound_controls_are_sound_in_every_layer(task: CompiledTask, played: dict[str, Records]) -> None:
    for assistant, records in played.items():
        assert wrong(task, assistant, records) == {}, assistant


def of(records: Records, kind: str, **fields: Any) -> Record:
    """The first record after the handoff of this kind with these fields."""
    start = next(i for i, r in enumerate(records) if r["kind"] == "handoff")
    return next(r for r in records[start:] if r["kind"] == kind and all(r[k] == v for k, v in fields.items()))


def _condition(records: Records, name: str) -> Record:
    return next(c for c in records[-1]["score"]["conditions"] if c["id"] == name)


def _told_twice(records: Records) -> None:
    step = of(records, "step", by="assistant")
    step["added"] = [*step["added"], *step["added"], ["on", "soda", "desk"]]
    step["removed"] = [["on", "soda", "desk"]]


DAMAGES: dict[str, tuple[str, Callable[[Records], Any], str, str]] = {
    "an event too many": (
        "oracle",
        lambda r: of(r, "step", by="assistant")["events"].append({"seq": 1, "kind": "said", "roles": {}}),
        "infrastructure",
        "has event 1 after event",
    ),
    "a relation that is none": ("oracle", _told_twice, "infrastructure", "to what it was"),
    "came out otherwise": (
        "oracle",
        lambda r: of(r, "step", by="assistant")["receipt"].update(code="POSTCONDITION_FAILED", text="It fell."),
        "infrastructure",
        "[Open] <left_cabinet> was done and came out otherwise: It fell.",
    ),
    "evidence": (
        "oracle",
        lambda r: _condition(r, "soda_seen").update(ok=False, why="never seen"),
        "evidence",
        "soda_seen does not hold: never seen",
    ),
    "malformed": (
        "oracle",
        lambda r: of(r, "reading", role="assistant").update(control="malformed", why="no control token"),
        "assistant decision",
        "an answer is malformed: no control token",
    ),
    "other words": (
        "oracle",
        lambda r: of(r, "speech", by="assistant").update(text="Open the door."),
        "assistant decision",
        'it says "Open the door."',
    ),
    "never done": (
        "wrong",
        lambda r: r[-1].update(stop_reason="tick budget"),
        "assistant decision",
        "it never declares that it is done: tick budget",
    ),
    "silence that speaks": (
        "silent",
        lambda r: of(r, "speech").update(by="assistant"),
        "assistant decision",
        "which its script does not say there",
    ),
    "another command": (
        "oracle",
        lambda r: of(r, "step", command="[Grab] <thermometer>").update(command="[Grab] <tissues>"),
        "human grounding",
        "becomes [Grab] <tissues>, not [Grab] <thermometer>",
    ),
    "refused block": (
        "wrong",
        lambda r: of(r, "reading", role="human").update(problem="no such handle"),
        "human grounding",
        "its action is refused: no such handle",
    ),
    "refused by the world": (
        "wrong",
        lambda r: of(r, "step", command="[Open] <right_cabinet>")["receipt"].update(ok=False),
        "human grounding",
        "is refused by the world",
    ),
    "done instead of asked": (
        "early",
        lambda r: of(r, "speech", by="wearer", text="I do not see any thermometer. Where is it?").update(
            kind="step", by="assistant", command="[Grab] <soda>", receipt={"ok": True, "code": "OK", "frames": 0}
        ),
        "human grounding",
        "is to be asked about, and is done: [Grab] <soda>",
    ),
    "capability": (
        "oracle",
        lambda r: r[-1]["score"]["atoms"][0].update(label="unobserved"),
        "process",
        "not every capability shows: which_cabinet",
    ),
    "the world": (
        "oracle",
        lambda r: _condition(r, "retrieved").update(ok=False, why="it is elsewhere"),
        "world state",
        "retrieved: it is elsewhere",
    ),
    "as if it had helped": (
        "silent",
        lambda r: [c.update(ok=True) for c in r[-1]["score"]["conditions"]],
        "world state",
        "as if it had helped",
    ),
    "status": ("silent", lambda r: r[-1].update(status="pass"), "completion", "must fail, but it is a pass"),
    "completion": (
        "wrong",
        lambda r: r[-1]["score"].update(completion=0.5),
        "completion",
        "differs from what its trace",
    ),
    "reason": (
        "wrong",
        lambda r: _condition(r, "retrieved").update(ok=True),
        "completion",
        "not for the reason it names: retrieved holds",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damage_is_told_by_its_layer(task: CompiledTask, played: dict[str, Records], name: str) -> None:
    assistant, damage, layer, why = DAMAGES[name]
    records = copy.deepcopy(played[assistant])
    damage(records)
    found = wrong(task, assistant, records)
    assert why in found.get(layer, f"nothing in {layer}, but {found}")
    # What is filed in the closing record follows from the trace: that it does not is told by completion as well.
    assert found.keys() <= {layer, "completion", "process"}


def test_a_line_that_never_comes_up_is_named(task: CompiledTask, played: dict[str, Records]) -> None:
    silent = played["silent"]
    assert silent[-1]["stop_reason"] == "tick budget"
    ticks = task.pack.interaction.budget.ticks
    first, second, *more = task.scripts["oracle"].lines
    never = parse_when({"opened": "soda"})

    def told(*lines: ScriptLine) -> str:
        other = replace(task, scripts={**task.scripts, "oracle": replace(task.scripts["oracle"], lines=lines)})
        return wrong(other, "oracle", silent)["completion"]

    waits = "line 1 was never said: it waits for"
    used = f"ticks: {ticks} of {ticks} used"
    assert f"(tick budget); {waits} opened(soda); {used}; " in told(replace(first, when=never), second, *more)
    assert f"{waits} the commands of the line before it to be done; {used}" in told(replace(first, when=None))
    assert f"{waits} the handoff; {used}" in told(replace(first, when=Handoff()))
    assert f"(tick budget); {used}; " in told()


def test_a_void_cell_says_nothing_of_what_comes_after(task: CompiledTask, played: dict[str, Records]) -> None:
    records = copy.deepcopy(played["oracle"])
    start = next(i for i, r in enumerate(records) if r["kind"] == "handoff")
    records[-1].update(status="void", stop_reason="opening failed", void="the opening failed at step o15: no")
    cut = [*records[: start - 3], records[-1]]
    found = layers(Played(task, "oracle", cut, cut[-1]), Layer("unavailable"))
    assert str(found["infrastructure"]) == "wrong: the opening failed at step o15: no"
    assert "of the opening was not done" in found["evidence"].why
    assert "the cell is void" in found["completion"].why
    assert [n for n, layer in found.items() if layer.why == "the cell is void"] == list(LAYERS[2:6])


# Replays


def test_replays_are_the_same(task: CompiledTask) -> None:
    report = run_controls(task, ["symbolic"], repeat=1)
    assert report.right
    assert (report.wrong, report.unsteady) == (0, 0)
    assert [r.replays for r in report.results] == [1] * 5


def test_what_comes_out_differently_is_counted_apart(task: CompiledTask, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []

    def unsteady(path: Path) -> tuple[Records, bytes]:
        records, tail = read_records(path)
        reads.append(path)
        if len(reads) in (2, 3):  # two of three replays of the first control
            records[4]["text"] = "otherwise"
        if len(reads) == 4:
            records = records[:3]
        return records, tail

    monkeypatch.setattr(controls, "read_records", unsteady)
    report = run_controls(task, ["symbolic"], repeat=3)
    first = report.results[0]
    assert (report.right, report.wrong, report.unsteady) == (False, 0, 1)
    assert (first.replays, first.unsteady, first.status) == (3, 3, "pass")
    assert first.why == f"3 of 3 replays came out differently: {first.differs}"
    assert first.differs.startswith("record 4 (")
    assert "differs in text" in first.differs
    assert all(layer == "ok" or layer.startswith("unavailable") for layer in first.layers.values())


@pytest.mark.parametrize("repeat", [-1, 101])
def test_how_often_has_bounds(task: CompiledTask, repeat: int) -> None:
    with pytest.raises(UsageError, match=f"0 to 100 times, not {repeat}"):
        run_controls(task, ["symbolic"], repeat=repeat)


def test_what_needs_a_model_is_unrun(task: CompiledTask) -> None:
    filed = run_controls(task, ["symbolic"]).to_json()
    assert filed["unrun"] == {
        "oracle with a model human": "no model is configured",
        "strong-model canary": "no model is configured",
    }
    assert filed["results"][0]["layers"]["visual quality"] == "unavailable: the symbolic world has no pictures"


# Pictures


def test_black_and_plain_pictures_are_blank() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    assert blank(noise) is None
    assert blank(np.zeros_like(noise)) == "black"
    assert blank(np.full_like(noise, 128)) == "of one colour"
    speck = np.full_like(noise, 128)
    speck[0, 0] = 255
    assert blank(speck) == "of one colour"
    half = np.full_like(noise, 128)
    half[:24] = 160
    assert blank(half) is None


def test_things_that_the_evidence_names(task: CompiledTask) -> None:
    assert named(task) == ("thermometer", "left_cabinet", "soda", "right_cabinet")


class Seen(Eye):
    """An eye that saw this."""

    def __init__(self, shots: list[Shot], unavailable: str = "") -> None:
        self.shots, self.unavailable = shots, unavailable


def _opening(*visible: str) -> Records:
    state = [["visible", name] for name in visible]
    step = {"kind": "step", "by": "opening", "command": "[LookAround]", "receipt": {"frames": 12}, "added": state}
    free = {"kind": "step", "by": "opening", "command": "[Say]", "receipt": {"frames": 0}}
    late = {"kind": "step", "by": "assistant", "command": "[Walk]", "receipt": {"frames": 9}}
    return [{"kind": "reset", "state": []}, free, step, {"kind": "handoff"}, {**late, "added": [["visible", "late"]]}]


@pytest.mark.parametrize(
    ("shots", "records", "said"),
    [
        ([Shot({"cup": ENOUGH})], _opening("cup"), "ok"),
        ([Shot({"cup": ENOUGH - 1})], _opening("cup"), f"wrong: called visible .*: cup {ENOUGH - 1}"),
        ([Shot({"cup": 0})], _opening(), "ok"),
        ([Shot({"late": 0})], _opening(), "ok"),
        ([Shot(wrong="black")], _opening(), r"wrong: the picture after \[LookAround\] is black"),
        # What was drawn after the handoff does not count.
        ([Shot({"cup": 0}), Shot({"cup": 900})], _opening("cup"), "wrong: called visible .*: cup 0"),
    ],
)
def test_pictures_are_judged_beside_the_records(shots: list[Shot], records: Records, said: str) -> None:
    assert re.fullmatch(said, str(judged(Seen(shots), records)))


def test_a_machine_that_cannot_draw_is_not_blamed() -> None:
    assert str(judged(Seen([], "no OpenGL"), _opening("cup"))) == "unavailable: no OpenGL"


def test_the_layers_are_told_so_that_they_can_be_read_in_a_narrow_window(
    task: CompiledTask, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    report = run_controls(task, ["symbolic"])
    first, *rest = report.results
    bent = replace(first, layers={**first.layers, "human grounding": "wrong: it went elsewhere"})
    proving._tell_layers([replace(report, results=(bent, *rest))])
    out = capsys.readouterr().out
    assert out.count("7 of 8") == len(rest) and out.count("6 of 8") == 1
    assert "human grounding WRONG" in " ".join(re.sub(r"[│\n]", " ", out).split())
    assert "F10  symbolic oracle scripted, human grounding: wrong: it went elsewhere" in out
    assert "strong-model canary: unrun" in out
    assert "…" not in out
