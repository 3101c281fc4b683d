"""The body model: file, forward kinematics by tree depth, linear blend skinning (PHY-1, PHY-2; paper B.1).

The model is y up and faces +z. One fixed rotation of 90 degrees about x, `TO_WORLD`, takes it into the z-up world,
where a pose with a zero root faces -y. `heading` is the direction that the wearer faces, anticlockwise from the world's
+x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iwkit.errors import UsageError
from iwkit.resources import body_file
from iwkit_runtime.body import rotations
from iwkit_runtime.body.archives import read_archive
from iwkit_runtime.body.pose import INDEX, JOINTS, ROOT, BodyPose, checked, vector
from iwkit_runtime.body.smplh import is_smplh, read_smplh

Array = NDArray[np.float64]
Indices = NDArray[np.int32]
Solver = Literal["swivel", "ccd"]
"""What solves an arm: analytically with the swivel of the elbow sampled, or by the paper's descent."""

TO_WORLD: Array = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
"""From the axes of the model (x left, y up, z forward) to those of the world at a zero root."""

# key of the file -> shape; V vertices, K joints that move one, F faces, T texture points, P parts, and a number stands
# for itself
_SHAPES: dict[str, tuple[str | int, ...]] = {
    "v_template": ("V", 3),
    "v_bind": ("V", 3),
    "bind": (len(JOINTS), 3, 4),
    "joints": (len(JOINTS), 3),
    "tips": (len(JOINTS), 3),
    "parents": (len(JOINTS),),
    "weight_idx": ("V", "K"),
    "weight_val": ("V", "K"),
    "faces": ("F", 3),
    "uv": ("T", 2),
    "face_uv": ("F", 3),
    "face_part": ("F",),
    "part_names": ("P",),
    "part_rgb": ("P", 3),
    "joint_names": (len(JOINTS),),
    "eye": (3,),
}
_INDEXES = {"faces": "V", "face_uv": "T", "face_part": "P"}


class Placement(NamedTuple):
    """A body frame relative to where the wearer stands: `pose` with no heading, `pelvis` (3,) in model axes from the
    point on the floor (x left, y up, z forward), metres."""

    pose: Array
    pelvis: Array


@dataclass(frozen=True, eq=False, repr=False)
class Cycle:
    """Two steps of recorded walking (`cycle.py`), by the distance gone: poses (n, 156) with no heading, of which the
    first has the left foot in front; how far (n, 2) the pelvis is to the left and up of its mean; metres of a stride.
    """

    poses: Array
    pelvis: Array
    stride: float


@dataclass(frozen=True, eq=False, repr=False)
class Body:
    """A body of fixed shape with V vertices, F faces, 52 joints; lengths in metres, model axes (y up, faces +z).

    vertices (V, 3) in the T-pose; bound (V, 3) as drawn and bind (52, 3, 4), which takes them to the T-pose joint by
    joint; joints (52, 3); tips (52, 3) the far end of each joint's bone; parents (52,) with -1 for the root;
    influences (V, K) joints and weights (V, K) that sum to 1; faces (F, 3); uv (T, 2) with face_uv (F, 3);
    face_part (F,) into part_names and part_rgb (P, 3) in [0, 1]; eye (3,) the point between the eyes; correctives
    (459, 3, V), how far a vertex moves for each number by which the rotation of a joint below the root departs from
    rest, or None. `solver` is what solves its arms (`arms.py`), `cycle` how it walks; None: as authored (`gait.py`).
    """

    vertices: Array
    bound: Array
    bind: Array
    joints: Array
    tips: Array
    parents: Indices
    influences: Indices
    weights: Array
    faces: Indices
    uv: Array
    face_uv: Indices
    face_part: Indices
    part_names: tuple[str, ...]
    part_rgb: Array
    eye: Array
    correctives: NDArray[np.float32] | None = None
    solver: Solver = "swivel"
    cycle: Cycle | None = None

    @cached_property
    def offsets(self) -> Array:
        """Each joint relative to its parent at rest (52, 3); the root's is its own place."""
        out = self.joints.copy()
        out[1:] -= self.joints[self.parents[1:]]
        return out

    @cached_property
    def levels(self) -> tuple[tuple[Indices, Indices], ...]:
        """The joints below the root by depth in the tree, with their parents: what forward kinematics turns at once."""
        depth = np.zeros(len(self.parents), np.int32)
        for joint in range(1, len(depth)):
            depth[joint] = depth[self.parents[joint]] + 1
        levels = (np.flatnonzero(depth == d).astype(np.int32) for d in range(1, int(depth.max()) + 1))
        return tuple((level, self.parents[level]) for level in levels)

    @cached_property
    def ground(self) -> float:
        """Height (model y) of the soles in the T-pose."""
        return float(self.vertices[:, 1].min())

    @cached_property
    def weight_table(self) -> Array:
        """The weights as a full table (V, 52)."""
        table = np.zeros((len(self.weights), len(JOINTS)))
        rows = np.arange(len(table))
        for influence, weight in zip(self.influences.T, self.weights.T, strict=True):
            table[rows, influence] += weight  # one of each vertex at a time, as one may be named twice
        return table

    @cached_property
    def carried_by(self) -> Indices:
        """The joint (V,) that moves each vertex most."""
        return np.asarray(self.weight_table.argmax(1), np.int32)

    @cached_property
    def _skinning(self) -> tuple[Indices, NDArray[np.float32], NDArray[np.float32]]:
        """Influences (K, V), weights (K, V) and homogeneous points (4, V), laid out for `skin`."""
        points = np.concatenate([self.bound, np.ones((len(self.bound), 1))], 1)
        return (
            np.ascontiguousarray(self.influences.T),
            np.ascontiguousarray(self.weights.T, np.float32),
            np.ascontiguousarray(points.T, np.float32),
        )

    def forward(self, pose: ArrayLike, translation: ArrayLike) -> Array:
        """World frames (52, 4, 4) of the joints, read-only: at rest, joint axes are the model's axes.

        Args:
            pose: (156,) radians.
            translation: (3,) world metres.

        Raises:
            UsageError: a pose or a translation of another shape or with numbers that are not finite.
        """
        return _forward(self, checked(pose).tobytes(), vector("the translation", translation).tobytes())

    def skin(self, frames: Array, vertices: Indices | None = None) -> Array:
        """World vertices (V, 3), or those of the given numbers, for the joint frames (52, 4, 4)."""
        turn = frames[:, :3, :3]
        move = frames[:, :3, 3] - (turn @ self.joints[:, :, None])[..., 0]
        bone = np.concatenate([turn @ self.bind[:, :, :3], turn @ self.bind[:, :, 3:] + move[:, :, None]], -1)
        # Relative to the pelvis, so that single precision keeps micrometres anywhere in a scene.
        origin = frames[0, :3, 3]
        bone[:, :, 3] -= origin
        influences, weights, points = self._skinning
        if vertices is not None:
            influences, weights, points = influences[:, vertices], weights[:, vertices], points[:, vertices]
        if self.correctives is not None:
            points = points + self._corrected(turn, vertices)
        # Gathered by hand: a product with the full table would wait for BLAS threads when worlds share few cores.
        columns = np.ascontiguousarray(bone.reshape(-1, 12).T, np.float32)
        mixed = columns[:, influences[0]] * weights[0]
        for k in range(1, len(influences)):
            mixed += columns[:, influences[k]] * weights[k]
        return np.asarray((mixed.reshape(3, 4, -1) * points).sum(1, dtype=np.float32).T + origin)

    def _corrected(self, turn: Array, vertices: Indices | None) -> NDArray[np.float32]:
        """How the pose moves the points (4, V) before they are skinned, for the rotations (52, 3, 3) of the joints."""
        assert self.correctives is not None  # noqa: S101  the caller asked
        local = np.swapaxes(turn[self.parents[1:]], 1, 2) @ turn[1:]
        bent = (local - np.eye(3)).ravel().astype(np.float32)
        directions = self.correctives if vertices is None else self.correctives[:, :, vertices]
        moved = np.zeros((4, directions.shape[2]), np.float32)
        moved[:3] = np.tensordot(bent, directions, 1)
        return moved

    def normals(self, vertices: Array) -> Array:
        """Outward unit normals (V, 3) of skinned vertices (V, 3), weighted by face area."""
        corners = vertices[self.faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        flat = self.faces.ravel()
        spread = np.repeat(normal, 3, axis=0)
        summed = np.stack([np.bincount(flat, spread[:, k], len(vertices)) for k in range(3)], -1)
        return rotations.unit(summed)

    def placed(self, placement: Placement, x: float, y: float, heading: float, floor: float = 0.0) -> BodyPose:
        """The body frame of someone who stands at (x, y) on a floor, facing `heading` radians from +x."""
        yaw = rotations.about("y", heading + np.pi / 2)
        pose = checked(placement.pose).copy()
        pose[ROOT] = rotations.vector(yaw @ rotations.matrix(pose[ROOT]))
        pelvis = TO_WORLD @ (yaw @ placement.pelvis) + (x, y, floor)
        return BodyPose(pose, pelvis - TO_WORLD @ self.joints[0])


@lru_cache(maxsize=512)
def _forward(body: Body, pose: bytes, translation: bytes) -> Array:
    """`Body.forward` for the bytes of its arguments: a body frame is screened, looked from and gripped with in turn."""
    frames = np.zeros((len(JOINTS), 4, 4))
    frames[:, :3, :3] = rotations.matrix(np.frombuffer(pose).reshape(-1, 3))
    frames[:, :3, 3] = body.offsets
    frames[:, 3, 3] = 1
    frames[0, :3] = TO_WORLD @ frames[0, :3]
    frames[0, :3, 3] += np.frombuffer(translation)
    for level, above in body.levels:
        frames[level] = frames[above] @ frames[level]
    frames.flags.writeable = False
    return frames


def heading_of(pose: ArrayLike) -> float:
    """The direction the pelvis faces, radians from the world's +x, in (-pi, pi]."""
    forward = TO_WORLD @ rotations.matrix(checked(pose)[ROOT])[:, 2]
    return float(np.arctan2(forward[1], forward[0]))


def load_body(path: Path | None = None, betas: Sequence[float] = ()) -> Body:
    """The wearer's body: the default one or the user's (`iwkit.resources.body_file`), or that of another file.

    Args:
        path: a body file or a file of the SMPL+H model (docs/body.md).
        betas: shape coefficients, for an SMPL+H file only.

    Raises:
        UsageError: no such file, one of another kind, a missing key, a wrong shape, or another joint tree.
    """
    path = body_file() if path is None else path
    licensed = is_smplh(path)
    data = read_smplh(path, betas) if licensed else read_archive(path, _SHAPES)
    if len(betas) and not licensed:
        raise UsageError(f"{path} has one shape only: betas are for files of the SMPL+H model")
    _check(path, data)
    weights = data["weight_val"].astype(float)
    directions = data.get("posedirs")
    return Body(
        vertices=data["v_template"].astype(float),
        bound=data["v_bind"].astype(float),
        bind=data["bind"].astype(float),
        joints=data["joints"].astype(float),
        tips=data["tips"].astype(float),
        parents=data["parents"].astype(np.int32),
        influences=data["weight_idx"].astype(np.int32),
        weights=weights / weights.sum(1, keepdims=True),
        faces=data["faces"].astype(np.int32),
        uv=data["uv"].astype(float),
        face_uv=data["face_uv"].astype(np.int32),
        face_part=data["face_part"].astype(np.int32),
        part_names=tuple(str(name) for name in data["part_names"]),
        part_rgb=data["part_rgb"].astype(float),
        eye=data["eye"].astype(float),
        correctives=None if directions is None else np.ascontiguousarray(directions.T, np.float32),
    )


def _check(path: Path, data: dict[str, NDArray[Any]]) -> None:
    """Refuse what is not a body with the joint tree of SMPL+H."""
    if missing := [key for key in _SHAPES if key not in data]:
        raise UsageError(f"{path} is no body file: it lacks {', '.join(missing)} (docs/body.md lists the keys)")
    sizes: dict[str | int, int] = {}
    for key, shape in _SHAPES.items():
        found = data[key].shape
        expected = tuple(
            n if isinstance(n, int) else sizes.setdefault(n, found[i]) for i, n in enumerate(shape[: len(found)])
        )
        if len(found) != len(shape) or found != expected:
            raise UsageError(f"{path}: {key} has the shape {found} where {shape} is needed")
        if data[key].dtype.kind == "f" and not np.isfinite(data[key]).all():
            raise UsageError(f"{path}: {key} holds numbers that are not finite")
    if tuple(str(name) for name in data["joint_names"]) != JOINTS:
        raise UsageError(f"{path}: joint_names are not the 52 of SMPL+H in their order")
    parents = data["parents"].astype(int)
    if parents[0] != -1 or not all(0 <= parents[i] < i for i in range(1, len(parents))):
        raise UsageError(f"{path}: parents must be -1 for the root, and for every other joint one that comes before it")
    for key, what in _INDEXES.items():
        wrong = data[key][(data[key] < 0) | (data[key] >= sizes[what])]
        if wrong.size:
            raise UsageError(f"{path}: {key} refers to number {wrong.flat[0]} of only {sizes[what]}")
    if data["weight_idx"].max(initial=0) >= len(JOINTS) or not (data["weight_val"].astype(float).sum(1) > 0).all():
        raise UsageError(f"{path}: every vertex needs weights on joints 0 to {len(JOINTS) - 1} that do not sum to zero")


def joint(frames: Array, name: str) -> Array:
    """The frame (4, 4) of a joint by name."""
    return np.asarray(frames[INDEX[name]])
