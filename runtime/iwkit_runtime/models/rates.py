"""Limits of a provider per minute, kept on this side of the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

Clock = Callable[[], float]


class Bucket:
    """So many units a minute, spread evenly: what was not used for a second is there for a burst, up to one minute's
    worth. Whoever waits is served in the order of coming.

    Args:
        per_minute: units a minute; None is no limit.
        clock: seconds that only grow.
    """

    def __init__(self, per_minute: float | None, clock: Clock) -> None:
        self._rate = per_minute / 60 if per_minute else None
        self._most = per_minute or 0.0
        self._clock = clock
        self._level = self._most
        self._at = clock()

    def take(self, units: float) -> float:
        """Take units, of which no request has more than a minute's worth, and say how many seconds to wait before they
        may be used."""
        if self._rate is None:
            return 0.0
        now = self._clock()
        self._level = min(self._most, self._level + (now - self._at) * self._rate) - min(units, self._most)
        self._at = now
        return max(0.0, -self._level / self._rate)

    def give_back(self, units: float) -> None:
        """Put back what turned out not to be used."""
        self._level = min(self._most, self._level + units) if self._rate is not None else self._level


class Rates:
    """Requests and tokens a minute of one model."""

    def __init__(self, requests: float | None, tokens: float | None, clock: Clock) -> None:
        self._requests, self._tokens = Bucket(requests, clock), Bucket(tokens, clock)

    async def turn(self, tokens: int) -> float:
        """Wait until one request of at most so many tokens may be sent. Returns the seconds waited."""
        seconds = max(self._requests.take(1), self._tokens.take(tokens))
        if seconds:
            await asyncio.sleep(seconds)
        return seconds

    def used(self, reserved: int, tokens: int | None) -> None:
        """Say how many of the reserved tokens were used; None if nobody knows."""
        if tokens is not None and tokens < reserved:
            self._tokens.give_back(reserved - tokens)
