"""Check conditions, windows and atoms against the names of a pack: what is unknown, and what can never come out.

Paths follow the form that `to_data()` writes: where a pack writes a short pattern in its long form, a path may end
one key early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from iwkit.errors import GrammarError
from iwkit.events import EVENT_KINDS, WORDS, RoleKind
from iwkit.goals.commands import read_pattern
from iwkit.goals.names import Finding, Findings, check_target, check_window
from iwkit.goals.terms import (
    FLOOR,
    AllOf,
    AnyOf,
    Becomes,
    Before,
    Category,
    Condition,
    Count,
    EventPattern,
    Exactly,
    Handoff,
    Happened,
    InOrder,
    Match,
    Multiset,
    Name,
    Never,
    NeverMoved,
    Not,
    Partition,
    Path,
    Pattern,
    RoleTest,
    SomeOf,
    State,
    Target,
    Until,
    When,
    Within,
    Word,
)
from iwkit.goals.timeline import uses_of
from iwkit.goals.vocabulary import Vocabulary
from iwkit.goals.wording import arg_text
from iwkit.grammar import Command
from iwkit.predicates import PREDICATES, ArgKind
from iwkit.spec.base import duplicates
from iwkit.spec.goal import Atom, Goal, Named, Window
from iwkit.suggest import did_you_mean, listed
from iwkit.verbs import BY_NAME

__all__ = ["Block", "Finding", "check_condition", "check_goal", "check_ids", "check_pattern", "check_when"]

Block = Literal["evidence", "achieve", "keep", "gates"]

ROLE_ARGS: dict[RoleKind, ArgKind] = {"room": "room", "seat": "seat", "device": "device"}
"""Kind of role -> the kind of argument that it is like."""
OBJECT_ARGS: dict[str, ArgKind] = {"grabbed": "thing", "released": "thing", "opened": "openable", "closed": "openable"}
"""Kind of event -> what its object must be; other events may happen to any entity."""
OF_WEARER = frozenset({"near", "in_room"})
"""Predicates that the wearer can be an argument of."""
FROM_HANDOFF = frozenset({"at_baseline", "unmoved"})
"""Predicates that compare with the handoff and so are always true there."""
OF_VIEW = frozenset({"visible", "became_visible", "left_view"})
"""Predicates and events of what the wearer sees: objects and fixtures."""
NEVER_SEEN = {"room": "`in_room` and `entered` tell of a room", "door": "`open`, `closed` and `opened` tell of a door"}
"""Trait of what never counts as in view -> what to say of it instead."""
SEEN = frozenset({"movable", "fixture"})
"""Traits of what does; a name that is complained about elsewhere has every trait."""


def check_condition(condition: Condition, vocabulary: Vocabulary, block: Block) -> list[Finding]:
    """Everything wrong with one condition of a block, in the order of the text."""
    return list(_condition(condition, (), vocabulary, block))


def check_pattern(pattern: Pattern, vocabulary: Vocabulary) -> list[Finding]:
    """Everything wrong with one event pattern."""
    return list(_pattern(pattern, (), vocabulary))


def check_when(when: When, vocabulary: Vocabulary) -> list[Finding]:
    """Everything wrong with one `when`."""
    return [] if isinstance(when, Handoff) else check_pattern(when, vocabulary)


def check_goal(
    goal: Goal, evidence: Sequence[Named], windows: Sequence[Window], atoms: Sequence[Atom], vocabulary: Vocabulary
) -> list[Finding]:
    """Everything wrong with the blocks of a pack; paths begin at what holds `goal`, `evidence`, `windows`, `atoms`."""
    blocks: tuple[tuple[Path, Block, Sequence[Named]], ...] = (
        (("evidence",), "evidence", evidence),
        (("goal", "achieve"), "achieve", goal.achieve),
        (("goal", "keep"), "keep", goal.keep),
        (("goal", "gates"), "gates", goal.gates),
    )
    found = [*_blocks(blocks, vocabulary), *_needs(goal), *_windows(windows, vocabulary), *_atoms(atoms, vocabulary)]
    if not goal.achieve:
        found.append(Finding(("goal", "achieve"), "G533", "the goal has nothing to achieve", "name a condition"))
    return found


def _blocks(blocks: Iterable[tuple[Path, Block, Sequence[Named]]], vocabulary: Vocabulary) -> Findings:
    places: list[tuple[Path, str]] = []
    for path, block, conditions in blocks:
        for i, named in enumerate(conditions):
            places.append(((*path, i, "id"), named.id))
            yield from _condition(named.that, (*path, i, "that"), vocabulary, block)
    yield from check_ids("condition", places)


def check_ids(what: str, places: Sequence[tuple[Path, str]]) -> Findings:
    """Ids of one kind that are used more than once, told at each use but the first."""
    for id_ in duplicates([id_ for _, id_ in places]):
        for path in [path for path, other in places if other == id_][1:]:
            yield Finding(path, "G530", f"the {what} id `{id_}` is used twice", "give each its own id")


def _needs(goal: Goal) -> Findings:
    needs = {c.id: c.needs for c in goal.achieve}
    for i, condition in enumerate(goal.achieve):
        for j, need in enumerate(condition.needs):
            path = ("goal", "achieve", i, "needs", j)
            if need not in needs:
                hint = did_you_mean(need, needs) or f"only conditions of achieve can be needed: {listed(needs)}"
                yield Finding(path, "G531", f"`needs` names no condition of achieve: `{need}`", hint)
            elif condition.id in _reached(need, needs):
                yield Finding(path, "G532", f"`{condition.id}` needs itself through `{need}`", "take one away")


def _reached(start: str, needs: dict[str, tuple[str, ...]]) -> set[str]:
    found: set[str] = set()
    queue = [start]
    while queue:
        id_ = queue.pop()
        if id_ not in found:
            found.add(id_)
            queue.extend(needs.get(id_, ()))
    return found


def _windows(windows: Sequence[Window], vocabulary: Vocabulary) -> Findings:
    uses = {w.id: uses_of(w.opens, w.closes).windows for w in windows}
    yield from check_ids("window", [(("windows", i, "id"), w.id) for i, w in enumerate(windows)])
    for i, window in enumerate(windows):
        yield from _edges(window, ("windows", i), vocabulary)
        if any(window.id in _reached(used, uses) for used in uses[window.id]):
            yield Finding(("windows", i), "G534", f"the window `{window.id}` depends on itself", "open it by an event")


def _edges(item: Window | Atom, path: Path, vocabulary: Vocabulary) -> Findings:
    for key, when in (("opens", item.opens), ("closes", item.closes)):
        if when is not None:
            yield from _under(check_when(when, vocabulary), (*path, key))


def _atoms(atoms: Sequence[Atom], vocabulary: Vocabulary) -> Findings:
    yield from check_ids("atom", [(("atoms", i, "id"), a.id) for i, a in enumerate(atoms)])
    for i, atom in enumerate(atoms):
        path = ("atoms", i)
        yield from _edges(atom, path, vocabulary)
        if atom.window is not None:
            yield from check_window(atom.window, (*path, "window"), vocabulary)
        for key, patterns in (("pass", atom.passes), ("wrong", atom.wrong or ())):
            for j, pattern in enumerate(patterns):
                yield from _pattern(pattern, (*path, key, j) if len(patterns) > 1 else (*path, key), vocabulary)


def _under(findings: Iterable[Finding], path: Path) -> Findings:
    return (replace(f, path=(*path, *f.path)) for f in findings)


# Conditions


def _condition(condition: Condition, path: Path, vocabulary: Vocabulary, block: Block) -> Findings:
    inner = (*path, next(iter(condition.to_data())))
    match condition:
        case State():
            yield from _state(condition, inner, vocabulary, block)
        case AllOf() | SomeOf():
            for i, c in enumerate(condition.conditions):
                yield from _condition(c, (*inner, i), vocabulary, block)
        case Not():
            yield from _condition(condition.condition, inner, vocabulary, block)
        case Count():
            yield from _condition(condition.that, (*inner, "that"), vocabulary, block)
            yield from _count(condition, inner, vocabulary)
        case Exactly():
            yield from _exactly(condition, inner, vocabulary)
        case Partition():
            yield from _partition(condition, inner, vocabulary)
        case Match():
            yield from _match(condition, inner, vocabulary)
        case _:
            yield from _event_condition(condition, inner, vocabulary, block)


def _event_condition(condition: Condition, path: Path, vocabulary: Vocabulary, block: Block) -> Findings:
    match condition:
        case NeverMoved():
            yield from check_target(condition.thing, path, vocabulary)
        case Before():
            yield from _pattern(condition.first, (*path, 0), vocabulary)
            yield from _pattern(condition.second, (*path, 1), vocabulary)
        case InOrder() | Multiset():
            for i, pattern in enumerate(condition.patterns):
                yield from _pattern(pattern, (*path, i), vocabulary)
        case Until():
            yield from _condition(condition.condition, (*path, 0), vocabulary, block)
            yield from _pattern(condition.event, (*path, 1), vocabulary)
        case Within():
            parts = (("that", condition.that), ("after", condition.after), ("until", condition.until))
            for key, part in parts:
                if part is not None:
                    yield from _pattern(part, (*path, key), vocabulary)
            if condition.window is not None:
                yield from check_window(condition.window, (*path, "window"), vocabulary)
        case Happened() | Never():
            yield from _pattern(condition.pattern, path, vocabulary)


def _state(condition: State, path: Path, vocabulary: Vocabulary, block: Block) -> Findings:
    name = condition.predicate
    if block == "evidence" and name in FROM_HANDOFF:
        hint = "evidence is judged at the handoff: say where the thing is"
        yield Finding(path, "G528", f"`{name}` is always true at the handoff", hint)
    for i, (kind, arg) in enumerate(zip(PREDICATES[name].args, condition.args, strict=True)):
        place = path if len(condition.args) == 1 else (*path, i)
        if isinstance(arg, Name | Category | AnyOf):
            yield from check_target(
                arg, place, vocabulary, kind, f"`{name}`", wearer=name in OF_WEARER and kind == "entity"
            )
            yield from _seen(name, arg, place, vocabulary)


def _seen(word: str, target: Target, path: Path, vocabulary: Vocabulary) -> Findings:
    entities = [e for name in vocabulary.candidates(target) if (e := vocabulary.entities.get(name)) is not None]
    for trait, hint in NEVER_SEEN.items():
        names = [entity.name for entity in entities if trait in entity.traits and not SEEN & entity.traits]
        if word in OF_VIEW and names:
            message = f"`{word}` is never true of `{names[0]}`: a {trait} is never in view as a thing"
            yield Finding(path, "G529", message, hint)


def _count(condition: Count, path: Path, vocabulary: Vocabulary) -> Findings:
    counted = next(arg for arg in condition.that.args if isinstance(arg, Category | AnyOf))
    most = len(vocabulary.candidates(counted))
    if condition.bound != "at_most" and 0 < most < condition.number:
        yield Finding((*path, condition.bound), "G527", f"there are only {most} candidates, not {condition.number}")


def _place(by: str, name: str, path: Path, vocabulary: Vocabulary) -> Findings:
    kind: ArgKind = "container" if by == "inside" else "support"
    yield from check_target(Name(name), path, vocabulary, kind, f"`{by}`")


def _things(names: Sequence[str], path: Path, vocabulary: Vocabulary) -> Findings:
    for i, name in enumerate(names):
        yield from check_target(Name(name), (*path, i), vocabulary, "thing", "the list")


def _exactly(condition: Exactly, path: Path, vocabulary: Vocabulary) -> Findings:
    yield from _place(condition.by, condition.place, (*path, "in" if condition.by == "inside" else "on"), vocabulary)
    yield from _wanted(condition.are, condition.among, (*path, "are"), vocabulary)
    yield from _things(condition.among or (), (*path, "among"), vocabulary)


def _wanted(targets: Sequence[Target], pool: Sequence[str] | None, path: Path, vocabulary: Vocabulary) -> Findings:
    for i, target in enumerate(targets):
        found = list(check_target(target, (*path, i), vocabulary, "thing", "the list"))
        yield from found
        if not found and pool is not None and not set(pool) & set(vocabulary.candidates(target)):
            message = f"`{arg_text(target)}` is none of the things considered"
            yield Finding((*path, i), "G527", message, "add it to the names considered")


def _partition(condition: Partition, path: Path, vocabulary: Vocabulary) -> Findings:
    for place, targets in condition.into:
        yield from _place(condition.by, place, (*path, "into", place), vocabulary)
        yield from _wanted(targets, condition.of, (*path, "into", place), vocabulary)
    yield from _things(condition.of, (*path, "of"), vocabulary)
    placed = sum(len(targets) for _, targets in condition.into)
    if placed != len(condition.of):
        message = f"the places take {placed} things, but `of` names {len(condition.of)}"
        yield Finding((*path, "of"), "G527", message, "every thing of `of` goes to exactly one place")


def _match(condition: Match, path: Path, vocabulary: Vocabulary) -> Findings:
    first, second = PREDICATES[condition.by].args
    for key, names, kind in (("each", condition.each, first), ("to", condition.to, second)):
        for i, name in enumerate(names):
            wearer = condition.by in OF_WEARER
            yield from check_target(Name(name), (*path, key, i), vocabulary, kind, f"`{condition.by}`", wearer=wearer)
    if len(condition.each) > len(condition.to):
        message = f"`each` has {len(condition.each)} names, `to` only {len(condition.to)}"
        yield Finding((*path, "to"), "G527", message, "each needs one of its own")


# Patterns


def _pattern(pattern: Pattern, path: Path, vocabulary: Vocabulary) -> Findings:
    if isinstance(pattern, Becomes):
        yield from _condition(pattern.condition, (*path, "becomes"), vocabulary, "gates")
        return
    inner = (*path, pattern.kind)
    for role, test in pattern.roles:
        yield from _role(pattern, role, test, inner if pattern.short else (*inner, role), vocabulary)
    for key, name in (("during", pattern.during), ("outside", pattern.outside)):
        if name is not None:
            yield from check_window(name, (*inner, key), vocabulary)


def _role(pattern: EventPattern, role: str, test: RoleTest, path: Path, vocabulary: Vocabulary) -> Findings:
    kind = EVENT_KINDS[pattern.kind].role(role) or "entity"
    if isinstance(test, Word):
        yield from _WORD_CHECKS[kind](pattern.kind, role, test.text, path, vocabulary)
    elif not (kind == "place" and test == Name(FLOOR)):
        needed = OBJECT_ARGS.get(pattern.kind) if role == "object" else ROLE_ARGS.get(kind)
        yield from check_target(test, path, vocabulary, needed, f"`{pattern.kind}`")
        yield from _seen(pattern.kind, test, path, vocabulary)


def _one_of_words(kind: str, role: str, text: str, path: Path, _vocabulary: Vocabulary) -> Findings:
    words = WORDS[kind, role]
    if text not in words:
        hint = did_you_mean(text, words) or "one of " + ", ".join(words)
        yield Finding(path, "G525", f"`{role}` of `{kind}` is never `{text}`", hint)


def _step(_kind: str, _role: str, text: str, path: Path, vocabulary: Vocabulary) -> Findings:
    if text not in vocabulary.steps:
        hint = did_you_mean(text, vocabulary.steps) or f"the steps are {listed(sorted(vocabulary.steps))}"
        yield Finding(path, "G524", f"there is no step `{text}`", hint)


def _command(_kind: str, _role: str, text: str, path: Path, vocabulary: Vocabulary) -> Findings:
    try:
        command = read_pattern(text)
    except GrammarError as error:
        message = f"the command `{text[:80]}` is not in the grammar: {error.code} {error.message}"
        yield Finding(path, "G526", message, error.hint)
        return
    if not isinstance(command, Command):
        return
    connectors = BY_NAME[command.primitive].connectors
    for ref in (ref for i, ref in enumerate(command.args) if i not in connectors):
        yield from check_target(Name(ref.name), path, vocabulary)
        if ref.index != 1:
            message = f"`{ref.name}` is one entity and takes no index"
            yield Finding(path, "G526", message, f"write <{ref.name}>")


def _free(_kind: str, _role: str, _text: str, _path: Path, _vocabulary: Vocabulary) -> Findings:
    return iter(())


_WORD_CHECKS: dict[RoleKind, Callable[[str, str, str, Path, Vocabulary], Findings]] = {
    "word": _one_of_words,
    "step": _step,
    "command": _command,
    "code": _free,
    "substance": _free,
}
