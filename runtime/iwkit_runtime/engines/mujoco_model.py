"""The physics of a scene as a MuJoCo model: convex pieces only, nothing that is merely seen.

Each link of a fixture or door is a mocap body, which the engine places and nothing can push; each object is a free
body, its own links hang on it. So poses aren't part of the model, and one model serves every task with the same things.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import mujoco
import numpy as np

from iwkit_runtime.engines.base import EngineError
from iwkit_runtime.physical.scene_spec import Placed, SceneSpec
from iwkit_runtime.physical.spec import Asset, Floats, Link, Piece

STEP = 1 / 240
"""Physics time step, seconds."""
FRICTION = (0.8, 0.01, 0.002)
"""Sliding, torsional and rolling friction; some rolling friction lets round things come to rest."""
STIFFNESS = (0.01, 1.0)
"""Time constant (seconds) and damping of contacts: softer ones leave bananas rocking for ever."""
KEPT = 6
"""Models kept for scenes loaded again."""
_CORNERS = 8
"""Of a box."""
HEAVY = 1e3
"""Armature of an object's own joints, kg m2 or kg: they are driven by hand, contacts don't move them."""


@dataclass(frozen=True, eq=False)
class Built:
    """A model and how to find things in it.

    units: the thing and link, or the building part, of each body. mocap: (thing, link) -> mocap number. free: object ->
    first number of its free joint in (qpos, qvel). hinges: (object, link) -> number in (qpos, qvel).
    """

    model: mujoco.MjModel
    units: tuple[tuple[str, str], ...]
    mocap: dict[tuple[str, str], int]
    free: dict[str, tuple[int, int]]
    hinges: dict[tuple[str, str], tuple[int, int]]


_models: OrderedDict[str, Built] = OrderedDict()


def build(spec: SceneSpec) -> Built:
    """The model of a scene, from the last few when the same things were in it.

    Raises:
        EngineError: an object without a solid piece, or a shape that has no volume.
    """
    key = shape_digest(spec)
    if key not in _models:
        _models[key] = _build(spec)
        if len(_models) > KEPT:
            _models.popitem(last=False)
    _models.move_to_end(key)
    return _models[key]


def shape_digest(spec: SceneSpec) -> str:
    """What a model depends on: names, shapes, masses and joints, not places."""
    found = hashlib.sha256()
    for static in spec.statics:
        found.update(f"{static.name};{len(static.pieces)};".encode())
        for piece in static.pieces:
            found.update(piece.vertices.tobytes())
    for placed in spec.placed:
        found.update(f"{placed.name};{placed.kind};".encode())
        found.update(_asset_digest(placed.asset))
    return found.hexdigest()


@lru_cache(maxsize=4096)
def _asset_digest(asset: Asset) -> bytes:
    found = hashlib.sha256(repr(asset.mass).encode())
    for link in asset.links:
        found.update(repr((link.name, link.parent, link.joint, len(link.pieces))).encode())
        for piece in link.pieces:
            found.update(piece.vertices.tobytes())
    return found.digest()


def _build(spec: SceneSpec) -> Built:
    builder = _Builder(spec)
    for static in spec.statics:
        body = builder.spec.worldbody.add_body(name=f"static/{static.name}")
        for piece in static.pieces:
            builder.geom(body, piece)
    for placed in spec.placed:
        if placed.kind == "object":
            builder.object(placed)
        else:
            builder.fixture(placed)
    try:
        model = builder.spec.compile()
    except ValueError as error:
        raise EngineError(f"this scene can't be simulated: {' '.join(str(error).split())}") from None
    return _indexed(model, spec)


class _Builder:
    """A MuJoCo specification in the making; pieces of the same shape share a mesh."""

    def __init__(self, scene: SceneSpec) -> None:
        self.spec = mujoco.MjSpec()
        option = self.spec.option
        option.timestep = STEP
        option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        option.impratio = 10
        option.gravity = [0, 0, -9.81]
        usual = self.spec.default.geom
        usual.condim, usual.friction, usual.solref = 6, FRICTION, STIFFNESS
        self._meshes: dict[bytes, str] = {}
        self._boxes = _boxes(scene)

    def geom(self, body: mujoco.MjsBody, piece: Piece, mass: float = 0.0) -> None:
        """Add a convex piece; an upright box as such, which contacts of flat faces are best resolved for."""
        box = self._boxes.get(id(piece))
        if box is not None:
            centre, half = box
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=half, pos=centre, mass=mass)
        else:
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=self._mesh(piece.vertices), mass=mass)

    def _mesh(self, vertices: Floats) -> str:
        key = vertices.tobytes()
        if key not in self._meshes:
            name = self._meshes[key] = f"piece{len(self._meshes)}"
            self.spec.add_mesh(name=name).uservert = vertices.ravel()
        return self._meshes[key]

    def fixture(self, placed: Placed) -> None:
        """Add a mocap body for every link."""
        for link in placed.asset.links:
            body = self.spec.worldbody.add_body(name=f"{placed.name}/{link.name}", mocap=True)
            for piece in link.pieces:
                self.geom(body, piece)

    def object(self, placed: Placed) -> None:
        """Add a free body with the object's mass spread over its pieces by their size."""
        volumes = {id(piece): _bulk(piece) for link in placed.asset.links for piece in link.pieces}
        whole = sum(volumes.values())
        if not whole > 0:
            raise EngineError(f"{placed.name}: an object needs a solid piece, or it would fall through everything")
        bodies: dict[str | None, mujoco.MjsBody] = {None: self.spec.worldbody}
        for link in placed.asset.links:
            body = bodies[link.name] = bodies[link.parent].add_body(name=f"{placed.name}/{link.name}")
            self._joint(body, link)
            for piece in link.pieces:
                self.geom(body, piece, placed.asset.mass * volumes[id(piece)] / whole)

    def _joint(self, body: mujoco.MjsBody, link: Link) -> None:
        if link.parent is None:
            body.add_freejoint()
            return
        if link.joint is None:
            return
        hinge = link.joint.kind == "hinge"
        kind = mujoco.mjtJoint.mjJNT_HINGE if hinge else mujoco.mjtJoint.mjJNT_SLIDE
        body.add_joint(type=kind, axis=link.joint.axis, pos=link.joint.anchor, armature=HEAVY)
        if not link.pieces:
            body.mass, body.inertia, body.explicitinertial = 1e-3, [1e-6] * 3, True


def _boxes(spec: SceneSpec) -> dict[int, tuple[Floats, Floats]]:
    """Centre and half size of each piece, by its id, that is an upright box."""
    links = (link.pieces for placed in spec.placed for link in placed.asset.links)
    every = chain.from_iterable([*(static.pieces for static in spec.statics), *links])
    found = list({id(piece): piece for piece in every if len(piece.vertices) == _CORNERS}.values())
    if not found:
        return {}
    vertices = np.stack([piece.vertices for piece in found])
    low, high = vertices.min(1), vertices.max(1)
    centres = (low + high) / 2
    upper = vertices > centres[:, None]
    nearest = np.where(upper, high[:, None], low[:, None])
    upright = (np.abs(vertices - nearest) <= 1e-7 + 1e-5 * np.abs(nearest)).all((1, 2))
    upright &= (np.sort(upper @ (1, 2, 4), axis=1) == np.arange(_CORNERS)).all(1)
    halves = (high - low) / 2
    return {id(found[n]): (centres[n], halves[n]) for n in np.flatnonzero(upright).tolist()}


@lru_cache(maxsize=16384)
def _bulk(piece: Piece) -> float:
    return float(np.prod(np.ptp(piece.vertices, axis=0)))


def _indexed(model: mujoco.MjModel, spec: SceneSpec) -> Built:
    units: list[tuple[str, str]] = [("", "")] * model.nbody
    for static in spec.statics:
        units[model.body(f"static/{static.name}").id] = (static.name, "")
    mocap: dict[tuple[str, str], int] = {}
    free: dict[str, tuple[int, int]] = {}
    hinges: dict[tuple[str, str], tuple[int, int]] = {}
    for placed, link in _links(spec):
        key = (placed.name, link.name)
        body = model.body(f"{placed.name}/{link.name}").id
        units[body] = key
        first = int(model.body_jntadr[body])
        if placed.kind != "object":
            mocap[key] = int(model.body_mocapid[body])
        elif link.parent is None:
            free[placed.name] = (int(model.jnt_qposadr[first]), int(model.jnt_dofadr[first]))
        elif link.joint is not None:
            hinges[key] = (int(model.jnt_qposadr[first]), int(model.jnt_dofadr[first]))
    return Built(model, tuple(units), mocap, free, hinges)


def _links(spec: SceneSpec) -> Iterator[tuple[Placed, Link]]:
    for placed in spec.placed:
        for link in placed.asset.links:
            yield placed, link
