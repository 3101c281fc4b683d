"""GLB and OBJ files, good and bad: what is made of them, and what is said of those nothing can be made of."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iwkit.errors import Problems, UsageError
from iwkit.library import Library
from iwkit.recipes import load_recipes
from iwkit_authoring.importing import model as limits
from iwkit_authoring.importing.asset import Report, import_asset
from iwkit_authoring.importing.wishes import Wishes
from iwkit_runtime.assets import build_asset
from iwkit_runtime.assets.meshfile import read as read_mesh
from iwkit_runtime.physical.spec import Asset

Change = Callable[[dict[str, Any], bytearray], None]


def built(report: Report, home: Path, **how: Any) -> Asset:
    library = Library.of_home(home)
    return build_asset(report.name, library.catalogue.categories[report.name], library.recipes[report.name], **how)


def refused(path: Path, said: str, wishes: Wishes | None = None) -> None:
    """The import says `said` and which file it means, and leaves nothing behind."""
    with pytest.raises(UsageError, match=said):
        import_asset(path, path.parent, wishes or Wishes())
    assert not list(path.parent.glob("assets/**/*.*"))


def packed(head: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def unpacked(data: bytes) -> tuple[dict[str, Any], bytearray]:
    size = struct.unpack("<I", data[12:16])[0]
    return json.loads(data[20 : 20 + size]), bytearray(data[28 + size :])


@pytest.fixture(scope="module")
def table_bytes(models: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path: Path = models.write(tmp_path_factory.mktemp("glb"), "table")
    return path.read_bytes()


@pytest.mark.parametrize(("kind", "unit", "units"), [("glb", 1.0, None), ("obj", 0.01, "cm"), ("obj", 0.0254, "in")])
def test_a_table_has_its_size_its_top_and_its_legs(
    tmp_path: Path, models: SimpleNamespace, kind: str, unit: float, units: str | None
) -> None:
    report = import_asset(models.write(tmp_path, "table", kind, unit), tmp_path, Wishes(category="table", units=units))
    assert report.category.size == pytest.approx((1.2, 0.8, 0.75), abs=1e-3)
    assert report.pieces == 5
    asset = built(report, tmp_path)
    top = next(region for region in asset.regions if region.name == "top")
    assert top.centre[2] - top.size[2] / 2 == pytest.approx(0.75, abs=1e-3)
    assert top.size[:2] == pytest.approx((1.2, 0.8), abs=0.03)
    points = np.concatenate([visual.vertices for visual in asset.links[0].visuals])
    assert points.min(0) == pytest.approx((-0.6, -0.4, 0), abs=1e-4)


def test_up_and_front_turn_a_model(tmp_path: Path, models: SimpleNamespace) -> None:
    scene = models.cabinet()
    scene.export(tmp_path / "my_cabinet.glb")  # z up, front towards -y
    wishes = Wishes(kind="fixture", up="z", front="-y", moving="door=left")
    asset = built(import_asset(tmp_path / "my_cabinet.glb", tmp_path, wishes), tmp_path)
    door = np.concatenate([piece.vertices for piece in asset.links[1].pieces])
    assert door[:, 1].max() < -0.15, "the door is in front"
    assert asset.links[1].handle == pytest.approx((0.25, -0.215, 0.48), abs=2e-3), "the hand takes the knob"


def test_regions_are_free_of_every_piece(tmp_path: Path, models: SimpleNamespace) -> None:
    wishes = Wishes(category="cabinet", moving="door=left")
    asset = built(import_asset(models.write(tmp_path, "cabinet"), tmp_path, wishes), tmp_path)
    inside = [region for region in asset.regions if region.kind == "interior"]
    assert [region.name for region in inside] == ["inside_0", "inside_1"]
    for region in inside:
        low, high = (np.array(region.centre) + sign * np.array(region.size) / 2 for sign in (-1, 1))
        for link in asset.links:
            for piece in link.pieces:
                apart = (piece.vertices.max(0) <= low + 1e-6) | (piece.vertices.min(0) >= high - 1e-6)
                assert apart.any(), (region.name, link.name)
        assert np.prod(region.size) > 0.9 * (0.56 * 0.32 * 0.36)


def test_a_hollow_thing_stays_hollow(tmp_path: Path, models: SimpleNamespace) -> None:
    wishes = Wishes(category="mug", affords=["container"])
    report = import_asset(models.write(tmp_path, "mug"), tmp_path, wishes)
    inside = built(report, tmp_path).regions[0]
    assert inside.size[0] > 0.04 and inside.size[2] > 0.07, "a finger goes in"
    assert report.pieces <= 40


def test_a_texture_is_kept_and_the_right_way_round(tmp_path: Path, models: SimpleNamespace) -> None:
    asset = built(import_asset(models.write(tmp_path, "picture_box"), tmp_path, Wishes()), tmp_path)
    (seen,) = asset.links[0].visuals
    assert seen.uv is not None and seen.material.texture is not None
    height, width, _ = seen.material.texture.shape
    corner = int(np.argmin(np.abs(seen.vertices - [-0.1, -0.05, 0.3]).sum(1)))
    u, v = seen.uv[corner]
    column, row = min(int(u * width), width - 1), min(int((1 - v) * height), height - 1)
    assert seen.material.texture[row, column].tolist() == [220, 20, 20], "red on the left as one faces it"


def test_a_task_colours_it_and_stretches_it(tmp_path: Path, models: SimpleNamespace) -> None:
    report = import_asset(models.write(tmp_path, "table"), tmp_path, Wishes(category="table"))
    asset = built(report, tmp_path, colour="red", size=(0.6, 0.8, 0.75))
    assert asset.links[0].visuals[0].material.rgba[0] > 0.6
    points = np.concatenate([piece.vertices for piece in asset.links[0].pieces])
    assert np.ptp(points, axis=0) == pytest.approx((0.6, 0.8, 0.75), abs=1e-3)
    with pytest.raises(UsageError, match="nothing is written on a"):
        built(report, tmp_path, label="MINE")


def test_edges_are_sharp_and_round_things_round(tmp_path: Path, models: SimpleNamespace) -> None:
    table = built(import_asset(models.write(tmp_path, "table"), tmp_path, Wishes(category="table")), tmp_path)
    sides = [visual for visual in table.links[0].visuals if not visual.when]  # dirt and puddles are not the model's
    assert sum(len(visual.vertices) for visual in sides) == 5 * 24, "each side has corners of its own"
    ball = built(import_asset(models.ball(tmp_path), tmp_path, Wishes()), tmp_path)
    (seen,) = ball.links[0].visuals
    assert len(seen.vertices) == 642, "a round thing has none of its vertices doubled"


def test_too_many_triangles_are_made_fewer(tmp_path: Path, models: SimpleNamespace) -> None:
    report = import_asset(models.ball(tmp_path), tmp_path, Wishes(max_triangles=300))
    before, after = report.triangles
    assert before == 1280 and 200 < after <= 330
    assert report.category.size == pytest.approx((0.2, 0.2, 0.2), abs=0.004)


@pytest.mark.slow
def test_the_same_file_gives_the_same_bytes(tmp_path: Path, models: SimpleNamespace) -> None:
    path = models.write(tmp_path, "mug")
    homes = [tmp_path / name for name in ("one", "two")]
    found = [[p.read_bytes() for p in import_asset(path, home, Wishes(category="mug")).written] for home in homes]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (Wishes(category="mugg"), "no category is called 'mugg': .*mug"),
        (Wishes(affords=["openable"]), "none of its parts moves"),
        (Wishes(affords=["flies"]), "--affords flies"),
        (Wishes(affords=["container"]), "no space in it has a floor and walls"),
        (Wishes(up="w"), "is no axis"),
        (Wishes(up="y", front="-y"), "the same axis"),
        (Wishes(units="parsec"), "give one of m, cm"),
        (Wishes(units="mm", category="table"), r"would be 0.0012 m, .* give --units \(perhaps m\)"),
        (Wishes(moving="door"), "PART=WAY"),
        (Wishes(moving="dor=left"), "no part is called 'dor'"),
        (Wishes(name="9 lives"), "can't name a category"),
        (Wishes(name="mug"), "there is a category mug already"),
    ],
)
def test_a_wish_that_cannot_be_granted(tmp_path: Path, models: SimpleNamespace, wishes: Wishes, said: str) -> None:
    refused(models.write(tmp_path, "table"), said, wishes)


def test_what_a_category_affords_and_the_model_cannot_is_left_out_with_a_note(
    tmp_path: Path, models: SimpleNamespace
) -> None:
    report = import_asset(models.write(tmp_path, "cabinet"), tmp_path, Wishes(category="cabinet"))
    assert "openable" not in report.category.affords and "container" in report.category.affords
    assert any("openable" in note and "--moving" in note for note in report.notes)


def test_an_import_is_not_written_over_by_chance(tmp_path: Path, models: SimpleNamespace) -> None:
    path = models.write(tmp_path, "table")
    import_asset(path, tmp_path, Wishes(category="table"))
    with pytest.raises(UsageError, match=r"is there already.*--replace"):
        import_asset(path, tmp_path, Wishes(category="table"))
    report = import_asset(path, tmp_path, Wishes(category="table", mass=11.0, replace=True))
    assert Library.of_home(tmp_path).catalogue.categories[report.name].mass == 11.0


def test_a_mesh_file_that_is_gone_changed_or_elsewhere_is_told(tmp_path: Path, models: SimpleNamespace) -> None:
    report = import_asset(models.write(tmp_path, "table"), tmp_path, Wishes(category="table"))
    catalogue, recipes, mesh = report.written
    text, data = recipes.read_text("utf-8"), mesh.read_bytes()
    for file in ("/etc/passwd.npz", "../table.npz", "a/../../b.npz", "C:\\\\b.npz", "table.glb"):
        recipes.write_text(text.replace("meshes/my_table.npz", file), "utf-8")
        with pytest.raises(Problems, match="below the recipe's folder"):
            load_recipes(recipes)
    recipes.write_text(text, "utf-8")
    mesh.write_bytes(data[:-1] + b"!")
    read_mesh.cache_clear()
    with pytest.raises(UsageError, match=r"digest differs.*import the model again"):
        built(report, tmp_path)
    mesh.unlink()
    read_mesh.cache_clear()
    with pytest.raises(UsageError, match="can't be read"):
        built(report, tmp_path)
    assert catalogue.is_file()


def _nan(head: dict[str, Any], binary: bytearray) -> None:
    view = head["bufferViews"][
        head["accessors"][head["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]["bufferView"]
    ]
    at = view.get("byteOffset", 0)
    binary[at : at + 4] = struct.pack("<f", float("nan"))


def _one_place(head: dict[str, Any], binary: bytearray) -> None:
    for shape in head["meshes"]:
        accessor = head["accessors"][shape["primitives"][0]["attributes"]["POSITION"]]
        at = head["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
        binary[at : at + 12 * accessor["count"]] = bytes(12 * accessor["count"])
    for node in head["nodes"]:
        node.pop("matrix", None)


def _millions(head: dict[str, Any], binary: bytearray) -> None:
    which = head["meshes"][0]["primitives"][0]["indices"]
    head["bufferViews"].append({"buffer": 0, "byteOffset": len(binary), "byteLength": 4 * 6_000_003})
    head["accessors"][which] |= {"bufferView": len(head["bufferViews"]) - 1, "byteOffset": 0, "count": 6_000_003}
    binary += bytes(4 * 6_000_003)
    head["buffers"][0]["byteLength"] = len(binary)


def _huge_accessor(head: dict[str, Any], _: bytearray) -> None:
    head["accessors"][0]["count"] = 2**31


def _image(uri: str | None) -> Change:
    def change(head: dict[str, Any], _: bytearray) -> None:
        head["images"] = [{} if uri is None else {"uri": uri}]
        head["textures"] = [{"source": 0}]
        head["materials"][0]["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0}}

    return change


def _loop(head: dict[str, Any], _: bytearray) -> None:
    head["nodes"] = [{"children": [1], "mesh": 0}, {"children": [0]}]


def _draco(head: dict[str, Any], _: bytearray) -> None:
    head["extensionsRequired"] = ["KHR_draco_mesh_compression"]


def _no_mesh(head: dict[str, Any], _: bytearray) -> None:
    head["meshes"] = []
    for node in head["nodes"]:
        node.pop("mesh", None)


def _bad_index(head: dict[str, Any], binary: bytearray) -> None:
    accessor = head["accessors"][head["meshes"][0]["primitives"][0]["indices"]]
    at = head["bufferViews"][accessor["bufferView"]].get("byteOffset", 0)
    binary[at : at + 4] = b"\xff\xff\xff\x0f"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_nan, "is no number"),
        (_one_place, "has no extent"),
        (_millions, r"triangles are more than are read \(2,000,000\)"),
        (_huge_accessor, "glTF description is broken"),
        (_image(None), "texture 0 is missing"),
        (_image("gone.png"), "texture 'gone.png' is missing"),
        (_image("/etc/hostname"), "'/etc/hostname', which lies outside its folder"),
        (_image("../../x.png"), "'../../x.png', which lies outside its folder"),
        (_image("http://x.org/a.png"), "lies outside its folder"),
        (_loop, "glTF description is broken"),
        (_draco, "compressed .KHR_draco"),
        (_no_mesh, "there is no mesh in it"),
        (_bad_index, "can't be read|names a vertex that isn't there"),
    ],
)
def test_a_bad_glb_is_refused_by_name(tmp_path: Path, table_bytes: bytes, change: Change, said: str) -> None:
    head, binary = unpacked(table_bytes)
    change(head, binary)
    path = tmp_path / "bad.glb"
    path.write_bytes(packed(head, bytes(binary)))
    refused(path, f"bad.glb: .*{said}" if "|" not in said else said)


BOX = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 0 1\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("v 0 0 0\n", "there is no mesh in it|can't be read"),
        (BOX + "f 1 2 9\n", "can't be read|names a vertex"),
        ("v nan 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n", "a vertex is no number"),
        ("v 1e300 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n", "units away"),
        ("v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n", "has no extent|no mesh"),
        ("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "has no extent|no mesh"),
        ("mtllib gone.mtl\n" + BOX + "f 1 2 3\n", "material file 'gone.mtl' is missing"),
        ("mtllib /etc/passwd\n" + BOX + "f 1 2 3\n", "lies outside its folder"),
        ("mtllib ../a.mtl\n" + BOX + "f 1 2 3\n", "lies outside its folder"),
        ("mtllib a.mtl\n" + BOX + "usemtl m\nf 1 2 3\n", "texture 'gone.png' is missing"),
        ("mtllib b.mtl\n" + BOX + "usemtl m\nf 1 2 3\n", "texture 'b.mtl' is no image"),
        ("\0\0\0", "no OBJ file"),
    ],
)
def test_a_bad_obj_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd gone.png\n", "utf-8")
    (tmp_path / "b.mtl").write_text("newmtl m\nmap_Kd b.mtl\n", "utf-8")
    path = tmp_path / "bad.obj"
    path.write_text(text, "utf-8")
    refused(path, said)


def test_millions_of_triangles_are_counted_before_they_are_read(
    tmp_path: Path, models: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("glb", "obj"):
        monkeypatch.setattr(f"iwkit_authoring.importing.{module}.MOST_TRIANGLES", 50)
        monkeypatch.setattr(f"iwkit_authoring.importing.{module}.scene_model", None)
        refused(models.write(tmp_path, "table", module), "60 triangles are more than are read")
    monkeypatch.setattr(limits, "MOST_BYTES", 100)
    refused(models.write(tmp_path, "table"), "is more than is read")


@pytest.mark.parametrize("name", ["thing.stl", "thing", "gone.glb", "folder.glb"])
def test_what_is_no_model_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.glb").mkdir()
    if not name.startswith(("gone", "folder")):
        (tmp_path / name).write_bytes(b"solid")
    refused(tmp_path / name, "isn't read|can't be read", Wishes(name="thing"))


@pytest.mark.parametrize(("missing", "name"), [("vhacdx", "mug"), ("fast_simplification", "table")])
def test_a_missing_library_is_told_with_its_extra(
    tmp_path: Path, models: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, missing: str, name: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    refused(
        models.write(tmp_path, name),
        r"pip install 'iwkit\[meshes\]'",
        Wishes(max_triangles=59 if name == "table" else 9999),
    )


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_damaged_glb_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, table_bytes: bytes, data: st.DataObject
) -> None:
    """Cut off, or with bytes changed anywhere: never anything but UsageError."""
    broken = bytearray(table_bytes)
    for _ in range(data.draw(st.integers(1, 6))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        broken = broken[: data.draw(st.integers(0, len(broken)))]
        if len(broken) >= 12:
            broken[8:12] = struct.pack("<I", len(broken))
    home = tmp_path_factory.mktemp("fuzz")
    path = home / "fuzz.glb"
    path.write_bytes(broken)
    try:
        import_asset(path, home, Wishes(category="table"))
    except UsageError as error:
        assert "\n" not in str(error)
    shutil.rmtree(home)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(alphabet="vf o/-.0123456789 \nmtlibusenan#gs\\", max_size=300) | st.binary(max_size=200))
def test_a_random_obj_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str | bytes) -> None:
    home = tmp_path_factory.mktemp("fuzz")
    path = home / "fuzz.obj"
    path.write_bytes(text if isinstance(text, bytes) else BOX.encode() + text.encode())
    try:
        import_asset(path, home, Wishes(kind="object"))
    except UsageError as error:
        assert "fuzz.obj" in str(error)
    shutil.rmtree(home)
