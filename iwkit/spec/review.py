"""What people, or models, said of a pack. It is outside both digests, so that a note voids no control (BENCH-2)."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, StringConstraints
from pydantic_core import PydanticCustomError

from iwkit.source import patterns
from iwkit.spec.base import AsTuple, Model, Text

Reason = Literal["implied", "order_free", "free_choice", "harmless_extra", "not_scored"]
"""Why a mutant of the oracle may pass; docs/mutation.md says when each applies."""

ReaderKind = Literal["person", "model", "author"]
"""Who read: someone else, a model, or whoever wrote the pack."""
ReadingVerdict = Literal["keep", "keep_debt", "retry"]
"""Fit to freeze; fit, with a weakness that the note names; or not fit as it is (BENCH-2)."""

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _day(text: str) -> str:
    try:
        if _DAY.fullmatch(text):
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise PydanticCustomError(
        "day", "{problem}", {"problem": f"{text!r} is no day", "hint": "write year-month-day, as in 2026-03-01"}
    )


class Survivor(Model):
    """A mutant of the oracle that passes, and may. `mutant` is its name as `iwkit mutate` prints it."""

    mutant: Text
    reason: Reason
    note: Text | None = None


class Reading(Model):
    """One reading of a pack: by whom, when, of which digest, and what came of it. It says nothing of a pack that was
    changed since: its digest is another."""

    by: Text
    kind: ReaderKind
    date: Annotated[str, AfterValidator(_day)]
    pack: Annotated[str, StringConstraints(pattern=patterns.DIGEST)]
    verdict: ReadingVerdict
    note: Text | None = None


class Review(Model):
    """The part `review` of a pack."""

    survivors: Annotated[tuple[Survivor, ...], AsTuple] = ()
    readings: Annotated[tuple[Reading, ...], AsTuple] = ()
    notes: Annotated[tuple[Text, ...], AsTuple] = ()
