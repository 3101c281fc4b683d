"""Pictures that were recorded of an episode, with numbers instead of names: to ask readers what they see.

`python -m iwkit_runtime.render.numbered RUN_DIR EPISODE PICTURE 'COMMAND|KIND|THING,THING' ...` takes the frames of
those kinds (`result`, `look_hold`) that were kept of commands from the run folder by their digests, numbers the things
and puts the frames side by side.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy.ndimage import distance_transform_edt

from iwkit.errors import IwkitError, UsageError
from iwkit_runtime.assets.typeset import font
from iwkit_runtime.body.camera import camera_frame
from iwkit_runtime.physical.scene_spec import Joints, Poses, States
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.wearer import default_body
from iwkit_runtime.recording import Recording, recordings
from iwkit_runtime.render.renderer import Renderer

SCALE = 1.5
"""The picture is drawn so many times larger, that the numbers don't hide it."""
RADIUS, AWAY = 15, 60
"""Of a number, and how far it is from its thing, in pixels."""
INK, PAPER = (200, 0, 90), (255, 255, 255)


class Wanted(NamedTuple):
    """The frame of a kind that was kept of a command, and the things to number in it."""

    command: str
    kind: str
    things: tuple[str, ...]


def numbered(folder: Path, episode: str, wanted: Sequence[Wanted]) -> Image.Image:
    """The kept frames side by side, two in a row, with a numbered mark on each thing, in the order given.

    Raises:
        LedgerError: as `recordings`.
        NoOpenGL: the machine can't draw, and so not tell where in a picture a thing is.
        UsageError: no such frame, or a thing that is not in it.
    """
    recording = next(iter(recordings(folder, [episode])))
    pictures: list[Image.Image] = []
    number = 1
    with Renderer(recording.spec, default_body()) as renderer:
        for frame in wanted:
            kept = _kept(recording, frame.command, frame.kind)
            picture = Image.open(folder / "frames" / f"{kept.digest}.png").convert("RGB")
            size = (round(picture.width * SCALE), round(picture.height * SCALE))
            pictures.append(picture.resize(size, Image.Resampling.LANCZOS))
            names, ids = renderer.ids(kept.camera, kept.poses, kept.joints, kept.skin, states=kept.states)
            spots = [_spot(names, ids, name) for name in frame.things]
            for index in range(len(spots)):
                _mark(pictures[-1], spots, index, number)
                number += 1
    wide, high = pictures[0].size
    whole = Image.new("RGB", (wide * min(2, len(pictures)), high * -(-len(pictures) // 2)), PAPER)
    for n, picture in enumerate(pictures):
        whole.paste(picture, (n % 2 * wide, n // 2 * high))
    return whole


class _Kept(NamedTuple):
    digest: str
    camera: Floats
    skin: Floats
    poses: Poses
    joints: Joints
    states: States


def _kept(recording: Recording, command: str, kind: str) -> _Kept:
    """A kept frame: its picture, the camera, the wearer's skin, and how everything was in it."""
    poses, joints, states = dict(recording.poses), dict(recording.joints), dict(recording.states)
    body = default_body()
    for interval in recording.intervals:
        record = next(r for r in recording.records if r["n"] == interval.step)
        kept = {k: (n, d) for (n, k), d in zip(record.get("picked", ()), record.get("frames", ()), strict=True)}
        wanted = kind in kept and interval.command == command
        frames = interval.frames[: kept[kind][0] + 1] if wanted else interval.frames
        for then in frames:
            poses |= then.poses
            joints |= then.joints
            states |= then.states
        if wanted:
            frame = body.forward(*frames[-1].body)
            return _Kept(kept[kind][1], camera_frame(body, frame), body.skin(frame), poses, joints, states)
    raise UsageError(f"{recording.cell} has no {kind} frame of {command!r}: see `iwkit report`")


def _spot(names: Sequence[str], ids: NDArray[np.int64], name: str) -> Floats:
    """The point (2,) of the marked picture that is deepest within what is seen of a thing."""
    mask = ids == names.index(name) if name in names else np.zeros_like(ids, bool)
    if not mask.any():
        raise UsageError(f"{name} is not in this picture: it shows {', '.join(filter(None, names))}")
    depth = distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    y, x = np.unravel_index(int(np.argmax(depth)), mask.shape)
    return SCALE * np.array([x + 0.5, y + 0.5])


def _mark(picture: Image.Image, spots: Sequence[Floats], index: int, number: int) -> None:
    """A dot on a thing and a number beside it, on the side that is farthest from the other things."""
    angles = np.arange(8) * math.pi / 4
    at = spots[index] + AWAY * np.stack([np.cos(angles), -np.sin(angles)], -1)
    inside = ((at > RADIUS) & (at < np.array(picture.size) - RADIUS)).all(1)
    others = [spot for n, spot in enumerate(spots) if n != index] or [np.zeros(2)]
    room = np.linalg.norm(at[:, None] - np.array(others), axis=2).min(1)
    (x, y), (nx, ny) = spots[index].tolist(), at[int(np.argmax(np.where(inside, room, -1)))].tolist()
    draw = ImageDraw.Draw(picture)
    draw.line([(nx, ny), (x, y)], fill=INK, width=2)
    draw.ellipse([x - 4, y - 4, x + 4, y + 4], fill=INK)
    draw.ellipse([nx - RADIUS, ny - RADIUS, nx + RADIUS, ny + RADIUS], fill=PAPER, outline=INK, width=2)
    draw.text((nx, ny), str(number), fill=INK, font=font(19), anchor="mm")


if __name__ == "__main__":
    try:
        run, episode, out, *frames = sys.argv[1:]
        asked = [text.split("|") for text in frames]
        wanted = [Wanted(command, kind, tuple(things.split(","))) for command, kind, things in asked]
        numbered(Path(run), episode, wanted).save(out, quality=88)
    except (IwkitError, ValueError) as error:
        sys.exit(f"{error}\n{__doc__}")
