"""What every schema model shares: strict types, no unknown fields, immutable values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

from iwkit.source import patterns

T = TypeVar("T")


class Model(BaseModel):
    """Base of the schema: types are not coerced, an unknown field is an error, instances do not change."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=True)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


AsTuple = BeforeValidator(_tuple)
"""Lets a YAML list fill a tuple field although types are strict."""
Name = Annotated[str, StringConstraints(pattern=patterns.NAME)]
"""lower_snake: the form of every id and entity name."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=4000)]


def duplicates(values: Iterable[str]) -> list[str]:
    """The values that occur more than once, each once, in order of their second occurrence."""
    seen: set[str] = set()
    found: dict[str, None] = {}
    for value in values:
        if value in seen:
            found[value] = None
        seen.add(value)
    return list(found)
