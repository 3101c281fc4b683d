"""The forms of ids and names as patterns, and what each is called when something does not follow it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from iwkit.suggest import snake

NAME: Final = r"^[a-z][a-z0-9_]{0,63}$"
PACK_ID: Final = r"^[A-Za-z][A-Za-z0-9_-]{0,31}$"
GUID: Final = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
COLOUR: Final = r"^[a-z][a-z -]{0,30}$"
DIGEST: Final = r"^sha256:[0-9a-f]{64}$"


@dataclass(frozen=True, slots=True)
class Form:
    """What a pattern stands for: `is_no` completes "X is no ...", `hint` says how to write one."""

    is_no: str
    hint: str


FORMS: Final[dict[str, Form]] = {
    NAME: Form(
        "name: a name is lower-case letters, digits and _, at most 64, and begins with a letter",
        "write it like red_mug",
    ),
    PACK_ID: Form(
        "id of a pack: it is letters, digits, _ and -, at most 32, and begins with a letter", "write it like F21"
    ),
    GUID: Form("guid: a guid is a UUID in lower case", 'make one: python -c "import uuid; print(uuid.uuid4())"'),
    COLOUR: Form("colour: a colour is lower-case letters, spaces and -, at most 31", "write it like dark blue"),
    DIGEST: Form("digest", "a lock is written by iwkit freeze: write it again"),
}
"""Pattern -> its form."""


def hint_for(pattern: str, value: str) -> str:
    """How to write what stands in `value`: the same in the right form where that is plain, else an example."""
    if pattern in (NAME, GUID):
        for candidate in (value.lower(), PurePath(value).stem, snake(value)):
            if re.fullmatch(pattern, candidate):
                return f"write {candidate}"
    return FORMS[pattern].hint
