"""A user's file of the licensed SMPL+H model, as the data of a body file (PHY-1, PHY-2; paper B.1).

What such a file doesn't hold is worked out from it: the ends of the bones, the point between the eyes, and clothes, so
that the wearer is dressed as the default body is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from iwkit.errors import UsageError
from iwkit_runtime.body.archives import read_archive
from iwkit_runtime.body.pickles import read_pickle
from iwkit_runtime.body.pose import INDEX, JOINTS

Array = NDArray[Any]

PARENTS: Final = (
    *(-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19),
    *(20, 22, 23, 20, 25, 26, 20, 28, 29, 20, 31, 32, 20, 34, 35),
    *(21, 37, 38, 21, 40, 41, 21, 43, 44, 21, 46, 47, 21, 49, 50),
)
"""The joint tree of SMPL+H: the fingers hang on the wrists."""
MARK: Final = "kintree_table"
"""A key that files of the SMPL family have, and body files of iwkit don't."""

# key -> shape; V vertices, F faces, S shape directions
_SHAPES: Final[Mapping[str, tuple[str | int, ...]]] = {
    MARK: (2, len(JOINTS)),
    "v_template": ("V", 3),
    "shapedirs": ("V", 3, "S"),
    "posedirs": ("V", 3, 9 * (len(JOINTS) - 1)),
    "J_regressor": (len(JOINTS), "V"),
    "weights": ("V", len(JOINTS)),
    "f": ("F", 3),
}
_OTHERS: Final = {16: "a MANO hand", 24: "SMPL, which has no fingers", 55: "SMPL-X"}
"""Models of the same family by their number of joints."""

_CLOTHES: Final[Mapping[str, tuple[tuple[float, float, float], tuple[str, ...]]]] = {
    "skin": ((0.80, 0.60, 0.50), ()),
    "shirt": (
        (0.25, 0.36, 0.55),
        ("spine1", "spine2", "spine3", "left_collar", "right_collar", "left_shoulder", "right_shoulder"),
    ),
    "trousers": ((0.22, 0.22, 0.25), ("pelvis", "left_hip", "right_hip", "left_knee", "right_knee")),
    "shoes": ((0.13, 0.12, 0.12), ("left_ankle", "right_ankle", "left_foot", "right_foot")),
}
"""Colour, and the joints whose skin it covers; the rest is bare."""

_TOWARDS: Final[Mapping[str, tuple[str, float]]] = {
    "pelvis": ("spine1", 1.0),
    "spine3": ("neck", 0.4),
    "left_wrist": ("left_middle1", 0.4),
    "right_wrist": ("right_middle1", 0.4),
}
"""For joints with several children: towards which one the bone goes, and how far of the way."""
_AHEAD: Final[Mapping[str, tuple[float, float, float]]] = {
    "head": (0, 1, 0),
    "left_foot": (0, 0, 1),
    "right_foot": (0, 0, 1),
}
"""Where bones without a child point; a finger's goes on as the one before it."""
_NOSE: Final = 0.16
"""Share of the head's height by which the nose stands out before the eyes, which are half-way up."""


def read_smplh(path: Path, betas: Sequence[float] = ()) -> dict[str, Array]:
    """The arrays of a body file (docs/body.md) from an SMPL+H file, `.npz` or a pickle; hands are flat at rest.

    Args:
        betas: coefficients of the first shape directions; none is the mean body of the file.

    Raises:
        UsageError: the file can't be read, is not an SMPL+H file, or has fewer shape directions.
    """
    data = read_pickle(path, _SHAPES) if path.suffix == ".pkl" else read_archive(path, _SHAPES)
    try:
        _check(data)
        return _body(data, np.asarray(betas, float))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def is_smplh(path: Path) -> bool:
    """Whether a file is to be read as SMPL+H: a pickle, or an archive with a joint tree of that family.

    Raises:
        UsageError: the file can't be read.
    """
    return path.suffix == ".pkl" or MARK in read_archive(path, (MARK,))


def _check(data: Mapping[str, Array]) -> None:
    """Refuse what is not the SMPL+H model, in its axes and metres."""
    if MARK in data and data[MARK].ndim == 2 and data[MARK].shape[1] != len(JOINTS):
        joints = data[MARK].shape[1]
        what = _OTHERS.get(joints, "another model")
        raise UsageError(f"it has {joints} joints, so it is {what}; SMPL+H, with {len(JOINTS)}, is needed")
    if missing := [key for key in _SHAPES if key not in data]:
        raise UsageError(f"it is no SMPL+H file: it lacks {', '.join(missing)}")
    sizes: dict[str | int, int] = {}
    for key, shape in _SHAPES.items():
        found = data[key].shape
        wanted = tuple(n if isinstance(n, int) else sizes.setdefault(n, m) for n, m in zip(shape, found, strict=False))
        if len(found) != len(shape) or found != wanted:
            raise UsageError(f"{key} has the shape {found} where {shape} is needed")
        if data[key].dtype.kind not in "fiub" or not np.isfinite(data[key]).all():
            raise UsageError(f"{key} holds something that is no finite number")
    if not sizes["V"] or not sizes["F"]:
        raise UsageError("it has no vertices or no faces")
    if tuple(data[MARK][0, 1:].astype(np.int64)) != PARENTS[1:]:
        raise UsageError(f"{MARK} is not the joint tree of SMPL+H")
    faces, weights = data["f"], data["weights"].astype(float)
    if faces.min() < 0 or faces.max() >= sizes["V"]:
        raise UsageError(f"f refers to a vertex outside 0 to {sizes['V'] - 1}")
    if weights.min() < 0 or np.abs(weights.sum(1) - 1).max() > 1e-3:
        raise UsageError("weights are negative, or don't sum to 1 for every vertex")


def _body(data: Mapping[str, Array], betas: Array) -> dict[str, Array]:
    shapes = data["shapedirs"].astype(float)
    if betas.ndim != 1 or len(betas) > shapes.shape[2] or not np.isfinite(betas).all():
        raise UsageError(f"betas must be at most {shapes.shape[2]} finite numbers")
    vertices = data["v_template"].astype(float) + shapes[:, :, : len(betas)] @ betas
    joints = data["J_regressor"].astype(float) @ vertices
    _check_stance(vertices, joints)
    weights, faces = data["weights"].astype(float), data["f"].astype(np.int32)
    owner = weights.argmax(1)
    count = int((weights > 0).sum(1).max())
    order = np.argsort(-weights, axis=1, kind="stable")[:, :count]
    owners = weights[faces].sum(1).argmax(1)
    return {
        "v_template": vertices,
        "v_bind": vertices,
        "bind": np.tile(np.eye(3, 4), (len(JOINTS), 1, 1)),
        "posedirs": data["posedirs"],
        "joints": joints,
        "tips": _tips(vertices, joints, owner),
        "parents": np.array(PARENTS, np.int32),
        "weight_idx": order,
        "weight_val": np.take_along_axis(weights, order, 1),
        "faces": faces,
        "uv": np.zeros((1, 2)),
        "face_uv": np.zeros_like(faces),
        "face_part": _dress()[owners],
        "part_names": np.array(list(_CLOTHES)),
        "part_rgb": np.array([colour for colour, _ in _CLOTHES.values()]),
        "joint_names": np.array(JOINTS),
        "eye": _eye(vertices[owner == INDEX["head"]]),
    }


def _check_stance(vertices: Array, joints: Array) -> None:
    """Refuse other axes and units: the model stands upright, y up, left to +x, facing +z, in metres."""
    height = float(np.ptp(vertices[:, 1]))
    head, pelvis, ankle, toes = (joints[INDEX[name]] for name in ("head", "pelvis", "left_ankle", "left_foot"))
    if not head[1] > pelvis[1] > ankle[1]:
        raise UsageError("its head is not over its pelvis and that over its ankles: y must point up")
    if not joints[INDEX["left_wrist"], 0] > pelvis[0] > joints[INDEX["right_wrist"], 0] or not toes[2] > ankle[2]:
        raise UsageError("it doesn't face +z with its left hand to +x")
    if not 0.5 < height < 3:
        raise UsageError(f"it is {height:.3g} high: lengths must be metres")


def _tips(vertices: Array, joints: Array, owner: Array) -> Array:
    """The far end (52, 3) of each joint's bone: the next joint, or where the skin ends."""
    tips = np.empty_like(joints)
    for number, name in enumerate(JOINTS):
        children = [child for child, parent in enumerate(PARENTS) if parent == number]
        if name in _TOWARDS:
            child, share = _TOWARDS[name]
            tips[number] = joints[number] + share * (joints[INDEX[child]] - joints[number])
        elif children:
            tips[number] = joints[children[0]]
        else:
            away = np.array(_AHEAD.get(name, joints[number] - joints[PARENTS[number]]), float)
            skin = vertices[owner == number]
            if not len(skin) or not away.any():
                raise UsageError(f"weights: no vertex follows {name} most of all")
            away /= np.linalg.norm(away)
            tips[number] = joints[number] + ((skin - joints[number]) @ away).max() * away
    return tips


def _eye(head: Array) -> Array:
    """The point between the eyes, from the skin of the head."""
    low, high = head.min(0), head.max(0)
    middle = (low + high) / 2
    return np.array([middle[0], middle[1], high[2] - _NOSE * (high[1] - low[1])])


def _dress() -> Array:
    """The number of the part that covers the skin of each joint (52,)."""
    parts = np.zeros(len(JOINTS), np.int32)
    for number, (_, joints) in enumerate(_CLOTHES.values()):
        parts[[INDEX[name] for name in joints]] = number
    return parts
