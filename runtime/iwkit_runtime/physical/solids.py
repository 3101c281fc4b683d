"""The convex pieces of a scene where they are now: planes, centres of mass and sample points. Metres, world frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from iwkit.errors import UsageError
from iwkit_runtime.physical.kinematics import Frame, frame, link_frames
from iwkit_runtime.physical.scene_spec import Placed, Pose, SceneSpec
from iwkit_runtime.physical.spec import Floats, Piece

SAMPLES = 128
"""Sample points in a piece's box."""
_STEPS = np.array([0.8191725133961645, 0.6710436067037893, 0.5497004779019703])
"""Of the sequence that fills a cube most evenly (Roberts' R3): no two points share a coordinate, as on a grid."""
_FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex piece: corners (n, 3) between `low` and `high`, planes (k, 4) with n . x + d <= 0 inside, triangles
    (m, 3, 3) of its faces, and points (s, 3) spread inside it."""

    corners: Floats
    low: Floats
    high: Floats
    planes: Floats
    faces: Floats
    points: Floats
    volume: float
    centroid: Floats

    def moved(self, at: Frame) -> Hull:
        """The same piece in the world."""
        normals = self.planes[:, :3] @ at.turn.T
        planes = np.c_[normals, self.planes[:, 3] - normals @ at.at]
        corners = at.point(self.corners)
        points, centroid = at.point(self.points), at.point(self.centroid)
        faces = at.point(self.faces.reshape(-1, 3)).reshape(-1, 3, 3)
        return Hull(corners, corners.min(0), corners.max(0), planes, faces, points, self.volume, centroid)

    def column(self, lines: Floats) -> tuple[Floats, Floats]:
        """Where vertical lines through plan positions (m, 2) enter and leave it: heights (m,); NaN where they miss."""
        slope = self.planes[:, 2]
        level = -(lines @ self.planes[:, :2].T + self.planes[:, 3])
        up, down = slope > _FLAT, slope < -_FLAT
        top = (level[:, up] / slope[up]).min(1)
        bottom = (level[:, down] / slope[down]).max(1)
        missed = (bottom > top + _FLAT) | (level[:, ~(up | down)] < -_FLAT).any(1)
        return np.where(missed, np.nan, bottom), np.where(missed, np.nan, top)


class Solid(NamedTuple):
    """A piece and whose it is."""

    owner: str
    link: str
    hull: Hull


class Posed(NamedTuple):
    """A thing where it is: `centre` is its centre of mass at even density, `weights` (s,) those of `points` (s, 3)."""

    frames: Mapping[str, Frame]
    solids: tuple[Solid, ...]
    low: Floats
    high: Floats
    centre: Floats
    points: Floats
    weights: Floats


class Solids:
    """Everything in a scene that has pieces; what hasn't moved since the last question is not computed again.

    Raises:
        UsageError: a piece is no solid.
    """

    def __init__(self, spec: SceneSpec) -> None:
        self.placed = {p.name: p for p in spec.placed if any(link.pieces for link in p.asset.links)}
        self.layers = {s.name: s.layer for s in spec.statics}
        self.building = tuple(Solid(s.name, "", hull(s.name, p)) for s in spec.statics for p in s.pieces)
        self._hulls = {
            name: [(link.name, hull(name, piece)) for link in p.asset.links for piece in link.pieces]
            for name, p in self.placed.items()
        }
        self._kept: dict[str, tuple[object, Posed]] = {}

    def at(self, name: str, poses: Mapping[str, Pose], joints: Mapping[tuple[str, str], float]) -> Posed:
        """A thing as it is with these poses and joints. The same object as last time if it hasn't moved.

        Raises:
            UsageError: no pose for it.
        """
        if name not in poses:
            raise UsageError(f"there is no pose for '{name}': give the poses of every thing of the scene")
        links = self.placed[name].asset.links
        values = {link.name: joints.get((name, link.name), 0.0) for link in links if link.joint}
        key = (poses[name], tuple(values.values()))
        kept = self._kept.get(name)
        if kept is None or kept[0] != key:
            kept = self._kept[name] = (key, self._posed(self.placed[name], poses[name], values))
        return kept[1]

    def _posed(self, placed: Placed, pose: Pose, values: Mapping[str, float]) -> Posed:
        frames = link_frames(placed.asset, frame(pose), values)
        hulls = [(link, one.moved(frames[link])) for link, one in self._hulls[placed.name]]
        low, high = (np.array([getattr(one, end) for _, one in hulls]) for end in ("low", "high"))
        volumes = np.array([one.volume for _, one in hulls])
        centre = volumes @ np.array([one.centroid for _, one in hulls]) / volumes.sum()
        weights = np.concatenate([np.full(len(one.points), one.volume / len(one.points)) for _, one in hulls])
        points = np.concatenate([one.points for _, one in hulls])
        solids = tuple(Solid(placed.name, link, one) for link, one in hulls)
        return Posed(frames, solids, low.min(0), high.max(0), centre, points, weights / weights.sum())


def hull(owner: str, piece: Piece) -> Hull:
    """The hull of a piece; pieces with the same corners share one.

    Raises:
        UsageError: the piece is no solid.
    """
    corners = np.ascontiguousarray(piece.vertices, dtype=np.float64)
    try:
        return _hull(corners.tobytes())
    except (QhullError, ValueError):
        raise UsageError(
            f"a piece of '{owner}' has no volume: give four or more points that don't lie in a plane"
        ) from None


@lru_cache(maxsize=8192)
def _hull(data: bytes) -> Hull:
    corners = np.frombuffer(data).reshape(-1, 3)
    found = ConvexHull(corners)
    corners = corners[found.vertices]
    # the triangles of one face have one plane
    planes = np.unique(found.equations.round(9), axis=0)
    faces = found.points[found.simplices]
    from_middle = faces - corners.mean(0)
    parts = np.abs(np.linalg.det(from_middle))
    centroid = corners.mean(0) + parts @ from_middle.sum(1) / (4 * parts.sum())
    points = _points(corners, planes, centroid)
    return Hull(corners, corners.min(0), corners.max(0), planes, faces, points, float(found.volume), centroid)


def _points(corners: Floats, planes: Floats, centroid: Floats) -> Floats:
    """Points spread evenly over the piece's box, of which those inside it are kept."""
    low, high = corners.min(0), corners.max(0)
    points = low + (np.arange(1, SAMPLES + 1)[:, None] * _STEPS % 1) * (high - low)
    inside = (points @ planes[:, :3].T + planes[:, 3] <= 0).all(1)
    return np.asarray(points[inside] if inside.any() else centroid[None])
