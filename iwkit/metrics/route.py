"""How far the wearer walked until the goal held for good (MET-3; paper C.3.3: reported apart from the actions)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from iwkit.ledger import Record


def route(records: Sequence[Record], actions: int | None) -> float | None:
    """Metres over the floor in the first `actions` of the interaction; the opening does not count.

    None where that was not measured: the goal does not hold in the end, the world has no body, or the record is of an
    iwkit that did not keep it.
    """
    if actions is None or not records or records[0].get("world") != "physical":
        return None
    start = next((n for n, r in enumerate(records) if r["kind"] == "handoff"), len(records))
    steps = [r for r in records[start:] if r["kind"] == "step"][:actions]
    # A command that took no time moved nothing.
    ways = [step.get("walked") if step["receipt"]["frames"] else 0.0 for step in steps]
    known = [way for way in ways if way is not None]
    return round(math.fsum(known), 3) if len(known) == len(ways) else None
