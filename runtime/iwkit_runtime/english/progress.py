"""What of an utterance was carried out already."""

from __future__ import annotations

from typing import Final

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.phrases import phrase
from iwkit_runtime.english.readings import Reading, first_place
from iwkit_runtime.english.steps import IMPLIED, PLACED, PRIMITIVES, Step, order_of
from iwkit_runtime.english.talk import Talk
from iwkit_runtime.grounding import ground
from iwkit_runtime.loop.views import LegendEntry

_MAY_BE_LEFT_OUT: Final = frozenset(
    {"leave", "walk", "carry", "look", "find", "around", "scan", "left", "right", "about", "forward"}
)
"""Acts that may have been carried out without a command of their own."""


class Progress(Talk):
    """Matches clauses with the commands that were given for them: they were given in the order of the clauses."""

    def _consumed(self, readings: dict[int, Reading | None]) -> dict[int, Step]:
        """Which clauses were carried out already, and by which command."""
        found: dict[int, Step] = {}
        at = 0
        for i, reading in readings.items():
            if reading is None:
                break
            if reading.act == "walk" and reading.obj.empty:
                continue
            wanted = self._wanted_for(reading, [r for k, r in readings.items() if k > i])
            here = self._next_done(at, wanted)
            if here is not None and self._went(reading, self._done[here]):
                found[i] = self._done[here]
                at = here + 1
            elif reading.act == "grab" and at < len(self._done) and self._done[at].primitive in PLACED:
                continue  # it was in the hand before
            elif wanted and reading.act not in _MAY_BE_LEFT_OUT and not self._satisfied(reading):
                break
        return found

    @staticmethod
    def _wanted_for(reading: Reading, later: list[Reading | None]) -> frozenset[str]:
        """The primitives that carry a reading out. What is put down by a later clause is only brought by this one."""
        if reading.act == "carry" and any(r and r.act in ("put", "leave", "drop") for r in later):
            return frozenset({"navigate_to"})
        return PRIMITIVES.get(reading.act, frozenset())

    def _next_done(self, at: int, wanted: frozenset[str]) -> int | None:
        """The first done step from `at` that is wanted, behind steps that were only implied."""
        for here in range(at, len(self._done)):
            primitive = self._done[here].primitive
            if primitive in wanted:
                return here
            if primitive not in IMPLIED:
                return None
        return None

    def _went(self, reading: Reading, step: Step) -> bool:
        """Whether a way that was gone is the one that a clause asks for."""
        if reading.act == "find" and step.primitive == "navigate_to":
            return bool(reading.obj.attached)
        if reading.act == "carry" and step.primitive == "navigate_to":
            told = [place for _, _, place in reading.ways]
        elif reading.act == "walk":
            told = [reading.obj]
        else:
            return True
        goals = [e for place in told for e in ground(self._told(place), self._legend).candidates]
        return not goals or any(e.handle in step.others for e in goals)

    def _satisfied(self, reading: Reading) -> bool:
        """Whether a clause needs no command: what is to be taken is in the hand already."""
        if reading.act != "grab" or self._held is None:
            return False
        held = self._handles.get(self._held)
        return held is not None and bool(reading.obj.pronoun or ground(reading.obj, [held]).candidates)

    def _is_so(self, reading: Reading) -> bool:
        """Whether what is told as done can be seen to be done: the thing is in the hand, the place stands open."""
        if reading.act != "open":
            return self._satisfied(reading) or reading.act != "grab"
        place = ground(reading.obj, self._legend, self._focus()).entry
        return place is not None and any(e.support == f"in {place.description}" for e in self._legend)

    def _past(self, clause: Clause, step: Step | None) -> None:
        if step is None:
            self._hear(clause.tokens)
            return
        if step.primitive in PLACED | {"navigate_to"} and step.others:
            self._gone_to = self._handles.get(step.others[-1])
        place = first_place(phrase(clause.tokens).attached)
        source = ground(place, self._legend).entry if not place.empty and step.primitive == "pick" else None
        self._name([*order_of(step), *([source.handle] if source else [])])

    def _taken_at(self, obj: LegendEntry, place: LegendEntry) -> bool:
        """Whether the held thing was taken at a place that the utterance had sent the wearer to."""
        ways = [s.others for s in self._done if s.primitive == "navigate_to"]
        return obj.handle == self._held and bool(ways) and place.handle in ways[-1]

    def _was_at(self, handle: str) -> bool:
        return any(s.primitive == "navigate_to" and handle in s.others for s in [*self._done, *self._steps])
