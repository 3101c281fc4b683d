"""Trajectories of the physical world, always kept, and its pictures, drawn from what is kept."""

from __future__ import annotations

from pathlib import Path

from iwkit.compile import CompiledTask
from iwkit.errors import LedgerError
from iwkit.ledger import Record, write_atomic
from iwkit_runtime.loop.frames import FrameRef, picked
from iwkit_runtime.physical.scene_digest import scene_digest
from iwkit_runtime.physical.scene_spec import Joints, Poses, States
from iwkit_runtime.physical.trajectory import Frame, Stand, Start, rests, walked
from iwkit_runtime.physical.world import PhysicalWorld
from iwkit_runtime.render.images import digest as digest_of
from iwkit_runtime.render.images import png
from iwkit_runtime.render.renderer import Renderer
from iwkit_runtime.trajectories import keep

FRAMES = "frames"
"""The folder of a run that holds pictures (PNG); the digest of its bytes names a file."""


class PhysicalStudio:
    """Keeps what happened, and takes pictures of it through the wearer's eyes.

    Use it in a `with` statement: it holds memory of the graphics driver once it has drawn.

    Args:
        world: the world to follow; `begin` after its reset, `shoot` after each command.
        folder: the run folder.
        pictures: whether it takes any. Trajectories are kept either way, and need no OpenGL.
    """

    def __init__(self, world: PhysicalWorld, folder: Path, *, pictures: bool = True) -> None:
        self._world, self._folder, self._pictures = world, folder, pictures
        self._renderer: Renderer | None = None
        self._poses: Poses = {}
        self._joints: Joints = {}
        self._states: States = {}
        self._stand, self._walked = Stand(0.0, 0.0, 0.0), 0.0

    def __enter__(self) -> PhysicalStudio:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def begin(self, task: CompiledTask) -> str:
        """The world was reset to this task: keep how everything is, and return its digest.

        Raises:
            NoOpenGL: this machine can't draw, and shall.
        """
        self._close()
        stage = self._world.stage
        wearer = stage.wearer
        poses, joints = stage.engine.poses(), stage.engine.joints()
        frame = Frame(stage.idle(), wearer.stand, wearer.gaze, poses, joints, stage.states)
        start = Start(scene_digest(task, self._world.assets), frame.kept())
        self._poses, self._joints = dict(start.frame.poses), dict(start.frame.joints)
        self._states, self._stand = dict(start.frame.states), start.frame.stand
        if self._pictures:
            self._renderer = Renderer(stage.spec, stage.person.body)
        return keep(self._folder, start.to_json())

    def shoot(self, primitive: str) -> tuple[FrameRef, ...]:
        """Pictures of the command just executed; none if this studio takes none."""
        frames = tuple(map(Frame.kept, self._world.trajectory.frames))
        wanted = dict(picked(rests(frames), hold=primitive == "look_at")) if self._renderer else {}
        self._walked = walked(self._stand, frames)
        self._stand = frames[-1].stand if frames else self._stand
        found = []
        for index, frame in enumerate(frames):
            self._poses |= frame.poses
            self._joints |= frame.joints
            self._states |= frame.states
            if index in wanted:
                found.append(FrameRef(self._draw(frame), index, wanted[index]))
        return tuple(found)

    def picture(self, digest: str) -> bytes:
        """The bytes of a picture that was taken.

        Raises:
            LedgerError: its file is gone or was changed.
        """
        path = self._folder / FRAMES / f"{digest}.png"
        file = path.read_bytes() if path.is_file() else b""
        if digest_of(file) != digest:
            raise LedgerError(f"{path} is not the picture that was taken: run the episode again with another --out")
        return file

    def interval(self) -> Record:
        """Keep the interval of the last command: its digest, and the metres walked in it."""
        return {"trajectory": keep(self._folder, self._world.trajectory.to_json()), "walked": self._walked}

    def _draw(self, frame: Frame) -> str:
        assert self._renderer is not None  # noqa: S101  nothing is wanted without one
        person = self._world.stage.person
        vertices = person.body.skin(person.body.forward(*frame.body))
        camera = person.camera(frame.body)
        file = png(self._renderer.frame(camera, self._poses, self._joints, vertices, states=self._states))
        name = digest_of(file)
        path = self._folder / FRAMES / f"{name}.png"
        if not path.exists():
            write_atomic(path, file)
        return name

    def _close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
