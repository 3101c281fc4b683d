"""The pictures of an opening, measured: none is blank, and what the records call visible is to be seen (BENCH-6)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from iwkit.compile import CompiledTask
from iwkit.ledger import Record
from iwkit_authoring.layers import Layer
from iwkit_runtime.loop.frames import FrameRef, picked
from iwkit_runtime.physical.scene_spec import Joints, Poses, States
from iwkit_runtime.physical.spec import Pixels
from iwkit_runtime.physical.trajectory import Frame, rests
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.render.opengl import NoOpenGL
from iwkit_runtime.render.renderer import Renderer

ENOUGH: Final = 40
"""Pixels of 640 x 480 that a thing must cover in some frame: about 6 x 6, or a pen across the desk."""
BLACK: Final = 8.0
"""A picture whose mean is below this, of 255, is black."""
BLANK: Final = 6.0
"""A picture is blank if 98 of 100 of its pixels lie within so many levels, of 255."""


@dataclass(slots=True)
class Shot:
    """The pictures of one command: what is `wrong` with the last one as such, and the most pixels that each thing of
    the evidence covers in one of them. A thing that covered `ENOUGH` before is not looked for again."""

    pixels: dict[str, int] = field(default_factory=dict)
    wrong: str | None = None


class Eye:
    """Follows an episode in place of a studio, and measures the pictures of its opening without keeping any.

    Use it in a `with` statement: it holds memory of the graphics driver.

    Args:
        world: the world to follow.
        look: whether to draw at all.
        digests: whether the records get the digests of what moved, so that replays can be compared by them too.
    """

    def __init__(self, world: PhysicalWorld, *, look: bool = True, digests: bool = False) -> None:
        self._world, self._look, self._digests = world, look, digests
        self._renderer: Renderer | None = None
        self._poses: Poses = {}
        self._joints: Joints = {}
        self._states: States = {}
        self._missing: list[str] = []
        self._left = 0
        self.shots: list[Shot] = []
        """For each command of the opening that took time, in order."""
        self.unavailable = "" if look else "its opening was not drawn"

    def __enter__(self) -> Eye:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def begin(self, task: CompiledTask) -> str:
        """The world was reset to this task."""
        stage = self._world.stage
        self._poses, self._joints = dict(stage.engine.poses()), dict(stage.engine.joints())
        self._states = dict(stage.states)
        self.shots, self._missing, self._left = [], list(named(task)), len(task.opening)
        if self._look:
            try:
                self._renderer = Renderer(stage.spec, stage.person.body, samples=1)
            except NoOpenGL as error:
                self.unavailable = str(error).splitlines()[0]
        wearer = stage.wearer
        frame = Frame(stage.idle(), wearer.stand, wearer.gaze, self._poses, self._joints, self._states)
        return self._digest(frame.to_json())

    def shoot(self, primitive: str) -> tuple[FrameRef, ...]:
        """The command just executed, measured if it belongs to the opening. No pictures are given."""
        if self._renderer is None or not self._left:
            return ()
        self._left -= 1
        shot = Shot()
        self.shots.append(shot)
        frames = self._world.trajectory.frames
        wanted = {index for index, _ in picked(rests(frames), hold=primitive == "look_at")}
        for index, frame in enumerate(frames):
            self._poses |= frame.poses
            self._joints |= frame.joints
            self._states |= frame.states
            if index in wanted:
                self._measure(shot, frame, last=index == len(frames) - 1)
        if not self._left:
            self._close()
        return ()

    def picture(self, digest: str) -> bytes:
        """There are none."""
        raise KeyError(digest)

    def interval(self) -> Record:
        """The digest of how everything moved in the command just executed; "" unless digests are wanted."""
        return {"trajectory": self._digest(self._world.trajectory.to_json()) if self._digests else ""}

    def _digest(self, value: Any) -> str:
        return hashlib.sha256(json.dumps(value).encode()).hexdigest() if self._digests else ""

    def _measure(self, shot: Shot, frame: Frame, *, last: bool) -> None:
        assert self._renderer is not None  # noqa: S101  only then is anything measured
        if not self._missing and not last:
            return
        person = self._world.stage.person
        skin = person.body.skin(person.body.forward(*frame.body))
        seen = person.camera(frame.body), self._poses, self._joints, skin
        if self._missing:
            counts = self._renderer.counts(*seen, states=self._states)
            shot.pixels |= {n: max(shot.pixels.get(n, 0), counts.get(n, 0)) for n in self._missing}
            self._missing = [name for name in self._missing if shot.pixels[name] < ENOUGH]
        if last:
            shot.wrong = blank(self._renderer.frame(*seen, states=self._states))

    def _close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def blank(picture: Pixels) -> str | None:
    """What is wrong with a picture (height, width, 3) as such: it is black, or of one colour. None if nothing is."""
    grey = picture.mean(axis=2)
    low, high = np.percentile(grey, (1, 99))
    if grey.mean() < BLACK:
        return "black"
    return "of one colour" if high - low < BLANK else None


def named(task: CompiledTask) -> tuple[str, ...]:
    """The objects and fixtures that the evidence of a pack names, in its order."""
    words = (word for condition in task.pack.physical.evidence for word in _words(condition.that.to_data()))
    seen = (word for word in words if word in task.things and task.things[word].kind in ("object", "fixture"))
    return tuple(dict.fromkeys(seen))


def _words(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _words(part)


def judged(eye: Eye, records: list[Record]) -> Layer:
    """The layer of visual quality: the pictures of the opening that `eye` measured, beside what the records say of it.

    A thing that the evidence names and that the records call visible at some time of the opening must cover `ENOUGH`
    pixels in one of its pictures.
    """
    if eye.unavailable:
        return Layer("unavailable", eye.unavailable)
    drawn = [r["command"] for r in records if r["kind"] == "step" and r["by"] == "opening" and r["receipt"]["frames"]]
    shots = eye.shots[: len(drawn)]
    for command, shot in zip(drawn, shots, strict=True):
        if shot.wrong is not None:
            return Layer("wrong", f"the picture after {command} is {shot.wrong}")
    unseen = {name: count for name, count in most(shots).items() if count < ENOUGH and name in _visible(records)}
    if unseen:
        told = ", ".join(f"{name} {count}" for name, count in unseen.items())
        return Layer("wrong", f"called visible in the opening, but under {ENOUGH} pixels in every picture: {told}")
    return Layer("ok")


def most(shots: Sequence[Shot]) -> dict[str, int]:
    """Thing of the evidence -> the most pixels that it covers in any picture, until it covers `ENOUGH`."""
    found: dict[str, int] = {}
    for shot in shots:
        found |= {name: max(found.get(name, 0), count) for name, count in shot.pixels.items()}
    return found


def _visible(records: list[Record]) -> set[str]:
    """What is visible at some time up to the handoff."""
    found: set[str] = set()
    for record in records:
        found |= {r[1] for r in (*record.get("state", ()), *record.get("added", ())) if r[0] == "visible"}
        if record["kind"] == "handoff":
            break
    return found
