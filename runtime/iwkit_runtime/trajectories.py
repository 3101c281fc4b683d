"""Trajectories on disk: gzipped JSON in a run folder, each file named by the SHA-256 of the JSON in it."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from pathlib import Path
from typing import Any

from iwkit.errors import LedgerError
from iwkit.ledger import write_atomic

FOLDER = "trajectories"
LEVEL = 6
"""How hard gzip tries: the highest level takes five times as long to make files a twentieth smaller."""
_DIGEST = re.compile("[0-9a-f]{64}")


def file_of(folder: Path, digest: str) -> Path:
    """Where a run folder keeps the value of a digest."""
    return folder / FOLDER / f"{digest}.json.gz"


def keep(folder: Path, value: Any) -> str:
    """Write a JSON value, if it isn't there yet, and return its digest. Equal values have equal digests everywhere.

    Raises:
        LedgerError: it cannot be written.
    """
    # The digest is of the text, not of the file: other versions of zlib pack the same text differently.
    text = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    digest = hashlib.sha256(text).hexdigest()
    path = file_of(folder, digest)
    if not path.exists():
        write_atomic(path, gzip.compress(text, LEVEL, mtime=0))
    return digest


def load(folder: Path, digest: object) -> Any:
    """The value of a digest.

    Raises:
        LedgerError: the file is missing, torn or changed, or this is no digest.
    """
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise LedgerError(
            f"{folder}: the record names no trajectory but {digest!r}: it was changed; run the task again"
        )
    path = file_of(folder, digest)
    try:
        text = gzip.decompress(path.read_bytes())
    except FileNotFoundError:
        raise LedgerError(f"{path}: this trajectory is missing: bring it back, or run the task again") from None
    except (OSError, EOFError, zlib.error) as error:
        raise LedgerError(f"{path}: this trajectory can't be read ({error}): run the task again") from None
    if hashlib.sha256(text).hexdigest() != digest:
        raise LedgerError(f"{path}: this trajectory was changed, its digest is another: run the task again")
    return json.loads(text)
