"""The frames of a run as pictures inside a page."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

_DIGEST = re.compile(r"[0-9a-f]{64}")
_QUALITY = 80
"""Of WebP: a frame of 640 x 480 takes about 10 KB, and a price sheet stays legible."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A frame: `source` is its whole content as a data address, or empty, and then `problem` says why.

    `number` counts the different frames of a page from 1; one that was shown before comes `again`, without source.
    """

    number: int
    digest: str
    source: str = ""
    problem: str = ""
    again: bool = False


class Album:
    """The frames of a run folder, `frames/DIGEST.png`, each embedded once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "frames"
        self._seen: dict[str, Picture] = {}

    @property
    def asked(self) -> bool:
        """Whether any record referred to a picture."""
        return bool(self._seen)

    def picture(self, digest: str) -> Picture:
        """The frame with this digest, the SHA-256 of its file in hexadecimal. What is wrong with it is said in it."""
        if (known := self._seen.get(digest)) is not None:
            return Picture(known.number, digest, problem=known.problem, again=True)
        source, problem = self._load(digest)
        return self._seen.setdefault(digest, Picture(len(self._seen) + 1, digest, source, problem))

    def _load(self, digest: str) -> tuple[str, str]:
        if not _DIGEST.fullmatch(digest):
            return "", "is no digest"
        try:
            data = (self._folder / f"{digest}.png").read_bytes()
        except FileNotFoundError:
            return "", "is missing"
        except OSError as error:
            return "", f"cannot be read: {error.strerror}"
        if hashlib.sha256(data).hexdigest() != digest:
            return "", "is damaged: its content does not have this digest"
        try:
            return _embedded(data), ""
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):  # what Pillow raises on other files
            return "", "is no picture"


def _embedded(data: bytes) -> str:
    """A picture as a data address, much smaller than the PNG file."""
    out = io.BytesIO()
    with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
        image.convert("RGB").save(out, "WEBP", quality=_QUALITY)
    return f"data:image/webp;base64,{base64.b64encode(out.getvalue()).decode()}"
