"""The command grammar of B.3.1 (eq. 4; SEM-1, SEM-2): text and structured form to `Command` and back.

Pure: it knows the verb table and nothing of packs or worlds. It never guesses. Two readings are left to others on
purpose: whether `[Wipe]` was given in the legacy target-tool order needs to know which name is a tool, so the world's
table decides it (here the first argument is always the tool); and whether a name exists is asked through `resolve`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from typing import Final

from iwkit.errors import GrammarError
from iwkit.suggest import FOR_VERBS, ask, closest, did_you_mean
from iwkit.verbs import BY_NAME, PACE, PRIMITIVES, SURFACE, Primitive, Scalar

GRAMMAR_CODES: Final[dict[str, str]] = {
    "C301": "unknown verb",
    "C302": "malformed bracket, or no [Verb] at the start",
    "C303": "too few or too many entities",
    "C304": "bad instance index",
    "C305": "number that cannot be read, or has a wrong unit",
    "C306": "number or place spot out of range",
    "C307": "place spot on a verb that takes none",
    "C308": "text that belongs to no part of the command",
    "C309": "no command",
    "C310": "several commands where one was expected",
    "C311": "illegal entity name",
    "C312": "command too long",
    "C313": "number on a verb that takes none",
    "C314": "malformed @ suffix",
    "C315": "malformed structured command",
    "C316": "no such entity",
    "C317": "ambiguous entity",
}
"""Code -> one-line meaning. docs/grammar.md gives an example of each."""

MAX_LENGTH: Final = 2_000
"""Characters in one command."""
MAX_NAME: Final = 100
"""Characters in one entity name; keeps every legal command within MAX_LENGTH when rendered."""
MAX_INDEX: Final = 9_999

_CLOSER: Final = {"[": "]", "<": ">", "(": ")"}
_CUT: Final = re.compile(r"[\[\]<>()]|\r\n?|\n|,(?=\s|\Z)")
# Possessive quantifiers keep every match linear in the text.
_NUMBER: Final = r"[+-]?(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)"
_WORD: Final = r"[^\s<>()\[\]@]"
_TOKEN: Final = re.compile(
    rf"\s*(?:\[(?P<verb>[^\]]*)\]|<(?P<name>[^>]*)>|\((?P<index>[^)]*)\)|@(?P<suffix>{_WORD}*+)"
    rf"|(?P<number>{_NUMBER}(?:[ \t]*+{_WORD}++)?+)|(?P<word>{_WORD}++))"
)
_SCALAR: Final = re.compile(rf"({_NUMBER})[ \t]*+({_WORD}*+)")
_SPOT: Final = re.compile(rf"({_NUMBER}):({_NUMBER})")
_INDEX: Final = re.compile(r"[ \t]*([0-9]{1,4})[ \t]*")
_RAW_NAME: Final = re.compile(r"[A-Za-z0-9 \t_-]*")
_NAME: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_SEPARATORS: Final = re.compile(r"[ \t_-]+")

_FIXED: Final[dict[str, float]] = {"TurnAround": 180.0}
"""Verbs whose number is fixed, in the unit of their primitive."""
_UNITS: Final[dict[str, dict[str, float]]] = {
    "distance": {"": PACE, "m": 1.0},
    "angle": {"": 1.0, "deg": 1.0, "°": 1.0},
    "angle_error": {"": 1.0, "deg": 1.0, "°": 1.0},
    "duration": {"": 1.0, "s": 1.0},
}
"""Kind of number -> unit as written (in any case) -> factor to the unit of the table."""
_SUFFIX: Final = {"distance": "m"}
"""Kind of number -> the unit that must be written, because a bare number means another one."""
_FORMS: Final[dict[str, str]] = {
    "distance": "distance in paces of 0.6 m, or in metres as 1.5m",
    "angle": "angle in degrees",
    "angle_error": "angle error in whole degrees",
    "duration": "seconds",
}
_SPOT_RANGE: Final = "u from -1 (left) to 1 (right), v from 0 (front) to 1 (back)"
_FIELDS: Final = ("verb", "args", "indices", "scalar_arg", "place_spot")


@dataclass(frozen=True, slots=True)
class Ref:
    """An entity as a command names it: lower_snake name and instance index. Raises GrammarError C304, C311."""

    name: str
    index: int = 1

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > MAX_NAME:
            raise GrammarError("C311", f"{_quote(self.name)} is not a name in lower_snake form", hint="normalise_name")
        if not 0 <= self.index <= MAX_INDEX:
            raise GrammarError("C304", f"index of <{self.name}> out of range", hint=f"0 to {MAX_INDEX}")


@dataclass(frozen=True, slots=True)
class Command:
    """One legal command: what exists can be rendered, and `parse(render(c)) == c`.

    `verb` is spelt as in Table 5. `scalar` holds metres (forward), degrees (turn, attach's angle error) or seconds
    (wait) with the default filled in, 180.0 for TurnAround, and None where the primitive has no number. `spot` is
    (u, v) of @place_spot: u in [-1, 1] left to right as one faces the target, v in [0, 1] front to back.
    Raises GrammarError for anything that Table 5 does not admit.
    """

    primitive: str
    verb: str
    args: tuple[Ref, ...] = ()
    scalar: float | None = None
    spot: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        row = BY_NAME.get(self.primitive)
        if row is None or self.verb not in row.verbs:
            raise GrammarError("C301", f"{_quote(self.verb)} is not a verb of {_quote(self.primitive)}")
        _check_arity(row, self.verb, len(self.args), 0)
        for position, ref in enumerate(self.args):
            _check_index(row, self.verb, position, ref.index, 0)
        scalar = _scalar_of(row, self.verb)
        if scalar is not None and self.scalar is not None:
            _check_scalar(scalar, self.verb, self.scalar, f"{self.scalar:g}", 0)
        elif self.scalar != _default(row, self.verb):
            raise GrammarError("C313", f"[{self.verb}] with the number {self.scalar}", hint="parse sets the default")
        if self.spot is not None:
            _check_spot(row, self.verb, self.spot, 0)


# ---------------------------------------------------------------------------------------------------- text to command


def split(text: str) -> list[tuple[int, str]]:
    """Cut a block at newlines and at commas followed by white space, never inside brackets.

    Returns (offset, text) of each command, trimmed; blank ones are dropped. Raises GrammarError C302 for a bracket
    that is nested, unmatched or open at the end of its line, C312 for an over-long command.
    """
    pieces: list[tuple[int, str]] = []
    start = 0
    opened: re.Match[str] | None = None
    for mark in _CUT.finditer(text):
        what = mark[0]
        if opened is not None:
            if what == _CLOSER[opened[0]]:
                opened = None
            elif what != ",":
                raise _unclosed(opened)
        elif what in _CLOSER:
            opened = mark
        elif what in _CLOSER.values():
            raise GrammarError("C302", f"{what!r} closes nothing", mark.start(), "brackets come in pairs")
        else:
            pieces.append((start, text[start : mark.start()]))
            start = mark.end()
    if opened is not None:
        raise _unclosed(opened)
    pieces.append((start, text[start:]))
    return [_trim(at, piece) for at, piece in pieces if piece.strip()]


def parse(text: str) -> Command:
    """Read exactly one command. Raises GrammarError whose `at` is the offset in `text`."""
    pieces = split(text)
    if not pieces:
        raise GrammarError("C309", "no command", 0, "write [Verb] <entity_name> (instance_id)")
    if len(pieces) > 1:
        raise GrammarError("C310", f"{len(pieces)} commands where one was expected", pieces[1][0], "keep one")
    return _parse_one(*pieces[0])


def parse_block(text: str) -> list[Command]:
    """Read any number of commands in order; a blank block gives []. Raises GrammarError at the first bad one."""
    return [_parse_one(at, piece) for at, piece in split(text)]


def normalise_name(text: str, at: int = 0) -> str:
    """`Red Mug`, `red-mug` and `red__mug` become `red_mug` (SEM-1). Raises GrammarError C311."""
    if not _RAW_NAME.fullmatch(text):
        raise GrammarError("C311", f"illegal name {_quote(text)}", at, "letters a to z, digits and underscores only")
    name = _snake(text)
    if not name:
        raise GrammarError("C311", "empty name", at, "write <entity_name>")
    if len(name) > MAX_NAME:
        raise GrammarError("C311", f"name of {len(name)} characters", at, f"at most {MAX_NAME}")
    return name


@dataclass(slots=True)
class _Draft:
    """A command being read, token by token; each method takes what its token holds and where the token starts."""

    row: Primitive
    verb: str
    refs: list[Ref] = field(default_factory=list)
    scalar: float | None = None
    spot: tuple[float, float] | None = None
    last: str = "verb"

    def on_verb(self, text: str, at: int) -> None:
        raise GrammarError("C310", f"a second command starts at {_quote(f'[{text}]')}", at, "one command a line")

    def on_name(self, text: str, at: int) -> None:
        if self.last not in {"verb", "name", "index"}:
            raise GrammarError("C308", f"<{_brief(text)}> comes too late", at, "entities come first")
        position = len(self.refs)
        name = normalise_name(text, at)
        if position == len(self.row.args):
            _check_arity(self.row, self.verb, position + 1, at)
        self.refs.append(Ref(name, _first_index(self.row, position)))

    def on_index(self, text: str, at: int) -> None:
        if self.last == "verb" and not self.row.args and _scalar_of(self.row, self.verb):
            hint = f"write [{self.verb}] {_brief(text.strip())}: parentheses hold the index of an entity"
            raise GrammarError("C305", f"the number of [{self.verb}] stands in parentheses", at, hint)
        if self.last != "name":
            raise GrammarError("C304", f"({_brief(text)}) follows no entity", at, "write <entity_name> (instance_id)")
        found = _INDEX.fullmatch(text)
        if found is None:
            raise GrammarError("C304", f"index {_quote(text)}", at, f"a whole number up to {MAX_INDEX}")
        position = len(self.refs) - 1
        index = int(found[1])
        _check_index(self.row, self.verb, position, index, at)
        self.refs[position] = Ref(self.refs[position].name, index)

    def on_number(self, text: str, at: int) -> None:
        scalar = _scalar_of(self.row, self.verb)
        if scalar is None:
            raise GrammarError("C313", f"[{self.verb}] takes no number, got {_quote(text)}", at, _no_number(self))
        self.scalar = _read_scalar(scalar, self.verb, text, at)

    def on_suffix(self, text: str, at: int) -> None:
        if self.spot is not None:
            raise GrammarError("C314", f"a second suffix {_quote('@' + text)}", at, "at most one @place_spot=u:v")
        key, _, value = text.partition("=")
        found = _SPOT.fullmatch(value)
        if key.lower() != "place_spot" or found is None:
            raise GrammarError("C314", f"cannot read {_quote('@' + text)}", at, "write @place_spot=u:v, no spaces")
        self.spot = (float(found[1]), float(found[2]))
        _check_spot(self.row, self.verb, self.spot, at)

    def on_word(self, text: str, at: int) -> None:
        missing = len(self.refs) < len(self.row.args)
        if self.row.scalar and _scalar_of(self.row, self.verb) and not missing:
            raise GrammarError("C305", f"{_quote(text)} is not a number", at, _number_hint(self.row.scalar, self.verb))
        hint = f"write <{_brief(text)}>" if missing else "separate commands by a newline, or a comma and a space"
        raise GrammarError("C308", f"unexpected {_quote(text)}", at, hint)

    def finish(self, end: int) -> Command:
        _check_arity(self.row, self.verb, len(self.refs), end)
        scalar = _default(self.row, self.verb) if self.scalar is None else self.scalar
        return Command(self.row.name, self.verb, tuple(self.refs), scalar, self.spot)


_ON: Final[dict[str, Callable[[_Draft, str, int], None]]] = {
    "verb": _Draft.on_verb,
    "name": _Draft.on_name,
    "index": _Draft.on_index,
    "number": _Draft.on_number,
    "suffix": _Draft.on_suffix,
    "word": _Draft.on_word,
}


def _tokens(text: str, at: int) -> Iterator[tuple[str, str, int]]:
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        inside = token.start(kind) - (kind not in {"number", "word"})
        yield kind, token[kind], at + inside


def _parse_one(at: int, text: str) -> Command:
    tokens = _tokens(text, at)
    kind, inner, where = next(tokens)
    if kind != "verb":
        raise GrammarError("C302", f"{_quote(text)} does not start with [Verb]", where, "such as [Walk] <table>")
    draft = _Draft(*_lookup(inner, where))
    for kind, inner, where in tokens:
        _ON[kind](draft, inner, where)
        draft.last = kind
    return draft.finish(at + len(text))


def _lookup(text: str, at: int) -> tuple[Primitive, str]:
    """The row and the Table 5 spelling of a surface verb; case, spaces, hyphens and underscores don't count."""
    key = _SEPARATORS.sub("", text).lower()
    if text.isascii() and key in SURFACE:
        return SURFACE[key]
    same = BY_NAME.get(_snake(text))
    if same:
        near = [f"[{same.verbs[0]}]"]
    elif key in FOR_VERBS:
        near = [FOR_VERBS[key]]
    else:
        near = [f"[{SURFACE[verb][1]}]" for verb in closest(key, SURFACE, most=3)]
    raise GrammarError("C301", f"unknown verb {_quote(f'[{text}]')}", at, ask(near))


# ------------------------------------------------------------------------------------- what Table 5 admits, one by one


def _scalar_of(row: Primitive, verb: str) -> Scalar | None:
    """The number that a user may write after this verb."""
    return row.scalar if row.scalar_verbs is None or verb in row.scalar_verbs else None


def _default(row: Primitive, verb: str) -> float | None:
    return _FIXED.get(verb, row.scalar.default if row.scalar else None)


def _first_index(row: Primitive, position: int) -> int:
    """Default and lowest index of an argument: connectors and regions count from 0, entities from 1 (SEM-2)."""
    return 0 if position in row.connectors else 1


def _check_arity(row: Primitive, verb: str, count: int, at: int) -> None:
    most = len(row.args)
    if not most - row.optional <= count <= most:
        what = "too many" if count > most else "too few"
        order = _order(row) or "no entity"
        raise GrammarError("C303", f"[{verb}] has {what} entities ({count})", at, f"it takes {order}")


def _check_index(row: Primitive, verb: str, position: int, index: int, at: int) -> None:
    low = _first_index(row, position)
    if index < low:
        argument = row.args[position]
        raise GrammarError("C304", f"index {index} of the {argument} of [{verb}]", at, f"instances count from {low}")


def _read_scalar(scalar: Scalar, verb: str, text: str, at: int) -> float:
    found = _SCALAR.fullmatch(text)
    factor = _UNITS[scalar.kind].get(found[2].lower()) if found else None
    if found is None or factor is None:
        message = f"cannot read {_quote(text)} as the number of [{verb}]"
        raise GrammarError("C305", message, at, _number_hint(scalar, verb))
    # Nanometres: 3 paces are 1.8 m, not 1.7999999999999998.
    value = float(found[1]) if factor == 1.0 else round(float(found[1]) * factor, 9)
    _check_scalar(scalar, verb, value, text, at)
    return value


def _check_scalar(scalar: Scalar, verb: str, value: float, text: str, at: int) -> None:
    """`text` is the number as the user wrote it. A NaN fails the comparison and is refused as out of range."""
    if not (scalar.low <= value <= scalar.high) or (scalar.low_open and value == scalar.low):
        hint = f"{_range(scalar)}, {_FORMS[scalar.kind]}"
        raise GrammarError("C306", f"{_quote(text)} is out of range for [{verb}]", at, hint)
    if scalar.whole and not value.is_integer():
        raise GrammarError("C305", f"{_quote(text)} of [{verb}] is not whole", at, _number_hint(scalar, verb))


def _check_spot(row: Primitive, verb: str, spot: tuple[float, float], at: int) -> None:
    if not row.spot:
        takers = ", ".join(f"[{p.verbs[0]}]" for p in PRIMITIVES if p.spot)
        raise GrammarError("C307", f"[{verb}] takes no @place_spot", at, f"only {takers} and their aliases do")
    if not (-1.0 <= spot[0] <= 1.0 and 0.0 <= spot[1] <= 1.0):
        raise GrammarError("C306", f"place spot {spot[0]:g}:{spot[1]:g} is out of range", at, _SPOT_RANGE)


# ------------------------------------------------------------------------------------- command to text, structured form


def render(command: Command) -> str:
    """The canonical text (eq. 4). Default indices and numbers are left out; numbers are the shortest exact ones."""
    row = BY_NAME[command.primitive]
    parts = [f"[{command.verb}]"]
    for position, ref in enumerate(command.args):
        parts.append(f"<{ref.name}>")
        if ref.index != _first_index(row, position):
            parts.append(f"({ref.index})")
    parts += _scalar_text(row, command)
    if command.spot is not None:
        parts.append("@place_spot=" + ":".join(map(_number_text, command.spot)))
    return " ".join(parts)


def to_structured(command: Command) -> dict[str, object]:
    """The structured TaskPack form of B.3.1 as plain data; fields at their default are left out."""
    row = BY_NAME[command.primitive]
    out: dict[str, object] = {"verb": command.verb, "args": [ref.name for ref in command.args]}
    if any(ref.index != _first_index(row, position) for position, ref in enumerate(command.args)):
        out["indices"] = [ref.index for ref in command.args]
    for text in _scalar_text(row, command):
        out["scalar_arg"] = text if row.scalar and row.scalar.kind in _SUFFIX else command.scalar
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
            raise GrammarError("C315", f"unknown field {_quote(key)}", hint=did_you_mean(key, _FIELDS, most=3))
    parts = [f"[{_lookup(_text(mapping.get('verb'), 'verb'), 0)[1]}]"]
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


def _scalar_text(row: Primitive, command: Command) -> list[str]:
    if row.scalar is None or command.scalar is None or command.scalar == _default(row, command.verb):
        return []
    return [_number_text(command.scalar) + _SUFFIX.get(row.scalar.kind, "")]


def _number_text(value: float) -> str:
    """Shortest decimal that reads back as the same float, never with an exponent or a minus zero."""
    return format(Decimal(repr(float(value) + 0.0)), "f").removesuffix(".0")


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
    return _number_text(value)


def _scalar_arg(value: object) -> str:
    if not isinstance(value, str):
        return _finite(value, "scalar_arg")
    if not _SCALAR.fullmatch(value.strip()):
        raise GrammarError("C305", f"cannot read scalar_arg {_quote(value)}", hint="a number, or one with unit: 1.5m")
    return value.strip()


# ------------------------------------------------------------------------------------------------------- names, prompts


def resolve(name: str, names: Collection[str], describe: Callable[[str], Sequence[str]] | None = None) -> str:
    """The member of `names` that `name` means (SEM-1): the exact key, else the only one equal in lower_snake form.

    `describe`, when given, is then asked for the candidates that the name describes; one distinct member of `names`
    is accepted. Raises GrammarError: C316 for none, C317 for several.
    """
    for key in (name, _snake(name)):
        if key in names:
            return key
    found = [key for key in names if _snake(key) == _snake(name)]
    if not found and describe is not None:
        found = [key for key in dict.fromkeys(describe(name)) if key in names]
    if len(found) > 1:
        raise GrammarError("C317", f"{_quote(name)} is ambiguous", hint="it may be " + ", ".join(sorted(found)[:5]))
    if not found:
        hint = did_you_mean(_snake(name), names, most=3)
        raise GrammarError("C316", f"there is no {_quote(name)}", hint=hint)
    return found[0]


def describe_grammar(verbs: Iterable[str] | None = None) -> str:
    """The grammar as plain text for a prompt, for all surface verbs or those given (SEM-4); `parse` takes all anyway.

    Verbs keep Table 5's order. Raises GrammarError C301 for one that is not in it.
    """
    shown = {verb for _, verb in SURFACE.values()} if verbs is None else {_lookup(verb, 0)[1] for verb in verbs}
    rows = [(row, tuple(verb for verb in row.verbs if verb in shown)) for row in PRIMITIVES]
    rows = [(row, some) for row, some in rows if some]
    lines = ["One command a line: [Verb] <entity_name> (instance_id) [<entity_name> (instance_id) ...]"]
    lines.append("An instance_id of 1 may be left out.")
    if any(row.connectors for row, _ in rows):
        lines.append("Connectors and regions count from 0; there (0) may be left out.")
    if any(row.spot for row, _ in rows):
        lines.append(f"@place_spot=u:v is optional: as you face the target, {_SPOT_RANGE}.")
    return "\n".join(lines + [line for row, some in rows for line in _usage(row, some)])


def _usage(row: Primitive, verbs: tuple[str, ...]) -> Iterator[str]:
    """One line for the verbs that take the row's number, one for those that do not."""
    for scalar in dict.fromkeys(_scalar_of(row, verb) for verb in verbs):
        some = " or ".join(f"[{verb}]" for verb in verbs if _scalar_of(row, verb) == scalar)
        number = f"optional {_FORMS[scalar.kind]} ({_range(scalar)}, default {scalar.default:g})" if scalar else ""
        spot = "optional @place_spot=u:v" if row.spot else ""
        yield "- " + ", ".join(part for part in (f"{some} {_order(row)}".rstrip(), number, spot) if part)


def _order(row: Primitive) -> str:
    must = len(row.args) - row.optional
    parts = [f"<{arg}>" if n < must else f"optional <{arg}>" for n, arg in enumerate(row.args)]
    return " ".join(parts)


def _range(scalar: Scalar) -> str:
    low = f"more than {scalar.low:g} and at most" if scalar.low_open else f"{scalar.low:g} to"
    return f"{low} {scalar.high:g} {scalar.unit}"


def _number_hint(scalar: Scalar, verb: str) -> str:
    # A bare distance counts paces, so the default in metres would be no good example.
    example = "1" if scalar.kind in _SUFFIX else f"{scalar.default:g}"
    return f"give the {_FORMS[scalar.kind]}, such as [{verb}] {example}"


def _no_number(draft: _Draft) -> str:
    if draft.verb in _FIXED:
        return f"it always turns {_FIXED[draft.verb]:g} deg"
    return "an instance index is written in parentheses" if draft.row.args else "leave it out"


def _trim(at: int, piece: str) -> tuple[int, str]:
    text = piece.strip()
    at += len(piece) - len(piece.lstrip())
    if len(text) > MAX_LENGTH:
        raise GrammarError("C312", f"command of {len(text)} characters", at, f"at most {MAX_LENGTH}")
    return at, text


def _unclosed(opened: re.Match[str]) -> GrammarError:
    what = f"{opened[0]!r} is not closed before the next bracket or the end of the line"
    return GrammarError("C302", what, opened.start(), f"close it with {_CLOSER[opened[0]]!r}")


def _snake(text: str) -> str:
    return _SEPARATORS.sub("_", text).strip("_").lower()


def _brief(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _quote(text: str) -> str:
    return repr(_brief(text))
