"""What is written on things can be read in the wearer's own view of them, by a program that knows nothing of the pack.

The picture is cropped to the label and straightened: from the label's place in the world and the camera's one knows
where its rectangle (or, on something round, its strip of a cylinder) lies in the picture. Nothing else is done to it.

The slow tests read the very files of a run folder, found by the digests in its ledger.
"""

from __future__ import annotations

import importlib.util
import io
import math
import shutil
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from iwkit.compile import load_task
from iwkit.floorplan import stance
from iwkit.library import Library
from iwkit.recipes import load_recipes
from iwkit.resources import root
from iwkit.world.layout import Layout
from iwkit_runtime.body.camera import camera_frame, look_at
from iwkit_runtime.body.model import load_body
from iwkit_runtime.body.posture import Posture, stand
from iwkit_runtime.engines.mujoco_engine import MujocoEngine
from iwkit_runtime.loop.frames import FrameRef
from iwkit_runtime.physical.kinematics import Frame, frame, link_frames
from iwkit_runtime.physical.layout import Assets, build_scene
from iwkit_runtime.physical.spec import Label
from iwkit_runtime.recording import Recording, recordings
from iwkit_runtime.render.images import digest
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer
from iwkit_runtime.runs import Config, run
from iwkit_runtime.sources import Source

LIBRARY = Library()
RECIPES = load_recipes()
BODY = load_body()


def _reading() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reading", Path(__file__).with_name("reading.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reading = _reading()
columns, straightened, ocr, words = reading.columns, reading.straightened, reading.ocr, reading.words
SIZE = (640, 480)
ROUND = {"soda_can", "water_bottle"}


class Desk:
    """A task at reset, and its wearer at the stance before a thing."""

    def __init__(self, path: Path) -> None:
        self.task = load_task(path, LIBRARY)
        self.spec = build_scene(self.task, Assets(LIBRARY.catalogue, RECIPES))
        self.placed = {placed.name: placed for placed in self.spec.placed}

        self.engine = MujocoEngine()
        self.engine.load(self.spec)
        self.engine.settle()

    def label(self, name: str) -> tuple[Frame, Label]:
        """The frame of the link that carries a thing's first label, and the label."""
        asset = self.placed[name].asset
        label = asset.labels[0]
        return link_frames(asset, frame(self.engine.poses()[name]), {})[label.link], label

    def look(self, name: str, posture: Posture) -> tuple[np.ndarray, np.ndarray]:
        """The camera and the vertices of someone who stands before the fixture and looks at the label."""
        x, y, _ = stance(Layout(self.task).fixtures[self.task.things[name].at or ""])
        place, label = self.label(name)
        point = place.point(label.centre)
        body = BODY.placed(stand(BODY, posture), x, y, math.atan2(point[1] - y, point[0] - x))
        joints = BODY.forward(*look_at(BODY, body, point).body)
        return camera_frame(BODY, joints), BODY.skin(joints)

    def crop(self, name: str, posture: Posture, size: tuple[int, int] = SIZE) -> Image.Image:
        """The frame, cropped to the label and straightened."""
        camera, skin = self.look(name, posture)
        with Renderer(self.spec, BODY, size=size) as renderer:
            picture = Image.fromarray(renderer.frame(camera, self.engine.poses(), self.engine.joints(), skin))
        place, label = self.label(name)
        curved = self.task.things[name].category in ROUND
        return straightened(picture, columns(place, label, camera, size, curved=curved), label)


@cache
def desk(pack: str) -> Desk:
    return Desk(root("taskpacks") / pack)


UPRIGHT, LEANING, BOWED = (Posture(math.radians(lean), crouch) for lean, crouch in ((0, 0), (30, 0), (50, 0.08)))
A1, D5, F10 = "accessibility/A1.yaml", "decision/D5.yaml", "finding/F10.yaml"


@pytest.fixture(scope="module", autouse=True)
def _tools() -> None:
    if not shutil.which("tesseract"):
        pytest.skip("reading labels needs tesseract: apt-get install tesseract-ocr")
    try:
        Renderer(desk(A1).spec, size=(32, 24)).close()
    except NoOpenGL as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("pack", "name", "posture"),
    [
        (D5, "price_sheet", UPRIGHT),
        (D5, "invoice_39", UPRIGHT),
        (D5, "invoice_41", UPRIGHT),
        (D5, "invoice_45", UPRIGHT),
        (D5, "apple_3", UPRIGHT),
        (D5, "oat_2", UPRIGHT),
        (D5, "cocoa_1", UPRIGHT),
        (A1, "juice", UPRIGHT),
        (A1, "juice", LEANING),
        (A1, "soda", UPRIGHT),
        (A1, "soda", LEANING),
        (A1, "water", LEANING),
        (F10, "bandages", UPRIGHT),
        (F10, "bandages", LEANING),
        ("guidance/G10.yaml", "reset_map", BOWED),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{math.degrees(value.lean):.0f} degrees",
)
def test_a_label_reads_as_the_pack_has_it(pack: str, name: str, posture: Posture) -> None:
    expected = desk(pack).task.things[name].label
    assert words(ocr(desk(pack).crop(name, posture))) == words(expected)


def test_every_room_of_the_plan_is_read() -> None:
    there = desk("planning/P8.yaml")
    read = words(ocr(there.crop("house_map", BOWED), psm=11))  # 11: words anywhere
    assert sorted(read) == sorted(words(there.task.things["house_map"].label))


def test_another_sum_in_the_pack_reads_as_another_sum(tmp_path: Path) -> None:
    text = (root("taskpacks") / D5).read_text()
    assert text.count("TOTAL $41") == 1
    changed = tmp_path / "D5.yaml"
    changed.write_text(text.replace("TOTAL $41", "TOTAL $45"))
    before, after = (words(ocr(there.crop("invoice_41", UPRIGHT))) for there in (desk(D5), Desk(changed)))
    assert before == ["INVOICE", "TOTAL", "$41"]
    assert after == ["INVOICE", "TOTAL", "$45"]


# --- from the ledger --------------------------------------------------------------------------------------------------


class Episode:
    """An episode as its run folder has it, and its pictures."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.recording: Recording = next(iter(recordings(folder)))
        self.placed = {placed.name: placed for placed in self.recording.spec.placed}

    def read(self, command: str, kind: str, name: str, psm: int = 6) -> list[str]:
        """The words on a label in the picture of that kind that was taken during a command."""
        step = next(r for r in self.recording.records if r["kind"] == "step" and r["command"] == command)
        refs = [FrameRef(d, *p) for d, p in zip(step["frames"], step["picked"], strict=True)]
        ref = next(ref for ref in refs if ref.kind == kind)
        file = (self.folder / "frames" / f"{ref.digest}.png").read_bytes()
        assert digest(file) == ref.digest
        camera, poses = self.lens(step["n"], ref.index)
        asset = self.placed[name].asset
        label = asset.labels[0]
        place = link_frames(asset, frame(poses[name]), {})[label.link]
        curved = self.recording.task.things[name].category in ROUND
        lines = columns(place, label, camera, SIZE, curved=curved)
        return words(ocr(straightened(Image.open(io.BytesIO(file)), lines, label), psm))

    def lens(self, step: int, index: int) -> tuple[np.ndarray, dict]:
        """The head camera in a frame of a command, and where everything was then."""
        poses = dict(self.recording.poses)
        for interval in self.recording.intervals:
            shown = interval.frames[: index + 1] if interval.step == step else interval.frames
            for then in shown:
                poses |= then.poses
            if interval.step == step:
                return camera_frame(BODY, BODY.forward(*shown[-1].body)), poses
        raise AssertionError(step)


@pytest.fixture(scope="module")
def read_episode(run_of):
    return cache(lambda pack, assistant: Episode(run_of(Path(pack).stem, assistant)))


LOOKED = [
    (A1, "silent", "[LookAt] <counter>", "look_hold", ["juice", "soda", "water"]),
    (D5, "oracle", "[LookAt] <left_shelf>", "look_hold", ["apple_3"]),
    (D5, "oracle", "[LookAt] <middle_shelf>", "look_hold", ["oat_2"]),
    (D5, "oracle", "[LookAt] <right_shelf>", "look_hold", ["cocoa_1"]),
    (D5, "oracle", "[LookAt] <price_sheet>", "look_hold", ["price_sheet"]),
    (D5, "oracle", "[Walk] <copy_table>", "result", ["invoice_39", "invoice_41", "invoice_45"]),
    ("guidance/G10.yaml", "silent", "[LookAt] <reset_map>", "look_hold", ["reset_map"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("pack", "assistant", "command", "kind", "names"), LOOKED)
def test_the_ledgers_frames_read_as_the_pack_has_it(read_episode, pack, assistant, command, kind, names) -> None:
    episode = read_episode(pack, assistant)
    for name in names:
        assert episode.read(command, kind, name) == words(episode.recording.task.things[name].label), name


@pytest.mark.slow
def test_every_room_of_the_plan_is_read_from_the_ledger(read_episode) -> None:
    episode = read_episode("planning/P8.yaml", "silent")
    read = episode.read("[LookAt] <house_map>", "look_hold", "house_map", psm=11)
    assert sorted(read) == sorted(words(episode.recording.task.things["house_map"].label))


@pytest.mark.slow
def test_another_sum_in_the_pack_is_another_sum_in_the_ledger(tmp_path: Path) -> None:
    text = (root("taskpacks") / D5).read_text()
    changed = tmp_path / "D5.yaml"
    changed.write_text(text.replace("TOTAL $41", "TOTAL $45"))
    task = load_task(changed)
    config = Config("oracle", "rules", "physical", draft=True, pictures=True)
    run([Source(task, changed, task.digest, "draft")], config, tmp_path / "out", lambda *_: None)
    assert Episode(tmp_path / "out").read("[Walk] <copy_table>", "result", "invoice_41") == ["INVOICE", "TOTAL", "$45"]
