"""USD: our own stages, one of them an object as BEHAVIOR-1K's users export it (docs/import.md)."""

from __future__ import annotations

import math
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from iwkit.errors import UsageError
from iwkit.library import Library
from iwkit_authoring.importing import usd
from iwkit_authoring.importing.asset import Report, import_asset
from iwkit_authoring.importing.wishes import Wishes
from iwkit_runtime.assets import build_asset
from iwkit_runtime.physical.spec import Asset

Gf = pytest.importorskip("pxr.Gf")
from pxr import Sdf, Usd, UsdGeom, UsdPhysics, UsdShade  # noqa: E402  after the check that they are there

DATA = Path(__file__).parent.parent / "data" / "usd"
Triple = tuple[float, float, float]
W, D, H, T = 0.3, 0.2, 0.9, 0.02
"""Half width, half depth, height and thickness of the boards of the safe."""


def stage_at(path: Path, up: str = "Z", unit: float = 1.0) -> Usd.Stage:
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.SetStageMetersPerUnit(stage, unit)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/thing").GetPrim())
    return stage


def mesh(stage: Usd.Stage, path: str, low: Triple, high: Triple) -> Usd.Prim:
    """A box as a mesh of six quads."""
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    sides = [0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3]
    made = UsdGeom.Mesh.Define(stage, path)
    made.CreatePointsAttr([Gf.Vec3f(*corner) for corner in corners])
    made.CreateFaceVertexCountsAttr([4] * 6)
    made.CreateFaceVertexIndicesAttr(sides)
    return made.GetPrim()


def link(stage: Usd.Stage, name: str, at: Triple, mass: float) -> str:
    made = UsdGeom.Xform.Define(stage, f"/thing/{name}")
    made.AddTranslateOp().Set(Gf.Vec3d(*at))
    UsdPhysics.RigidBodyAPI.Apply(made.GetPrim())
    UsdPhysics.MassAPI.Apply(made.GetPrim()).CreateMassAttr(mass)
    return str(made.GetPath())


def meta(stage: Usd.Stage, parent: str, kind: str, middle: Triple, size: Triple, *, with_mesh: bool) -> None:
    made = UsdGeom.Xform.Define(stage, f"{parent}/{kind}_0_0_link")
    prim = made.GetPrim()
    made.AddTranslateOp().Set(Gf.Vec3d(*middle))
    if with_mesh:
        mesh(stage, f"{parent}/{kind}_0_0_link/mesh", *((tuple(s * v / 2 for v in size)) for s in (-1, 1)))
    else:
        made.AddScaleOp().Set(Gf.Vec3f(*size))
    prim.CreateAttribute("ig:isMetaLink", Sdf.ValueTypeNames.Bool).Set(True)
    prim.CreateAttribute("ig:metaLinkType", Sdf.ValueTypeNames.String).Set(kind)
    prim.CreateAttribute("ig:metaLinkId", Sdf.ValueTypeNames.String).Set("0")
    prim.CreateAttribute("ig:metaLinkSubId", Sdf.ValueTypeNames.Int).Set(0)


def safe(path: Path, *, opens_to: float = 100.0) -> Path:
    """A cabinet in BEHAVIOR's form: base and door links with visuals and collisions, a hinge, three meta links."""
    stage = stage_at(path)
    root = stage.GetDefaultPrim()
    root.CreateAttribute("ig:category", Sdf.ValueTypeNames.String).Set("bottom_cabinet")
    root.CreateAttribute("ig:model", Sdf.ValueTypeNames.String).Set("abcdef")
    root.CreateAttribute("ig:nativeBB", Sdf.ValueTypeNames.Vector3f).Set(Gf.Vec3f(2 * W, 2 * D, H))
    root.SetCustomDataByKey("metadata", {"openable_joint_ids": {"0": "j_door"}})
    base = link(stage, "base_link", (0, 0, H / 2), 20.0)
    door = link(stage, "door_link", (W, -D, H / 2), 4.0)
    boards: dict[str, tuple[Triple, Triple]] = {
        "left": ((-W, -D + T, -H / 2), (-W + T, D, H / 2)),
        "right": ((W - T, -D + T, -H / 2), (W, D, H / 2)),
        "back": ((-W + T, D - T, -H / 2), (W - T, D, H / 2)),
        "bottom": ((-W + T, -D + T, -H / 2), (W - T, D - T, -H / 2 + T)),
        "top": ((-W + T, -D + T, H / 2 - T), (W - T, D - T, H / 2)),
    }
    for part, corners in boards.items():
        mesh(stage, f"{base}/visuals/{part}", *corners)
        UsdPhysics.CollisionAPI.Apply(mesh(stage, f"{base}/collisions/{part}", *corners))
    leaf: tuple[Triple, Triple] = ((-2 * W, 0, -H / 2), (0, T - 0.002, H / 2))
    mesh(stage, f"{door}/visuals/leaf", *leaf)
    UsdPhysics.CollisionAPI.Apply(mesh(stage, f"{door}/collisions/leaf", *leaf))
    hinge = UsdPhysics.RevoluteJoint.Define(stage, "/thing/j_door")
    hinge.CreateBody0Rel().SetTargets([base])
    hinge.CreateBody1Rel().SetTargets([door])
    hinge.CreateAxisAttr("Z")
    hinge.CreateLocalPos0Attr(Gf.Vec3f(W, -D, 0))
    hinge.CreateLowerLimitAttr(min(0.0, opens_to))
    hinge.CreateUpperLimitAttr(max(0.0, opens_to))
    meta(stage, base, "fillable", (0, 0, 0), (0.5, 0.3, 0.8), with_mesh=True)
    meta(stage, base, "attachment", (0, 0, 0), (0.01, 0.01, 0.01), with_mesh=False)
    meta(stage, door, "togglebutton", (-0.5, -0.01, 0.3), (0.02, 0.02, 0.02), with_mesh=False)
    stage.GetRootLayer().Save()
    return path


def built(report: Report, home: Path) -> Asset:
    library = Library.of_home(home)
    return build_asset(report.name, library.catalogue.categories[report.name], library.recipes[report.name])


@pytest.mark.parametrize("ending", ["usda", "usdc"])
def test_an_object_in_the_form_of_behavior_has_its_joint_its_inside_and_its_button(tmp_path: Path, ending: str) -> None:
    report = import_asset(safe(tmp_path / f"safe.{ending}"), tmp_path, Wishes())
    category = report.category
    assert (category.kind, category.source, category.mass) == ("fixture", "bottom_cabinet", 24.0)
    assert category.size == pytest.approx((2 * W, 2 * D, H), abs=1e-3)
    assert {"container", "openable", "device"} <= set(category.affords)
    asset = built(report, tmp_path)
    assert [part.name for part in asset.links] == ["body", "door_link"]
    joint = asset.links[1].joint
    assert joint is not None and joint.kind == "hinge" and joint.high == pytest.approx(math.radians(100))
    assert joint.axis == pytest.approx((0, 0, 1)) and joint.anchor[:2] == pytest.approx((W, -D), abs=1e-6)
    inside = [region for region in asset.regions if region.kind == "interior"]
    assert [region.size for region in inside] == [pytest.approx((0.5, 0.3, 0.8), abs=1e-3)]
    assert inside[0].centre == pytest.approx((0, 0, H / 2), abs=1e-3)
    assert asset.controls["power"].link == "door_link"
    assert asset.controls["power"].point == pytest.approx((W - 0.5, -D - 0.01, H / 2 + 0.3), abs=1e-3)
    assert [len(part.pieces) for part in asset.links] == [5, 1]
    assert report.triangles == (72, 72), "meta links and collision shapes are not seen"


def test_a_hinge_that_opens_backwards_turns_the_other_way(tmp_path: Path) -> None:
    asset = built(import_asset(safe(tmp_path / "safe.usda", opens_to=-80.0), tmp_path, Wishes()), tmp_path)
    joint = asset.links[1].joint
    assert joint is not None
    assert (joint.axis, joint.high) == (pytest.approx((0, 0, -1)), pytest.approx(math.radians(80)))


def test_units_axes_materials_and_textures_of_a_stage(tmp_path: Path) -> None:
    stage = stage_at(tmp_path / "box.usda", "Y", 0.01)
    prim = mesh(stage, "/thing/box", (-5, 0, -10), (5, 30, 10))
    Image.new("RGB", (8, 8), (10, 200, 30)).save(tmp_path / "label.png")
    UsdGeom.PrimvarsAPI(prim).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "faceVarying").Set(
        [Gf.Vec2f(x, y) for _ in range(6) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    )
    material = UsdShade.Material.Define(stage, "/thing/look")
    shader = UsdShade.Shader.Define(stage, "/thing/look/shader")
    shader.CreateIdAttr("UsdPreviewSurface")
    reader = UsdShade.Shader.Define(stage, "/thing/look/reader")
    reader.CreateIdAttr("UsdUVTexture")
    reader.CreateInput("file", Sdf.ValueTypeNames.Asset).Set("./label.png")
    out = reader.CreateOutput("rgb", Sdf.ValueTypeNames.Float3)
    shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).ConnectToSource(out)
    material.CreateSurfaceOutput().ConnectToSource(shader.CreateOutput("surface", Sdf.ValueTypeNames.Token))
    UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)
    stage.GetRootLayer().Save()
    asset = built(import_asset(tmp_path / "box.usda", tmp_path, Wishes()), tmp_path)
    assert asset.size == pytest.approx((0.1, 0.2, 0.3))
    (seen,) = asset.links[0].visuals
    assert seen.uv is not None and seen.material.texture is not None
    assert np.unique(seen.material.texture.reshape(-1, 3), axis=0).tolist() == [[10, 200, 30]]


def breaks(path: Path, how: str) -> None:
    stage = stage_at(path)
    made: Any = None
    if how == "no mesh":
        UsdGeom.Xform.Define(stage, "/thing/empty")
    elif how in ("/etc/passwd", "../up.usda", "gone.usda"):
        stage.GetDefaultPrim().GetReferences().AddReference(how)
    else:
        made = UsdGeom.Mesh(mesh(stage, "/thing/box", (0, 0, 0), (1, 1, 1)))
    if how == "faces":
        made.GetFaceVertexIndicesAttr().Set([0, 1, 99] + [0] * 21)
    elif how == "counts":
        made.GetFaceVertexCountsAttr().Set([4] * 9)
    elif how == "NaN":
        made.GetPointsAttr().Set([Gf.Vec3f(math.nan)] * 8)
    stage.GetRootLayer().Save()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("no mesh", "there is no mesh in it"),
        ("/etc/passwd", "which lies outside its folder"),
        ("../up.usda", "which lies outside its folder"),
        ("gone.usda", "'gone.usda' is missing"),
        ("faces", "don't fit its vertices"),
        ("counts", "don't fit its vertices"),
        ("NaN", "is no number"),
    ],
)
def test_a_bad_stage_is_refused_by_name(tmp_path: Path, how: str, said: str) -> None:
    path = tmp_path / "bad.usda"
    breaks(path, how)
    with pytest.raises(UsageError, match=said) as error:
        usd.read_here(path)
    assert str(path) in str(error.value)


def test_without_usd_core_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = safe(tmp_path / "safe.usda")
    monkeypatch.setitem(__import__("sys").modules, "pxr", None)
    with pytest.raises(UsageError, match=r"pip install 'iwkit\[usd\]'"):
        usd.read_usd(path)


def test_what_is_cut_off_is_refused(tmp_path: Path, models: SimpleNamespace) -> None:
    data = safe(tmp_path / "safe.usdc").read_bytes()
    for part in (100, len(data) // 2):
        path = tmp_path / f"cut{part}.usdc"
        path.write_bytes(data[:part])
        with pytest.raises(UsageError, match=f"cut{part}.usdc"):
            import_asset(path, tmp_path, Wishes())


@pytest.mark.parametrize("ending", ["usda", "usdc"])
def test_a_damaged_stage_is_read_or_refused(tmp_path: Path, ending: str) -> None:
    data = safe(tmp_path / f"safe.{ending}").read_bytes()
    chance = random.Random(7)
    for number in range(2):
        broken = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path = tmp_path / f"fuzz{number}.{ending}"
        path.write_bytes(broken)
        try:
            assert usd.read_usd(path).surfaces
        except UsageError as error:
            assert str(path) in str(error)


def test_a_file_that_makes_the_library_abort_is_refused() -> None:
    """One byte of an earlier `safe` changed; usd-core 26.11 ends the process that reads it."""
    with pytest.raises(UsageError, match=r"aborts\.usdc: "):
        usd.read_usd(DATA / "aborts.usdc")
