"""Finding a place from which something can be done, and going there (ACT-1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from iwkit_runtime.actions.act import Act
from iwkit_runtime.actions.motion import Reasons
from iwkit_runtime.actions.operate import open_grid
from iwkit_runtime.actions.refusals import NoWayError, RefusedError
from iwkit_runtime.actions.room import clear
from iwkit_runtime.actions.search import Effort, Look
from iwkit_runtime.actions.walking import attempt, blocker
from iwkit_runtime.nav.geometry import Point, wrap
from iwkit_runtime.nav.stance import RING, Stance, stances
from iwkit_runtime.physical.stage import Stage
from iwkit_runtime.physical.trajectory import Stand
from iwkit_runtime.physical.wearer import moved

STANCES = 48
"""Stances for which an action is planned."""
WALKS = 4
"""Stances to which the wearer tries to walk."""

TURNED = tuple(math.radians(angle) for angle in (16, 0, 35, 50, -20))
"""How far the wearer is turned from facing what it takes: turned to the left, its right shoulder comes forward."""
BROADLY = (*TURNED, math.radians(65))
"""The same where it is looked for broadly: turned further, the right arm gets further into what is narrow."""
AHEAD = math.radians(40)
"""What is no further to the side than this is done from where the wearer stands as it stands, if that can be."""

RINGS = (0.25, *RING, 0.85)
"""Distances of stances from their contact point where they are looked for broadly, metres."""
GOLDEN = (math.sqrt(5) - 1) / 2
"""Numbers times this, without their whole part, are spread evenly however many there are."""

FRONTAL = math.radians(60)
"""What is inside is reached from no further to the side of its front than this."""

Plan = TypeVar("Plan")


def standing(stage: Stage, contact: Point, among: Iterable[Stance] | None = None) -> Iterator[Stand]:
    """Where the wearer can stand around a contact point (or among given stances), the nearest first."""
    here = stage.wearer.stand
    if among is None:
        around = list(stances(open_grid(stage), contact, here[:2]))
        found: Iterable[Stance] = (s._replace(heading=s.heading + turn) for turn in TURNED for s in around)
        near = RING[0] <= math.dist(here[:2], contact) <= RING[-1]
        yield from [here] if near and _faces(here, contact) else []
    else:
        found = among
    yield from (stand for s in found if _fits(stage, stand := Stand(s.x, s.y, wrap(s.heading))))


def _fits(stage: Stage, stand: Stand) -> bool:
    """Whether the wearer fits there with what it holds: asked for one place after another on the same support."""
    wearer = stage.wearer
    return stage.collision.once(("clear", stand, wearer.hold, wearer.seat), lambda: clear(stage, stand))


def _faces(stand: Stand, contact: Point) -> bool:
    """Whether a point is so nearly ahead that the wearer needn't turn to it."""
    bearing = math.atan2(contact[1] - stand.y, contact[0] - stand.x)
    return abs(math.remainder(bearing - stand.heading, math.tau)) <= AHEAD


def go_and(
    act: Act,
    name: str,
    contact: Point,
    plan: Callable[[Stand, Reasons], Plan | None],
    *,
    front: float | None = None,
    among: Iterable[Stance] | None = None,
    tries: int = STANCES,
    barred: set[Stand] | None = None,
) -> Plan:
    """Find a stance from which something can be done with a thing, go there, and return the plan for it.

    `plan` is asked for stances one at a time, with the wearer standing there: those of `among`, or all around the
    contact point that are on the side to which `front` points (radians), if it is given. None that is `barred`; those
    to which no walk leads are added to them.

    Raises:
        RefusedError: PATH_BLOCKED, OUT_OF_REACH or TRAJECTORY_COLLISION; everything is as before.
    """
    stage, reasons, walks = act.stage, Reasons(), 0
    refused: RefusedError | None = None
    tried = 0
    for stand in standing(stage, contact, among):
        if (front is not None and not _before(stand, contact, front)) or (barred is not None and stand in barred):
            continue
        tried += 1
        if tried > tries or walks == WALKS:
            break
        found = as_if_at(stage, stand, partial(plan, stand, reasons))
        if found is None:
            continue
        refused = None if stand == stage.wearer.stand else attempt(act, stand, f"to {act.public(name)}", name=name)
        if refused is None:
            return found
        walks += 1
        if barred is not None:
            barred.add(stand)
    if refused is not None:
        raise refused
    if not tried:
        raise _no_way(act, name, contact)
    if reasons.reached:
        raise RefusedError("TRAJECTORY_COLLISION", act.public(name), act.public(reasons.blocker))
    raise RefusedError("OUT_OF_REACH", act.public(name))


def look_and_go(
    act: Act,
    name: str,
    contact: Point,
    looks: Sequence[Look],
    plan: Callable[[Look, Effort, Stand, Reasons], Plan | None],
    *,
    front: float | None = None,
    barred: set[Stand] | None = None,
) -> Plan:
    """As `go_and`, with one look after another, each with a fixed amount of work.

    Raises:
        RefusedError: as `go_and`; what the broadest look found is in the way, if it found anything.
    """
    refused: RefusedError | None = None
    barred = set() if barred is None else barred
    known: set[tuple[Look, Stand]] = set()
    for look in looks:
        asked = partial(_asked_once, plan, look, Effort(look.work), known)
        among = spread(act.stage, contact) if look.broad else None
        try:
            return go_and(
                act,
                name,
                contact,
                asked,
                front=None if look.anywhere else front,
                among=among,
                tries=look.stances,
                barred=barred,
            )
        except RefusedError as failed:
            refused = failed if refused is None or _says_more(failed, refused) else refused
    raise refused or RefusedError("OUT_OF_REACH", act.public(name))


def _says_more(failed: RefusedError, before: RefusedError) -> bool:
    """Whether a refusal is to be told rather than that of a narrower look: what is in the way, if the hand once got
    there."""
    return not isinstance(failed, NoWayError) and not (
        failed.code == "OUT_OF_REACH" and before.code == "TRAJECTORY_COLLISION"
    )


def _asked_once(  # noqa: PLR0917 (bound to a look)
    plan: Callable[[Look, Effort, Stand, Reasons], Plan | None],
    look: Look,
    effort: Effort,
    known: set[tuple[Look, Stand]],
    at: Stand,
    reasons: Reasons,
) -> Plan | None:
    """What is planned from a stance; nothing where it is known that nothing comes of it, from a look of the same kind
    elsewhere, or when the work is done."""
    question = look._replace(stances=0, work=0, anywhere=False), at
    if effort.spent or question in known:
        return None
    found = plan(look, effort, at, reasons)
    if found is None and not effort.spent:
        known.add(question)
    return found


def spread(stage: Stage, contact: Point) -> Iterator[Stance]:
    """Stances all around a contact point, near and far and turned in all ways, each far from the one before it."""
    around = list(stances(open_grid(stage), contact, stage.wearer.stand[:2], rings=RINGS))
    found = [s._replace(heading=s.heading + turn) for s in around for turn in BROADLY]
    order = sorted(range(len(found)), key=lambda n: (n * GOLDEN) % 1.0)
    yield from (found[n] for n in order)


def front_of(stage: Stage, name: str) -> float | None:
    """The direction to which a fixture's front looks; None for a thing that can be reached into from all around."""
    placed = stage.placed[name]
    return placed.yaw - math.pi / 2 if placed.kind == "fixture" else None


def _before(stand: Stand, contact: Point, front: float) -> bool:
    bearing = math.atan2(stand.y - contact[1], stand.x - contact[0])
    return abs(math.remainder(bearing - front, math.tau)) <= FRONTAL


def as_if_at(stage: Stage, stand: Stand, ask: Callable[[], Plan]) -> Plan:
    """Ask something with the wearer standing elsewhere."""
    before = stage.wearer
    if stand != before.stand:
        stage.wearer = moved(before, stand=stand, gaze=None)
    try:
        return ask()
    finally:
        stage.wearer = before


def _no_way(act: Act, name: str, contact: Point) -> RefusedError:
    """Nowhere to stand by a thing that can be walked to: what is in the way."""
    grid = open_grid(act.stage)
    middles = grid.all_centres()
    away = ((middles - contact) ** 2).sum(1) ** 0.5
    near = [n for n in range(len(away)) if RING[0] <= away[n] <= RING[-1] and grid.covers(tuple(middles[n]))]
    best = max(near, key=lambda n: float(grid.clearance.flat[n]), default=None)
    goal = contact if best is None else (float(middles[best][0]), float(middles[best][1]))
    by = blocker(act, goal)
    return NoWayError("PATH_BLOCKED", f"to {act.public(name)}", by)
