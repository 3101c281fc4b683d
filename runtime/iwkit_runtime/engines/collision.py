"""The one collision world that planning, placing and checking ask (PHY-5 to PHY-8, PHY-10; paper B.1.2).

It answers from the scene's convex pieces alone, whatever engine settles and renders. Metres, radians, world frame.
The queries run on MuJoCo's collision detection over scratch data: links are put where they are asked for, so an answer
is never a frame late, and boxes are meshes, since the capsule-box primitive misses contacts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from iwkit.errors import UsageError
from iwkit_runtime.engines.collision_model import PROBES, SCENE, Capsules, Scratch
from iwkit_runtime.physical.kinematics import Frame, frame, link_frames, quaternion, root_frame
from iwkit_runtime.physical.scene_spec import Placed, Pose, SceneSpec
from iwkit_runtime.physical.spec import Asset, Floats, Link, Vector

__all__ = ["CONTACT_RADIUS", "TOLERANCE", "Allowed", "Capsules", "CollisionWorld", "Hit", "Solid"]

TOLERANCE = 0.002
"""Metres of penetration that a manipulation accepts (PHY-7)."""
CONTACT_RADIUS = 0.22
"""Metres around the intended contact within which its target may be touched (PHY-7)."""

Answer = TypeVar("Answer")

_FARTHEST = 1e6
_EDGE = 1e-9


class Allowed(NamedTuple):
    """A contact that is meant: touching `owner` within `radius` of `centre` is no hit, elsewhere it is."""

    owner: str
    centre: Vector
    radius: float = CONTACT_RADIUS


@dataclass(frozen=True, slots=True)
class Hit:
    """Two things that overlap. `by` is the number of a capsule or the name of a thing that was moved.

    `depth` is how far `by` must move along `normal`, away from `owner`, to be free; a negative depth is a gap.
    """

    by: int | str
    owner: str
    depth: float
    point: Vector
    normal: Vector


class Solid(NamedTuple):
    """One convex piece where it is now: vertices (n, 3) in the world."""

    owner: str
    kind: Literal["floor", "wall", "decor", "object", "fixture", "door"]
    vertices: Floats


class CollisionWorld:
    """All convex pieces of a scene, grouped under the names of the things that own them (PHY-6).

    It starts with everything where `spec` puts it; `update` tells it where things are now.

    Raises:
        UsageError: two things have one name, or a piece is no solid.
    """

    def __init__(self, spec: SceneSpec) -> None:
        self.spec = spec
        self._placed = {p.name: p for p in spec.placed}
        self.owners = (*(s.name for s in spec.statics), *self._placed)
        if len({*self.owners}) != len(spec.statics) + len(spec.placed):
            raise UsageError("two things of the scene have the same name: names tell owners apart")
        self._scratch = Scratch(spec)
        self._frames: dict[str, dict[str, Frame]] = {}
        self._roots = {p.name: root_frame(p).pose for p in spec.placed}
        self._joints = {
            (p.name, k.name): p.joints.get(k.name, 0.0) for p in spec.placed for k in p.asset.links if k.joint
        }
        self._known_answers: dict[Hashable, Any] = {}
        self._settle(self._placed)

    # --- where things are -----------------------------------------------------------------------------------------

    def update(self, poses: Mapping[str, Pose], joints: Mapping[tuple[str, str], float]) -> None:
        """Move things to where they are now. What is not named stays where it was.

        Raises:
            UsageError: no such thing or joint.
        """
        self._known(poses, joints)
        new_poses = {name: pose for name, pose in poses.items() if pose != self._roots[name]}
        new_joints = {key: value for key, value in joints.items() if value != self._joints[key]}
        if new_poses or new_joints:
            self._known_answers.clear()
        self._roots |= new_poses
        self._joints |= new_joints
        self._settle(self._known(new_poses, new_joints))

    def frames(self, name: str) -> dict[str, Frame]:
        """The frames of a thing's links as last updated, by link."""
        self._known((name,), ())
        return self._frames[name]

    def once(self, question: Hashable, ask: Callable[[], Answer]) -> Answer:
        """What `ask` answers, asked once until something moves. `question` must hold all that the answer depends on
        besides where things are."""
        if question not in self._known_answers:
            self._known_answers[question] = ask()
        answer: Answer = self._known_answers[question]
        return answer

    def solids(self) -> Iterator[Solid]:
        """Every piece where it is now; the building first."""
        for static in self.spec.statics:
            for piece in static.pieces:
                yield Solid(static.name, static.layer, piece.vertices)
        for placed in self.spec.placed:
            for link in placed.asset.links:
                at = self._frames[placed.name][link.name]
                for piece in link.pieces:
                    yield Solid(placed.name, placed.kind, at.point(piece.vertices))

    def _known(self, names: Iterable[str], joints: Iterable[tuple[str, str]]) -> dict[str, None]:
        """The things named, each once, in order."""
        names, joints = tuple(names), tuple(joints)
        for name in names:
            if name not in self._placed:
                raise UsageError(f"the collision world has no thing '{name}' that can be moved")
        for name, link in joints:
            if (name, link) not in self._joints:
                raise UsageError(f"'{name}' has no joint '{link}' in the collision world")
        return dict.fromkeys((*names, *(name for name, _ in joints)))

    def _settle(self, names: Iterable[str]) -> None:
        for name in names:
            self._frames[name] = _frames_of(self._placed[name], self._roots[name], self._joints)
            self._put(name, self._frames[name])

    def _put(self, name: str, frames: Mapping[str, Frame]) -> None:
        for link, row in self._scratch.rows[name].items():
            self._scratch.poses[row] = (*frames[link].at, *quaternion(frames[link].turn))

    # --- questions ------------------------------------------------------------------------------------------------

    def hits(
        self,
        capsules: Capsules | None = None,
        *,
        poses: Mapping[str, Pose] | None = None,
        joints: Mapping[tuple[str, str], float] | None = None,
        ignore: Collection[str] = (),
        allow: Sequence[Allowed] = (),
        margin: float = 0.0,
    ) -> list[Hit]:
        """What capsules, and things as if they were at `poses` and `joints`, would overlap; deepest first.

        Things in `poses`, and links in `joints` with all that hangs on them, are tested against everything else but not
        against one another; capsules against everything. Nothing moves for good. Each capsule or thing has at most one
        hit with each owner, the deepest. `ignore` names owners to leave out, `allow` the contacts that are meant. Gaps
        smaller than `margin` are reported too, as negative depths.

        Raises:
            UsageError: no such thing or joint, or ends and radii that are not finite or don't match.
        """
        batches = [None] if capsules is None else _batches(capsules)
        rows = [row for name in self._known(poses or {}, joints or {}) for row in self._scratch.rows[name].values()]
        still = self._scratch.poses[rows]
        moved = self._as_if(poses or {}, joints or {})
        found: list[Hit] = []
        try:
            for turn, batch in enumerate(batches):
                # the first turn has found what the moved things overlap
                self._scratch.test([*moved], on=turn == 0, margin=margin)
                self._scratch.probes.place(batch, margin)
                self._scratch.collide()
                found += self._found(turn * PROBES, moved, margin)
        finally:
            if moved:
                self._scratch.test([*moved], on=False)
                self._scratch.poses[rows] = still
        return _deepest(h for h in found if h.owner not in ignore and not any(_meant(h, a) for a in allow))

    def free(
        self,
        capsules: Capsules | None = None,
        *,
        poses: Mapping[str, Pose] | None = None,
        joints: Mapping[tuple[str, str], float] | None = None,
        ignore: Collection[str] = (),
        allow: Sequence[Allowed] = (),
        tolerance: float = TOLERANCE,
    ) -> bool:
        """Whether `hits` finds nothing deeper than `tolerance`."""
        found = self.hits(capsules, poses=poses, joints=joints, ignore=ignore, allow=allow)
        return not found or found[0].depth <= tolerance

    def overlaps(self, name: str, margin: float = 0.0) -> list[Hit]:
        """What a thing overlaps where it is, deepest first: the check after settling (PHY-8)."""
        self._known((name,), ())
        return self.hits(poses={name: self._roots[name]}, margin=margin)

    def overlap(self, one: str, other: str) -> float:
        """How deep two things are in each other, in metres; 0 when they are apart."""
        return max((hit.depth for hit in self.overlaps(one) if hit.owner == other), default=0.0)

    def rays(self, eye: ArrayLike, ends: ArrayLike) -> tuple[list[str | None], Floats]:
        """What each line from `eye` (3,) towards `ends` (n, 3) meets first, and where: 0 at the eye, 1 at the end.

        Lines go on beyond their ends; those that meet nothing give None and infinity.

        Raises:
            UsageError: a point is not finite.
        """
        origin = np.asarray(eye, dtype=np.float64)
        ways = np.ascontiguousarray(np.asarray(ends, dtype=np.float64) - origin)
        if not np.isfinite(ways).all():
            raise UsageError("a ray has an end that is not finite: give points in metres")
        count, model, data = len(ways), self._scratch.model, self._scratch.data
        geoms, along = np.full(count, -1, np.int32), np.full(count, -1.0)
        groups = (np.arange(6) == SCENE).astype(np.uint8)
        if count:
            self._scratch.refresh()
            mujoco.mj_multiRay(
                model, data, origin, ways.ravel(), groups, True, -1, geoms, along, None, count, _FARTHEST
            )
        names = [None if geom < 0 else self._scratch.owner[geom] for geom in geoms.tolist()]
        return names, np.where(geoms < 0, np.inf, along)

    # --- one query ------------------------------------------------------------------------------------------------

    def _as_if(self, poses: Mapping[str, Pose], joints: Mapping[tuple[str, str], float]) -> dict[int, str]:
        """Put things where they are asked for; the bodies to be tested, with their owners."""
        moved: dict[int, str] = {}
        for name in self._known(poses, joints):
            placed, rows = self._placed[name], self._scratch.rows[name]
            self._put(name, _frames_of(placed, poses.get(name, self._roots[name]), {**self._joints, **joints}))
            asked = [link for thing, link in joints if thing == name]
            links = placed.asset.links if name in poses else _hanging(placed.asset, asked)
            moved |= {rows[link.name] + 1: name for link in links if link.name in rows}
        return moved

    def _found(self, first: int, moved: Mapping[int, str], margin: float) -> Iterator[Hit]:
        """The contacts of a query as hits; `first` is the number of the first probe's capsule."""
        scratch, contact = self._scratch, self._scratch.data.contact
        number, body_of = scratch.probes.number, scratch.model.geom_bodyid
        fields = (contact.geom, contact.dist, contact.pos, contact.frame)
        for (a, b), distance, (px, py, pz), (x, y, z, *_) in zip(*(some.tolist() for some in fields), strict=True):
            # MuJoCo's normal points from the first to the second
            swapped = number(b) is not None or (number(a) is None and int(body_of[a]) not in moved)
            mine, other = (b, a) if swapped else (a, b)
            probe = number(mine)
            by: int | str = scratch.owner[mine] if probe is None else first + probe
            owner = scratch.owner[other]
            apart = probe is None and (by == owner or int(body_of[other]) in moved)
            if distance < margin - _EDGE and not apart:
                normal = (x, y, z) if swapped else (-x, -y, -z)
                yield Hit(by, owner, -distance, (px, py, pz), normal)


def _frames_of(placed: Placed, pose: Pose, joints: Mapping[tuple[str, str], float]) -> dict[str, Frame]:
    values = {link.name: joints[placed.name, link.name] for link in placed.asset.links if link.joint}
    return link_frames(placed.asset, frame(pose), values)


def _check(capsules: Capsules) -> None:
    ends, radii = capsules
    if ends.shape != (len(radii), 2, 3) or not (np.isfinite(ends).all() and np.isfinite(radii).all()):
        raise UsageError(f"capsules need finite ends (n, 2, 3) and radii (n,), not {ends.shape} and {radii.shape}")


def _batches(capsules: Capsules) -> list[Capsules | None]:
    """The capsules in lists as long as there are probes; one list at least."""
    _check(capsules)
    starts = range(0, max(len(capsules.radii), 1), PROBES)
    return [Capsules(capsules.ends[n : n + PROBES], capsules.radii[n : n + PROBES]) for n in starts]


def _hanging(asset: Asset, names: Iterable[str]) -> Iterator[Link]:
    """The links named and all that hang on them; parents come before their children."""
    found = {*names}
    for link in asset.links:
        if link.name in found or link.parent in found:
            found.add(link.name)
            yield link


def _meant(hit: Hit, allowed: Allowed) -> bool:
    return (
        hit.owner == allowed.owner and float(np.linalg.norm(np.subtract(hit.point, allowed.centre))) <= allowed.radius
    )


def _deepest(hits: Iterable[Hit]) -> list[Hit]:
    """The deepest hit of each pair, deepest first; ties in the order of names."""
    best: dict[tuple[int | str, str], Hit] = {}
    for hit in hits:
        key = (hit.by, hit.owner)
        if key not in best or hit.depth > best[key].depth:
            best[key] = hit
    return sorted(best.values(), key=lambda hit: (-hit.depth, str(hit.by), hit.owner))
