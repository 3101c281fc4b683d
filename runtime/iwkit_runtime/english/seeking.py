"""Things that are not in view: the way to where they are said to be."""

from __future__ import annotations

from collections.abc import Sequence

from iwkit.verbs import BY_NAME
from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.phrases import Phrase
from iwkit_runtime.english.progress import Progress
from iwkit_runtime.english.readings import INTO, first_place, places
from iwkit_runtime.english.steps import Errand, Step, Unclear, Unfit
from iwkit_runtime.english.talk import located, where_told
from iwkit_runtime.english.words import sentences, singular
from iwkit_runtime.grounding import spoken_of
from iwkit_runtime.loop.views import LegendEntry


class Seeking(Progress):
    """Gives commands, and goes for what is not to be seen to the place that was told."""

    def told(self, clauses: Sequence[Clause], request: str) -> Errand:
        """The way to where the wearer is told that what it asked for is (`it is in the box`)."""
        heard = [said for s in sentences(request) for said, _ in spoken_of(s.tokens, self._legend)]
        about = {"it", "they", "them", *(said.core[-1] for said in heard if said.core)}
        for clause in clauses:
            place = first_place(located(clause.tokens))
            if clause.kind != "tell" or place.empty or "not" in clause.tokens:
                continue
            if not {singular(t) for t in clause.tokens[: where_told(clause.tokens)]} & about:
                continue
            try:
                goal = self._find(place, "place")
            except Unclear as unclear:
                return Errand(tuple(self._done), (), str(unclear))
            if not self._was_at(goal.handle):
                self._give("navigate_to", goal)
        return Errand(tuple(self._done), tuple(self._steps))

    def _sought(self, said: Phrase, role: str = "grab") -> LegendEntry:
        """The thing. Where it is not to be seen, first the way to the place where it is said to be, and what is said to
        be in a place is sought inside."""
        said = self._spelt_out(said, role)
        try:
            return self._find(said, role)
        except Unfit:
            raise
        except Unclear:
            goal = self._source(said)
            if goal is not None and not self._was_at(goal.handle):
                self._give("navigate_to", goal)
            elif goal is not None and self._kept_in(goal, said):
                self._give("open", goal)
            raise

    def _source(self, said: Phrase) -> LegendEntry | None:
        """Where a thing is said to be, with the thing or in a remark after it; a place in a room before the room."""
        if said.alternatives:
            return None
        if any(a.preposition == "there" for a in said.attached) and first_place(said.attached).empty:
            return self._gone_to
        told = [*places(said.attached), *(p for c in self._told_after for p in places(located(c.tokens)))]
        found = [goal for place in told if (goal := self._place_of(place)) is not None]
        return next((goal for goal in found if not goal.room), found[0] if found else None)

    def _kept_in(self, goal: LegendEntry, said: Phrase) -> bool:
        """Whether what is said to be in a place can only be behind its door: the wearer stands there and sees nothing
        of it. Who may do one exact action does not open anything for another one."""
        told = any(a.preposition in INTO | {"from"} for a in said.attached)
        opened = any(s.primitive == "open" and goal.handle in s.others for s in self._done)
        return told and goal.inside and not opened and self._free and not self._seen_in(goal)

    def _give(self, primitive: str, *things: LegendEntry, carried: LegendEntry | None = None) -> None:
        others = tuple(t.handle for t in things if t != carried)
        handles = [*([carried.handle] if carried else []), *others]
        text = " ".join([f"[{BY_NAME[primitive].verbs[0]}]", *handles])
        step = Step(primitive, text, carried.handle if carried else None, others)
        if step not in self._steps[-1:]:  # `make sure the stove is off: turn it off` is one act
            self._steps.append(step)
        self._name(handles)
