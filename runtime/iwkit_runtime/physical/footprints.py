"""How much room things take, for those who lay out many: boxes around them and their pieces, and which of them meet."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.physical.hulls import Indices
from iwkit_runtime.physical.kinematics import about, link_frames, root_frame
from iwkit_runtime.physical.scene_spec import Placed
from iwkit_runtime.physical.spec import Asset, Floats

ROUND = 0.03
"""Part of its width by which something round may differ from a circle. It is turned so that one can read it."""


def meet(low: Floats, high: Floats, other_low: Floats, other_high: Floats) -> NDArray[np.bool_]:
    """Which boxes share space with which others, by their lowest and highest corners (..., 3)."""
    x, y, z = (
        np.minimum(high[..., axis], other_high[..., axis]) - np.maximum(low[..., axis], other_low[..., axis]) > 1e-6
        for axis in range(3)
    )
    return np.asarray(x & y & z)


@lru_cache(maxsize=4096)
def half_size(asset: Asset, yaw: float) -> Floats:
    """Half the width and depth of the upright box around an asset that is turned; its origin is in the middle."""
    corners = np.array([[x, y] for x in (-0.5, 0.5) for y in (-0.5, 0.5)]) * asset.size[:2]
    turn = about((0, 0, 1), yaw)[:2, :2]
    points = [points for points, _ in _link_points(asset).values()]
    return np.asarray(np.abs(np.concatenate([corners, *(some[:, :2] for some in points)]) @ turn.T).max(0))


@lru_cache(maxsize=4096)
def is_round(asset: Asset) -> bool:
    """Whether a thing needs no more room when it is turned about its middle: a can, a bottle, a plate."""
    points = np.concatenate([points[:, :2] for points, _ in _link_points(asset).values()])
    width, depth, _ = asset.size
    return abs(width - depth) < ROUND * width and float(np.linalg.norm(points, axis=1).max()) < (1 + ROUND) * width / 2


@lru_cache(maxsize=4096)
def _link_points(asset: Asset) -> dict[str, tuple[Floats, Indices]]:
    """The corners (n, 3) of all pieces of each link that has any, and the number of each piece's first."""
    found = {}
    for link in asset.links:
        if link.pieces:
            counts = np.array([len(piece.vertices) for piece in link.pieces], dtype=np.int64)
            found[link.name] = np.concatenate([piece.vertices for piece in link.pieces]), np.cumsum(counts) - counts
    return found


def extents(placed: Placed) -> tuple[Floats, Floats]:
    """Lowest and highest corners (n, 3) of the upright boxes around a thing's pieces: hollow things stay hollow."""
    frames = link_frames(placed.asset, root_frame(placed), placed.joints)
    low, high = [np.empty((0, 3))], [np.empty((0, 3))]
    for link, (points, firsts) in _link_points(placed.asset).items():
        corners = frames[link].point(points)
        low.append(np.minimum.reduceat(corners, firsts))
        high.append(np.maximum.reduceat(corners, firsts))
    return np.concatenate(low), np.concatenate(high)
