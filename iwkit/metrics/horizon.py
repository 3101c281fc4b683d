"""Do longer tasks succeed less often? The family-adjusted slope of success over task length (MET-4; paper D.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iwkit.metrics.cells import CellResult
from iwkit.metrics.stats import DRAWS, LEVEL, SEED, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """A task over all runs: `steps` of the shortest known way, `success` the share of its valid cells that passed."""

    task: str
    family: str
    steps: int
    success: float


@dataclass(frozen=True, slots=True)
class Slope:
    """Change of the share of success from the shortest (0) to the longest (1) task of a family: -0.431 is 43.1
    percentage points less. `interval` is by resampling tasks within their families, `p` one-sided (a fall), by
    permuting outcomes within families."""

    tasks: int
    slope: float
    interval: Interval
    p: float


def outcomes(runs: Sequence[Sequence[CellResult]]) -> list[TaskOutcome]:
    """All outcomes of a task as one, whatever run they are from. Tasks without reference or valid cell are left out."""
    cells: dict[str, list[CellResult]] = defaultdict(list)
    for result in (r for run in runs for r in run if r.status != "void" and r.reference):
        cells[result.task].append(result)
    return [
        TaskOutcome(task, own[0].family, own[0].reference or 0, sum(r.status == "pass" for r in own) / len(own))
        for task, own in sorted(cells.items())
    ]


def horizons(tasks: Sequence[TaskOutcome]) -> Mapping[str, float]:
    """Task -> its length, from 0 to 1 (the longest of its family); families of one length are left out."""
    lengths: dict[str, list[int]] = defaultdict(list)
    for task in tasks:
        lengths[task.family].append(task.steps)
    ends = {family: (min(own), max(own)) for family, own in lengths.items()}
    return {
        t.task: (t.steps - ends[t.family][0]) / (ends[t.family][1] - ends[t.family][0])
        for t in tasks
        if ends[t.family][0] < ends[t.family][1]
    }


def slope(tasks: Sequence[TaskOutcome]) -> Slope | None:
    """The slope of a linear probability model of the tasks' success with an intercept for each family.

    None where no family has tasks of different lengths.
    """
    import numpy as np  # noqa: PLC0415  slow to import

    length = horizons(tasks)
    used = [t for t in tasks if t.task in length]
    if not used:
        return None
    families = sorted({t.family for t in used})
    generator = np.random.Generator(np.random.PCG64(SEED))
    found, drawn, permuted = np.zeros(2), np.zeros((DRAWS, 2)), np.zeros((DRAWS, 2))
    for family in families:
        own = [t for t in used if t.family == family]
        x = np.array([length[t.task] for t in own])
        y = np.array([t.success for t in own])
        found += _moments(x, y)
        pick = generator.integers(0, len(own), (DRAWS, len(own)))
        drawn += _moments(x[pick], y[pick])
        permuted += _moments(np.broadcast_to(x, pick.shape), generator.permuted(np.broadcast_to(y, pick.shape), axis=1))
    drawn = drawn[drawn[:, 1] > 0]
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    value = found[0] / found[1]
    as_low = int(np.sum(permuted[:, 0] / permuted[:, 1] <= value + 1e-12))
    return Slope(len(used), float(value), Interval(float(low), float(high)), (1 + as_low) / (1 + DRAWS))


def _moments(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of products and of squares about the family's means: shapes (..., n) to (..., 2)."""
    import numpy as np  # noqa: PLC0415

    dx = x - x.mean(axis=-1, keepdims=True)
    dy = y - y.mean(axis=-1, keepdims=True)
    return np.stack([(dx * dy).sum(axis=-1), (dx * dx).sum(axis=-1)], axis=-1)
