"""The opening, played in a symbolic world with the trace that the loop would write (BENCH-4; docs/goal-language.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from iwkit.compile import CompiledTask
from iwkit.problems import Problem
from iwkit.recorder import Recorder, executed
from iwkit.source.document import Document
from iwkit.trace import Happening, Trace
from iwkit.world.base import World, WorldState
from iwkit_validators.identity import meaning


@dataclass(frozen=True, slots=True)
class AtHandoff:
    """A task whose opening has been played: its trace, and a world that can be put back to the handoff."""

    trace: Trace
    world: World
    state: WorldState


_OF_STATES: Final = re.compile(r"'(?:until|becomes)'")
"""The operators that look at states on the way, as plain data has them."""


def asks_for_states(task: CompiledTask) -> bool:
    """Whether anything that is judged looks at a state between the reset, the handoff and the end. What nobody looks at
    need not be worked out."""
    evidence = [named.that.to_data() for named in task.pack.physical.evidence]
    return bool(_OF_STATES.search(repr((meaning(task), evidence))))


def play(doc: Document, task: CompiledTask, world: World) -> AtHandoff | Problem:
    """Play the opening with the wearer's cues and mark the baseline.

    A refused step is A403, at that step. What follows it may be its consequence, so nothing else is said.
    """
    world.reset(task)
    states = asks_for_states(task)
    recorder = Recorder()
    recorder.reset(world.relations())
    for i, cursor in enumerate(task.opening):
        _said(recorder, cursor.before)
        receipt = world.execute(cursor.command)
        if not receipt.ok:
            message = f"step '{cursor.id}' of the opening is refused: {receipt.text}"
            return doc.problem(("physical", "opening", i, "do"), "A403", message, "mend the opening before this step")
        happenings = executed(cursor.command, receipt, by="opening", step=cursor.id)
        recorder.step("step", {}, happenings, world.relations() if states else recorder.state)
        _said(recorder, cursor.after)
    world.mark_baseline()
    recorder.handoff(world.relations(), {})
    return AtHandoff(recorder.trace(), world, world.snapshot())


def _said(recorder: Recorder, texts: Iterable[str]) -> None:
    for _ in texts:
        recorder.step("speech", {}, [Happening("said", {"by": "wearer"})], recorder.state)
