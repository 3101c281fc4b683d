"""A program given word for word to a wearer that does exactly what it is told, in the real loop: what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from iwkit.compile import CompiledTask, Script, ScriptLine
from iwkit.trace import State
from iwkit.world.base import World
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.play import make_agents

TALK: Final = frozenset({"commanded", "said", "asked", "refused", "declared", "after"})
"""Events of the loop: what was asked for, not what came of it."""
PASSING: Final = frozenset({"visible", "near", "in_room"})
"""Relations that hold of where the wearer happens to be."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """`failed` are the conditions that are false at the end, `unshown` the atoms that are no clean pass. `end` and
    `events` are the relations at the end and what happened since the handoff, without `PASSING` and `TALK`."""

    failed: tuple[str, ...]
    unshown: tuple[str, ...]
    end: State
    events: tuple[tuple[str, tuple[tuple[str, object], ...]], ...]


def rehearse(task: CompiledTask, lines: Sequence[ScriptLine], world: World) -> Rehearsal:
    """Play a task with these lines in place of its oracle's."""
    spoken = tuple(_said(task, number, line) for number, line in enumerate(lines, 1))
    changed = replace(task, scripts={**task.scripts, "oracle": Script("oracle", spoken)})
    episode = Episode(changed, world, lambda _kind, _fields: None)
    agents = make_agents(episode, assistant="oracle", human="scripted")
    while (role := episode.pending) is not None:
        episode.answer(role, agents[role].answer(episode.observe(role)))  # type: ignore[arg-type]
    score, trace = episode.score(), episode.recorder.trace()
    happened = (event for step in trace.interaction for event in step.events if event.kind not in TALK)
    return Rehearsal(
        failed=tuple(c.id for c in score.conditions if not c.ok),
        unshown=tuple(a.id for a in score.atoms if a.label != "clean_pass"),
        end=frozenset(r for r in trace.end if r[0] not in PASSING),
        events=tuple((event.kind, tuple(sorted(event.roles.items()))) for event in happened),
    )


def _said(task: CompiledTask, number: int, line: ScriptLine) -> ScriptLine:
    """A line with words of its own that name everything it is about: the wearer cannot take it for another, and one
    who knows only what was named to it can follow."""
    if line.say is None:
        return line
    names = (ref.name for command in line.do for ref in command.args)
    named = dict.fromkeys(task.things[name].public for name in names if name in task.things)
    return replace(line, say=f"{line.say} Step {number}: {', '.join(named)}.")
