"""Check a document against a pydantic model, and explain every mismatch at its place in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from iwkit.errors import Problems
from iwkit.problems import Problem
from iwkit.source import fields
from iwkit.source.document import Document, Path
from iwkit.source.patterns import FORMS, hint_for
from iwkit.source.scalars import resolve, shorten
from iwkit.suggest import FOR_FIELDS, did_you_mean

Model = TypeVar("Model", bound=BaseModel)

_KINDS: Final = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_QUOTED: Final = re.compile(r"'((?:[^'\\]|\\.)*)'")
_YES_OR_NO: Final = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
_PREFIX: Final = re.compile(r"(?:Value error|Assertion failed), ")


def check(doc: Document, model: type[Model], base: Sequence[str | int] = ()) -> Model:
    """The part of `doc` at `base` as a `model`.

    A validator of the model may raise `PydanticCustomError` with a context that holds `hint`, `code` (in place of
    S105), `path` (a tuple of keys and indices that leads on from the validated value to the wrong part) and `key`
    (true: point at the key of that part, not at its value).

    Raises:
        Problems: every mismatch, sorted by place.
    """
    try:
        return model.model_validate(doc.at(base))
    except ValidationError as error:
        found = [_Mismatch(doc, tuple(base), details) for details in error.errors(include_url=False)]
    raise Problems(_explain(mismatch, model) for mismatch in _of_one_branch(found))


class _Mismatch:
    """One of pydantic's errors; `path` leads to the value that it is about, `kinds` are those it could have had."""

    def __init__(self, doc: Document, base: Path, details: Any) -> None:
        self.doc, self.type, self.message = doc, details["type"], details["msg"]
        self.context: dict[str, Any] = details.get("ctx", {})
        self.loc: Path = details["loc"]
        owner = (*base, *self.loc[:-1])
        # The name of a missing field may also be that of a field further up; its mapping is what there is to show.
        self.path = doc.known(owner if self.type == "missing" else (*base, *self.loc))
        self.value = doc.at(self.path)  # what the author wrote; a validator may have changed pydantic's input
        self.kinds = [_KINDS[self.type]] if self.type in _KINDS else []
        # A last part that names nothing in the file is the tag of a union's branch.
        self.of_branch = bool(self.loc) and self.path == doc.known(owner)

    @property
    def wrong_branch(self) -> bool:
        """Whether the value is of another kind than this branch of a union takes."""
        return self.of_branch and (bool(self.kinds) or (self.type == "literal_error" and not _is_word(self.value)))


def _is_word(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _of_one_branch(found: list[_Mismatch]) -> Iterator[_Mismatch]:
    """Leave out what a union's other branches say of a value that only one of them could take."""
    first: dict[Path, _Mismatch] = {}
    for mismatch in found:
        path = mismatch.path
        if not mismatch.wrong_branch:
            yield mismatch
        elif any(not other.wrong_branch and other.path[: len(path)] == path for other in found):
            continue
        elif path in first:
            first[path].kinds += [kind for kind in mismatch.kinds if kind not in first[path].kinds]
        else:
            first[path] = mismatch
    yield from first.values()


def _explain(mismatch: _Mismatch, model: type[BaseModel]) -> Problem:
    doc, path, context = mismatch.doc, mismatch.path, mismatch.context
    match mismatch.type:
        case "extra_forbidden":
            name = str(mismatch.loc[-1])
            known = fields.names(model, mismatch.loc[:-1])
            hint = did_you_mean(name, known, FOR_FIELDS) or f"leave it out; known here: {', '.join(known)}"
            message = _at(doc, path[:-1]) + f"unknown field {shorten(name)!r}"
            return doc.problem(path, "S101", message, hint, key=True)
        case "missing" | "union_tag_not_found":
            name = str(mismatch.loc[-1]) if mismatch.type == "missing" else context["discriminator"].strip("'")
            hint = f"add {name}: {fields.example(model, mismatch.loc, name)}"
            return doc.problem(path, "S102", _at(doc, path) + f"missing field {name!r}", hint)
        case "literal_error" | "enum":
            return _not_allowed(doc, path, context["expected"], mismatch.value)
        case "union_tag_invalid":
            tag = doc.known((*path, context["discriminator"].strip("'")))
            return _not_allowed(doc, tag, context["expected_tags"].replace(", ", " or "), context["tag"])
    if mismatch.kinds:
        message = f"expected {' or '.join(mismatch.kinds)}, got {_got(mismatch.value)}"
        return doc.problem(path, "S103", _at(doc, path) + message, _mend(mismatch))
    return _refused(mismatch)


def _refused(mismatch: _Mismatch) -> Problem:
    """What a constraint or a validator says, in its own words."""
    doc, context = mismatch.doc, mismatch.context
    path = doc.known((*mismatch.path, *context.get("path", ())))
    of_key = mismatch.loc[-1:] == ("[key]",)
    if mismatch.type == "string_pattern_mismatch" and context["pattern"] in FORMS:
        pattern, value = context["pattern"], str(path[-1] if of_key else mismatch.value)
        message = f"{shorten(value)!r} is no {FORMS[pattern].is_no}"
        return doc.problem(path, "S105", _at(doc, path) + message, hint_for(pattern, value), of_key)
    message = _PREFIX.sub("", mismatch.message)
    if message[1:2].islower():  # a word of pydantic's, not a name such as F10
        message = message[0].lower() + message[1:]
    key = bool(context.get("key")) or of_key
    return doc.problem(path, context.get("code", "S105"), _at(doc, path) + message, context.get("hint", ""), key)


def _not_allowed(doc: Document, path: Path, expected: str, value: Any) -> Problem:
    hint = did_you_mean(value, _QUOTED.findall(expected)) if isinstance(value, str) else ""
    return doc.problem(path, "S104", _at(doc, path) + f"expected {expected}, got {_got(value)}", hint)


def _at(doc: Document, path: Path) -> str:
    """`path` as a person would say it, with the id of each list element; elements are counted from 1."""
    shown, value = "", doc.data
    for part in path:
        value = value[part]
        if isinstance(part, int):
            name = value.get("id") if isinstance(value, dict) else None
            shown += f"[{part + 1} {shorten(name)}]" if isinstance(name, str) else f"[{part + 1}]"
        else:
            shown += f".{shorten(part)}" if shown else shorten(part)
    return f"{shown}: " if shown else ""


def _got(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {shorten(value)!r}"
        case dict():
            return f"a mapping with {shorten(', '.join(value))}" if value else "an empty mapping"
    return f"a list of {len(value)}"


def _mend(mismatch: _Mismatch) -> str:
    kinds, value = mismatch.kinds, mismatch.value
    if isinstance(value, list) and len(value) == 1 and "text" in kinds:  # [LookAround] is a list to YAML
        return f'quote it if it is text: "[{value[0]}]"'
    if isinstance(value, bool | int | float) and "text" in kinds:
        return f'write "{mismatch.doc.written(mismatch.path)}"'
    if isinstance(value, str):
        if {"a number", "a whole number"} & set(kinds) and isinstance(resolve(value), int | float):
            return f"write {value} without quotes"
        if "true or false" in kinds and value.lower() in _YES_OR_NO:
            return f"write {_YES_OR_NO[value.lower()]}"
        if "a list" in kinds:
            return "put it in square brackets"
    return ""
