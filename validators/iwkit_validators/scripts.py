"""The plan and the scripts, played from the handoff in the symbolic world (BENCH-4: hand occupancy, geometry).

One hand, closed lids and full shelves are the world's to know: nothing of that is simulated a second time here.
"""

from __future__ import annotations

from collections.abc import Iterator

from iwkit.compile import CompiledTask, ScriptLine
from iwkit.goals.terms import Handoff
from iwkit.problems import Problem
from iwkit.source.document import Document, Path
from iwkit.world.base import World
from iwkit_validators.opening import AtHandoff
from iwkit_validators.places import SCRIPTS, WATCH, after


def check(doc: Document, task: CompiledTask, played: AtHandoff) -> list[Problem]:
    """The first refusal of the plan (A404), and of each script the first line that goes otherwise (A405, A406)."""
    return [*_plan(doc, task, played), *_scripts(doc, task, played)]


def _plan(doc: Document, task: CompiledTask, played: AtHandoff) -> Iterator[Problem]:
    played.world.restore(played.state)
    for i, cursor in enumerate(task.plan):
        receipt = played.world.execute(cursor.command)
        if not receipt.ok:
            message = f"step '{cursor.id}' of the plan is refused although nobody interferes: {receipt.text}"
            yield doc.problem(("physical", "plan", i, "do"), "A404", message, "mend the plan before this step")
            return


def _scripts(doc: Document, task: CompiledTask, played: AtHandoff) -> Iterator[Problem]:
    for name, path in SCRIPTS.items():
        played.world.restore(played.state)
        plan = Plan(task, played.world)
        for i, line in enumerate(task.scripts[name].lines):
            if not plan.reaches(line):
                break
            problem = _line(doc, line, (*path, i), played.world)
            if problem is not None:
                yield problem
                break


def _line(doc: Document, line: ScriptLine, path: Path, world: World) -> Problem | None:
    """Carry out one line. A refusal drops the rest of it."""
    for j, command in enumerate(line.do):
        receipt = world.execute(command)
        if receipt.ok:
            continue
        if line.reply == "refused":
            return None
        hint = "mend the lines before it, or write reply: refused"
        return doc.problem((*path, "do", j), "A405", f"this is refused here: {receipt.text}", hint)
    if line.reply == "refused":
        message = "the line says that the wearer is refused, but everything it asks for can be done here"
        return doc.problem((*path, "reply"), "A406", message, "leave reply out, or ask for what cannot be done here")
    return None


class Plan:
    """The wearer's own plan beside a script, as far as the lines say at which step they come."""

    def __init__(self, task: CompiledTask, world: World) -> None:
        self._watch = task.pack.source_family == WATCH
        self._steps, self._world = list(task.plan), world
        self._passed = {cursor.id for cursor in task.opening}

    def reaches(self, line: ScriptLine) -> bool:
        """Go on with the plan to where a line comes. False where that depends on more than the plan's steps."""
        if not self._watch or isinstance(line.when, Handoff):
            return True
        step = after(line.when)
        if step is None:
            return False
        while step not in self._passed:
            if not self._steps:
                return False
            cursor = self._steps.pop(0)
            if not self._world.execute(cursor.command).ok:
                return False
            self._passed.add(cursor.id)
        return True

    def finish(self) -> None:
        """Go on to the end of the plan, or the first step that is refused."""
        while self._steps and self._world.execute(self._steps.pop(0).command).ok:
            pass
