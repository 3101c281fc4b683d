"""Check names against a vocabulary: unknown ones, and entities that cannot take the place that they are given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iwkit.goals.terms import FLOOR, WEARER, AnyOf, Category, Path, Target
from iwkit.goals.vocabulary import Vocabulary
from iwkit.predicates import ArgKind
from iwkit.suggest import did_you_mean, listed

ARG_TRAITS: dict[ArgKind, frozenset[str]] = {
    "thing": frozenset({"movable"}),
    "support": frozenset({"surface", "carrier"}),
    "container": frozenset({"container"}),
    "openable": frozenset({"openable", "door"}),
    "device": frozenset({"device", "machine"}),
    "machine": frozenset({"machine"}),
    "seat": frozenset({"seat"}),
    "room": frozenset({"room"}),
}
"""Kind of argument -> traits of which an entity must have one; the other kinds take any entity."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, where inside the checked data, and what to do. `code` is of `iwkit.goals.codes`."""

    path: Path
    code: str
    message: str
    hint: str = ""


Findings = Iterator[Finding]


def check_window(name: str, path: Path, vocabulary: Vocabulary) -> Findings:
    if name not in vocabulary.windows:
        there = listed(sorted(vocabulary.windows))
        hint = did_you_mean(name, vocabulary.windows) or f"the windows of the pack: {there}"
        yield Finding(path, "G523", f"there is no window `{name}`", hint)


def check_target(
    target: Target,
    path: Path,
    vocabulary: Vocabulary,
    kind: ArgKind | None = None,
    where: str = "",
    *,
    wearer: bool = False,
) -> Findings:
    """Unknown names, and names that do not fit. Of a category at least one entity must fit."""
    if isinstance(target, Category):
        yield from _category(target, (*path, "category"), vocabulary, kind, where)
        return
    names = vocabulary.candidates(target)
    for i, name in enumerate(names):
        place = (*path, "any_of", i) if isinstance(target, AnyOf) else path
        if name == WEARER and wearer:
            continue
        if name not in vocabulary.entities or name == WEARER:
            yield Finding(place, "G520", f"there is no entity `{name}`", _instead(name, vocabulary, kind))
        elif not _fits(name, vocabulary, kind):
            yield Finding(
                place, "G522", f"`{name}` does not fit {where}, which needs {_needed(kind)}", _has(name, vocabulary)
            )


def _category(target: Category, path: Path, vocabulary: Vocabulary, kind: ArgKind | None, where: str) -> Findings:
    names = vocabulary.candidates(target)
    if not names:
        hint = did_you_mean(target.category, vocabulary.categories, vocabulary.category_called)
        hint = hint or f"the pack's things are of {listed(_of_objects(vocabulary))}"
        yield Finding(path, "G521", f"there is no entity of category `{target.category}`", hint)
    elif not any(_fits(name, vocabulary, kind) for name in names):
        message = f"no `{target.category}` fits {where}, which needs {_needed(kind)}"
        yield Finding(path, "G522", message, _has(names[0], vocabulary))


def _instead(name: str, vocabulary: Vocabulary, kind: ArgKind | None) -> str:
    """What to write where a name is no entity."""
    if name == WEARER:
        here = f"name the {kind} itself" if kind not in (None, "entity") else "name the thing itself"
        return f"the wearer is named in near and in_room alone: here {here}"
    if name == FLOOR:
        return "write {on_floor: x} for what lies on the floor"
    if name in vocabulary.called:
        return f"it is called `{vocabulary.called[name]}` in this pack"
    return did_you_mean(name, vocabulary.entities) or "declare it under entities"


def _of_objects(vocabulary: Vocabulary) -> list[str]:
    return sorted({vocabulary.entities[name].category for name in vocabulary.movable})


def _fits(name: str, vocabulary: Vocabulary, kind: ArgKind | None) -> bool:
    needed = ARG_TRAITS.get(kind) if kind is not None else None
    return needed is None or bool(needed & vocabulary.entities[name].traits)


def _needed(kind: ArgKind | None) -> str:
    return " or ".join(sorted(ARG_TRAITS[kind])) if kind is not None else ""


def _has(name: str, vocabulary: Vocabulary) -> str:
    return f"{name} is " + (", ".join(sorted(vocabulary.entities[name].traits)) or "nothing of the kind")
