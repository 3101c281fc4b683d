"""Why a relation holds or doesn't: the measured numbers beside their thresholds, in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from iwkit.errors import UsageError
from iwkit.trace import Relation
from iwkit.world.state import WEARER
from iwkit_runtime.physical.places import Drift
from iwkit_runtime.physical.relations import Measured
from iwkit_runtime.physical.tolerances import limit

Why = Callable[[Measured, tuple[str, ...]], str]


def explain(at: Measured, relation: Relation) -> str:
    """One line: whether the relation holds at a moment, and the numbers that say so.

    Raises:
        UsageError: it is no measured relation, or names something that isn't there.
    """
    word, *names = relation
    if word not in _WHY or len(names) != _ARITY.get(word, 1):
        known = ", ".join(f"{name}/{_ARITY.get(name, 1)}" for name in _WHY)
        raise UsageError(f"{_shown(relation)} is not measured from geometry: those that are are {known}")
    there = {*at.places.posed, WEARER, *at.facts.rooms, *(at.facts.doors if word == "near" else ())}
    for name in names:
        if name not in there:
            raise UsageError(f"there is no '{name}' in the scene that {_shown(relation)} could be about")
    _check_kinds(at, relation)
    holds = relation in at.state
    return f"{_shown(relation)} {'holds' if holds else 'does not hold'}: {_WHY[word](at, tuple(names))}"


def _check_kinds(at: Measured, relation: Relation) -> None:
    word, *names = relation
    allowed = _WEARER_TOO.get(word, 0)
    for place, name in enumerate(names):
        room = word == "in_room" and place == 1
        if room != (name in at.facts.rooms) or (name == WEARER and place >= allowed):
            raise UsageError(f"'{name}' has no place in {_shown(relation)}")


def _shown(relation: Relation) -> str:
    return f"{relation[0]}({', '.join(relation[1:])})"


def _mm(metres: float) -> str:
    return "nothing" if math.isinf(metres) else f"{round(metres * 1000, 1) + 0.0:.1f} mm"


def _list(names: tuple[str, ...]) -> str:
    return " and ".join(names) or "nothing"


def _on(at: Measured, names: tuple[str, ...]) -> str:
    name, below = names
    if name == at.moment.held:
        return f"{name} is held"
    if at.attached(name) == below:
        return f"{name} is attached to {below}, which is another relation; {_attached(at, names)}"
    place = at.places.of(name)
    if below in place.containers:
        return f"{name} is inside {below}, which is another relation; {_inside(at, names)}"
    chain = [carrier for carrier in at.on(name) if carrier in at.facts.carriers and carrier != below]
    carried = f"; carried by {_list(tuple(chain))}" if below in at.on(name) and below not in at.bearers(name) else ""
    return _rests(at, name) + carried


def _rests(at: Measured, name: str) -> str:
    rest = at.places.of(name).rest
    touched = _list(tuple(dict.fromkeys(s.name for s in rest.touches)))
    under = rest.under.name if rest.under else "nothing"
    gap = (
        "nothing is under it"
        if math.isinf(rest.gap)
        else f"least gap {_mm(rest.gap)} (at most {_mm(limit('resting'))})"
    )
    borne = _list(tuple(dict.fromkeys(s.name for s in rest.supports)))
    return f"{gap}; it touches {touched} from above, its centre of mass is over {under}; so it rests on {borne}"


def _inside(at: Measured, names: tuple[str, ...]) -> str:
    name, around = names
    if name == at.moment.held:
        return f"{name} is held"
    share = at.places.of(name).shares.get(around)
    if share is None or not share.enough:
        via = [b for b in (*at.bearers(name), *at.places.of(name).containers) if b != around and around in at.inside(b)]
        if via:
            return f"it is on or inside {_list(tuple(dict.fromkeys(via)))}, which is inside {around}"
    measured = f"{share.volume:.0%}" if share else "0%"
    outside = math.inf if share is None else share.outside
    centre = "in" if outside <= limit("centre") else "outside" if math.isinf(outside) else f"{_mm(outside)} outside"
    least = f"at least {limit('volume'):.0%}" + _once(
        share is not None and share.was, f"{limit('volume', was=True):.0%}"
    )
    return f"{measured} of its volume is in an interior of {around} ({least}), its centre of mass is {centre}"


def _once(was: bool, threshold: str) -> str:
    """The threshold at which a relation ends that held before."""
    return f", or {threshold} since it held before" if was else ""


def _held(at: Measured, names: tuple[str, ...]) -> str:
    held = at.moment.held
    return f"the hand holds {held or 'nothing'}" + ("" if held == names[0] else f", not {names[0]}")


def _on_floor(at: Measured, names: tuple[str, ...]) -> str:
    (name,) = names
    attached = f"; it is attached to {at.attached(name)}" if at.attached(name) else ""
    return f"{name} is held" if name == at.moment.held else _rests(at, name) + attached


def _near(at: Measured, names: tuple[str, ...]) -> str:
    roots = [name if name == WEARER else at.root(name) for name in names]
    carried = [f"{name} is carried by {root}" for name, root in zip(names, roots, strict=True) if name != root]
    via = f"; {' and '.join(carried)}" if carried else ""
    gap = f"the gap on the plan is {at.gap(*names):.3f} m (at most {limit('near')} m){via}"
    unknown = not any(name in at.facts.declared or name == WEARER for name in names)
    return gap + ("; only pairs with an entity of the pack or the wearer are kept" if unknown else "")


def _in_room(at: Measured, names: tuple[str, ...]) -> str:
    apart = at.room_gaps(names[0])
    nearest = min(apart.items(), key=lambda item: item[1])[0]
    return f"its centre is {apart[names[1]]:.3f} m from {names[1]}; the nearest room is {nearest}"


def _joint(at: Measured, names: tuple[str, ...]) -> str:
    shares = at.joints(names[0])
    if not shares:
        return f"{names[0]} has no joint: how far it is open is not measured"
    values = ", ".join(f"{link} at {share:.1%} of its range" for link, share in shares.items())
    return f"{values} (open from {limit('open'):.0%}, closed up to {limit('closed'):.0%})"


def _visible(at: Measured, names: tuple[str, ...]) -> str:
    seen = at.moment.visible
    return f"{names[0]} is {'one' if names[0] in seen else 'none'} of the {len(seen)} things that the rays reached"


def _at_baseline(at: Measured, names: tuple[str, ...]) -> str:
    (name,) = names
    if at.then is None:
        return "the handoff hasn't been"
    reference = at.reference(name)
    where = f"relative to {reference[0]} ({reference[1]})" if reference else "in the world"
    before, now = (
        _list(tuple(dict.fromkeys(s.name for s in p.rest.supports))) for p in (at.then[name], at.places.of(name))
    )
    hands = "; held at the handoff" * at.then[name].held + "; held now" * (name == at.moment.held)
    moved = _moved(at.drift(name, reference), was=("at_baseline", name) in at.moment.before)
    return f"{moved} {where}; rested on {before}, rests on {now}{hands}"


def _unmoved(at: Measured, names: tuple[str, ...]) -> str:
    if at.then is None:
        return "the handoff hasn't been"
    was = ("unmoved", names[0]) in at.moment.before
    hands = "; held at the handoff" * at.then[names[0]].held + "; held now" * (names[0] == at.moment.held)
    return f"{_moved(at.drift(names[0], None), was=was)} in the world{hands}"


def _moved(drift: Drift, *, was: bool) -> str:
    far, leaning = _once(was, f"{limit('moved', was=True) * 100:g}"), _once(was, f"{limit('tilt', was=True):g}")
    return (
        f"{drift.distance * 100:.1f} cm (at most {limit('moved') * 100:g} cm{far}) and "
        f"{drift.tilt:.1f} degrees of leaning (at most {limit('tilt'):g}{leaning}) from the place at the handoff"
    )


def _attached(at: Measured, names: tuple[str, ...]) -> str:
    name, other = names
    joined = at.moment.joined.get(name)
    if joined != other:
        return f"nothing joins {name} to {other}" + (f": it is joined to {joined}" if joined else "")
    fit = at.fit(name, other)
    if fit is None:
        return f"{name} or {other} has no connector"
    return (
        f"they are joined; their nearest connectors are {_mm(fit.distance)} apart (at most {_mm(limit('mated'))}), "
        f"{name} is turned {fit.angle:.1f} degrees away from the nearest quarter turn (at most {limit('crooked'):g})"
    )


def _sitting(at: Measured, names: tuple[str, ...]) -> str:
    if at.moment.hips is None:
        return "where the hips of the wearer are is not known"
    below = at.places.below(at.moment.hips)
    if below is None:
        return "nothing is below the hips of the wearer"
    kind = "" if below[0] in at.facts.seats else ", which is no seat"
    carried = f"; it is carried by {names[0]}" if at.seat() == names[0] != below[0] else ""
    return f"the hips are {below[1]:.3f} m above {below[0]}{kind} (at most {limit('seat')} m){carried}"


def _raised(at: Measured, names: tuple[str, ...]) -> str:
    (name,) = names
    if name not in at.facts.erectable:
        return f"{name} is nothing that can be raised"
    rest = at.places.of(name).rest
    borne = _list(tuple(dict.fromkeys(s.name for s in rest.supports)))
    return f"it leans {at.lean(name):.1f} degrees away from lying (at least {limit('raised'):g}) and rests on {borne}"


_WHY: Mapping[str, Why] = {
    "on": _on,
    "inside": _inside,
    "held": _held,
    "on_floor": _on_floor,
    "near": _near,
    "in_room": _in_room,
    "open": _joint,
    "closed": _joint,
    "attached": _attached,
    "sitting": _sitting,
    "raised": _raised,
    "visible": _visible,
    "at_baseline": _at_baseline,
    "unmoved": _unmoved,
}
_ARITY = {"on": 2, "inside": 2, "near": 2, "in_room": 2, "attached": 2}
_WEARER_TOO = {"near": 2, "in_room": 1}
"""Up to which argument the wearer may stand for a thing."""
