"""The checks of a `human-policy/1.0` file (SEM-8): its graph, its guards, and its names against the pack's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path as File
from typing import Final

from iwkit import resources
from iwkit.catalogue import CODE_LIKE, code_like
from iwkit.compile import CompiledTask, load_task
from iwkit.compile.bind import unknown
from iwkit.errors import GrammarError, Problems
from iwkit.goals.check import check_condition
from iwkit.goals.parsers import is_over_states
from iwkit.goals.terms import AllOf, Condition
from iwkit.goals.terms import Name as Thing
from iwkit.goals.terms import State as Fact
from iwkit.grammar import Command, parse
from iwkit.library import Library, files_in, home_of
from iwkit.problems import Problem
from iwkit.source.check import check as check_schema
from iwkit.source.document import Document, Path
from iwkit.source.kind import kind_of
from iwkit.source.reader import read
from iwkit.spec.policy import ACTS, Branch, Policy, Said, State
from iwkit.suggest import did_you_mean, listed
from iwkit.verbs import BY_NAME
from iwkit_validators.affordance import Probe
from iwkit_validators.guards import exclusive
from iwkit_validators.places import WATCH

HINT_OF_PACK: Final = "keep the policy in the project that holds the pack, or name a pack that ships with iwkit"


def validate_policy(path: File, library: Library) -> None:
    """Check a policy file against the pack that it names.

    Raises:
        Problems: everything that is wrong with it.
    """
    doc = read(path)
    policy = check_schema(doc, Policy)
    pack = _pack_of(policy, path)
    if pack is None:
        message = f"no pack {policy.task!r} in this project, nor among those of iwkit"
        raise Problems([doc.problem(("task",), "H801", message, HINT_OF_PACK)])
    try:
        task = load_task(pack, library)
    except Problems as error:
        message = f"the pack has problems of its own: {error.problems[0]}"
        raise Problems([doc.problem(("task",), "H802", message, f"first mend {pack.name}")]) from None
    _raise(check(doc, policy, task))


def load_policy(path: File, task: CompiledTask) -> Policy:
    """A policy for a task that is to be played.

    Raises:
        Problems: it is unsound, or written for another task.
    """
    doc = read(path)
    policy = check_schema(doc, Policy)
    if policy.task != task.id:
        message = f"the policy is for {policy.task}, not for {task.id}"
        raise Problems([doc.problem(("task",), "H803", message, f"run it on {policy.task} alone")])
    _raise(check(doc, policy, task))
    return policy


def check(doc: Document, policy: Policy, task: CompiledTask) -> list[Problem]:
    """Everything that is wrong with a policy for a task, sorted by place."""
    names = list(_names(doc, policy))
    graph = [] if names else [*_cycles(doc, policy), *_unreachable(doc, policy)]
    parts = [
        *_states(doc, policy, task),
        *_overlaps(doc, policy),
        *_commands(doc, policy, task),
        *_said(doc, policy, task),
    ]
    return sorted([*names, *graph, *parts])


def _raise(problems: list[Problem]) -> None:
    if problems:
        raise Problems(problems)


def _pack_of(policy: Policy, path: File) -> File | None:
    shipped = resources.root("taskpacks")
    files = (file for home in (home_of(path), shipped) for file in files_in(home) if file.stem == policy.task)
    return next((file for file in files if kind_of(file) == "taskpack"), None)


# --- the graph ------------------------------------------------------------------------------------------------------


def _edges(policy: Policy, name: str) -> Iterator[tuple[Path, str]]:
    """The states that one leads to, each with the path of its name."""
    state = policy.states[name]
    for i, branch in enumerate(state.branches):
        yield ("states", name, "branches", i, "to"), branch.to
    if state.default is not None:
        yield ("states", name, "default"), state.default


def _names(doc: Document, policy: Policy) -> Iterator[Problem]:
    edges: list[tuple[Path, str]] = [(("start",), policy.start)]
    edges += [edge for name in policy.states for edge in _edges(policy, name)]
    for path, to in edges:
        if to not in policy.states:
            hint = did_you_mean(to, policy.states) or f"its states are {listed(sorted(policy.states))}"
            yield doc.problem(path, "H804", f"no state {to!r}", hint)


def _cycles(doc: Document, policy: Policy) -> Iterator[Problem]:
    """Each edge that leads back to a state from which it was reached. Depth first, without recursion."""
    done: set[str] = set()
    for root in policy.states:
        if root in done:
            continue
        trail, stack = [root], [_edges(policy, root)]
        while stack:
            path, to = next(stack[-1], (None, ""))
            if path is None:
                done.add(trail.pop())
                stack.pop()
            elif to in trail:
                way = " -> ".join([*trail[trail.index(to) :], to])
                yield doc.problem(path, "H810", f"the states go round: {way}", "lead to a later state, or to an end")
            elif to not in done:
                trail.append(to)
                stack.append(_edges(policy, to))


def _unreachable(doc: Document, policy: Policy) -> Iterator[Problem]:
    reached, queue = set[str](), [policy.start]
    while queue:
        name = queue.pop()
        if name not in reached:
            reached.add(name)
            queue += [to for _, to in _edges(policy, name)]
    for name in policy.states:
        if name not in reached:
            message = f"nothing leads to the state {name!r}"
            yield doc.problem(("states", name), "H811", message, "lead a branch to it, or remove it", key=True)


# --- single states --------------------------------------------------------------------------------------------------


def _states(doc: Document, policy: Policy, task: CompiledTask) -> Iterator[Problem]:
    for name, state in policy.states.items():
        path: Path = ("states", name)
        if state.end and (state.branches or state.default is not None):
            field = "branches" if state.branches else "default"
            yield doc.problem((*path, field), "H815", "an end leads nowhere", f"remove {field}, or end: true", key=True)
        elif not state.end:
            yield from _leads_on(doc, state, path)
        if state.meanwhile == "plan" and task.pack.source_family != WATCH:
            message = f"only under {WATCH} has the wearer a plan of its own"
            yield doc.problem((*path, "meanwhile"), "H816", message, "write meanwhile: wait, or leave it out")
        if state.say is not None and (code := CODE_LIKE.search(state.say)) is not None:
            message, hint = code_like(code.group())
            at = (*path, "say")
            yield Problem(doc.file, doc.inside(at, code.start()), "I620", message, hint)


def _leads_on(doc: Document, state: State, path: Path) -> Iterator[Problem]:
    if all(branch.when.timeout is None for branch in state.branches):
        message = "without a timeout this state may wait for ever"
        yield doc.problem(path, "H812", message, "add {when: {timeout: 10}, to: ...}, or end: true", key=True)
    if state.default is None:
        message = "nothing says what comes of speech that no branch means, or of a refused command"
        yield doc.problem(path, "H813", message, "add default: STATE", key=True)


def _overlaps(doc: Document, policy: Policy) -> Iterator[Problem]:
    """Pairs of branches between which only their order would decide. Speech is asked first, then the state of the
    world, then time: branches of different kinds do not overlap."""
    for name, state in policy.states.items():
        for (i, first), (j, second) in combinations(enumerate(state.branches), 2):
            if _can_both_hold(first, second):
                message = f"branch {j + 1} can hold together with branch {i + 1}"
                hint = "make their states exclusive, as {open: fridge} and {closed: fridge} are, or join the two"
                yield doc.problem(("states", name, "branches", j, "when"), "H814", message, hint, key=True)


def _can_both_hold(first: Branch, second: Branch) -> bool:
    one, other = first.when, second.when
    if one.timeout is not None or other.timeout is not None:
        return one.timeout is not None and other.timeout is not None
    if one.said is not None and other.said is not None:
        assert one.and_ is not None and other.and_ is not None  # noqa: S101  the schema says so
        return meaning(one.said) == meaning(other.said) and not exclusive(one.and_, other.and_)
    if one.state is not None and other.state is not None:
        return not exclusive(one.state, other.state)
    return False


def meaning(said: Said) -> tuple[str, tuple[str, ...], frozenset[Condition]]:
    """What two tuples are compared by: the order in which facts are told makes no difference."""
    return said.intent, said.referents, frozenset(said.facts)


# --- names ----------------------------------------------------------------------------------------------------------


def _commands(doc: Document, policy: Policy, task: CompiledTask) -> Iterator[Problem]:
    probe = Probe(task)
    for name, state in policy.states.items():
        for i, text in enumerate(state.do):
            path: Path = ("states", name, "do", i)
            try:
                command = parse(text)
            except GrammarError as error:
                yield Problem(doc.file, doc.inside(path, error.at), error.code, error.message, error.hint)
                continue
            wrong = list(_arguments(doc, command, path, task))
            yield from wrong
            receipt = None if wrong else probe.asked_wrongly(command)
            if receipt is not None:
                yield doc.problem(path, "A402", f"{text}: {receipt.text}", "ask for what its kind can do")


def _arguments(doc: Document, command: Command, path: Path, task: CompiledTask) -> Iterator[Problem]:
    for i, ref in enumerate(command.args):
        if i in BY_NAME[command.primitive].connectors:
            continue
        if ref.name not in task.things:
            yield doc.problem(path, "N201", f"no entity {ref.name!r}", unknown(ref.name, task.things))
        elif ref.index != 1:
            message = f"{ref.name!r} is one entity and takes no index"
            yield doc.problem(path, "N215", message, f"write <{ref.name}>")


def _said(doc: Document, policy: Policy, task: CompiledTask) -> Iterator[Problem]:
    """Conditions, referents and facts of the branches."""
    for name, state in policy.states.items():
        for i, branch in enumerate(state.branches):
            path: Path = ("states", name, "branches", i, "when")
            for field, condition in (("state", branch.when.state), ("and", branch.when.and_)):
                if condition is not None:
                    yield from _condition(doc, condition, (*path, field), task)
            if branch.when.said is not None:
                yield from _tuple(doc, branch.when.said, (*path, "said"), task)


def _condition(doc: Document, condition: Condition, path: Path, task: CompiledTask) -> Iterator[Problem]:
    if not is_over_states(condition):
        message = "a branch asks how the world is now, not what happened"
        yield doc.problem(path, "H817", message, "write a state, such as {on: [cup, table]}", key=True)
        return
    if isinstance(condition, AllOf) and any(exclusive(a, b) for a, b in combinations(condition.conditions, 2)):
        yield doc.problem(path, "H818", "this can never be true: its parts exclude each other", "remove one", key=True)
    for found in check_condition(condition, task.vocabulary, "gates"):
        yield doc.problem((*path, *found.path), found.code, found.message, found.hint)


def _tuple(doc: Document, said: Said, path: Path, task: CompiledTask) -> Iterator[Problem]:
    most, least = _referents_of(said.intent)
    if not least <= len(said.referents) <= most:
        takes = f"{least}" if least == most else f"{least} or {most}"
        at = (*path, "referents") if said.referents else path
        order = f": {', '.join(BY_NAME[said.intent].args[:most])}" if said.intent in ACTS and most else ""
        message = f"{said.intent} takes {takes} referents, not {len(said.referents)}"
        yield doc.problem(at, "H819", message, f"give {takes}{order}", key=True)
    for i, name in enumerate(said.referents):
        if name not in task.things:
            at = (*path, "referents", i)
            yield doc.problem(at, "N201", f"no entity {name!r}", unknown(name, task.things))
    if said.intent == "tell" and not said.facts:
        yield doc.problem(path, "H820", "what is told is missing", "add facts: [{open: fridge}]", key=True)
    yield from _facts(doc, said.facts, (*path, "facts"), task)


def _referents_of(intent: str) -> tuple[int, int]:
    """How many referents an intent has, at most and at least: the entities of its primitive."""
    if intent not in ACTS:
        return 0, 0
    row = BY_NAME[intent]
    most = len(row.args) - len(row.connectors)
    return most, most - max(0, row.optional - len(row.connectors))


def _facts(doc: Document, facts: Iterable[Condition], path: Path, task: CompiledTask) -> Iterator[Problem]:
    for i, fact in enumerate(facts):
        at = (*path, i)
        if not isinstance(fact, Fact) or not all(isinstance(arg, Thing) for arg in fact.args):
            message = "a fact is one predicate of named things"
            yield doc.problem(at, "H821", message, "write it like {inside: [milk, fridge]}", key=True)
            continue
        for found in check_condition(fact, task.vocabulary, "gates"):
            yield doc.problem((*at, *found.path), found.code, found.message, found.hint)
