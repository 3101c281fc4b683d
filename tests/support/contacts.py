"""How deep the wearer's limbs are in one another, by many balls along each."""

from __future__ import annotations

import numpy as np

from iwkit_runtime.body.capsules import Rig


def overlaps(rig: Rig, frames: np.ndarray) -> dict[tuple[str, str], float]:
    """Depth by which segments that are no neighbours are in each other."""
    spheres = rig.spheres(frames)
    gap = np.linalg.norm(spheres.centres[:, None] - spheres.centres, axis=-1)
    gap -= spheres.radii[:, None] + spheres.radii
    gap[rig.adjacent[np.ix_(spheres.segments, spheres.segments)]] = np.inf
    found: dict[tuple[str, str], float] = {}
    for i, j in np.argwhere(np.triu(gap < 0)):
        pair = rig.names[spheres.segments[i]], rig.names[spheres.segments[j]]
        found[pair] = max(found.get(pair, 0.0), -float(gap[i, j]))
    return found
