"""Legal commands and names, at random."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from iwkit.commandrules import MAX_INDEX
from iwkit.grammar import (
    Command,
    Ref,
)
from iwkit.verbs import SURFACE, Primitive

quick = settings(max_examples=100, deadline=None)

NAMES = st.from_regex(r"[a-z0-9]{1,6}(_[a-z0-9]{1,6}){0,3}", fullmatch=True)


def _numbers(row: Primitive, verb: str) -> st.SearchStrategy[float | None]:
    scalar = row.scalar
    if scalar is None:
        return st.none()
    if row.scalar_verbs is not None and verb not in row.scalar_verbs:
        return st.just(180.0)
    if scalar.whole:
        return st.integers(int(scalar.low), int(scalar.high)).map(float)
    return st.floats(scalar.low, scalar.high, exclude_min=scalar.low_open)


@st.composite
def commands(draw: st.DrawFn) -> Command:
    row, verb = draw(st.sampled_from(list(SURFACE.values())))
    count = draw(st.integers(len(row.args) - row.optional, len(row.args)))
    low = [0 if position in row.connectors else 1 for position in range(count)]
    refs = tuple(Ref(draw(NAMES), draw(st.integers(first, MAX_INDEX))) for first in low)
    spot = draw(st.none() | st.tuples(st.floats(-1, 1), st.floats(0, 1))) if row.spot else None
    return Command(row.name, verb, refs, draw(_numbers(row, verb)), spot)
