"""What kind of file a YAML file says it is: its first key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal, cast

Kind = Literal["taskpack", "scene", "catalogue", "recipes", "human-policy"]

_FIRST_KEY: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s*(?:#[^\n]*|---[ \t]*)?\n)*+\s*([\w-]+)\s*:")
_KINDS: Final = frozenset({"taskpack", "scene", "catalogue", "recipes", "human-policy"})
_HEAD: Final = 8192


def kind_of(path: Path) -> Kind:
    """The kind of a file. One that cannot be read, or says nothing that is known, is taken for a pack."""
    try:
        with path.open("rb") as stream:
            found = _FIRST_KEY.match(stream.read(_HEAD))
    except OSError:
        return "taskpack"
    key = found[1].decode("ascii", "replace") if found else ""
    return cast(Kind, key) if key in _KINDS else "taskpack"
