"""The film of a recording, from the wearer's head, from outside, or both side by side above what is said and done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iwkit.errors import UsageError
from iwkit_runtime.body.camera import camera_frame
from iwkit_runtime.physical.spec import Floats, Pixels
from iwkit_runtime.physical.wearer import default_body
from iwkit_runtime.recording import Recording
from iwkit_runtime.render.captions import strip, strip_height
from iwkit_runtime.render.follow import FIELD_OF_VIEW as OUTSIDE
from iwkit_runtime.render.follow import Shot, follow, opened
from iwkit_runtime.render.renderer import FIELD_OF_VIEW, SIZE, Renderer
from iwkit_runtime.render.telling import FPS, Moment, moments
from iwkit_runtime.render.video import check_file, write_video

VIEWS = ("head", "outside", "both")


class Plan(NamedTuple):
    """A film to be made: `view` is one of `VIEWS`, `size` that of each picture, `fps` how many frames are shown in a
    second; 12 is as fast as it happened."""

    view: str = "both"
    size: tuple[int, int] = SIZE
    fps: float = FPS


def write_film(recording: Recording, file: Path, plan: Plan, progress: Callable[[int, int], None]) -> int:
    """Make a film, MP4 or WebP by the file's suffix, and return how many pictures were drawn for it.

    `progress` is called with the frames made so far and the frames there are. One picture at a time is in memory.

    Raises:
        UsageError: an unknown view or kind of file, a size that isn't even, or the file can't be written.
        NoOpenGL: this machine can't draw; the message names the packages that it lacks.
    """
    check(plan)
    check_file(file)
    told = list(moments(recording, holds=plan.view == "both"))
    if not told:
        raise UsageError(f"{recording.cell}: nothing was done in this episode: there is nothing to show")
    total = sum(moment.count for moment in told)
    with contextlib.closing(_frames(recording, told, plan, lambda made: progress(made, total))) as frames:
        write_video(file, frames, total, plan.fps)
    return len(told)


def _frames(
    recording: Recording, told: list[Moment], plan: Plan, progress: Callable[[int], None]
) -> Generator[Pixels, None, None]:
    """Every frame of the film: pictures that stay are repeated."""
    made = 0
    for moment, picture in zip(told, pictures(recording, told, plan), strict=True):
        for _ in range(moment.count):
            yield picture
        made += moment.count
        progress(made)


def film_size(plan: Plan) -> tuple[int, int]:
    """Width and height of the film in pixels."""
    width, height = plan.size
    return (2 * width, height + strip_height(height)) if plan.view == "both" else (width, height)


def pictures(recording: Recording, told: list[Moment], plan: Plan) -> Iterator[Pixels]:
    """The picture of each moment.

    Raises:
        NoOpenGL: this machine can't draw.
    """
    body, spec = default_body(), recording.spec
    with contextlib.ExitStack() as stack:
        eyes: list[Callable[[int, _Seen], Pixels]] = []
        if plan.view != "outside":
            head = stack.enter_context(Renderer(spec, body, size=plan.size, fov=FIELD_OF_VIEW))
            eyes.append(lambda _, seen: _from_head(head, seen))
        if plan.view != "head":
            shots = follow(recording.task.scene, spec, body, told)
            outside = stack.enter_context(Renderer(opened(spec), body, size=plan.size, fov=OUTSIDE))
            eyes.append(lambda number, seen: _from_outside(outside, seen, shots[number]))
        width, height = film_size(plan)
        for number, moment in enumerate(told):
            joints = body.forward(*moment.body)
            seen = _Seen(moment, camera_frame(body, joints), body.skin(joints))
            picture = np.hstack([eye(number, seen) for eye in eyes])
            if plan.view == "both":
                picture = np.vstack([picture, strip(moment.caption, width, height - plan.size[1])])
            yield picture


class _Seen(NamedTuple):
    """A moment with the head camera (4, 4) and the wearer's vertices (V, 3)."""

    moment: Moment
    camera: Floats
    wearer: Floats


def _from_head(renderer: Renderer, seen: _Seen) -> Pixels:
    moment = seen.moment
    return renderer.frame(seen.camera, moment.poses, moment.joints, seen.wearer, states=moment.states)


def _from_outside(renderer: Renderer, seen: _Seen, shot: Shot) -> Pixels:
    moment = seen.moment
    return renderer.frame(
        shot.camera,
        moment.poses,
        moment.joints,
        seen.wearer,
        from_head=False,
        hidden=shot.hidden,
        states=moment.states,
    )


def check(plan: Plan) -> None:
    """Make sure that a film can be made like this.

    Raises:
        UsageError: it can't.
    """
    if plan.view not in VIEWS:
        raise UsageError(f"no view {plan.view!r}: use {', '.join(VIEWS)}")
    if any(side % 2 or not 64 <= side <= 2048 for side in plan.size):
        raise UsageError(f"no film of {plan.size[0]}x{plan.size[1]} pixels: give two even numbers from 64 to 2048")
    if not 1 <= plan.fps <= 120:
        raise UsageError(f"a film of {plan.fps:g} frames a second: give 1 to 120; 12 is as fast as it happened")
