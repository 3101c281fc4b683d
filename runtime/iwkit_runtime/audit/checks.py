"""The audit of a recording: every check with its worst figure, where that is, and whether it is within the limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from iwkit_runtime.audit import body, depth, holds, things
from iwkit_runtime.audit.body import Measure
from iwkit_runtime.audit.film import Film, Place
from iwkit_runtime.audit.limits import LIMITS
from iwkit_runtime.audit.sound import sound
from iwkit_runtime.recording import Recording

CHECKS: Sequence[Callable[[Film], Iterator[Measure]]] = (
    body.moves,
    body.standing,
    body.feet,
    holds.grips,
    things.objects,
    things.fixtures,
    things.joints,
    depth.penetration,
)
SOUND = ("finite", "unit", "time")


class Outcome(NamedTuple):
    """A check: its worst figure, where that is, and of what; without a figure when there was nothing to judge."""

    check: str
    worst: float | None
    place: Place | None
    what: str

    @property
    def passed(self) -> bool:
        """Whether the worst figure is within its limit."""
        return self.worst is None or self.worst <= LIMITS[self.check].value

    def to_json(self) -> dict[str, Any]:
        """The outcome in JSON's types; a figure that is not finite is null."""
        limit = LIMITS[self.check]
        worst = self.worst if self.worst is not None and math.isfinite(self.worst) else None
        place = None if self.place is None else self.place._asdict()
        figures = {"worst": worst, "limit": limit.value, "unit": limit.unit}
        return {"check": self.check, "passed": self.passed, **figures, "place": place, "what": self.what}


def audit(recording: Recording) -> tuple[Outcome, ...]:
    """One outcome for each row of `LIMITS`, in its order. A recording that is not sound is not judged further."""
    worst = _worst(sound(recording))
    if all(Outcome(check, *worst[check]).passed for check in SOUND if check in worst):
        film = Film(recording)
        worst |= _worst(measure for check in CHECKS for measure in check(film))
    return tuple(Outcome(check, *worst.get(check, (None, None, ""))) for check in LIMITS)


def _worst(measures: Iterable[Measure]) -> dict[str, tuple[float, Place, str]]:
    found: dict[str, tuple[float, Place, str]] = {}
    for check, value, place, what in measures:
        if check not in found or not value <= found[check][0]:
            found[check] = value, place, what
    return found
