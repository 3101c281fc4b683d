"""Files of the licensed SMPL+H model, here synthetic ones of the same format (PHY-1, PHY-2)."""

from __future__ import annotations

import dataclasses
import io
import os
import pickle
import struct
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from body_models.smplh.numpy import SMPLH
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from iwkit.errors import UsageError
from iwkit.lock import body_digest, body_label
from iwkit.report.summary import Summary, title
from iwkit.resources import BODY, default_body
from iwkit_runtime import doctor
from iwkit_runtime.body.arms import reach
from iwkit_runtime.body.capsules import build_rig
from iwkit_runtime.body.gait import walk
from iwkit_runtime.body.model import TO_WORLD, Body, load_body
from iwkit_runtime.body.pickles import read_pickle
from iwkit_runtime.body.pose import INDEX, JOINTS
from iwkit_runtime.body.posture import stand
from iwkit_runtime.body.smplh import PARENTS, read_smplh
from iwkit_runtime.runs import Config

Data = dict[str, Any]
AROUND = np.vstack([np.eye(3), -np.eye(3)])
SHAPES = 16


def synthetic(body: Body) -> Data:
    """A small model of the format: six vertices round each joint, which the regressor averages, and random blends."""
    rng = np.random.default_rng(7)
    joints, count = body.joints + rng.normal(0, 0.003, (52, 3)), 52 * len(AROUND)
    vertices = (joints[:, None] + 0.02 * AROUND).reshape(-1, 3)
    weights = np.zeros((count, 52))
    for v in range(count):  # from one joint to six; the joint in the middle comes first
        others = rng.choice(52, v % 6, replace=False)
        weights[v, others] = rng.uniform(0, 0.3, len(others))
        weights[v, v // len(AROUND)] = 2
    regressor = np.zeros((52, count))
    regressor[np.arange(count) // len(AROUND), np.arange(count)] = 1 / len(AROUND)
    return {
        "v_template": vertices,
        "shapedirs": rng.normal(0, 0.002, (count, 3, SHAPES)),
        "posedirs": rng.normal(0, 0.002, (count, 3, 459)),
        "J_regressor": regressor,
        "weights": weights / weights.sum(1, keepdims=True),
        "kintree_table": np.array([[2**32 - 1, *PARENTS[1:]], range(52)], np.uint32),
        "f": rng.permuted(np.tile(np.arange(count, dtype=np.uint32), (400, 1)), axis=1)[:, :3],
        "hands_componentsl": np.eye(45),
        "hands_componentsr": np.eye(45),
        "hands_meanl": rng.normal(0, 0.2, 45),
        "hands_meanr": rng.normal(0, 0.2, 45),
    }


@pytest.fixture(scope="module")
def data(body: Body) -> Data:
    return synthetic(body)


@pytest.fixture(scope="module")
def file(data: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("smplh") / "model.npz"
    # The published archives hold a dictionary of joint names as a pickled object too: it is left alone.
    np.savez(path, **data, joint2num=np.array({name: n for n, name in enumerate(JOINTS)}, object))
    return path


def saved(tmp_path: Path, data: Data, **changes: Any) -> Path:
    path = tmp_path / "model.npz"
    np.savez(path, **{key: value for key, value in {**data, **changes}.items() if value is not None})
    return path


# --- the same body as elsewhere -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def other(file: Path) -> SMPLH:
    return SMPLH(model_path=file, flat_hand_mean=True)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shaped=st.booleans())
def test_joints_and_vertices_agree_with_body_models(file: Path, other: SMPLH, seed: int, shaped: bool) -> None:
    rng = np.random.default_rng(seed)
    pose, translation = rng.normal(0, 0.6, 156), rng.uniform(-3, 3, 3)
    betas = rng.normal(0, 1, SHAPES) * shaped
    body = load_body(file, betas) if shaped else load_body(file)
    arguments = {
        "body_pose": pose[3:66].reshape(21, 3).astype("f4"),
        "hand_pose": pose[66:].reshape(30, 3).astype("f4"),
        "pelvis_rotation": pose[:3].astype("f4"),
        "shape": betas.astype("f4"),
    }
    frames = body.forward(pose, translation)
    joints = np.asarray(other.forward_skeleton(**arguments))[:, :3, 3] @ TO_WORLD.T + translation
    vertices = np.asarray(other.forward_vertices(**arguments)) @ TO_WORLD.T + translation
    assert np.abs(frames[:, :3, 3] - joints).max() < 1e-5
    assert np.abs(body.skin(frames) - vertices).max() < 1e-5
    some = rng.integers(0, len(vertices), 30)
    assert np.abs(body.skin(frames, some) - vertices[some]).max() < 1e-5


def test_pose_and_shape_blends_are_felt(file: Path, data: Data) -> None:
    """The comparison above would be empty if both sides left them out."""
    plain, tall = load_body(file), load_body(file, [0.0, 5.0])
    assert np.allclose(tall.vertices - plain.vertices, 5 * data["shapedirs"][:, :, 1])
    assert np.abs(tall.joints - plain.joints).max() > 1e-3
    assert plain.correctives is not None
    frames = plain.forward(np.random.default_rng(1).normal(0, 0.6, 156), (0, 0, 0))
    still = dataclasses.replace(plain, correctives=None)
    assert np.abs(still.skin(frames) - plain.skin(frames)).max() > 1e-3


def test_hands_are_flat_at_rest(file: Path, data: Data) -> None:
    body = load_body(file)
    frames = body.forward(np.zeros(156), (0, 0, 0))
    assert np.allclose(frames[:, :3, 3], body.joints @ TO_WORLD.T)
    assert np.abs(body.skin(frames) - data["v_template"] @ TO_WORLD.T).max() < 1e-5


def test_normals_agree_with_a_sum_over_faces(file: Path) -> None:
    body = load_body(file)
    skin = body.skin(body.forward(np.random.default_rng(2).normal(0, 0.4, 156), (0, 0, 1)))
    expected = np.zeros_like(skin)
    for a, b, c in body.faces:
        expected[[a, b, c]] += np.cross(skin[b] - skin[a], skin[c] - skin[a])
    used = np.unique(body.faces)
    expected[used] /= np.linalg.norm(expected[used], axis=1, keepdims=True)
    assert np.abs(body.normals(skin)[used] - expected[used]).max() < 1e-5


# --- what the file doesn't hold -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def twin(body: Body, tmp_path_factory: pytest.TempPathFactory) -> Body:
    """The default body as an SMPL+H file."""
    v = body.vertices
    path = tmp_path_factory.mktemp("twin") / "twin.npz"
    np.savez(
        path,
        v_template=v,
        shapedirs=np.zeros((len(v), 3, 1)),
        posedirs=np.zeros((len(v), 3, 459), np.float16),
        J_regressor=body.joints @ np.linalg.solve(v.T @ v, v.T),
        weights=body.weight_table,
        kintree_table=np.array([PARENTS, range(52)]),
        f=body.faces,
    )
    return load_body(path)


def test_the_eye_and_the_bones_are_found_in_the_skin(body: Body, twin: Body) -> None:
    assert np.abs(twin.joints - body.joints).max() < 1e-6
    assert np.linalg.norm(twin.eye - body.eye) < 0.015
    fingers = [
        INDEX[f"{side}_{f}3"] for side in ("left", "right") for f in ("index", "middle", "pinky", "ring", "thumb")
    ]
    assert np.linalg.norm(twin.tips - body.tips, axis=1)[fingers].max() < 0.006
    assert np.linalg.norm(twin.tips - body.tips, axis=1).max() < 0.04  # the upper spine of the default body bends back


def test_the_wearer_is_dressed(twin: Body) -> None:
    worn = {name: set(twin.face_part.tolist()).__contains__(n) for n, name in enumerate(twin.part_names)}
    assert worn == {"skin": True, "shirt": True, "trousers": True, "shoes": True}
    faces = twin.vertices[twin.faces].mean(1)[:, 1] - twin.ground
    shoes = faces[twin.face_part == twin.part_names.index("shoes")]
    assert shoes.max() < 0.3
    head = twin.weight_table[:, INDEX["head"]][twin.faces].min(1) > 0.9
    assert set(twin.face_part[head].tolist()) == {twin.part_names.index("skin")}


def test_it_stands_walks_reaches_and_collides_like_the_default_body(body: Body, twin: Body) -> None:
    ours, theirs = build_rig(twin), build_rig(body)
    assert ours.names == theirs.names
    assert (ours.adjacent == theirs.adjacent).all()
    assert np.abs(ours.radii - theirs.radii).max() < 0.012
    path = np.stack([np.arange(0, 1.0, 0.09), np.zeros(12), np.zeros(12)], 1)
    for a, b in zip(walk(twin, path), walk(body, path), strict=True):
        assert np.allclose(twin.forward(*a)[:, :3, 3], body.forward(*b)[:, :3, 3], atol=0.02)
    placed = twin.placed(stand(twin), 0, 0, 0)
    assert abs(twin.skin(twin.forward(*placed))[:, 2].min()) < 0.01
    found = reach(twin, placed, "right", (0.4, -0.2, 1.1))
    assert found is not None


# --- pickles ------------------------------------------------------------------------------------------------------


class Ch:
    """As chumpy pickles an array."""

    def __init__(self, x: Any) -> None:
        self.x = x


class Select:
    """As chumpy pickles what picks some numbers of another."""

    def __init__(self, a: Any, idxs: Any, shape: tuple[int, ...]) -> None:
        self.a, self.idxs, self.preferred_shape = a, idxs, shape


@pytest.fixture
def chumpy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets this file's classes be pickled under chumpy's names."""
    monkeypatch.setitem(sys.modules, "chumpy", types.ModuleType("chumpy"))
    for name, member in (("chumpy.ch", Ch), ("chumpy.reordering", Select)):
        module = types.ModuleType(name)
        setattr(module, member.__name__, member)
        monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setattr(member, "__module__", name)
    yield


def chumpied(data: Data) -> Data:
    """As the published pickles hold it: chumpy in places, a sparse regressor, and things nobody needs."""
    count = len(data["v_template"])
    long = Ch(np.concatenate([[9.0], data["v_template"].ravel()]))
    return {
        **data,
        "v_template": Select(long, np.arange(1, 3 * count + 1), (count, 3)),
        "shapedirs": Ch(data["shapedirs"]),
        "J_regressor": sparse.csc_matrix(data["J_regressor"]),
        "bs_style": "lbs",
        "bs_type": "lrotmin",
    }


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_is_the_same_body(chumpy: None, tmp_path: Path, data: Data, file: Path, protocol: int) -> None:
    path = tmp_path / "SMPLH_MALE.pkl"
    path.write_bytes(pickle.dumps(chumpied(data), protocol))
    same_body(load_body(path), load_body(file))


def test_row_matrices_and_columns_first_are_read(tmp_path: Path, data: Data, file: Path) -> None:
    path = tmp_path / "model.pkl"
    rows, fortran = sparse.csr_matrix(data["J_regressor"]), np.asfortranarray(data["posedirs"])
    path.write_bytes(pickle.dumps({**data, "J_regressor": rows, "posedirs": fortran}, 4))
    same_body(load_body(path), load_body(file))


def same_body(one: Body, two: Body) -> None:
    for name in ("vertices", "joints", "tips", "influences", "weights", "faces", "correctives", "eye"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def by_python_2(data: Data) -> bytes:
    """A pickle of plain arrays, byte for byte as Python 2 and an early NumPy wrote it."""
    out = [b"\x80\x02}("]
    for key, value in data.items():
        kind = value.dtype.str[1:].encode()
        shape = b"".join(b"J" + struct.pack("<i", n) for n in value.shape)
        raw = value.tobytes()
        out += [
            b"U" + bytes([len(key)]) + key.encode(),
            b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01(" + shape + b"t",
            b"cnumpy\ndtype\nU\x02" + kind + b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
            b"\x89T" + struct.pack("<i", len(raw)) + raw + b"tb",
        ]
    return b"".join([*out, b"u."])


def test_a_pickle_of_python_2_is_read(tmp_path: Path, data: Data, file: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(by_python_2(data))
    same_body(load_body(path), load_body(file))


class Evil:
    def __init__(self, call: Any, *arguments: Any) -> None:
        self.reduced = (call, arguments)

    def __reduce__(self) -> Any:
        return self.reduced


def evil_pickles(target: Path) -> dict[str, bytes]:
    touch = f"open({str(target)!r}, 'w')"
    made = {
        "posix.system": Evil(os.system, f"touch {target}"),
        "builtins.eval": Evil(eval, touch),
        "builtins.exec": Evil(exec, touch),
        "builtins.getattr": Evil(getattr, "a", "upper"),
        "io.open": Evil(io.open, str(target), "w"),
        "numpy.load": Evil(np.load, str(target)),
    }
    found = {name: pickle.dumps({"v_template": value}, protocol) for protocol in (0, 4) for name, value in made.items()}
    found |= {
        "antigravity.x": b"cantigravity\nx\n.",
        "chumpy.ch.Ch.__init__": b"\x80\x04\x8c\x09chumpy.ch\x94\x8c\x0bCh.__init__\x94\x93.",
        "chumpy.utils.x": b"cchumpy.utils\nx\n.",
        "scipy.sparse._csc.x": b"cscipy.sparse._csc\nx\n.",
        "os.system": b"(S'touch " + str(target).encode() + b"'\nios\nsystem\n.",
    }
    return found


@pytest.mark.parametrize("name", list(evil_pickles(Path("x"))))
def test_a_pickle_that_calls_something_is_refused(tmp_path: Path, name: str) -> None:
    target, path = tmp_path / "made", tmp_path / "evil.pkl"
    path.write_bytes(evil_pickles(target)[name])
    before = set(sys.modules)
    with pytest.raises(UsageError) as caught:
        load_body(path)
    assert str(path) in str(caught.value)
    assert name.split(".")[-1] in str(caught.value) and "not run" in str(caught.value)
    assert not target.exists()
    assert set(sys.modules) == before


def tiny() -> bytes:
    value = {
        "v_template": np.arange(6.0).reshape(2, 3),
        "J_regressor": sparse.csc_matrix(np.eye(3)),
        "f": [[0, 1, 2]],
        "kintree_table": np.asfortranarray(np.arange(4, dtype=np.uint32).reshape(2, 2)),
    }
    return pickle.dumps(value, 2)


TINY = tiny()


@settings(max_examples=300, deadline=None)
@given(
    edits=st.lists(st.tuples(st.integers(0, len(TINY) - 1), st.integers(0, 255)), max_size=4),
    cut=st.integers(0, len(TINY)),
)
def test_a_damaged_pickle_gives_arrays_or_a_message(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, int]], cut: int
) -> None:
    content = bytearray(TINY)
    for at, value in edits:
        content[at] = value
    path = tmp_path_factory.getbasetemp() / "damaged.pkl"
    path.write_bytes(content[: cut if cut % 3 == 0 else None])
    try:
        found = read_pickle(path, ("v_template", "J_regressor", "f", "kintree_table"))
    except UsageError as error:
        assert str(error)
    else:
        assert all(value.dtype.kind in "biuf" for value in found.values())


def test_a_whole_pickle_gives_its_arrays(tmp_path: Path) -> None:
    path = tmp_path / "tiny.pkl"
    path.write_bytes(TINY)
    found = read_pickle(path, ("v_template", "J_regressor", "f", "kintree_table", "weights"))
    assert found.keys() == {"v_template", "J_regressor", "f", "kintree_table"}
    assert found["v_template"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert np.array_equal(found["J_regressor"], np.eye(3))
    assert found["kintree_table"].tolist() == [[0, 1], [2, 3]]


def around(ops: bytes) -> bytes:
    return b"\x80\x02}U\x0av_template" + ops + b"s."


@pytest.mark.parametrize(
    ("content", "needle"),
    [
        (b"", "no pickle, or a damaged one"),
        (b"\x80\x02}r\xff\xff\xff\xff.", "LONG_BINPUT"),  # the unpickler would take 32 GB
        (b"\x80\x02]q\x00.", "it holds a list"),
        (around(b"cchumpy.ch\nCh\n)\x81}q\x01U\x01xh\x01sb"), "v_template: it holds no array but a dict"),
        (around(b"cchumpy.ch\nCh\n)\x81q\x01}U\x01xh\x01sb"), "refers to itself"),
        (around(b"cchumpy.ch\nCh\n)\x81}U\x01bK\x01sb"), "chumpy expression"),
        (around(b"cchumpy.ch\nCh\n"), "it holds no array but a type"),
        (around(b"cchumpy.ch\nCh\n}b"), "damaged"),
        (around(b"cnumpy\nndarray\n)R"), "v_template is damaged"),
        (around(b"cnumpy\ndtype\nU\x02O8\x85R"), "no array but a dtype"),
        (around(b"N"), "no array but a none"),
        (around(pickle.dumps(np.array([{}, None]), 2)[2:-1]), "objects, not numbers|not numbers"),
        (around(pickle.dumps(np.array(["a"]), 2)[2:-1]), "not numbers"),
        (b"\x80\x02U\x01xQ.", "no pickle, or a damaged one"),  # a persistent id
    ],
)
def test_other_pickles_are_refused(tmp_path: Path, content: bytes, needle: str) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=needle):
        load_body(path)


# --- other files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "needle"),
    [
        ({"weights": None, "f": None}, "lacks weights, f"),
        ({"kintree_table": np.zeros((2, 24), int)}, "24 joints, so it is SMPL"),
        ({"kintree_table": np.zeros((2, 55), int)}, "55 joints, so it is SMPL-X"),
        ({"kintree_table": np.zeros((2, 7), int)}, "7 joints, so it is another model"),
        ({"kintree_table": np.zeros((2, 52), int)}, "joint tree"),
        ({"posedirs": np.zeros((312, 3, 207))}, "posedirs has the shape"),
        ({"J_regressor": np.zeros((52, 311))}, "J_regressor has the shape"),
        ({"J_regressor": np.array({"a": 1}, object)}, "J_regressor: it holds objects"),
        ({"v_template": np.full((312, 3), np.nan)}, "v_template holds something that is no finite number"),
        ({"v_template": np.full((312, 3), "x")}, "v_template holds something"),
        ({"f": np.full((3, 3), 312)}, "outside 0 to 311"),
        ({"f": np.full((3, 3), -1)}, "outside 0 to 311"),
        ({"f": np.zeros((0, 3), int)}, "no faces"),
        ({"weights": np.zeros((312, 52))}, "sum to 1"),
        ({"weights": np.eye(312, 52)[np.zeros(312, int)]}, "no vertex follows left_foot"),
    ],
)
def test_what_is_no_smplh_file_is_refused(tmp_path: Path, data: Data, changes: Data, needle: str) -> None:
    path = saved(tmp_path, data, **changes)
    with pytest.raises(UsageError, match=needle) as caught:
        load_body(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("turn", "needle"),
    [
        (TO_WORLD, "y must point up"),
        (np.diag([-1.0, 1, -1]), "face"),
        (100 * np.eye(3), "metres"),
    ],
)
def test_other_axes_and_units_are_refused(tmp_path: Path, data: Data, turn: np.ndarray, needle: str) -> None:
    with pytest.raises(UsageError, match=needle):
        load_body(saved(tmp_path, data, v_template=data["v_template"] @ turn.T))


def test_torn_archives_are_refused(tmp_path: Path, file: Path) -> None:
    whole = file.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:3000] + bytes(3000) + whole[6000:]):
        path = tmp_path / "torn.npz"
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"torn\.npz"):
            load_body(path)


@pytest.mark.parametrize("betas", [[0.0] * 17, [float("nan")], [[1.0]]])
def test_bad_betas_are_refused(file: Path, betas: Any) -> None:
    with pytest.raises(UsageError, match="at most 16 finite numbers"):
        read_smplh(file, betas)


def test_the_default_body_has_one_shape() -> None:
    with pytest.raises(UsageError, match="one shape only"):
        load_body(None, [1.0])


# --- whose body it is ---------------------------------------------------------------------------------------------


def test_the_environment_names_the_body(monkeypatch: pytest.MonkeyPatch, file: Path, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "_PARTS", tuple(part for part in doctor._PARTS if part[0] == "body"))
    monkeypatch.delenv(BODY, raising=False)
    shipped = body_digest()
    assert body_label() == "default"
    assert "another body" not in title(Summary(tmp_path, Config("oracle", "scripted", "physical").header(), ()))
    assert len(load_body().vertices) == len(load_body(default_body()).vertices)
    monkeypatch.setenv(BODY, str(file))
    assert body_label() == body_digest() != shipped
    assert len(load_body().vertices) == 312
    found = next(iter(doctor.examine()))
    assert found.fine and str(file) in found.here and "312 vertices" in found.here
    config = Config("oracle", "scripted", "physical")
    assert config.header()["body"] == body_label()
    assert "another body" in title(Summary(tmp_path, config.header(), ()))
    monkeypatch.setenv(BODY, str(tmp_path / "gone.npz"))
    with pytest.raises(UsageError, match=BODY):
        body_digest()
    found = next(iter(doctor.examine()))
    assert found.broken and "gone.npz" in found.remedy
