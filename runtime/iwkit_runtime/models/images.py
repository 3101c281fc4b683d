"""Pictures as a provider takes them: encoded as the settings say, and no more, larger or heavier than it allows."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from PIL import Image as Pillow

from iwkit.errors import AgentError
from iwkit_runtime.loop.views import Picture
from iwkit_runtime.models.settings import ImageLimits, ImageSettings
from iwkit_runtime.models.wire import Image

_SMALLEST: Final = 64
"""Pixels of a side below which a picture is not made smaller to save bytes."""
_QUALITIES: Final = (90, 75, 60, 45)


@lru_cache(maxsize=512)
def encode(picture: Picture, settings: ImageSettings, limits: ImageLimits) -> Image:
    """One picture as it is sent. A PNG within the limits goes as it is; all others are encoded anew, without metadata.
    What is too heavy becomes a JPEG, of less and less quality, then of fewer pixels.

    Raises:
        AgentError: no picture is as light as the limit asks.
    """
    with Pillow.open(io.BytesIO(picture.png)) as found:
        side = max(found.size)
        if settings.format == "png" and side <= limits.side and len(picture.png) <= limits.bytes:
            return _image("png", picture.png)
        # Only the pixels: Pillow would carry a comment over from one format into the other.
        pixels = Pillow.frombytes("RGB", found.size, found.convert("RGB").tobytes())
    pixels.thumbnail((limits.side, limits.side))
    data = _encoded(pixels, settings.format, settings.quality)
    if len(data) <= limits.bytes:
        return _image(settings.format, data)
    while max(pixels.size) >= _SMALLEST:
        for quality in _QUALITIES:
            data = _encoded(pixels, "jpeg", quality)
            if len(data) <= limits.bytes:
                return _image("jpeg", data)
        pixels.thumbnail((max(pixels.size) * 3 // 4,) * 2)
    raise AgentError(f"no picture can be sent in {limits.bytes:,} bytes: the limit in the models file is too low")


def _encoded(pixels: Pillow.Image, kind: str, quality: int) -> bytes:
    out = io.BytesIO()
    pixels.save(out, kind.upper(), **({} if kind == "png" else {"quality": quality}))
    return out.getvalue()


def _image(kind: str, data: bytes) -> Image:
    return Image(f"image/{kind}", hashlib.sha256(data).hexdigest(), data)


def within(turns: Sequence[Sequence[Image]], total_bytes: int) -> list[list[Image]]:
    """The pictures of each turn, the oldest left out until all of them together are light enough."""
    kept = [list(turn) for turn in turns]
    heavy = sum(len(image.data) for turn in kept for image in turn) - total_bytes
    for turn in kept:
        while turn and heavy > 0:
            heavy -= len(turn.pop(0).data)
    return kept
