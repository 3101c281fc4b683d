"""Convex pieces, capsules and things for FCL: the collisions that the search for what is feasible asks."""

from __future__ import annotations

import math
from collections.abc import Iterable

import fcl  # type: ignore[import-untyped]
import numpy as np
from figures import GIVE
from scipy.spatial import ConvexHull

from iwkit_runtime.audit.film import Rigid, turned
from iwkit_runtime.physical.scene_spec import Placed, Pose
from iwkit_runtime.physical.spec import Floats

SKIN = 0.002
"""Metres that a thing may be in another."""
NEAR = 1.6
"""Metres around a place in which the scene is kept."""


class Scene:
    """The pieces of a scene near a place, for FCL."""

    def __init__(self, pieces: Iterable[Floats], around: Floats) -> None:
        self.objects = [
            solid(points)
            for points in pieces
            if (points.min(0) < around + NEAR).all() and (points.max(0) > around - NEAR).all()
        ]
        self.manager = fcl.DynamicAABBTreeCollisionManager()
        self.manager.registerObjects(self.objects)
        self.manager.setup()

    def hits(self, body: fcl.CollisionObject) -> bool:
        """Whether something overlaps any piece."""
        data = fcl.CollisionData()
        self.manager.collide(body, data, fcl.defaultCollisionCallback)
        return bool(data.result.is_collision)

    def capsule(self, start: Floats, end: Floats, radius: float) -> bool:
        """Whether a capsule overlaps any piece, the floor included."""
        if min(start[2], end[2]) - radius < -GIVE:
            return True
        return self.hits(capsule(start, end, radius))


class Thing:
    """A thing at a pose: its pieces a little smaller, to be moved about."""

    def __init__(self, placed: Placed, pose: Pose) -> None:
        frame = Rigid(turned(pose[1]), np.array(pose[0]))
        self.placed, self.frame = placed, frame
        self.corners = [p.vertices @ frame.turn.T + frame.at for link in placed.asset.links for p in link.pieces]
        self.objects = [solid(shrunk(points)) for points in self.corners]
        everything = np.concatenate(self.corners)
        self.low, self.high = everything.min(0), everything.max(0)
        self.centre = (self.low + self.high) / 2

    def hits(self, scene: Scene, shift: Floats) -> bool:
        """Whether it overlaps the scene, or the floor, when it is moved by (3,)."""
        if self.low[2] + shift[2] < -SKIN:
            return True
        for body in self.objects:
            body.setTransform(fcl.Transform(shift))
            if scene.hits(body):
                return True
        return False


def solid(points: Floats) -> fcl.CollisionObject:
    hull = ConvexHull(points)
    numbers = {int(v): n for n, v in enumerate(hull.vertices)}
    faces = []
    for simplex, equation in zip(hull.simplices, hull.equations, strict=True):
        a, b, c = (int(v) for v in simplex)
        if np.cross(points[b] - points[a], points[c] - points[a]) @ equation[:3] < 0:
            b, c = c, b
        faces += [3, numbers[a], numbers[b], numbers[c]]
    return fcl.CollisionObject(fcl.Convex(points[hull.vertices], len(hull.simplices), np.array(faces)), fcl.Transform())


def shrunk(points: Floats) -> Floats:
    """A piece that is smaller by `SKIN` all around, as far as it is thick enough."""
    low, high = points.min(0), points.max(0)
    middle, size = (low + high) / 2, high - low
    return np.asarray(middle + (points - middle) * np.maximum(1 - 2 * SKIN / np.maximum(size, 1e-6), 0.5))


def capsule(start: Floats, end: Floats, radius: float) -> fcl.CollisionObject:
    """A capsule between two points. In plain numbers: there are hundreds of thousands of them, and numpy is slow for
    so few."""
    (x0, y0, z0), (x1, y1, z1) = start.tolist(), end.tolist()
    length = math.dist((x0, y0, z0), (x1, y1, z1))
    x, y, z = ((b - a) / max(length, 1e-9) for a, b in ((x0, x1), (y0, y1), (z0, z1)))
    i, j, k = (0.0, z, -y) if abs(x) < 0.9 else (-z, 0.0, x)  # across it, as are the next three
    size = math.hypot(i, j, k)
    i, j, k = (i / size, j / size, k / size) if size else (1.0, 0.0, 0.0)
    turn = np.array([[i, y * k - z * j, x], [j, z * i - x * k, y], [k, x * j - y * i, z]])
    middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2])
    return fcl.CollisionObject(fcl.Capsule(radius, length), fcl.Transform(turn, middle))
