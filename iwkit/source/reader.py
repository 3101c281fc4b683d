"""Read YAML strictly: UTF-8, one document, no anchors, aliases, tags or directives, every key text and unique.

The parser is libyaml's. Its events are checked and turned into data here, one by one and without recursion, so that
every scalar keeps its place and its quotes, and neither deep nesting nor an alias bomb costs anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from iwkit.errors import Problems
from iwkit.problems import Pos, Problem
from iwkit.source import document, syntax
from iwkit.source.document import LINE_BREAK, Document
from iwkit.source.scalars import Complaint, resolve, shorten

MAX_BYTES: Final = 256 * 1024

# libyaml may be missing where PyYAML was built from source; its Python twin gives the same events.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_CONTROL: Final = "\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff"
# Unicode's Default_Ignorable_Code_Point, without the variation selectors that emoji carry.
_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSEEN: Final = re.compile(f"(?P<control>[{_CONTROL}])|[{_INVISIBLE}]")
_DIRECTIVE: Final = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?>\r\n|\n|\r))*+(%[^\r\n]*)")
# A '#' that ends the text though it isn't written as a comment is; rows of # are drawn as rules.
_CUT: Final = re.compile(r"[ \t]+(#+[^\s#]\S*)")

_FORBIDDEN: Final = {
    "anchor": ("Y011", "write the value out where it is used, or quote text that begins with &"),
    "alias": ("Y012", "write the value out, or quote text that begins with *"),
    "tag": ("Y013", "leave it out, or quote text that begins with !"),
}


def read(path: Path | str) -> Document:
    """Read a YAML file.

    Raises:
        Problems: the file can't be read or breaks the rules above; every problem of it, sorted by place.
    """
    try:
        with Path(path).open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = Problem(str(path), Pos(1, 1), "Y001", f"cannot be read: {reason}", "check the path and the rights")
        raise Problems([problem]) from None
    return read_text(raw, str(path))


def read_text(text: str | bytes, name: str) -> Document:
    """Read YAML from memory; `name` stands for the file in problems.

    Raises:
        Problems: the text breaks the rules above; every problem of it, sorted by place.
    """
    decoded = _decode(text, name)
    problems = list(_unseen(decoded, name))
    # One odd character must not hide what else is wrong: a harmless one takes its place, and the columns stay.
    clean = _UNSEEN.sub("\ufffd", decoded) if problems else decoded
    directive = _DIRECTIVE.match(clean)
    if directive:
        message, hint = f"directive {shorten(directive[1])}", "leave it out: the version is always YAML 1.2"
        problems.append(Problem(name, _place(clean, directive.start(1)), "Y014", message, hint))
        clean = clean[: directive.start(1)] + "#" + clean[directive.start(1) + 1 :]
    builder = _Builder(name, LINE_BREAK.split(clean), problems)
    builder.consume(clean)
    if problems:
        raise Problems(problems)
    return Document(name, builder.data, decoded, builder.values, builder.keys)


def _decode(text: str | bytes, name: str) -> str:
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        message = f"larger than {MAX_BYTES // 1024} KB"
        raise Problems([Problem(name, Pos(1, 1), "Y002", message, "split the file, or check that it is the right one")])
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        body = error.object  # what the offset counts in: the byte order mark is already taken off
        place = _place(body[: error.start].decode("utf-8"), None)
        hint = "save the file as UTF-8" + (", not UTF-16" if text[:2] in (b"\xff\xfe", b"\xfe\xff") else "")
        raise Problems([Problem(name, place, "Y003", "not UTF-8", hint)]) from None


def _place(text: str, at: int | None) -> Pos:
    lines = LINE_BREAK.split(text[:at])
    return Pos(len(lines), len(lines[-1]) + 1)


def _unseen(text: str, name: str) -> Iterator[Problem]:
    """The first character of each line that doesn't show, in comments too: they can hide what a line says."""
    if not _UNSEEN.search(text):
        return
    for number, line in enumerate(LINE_BREAK.split(text), 1):
        found = _UNSEEN.search(line)
        if found:
            yield Problem(name, Pos(number, found.start() + 1), *_name_unseen(found))


def _name_unseen(found: re.Match[str]) -> tuple[str, str, str]:
    character = f"U+{ord(found.group()):04X}"
    if found["control"]:
        return "Y004", f"control character {character}", "delete it"
    return "Y005", f"invisible character {character}", "delete it: an editor doesn't show it, and it makes text differ"


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is not yet closed."""

    path: document.Path
    data: dict[str, Any] | list[Any]
    flow: bool
    key_at: Pos
    key: str | None = None  # of a mapping: the key that waits for its value
    last_text: tuple[str, str] | None = None  # of a flow mapping: the entry before, if its value is unquoted text


@dataclass(slots=True)
class _Builder:
    """Turns the parser's events into data and places, and notes every problem on the way."""

    file: str
    lines: list[str]
    problems: list[Problem]
    data: Any = None
    values: dict[document.Path, Pos] = field(default_factory=dict)
    keys: dict[document.Path, Pos] = field(default_factory=dict)
    _open: list[_Frame] = field(default_factory=list)
    _documents: int = 0

    def consume(self, text: str) -> None:
        """Read all of `text`, as far as its syntax allows."""
        try:
            for event in yaml.parse(text, Loader=_LOADER):
                if not self._event(event):
                    return
        except yaml.MarkedYAMLError as error:
            self._problem(*syntax.explain(error, self.lines))
            return
        except (ValueError, OverflowError):  # only libyaml's Python twin, which tells no place
            pos = max(self.keys.values(), default=Pos(1, 1))
            self._problem(pos, "Y010", "not valid YAML: escape past U+10FFFF", "use a character that exists")
            return
        if not isinstance(self.data, dict):
            self._check_top()

    def _event(self, event: Any) -> bool:
        """Take one event; False where reading cannot go on."""
        match event:
            case yaml.ScalarEvent():
                self._forbid(event)
                self._scalar(event)
            case yaml.AliasEvent():
                self._note(_pos(event), "alias", str(event.anchor))
                self._add(None, _pos(event))
            case yaml.CollectionStartEvent():
                self._forbid(event)
                return self._start(event)
            case yaml.CollectionEndEvent():
                self._end()
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self._problem(_pos(event), "Y015", "more than one document", "keep one document to a file")
                    return False
        return True

    def _problem(self, pos: Pos, code: str, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self.file, pos, code, message, hint))

    def _note(self, pos: Pos, what: str, name: str) -> None:
        code, hint = _FORBIDDEN[what]
        self._problem(pos, code, f"{what} {shorten(name)} is not allowed", hint)

    def _forbid(self, event: Any) -> None:
        if event.anchor is not None:
            self._note(_pos(event), "anchor", event.anchor)
        if event.tag is not None:
            self._note(_pos(event), "tag", event.tag.replace("tag:yaml.org,2002:", "!!"))

    def _start(self, event: Any) -> bool:
        pos = _pos(event)
        if len(self._open) == syntax.MAX_DEPTH:
            self._problem(pos, *syntax.TOO_DEEP)
            return False
        data: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        path = self._next_path()
        if self._awaits_key():
            self._problem(pos, "Y030", "a key must be text, not a list or mapping", "quote it if it is text")
        else:
            self._store(path, data, pos)
        self._open.append(_Frame(path, data, bool(event.flow_style), pos))
        return True

    def _end(self) -> None:
        self._open.pop()
        if self._open:
            frame = self._open[-1]
            if isinstance(frame.data, dict):
                # A collection that stood where a key belongs has been refused; its value still has to be read.
                frame.key = "" if frame.key is None else None
                frame.last_text = None

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].data, dict) and self._open[-1].key is None

    def _next_path(self) -> document.Path:
        if not self._open:
            return ()
        frame = self._open[-1]
        return (*frame.path, len(frame.data) if isinstance(frame.data, list) else frame.key or "")

    def _store(self, path: document.Path, value: Any, pos: Pos) -> None:
        self.values[path] = pos
        if not self._open:
            self.data = value
            return
        data = self._open[-1].data
        if isinstance(data, list):
            data.append(value)
        else:
            data[str(path[-1])] = value

    def _add(self, value: Any, pos: Pos) -> None:
        """Store a value that is not a collection."""
        if self._awaits_key():  # an alias: noted already
            self._open[-1].key = ""
            return
        self._store(self._next_path(), value, pos)
        if self._open:
            self._open[-1].key = None

    def _scalar(self, event: Any) -> None:
        pos, plain = _pos(event), not event.style
        value = self._plain(event, pos) if plain else event.value
        hidden = _UNSEEN.search(event.value) if event.style == '"' else None
        if hidden:  # can only come from an escape
            self._problem(pos, *_name_unseen(hidden))
        if self._awaits_key():
            self._key(value, pos, event)
            return
        frame = self._open[-1] if self._open else None
        if frame and frame.key is not None and frame.flow:
            self._flow_entry(frame, frame.key, event)
        self._add(value, pos)

    def _plain(self, event: Any, pos: Pos) -> Any:
        end = event.end_mark
        cut = _CUT.match(self.lines[end.line], end.column) if end.line < len(self.lines) else None
        if cut:
            kept = f"only {shorten(event.value)!r} is kept" if event.value else "nothing is kept"
            hint = "quote the text if # belongs to it, or write '# ' for a comment"
            self._problem(Pos(end.line + 1, cut.start(1) + 1), "Y043", f"text cut by '#': {kept}", hint)
        value = resolve(event.value)
        if not isinstance(value, Complaint):
            return value
        if self._awaits_key():
            return None  # the key is refused for not being text
        self._problem(pos, value.code, value.message, value.hint)
        return None

    def _key(self, value: Any, pos: Pos, event: Any) -> None:
        frame, key = self._open[-1], event.value
        path = (*frame.path, key)
        frame.key, frame.key_at = key, pos
        if key == "":
            self._problem(pos, "Y031", "empty key", "write the key before the colon")
        elif not isinstance(value, str):
            self._problem(pos, "Y030", f"key {shorten(key)} is not text", f'write "{shorten(key)}"')
        elif key == "<<" and not event.style:
            self._problem(pos, "Y017", "merge key <<", "write the fields out")
        elif key in frame.data:
            first = self.keys[path].line
            message = f"duplicate key {shorten(key)!r}: on line {first} and again on line {pos.line}"
            self._problem(pos, "Y032", message, "keep one of them")
            return
        self.keys[path] = pos

    def _flow_entry(self, frame: _Frame, key: str, event: Any) -> None:
        """Refuse an entry without a value: in `{say: Stop, wait}` the comma has ended the text."""
        if event.value or event.style:
            frame.last_text = None if event.style else (key, event.value)
        elif key:
            if frame.last_text:
                before, text = frame.last_text
                whole = shorten(f"{text}, {key}")
                frame.last_text = (before, whole)
                hint = f'quote text that holds a comma: {shorten(before)}: "{whole}"'
            elif ":" in key:
                hint = "write a space after the colon"
            else:
                hint = f"write {shorten(key)}: VALUE, or quote the whole text if the braces belong to it"
            self._problem(frame.key_at, "Y044", f"entry {shorten(key)!r} has no value", hint)

    def _check_top(self) -> None:
        if self.data is None and not self.problems:
            self._problem(Pos(1, 1), "Y020", "the file is empty", "write at least one 'key: value'")
        elif self.data is not None:
            hint = "write 'key: value' lines, with a space after each colon"
            self._problem(self.values[()], "Y021", "the top of the file must be a mapping", hint)


def _pos(event: Any) -> Pos:
    mark = event.start_mark
    return Pos(mark.line + 1, mark.column + 1)
