"""The calls of models that a run made, read from the book that `iwkit run` keeps of them (docs/models.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from iwkit.errors import LedgerError

NAME: Final = "calls.jsonl"
"""The book, in the run folder."""


def read_book(folder: Path) -> Iterator[dict[str, Any]]:
    """The calls of a run, in order: the line before each request with the last outcome it has. `outcome` is None and
    `cost` unknown where there is none.

    Raises:
        LedgerError: the file cannot be read.
    """
    path = folder / NAME
    try:
        lines = path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read: {error.strerror}") from error
    calls: dict[int, dict[str, Any]] = {}
    for line in lines:
        record = _parse(line)
        if record is None:
            continue
        if record["kind"] == "sent":
            calls[record["call"]] = {"outcome": None, "cost": None, **record}
        elif record["call"] in calls:
            calls[record["call"]] |= {k: v for k, v in record.items() if k not in ("kind", "t_wall")}
    yield from calls.values()


def _parse(line: bytes) -> dict[str, Any] | None:
    """A record of the book, or None: half a line that a killed writer left is none."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("call"), int) and "kind" in record else None


@dataclass(frozen=True, slots=True)
class Total:
    """The calls of one model in a run. `cost` is None where nothing is known of it; `unknown` counts the calls whose
    cost is not known, and `at_most` is what all of them together can have cost, None if nobody can say."""

    model: str
    calls: int
    answered: int
    input: int
    output: int
    uncounted: int
    cost: float | None
    unknown: int
    at_most: float | None


def totals(folder: Path) -> list[Total]:
    """What the calls of a run come to, by model. Answers from the cache are no calls."""
    by_model: dict[str, list[dict[str, Any]]] = {}
    for call in read_book(folder):
        by_model.setdefault(call["model"], []).append(call)
    return [_total(model, calls) for model, calls in sorted(by_model.items())]


def _total(model: str, calls: list[dict[str, Any]]) -> Total:
    known = [c["cost"] for c in calls if c["cost"] is not None]
    bounds = [c["at_most"] if c["cost"] is None else c["cost"] for c in calls]
    return Total(
        model=model,
        calls=len(calls),
        answered=sum(c["outcome"] == "answered" for c in calls),
        input=sum(c.get("input") or 0 for c in calls),
        output=sum(c.get("output") or 0 for c in calls),
        uncounted=sum(c["outcome"] == "answered" and None in (c.get("input"), c.get("output")) for c in calls),
        cost=sum(known) if known else None,
        unknown=len(calls) - len(known),
        at_most=None if None in bounds else sum(bounds),
    )
