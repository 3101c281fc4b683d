"""The physical world: the same commands, relations and events as the symbolic one, carried out by a body (design 5).

A `SymbolicWorld` is kept as its mind: it knows what is semantic, and refuses what makes no sense. What it allows is
then planned and done in geometry, and read back from geometry: never from the command.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from iwkit.compile import CompiledTask
from iwkit.errors import UsageError
from iwkit.floorplan import room_at
from iwkit.garbage import uncollected
from iwkit.grammar import Command
from iwkit.predicates import PREDICATES
from iwkit.spec.pack import PackEvent
from iwkit.trace import Happening
from iwkit.trace import State as RelationState
from iwkit.verbs import BY_NAME
from iwkit.world.base import Receipt, WorldState
from iwkit.world.layout import Layout
from iwkit.world.situation import Situation
from iwkit.world.state import State as MindState
from iwkit.world.story import Done, heard, unfold, watches
from iwkit.world.symbolic import SymbolicWorld
from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.incidents import INCIDENTS, stowed
from iwkit_runtime.actions.looking import first_gaze
from iwkit_runtime.actions.motion import BlockedError
from iwkit_runtime.actions.refusals import PHYSICAL_REFUSALS, RefusedError, sentence
from iwkit_runtime.actions.table import ACTIONS, Row
from iwkit_runtime.body.model import Solver
from iwkit_runtime.engines.base import Engine, Snapshot
from iwkit_runtime.engines.collision import Hit
from iwkit_runtime.engines.mujoco_engine import MujocoEngine
from iwkit_runtime.physical.layout import Assets, build_scene
from iwkit_runtime.physical.mind import states_shown, synced
from iwkit_runtime.physical.places import Moment
from iwkit_runtime.physical.readying import settled
from iwkit_runtime.physical.relations import lasting
from iwkit_runtime.physical.scene_spec import Poses
from iwkit_runtime.physical.stage import Stage, State
from iwkit_runtime.physical.trajectory import Trajectory
from iwkit_runtime.physical.wearer import Wearer, moved

SNAPSHOT = "physical/1"
OUTCOMES = {"turn_on": "running", "turn_off": "off", "cut": "cut", "cook": "cooked"}
"""Primitive -> the state of its first thing that is read back afterwards, beside what actions expect to measure."""
SUNK = 0.05
"""How deep a thing may be in others at reset and when it has been put down, metres (PHY-10)."""


class PhysicalWorld:
    """`iwkit.world.base.World` with a body in a simulated scene (docs/physical-world.md).

    `assets` is what to build things from, by default the catalogue of the task and the recipes that ship with iwkit;
    `solver` what solves the wearer's arms (docs/body.md).
    `trajectory` is the interval of the last command. Every method but `reset` raises UsageError before the first
    `reset`.
    """

    name = "physical"

    def __init__(
        self, assets: Assets | None = None, engine: Callable[[], Engine] = MujocoEngine, solver: Solver = "swivel"
    ) -> None:
        self._solver = solver
        self._given = assets
        self._assets: Assets | None = assets
        self._engine = engine
        self._mind = SymbolicWorld()
        self._task: CompiledTask | None = None
        self._stage: Stage | None = None
        self._start: State | None = None
        self._baseline: Moment | None = None
        self._shown: frozenset[str] = frozenset()
        self._looked: frozenset[str] = frozenset()
        self.trajectory = Trajectory()

    # --- the contract ---------------------------------------------------------------------------------------------

    @uncollected()
    def reset(self, task: CompiledTask) -> None:
        """Begin at the initial state of a task; the scene of the task before is used again if it is the same task.

        Raises:
            UsageError: the scene can't be built, or a thing comes to rest in another.
        """
        self._mind.reset(task)
        if task is not self._task or self._stage is None or self._start is None:
            spec = build_scene(task, self._assets_for(task))
            engine = self._engine()
            geometry, wearer = settled(task, spec, engine, self._solver)
            self._places = engine.poses()
            for name in sorted(task.awaited):
                engine.hold(name, stowed(self._places, name))
            stage = Stage(task, spec, engine, wearer, geometry)
            if (found := _sunk(stage, {})) is not None:
                name, hit = found
                raise UsageError(f"{name} comes to rest {hit.depth:.3f} m deep in {hit.owner}: give it another spot")
            stage.wearer = moved(stage.wearer, gaze=first_gaze(stage, task))
            self._layout = Layout(task)
            self._task, self._stage, self._start = task, stage, stage.state()
        self._stage.restore(self._start)
        self._stage.before = frozenset()
        self._baseline, self._shown, self._looked = None, frozenset(), frozenset()
        self.trajectory = Trajectory()
        self._remember()
        self._sync()

    def execute(self, command: Command) -> Receipt:
        """Carry out one command, or refuse it and change nothing.

        The one refusal after which the world is another is POSTCONDITION_FAILED: it was done, and came out otherwise.
        """
        stage, before = self._scene, self._mind.snapshot()
        self.trajectory = Trajectory()
        watched = self.relations() if watches(self._known) else frozenset()
        receipt = self._mind.attempt(command)
        if not receipt.ok:
            return receipt
        after = self._mind.snapshot()
        self._mind.restore(before)
        start = stage.state()
        stage.begin()
        act = self._act(command, before)
        try:
            row = ACTIONS.get(command.primitive)
            if row is None:
                raise RefusedError("NOT_BUILT", f"[{command.verb}]")
            self._do(act, row)
        except (RefusedError, BlockedError) as error:
            stage.restore(start)
            stage.begin()
            return _refused(act, error)
        self._mind.restore(after)
        return self._finish(act, command, start, watched)

    def relations(self) -> RelationState:
        """The full state: measured relations, and those that are symbolic by design."""
        stage = self._scene
        measured = stage.relations.state(stage.moment(self.visible()), self._baseline)
        absent = stage.absent()
        if absent:
            measured = frozenset(r for r in measured if absent.isdisjoint(r[1:]))
        return measured | {r for r in self._mind.relations() if PREDICATES[r[0]].source == "symbolic"}

    def mark_baseline(self) -> None:
        """The handoff is now: `at_baseline` and `unmoved` are relative to this state."""
        self._mind.mark_baseline()
        self._baseline = self._scene.moment()
        self._remember()

    def visible(self) -> tuple[str, ...]:
        """Names of what is in the wearer's view now, sorted."""
        return tuple(sorted(self._act(None, self._mind.snapshot()).view()))

    def held(self) -> str | None:
        """What the wearer's hand holds."""
        hold = self._scene.wearer.hold
        return None if hold is None else hold.name

    def bearing(self, name: str) -> float | None:
        """Direction of a thing from where the wearer faces in degrees, left negative, in (-180, 180]; None where
        unknown: for what is held, underfoot or not of this task."""
        stage = self._scene
        if name == self.held() or name in stage.absent():
            return None
        if name not in stage.placed:
            return self._mind.bearing(name)
        x, y, heading = stage.wearer.stand
        dx, dy, _ = stage.centre(name) - (x, y, 0)
        if np.hypot(dx, dy) < 1e-3:
            return None
        turn = float(np.degrees(heading - np.arctan2(dy, dx))) % 360
        return round(turn - 360 if turn > 180 else turn, 4)

    def snapshot(self) -> WorldState:
        """The whole world as a JSON value; equal worlds give equal values."""
        stage = self._scene
        base = self._baseline
        return {
            "world": SNAPSHOT,
            "task": self._known.physical_digest,
            "mind": self._mind.snapshot(),
            "engine": stage.engine.snapshot().as_json(),
            "wearer": stage.wearer.to_json(),
            "shown": sorted(self._shown),
            "looked": sorted(self._looked),
            "before": sorted(map(list, stage.before)),
            "baseline": None if base is None else base.to_json(),
        }

    def restore(self, state: WorldState) -> None:
        """Go back to a snapshot of this task.

        Raises:
            UsageError: it is of another task, or no snapshot at all.
        """
        stage, task = self._scene, self._known
        known = {"world": SNAPSHOT, "task": task.physical_digest}
        if not isinstance(state, dict) or {key: state.get(key) for key in known} != known:
            raise UsageError(
                f"no snapshot of task {task.id} in a physical world: reset to the task it was made of first"
            )
        try:
            engine, wearer = Snapshot.of_json(state["engine"]), Wearer.from_json(state["wearer"])
            base = None if state["baseline"] is None else Moment.from_json(state["baseline"])
            shown, looked = frozenset(state["shown"]), frozenset(state["looked"])
            before = frozenset(map(tuple, state["before"]))
            mind = state["mind"]
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise UsageError(f"no snapshot of a physical world ({error!r}): use what snapshot() gave") from None
        self._mind.restore(mind)
        stage.restore(State(engine, wearer, states=states_shown(MindState.from_json(self._mind.snapshot()["state"]))))
        stage.before = before
        self._baseline, self._shown, self._looked = base, shown, looked
        self.trajectory = Trajectory()

    # --- one command ----------------------------------------------------------------------------------------------

    def _act(self, command: Command | None, mind: WorldState) -> Act:
        state = MindState.from_json(mind["state"])
        names = () if command is None else _names(command)
        return Act(
            self._scene,
            Situation(self._layout, state),
            command or Command("confirm", "Confirm"),
            names,
            self._shown,
            self._looked,
            state.wearer.at,
            state.wearer.room,
            handoff=self._baseline,
        )

    def _do(self, act: Act, row: Row) -> None:
        act.see()
        if not row.keeps_view:
            act.move_on()
        row.do(act)
        act.see()

    def _finish(self, act: Act, command: Command, start: State, before: RelationState) -> Receipt:
        """Read back what has become of it, bring the mind in line, and let happen what then happens by itself."""
        stage = self._scene
        instant = command.primitive == "confirm"
        if not stage.film and not instant:
            stage.shoot(stage.idle(), gaze=stage.wearer.gaze)
        self._shown, self._looked = act.shown, act.looked
        state = self._remember()
        self._sync(act)
        sunk, _ = _sunk(stage, start.engine.poses) or (None, None)
        failed = next((r[1] for r in act.expect if r not in state), None) or self._unlike(act) or sunk
        told = self._go_on(act, Done(command, failed is None, (), len(stage.film), before))
        self.trajectory = Trajectory(tuple(stage.film))
        happenings: tuple[Happening, ...] = tuple(act.happenings)
        heard_of = " ".join(("", *heard(told, act.public)))
        if failed is None:
            return Receipt(True, "OK", "Done." + heard_of, None, len(stage.film), happenings)
        text = sentence("POSTCONDITION_FAILED", (act.public(failed),)) + heard_of
        return Receipt(False, "POSTCONDITION_FAILED", text, "world", len(stage.film), happenings, (failed,))

    def _go_on(self, act: Act, done: Done) -> list[Happening]:
        """What happens by itself after a command: processes go on, and events of the pack come due."""
        made = self._mind.go_on(act.happenings, done.frames)
        act.happenings += made
        self._show()
        done = done._replace(happenings=tuple(act.happenings))
        happen = partial(self._incident, act)
        story, told = unfold(self._known, self._mind.story, done, self.relations, happen)
        self._mind.story = story
        if told:
            act.see()
            self._shown, self._looked = act.shown, act.looked
        return told

    def _incident(self, act: Act, event: PackEvent) -> list[Happening] | None:
        """Let an event of the pack happen; None when it can't as things are."""
        stage = self._scene
        does = INCIDENTS.get(event.kind)
        if does is None:
            made = self._mind.incident(event)
            self._show()
            act.happenings += made or []
            return made
        apart, start = self._act(None, self._mind.snapshot()), stage.state()
        apart.names = (event.of,)
        try:
            does(apart, self._places)
        except (RefusedError, BlockedError):
            stage.restore(start)
            return None
        self._remember()
        self._sync()
        act.happenings += apart.happenings
        return list(apart.happenings)

    def _show(self) -> None:
        """Things show the states that the mind has them in."""
        self._scene.show(states_shown(MindState.from_json(self._mind.snapshot()["state"])))

    def _remember(self) -> RelationState:
        """What is measured now, of which the relations with hysteresis are kept for the next time."""
        stage = self._scene
        state = stage.relations.state(stage.moment(), self._baseline)
        stage.before = lasting(state)
        return state

    def _unlike(self, act: Act) -> str | None:
        """What does not have the state that the command was to give it, read back from the world (SEM-5)."""
        wanted = OUTCOMES.get(act.command.primitive)
        if wanted is None:
            return None
        return act.names[0] if (wanted, act.names[0]) not in self._mind.relations() else None

    def _sync(self, act: Act | None = None) -> None:
        """Bring the mind in line with what is measured."""
        snapshot = self._mind.snapshot()
        stage = self._scene
        x, y, _ = stage.wearer.stand
        room = room_at(self._layout.scene, (x, y))
        state = MindState.from_json(snapshot["state"])
        if act is not None:
            state.wearer.at = act.place
        if room is not None:
            state.wearer.room = self._layout.rooms[room]
        synced(state, stage, Situation(self._layout, state))
        stage.show(states_shown(state))
        self._mind.restore({**snapshot, "state": state.to_json()})

    @property
    def stage(self) -> Stage:
        """The scene with its engine and the wearer, for who draws or checks it."""
        return self._scene

    @property
    def assets(self) -> Assets:
        """What its scenes are built from."""
        if self._assets is None:
            raise UsageError("the world has no task yet: call reset first")
        return self._assets

    def _assets_for(self, task: CompiledTask) -> Assets:
        """What was given, else what goes with the catalogue of the task; it is kept for tasks of the same project."""
        if self._given is None:
            self._assets = Assets.of_library(task.library)
        return self.assets

    @property
    def _scene(self) -> Stage:
        if self._stage is None:
            raise UsageError("the world has no task yet: call reset first")
        return self._stage

    @property
    def _known(self) -> CompiledTask:
        if self._task is None:
            raise UsageError("the world has no task yet: call reset first")
        return self._task


def _sunk(stage: Stage, before: Poses) -> tuple[str, Hit] | None:
    """What rests too deep in something else (PHY-6, PHY-8), of things that were elsewhere before, but are not held."""
    now, free = stage.engine.snapshot(), {n for n, placed in stage.placed.items() if placed.kind == "object"}
    for name in sorted(free - now.held.keys() - now.fastened.keys()):
        if now.poses[name] != before.get(name):
            around = (hit for hit in stage.collision.overlaps(name) if hit.owner not in now.fastened)
            found = next((hit for hit in around if hit.depth > SUNK), None)
            if found is not None:
                return name, found
    return None


def _refused(act: Act, error: RefusedError | BlockedError) -> Receipt:
    """The receipt for what can't be done; a way that is blocked at its last part is blocked altogether."""
    if isinstance(error, BlockedError):
        error = RefusedError("TRAJECTORY_COLLISION", *(act.names[:1] or ("there",)), error.owner)
    text = sentence(error.code, tuple(act.public(name) for name in error.about))
    return Receipt(False, error.code, text, PHYSICAL_REFUSALS[error.code].fault, 0, about=error.about)


def _names(command: Command) -> tuple[str, ...]:
    """The things named; connectors and regions are no things."""
    connectors = BY_NAME[command.primitive].connectors
    refs = [ref for n, ref in enumerate(command.args) if n not in connectors]
    return tuple(ref.name if ref.index == 1 else f"{ref.name} ({ref.index})" for ref in refs)
