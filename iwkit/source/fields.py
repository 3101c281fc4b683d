"""Which fields a pydantic model has at a place, for suggestions."""

from __future__ import annotations

import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from iwkit.source.patterns import FORMS
from iwkit.source.scalars import resolve


def names(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """The fields, sorted, that a mapping may have at `loc`, a place as pydantic's errors give it."""
    return sorted({name for kind in _at(model, loc) if _is_model(kind) for name in _fields(kind)})


def example(model: type[BaseModel], loc: Sequence[str | int], name: str) -> str:
    """What a missing field takes, as an author writes it: the words that are allowed, or `VALUE` and its form. `loc`
    ends at the field, or at the mapping that lacks it."""
    owner = loc[:-1] if loc and loc[-1] == name else loc
    found = [_infos(kind)[name] for kind in _at(model, owner) if _is_model(kind) and name in _infos(kind)]
    allowed = [value for info in found if get_origin(info.annotation) is Literal for value in get_args(info.annotation)]
    if allowed:
        return " or ".join(_written(value) for value in dict.fromkeys(allowed))
    patterns = [getattr(note, "pattern", None) for info in found for note in info.metadata]
    return next((f"VALUE; {FORMS[pattern].hint}" for pattern in patterns if pattern in FORMS), "VALUE")


def _written(value: Any) -> str:
    """A value of a Literal in YAML: text that would be read as something else is quoted."""
    return f'"{value}"' if isinstance(value, str) and resolve(value) != value else str(value)


def _at(model: type[BaseModel], loc: Sequence[str | int]) -> list[Any]:
    """The types that a value at `loc` may have."""
    here: list[Any] = [model]
    for part in loc:
        inner = [kind for outer in here for kind in _step(outer, part)]
        # A part that leads nowhere is the tag of a union's branch: only that branch's models are meant.
        here = inner or [kind for kind in here if _is_branch(kind, part)] or here
    return here


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _infos(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {info.alias or name: info for name, info in model.model_fields.items()}


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {name: info.annotation for name, info in _infos(model).items()}


def _is_branch(kind: Any, tag: str | int) -> bool:
    if not _is_model(kind):
        return False
    allowed = [get_args(note) for note in _fields(kind).values() if get_origin(note) is Literal]
    return kind.__name__ == tag or any(tag in values for values in allowed)


def _step(kind: Any, part: str | int) -> Iterator[Any]:
    """The types one step down from `kind`."""
    if _is_model(kind):
        if part in _fields(kind):
            yield from _alternatives(_fields(kind)[str(part)])
        return
    origin, args = get_origin(kind), get_args(kind)
    if not isinstance(origin, type) or not args:
        return
    if issubclass(origin, Mapping) and isinstance(part, str):
        yield from _alternatives(args[1])
    elif issubclass(origin, Collection) and not issubclass(origin, Mapping) and isinstance(part, int):
        fixed = origin is tuple and args[-1] is not Ellipsis
        yield from _alternatives(args[part if fixed and part < len(args) else 0])


def _alternatives(note: Any) -> Iterator[Any]:
    """The members of a union, however it is written; any other type by itself."""
    origin = get_origin(note)
    if origin is Annotated:
        yield from _alternatives(get_args(note)[0])
    elif origin is Union or origin is types.UnionType:
        for member in get_args(note):
            yield from _alternatives(member)
    else:
        yield note
