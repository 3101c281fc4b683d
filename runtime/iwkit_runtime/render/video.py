"""Writing a film picture by picture: MP4 (H.264) that browsers play, or animated WebP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import imageio_ffmpeg  # type: ignore[import-untyped]  # it ships no types
import numpy as np
from PIL import Image

from iwkit.errors import UsageError
from iwkit_runtime.physical.spec import Pixels

QUALITY = {".mp4": 6.0, ".webp": 75}
"""Of MP4 from 1 to 10, of WebP from 0 to 100."""


def check_file(file: Path) -> None:
    """Make sure, before anything is drawn, that a film can become this file.

    Raises:
        UsageError: its suffix is none of those known, or its folder can't be made.
    """
    if file.suffix.lower() not in QUALITY:
        raise UsageError(f"{file}: a film is a file that ends in {' or '.join(QUALITY)}")
    if file.is_dir():
        raise UsageError(f"{file} is a folder: name a file in it")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"can't write {file}: {error.strerror}; give another file") from None


def write_video(file: Path, frames: Iterator[Pixels], count: int, fps: float) -> None:
    """Write `count` frames (height, width, 3) of even sizes, taken one by one. The file is there whole, or not at all.

    Raises:
        UsageError: it can't be written.
    """
    check_file(file)
    suffix = file.suffix.lower()
    partial = file.resolve().with_name(f".{file.stem}.partial{suffix}")
    try:
        if suffix == ".mp4":
            _mp4(partial, frames, fps)
        else:
            _webp(partial, frames, count, fps)
        if not partial.is_file() or not partial.stat().st_size:
            raise UsageError(f"can't write {file}: the encoder wrote nothing; its message stands above")
        partial.replace(file)
    except OSError as error:
        raise UsageError(f"can't write {file}: {error}; give another file") from None
    finally:
        partial.unlink(missing_ok=True)


def _mp4(file: Path, frames: Iterator[Pixels], fps: float) -> None:
    first = next(frames)
    height, width, _ = first.shape
    # Browsers begin to play before the file is whole if its index stands at its beginning.
    writer = imageio_ffmpeg.write_frames(
        file,
        (width, height),
        fps=fps,
        quality=QUALITY[".mp4"],
        macro_block_size=2,
        ffmpeg_log_level="error",
        output_params=["-movflags", "+faststart"],
    )
    writer.send(None)
    try:
        writer.send(np.ascontiguousarray(first))
        for frame in frames:
            writer.send(np.ascontiguousarray(frame))
    finally:
        writer.close()


def _webp(file: Path, frames: Iterator[Pixels], count: int, fps: float) -> None:
    first = Image.fromarray(next(frames))
    first.save(
        file,
        "WEBP",
        save_all=True,
        append_images=[_Rest(frames, count - 1)],
        duration=1000 / fps,
        loop=0,
        quality=QUALITY[".webp"],
        method=2,
    )


class _Rest:
    """The rest of a film as one image of many frames, each made when the encoder goes on to it."""

    def __init__(self, frames: Iterator[Pixels], count: int) -> None:
        self._frames, self.n_frames = frames, count
        self._image: Image.Image | None = None

    def seek(self, _: int) -> None:
        """Go on to the next frame; encoders go in order."""
        self._image = Image.fromarray(next(self._frames))

    def __getattr__(self, name: str) -> Any:
        """All else is that of the frame."""
        return getattr(self._image, name)
