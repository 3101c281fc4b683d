"""Pictures and trajectories of the physical world, rendered when they are selected and kept under their digest."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

from iwkit.ledger import write_atomic
from iwkit_runtime.loop.frames import FrameRef, picked
from iwkit_runtime.physical.scene_spec import Joints, Poses
from iwkit_runtime.physical.trajectory import Frame
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.render.images import digest, png
from iwkit_runtime.render.renderer import Renderer

FRAMES, TRAJECTORIES = "frames", "trajectories"
"""Folders of a run that hold pictures (PNG) and intervals (gzipped JSON); the digest of its bytes names a file."""


class PhysicalStudio:
    """Takes pictures through the wearer's eyes.

    Use it in a `with` statement: it holds memory of the graphics driver once it has drawn.

    Args:
        world: the world to follow; `begin` after its reset, `shoot` after each command.
        folder: the run folder.
    """

    def __init__(self, world: PhysicalWorld, folder: Path) -> None:
        self._world, self._folder = world, folder
        self._renderer: Renderer | None = None
        self._poses: Poses = {}
        self._joints: Joints = {}

    def __enter__(self) -> PhysicalStudio:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def begin(self) -> None:
        """The world was reset: a new scene to draw.

        Raises:
            NoOpenGL: this machine can't draw.
        """
        self._close()
        stage = self._world.stage
        self._renderer = Renderer(stage.spec, stage.person.body)
        self._poses, self._joints = dict(stage.engine.poses()), dict(stage.engine.joints())

    def shoot(self, primitive: str) -> tuple[FrameRef, ...]:
        frames = self._world.trajectory.frames
        wanted = dict(picked(len(frames), hold=primitive == "look_at"))
        found = []
        for index, frame in enumerate(frames):
            self._poses |= frame.poses
            self._joints |= frame.joints
            if index in wanted:
                found.append(FrameRef(self._draw(frame), index, wanted[index]))
        return tuple(found)

    def trajectory(self) -> str:
        """Keep the interval of the last command, and return its digest."""
        text = json.dumps(self._world.trajectory.to_json(), separators=(",", ":")).encode()
        data = gzip.compress(text, mtime=0)
        name = hashlib.sha256(data).hexdigest()
        return self._keep(TRAJECTORIES, f"{name}.json.gz", data, name)

    def _draw(self, frame: Frame) -> str:
        assert self._renderer is not None  # noqa: S101  `begin` comes first
        person = self._world.stage.person
        vertices = person.body.skin(person.body.forward(*frame.body))
        file = png(self._renderer.frame(person.camera(frame.body), self._poses, self._joints, vertices))
        name = digest(file)
        return self._keep(FRAMES, f"{name}.png", file, name)

    def _keep(self, kind: str, file: str, data: bytes, name: str) -> str:
        path = self._folder / kind / file
        if not path.exists():
            write_atomic(path, data)
        return name

    def _close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
