"""Whether a body can take or put a thing at all: an exhaustive grid of stances, postures, grips and swivel angles, with
collisions by FCL. Nothing of the planner is used: no navigation, no actions, no reach, no collision world.

A way is feasible when the wearer can walk to the stance, the body is free in the posture and halfway down to it, arm
and hand are free at the thing, also of the body itself, and arm, hand and thing are free on a straight way out of
10 cm. Limbs may be 1 cm in things and 3 cm in the body, the thing itself 2 mm. Whether the arm then gets from there to
before the body is not asked.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from clashes import Scene, Thing, capsule
from figures import GIVE, LOWER, PALM, RADII, UPPER, Figure, arms, crossed, figure, figures, natural
from situations import boxes, half, regions

from iwkit_runtime.audit.film import links
from iwkit_runtime.physical.scene_spec import Joints, Pose, Poses, SceneSpec
from iwkit_runtime.physical.spec import Floats

HEADINGS = 16
"""Bearings of stances around the thing."""
DISTANCES = (0.25, 0.35, 0.45, 0.55, 0.65, 0.78)
TURNS = tuple(math.radians(angle) for angle in (0, 30, -20, 60))
"""How far the wearer is turned from facing the thing."""
RASTER, NARROW = 0.05, 0.2
"""Of the floor that is walked, and the radius of the wearer on it, metres."""
OVERHEAD = 1.8
STRETCH = 0.06
"""Metres by which a collar brings the shoulder forward."""
OUT = 0.10
STEPS = (0.0, 0.3, 0.65, 1.0)
"""Shares of the way out that are checked."""
SPREAD = 0.094
"""Widest thing, in metres, that a hand closes around."""
FLAT = 0.04
APART = 0.02
"""Metres that a thing is put from others."""
SPOTS = 24
"""Places that are tried on one support, spread over all that are free."""
OPEN_SHARE = 0.6
"""Least share of a thing's height that must be in a container that is open at the top."""


class Grip(NamedTuple):
    """Where the wrist is (3,), where the fingers point (3,), and where the palm faces (3,)."""

    wrist: Floats
    fingers: Floats
    palm: Floats


class Witness(NamedTuple):
    """A way that was found: stance x, y, heading, the posture's lean and crouch; `arm` (4, 3) from the shoulder over
    elbow and wrist to the knuckles; and how high the thing is (its underside, metres)."""

    x: float
    y: float
    heading: float
    lean: float
    crouch: float
    arm: Floats
    height: float


@dataclass(frozen=True, eq=False)
class Room:
    """The scene at one moment."""

    spec: SceneSpec
    poses: Poses
    joints: Joints
    wearer: tuple[float, float]

    def solids(self, without: str) -> Iterator[tuple[str, Floats]]:
        """Owner and corners (n, 3) of every convex piece but the floor's and those of one thing."""
        for static in self.spec.statics:
            if static.layer != "floor":
                yield from ((static.name, piece.vertices) for piece in static.pieces)
        for placed in self.spec.placed:
            if placed.name != without:
                frames = links(placed, self.poses, self.joints)
                for link in placed.asset.links:
                    for piece in link.pieces:
                        yield placed.name, piece.vertices @ frames[link.name].turn.T + frames[link.name].at


def can_take(room: Room, name: str) -> Witness | None:
    """A way to take a thing from where it is; None when the grid has none."""
    return _search(room, name, [room.poses[name]])


def can_put(room: Room, name: str, support: str, how: str) -> Witness | None:
    """A way to put a thing on (`surface`) or in (`interior`) another one; None when the grid has none."""
    return _search(room, name, _spots(room, name, support, how))


# --- the search -------------------------------------------------------------------------------------------------------


def _search(room: Room, name: str, poses: Sequence[Pose]) -> Witness | None:
    placed = next(p for p in room.spec.placed if p.name == name)
    pieces = [points for _, points in room.solids(name)]
    floor = _Floor(room, name)
    tested: dict[tuple[float, ...], bool] = {}
    if not poses:
        return None
    around = np.mean([pose[0] for pose in poses], axis=0)
    scene = Scene(pieces, around)
    for pose in poses:
        thing = Thing(placed, pose)
        if thing.hits(scene, np.array([0, 0, 0.006])):
            continue
        grips = [grip for grip in _grips(thing) if not _hand_hits(scene, grip, np.zeros(3))]
        if not grips:
            continue
        found = _Posed(scene, thing, grips, tested).stand(floor)
        if found is not None:
            return found
    return None


class _Posed:
    """The search around a thing at one place."""

    def __init__(
        self, scene: Scene, thing: Thing, grips: Sequence[Grip], tested: dict[tuple[float, ...], bool]
    ) -> None:
        self.scene, self.thing, self.grips, self.tested = scene, thing, grips, tested
        self.wrists = np.array([g.wrist for g in grips])
        self.fingers = np.array([g.fingers for g in grips])
        self.ways: dict[tuple[int, ...], list[Floats]] = {}

    def stand(self, floor: _Floor) -> Witness | None:
        x, y, _ = self.thing.centre.tolist()
        for distance in DISTANCES:
            for n in range(HEADINGS):
                bearing = n * math.tau / HEADINGS
                at = (x - distance * math.cos(bearing), y - distance * math.sin(bearing))
                if not floor.walked(at):
                    continue
                for turn in TURNS:
                    found = self._from((*at, bearing + turn), n)
                    if found is not None:
                        return found
        return None

    def _from(self, stand: tuple[float, float, float], bearing: int) -> Witness | None:
        for posture in figures():
            shoulder = _placed(posture.shoulder[None], stand)[0]
            gaps = np.linalg.norm(self.wrists - shoulder, axis=1)
            near = np.flatnonzero(gaps < UPPER + LOWER + STRETCH).tolist()
            if not near or not self._fits(posture, stand):
                continue
            found = self._reached(posture, stand, shoulder, near, bearing)
            if found is not None:
                return Witness(*stand, posture.lean, posture.crouch, found, float(self.thing.low[2]))
        return None

    def _fits(self, posture: Figure, stand: tuple[float, float, float]) -> bool:
        """Whether trunk, legs and head are free upright, halfway down, and in the posture."""
        way = (figure(0, 0), figure(posture.lean / 2, posture.crouch / 2), posture)
        return all(self._free(one, stand) for one in way if one is not None)

    def _free(self, posture: Figure, stand: tuple[float, float, float]) -> bool:
        """Asked once for a stance and posture."""
        key = (*(round(v, 3) for v in stand), posture.lean, posture.crouch)
        if key not in self.tested:
            starts, ends = _placed(posture.starts, stand), _placed(posture.ends, stand)
            self.tested[key] = not any(
                self.scene.hits(capsule(a, b, r)) for a, b, r in zip(starts, ends, posture.radii.tolist(), strict=True)
            )
        return self.tested[key]

    def _reached(
        self, posture: Figure, stand: tuple[float, float, float], shoulder: Floats, near: Sequence[int], bearing: int
    ) -> Floats | None:
        axes = _placed(np.array([posture.ahead, posture.left]), (0.0, 0.0, stand[2]))
        spine = _placed(posture.spine, stand)
        bars = _placed(posture.starts, stand), _placed(posture.ends, stand)
        for n in near:
            wrist, fingers = self.wrists[n], self.fingers[n]
            at = _shrugged(shoulder, wrist)
            elbows = arms(at, wrist[None])
            good = natural(at, spine, axes, elbows, wrist[None], fingers[None])[0]
            for k in np.flatnonzero(good).tolist():
                if self._arm_hits(at, elbows[0, k], wrist):
                    continue
                arm = np.array([at, elbows[0, k], wrist, wrist + PALM * fingers])
                if crossed(posture, *bars, arm):
                    continue
                for way in self._ways(n, bearing):
                    if self._drawn(at, wrist, fingers, k, way, spine, axes):
                        return arm
        return None

    def _arm_hits(self, shoulder: Floats, elbow: Floats, wrist: Floats) -> bool:
        upper, lower = RADII["upper arm"] - GIVE, RADII["forearm"] - GIVE
        return self.scene.capsule(elbow, wrist, lower) or self.scene.capsule(shoulder, elbow, upper)

    def _ways(self, n: int, bearing: int) -> list[Floats]:
        """The directions in which hand and thing can go out together, for a grip and a bearing."""
        if (n, bearing) not in self.ways:
            angle = bearing * math.tau / HEADINGS
            back = np.array([-math.cos(angle), -math.sin(angle), 0.0])
            up = np.array([0, 0, 1.0])
            found = []
            for way in (up, 0.8 * back + 0.6 * up, back + 0.1 * up, back + 0.02 * up):
                move = OUT * way / np.linalg.norm(way)
                shifts = [share * move + (0, 0, 0.006) for share in STEPS]
                if not any(
                    self.thing.hits(self.scene, shift) or _hand_hits(self.scene, self.grips[n], shift)
                    for shift in shifts
                ):
                    found.append(move)
            self.ways[n, bearing] = found
        return self.ways[n, bearing]

    def _drawn(
        self,
        shoulder: Floats,
        wrist: Floats,
        fingers: Floats,
        swivel: int,
        way: Floats,
        spine: Floats,
        axes: Floats,
    ) -> bool:
        """Whether the arm follows the way out with the same or a neighbouring swivel angle."""
        wrists = np.array([wrist + share * way for share in STEPS[1:]])
        for k, point in enumerate(wrists):
            at = _shrugged(shoulder, point)
            elbows = arms(at, wrists[k : k + 1])
            good = natural(at, spine, axes, elbows, wrists[k : k + 1], fingers[None])[0]
            options = [s for s in (swivel, swivel - 1, swivel + 1) if good[s % len(good)]]
            free = next((s for s in options if not self._arm_hits(at, elbows[0, s % len(good)], point)), None)
            if free is None:
                return False
            swivel = free
        return True


class _Floor:
    """The floor that can be walked from where the wearer is."""

    def __init__(self, room: Room, without: str) -> None:
        low, high = [], []
        for _, points in room.solids(without):
            bottom, top = points[:, 2].min(), points[:, 2].max()
            if bottom < OVERHEAD and top > 0.05:
                low.append(points[:, :2].min(0) - NARROW)
                high.append(points[:, :2].max(0) + NARROW)
        self._low, self._high = np.array(low), np.array(high)
        self._seen = self._flood(room.wearer)

    def walked(self, at: tuple[float, float]) -> bool:
        """Whether a way leads to a point."""
        return self._cell(at) in self._seen

    def _cell(self, at: tuple[float, float]) -> tuple[int, int]:
        return round(at[0] / RASTER), round(at[1] / RASTER)

    def _flood(self, start: tuple[float, float]) -> set[tuple[int, int]]:
        seen, left = {self._cell(start)}, deque([self._cell(start)])
        while left:
            i, j = left.popleft()
            for cell in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                if cell not in seen and not self._blocked(cell):
                    seen.add(cell)
                    left.append(cell)
        return seen

    def _blocked(self, cell: tuple[int, int]) -> bool:
        at = np.array(cell) * RASTER
        if (at < -1).any() or (at > 12).any():
            return True
        return bool(((self._low < at).all(1) & (self._high > at).all(1)).any())


# --- grips ------------------------------------------------------------------------------------------------------------


def _grips(thing: Thing) -> list[Grip]:
    """All ways in which a hand takes a thing: from the side, from above with palm or fingers down, at its rim."""
    width, depth, high = thing.placed.asset.size
    narrow = min(width, depth)
    up = np.array([0, 0, 1.0])
    top = thing.high[2]
    middle = np.array([*thing.centre[:2], 0.0])
    found: list[Grip] = []
    around = [np.array([math.cos(a), math.sin(a), 0.0]) for a in np.arange(12) * math.tau / 12]
    if narrow <= SPREAD:
        heights = {
            max(thing.low[2] + min(high / 2, 0.05), top - high / 2),
            max(top - 0.05, thing.low[2] + min(0.05, high / 2)),
        }
        for way in around:
            left = np.cross(up, way)
            for height in sorted(heights) if high > FLAT else ():
                for dip in (0.0, 0.5):
                    fingers = _unit(way - dip * up)
                    point = middle + height * up
                    found.append(Grip(point - 0.09 * fingers - (0.033 + narrow / 2) * left, fingers, left))
            point = middle + (top - min(0.03, high / 2)) * up
            found.append(Grip(point - 0.09 * way + 0.05 * up, way, -up))
            found += _from_above(point, way)
    rim = [middle + way * _edge(thing, way) + (top - min(0.02, high / 2)) * up for way in around]
    for point, way in zip(rim, around, strict=True):
        found += _from_above(point, -way)
        for dip in (0.0, 0.6):
            found.append(Grip(point - 0.13 * _unit(-way - dip * up) + 0.02 * up, _unit(-way - dip * up), -up))
    return found


def _from_above(point: Floats, way: Floats) -> list[Grip]:
    """Fingers down to a point, or aslant in a direction."""
    up = np.array([0, 0, 1.0])
    ways = [(-up, way), (_unit(way - 1.7 * up), _unit(way * 1.7 + up)), (_unit(way - 0.8 * up), -_unit(way * 0.8 + up))]
    return [Grip(point - 0.15 * fingers - 0.02 * palm, fingers, palm) for fingers, palm in ways]


def _edge(thing: Thing, way: Floats) -> float:
    """How far a thing reaches from its middle in a direction on the plan."""
    points = np.concatenate(thing.corners)[:, :2] - thing.centre[:2]
    ahead = points[np.linalg.norm(points, axis=1) > 1e-6]
    width, depth, _ = thing.placed.asset.size
    local = thing.frame.turn.T @ way
    box = 1 / max(abs(local[0]) / (width / 2), abs(local[1]) / (depth / 2), 1e-9)
    return float(min((ahead @ way[:2]).max(), box)) - 0.01


def _hand_hits(scene: Scene, grip: Grip, shift: Floats) -> bool:
    start = grip.wrist + shift
    return scene.capsule(start, start + PALM * grip.fingers, RADII["hand"] - GIVE)


# --- places -----------------------------------------------------------------------------------------------------------


def _spots(room: Room, name: str, support: str, how: str) -> list[Pose]:
    """Free places for a thing, upright, spread over all boards."""
    things = {p.name: p for p in room.spec.placed}
    asset, holder = things[name].asset, things[support]
    frames = links(holder, room.poses, room.joints)
    others = [boxes(p, room.poses, room.joints) for p in room.spec.placed if p.kind == "object" and p.name != name]
    low, high = (np.concatenate(parts) for parts in zip(*others, strict=True)) if others else (np.zeros((0, 3)),) * 2
    found: list[Pose] = []
    for region in regions(holder.asset, how):
        open_top = how == "interior" and not any(k.joint for k in holder.asset.links)
        if asset.size[2] + 0.003 > region.size[2] / (OPEN_SHARE if open_top else 1.0):
            continue
        frame = frames[region.link]
        base = math.atan2(frame.turn[1, 0], frame.turn[0, 0])
        for turn in (0.0, math.pi / 2, math.pi / 4, -math.pi / 4):
            wide = half(asset, turn)
            room_ = np.array(region.size[:2]) / 2 - wide
            if (room_ < 0).any():
                continue
            ticks = [np.linspace(-r, r, max(2, math.ceil(2 * r / 0.06) + 1)) for r in room_]
            for dy in ticks[1]:
                for dx in ticks[0]:
                    local = (
                        region.centre[0] + dx,
                        region.centre[1] + dy,
                        region.centre[2] - region.size[2] / 2 + 0.003,
                    )
                    at = frame.turn @ local + frame.at
                    reach = half(asset, base + turn) + APART
                    box = at - np.array([*reach, 0.003]), at + np.array([*reach, asset.size[2]])
                    if not ((low < box[1]) & (high > box[0])).all(1).any():
                        yaw = base + turn
                        found.append((tuple(at.tolist()), (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))))
    order = np.random.default_rng(0).permutation(len(found))[:SPOTS]
    return [found[n] for n in order]


# --- shapes -----------------------------------------------------------------------------------------------------------


def _placed(points: Floats, stand: tuple[float, float, float]) -> Floats:
    x, y, heading = stand
    c, s = math.cos(heading), math.sin(heading)
    return np.asarray(points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + (x, y, 0))


def _shrugged(shoulder: Floats, wrist: Floats) -> Floats:
    """The shoulder, brought nearer to the wrist by as much as is missing."""
    way = wrist - shoulder
    far = float(np.linalg.norm(way))
    missing = min(max(far - (UPPER + LOWER - 0.006), 0.0), STRETCH)
    return np.asarray(shoulder + way / max(far, 1e-9) * missing)


def _unit(way: Floats) -> Floats:
    return np.asarray(way / np.linalg.norm(way))
