"""The six tasks end to end: every control right for the right reason, and what freezing refuses (BENCH-5, 7)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from iwkit import resources
from iwkit.compile import CompiledTask, load_task
from iwkit.errors import FreezeError, UsageError
from iwkit.library import LOCK_NAME, Library, home_of
from iwkit.lock import controls_path, load_lock
from iwkit.spec.lock import Shortest
from iwkit.spec.review import Reading
from iwkit_authoring.controls import AGENTS, ORDER, ControlResult, file_controls, run_controls
from iwkit_authoring.diff import compare
from iwkit_authoring.freeze import check_lock, freeze, prune
from iwkit_authoring.layers import LAYERS
from iwkit_authoring.optimum import Optimum
from iwkit_authoring.readings import add_reading
from iwkit_authoring.revisions import record_path, version
from iwkit_runtime.selection import packs_in, select

LIBRARY = Library()
PACKS = sorted(resources.root("taskpacks").glob("*/*.yaml"))
SAMPLES = ("A1", "D5", "F10", "G10", "P8", "W7")
"""One a family. What came of the others in the physical world is on file, and `iwkit freeze --check` compares it."""
PLAYED = [
    *(pytest.param(path, "symbolic", id=f"{path.stem}-symbolic") for path in PACKS),
    *(
        pytest.param(path, "physical", id=f"{path.stem}-physical", marks=pytest.mark.slow)
        for path in PACKS
        if path.stem in SAMPLES
    ),
]


@pytest.mark.parametrize(("path", "world"), PLAYED)
def test_every_control_is_right(path: Path, world: str) -> None:
    task = load_task(path, LIBRARY)
    told: list[ControlResult] = []
    report = run_controls(task, [world], told.append)
    assert list(report.results) == told
    assert [(r.world, r.assistant, r.human) for r in told] == [row for row in ORDER if row[0] == world]
    assert not [f"{r.assistant} with {r.human}: {r.why}" for r in report.results if not r.right]
    assert all(list(r.layers) == list(LAYERS) for r in report.results)
    by_name = {(r.assistant, r.human): r for r in report.results}
    assert by_name["oracle", "rules"].completion == 1
    for name in ("wrong", "early"):
        assert set(task.scripts[name].fails) <= set(by_name[name, "rules"].failed)
    assert by_name["silent", "rules"].actions == len(task.plan), (
        "without help the wearer follows its plan, or does nothing"
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project of one's own with one pack."""
    text = (resources.root("taskpacks") / "finding" / "F10.yaml").read_text("utf-8")
    own = (("id: F10\n", "id: F99\n"), ("guid: 6b0f6f3e", "guid: 6b0f6f99"), ("towel, on", "towel, colour: blue, on"))
    for old, new in own:
        assert text.count(old) == 1
        text = text.replace(old, new)
    text = text[: text.index("\nreview:")] + "\nreview: {}\n"
    target = tmp_path / "finding" / "F99.yaml"
    target.parent.mkdir()
    target.write_text(text, "utf-8")
    return tmp_path


def pack_of(home: Path) -> Path:
    return home / "finding" / "F99.yaml"


def edit(home: Path, old: str, new: str) -> None:
    text = pack_of(home).read_text("utf-8")
    assert text.count(old) == 1
    pack_of(home).write_text(text.replace(old, new), "utf-8")


def prove(home: Path) -> None:
    """File controls as they would be if the physical world gave what the quick one gives, and a reading."""
    read(home)
    report = run_controls(load_task(pack_of(home), LIBRARY), ["symbolic"])
    both = (*report.results, *(replace(r, world="physical") for r in report.results))
    file_controls(replace(report, results=both), home)


def read(home: Path, verdict: str = "keep", **fields: str) -> None:
    """Record a reading of the pack as it is."""
    digest = load_task(pack_of(home), LIBRARY).digest
    given = {"by": "Ada", "kind": "person", "date": "2026-11-30", "pack": digest, "verdict": verdict, **fields}
    add_reading(pack_of(home), Reading.model_validate(given), LIBRARY)


def test_freeze_needs_controls(home: Path) -> None:
    with pytest.raises(FreezeError, match="controls were never run"):
        freeze([pack_of(home)], LIBRARY)
    assert not (home / LOCK_NAME).exists()


def test_freeze_and_check(home: Path) -> None:
    prove(home)
    assert freeze([pack_of(home)], LIBRARY) == [home / LOCK_NAME]
    lock = load_lock(home)
    assert lock is not None
    assert lock.packs["F99"].revision == 1
    assert check_lock(home, LIBRARY) == ([], [])
    assert home_of(pack_of(home)) == home
    assert [s.task.id for s in select([str(pack_of(home))], LIBRARY, draft=False)] == ["F99"]


def test_a_note_or_a_comment_changes_nothing(home: Path) -> None:
    prove(home)
    freeze([pack_of(home)], LIBRARY)
    edit(home, "review:\n", "review:\n  notes: [looked at again]  # a comment\n")
    assert check_lock(home, LIBRARY) == ([], [])


def test_a_changed_pack_is_refused_until_proved_again(home: Path) -> None:
    prove(home)
    freeze([pack_of(home)], LIBRARY)
    edit(home, "And the drink over here.", "And the drink in here.")
    found, _ = check_lock(home, LIBRARY)
    assert len(found) == 1
    assert "differs from the frozen one in: pack" in found[0]
    with pytest.raises(UsageError, match="--draft"):
        select([str(pack_of(home))], LIBRARY, draft=False)
    assert select([str(pack_of(home))], LIBRARY, draft=True)
    with pytest.raises(FreezeError, match="another revision"):
        freeze([pack_of(home)], LIBRARY)
    prove(home)
    freeze([pack_of(home)], LIBRARY)
    lock = load_lock(home)
    assert lock is not None
    assert lock.packs["F99"].revision == 2


def test_a_changed_value_in_the_physical_part_changes_both_digests(home: Path) -> None:
    before = load_task(pack_of(home), LIBRARY)
    edit(home, "spot: [0.6, 0.5]", "spot: [0.7, 0.5]")
    after = load_task(pack_of(home), LIBRARY)
    assert before.physical_digest != after.physical_digest
    assert before.digest != after.digest


def test_freeze_refuses_a_pack_whose_control_is_wrong(home: Path) -> None:
    # The oracle says what the wearer takes for another place: the pack is clean, and its controls show it.
    edit(
        home,
        "say: Take it to the infirmary desk and put it down there.",
        "say: Take it to the trolley and put it down.",
    )
    prove(home)
    with pytest.raises(
        FreezeError, match="control oracle with rules in the symbolic world: must pass, but it is a fail"
    ):
        freeze([pack_of(home)], LIBRARY)


def test_freeze_refuses_a_pack_with_problems(home: Path) -> None:
    prove(home)
    edit(home, "score: state", "score: stat")
    with pytest.raises(FreezeError, match=r"F99\.yaml:\d+:\d+: S104 .*'state'.*\n    hint: did you mean `state`\?"):
        freeze([pack_of(home)], LIBRARY)


def test_freeze_refuses_a_goal_that_does_not_notice_a_change(home: Path) -> None:
    edit(home, "{on: [thermometer, desk]}", "{any: [{on: [thermometer, desk]}, {on: [thermometer, trolley]}]}")
    prove(home)
    change = "retarget 3 [Put] <thermometer> <desk> to [Put] <thermometer> <trolley>"
    with pytest.raises(FreezeError, match=re.escape(f"does not notice the change '{change}'")):
        freeze([pack_of(home)], LIBRARY)
    edit(home, "review:\n", f'review:\n  survivors: [{{mutant: "{change}", reason: free_choice}}]\n')
    assert freeze([pack_of(home)], LIBRARY) == [home / LOCK_NAME]


def test_freeze_refuses_tampered_controls(home: Path) -> None:
    prove(home)
    path = controls_path(home, "F99")
    filed = json.loads(path.read_text("utf-8"))
    filed["results"] = filed["results"][:-1]
    path.write_text(json.dumps(filed), "utf-8")
    with pytest.raises(FreezeError, match=r"not complete \(physical lacks early with rules\): run iwkit controls"):
        freeze([pack_of(home)], LIBRARY)
    path.write_text("{", "utf-8")
    with pytest.raises(FreezeError, match="not a controls file"):
        freeze([pack_of(home)], LIBRARY)


def test_check_sees_controls_that_were_changed_after_the_freeze(home: Path) -> None:
    prove(home)
    freeze([pack_of(home)], LIBRARY)
    path = controls_path(home, "F99")
    path.write_text(path.read_text("utf-8").replace('"right": true', '"right": false', 1), "utf-8")
    found, _ = check_lock(home, LIBRARY)
    assert "its controls are not the ones it was frozen with" in found[0]
    path.write_text("{", "utf-8")
    assert check_lock(home, LIBRARY)[0] == found


def test_the_wrong_reason_is_seen(home: Path) -> None:
    """A control that fails, but not for the reason it names, is not right."""
    edit(home, "fails: [left_opened, retrieved, soda_stays]", "fails: [left_opened, bandages_stay]")
    report = run_controls(load_task(pack_of(home), LIBRARY), ["symbolic"])
    wrong = next(r for r in report.results if r.assistant == "wrong")
    assert not wrong.right
    assert "bandages_stay holds" in wrong.why


def test_a_task_that_needs_no_help_is_seen(home: Path) -> None:
    """The silent control must fail: a goal that is reached without help is found out."""
    edit(home, "that: {happened: {opened: left_cabinet}}", "that: {never: {opened: left_cabinet}}")
    edit(home, "that: {on: [thermometer, desk]}, needs: [left_opened]", "that: {not: {on: [thermometer, desk]}}")
    edit(home, "that: {before: [{became_visible: thermometer}, {grabbed: thermometer}]}", "that: {never: {fell: any}}")
    report = run_controls(load_task(pack_of(home), LIBRARY), ["symbolic"])
    silent = next(r for r in report.results if r.assistant == "silent")
    assert silent.status == "pass"
    assert not silent.right


def test_a_pack_whose_file_is_gone_is_told_and_pruned(home: Path) -> None:
    prove(home)
    freeze([pack_of(home)], LIBRARY)
    pack_of(home).unlink()
    (found,), _ = check_lock(home, LIBRARY)
    assert "F99 is in the lock, but its file finding/F99.yaml is gone" in found
    assert f"iwkit freeze --prune {home}" in found
    assert prune(home) == ["F99"]
    lock = load_lock(home)
    assert lock is not None
    assert lock.packs == {}
    assert check_lock(home, LIBRARY)[0] == []
    assert prune(home) == []


def test_check_tells_controls_that_are_gone(home: Path) -> None:
    prove(home)
    freeze([pack_of(home)], LIBRARY)
    controls_path(home, "F99").unlink()
    (found,), _ = check_lock(home, LIBRARY)
    assert "controls/F99.json are gone" in found


def test_two_packs_with_one_meaning_are_not_frozen(home: Path) -> None:
    prove(home)
    text = pack_of(home).read_text("utf-8").replace("id: F99\n", "id: F99b\n")
    (home / "finding" / "F99b.yaml").write_text(text, "utf-8")
    with pytest.raises(FreezeError, match=r"F99b\.yaml:\d+:\d+: I641 the guid is that of .*F99\.yaml"):
        freeze([pack_of(home), home / "finding" / "F99b.yaml"], LIBRARY)
    assert not (home / LOCK_NAME).exists()


def test_freeze_says_all_that_is_missing_at_once(home: Path) -> None:
    edit(home, "{on: [thermometer, desk]}", "{any: [{on: [thermometer, desk]}, {on: [thermometer, trolley]}]}")
    with pytest.raises(FreezeError) as caught:
        freeze([pack_of(home)], LIBRARY)
    told = str(caught.value)
    for what in ("its controls were never run", "does not notice the change", "nobody's reading of it is recorded"):
        assert told.count(what) == 1
    assert not (home / LOCK_NAME).exists()


def test_controls_of_a_world_that_is_not_played_again_are_kept_for_the_same_pack(home: Path) -> None:
    prove(home)
    path = controls_path(home, "F99")
    before = json.loads(path.read_text("utf-8"))
    again = run_controls(load_task(pack_of(home), LIBRARY), ["symbolic"])
    file_controls(again, home)
    assert json.loads(path.read_text("utf-8")) == before
    file_controls(replace(again, runtime="sha256:" + "0" * 64), home)
    assert {r["world"] for r in json.loads(path.read_text("utf-8"))["results"]} == {"symbolic"}
    with pytest.raises(FreezeError, match=r"not complete \(none was run in the physical world\)"):
        freeze([pack_of(home)], LIBRARY)
    path.write_text("[]", "utf-8")
    file_controls(again, home)
    assert len(json.loads(path.read_text("utf-8"))["results"]) == len(AGENTS)


def test_the_lock_and_then_a_run_have_the_length_of_the_shortest_way(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prove(home)
    freeze([pack_of(home)], LIBRARY)
    lock = load_lock(home)
    assert lock is not None
    assert lock.packs["F99"].shortest == Shortest(low=3, high=3)
    (source,) = select([str(pack_of(home))], LIBRARY, draft=False)
    assert source.reference == 3

    def searched(_task: CompiledTask) -> Optimum:
        raise AssertionError("it was searched again")

    monkeypatch.setattr("iwkit_authoring.freeze.optimum", searched)
    freeze([pack_of(home)], LIBRARY)
    edit(home, "And the drink over here.", "And the drink in here.")
    assert select([str(pack_of(home))], LIBRARY, draft=True)[0].reference is None
    prove(home)
    with pytest.raises(AssertionError, match="searched again"):
        freeze([pack_of(home)], LIBRARY)


def test_freeze_needs_a_reading_of_this_revision(home: Path) -> None:
    prove(home)
    edit(home, "And the drink over here.", "And the drink in here.")
    report = run_controls(load_task(pack_of(home), LIBRARY), ["symbolic"])
    both = (*report.results, *(replace(r, world="physical") for r in report.results))
    file_controls(replace(report, results=both), home)
    with pytest.raises(
        FreezeError, match="a person's reading by Ada on 2026-11-30 says keep, but the pack was changed"
    ):
        freeze([pack_of(home)], LIBRARY)
    read(home, "retry", by="Bo", kind="model", note="too easy")
    with pytest.raises(
        FreezeError, match="a model's reading by Bo on 2026-11-30 says retry: too easy: change the pack"
    ):
        freeze([pack_of(home)], LIBRARY)
    read(home, "keep_debt", by="Bo", kind="model", note="still easy")
    assert freeze([pack_of(home)], LIBRARY)


def test_freeze_refuses_a_layer_that_is_wrong(home: Path) -> None:
    prove(home)
    path = controls_path(home, "F99")
    sound = json.loads(path.read_text("utf-8"))
    sound["results"][3]["layers"]["evidence"] = "wrong: nothing was seen"
    path.write_text(json.dumps(sound), "utf-8")
    with pytest.raises(FreezeError, match="control wrong with rules in the symbolic world, evidence: nothing was seen"):
        freeze([pack_of(home)], LIBRARY)
    del sound["results"][3]["layers"]
    path.write_text(json.dumps(sound), "utf-8")
    with pytest.raises(FreezeError, match="not a controls file"):
        freeze([pack_of(home)], LIBRARY)


def test_each_revision_leaves_a_record(home: Path) -> None:
    prove(home)
    freeze([pack_of(home)], LIBRARY)
    edit(home, "And the drink over here.", "And the drink in here.")
    prove(home)
    freeze([pack_of(home)], LIBRARY)
    lock = load_lock(home)
    assert lock is not None
    assert [r.revision for r in lock.packs["F99"].history] == [1, 2]
    old, new = (version(f"{pack_of(home)}@{n}") for n in (1, 2))
    assert compare(old, new) == [
        'interaction.opening[2]: {before: o6, say: "And the drink over here."} -> '
        '{before: o6, say: "And the drink in here."}'
    ]
    record = json.loads(record_path(home, "F99", 2).read_text("utf-8"))
    assert [r["by"] for r in record["readings"]] == ["Ada"]
    assert "review" not in record["task"]
    assert check_lock(home, LIBRARY) == ([], [])
    # The records are no packs, whatever looks through the folder.
    assert packs_in(home) == [pack_of(home)]
