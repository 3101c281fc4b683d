"""Judge conditions over a trace: true or false, and why (docs/goal-language.md sections 1 to 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iwkit.goals import truth
from iwkit.goals.explain import explain
from iwkit.goals.terms import Condition, Pattern, When
from iwkit.goals.timeline import Occurrence, Scope, Span, Timeline, View, uses_of
from iwkit.goals.vocabulary import Vocabulary
from iwkit.trace import State as Relations
from iwkit.trace import Trace

if TYPE_CHECKING:
    from iwkit.spec.goal import Window

__all__ = ["Judge", "Scope", "Verdict", "judge"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`why` is one plain sentence with the facts, whether `ok` or not."""

    ok: bool
    why: str


class Judge:
    """Judges any number of conditions over one trace. Pure: the same input gives the same verdicts."""

    def __init__(self, trace: Trace, vocabulary: Vocabulary, windows: Sequence[Window]) -> None:
        self.timeline = Timeline(trace, vocabulary, windows, self._holds_in)

    def _holds_in(self, condition: Condition, state: Relations) -> bool:
        return truth.holds(self.timeline, condition, View(state))

    def judge(self, condition: Condition, scope: Scope) -> Verdict:
        """The verdict in the opening (for `evidence`) or the interaction (for the goal)."""
        reason = self.timeline.undefined(uses_of(condition))
        if reason:
            return Verdict(False, f"it cannot be judged: {reason}")
        view = self.timeline.view(scope)
        return Verdict(truth.holds(self.timeline, condition, view), explain(self.timeline, condition, view))

    def holds(self, condition: Condition, scope: Scope) -> bool:
        """The verdict without its reason."""
        if self.timeline.undefined(uses_of(condition)):
            return False
        return truth.holds(self.timeline, condition, self.timeline.view(scope))

    def matches(self, pattern: Pattern, span: Span) -> tuple[Occurrence, ...]:
        """The events of the interaction within the span that match; none if the pattern cannot be judged."""
        if self.timeline.undefined(uses_of(pattern)):
            return ()
        low = max(self.timeline.handoff, span.start - 1)
        return tuple(self.timeline.between(pattern, low, span.stop + 1))

    def span(self, opens: When, closes: When | None) -> Span | None:
        """When something with these edges is open; None if it never opens or cannot be judged."""
        if self.timeline.undefined(uses_of(opens, closes)):
            return None
        return self.timeline.span(opens, closes)

    def window(self, name: str) -> Span | None:
        """When the window of that name is open; None if it never opens or there is none."""
        window = self.timeline.windows.get(name)
        return None if window is None else self.span(window.opens, window.closes)


def judge(
    condition: Condition, trace: Trace, vocabulary: Vocabulary, windows: Sequence[Window], scope: Scope
) -> Verdict:
    """Judge one condition.

    `scope` says where the condition stands: "opening" judges states in the baseline and events of the opening,
    "interaction" the end state and the events after the handoff. What cannot be judged (an unknown window, a command
    outside the grammar) is false.
    """
    return Judge(trace, vocabulary, windows).judge(condition, scope)
