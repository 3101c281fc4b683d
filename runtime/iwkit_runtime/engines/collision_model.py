"""The scratch model behind the collision world: links as free bodies, pieces as convex meshes, capsules as probes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import mujoco
import numpy as np

from iwkit.errors import UsageError
from iwkit_runtime.engines.mujoco_model import KEPT, shape_digest
from iwkit_runtime.physical.scene_spec import SceneSpec
from iwkit_runtime.physical.spec import Floats, Piece

PROBES = 24
"""Capsules tested at once: a body has 18."""
MEMORY = 2**25
"""Bytes for contacts, of which one takes about 600; MuJoCo drops those for which there is no room."""
SCENE, PROBE = 0, 1
"""Geom groups, by which rays tell things from probes."""
THIN = 1e-6
"""Corners that a plane misses by no more than this, metres, make no solid."""
_EDGE = 1e-9
_UP = np.array([0.0, 0.0, 1.0])


class Capsules(NamedTuple):
    """Capsules with ends (n, 2, 3) in the world and radii (n,); a sphere is one whose ends coincide."""

    ends: Floats
    radii: Floats


class Compiled(NamedTuple):
    """A model and how to find things in it: see `Scratch`. `probes` are the geoms of the capsules."""

    model: Any
    rows: dict[str, dict[str, int]]
    owner: dict[int, str]
    probes: list[int]


_compiled: OrderedDict[str, Compiled] = OrderedDict()


class Scratch:
    """One static body for the building, one free body for each link that has pieces, and the probes, compiled.

    `rows` maps a thing and its link to the row of `poses` (rows, 7: position, quaternion) that places it; the row's
    body has the next number. `owner` is the owner of each geom of the scene. The model of a scene with the same things
    is used again, in a copy: what is tested is written into it.

    Raises:
        UsageError: a piece is no solid.
    """

    def __init__(self, spec: SceneSpec) -> None:
        key = shape_digest(spec)
        if key not in _compiled:
            _compiled[key] = _Builder(spec).compiled()
            if len(_compiled) > KEPT:
                _compiled.popitem(last=False)
        _compiled.move_to_end(key)
        found = _compiled[key]
        self.model: Any = copy(found.model)
        self.data: Any = mujoco.MjData(self.model)
        self.rows, self.owner = found.rows, found.owner
        self.poses: Floats = self.data.qpos.reshape(-1, 7)
        self.probes = Probes(self.model, found.probes, self.poses)

    def refresh(self) -> None:
        """Make the model follow `poses`."""
        mujoco.mj_kinematics(self.model, self.data)

    def collide(self) -> None:
        """Find the contacts of what is tested."""
        self.refresh()
        mujoco.mj_collision(self.model, self.data)

    def test(self, bodies: Sequence[int], *, on: bool, margin: float = 0.0) -> None:
        """Test the pieces of these bodies against all others, or don't."""
        model = self.model
        for body in bodies:
            start = int(model.body_geomadr[body])
            geoms = slice(start, start + int(model.body_geomnum[body]))
            model.geom_contype[geoms] = model.body_contype[body] = on
            model.geom_margin[geoms] = model.body_margin[body] = margin


class _Builder:
    """The scratch model of a scene in the making."""

    def __init__(self, spec: SceneSpec) -> None:
        self._scene = mujoco.MjSpec()
        self._scene.memory = MEMORY
        # several contacts a pair are for resting: with them, a capsule in a mesh has depths that are centimetres off
        self._scene.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)
        _check_solid(spec)
        self._meshes: dict[bytes, str] = {}
        self._geoms: list[tuple[Any, str]] = []
        self._bodies = 0
        self._rows: dict[str, dict[str, int]] = {}
        for static in spec.statics:
            self._add(self._scene.worldbody, static.name, static.pieces)
        for placed in spec.placed:
            rows = self._rows[placed.name] = {}
            for link in placed.asset.links:
                if link.pieces:
                    rows[link.name] = self._bodies
                    self._add(self._body(), placed.name, link.pieces)
        self._probes = [self._probe() for _ in range(PROBES)]

    def compiled(self) -> Compiled:
        """The finished model."""
        model = self._scene.compile()
        owner = {int(geom.id): owner for geom, owner in self._geoms}
        return Compiled(model, self._rows, owner, [int(geom.id) for geom in self._probes])

    def _body(self) -> Any:
        body = self._scene.worldbody.add_body(mass=1, inertia=(1, 1, 1), ipos=(0, 0, 0), explicitinertial=True)
        body.add_freejoint()
        self._bodies += 1
        return body

    def _probe(self) -> Any:
        # tested when compiled, or it would get no bounds for `Probes` to write to
        capsule = mujoco.mjtGeom.mjGEOM_CAPSULE
        return self._body().add_geom(type=capsule, size=(0.1, 0.1, 0), contype=1, conaffinity=0, group=PROBE)

    def _add(self, body: Any, owner: str, pieces: Sequence[Piece]) -> None:
        mesh = mujoco.mjtGeom.mjGEOM_MESH
        for piece in pieces:
            name = self._mesh(owner, piece)
            geom = body.add_geom(type=mesh, meshname=name, contype=0, conaffinity=1, group=SCENE)
            self._geoms.append((geom, owner))

    def _mesh(self, owner: str, piece: Piece) -> str:
        """One mesh for all pieces of the same shape: a dozen chairs are compiled once."""
        points = np.ascontiguousarray(piece.vertices, dtype=np.float64)
        key = points.tobytes()
        if key not in self._meshes:
            self._meshes[key] = f"{owner}/{len(self._meshes)}"
            self._scene.add_mesh(name=self._meshes[key], uservert=points.ravel())
        return self._meshes[key]


class Probes:
    """A pool of capsules, whose shapes are written into the compiled model."""

    def __init__(self, model: Any, geoms: list[int], poses: Floats) -> None:
        self._model = model
        self._first, self._body = geoms[0], int(model.geom_bodyid[geoms[0]])
        self._poses = poses[-len(geoms) :]
        self._numbers = np.arange(PROBES)
        self._bounds = model.body_bvhadr[self._body + self._numbers]
        self.place(None, 0.0)

    def number(self, geom: int) -> int | None:
        """Which probe a geom is; None for a piece of the scene."""
        return geom - self._first if self._first <= geom < self._first + PROBES else None

    def place(self, capsules: Capsules | None, margin: float) -> None:
        """Give the first probes the shape and place of capsules, at most `PROBES`, and switch the others off."""
        model, count = self._model, 0 if capsules is None else len(capsules.radii)
        geoms, bodies = slice(self._first, self._first + PROBES), slice(self._body, self._body + PROBES)
        active = self._numbers < count
        model.geom_contype[geoms] = model.body_contype[bodies] = active
        model.geom_margin[geoms] = model.body_margin[bodies] = margin
        if capsules is not None:
            self._shape(capsules, slice(self._first, self._first + count))

    def _shape(self, capsules: Capsules, geoms: slice) -> None:
        model, (ends, radii) = self._model, capsules
        ways = ends[:, 1] - ends[:, 0]
        halves = np.sqrt((ways * ways).sum(1)) / 2
        count, longest = len(radii), radii + halves
        self._poses[:count, :3] = (ends[:, 0] + ends[:, 1]) / 2
        self._poses[:count, 3:] = _upright(ways, halves)
        model.geom_size[geoms, 0], model.geom_size[geoms, 1] = radii, halves
        model.geom_rbound[geoms] = longest
        # the bounds from which the broad phase decides date from the compilation
        bounds = np.zeros((count, 6))
        bounds[:, 3] = bounds[:, 4] = radii
        bounds[:, 5] = longest
        model.geom_aabb[geoms] = model.bvh_aabb[self._bounds[:count]] = bounds


def _upright(ways: Floats, halves: Floats) -> Floats:
    """Quaternions (n, 4) that turn z along `ways` (n, 3); for spheres any will do."""
    units = np.where(halves[:, None] > _EDGE, ways / np.maximum(2 * halves, _EDGE)[:, None], _UP)
    found = np.zeros((len(units), 4))
    found[:, 0] = 1 + units[:, 2]
    found[:, 1] = -units[:, 1]
    found[:, 2] = units[:, 0]
    found[found[:, 0] < _EDGE] = (0, 1, 0, 0)
    return np.asarray(found / np.sqrt((found * found).sum(1, keepdims=True)))


def _check_solid(spec: SceneSpec) -> None:
    """Raise a UsageError if a piece is no solid; those with the same number of corners are looked at together."""
    owners = [(static.name, static.pieces) for static in spec.statics]
    owners += [(placed.name, link.pieces) for placed in spec.placed for link in placed.asset.links]
    alike: dict[int, list[tuple[str, Floats]]] = {}
    for owner, piece in {id(piece): (owner, piece) for owner, pieces in owners for piece in pieces}.values():
        points = np.asarray(piece.vertices, dtype=np.float64)
        if points.ndim != 2 or len(points) < 4:
            raise _no_solid(owner)
        alike.setdefault(len(points), []).append((owner, points))
    for found in alike.values():
        corners = np.stack([points for _, points in found])
        bad = ~np.isfinite(corners).all((1, 2))
        if not bad.any():
            bad = np.linalg.svd(corners[:, 1:] - corners[:, :1], compute_uv=False)[:, 2] <= THIN
        if bad.any():
            raise _no_solid(found[int(bad.argmax())][0])


def _no_solid(owner: str) -> UsageError:
    return UsageError(f"a piece of '{owner}' has no volume: give four or more points that don't lie in a plane")
