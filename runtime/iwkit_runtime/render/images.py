"""Pictures as files: the same pixels give the same bytes, and the bytes name the file."""

from __future__ import annotations

import hashlib
import io

import numpy as np
from PIL import Image

from iwkit.errors import UsageError
from iwkit_runtime.physical.spec import Pixels


def png(image: Pixels) -> bytes:
    """An image (height, width, 3) of bytes as a PNG file without any metadata.

    Raises:
        UsageError: an array of another shape or type.
    """
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise UsageError(f"a picture is (height, width, 3) bytes, not {image.shape} of {image.dtype}")
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(out, "PNG", compress_level=6)
    return out.getvalue()


def digest(file: bytes) -> str:
    """SHA-256 of a file's bytes, in hexadecimal: the name under which a frame is kept."""
    return hashlib.sha256(file).hexdigest()
