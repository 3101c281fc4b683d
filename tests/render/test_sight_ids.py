"""Rays and pixels agree on what is plainly in view: what the collision world says the wearer sees, a renderer draws.

Measured over 324 frames of the six tasks, four of each command, in 19,832 pairs of a frame and a thing: nothing with
more than 633 pixels is missed by the rays, and nothing that they see has fewer than 10. Before there was a raster of
rays through the picture, 138 times a thing with more than 1,000 pixels was missed (parts of beds, counters and fridges,
the largest with 90,403); before `seen_area`, a key in the next room was seen in 2 pixels. What is held is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from iwkit.compile import load_task
from iwkit.grammar import Command, parse, render
from iwkit.library import Library
from iwkit.resources import root
from iwkit_runtime.loop.frames import picked
from iwkit_runtime.physical.sight import Look
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import rests
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer, look_from

PACKS = {path.stem: path for path in root("taskpacks").glob("*/*.yaml")}
PLAIN = 900
"""What has so many of 640 x 480 pixels, 0.29 % of them, is plainly in view: rays must see it, too."""
SPECK = 6
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
    world = PhysicalWorld()
    world.reset(load_task(PACKS["A1"], Library()))
    try:
        Renderer(world.stage.spec, size=(32, 24)).close()
    except NoOpenGL as error:
        pytest.skip(str(error))


def programme(path: Path) -> tuple[PhysicalWorld, list[Command]]:
    task = load_task(path, Library())
    world = PhysicalWorld()
    world.reset(task)
    lines = [parse(text) for line in task.pack.interaction.oracle for text in line.do]
    return world, [*(c.command for c in task.opening), *(c.command for c in task.plan), *lines]


def shots(world: PhysicalWorld, commands: list[Command]) -> Iterator[tuple[str, np.ndarray, dict, dict]]:
    """Camera, poses and joints of every frame that would be kept; the collision world is as it was then."""
    stage = world.stage
    for command in commands:
        poses, joints = dict(stage.engine.poses()), dict(stage.engine.joints())
        receipt = world.execute(command)
        assert receipt.ok, receipt.text
        frames = world.trajectory.frames
        kept = dict(picked(rests(frames)))
        for index, frame in enumerate(frames):
            poses |= frame.poses
            joints |= frame.joints
            if index in kept:
                stage.collision.update(poses, joints)
                yield f"{render(command)} {index}", stage.person.camera(frame.body), poses, joints
        stage.collision.update(stage.engine.poses(), stage.engine.joints())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["A1", "D5", "F10", "G10", "P8", "W7"])
def test_at_every_stop_of_a_task(name: str) -> None:
    world, commands = programme(PACKS[name])
    stage, wrong, plain = world.stage, [], 0
    with Renderer(stage.spec) as renderer:
        for where, camera, poses, joints in shots(world, commands):
            pixels = renderer.counts(camera, poses, joints)
            looks = stage.sight.look(camera)
            plain += sum(pixels.get(name, 0) >= PLAIN for name in looks)
            wrong += [f"{where}: {text}" for text in disagreements(looks, pixels, world.held())]
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
    world, _ = programme(PACKS["A1"])
    with Renderer(world.stage.spec) as renderer:
        yield Counter(world.stage, renderer)


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
