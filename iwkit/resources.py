"""Where the data that ships with iwkit lies, in a checkout and in an installed wheel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

Kind = Literal["schemas", "families", "taskpacks", "scenes", "assets"]

_CHECKOUT: dict[Kind, str] = {
    "schemas": "schemas",
    "families": "families",
    "taskpacks": "taskpacks",
    "scenes": "runtime/scenes",
    "assets": "runtime/assets",
}


BODY = "IWKIT_BODY"
"""The environment variable that names the file of another body: a licence binds it to a person, not to a project."""
AMASS = "IWKIT_AMASS"
"""The environment variable that names the user's folder of AMASS clips."""


def default_body() -> Path:
    """The file of the body that ships with iwkit (docs/body.md)."""
    return root("assets") / "body_default.npz"


def body_file() -> Path:
    """The file of the wearer's body: the user's, if the environment names one, else the default."""
    return Path(own) if (own := os.environ.get(BODY)) else default_body()


def motion_folder() -> Path | None:
    """The user's folder of AMASS clips, from which the wearer's walk is taken, if the environment names one."""
    return Path(own) if (own := os.environ.get(AMASS)) else None


def stamp(path: Path) -> tuple[int, int]:
    """When a file was changed and its size: what was read from it holds as long as they are the same."""
    state = path.stat()
    return state.st_mtime_ns, state.st_size


def root(kind: Kind) -> Path:
    """The folder of one kind of data.

    A wheel carries the data inside the package (`iwkit/_data/KIND`); a checkout keeps it in its own top-level folder.

    Raises:
        FileNotFoundError: the installation is broken and has neither.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "_data" / kind, package.parent / _CHECKOUT[kind]):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"iwkit's own {kind} folder is missing beside {package}: reinstall iwkit")
