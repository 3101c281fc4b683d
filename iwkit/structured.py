"""The structured form of a command as plain data, to and from `Command` (B.3.1, SEM-2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Final

from iwkit.commandrules import MAX_INDEX, SCALAR, SUFFIX, first_index, number_text, quote
from iwkit.errors import GrammarError
from iwkit.grammar import Command, lookup, normalise_name, parse, scalar_text
from iwkit.suggest import did_you_mean
from iwkit.verbs import BY_NAME

_FIELDS: Final = ("verb", "args", "indices", "scalar_arg", "place_spot")


def to_structured(command: Command) -> dict[str, object]:
    """The structured TaskPack form of B.3.1 as plain data; fields at their default are left out."""
    row = BY_NAME[command.primitive]
    out: dict[str, object] = {"verb": command.verb, "args": [ref.name for ref in command.args]}
    if any(ref.index != first_index(row, position) for position, ref in enumerate(command.args)):
        out["indices"] = [ref.index for ref in command.args]
    for text in scalar_text(row, command):
        out["scalar_arg"] = text if row.scalar and row.scalar.kind in SUFFIX else command.scalar
    if command.spot is not None:
        out["place_spot"] = list(command.spot)
    return out


def from_structured(mapping: Mapping[str, object]) -> Command:
    """Read `{verb, args, indices, scalar_arg, place_spot}` by rendering it into the text and parsing that (B.3.1).

    `args` are names; `indices`, when given, has one whole number or None (the default) for each of them; `scalar_arg`
    is a number or a text with unit (`1.5m`); `place_spot` is [u, v]. Only `verb` is required.
    Raises GrammarError: C315 for the form itself, else what `parse` raises, `at` counting in the rendered text.
    """
    for key in mapping:
        if key not in _FIELDS:
            raise GrammarError("C315", f"unknown field {quote(key)}", hint=did_you_mean(key, _FIELDS, most=3))
    parts = [f"[{lookup(_text(mapping.get('verb'), 'verb'), 0)[1]}]"]
    names = _items(mapping.get("args"), "args")
    indices = [None] * len(names) if mapping.get("indices") is None else _items(mapping["indices"], "indices")
    if len(indices) != len(names):
        hint = "one for each of args, null for the default"
        raise GrammarError("C315", f"{len(indices)} indices for {len(names)} args", hint=hint)
    for name, index in zip(names, indices, strict=True):
        parts.append(f"<{normalise_name(_text(name, 'args'))}>")
        if index is not None:
            parts.append(f"({_whole(index)})")
    if mapping.get("scalar_arg") is not None:
        parts.append(_scalar_arg(mapping["scalar_arg"]))
    if mapping.get("place_spot") is not None:
        spot = _items(mapping["place_spot"], "place_spot")
        if len(spot) != 2:
            raise GrammarError("C315", "place_spot is not a pair", hint="write place_spot: [u, v]")
        parts.append("@place_spot=" + ":".join(_finite(value, "place_spot") for value in spot))
    return parse(" ".join(parts))


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise GrammarError("C315", f"{where}: expected text, got {type(value).__name__}")
    return value


def _items(value: object, where: str) -> Sequence[object]:
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise GrammarError("C315", f"{where}: expected a list, got {type(value).__name__}")
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value <= MAX_INDEX:
        raise GrammarError("C304", "indices: not an instance index", hint=f"whole numbers from 0 to {MAX_INDEX}")
    return value


def _finite(value: object, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GrammarError("C315", f"{where}: expected a number, got {type(value).__name__}")
    # Beyond any range of Table 5, and before float() could overflow.
    if not (abs(value) < 1e9 and isfinite(value)):
        raise GrammarError("C306", f"{where}: number out of range", hint="a plain finite number")
    return number_text(value)


def _scalar_arg(value: object) -> str:
    if not isinstance(value, str):
        return _finite(value, "scalar_arg")
    if not SCALAR.fullmatch(value.strip()):
        raise GrammarError("C305", f"cannot read scalar_arg {quote(value)}", hint="a number, or one with unit: 1.5m")
    return value.strip()
