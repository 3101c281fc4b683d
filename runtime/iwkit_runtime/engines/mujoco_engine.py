"""The embedded default engine: MuJoCo on the CPU."""

from __future__ import annotations

import mujoco
import numpy as np

from iwkit_runtime.engines.base import FRAME, REST, EngineError, Settled, Snapshot
from iwkit_runtime.engines.mujoco_model import STEP, build
from iwkit_runtime.physical.kinematics import Frame, frame, link_frames, quaternion, root_frame, values_at_start
from iwkit_runtime.physical.scene_spec import Joints, Placed, Pose, Poses, SceneSpec
from iwkit_runtime.physical.spec import Joint

STEPS = round(FRAME / STEP)
"""Physics steps in a frame."""
CHECK = 4
"""Physics steps between two looks at the speeds: 1/60 s."""
CALM = 6
"""So many looks in a row must find everything at rest: a thrown ball is slow at its highest point, too."""
SPAN = 0.05
"""Metres from a thing's middle at which turning counts as speed."""
KEEP = 2e-4
"""Metres (and radians times SPAN) that a resting thing may creep while others settle; it is put back where it was."""
UPWARD = 0.3
"""A contact supports when its normal has at least this part upwards."""
LOST = -1.0
"""A thing below this height has fallen through the floor: the simulation is wrong."""
SLACK = 1e-9


class MujocoEngine:
    """See `base.Engine`. Fixtures and doors stand fast and are placed, objects are free bodies."""

    def __init__(self) -> None:
        self._spec: SceneSpec | None = None

    # --- the scene ------------------------------------------------------------------------------------------------

    def load(self, spec: SceneSpec) -> None:
        """Build the model, or take that of a scene with the same things, and put everything at its place."""
        self._built = build(spec)
        self._model = self._built.model
        self._data = mujoco.MjData(self._model)
        self._spec = spec
        self._placed = {placed.name: placed for placed in spec.placed}
        self._values: Joints = {}
        self._roots: dict[str, Pose] = {}
        self._held: dict[str, dict[str, Frame]] = {}
        self._fastened: dict[str, tuple[str, Pose]] = {}
        self._resting: dict[str, tuple[str, ...]] = {}
        self._drive: tuple[tuple[str, str], dict[str, Frame]] | None = None
        for placed in spec.placed:
            self._values |= values_at_start(placed)
            self._put(placed.name, root_frame(placed))
        mujoco.mj_forward(self._model, self._data)

    def poses(self) -> Poses:
        """The pose of the root link of every placed thing."""
        self._loaded()
        return dict(self._roots)

    def joints(self) -> Joints:
        """The value of every joint."""
        self._loaded()
        return dict(self._values)

    # --- what the caller moves ------------------------------------------------------------------------------------

    def set_joint(self, name: str, link: str, value: float) -> None:
        """Drive a joint; what rests on the link comes along."""
        joint = self._joint(name, link)
        if not joint.low - SLACK <= value <= joint.high + SLACK:
            raise EngineError(f"{name}: {link} goes from {joint.low:g} to {joint.high:g}, not to {value:g}")
        before = self._link_frame(name, link)
        if self._drive is None or self._drive[0] != (name, link):
            riders = self._riders({(name, part) for part in self._below(name, link)})
            self._drive = ((name, link), {rider: before.inverse().then(self._root(rider)) for rider in riders})
        _, offsets = self._drive
        self._values[name, link] = float(value)
        self._write(name, self._roots[name])
        after = self._link_frame(name, link)
        for rider, offset in offsets.items():
            self._put(rider, after.then(offset))

    def hold(self, name: str, pose: Pose) -> None:
        """Take a thing, or carry it on; what rests on it comes along."""
        self._known(name)
        turn = float(np.linalg.norm(pose[1]))
        if not (np.isfinite(pose[0]).all() and np.isfinite(turn) and abs(turn - 1) < 1e-3):
            raise EngineError(f"{name}: a pose is three finite numbers and a unit quaternion, not {pose}")
        self._drive = None
        self._fastened.pop(name, None)
        if name not in self._held:
            here = self._root(name).inverse()
            self._held[name] = {rider: here.then(self._root(rider)) for rider in self._along(name)}
        (x, y, z), (w, i, j, k) = pose
        self._write(name, ((float(x), float(y), float(z)), (w / turn, i / turn, j / turn, k / turn)))
        for rider, offset in self._held[name].items():
            self._put(rider, self._root(name).then(offset))

    def release(self, name: str) -> None:
        """Let go."""
        self._known(name)
        if name not in self._held:
            raise EngineError(f"{name} isn't held, so it can't be released")
        self._drive = None
        del self._held[name]

    def held(self) -> dict[str, tuple[str, ...]]:
        """What is held, and what rides on it."""
        self._loaded()
        return {name: tuple(riders) for name, riders in self._held.items()}

    def riders(self, name: str) -> tuple[str, ...]:
        """What would come along with a thing."""
        self._known(name)
        if name in self._held:
            return tuple(self._held[name])
        if name not in self._resting:  # asked for every frame of a plan, and nothing moves meanwhile
            self._resting[name] = tuple(self._along(name))
        return self._resting[name]

    def fasten(self, name: str, to: str) -> None:
        """Join an object to another thing."""
        self._known(name)
        self._known(to)
        if name in self._held or name not in self._built.free or to in self._parts(name):
            raise EngineError(f"{name} can't be fastened to {to}: it must be an object that is free of it and not held")
        self._resting.clear()
        self._fastened[name] = (to, self._root(to).inverse().then(self._root(name)).pose)

    # --- time -----------------------------------------------------------------------------------------------------

    def settle(self, max_seconds: float = 3.0) -> Settled:
        """Step until everything is at rest; what only crept by less than 0.2 mm stays exactly where it was."""
        self._loaded()
        self._drive = None
        before = dict(self._roots)
        self._reset()
        frames, calm, steps = [], 0, 0
        while calm < CALM and steps < max_seconds / STEP:
            self._step(CHECK)
            steps += CHECK
            calm = calm + 1 if self._speed() < REST else 0
            if steps % STEPS == 0:
                self._read()
                frames.append(dict(self._roots))
        self._read()
        self._keep(before)
        frames.append(dict(self._roots))
        return Settled(calm >= CALM, tuple(frames))

    def contacts(self) -> list[tuple[str, str]]:
        """The pairs of names that touch."""
        self._loaded()
        units = self._built.units
        pairs = {(units[first][0], units[second][0]) for first, second, _ in self._touching()}
        return sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b})

    def snapshot(self) -> Snapshot:
        """The state now."""
        self._loaded()
        return Snapshot(self.poses(), self.joints(), self.held(), dict(self._fastened))

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a state of this scene."""
        self._loaded()
        if snapshot.poses.keys() != self._roots.keys() or snapshot.joints.keys() != self._values.keys():
            raise EngineError("this state belongs to another scene: load that scene first")
        self._values = dict(snapshot.joints)
        self._fastened = {}
        for name, pose in snapshot.poses.items():
            self._write(name, pose)
        self._drive = None
        self._held = {
            name: {rider: self._root(name).inverse().then(self._root(rider)) for rider in riders}
            for name, riders in snapshot.held.items()
        }
        self._fastened = dict(snapshot.fastened)

    # --- poses ----------------------------------------------------------------------------------------------------

    def _root(self, name: str) -> Frame:
        return frame(self._roots[name])

    def _link_frame(self, name: str, link: str) -> Frame:
        return link_frames(self._placed[name].asset, self._root(name), self._joints_of(name))[link]

    def _joints_of(self, name: str) -> dict[str, float]:
        links = self._placed[name].asset.links
        return {link.name: self._values[name, link.name] for link in links if link.joint}

    def _put(self, name: str, root: Frame) -> None:
        self._write(name, root.pose)

    def _write(self, name: str, pose: Pose) -> None:
        """Give a thing its pose and its joints their values, and what is fastened to it its place."""
        self._write_alone(name, pose)
        for child, (to, offset) in self._fastened.items():
            if to == name:
                self._put(child, frame(pose).then(frame(offset)))

    def _write_alone(self, name: str, pose: Pose) -> None:
        self._roots[name] = pose
        self._resting.clear()
        data, built = self._data, self._built
        if name in built.free:
            position, velocity = built.free[name]
            data.qpos[position : position + 7] = (*pose[0], *pose[1])
            data.qvel[velocity : velocity + 6] = 0
            for link, value in self._joints_of(name).items():
                at, speed = built.hinges[name, link]
                data.qpos[at], data.qvel[speed] = value, 0
            return
        frames = link_frames(self._placed[name].asset, frame(pose), self._joints_of(name))
        for link, placed in frames.items():
            number = built.mocap[name, link]
            data.mocap_pos[number] = placed.at
            data.mocap_quat[number] = quaternion(placed.turn)

    def _read(self) -> None:
        """Take the objects' poses from the simulation."""
        for name, (position, _) in self._built.free.items():
            if not self._is_fast(name):
                x, y, z, *turn = self._data.qpos[position : position + 7].tolist()
                if not np.isfinite([x, y, z, *turn]).all() or z < LOST:
                    raise EngineError(f"the simulation lost {name}: it is at {x:.3g}, {y:.3g}, {z:.3g}")
                w, i, j, k = (np.array(turn) / np.linalg.norm(turn)).tolist()
                self._roots[name] = ((x, y, z), (w, i, j, k))

    def _keep(self, before: Poses) -> None:
        for name in self._built.free:
            here, there = self._root(name), frame(before[name])
            turned = float(np.linalg.norm(here.turn - there.turn)) * SPAN
            if float(np.linalg.norm(here.at - there.at)) < KEEP and turned < KEEP:
                self._roots[name] = before[name]
            self._write(name, self._roots[name])

    # --- simulation -----------------------------------------------------------------------------------------------

    def _reset(self) -> None:
        """Forget everything but poses and joints, so that what follows depends on nothing else."""
        mujoco.mj_resetData(self._model, self._data)
        for name, pose in self._roots.items():
            self._write(name, pose)

    def _step(self, count: int) -> None:
        """So many steps. Where nothing is kept in place meanwhile they are one call: who works beside it then waits for
        Python's lock less often."""
        if not (self._held or self._fastened or self._built.hinges):
            mujoco.mj_step(self._model, self._data, count)
            return
        for _ in range(count):
            mujoco.mj_step(self._model, self._data)
            self._fasten()

    def _is_fast(self, name: str) -> bool:
        """Whether something is held, rides on what is, or is fastened to something."""
        held = name in self._held or any(name in riders for riders in self._held.values())
        return held or name in self._fastened

    def _fasten(self) -> None:
        """Put what is held and every driven joint of an object back to where it is kept."""
        if self._held or self._fastened:
            self._fasten_objects()
        keys = self._built.hinges
        if keys:
            positions, velocities = (list(numbers) for numbers in zip(*keys.values(), strict=True))
            self._data.qpos[positions], self._data.qvel[velocities] = [self._values[key] for key in keys], 0

    def _fasten_objects(self) -> None:
        for name, (position, _) in self._built.free.items():
            if self._is_fast(name):
                self._write(name, self._roots[name])
            elif any(to == name for to, _ in self._fastened.values()):
                x, y, z, *turn = self._data.qpos[position : position + 7].tolist()
                here = frame(((x, y, z), tuple(turn)))
                for child, (to, offset) in self._fastened.items():
                    if to == name:
                        self._put(child, here.then(frame(offset)))

    def _speed(self) -> float:
        """The speed of the fastest object, m/s."""
        first = np.array([velocity for _, velocity in self._built.free.values()], dtype=np.int64)
        moving = self._data.qvel[first[:, None] + np.arange(6)].reshape(-1, 2, 3)
        speeds = np.sqrt((moving**2).sum(-1)) * (1.0, SPAN)
        return float(speeds.max(initial=0.0))

    # --- contacts -------------------------------------------------------------------------------------------------

    def _touching(self) -> list[tuple[int, int, float]]:
        """Every contact as (body, body, upward part of the normal from the first to the second)."""
        mujoco.mj_fwdPosition(self._model, self._data)
        body = self._model.geom_bodyid
        return [(int(body[c.geom1]), int(body[c.geom2]), float(c.frame[2])) for c in self._data.contact if c.dist <= 0]

    def _parts(self, name: str) -> list[str]:
        """A thing and what is fastened to it, in turn."""
        found = [name]
        for part in found:
            found += [child for child, (to, _) in self._fastened.items() if to == part]
        return found

    def _along(self, name: str) -> list[str]:
        """What moves with a thing: what is fastened to it, and what rests on any of these."""
        parts = self._parts(name)
        links = {(part, link.name) for part in parts for link in self._placed[part].asset.links}
        return [*parts[1:], *self._riders(links)]

    def _riders(self, moving: set[tuple[str, str]]) -> list[str]:
        """The free objects that rest mostly on the moving links, or on what rests on them."""
        units = self._built.units
        points: dict[str, list[tuple[str, str]]] = {}
        for first, second, up in self._touching():
            lower, upper = (units[first], units[second]) if up > 0 else (units[second], units[first])
            if abs(up) >= UPWARD and lower[0] != upper[0]:
                points.setdefault(upper[0], []).append(lower)
        found: list[str] = []
        loose = [name for name in self._built.free if not self._is_fast(name) and name not in {m for m, _ in moving}]

        def rides(name: str) -> bool:
            supports = points.get(name, [])
            return 2 * sum(unit in moving or unit[0] in found for unit in supports) > len(supports)

        while fresh := [name for name in loose if name not in found and rides(name)]:
            found += fresh
        return found

    def _below(self, name: str, link: str) -> list[str]:
        """A link and those that hang on it."""
        found = [link]
        for part in self._placed[name].asset.links:
            if part.parent in found:
                found.append(part.name)
        return found

    # --- requests -------------------------------------------------------------------------------------------------

    def _loaded(self) -> None:
        if self._spec is None:
            raise EngineError("no scene is loaded: call load first")

    def _known(self, name: str) -> Placed:
        self._loaded()
        if name not in self._placed:
            raise EngineError(f"there is no {name!r} in this scene")
        return self._placed[name]

    def _joint(self, name: str, link: str) -> Joint:
        for part in self._known(name).asset.links:
            if part.name == link and part.joint:
                return part.joint
        moving = [part.name for part in self._placed[name].asset.links if part.joint]
        raise EngineError(f"{name} has no joint {link!r}: {', '.join(moving) or 'it has none'}")
