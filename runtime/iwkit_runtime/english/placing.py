"""Where a thing is put: which words are the thing, the preposition and the place, and whether it can bear it."""

from __future__ import annotations

from typing import Final

from iwkit_runtime.english.fitness import NAMED
from iwkit_runtime.english.phrases import Phrase
from iwkit_runtime.english.readings import INTO, NEAR, ONTO, Reading, first_place, read
from iwkit_runtime.english.seeking import Seeking
from iwkit_runtime.english.steps import Unclear
from iwkit_runtime.grounding import ground
from iwkit_runtime.loop.views import LegendEntry

_THERE_ALREADY: Final = 3.0
"""How much less a place fits at which the thing is: `the glass on the shelf goes in the sink` is put into the sink."""
_TOLD_APART: Final = 2.0
"""How much less `it on the plate` fits than `it`: nobody tells apart by its place what a pronoun means."""
_FLOOR: Final = frozenset({"floor", "ground"})


class Placing(Seeking):
    """Takes things and puts them where they are to go."""

    def _take(self, thing: LegendEntry) -> None:
        """Get a thing into the hand. A hand that is full is not emptied unasked."""
        if self._held == thing.handle:
            return
        if self._held is not None:
            raise Unclear(f"My hand is full, I am holding {self._describe(self._held)}. Where should I put it?")
        self._give("pick", carried=thing)
        self._held = thing.handle

    def _settle(self, obj: LegendEntry, preposition: str, place: LegendEntry) -> None:
        self._take(obj)
        primitive = "place_on_floor" if preposition == "floor" else "place_inside" if preposition in INTO else "place"
        self._give(primitive, place, carried=obj)
        self._held = None
        self._gone_to = place

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
            if obj_said.pronoun and any(a.preposition in INTO | ONTO for a in obj_said.attached):
                obj_fit -= _TOLD_APART
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
