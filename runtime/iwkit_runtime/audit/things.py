"""Things move only when something moves them: a hand, a carrier, a joint, their own weight (ACT-6, ACT-8, PHY-9)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from iwkit_runtime.audit.body import Measure, hand_points
from iwkit_runtime.audit.film import Film, Rigid, Shot, links
from iwkit_runtime.audit.holds import Hold, holds, thing
from iwkit_runtime.audit.limits import LIMITS
from iwkit_runtime.audit.shapes import distances, hull
from iwkit_runtime.body.pose import Side

GRAVITY = 9.81
FRAME = 1 / 12
SLIDE = 0.065
"""Metres a frame that a thing which falls by itself may slide until it is over the edge, and what rounding adds."""
ROUNDING = 0.0005
"""Metres that a thing may seem to move since poses are kept rounded."""
SKY = 100.0
"""Metres above which there is nothing of a scene: what is there has not arrived yet, and may come from there."""
_SIDES: tuple[Side, Side] = ("left", "right")
_FREED = frozenset({"released", "fell", "detached", "flipped"})
_PUSHED = frozenset({"pushed"})


class _Carrier(NamedTuple):
    """A frame that moves, before and after."""

    before: Rigid
    after: Rigid


class _Freed(NamedTuple):
    """Since which shot a thing is on its own, and how far it may slide in a frame."""

    shot: int
    slide: float


def objects(film: Film) -> Iterator[Measure]:
    """What moves in each frame, and what may have moved it; the figure is what is left unexplained."""
    held = holds(film)
    freed: dict[str, _Freed] = {}
    riders: dict[str, set[str]] = {}
    ways: dict[tuple[int, str], float] = {}
    for n, (before, after) in enumerate(film.pairs(), start=1):
        if after.interval is None:
            continue
        for hold in held:
            if n == hold.last + 1:
                freed |= {name: _Freed(hold.last, 0.0) for name in (hold.name, *riders.pop(hold.name, ()))}
        for name in _fallen(film, n, freed, held):
            freed[name] = _Freed(n, SLIDE)
        kinds = {h.kind for h in after.interval.happenings}
        loose = bool(kinds & _FREED) or _swings(film, after)
        in_hand = {h.name for h in held if h.first <= n <= h.last}
        carriers = _carriers(film, before, after, in_hand)
        for name in sorted(after.changed):
            if film.placed[name].kind != "object" or name in in_hand:
                continue
            if "arrived" in kinds and before.poses[name][0][2] > SKY:
                continue
            found = _unexplained(film, n, name, carriers, freed, loose=loose)
            if found.check == "unheld" and found.value <= LIMITS["unheld"].value:
                for carried in in_hand:  # it falls with what it is in
                    riders.setdefault(carried, set()).add(name)
            if found.check == "jolt":
                key = after.place.step, name
                ways[key] = ways.get(key, 0.0) + (found.value if found.value > ROUNDING else 0.0)
                found = found._replace(value=ways[key])
            yield found


def fixtures(film: Film) -> Iterator[Measure]:
    """Fixtures and doors stay where they are, but for what is pushed with a hand at it."""
    start = film.shots[0]
    places = {name: (start, False) for name, placed in film.placed.items() if placed.kind != "object"}
    for before, after in film.pairs():
        pushed = {
            h.roles.get("fixture") for h in (after.interval.happenings if after.interval else ()) if h.kind in _PUSHED
        }
        for name in sorted(after.changed & places.keys()):
            if name in pushed:
                yield Measure("pushed", _hand_gap(film, before, name), after.place, name)
                yield Measure("step", _shift(film, before, after, name), after.place, name)
                places[name] = (after, True)
            else:
                yield Measure("fixture", _shift(film, places[name][0], after, name), after.place, name)


def joints(film: Film) -> Iterator[Measure]:
    """Joints stay in their range, and begin to move at a hand. What is moved may swing on by itself (the docs of the
    physical world say so), at no more than the speed of a hand."""
    of = {(p.name, k.name): k.joint for p in film.placed.values() for k in p.asset.links if k.joint}
    for key, joint in of.items():
        name, link = key
        for moves, moving in groupby(range(1, len(film.shots)), key=lambda n: key in film.shots[n].swung):
            numbers = list(moving)
            if not moves:
                continue
            first = numbers[0]
            yield Measure(
                "joint_hand", _link_gap(film, film.shots[first - 1], name, link), film.shots[first].place, name
            )
            for number in numbers:
                shot, value = film.shots[number], film.shots[number].joints[key]
                beyond = max(joint.low - value, value - joint.high, 0.0)
                yield Measure("joint_range", beyond, shot.place, f"{name} {link}")
                moved = abs(value - film.shots[number - 1].joints[key])
                yield Measure("joint_speed", moved, shot.place, f"{name} {link}")


def _unexplained(
    film: Film, n: int, name: str, carriers: list[_Carrier], freed: dict[str, _Freed], *, loose: bool
) -> Measure:
    before, after = film.shots[n - 1], film.shots[n]
    for carrier in carriers:
        rode = _shape_gap(film, name, _with(carrier, thing(before, name)), thing(after, name))
        if rode <= LIMITS["unheld"].value:
            return Measure("unheld", rode, after.place, name)
    if name in freed and film.shots[freed[name].shot].interval is after.interval:
        let_go, was, now = (_middle(film, shot, name) for shot in (film.shots[freed[name].shot], before, after))
        speed = math.sqrt(2 * GRAVITY * max(let_go[2] - now[2], 0.0))
        return Measure("fall", max(math.dist(was, now) - speed * FRAME - freed[name].slide, 0.0), after.place, name)
    start = next(shot for shot in reversed(film.shots[:n]) if shot.interval is not after.interval)
    check = "jolt" if loose else "unheld"
    return Measure(check, _shift(film, before if loose else start, after, name), after.place, name)


def _fallen(film: Film, n: int, freed: dict[str, _Freed], held: list[Hold]) -> Iterator[str]:
    """What begins to move in a shot and falls in its command by nobody's doing."""
    shot = film.shots[n]
    for happening in shot.interval.happenings if shot.interval else ():
        name = str(happening.roles.get("object"))
        if happening.kind != "fell" or name not in shot.changed:
            continue
        begun = name in freed and film.shots[freed[name].shot].interval is shot.interval
        if not begun and not any(h.name == name and h.first <= n <= h.last for h in held):
            yield name


def _carriers(film: Film, before: Shot, after: Shot, held: set[str]) -> list[_Carrier]:
    """The frames that move by themselves: held things, and links whose joint moves."""
    found = [_Carrier(thing(before, name), thing(after, name)) for name in sorted(held)]
    for name in sorted({name for name, _ in after.swung}):
        placed = film.placed[name]
        was, now = (links(placed, shot.poses, shot.joints) for shot in (before, after))
        found += [_Carrier(was[link.name], now[link.name]) for link in placed.asset.links if link.joint]
    return found


def _with(carrier: _Carrier, at: Rigid) -> Rigid:
    return carrier.after.after(at.seen_from(carrier.before))


def _swings(film: Film, shot: Shot) -> bool:
    return any(other.swung for other in film.of(shot.interval)) if shot.interval else False


def _shift(film: Film, before: Shot, after: Shot, name: str) -> float:
    return _shape_gap(film, name, thing(before, name), thing(after, name))


def _shape_gap(film: Film, name: str, one: Rigid, other: Rigid) -> float:
    """The furthest that a corner of a thing's root link is from where another pose would have it."""
    points = np.concatenate([piece.vertices for piece in film.placed[name].asset.links[0].pieces])
    apart = points @ (one.turn - other.turn).T + one.at - other.at
    return float(np.linalg.norm(apart, axis=1).max())


def _middle(film: Film, shot: Shot, name: str) -> list[float]:
    """The middle (3,) of a thing's root link."""
    root = thing(shot, name)
    points = np.concatenate([piece.vertices for piece in film.placed[name].asset.links[0].pieces])
    return [*(root.turn @ (points.min(0) + points.max(0)) / 2 + root.at).tolist()]


def _link_gap(film: Film, shot: Shot, name: str, link: str) -> float:
    """How far the left hand is from a link."""
    placed = film.placed[name]
    frame = links(placed, shot.poses, shot.joints)[link]
    part = next(one for one in placed.asset.links if one.name == link)
    points = hand_points(shot, "left")
    gaps = [float(distances(hull(piece.vertices).moved(*frame), points).min()) for piece in part.pieces]
    if part.handle is not None:
        handle = frame.turn @ np.array(part.handle) + frame.at
        gaps.append(float(np.linalg.norm(points - handle, axis=1).min()))
    return min(gaps)


def _hand_gap(film: Film, shot: Shot, name: str) -> float:
    """How far the nearer hand is from a thing."""
    points = np.concatenate([hand_points(shot, side) for side in _SIDES])
    placed = film.placed[name]
    frames = links(placed, shot.poses, shot.joints)
    return min(
        float(distances(hull(piece.vertices).moved(*frames[link.name]), points).min())
        for link in placed.asset.links
        for piece in link.pieces
    )
