"""Taking plain data apart, with an error that says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

from iwkit.errors import IwkitError
from iwkit.goals.terms import Data, Path
from iwkit.suggest import FOR_FIELDS, did_you_mean

KEY_CODES = frozenset({"G502", "G503", "G504"})
"""Problems with the key at the path, not with its value."""


class GoalSyntaxError(IwkitError):
    """Data that is no condition, pattern or `when`. `path` leads to the place inside the data."""

    def __init__(self, code: str, message: str, path: Path = (), hint: str = "") -> None:
        self.code, self.message, self.path, self.hint = code, message, path, hint
        self.key = code in KEY_CODES
        where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")
        super().__init__(f"{code} {where}: {message}" + (f" ({hint})" if hint else ""))


def describe(data: Data) -> str:
    """What the data is, for an error message."""
    for types, text in _DESCRIBED:
        if isinstance(data, types):
            return text
    return "`" + str(data)[:60] + "`" if isinstance(data, str) else type(data).__name__


_DESCRIBED: tuple[tuple[type, str], ...] = (
    (dict, "a mapping"),
    (list, "a list"),
    (tuple, "a list"),
    (bool, "true or false"),
    (int, "a number"),
    (float, "a number"),
    (type(None), "nothing"),
)


def fail(code: str, message: str, path: Path, hint: str = "") -> NoReturn:
    raise GoalSyntaxError(code, message, path, hint)


def one_key(data: Data, path: Path, what: str, example: str) -> tuple[str, Data]:
    if not isinstance(data, dict) or len(data) != 1:
        got = f"a mapping with {len(data)} keys" if isinstance(data, dict) else describe(data)
        fail("G501", f"{what} is a mapping with one key, not {got}", path, f"such as {example}")
    key, value = next(iter(data.items()))
    if not isinstance(key, str):
        fail("G501", f"the key of {what} is text, not {describe(key)}", path, f"such as {example}")
    return key, value


def keys_of(data: Data, path: Path, what: str, known: Collection[str]) -> dict[str, Data]:
    if not isinstance(data, dict):
        fail("G505", f"{what} takes a mapping, not {describe(data)}", path, "its keys are " + ", ".join(known))
    for key in data:
        if key not in known:
            hint = did_you_mean(key, known, FOR_FIELDS) or "it has " + ", ".join(known)
            fail("G504", f"{what} has no `{key}`", (*path, key if isinstance(key, str) else str(key)), hint)
    return data


def items_of(data: Data, path: Path, what: str, least: int = 1, most: int | None = None) -> list[Data]:
    if not isinstance(data, list | tuple):
        fail("G505", f"{what} takes a list, not {describe(data)}", path, "write [ ... ]")
    if len(data) < least:
        fail("G508", f"{what} needs at least {least}, not {len(data)}", path)
    if most is not None and len(data) > most:
        fail("G505", f"{what} takes {most}, not {len(data)}", path)
    return list(data)


def word(data: Data, path: Path, what: str) -> str:
    if not isinstance(data, str) or not data:
        hint = "write it in quotes" if isinstance(data, bool | int | float) else ""
        fail("G506", f"{what} is text, not {describe(data)}", path, hint)
    return data
