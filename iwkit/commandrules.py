"""What Table 5 admits of a command, one rule after the other, and how numbers are read and written (SEM-2, B.3.1).

Each `check_` raises GrammarError; its `at` is the offset that the caller gives.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from iwkit.errors import GrammarError
from iwkit.verbs import PACE, PRIMITIVES, Primitive, Scalar

MAX_NAME: Final = 100
"""Characters in one entity name; keeps every legal command within MAX_LENGTH when rendered."""
MAX_INDEX: Final = 9_999

# Possessive quantifiers keep every match linear in the text.
NUMBER: Final = r"[+-]?(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)"
WORD: Final = r"[^\s<>()\[\]@]"
SCALAR: Final = re.compile(rf"({NUMBER})[ \t]*+({WORD}*+)")

FIXED: Final[dict[str, float]] = {"TurnAround": 180.0}
"""Verbs whose number is fixed, in the unit of their primitive."""
_UNITS: Final[dict[str, dict[str, float]]] = {
    "distance": {"": PACE, "m": 1.0},
    "angle": {"": 1.0, "deg": 1.0, "°": 1.0},
    "angle_error": {"": 1.0, "deg": 1.0, "°": 1.0},
    "duration": {"": 1.0, "s": 1.0},
}
"""Kind of number -> unit as written (in any case) -> factor to the unit of the table."""
SUFFIX: Final = {"distance": "m"}
"""Kind of number -> the unit that must be written, because a bare number means another one."""
FORMS: Final[dict[str, str]] = {
    "distance": "distance in paces of 0.6 m, or in metres as 1.5m",
    "angle": "angle in degrees",
    "angle_error": "angle error in whole degrees",
    "duration": "seconds",
}
SPOT_RANGE: Final = "u from -1 (left) to 1 (right), v from 0 (front) to 1 (back)"


def scalar_of(row: Primitive, verb: str) -> Scalar | None:
    """The number that a user may write after this verb."""
    return row.scalar if row.scalar_verbs is None or verb in row.scalar_verbs else None


def default_number(row: Primitive, verb: str) -> float | None:
    """The number that is meant where none is written."""
    return FIXED.get(verb, row.scalar.default if row.scalar else None)


def first_index(row: Primitive, position: int) -> int:
    """Default and lowest index of an argument: connectors and regions count from 0, entities from 1 (SEM-2)."""
    return 0 if position in row.connectors else 1


def check_arity(row: Primitive, verb: str, count: int, at: int) -> None:
    most = len(row.args)
    if not most - row.optional <= count <= most:
        what = "too many" if count > most else "too few"
        wanted = entities(row) or "no entity"
        raise GrammarError("C303", f"[{verb}] has {what} entities ({count})", at, f"it takes {wanted}")


def check_index(row: Primitive, verb: str, position: int, index: int, at: int) -> None:
    low = first_index(row, position)
    if index < low:
        argument = row.args[position]
        raise GrammarError("C304", f"index {index} of the {argument} of [{verb}]", at, f"instances count from {low}")


def read_scalar(scalar: Scalar, verb: str, text: str, at: int) -> float:
    """A number as written, in the unit of the table. Raises GrammarError C305, C306."""
    found = SCALAR.fullmatch(text)
    factor = _UNITS[scalar.kind].get(found[2].lower()) if found else None
    if found is None or factor is None:
        message = f"cannot read {quote(text)} as the number of [{verb}]"
        raise GrammarError("C305", message, at, number_hint(scalar, verb))
    # Nanometres: 3 paces are 1.8 m, not 1.7999999999999998.
    value = float(found[1]) if factor == 1.0 else round(float(found[1]) * factor, 9)
    check_scalar(scalar, verb, value, text, at)
    return value


def check_scalar(scalar: Scalar, verb: str, value: float, text: str, at: int) -> None:
    """`text` is the number as the user wrote it. A NaN fails the comparison and is refused as out of range."""
    if not (scalar.low <= value <= scalar.high) or (scalar.low_open and value == scalar.low):
        hint = f"{range_text(scalar)}, {FORMS[scalar.kind]}"
        raise GrammarError("C306", f"{quote(text)} is out of range for [{verb}]", at, hint)
    if scalar.whole and not value.is_integer():
        raise GrammarError("C305", f"{quote(text)} of [{verb}] is not whole", at, number_hint(scalar, verb))


def check_spot(row: Primitive, verb: str, spot: tuple[float, float], at: int) -> None:
    if not row.spot:
        takers = ", ".join(f"[{p.verbs[0]}]" for p in PRIMITIVES if p.spot)
        raise GrammarError("C307", f"[{verb}] takes no @place_spot", at, f"only {takers} and their aliases do")
    if not (-1.0 <= spot[0] <= 1.0 and 0.0 <= spot[1] <= 1.0):
        raise GrammarError("C306", f"place spot {spot[0]:g}:{spot[1]:g} is out of range", at, SPOT_RANGE)


def number_text(value: float) -> str:
    """Shortest decimal that reads back as the same float, never with an exponent or a minus zero."""
    return format(Decimal(repr(float(value) + 0.0)), "f").removesuffix(".0")


def entities(row: Primitive) -> str:
    """The entities of a primitive in order, as hints and prompts show them."""
    must = len(row.args) - row.optional
    parts = [f"<{arg}>" if n < must else f"optional <{arg}>" for n, arg in enumerate(row.args)]
    return " ".join(parts)


def range_text(scalar: Scalar) -> str:
    """The range of a number, with its unit."""
    low = f"more than {scalar.low:g} and at most" if scalar.low_open else f"{scalar.low:g} to"
    return f"{low} {scalar.high:g} {scalar.unit}"


def number_hint(scalar: Scalar, verb: str) -> str:
    """How to write the number of a verb."""
    # A bare distance counts paces, so the default in metres would be no good example.
    example = "1" if scalar.kind in SUFFIX else f"{scalar.default:g}"
    return f"give the {FORMS[scalar.kind]}, such as [{verb}] {example}"


def brief(text: str) -> str:
    """At most 40 characters of a text, for messages."""
    return text if len(text) <= 40 else text[:39] + "…"


def quote(text: str) -> str:
    """The same in quotes, with what cannot be printed escaped."""
    return repr(brief(text))
