"""One cell of a run as the figures see it, from its planned entry and its records. A missing measurement is None."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from iwkit.ledger import END, Record
from iwkit.metrics.proactive import Proactive, proactive
from iwkit.metrics.route import route
from iwkit.runfolder import variant_name

Status = Literal["pass", "fail", "void"]


@dataclass(frozen=True, slots=True)
class Point:
    """A capability point (MET-2): its id, its capability (`C1` to `C9`) and its label."""

    id: str
    capability: str
    label: str


@dataclass(frozen=True, slots=True)
class CellResult:
    """One cell: `completion`, `actions`, `ticks` and all after `reason` are None when it is void or not finished.

    `freeze` says how the pack stands to its lock: "frozen", "code changed" or "draft"; `malformed` counts the
    assistant's answers that were in none of the required forms. `digest` is the pack's. `stable_actions` are the
    actions after which the goal held for good (None: it does not in the end), `reference` those of the shortest known
    way (None: the lock has none). `points` are the capability points, empty when void. `route` is the way walked
    until then, in metres (None: not measured, as in the symbolic world). `variant` says what varies in
    the pack (None: it is as written).
    """

    task: str
    seed: int
    family: str
    freeze: str
    status: Status
    completion: float | None
    actions: int | None
    ticks: int | None
    cfss: float | None = None
    stg_cfss: float | None = None
    reason: str | None = None
    malformed: int | None = None
    digest: str | None = None
    stable_actions: int | None = None
    reference: int | None = None
    points: tuple[Point, ...] = ()
    proactive: Proactive | None = None
    route: float | None = None
    variant: str | None = None

    @property
    def efficiency(self) -> float | None:
        """Actions until the goal held for good, over those of the shortest known way; of passed cells only (MET-3)."""
        if self.status != "pass" or self.stable_actions is None or not self.reference:
            return None
        return self.stable_actions / self.reference


def cell_result(cell: Mapping[str, Any], records: Sequence[Record]) -> CellResult:
    """The result of a planned cell from the records of the attempt that counts (none: it was not begun)."""
    task, seed, family, freeze = cell["task"], cell["seed"], cell["family"], cell["freeze"]
    planned: dict[str, Any] = {
        "digest": cell.get("digest"),
        "reference": cell.get("reference"),
        "variant": variant_name(cell.get("variant", {})) or None,
    }
    end = records[-1] if records and records[-1]["kind"] == END else None
    if end is None or end["status"] == "void":
        reason = "not finished" if end is None else end["void"]
        return CellResult(task, seed, family, freeze, "void", None, None, None, reason=reason, **planned)
    score = end["score"]
    return CellResult(
        task,
        seed,
        family,
        freeze,
        end["status"],
        score["completion"],
        end["actions"],
        end["ticks"],
        score["cfss"],
        score["stg_cfss"],
        end["stop_reason"],
        end.get("malformed"),
        stable_actions=end.get("stable_actions"),
        points=tuple(Point(a["id"], a["capability"], a["label"]) for a in score["atoms"]),
        proactive=proactive(records),
        route=route(records, end.get("stable_actions")),
        **planned,
    )
