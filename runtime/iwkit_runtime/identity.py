"""What identifies a result: digests of the code and of each cell."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from iwkit.digest import digest

_LEFT_OUT: Final = ("cli", "report", "metrics")


@cache
def runtime_digest() -> str:
    """Digest of the sources of `iwkit` and `iwkit_runtime`, the grips of hands among them, without the command line,
    the report and its figures.

    Two results with the same task digest and runtime digest came from the same rules.
    """
    total = hashlib.sha256()
    for package in ("iwkit", "iwkit_runtime"):
        spec = find_spec(package)
        folder = Path(next(iter((spec.submodule_search_locations if spec else None) or ["."])))
        files = [*folder.rglob("*.py"), *folder.glob("body/grips/**/*.yaml")]
        for path in sorted(files, key=lambda p: p.relative_to(folder).as_posix()):
            name = path.relative_to(folder).as_posix()
            if name.split("/")[0].removesuffix(".py") not in _LEFT_OUT:
                total.update(f"{package}/{name}\0".encode() + path.read_bytes() + b"\0")
    return "sha256:" + total.hexdigest()


def cell_key(uses: str, seed: int, settings: Mapping[str, Any]) -> str:
    """The identity of one cell; equal keys mean that the result would be the same (design: closed loop).

    `uses` is the digest of the pack with all that it uses: scene, categories, recipes, body, family file. `settings` is
    the rest that decides what comes out: world, agents with their parameters and prompts, treatments.
    """
    return digest([uses, seed, dict(settings), runtime_digest()])
