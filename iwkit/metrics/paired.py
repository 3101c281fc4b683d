"""Two runs on the same tasks, compared task by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from iwkit.metrics.cells import CellResult
from iwkit.metrics.rates import families
from iwkit.metrics.stats import Interval, mcnemar_exact, sign_flip_exact, task_bootstrap

Pair = tuple[CellResult, CellResult]
_PARTS = 1_000_000
"""Completions are ratios of small whole numbers; their floats are read back as such."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second run against the first, over the `cells` that are valid in both and of one and the same pack.

    `both`, `first_only`, `second_only` and `neither` count passes. Differences are second less first, `pass_p` is of
    the exact McNemar test, `mcr_p` of the exact paired permutation test. Both tests take cells as independent.
    """

    cells: int
    both: int
    first_only: int
    second_only: int
    neither: int
    pass_difference: float | None
    pass_interval: Interval | None
    pass_p: float
    mcr_difference: float | None
    mcr_interval: Interval | None
    mcr_p: float


@dataclass(frozen=True, slots=True)
class Pairing:
    """The cells of two runs that can be compared, and why each of the others cannot, by the cell's name."""

    pairs: tuple[Pair, ...]
    left_out: Mapping[str, str]


def pair(first: Sequence[CellResult], second: Sequence[CellResult]) -> Pairing:
    """Match the cells of two runs by task and seed."""
    left, right = ({f"{r.task}-s{r.seed}": r for r in run} for run in (first, second))
    pairs, left_out = [], {}
    for name in sorted(left.keys() | right.keys()):
        a, b = left.get(name), right.get(name)
        reason = _obstacle(a, b)
        if reason or a is None or b is None:
            left_out[name] = reason
        else:
            pairs.append((a, b))
    return Pairing(tuple(pairs), left_out)


def _obstacle(a: CellResult | None, b: CellResult | None) -> str:
    if a is None or b is None:
        return "only in the second run" if a is None else "only in the first run"
    if a.digest != b.digest:
        return "another version of the pack"
    void = [word for word, r in (("first", a), ("second", b)) if r.status == "void"]
    return f"void in the {' and the '.join(void)} run" if void else ""


def compare(pairs: Sequence[Pair]) -> Comparison:
    """The figures of a set of pairs."""
    passes = [(a.status == "pass", b.status == "pass") for a, b in pairs]
    gains = [_share(b) - _share(a) for a, b in pairs]
    first_only, second_only = passes.count((True, False)), passes.count((False, True))
    return Comparison(
        cells=len(pairs),
        both=passes.count((True, True)),
        first_only=first_only,
        second_only=second_only,
        neither=passes.count((False, False)),
        pass_difference=(second_only - first_only) / len(pairs) if pairs else None,
        pass_interval=_interval(pairs, [Fraction(b - a) for a, b in passes]),
        pass_p=mcnemar_exact(first_only, second_only),
        mcr_difference=float(sum(gains) / len(pairs)) if pairs else None,
        mcr_interval=_interval(pairs, gains),
        mcr_p=sign_flip_exact(gains),
    )


def compare_families(pairs: Sequence[Pair]) -> dict[str, Comparison]:
    """Family -> the figures of its pairs, in order of name."""
    by_first = {id(a): (a, b) for a, b in pairs}
    return {
        family: compare([by_first[id(a)] for a in cells]) for family, cells in families(a for a, _ in pairs).items()
    }


def _share(result: CellResult) -> Fraction:
    return Fraction(result.completion or 0).limit_denominator(_PARTS)


def _interval(pairs: Sequence[Pair], gains: Sequence[Fraction]) -> Interval | None:
    tasks: dict[str, tuple[Fraction, int]] = {}
    for (a, _), gain in zip(pairs, gains, strict=True):
        total, count = tasks.get(a.task, (Fraction(), 0))
        tasks[a.task] = total + gain, count + 1
    return task_bootstrap([(float(g), n) for _, (g, n) in sorted(tasks.items())])
