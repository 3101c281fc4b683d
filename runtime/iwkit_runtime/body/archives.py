"""Arrays out of NumPy archives that users bring: bodies and recorded motion."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from iwkit.errors import UsageError


def read_archive(path: Path, wanted: Iterable[str]) -> dict[str, NDArray[Any]]:
    """The wanted arrays of a NumPy archive (`.npz`), those that it has. Objects in it are never unpickled.

    Raises:
        UsageError: no such file, no archive, a damaged one, or a wanted array that holds objects.
    """
    key = ""
    found: dict[str, NDArray[Any]] = {}
    try:
        with path.open("rb") as stream:
            if stream.read(2) != b"PK":  # NumPy would ask to trust the file, and to unpickle it
                raise UsageError(f"{path} can't be read: it is no NumPy archive (.npz)")
        archive = np.load(path, allow_pickle=False)
        if not isinstance(archive, NpzFile):
            raise UsageError(f"{path} can't be read: it is no NumPy archive (.npz)")
        with archive:
            for key in wanted:
                if key in archive:
                    found[key] = archive[key]
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror or error}") from error
    except (ValueError, EOFError, BadZipFile, zlib.error, NotImplementedError) as error:
        objects = "Object arrays" in str(error)
        what = "it holds objects, not numbers" if objects else f"the archive is damaged ({error})"
        raise UsageError(f"{path} can't be read: {f'{key}: ' if key else ''}{what}") from error
    return found
