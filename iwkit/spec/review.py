"""What people, or models, said of a pack. It is outside both digests, so that a note voids no control (BENCH-2)."""

from __future__ import annotations

from typing import Annotated, Literal

from iwkit.spec.base import AsTuple, Model, Text

Reason = Literal["implied", "order_free", "free_choice", "harmless_extra", "not_scored"]
"""Why a mutant of the oracle may pass; docs/mutation.md says when each applies."""


class Survivor(Model):
    """A mutant of the oracle that passes, and may. `mutant` is its name as `iwkit mutate` prints it."""

    mutant: Text
    reason: Reason
    note: Text | None = None


class Review(Model):
    """The part `review` of a pack."""

    survivors: Annotated[tuple[Survivor, ...], AsTuple] = ()
    notes: Annotated[tuple[Text, ...], AsTuple] = ()
