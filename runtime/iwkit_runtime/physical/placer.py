"""Finding free places for things on, in and beside furniture, one after the other (PHY-9)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from iwkit.compile.things import Thing
from iwkit.errors import UsageError
from iwkit.floorplan import SPAN, stance
from iwkit.world.layout import Layout
from iwkit_runtime.physical.footprints import extents, half_size, is_round, meet
from iwkit_runtime.physical.kinematics import Frame, link_frames, root_frame
from iwkit_runtime.physical.scene_spec import Placed
from iwkit_runtime.physical.spec import Asset, Floats, Region, Vector
from iwkit_runtime.physical.tolerances import limit

APART = 0.02
"""Free space around every object at the start, metres (PHY-9)."""
ROOMY = 0.06
"""Free space that is tried first where a pack names no spot: a hand fits between."""
SNUG = 0.002
"""Free space around what fills a container or a plate so well that there isn't more."""
RIM = 0.03
"""An interior that ends no further below the top of its container may be open there, metres."""
FRONT = 0.2
"""By this part of its depth, things in an interior stand before its middle, where they are seen and reached."""
ABOVE = 0.004
"""How far above its support a thing begins: enough not to touch, too little to bounce."""
RASTER = 0.025
"""Between the places tried on a support."""
AT_ONCE = 64
"""So many places are looked at together: the first ones are mostly free."""


@dataclass(frozen=True)
class _Bay:
    """A region of something placed, in the world: its frame, and the box within which things may stand."""

    region: Region
    frame: Frame

    @property
    def bottom(self) -> float:
        return self.region.centre[2] - self.region.size[2] / 2


def regions_for(asset: Asset, kind: str) -> list[Region]:
    """The regions in which a thing is `on` (surface) or `inside` (interior) an asset, the handiest first.

    The boards within a container aren't among its surfaces: what stands there is inside it.
    """
    interiors = [region for region in asset.regions if region.kind == "interior"]
    if kind == "interior":
        return interiors
    return [r for r in asset.regions if r.kind == "surface" and not any(_within(r, around) for around in interiors)]


def headroom(asset: Asset, region: Region) -> float:
    """How high a thing may be, in metres, to be in or on a region: out of what is open at the top it may stick, as long
    as enough of it is inside to count as such."""
    open_top = region.kind == "interior" and not any(link.joint for link in asset.links)
    above = region.centre[2] + region.size[2] / 2
    return region.size[2] / (limit("volume") if open_top and above > asset.size[2] - RIM else 1.0)


def _within(region: Region, around: Region) -> bool:
    apart = np.abs(np.subtract(region.centre, around.centre))
    return region.link == around.link and bool((apart < np.array(around.size) / 2).all())


def joints_at(asset: Asset, *, is_open: bool) -> dict[str, float]:
    """The value of each joint, by its link, of a thing that is open or closed."""
    return {k.name: k.joint.high if is_open else k.joint.low for k in asset.links if k.joint}


class Placer:
    """Puts one thing after another where nothing is yet."""

    def __init__(self, plan: Layout) -> None:
        self.plan = plan
        self.placed: dict[str, Placed] = {}
        self._low = self._high = np.empty((0, 3))
        self._owner: list[str] = []

    def add(self, placed: Placed) -> None:
        """Something that has its place."""
        self.placed[placed.name] = placed
        self.reserve(placed)

    def reserve(self, placed: Placed) -> None:
        """Nothing else comes to where this is."""
        low, high = extents(placed)
        self._owner += [placed.name] * len(low)
        self._low, self._high = np.vstack([self._low, low]), np.vstack([self._high, high])

    def put(self, thing: Thing, asset: Asset) -> None:
        """Place an object as its pack says."""
        if thing.at is None or thing.place is None:
            raise UsageError(f"{thing.name}: the pack doesn't say where it is")
        position, yaw = self.find(thing, asset)
        self.add(Placed(thing.name, "object", asset, position, yaw, joints_at(asset, is_open=thing.open)))

    def find(self, thing: Thing, asset: Asset, *, handiest: bool = True) -> tuple[Vector, float]:
        """A free place for a thing: of several boards the handiest, or else the least handy."""
        if thing.place == "beside":
            return self._beside(thing, asset)
        return self._in_bay(thing, asset, handiest=handiest)

    def _in_bay(self, thing: Thing, asset: Asset, *, handiest: bool) -> tuple[Vector, float]:
        kind = "surface" if thing.place == "on" else "interior"
        support = self.placed[thing.at or ""]
        frames = link_frames(support.asset, root_frame(support), support.joints)
        bays = [_Bay(region, frames[region.link]) for region in regions_for(support.asset, kind)]
        if not handiest:
            bays.reverse()
        if not bays:
            raise UsageError(f"{thing.name}: {thing.at} has no {kind} to be {thing.place}")
        facing = (support.yaw + self._approach(support.name)) % (2 * math.pi)
        high_enough = [bay for bay in bays if headroom(support.asset, bay.region) >= asset.size[2] + ABOVE]
        gaps = (APART,) if thing.spot else (ROOMY, APART)
        if kind == "interior" or support.kind == "object":
            gaps = (*gaps, SNUG)
        for apart, turned, bay in product(gaps, (0.0, math.pi / 2), high_enough):
            spots = self._spots(thing, asset, bay, facing + turned - support.yaw)
            if apart == ROOMY and bay.region.kind == "interior":
                front_row = bay.region.centre[1] - FRONT * bay.region.size[1] + RASTER
                spots = spots[spots[:, 1] < front_row]
            positions = bay.frame.point(np.column_stack([spots, np.full(len(spots), bay.bottom + ABOVE)]))
            within = support.name if apart == SNUG else None
            if (position := self._first_free(positions, asset, facing + turned, apart, within)) is not None:
                at = _vector(position)
                return at, self._to_wearer(support.name, at) if is_round(asset) else facing + turned
        wide, deep, high = asset.size
        raise UsageError(
            f"{thing.name} ({wide:g} x {deep:g} x {high:g} m) finds no free place {thing.place} {thing.at}: "
            "give it another spot or fewer things around it"
        )

    def _spots(self, thing: Thing, asset: Asset, bay: _Bay, turn: float) -> Floats:
        """Places (n, 2) in the region's frame for the middle of a thing turned against it: the spot asked for, then
        others."""
        size = np.array(bay.region.size[:2])
        room = size / 2 - half_size(asset, turn)
        if (room < -1e-9).any():
            return np.empty((0, 2))
        middle = np.array(bay.region.centre[:2])
        if thing.spot is not None:
            return _around(self._spot(thing, bay), middle, room)
        if bay.region.kind == "interior":
            return _around(middle - [0, FRONT * size[1]], middle, room, depth=4)
        return _around(middle, middle, room)

    def _spot(self, thing: Thing, bay: _Bay) -> Floats:
        """The point that u:v names, in the frame of the region (B.3.1): as one faces the side from which it is used."""
        u, v = thing.spot or (0.0, 0.5)
        turn = self._approach(thing.at or "")
        across, along = SPAN / 2 * u, SPAN * (v - 0.5)
        # Before the front one looks along +y; each quarter turn of the approach turns that anticlockwise.
        c, s = round(math.cos(turn)), round(math.sin(turn))
        offset = np.array([c * across - s * along, s * across + c * along])
        return np.asarray(bay.region.centre[:2] + offset * bay.region.size[:2])

    def _approach(self, support: str) -> float:
        """By how much the way one looks at a fixture in use is turned from its +y."""
        fixture = self.plan.fixtures.get(support)
        if fixture is None:
            return 0.0
        return math.radians(stance(fixture).heading - (fixture.facing + 180))

    def _to_wearer(self, support: str, at: Vector) -> float:
        """The yaw with which a thing's front looks to where one stands to use what it is on."""
        while support not in self.plan.fixtures:
            support = self.plan.things[support].at or ""
        x, y, _ = stance(self.plan.fixtures[support])
        return (math.atan2(y - at[1], x - at[0]) + math.pi / 2) % (2 * math.pi)

    def _beside(self, thing: Thing, asset: Asset) -> tuple[Vector, float]:
        """On the floor next to where one stands to use a fixture, as in the symbolic world, or near there."""
        fixture = self.plan.fixtures.get(thing.at or "")
        if fixture is None:
            raise UsageError(f"{thing.name}: beside {thing.at} is no place; give a fixture")
        yaw = self.placed[thing.at or ""].yaw
        x, y = self.plan.beside(fixture, self.plan.boxes)
        reach = np.arange(-20, 21) * RASTER
        spots = sorted(
            ((x + dx, y + dy) for dx in reach for dy in reach), key=lambda p: (round(math.dist(p, (x, y)), 6), p)
        )
        box = self.plan.scene.rooms[fixture.room].box
        positions = np.array(
            [(*p, ABOVE) for p in spots if box[0] + 0.3 < p[0] < box[2] - 0.3 and box[1] + 0.3 < p[1] < box[3] - 0.3]
        ).reshape(-1, 3)
        if (position := self._first_free(positions, asset, yaw, APART)) is not None:
            return _vector(position), yaw
        raise UsageError(f"{thing.name} finds no free floor beside {thing.at}: put it somewhere else")

    def _first_free(
        self, positions: Floats, asset: Asset, yaw: float, apart: float, within: str | None = None
    ) -> Floats | None:
        """The first of the positions (n, 3) at which nothing but `within` is. Its region is free: boxes around slanted
        rims say too little."""
        half = half_size(asset, yaw) + apart
        below, above = np.array([*half, 0]), np.array([*half, asset.size[2] + ABOVE])
        if not len(positions):
            return None
        near = meet(self._low, self._high, positions.min(0) - below, positions.max(0) + above)
        if within is not None:
            near &= np.array([owner != within for owner in self._owner], dtype=bool)
        lowest, highest = self._low[near], self._high[near]
        for start in range(0, len(positions), AT_ONCE):
            some = positions[start : start + AT_ONCE]
            low, high = (some - below)[:, None], (some + above)[:, None]
            free = ~meet(lowest, highest, low, high).any(1)
            if free.any():
                return np.asarray(some[int(free.argmax())])
        return None


def _around(point: Floats, middle: Floats, room: Floats, depth: float = 1) -> Floats:
    """The point, moved to within `room` of the middle, then a raster around it by distance, in depth counted `depth`
    times: (n, 2)."""
    start = np.clip(point, middle - room, middle + room)
    steps = np.ceil(2 * room / RASTER).astype(int) + 1
    across, along = (np.linspace(middle[k] - room[k], middle[k] + room[k], steps[k]) for k in (0, 1))
    far = np.round(np.hypot((across - start[0])[:, None], depth * (along - start[1])), 6)
    grid = np.empty((*far.shape, 2))
    grid[..., 0], grid[..., 1] = across[:, None], along
    return np.vstack([start, grid.reshape(-1, 2)[np.argsort(far, axis=None, kind="stable")]])


def _vector(values: Iterable[float]) -> Vector:
    x, y, z = (round(float(value), 6) for value in values)
    return x, y, z
