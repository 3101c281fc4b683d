"""What several commands share: arguments that mean the same everywhere, and what a shell offers to complete them.

A completion is called with what is typed so far; typer wants that to be named `incomplete`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer


def words(*known: str) -> Callable[[str], list[str]]:
    """A completion that offers fixed words."""
    return lambda incomplete: [word for word in known if word.startswith(incomplete)]


def family_ids(incomplete: str) -> list[str]:
    from iwkit.families import families

    return sorted(spec.id for spec in families().values() if spec.id.startswith(incomplete))


def scene_ids(incomplete: str) -> list[str]:
    """The scenes of the project around the current folder, and those that ship."""
    from iwkit.library import Library

    return [name for name in Library.for_file(Path("x")).scene_ids() if name.startswith(incomplete)]


def pack_names(incomplete: str) -> list[str]:
    """Ids of the packs of the project around the current folder and of those that ship, then files and folders."""
    from iwkit_runtime.selection import known_packs

    here = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    paths = [path for path in sorted(here.glob("*")) if path.is_dir() or path.suffix == ".yaml"]
    files = [f"{path}/" if path.is_dir() else str(path) for path in paths if path.name[0] != "."]
    return [name for name in (*sorted(known_packs()), *files) if name.startswith(incomplete)]


Packs = Annotated[
    list[str],
    typer.Argument(help="Pack ids, files or folders.", metavar="PACKS", autocompletion=pack_names),
]
"""Packs that a command needs, frozen or not."""
