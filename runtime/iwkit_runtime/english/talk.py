"""What was talked about: the thing that a phrase or a pronoun means, or the question that has to be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.fitness import MEANT, NAMED, UNFIT
from iwkit_runtime.english.lexicon import ABSTRACT, DETERMINERS, PREPOSITIONS, VAGUE
from iwkit_runtime.english.phrases import Attached, Phrase, phrase
from iwkit_runtime.english.readings import INTO, NEAR, ONTO
from iwkit_runtime.english.scoring import Focus, heads
from iwkit_runtime.english.steps import Step, Unclear, Unfit, done_step, order_of
from iwkit_runtime.english.words import content, sentences, words
from iwkit_runtime.grounding import Grounding, ground, mentions, spoken_of
from iwkit_runtime.loop.views import Done, HumanView, LegendEntry

_AMOUNTS: Final = frozenset({"amount", "total", "number", "price", "sum", "figure", "value"})

_TAKEN: Final = frozenset({"grab", "carry"})
_WORKED_ON: Final = frozenset({"open", "close", "look_at", "navigate_to", "place_inside"})
"""Commands after which `close it` means the place that they were about."""
_AMOUNTS_AFTER: Final = frozenset({"label", "for", "with", "of", "at"})


def spoken(said: Phrase) -> list[str]:
    return [*said.words, *(w for a in said.attached for w in (a.preposition, *a.words))]


def _subject_first(tokens: Sequence[str]) -> Sequence[str]:
    """`on the table there is a mug` speaks of the mug first."""
    for i, word in enumerate(tokens[:-1]):
        if i and word in ("is", "are") and (tokens[i - 1] == "there" or tokens[0] in PREPOSITIONS - {"facing"}):
            return [*tokens[i + 1 :], *(t for t in tokens[:i] if t not in (",", "there"))]
        if i and word == "rel" and tokens[0] in PREPOSITIONS:
            return [*tokens[i + 1 :], ",", *tokens[:i]]
    return tokens


def _absent(heard: Sequence[tuple[Phrase, tuple[LegendEntry, ...]]]) -> Phrase | None:
    """What a remark is about where that is something unknown: `your thermos is in the box`."""
    named = [(said, group) for said, group in heard if group or _determined(said)]
    return named[0][0] if named and _unknown(*named[0]) else None


def _unknown(said: Phrase, group: Sequence[LegendEntry]) -> bool:
    """Whether a phrase is the name of a thing that the wearer cannot name."""
    return not group and _determined(said) and bool(set(said.core) - VAGUE - ABSTRACT)


def _determined(said: Phrase) -> bool:
    return bool(said.words) and said.words[0] in DETERMINERS


def _bare(said: Phrase) -> bool:
    """Whether nothing but a noun is said: `that cabinet behind you` tells no more than `the cabinet`."""
    return len(said.core) == 1 and not any(Phrase(a.words).core for a in said.attached)


def located(tokens: Sequence[str]) -> tuple[Attached, ...]:
    """Where a remark tells that something is: its first phrase of place with what is attached to it."""
    return tuple(a for a in phrase(tokens[where_told(tokens) :]).attached if a.words)


def where_told(tokens: Sequence[str]) -> int:
    """The position of the first preposition of place, the end where there is none."""
    return next((i for i, t in enumerate(tokens) if t in INTO | ONTO | NEAR), len(tokens))


class Talk:
    """The state of one utterance: what was named, ruled out and held on the way. `Errands` carries the clauses out."""

    def __init__(self, view: HumanView, done: Sequence[Done], earlier: Sequence[str] = ()) -> None:
        """`done` was carried out under the utterance or later ones; `earlier` are active utterances before it, the
        newest first."""
        self._legend = view.legend
        self._handles = {e.handle: e for e in view.legend}
        self._blind = view.source_family == "NARRATE"
        self._free = view.source_family not in ("NARRATE", "ASK")
        self._held = view.held
        self._done = [done_step(d) for d in done if d.ok]
        self._steps: list[Step] = []
        self._named: list[str] = []
        self._kind: tuple[str, ...] = ()
        self._number: str | None = None
        self._absent: Phrase | None = None
        self._together = 0
        self._alikes: list[LegendEntry] = []
        self._earlier = [h for text in earlier for h in self._singled_out(text)]
        self._wanted = set(self._singled_out(view.request))
        self._excluded: set[str] = set()
        self._tool: LegendEntry | None = None
        self._gone_to: LegendEntry | None = None
        self._later: list[Clause] = []
        self._told_after: list[Clause] = []
        last = done_step(view.last) if view.last else None
        self._last = order_of(last) if last else ()
        self._last_primitive = last.primitive if last else ""

    def _singled_out(self, text: str) -> list[str]:
        """What a text names without doubt, the latest sentence first."""
        found = [mentions(s.tokens, self._legend) for s in sentences(text)]
        return [g[0].handle for groups in reversed(found) for g in groups if len(g) == 1]

    def _hear(self, tokens: Sequence[str]) -> None:
        """What a remark speaks of can be meant by a pronoun later."""
        self._number = next((t for t in reversed(tokens) if t.isdigit()), self._number)
        heard = spoken_of(_subject_first(tokens), self._legend, self._focus())
        groups = [self._familiar(g) for _, g in heard if g]
        self._name([group[0].handle for group in groups if len(group) == 1])
        things = [(said, g) for said, g in heard if all(map(MEANT["grab"], g))]
        self._together = sum(min(len(g), 2) if g else _unknown(said, g) for said, g in things)
        taken = [g[0] for g in groups if len(g) == 1 and MEANT["grab"](g[0])]
        self._alikes = list(dict.fromkeys(e for e in taken if e.nouns == taken[0].nouns))
        if (absent := _absent(heard)) is not None:
            self._absent = absent if absent.attached else absent.with_attached(located(tokens))
        if groups and len(groups[-1]) > 1 and len({e.nouns for e in groups[-1]}) == 1:
            self._kind = groups[-1][0].nouns

    def _familiar(self, group: tuple[LegendEntry, ...]) -> tuple[LegendEntry, ...]:
        """Of several things the one that the wearer itself asked about."""
        asked = tuple(e for e in group if e.handle in self._wanted)
        return asked if len(asked) == 1 else group

    def _name(self, handles: Iterable[str]) -> None:
        fresh = list(dict.fromkeys(h for h in handles if h in self._handles))
        self._alikes = []
        if any(NAMED["grab"](self._handles[h]) for h in fresh):
            self._absent = None
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
        said = self._spelt_out(said, role)
        if said.empty or said.pronoun:
            inhand = bool(said.attached) and said.attached[0].preposition == "inhand"
            entry = self._handles.get(self._held or "") if inhand else None
            entry = entry or self._recent(role, besides)
            if entry is None:
                raise Unclear("What do you mean, and where is it?")
            return entry, 0.0
        if said.alternatives:
            raise Unclear("I cannot choose. Which one do you mean?")
        said = self._told(said)
        focus = self._focus()
        if role in _TAKEN:
            focus = replace(
                focus, named=tuple(h for h in focus.named if h in self._handles and not self._handles[h].place)
            )
        found = self._suitable(ground(said, self._legend, focus), role)
        entry = self._choose(found, role, said)
        if entry is not None and _bare(said) and not self._near_to_mind(entry):
            found = self._alike(entry, said.core[0], role)
            entry = self._choose(found, role, said)
        if entry is None and self._number:
            entry = ground(said.with_attached([Attached("label", (self._number,))]), self._legend, self._focus()).entry
        if entry is None:
            in_view = bool(found.candidates) and all(e.visible for e in found.candidates)
            raise (Unfit if in_view else Unclear)(self._which(found, said))
        return entry, found.score

    def _spelt_out(self, said: Phrase, role: str) -> Phrase:
        """For a pronoun the name of what it means where that cannot be seen. Asks where several things were told."""
        if not said.pronoun or role not in _TAKEN:
            return said
        if "them" in said.words and self._together > 1:
            raise Unfit("I do one thing at a time. Which one do you mean?")
        if len(self._alikes) > 1 and self._held is None:
            raise Unfit(self._which(Grounding(tuple(self._alikes)), said))
        return self._absent or said

    def _near_to_mind(self, entry: LegendEntry) -> bool:
        """Whether a thing is in view or was spoken of, so that it needs no more than its noun."""
        talked = {*self._named, *self._earlier, *self._last, *self._wanted}
        return entry.visible or entry.handle in talked or self._within(entry, self._gone_to)

    def _alike(self, entry: LegendEntry, noun: str, role: str) -> Grounding:
        """All that the noun may mean: far away, `the cabinet` is a filing cabinet as well as a cabinet."""
        others = [e for e in self._legend if e != entry and noun in heads(e) and NAMED[role](e)]
        return Grounding((entry, *others), 0.0)

    @staticmethod
    def _suitable(found: Grounding, role: str) -> Grounding:
        """Of what a phrase may mean what suits the verb. Where nothing does, something else was not meant either."""
        fitting = tuple(e for e in found.candidates if NAMED[role](e))
        if found.candidates and not fitting:
            thing = found.candidates[0].description
            raise Unfit(UNFIT[role].format(thing=thing, Thing=thing[:1].upper() + thing[1:]))
        return replace(found, candidates=fitting)

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
            lambda e: content(e.description) == set(said.core) and not said.attached,
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
        """What a pronoun means: the held thing for what is put down, else what suits the verb and was named last in
        the utterance, then in earlier ones, was worked on last, came into view, or is what the wearer asked about."""
        if role == "carry" and self._held:
            return self._handles.get(self._held)
        taken = role in _TAKEN
        if taken and self._several():
            return None
        sources: list[Sequence[str]] = [self._named]
        sources.append([e.handle for e in (self._told_later() if role == "open" else self._corrected())])
        sources.append(self._earlier)
        if role != "open" or self._last_primitive in _WORKED_ON:
            sources.append(self._last)
        if taken:
            sources += [self._revealed(), sorted(self._wanted)]
        for i, source in enumerate(sources):
            handles = [h for h in source if h in self._handles and h not in {besides, *self._excluded}]
            if role == "grab":
                handles = [h for h in handles if h != self._held] or handles
            suitable = [e for h in handles if MEANT[role](e := self._handles[h])]
            if suitable and (i < len(sources) - 2 or not taken or len(suitable) == 1):
                return suitable[0]
        return None

    def _several(self) -> bool:
        """Whether what was spoken of last are several things of a kind that can be taken, and no one of them."""
        return any(e.nouns == self._kind and MEANT["grab"](e) for e in self._legend) and not any(
            MEANT["grab"](self._handles[h]) for h in self._named
        )

    def _revealed(self) -> list[str]:
        """What lies in the place that was opened just now: that alone may be meant."""
        if self._last_primitive != "open" or not self._last or self._last[-1] not in self._handles:
            return []
        found = self._seen_in(self._handles[self._last[-1]])
        return [h for h in found if h in self._wanted] or found

    def _seen_in(self, place: LegendEntry) -> list[str]:
        return [e.handle for e in self._legend if e.visible and e.support == f"in {place.description}"]

    def _corrected(self) -> list[LegendEntry]:
        """`take it out. I mean the mug.`"""
        groups = [g for c in self._told_after for g in mentions(c.tokens, self._legend)]
        return [g[0] for g in groups if len(g) == 1]

    def _told_later(self) -> list[LegendEntry]:
        """What is named after the pronoun: `put it in the box after opening it`."""
        later = [c for c in self._later if c.act not in ("open", "close")]
        return [g[0] for c in later for g in mentions(c.tokens, self._legend) if len(g) == 1]

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
