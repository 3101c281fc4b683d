"""The physical world as one thing to act in: engine, collision world, sight, measured relations, the wearer, the film.

Every question about the future is asked of the collision world; what has happened is in the engine and in the film.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from iwkit.compile import CompiledTask
from iwkit.trace import State as RelationState
from iwkit_runtime.body.camera import HEAD_YAW
from iwkit_runtime.body.pose import BodyPose, blend, joint_slice
from iwkit_runtime.engines.base import Engine, Settled, Snapshot
from iwkit_runtime.engines.collision import CONTACT_RADIUS, TOLERANCE, Allowed, Capsules, CollisionWorld, Hit
from iwkit_runtime.nav.grid import Grid, Layer, Obstacle, build_grid
from iwkit_runtime.physical.kinematics import frame
from iwkit_runtime.physical.relations import Facts, Moment, Relations
from iwkit_runtime.physical.scene_spec import Joints, Placed, Pose, Poses, SceneSpec, States
from iwkit_runtime.physical.sight import Sight
from iwkit_runtime.physical.spec import Floats, Vector
from iwkit_runtime.physical.trajectory import Frame, Stand
from iwkit_runtime.physical.wearer import Hold, Person, Wearer, moved

LAYERS: Mapping[str, Layer] = {
    "wall": "wall",
    "decor": "furniture",
    "door": "door",
    "fixture": "furniture",
    "object": "furniture",
}
"""Kind of solid -> layer of the occupancy grid."""
HEAD_CAPSULE = 17
"""The number of the head among the body's capsules, from which on brushing is no matter: the eyes come after it."""
HAND = "_hand"
"""End of the names of the capsules that may touch what a hand is meant to touch."""
GRASP = 0.035
"""How deep, metres: half a hand's thickness, so that its bones stay outside."""
SEATED = ("pelvis", "spine", "_thigh", "_arm")
"""Ends of the names of the capsules that may press into what the wearer sits on, its seat and its back."""
SINK = 0.08
"""How deep they may, metres: flesh and cushions give way, and seats are not made for one leg's length."""
GIVE = 0.02
"""How deep, metres, limbs and trunk may get into something in turning after the gaze: skin and clothes give way."""
ASIDE = HEAD_YAW - math.radians(2)
"""How far aside one looks with the head alone, radians."""
TRUNK = np.r_[tuple(joint_slice(name) for name in ("spine1", "spine2", "spine3"))]
"""Where the spine is in a pose."""
ARMS = ("_hand", "_lower_arm", "_upper_arm", "_collar")
"""Ends of the names of the capsules that an arm moves."""
HOLDING = ("right_hand", "right_lower_arm")
"""The names of the capsules that may be around what is held, near the middle of it."""
EARS = 0.025
"""By how much, metres, the head is narrower from ear to ear than its ball: so far a phone may be in that."""
ITSELF = "the wearer"
"""What an arm is in that is in its own body."""
SKY = 100.0
"""Metres above which there is nothing but what has not arrived yet."""
LYING = 0.05
"""Objects whose lowest point is no higher than this, in metres, are on the floor and in the wearer's way."""


@dataclass(frozen=True)
class State:
    """A state of the stage as plain data, and how long the film was then."""

    engine: Snapshot
    wearer: Wearer
    frames: int = 0
    states: States = field(default_factory=dict)


class Geometry(NamedTuple):
    """What is asked about a scene: what would touch, what is seen, which relations hold."""

    collision: CollisionWorld
    sight: Sight
    relations: Relations

    @classmethod
    def of(cls, task: CompiledTask, spec: SceneSpec) -> Geometry:
        """That of a task, everything still where `spec` puts it.

        Raises:
            UsageError: a thing of the scene is no solid.
        """
        collision = CollisionWorld(spec)
        return cls(collision, Sight(collision), Relations(spec, Facts.of(task)))


class Stage:
    """One task's physical world. Its methods change nothing but what their names say; `restore` undoes everything."""

    def __init__(self, task: CompiledTask, spec: SceneSpec, engine: Engine, person: Person, geometry: Geometry) -> None:
        self.spec, self.engine, self.person = spec, engine, person
        self.placed: dict[str, Placed] = {placed.name: placed for placed in spec.placed}
        self.collision, self.sight, self.relations = geometry
        self.floors = frozenset(static.name for static in spec.statics if static.layer == "floor")
        self.statics = frozenset(static.name for static in spec.statics)
        self.decor = {static.name: static.public for static in spec.statics if static.layer == "decor"}
        x, y, _, heading = spec.eye_hint
        self.wearer = Wearer(Stand(x, y, heading))
        self.film: list[Frame] = []
        self._told: tuple[Poses, Joints] = (engine.poses(), engine.joints())
        self._shown: tuple[Poses, Joints] = self._told
        self.states: States = {}
        self.awaiting = bool(task.awaited)
        self._seen: States = {}
        self.collision.update(*self._told)
        self._gridded: dict[str, object] = {}
        self._grid: Grid | None = None
        self._idle: tuple[Wearer, BodyPose] | None = None
        self.before: RelationState = frozenset()
        """The relations with hysteresis that held after the last command."""

    # --- state ----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """The state now."""
        return State(self.engine.snapshot(), self.wearer, len(self.film), self.states)

    def restore(self, state: State) -> None:
        """Return to a state exactly; the film ends where it ended then."""
        self.engine.restore(state.engine)
        self.wearer = state.wearer
        self.states = self._seen = state.states
        del self.film[state.frames :]
        self._shown = (self.engine.poses(), self.engine.joints())
        self.sync()

    def begin(self) -> None:
        """Begin a new film with things as they are."""
        self.film = []
        self._shown = (self.engine.poses(), self.engine.joints())
        self.sync()

    def sync(self) -> None:
        """Tell the collision world where things are now."""
        poses, joints = self.engine.poses(), self.engine.joints()
        before = self._told
        self.collision.update(_changed(before[0], poses), _changed(before[1], joints))
        self._told = (poses, joints)

    def moment(self, visible: Sequence[str] = ()) -> Moment:
        """What relations are measured from."""
        now, hold, (x, y, _) = self.engine.snapshot(), self.wearer.hold, self.wearer.stand
        joined = {name: to for name, (to, _) in now.fastened.items()}
        held = None if hold is None else hold.name
        hips = self.person.hips(self.idle())
        return Moment(now.poses, now.joints, held, (x, y), visible, hips, joined, self.before)

    def show(self, states: States) -> None:
        """From now on things show these states; the last frame already does."""
        self.states = {name: shown for name, shown in states.items() if shown}
        if self.film and self.states != self._seen:
            last = self.film[-1]
            self.film[-1] = replace(last, states=last.states | self._changed_states())

    def mark(self, name: str, state: str, *, on: bool) -> None:
        """From the next frame on a thing shows a state, or not any more."""
        shown = {*self.states.get(name, ())} - {state} | ({state} if on else set())
        self.states = self.states | {name: tuple(sorted(shown))}

    def _changed_states(self) -> States:
        """What shows now and didn't in the frame before."""
        before, self._seen = self._seen, self.states
        names = sorted(before.keys() | self.states.keys())
        return {n: self.states.get(n, ()) for n in names if self.states.get(n, ()) != before.get(n, ())}

    # --- the film -------------------------------------------------------------------------------------------------

    def shoot(self, body: BodyPose, stand: Stand | None = None, gaze: Vector | None = None) -> None:
        """One frame: the body as given, and whatever it holds with it."""
        hold = self.wearer.hold
        if hold is not None:
            self.engine.hold(hold.name, self.person.held_pose(self.person.body.forward(*body), hold))
        if stand is not None:
            self.wearer = moved(self.wearer, stand=stand)
        self._record(body, gaze, self.engine.poses())

    def idle(self) -> BodyPose:
        """The body as it is now, between two motions."""
        if self._idle is None or self._idle[0] != self.wearer:
            self._idle = (self.wearer, self.person.idle(self.wearer))
        return self._idle[1]

    def glance(self, point: Vector | None, frames: int = 4) -> None:
        """Turn the gaze to a point, or ahead; only as far as the head turns if the trunk, the arms and the load, which
        go along with it beyond that, would get into something; not at all if the head would."""
        was, before = self.wearer, self.idle()
        for aim in self._aims(point):
            self.wearer = moved(was, gaze=aim)
            after = self.idle()
            way = [blend(before, after, n / frames) for n in range(1, frames + 1)]
            if not any(map(self.blind, way)) and not self._strikes(before, way):
                for body in way:
                    self.shoot(body, gaze=aim)
                return
        self.wearer = was

    def _aims(self, point: Vector | None) -> Iterator[Vector | None]:
        """A point, and if it is further aside than the head turns, one that is not."""
        yield point
        if point is None:
            return
        heading = self.wearer.stand.heading
        x, y, _ = self.person.camera(self.person.upright(self.wearer))[:3, 3].tolist()
        aside = math.remainder(math.atan2(point[1] - y, point[0] - x) - heading, math.tau)
        if abs(aside) > ASIDE:
            bearing, far = heading + math.copysign(ASIDE, aside), math.dist((x, y), point[:2])
            yield x + far * math.cos(bearing), y + far * math.sin(bearing), point[2]

    def _strikes(self, before: BodyPose, way: Sequence[BodyPose]) -> bool:
        """Whether trunk, limbs or load get into something on a way of the gaze that turns the trunk, if they are free
        before."""
        if np.array_equal(before.pose[TRUNK], way[-1].pose[TRUNK]):
            return False
        start, *others = (self.hit(body, self.wearer.hold, brush=GIVE) is not None for body in (before, *way))
        return not start and any(others)

    def settle(self, body: BodyPose, gaze: Vector | None = None) -> bool:
        """Let what was released come to rest, the wearer standing still; whether it did."""
        settled: Settled = self.engine.settle()
        for poses in settled.frames:
            self._record(body, gaze, poses)
        self.sync()
        return settled.settled

    def _record(self, body: BodyPose, gaze: Vector | None, poses: Poses) -> None:
        joints = self.engine.joints()
        changes = Frame(
            body,
            self.wearer.stand,
            gaze,
            _changed(self._shown[0], poses),
            _changed(self._shown[1], joints),
            self._changed_states(),
        )
        self._shown = (poses, joints)
        self.film.append(changes)

    # --- questions ------------------------------------------------------------------------------------------------

    def hit(
        self,
        body: BodyPose,
        hold: Hold | None = None,
        *,
        allow: Sequence[Allowed] = (),
        joints: Mapping[tuple[str, str], float] | None = None,
        touching: Collection[str] = (),
        brush: float = TOLERANCE,
        seat: str | None = None,
        moved: Poses | None = None,
        arms: bool = True,
    ) -> Hit | None:
        """The deepest contact that a body frame and what it holds would have beyond 2 mm; None when it is free.

        The soles on the floor, the hand and the forearm on what they hold, and contacts of a hand that are `allow`ed
        don't count. Arms in the body itself do, beyond `brush`.
        `joints` are taken to have those values; what they move may be `touching` some things. `brush` is the tolerance
        for the limbs and the trunk, also against the load (PHY-10): head, eyes and things keep the 2 mm in every
        motion. `seat` is what it sits down on, if it doesn't sit yet; `moved` are things that it moves along with
        itself. Without `arms` these and the load don't count.
        """
        seat = self.wearer.seat.name if self.wearer.seat is not None else seat
        shape = self.person.shape(body)
        load = {} if hold is None else self.carried(hold.name, self.person.held_pose(shape.joints, hold))
        poses = {**(moved or {}), **load}
        beside = [Allowed(name, self._middle(name, pose)) for name, pose in (moved or {}).items()]
        found = self.collision.hits(shape.capsules, poses=poses, joints=joints, allow=beside)
        for hit in found:
            if hit.depth <= TOLERANCE:
                break
            own = isinstance(hit.by, int)
            if isinstance(hit.by, int) and hit.by < HEAD_CAPSULE and hit.depth <= brush:
                continue
            if not arms and (
                not isinstance(hit.by, int) or self.person.rig.names[hit.by].endswith(ARMS) or hit.owner in poses
            ):
                continue
            if hit.owner in load and self._at_home(hit, load[hit.owner]):
                continue
            if hit.owner == seat and self._sinks(hit):
                continue
            free = self.floors if own else touching
            if hit.owner not in free and not any(self._meant(hit, contact) for contact in allow):
                return hit
        return self._in_itself(shape.capsules.ends, brush) if arms else None

    def _in_itself(self, ends: Floats, brush: float) -> Hit | None:
        """The deepest contact of an arm with the rest of the body, or with the other arm, that exceeds `brush`."""
        found = self.person.rig.crossing(ends, brush)
        if found is None:
            return None
        arm, other, depth = found
        middle, away = ends[arm].mean(0), ends[arm].mean(0) - ends[other].mean(0)
        (x, y, z), (i, j, k) = middle.tolist(), (away / max(float(np.linalg.norm(away)), 1e-9)).tolist()
        return Hit(arm, ITSELF, depth, (x, y, z), (i, j, k))

    def _at_home(self, hit: Hit, at: Pose) -> bool:
        """Whether a contact with what is held at a pose is that of the holding hand or forearm, or at the ear."""
        if hit.by == HEAD_CAPSULE:
            return hit.depth <= EARS
        holding = isinstance(hit.by, int) and self.person.rig.names[hit.by] in HOLDING
        return holding and math.dist(hit.point, self._middle(hit.owner, at)) <= CONTACT_RADIUS

    def _sinks(self, hit: Hit) -> bool:
        """Whether a contact is that of someone who sits with what is sat on."""
        return isinstance(hit.by, int) and self.person.rig.names[hit.by].endswith(SEATED) and hit.depth <= SINK

    def _meant(self, hit: Hit, contact: Allowed) -> bool:
        """Whether a contact is one that is allowed: of a hand, from outside."""
        hand = isinstance(hit.by, int) and self.person.rig.names[hit.by].endswith(HAND) and hit.depth <= GRASP
        return hand and hit.owner == contact.owner and math.dist(hit.point, contact.centre) <= contact.radius

    def blind(self, body: BodyPose) -> bool:
        """Whether the head of a body frame or its eyes are in something."""
        capsules = self.person.shape(body).capsules
        head = Capsules(capsules.ends[HEAD_CAPSULE:], capsules.radii[HEAD_CAPSULE:])
        held = () if self.wearer.hold is None else (self.wearer.hold.name,)
        return any(hit.depth > TOLERANCE for hit in self.collision.hits(head, ignore=held))

    def _middle(self, name: str, at: Pose) -> Vector:
        """The middle of a thing's box at a pose."""
        x, y, z = frame(at).point((0, 0, self.placed[name].asset.size[2] / 2)).tolist()
        return x, y, z

    def absent(self) -> frozenset[str]:
        """What has not arrived yet: it is kept high above the scene, with what is on it."""
        if not self.awaiting:
            return frozenset()
        return frozenset(name for name, ((_, _, z), _) in self.engine.poses().items() if z > SKY)

    def carried(self, name: str, at: Pose) -> Poses:
        """Where a thing and all that rides on it are when it is held at a pose."""
        now = self.engine.poses()
        here, there = frame(now[name]).inverse(), frame(at)
        riders = self.engine.riders(name)
        return {name: at} | {rider: there.then(here.then(frame(now[rider]))).pose for rider in riders}

    def visible(self, body: BodyPose) -> tuple[str, ...]:
        """What the head camera of a body frame sees, sorted."""
        return self.sight.visible(self.person.camera(body))

    def centre(self, name: str) -> Floats:
        """The middle (3,) of a thing's box with its joints closed."""
        placed = self.placed[name]
        root = self.collision.frames(name)[placed.asset.links[0].name]
        return root.point((0, 0, placed.asset.size[2] / 2))

    # --- the floor plan -------------------------------------------------------------------------------------------

    def grid(self) -> Grid:
        """The occupancy as things stand; what is held is not in it."""
        poses, joints = self.engine.poses(), self.engine.joints()
        held = self.wearer.hold.name if self.wearer.hold else None
        keys = {name: self._place_key(name, poses[name], joints, held) for name in self.placed}
        if self._grid is None:
            self._grid = build_grid(self._floor_boxes(), self._obstacles([*self.statics, *_wanted(keys)]))
        else:
            changed = [name for name, key in keys.items() if self._gridded[name] != key]
            if changed:
                self._grid = self._grid.without(*changed).with_pieces(
                    self._obstacles([name for name in changed if keys[name] is not None])
                )
        self._gridded = keys
        return self._grid

    def _place_key(self, name: str, pose: Pose, joints: Joints, held: str | None) -> object:
        """What a thing's part of the grid depends on; None for what is in nobody's way."""
        placed = self.placed[name]
        if name == held or (placed.kind == "object" and pose[0][2] > LYING):
            return None
        return (pose, *(joints[name, link.name] for link in placed.asset.links if link.joint))

    def _obstacles(self, names: Sequence[str]) -> Iterator[Obstacle]:
        wanted = frozenset(names) - self.floors
        for solid in self.collision.solids():
            if solid.owner in wanted:
                yield Obstacle(solid.owner, LAYERS[solid.kind], solid.vertices)

    def _floor_boxes(self) -> list[tuple[float, float, float, float]]:
        boxes = []
        for static in self.spec.statics:
            for piece in static.pieces if static.layer == "floor" else ():
                (x0, y0), (x1, y1) = piece.vertices[:, :2].min(0).tolist(), piece.vertices[:, :2].max(0).tolist()
                boxes.append((x0, y0, x1, y1))
        return boxes


def _changed(before: Mapping[Any, Any], now: Mapping[Any, Any]) -> dict[Any, Any]:
    return {name: value for name, value in now.items() if before[name] is not value and before[name] != value}


def _wanted(keys: Mapping[str, object]) -> list[str]:
    return [name for name, key in keys.items() if key is not None]
