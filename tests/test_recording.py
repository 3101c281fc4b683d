"""Trajectories are kept with or without pictures, come back as they were, and what was changed since is refused."""

from __future__ import annotations

import copy
import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iwkit import resources
from iwkit.compile import load_task
from iwkit.errors import IwkitError, LedgerError, UsageError
from iwkit.ledger import comparable, read_records
from iwkit.library import Library
from iwkit.recipes import load_recipes
from iwkit.runfolder import attempt_path
from iwkit_runtime import recording as recordings_module
from iwkit_runtime import runs
from iwkit_runtime.body.pose import POSE_SIZE, BodyPose
from iwkit_runtime.physical.trajectory import Frame, Stand, Start, Trajectory
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.recording import Recording, recording, recordings
from iwkit_runtime.runs import Config
from iwkit_runtime.sources import Source
from iwkit_runtime.trajectories import file_of, keep, load

JOURNAL = attempt_path(Path(), "A1-s0", 1)


def play(folder: Path, world: str = "physical") -> None:
    (path,) = resources.root("taskpacks").glob("*/A1.yaml")
    task = load_task(path)
    config = Config("oracle", "rules", world, draft=True, pictures=False)
    runs.run([Source(task, path, task.digest, "draft")], config, folder, lambda _task, _end: None)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, PhysicalWorld]:
    """A run of the physical world without pictures, and the world as it was left."""
    folder = tmp_path_factory.mktemp("run")
    world = PhysicalWorld()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(runs.WORLDS, "physical", lambda _solver: world)
        play(folder)
    return folder, world


@pytest.fixture
def folder(played: tuple[Path, PhysicalWorld], tmp_path: Path) -> Path:
    """A copy of the run to be changed."""
    return Path(shutil.copytree(played[0], tmp_path / "run"))


@pytest.fixture(scope="module")
def whole(played: tuple[Path, PhysicalWorld]) -> Recording:
    (found,) = recordings(played[0])
    return found


def records(folder: Path) -> list[dict[str, Any]]:
    return read_records(folder / JOURNAL)[0]


def rewrite(folder: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    found = records(folder)
    change(found)
    (folder / JOURNAL).write_text("".join(json.dumps(record) + "\n" for record in found), "utf-8")


# --- what is kept -------------------------------------------------------------------------------------------------


def test_every_command_has_its_interval(played: tuple[Path, PhysicalWorld], whole: Recording) -> None:
    steps = [record for record in records(played[0]) if record["kind"] == "step"]
    assert [i.step for i in whole.intervals] == [record["n"] for record in steps]
    assert [i.command for i in whole.intervals] == [record["command"] for record in steps]
    assert all(len(i.frames) == i.stated for i in whole.intervals)
    assert sum(i.stated for i in whole.intervals) > 100
    assert [h.kind for i in whole.intervals for h in i.happenings] == [e["kind"] for r in steps for e in r["events"]]
    assert whole.notes == ()
    assert not (played[0] / "frames").exists()


def test_the_start_and_all_changes_lead_to_the_world_at_the_end(
    played: tuple[Path, PhysicalWorld], whole: Recording
) -> None:
    poses, joints = dict(whole.poses), dict(whole.joints)
    for interval in whole.intervals:
        for frame in interval.frames:
            assert frame.poses.keys() <= poses.keys()
            poses |= frame.poses
            joints |= frame.joints
    stage = played[1].stage
    last = whole.intervals[-1].frames[-1]
    assert poses.keys() == {placed.name for placed in whole.spec.placed}
    moved = [name for name, pose in poses.items() if pose != whole.poses[name]]
    assert moved, "the oracle's juice is elsewhere now"
    for name, (at, turn) in stage.engine.poses().items():
        assert np.allclose(poses[name][0], at, atol=1e-4), name
        assert np.allclose(poses[name][1], turn, atol=1e-4), name
    assert joints == pytest.approx(stage.engine.joints(), abs=1e-4)
    assert last.stand == pytest.approx(stage.wearer.stand, abs=1e-4)


def test_the_body_begins_where_the_wearer_stands(whole: Recording) -> None:
    assert whole.body.pose.shape == (POSE_SIZE,)
    first = next(i for i in whole.intervals if i.frames).frames[0]
    assert np.linalg.norm(first.body.translation - whole.body.translation) < 0.1
    assert whole.stand == pytest.approx(first.stand, abs=0.2)


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_with_the_same_trajectories(folder: Path) -> None:
    before = records(folder)
    lines = (folder / JOURNAL).read_bytes().splitlines(keepends=True)
    (folder / JOURNAL).write_bytes(b"".join(lines[:6]))
    play(folder)
    after = [record for record in records(folder) if record["kind"] != "resumed"]
    assert [comparable(record) for record in after] == [comparable(record) for record in before]
    assert next(recordings(folder)).intervals[0].frames


# --- what is refused ----------------------------------------------------------------------------------------------


def damaged(name: str, path: Path) -> None:
    data = path.read_bytes()
    if name == "missing":
        path.unlink()
    elif name == "torn":
        path.write_bytes(data[: len(data) // 2])
    elif name == "not gzip":
        path.write_bytes(b"{}")
    elif name == "one bit":
        path.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    else:
        path.write_bytes(gzip.compress(gzip.decompress(data).replace(b"1", b"2", 1)))


@pytest.mark.parametrize("which", ["start", "trajectory"])
@pytest.mark.parametrize("name", ["missing", "torn", "not gzip", "one bit", "changed"])
def test_a_damaged_file_is_named(folder: Path, which: str, name: str) -> None:
    path = file_of(folder, next(record[which] for record in records(folder) if which in record))
    damaged(name, path)
    with pytest.raises(LedgerError, match=rf"{path.name}: this trajectory") as error:
        list(recordings(folder))
    assert "run the task again" in str(error.value)


@pytest.mark.parametrize("value", [None, [], 3, {"scene": "x", "frame": {}}, [{"pose": [0]}], [1], "text"])
@pytest.mark.parametrize("which", ["start", "trajectory"])
def test_a_file_that_is_something_else_is_named(folder: Path, which: str, value: object) -> None:
    digest = keep(folder, value)

    def change(found: list[dict[str, Any]]) -> None:
        next(record for record in found if which in record)[which] = digest

    rewrite(folder, change)
    if which == "trajectory" and value == []:
        assert next(recordings(folder)).intervals[0].frames == (), "an audit compares this with the receipt"
        return
    with pytest.raises(LedgerError, match=digest):
        list(recordings(folder))


@pytest.mark.parametrize("digest", ["../../plan", "", None, 7, "f" * 63, "F" * 64])
def test_a_record_that_names_no_digest_is_refused(folder: Path, digest: object) -> None:
    with pytest.raises(LedgerError, match="names no trajectory"):
        load(folder, digest)


def test_a_symbolic_run_has_no_trajectory(tmp_path: Path) -> None:
    play(tmp_path, "symbolic")
    with pytest.raises(LedgerError, match="no trajectory: the symbolic world has no body"):
        list(recordings(tmp_path))


def test_a_run_without_its_start_or_a_trajectory_is_refused(folder: Path) -> None:
    def no_trajectory(found: list[dict[str, Any]]) -> None:
        del next(record for record in found if "trajectory" in record)["trajectory"]

    def no_start(found: list[dict[str, Any]]) -> None:
        del next(record for record in found if "start" in record)["start"]

    rewrite(folder, no_trajectory)
    with pytest.raises(LedgerError, match="no trajectory of record 3"):
        list(recordings(folder))
    rewrite(folder, no_start)
    with pytest.raises(LedgerError, match="no trajectory: an older version"):
        list(recordings(folder))
    rewrite(folder, lambda found: found.__delitem__(slice(1, None)))
    with pytest.raises(LedgerError, match="no trajectory: the episode stopped before it began"):
        list(recordings(folder))


def test_another_pack_is_refused(folder: Path) -> None:
    pack = folder / "packs" / "A1.yaml"
    text = pack.read_text("utf-8")
    pack.write_text(text.replace("title: ", "title: Another, ", 1), "utf-8")
    with pytest.raises(LedgerError, match="its digest is another"):
        list(recordings(folder))
    pack.write_text(text.replace("scene: ", "scene: no_", 1), "utf-8")
    with pytest.raises(LedgerError, match="can't be compiled here"):
        list(recordings(folder))
    pack.unlink()
    with pytest.raises(LedgerError, match="pack of this recording is missing"):
        list(recordings(folder))


def test_other_furniture_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, whole: Recording) -> None:
    recipes = load_recipes()
    used = {thing.category for thing in whole.task.things.values()}
    name = next(name for name in sorted(recipes) if name in used)
    less = {k: v for k, v in recipes.items() if k != name}
    monkeypatch.setattr(Library, "recipes", property(lambda _: less))
    with pytest.raises(LedgerError, match="recorded with other data of the scene"):
        list(recordings(folder))


def test_other_things_in_the_scene_are_refused(folder: Path) -> None:
    digest = next(record["start"] for record in records(folder) if "start" in record)
    value = load(folder, digest)
    value["frame"]["poses"]["ghost"] = value["frame"]["poses"].pop("juice")
    changed = keep(folder, value)
    rewrite(folder, lambda found: next(record for record in found if "start" in record).update(start=changed))
    with pytest.raises(LedgerError, match="ghost, juice"):
        list(recordings(folder))


def test_other_code_is_noted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings_module, "runtime_digest", lambda: "sha256:other")
    (found,) = recordings(folder)
    assert [note for note in found.notes if "other code" in note]


def test_episodes_are_chosen_by_name(folder: Path) -> None:
    assert [r.cell for r in recordings(folder, ["A1", "A1-s0"])] == ["A1-s0"]
    with pytest.raises(LedgerError, match="no episode 'F10'"):
        list(recordings(folder, ["F10"]))
    (folder / JOURNAL).unlink()
    with pytest.raises(LedgerError, match="Not begun"):
        recording(folder, "A1-s0")
    with pytest.raises(LedgerError, match="holds no run"):
        list(recordings(folder / "packs"))


# --- frames as data -----------------------------------------------------------------------------------------------

NUMBERS = st.floats(-50, 50)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
QUATERNIONS = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
FRAMES = st.builds(
    Frame,
    st.builds(
        BodyPose,
        st.lists(NUMBERS, min_size=POSE_SIZE, max_size=POSE_SIZE).map(np.array),
        VECTORS.map(np.array),
    ),
    st.builds(Stand, NUMBERS, NUMBERS, NUMBERS),
    st.none() | VECTORS,
    st.dictionaries(st.text(max_size=5), st.tuples(VECTORS, QUATERNIONS), max_size=3),
    st.dictionaries(st.tuples(st.text(max_size=5), st.text(max_size=5)), NUMBERS, max_size=3),
)


@settings(max_examples=30, deadline=None)
@given(FRAMES)
def test_a_frame_comes_back_as_it_was_kept(frame: Frame) -> None:
    data = json.loads(json.dumps(frame.to_json()))
    again = Frame.of_json(data)
    assert again.to_json() == data
    assert again.poses.keys() == frame.poses.keys()
    assert np.abs(again.body.pose - frame.body.pose).max() <= 0.5001e-4
    assert Start.of_json(Start("x", again).to_json()).to_json() == Start("x", frame).to_json()
    assert Trajectory.of_json(Trajectory((frame, frame)).to_json()).to_json() == [data, data]


GOOD = Frame(BodyPose(np.zeros(POSE_SIZE), np.zeros(3)), Stand(0, 0, 0), None, {"cup": ((0, 0, 0), (1, 0, 0, 0))}, {})
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([float("nan"), float("inf"), 10**400, "text"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(GOOD.to_json())), JUNK)
def test_a_frame_with_junk_in_it_is_refused_clearly(field: str, junk: object) -> None:
    data = copy.deepcopy(GOOD.to_json()) | {field: junk}
    try:
        read = Frame.of_json(data)
    except UsageError as error:
        assert "no frame of a trajectory" in str(error)
    else:
        json.dumps(read.to_json(), allow_nan=False)


def test_equal_values_are_one_file(tmp_path: Path) -> None:
    assert keep(tmp_path, [1.5]) == keep(tmp_path, [1.5])
    assert keep(tmp_path, [1.25]) != keep(tmp_path, [1.5])
    assert len(list((tmp_path / "trajectories").iterdir())) == 2
    assert load(tmp_path, keep(tmp_path, {"a": [1.5]})) == {"a": [1.5]}
    (tmp_path / "file").write_text("")
    with pytest.raises(IwkitError, match="cannot be written"):
        keep(tmp_path / "file", [1])
