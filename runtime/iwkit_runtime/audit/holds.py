"""When the right hand holds what, read off events and geometry: from the frame in which a thing first moves with the
hand to the last in which it is where the hand has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from iwkit_runtime.audit.body import Measure, hand_points
from iwkit_runtime.audit.film import Film, Rigid, Shot, turned
from iwkit_runtime.audit.limits import LIMITS
from iwkit_runtime.audit.shapes import Hull, distances, hull


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
                found.append(Hold(*open_, _last(film, *open_, numbers)))
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


def _last(film: Film, name: str, first: int, numbers: list[int]) -> int:
    """The last frame of a command that lets go in which the thing is still where the hand has it."""
    before = film.shots[first - 1]
    taken = thing(before, name).seen_from(before.wrist)
    # What is taken and let go by one command isn't held from its beginning.
    own = [n for n in numbers if n >= first]
    last = own[0] - 1
    for n in own:
        moved, turn = _apart(taken, thing(film.shots[n], name).seen_from(film.shots[n].wrist))
        if moved > LIMITS["held"].value or turn > LIMITS["held_turn"].value:
            break
        last = n
    return last


def _apart(one: Rigid, other: Rigid) -> tuple[float, float]:
    """Metres and degrees between two frames."""
    cosine = (float(np.trace(one.turn.T @ other.turn)) - 1) / 2
    return float(np.linalg.norm(one.at - other.at)), float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
