"""One episode as a stepper (C.2.1): `observe(role)`, `answer(role, text)`, `finished`. No agent, no clock."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, Literal

from iwkit.compile import CompiledTask, Cursor
from iwkit.errors import GrammarError
from iwkit.families import families
from iwkit.goals.evaluate import judge
from iwkit.grammar import Command, describe_grammar, parse, render, split
from iwkit.recorder import Recorder, Sink, executed
from iwkit.score import Score, score
from iwkit.trace import Event, Happening
from iwkit.verbs import BY_NAME
from iwkit.world.base import Receipt, World
from iwkit_runtime.loop.answers import read_assistant, read_human
from iwkit_runtime.loop.frames import FrameRef, Studio, distinct, within_budget
from iwkit_runtime.loop.leaks import leaked, private_names
from iwkit_runtime.loop.legend import Legend
from iwkit_runtime.loop.views import AssistantView, Done, HumanView, Instruction, LegendEntry, Picture, Spoken
from iwkit_runtime.loop.wearer import Plan

Role = Literal["assistant", "human"]
By = Literal["assistant", "plan", "human"]

_GRAMMAR = describe_grammar()


def _on_the_way(command: Command) -> bool:
    """Whether a command does nothing but bring the wearer, or its gaze, to where something is to be done."""
    return BY_NAME[command.primitive].group in ("locomotion", "perception")


class Episode:
    """A closed loop over one world.

    The opening runs in the constructor. Then each tick asks the assistant, then (unless accepted commands are queued)
    the human, and executes at most one command. Every record goes to `sink` before its effect is used. `studio` keeps
    the trajectories and takes the pictures, where the world has any. `memory`: the assistant may keep notes (EVAL-6).
    """

    def __init__(
        self, task: CompiledTask, world: World, sink: Sink, studio: Studio | None = None, *, memory: bool = False
    ) -> None:
        self.task, self.world = task, world
        self._memory: list[str] | None = [] if memory else None
        self._studio = studio
        self._frames: list[FrameRef] = []
        self._shown: dict[Role, int] = {"assistant": 0, "human": 0}
        self.rules = families()[task.pack.source_family].human
        self.recorder = Recorder(sink)
        self.void: str | None = None
        self.stop_reason: str | None = None
        self.tick = 0
        self.actions = 0
        self.malformed = 0
        self._sink = sink
        self._legend = Legend(task, self.rules)
        self._private = private_names(task)
        self._entries: tuple[LegendEntry, ...] = ()
        self._plan = Plan(task.plan)
        self._queue: list[tuple[Command, str]] = []
        self._instructions: list[Instruction] = []
        self._dialogue: list[Spoken] = []
        self._unheard: list[str] = []
        self._notice: dict[Role, str] = {"assistant": "", "human": ""}
        self._last: Done | None = None
        self._turn: Role | None = None
        self._done_declared = False
        self._open()

    # --- the stepper -------------------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        return self.stop_reason is not None

    @property
    def pending(self) -> Role | None:
        """Whose answer is awaited; None when finished."""
        return None if self.finished else self._turn

    def observe(self, role: Role) -> AssistantView | HumanView:
        """The view of the role whose turn it is."""
        if role != self.pending:
            raise ValueError(f"it is not the {role}'s turn")
        return self._assistant_view() if role == "assistant" else self._human_view()

    def answer(self, role: Role, text: str) -> None:
        """Take the answer of the role whose turn it is, and play on to the next turn."""
        if role != self.pending:
            raise ValueError(f"it is not the {role}'s turn")
        if role == "assistant":
            self._assistant_answers(text)
        else:
            self._human_answers(text)

    def give_up(self, reason: str, *, void: str | None = None) -> None:
        """End the episode from outside: an agent failed, or the run is over. `void` makes the cell void."""
        self.void = self.void or void
        self._finish(reason)

    def score(self) -> Score:
        """Score the trace as it stands (offline: nothing but the trace is read)."""
        physical = self.task.pack.physical
        return score(
            physical.goal,
            physical.evidence,
            physical.atoms,
            physical.windows,
            self.recorder.trace(),
            self.task.vocabulary,
            source_family=self.task.pack.source_family,
            void=self.void,
        )

    @property
    def drained(self) -> bool:
        """Whether all that was asked for was done, refused or asked about, and the wearer waits (or is in its plan)."""
        return not self._queue and not self._instructions

    # --- opening and handoff -----------------------------------------------------------------------------------

    def _open(self) -> None:
        self.world.reset(self.task)
        kept = {} if self._studio is None else {"start": self._studio.begin(self.task)}
        self.recorder.reset(self.world.relations(), kept)
        self._legend.seen |= set(self.world.visible())
        for cursor in self.task.opening:
            self._say_all(cursor.before)
            receipt = self._execute(cursor.command, by="opening", cursor=cursor)
            if not receipt.ok:
                self.void = f"the opening failed at step {cursor.id}: {receipt.text}"
                self._finish("opening failed")
                return
            self._say_all(cursor.after)
        self._hand_off()

    def _hand_off(self) -> None:
        self.world.mark_baseline()
        self.recorder.handoff(self.world.relations(), {"visible": list(self.world.visible())})
        trace = self.recorder.trace()
        physical = self.task.pack.physical
        for condition in physical.evidence:
            verdict = judge(condition.that, trace, self.task.vocabulary, physical.windows, "opening")
            if not verdict.ok:
                self.void = f"evidence {condition.id} does not hold: {verdict.why}"
                self._finish("evidence missing")
                return
        self._last = None
        self._hear_wearer(self.task.pack.interaction.handoff)
        self._cue()
        self._next_tick()

    # --- the assistant's turn ----------------------------------------------------------------------------------

    def _assistant_view(self) -> AssistantView:
        return AssistantView(
            tick=self.tick,
            public=self.task.pack.interaction.public,
            dialogue=tuple(self._dialogue[: len(self._dialogue) - len(self._unheard)]),
            speech=tuple(self._unheard),
            frames=self._new_frames("assistant"),
            notice=self._notice["assistant"],
            memory=None if self._memory is None else tuple(self._memory),
        )

    def _new_frames(self, role: Role) -> tuple[Picture, ...]:
        """What the role has not seen yet, equal pictures in a row once; a pinned opening is shown whole."""
        since = self._shown[role]
        new = distinct(self._frames[since:])
        pinned = since == 0 and self.task.pack.interaction.frames.opening == "pinned"
        if self._studio is None:
            return ()
        return tuple(Picture(f.digest, self._studio.picture(f.digest)) for f in (new if pinned else within_budget(new)))

    def _assistant_answers(self, text: str) -> None:
        self._shown["assistant"] = len(self._frames)
        reading = read_assistant(text, memory=self._memory is not None)
        if self._memory is not None and reading.memory:
            self._memory.append(reading.memory)
        self._sink("reading", {"role": "assistant", "tick": self.tick, **asdict(reading)})
        self._unheard.clear()
        self._notice["assistant"] = reading.why
        self.malformed += reading.control == "malformed"
        if reading.control == "done":
            self._done_declared = True
            self.recorder.step(
                "declared", {"tick": self.tick}, [Happening("declared", {"by": "assistant"})], self.recorder.state
            )
            while self._queue and not self.finished:
                self._run_queued()
            self._finish("done")
            return
        if reading.control in ("interrupt", "error"):
            self._dialogue.append(Spoken("assistant", reading.text))
            self._speech("assistant", reading.text)
            self._queue.clear()
            self._instructions.append(Instruction(reading.text, new=True))
        if self._queue:
            self._run_queued()
            self._next_tick()
        else:
            self._turn = "human"
            said = [s.text for s in self._dialogue if s.by == "assistant"]
            plan = self._plan.next.command if self._plan.next else None
            self._entries = self._legend.entries(self.world, said, plan)

    # --- the human's turn --------------------------------------------------------------------------------------

    def _human_view(self) -> HumanView:
        talk = self.task.pack.interaction
        held = self.world.held()
        return HumanView(
            tick=self.tick,
            source_family=self.task.pack.source_family,
            role=self.rules.role,
            context=talk.human.context,
            public=talk.public,
            request=talk.handoff,
            legend=self._entries,
            held=self._legend.handle(held) if held else None,
            last=self._last,
            instructions=tuple(self._instructions),
            plan=self._legend.text(self._plan.next.command) if self._plan.next else None,
            grammar=_GRAMMAR,
            frames=self._new_frames("human") if self.rules.frames else (),
            notice=self._notice["human"],
        )

    def _human_answers(self, text: str) -> None:
        self._shown["human"] = len(self._frames)
        answer = read_human(text)
        commands, refusal = self._commands(answer.action)
        problem = answer.malformed or refusal
        self._notice["human"] = problem
        accepted = [] if problem else self._allowed(commands)
        self._sink(
            "reading",
            {
                "role": "human",
                "tick": self.tick,
                **asdict(answer),
                "proposed": [t for _, t in commands],
                "accepted": [t for _, t in accepted],
                "problem": problem,
            },
        )
        heard = self._instructions[-1] if self._instructions and self._instructions[-1].new else None
        self._instructions = [replace(i, new=False) for i in self._instructions]
        if answer.speak:
            if leak := leaked(answer.speak, self._private):
                self.void = f"the human's speech leaks {leak!r}"
                self._finish("human leak")
                return
            asks = heard is not None and not accepted and "?" in answer.speak
            self._hear_wearer(answer.speak, asked=asks)
        if accepted:
            self._queue = accepted
            self._run_queued()
        elif not problem:
            self._instructions.clear()
        self._next_tick()

    def _commands(self, action: str) -> tuple[list[tuple[Command, str]], str]:
        """The commands of an action block in entity names with their text, and what is wrong with the block ("" if
        nothing is). A block with one bad command is refused whole: nothing is guessed."""
        found: list[tuple[Command, str]] = []
        try:
            for _, text in split(action):
                found.append((self._legend.command(parse(text), self._entries), text))
        except GrammarError as error:
            return found, str(error)
        return found, ""

    def _allowed(self, commands: list[tuple[Command, str]]) -> list[tuple[Command, str]]:
        """The commands up to the last one that the family lets one answer queue; walking and looking are free."""
        doing = 0
        for i, (command, _) in enumerate(commands):
            doing += not _on_the_way(command)
            if doing == self.rules.commands:
                return commands[: i + 1]
        return commands

    def _run_queued(self) -> None:
        command, _ = self._queue.pop(0)
        follows_plan = self._plan.next is not None and command == self._plan.next.command
        by: By = "plan" if follows_plan else "assistant" if self._instructions else "human"
        receipt = self._execute(command, by=by, cursor=self._plan.next if follows_plan else None)
        self.actions += 1
        done = Done(self._legend.text(command), receipt.ok, receipt.text)
        self._last = done
        if follows_plan:
            self._plan.tried(receipt.ok)
            self._instructions.clear()
            self._cue()
        elif self._instructions:
            latest = self._instructions[-1]
            self._instructions[-1] = replace(latest, done=(*latest.done, done))
        if not receipt.ok:
            self._queue.clear()
        elif self.rules.commands == 1 and not _on_the_way(command):
            self._instructions.clear()

    def _cue(self) -> None:
        """Say what the pack has the wearer say at the plan's cursor."""
        for text in self._plan.cues():
            self._hear_wearer(text)

    # --- shared ------------------------------------------------------------------------------------------------

    def _next_tick(self) -> None:
        budget = self.task.pack.interaction.budget
        if self.finished:
            return
        if self.actions >= budget.actions:
            self._finish("action budget")
        elif self.tick >= budget.ticks:
            self._finish("tick budget")
        else:
            self.tick += 1
            self._turn = "assistant"

    def _execute(self, command: Command, *, by: str, cursor: Cursor | None) -> Receipt:
        receipt = self.world.execute(command)
        fields: dict[str, Any] = {
            "tick": self.tick,
            "by": by,
            "cursor": cursor.id if cursor else None,
            "command": render(command),
            "receipt": {
                "ok": receipt.ok,
                "code": receipt.code,
                "text": receipt.text,
                "fault": receipt.fault,
                "frames": receipt.frames,
            },
        }
        if self._studio is not None and receipt.frames:
            taken = self._studio.shoot(command.primitive)
            self._frames += taken
            if taken:
                fields |= {"frames": [f.digest for f in taken], "picked": [[f.index, f.kind] for f in taken]}
            fields |= self._studio.interval()
        happenings = executed(command, receipt, by=by, step=cursor.id if cursor else None)
        self.recorder.step("step", fields, happenings, self.world.relations())
        self._legend.seen |= set(self.world.visible())
        return receipt

    def _say_all(self, texts: tuple[str, ...]) -> None:
        for text in texts:
            self._hear_wearer(text)

    def _hear_wearer(self, text: str, *, asked: bool = False) -> None:
        self._dialogue.append(Spoken("wearer", text))
        self._unheard.append(text)
        self._speech("wearer", text, asked=asked)

    def _speech(self, by: str, text: str, *, asked: bool = False) -> tuple[Event, ...]:
        happenings = [Happening("said", {"by": by})]
        if asked:
            happenings.append(Happening("asked", {"by": by}))
        return self.recorder.step(
            "speech", {"tick": self.tick, "by": by, "text": text}, happenings, self.recorder.state
        )

    def _finish(self, reason: str) -> None:
        self.stop_reason = reason
        self._turn = None
