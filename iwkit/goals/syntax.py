"""Conditions, event patterns and `when` from plain data, alone or as fields of a pydantic model.

Names are not looked up here: `iwkit.goals.check` does that against a pack's vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from iwkit.goals.parsers import read_condition, read_pattern, read_patterns
from iwkit.goals.plain import GoalSyntaxError, describe
from iwkit.goals.schema import definitions
from iwkit.goals.terms import Condition, Data, Handoff, Pattern, When
from iwkit.suggest import did_you_mean

__all__ = [
    "Condition",
    "ConditionField",
    "GoalSyntaxError",
    "Pattern",
    "PatternField",
    "PatternsField",
    "When",
    "WhenField",
    "parse_condition",
    "parse_pattern",
    "parse_patterns",
    "parse_when",
]


def parse_condition(data: Data) -> Condition:
    """Read one condition (sections 3 to 5).

    Raises:
        GoalSyntaxError: the data is no condition; says where and what to do.
    """
    return read_condition(data, (), 1)


def parse_pattern(data: Data) -> Pattern:
    """Read one event pattern (section 6). Raises GoalSyntaxError."""
    return read_pattern(data, (), 1)


def parse_patterns(data: Data) -> tuple[Pattern, ...]:
    """Read one event pattern or a list of them. Raises GoalSyntaxError."""
    return read_patterns(data, (), 1) if isinstance(data, list | tuple) else (parse_pattern(data),)


def parse_when(data: Data) -> When:
    """Read `handoff`, `{after: step}` or an event pattern (section 7). Raises GoalSyntaxError."""
    if data == "handoff":
        return Handoff()
    if not isinstance(data, dict):
        hint = did_you_mean(data, ["handoff"]) or "write handoff, {after: step} or an event pattern"
        raise GoalSyntaxError("G501", f"{describe(data)} is no `when`", (), hint)
    return parse_pattern(data)


def _to_data(value: Any) -> Data:
    if isinstance(value, tuple):
        return value[0].to_data() if len(value) == 1 else [pattern.to_data() for pattern in value]
    return value.to_data()


@dataclass(frozen=True)
class _Field:
    """Makes a parser the validator of a pydantic field, and a definition of `iwkit.goals.schema` its JSON Schema."""

    parse: Callable[[Data], Any]
    definition: str

    def _validate(self, data: Any) -> Any:
        try:
            return self.parse(data)
        except GoalSyntaxError as error:
            context = {"problem": error.message, "path": error.path, "hint": error.hint}
            raise PydanticCustomError("goal", "{problem}", context | {"code": error.code, "key": error.key}) from None

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        serializer = core_schema.plain_serializer_function_ser_schema(_to_data)
        return core_schema.no_info_plain_validator_function(self._validate, serialization=serializer)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(definitions(self.definition))


ConditionField = Annotated[Condition, _Field(parse_condition, "Condition")]
PatternField = Annotated[Pattern, _Field(parse_pattern, "Pattern")]
PatternsField = Annotated[tuple[Pattern, ...], _Field(parse_patterns, "Patterns")]
WhenField = Annotated[When, _Field(parse_when, "When")]
