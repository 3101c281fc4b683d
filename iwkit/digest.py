"""Digests: SHA-256 over RFC 8785 canonical JSON, so that comments and layout change nothing and a value does."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rfc8785


def digest(value: Any) -> str:
    """The digest of a JSON value as `sha256:` and 64 hex digits."""
    return "sha256:" + hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def file_digest(path: Path) -> str:
    """The digest of a file's bytes, in the same form."""
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def physical_digest(data: Mapping[str, Any]) -> str:
    """Digest of the physical part of a pack's parsed data, with the schema version."""
    return digest({"taskpack": data["taskpack"], "physical": data["physical"]})


def pack_digest(data: Mapping[str, Any]) -> str:
    """Digest of everything but `review`: the header, the interaction part, and the physical part by its digest."""
    header = {k: v for k, v in data.items() if k not in ("physical", "interaction", "review")}
    return digest({**header, "interaction": data["interaction"], "physical": physical_digest(data)})
