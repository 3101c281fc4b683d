"""What was asked for, against what the wearer can name now: the commands that are left to do, or a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.fitness import NAMED
from iwkit_runtime.english.phrases import Phrase
from iwkit_runtime.english.readings import INTO, NEAR, ONTO, Reading, first_place, read
from iwkit_runtime.english.seeking import Seeking
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
_THERE_ALREADY: Final = 3.0
"""How much less a place fits at which the thing is: `the glass on the shelf goes in the sink` is put into the sink."""
_FLOOR: Final = frozenset({"floor", "ground"})


class Errands(Seeking):
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
            thing = self._find(reading.obj, "any")
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
        thing = self._sought(reading.obj)
        self._take(thing)
        source = first_place(reading.obj.attached)
        place = ground(source, self._legend).entry if not source.empty else None
        self._name([thing.handle, *([place.handle] if place else [])])

    def _take(self, thing: LegendEntry) -> None:
        """Get a thing into the hand. A hand that is full is not emptied unasked."""
        if self._held == thing.handle:
            return
        if self._held is not None:
            raise Unclear(f"My hand is full, I am holding {self._describe(self._held)}. Where should I put it?")
        self._give("pick", carried=thing)
        self._held = thing.handle

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

    def _settle(self, obj: LegendEntry, preposition: str, place: LegendEntry) -> None:
        self._take(obj)
        primitive = "place_on_floor" if preposition == "floor" else "place_inside" if preposition in INTO else "place"
        self._give(primitive, place, carried=obj)
        self._held = None
        self._gone_to = place

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

    def _put_later(self, obj: LegendEntry) -> bool:
        """Whether the same utterance goes on to tell how the thing is put down."""
        for clause in self._later:
            reading = read(clause)
            if reading is None or reading.act in ("grab", "carry"):
                return False
            if reading.act in ("put", "drop", "leave"):
                said = reading.ways[0][0] if reading.ways else reading.obj
                return said.empty or said.pronoun or obj in ground(said, self._legend).candidates
        return False

    def _placing(self, reading: Reading) -> tuple[LegendEntry, str, LegendEntry]:
        """The likeliest cut of the words into thing, preposition and place."""
        if not reading.ways:
            obj = self._find(reading.obj, "carry")
            if self._gone_to is not None and not reading.back:
                self._bears(self._gone_to, obj)
                return obj, "in" if self._means_inside(self._gone_to) else "on", self._gone_to
            raise Unclear(f"Where should I put {obj.description}?")
        best: tuple[float, LegendEntry, str, LegendEntry] | None = None
        first: Unclear | None = None
        for obj_said, preposition, place_said in reading.ways:
            try:
                obj, obj_fit = self._fit(obj_said, "carry")
                if _FLOOR & set(place_said.words):
                    now, place, place_fit = self._floor(place_said, obj)
                else:
                    now, place, place_fit = self._where(preposition, place_said, obj, rooms=reading.act == "carry")
            except Unclear as unclear:
                first = first or unclear
                continue
            if any(obj.support == f"{p} {place.description}" for p in ("on", "in")) or self._taken_at(obj, place):
                place_fit -= _THERE_ALREADY
            fit = obj_fit + place_fit
            if best is None or fit > best[0] + 0.3:
                best = (fit, obj, now, place)
        if best is None:
            for obj_said in (w[0] for w in reading.ways if w[0].pronoun or not first_place(w[0].attached).empty):
                self._sought(obj_said, "carry")
            raise first or Unclear("Where should I put it?")
        return best[1], best[2], best[3]

    @staticmethod
    def _bears(place: LegendEntry, obj: LegendEntry) -> None:
        """Asks where a place is one that nothing can be put on or in."""
        if place.room:
            raise Unclear(f"Where in {place.description} should I put {obj.description}?")
        if not NAMED["target"](place):
            raise Unclear(f"I cannot put anything on {place.description}. Where should I put {obj.description}?")

    def _floor(self, said: Phrase, obj: LegendEntry) -> tuple[str, LegendEntry, float]:
        """`on the floor next to the bed`: what it is put beside has to be told."""
        anchor = first_place(said.attached)
        if anchor.empty:
            raise Unclear(f"Next to what should I put {obj.description} on the floor?")
        place, fit = self._fit(anchor, "place", obj.handle)
        return "floor", place, fit

    def _where(
        self, preposition: str, said: Phrase, obj: LegendEntry, *, rooms: bool
    ) -> tuple[str, LegendEntry, float]:
        """The place of a placing and the preposition that counts."""
        if said.empty or said.pronoun:
            place = self._gone_to if preposition == "there" and self._gone_to else self._recent("target", obj.handle)
            if place is None:
                raise Unclear(f"Where should I put {obj.description}?")
            self._bears(place, obj)
            if preposition == "there":
                preposition = "in" if self._means_inside(place) else "on"
            return preposition, place, 0.0
        place, fit = self._fit(said, "place", obj.handle)
        if preposition in NEAR and not place.place:
            support = [e for e in self._legend if place.support in (f"on {e.description}", f"in {e.description}")]
            if len(support) != 1:
                raise Unclear(f"What should I put {obj.description} on?")
            return place.support.split(" ", 1)[0], support[0], fit
        if not (rooms and place.room):
            self._bears(place, obj)
        if preposition in NEAR and not place.top:
            raise Unclear(f"What should I put {obj.description} on?")
        if preposition in NEAR:
            preposition = "in" if self._means_inside(place) else "on"
        return preposition, place, fit

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
        target = self._find(reading.obj, "any")
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
