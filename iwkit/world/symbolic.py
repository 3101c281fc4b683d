"""A world without geometry finer than a floor plan: the same verbs, relations and events, microseconds a step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from iwkit.compile import CompiledTask
from iwkit.compile.things import Thing
from iwkit.errors import UsageError
from iwkit.floorplan import stance
from iwkit.grammar import Command
from iwkit.spec.pack import PackEvent
from iwkit.trace import Happening
from iwkit.trace import State as RelationState
from iwkit.verbs import BY_NAME
from iwkit.world import processes
from iwkit.world.act import Act
from iwkit.world.base import FRAMES_PER_SECOND, Receipt, WorldState
from iwkit.world.ground import direction
from iwkit.world.incidents import INCIDENTS
from iwkit.world.layout import Layout
from iwkit.world.refusals import REFUSALS, Refusal, sentence
from iwkit.world.relations import Relations
from iwkit.world.rules import RULES, Rule
from iwkit.world.situation import Situation
from iwkit.world.state import AWAY, Baseline, Place, State, Story, Wearer
from iwkit.world.story import Done, handed_off, heard, unfold, watches

SNAPSHOT = "symbolic/1"


class SymbolicWorld:
    """`iwkit.world.base.World` on scene and catalogue files (docs/symbolic-world.md).

    Every method but `reset` raises UsageError before the first `reset`.
    """

    name = "symbolic"

    def __init__(self) -> None:
        self._task: CompiledTask | None = None
        self._layout: Layout | None = None
        self._situation: Situation | None = None
        self._relations: Relations | None = None
        self._kept: tuple[int, RelationState] = (-1, frozenset())

    def reset(self, task: CompiledTask) -> None:
        """Begin at the initial state of a task. The layout of the task before is used again if it is the same task."""
        if task is not self._task or self._layout is None:
            self._task, self._layout = task, Layout(task)
        self._begin(self._layout, _initial(task, self._layout))

    def execute(self, command: Command) -> Receipt:
        """Carry out one command, or refuse it and change nothing. What then happens by itself belongs to it."""
        before = self.watched()
        receipt = self.attempt(command)
        if not receipt.ok:
            return receipt
        act = Act(self._now, command, (), list(receipt.happenings))
        act.happenings += self.go_on(act.happenings, receipt.frames)
        done = Done(command, True, tuple(act.happenings), receipt.frames, before)
        happen = partial(self.incident, act=act)
        self.story, told = unfold(self._known, self.story, done, self.relations, happen)
        act.see()
        frames = receipt.frames + _frames(act.seconds)
        text = " ".join((receipt.text, *heard(told, self._now.public)))
        return replace(receipt, text=text, frames=frames, happenings=tuple(act.happenings))

    def attempt(self, command: Command) -> Receipt:
        """Carry out one command, or refuse it and change nothing, without what goes on by itself meanwhile."""
        at = self._now
        rule = RULES[command.primitive]
        act = Act(at, command, _names(at, command, rule))
        refusal = _refusal(act, rule)
        if refusal is not None:
            text = sentence(refusal.code, map(at.public, refusal.about))
            return Receipt(False, refusal.code, text, REFUSALS[refusal.code].fault, 0, about=refusal.about)
        rule.run(act)
        frames = 0 if rule.instant else max(1, _frames(act.seconds))
        return Receipt(True, "OK", "Done.", None, frames, tuple(act.happenings))

    def go_on(self, happenings: Sequence[Happening], frames: int) -> list[Happening]:
        """Let the processes go on for so many frames, after which these things have happened: what comes of it."""
        act = Act(self._now, Command("confirm", "Confirm"), (), list(happenings))
        processes.go_on(act, frames)
        return act.happenings[len(happenings) :]

    def incident(self, event: PackEvent, act: Act | None = None) -> list[Happening] | None:
        """Let an event of the pack happen; None when it can't as things are. `act` takes the time and what it tells."""
        act = act or Act(self._now, Command("confirm", "Confirm"), ())
        known = len(act.happenings)
        return act.happenings[known:] if INCIDENTS[event.kind](act, event.of) else None

    def watched(self) -> RelationState:
        """The relations now, if any event of the pack waits for a state."""
        return self.relations() if watches(self._known) else frozenset()

    @property
    def story(self) -> Story:
        """How far the events of the pack have come."""
        return self._now.state.story

    @story.setter
    def story(self, story: Story) -> None:
        self._now.state.story = story

    def relations(self) -> RelationState:
        """The full state: docs/goal-language.md section 3."""
        at = self._now
        if self._kept[0] != at.version and self._relations is not None:
            self._kept = (at.version, self._relations.all())
        return self._kept[1]

    def mark_baseline(self) -> None:
        """The handoff is now: `at_baseline` and `unmoved` are relative to this state."""
        state = self._now.state
        wearer = state.wearer
        state.story = handed_off(self._known, state.story)
        state.baseline = Baseline(dict(state.places), dict(state.fixtures), (wearer.x, wearer.y, wearer.heading))
        self._now.version += 1

    def visible(self) -> tuple[str, ...]:
        """Names of what is in the wearer's view now, sorted."""
        return tuple(sorted(self._now.view()))

    def held(self) -> str | None:
        """What the wearer's hand holds."""
        return self._now.held

    def bearing(self, name: str) -> float | None:
        """Direction of a thing from the wearer's gaze in degrees, left negative, in (-180, 180]; None where unknown:
        for what is held, underfoot or not of this task."""
        at = self._now
        if name not in at.things or at.away(name):
            return None
        wearer = at.state.wearer
        heading = direction((wearer.x, wearer.y), at.point(name))
        if heading is None:
            return None
        turn = (wearer.heading - heading) % 360
        return round(turn - 360 if turn > 180 else turn, 4)

    def snapshot(self) -> WorldState:
        """The whole world as a JSON value; equal worlds give equal values."""
        return {"world": SNAPSHOT, "task": self._known.physical_digest, "state": self._now.state.to_json()}

    def restore(self, state: WorldState) -> None:
        """Go back to a snapshot of this task.

        Raises:
            UsageError: it is of another task, or no snapshot at all.
        """
        task, layout = self._known, self._now.layout
        known = {"world": SNAPSHOT, "task": task.physical_digest}
        if not isinstance(state, dict) or {key: state.get(key) for key in known} != known:
            raise UsageError(
                f"no snapshot of task {task.id} in a symbolic world: reset to the task it was made of first"
            )
        restored = State.from_json(state.get("state", {}))
        if set(restored.places) != {name for name, thing in task.things.items() if thing.kind == "object"}:
            raise UsageError(f"no snapshot of task {task.id}: it does not place exactly the objects of the task")
        self._begin(layout, restored)

    def _begin(self, layout: Layout, state: State) -> None:
        self._situation = Situation(layout, state)
        self._relations = Relations(self._situation)
        self._kept = (-1, frozenset())

    @property
    def _now(self) -> Situation:
        if self._situation is None:
            raise UsageError("the world has no task yet: call reset first")
        return self._situation

    @property
    def _known(self) -> CompiledTask:
        if self._task is None:
            raise UsageError("the world has no task yet: call reset first")
        return self._task


def _frames(seconds: float) -> int:
    """Whole frames that cover a time; rounded first, so that 3.0 s is 36 frames however it was added up."""
    return math.ceil(round(seconds * FRAMES_PER_SECOND, 6))


def _names(at: Situation, command: Command, rule: Rule) -> tuple[str, ...]:
    """The things named; connectors and regions are no things."""
    connectors = BY_NAME[command.primitive].connectors
    refs = [ref for n, ref in enumerate(command.args) if n not in connectors]
    names = tuple(ref.name if ref.index == 1 else f"{ref.name} ({ref.index})" for ref in refs)
    if rule.swap and all(name in at.things for name in names):
        first, second = names
        if at.has(second, rule.swap) and not at.has(first, rule.swap):
            return second, first
    return names


def _refusal(act: Act, rule: Rule) -> Refusal | None:
    for name in act.names:
        if name not in act.at.things or act.at.away(name):
            return Refusal("UNKNOWN_THING", (name,))
    for check in rule.checks():
        refusal = check(act)
        if refusal is not None:
            return refusal
    return None


def _initial(task: CompiledTask, layout: Layout) -> State:
    start = task.pack.physical.wearer
    at = layout.bases.get(start.at)
    if at is not None:
        x, y, heading = stance(layout.fixtures[at])
        wearer = Wearer(x, y, float(heading), at, layout.rooms[layout.fixtures[at].room])
    elif start.at in layout.room_ids:
        wearer = Wearer(*layout.middle(start.at), 0.0, None, start.at)
    else:
        raise UsageError(f"task {task.id}: the wearer starts at a fixture or in a room, not at {start.at!r}")
    state = State(wearer)
    for name, thing in task.things.items():
        _put(state, name, thing)
    for name in task.awaited:
        state.places[name] = AWAY
    situation = Situation(layout, state)
    for name in state.places:
        _lay_down(situation, name)
    for name, thing in task.things.items():
        if "machine" in thing.traits and situation.is_(name, "running"):
            state.cycles[name] = processes.begun(situation, name)
    if start.facing is not None:
        heading_to = direction((wearer.x, wearer.y), situation.point(start.facing))
        wearer.heading = wearer.heading if heading_to is None else round(heading_to, 4)
        if situation.room(start.facing) == wearer.room:
            situation.look(at=start.facing)
    return state


def _put(state: State, name: str, thing: Thing) -> None:
    words = {"open": thing.open and "openable" in thing.traits, "running": thing.running and "device" in thing.traits}
    flags = thing.states | {word for word, on in words.items() if on}
    if flags:
        state.flags[name] = frozenset(flags)
    if thing.contains:
        state.contents[name] = tuple(dict.fromkeys(thing.contains))
        state.received[name] = tuple(thing.contains)
    if thing.kind == "object":
        if thing.place is None or thing.place == "beside":
            state.places[name] = Place("floor", thing.at)
        else:
            state.places[name] = Place(thing.place, thing.at, spot=thing.spot)


def _lay_down(at: Situation, name: str) -> None:
    """Find the place on the floor of a thing that begins beside another one, that one's first."""
    place = at.state.places[name]
    if place.how == "floor" and place.point is None and place.at is not None:
        root = at.root(place.at)
        if root in at.state.places:
            _lay_down(at, root)
        at.state.places[name] = at.floor_beside(place.at)
