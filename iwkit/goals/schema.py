"""The JSON Schema of the goal language, made from the tables that the parsers use."""

from __future__ import annotations

from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from iwkit.events import EVENT_KINDS, WORDS, EventKind, RoleKind
from iwkit.goals.parsers import BY_MATCH, BY_PLACE, OPERATORS, WINDOW_KEYS, WORD_ROLES, Operator, Slot
from iwkit.goals.terms import ANY
from iwkit.predicates import PREDICATES, ArgKind
from iwkit.source.patterns import NAME

Json = dict[str, Any]

_NAME: Json = {"type": "string", "pattern": NAME}


def _ref(definition: str) -> Json:
    """A placeholder for a reference, which `_resolve` replaces by the one pydantic gives the definition."""
    return {"definition": definition}


def _list(items: Json, least: int = 1, **more: Any) -> Json:
    return {"type": "array", "items": items, "minItems": least, **more}


def _pair(items: list[Json]) -> Json:
    return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items), "maxItems": len(items)}


def _object(properties: Json, required: tuple[str, ...] = (), **more: Any) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def _one_key(properties: Json, description: str) -> Json:
    return _object(properties, minProperties=1, maxProperties=1, description=description)


_NAMES = _list(_NAME, uniqueItems=True)
_SLOTS: dict[Slot, Json] = {
    "condition": _ref("Condition"),
    "state_condition": _ref("Condition"),
    "state": _ref("Condition"),
    "conditions": _list(_ref("Condition")),
    "pattern": _ref("Pattern"),
    "patterns": _list(_ref("Pattern")),
    "target": _ref("Target"),
    "targets": _list(_ref("Target")),
    "name": _NAME,
    "names": _NAMES,
    "number": {"type": "integer", "minimum": 0},
    "by_place": {"enum": list(BY_PLACE)},
    "by_match": {"enum": list(BY_MATCH)},
    "into": {"type": "object", "additionalProperties": _list(_ref("Target")), "minProperties": 1},
}
_ARGS: dict[ArgKind, Json] = {"room": _NAME, "substance": _NAME, "substances": _list(_NAME)}


def _operator(operator: Operator) -> Json:
    slots = operator.slots
    if isinstance(slots, str):
        return _SLOTS[slots]
    if isinstance(slots, tuple):
        return _pair([_SLOTS[s] for s in slots])
    schema = _object({k: _SLOTS[s] for k, s in slots.items()}, operator.required())
    return schema | {"oneOf": [{"required": [k]} for k in operator.choice]} if operator.choice else schema


def _predicate(name: str) -> Json:
    args = [_ARGS.get(kind, _ref("Target")) for kind in PREDICATES[name].args]
    return args[0] if len(args) == 1 else _pair(args)


def _role(kind: EventKind, role: str, role_kind: RoleKind) -> Json:
    words = WORDS.get((kind.name, role))
    if words:
        return {"enum": [*words, ANY]}
    if role_kind in WORD_ROLES:
        return {"type": "string", "minLength": 1}
    return {"anyOf": [{"const": ANY}, _ref("Target")]}


def _kind(kind: EventKind) -> Json:
    roles = {role: _role(kind, role, role_kind) for role, role_kind in kind.roles}
    long = _object(roles | dict.fromkeys(WINDOW_KEYS, _NAME))
    return {"anyOf": [roles[kind.roles[0][0]], long]}


def _definitions() -> dict[str, Json]:
    conditions = {name: _operator(o) for name, o in OPERATORS.items()} | {name: _predicate(name) for name in PREDICATES}
    events = {name: _kind(kind) for name, kind in EVENT_KINDS.items()} | {"becomes": _ref("Condition")}
    target = [_NAME, _object({"category": _NAME}, ("category",)), _object({"any_of": _NAMES}, ("any_of",))]
    return {
        "Target": {"anyOf": target, "description": "An entity, some entity of a category, or some one of several."},
        "Condition": _one_key(conditions, "An operator or a predicate, and what it takes."),
        "Pattern": _one_key(events, "A kind of event, and its first role or its roles by name."),
        "Patterns": {"anyOf": [_ref("Pattern"), _list(_ref("Pattern"))], "description": "Any of these events."},
        "When": {
            "anyOf": [{"const": "handoff"}, _ref("Pattern")],
            "description": "The handoff, the success of a step, or an event.",
        },
    }


DEFINITIONS = _definitions()


def definitions(wanted: str) -> CoreSchema:
    """A core schema that validates nothing and whose JSON Schema is the definition `wanted` and all it refers to."""
    parts: list[CoreSchema] = [
        core_schema.any_schema(ref=_core_ref(name), metadata={"pydantic_js_functions": [_writer(schema)]})
        for name, schema in DEFINITIONS.items()
    ]
    return core_schema.definitions_schema(core_schema.definition_reference_schema(_core_ref(wanted)), parts)


def _core_ref(definition: str) -> str:
    return f"{__name__}.{definition}"


def _writer(schema: Json) -> Any:
    def write(_schema: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        resolved = _resolve(schema, handler)
        assert isinstance(resolved, dict)  # noqa: S101 - narrows for the type checker
        return resolved

    return write


def _resolve(schema: Any, handler: GetJsonSchemaHandler) -> Any:
    if isinstance(schema, list):
        return [_resolve(item, handler) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.keys() == {"definition"}:
        return handler(core_schema.definition_reference_schema(_core_ref(schema["definition"])))
    return {key: _resolve(value, handler) for key, value in schema.items()}
