"""A camera that follows the wearer from outside, as into a doll's house: whatever stands between is avoided.

Walls are seen from their own room alone, and ceilings from below, so that the walls of the room in which the wearer is
hide nothing from a camera beyond them. Other rooms whose walls would hide any part of the wearer are drawn without
walls; doors before it are not drawn, nor is what would hide most of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from iwkit.floorplan import room_at
from iwkit.spec.scene import Scene
from iwkit_runtime.body.model import Body
from iwkit_runtime.body.pose import INDEX
from iwkit_runtime.engines.collision import CollisionWorld
from iwkit_runtime.physical.layout import decor_name
from iwkit_runtime.physical.scene_spec import SceneSpec
from iwkit_runtime.physical.shell import CEILING, CUT, hangs
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.render.renderer import look_from
from iwkit_runtime.render.telling import Moment

FIELD_OF_VIEW = 40.0
"""Vertical, in degrees."""
SEEN = {
    "head": 2.0,
    "neck": 2.0,
    "spine3": 1.0,
    "pelvis": 1.0,
    "left_shoulder": 0.5,
    "right_shoulder": 0.5,
    "left_elbow": 1.0,
    "right_elbow": 1.0,
    "left_wrist": 2.0,
    "right_wrist": 2.0,
    "right_index1": 1.0,
    "left_knee": 0.5,
    "right_knee": 0.5,
    "left_ankle": 0.5,
    "right_ankle": 0.5,
}
"""The joints that should be in view, and how much it matters."""
TRUNK = 4
"""The first of them are those of head and trunk."""
MOST = 0.6
"""What hides more than this part of them is not drawn."""
LINGER = 6
"""Nor is it in this many frames before and after."""
REACHED = 0.97
"""A line of sight that comes so far has arrived."""
THING = 3.0
"""How much it matters that what is handled is seen."""
PREFERRED = 0.15
"""How much better the best side is than the worst one, as twice a part of all that should be seen."""
CROWN = np.array([0.0, 0.0, 0.2])
"""From the head joint to the crown, which should be in the picture."""
NEAR = 1.8
"""A thing is in the picture with the wearer when it is no farther from it than this, metres."""
AROUND = 1.12
"""The camera is this much farther away than what just fits."""
CLOSEST = 2.6
"""Distance of the camera at least, metres."""
AZIMUTHS, ELEVATIONS = 16, (28.0, 42.0, 58.0)
"""Directions from which the camera may look: around, and degrees above the horizon."""
ASIDE = math.radians(50)
"""The best view is from before the wearer and this much to a side: there the body hides least of what the hands do."""
STEEP = 0.004
"""What a degree above the lowest elevation costs, as a part of all that should be seen."""
TURN = 0.35
"""What it costs to swing by a radian."""
CHUNK = 24
"""The camera is planned for so many frames at a time."""
SMOOTH = 8.0
"""Its way is smoothed over about so many frames."""


class Shot(NamedTuple):
    """A camera (4, 4), and the names of what isn't drawn."""

    camera: Floats
    hidden: frozenset[str]


@dataclass(frozen=True, eq=False)
class _Track:
    """What should be seen in each of n frames: the points (n, k, 3), nan where there is none, and in which room."""

    points: Floats
    headings: Floats
    rooms: tuple[str | None, ...]

    @property
    def focus(self) -> Floats:
        """The middle (n, 3) of the points."""
        return np.asarray((np.nanmin(self.points, 1) + np.nanmax(self.points, 1)) / 2)

    @property
    def radius(self) -> Floats:
        """How far (n,) the points reach from it."""
        return np.asarray(np.nanmax(np.linalg.norm(self.points - self.focus[:, None], axis=2), axis=1))


def follow(scene: Scene, spec: SceneSpec, body: Body, moments: Sequence[Moment]) -> list[Shot]:
    """A shot for each moment. `spec` is the furnished scene; the camera stands still while nothing moves."""
    moving = [number for number, moment in enumerate(moments) if moment.moving] or list(range(len(moments)))[:1]
    if not moving:
        return []
    track = _track(scene, spec, body, [moments[number] for number in moving])
    view = _Plan(spec, [moments[number] for number in moving], track)
    azimuth, elevation = (gaussian_filter1d(values, SMOOTH, mode="nearest") for values in view.directions())
    focus = gaussian_filter1d(track.focus, SMOOTH, axis=0, mode="nearest")
    # Where the focus lags behind, everything must fit all the same.
    lag = np.linalg.norm(track.focus - focus, axis=1)
    distance = gaussian_filter1d(_distance(track.radius + lag), SMOOTH, mode="nearest")
    eyes = [
        focus[number] + distance[number] * _direction(azimuth[number], elevation[number])
        for number in range(len(moving))
    ]
    walls = _Walls(opened(spec))
    blockers = [
        view.blockers(number, eye) | walls.between(eye, track.points[number, : len(SEEN) + 1]) | _backs(scene, eye)
        for number, eye in enumerate(eyes)
    ]
    shots = []
    for number, eye in enumerate(eyes):
        # What vanishes doesn't come back at once: things that flicker are hard to look at.
        away = frozenset[str]().union(*blockers[max(0, number - LINGER) : number + LINGER + 1])
        shots.append(Shot(look_from(eye, focus[number]), away))
    place = np.searchsorted(moving, range(len(moments)), side="right") - 1
    return [shots[max(0, n)] for n in place]


def _backs(scene: Scene, eye: Floats) -> frozenset[str]:
    """What hangs on a wall and is seen from behind, through the wall."""
    away = set()
    for name, decor in scene.decor.items():
        ahead = math.radians(decor.facing)
        if not (decor.on or decor.inside) and decor.base > 0:
            x, y = eye[:2] - decor.at
            if x * math.cos(ahead) + y * math.sin(ahead) < 0:
                away.add(decor_name(name))
    return frozenset(away)


def opened(spec: SceneSpec) -> SceneSpec:
    """The scene as it is drawn from outside: without ceilings, what hangs from them, and the tops of walls."""
    away = {CEILING.name, CUT.name}
    statics = (
        replace(static, visuals=tuple(visual for visual in static.visuals if visual.material.name not in away))
        for static in spec.statics
        if not hangs(static)
    )
    return replace(spec, statics=tuple(statics))


def _track(scene: Scene, spec: SceneSpec, body: Body, moments: Sequence[Moment]) -> _Track:
    heights = {placed.name: min(placed.asset.size[2] / 2, 1.0) for placed in spec.placed}
    indices = [INDEX[name] for name in SEEN]
    most = max(len(moment.about) for moment in moments)
    points = np.full((len(moments), len(SEEN) + 1 + most, 3), np.nan)
    for row, moment in zip(points, moments, strict=True):
        row[: len(SEEN)] = body.forward(*moment.body)[indices, :3, 3]
        row[len(SEEN)] = row[0] + CROWN
        for number, name in enumerate(moment.about, start=len(SEEN) + 1):
            x, y, z = moment.poses[name][0]
            if math.dist((x, y), moment.stand[:2]) < NEAR:
                row[number] = x, y, z + heights[name]
    rooms = tuple(room_at(scene, moment.stand[:2]) for moment in moments)
    return _Track(points, np.array([moment.stand.heading for moment in moments]), rooms)


class _Plan:
    """From which direction to look at each part of the track: much is seen from it, and the camera swings little."""

    def __init__(self, spec: SceneSpec, moments: Sequence[Moment], track: _Track) -> None:
        self._moments, self._track = moments, track
        # A building that is seen through is none: what stands in it decides.
        self._kinds = {placed.name: placed.kind for placed in spec.placed}
        self._world = CollisionWorld(SceneSpec((), spec.placed))
        around = np.arange(AZIMUTHS) * 2 * math.pi / AZIMUTHS
        self._azimuths = np.tile(around, len(ELEVATIONS))
        self._elevations = np.repeat(np.radians(ELEVATIONS), AZIMUTHS)

    def directions(self) -> tuple[Floats, Floats]:
        """Azimuth and elevation (n,) of every frame, radians."""
        chunks = list(_chunks(self._track.rooms))
        worth = np.array([self._worth(first, last) for first, last in chunks])
        turn = np.abs(np.angle(np.exp(1j * (self._azimuths[:, None] - self._azimuths))))
        turn = TURN * (turn + np.abs(self._elevations[:, None] - self._elevations))
        best, came = worth[0], []
        for row in worth[1:]:
            total = best - turn  # to each direction from each
            came.append(total.argmax(1))
            best = total.max(1) + row
        chosen = [int(best.argmax())]
        for step in reversed(came):
            chosen.append(int(step[chosen[-1]]))
        chosen.reverse()
        lengths = [last - first for first, last in chunks]
        azimuths = np.unwrap(self._azimuths[chosen])
        return np.repeat(azimuths, lengths), np.repeat(self._elevations[chosen], lengths)

    def _worth(self, first: int, last: int) -> Floats:
        """How much of what should be seen is seen from each direction, as a part (m,) of all, less what is awkward."""
        samples = sorted({(2 * first + last) // 3, (first + 2 * last) // 3, last - 1})
        seen = np.mean([self._seen(number) for number in samples], axis=0)
        aside = np.abs(np.angle(np.exp(1j * (self._azimuths - self._track.headings[last - 1]))))
        steep = np.degrees(self._elevations) - ELEVATIONS[0]
        return np.asarray(seen + PREFERRED * np.cos(aside - ASIDE) - STEEP * steep)

    def blockers(self, number: int, eye: Floats) -> frozenset[str]:
        """What is better not drawn: doors before the trunk, and what hides most of the wearer."""
        moment, points = self._moments[number], self._track.points[number, : len(SEEN)]
        self._world.update(moment.poses, moment.joints)
        names, along = self._world.rays(eye, points)
        hiding = [name if far < REACHED else None for name, far in zip(names, along, strict=True)]
        found = set()
        for name in {name for name in hiding if name is not None} - set(moment.about):
            most = hiding.count(name) > MOST * len(hiding)
            if most or (self._kinds[name] == "door" and name in hiding[:TRUNK]):
                found.add(name)
        return frozenset(found)

    def _seen(self, number: int) -> Floats:
        moment, points = self._moments[number], self._track.points[number]
        self._world.update(moment.poses, moment.joints)
        there = ~np.isnan(points[:, 0])
        things = len(points) - len(SEEN) - 1
        weights = np.array([*SEEN.values(), 0.0, *[THING] * things])[there]
        owners = [*[None] * (len(SEEN) + 1), *moment.about, *[None] * (things - len(moment.about))]
        wanted = [owner for owner, is_there in zip(owners, there, strict=True) if is_there]
        focus = self._track.focus[number]
        distance = float(_distance(self._track.radius[number : number + 1])[0])
        found = []
        for azimuth, elevation in zip(self._azimuths, self._elevations, strict=True):
            names, along = self._world.rays(focus + distance * _direction(azimuth, elevation), points[there])
            clear = [far > REACHED or name == owner for name, far, owner in zip(names, along, wanted, strict=True)]
            found.append(weights @ clear / weights.sum())
        return np.array(found)


def _chunks(rooms: Sequence[str | None]) -> Iterable[tuple[int, int]]:
    """The track in pieces, each in one room: first frame, and the one after its last."""
    first = 0
    for number in range(1, len(rooms) + 1):
        if number == len(rooms) or rooms[number] != rooms[first] or number - first == CHUNK:
            yield first, number
            first = number


def _distance(radius: Floats) -> Floats:
    return np.maximum(CLOSEST, AROUND * radius / math.sin(math.radians(FIELD_OF_VIEW) / 2))


def _direction(azimuth: float, elevation: float) -> Floats:
    """From the focus to the camera."""
    level = math.cos(elevation)
    return np.array([math.cos(azimuth) * level, math.sin(azimuth) * level, math.sin(elevation)])


class _Walls:
    """The faces of the walls, each seen from one side."""

    def __init__(self, spec: SceneSpec) -> None:
        visuals = [
            (static.name, visual) for static in spec.statics if static.layer == "wall" for visual in static.visuals
        ]
        corners = [visual.vertices[visual.faces] for _, visual in visuals]
        self._names = np.repeat([name for name, _ in visuals], [len(part) for part in corners])
        triangles = np.concatenate([*corners, np.zeros((0, 3, 3))])
        self._corner = triangles[:, 0]
        self._sides = triangles[:, 1] - self._corner, triangles[:, 2] - self._corner
        self._inward = np.cross(self._sides[1], self._sides[0])

    def between(self, eye: Floats, points: Floats) -> frozenset[str]:
        """Whose faces hide any of the points (n, 3) from the eye (3,)."""
        # Lines eye + t way against triangles, from their front alone (Moeller and Trumbore), all with all.
        one, other = self._sides
        ways, start = points - eye, eye - self._corner
        along = np.cross(start, one)
        facing = ways @ self._inward.T
        with np.errstate(divide="ignore", invalid="ignore"):
            u = ways @ np.cross(other, start).T / facing
            v = ways @ along.T / facing
            t = (other * along).sum(1) / facing
            hit = (facing > 0) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0) & (t < 1)
        return frozenset(self._names[hit.any(0)].tolist())
