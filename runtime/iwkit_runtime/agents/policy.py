"""The human of a policy file: a state machine that moves on exact meanings and the state of the world (SEM-8, B.3.2).

Like the scripted human it is given the episode: the world is asked by itself, whatever was said. Its verifier is not.
"""

from __future__ import annotations

from dataclasses import replace

from iwkit.families import families
from iwkit.goals.evaluate import Judge
from iwkit.goals.terms import Condition
from iwkit.grammar import parse
from iwkit.spec.policy import Branch, Policy, State
from iwkit_runtime.loop.answers import write_human
from iwkit_runtime.loop.episode import Episode
from iwkit_runtime.loop.legend import Legend
from iwkit_runtime.loop.views import HumanView
from iwkit_runtime.verifier import NONE, Meaning, Verifier, read_tuple
from iwkit_validators.policy import meaning


class PolicyHuman:
    """Plays a policy, one transition and at most one command a turn. What it does not understand takes the default."""

    def __init__(self, policy: Policy, episode: Episode, verifier: Verifier) -> None:
        task = episode.task
        self._policy, self._episode, self._verifier = policy, episode, verifier
        rules = families()[task.pack.source_family].human
        self._legend = Legend(task, rules.model_copy(update={"movables": "seen"}))
        self._legend.seen |= set(task.things)
        self.names = {self._legend.handle(name): name for name in task.things}
        """Handle -> entity name, of everything in the task."""
        self._begun = False
        self._given = 0
        self._waited = 0
        self.state = policy.start
        """The name of the state that the human is in."""

    def answer(self, view: HumanView) -> str:
        """Answer one turn."""
        heard = view.instructions[-1].text if view.instructions and view.instructions[-1].new else None
        answered = self._verifier.verify(heard, self.understanding(view)) if heard is not None else ""
        told = read_tuple(answered, self.names) if heard is not None else None
        came_from = self.state
        if self._begun or heard is not None:
            self._move(self._next(view, heard is not None, told))
        self._begun = True
        why = f"{came_from} -> {self.state}" if came_from != self.state else self.state
        return self._act(view, f"{why}; heard {answered if told else NONE}" if heard is not None else why)

    def recall(self, view: HumanView, _text: str) -> None:
        """Take a turn again that was answered before the episode was stopped."""
        self.answer(view)

    # --- moving on ------------------------------------------------------------------------------------------------

    @property
    def _state(self) -> State:
        return self._policy.states[self.state]

    def _move(self, to: str | None) -> None:
        if to is not None:
            self.state, self._given, self._waited = to, 0, 0

    def _next(self, view: HumanView, spoken: bool, told: Meaning | None) -> str | None:
        """The state to go to. Speech is asked first and fails closed; then a refusal; then the world; then time."""
        state = self._state
        if state.end:
            return None
        if spoken:
            return next((b.to for b in state.branches if told is not None and self._means(b, told)), state.default)
        if self._refused(view):
            return state.default
        if self._given < len(state.do):
            return None
        holds = (b.to for b in state.branches if b.when.state is not None and self._holds(b.when.state))
        over = (b.to for b in state.branches if b.when.timeout is not None and self._waited >= b.when.timeout)
        return next(holds, next(over, None))

    def _means(self, branch: Branch, told: Meaning) -> bool:
        when = branch.when
        if when.said is None or when.and_ is None:
            return False
        return meaning(when.said) == (told.intent, told.referents, told.facts) and self._holds(when.and_)

    def _holds(self, condition: Condition) -> bool:
        """Whether a condition holds in the world as it is now. What cannot be judged does not hold."""
        task = self._episode.task
        judge = Judge(self._episode.recorder.trace(), task.vocabulary, task.pack.physical.windows)
        return judge.holds(condition, "interaction")

    def _refused(self, view: HumanView) -> bool:
        """Whether a command of the state was given last, and refused: by the world, or because it names what the wearer
        cannot name now."""
        given = self._given > 0 and self._waited == 0
        return given and (bool(view.notice) or (view.last is not None and not view.last.ok))

    # --- acting ---------------------------------------------------------------------------------------------------

    def _act(self, view: HumanView, reasoning: str) -> str:
        state = self._state
        speak = (state.say or "") if self._given == self._waited == 0 else ""
        if self._given < len(state.do) and self._waited == 0 and not self._refused(view):
            action = self._legend.text(parse(state.do[self._given]))
            self._given += 1
        else:
            action = (view.plan or "") if state.meanwhile == "plan" else ""
            self._waited += 1
        return write_human(action=action, speak=speak, reasoning=reasoning)

    def understanding(self, view: HumanView) -> HumanView:
        """What the verifier is shown: the view with handles for everything, as what speech means does not depend on
        what is in sight."""
        return replace(view, legend=self._legend.entries(self._episode.world, ()))
