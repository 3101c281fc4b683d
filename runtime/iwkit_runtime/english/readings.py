"""A clause to what is to be done with which phrases: the verb's particles and prepositions decide."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from iwkit_runtime.english.clause import Clause
from iwkit_runtime.english.lexicon import FINITE, FURNITURE, LIMBS, SENSES, SIDES, STOPWORDS
from iwkit_runtime.english.phrases import Arguments, Attached, Phrase, arguments
from iwkit_runtime.english.verbs import SPLIT, STATES

INTO: Final = frozenset({"into", "in", "inside", "within"})
ONTO: Final = frozenset({"on", "onto"})
NEAR: Final = frozenset({"near", "by", "beside", "at", "against"})
_PLACING: Final = INTO | ONTO | {"to", "at", "near", "by", "beside", "there", "against"}
# The verbs that take as well as carry; the others need to be told where to.
_CARRYING: Final = {"take": frozenset({"to", "into", "onto", "there"}), "get": frozenset({"to", "into", "onto"})}
_TOO_HARD: Final = frozenset({"press", "attach"})
"""Acts that would need to be told of buttons and connectors."""
_GOALS: Final = frozenset({"to", "into", "at", "near", "by", "in", "inside", "there", "on"})
_FLOOR: Final = (("floor",), ("ground",))
_ACROSS: Final = frozenset({"through", "along", "across", "around", "past"})
_ONWARDS: Final = frozenset({"forward", "forwards", "straight", "ahead"})
_FETCHING: Final = frozenset({"go", "come", "return", "run", "pop", "nip"})
_PACES: Final = frozenset({"step", "steps", "pace", "paces", "meter", "meters", "metre", "metres"})
_ASKING: Final = frozenset({"what", "whether", "if", "how", "which", "why", "who", "where", "when"})


NOTHING: Final = Phrase()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a clause asks for. `ways` are the possible cuts into object, preposition and place, the likeliest first;
    `tool` is the phrase after `with`, or what a way is gone for; `number` a count in `unit`; `back` says that something
    goes back, or that a look is only on the way to something; `more` that further things were named."""

    act: str
    obj: Phrase = NOTHING
    ways: tuple[tuple[Phrase, str, Phrase], ...] = ()
    tool: Phrase = NOTHING
    number: float | None = None
    unit: str = ""
    back: bool = False
    more: bool = False


def read(clause: Clause) -> Reading | None:
    """Read a clause of kind `do`; None where its verb is known but the words around it make no sense with it."""
    args = arguments(clause.tokens)
    act = _split_act(clause, args)
    args = _without_state(clause, args)
    body = set(args.direct.core[-1:])
    if body & LIMBS and act not in ("wipe", "look"):
        return Reading("idle", _whole(args))
    if body & SENSES and any(a.words for a in args.attached):
        args, act = replace(args, direct=Phrase()), "look"
    if act in _TOO_HARD:
        return None
    reader = _READERS.get(act)
    reading = reader(replace(clause, act=act), args) if reader else Reading(act, _whole(args))
    if reading is not None and reading.act != "idle" and (set(reading.obj.words[:1]) & _ASKING):
        return None
    return replace(reading, more=args.more) if reading else None


def _split_act(clause: Clause, args: Arguments) -> str:
    """The act of a verb whose particle stands behind the object."""
    first = clause.verb.split()[0]
    late = set(args.particles) | {a.preposition for a in args.attached if not a.words}
    if args.direct.words[1:]:
        late.add(args.direct.words[-1])
    for word in sorted(late):
        if (first, word) in SPLIT and not (args.direct.empty and word in ("around", "over", "down", "out")):
            return SPLIT[first, word]
    return clause.act


def _without_state(clause: Clause, args: Arguments) -> Arguments:
    """Without the `shut` of `push it shut`."""
    direct = args.direct.words
    if len(direct) > 1 and (clause.verb.split()[0], direct[-1]) in SPLIT:
        return replace(args, direct=Phrase(direct[:-1]))
    return args


def _whole(args: Arguments) -> Phrase:
    """The object with all that is attached to it; without an object, the first attached phrase is the object."""
    spoken = [a for a in args.attached if a.words or a.preposition in ("inhand", "there")]
    if not args.direct.empty:
        return args.direct.with_attached(spoken)
    if spoken and spoken[0].words and not spoken[0].side:
        return Phrase(spoken[0].words, tuple(spoken[1:]))
    return Phrase(attached=tuple(spoken))


def _grab(clause: Clause, args: Arguments) -> Reading | None:
    if _paces(args.direct.words) and "forward" in args.particles:
        return _forward(clause, args)
    return _taken(args)


def _taken(args: Arguments) -> Reading:
    """`take the lid off the box` is to take the two apart, `take the lid off the table` is not."""
    off = _ways(args, {"from", "off"})
    if off and args.direct.core[-1:] == ("lid",) and not FURNITURE & set(off[0][2].core):
        return Reading("detach", args.direct, off)
    return Reading("grab", _whole(args))


def _paces(words: Sequence[str]) -> bool:
    """Whether a way is told by its length. A bare `m` is a metre only after a number: `M6` is the size of a screw."""
    return bool(_PACES & set(words)) or any(w == "m" and words[i - 1].isdigit() for i, w in enumerate(words) if i)


def _fetch(clause: Clause, args: Arguments) -> Reading | None:
    first = clause.verb.split()[0]
    if _paces(args.direct.words):
        return _forward(clause, args)
    accepted = _CARRYING.get(first, _PLACING)
    places = [a for a in args.attached if a.preposition in accepted and not a.side]
    if args.direct.empty:
        return _walk(clause, args)
    if not places and first in _CARRYING and "back" not in args.particles:
        return _taken(args)
    return Reading("carry", args.direct, _ways(args, accepted), back="back" in args.particles)


def _put(clause: Clause, args: Arguments) -> Reading | None:
    if clause.verb == "leave":
        places = [a for a in args.attached if a.preposition in INTO | ONTO | {"there"} and not a.side]
        if not places or "alone" in args.direct.words:
            return Reading("idle", _whole(args))
        return Reading("leave", args.direct, _ways(args, INTO | ONTO | {"there"}))
    return Reading("put", args.direct, _ways(args, _PLACING), back="back" in args.particles or "back" in clause.verb)


def _ways(args: Arguments, accepted: Iterable[str]) -> tuple[tuple[Phrase, str, Phrase], ...]:
    """Every attached phrase that may be the place: what stands before it belongs to the object, what follows to it."""
    ways = []
    for i, attached in enumerate(args.attached):
        if attached.preposition not in accepted or attached.side:
            continue
        before, after = args.attached[:i], [a for a in args.attached[i + 1 :] if a.words]
        obj = args.direct.with_attached([a for a in before if a.words or a.preposition == "inhand"])
        ways.append((obj, attached.preposition, Phrase(attached.words, tuple(after))))
    # A bare adverb (`put it down there`, `put it in`) is the place only where no phrase is.
    spoken = [w for w in ways if not w[2].empty]
    return tuple(spoken or ways)


def _walk(clause: Clause, args: Arguments) -> Reading | None:
    """A way: to the last place named, or straight on. `go back for the mug` is to take it."""
    if not args.direct.empty:
        return _forward(clause, args) if _paces(args.direct.words) else Reading("walk", _whole(args))
    goals = [a for a in args.attached if a.preposition in _GOALS]
    aims = [a for a in args.attached if a.preposition == "for" and a.words]
    if goals:
        return _to_goal(args, goals, aims)
    if aims:
        rest = args.attached[args.attached.index(aims[0]) + 1 :]
        return Reading("grab" if clause.verb.split()[0] in _FETCHING else "walk", Phrase(aims[0].words, rest))
    if _ONWARDS & args.particles and "back" not in args.particles:
        return _forward(clause, args)
    across = [a for a in args.attached if a.preposition in _ACROSS and a.words]
    return Reading("walk", Phrase(across[0].words) if across else NOTHING, back=True)


def _to_goal(args: Arguments, goals: Sequence[Attached], aims: Sequence[Attached]) -> Reading | None:
    """Of several goals the last is meant (`to the kitchen, to the table`); the others tell where it is."""
    named = [
        a
        for a in goals
        if a.preposition == "to" and a.words and a.words[-1] not in STOPWORDS and not SIDES & {*a.words[:2], a.side}
    ]
    goal = named[-1] if named else goals[0]
    if goal.side:
        return None
    rest = args.attached[args.attached.index(goal) + 1 :]
    where = [a for a in rest if (a.words or a.preposition == "there") and a.preposition != "for"]
    where += [Attached("near", g.words) for g in named if g != goal]
    if goal.preposition == "there" and not goal.words:
        where = [goal, *where]  # `go there`: to the place that was told
    return Reading("walk", Phrase(goal.words, tuple(where)), tool=Phrase(aims[0].words) if aims else NOTHING)


def _forward(_clause: Clause, args: Arguments) -> Reading | None:
    number = _number(args)
    if "back" in args.particles or any(a.preposition == "from" for a in args.attached):
        return None
    goals = [a for a in args.attached if a.preposition in ("to", "into") and a.words]
    if goals:
        return _to_goal(args, goals, [])
    spoken = {*args.direct.words, *(w for a in args.attached for w in a.words)}
    metres = any(w.startswith("met") or w == "m" for w in spoken)
    return Reading("forward", number=number, unit="m" if metres else "")


def _number(args: Arguments) -> float | None:
    spoken = [*args.direct.words, *(w for a in args.attached for w in a.words)]
    return next((float(w) for w in spoken if re.fullmatch(r"\d+(?:\.\d+)?", w)), None)


def _turn(clause: Clause, args: Arguments) -> Reading | None:
    side = next((a.side for a in args.attached if a.side), "") or next(iter(args.particles & {"left", "right"}), "")
    if not side and _number(args) is not None:
        side = next((w for w in args.direct.words if w in SIDES), "")  # `turn 45 degrees left`
    if side in ("left", "right"):
        return _rotate(replace(clause, act=side), args)
    aims = [a for a in args.attached if a.preposition == "to" and a.words]
    if args.direct.empty and {"around", "round", "back"} & args.particles and not aims:
        return Reading("about")
    return Reading("look", Phrase(aims[0].words), back=True) if args.direct.empty and aims else None


def _rotate(clause: Clause, args: Arguments) -> Reading | None:
    number = _number(args)
    told = (float(t) for t in clause.tokens if re.fullmatch(r"\d+(?:\.\d+)?", t))  # also as an aside
    return Reading(clause.act, number=number if number is not None else next(told, None))


def _look(clause: Clause, args: Arguments) -> Reading | None:
    side = next((a.side for a in args.attached if a.side), "") or next(iter(args.particles & {"left", "right"}), "")
    if args.direct.empty and side in ("left", "right") and all(a.side or not a.words for a in args.attached):
        return Reading(side)
    if args.direct.core[-1:] in _FLOOR or ((args.direct.empty or clause.act == "find") and _on_the_floor(args)):
        return _scan(args)
    if args.direct.empty and "around" in args.particles:
        return Reading("around")
    return Reading(clause.act, _whole(args), back=clause.verb == "face")


def _around(clause: Clause, args: Arguments) -> Reading | None:
    return _scan(args) if _on_the_floor(args) else Reading(clause.act, _whole(args))


def _on_the_floor(args: Arguments) -> bool:
    return any(_is_floor(a) for a in args.attached)


def _is_floor(attached: Attached) -> bool:
    return Phrase(attached.words).core in _FLOOR


def _scan(args: Arguments) -> Reading:
    """`look on the floor by the desk`: the floor, and where."""
    told = [i for i, a in enumerate(args.attached) if a.words and not a.side and not _is_floor(a)]
    return Reading("scan", Phrase(args.attached[told[0]].words, args.attached[told[0] + 1 :]) if told else NOTHING)


def _sure(clause: Clause, _args: Arguments) -> Reading | None:
    """`make sure that the fridge is shut`."""
    tokens = [t for t in clause.tokens if t != "still"]
    if tokens[:1] == ["that"] and len(tokens) > 2 and tokens[1] not in FINITE:
        tokens = tokens[1:]
    at = next((i for i, t in enumerate(tokens) if i and (t in FINITE or t in ("gets", "ends"))), None)
    if at is None:
        return None
    subject, rest = (
        Phrase(tuple(tokens[:at])),
        [t for t in tokens[at + 1 :] if t not in ("properly", "fully", "now", "not")],
    )
    if clause.verb in ("check that", "double check"):
        return Reading("look", subject)
    if not rest or "not" in tokens[at:]:
        return None
    if rest[0] in STATES and len(rest) == 1:
        return Reading(STATES[rest[0]], subject)
    return _put(replace(clause, verb="put"), arguments([*tokens[:at], *rest]))


def _with_tool(clause: Clause, args: Arguments) -> Reading | None:
    tools = [a for a in args.attached if a.preposition in ("with", "using") and a.words]
    rest = replace(args, attached=tuple(a for a in args.attached if a not in tools))
    return Reading(clause.act, _whole(rest), tool=Phrase(tools[0].words) if tools else Phrase())


def _pour(clause: Clause, args: Arguments) -> Reading | None:
    return Reading(clause.act, args.direct, _ways(args, INTO | ONTO | {"to", "over"}))


def _move(clause: Clause, args: Arguments) -> Reading | None:
    if clause.act == "pull" and any(a.preposition == "from" for a in args.attached):
        return Reading("grab", _whole(args))
    return Reading(clause.act, args.direct, _ways(args, _PLACING))


def _drop(_clause: Clause, args: Arguments) -> Reading | None:
    ways = _ways(args, INTO | ONTO | {"at", "there"})
    return Reading("put" if ways else "drop", args.direct, ways)


def _detach(clause: Clause, args: Arguments) -> Reading | None:
    return Reading(clause.act, args.direct, _ways(args, {"from", "off"}))


def _wait(clause: Clause, _args: Arguments) -> Reading | None:
    spoken = [t for t in clause.tokens if t != "for"]
    number = next((float(t) for t in spoken if re.fullmatch(r"\d+(?:\.\d+)?", t)), None)
    minutes = any(t.startswith("minute") for t in spoken)
    return Reading("wait", number=number * 60 if number is not None and minutes else number)


def _stand(clause: Clause, args: Arguments) -> Reading | None:
    if not args.direct.empty:
        return _put(replace(clause, verb="put"), args)
    return _walk(clause, args) if any(a.words for a in args.attached) else Reading("stand")


def _idle(clause: Clause, args: Arguments) -> Reading | None:
    """`reach for the carton` is to take it; other movements of the hand are part of what follows."""
    aims = [i for i, a in enumerate(args.attached) if a.preposition == "for" and a.words]
    if aims and clause.act == "reach":
        return Reading("grab", Phrase(args.attached[aims[0]].words, args.attached[aims[0] + 1 :]))
    return Reading("idle", _whole(args))


_READERS: Final[dict[str, Callable[[Clause, Arguments], Reading | None]]] = {
    "grab": _grab,
    "fetch": _fetch,
    "put": _put,
    "walk": _walk,
    "forward": _forward,
    "turn": _turn,
    "left": _rotate,
    "right": _rotate,
    "look": _look,
    "find": _look,
    "around": _around,
    "sure": _sure,
    "wipe": _with_tool,
    "cut": _with_tool,
    "stir": _with_tool,
    "cook": _with_tool,
    "pour": _pour,
    "push": _move,
    "pull": _move,
    "drop": _drop,
    "detach": _detach,
    "stand": _stand,
    "idle": _idle,
    "reach": _idle,
    "wait": _wait,
}


def first_place(attached: Iterable[Attached]) -> Phrase:
    """The place that a thing is said to be at (`from the desk`, `in the fridge`), an empty phrase if none is said."""
    return next(places(attached), NOTHING)


def places(attached: Iterable[Attached]) -> Iterator[Phrase]:
    """All places that a thing is said to be at, each with what follows it."""
    found = tuple(attached)
    for i, a in enumerate(found):
        if a.words and not a.side and a.preposition in INTO | ONTO | {"from", "at", "off", "by", "near"}:
            yield Phrase(a.words, tuple(x for x in found[i + 1 :] if x.words))
