"""What is written on things can be read in the wearer's own view of them, by a program that knows nothing of the pack.

The picture is cropped to the label and straightened: from the label's place in the world and the camera's one knows
where its rectangle (or, on something round, its strip of a cylinder) lies in the picture. Nothing else is done to it.

The slow tests read the very files of a run folder, found by the digests in its ledger.
"""

from __future__ import annotations

import io
import math
import re
import shutil
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

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
from iwkit_runtime.render.renderer import FIELD_OF_VIEW, Renderer

LIBRARY = Library()
RECIPES = load_recipes()
BODY = load_body()
SIZE = (640, 480)
MARGIN = 1.04
"""A label is cropped with so much of what is around it."""
MAGNIFIED = 5
"""Pixels of the straightened picture for one of the frame: tesseract wants letters of 20 pixels and more."""
ROUND = {"soda_can", "water_bottle"}
STRIPS = 12
"""Flat strips that stand for a curved label."""


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


def columns(place: Frame, label: Label, camera: np.ndarray, size: tuple[int, int], *, curved: bool) -> np.ndarray:
    """Upper and lower ends (n, 2, 2) in the picture of lines down the label, from left to right; two of a flat one."""
    normal, centre = np.array(label.normal), np.array(label.centre)
    up = np.array([0.0, 1, 0]) if abs(normal[2]) > 0.7 else np.array([0.0, 0, 1])
    right, tall, wide = np.cross(up, normal), MARGIN * label.height, MARGIN * label.width
    if curved:
        radius = float(np.linalg.norm(centre[:2]))
        half = math.asin(min(1.0, wide / 2 / radius))
        angles = np.linspace(-half, half, STRIPS + 1)[:, None]
        middle = centre + radius * (np.sin(angles) * right + (np.cos(angles) - 1) * normal)
    else:
        middle = centre + np.array([[-0.5], [0.5]]) * wide * right
    ends = middle[:, None] + np.array([[0.5], [-0.5]]) * tall * up
    seen = (place.point(ends.reshape(-1, 3)) - camera[:3, 3]) @ camera[:3, :3]
    focal = size[1] / 2 / math.tan(math.radians(FIELD_OF_VIEW) / 2)
    points = np.array(size) / 2 + focal * seen[:, :2] / -seen[:, 2:] * [1, -1]
    return points.reshape(-1, 2, 2)


def straightened(picture: Image.Image, lines: np.ndarray, label: Label) -> Image.Image:
    """The label as one faces it, in grey, with a margin of its own background."""
    edges = np.linalg.norm(np.diff(lines.mean(1), axis=0), axis=1)
    width = round(MAGNIFIED * float(edges.sum()))
    height = max(24, round(width * label.height / label.width))
    cuts = np.linspace(0, width, len(lines)).round().astype(int)
    out = Image.new("L", (width, height))
    grey = picture.convert("L")
    for (left, right), ((a, d), (b, c)) in zip(pairwise(cuts.tolist()), pairwise(lines), strict=True):
        wide = right - left
        matrix = homography([(0, 0), (wide, 0), (wide, height), (0, height)], [a, b, c, d])
        strip = grey.transform((wide, height), Image.Transform.PERSPECTIVE, matrix, Image.Resampling.BICUBIC)
        out.paste(strip, (left, 0))
    background = round(float(np.percentile(np.asarray(out), 75)))
    framed = Image.new("L", (width + 40, height + 40), background)
    framed.paste(out, (20, 20))
    return framed


def homography(source: list, target: list) -> list[float]:
    """The eight numbers with which Pillow finds for a point of the one picture that of the other."""
    rows, values = [], []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return np.linalg.solve(np.array(rows, float), np.array(values)).tolist()


def ocr(image: Image.Image, psm: int = 6) -> str:
    """What tesseract reads."""
    file = io.BytesIO()
    image.save(file, "PNG")
    command = ["tesseract", "-", "-", "--psm", str(psm)]
    done = subprocess.run(command, input=file.getvalue(), capture_output=True, check=True)
    return done.stdout.decode()


def words(text: str) -> list[str]:
    """The words and sums of money in a text; tesseract may see other signs in rules and arrows."""
    return re.findall(r"[A-Z]+|\$?\d+", text.upper())


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
    """An episode that `iwkit run` has played, and its pictures."""

    def __init__(self, pack: Path, folder: Path, assistant: str) -> None:
        options = ["--world", "physical", "--draft", "--assistant", assistant, "--out", str(folder)]
        done = subprocess.run(
            [sys.executable, "-m", "iwkit.cli.main", "run", str(pack), *options], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
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
def played(tmp_path_factory: pytest.TempPathFactory):
    @cache
    def play(pack: str, assistant: str) -> Episode:
        return Episode(root("taskpacks") / pack, tmp_path_factory.mktemp("run") / "out", assistant)

    return play


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
def test_the_ledgers_frames_read_as_the_pack_has_it(played, pack, assistant, command, kind, names) -> None:
    episode = played(pack, assistant)
    for name in names:
        assert episode.read(command, kind, name) == words(episode.recording.task.things[name].label), name


@pytest.mark.slow
def test_every_room_of_the_plan_is_read_from_the_ledger(played) -> None:
    episode = played("planning/P8.yaml", "silent")
    read = episode.read("[LookAt] <house_map>", "look_hold", "house_map", psm=11)
    assert sorted(read) == sorted(words(episode.recording.task.things["house_map"].label))


@pytest.mark.slow
def test_another_sum_in_the_pack_is_another_sum_in_the_ledger(tmp_path: Path) -> None:
    text = (root("taskpacks") / D5).read_text()
    changed = tmp_path / "D5.yaml"
    changed.write_text(text.replace("TOTAL $41", "TOTAL $45"))
    episode = Episode(changed, tmp_path / "out", "oracle")
    assert episode.read("[Walk] <copy_table>", "result", "invoice_41") == ["INVOICE", "TOTAL", "$45"]
