"""What `iwkit diff` says, and the records of frozen revisions that it reads (BENCH-7)."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from iwkit import resources
from iwkit.cli import main as cli
from iwkit.compile import load_task
from iwkit.errors import FreezeError, UsageError
from iwkit.library import LOCK_NAME, Library
from iwkit.lock import load_lock, uses
from iwkit.source.reader import read, read_text
from iwkit.spec.lock import Lock, LockedPack
from iwkit_authoring.diff import compare
from iwkit_authoring.freeze import check_lock
from iwkit_authoring.revisions import Version, history, last, make_record, record_path, version

LIBRARY = Library()
F10 = resources.root("taskpacks") / "finding" / "F10.yaml"
TASK = read(F10).data
USES = {"scene": "a", "categories": "b", "recipes": "c", "body": "d", "family_file": "e"}
Change = Callable[[dict[str, Any]], object]


def changed(change: Change) -> list[str]:
    new = copy.deepcopy(TASK)
    change(new)
    return compare(Version("old", 1, TASK, USES), Version("new", 0, new, USES))


CHANGES: dict[str, tuple[Change, list[str]]] = {
    "nothing": (lambda t: None, []),
    "a note": (lambda t: t.update(review={"notes": ["seen"]}), []),
    "empty is none": (lambda t: t["physical"].update(plan=[], windows=[]), []),
    "title": (lambda t: t.update(title="Other"), [f'title: "{TASK["title"]}" -> Other']),
    "contract": (
        lambda t: t["contract"].update(question="Which?"),
        [f'contract.question: "{TASK["contract"]["question"]}" -> Which?'],
    ),
    "entity moved": (
        lambda t: t["physical"]["entities"].update(pen={"category": "pen", "on": "trolley"}),
        ["physical.entities.pen: moved, on desk spot [0, 0.3] -> on trolley"],
    ),
    "entity of another colour": (
        lambda t: t["physical"]["entities"]["soda"].update(colour="blue"),
        ["physical.entities.soda.colour: red -> blue"],
    ),
    "entity added and removed": (
        lambda t: (t["physical"]["entities"].pop("towel"), t["physical"]["entities"].update(cup={"category": "cup"})),
        [
            "physical.entities.towel: removed {category: towel, on: basin}",
            "physical.entities.cup: added {category: cup}",
        ],
    ),
    "wearer": (
        lambda t: t["physical"]["wearer"].update(at="desk"),
        ["physical.wearer: {at: trolley, facing: bed} -> {at: desk, facing: bed}"],
    ),
    "opening": (
        lambda t: t["physical"]["opening"].pop(),
        ['physical.opening.o15: removed {do: "[LookAt] <clipboard>"}'],
    ),
    "opening in another order": (
        lambda t: t["physical"].update(opening=[*t["physical"]["opening"][:-2], *t["physical"]["opening"][:-3:-1]]),
        [
            "physical.opening: order o1, o2, o3, o4, o5, o6, o7, o8, o9, o10, o11, o12, o13, o14, o15 -> "
            "o1, o2, o3, o4, o5, o6, o7, o8, o9, o10, o11, o12, o13, o15, o14"
        ],
    ),
    "goal": (
        lambda t: t["physical"]["goal"]["achieve"][1].update(that={"on": ["thermometer", "bed"]}),
        ["physical.goal.achieve.retrieved.that: {on: [thermometer, desk]} -> {on: [thermometer, bed]}"],
    ),
    "no gates": (
        lambda t: t["physical"]["goal"].pop("gates"),
        [
            "physical.goal.gates.seen_first: removed {that: {before: [{became_visible: thermometer}, "
            "{grabbed: thermometer}]}}"
        ],
    ),
    "speech": (
        lambda t: t["interaction"]["opening"][1].update(say="And this."),
        ['interaction.opening[2]: {before: o6, say: "And the drink over here."} -> {before: o6, say: "And this."}'],
    ),
    "script": (
        lambda t: t["interaction"]["wrong"]["lines"].pop(1),
        ['interaction.wrong.lines[2]: removed {say: "Pick up the can.", do: ["[Grab] <soda>"]}'],
    ),
    "script longer": (
        lambda t: t["interaction"]["oracle"].insert(3, {"say": "Good.", "reply": "asks"}),
        ["interaction.oracle[4]: added {say: Good., reply: asks}"],
    ),
    "budget": (lambda t: t["interaction"]["budget"].update(ticks=31), ["interaction.budget.ticks: 30 -> 31"]),
    "true is not 1": (
        lambda t: t["interaction"]["budget"].update(ticks=True),
        ["interaction.budget.ticks: 30 -> true"],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_told_by_path(name: str) -> None:
    change, lines = CHANGES[name]
    assert changed(change) == lines


def test_there_and_back_tells_as_much() -> None:
    """A change and its reverse are told in as many lines: nothing is seen in one direction only."""
    for name, (change, lines) in CHANGES.items():
        new = copy.deepcopy(TASK)
        change(new)
        back = compare(Version("new", 0, new, USES), Version("old", 1, TASK, USES))
        assert len(back) == len(lines), name


def test_layout_and_comments_are_no_change() -> None:
    text = F10.read_text("utf-8")
    other = "# a comment\n" + text.replace("{ticks: 30, actions: 15}", "{actions: 15,   ticks: 30}")
    assert other.count("actions: 15,   ticks") == 1
    data = read_text(other, "x").data
    assert compare(Version("old", 1, TASK, USES), Version("new", 0, data, USES)) == []


def test_what_it_uses_is_told_too() -> None:
    old = Version("old", 1, TASK, USES)
    assert compare(old, Version("new", 0, TASK, {**USES, "recipes": "x"})) == [
        "how its things are built (recipes) is another"
    ]
    moved = copy.deepcopy(TASK)
    moved["physical"]["scene"] = "flat"
    assert compare(old, Version("new", 0, moved, {**USES, "scene": "x"})) == ["physical.scene: infirmary -> flat"]


@pytest.fixture
def home(tmp_path: Path, frozen: Path) -> Path:
    """A copy of the project, to change."""
    return Path(shutil.copytree(frozen, tmp_path / "project"))


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose one pack was frozen twice: F99@1, and F99@2 with another budget. Then its title was changed."""
    folder = tmp_path_factory.mktemp("frozen")
    path = folder / "finding" / "F99.yaml"
    path.parent.mkdir()
    text = F10.read_text("utf-8").replace("id: F10\n", "id: F99\n")
    text = text[: text.index("\nreview:") + 1]
    before = None
    for revision, ticks in ((1, 30), (2, 31)):
        path.write_text(text.replace("ticks: 30", f"ticks: {ticks}"), "utf-8")
        task = load_task(path)
        found = uses(task, Library.of_home(folder))
        record = make_record(path, task, revision, found)
        target = record_path(folder, "F99", revision)
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(record), "utf-8")
        before = LockedPack(
            revision=revision,
            family="finding",
            path="finding/F99.yaml",
            controls="sha256:" + "0" * 64,
            history=history(before, revision, task.digest, record),
            **found,
        )
        lock = Lock(lock="1.0", runtime="sha256:" + "0" * 64, packs={"F99": before})
        (folder / LOCK_NAME).write_text(lock.model_dump_json(), "utf-8")
    path.write_text(path.read_text("utf-8").replace("title: Thermometer", "title: Scissors"), "utf-8")
    return folder


def test_revisions_are_found_by_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    assert compare(version("F99@1"), version("F99@2")) == ["interaction.budget.ticks: 30 -> 31"]
    assert [line.split(":")[0] for line in compare(version("F99@1"), version("F99"))] == [
        "title",
        "interaction.budget.ticks",
    ]
    assert compare(version("finding/F99.yaml@2"), version("F99@2")) == []
    if not cli.app.registered_commands:
        cli._register()
    told = CliRunner().invoke(cli.app, ["diff", "F99@2"])
    assert told.output.startswith("title: "), told.output
    assert CliRunner().invoke(cli.app, ["diff", "F99"]).output == told.output, "the last frozen one is F99@2"
    told = CliRunner().invoke(cli.app, ["diff", "F99@2", "F99@2"])
    assert told.output == "F99@2 and F99@2 mean the same\n"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("F99@3", r"no record of this revision is kept \(F99 is at 2\); kept: F99@1, F99@2"),
        ("F99@0", "no file, folder or task"),
        ("F99@", "no file, folder or task"),
        ("F98@1", "no file, folder or task"),
        ("F99@99999999", "no file, folder or task"),
    ],
)
def test_a_revision_that_there_is_not(home: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str) -> None:
    monkeypatch.chdir(home)
    with pytest.raises(UsageError, match=why):
        version(name)


def test_a_pack_that_was_never_frozen_has_no_revisions(home: Path) -> None:
    other = home / "finding" / "F98.yaml"
    other.write_text((home / "finding" / "F99.yaml").read_text("utf-8").replace("id: F99", "id: F98"), "utf-8")
    with pytest.raises(UsageError, match="F98 is not frozen: there is no revision to compare it with"):
        last(str(other))
    with pytest.raises(UsageError, match="F98 is not frozen: it has no revisions"):
        version(f"{other}@1")


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"pack": 1}', "CHANGED", "OTHER"])
def test_a_record_that_was_changed_is_told(home: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    monkeypatch.chdir(home)
    path = record_path(home, "F99", 1)
    text = path.read_text("utf-8")
    other = record_path(home, "F99", 2).read_text("utf-8")
    path.write_text({"CHANGED": text.replace("ticks", "tics"), "OTHER": other}.get(damage, damage), "utf-8")
    with pytest.raises(FreezeError, match=r"F99@1\.json: not the record that was frozen as F99@1: put it back"):
        version("F99@1")
    path.unlink()
    with pytest.raises(FreezeError, match=r"the record of F99@1 is gone: put it back"):
        version("F99@1")


def test_check_looks_at_the_records(home: Path) -> None:
    record_path(home, "F99", 1).unlink()
    found, _ = check_lock(home)
    assert any("the record of F99@1 is gone: put it back" in line for line in found)


def test_history_keeps_the_past_and_replaces_the_present() -> None:
    lock = load_lock(resources.root("taskpacks"))
    assert lock is not None
    locked = lock.packs["F10"]
    digest = locked.pack
    once = locked.model_copy(update={"history": history(None, 1, digest, {"a": 1}), "revision": 1})
    again = locked.model_copy(update={"history": history(once, 1, digest, {"a": 2})})
    assert [r.revision for r in again.history] == [1]
    assert again.history != once.history
    assert [r.revision for r in history(again, 2, digest, {"a": 3})] == [1, 2]
