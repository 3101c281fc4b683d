"""The predicates of docs/goal-language.md section 3 as data (SEM-6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ArgKind = Literal[
    "entity",
    "thing",
    "support",
    "container",
    "openable",
    "device",
    "machine",
    "seat",
    "room",
    "substance",
    "substances",
]
Source = Literal["geometry", "symbolic"]


@dataclass(frozen=True, slots=True)
class Predicate:
    """One predicate. `source` says whether a world measures it from geometry or keeps it as a state of its own."""

    name: str
    args: tuple[ArgKind, ...]
    source: Source
    paper: bool = False


PREDICATES: dict[str, Predicate] = {
    p.name: p
    for p in (
        Predicate("on", ("thing", "support"), "geometry", paper=True),
        Predicate("inside", ("thing", "container"), "geometry", paper=True),
        Predicate("held", ("thing",), "geometry", paper=True),
        Predicate("on_floor", ("thing",), "geometry"),
        Predicate("near", ("entity", "entity"), "geometry", paper=True),
        Predicate("in_room", ("entity", "room"), "geometry"),
        Predicate("open", ("openable",), "geometry", paper=True),
        Predicate("closed", ("openable",), "geometry", paper=True),
        Predicate("running", ("device",), "symbolic", paper=True),
        Predicate("off", ("device",), "symbolic", paper=True),
        Predicate("sitting", ("seat",), "geometry", paper=True),
        Predicate("attached", ("thing", "entity"), "geometry", paper=True),
        Predicate("raised", ("entity",), "geometry", paper=True),
        Predicate("visible", ("entity",), "geometry"),
        Predicate("at_baseline", ("entity",), "geometry"),
        Predicate("unmoved", ("entity",), "geometry", paper=True),
        Predicate("cut", ("thing",), "symbolic", paper=True),
        Predicate("cooked", ("thing",), "symbolic", paper=True),
        Predicate("broken", ("entity",), "symbolic"),
        Predicate("mouldy", ("thing",), "symbolic"),
        Predicate("ringing", ("entity",), "symbolic"),
        Predicate("clean", ("entity",), "symbolic"),
        Predicate("dry", ("entity",), "symbolic"),
        Predicate("used", ("entity",), "symbolic"),
        Predicate("contains", ("entity", "substance"), "symbolic"),
        Predicate("received", ("entity", "substances"), "symbolic"),
        Predicate("in_cycle", ("thing", "machine"), "symbolic"),
        Predicate("cycle_valid", ("machine",), "symbolic"),
    )
}
"""Predicate name -> predicate. `paper` marks the fourteen of B.3.2; the others are ours."""
