"""The events of a pack, played in the symbolic world: each happens in the plan or with the oracle (BENCH-4)."""

from __future__ import annotations

from collections.abc import Iterator

from iwkit.compile import CompiledTask
from iwkit.problems import Problem
from iwkit.source.document import Document
from iwkit.world.base import WorldState
from iwkit.world.state import Story
from iwkit.world.symbolic import SymbolicWorld
from iwkit_validators.opening import AtHandoff
from iwkit_validators.scripts import Plan


def check(doc: Document, task: CompiledTask, played: AtHandoff) -> list[Problem]:
    """A420 at each event that never happens."""
    if not task.events:
        return []
    stories = list(_stories(task, played.state))
    happened = {id_ for story in stories for id_ in story.done}
    begun = {id_ for story in stories for id_ in story.begun}
    found = []
    for i, event in enumerate(task.events):
        if event.id not in happened:
            due = "it comes due, but can't happen or not in time"
            why = due if event.id in begun else "what it waits for never comes"
            message = f"event {event.id!r} never happens, neither in the plan nor with the oracle: {why}"
            hint = "mend its `when` or `delay`, or what must be so that it can happen"
            found.append(doc.problem(("physical", "events", i, "when"), "A420", message, hint))
    return found


def _stories(task: CompiledTask, state: WorldState) -> Iterator[Story]:
    """How far the events come from the handoff on in the plan alone, and beside the oracle."""
    world = SymbolicWorld()
    world.reset(task)
    world.restore(state)
    Plan(task, world).finish()
    yield world.story
    world.restore(state)
    plan = Plan(task, world)
    for line in task.scripts["oracle"].lines:
        plan.reaches(line)
        for command in line.do:
            world.execute(command)
    plan.finish()
    yield world.story
