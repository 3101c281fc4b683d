"""The statistics that figures need: intervals by resampling tasks, exact paired tests, and agreement.

numpy and scipy are imported when a figure is asked for: they are slow to import, and most commands need none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

DRAWS = 10_000
"""Resamples of a bootstrap."""
LEVEL = 0.95
SEED = 20_261
"""Of the resampling, so that the same records give the same interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float


def task_bootstrap(shares: Sequence[tuple[float, float]]) -> Interval | None:
    """The percentile interval of `sum(a) / sum(b)` when tasks are drawn with replacement.

    `shares` has the pair `(a, b)` of each task: the sums over all that belongs to the task, which stay together.
    A mean has b = 1 for each task, a pooled share the points of the task.

    None where resampling can't say anything: fewer than two tasks, or all of them with the same share.
    """
    import numpy as np  # noqa: PLC0415  slow to import

    used = [(a, b) for a, b in shares if b]
    if len(used) < 2 or len({Fraction(a) / Fraction(b) for a, b in used}) == 1:
        return None
    pairs = np.array(used, dtype=float)
    generator = np.random.Generator(np.random.PCG64(SEED))
    counts = generator.multinomial(len(used), np.full(len(used), 1 / len(used)), size=DRAWS)
    sums = counts @ pairs
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))


def mcnemar_exact(first_only: int, second_only: int) -> float:
    """Two-sided p of the exact McNemar test: of the tasks that only one of two passed, how odd is the split?

    1.0 where there is none.
    """
    from scipy.stats import binomtest  # noqa: PLC0415  slow to import

    both = first_only + second_only
    return float(binomtest(first_only, both, 0.5).pvalue) if both else 1.0


def sign_flip_exact(differences: Sequence[Fraction]) -> float:
    """Two-sided p of the exact paired permutation test: the share of the 2^n ways of swapping the two within each task
    whose sum of differences is at least as far from 0 as the one found.

    The whole distribution is computed, on the lattice of the differences' common denominator.
    """
    scale = math.lcm(*(d.denominator for d in differences)) if differences else 1
    steps = [abs(int(d * scale)) for d in differences if d]
    ways: dict[int, int] = {0: 1}
    for step in steps:
        following: dict[int, int] = {}
        for total, count in ways.items():
            for value in (total - step, total + step):
                following[value] = following.get(value, 0) + count
        ways = following
    found = abs(sum(int(d * scale) for d in differences))
    extreme = sum(count for total, count in ways.items() if abs(total) >= found)
    return float(Fraction(extreme, 2 ** len(steps)))


def cohen_kappa(first: Sequence[bool], second: Sequence[bool]) -> float | None:
    """Agreement of two raters beyond chance (Cohen 1960). None where chance alone would make them agree on all."""
    n = len(first)
    if not n:
        return None
    agree = Fraction(sum(a == b for a, b in zip(first, second, strict=True)), n)
    yes = Fraction(sum(first), n), Fraction(sum(second), n)
    chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    return None if chance == 1 else float((agree - chance) / (1 - chance))
