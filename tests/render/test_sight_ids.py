"""Rays and pixels agree on what is plainly in view: what the collision world says the wearer sees, a renderer draws.

Measured over 324 frames of the six tasks, four of each command, in 19,832 pairs of a frame and a thing: nothing with
more than 633 pixels is missed by the rays, and nothing that they see has fewer than 10; since then a pen was seen in 4
and a key in 5. Before there was a raster of rays through the picture, 138 times a thing with more than 1,000 pixels was
missed (parts of beds, counters and fridges, the largest with 90,403); before `seen_area`, a key in the next room was
seen in 2 pixels. What is held is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from iwkit.compile import load_task
from iwkit.library import Library
from iwkit.resources import root
from iwkit_runtime.loop.frames import picked
from iwkit_runtime.physical.sight import Look
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import rests
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.recording import Recording, recordings
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer, look_from

PACKS = {path.stem: path for path in root("taskpacks").glob("*/*.yaml")}
PLAIN = 900
"""What has so many of 640 x 480 pixels, 0.29 % of them, is plainly in view: rays must see it, too."""
SPECK = 4
"""What rays see has so many pixels at least."""


def disagreements(looks: Mapping[str, Look], pixels: Mapping[str, int], held: str | None = None) -> list[str]:
    """On which things rays and pixels disagree, and how."""
    found = []
    for name, look in looks.items():
        count = pixels.get(name, 0)
        if name != held and ((count >= PLAIN and not look.visible) or (look.visible and count < SPECK)):
            found.append(f"{name}: {count} pixels, by rays {look.why} ({look.reached} of {look.rays})")
    return found


@pytest.fixture(scope="module", autouse=True)
def _drawing() -> None:
    try:
        Renderer(stage_of("A1").spec, size=(32, 24)).close()
    except NoOpenGL as error:
        pytest.skip(str(error))


def stage_of(name: str) -> Stage:
    world = PhysicalWorld()
    world.reset(load_task(PACKS[name], Library()))
    return world.stage


class Shot(NamedTuple):
    """A kept frame: what the camera saw, and what is held after the command."""

    where: str
    camera: np.ndarray
    poses: dict
    joints: dict
    held: str | None


def shots(recording: Recording, stage: Stage) -> Iterator[Shot]:
    """Every frame of an episode that is kept; the collision world is as it was then."""
    poses, joints, held = dict(recording.poses), dict(recording.joints), None
    for interval in recording.intervals:
        for happening in interval.happenings:
            if happening.kind in ("grabbed", "released"):
                held = str(happening.roles["object"]) if happening.kind == "grabbed" else None
        kept = dict(picked(rests(interval.frames)))
        for index, frame in enumerate(interval.frames):
            poses |= frame.poses
            joints |= frame.joints
            if index in kept:
                stage.collision.update(poses, joints)
                yield Shot(f"{interval.command} {index}", stage.person.camera(frame.body), poses, joints, held)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["A1", "D5", "F10", "G10", "P8", "W7"])
def test_at_every_stop_of_a_task(name: str, run_of: Callable[[str], Path]) -> None:
    (recording,) = recordings(run_of(name))
    stage, wrong, plain = stage_of(name), [], 0
    with Renderer(stage.spec) as renderer:
        for shot in shots(recording, stage):
            pixels = renderer.counts(shot.camera, shot.poses, shot.joints)
            looks = stage.sight.look(shot.camera)
            plain += sum(pixels.get(name, 0) >= PLAIN for name in looks)
            wrong += [f"{shot.where}: {text}" for text in disagreements(looks, pixels, shot.held)]
    assert plain > 50
    assert wrong == []


# --- the comparison bites ---------------------------------------------------------------------------------------------


class Counter:
    """A1's counter with the carton of juice, as one sees it who stands before it."""

    def __init__(self, stage: Stage, renderer: Renderer) -> None:
        self.stage, self.renderer = stage, renderer
        self.poses, self.joints = dict(stage.engine.poses()), stage.engine.joints()
        self.juice = np.array(self.poses["juice"][0])
        self.camera = look_from(self.juice + np.array([0.1, -1.0, 0.8]), self.juice)

    def compare(self) -> tuple[bool, int, list[str]]:
        """Whether rays see the juice, its pixels, and all disagreements."""
        looks = self.stage.sight.look(self.camera)
        pixels = self.renderer.counts(self.camera, self.poses, self.joints)
        return looks["juice"].visible, pixels.get("juice", 0), disagreements(looks, pixels)


@pytest.fixture
def counter() -> Iterator[Counter]:
    stage = stage_of("A1")
    with Renderer(stage.spec) as renderer:
        yield Counter(stage, renderer)


def hide(counter: Counter) -> None:
    """Put the microwave between the eyes and the juice."""
    x, y, z = (counter.juice + np.array([0.04, -0.4, 0.1])).tolist()
    counter.poses["microwave_1"] = ((x, y, z), counter.poses["microwave_1"][1])


def test_what_stands_free_is_seen_both_ways(counter: Counter) -> None:
    seen, pixels, wrong = counter.compare()
    assert seen
    assert pixels > PLAIN
    assert not wrong


def test_what_is_behind_something_is_seen_neither_way(counter: Counter) -> None:
    hide(counter)
    counter.stage.collision.update(counter.poses, counter.joints)
    seen, pixels, wrong = counter.compare()
    assert not seen
    assert pixels < PLAIN
    assert not wrong


def test_rays_that_ignore_what_hides_are_found_out(counter: Counter) -> None:
    hide(counter)
    seen, pixels, wrong = counter.compare()
    assert seen
    assert pixels < SPECK
    assert [text.split(":")[0] for text in wrong if text.startswith("juice")] == ["juice"]


def test_pixels_without_rays_are_found_out(counter: Counter) -> None:
    far = {name: ((x, y, z - 50.0), turn) for name, ((x, y, z), turn) in counter.poses.items() if name == "juice"}
    counter.stage.collision.update(far, {})
    seen, pixels, wrong = counter.compare()
    assert not seen
    assert pixels > PLAIN
    assert any(text.startswith("juice") for text in wrong)
