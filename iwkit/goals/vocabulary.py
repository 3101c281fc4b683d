"""The names that a pack's conditions may use: its entities with categories and traits, its windows and steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from iwkit.goals.terms import AnyOf, Name, Target

Trait = Literal[
    "movable", "surface", "container", "openable", "device", "machine", "seat", "room", "fixture", "door", "wearer",
    "carrier",
]  # fmt: skip
TRAITS: frozenset[str] = frozenset(get_args(Trait))


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of the pack. `traits` are words of `Trait`: what can be done with it."""

    name: str
    category: str
    traits: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        unknown = sorted(self.traits - TRAITS)
        if unknown:
            raise ValueError(
                f"entity {self.name}: unknown trait {unknown[0]!r}; traits are {', '.join(sorted(TRAITS))}"
            )


@dataclass(frozen=True)
class Vocabulary:
    """Names in scope. `steps` are the ids of opening and plan.

    `called` and `category_called` serve hints alone: other words for entities and categories (the scene's own names,
    what people say) -> the name here.
    """

    entities: Mapping[str, Entity]
    windows: frozenset[str] = frozenset()
    steps: frozenset[str] = frozenset()
    called: Mapping[str, str] = field(default_factory=dict)
    category_called: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """Category -> names of its entities, sorted."""
        found: dict[str, list[str]] = {}
        for name in sorted(self.entities):
            found.setdefault(self.entities[name].category, []).append(name)
        return {category: tuple(names) for category, names in found.items()}

    @cached_property
    def movable(self) -> tuple[str, ...]:
        """Names of the movable entities, sorted."""
        return tuple(name for name in sorted(self.entities) if "movable" in self.entities[name].traits)

    def candidates(self, target: Target) -> tuple[str, ...]:
        """The names a target may stand for: () for a category that the pack has none of."""
        if isinstance(target, Name):
            return (target.name,)
        if isinstance(target, AnyOf):
            return target.names
        return self.categories.get(target.category, ())
