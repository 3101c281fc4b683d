"""What the wearer sees, by rays from the eye on the collision world (design: visibility): to fixed points on a thing,
and through a fixed raster of the picture, since a part of something big may lie between its points.

It steers and scores, so it must not depend on a graphics driver. Everything that collides hides: walls, door leaves,
furniture, other things; glass too, since pieces have no material. The wearer's own body doesn't hide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iwkit.errors import UsageError
from iwkit_runtime.assets.mesh import corners, rowwise_cross
from iwkit_runtime.engines.collision import CollisionWorld
from iwkit_runtime.physical.hulls import shapes
from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.scene_spec import Placed
from iwkit_runtime.physical.spec import Asset, Floats
from iwkit_runtime.physical.tolerances import limit

RAYS = 24
"""Rays to each thing."""
RASTER = (48, 36)
"""Rays across and up the picture; each stands for 178 of its 640 x 480 pixels."""
PICTURE = (640, 480)
REACHED = 1e-3
"""A ray reaches a point if it comes within this share of its length: contact surfaces coincide."""

Why = Literal["in view", "outside the field of view", "too far to make out", "hidden"]

_CLOSE = 1e-6
"""Metres before the eye from which on something can be in the picture."""
_EDGES = np.array([(a, a | bit) for bit in (1, 2, 4) for a in range(8) if not a & bit])
"""Of a box, as pairs of corners; the corners count up in binary."""
_GOLDEN = np.array([0.7548776662466927, 0.5698402909980532])
"""Steps of the two-dimensional sequence that fills a square most evenly (Roberts' R2)."""


class Look(NamedTuple):
    """What came of looking for a thing: of `rays` in the field of view, `reached` got there. `by` hides most of it."""

    why: Why
    rays: int
    reached: int
    by: str | None = None

    @property
    def visible(self) -> bool:
        return self.why == "in view"


class _Spots(NamedTuple):
    """The points (`RAYS`, 3) of a thing and the corners (links, 8, 3) of boxes around its links, for these frames."""

    name: str
    frames: Mapping[str, Frame]
    targets: Floats
    boxes: Floats


class Sight:
    """Answers for the objects and fixtures of a collision world, where that was last told they are."""

    def __init__(self, world: CollisionWorld) -> None:
        self._world = world
        self._points: dict[str, list[tuple[str, Floats]]] = {}
        self._boxes: dict[str, list[tuple[str, Floats]]] = {}
        self._kept: dict[str, _Spots] = {}
        solid = [p for p in world.spec.placed if p.kind != "door" and any(link.pieces for link in p.asset.links)]
        shapes([(p.name, link.pieces) for p in solid for link in p.asset.links if link.pieces])  # quicker all at once
        for placed in solid:
            self._points[placed.name] = surface_points(placed)
            self._boxes[placed.name] = _asset_boxes(placed.asset)

    def visible(self, camera: ArrayLike, names: Iterable[str] | None = None) -> tuple[str, ...]:
        """The names, sorted, of what a camera (4, 4) sees; `names` and errors as for `look`."""
        chosen = None if names is None else tuple(names)
        question = "visible", np.asarray(camera, dtype=np.float64).tobytes(), chosen
        return self._world.once(question, lambda: self._visible(camera, chosen))

    def _visible(self, camera: ArrayLike, names: Iterable[str] | None) -> tuple[str, ...]:
        return tuple(sorted(name for name, look in self.look(camera, names).items() if look.visible))

    def look(self, camera: ArrayLike, names: Iterable[str] | None = None) -> dict[str, Look]:
        """Look for things (all of them by default) with a camera (4, 4): x right, y up, looking along -z.

        Raises:
            UsageError: no such thing, or no camera frame.
        """
        frame = np.asarray(camera, dtype=np.float64)
        if frame.shape != (4, 4) or not np.isfinite(frame).all():
            raise UsageError("a camera is a finite frame (4, 4), x to the right, y up, looking along -z")
        wanted = list(self._points if names is None else dict.fromkeys(names))
        spots = [self._spots(name) for name in wanted]
        targets = np.array([each.targets for each in spots]).reshape(-1, RAYS, 3)
        seen_by_field = _in_field(targets, frame)
        owners, along = self._world.rays(frame[:3, 3], targets[seen_by_field])
        hits = iter(zip(owners, along.tolist(), strict=True))
        looks = {}
        for name, points, inside in zip(wanted, targets, seen_by_field, strict=True):
            met = [next(hits) for _ in range(int(inside.sum()))]
            looks[name] = _judge(name, met, points[inside], frame)
        self._fill(looks, frame, [each.boxes for each in spots if not looks[each.name].visible])
        return looks

    def _fill(self, looks: dict[str, Look], camera: Floats, boxes: Sequence[Floats]) -> None:
        """Of what isn't in view yet, and within those boxes, that which fills enough of the picture is."""
        if not boxes:
            return
        owners, _ = self._world.rays(camera[:3, 3], _raster(camera)[_covered(np.concatenate(boxes), camera)])
        for name, cells in Counter(owners).items():
            if name in looks and not looks[name].visible and cells >= limit("seen_cells"):
                looks[name] = looks[name]._replace(why="in view", by=None)

    def _spots(self, name: str) -> _Spots:
        """Where the points of a thing are, and the boxes around its links."""
        if name not in self._points:
            raise UsageError(f"'{name}' can't be looked for: it is no object or fixture of the scene with a shape")
        frames, kept = self._world.frames(name), self._kept.get(name)
        if kept is None or kept.frames is not frames:
            targets = np.concatenate([frames[link].point(points) for link, points in self._points[name]])
            boxes = np.stack([frames[link].point(box) for link, box in self._boxes[name]])
            kept = self._kept[name] = _Spots(name, frames, targets, boxes)
        return kept


def surface_points(placed: Placed) -> list[tuple[str, Floats]]:
    """`RAYS` points spread over the faces of a thing's pieces by area, for each link in its frame; always the same.

    Raises:
        UsageError: a piece is no solid.
    """
    return _asset_points(placed.asset)


@lru_cache(maxsize=4096)
def _asset_points(asset: Asset) -> list[tuple[str, Floats]]:
    solid = [link for link in asset.links if link.pieces]
    faces = [shape.faces for shape in shapes([(asset.category, link.pieces) for link in solid])]
    links = [link.name for link, some in zip(solid, faces, strict=True) for _ in range(len(some))]
    triangles = np.concatenate(faces)
    edges = triangles[:, 1:] - triangles[:, :1]
    area = np.cumsum(np.linalg.norm(rowwise_cross(edges[:, 0], edges[:, 1]), axis=1))
    share = (np.arange(RAYS) + 0.5) / RAYS
    chosen = np.searchsorted(area, share * area[-1])
    u, v = ((np.arange(1, RAYS + 1)[:, None] * _GOLDEN) % 1).T
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    points = triangles[chosen, 0] + u[:, None] * edges[chosen, 0] + v[:, None] * edges[chosen, 1]
    named = [links[n] for n in chosen.tolist()]
    return [(link, points[[n == link for n in named]]) for link in dict.fromkeys(named)]


@lru_cache(maxsize=4096)
def _asset_boxes(asset: Asset) -> list[tuple[str, Floats]]:
    """The corners (8, 3) of an upright box around each link that has pieces, in the link's frame."""
    found = []
    for link in asset.links:
        if link.pieces:
            points = np.concatenate([piece.vertices for piece in link.pieces])
            found.append((link.name, corners(points.min(0), points.max(0))))
    return found


def _covered(boxes: Floats, camera: Floats) -> NDArray[np.bool_]:
    """Which cells of the raster a camera may see something in that lies within boxes (n, 8, 3)."""
    ends = (boxes - camera[:3, 3]) @ camera[:3, :3]
    first, last = ends[:, _EDGES[:, 0]], ends[:, _EDGES[:, 1]]
    ahead, beyond = -first[..., 2:], -last[..., 2:]
    cut = (ahead > _CLOSE) != (beyond > _CLOSE)  # where an edge goes through the plane of the eye it ends
    share = (_CLOSE - ahead) / np.where(cut, beyond - ahead, 1.0)
    points = np.concatenate([ends, first + share * (last - first)], 1)
    counts = np.concatenate([-ends[..., 2:] > _CLOSE, cut], 1)
    plane = points[..., :2] / np.where(counts, np.maximum(-points[..., 2:], _CLOSE), 1.0)
    low = np.where(counts, plane, np.inf).min(1) - REACHED
    high = np.where(counts, plane, -np.inf).max(1) + REACHED
    across, up = _cells()
    column = (low[:, :1] <= across) & (across <= high[:, :1])
    row = (low[:, 1:] <= up) & (up <= high[:, 1:])
    return np.asarray((row[:, :, None] & column[:, None]).any(0).ravel())


def in_picture(camera: Floats, point: ArrayLike) -> bool:
    """Whether a point (3,) lies in the field of view of a camera (4, 4), hidden or not."""
    return bool(_in_field(np.asarray(point, dtype=np.float64), camera))


def _in_field(points: Floats, camera: Floats) -> NDArray[np.bool_]:
    """Which points (..., 3) a camera has in its picture."""
    x, y, z = np.moveaxis((points - camera[:3, 3]) @ camera[:3, :3], -1, 0)
    across, up = (np.tan(np.radians(limit(name)) / 2) for name in ("field_across", "field_up"))
    return np.asarray((z < 0) & (np.abs(x) <= -z * across) & (np.abs(y) <= -z * up))


@cache
def _cells() -> tuple[Floats, Floats]:
    """The middles of the cells of a picture, across and up, as slopes from straight ahead."""
    up = np.tan(np.radians(limit("field_up")) / 2)
    columns, rows = ((2 * np.arange(n) + 1) / n - 1 for n in RASTER)
    return columns * up * PICTURE[0] / PICTURE[1], rows * up


def _raster(camera: Floats) -> Floats:
    """Points (n, 3), one behind the middle of each cell of a camera's picture."""
    x, y = np.meshgrid(*_cells())
    return np.asarray(camera[:3, 3] + np.stack([x, y, -np.ones_like(x)], -1).reshape(-1, 3) @ camera[:3, :3].T)


def _span(points: Floats, eye: Floats) -> float:
    """The angle in degrees that points (n, 3) span for the eye, from one end to the other."""
    ways = points - eye
    ways /= np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-9)
    return float(np.degrees(np.arccos(np.clip((ways @ ways.T).min(), -1, 1))))


def _area(points: Floats, camera: Floats) -> float:
    """About how many pixels a thing covers whose points (n, 3) lie in the field of view: the rectangle in the picture
    over which as many points would be spread as far."""
    if len(points) < 3:
        return 0.0
    x, y, z = ((points - camera[:3, 3]) @ camera[:3, :3]).T
    focal = PICTURE[1] / 2 / np.tan(np.radians(limit("field_up")) / 2)
    spread = np.cov(np.stack([x, y]) / -z * focal, bias=True)
    return 12 * float(np.sqrt(max(0.0, np.linalg.det(spread))))


def _judge(name: str, met: Sequence[tuple[str | None, float]], points: Floats, camera: Floats) -> Look:
    """The verdict on a thing from what each ray to its points within the field of view met first, and where."""
    blockers = [owner for owner, along in met if owner != name and along < 1 - REACHED]
    reached = len(met) - len(blockers)
    if not met:
        return Look("outside the field of view", 0, 0)
    if _span(points, camera[:3, 3]) < limit("seen_angle"):
        return Look("too far to make out", len(met), reached)
    if reached >= max(limit("seen_rays"), limit("seen_share") * len(met)):
        if _area(points, camera) * reached / len(met) < limit("seen_area"):
            return Look("too far to make out", len(met), reached)
        return Look("in view", len(met), reached)
    if not blockers:
        return Look("outside the field of view", len(met), reached)
    named = sorted({owner for owner in blockers if owner}, key=lambda owner: (-blockers.count(owner), owner))
    return Look("hidden", len(met), reached, named[0])
