"""When the right hand holds what, read off events and geometry: from the frame in which a thing first moves with the
hand to the last in which it is where the hand has it; and again where the command that lets go of it takes it anew."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iwkit_runtime.audit.body import Measure, hand_points
from iwkit_runtime.audit.film import Film, Rigid, Shot, turned
from iwkit_runtime.audit.limits import LIMITS
from iwkit_runtime.audit.shapes import Hull, distances, hull

CARRIED = 0.05
"""A thing that has been let go of is held again in the same command where it goes so far with the hand, metres."""


class Hold(NamedTuple):
    """A thing is held in the shots `first` to `last` of a film; `last` is its end where it is not let go of."""

    name: str
    first: int
    last: int


def holds(film: Film) -> list[Hold]:
    """All holds of a film in order."""
    found: list[Hold] = []
    open_: tuple[str, int] | None = None
    for interval in film.recording.intervals:
        numbers = [n for n, shot in enumerate(film.shots) if shot.interval is interval]
        for happening in interval.happenings:
            name = str(happening.roles.get("object"))
            if happening.kind == "grabbed" and open_ is None and name in film.placed and numbers:
                first = next((n for n in numbers if name in film.shots[n].changed), numbers[-1])
                open_ = name, first
            elif happening.kind in {"released", "fell"} and open_ is not None and open_[0] == name and numbers:
                found += _spans(film, *open_, numbers)
                open_ = None
    if open_ is not None:
        found.append(Hold(*open_, len(film.shots) - 1))
    return found


def grips(film: Film) -> Iterator[Measure]:
    """The hand is at what it takes, and what it holds stays as it was taken."""
    for hold in holds(film):
        before = film.shots[hold.first - 1]
        pieces = hulls_of(film, before, hold.name)
        points = hand_points(before, "right")
        gap = min(float(distances(piece, points).min()) for piece in pieces)
        yield Measure("hand", gap, film.shots[hold.first].place, hold.name)
        taken = thing(before, hold.name).seen_from(before.wrist)
        for shot in film.shots[hold.first : hold.last + 1]:
            moved, turn = _apart(taken, thing(shot, hold.name).seen_from(shot.wrist))
            yield Measure("held", moved, shot.place, hold.name)
            yield Measure("held_turn", turn, shot.place, hold.name)


def thing(shot: Shot, name: str) -> Rigid:
    """Where the root of a thing is in a shot."""
    at, quaternion = shot.poses[name]
    return Rigid(turned(quaternion), np.array(at))


def hulls_of(film: Film, shot: Shot, name: str) -> list[Hull]:
    """The pieces of a thing's root link in the world."""
    root = film.placed[name].asset.links[0]
    return [hull(piece.vertices).moved(*thing(shot, name)) for piece in root.pieces]


def _spans(film: Film, name: str, first: int, numbers: list[int]) -> Iterator[Hold]:
    """The holds of a thing that ends up let go of in a command of the shots `numbers`: the first one, which may have
    begun before, and one for each time that it is set down and taken anew."""
    # What is taken and let go by one command isn't held from its beginning.
    last = _with_hand(film, name, first, max(first, numbers[0]), numbers[-1])
    yield Hold(name, first, last)
    n = last + 1
    while n <= numbers[-1]:
        last = _with_hand(film, name, n, n, numbers[-1]) if name in film.shots[n].changed else n - 1
        if math.dist(film.shots[n - 1].poses[name][0], film.shots[last].poses[name][0]) >= CARRIED:
            yield Hold(name, n, last)
            n = last
        n += 1


def _with_hand(film: Film, name: str, taken: int, first: int, end: int) -> int:
    """The last of the shots `first` to `end` until which a thing is where the hand has it that takes it in the shot
    `taken`; the one before `first` if there is none."""
    before = film.shots[taken - 1]
    grasp = thing(before, name).seen_from(before.wrist)
    for n in range(first, end + 1):
        moved, turn = _apart(grasp, thing(film.shots[n], name).seen_from(film.shots[n].wrist))
        if moved > LIMITS["held"].value or turn > LIMITS["held_turn"].value:
            return n - 1
    return end


def _apart(one: Rigid, other: Rigid) -> tuple[float, float]:
    """Metres and degrees between two frames."""
    cosine = (float(np.trace(one.turn.T @ other.turn)) - 1) / 2
    return float(np.linalg.norm(one.at - other.at)), float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
