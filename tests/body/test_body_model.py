"""Pose layout, file, forward kinematics and skinning, against independent implementations (PHY-1, PHY-2)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from iwkit.errors import UsageError
from iwkit.resources import default_body
from iwkit_runtime.body import pose as poses
from iwkit_runtime.body import rotations
from iwkit_runtime.body.model import Body, Placement, heading_of, joint, load_body
from iwkit_runtime.body.pose import INDEX, JOINTS, BodyPose

seeds = st.integers(0, 2**32 - 1)


def random_pose(seed: int, spread: float = 0.6) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, spread, poses.POSE_SIZE)


def naive_forward(body: Body, pose: np.ndarray, translation: np.ndarray) -> np.ndarray:
    """Joint by joint, as 4x4 chains with SciPy's rotations."""
    frames = np.zeros((52, 4, 4))
    for i, parent in enumerate(body.parents):
        local = np.eye(4)
        local[:3, :3] = Rotation.from_rotvec(pose[3 * i : 3 * i + 3]).as_matrix()
        local[:3, 3] = body.joints[i] - (body.joints[parent] if parent >= 0 else 0)
        if parent < 0:
            world = np.eye(4)
            world[:3, :3] = Rotation.from_euler("x", 90, degrees=True).as_matrix()
            world[:3, 3] = translation
            frames[i] = world @ local
        else:
            frames[i] = frames[parent] @ local
    return frames


def naive_skin(body: Body, frames: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    out = []
    for v in vertices:
        total = np.zeros(3)
        for number, weight in zip(body.influences[v], body.weights[v], strict=True):
            rest = np.eye(4)
            rest[:3, 3] = -body.joints[number]
            bind = np.vstack([body.bind[number], [0, 0, 0, 1]])
            total += weight * (frames[number] @ rest @ bind @ np.append(body.bound[v], 1))[:3]
        out.append(total)
    return np.array(out)


# --- rotations ----------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(seed=seeds, scale=st.sampled_from([0.0, 1e-9, 1e-5, 0.3, 1.0, 3.0, 20.0]))
def test_rotations_agree_with_scipy(seed: int, scale: float) -> None:
    vectors = np.random.default_rng(seed).normal(0, 1, (20, 3)) * scale
    matrices = Rotation.from_rotvec(vectors).as_matrix()
    assert np.allclose(rotations.matrix(vectors), matrices, atol=1e-12)
    assert np.allclose(rotations.vector(matrices), Rotation.from_matrix(matrices).as_rotvec(), atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([0.0, 1e-9, 1e-6, 1e-3, 1.0, np.pi]))
def test_one_rotation_is_computed_like_many(seed: int, scale: float) -> None:
    turns = np.random.default_rng(seed).normal(size=(4, 3))
    turns *= scale / np.linalg.norm(turns, axis=1, keepdims=True)
    matrices = rotations.matrix(turns)
    assert np.allclose([rotations.matrix(turn) for turn in turns], matrices, rtol=0, atol=1e-14)
    assert np.allclose([rotations.vector(m) for m in matrices], rotations.vector(matrices), rtol=0, atol=1e-12)
    assert np.allclose([rotations.cross(turns[0], turn) for turn in turns], np.cross(turns[0], turns), atol=1e-15)
    assert np.allclose(rotations.cross(turns[:1], turns), np.cross(turns[0], turns), atol=1e-15)
    assert np.allclose([rotations.unit(turn) for turn in turns], rotations.unit(turns), rtol=0, atol=1e-14)
    for axis, turn in zip("xyz", np.eye(3) * scale, strict=True):
        assert np.allclose(rotations.about(axis, scale), rotations.matrix(turn), rtol=0, atol=1e-14)


def test_half_turns_have_an_axis() -> None:
    for axis in np.vstack([np.eye(3), [[0.6, 0.8, 0], [0.0, -0.6, 0.8], [1 / 3, 2 / 3, 2 / 3]]]):
        turn = Rotation.from_rotvec(np.pi * axis).as_matrix()
        assert np.allclose(rotations.matrix(rotations.vector(turn)), turn, atol=1e-9)


@settings(max_examples=50)
@given(seed=seeds, share=st.floats(0, 1))
def test_a_blend_is_on_the_arc(seed: int, share: float) -> None:
    a, b = Rotation.random(2, rng=seed)
    whole = (a.inv() * b).magnitude()
    middle = Rotation.from_rotvec(rotations.blend(a.as_rotvec(), b.as_rotvec(), share))
    assert (a.inv() * middle).magnitude() == pytest.approx(share * whole, abs=1e-6)
    assert (middle.inv() * b).magnitude() == pytest.approx((1 - share) * whole, abs=1e-6)


# --- the pose -----------------------------------------------------------------------------------------------------


def test_the_layout_is_that_of_smplh(body: Body) -> None:
    assert len(JOINTS) == 52 == len(set(JOINTS))
    assert 3 * INDEX["left_index1"] == poses.HAND["left"].start == 66
    assert 3 * INDEX["right_index1"] == poses.HAND["right"].start == 111
    assert [JOINTS[body.parents[INDEX[f"{s}_thumb1"]]] for s in ("left", "right")] == ["left_wrist", "right_wrist"]
    fingers = [name.removeprefix("left_").rstrip("1") for name in JOINTS[22:37:3]]
    assert fingers == ["index", "middle", "pinky", "ring", "thumb"]


@given(seed=seeds)
@settings(max_examples=20)
def test_packing_is_the_inverse_of_unpacking(seed: int) -> None:
    pose = random_pose(seed)
    assert np.array_equal(poses.pack(poses.unpack(pose)), pose)


def test_only_the_named_joints_change() -> None:
    pose, other = random_pose(1), random_pose(2)
    mixed = poses.overlay(pose, other, poses.arm_joints("right"))
    changed = {JOINTS[i] for i in range(52) if not np.array_equal(mixed[3 * i : 3 * i + 3], pose[3 * i : 3 * i + 3])}
    assert changed == set(poses.arm_joints("right"))
    assert len(changed) == 4 + 15


@pytest.mark.parametrize(
    ("call", "needle"),
    [
        (lambda: poses.checked(np.zeros(155)), "156"),
        (lambda: poses.checked(np.zeros((1, 156))), "156"),
        (lambda: poses.checked([0.0] * 45 + [float("nan")] + [0.0] * 110), "head"),
        (lambda: poses.pack({"left_toe": (0, 0, 0)}), "left_toe"),
        (lambda: poses.pack({"head": (0, 0)}), "head"),
        (lambda: poses.overlay(np.zeros(156), np.zeros(156), ["tail"]), "tail"),
    ],
)
def test_bad_poses_are_refused(call: Any, needle: str) -> None:
    with pytest.raises(UsageError, match=needle):
        call()


def test_frames_blend_from_one_to_the_other() -> None:
    a, b = BodyPose(random_pose(1, 0.2), np.zeros(3)), BodyPose(random_pose(2, 0.2), np.ones(3))
    assert np.allclose(poses.blend(a, b, 0).pose, a.pose) and np.allclose(poses.blend(a, b, 1).pose, b.pose)
    assert np.allclose(poses.blend(a, b, 0.25).translation, 0.25)


# --- forward kinematics and skin ----------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=seeds, x=st.floats(-50, 50), y=st.floats(-50, 50))
def test_forward_and_skin_agree_with_chains(body: Body, seed: int, x: float, y: float) -> None:
    pose, translation = random_pose(seed), np.array([x, y, 0.9])
    frames = body.forward(pose, translation)
    assert np.allclose(frames, naive_forward(body, pose, translation), atol=1e-9)
    some = np.random.default_rng(seed).integers(0, len(body.vertices), 40, np.int32)
    expected = naive_skin(body, frames, some)
    assert np.abs(body.skin(frames)[some] - expected).max() < 1e-5
    assert np.abs(body.skin(frames, some) - expected).max() < 1e-5


def test_the_rest_pose_stands_on_the_floor_and_faces_minus_y(body: Body) -> None:
    frames = body.forward(np.zeros(156), (0, 0, -body.ground))
    skin = body.skin(frames)
    assert abs(skin[:, 2].min()) < 1e-5
    assert 1.6 < skin[:, 2].max() < 1.9
    assert joint(frames, "left_wrist")[0, 3] > 0 > joint(frames, "right_wrist")[0, 3]
    assert joint(frames, "left_foot")[1, 3] < joint(frames, "left_ankle")[1, 3]
    assert heading_of(np.zeros(156)) == pytest.approx(-np.pi / 2)


@settings(max_examples=30, deadline=None)
@given(x=st.floats(-9, 9), y=st.floats(-9, 9), heading=st.floats(-3.1, 3.1), floor=st.floats(-1, 1))
def test_someone_placed_faces_the_heading(body: Body, x: float, y: float, heading: float, floor: float) -> None:
    placed = body.placed(Placement(np.zeros(156), np.array([0.0, 0.94, 0.1])), x, y, heading, floor)
    assert heading_of(placed.pose) == pytest.approx(heading, abs=1e-6)
    pelvis = body.forward(*placed)[0, :3, 3]
    ahead = np.array([np.cos(heading), np.sin(heading)])
    assert np.allclose(pelvis, [*(np.array([x, y]) + 0.1 * ahead), floor + 0.94], atol=1e-9)


def test_normals_point_outwards(body: Body) -> None:
    skin = body.skin(body.forward(random_pose(3, 0.2), np.zeros(3)))
    normals = body.normals(skin)
    assert np.allclose(np.linalg.norm(normals, axis=1), 1)
    corner = skin[body.faces]
    volume = np.einsum("fi,fi->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) / 6
    assert 0.04 < volume < 0.12
    arm = body.weight_table[:, INDEX["left_elbow"]] > 0.9
    rest_normals = body.normals(body.vertices)[arm]
    away = body.vertices[arm] - body.joints[INDEX["left_elbow"]]
    assert (np.einsum("vi,vi->v", rest_normals[:, 1:], away[:, 1:]) > 0).mean() > 0.95


@pytest.mark.parametrize("translation", [(0, 0), (0, 0, float("inf")), [[0, 0, 0]]])
def test_bad_translations_are_refused(body: Body, translation: Any) -> None:
    with pytest.raises(UsageError, match="translation"):
        body.forward(np.zeros(156), translation)


# --- the file -----------------------------------------------------------------------------------------------------


def changed(tmp_path: Path, **changes: Any) -> Path:
    with np.load(default_body()) as archive:
        data = {key: archive[key] for key in archive.files}
    data |= changes
    path = tmp_path / "body.npz"
    np.savez(path, **{key: value for key, value in data.items() if value is not None})
    return path


def test_another_file_of_the_format_loads(body: Body, tmp_path: Path) -> None:
    few = 300  # no number of vertices is built in
    kept = (body.faces < few).all(1)
    path = changed(
        tmp_path,
        **{name: getattr(body, field)[:few] for name, field in (("v_template", "vertices"), ("v_bind", "bound"))},
        weight_idx=body.influences[:few],
        weight_val=body.weights[:few],
        faces=body.faces[kept],
        face_uv=body.face_uv[kept],
        face_part=body.face_part[kept],
    )
    small = load_body(path)
    assert len(small.vertices) == few
    assert small.skin(small.forward(np.zeros(156), np.zeros(3))).shape == (few, 3)


def broken_parents() -> np.ndarray:
    parents = load_body().parents.copy()
    parents[5] = 30
    return parents


@pytest.mark.parametrize(
    ("changes", "needle"),
    [
        ({"eye": None}, "lacks eye"),
        ({"joints": np.zeros((24, 3))}, "joints has the shape"),
        ({"weight_idx": np.zeros((7, 4), np.uint8)}, "weight_idx has the shape"),
        ({"uv": np.full((12664, 2), np.nan)}, "uv holds numbers"),
        ({"joint_names": np.array(["bone"] * 52)}, "joint_names"),
        ({"parents": broken_parents()}, "parents"),
        ({"weight_val": np.zeros((12247, 4))}, "sum to zero"),
        ({"faces": np.full((23484, 3), 12247)}, "faces refers to number 12247"),
        ({"faces": np.full((23484, 3), -1)}, "faces refers to number -1"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, changes: dict[str, Any], needle: str) -> None:
    with pytest.raises(UsageError, match=needle):
        load_body(changed(tmp_path, **changes))


def saved(save: Any, *arguments: Any, **named: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *arguments, **named)
    return buffer.getvalue()


WHOLE = default_body().read_bytes()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not an archive",
        b"PK\x03\x04 torn",
        WHOLE[: len(WHOLE) // 2],
        WHOLE[:2000] + bytes(2000) + WHOLE[4000:],
        saved(np.save, np.zeros(3)),
        saved(np.savez, eye=np.array([{}, {}, {}])),
    ],
    ids=["empty", "text", "torn", "half", "damaged", "one array", "pickled"],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "body.npz"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"body\.npz") as caught:
        load_body(path)
    assert "trust" not in str(caught.value)  # NumPy's advice would be to run what the file holds
    with pytest.raises(UsageError, match="missing"):
        load_body(tmp_path / "missing.npz")
