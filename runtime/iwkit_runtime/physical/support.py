"""What a thing rests on, measured from the pieces (SEM-6): where its underside touches what lies under it.

Vertical lines through the thing give, each, the gap between its underside and the topmost surface below. Where the gap
is smallest it touches. It rests on what it touches and its centre of mass is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from iwkit_runtime.physical.hulls import Chosen, Indices, Stack
from iwkit_runtime.physical.solids import Owner, Posed
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.tolerances import limit

RESTING, LEVEL, BEYOND = limit("resting"), limit("level"), limit("beyond")

Values = TypeVar("Values", Floats, Indices)

_THROUGH = 48
"""Lines through the thing, at least where it has so many sample points."""
_LOWEST = 32
"""Corners of the underside that are looked at."""
_INWARD = 0.02
"""Lines through corners are moved so far towards the piece's middle, since at the corner itself they may miss it."""


@dataclass(frozen=True)
class Rest:
    """How a thing lies: its supports; what is under its centre of mass; the least gap (metres, infinite over nothing);
    and what it touches from above, whether that bears it or not."""

    supports: tuple[Owner, ...]
    under: Owner | None
    gap: float
    touches: tuple[Owner, ...]


NOWHERE = Rest((), None, np.inf, ())


def rests(
    things: Sequence[Posed],
    own: Sequence[Indices],
    around: Sequence[Indices],
    pieces: Stack,
    owners: Sequence[Owner],
) -> list[Rest]:
    """How things rest: `own` are the numbers of each one's pieces, `around` those it may rest on, any but its own."""
    mine, others = Chosen.of(own), Chosen.of(around)
    found = _lines(things, pieces, mine, others)
    lines, counts = np.concatenate(found), [len(some) for some in found]
    asker = np.repeat(np.arange(len(things)), counts)
    ends = np.cumsum(counts)
    under = _underside(lines, asker, pieces, mine)
    first = ends - counts
    middles = np.array([thing.centre[2] for thing in things])
    under[first] = np.where(np.isnan(under[first]), middles, under[first])  # that of a bowl or a ring is in the open
    height, piece = _surfaces(lines, asker, under, pieces, others)
    gaps = np.where(np.isnan(under), np.inf, under - height)
    parts = (slice(*span) for span in zip(first.tolist(), ends.tolist(), strict=True))
    return [
        _rest(thing, lines[part], gaps[part], piece[part], owners) for thing, part in zip(things, parts, strict=True)
    ]


def _rest(thing: Posed, lines: Floats, gaps: Floats, piece: Indices, owners: Sequence[Owner]) -> Rest:
    """How a thing rests, by the gap under it along each line and the piece that is there."""
    least = float(gaps.min())
    if least == np.inf:
        return NOWHERE
    touching = np.flatnonzero(gaps <= min(max(least, 0.0) + LEVEL, RESTING))
    middle = None if piece[0] < 0 else owners[piece[0]]
    touches = tuple(dict.fromkeys(owners[n] for n in dict.fromkeys(piece[touching].tolist())))
    return Rest(_bearing(thing, lines[touching], touches, middle), middle, least, touches)


def _bearing(thing: Posed, touching: Floats, touches: tuple[Owner, ...], middle: Owner | None) -> tuple[Owner, ...]:
    """What is under the centre if it is touched; else all that is touched, if the centre lies between the touches."""
    named = [touch for touch in touches if middle is not None and touch.name == middle.name]
    if named:
        return (middle,) if middle in named else tuple(named)
    return touches if len(touching) and _outside(thing.centre[:2], touching) <= BEYOND else ()


def _lines(things: Sequence[Posed], pieces: Stack, mine: Chosen, others: Chosen) -> list[Floats]:
    """Plan positions (m, 2) for each thing: its centre of mass first, then through it, its lowest corners and corners
    below."""
    own = _by_asker(*_inner(pieces, mine), len(things))
    found = []
    for thing, corners, below in zip(things, own, _below(things, pieces, mine, others), strict=True):
        lowest = corners[np.argsort(corners[:, 2], kind="stable")[:_LOWEST]]
        points = thing.pieces.points
        through = points[:: max(1, len(points) // _THROUGH)]
        found.append(np.concatenate([thing.centre[None], through, lowest, below])[:, :2])
    return found


def _below(things: Sequence[Posed], pieces: Stack, mine: Chosen, others: Chosen) -> Iterator[Floats]:
    """For each thing the corners (c, 3) of pieces around that may touch it from below: they are level with it on the
    plan, and it has nothing there that begins lower than their piece does. What stands on a table is not below it."""
    low, high = (np.array([getattr(thing, end)[:2] for thing in things]) for end in ("low", "high"))
    under, asker = _inner(pieces, others)
    start = np.repeat(pieces.low[others.pieces, 2], pieces.counts[others.pieces, 0])
    near = ((under[:, :2] >= low[asker]) & (under[:, :2] <= high[asker])).all(1)
    boxes = pieces.box_like[mine.pieces]
    own = _by_asker(mine.pieces[boxes], mine.asker[boxes], len(things))
    level = (_by_asker(values[near], asker[near], len(things)) for values in (under, start))
    for corners, starts, parts in zip(*level, own, strict=True):
        if len(corners) and len(parts):
            first, last, bottom = pieces.low[parts, :2], pieces.high[parts, :2], pieces.low[parts, 2]
            at = corners[:, None, :2]
            covered = ((at >= first) & (at <= last)).all(2) & (bottom <= starts[:, None])
            yield corners[~covered.any(1)]
        else:
            yield corners


def _inner(pieces: Stack, chosen: Chosen) -> tuple[Floats, Indices]:
    """The corners (c, 3) of chosen pieces, moved a little inwards, and who asks for each (c,)."""
    corners, middles = pieces.corners_of(chosen.pieces)
    return corners + _INWARD * (middles - corners), np.repeat(chosen.asker, pieces.counts[chosen.pieces, 0])


def _by_asker(values: Values, asker: Indices, count: int) -> list[Values]:
    return np.split(values, np.cumsum(np.bincount(asker, minlength=count))[:-1])


def _underside(lines: Floats, asker: Indices, pieces: Stack, own: Chosen) -> Floats:
    """Height (m,) at which lines enter the thing that asks from below; NaN where they miss it."""
    found = np.full(len(lines), np.inf)
    columns = pieces.columns(lines, asker, found, own)
    np.minimum.at(found, columns.line, columns.bottom)
    return np.where(np.isinf(found), np.nan, found)


def _surfaces(lines: Floats, asker: Indices, under: Floats, pieces: Stack, around: Chosen) -> tuple[Floats, Indices]:
    """Height (m,) of the topmost surface under each line and the number of its piece; -inf and -1 over nothing.

    A piece that begins higher than the thing does lies on it, not under it, as a pen on a sheet of paper.
    """
    height, piece = np.full(len(lines), -np.inf), np.full(len(lines), -1)
    found = pieces.columns(lines, asker, under, around)
    below = (found.top <= under[found.line] + RESTING) & (found.bottom < under[found.line])
    line, owner, top = found.line[below], found.piece[below], found.top[below]
    np.maximum.at(height, line, top)
    first = np.flatnonzero(top == height[line])[::-1]  # written last: of pieces as high as one another the first
    piece[line[first]] = owner[first]
    return height, piece


def _outside(point: Floats, corners: Floats) -> float:
    """How far a point (2,) lies outside the convex hull of points (n, 2); 0 inside."""
    try:
        planes = ConvexHull(corners).equations
    except (QhullError, ValueError):  # in one line or at one place
        return _from_line(point, corners)
    beyond = float((planes[:, :2] @ point + planes[:, 2]).max())
    return max(beyond, 0.0)


def _from_line(point: Floats, corners: Floats) -> float:
    """Distance of a point from points that lie in a line."""
    start = corners[0]
    end = corners[np.linalg.norm(corners - start, axis=1).argmax()]
    start = corners[np.linalg.norm(corners - end, axis=1).argmax()]
    way = end - start
    along = np.clip((point - start) @ way / max(float(way @ way), 1e-12), 0, 1)
    return float(np.linalg.norm(point - start - along * way))
