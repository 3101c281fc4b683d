"""What was asked for, against what the wearer can name now: the commands that are left to do, or a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.phrases import Phrase
from iwkit_runtime.english.placing import Placing
from iwkit_runtime.english.readings import INTO, ONTO, Reading, first_place, read
from iwkit_runtime.english.steps import PRIMITIVES, Errand, Step, Unclear
from iwkit_runtime.english.talk import spoken
from iwkit_runtime.grounding import ground, spoken_of
from iwkit_runtime.loop.views import LegendEntry

_TURNS: Final = {"left": "TurnLeft", "right": "TurnRight", "about": "TurnAround"}
_SIMPLE: Final = {"stand": "standup", "squat": "squat", "around": "look_around", "confirm": "confirm"}
_ONE_THING: Final = {
    "on": "turn_on",
    "off": "turn_off",
    "sit": "sit",
    "over": "flip",
    "raise": "raise",
    "cook": "cook",
    "type": "use_computer",
    "phone": "answer_phone",
}
_REST: Final = "I do one thing at a time. What should I do with the rest?"


class Errands(Placing):
    """Works through the clauses of one utterance."""

    # --- the utterance --------------------------------------------------------------------------------------------

    def run(self, clauses: Sequence[Clause]) -> Errand:
        """The errand of an utterance's clauses."""
        readings = {i: read(c) for i, c in enumerate(clauses) if c.kind == "do"}
        consumed = self._consumed(readings)
        last = max(consumed, default=-1)
        question = ""
        for clause in clauses:
            if clause.kind == "never":
                named = spoken_of(clause.tokens, self._legend)
                # `not a blue one` rules out all that are blue, `not the bottle` says nothing where there are two
                apart = [group for said, group in named if len(group) == 1 or said.indefinite or said.one]
                self._excluded |= {e.handle for group in apart for e in group}
        for i, clause in enumerate(clauses):
            self._later = [c for c in clauses[i + 1 :] if c.kind == "do"]
            self._told_after = [c for c in clauses[i + 1 :] if c.kind == "tell"]
            if i <= last:
                self._past(clause, consumed.get(i))
                continue
            try:
                self._clause(clause, readings.get(i))
            except Unclear as unclear:
                question = str(unclear)
                break
        if (
            not question
            and not self._steps
            and any(r and r.more and r.act not in ("idle", "leave") for i, r in readings.items() if i <= last)
        ):
            question = _REST
        before = {(s.primitive, s.carried, s.others) for s in self._done}
        if self._steps and all((s.primitive, s.carried, s.others) in before for s in self._steps):
            self._steps.clear()  # nothing is done twice for one utterance
        return Errand(tuple(self._done), tuple(self._steps), question)

    def _clause(self, clause: Clause, reading: Reading | None) -> None:
        if clause.kind == "unknown":
            raise Unclear(f"I do not know how to do that: {clause.verb}. Can you say it in another way?")
        if clause.kind == "condition":
            raise Unclear("I cannot decide that. Can you tell me what to do?")
        if clause.kind == "tell" and clause.act == "put":
            self._belongs(clause)
        elif clause.kind != "do":
            self._hear(clause.tokens)
        elif reading is None:
            raise Unclear("I am not sure what you mean. Can you say it in another way?")
        elif not (clause.settled and self._is_so(reading)):
            self._do(reading)
            if reading.more and reading.act not in ("idle", "leave"):
                raise Unclear(_REST)

    def _belongs(self, clause: Clause) -> None:
        """Where something is said to belong is where `there` is."""
        self._hear(clause.tokens)
        reading = read(replace(clause, kind="do"))
        try:
            obj, _, place = self._placing(reading) if reading else (None, "", None)
        except Unclear:
            return
        if obj and place:
            self._name([obj.handle, place.handle])
            self._gone_to = place

    def _do(self, reading: Reading) -> None:
        act = reading.act
        handler = _HANDLERS.get(act)
        if handler is not None:
            handler(self, reading)
        elif act in _SIMPLE:
            self._give(_SIMPLE[act])
        elif act in _ONE_THING:
            thing = self._find(reading.obj, "work" if act == "cook" else "any")
            self._give(_ONE_THING[act], thing, carried=thing if act == "over" else None)

    # --- single acts ----------------------------------------------------------------------------------------------

    def _idle(self, reading: Reading) -> None:
        self._hear(spoken(reading.obj))

    def _use(self, reading: Reading) -> None:
        self._tool = self._find(reading.obj, "grab")
        if not self._later:
            raise Unclear(f"What should I do with {self._tool.description}?")

    def _grab(self, reading: Reading) -> None:
        if reading.obj.core[-1:] == ("drawer",):
            self._open(replace(reading, act="open"))  # `pull out the drawer`
            return
        # `take the plate in your hand` is said of what is not in it yet
        beside = tuple(a for a in reading.obj.attached if a.preposition != "inhand" or reading.obj.empty)
        thing = self._sought(replace(reading.obj, attached=beside))
        self._take(thing)
        source = first_place(reading.obj.attached)
        place = ground(source, self._legend).entry if not source.empty else None
        self._name([thing.handle, *([place.handle] if place else [])])

    def _put(self, reading: Reading) -> None:
        if not reading.ways and self._later and self._said_again(reading):
            return  # `put it away: it goes on the shelf`
        obj, preposition, place = self._placing(reading)
        self._settle(obj, preposition, place)

    def _leave(self, reading: Reading) -> None:
        """`leave it on the desk` is for what is in the hand; what is not stays where it is."""
        said = reading.ways[0][0]
        held = self._handles.get(self._held or "")
        if held is not None and (said.empty or said.pronoun or ground(said, [held]).candidates):
            self._put(reading)

    def _said_again(self, reading: Reading) -> bool:
        """Whether the next clause tells more exactly what is to be done with the thing."""
        thing = self._find(reading.obj, "carry")
        following = read(self._later[0])
        self._name([thing.handle])
        return self._put_later(thing) or (
            following is not None
            and following.act in ("grab", "carry")
            and (following.obj.pronoun or thing in ground(following.obj, self._legend).candidates)
        )

    def _carry(self, reading: Reading) -> None:
        """`take it to the desk`: put down there, unless that is said separately or a room is meant."""
        if not reading.ways and self._later and self._said_again(reading):
            self._take(self._find(reading.obj, "carry"))
            return
        obj, preposition, place = self._placing(reading)
        if place.room or (preposition not in INTO | ONTO | {"floor"} and self._put_later(obj)):
            self._take(obj)
            self._give("navigate_to", place)
            self._name([obj.handle, place.handle])
            self._gone_to = place
            return
        if preposition not in INTO | ONTO | {"floor"}:
            preposition = "in" if self._means_inside(place) else "on"
        self._settle(obj, preposition, place)

    def _open(self, reading: Reading) -> None:
        thing = self._fixture(reading.obj, reading.act)
        self._give(f"{reading.act}_door" if "door" in thing.nouns else reading.act, thing)

    def _fixture(self, said: Phrase, act: str) -> LegendEntry:
        """What is opened or closed. `the door` alone is the door of what was just spoken of, but not to undo at once
        what the same utterance had done to it."""
        if said.core == ("door",) and not said.attached:
            recent = self._recent("open")
            undone = {"open": ("close", "close_door"), "close": ("open", "open_door")}[act]
            undoing = any(
                s.primitive in undone and recent and recent.handle in s.others for s in (*self._done, *self._steps)
            )
            if recent is not None and not (undoing and self._find(said, "open") != recent):
                return recent
        return self._find(said, "open")

    def _walk(self, reading: Reading) -> None:
        said = reading.obj
        if said.empty and not said.attached:
            if self._later or (reading.back and self._steps):
                return  # `go back and close it`: the way is part of what follows
            raise Unclear("Where should I go?")
        goal = self._recent("place") if said.empty else self._find(said, "place")
        if goal is None:
            raise Unclear("Where should I go?")
        before = self._steps[-1] if self._steps else None
        if before and before.primitive == "navigate_to" and self._gone_to and self._within(goal, self._gone_to):
            self._steps.pop()  # `go to the room and stop at the table there` is one way
        self._give("navigate_to", goal)
        self._gone_to = goal
        if not reading.tool.empty:
            self._name([e.handle for e in [ground(reading.tool, self._legend, self._focus()).entry] if e])

    def _look(self, reading: Reading) -> None:
        if self._later and (reading.back or reading.obj.empty or self._acted_on_later()):
            self._hear(spoken(reading.obj))
            return
        if reading.act == "find" and self._later and not ground(reading.obj, self._legend, self._focus()).candidates:
            return  # what follows tells where to go for it
        named = reading.act == "find" or not reading.obj.empty
        thing = self._sought(reading.obj, "any") if named else self._recent("any")
        if thing is None:
            raise Unclear("What should I look at?")
        if thing.place and not thing.visible and not self._was_at(thing.handle):
            self._give("navigate_to", thing)
            self._gone_to = thing
        if not thing.room:
            self._give("look_at", thing)

    def _scan(self, reading: Reading) -> None:
        """`look over the floor by the desk`: first the way to the desk."""
        goal = None if reading.obj.empty else self._find(reading.obj, "place")
        if goal is not None and not self._was_at(goal.handle):
            self._give("navigate_to", goal)
            self._gone_to = goal
        self._give("look_scan")

    def _acted_on_later(self) -> bool:
        """`check the door and close it`: looking is part of what is done to it."""
        following = read(self._later[0])
        return (
            following is not None and following.act in ("open", "close", "grab", "on", "off") and following.obj.pronoun
        )

    def _move_body(self, reading: Reading) -> None:
        number = "" if reading.number is None else f"{reading.number:g}"
        if reading.act == "wait":
            self._bounded(reading.number, 0.1, 600)
            self._steps.append(Step("wait", f"[Wait] {number}".strip()))
        elif reading.act == "forward":
            self._bounded(reading.number, 0.1, 20)
            self._steps.append(Step("forward", f"[Forward] {number}{reading.unit if number else ''}".strip()))
        else:
            self._bounded(reading.number, 1, 360)
            scalar = "" if reading.act == "about" else number
            self._steps.append(Step("turn", f"[{_TURNS[reading.act]}] {scalar}".strip()))

    @staticmethod
    def _bounded(number: float | None, low: float, high: float) -> None:
        if number is not None and not low <= number <= high:
            raise Unclear("That is more than I can do at once. Can you say it again?")

    def _with_tool(self, reading: Reading) -> None:
        target = self._find(reading.obj, "work" if reading.act == "cut" else "any")
        if reading.tool.empty:
            tool = self._tool or (self._handles.get(self._held) if self._held else None)
        else:
            tool = self._find(reading.tool, "carry")
        if tool is None or tool == target:
            raise Unclear(f"What should I use on {target.description}?")
        self._take(tool)
        order = (tool, target) if reading.act == "wipe" else (target, tool)
        self._give(next(iter(PRIMITIVES[reading.act])), *order)

    def _pour(self, reading: Reading) -> None:
        if not reading.ways:
            raise Unclear("Where should I pour it?")
        said, _, where = reading.ways[0]
        source = self._poured(said)
        target = self._find(where, "any")
        if target.room or target == source:
            raise Unclear("Where should I pour it?")
        self._take(source)
        self._give("pour", target, source)

    def _poured(self, said: Phrase) -> LegendEntry:
        """What is poured from. `the water` is what is in the vessel in the hand, where nothing else is called so."""
        try:
            return self._find(said, "carry")
        except Unclear:
            held = self._handles.get(self._held or "")
            if held is None or ground(said, self._legend, self._focus()).candidates:
                raise
            return held

    def _pair(self, reading: Reading) -> None:
        if not reading.ways:
            raise Unclear("Where to?" if reading.act != "detach" else "From what?")
        said, _, where = reading.ways[0]
        self._give(next(iter(PRIMITIVES[reading.act])), self._find(said, "any"), self._find(where, "place"))

    def _drop(self, reading: Reading) -> None:
        thing = self._find(reading.obj, "carry")
        if self._held != thing.handle:
            raise Unclear(f"I am not holding {thing.description}. What should I do?")
        self._give("release", carried=thing)
        self._held = None


_HANDLERS: Final[dict[str, Callable[[Errands, Reading], None]]] = {
    "idle": Errands._idle,
    "use": Errands._use,
    "grab": Errands._grab,
    "put": Errands._put,
    "leave": Errands._leave,
    "carry": Errands._carry,
    "open": Errands._open,
    "close": Errands._open,
    "walk": Errands._walk,
    "look": Errands._look,
    "find": Errands._look,
    "scan": Errands._scan,
    "wait": Errands._move_body,
    "forward": Errands._move_body,
    "left": Errands._move_body,
    "right": Errands._move_body,
    "about": Errands._move_body,
    "wipe": Errands._with_tool,
    "cut": Errands._with_tool,
    "stir": Errands._with_tool,
    "pour": Errands._pour,
    "push": Errands._pair,
    "pull": Errands._pair,
    "detach": Errands._pair,
    "drop": Errands._drop,
}
