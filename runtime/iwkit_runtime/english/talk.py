"""What was talked about: the thing that a phrase or a pronoun means, or the question that has to be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.lexicon import PREPOSITIONS
from iwkit_runtime.english.phrases import Attached, Phrase
from iwkit_runtime.english.steps import Step, Unclear, done_step, order_of
from iwkit_runtime.english.words import content, sentences, words
from iwkit_runtime.grounding import Focus, Grounding, ground, mentions
from iwkit_runtime.loop.views import Done, HumanView, LegendEntry

_AMOUNTS: Final = frozenset({"amount", "total", "number", "price", "sum", "figure", "value"})

_AMOUNTS_AFTER: Final = frozenset({"label", "for", "with", "of", "at"})


def spoken(said: Phrase) -> list[str]:
    return [*said.words, *(w for a in said.attached for w in (a.preposition, *a.words))]


def _subject_first(tokens: Sequence[str]) -> Sequence[str]:
    """`on the table there is a mug` speaks of the mug first."""
    for i, word in enumerate(tokens[:-1]):
        if i and word in ("is", "are") and (tokens[i - 1] == "there" or tokens[0] in PREPOSITIONS - {"facing"}):
            return [*tokens[i + 1 :], ",", *tokens[:i]]
        if i and word == "rel" and tokens[0] in PREPOSITIONS:
            return [*tokens[i + 1 :], ",", *tokens[:i]]
    return tokens


class Talk:
    """The state of one utterance: what was named, ruled out and held on the way. `Errands` carries the clauses out."""

    def __init__(self, view: HumanView, done: Sequence[Done]) -> None:
        self._legend = view.legend
        self._handles = {e.handle: e for e in view.legend}
        self._blind = view.source_family == "NARRATE"
        self._held = view.held
        self._done = [done_step(d) for d in done if d.ok]
        self._steps: list[Step] = []
        self._named: list[str] = []
        self._kind: tuple[str, ...] = ()
        self._number: str | None = None
        self._lost = False
        self._wanted = {
            g[0].handle for s in sentences(view.request) for g in mentions(s.tokens, view.legend) if len(g) == 1
        }
        self._excluded: set[str] = set()
        self._tool: LegendEntry | None = None
        self._gone_to: LegendEntry | None = None
        self._later: list[Clause] = []
        self._told_after: list[Clause] = []
        last = done_step(view.last) if view.last else None
        self._last = order_of(last) if last else ()
        self._last_primitive = last.primitive if last else ""

    def _hear(self, tokens: Sequence[str]) -> None:
        """What a remark speaks of can be meant by a pronoun later."""
        self._number = next((t for t in reversed(tokens) if t.isdigit()), self._number)
        groups = [self._familiar(g) for g in mentions(_subject_first(tokens), self._legend, self._focus())]
        self._lost = self._lost or (not groups and bool(set(tokens) & {"the", "a", "an", "your"}))
        self._name([group[0].handle for group in groups if len(group) == 1])
        if groups and len(groups[-1]) > 1 and len({e.nouns for e in groups[-1]}) == 1:
            self._kind = groups[-1][0].nouns

    def _familiar(self, group: tuple[LegendEntry, ...]) -> tuple[LegendEntry, ...]:
        """Of several things the one that the wearer itself asked about."""
        asked = tuple(e for e in group if e.handle in self._wanted)
        return asked if len(asked) == 1 else group

    def _name(self, handles: Iterable[str]) -> None:
        fresh = list(dict.fromkeys(h for h in handles if h in self._handles))
        if any(not self._handles[h].place for h in fresh):
            self._kind = ()
        self._named = [*fresh, *(h for h in self._named if h not in fresh)]

    def _place_of(self, source: Phrase) -> LegendEntry | None:
        if source.pronoun:
            return self._recent("place")
        return self._choose(ground(source, self._legend, self._focus()), "place", source)

    def _means_inside(self, place: LegendEntry) -> bool:
        """Whether "to the place" means into it: it has no top, or all that was done there speaks for its inside."""
        if place.top != place.inside:
            return place.inside
        kept = {e.support.split(" ", 1)[0] for e in self._legend if e.support.endswith(place.description)}
        opened = any(s.primitive in ("open", "close") and place.handle in s.others for s in [*self._done, *self._steps])
        opened = opened or (self._last == (place.handle,) and self._last_primitive in ("open", "close"))
        return "on" not in kept and ("in" in kept or opened)

    @staticmethod
    def _within(place: LegendEntry, room: LegendEntry | None) -> bool:
        """Whether a place is described as being in a room."""
        return room is not None and place != room and content(room.description) <= content(place.description)

    def _find(self, said: Phrase, role: str) -> LegendEntry:
        return self._fit(said, role)[0]

    def _fit(self, said: Phrase, role: str, besides: str = "") -> tuple[LegendEntry, float]:
        """The one thing that a phrase means, and how well it fits."""
        if said.empty or said.pronoun:
            entry = (
                self._handles.get(self._held or "")
                if said.attached and said.attached[0].preposition == "inhand"
                else None
            )
            entry = entry or self._recent(role, besides)
            if entry is None:
                raise Unclear("What do you mean, and where is it?")
            return entry, 0.0
        if said.alternatives:
            raise Unclear("I cannot choose. Which one do you mean?")
        said = self._told(said)
        focus = self._focus()
        if role in ("grab", "carry"):
            focus = replace(
                focus, named=tuple(h for h in focus.named if h in self._handles and not self._handles[h].place)
            )
        found = ground(said, self._legend, focus)
        entry = self._choose(found, role, said)
        if entry is None and self._number:
            entry = ground(said.with_attached([Attached("label", (self._number,))]), self._legend, self._focus()).entry
        if entry is None:
            raise Unclear(self._which(found, said))
        return entry, found.score

    def _told(self, said: Phrase) -> Phrase:
        """The phrase with what was said before in the place of `there` and `that amount`."""
        attached = []
        for a in said.attached:
            if a.preposition == "there" and not a.words:
                place = self._gone_to or self._recent("place")
                if place is not None:
                    attached.append(Attached("near", words(place.description)))
            elif a.preposition in _AMOUNTS_AFTER and self._number and set(Phrase(a.words).core) <= _AMOUNTS:
                attached.append(Attached("label", (self._number,)))
            else:
                attached.append(a)
        return Phrase(said.words, tuple(attached))

    def _focus(self) -> Focus:
        before = () if self._last_primitive == "navigate_to" else self._last
        return Focus(self._held, (*self._named, *before), frozenset(self._excluded), self._kind, frozenset(self._named))

    def _choose(self, found: Grounding, role: str, said: Phrase) -> LegendEntry | None:
        """Of equally good candidates the one that the verb, the talk or the eye singles out; None where none is."""
        left = list(found.candidates)
        narrowings: tuple[Callable[[LegendEntry], bool], ...] = (
            lambda e: (e.handle == self._held) == (role == "carry") or role not in ("carry", "grab"),
            lambda e: e.place == (role in ("place", "open")) or role not in ("place", "open", "grab"),
            lambda e: e.handle in self._named,
            lambda e: self._within(e, self._gone_to),
            lambda e: e.handle in self._wanted,
            lambda e: e.visible,
        )
        for keep in narrowings:
            if len(left) > 1:
                left = [e for e in left if keep(e)] or left
        if len(left) > 1 and said.indefinite:
            left = sorted(left, key=lambda e: e.handle)[:1]
        return left[0] if len(left) == 1 else None

    def _recent(self, role: str, besides: str = "") -> LegendEntry | None:
        """What a pronoun means: the held thing for what is put down, else what was named last and suits the verb."""
        if role == "carry" and self._held:
            return self._handles.get(self._held)
        before = () if self._lost else self._last
        named = [self._handles[h] for h in (*self._named, *before) if h in self._handles and h != besides]
        named = [e for e in named if e.handle not in self._excluded]
        if role == "grab":
            named = [e for e in named if e.handle != self._held] or named
        wants_place = role in ("place", "open")
        suitable = named if role == "any" else [e for e in named if e.place == wants_place]
        if role == "open":
            worked = (
                self._named if self._last_primitive not in ("open", "close", "look_at") else (*self._named, *self._last)
            )
            named = [e for e in named if e.handle in worked]
            suitable = [e for e in suitable if e in named and not e.room] or [
                e for e in self._told_later() if e.place
            ]
        elif role == "grab":
            # several of a kind were spoken of last, or nothing but places: not to be guessed
            named = [e for e in named if e.handle in self._named and not self._kind]
        if role == "place":
            return suitable[0] if suitable else None
        return next(iter(suitable or named or (self._corrected() if role == "grab" else [])), None)

    def _corrected(self) -> list[LegendEntry]:
        """`take it out. I mean the mug.`"""
        groups = [g for c in self._told_after for g in mentions(c.tokens, self._legend)]
        return [g[0] for g in groups if len(g) == 1 and not g[0].place]

    def _told_later(self) -> list[LegendEntry]:
        """What is named after the pronoun: `put it in the box after opening it`."""
        return [g[0] for c in self._later for g in mentions(c.tokens, self._legend) if len(g) == 1]

    def _describe(self, handle: str) -> str:
        entry = self._handles.get(handle)
        return entry.description if entry else "something"

    def _which(self, found: Grounding, said: Phrase) -> str:
        spoken = said.text or "that"
        if not found.candidates:
            return (
                f"I do not know of any {spoken} here. Where is it?"
                if self._blind
                else f"I do not see any {spoken}. Where is it?"
            )
        names = [e.description for e in found.candidates]
        if len(set(names)) < len(names):
            names = [" ".join(filter(None, [e.description, e.support or e.bearing])) for e in found.candidates]
        names = sorted(set(names))
        if len(names) < 2 or len(names) > 4:
            return f"There are several things like that. Which {spoken} do you mean?"
        return f"Which one do you mean: {', '.join(names[:-1])} or {names[-1]}?"
