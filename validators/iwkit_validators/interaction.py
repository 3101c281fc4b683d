"""The rules of how an episode is played: families, atoms, controls, budget (EVAL-3, BENCH-6, MET-2, SEM-10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, get_args

from iwkit.compile import CompiledTask, Script, ScriptLine
from iwkit.families import families
from iwkit.goals.syntax import When
from iwkit.goals.terms import Handoff
from iwkit.grammar import Command
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.spec.pack import Capability
from iwkit_validators.places import SCRIPTS, WATCH, acts, after

TIMING: Final[tuple[Capability, ...]] = ("C7", "C8")
"""What scores timing under WATCH, and nothing else does (SEM-10)."""


def check(doc: Document, task: CompiledTask) -> list[Problem]:
    """Everything that breaks a rule of I60x and I61x."""
    return [problem for rule in _RULES for problem in rule(doc, task)]


def _commands_at_once(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    family = task.pack.source_family
    limit = families()[family].human.commands
    for name, path in SCRIPTS.items():
        for i, line in enumerate(task.scripts[name].lines):
            acting = [j for j, command in enumerate(line.do) if acts(command)]
            if len(acting) > limit:
                message = f"{len(acting)} commands on one line: under {family} the human takes {limit} at once"
                hint = "one line for each; walking and looking do not count"
                yield doc.problem((*path, i, "do", acting[limit]), "I601", message, hint)


def _watch(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    if task.pack.source_family != WATCH:
        return
    physical = task.pack.physical
    if not physical.windows:
        message = "a WATCH pack has no window in which an error can be spoken of"
        yield doc.problem(("physical", "windows"), "I602", message, "add physical.windows")
    missing = [c for c in TIMING if c not in [atom.capability for atom in physical.atoms]]
    if missing:
        message = f"a WATCH pack has no atom for {' and '.join(missing)}: they score the timing, and nothing else does"
        yield doc.problem(("physical", "atoms"), "I603", message, "add an atom for error detection and one for timing")


def _score(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    family, score = task.pack.source_family, task.pack.physical.goal.score
    wanted = "binary" if family == WATCH else "state"
    if score != wanted:
        message = f"under {family} the score is {wanted}, not {score}"
        yield doc.problem(("physical", "goal", "score"), "I612", message, f"write score: {wanted}")


def _nothing_to_show(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    """Capabilities that need something which the pack does not have."""
    for i, capability in enumerate(task.pack.capabilities):
        if capability in _NEEDED:
            there, message, hint = _NEEDED[capability]
            if not there(task):
                yield doc.problem(("capabilities", i), "I613", f"{capability} {message}", hint)


def _writing(task: CompiledTask) -> bool:
    return any(
        thing.label is not None or "readable" in thing.traits for thing in task.things.values() if thing.declared
    )


def _several_steps(task: CompiledTask) -> bool:
    return sum(acts(command) for line in task.scripts["oracle"].lines for command in line.do) > 1


_NEEDED: Final[dict[Capability, tuple[Callable[[CompiledTask], bool], str, str]]] = {
    "C3": (_writing, "is reading, and nothing that the pack names carries writing", "give what is read a `label`"),
    "C5": (_several_steps, "is planning, and the oracle asks for one thing alone", "let there be an order to find"),
}
"""Capability -> what has to be there for it, and what to say where it is not."""


def _capabilities(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    listed, atoms = task.pack.capabilities, task.pack.physical.atoms
    for i, atom in enumerate(atoms):
        if atom.capability not in listed:
            message = f"atom '{atom.id}' is of {atom.capability}, which the pack does not list"
            path = ("physical", "atoms", i, "capability")
            yield doc.problem(path, "I604", message, f"capabilities are {', '.join(listed)}")
    for i, capability in enumerate(listed):
        if capability not in [atom.capability for atom in atoms]:
            known = ", ".join(c for c in get_args(Capability) if c in [atom.capability for atom in atoms])
            hint = f"add an atom, or leave it out; there are atoms for {known or 'none'}"
            yield doc.problem(("capabilities", i), "I605", f"no atom shows {capability}", hint)


def _ends(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    for name, path in SCRIPTS.items():
        lines = task.scripts[name].lines
        done = next((i for i, line in enumerate(lines) if line.say is None), None)
        if done is None:
            hint = "end it with {done: true}"
            yield doc.problem((*path, len(lines) - 1), "I606", f"the script '{name}' never says that it is done", hint)
        elif done < len(lines) - 1:
            message = f"the script '{name}' goes on after it is done"
            yield doc.problem((*path, done + 1), "I606", message, "leave the line out, or put `done` last")


def _early(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    early = task.scripts["early"]
    if all(line.say is None for line in early.lines):
        hint = "say a line of the oracle before its time; the wearer has to hear something"
        yield doc.problem(SCRIPTS["early"], "I607", "the script 'early' says nothing", hint)
    elif not _too_soon(early, task):
        message = "the script 'early' gives no line of the oracle, and no `done`, before its time"
        yield doc.problem(
            SCRIPTS["early"], "I608", message, "take a later line of the oracle, or its text before its `when`"
        )


def _too_soon(early: Script, task: CompiledTask) -> bool:
    """Whether a line that the oracle gives too, `done` included, comes before the lines that precede it there have been
    followed, or at another time than there."""
    oracle, followed = task.scripts["oracle"].lines, 0
    for line in early.lines:
        place = next((k for k, other in enumerate(oracle) if _same(line, other)), None)
        if place is None:
            continue
        if place > followed or _sooner(line.when, oracle[place].when, task):
            return True
        followed = place + (line.reply == "does")
    return False


def _same(line: ScriptLine, other: ScriptLine) -> bool:
    if line.say is None or other.say is None:
        return line.say is other.say
    return line.say.casefold().split() == other.say.casefold().split() or (bool(line.do) and line.do == other.do)


def _sooner(when: When | None, other: When | None, task: CompiledTask) -> bool:
    """Whether the first is the handoff, or a step before the step of the second."""
    if other is None or isinstance(other, Handoff):
        return False
    steps = [cursor.id for cursor in (*task.opening, *task.plan)]
    first, second = after(when), after(other)
    return isinstance(when, Handoff) or (
        first in steps and second in steps and steps.index(first) < steps.index(second)
    )


def _wrong(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    asked = [command for line in task.scripts["oracle"].lines for command in line.do]
    right = {_meaning(command) for command in asked}
    lines = task.scripts["wrong"].lines
    done = [c for line in lines if line.reply == "does" for c in line.do if acts(c)]
    if not any(_meaning(command) not in right for command in done):
        message = "the script 'wrong' asks for no change that the oracle does not ask for too"
        hint = "let it have the wearer do something else: grab the other one, put it elsewhere"
        yield doc.problem(SCRIPTS["wrong"], "I609", message, hint)


def _meaning(command: Command) -> tuple[object, ...]:
    """A command apart from which of its verbs was used."""
    return command.primitive, command.args, command.scalar, command.spot


def _budget(doc: Document, task: CompiledTask) -> Iterator[Problem]:
    budget = task.pack.interaction.budget
    commands = sum(len(line.do) for line in task.scripts["oracle"].lines) + len(task.plan)
    need = f"the oracle takes {commands} command{'' if commands == 1 else 's'}"
    need += f", {len(task.plan)} of them of the plan" if task.plan else ""
    path = ("interaction", "budget")
    if budget.actions < commands:
        hint = f"give at least {commands}; twice as many leave room for slower help"
        yield doc.problem((*path, "actions"), "I610", f"{budget.actions} actions are too few: {need}", hint)
    if budget.ticks <= commands:
        message = f"{budget.ticks} ticks are too few: {need}, one a tick, and says that it is done"
        yield doc.problem((*path, "ticks"), "I611", message, f"give at least {commands + 1}")


_Rule = Callable[[Document, CompiledTask], Iterator[Problem]]
_RULES: Final[tuple[_Rule, ...]] = (
    _commands_at_once,
    _watch,
    _score,
    _nothing_to_show,
    _capabilities,
    _ends,
    _early,
    _wrong,
    _budget,
)
