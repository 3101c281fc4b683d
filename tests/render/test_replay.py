"""The film of an episode: what the wearer saw to the pixel, the wearer always in view from outside, files that play."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from iwkit.cli import main
from iwkit.errors import IwkitError, UsageError
from iwkit.runfolder import attempt_path
from iwkit_runtime.physical.spec import Pixels
from iwkit_runtime.physical.wearer import default_body
from iwkit_runtime.recording import Recording, recordings
from iwkit_runtime.render import opengl
from iwkit_runtime.render.captions import strip
from iwkit_runtime.render.film import Plan, film_size, pictures, write_film
from iwkit_runtime.render.follow import FIELD_OF_VIEW, follow, opened
from iwkit_runtime.render.renderer import SIZE, Renderer
from iwkit_runtime.render.telling import Caption, moments
from iwkit_runtime.render.video import write_video
from iwkit_runtime.runs import no_pictures

SMALL = Plan("both", (96, 72))


@pytest.fixture(scope="module")
def draws() -> None:
    if why := no_pictures("oracle", "physical"):
        pytest.skip(why)


@pytest.fixture(scope="module")
def folder(draws: None, run_of: Callable[[str], Path]) -> Path:
    """A run of one task with pictures."""
    return run_of("A1")


@pytest.fixture(scope="module")
def whole(folder: Path) -> Recording:
    (found,) = recordings(folder)
    return found


@pytest.fixture(scope="module")
def short(whole: Recording) -> Recording:
    """The beginning of its first command, and what is said until the handoff."""
    handoff = next(record["n"] for record in whole.records if record["kind"] == "handoff")
    kept = (replace(whole.intervals[0], frames=whole.intervals[0].frames[:15]),)
    told = [r for r in whole.records if r["n"] <= handoff + 1 and (r["kind"] != "step" or r["n"] == kept[0].step)]
    return replace(whole, intervals=kept, records=tuple(told))


# --- what is shown ------------------------------------------------------------------------------------------------


def test_the_view_from_the_head_is_what_was_shown_to_the_pixel(folder: Path, whole: Recording) -> None:
    told = list(moments(whole, holds=False))
    assert len(told) == sum(interval.stated for interval in whole.intervals)
    kept: dict[int, str] = {}
    first = 0
    for record in whole.records:
        if record["kind"] == "step":
            kept |= {first + index: d for (index, _), d in zip(record["picked"], record["frames"], strict=True)}
            first += record["receipt"]["frames"]
    assert len(told) - 1 in kept, "the result frame of the last command"
    drawn = pictures(whole, [told[number] for number in kept], Plan("head", SIZE))
    for picture, digest in zip(drawn, kept.values(), strict=True):
        stored = np.asarray(Image.open(folder / "frames" / f"{digest}.png"))
        assert np.array_equal(picture, stored), digest


def test_without_holds_a_film_is_the_trajectory_and_with_them_all_can_be_read(whole: Recording) -> None:
    told = list(moments(whole))
    assert sum(moment.moving for moment in told) == sum(interval.stated for interval in whole.intervals)
    texts = [record["text"] for record in whole.records if record["kind"] == "speech"]
    assert texts
    for text in texts:
        shown = sum(m.count for m in told if text in [said for _, said in m.caption.said])
        assert shown >= 12 + 0.3 * len(text), text
    assert told[-1].caption.note.endswith("passed.")
    doing = {moment.caption.doing.split("  ")[0] for moment in told}
    assert doing >= {interval.command for interval in whole.intervals}


def seen(recording: Recording) -> Iterator[tuple[int, int, int]]:
    """Of every sixth moment the wearer's pixels as drawn from outside, without walls, and without anything else."""
    told, body, spec = list(moments(recording, holds=False)), default_body(), opened(recording.spec)
    shots = follow(recording.task.scene, recording.spec, body, told)
    walls = frozenset(static.name for static in spec.statics if static.layer == "wall")
    everything = walls | {static.name for static in spec.statics} | {placed.name for placed in spec.placed}
    with Renderer(spec, body, size=(96, 72), fov=FIELD_OF_VIEW, samples=0) as renderer:
        for moment, shot in list(zip(told, shots, strict=True))[::6]:
            wearer = body.skin(body.forward(*moment.body))
            drawn, no_walls, alone = (
                renderer.counts(
                    shot.camera, moment.poses, moment.joints, wearer, from_head=False, hidden=shot.hidden | more
                ).get("wearer", 0)
                for more in (frozenset[str](), walls, everything)
            )
            yield drawn, no_walls, alone


def check_in_view(recording: Recording) -> None:
    found = np.array(list(seen(recording)))
    drawn, no_walls, alone = found.T
    assert (alone > 0.015 * 96 * 72).all(), "the wearer is large enough"
    assert ((no_walls - drawn) <= 0.06 * alone).all(), "no wall hides the wearer"
    hidden = drawn < 0.4 * alone
    assert hidden.mean() < 0.05, "nor does anything else hide most of it, but for a moment as one passes furniture"
    assert (drawn >= 0.9 * alone).mean() > 0.5


def test_from_outside_the_wearer_is_always_in_view(whole: Recording) -> None:
    check_in_view(whole)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", ["D5", "P8"])
def test_in_every_room_and_doorway(task_id: str, draws: None, run_of: Callable[[str], Path]) -> None:
    (found,) = recordings(run_of(task_id))
    check_in_view(found)


def test_the_camera_stands_still_while_nothing_moves_and_never_jumps(whole: Recording) -> None:
    told = list(moments(whole))
    shots = follow(whole.task.scene, whole.spec, default_body(), told)
    eyes = np.array([shot.camera[:3, 3] for shot in shots])
    ahead = np.array([-shot.camera[:3, 2] for shot in shots])
    steps, turns = np.linalg.norm(np.diff(eyes, axis=0), axis=1), np.diff(ahead, axis=0)
    for number, moment in enumerate(told[1:]):
        if not moment.moving:
            assert steps[number] == 0
    assert steps.max() < 0.5
    assert np.degrees(np.linalg.norm(turns, axis=1)).max() < 15


def test_the_strip_shows_what_it_is_given() -> None:
    size = (480, 92)
    plain = strip(Caption((("wearer", "Hello."),), "[Walk] <desk>"), *size)
    assert plain.shape == (92, 480, 3)
    assert (plain != strip(Caption((("assistant", "Hello."),), "[Walk] <desk>"), *size)).any()
    assert (plain != strip(Caption((("wearer", "Hello."),), "[Walk] <desk>", "Refused: No."), *size)).any()
    endless = strip(Caption((("wearer", "word " * 400), ("assistant", "x" * 4000)), "[Say] " * 90, "y" * 999), *size)
    assert endless.shape == plain.shape
    # Text on the left stays left of what is done, and in the strip.
    alone = strip(Caption((("wearer", "x" * 4000),)), *size)
    assert (alone[:, 300:] == alone[0, 0]).all()
    assert (strip(Caption(), *size) == alone[0, 0]).all()


# --- files --------------------------------------------------------------------------------------------------------


def test_the_film_is_an_mp4_that_browsers_play(short: Recording, tmp_path: Path) -> None:
    file = tmp_path / "deep" / "film.mp4"
    told: list[tuple[int, int]] = []
    drawn = write_film(short, file, SMALL, lambda made, total: told.append((made, total)))
    reader = imageio_ffmpeg.read_frames(str(file))
    meta = next(reader)
    total = sum(moment.count for moment in moments(short))
    assert drawn == len(list(moments(short))) < total, "what stands still is drawn once"
    assert told[-1] == (total, total)
    assert meta["size"] == film_size(SMALL) == (192, 120)
    assert (meta["codec"], meta["fps"]) == ("h264", 12)
    assert meta["pix_fmt"].startswith("yuv420p")
    assert len(list(reader)) == total
    data = file.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat"), "it plays while it is still loading"
    assert [path.name for path in file.parent.iterdir()] == ["film.mp4"]


@pytest.mark.parametrize("view", ["head", pytest.param("outside", marks=pytest.mark.slow)])
def test_the_film_is_a_webp_of_the_same_pictures(short: Recording, tmp_path: Path, view: str) -> None:
    file, plan = tmp_path / "film.webp", Plan(view, (96, 72), fps=24)
    drawn = write_film(short, file, plan, lambda _made, _total: None)
    told = list(moments(short, holds=False))
    assert drawn == len(told)
    expected = list(pictures(short, told, plan))
    with Image.open(file) as film:
        assert film.size == (96, 72)
        lasting = 0.0
        for number in range(film.n_frames):  # pictures that are the same are one that lasts longer
            film.seek(number)
            film.load()
            last = round(lasting * 24 / 1000)
            lasting += film.info["duration"]
            assert np.abs(np.asarray(film.convert("RGB"), float) - expected[last]).mean() < 6
        assert lasting == pytest.approx(drawn * 1000 / 24, abs=5)


def test_no_more_than_one_frame_is_held(tmp_path: Path) -> None:
    alive: list[int] = []

    class Counted(np.ndarray):
        def __del__(self) -> None:
            alive.pop()

    def frames() -> Iterator[Pixels]:
        for number in range(40):
            frame = np.full((64, 64, 3), number * 6, np.uint8).view(Counted)
            alive.append(number)
            assert len(alive) < 6
            yield frame

    for name in ("film.mp4", "film.webp"):
        write_video(tmp_path / name, frames(), 40, 12)


# --- what is refused ----------------------------------------------------------------------------------------------


def cli(*words: str | Path) -> Result:
    main._register()
    found = CliRunner().invoke(main.app, list(map(str, words)))
    assert found.exception is None or isinstance(found.exception, SystemExit | IwkitError), found.exception
    return found


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--size", "95x72"], "even numbers"),
        (["--size", "big"], "such as 640x480"),
        (["--size", "0x0"], "even numbers"),
        (["--size", "9000x64"], "even numbers"),
        (["--view", "above"], "use head, outside, both"),
        (["--fps", "0"], "give 1 to 120"),
        (["--fps", "nan"], "give 1 to 120"),
        (["--out", "film.avi"], "ends in .mp4 or .webp"),
        (["Z9"], "no episode 'Z9'"),
    ],
)
def test_what_can_not_be_made_is_refused(folder: Path, words: list[str], why: str) -> None:
    found = cli("replay", folder, *words)
    assert isinstance(found.exception, IwkitError)
    assert why in str(found.exception)
    assert not (folder / "films").exists() or not list((folder / "films").iterdir())


def test_files_that_can_not_be_written_are_refused(short: Recording, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.mp4").mkdir()
    for path in (tmp_path / "file" / "film.mp4", tmp_path / "folder.mp4"):
        with pytest.raises(UsageError, match=r"film\.mp4|folder\.mp4"):
            write_film(short, path, SMALL, lambda _made, _total: None)


def test_a_film_that_breaks_off_leaves_no_file(tmp_path: Path) -> None:
    def frames() -> Iterator[Pixels]:
        yield np.zeros((64, 64, 3), np.uint8)
        raise UsageError("no more")

    for name in ("film.mp4", "film.webp"):
        with pytest.raises(UsageError, match="no more"):
            write_video(tmp_path / name, frames(), 9, 12)
    assert list(tmp_path.iterdir()) == []


def test_without_opengl_the_packages_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(opengl.sys, "platform", "linux")
    monkeypatch.setattr(opengl, "EGL", "mujoco.no_such_backend")
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    found = cli("replay", folder, "A1", "--out", tmp_path / "film.mp4")
    assert "libegl1" in str(found.exception)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_into_the_run_also_of_one_that_is_not_finished(folder: Path, tmp_path: Path) -> None:
    begun = Path(shutil.copytree(folder, tmp_path / "run"))
    journal = attempt_path(begun, "A1-s0", 1)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:4]))
    found = cli("replay", begun, "A1", "--view", "head", "--size", "64x64")
    assert found.exit_code == 0, found.output
    assert (begun / "films" / "A1-s0.mp4").stat().st_size > 1000
    assert "41 pictures drawn" in found.output
