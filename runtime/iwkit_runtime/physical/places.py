"""Where every thing of a scene is at one moment: what it rests on and what it is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iwkit_runtime.physical import support
from iwkit_runtime.physical.kinematics import Frame
from iwkit_runtime.physical.scene_spec import Pose
from iwkit_runtime.physical.solids import Posed, Solid, Solids
from iwkit_runtime.physical.spec import Floats
from iwkit_runtime.physical.support import NOWHERE, Rest
from iwkit_runtime.physical.tolerances import limit

_SKIN = 1e-6


@dataclass(frozen=True)
class Moment:
    """All that is measured: poses of root links, values of joints, what is held, where the wearer stands on the plan
    (metres), and what it sees."""

    poses: Mapping[str, Pose]
    joints: Mapping[tuple[str, str], float]
    held: str | None = None
    wearer: tuple[float, float] = (0.0, 0.0)
    visible: Sequence[str] = ()


class Share(NamedTuple):
    """How much of a thing is in the interiors of another: a share of its volume, and whether its centre of mass is."""

    volume: float
    centred: bool

    @property
    def enough(self) -> bool:
        return self.centred and self.volume >= limit("volume")


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

    origin: tuple[Posed | None, ...]
    place: Place


class Places:
    """The things of a scene at one moment. `kept` carries over what hasn't changed since an earlier moment."""

    def __init__(self, solids: Solids, moment: Moment, kept: dict[str, Kept]) -> None:
        self.moment = moment
        self.posed = {name: solids.at(name, moment.poses, moment.joints) for name in solids.placed}
        self._solids, self._kept = solids, kept
        self._pieces = [*solids.building, *(solid for posed in self.posed.values() for solid in posed.solids)]
        self._low = np.array([solid.hull.low for solid in self._pieces]).reshape(-1, 3)
        self._high = np.array([solid.hull.high for solid in self._pieces]).reshape(-1, 3)

    def of(self, name: str) -> Place:
        """Where a thing is. What is held rests on nothing and is in nothing."""
        posed = self.posed[name]
        if name == self.moment.held:
            return Place(posed, NOWHERE, {}, held=True)
        around = self._around(name)
        owners = tuple(dict.fromkeys(solid.owner for solid in around))
        origin = (posed, *(self.posed.get(owner) for owner in owners))
        kept = self._kept.get(name)
        if kept is None or not _same(kept.origin, origin):
            place = Place(posed, support.rest(posed, around), self._shares(posed, owners))
            kept = self._kept[name] = Kept(origin, place)
        return kept.place

    def _around(self, name: str) -> list[Solid]:
        """The pieces of other things that are level with a thing on the plan and don't begin above it."""
        posed = self.posed[name]
        meets = ((self._low[:, :2] <= posed.high[:2]) & (self._high[:, :2] >= posed.low[:2])).all(1)
        found = np.flatnonzero(meets & (self._low[:, 2] <= posed.high[2])).tolist()
        return [self._pieces[n] for n in found if self._pieces[n].owner != name]

    def _shares(self, posed: Posed, owners: Iterable[str]) -> dict[str, Share]:
        """What is in an interior is level with the walls or the floor of its owner, so the owners around will do."""
        points = np.vstack([posed.points, posed.centre])
        found = {}
        for owner in owners:
            inside = self._inside(owner, points) if owner in self._solids.placed else None
            if inside is not None and inside.any():
                found[owner] = Share(float(posed.weights @ inside[:-1]), bool(inside[-1]))
        return found

    def _inside(self, owner: str, points: Floats) -> NDArray[np.bool_]:
        """Which points (n, 3) are in one of the owner's interiors."""
        inside = np.zeros(len(points), dtype=bool)
        for region in self._solids.placed[owner].asset.regions:
            if region.kind == "interior":
                local = self.posed[owner].frames[region.link].local(points) - region.centre
                inside |= (np.abs(local) <= np.array(region.size) / 2 + _SKIN).all(1)
        return inside


class Drift(NamedTuple):
    """How far a thing is from where it was: metres, and degrees by which it leans."""

    distance: float
    tilt: float

    @property
    def stayed(self) -> bool:
        return self.distance <= limit("moved") and self.tilt <= limit("tilt")


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
