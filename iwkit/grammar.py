"""The command grammar of B.3.1 (eq. 4; SEM-1, SEM-2): text to `Command` and back.

Pure: it knows the verb table and nothing of packs or worlds. It never guesses. Two readings are left to others on
purpose: whether `[Wipe]` was given in the legacy target-tool order needs to know which name is a tool, so the world's
table decides it (here the first argument is always the tool); and whether a name exists is asked through `resolve`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from iwkit.commandrules import (
    FIXED,
    FORMS,
    MAX_INDEX,
    MAX_NAME,
    NUMBER,
    SPOT_RANGE,
    SUFFIX,
    WORD,
    brief,
    check_arity,
    check_index,
    check_scalar,
    check_spot,
    default_number,
    entities,
    first_index,
    number_hint,
    number_text,
    quote,
    range_text,
    read_scalar,
    scalar_of,
)
from iwkit.errors import GrammarError
from iwkit.suggest import FOR_VERBS, ask, closest, did_you_mean
from iwkit.verbs import BY_NAME, PRIMITIVES, SURFACE, Primitive

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

_CLOSER: Final = {"[": "]", "<": ">", "(": ")"}
_CUT: Final = re.compile(r"[\[\]<>()]|\r\n?|\n|,(?=\s|\Z)")
# Possessive quantifiers keep every match linear in the text.
_TOKEN: Final = re.compile(
    rf"\s*(?:\[(?P<verb>[^\]]*)\]|<(?P<name>[^>]*)>|\((?P<index>[^)]*)\)|@(?P<suffix>{WORD}*+)"
    rf"|(?P<number>{NUMBER}(?:[ \t]*+{WORD}++)?+)|(?P<word>{WORD}++))"
)
_SPOT: Final = re.compile(rf"({NUMBER}):({NUMBER})")
_INDEX: Final = re.compile(r"[ \t]*([0-9]{1,4})[ \t]*")
_RAW_NAME: Final = re.compile(r"[A-Za-z0-9 \t_-]*")
_NAME: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_SEPARATORS: Final = re.compile(r"[ \t_-]+")


@dataclass(frozen=True, slots=True)
class Ref:
    """An entity as a command names it: lower_snake name and instance index. Raises GrammarError C304, C311."""

    name: str
    index: int = 1

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > MAX_NAME:
            raise GrammarError("C311", f"{quote(self.name)} is not a name in lower_snake form", hint="normalise_name")
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
            raise GrammarError("C301", f"{quote(self.verb)} is not a verb of {quote(self.primitive)}")
        check_arity(row, self.verb, len(self.args), 0)
        for position, ref in enumerate(self.args):
            check_index(row, self.verb, position, ref.index, 0)
        scalar = scalar_of(row, self.verb)
        if scalar is not None and self.scalar is not None:
            check_scalar(scalar, self.verb, self.scalar, f"{self.scalar:g}", 0)
        elif self.scalar != default_number(row, self.verb):
            raise GrammarError("C313", f"[{self.verb}] with the number {self.scalar}", hint="parse sets the default")
        if self.spot is not None:
            check_spot(row, self.verb, self.spot, 0)


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
        raise GrammarError("C311", f"illegal name {quote(text)}", at, "letters a to z, digits and underscores only")
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
        raise GrammarError("C310", f"a second command starts at {quote(f'[{text}]')}", at, "one command a line")

    def on_name(self, text: str, at: int) -> None:
        if self.last not in {"verb", "name", "index"}:
            raise GrammarError("C308", f"<{brief(text)}> comes too late", at, "entities come first")
        position = len(self.refs)
        name = normalise_name(text, at)
        if position == len(self.row.args):
            check_arity(self.row, self.verb, position + 1, at)
        self.refs.append(Ref(name, first_index(self.row, position)))

    def on_index(self, text: str, at: int) -> None:
        if self.last == "verb" and not self.row.args and scalar_of(self.row, self.verb):
            hint = f"write [{self.verb}] {brief(text.strip())}: parentheses hold the index of an entity"
            raise GrammarError("C305", f"the number of [{self.verb}] stands in parentheses", at, hint)
        if self.last != "name":
            raise GrammarError("C304", f"({brief(text)}) follows no entity", at, "write <entity_name> (instance_id)")
        found = _INDEX.fullmatch(text)
        if found is None:
            raise GrammarError("C304", f"index {quote(text)}", at, f"a whole number up to {MAX_INDEX}")
        position = len(self.refs) - 1
        index = int(found[1])
        check_index(self.row, self.verb, position, index, at)
        self.refs[position] = Ref(self.refs[position].name, index)

    def on_number(self, text: str, at: int) -> None:
        scalar = scalar_of(self.row, self.verb)
        if scalar is None:
            raise GrammarError("C313", f"[{self.verb}] takes no number, got {quote(text)}", at, _no_number(self))
        self.scalar = read_scalar(scalar, self.verb, text, at)

    def on_suffix(self, text: str, at: int) -> None:
        if self.spot is not None:
            raise GrammarError("C314", f"a second suffix {quote('@' + text)}", at, "at most one @place_spot=u:v")
        key, _, value = text.partition("=")
        found = _SPOT.fullmatch(value)
        if key.lower() != "place_spot" or found is None:
            raise GrammarError("C314", f"cannot read {quote('@' + text)}", at, "write @place_spot=u:v, no spaces")
        self.spot = (float(found[1]), float(found[2]))
        check_spot(self.row, self.verb, self.spot, at)

    def on_word(self, text: str, at: int) -> None:
        missing = len(self.refs) < len(self.row.args)
        if self.row.scalar and scalar_of(self.row, self.verb) and not missing:
            raise GrammarError("C305", f"{quote(text)} is not a number", at, number_hint(self.row.scalar, self.verb))
        hint = f"write <{brief(text)}>" if missing else "separate commands by a newline, or a comma and a space"
        raise GrammarError("C308", f"unexpected {quote(text)}", at, hint)

    def finish(self, end: int) -> Command:
        check_arity(self.row, self.verb, len(self.refs), end)
        scalar = default_number(self.row, self.verb) if self.scalar is None else self.scalar
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
        raise GrammarError("C302", f"{quote(text)} does not start with [Verb]", where, "such as [Walk] <table>")
    draft = _Draft(*lookup(inner, where))
    for kind, inner, where in tokens:
        _ON[kind](draft, inner, where)
        draft.last = kind
    return draft.finish(at + len(text))


def lookup(text: str, at: int) -> tuple[Primitive, str]:
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
    raise GrammarError("C301", f"unknown verb {quote(f'[{text}]')}", at, ask(near))


# ------------------------------------------------------------------------------------- command to text


def render(command: Command) -> str:
    """The canonical text (eq. 4). Default indices and numbers are left out; numbers are the shortest exact ones."""
    row = BY_NAME[command.primitive]
    parts = [f"[{command.verb}]"]
    for position, ref in enumerate(command.args):
        parts.append(f"<{ref.name}>")
        if ref.index != first_index(row, position):
            parts.append(f"({ref.index})")
    parts += scalar_text(row, command)
    if command.spot is not None:
        parts.append("@place_spot=" + ":".join(map(number_text, command.spot)))
    return " ".join(parts)


def scalar_text(row: Primitive, command: Command) -> list[str]:
    """The number of a command as text; nothing where it is the default."""
    if row.scalar is None or command.scalar is None or command.scalar == default_number(row, command.verb):
        return []
    return [number_text(command.scalar) + SUFFIX.get(row.scalar.kind, "")]


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
        raise GrammarError("C317", f"{quote(name)} is ambiguous", hint="it may be " + ", ".join(sorted(found)[:5]))
    if not found:
        hint = did_you_mean(_snake(name), names, most=3)
        raise GrammarError("C316", f"there is no {quote(name)}", hint=hint)
    return found[0]


def describe_grammar(verbs: Iterable[str] | None = None) -> str:
    """The grammar as plain text for a prompt, for all surface verbs or those given (SEM-4); `parse` takes all anyway.

    Verbs keep Table 5's order. Raises GrammarError C301 for one that is not in it.
    """
    shown = {verb for _, verb in SURFACE.values()} if verbs is None else {lookup(verb, 0)[1] for verb in verbs}
    rows = [(row, tuple(verb for verb in row.verbs if verb in shown)) for row in PRIMITIVES]
    rows = [(row, some) for row, some in rows if some]
    lines = ["One command a line: [Verb] <entity_name> (instance_id) [<entity_name> (instance_id) ...]"]
    lines.append("An instance_id of 1 may be left out.")
    if any(row.connectors for row, _ in rows):
        lines.append("Connectors and regions count from 0; there (0) may be left out.")
    if any(row.spot for row, _ in rows):
        lines.append(f"@place_spot=u:v is optional: as you face the target, {SPOT_RANGE}.")
    return "\n".join(lines + [line for row, some in rows for line in _usage(row, some)])


def _usage(row: Primitive, verbs: tuple[str, ...]) -> Iterator[str]:
    """One line for the verbs that take the row's number, one for those that do not."""
    for scalar in dict.fromkeys(scalar_of(row, verb) for verb in verbs):
        some = " or ".join(f"[{verb}]" for verb in verbs if scalar_of(row, verb) == scalar)
        number = f"optional {FORMS[scalar.kind]} ({range_text(scalar)}, default {scalar.default:g})" if scalar else ""
        spot = "optional @place_spot=u:v" if row.spot else ""
        yield "- " + ", ".join(part for part in (f"{some} {entities(row)}".rstrip(), number, spot) if part)


def _no_number(draft: _Draft) -> str:
    if draft.verb in FIXED:
        return f"it always turns {FIXED[draft.verb]:g} deg"
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
