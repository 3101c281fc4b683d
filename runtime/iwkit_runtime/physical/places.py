"""Where every thing of a scene is at one moment: what it rests on and what it is in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from iwkit.trace import State
from iwkit_runtime.physical import support
from iwkit_runtime.physical.hulls import Chosen, Indices, Stack
from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.solids import Posed, Solids
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.support import NOWHERE, Rest
from iwkit_runtime.physical.tolerances import limit

_SKIN = 1e-6
_FLOOR = 0.003
"""Metres below an interior that still are in it: it begins a little above its floor, and a sheet of paper is thin."""
LASTING = ("inside", "at_baseline", "unmoved")
"""Relations with hysteresis: they hang on what shifts a little when other things are handled (docs/relations.md)."""


@dataclass(frozen=True)
class Moment:
    """All that is measured: poses of root links, values of joints, what is held, where the wearer stands on the plan
    (metres), what it sees, where its hips are, and which part is joined to what.

    `before` are the relations with hysteresis (`LASTING`) that held until now.
    """

    poses: Mapping[str, Pose]
    joints: Mapping[tuple[str, str], float]
    held: str | None = None
    wearer: tuple[float, float] = (0.0, 0.0)
    visible: Sequence[str] = ()
    hips: Vector | None = None
    joined: Mapping[str, str] = field(default_factory=dict)
    before: State = frozenset()

    def to_json(self) -> dict[str, Any]:
        """What of the moment of a handoff is kept in a snapshot."""
        return {
            "poses": {name: [list(at), list(turn)] for name, (at, turn) in self.poses.items()},
            "joints": [[name, link, value] for (name, link), value in self.joints.items()],
            "held": self.held,
            "wearer": list(self.wearer),
            "before": sorted(map(list, self.before)),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Moment:
        """The moment that `to_json` gave."""
        poses = {name: (tuple(at), tuple(turn)) for name, (at, turn) in data["poses"].items()}
        joints = {(name, link): value for name, link, value in data["joints"]}
        x, y = data["wearer"]
        return cls(poses, joints, data["held"], (x, y), before=frozenset(map(tuple, data["before"])))


class Share(NamedTuple):
    """How much of a thing is in the interiors of another: a share of its volume, and how far out of them its centre of
    mass is, in metres along an axis. `was`: it was inside before."""

    volume: float
    outside: float
    was: bool = False

    @property
    def centred(self) -> bool:
        return self.outside <= limit("centre", was=self.was) + _SKIN

    @property
    def enough(self) -> bool:
        return self.centred and self.volume >= limit("volume", was=self.was)


class Place(NamedTuple):
    """Where a thing is: how it rests, its share in the interiors of each thing that has some of it, if it is held."""

    posed: Posed
    rest: Rest
    shares: Mapping[str, Share]
    held: bool = False

    @property
    def containers(self) -> tuple[str, ...]:
        """The things whose interiors it is in by itself."""
        return tuple(name for name, share in self.shares.items() if share.enough)


class Kept(NamedTuple):
    """A place, and what it was computed from."""

    origin: tuple[Posed, ...]
    place: Place


class Places:
    """The things of a scene at one moment. `kept` carries over what hasn't changed since an earlier moment."""

    def __init__(self, solids: Solids, moment: Moment, kept: dict[str, Kept]) -> None:
        self.moment = moment
        self.posed = {name: solids.at(name, moment.poses, moment.joints) for name in solids.placed}
        self._solids, self._kept = solids, kept
        stacks = [solids.building, *(posed.pieces for posed in self.posed.values())]
        self._pieces = Stack.join(stacks)
        self._numbers = {name: number for number, name in enumerate(self.posed, 1)}
        self._names = ("", *self.posed)
        self._owners = [*solids.parts, *chain.from_iterable(posed.owners for posed in self.posed.values())]
        sizes = np.array([len(stack) for stack in stacks])
        self._whose, self._ends = np.repeat(np.arange(len(stacks)), sizes), np.cumsum(sizes)
        self._found: dict[str, Place] = {}

    def of(self, name: str) -> Place:
        """Where a thing is. What is held rests on nothing and is in nothing."""
        if name not in self._found:
            self.find((name,))
        return self._found[name]

    def find(self, names: Iterable[str]) -> None:
        """Find out where things are: all at once is quicker than one after the other."""
        names = [name for name in names if name not in self._found]
        moved: dict[str, tuple[Indices, list[str]]] = {}
        for name, around in zip(names, self._around(names), strict=True):
            owners = [self._names[n] for n in dict.fromkeys(self._whose[around].tolist()) if n]
            origin = (self.posed[name], *(self.posed[owner] for owner in owners))
            kept = self._kept.get(name)
            if name == self.moment.held:
                self._found[name] = Place(self.posed[name], NOWHERE, {}, held=True)
            elif kept is None or not _same(kept.origin, origin):
                moved[name] = around, owners
        if moved:
            self._measure(moved)
        for name in names:
            if name not in self._found:
                self._found[name] = self._as_before(name, self._kept[name].place)

    def _measure(self, moved: Mapping[str, tuple[Indices, list[str]]]) -> None:
        """Measure where things are that have moved, or things around them."""
        things = [self.posed[name] for name in moved]
        own = [np.arange(*self._ends[(n := self._numbers[name]) - 1 : n + 1]) for name in moved]
        rests = support.rests(things, own, [around for around, _ in moved.values()], self._pieces, self._owners)
        for (name, (_, owners)), posed, rest in zip(moved.items(), things, rests, strict=True):
            origin = (posed, *(self.posed[owner] for owner in owners))
            self._kept[name] = Kept(origin, Place(posed, rest, self._shares(posed, owners)))

    def _as_before(self, name: str, place: Place) -> Place:
        """The place of a thing with what it was inside until now."""
        was = [owner for owner in place.shares if ("inside", name, owner) in self.moment.before]
        if not was:
            return place
        shares = place.shares
        return place._replace(shares={**shares, **{owner: shares[owner]._replace(was=True) for owner in was}})

    def below(self, point: Vector) -> tuple[str, float] | None:
        """What is next below a point, and how far, in metres; None over nothing."""
        x, y, z = point
        every = Chosen.of([np.arange(len(self._pieces))])
        columns = self._pieces.columns(np.array([[x, y]]), np.array([0]), np.array([z]), every)
        under = np.flatnonzero(columns.top <= z)
        if not len(under):
            return None
        best = under[int(columns.top[under].argmax())]
        return self._owners[int(columns.piece[best])].name, z - float(columns.top[best])

    def _around(self, names: Sequence[str]) -> Iterator[Indices]:
        """For each thing the pieces of others that are level with it on the plan and don't begin above it."""
        low, high = self._pieces.low, self._pieces.high
        for name in names:
            posed = self.posed[name]
            (x0, y0, _), (x1, y1, top) = posed.low.tolist(), posed.high.tolist()
            meets = (low[:, 0] <= x1) & (high[:, 0] >= x0) & (low[:, 1] <= y1) & (high[:, 1] >= y0)
            meets &= (low[:, 2] <= top) & (self._whose != self._numbers[name])
            yield np.flatnonzero(meets)

    def _shares(self, posed: Posed, owners: Iterable[str]) -> dict[str, Share]:
        """What is in an interior is level with the walls or the floor of its owner, so the owners around will do."""
        points = np.vstack([posed.pieces.points, posed.centre])
        found = {}
        for owner in owners:
            outside = self._outside(owner, points)
            if (inside := outside <= _SKIN).any():
                found[owner] = Share(float(posed.weights @ inside[:-1]), max(float(outside[-1]), 0.0))
        return found

    def _outside(self, owner: str, points: Floats) -> Floats:
        """How far points (n, 3) are outside of the owner's nearest interior, along its axes; not above 0 inside."""
        outside = np.full(len(points), np.inf)
        for region in self._solids.placed[owner].asset.regions:
            if region.kind == "interior":
                local = self.posed[owner].frames[region.link].local(points) - region.centre
                local[:, 2] = np.where(local[:, 2] < 0, np.minimum(local[:, 2] + _FLOOR, 0.0), local[:, 2])
                outside = np.minimum(outside, (np.abs(local) - np.array(region.size) / 2).max(1))
        return outside


class Drift(NamedTuple):
    """How far a thing is from where it was: metres, and degrees by which it leans."""

    distance: float
    tilt: float

    def stayed(self, *, was: bool) -> bool:
        """Whether that is little enough for a thing that had stayed until now (`was`), or had not."""
        return self.distance <= limit("moved", was=was) and self.tilt <= limit("tilt", was=was)


def drift(then: Posed, now: Posed, link: str, before: Frame | None, after: Frame | None) -> Drift:
    """How a thing, by its link `link`, lies in the frame `after` against how it lay in `before`; None is the world.

    Turning about what was the vertical at `before` doesn't count.
    """
    was, is_ = (_in(frame, posed.frames[link]) for frame, posed in ((before, then), (after, now)))
    middle = then.frames[link].local(then.centre)
    up = np.array([0.0, 0.0, 1.0]) if before is None else before.turn[2]
    cosine = float((is_.turn @ (was.turn.T @ up)) @ up)
    return Drift(
        float(np.linalg.norm(is_.point(middle) - was.point(middle))),
        float(np.degrees(np.arccos(np.clip(cosine, -1, 1)))),
    )


def _in(reference: Frame | None, frame: Frame) -> Frame:
    return frame if reference is None else reference.inverse().then(frame)


def _same(first: Sequence[object], second: Sequence[object]) -> bool:
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))
