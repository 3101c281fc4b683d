"""The events of a pack as they come due: by a step, by what happens, by a state that comes true, and by the clock.

Both worlds ask this after each command that was carried out; what an event does is each world's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from iwkit.compile import CompiledTask
from iwkit.goals.evaluate import Judge
from iwkit.goals.terms import Becomes, EventPattern, Handoff, Pattern, Word
from iwkit.grammar import Command
from iwkit.spec.pack import PackEvent
from iwkit.trace import Event, Happening, Step, Trace
from iwkit.trace import State as Relations
from iwkit.world.base import FRAMES_PER_SECOND
from iwkit.world.state import Story

Happen = Callable[[PackEvent], Sequence[Happening] | None]
"""Lets an event happen; None when it can't as things are, so that it is tried again after the next command."""


class Done(NamedTuple):
    """A command that was carried out: the relations `before` it, what it made happen, and the frames it took."""

    command: Command
    ok: bool
    happenings: tuple[Happening, ...]
    frames: int
    before: Relations


def watches(task: CompiledTask) -> bool:
    """Whether the relations before a command matter to the events of a task."""
    return any(isinstance(event.when, Becomes) for event in task.events)


def handed_off(task: CompiledTask, story: Story) -> Story:
    """The story from the handoff on."""
    due = {e.id: _frames(e) for e in task.events if isinstance(e.when, Handoff) and e.id not in story.begun}
    return story._replace(handed=True, due={**story.due, **due})


def unfold(
    task: CompiledTask, story: Story, done: Done, relations: Callable[[], Relations], happen: Happen
) -> tuple[Story, list[Happening]]:
    """Let everything happen that is due after a command, and what waits for that in its turn.

    Returns the story as it then stands, and what happened beyond the command.
    """
    if not task.events:
        return story, []
    story, step = _stepped(task, story, done)
    story = story._replace(due={id_: max(0, left - done.frames) for id_, left in story.due.items()})
    told: list[Happening] = []
    news, before = list(done.happenings), done.before
    while True:
        now = relations()
        waiting = [e for e in task.events if e.id not in story.begun]
        begun = [e for e in waiting if _begins(task, e, story, step, (before, news, now))]
        story = story._replace(due={**story.due, **{e.id: _frames(e) for e in begun}})
        news, before, step = [], now, None
        for event in [e for e in task.events if story.due.get(e.id) == 0]:
            made = happen(event)
            if made is not None:
                news += made
                left = {id_: frames for id_, frames in story.due.items() if id_ != event.id}
                story = story._replace(due=left, done=(*story.done, event.id))
        told += news
        if not news:
            return story, told


def _stepped(task: CompiledTask, story: Story, done: Done) -> tuple[Story, str | None]:
    """The story after a step of the opening or the plan, and which one it was: the loop counts in the same way."""
    steps = task.plan if story.handed else task.opening
    at = story.steps if not story.handed else story.plan
    if not done.ok or at >= len(steps) or steps[at].command != done.command:
        return story, None
    return (story._replace(plan=at + 1) if story.handed else story._replace(steps=at + 1)), steps[at].id


def _begins(
    task: CompiledTask,
    event: PackEvent,
    story: Story,
    step: str | None,
    change: tuple[Relations, Sequence[Happening], Relations],
) -> bool:
    """Whether what an event waits for has just come about. Steps count from the first on, all else from the handoff."""
    when = event.when
    if isinstance(when, Handoff):
        return False
    if isinstance(when, EventPattern) and when.kind == "after":
        return step is not None and all(isinstance(test, Word) and test.text == step for _, test in when.roles)
    return story.handed and _matches(task, when, *change)


def _matches(task: CompiledTask, when: Pattern, before: Relations, news: Sequence[Happening], now: Relations) -> bool:
    events = tuple(Event(n, h.kind, dict(h.roles), False) for n, h in enumerate(news))
    trace = Trace(before, (Step(events, now),), 0, before)
    return bool(Judge(trace, task.vocabulary, ()).timeline.matches(when))


def _frames(event: PackEvent) -> int:
    return round(event.delay * FRAMES_PER_SECOND)


def heard(happenings: Sequence[Happening], public: Callable[[str], str]) -> Iterator[str]:
    """What the wearer hears of what happened by itself, as sentences."""
    for happening in happenings:
        template = SOUNDS.get(happening.kind)
        if template is not None:
            yield template.format(public(str(happening.roles["object"])))


SOUNDS = {"rang": "You hear {0} ring.", "broke": "You hear {0} break.", "fell": "You hear {0} fall."}
"""Kind of event -> what is heard of it, wherever it happens."""
